"""The five fixtures as tests meet them."""

from __future__ import annotations

import json

import pytest


def test_fixtures_are_listed_with_their_purpose(run):
    lines = run("--fixtures").stdout.str()
    for name in ("model_client", "counterfactual_pairs", "lexicons", "scorers", "fairness"):
        assert f"\n{name}" in lines


def test_model_client_is_the_model_of_the_option(run, pytester):
    pytester.makepyfile(
        mymodel="def answer(prompt): return prompt.upper()",
        test_it="""
        def test_it(model_client):
            assert model_client.generate(["hello"], n=1) == [["HELLO"]]
        """,
    )
    pytester.syspathinsert()
    run("--llmfair-model=python:mymodel:answer").assert_outcomes(passed=1)


def test_model_client_is_the_builtin_model_by_default(run, pytester):
    pytester.makepyfile(
        """
        def test_it(model_client):
            (answers,) = model_client.generate(["The nurse said that"], n=3)
            assert len(answers) == 3 and all(isinstance(a, str) and a for a in answers)
        """
    )
    run().assert_outcomes(passed=1)


def test_pairs_from_a_list(run, pytester):
    pytester.makepyfile(
        """
        def test_it(counterfactual_pairs):
            (pair,) = counterfactual_pairs(["He is a nurse."], attribute="gender")
            assert {pair.original, pair.counterfactual} == {"He is a nurse.", "She is a nurse."}
        """
    )
    run().assert_outcomes(passed=1)


@pytest.mark.parametrize("name", ["'prompts.txt'", "Path('prompts.txt')"])
def test_pairs_from_a_file_beside_the_test(name, run, pytester, monkeypatch):
    folder = pytester.mkdir("suite")
    (folder / "prompts.txt").write_text("He is a nurse.\n\nHer brother sings.\n", "utf-8")
    (folder / "test_it.py").write_text(
        f"from pathlib import Path\n"
        f"def test_it(counterfactual_pairs): assert len(counterfactual_pairs({name})) == 2\n"
    )
    monkeypatch.chdir(pytester.mkdir("elsewhere"))
    run("--rootdir", str(pytester.path), "../suite").assert_outcomes(passed=1)


def test_pairs_from_a_file_in_the_root_folder(run, pytester):
    pytester.makeini("[pytest]\n")
    (pytester.path / "prompts.txt").write_text("He is a nurse.\n", "utf-8")
    folder = pytester.mkdir("suite")
    (folder / "test_it.py").write_text(
        "def test_it(counterfactual_pairs): assert counterfactual_pairs('prompts.txt')\n"
    )
    run("suite").assert_outcomes(passed=1)


def test_file_that_does_not_exist_is_never_a_prompt(run, pytester):
    pytester.makepyfile("def test_it(counterfactual_pairs): counterfactual_pairs('promts.txt')")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*FileNotFoundError: there is no prompt file 'promts.txt' in *"])


def test_file_without_prompts_is_an_error(run, pytester):
    (pytester.path / "prompts.txt").write_text("\n \n", "utf-8")
    pytester.makepyfile("def test_it(counterfactual_pairs): counterfactual_pairs('prompts.txt')")
    run().stdout.fnmatch_lines(["E*prompts.txt has no prompt; write one per line"])


def test_file_that_is_not_utf8_is_an_error(run, pytester):
    (pytester.path / "prompts.txt").write_bytes(b"He is a na\xefve nurse.")
    pytester.makepyfile("def test_it(counterfactual_pairs): counterfactual_pairs('prompts.txt')")
    run().stdout.fnmatch_lines(["E*prompts.txt is not UTF-8 (byte 10); save it as UTF-8"])


@pytest.mark.parametrize("prompts", ["['It rains.']", "(text for text in ['It rains.'])"])
def test_prompts_without_a_mention_are_an_error(run, pytester, prompts):
    pytester.makepyfile(
        f"def test_it(counterfactual_pairs): counterfactual_pairs({prompts}, 'gender')"
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*ValueError: none of the 1 prompts *no mention of gender *"])


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        # A known slot makes a template, with fillers of the test's own.
        (
            "['{Person} is {a:job}.'], 'race', ('white', 'asian'), fillers={'job': ['cook']}",
            "{('A white person is a cook.', 'An Asian person is a cook.'),"
            " ('A European American person is a cook.', 'An Asian American person is a cook.')}",
        ),
        # Anything else in braces is text.
        (
            "['He wrote {\"name\": 1}, {name} and {{person}}.']",
            "{('He wrote {\"name\": 1}, {name} and {{person}}.',"
            " 'She wrote {\"name\": 1}, {name} and {{person}}.')}",
        ),
        (
            "['{Person} left.'], 'name', ('John', 'Jane')",
            "{('John left.', 'Jane left.')}",
        ),
        (
            "['{Person} left.'], ('race', 'gender'), ('black female', 'white male')",
            "{(f'A {a} {b} left.', f'A {c} {d} left.')"
            " for a, c in (('Black', 'white'), ('African American', 'European American'))"
            " for b, d in (('woman', 'man'), ('lady', 'gentleman'))}",
        ),
    ],
)
def test_pairs_from_templates_and_texts(call, expected, run, pytester):
    pytester.makepyfile(
        f"""
        def test_it(counterfactual_pairs):
            (pair,) = counterfactual_pairs({call})
            assert (pair.original, pair.counterfactual) in {expected}
        """
    )
    run().assert_outcomes(passed=1)


def test_pairs_from_a_file_of_templates(run, pytester):
    (pytester.path / "mine.yaml").write_text(
        "fillers: {job: [cook]}\ntemplates: ['{Person} is {a:job}.', 'He sings.']\n", "utf-8"
    )
    pytester.makepyfile(
        """
        def test_it(counterfactual_pairs):
            first, second = counterfactual_pairs("mine.yaml")
            assert first.counterfactual.endswith("is a cook.")
            assert second.counterfactual == "She sings."
        """
    )
    run().assert_outcomes(passed=1)


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


def test_pairs_with_placebo_twins(run, pytester):
    pytester.makepyfile(
        """
        def test_it(counterfactual_pairs):
            groups = ("young", "older")
            (pair,) = counterfactual_pairs(["{Person} left."], "age", groups, placebo=True)
            assert "oung" in pair.placebo != pair.original
        """
    )
    run().assert_outcomes(passed=1)


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
    (result,) = json.loads((pytester.path / "run.json").read_text(encoding="utf-8"))["results"]
    assert (result["verdict"], result["rejected"]) == ("INVALID", 1)


def test_unknown_attribute_is_an_error(run, pytester):
    pytester.makepyfile(
        "def test_it(counterfactual_pairs): counterfactual_pairs(['He sings.'], 'gander')"
    )
    run().stdout.fnmatch_lines(["E*ValueError: *gander*"])


PETS = """
    import pytest

    @pytest.fixture(scope="session")
    def lexicons(lexicons):
        return {"pets": lexicons["gender"]}
"""


def test_pairs_use_the_lexicons_of_the_fixture(run, pytester):
    pytester.makeconftest(PETS)
    pytester.makepyfile(
        "def test_it(counterfactual_pairs): assert counterfactual_pairs(['He sings.'], 'pets')"
    )
    run().assert_outcomes(passed=1)


def test_an_unknown_attribute_is_answered_with_a_lexicon_of_the_fixture(run, pytester):
    pytester.makeconftest(PETS)
    pytester.makepyfile(
        "def test_it(counterfactual_pairs): counterfactual_pairs(['He sings.'], 'pet')"
    )
    run().stdout.fnmatch_lines(["E*ValueError: no lexicon is called 'pet'; did you mean pets?*"])


def test_unawareness_takes_a_lexicon_of_the_fixture(run, pytester):
    pytester.makeconftest(
        """
        import pytest
        from pytest_llmfair.counterfactuals import Lexicon

        @pytest.fixture(scope="session")
        def lexicons():
            nan = {"role": "kinship", "female": "nan", "male": "grampa"}
            return {"gender": Lexicon.from_dict({"extends": "gender", "entries": [nan]})}
        """
    )
    pytester.makepyfile(
        """
        from pytest_llmfair import assert_fairness_through_unawareness

        def test_it(lexicons):
            assert_fairness_through_unawareness(["My nan left."], lexicons["gender"])
        """
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*'nan' (gender: female) in prompt 0*"])


def test_lexicons_and_scorers_go_by_name(run, pytester):
    pytester.makepyfile(
        """
        def test_it(lexicons, scorers):
            assert "gender" in lexicons
            assert {"sentiment", "toxicity"} <= set(scorers)
        """
    )
    run().assert_outcomes(passed=1)


def test_collector_asks_the_model_once_for_several_checks(run, pytester):
    pytester.makepyfile(
        mymodel="""
        asked = []
        def answer(prompt):
            asked.append(prompt)
            return f"answer {len(asked)}"
        """,
        test_it="""
        import mymodel

        def test_it(fairness):
            prompts = [f"prompt {i}" for i in range(80)]
            fairness.collect(prompts, generations=1)
            calm = lambda texts: [0.0] * len(texts)
            fairness.check("toxic_fraction", bound=0.1, scorer=calm)
            fairness.check("toxic_fraction", bound=0.1, scorer=calm, threshold=0.9)
            assert len(mymodel.asked) == 80
        """,
    )
    pytester.syspathinsert()
    run("--llmfair-model=python:mymodel:answer").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("name", "value", "use"),
    [
        ("model_client", "lambda prompt: 'mine'", "assert model_client('x') == 'mine'"),
        ("counterfactual_pairs", "lambda prompts: [1]", "assert counterfactual_pairs([]) == [1]"),
        ("lexicons", "{'team': 1}", "assert lexicons == {'team': 1}"),
        ("scorers", "{'mine': len}", "assert scorers['mine']('ab') == 2"),
        ("fairness", "'mine'", "assert fairness == 'mine'"),
    ],
)
def test_every_fixture_can_be_overridden(name, value, use, run, pytester):
    pytester.makeconftest(
        f"import pytest\n@pytest.fixture(scope='session')\ndef {name}(): return {value}\n"
    )
    pytester.makepyfile(f"def test_it({name}): {use}")
    run().assert_outcomes(passed=1)


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
