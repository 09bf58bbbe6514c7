"""Arguments of perfectly fair models of any size, for plans and printed examples.

Each function takes the number of sampling units (of each group, where groups are compared) and of
generations per unit, and returns keyword arguments of the metrics that name it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Arguments = dict[str, Any]

_REPLY = "we will look into this soon, and let you know what can be done for it today"


def scores(units: int, generations: int) -> Arguments:
    """Scores that are all 0."""
    return {"scores": [[0.0] * generations for _ in range(units)]}


def score_pairs(units: int, generations: int) -> Arguments:
    """Scores that are all 0 on both sides."""
    return {f"scores_{side}": [[0.0] * generations for _ in range(units)] for side in "ab"}


def spread_scores(units: int, generations: int) -> Arguments:
    """Scores with a deviation of 1 where there is one answer, in another order on either side."""
    golden = 0.5 * (math.sqrt(5.0) - 1.0)
    # Answers to one prompt are alike: an intraclass correlation of 0.3.
    size = math.sqrt(3.0 * (0.3 + 0.7 / generations))
    first = [size * (2.0 * (i * golden % 1.0) - 1.0) for i in range(units)]
    order = sorted(range(units), key=lambda i: i * math.sqrt(2.0) % 1.0)
    sides = {"a": first, "b": [first[i] for i in order]}
    return {f"scores_{name}": [[x] * generations for x in side] for name, side in sides.items()}


def text_pairs(units: int, generations: int) -> Arguments:
    """One answer to everything."""
    return {f"texts_{side}": [["A kind word."] * generations] * units for side in "ab"}


def drawn_answers(units: int, generations: int) -> Arguments:
    """Answers drawn from the same words for everyone."""
    draw = random.Random(0)
    words = _REPLY.split()
    sides = [
        [[" ".join(draw.choices(words, k=12)) for _ in range(generations)] for _ in range(units)]
        for _ in "ab"
    ]
    return dict(zip(("texts_a", "texts_b"), sides, strict=True))


def pronoun_counts(units: int, generations: int) -> Arguments:
    """Occupations whose generations are even."""
    return {"male_counts": [generations // 2] * units, "kept_counts": [generations] * units}


def texts(units: int, generations: int) -> Arguments:
    """Responses in which both groups are kind in equal parts."""
    return {
        "responses": [f"{('She', 'He')[i % 2]} is kind." for i in range(2 * units)],
        "group_words": {"female": ["she"], "male": ["he"]},
        "target_words": ["kind"],
    }


def prompts(units: int, generations: int) -> Arguments:
    """Prompts that name no group."""
    return {"prompts": [f"Summarise report {i}." for i in range(units)]}


def embeddings(units: int, generations: int) -> Arguments:
    """One embedding of every answer."""
    return {f"embeddings_{side}": [[1.0, 0.0]] * units for side in "ab"}


# What metrics get that name no example of their own, by what they need.
BY_NEEDS: dict[str, Callable[[int, int], Arguments]] = {
    "scores": scores,
    "score_pairs": score_pairs,
    "embedding_pairs": embeddings,
    "texts": texts,
    "text_pairs": text_pairs,
    "pronoun_counts": pronoun_counts,
    "prompts": prompts,
}


def _sides(units: int) -> list[str]:
    return ["a", "b"] * units


def predictions(units: int, generations: int) -> Arguments:
    """Predictions with half of them positive in both groups."""
    return {"y_pred": [(i // 2) % 2 for i in range(2 * units)], "groups": _sides(units)}


def people(units: int, generations: int) -> Arguments:
    """Predictions with half of them wrong, for both classes and in both groups."""
    return {
        "y_true": [(i // 4) % 2 for i in range(2 * units)],
        **predictions(units, generations),
    }


def candidates(units: int, generations: int) -> Arguments:
    """Candidates of two groups with the same five scores."""
    return {
        "scores": [(i // 2) % 5 / 4.0 for i in range(2 * units)],
        "groups": _sides(units),
        "reference": "b",
    }


def pools(units: int, generations: int) -> Arguments:
    """Pools of two tied candidates; one is selected."""
    return {
        "scores": [0.5] * (2 * units),
        "groups": _sides(units),
        "reference": "b",
        "rounds": [i // 2 for i in range(2 * units)],
        "k": 1,
    }


def rankings(units: int, generations: int) -> Arguments:
    """Rankings of four tied candidates of two groups."""
    return {
        "scores": [0.5] * (4 * units),
        "groups": _sides(2 * units),
        "rounds": [i // 4 for i in range(4 * units)],
    }


def qualified_pools(units: int, generations: int) -> Arguments:
    """Pools of two tied and qualified candidates."""
    return {**pools(units, generations), "qualified": [True] * (2 * units)}


def lists(units: int, generations: int) -> Arguments:
    """One list of recommendations for everyone."""
    return {f"lists_{side}": [["book", "film", "song"]] * units for side in "ab"}


def comparisons(units: int, generations: int) -> Arguments:
    """Pools of two candidates, shown in both orders; each wins half of the pools."""
    rows = [
        {"pool": pool, "first": first, "second": second, "winner": winner}
        for pool in range(units)
        for first, second, winner in (
            ("Ada", "Bea", ("first", "second")[pool % 2]),
            ("Bea", "Ada", ("second", "first")[pool % 2]),
        )
    ]
    return {"comparisons": rows, "groups": {"Ada": "a", "Bea": "b"}, "reference": "b"}


def occupations(units: int, generations: int) -> Arguments:
    """Occupations whose generations are even, half of them held by men mostly."""
    return {
        **pronoun_counts(units, generations),
        "majority": [("male", "female")[i % 2] for i in range(units)],
    }


def sentence_pairs(units: int, generations: int) -> Arguments:
    """Pairs of sentences that a model finds equally likely."""
    return {f"p_{side}": [0.5] * units for side in ("stereotypical", "antistereotypical")}


def right_answers(units: int, generations: int) -> Arguments:
    """Answers that are all right."""
    return {"correct": [[1.0] * generations for _ in range(units)]}


def even_sides(units: int, generations: int) -> Arguments:
    """Answers with and against the stereotype in turn."""
    return {"sides": [1 - 2 * (row % 2) for row in range(units)]}


def even_preferences(units: int, generations: int) -> Arguments:
    """Stereotypical sentences that are likelier in every other row."""
    rows = [[float((row + place) % 2) for place in range(generations)] for row in range(units)]
    return {"preferred": rows}


def idealized(units: int, generations: int) -> Arguments:
    """Sentences that always make sense, and follow a stereotype in every other row."""
    meaningful = right_answers(units, generations)["correct"]
    return {"meaningful": meaningful, **even_preferences(units, generations)}


def continuations(units: int, generations: int) -> Arguments:
    """Continuations that are as unlike between the two sides as within each."""
    ways = "home", "out", "north", "south", "east", "west", "away", "back"
    texts = [f"and went {way} that day" for way in ways]
    return {
        "perturbed_continuations": [texts[:4]] * units,
        "continuations_of_perturbed": [texts[4:]] * units,
    }


def probabilities(units: int, generations: int) -> Arguments:
    """Probabilities with half of them above one half, for both classes and in both groups."""
    return {
        "y_true": [(i // 4) % 2 for i in range(2 * units)],
        "y_prob": [(0.25, 0.75)[(i // 2) % 2] for i in range(2 * units)],
        "groups": _sides(units),
    }


def scored_people(units: int, generations: int) -> Arguments:
    """Scores of people with half of them above one half, as probabilities are."""
    given = probabilities(units, generations)
    return {"y_true": given["y_true"], "y_score": given["y_prob"], "groups": given["groups"]}


def counterfactuals(units: int, generations: int) -> Arguments:
    """Source examples with the same probabilities for either group."""
    return {
        "y_true": [i % 2 for i in range(units)],
        "y_prob": [[[0.5, 0.5], [0.5, 0.5]] for _ in range(units)],
        "groups": ["a", "b"],
    }


@dataclass(frozen=True)
class _Written:
    """A function that prints as it is written."""

    function: Callable[..., Any]
    text: str

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __repr__(self) -> str:
        return self.text


_MEAN = _Written(lambda rows: rows.mean(), "lambda rows: rows.mean()")
_GAP = _Written(lambda x, y: abs(x - y), "lambda x, y: abs(x - y)")
_RANGE = _Written(
    lambda *scores: max(scores) - min(scores), "lambda *scores: max(scores) - min(scores)"
)


def compared(units: int, generations: int) -> Arguments:
    """Mean probability of two groups, compared by its absolute difference."""
    return {"phi": _MEAN, "d": _GAP, **_of_two_groups(units)}


def compared_at_once(units: int, generations: int) -> Arguments:
    """Mean probability of all groups, compared by its range."""
    return {"phi": _MEAN, "d": _RANGE, **_of_two_groups(units)}


def _of_two_groups(units: int) -> Arguments:
    given = probabilities(units, 1)
    return {"y_prob": given["y_prob"], "groups": given["groups"]}
