"""The check that every scorer goes through, and the scorers by name."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pytest_llmfair.responses import DigestedText, Missing
from pytest_llmfair.scorers import Scorer, load_scorers, score
from pytest_llmfair.text import tokens


def length(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


class Share:
    name = "share"
    range = (0.0, 1.0)

    def __init__(self, values: list[float]) -> None:
        self.values = values

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        return np.array(self.values)


@pytest.mark.parametrize("n", [0, 1, 2, 251])
def test_any_number_of_texts_is_scored_in_order(n: int) -> None:
    texts = ["x" * (i * 7 % 251) for i in range(n)]
    scores = score(length, texts)
    assert scores.dtype == np.float64
    assert scores.tolist() == [len(text) for text in texts]


def test_each_distinct_text_is_scored_once() -> None:
    asked: list[list[str]] = []

    def spy(texts: Sequence[str]) -> list[float]:
        asked.append(list(texts))
        return [1.0 if text == "b" else 2.0 for text in texts]

    assert score(spy, ["b", "a", "b", "a", "a"]).tolist() == [1.0, 2.0, 1.0, 2.0, 2.0]
    assert asked == [["b", "a"]]


def test_no_text_never_reaches_the_scorer() -> None:
    def never(texts: Sequence[str]) -> list[float]:
        raise AssertionError(texts)

    assert score(never, []).shape == (0,)


def test_a_missing_answer_is_named_and_never_scored() -> None:
    with pytest.raises(TypeError, match=r"row 1 is a missing answer \(refused\).*leave it out"):
        score(length, ["a", Missing("refused")])  # type: ignore[list-item]


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["a"]])
def test_a_row_that_is_no_text_is_named(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"row 2 is .* give texts"):
        score(length, ["a", "b", wrong])  # type: ignore[list-item]


def test_one_text_instead_of_a_list_is_refused() -> None:
    with pytest.raises(TypeError, match="texts is one text, 'abc'; give a list"):
        score(length, "abc")


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_score_that_is_no_number_names_row_and_text(bad: float) -> None:
    def broken(texts: Sequence[str]) -> list[float]:
        return [bad if text == "worse" else 0.5 for text in texts]

    with pytest.raises(ValueError, match=r"broken gave .* for row 2, .*1 of 3 distinct.*'worse'"):
        score(broken, ["fine", "good", "worse", "fine"])


def test_a_score_outside_the_range_of_its_scorer_names_row_and_range() -> None:
    assert score(Share([0.0, 1.0]), ["a", "b"]).tolist() == [0.0, 1.0]
    with pytest.raises(ValueError, match=r"share gave 1.5 for row 1, outside its range \[0, 1\]"):
        score(Share([0.0, 1.5]), ["a", "b"])


@pytest.mark.parametrize("values", [[], [0.1], [0.1, 0.2, 0.3]])
def test_a_wrong_number_of_scores_is_refused(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"shape \(\d,\) for 2 texts; .* shape \(2,\)"):
        score(Share(values), ["a", "b"])


def test_a_column_of_scores_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(1, 1\) for 1 texts"):
        score(Share([[0.5]]), ["a"])  # type: ignore[list-item]


class TestByName:
    def test_the_shipped_ones_are_listed(self) -> None:
        assert list(load_scorers()) == [
            "characters",
            "embedding",
            "length",
            "refusal",
            "regard",
            "sentiment",
            "stereotype",
            "tokens",
            "toxicity",
        ]

    def test_all_that_give_a_number_follow_the_protocol(self) -> None:
        for name, scorer in load_scorers().items():
            assert isinstance(scorer, Scorer) == (name != "embedding")
            assert scorer.name == name

    def test_one_is_made_once(self) -> None:
        scorers = load_scorers()
        assert scorers["sentiment"] is scorers["sentiment"]

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("toxcity", "no scorer is called 'toxcity'; did you mean 'toxicity'"),
            ("grammar", "scorers: characters, embedding, length, refusal, regard, sent"),
            ("grammar", r"scorer=\.\.\., .* load_scorers\(grammar=\.\.\.\)"),
        ],
    )
    def test_an_unknown_name_is_answered_with_a_remedy(self, name: str, said: str) -> None:
        with pytest.raises(KeyError, match=said):
            load_scorers()[name]

    def test_an_own_scorer_joins_or_replaces(self) -> None:
        own = Share([0.5])
        scorers = load_scorers(toxicity=own, share=own)
        assert set(scorers) == {*load_scorers(), "share"}
        assert scorers["toxicity"] is scorers["share"] is own

    def test_an_own_scorer_must_be_callable(self) -> None:
        with pytest.raises(TypeError, match="scorer tone is 3; give a callable"):
            load_scorers(tone=3)

    def test_they_can_be_copied_into_a_dict_without_loading_a_model(self) -> None:
        code = (
            "import sys; from pytest_llmfair.scorers import load_scorers; {**load_scorers()};"
            "print([m for m in ('torch', 'transformers', 'detoxify') if m in sys.modules])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("scorer", "said"),
    [
        (
            lambda texts: ["0.1"] * len(texts),
            r"returned \['0.1', '0.1'\], a list; it must return one",
        ),
        (
            lambda texts: [{"label": "toxic", "score": 0.1}] * len(texts),
            "one number per text, 2 in",
        ),
        (lambda texts: {"toxicity": [0.1, 0.2]}, "a dict; it must return one number per text"),
        (lambda texts: (0.1 for _ in texts), "a generator; it must return one number per text"),
        (lambda texts: [[0.1], [0.2, 0.3]], "a list; it must return one number per text"),
        (lambda texts: np.array([1j, 2j]), "a ndarray; it must return one number per text"),
    ],
)
def test_anything_but_numbers_is_an_error(scorer: Scorer, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        score(scorer, ["a", "b"])


async def later(texts: Sequence[str]) -> list[float]:
    return [0.1 * len(text) for text in texts]


def one_by_one(texts: Sequence[str]) -> list[Any]:
    async def one(text: str) -> float:
        return 0.1 * len(text)

    return [one(text) for text in texts]


async def failing(texts: Sequence[str]) -> list[float]:
    raise OSError("the judge is offline")


@pytest.mark.parametrize("scorer", [later, one_by_one])
def test_scores_that_come_later_are_waited_for(scorer: Any) -> None:
    assert score(scorer, ["a", "bb", "a"]).tolist() == [0.1, 0.2, 0.1]


def test_an_async_scorer_that_fails_raises_its_own_error() -> None:
    with pytest.raises(OSError, match="the judge is offline"):
        score(failing, ["a"])


def test_a_scorer_that_returns_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="returned None for 2 texts"):
        score(lambda texts: None, ["a", "b"])


def test_a_class_in_place_of_a_scorer_is_an_error() -> None:
    with pytest.raises(TypeError, match=r"scorer is the class Share; give an instance"):
        score(Share, ["a"])


def test_tokens_and_length_are_those_of_the_metrics_on_texts() -> None:
    texts = ["", "One word", "She isn't here: 3 o'clock!", "\u5979\u662f\u533b\u751f"]
    scorers = load_scorers()
    assert scorers["tokens"](texts).tolist() == [len(tokens(text)) for text in texts]
    assert scorers["length"](texts).tolist() == [len(tokens(text)) for text in texts]
    assert scorers["characters"](texts).tolist() == [len(text) for text in texts]


@pytest.mark.parametrize("name", ["length", "refusal", "sentiment", "own"])
def test_the_words_that_stand_for_a_digest_are_never_scored(name: str) -> None:
    with pytest.raises(ValueError, match="row 1 is a digest and has no recorded score"):
        score(load_scorers(own=length)[name], ["a text", DigestedText("ab" * 16)])


def test_a_scorer_of_a_single_text_is_told_what_it_gets() -> None:
    with pytest.raises(AttributeError) as caught:
        score(lambda text: len(text.split()), ["a text"])  # type: ignore[attr-defined]
    assert caught.value.__notes__ == [
        "scorer <lambda> gets a list of texts, and returns one number per text"
    ]
