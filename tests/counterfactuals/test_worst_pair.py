"""find_worst_pair: finds what was planted, shortens it, keeps to its budget, ignores noise."""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase, InMemoryExampleDatabase

from pytest_llmfair.clients import ModelClient, builtin_occupations, load_client
from pytest_llmfair.counterfactuals import load_lexicons
from pytest_llmfair.counterfactuals import strategies as fair
from pytest_llmfair.probing import WorstPair, find_worst_pair
from pytest_llmfair.probing.searching import BudgetedClient, shortest, smallest_p
from pytest_llmfair.responses import Missing

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

PROMPTS = CASES["prompts"]


class Planted:
    """Answers alike, but for prompts in which a woman is a surgeon; counts its answers."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, prompt: str) -> str:
        self.calls += 1
        if "surgeon" in prompt and "she" in prompt.split():
            return "I would rather not talk about that."
        return "Certainly, here is the letter."


def stereotypes(text: str) -> set[str]:
    return {kind for word, kind in builtin_occupations().items() if word in text}


def other_stereotype(first: str, second: str) -> float:
    return float(stereotypes(first) != stereotypes(second))


WORK = CASES["work"]


def test_the_prompt_shrinks_to_the_planted_trigger() -> None:
    worst = find_worst_pair(Planted(), PROMPTS, database=None)
    assert worst.pair is not None
    assert worst.pair.original == "surgeon she"
    assert worst.pair.counterfactual == "surgeon he"
    assert worst.found_as == PROMPTS[1]
    assert worst.shortest
    assert (worst.dissimilarity, worst.floor) == (1.0, 0.0)
    assert worst.answers == ("I would rather not talk about that.",) * 5
    assert worst.twin_answers == ("Certainly, here is the letter.",) * 5


def test_a_strategy_is_searched_too() -> None:
    def model(prompt: str) -> str:
        return "No." if "his" in re.findall(r"\w+", prompt.lower()) else "Yes."

    worst = find_worst_pair(model, fair.prompts("gender"), max_calls=150, database=None)
    assert worst.pair is not None
    (edit,) = worst.pair.edits
    assert "his" in (edit.before.lower(), edit.after.lower())


@pytest.mark.parametrize("max_calls", [1, 2, 3, 4, 5, 9, 13, 14, 25, 37, 60, 111, 200])
def test_the_model_is_never_asked_more_often_than_allowed(max_calls: int) -> None:
    model = Planted()
    worst = find_worst_pair(model, PROMPTS, max_calls=max_calls, database=None)
    assert model.calls == worst.calls <= max_calls


@pytest.mark.parametrize("max_calls", [7, 50, 123, 300])
def test_a_model_with_noise_keeps_to_the_budget_as_well(max_calls: int) -> None:
    asked = []

    def model(prompt: str, seed: int) -> str:
        asked.append(prompt)
        return random.Random(seed).choice(["yes", "no", "perhaps"])

    worst = find_worst_pair(model, PROMPTS, max_calls=max_calls, database=None)
    assert len(asked) == worst.calls <= max_calls


def test_the_bias_of_the_built_in_model_is_found() -> None:
    client = load_client("builtin:ngram?gender_skew=0.8", max_tokens=6)
    worst = find_worst_pair(client, WORK, other_stereotype, database=None)
    assert worst.pair is not None
    assert worst.found_as in (WORK[0], WORK[2])
    assert worst.dissimilarity > worst.floor > 0.0
    assert worst.p <= 0.025
    assert worst.calls <= 200


def test_noise_of_an_unbiased_model_is_not_a_worst_pair() -> None:
    found = [
        find_worst_pair(
            load_client("builtin:ngram", seed=seed, max_tokens=6),
            WORK,
            other_stereotype,
            seed=seed,
            database=None,
        )
        for seed in range(3)
    ]
    # At level 0.95 two of three have odds of at most 0.008.
    assert sum(worst.pair is not None for worst in found) < 2
    assert "differs on new answers by" in next(w.reason for w in found if w.pair is None)


@pytest.mark.parametrize(
    ("attribute", "groups", "prompt", "left"),
    CASES["every attribute can be searched"],
)
def test_every_attribute_can_be_searched(
    attribute: str | tuple[str, str], groups: tuple[str, str] | None, prompt: str, left: str
) -> None:
    def model(prompt: str) -> str:
        return "Gladly." if "Black" in prompt or "John" in prompt else "No."

    worst = find_worst_pair(model, [prompt], attribute=attribute, groups=groups, database=None)
    assert worst.pair is not None
    assert worst.pair.original == left


def test_the_same_seed_finds_the_same() -> None:
    client = load_client("builtin:ngram?gender_skew=0.8", max_tokens=6)
    first, second = (
        find_worst_pair(client, WORK, other_stereotype, seed=4, database=None) for _ in range(2)
    )
    assert first == second


def test_what_was_found_is_tried_first_next_time() -> None:
    database = InMemoryExampleDatabase()
    first = find_worst_pair(Planted(), PROMPTS, database=database)
    again = find_worst_pair(Planted(), PROMPTS, database=database)
    assert (again.pair, again.answers) == (first.pair, first.answers)
    assert again.replayed
    assert not first.replayed
    assert again.tried == 0
    assert again.calls < first.calls


def test_a_stored_pair_of_a_noisy_model_is_tried_first() -> None:
    client = load_client("builtin:ngram?gender_skew=0.8", max_tokens=6)
    database = InMemoryExampleDatabase()
    first, again = (
        find_worst_pair(client, WORK, other_stereotype, seed=2, database=database, max_calls=300)
        for _ in range(2)
    )
    assert first.pair is not None
    assert not first.replayed
    assert again.replayed


def test_a_pair_in_a_folder_is_known_to_the_next_process(tmp_path) -> None:  # type: ignore[no-untyped-def]
    first = find_worst_pair(Planted(), PROMPTS, database=DirectoryBasedExampleDatabase(tmp_path))
    again = find_worst_pair(Planted(), PROMPTS, database=DirectoryBasedExampleDatabase(tmp_path))
    assert again.pair == first.pair
    assert again.replayed


def test_a_fixed_model_is_searched_again_and_the_pair_forgotten() -> None:
    database = InMemoryExampleDatabase()

    # Two functions of one name: what one has answered in a session is remembered.
    def answering(to_her: str) -> Callable[[str], str]:
        def model(prompt: str) -> str:
            return to_her if "she" in prompt.split() else "Yes."

        return model

    assert find_worst_pair(answering("No."), PROMPTS, database=database).pair is not None
    mended = find_worst_pair(answering("Yes."), PROMPTS, database=database)
    assert mended.pair is None
    assert mended.tried == 3
    assert [values for values in database.data.values() if values] == []


def test_another_question_is_another_memory() -> None:
    database = InMemoryExampleDatabase()
    find_worst_pair(Planted(), PROMPTS, database=database)
    other = find_worst_pair(Planted(), [*PROMPTS, "Will he sing?"], database=database)
    assert not other.replayed


def test_a_fair_deterministic_model_has_no_worst_pair() -> None:
    worst = find_worst_pair(lambda prompt: "Yes.", PROMPTS, database=None)
    assert worst.pair is None
    assert worst.reason == "none of the 3 pairs asked differs by more than 0"
    assert math.isnan(worst.dissimilarity)


def test_a_difference_up_to_the_threshold_does_not_count() -> None:
    def apart(first: str, second: str) -> float:
        return 0.25 * (first != second)

    assert find_worst_pair(Planted(), PROMPTS, apart, database=None).pair is not None
    worst = find_worst_pair(Planted(), PROMPTS, apart, threshold=0.25, database=None)
    assert worst.pair is None


def test_the_threshold_stops_the_shortening() -> None:
    def model(prompt: str) -> str:
        said = "She" in prompt.split()
        return "Anything." if not said else "No way." if "pilot" in prompt else "Anything at all."

    prompt = "She was a pilot."
    loose = find_worst_pair(model, [prompt], database=None)
    strict = find_worst_pair(model, [prompt], threshold=0.7, database=None)
    assert loose.pair is not None
    assert strict.pair is not None
    assert (loose.pair.original, strict.pair.original) == ("She", "She pilot")


def test_missing_answers_never_count_as_different() -> None:
    def model(prompt: str) -> str | Missing:
        return Missing("filtered") if "she" in prompt.split() else "Yes."

    worst = find_worst_pair(model, PROMPTS, database=None)
    assert worst.pair is None
    assert worst.missing["filtered"] > 0
    assert "missing answers" in str(worst)


def test_a_model_without_answers_is_not_reported_as_fair() -> None:
    worst = find_worst_pair(lambda prompt: None, PROMPTS, database=None)
    assert worst.pair is None
    assert worst.reason == "none of the 3 pairs asked was answered on both sides"


def test_one_answer_a_side_has_no_repeats_to_report() -> None:
    worst = find_worst_pair(Planted(), PROMPTS[1:2], max_calls=6, database=None)
    assert "differs on new answers by 1.00 (p = 1 with 1 answers a side" in worst.reason


def test_masked_words_make_no_difference() -> None:
    mask = load_lexicons()["gender"]
    assert find_worst_pair(lambda prompt: prompt, PROMPTS, mask=mask, database=None).pair is None
    assert find_worst_pair(lambda prompt: prompt, PROMPTS, database=None).pair is not None


def test_the_report_shows_the_pair_its_answers_and_the_calls() -> None:
    said = str(find_worst_pair(Planted(), PROMPTS, database=None))
    assert "'surgeon {she|he}'" in said
    assert "female: 'I would rather not talk about that.'" in said
    assert "noise floor 0.00, p = 0.0079" in said
    assert "of 200 calls, 3 pairs tried" in said


def test_the_report_escapes_control_characters() -> None:
    def model(prompt: str) -> str:
        return "\x1b[31mNo.\ud800" if "she" in prompt.split() else "Yes."

    said = str(find_worst_pair(model, ["Will she come?"], database=None))
    assert "\\x1b[31mNo.\\ud800" in said
    said.encode()


def test_wrong_arguments_say_what_is_wrong() -> None:
    for keywords, words in CASES["wrong arguments say what is wrong"]:
        given: dict[str, object] = {"prompts": PROMPTS, "database": None, **keywords}
        with pytest.raises(ValueError, match=words):
            find_worst_pair(Planted(), **given)  # type: ignore[arg-type]


@given(
    st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=12),
    st.sets(st.text("abc", min_size=1, max_size=3), max_size=3),
)
def test_shortening_keeps_what_is_needed_and_nothing_else(
    words: list[str], needed: set[str]
) -> None:
    wanted = needed & set(words) or {words[0]}
    found = shortest(" ".join(words), lambda text: wanted <= set(text.split()))
    assert sorted(found.split()) == sorted(wanted)


@given(st.lists(st.integers(0, 2), min_size=4, max_size=8))
@settings(max_examples=30)
def test_difference_is_that_of_a_direct_count(codes: list[int]) -> None:
    half = len(codes) // 2
    pair = find_worst_pair(Planted(), PROMPTS, database=None).pair
    assert pair is not None
    # The first half of the codes are answers to the original, in whatever order it is asked.
    sides = {pair.original: iter(codes[:half]), pair.counterfactual: iter(codes[half:])}

    def apart(a: object, b: object) -> float:
        return float(a != b)

    class Measure:
        prepare = staticmethod(list)
        compare = staticmethod(lambda first, second: list(map(apart, first, second)))

    model = ModelClient.of(lambda prompt: str(next(sides[prompt])))
    asker = BudgetedClient(model, Measure, 2 * half, seed=0)
    (found,) = asker.ask([pair], half, "draw")

    def excess(first: tuple[int, ...]) -> float:
        second = [i for i in range(2 * half) if i not in first]
        across = [apart(codes[i], codes[j]) for i in first for j in second]
        within = [
            sum(apart(codes[i], codes[j]) for i, j in itertools.combinations(side, 2))
            / math.comb(half, 2)
            for side in (first, second)
        ]
        return sum(across) / half**2 - sum(within) / 2

    observed = excess(tuple(range(half)))
    splits = list(itertools.combinations(range(2 * half), half))
    p = sum(excess(split) >= observed - 1e-9 for split in splits) / len(splits)
    assert found.excess == pytest.approx(observed)
    assert found.p == pytest.approx(p)
    assert found.p >= smallest_p(half) - 1e-12


@pytest.mark.parametrize(("many", "drawn"), [(300, 200), (7, 7)])
def test_prompts_are_drawn_from_a_strategy_until_there_are_enough(many: int, drawn: int) -> None:
    days = st.integers(1, many).map("It rained on day {}.".format)
    often = st.one_of(st.just("It rained on day 1."), days)
    with pytest.raises(ValueError, match=f"none of the {drawn} prompts makes a pair"):
        find_worst_pair(lambda prompt: prompt, often, max_calls=200, database=None)


def test_a_pair_found_in_a_strategy_is_tried_first_in_the_next_run() -> None:
    prompts, database = (
        st.sampled_from([f"She has {i}." for i in range(400)]),
        InMemoryExampleDatabase(),
    )

    def search(seed: int) -> WorstPair:
        return find_worst_pair(
            lambda prompt: prompt, prompts, max_calls=120, seed=seed, database=database
        )

    first, second = search(0), search(1)
    assert not first.replayed
    assert second.replayed
    assert second.pair == first.pair is not None
