"""Words that can be read in two ways: their prompts give no pair, and verdicts say so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import yaml

from pytest_llmfair import InvalidEvidence, Verdict, assert_counterfactual_invariance
from pytest_llmfair.counterfactuals import (
    Lexicon,
    Pair,
    Pairs,
    Uncertain,
    generate_pairs,
    intersection,
    load_lexicons,
    mask,
    mentions,
)
from pytest_llmfair.counterfactuals.user_pairs import why_unchecked
from pytest_llmfair.lexicons.grammar import EveryMention
from pytest_llmfair.lexicons.grammar import Verdict as Answer
from pytest_llmfair.metrics import fairness_through_unawareness

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

WHY = "'black' may be a colour"


@dataclass(frozen=True)
class Doubting(EveryMention):
    """A grammar that counts every word, and is not sure of a text with "perhaps"."""

    counted: bool = True

    def counts(self, text, start, end, kind):
        sure = "perhaps" not in text
        return Answer(self.counted or sure, sure, "" if sure else WHY)

    def role(self, text, start, end, roles):
        roles = sorted(roles)
        sure = len(roles) == 1 or "perhaps" not in text
        return Answer(roles[0], sure, "" if sure else f"{text[start:end]!r} may be two things")


def lexicon(name="race", **more) -> Lexicon:
    return replace(load_lexicons()[name], grammar=Doubting(**more))


SURE, UNSURE = "The black nurse spoke.", "The black, perhaps, nurse spoke."


@pytest.mark.parametrize("counted", [True, False])
def test_an_uncertain_prompt_gives_no_pair_and_is_listed_with_the_reason(counted: bool) -> None:
    pairs = generate_pairs([SURE, UNSURE], lexicon(counted=counted), ("black", "white"))

    assert [pair.original for pair in pairs] == [SURE]
    assert pairs.uncertain == (Uncertain(UNSURE, 4, 9, WHY),)
    assert (pairs.uncertain[0].text, pairs.uncertain[0].span) == ("black", (4, 9))
    assert (pairs.rejected, pairs.unmentioned) == ((), 0)


def test_keep_takes_the_answer_of_the_grammar_and_flags_the_pair() -> None:
    kept = generate_pairs([SURE, UNSURE], lexicon(), ("black", "white"), uncertain="keep")
    left = generate_pairs(
        [SURE, UNSURE], lexicon(counted=False), ("black", "white"), uncertain="keep"
    )

    assert [pair.uncertain for pair in kept] == ["", WHY]
    assert kept.uncertain == left.uncertain == ()
    assert ([pair.original for pair in left], left.unmentioned) == ([SURE], 1)


@pytest.mark.parametrize("counted", [True, False])
def test_a_users_twin_settles_a_prompt(counted: bool) -> None:
    twin = UNSURE.replace("black", "white")
    pairs = generate_pairs([SURE, (UNSURE, twin)], lexicon(counted=counted), ("black", "white"))

    assert [pair.counterfactual for pair in pairs][1:] == [twin]
    assert (pairs.uncertain, pairs.rejected) == ((), ())


def test_a_users_twin_settles_the_role_of_a_pronoun() -> None:
    for text, twin in CASES["a users twin says which role a pronoun has"]:
        pairs = generate_pairs([(text, twin)], lexicon("gender"))
        assert ([pair.counterfactual for pair in pairs], pairs.rejected) == ([twin], ())


@pytest.mark.parametrize(
    ("twin", "reason"),
    CASES["a users twin passes the same checks"],
)
def test_a_users_twin_passes_the_same_checks(twin: str, reason: str) -> None:
    pairs = generate_pairs([(UNSURE, twin)], lexicon(), ("black", "white"))

    assert list(pairs) == []
    assert any(reason in said for said in pairs.rejected[0].reasons), pairs.rejected


def test_a_twin_that_names_no_group_is_an_error_with_its_row() -> None:
    with pytest.raises(ValueError, match="prompt 1 has a twin of its own, and its twin names no"):
        generate_pairs(["She left.", ("She left.", "They left.")], "gender")
    with pytest.raises(ValueError, match=r"prompt 0 is .*, a tuple; give a text, or a tuple of a"):
        generate_pairs([("a", "b", "c")], "gender")  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("answer", "text", "message"),
    CASES["an answer that a grammar cannot give is an error"],
)
def test_an_answer_that_a_grammar_cannot_give_is_an_error(answer, text, message) -> None:
    @dataclass(frozen=True)
    class Odd(EveryMention):
        def counts(self, text, start, end, kind):
            return Answer(answer)

        def role(self, text, start, end, roles):
            return Answer(answer)

    name = "race" if answer == "yes" else "gender"
    with pytest.raises(ValueError, match=message):
        mentions(text, replace(load_lexicons()[name], grammar=Odd()))


def test_a_pair_made_by_hand_about_an_uncertain_word_is_judged() -> None:
    text = "There is a chink in the armour."
    pair = Pair(text, "There is a frog in the pond.", "asian", "white", (), "race")
    assert why_unchecked(pair) == ""


def test_another_word_for_uncertain_is_an_error() -> None:
    with pytest.raises(ValueError, match="uncertain is 'drop'; choose 'reject' or 'keep'"):
        generate_pairs([SURE], "race", ("black", "white"), uncertain="drop")  # type: ignore[arg-type]


def test_a_doubt_about_a_group_that_is_not_exchanged_does_not_matter() -> None:
    assert generate_pairs([UNSURE], lexicon(), ("white", "asian")).uncertain == ()


def test_a_pronoun_whose_role_is_doubtful() -> None:
    prompt = "Perhaps not, perhaps her."
    pairs = generate_pairs([prompt], lexicon("gender"))

    assert [one.text for one in pairs.uncertain] == ["her"]
    assert len(generate_pairs(["Not her."], lexicon("gender"))) == 1


@pytest.mark.parametrize("counted", [True, False])
def test_mentions_say_how_sure_they_are(counted: bool) -> None:
    found = mentions(f"{SURE} {UNSURE}", lexicon(counted=counted))
    assert [mention.confidence for mention in found] == ["uncertain", "uncertain"]
    assert [mention.confidence for mention in mentions(SURE, lexicon())] == ["context"]
    assert [mention.confidence for mention in mentions("She spoke.", "gender")] == ["certain"]


@pytest.mark.parametrize("counted", [True, False])
def test_both_texts_are_masked_alike_where_a_word_is_uncertain(counted: bool) -> None:
    known = lexicon(counted=counted)
    assert mask(UNSURE, known) == mask(UNSURE.replace("black", "white"), known)
    assert "black" not in mask(UNSURE, known)


def test_of_two_attributes_only_prompts_that_may_name_both_are_uncertain() -> None:
    both = intersection(lexicon(), load_lexicons()["gender"])
    groups = ("black female", "white female")
    prompts = [UNSURE, "The black woman, perhaps, spoke.", "The woman spoke, perhaps."]

    pairs = generate_pairs(prompts, both, groups)

    assert [one.prompt for one in pairs.uncertain] == [prompts[1]]


def test_what_was_left_out_travels_with_slices_copies_and_sums() -> None:
    pairs = generate_pairs([SURE, UNSURE], lexicon(), ("black", "white"))

    for other in (pairs[:1], pairs.copy(), pairs + Pairs(), Pairs(pairs)):
        assert other.uncertain == pairs.uncertain
    assert len((pairs + pairs).uncertain) == 2


def test_the_table_lists_them_with_what_settles_one() -> None:
    table = generate_pairs([SURE, UNSURE], lexicon(), ("black", "white")).table(100)

    assert table.startswith("1 pair; 0 rejected; 1 uncertain; 0 prompts without a mention")
    for part in ("uncertain, so left out", UNSURE, WHY, "not_before", "{person}", "'keep'"):
        assert part in table


def made(uncertain: int, kept: int) -> Pairs:
    prompts = [f"{SURE} Question {i}." for i in range(kept)]
    prompts += [f"{UNSURE} Question {i}." for i in range(uncertain)]
    return generate_pairs(prompts, lexicon(), ("black", "white"))


def alike(prompt: str) -> str:
    return f"An answer to number {prompt.split()[-1]}, the same to everybody."


def test_few_uncertain_prompts_are_a_note() -> None:
    result = assert_counterfactual_invariance(made(36, 108), 0.1, client=alike)

    assert (result.verdict, result.uncertain, result.rejected) == (Verdict.PASS, 36, 0)
    assert any("36 of 144 prompts left out" in note and WHY in note for note in result.notes)
    assert "prompts_uncertain" in result.reasons


def test_many_uncertain_prompts_are_invalid_before_the_model_is_asked() -> None:
    asked: list[str] = []
    with pytest.raises(InvalidEvidence) as caught:
        assert_counterfactual_invariance(made(37, 108), 0.1, client=asked.append)

    assert asked == []
    assert "uncertain_prompts" in caught.value.result.reasons
    for part in ("37 of 145 prompts", "25.5%", "max_uncertain = 25%", WHY):
        assert part in str(caught.value)
    assert_counterfactual_invariance(made(37, 108), 0.1, client=alike, max_uncertain=0.3)


def test_nothing_but_uncertain_prompts_is_invalid() -> None:
    with pytest.raises(InvalidEvidence, match="5 of 5 prompts"):
        assert_counterfactual_invariance(made(5, 0), 0.1, client=alike)


def test_a_verdict_on_pairs_that_were_kept_says_so() -> None:
    prompts = [f"{SURE} Question {i}." for i in range(100)]
    prompts += [f"{UNSURE} Question {i}." for i in range(20)]
    pairs = generate_pairs(prompts, lexicon(), ("black", "white"), uncertain="keep")

    result = assert_counterfactual_invariance(pairs, 0.1, client=alike)

    assert "uncertain_pairs_kept" in result.reasons
    assert any("20 of 120 pairs kept" in note and WHY in note for note in result.notes)


def test_a_prompt_that_is_uncertain_for_several_groups_counts_once() -> None:
    pairs = made(20, 80)
    result = assert_counterfactual_invariance(pairs + pairs, 0.1, client=alike)

    assert any("20 of 100 prompts left out" in note for note in result.notes)


def test_a_word_that_the_rules_do_not_count_names_no_group_in_a_prompt() -> None:
    estimate = fairness_through_unawareness([UNSURE] * 4, lexicon(counted=False))
    assert estimate.value == 0
    assert fairness_through_unawareness([UNSURE] * 4, lexicon()).value == 1


def test_a_users_twin_has_the_groups_that_differ() -> None:
    pair = (
        "She saw a duke, perhaps, and the black nurse.",
        "She saw a duke, perhaps, and the white nurse.",
    )
    made = generate_pairs([pair], lexicon())
    assert [(one.from_group, one.to_group) for one in made] == [("black", "white")]


def test_words_next_to_a_term_are_found_across_lines_and_before_marks() -> None:
    own = Lexicon.from_dict(
        {
            "name": "shades",
            "groups": ["a", "b"],
            "entries": [
                {
                    "role": "adjective",
                    "a": "mauve",
                    "b": "teal",
                    "not_before": ["cab drivers", "("],
                }
            ],
        }
    )
    for text in ("mauve cab\ndrivers", "mauve  cab  drivers", "mauve (so)", "mauve-cab drivers"):
        assert own.mentions(text) == [], text
    assert len(own.mentions("mauve cabs")) == 1


def test_the_ini_file_sets_the_share(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nllmfair_max_uncertain = 0.1\n")
    pytester.makepyfile(
        """
        from dataclasses import replace
        from pytest_llmfair import assert_counterfactual_invariance
        from pytest_llmfair.counterfactuals import Pairs, Uncertain, generate_pairs

        def test_it():
            made = generate_pairs([f"She asks question {i}." for i in range(80)], "gender")
            unsure = [Uncertain(f"her {i}", 0, 3, "'her' can be two things") for i in range(20)]
            pairs = Pairs(made, uncertain=unsure)
            assert_counterfactual_invariance(pairs, 0.1, client=lambda prompt: "the same")
        """
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*20 of 100 prompts*", "*max_uncertain = 10%*"])
