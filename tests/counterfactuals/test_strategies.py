"""Strategies for users' own property tests: what they give, and what it shrinks to."""

from __future__ import annotations

import builtins
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import find, given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import Lexicon, Pair, generate_pairs, load_lexicons
from pytest_llmfair.counterfactuals import strategies as fair
from pytest_llmfair.counterfactuals.strategies import sentences_about

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

ATTRIBUTES = [
    *("age", "disability", "gender", "gender_es", "nationality", "race", "religion"),
    "sexual_orientation",
]


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_prompts_mention_the_attribute_as_often_as_asked(attribute: str) -> None:
    lexicon = load_lexicons()[attribute]

    @given(fair.prompts(attribute, min_mentions=2))
    @settings(max_examples=40)
    def check(text: str) -> None:
        found = [m for m in lexicon.mentions(text) if m.group in lexicon.default_groups]
        assert len(found) >= 2

    check()


@given(st.deferred(lambda: fair.prompts("race", groups=["african american"])))
def test_prompts_mention_the_group_asked_for_under_any_label(text: str) -> None:
    groups = [m.group for m in load_lexicons()["race"].mentions(text)]
    assert "black" in groups


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_no_outdated_word_and_no_slur_is_written(attribute: str) -> None:
    lexicon = load_lexicons()[attribute]

    @given(fair.prompts(attribute, plain=True))
    @settings(max_examples=60)
    def check(text: str) -> None:
        assert {m.register for m in lexicon.mentions(text)} <= {"preferred", "neutral"}

    check()


def test_a_prompt_shrinks_to_one_short_sentence() -> None:
    assert find(fair.prompts("gender"), lambda text: True) == "She asked for help."
    assert find(fair.prompts("race"), lambda text: True) == "We met the Black nurse."


def test_a_trigger_shrinks_to_the_first_sentence_that_holds_it() -> None:
    found = find(fair.prompts("gender"), lambda text: " his " in text)
    assert found == "Nobody had read his report before the meeting."


def test_a_term_stands_in_a_sentence_that_fits_its_role() -> None:
    for attribute, sentence in CASES["a term stands in a sentence that fits its role"]:
        lexicon = load_lexicons()[attribute]
        by_role = sentences_about(lexicon, lexicon.default_groups)
        assert any(sentence in own for own in by_role)


def test_surroundings_shrink_away() -> None:
    found = find(fair.prompts("gender"), lambda text: "\u201c" in text)
    assert found == "\u201cShe asked for help.\u201d"


def test_prompts_have_other_scripts_line_breaks_and_quotes_around() -> None:
    for sign in ("\n", "\u0645", "https://"):
        assert sign in find(fair.prompts("gender"), lambda text, sign=sign: sign in text)


@given(st.deferred(lambda: fair.prompts("name", groups=("John", "Jane"), plain=True)))
def test_prompts_can_be_about_a_name(text: str) -> None:
    assert "John" in text or "Jane" in text


def test_a_user_lexicon_makes_prompts() -> None:
    colours = Lexicon.from_dict(
        {
            "name": "team",
            "groups": ["red", "blue"],
            "entries": [{"role": "supporter", "red": "Reds", "blue": "Blues"}],
        }
    )
    assert find(fair.prompts(colours), lambda text: True) == "We spoke about Reds."


@given(st.deferred(lambda: fair.counterfactual_pairs("gender", ("male", "nonbinary"))))
def test_pairs_are_those_of_generate_pairs(pair: Pair) -> None:
    assert pair in generate_pairs([pair.original], "gender", ("male", "nonbinary"))


def test_pairs_shrink() -> None:
    found = find(fair.counterfactual_pairs("gender"), lambda pair: pair.to_group == "female")
    assert (found.original, found.counterfactual) == ("He asked for help.", "She asked for help.")


def test_prompts_are_in_the_language_of_the_lexicon() -> None:
    assert (
        find(fair.prompts("gender_es"), lambda text: True)
        == "\u00bfQu\u00e9 significa \u00abella\u00bb?"
    )


def test_a_lexicon_of_another_language_gives_its_terms_alone() -> None:
    lexicon = Lexicon.from_dict(
        {
            "name": "geschlecht",
            "language": "de",
            "groups": ["weiblich", "m\u00e4nnlich"],
            "entries": [{"role": "noun", "weiblich": "Frau", "m\u00e4nnlich": "Mann"}],
        }
    )
    assert find(fair.prompts(lexicon), lambda text: True) == "Frau"


def test_prompts_of_two_attributes_name_both() -> None:
    found = find(fair.prompts(("race", "gender")), lambda text: True)
    assert found == "We met the Black nurse. She asked for help."


@given(
    st.deferred(
        lambda: fair.counterfactual_pairs(("race", "gender"), ("black female", "white male"))
    )
)
@settings(max_examples=40)
def test_pairs_of_two_attributes(pair: Pair) -> None:
    groups = ("race", "gender"), ("black female", "white male")
    assert pair in generate_pairs([pair.original], *groups)
    assert (pair.from_group, pair.to_group) == ("black female", "white male")


@given(st.deferred(lambda: fair.counterfactual_pairs("name", ("John", "Jane"))))
@settings(max_examples=30)
def test_pairs_of_names(pair: Pair) -> None:
    assert {pair.from_group, pair.to_group} == {"John", "Jane"}


@given(st.floats(0, 1), st.data())
def test_an_effect_is_the_gap_to_the_last_group(effect: float, data: st.DataObject) -> None:
    scores = data.draw(fair.scores_by_group(("a", "b", "c"), effect=effect))
    assert list(scores) == ["a", "b", "c"]
    first, second, last = (np.sort(own) for own in scores.values())
    assert (first == second).all()
    assert last == pytest.approx(first + effect, abs=1e-15)
    assert all(0.0 <= x <= 1.0 for own in scores.values() for x in own)


@given(fair.scores_by_group(("b", "c", "a")))
def test_groups_keep_their_order(scores: dict[str, object]) -> None:
    assert list(scores) == ["b", "c", "a"]


def test_without_an_effect_groups_can_differ_in_any_way() -> None:
    found = find(fair.scores_by_group(), lambda own: len(own["female"]) > len(own["male"]) + 3)
    assert {group: own.tolist() for group, own in found.items()} == {
        "female": [0.0] * 5,
        "male": [0.0],
    }


def test_wrong_arguments_say_what_is_wrong() -> None:
    for make, words in [
        (lambda: fair.prompts("gendre"), "did you mean gender"),
        (lambda: fair.prompts("gender", ["females"]), "did you mean female"),
        (lambda: fair.prompts("gender", "female"), "groups is one text"),
        (lambda: fair.prompts("gender", []), "groups is empty"),
        (lambda: fair.prompts(min_mentions=0), "min_mentions is 0"),
        (lambda: fair.counterfactual_pairs("gender", ("male",)), "give two different ones"),  # type: ignore[arg-type]
        (lambda: fair.counterfactual_pairs("gender", ("trans", "transgender")), "two different"),
        (lambda: fair.prompts(min_mentions=4), "max_mentions 3"),
        (lambda: fair.prompts(max_mentions="a"), "max_mentions is 'a'; give a whole"),  # type: ignore[arg-type]
        (lambda: fair.prompts("gender", 5), "groups is a int; give a list"),  # type: ignore[arg-type]
        (lambda: fair.scores_by_group(None), "groups is a NoneType; give a list"),  # type: ignore[arg-type]
        (lambda: fair.scores_by_group(min_size="a"), "min_size is 'a'; give a whole"),  # type: ignore[arg-type]
        (lambda: fair.scores_by_group(low="a"), "low is 'a'; give a finite number"),  # type: ignore[arg-type]
        (lambda: fair.scores_by_group(effect=True), "effect is True; give a finite number"),
        (lambda: fair.scores_by_group(["a"]), "two or more labels"),
        (lambda: fair.scores_by_group(["a", "a"]), "each once"),
        (lambda: fair.scores_by_group(effect=1.5), "differ by 0 to 1"),
        (lambda: fair.scores_by_group(low=1.0, high=0.0), "low is 1.0, high 0.0"),
        (lambda: fair.scores_by_group(min_size=30), "min_size 30, max_size 20"),
    ]:
        with pytest.raises(ValueError, match=words):
            make()


def test_a_group_without_a_term_to_write_is_named() -> None:
    lexicon = Lexicon.from_dict(
        {
            "name": "team",
            "groups": ["red", "blue"],
            "entries": [
                {"role": "noun", "red": "reds", "blue": {"term": "blues", "register": "slur"}}
            ],
        }
    )
    with pytest.raises(ValueError, match="about team blue: the lexicon has no term"):
        fair.prompts(lexicon)


def test_importing_the_strategies_does_not_load_hypothesis() -> None:
    code = (
        "import sys, pytest_llmfair.counterfactuals.strategies; "
        "print({'hypothesis', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_without_hypothesis_it_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name.partition(".")[0] == "hypothesis":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match='pip install "hypothesis>='):
        fair.prompts()
