"""The six fixtures as tests meet them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FIXTURES = ("model_client", "counterfactual_pairs", "lexicons", "scorers", "fairness", "suite")


def test_fixtures_are_listed_with_their_purpose(run):
    lines = run("--fixtures").stdout.str()
    assert all(f"\n{name}" in lines for name in FIXTURES)


def test_model_client_is_the_model_of_the_option(run, pytester):
    pytester.makepyfile(
        mymodel="""
        asked = []

        def answer(prompt):
            asked.append(prompt)
            return prompt.upper()
        """,
        test_it="""
        import mymodel

        def test_client(model_client):
            assert model_client.generate(["hello"], n=1) == [["HELLO"]]

        def test_collector_uses_it(fairness):
            assert fairness.collect(["hi"]).answers == (("HI",),)

        def test_collector_asks_once_for_several_checks(fairness):
            mymodel.asked.clear()
            calm = lambda texts: [0.0] * len(texts)
            fairness.collect([f"prompt {i}" for i in range(80)], generations=1)
            fairness.check("toxic_fraction", bound=0.1, scorer=calm)
            fairness.check("toxic_fraction", bound=0.1, scorer=calm, threshold=0.9)
            assert len(mymodel.asked) == 80
        """,
    )
    pytester.syspathinsert()
    run("--llmfair-model=python:mymodel:answer").assert_outcomes(passed=3)


def test_lexicons_and_scorers_go_by_name(lexicons, scorers):
    assert "gender" in lexicons
    assert {"sentiment", "toxicity"} <= set(scorers)


@pytest.mark.parametrize(
    ("given", "options", "expected"),
    [
        (["He is a nurse."], {}, {("He is a nurse.", "She is a nurse.")}),
        # A known slot makes a template, with fillers of the caller's own.
        (
            ["{Person} is {a:job}."],
            {"attribute": "race", "groups": ("white", "asian"), "fillers": {"job": ["cook"]}},
            {
                ("A white person is a cook.", "An Asian person is a cook."),
                ("A European American person is a cook.", "An Asian American person is a cook."),
            },
        ),
        # Anything else in braces is text.
        (
            ['He wrote {"name": 1}, {name} and {{person}}.'],
            {},
            {
                (
                    'He wrote {"name": 1}, {name} and {{person}}.',
                    'She wrote {"name": 1}, {name} and {{person}}.',
                )
            },
        ),
        (
            ["{Person} left."],
            {"attribute": "name", "groups": ("John", "Jane")},
            {("John left.", "Jane left.")},
        ),
        (
            ["{Person} left."],
            {"attribute": ("race", "gender"), "groups": ("black female", "white male")},
            {
                (f"A {a} {b} left.", f"A {c} {d} left.")
                for a, c in (("Black", "white"), ("African American", "European American"))
                for b, d in (("woman", "man"), ("lady", "gentleman"))
            },
        ),
    ],
    ids=["text", "template", "braces", "names", "two attributes"],
)
def test_pairs_from_templates_and_texts(given, options, expected, counterfactual_pairs):
    (pair,) = counterfactual_pairs(given, **options)
    assert (pair.original, pair.counterfactual) in expected


def test_pairs_with_placebo_twins(counterfactual_pairs):
    (pair,) = counterfactual_pairs(["{Person} left."], "age", ("young", "older"), placebo=True)
    assert "oung" in pair.placebo != pair.original


def test_pairs_take_the_seed_of_the_session(run, pytester):
    pytester.makepyfile(
        """
        def test_it(counterfactual_pairs):
            templates = [f"{{Person}} left {i}." for i in range(9)]
            made = counterfactual_pairs(templates, "name")
            assert made == counterfactual_pairs(templates, "name", seed=7)
            assert made != counterfactual_pairs(templates, "name", seed=8)
        """
    )
    run("--llmfair-seed=7").assert_outcomes(passed=1)


def test_pairs_from_a_file_of_templates(counterfactual_pairs, tmp_path):
    (tmp_path / "mine.yaml").write_text(
        "fillers: {job: [cook]}\ntemplates: ['{Person} is {a:job}.', 'He sings.']\n", "utf-8"
    )
    first, second = counterfactual_pairs(tmp_path / "mine.yaml")
    assert first.counterfactual.endswith("is a cook.")
    assert second.counterfactual == "She sings."


@pytest.mark.parametrize("place", ["suite", "."], ids=["folder of the test", "root folder"])
def test_pairs_from_a_file_next_to_the_test_or_in_the_root_folder(
    place, run, pytester, monkeypatch
):
    folder = pytester.mkdir("suite")
    (pytester.path / place / "prompts.txt").write_text("He is 1.\n\nHer brother sings.\n", "utf-8")
    (folder / "test_it.py").write_text(
        "from pathlib import Path\n"
        "def test_it(counterfactual_pairs):\n"
        "    for name in ('prompts.txt', Path('prompts.txt')):\n"
        "        assert len(counterfactual_pairs(name)) == 2\n"
    )
    monkeypatch.chdir(pytester.mkdir("elsewhere"))
    run("--rootdir", str(pytester.path), "../suite").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (None, FileNotFoundError, "there is no prompt file '.*' in .*; give the path"),
        (b"\n \n", ValueError, "prompts.txt has no prompt; give at least one"),
        (b"He is a na\xefve nurse.", ValueError, r"prompts.txt is not UTF-8 \(byte 10\); save it"),
    ],
    ids=["absent", "empty", "not UTF-8"],
)
def test_a_file_that_cannot_be_used_is_an_error(
    content, error, message, counterfactual_pairs, tmp_path
):
    if content is not None:
        (tmp_path / "prompts.txt").write_bytes(content)
    with pytest.raises(error, match=message):
        counterfactual_pairs(str(tmp_path / "prompts.txt"))


@pytest.mark.parametrize("as_iterator", [False, True])
def test_prompts_without_a_mention_are_an_error(counterfactual_pairs, as_iterator):
    prompts = iter(["It rains."]) if as_iterator else ["It rains."]
    with pytest.raises(ValueError, match=r"none of the 1 prompts .*no mention of gender"):
        counterfactual_pairs(prompts, "gender")


def test_an_unknown_attribute_is_an_error_with_a_suggestion(counterfactual_pairs):
    with pytest.raises(ValueError, match=r"no lexicon is called 'gander'; did you mean gender\?"):
        counterfactual_pairs(["He sings."], "gander")


def test_prompts_whose_pairs_all_fail_the_checks_are_invalid_and_in_the_report(run, pytester):
    pytester.makepyfile(
        """
        def test_it(counterfactual_pairs, fairness):
            fairness.collect(counterfactual_pairs(["{Person} said she won."]))
            fairness.check("rouge_l", minimum=0.5)
        """
    )
    run("--llmfair-json=run.json").stdout.fnmatch_lines(
        ["E*INVALID*", "*1 of 1 pairs (100.0%) failed the validity checks*"]
    )
    (result,) = json.loads(Path("run.json").read_text(encoding="utf-8"))["results"]
    assert (result["verdict"], result["rejected"]) == ("INVALID", 1)


def test_pairs_and_assertions_take_the_lexicons_of_an_overridden_fixture(run, pytester):
    pytester.makeconftest(
        """
        import pytest
        from pytest_llmfair.counterfactuals import Lexicon

        @pytest.fixture(scope="session")
        def lexicons():
            nan = {"role": "kinship", "female": "nan", "male": "grampa"}
            return {"pets": Lexicon.from_dict({"extends": "gender", "entries": [nan]})}
        """
    )
    pytester.makepyfile(
        """
        import pytest
        from pytest_llmfair import assert_fairness_through_unawareness

        def test_pairs(counterfactual_pairs):
            assert counterfactual_pairs(['He sings.'], 'pets')

        def test_unknown(counterfactual_pairs):
            with pytest.raises(ValueError, match="no lexicon is called 'pet'; did you mean pets?"):
                counterfactual_pairs(['He sings.'], 'pet')

        def test_unawareness(lexicons):
            assert_fairness_through_unawareness(["My nan left."], lexicons["pets"])
        """
    )
    result = run()
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*'nan' (gender: female) in prompt 0*"])


def test_every_fixture_can_be_overridden(run, pytester):
    pytester.makeconftest(
        "import pytest\n"
        + "".join(
            f"@pytest.fixture(scope='session')\ndef {name}(): return 'my {name}'\n"
            for name in FIXTURES
        )
    )
    pytester.makepyfile(
        "".join(f"def test_{name}({name}): assert {name} == 'my {name}'\n" for name in FIXTURES)
    )
    run().assert_outcomes(passed=6)


def test_collector_uses_an_overridden_model(run, pytester):
    pytester.makeconftest(
        """
        import pytest

        @pytest.fixture
        def model_client():
            return lambda prompt: "mine"
        """
    )
    pytester.makepyfile(
        """
        def test_it(fairness):
            assert fairness.collect(["a prompt"]).answers == (("mine",),)
        """
    )
    run().assert_outcomes(passed=1)
