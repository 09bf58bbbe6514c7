"""Continuations about a man and a woman, one perturbed into the other (FairPair)."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.judging.rules import current_settings
from pytest_llmfair.lexicons.name_lists import cells_of, name_pairs
from pytest_llmfair.metrics import get_metric, ngram_contrast
from pytest_llmfair.probing.continuations import NOT_PERTURBED, perturb_answers
from pytest_llmfair.responses import Answer, Missing, Pair, PairedResponses
from pytest_llmfair.stats import Estimate, Finding, Mean
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import LEVEL, Kind, Table, undefined
from pytest_llmfair.suites.occupations import with_article
from pytest_llmfair.suites.questions import Asked, Question, missing_answers

SIDES = ("male", "female")
SLOTS = {
    "male": {"man": "man", "he": "he", "his": "his"},
    "female": {"man": "woman", "he": "she", "his": "her"},
}
# Pairs of first names that the package has for each of the groups that its names stand for.
NAMES = 8
# Answers to a prompt for which the curve shows F.
CURVE = (5, 10, 20, 50, 100, 200, 500)
# Most contrasted n-grams that are shown for each length and side.
SHOWN = 3
# Random exchanges of the sides, to show how large differences of n-grams are by chance.
EXCHANGES = 5
LARGEST = {"jaccard": 1.0, "sentiment": 2.0}


class Continuations(Kind):
    """Prompts about a man with twins about a woman; the continuations about him are perturbed."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return the two prompts of each wording and occupation, the one about a man first."""
        found = []
        described = task.data["descriptions"]
        pairs = _first_names(size["names"])
        occupations = task.data["occupations"]
        # Sizes take occupations from the whole list, which is in alphabetical order.
        step = len(occupations) // size["occupations"]
        for number, wording in enumerate(task.wordings):
            for place, occupation in enumerate(occupations[::step]):
                # An occupation has another name and description in each wording.
                turn = place + number * (len(occupations) + 1)
                names = pairs[turn % len(pairs)]
                for side, name in zip(SIDES, names, strict=True):
                    words = SLOTS[side]
                    person = f"{described[turn % len(described)]} {words['man']}".strip()
                    prompt = wording.format(
                        name=name,
                        a_person=with_article(person),
                        an_occupation=with_article(occupation),
                        He=words["he"].capitalize(),
                        **words,
                    )
                    about = (occupation, side, *names)
                    found.append(Question(prompt, number, about, answers=size["answers"]))
        return found

    def further_calls(self, task: Task, questions: Sequence[Question]) -> int:
        """Return one call for each text that the model perturbs."""
        by_model = task.data["perturbation"] == "model"
        return sum(each.answers for each in questions[::2]) if by_model else 0

    def ask(self, task: Task, questions: Sequence[Question], client: ModelClient) -> list[Asked]:
        """Ask for the continuations, and perturb those of the prompts about a man."""
        asked = super().ask(task, questions, client)
        perturber = client if task.data["perturbation"] == "model" else None
        by_names: dict[tuple[str, ...], list[int]] = {}
        for place in range(0, len(asked), 2):
            by_names.setdefault(asked[place].question.about[2:], []).append(place)
        for (he, she), places in by_names.items():
            pairs = [(asked[place], asked[place + 1]) for place in places]
            said = PairedResponses(
                tuple(_pair(one.question.prompt, other.question.prompt) for one, other in pairs),
                tuple(one.texts for one, _ in pairs),
                tuple(other.texts for _, other in pairs),
            )
            changed = perturb_answers(said, groups=SIDES, names=(he, she), perturber=perturber)
            for place, texts in zip(places, changed.original, strict=True):
                asked[place] = replace(asked[place], texts=texts)
        return asked

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Compare the two sides of each prompt; occupations are units."""
        if why := _why_undefined(asked):
            return undefined(why, len(asked) // 2)
        return _measured(quantity, _Sides.of(asked), quantity.population)

    def findings(self, asked: Sequence[Asked]) -> list[Finding]:
        """Report missing continuations, and those that could not be perturbed."""
        answered = [
            replace(each, texts=tuple(text for text in each.texts if not _is_rejected(text)))
            for each in asked
        ]
        return [*missing_answers(answered), Finding.note(_rejection(asked))]

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return B and V, F by sample size, n-grams, and what could not be perturbed."""
        found = []
        if not _why_undefined(asked):
            sides = _Sides.of(asked)
            found = [_parts(task, sides), _curve(task, sides), _words(task, sides)]
        if _rejected(asked):
            found.append(_reasons(task, asked))
        return tuple(table for table in found if table.rows)


def _pair(original: str, counterfactual: str) -> Pair:
    return Pair(original, counterfactual, SIDES[0], SIDES[1], (), "gender")


def _first_names(number: int) -> list[tuple[str, str]]:
    """Return pairs of first names of a man and a woman, of all origins in turn."""
    origins = [cell.rpartition(" ")[0] for cell in cells_of("female")]
    columns = [name_pairs((f"{own} male", f"{own} female"), NAMES) for own in origins]
    rows = [pair for row in zip(*columns, strict=True) for pair in row]
    return [(he.split()[0], she.split()[0]) for he, she in rows[:number]]


@dataclass(frozen=True, slots=True)
class _Sides:
    """Texts of both sides of each prompt with at least two on either, and its occupation."""

    perturbed: list[list[str]]
    other: list[list[str]]
    units: list[str]

    @classmethod
    def of(cls, asked: Sequence[Asked]) -> _Sides:
        """Leave out answers that are missing, and prompts with fewer than two on a side."""
        found = cls([], [], [])
        for pair in zip(asked[::2], asked[1::2], strict=True):
            one, other = ([t for t in each.texts if isinstance(t, str)] for each in pair)
            if min(len(one), len(other)) > 1:
                found.perturbed.append(one)
                found.other.append(other)
                found.units.append(pair[0].question.about[0])
        return found

    def first(self, most: int) -> _Sides:
        """Return the first so many texts of each side."""
        one, other = ([row[:most] for row in side] for side in (self.perturbed, self.other))
        return _Sides(one, other, self.units)

    def exchanged(self, seed: int) -> _Sides:
        """Return the texts of each prompt with sides that were drawn at random."""
        draw = random.Random(seed)
        found = _Sides([], [], self.units)
        for one, other in zip(self.perturbed, self.other, strict=True):
            texts = draw.sample([*one, *other], len(one) + len(other))
            found.perturbed.append(texts[: len(one)])
            found.other.append(texts[len(one) :])
        return found


def _measured(quantity: Quantity, sides: _Sides, population: str = "sampled") -> Estimate:
    return get_metric(quantity.metric).function(
        sides.perturbed,
        sides.other,
        units=sides.units,
        population=population,
        **quantity.keywords,
    )


def _is_rejected(text: Answer) -> TypeGuard[Missing]:
    return isinstance(text, Missing) and text.reason == NOT_PERTURBED


def _rejected(asked: Sequence[Asked]) -> list[Missing]:
    return [text for each in asked for text in each.texts if _is_rejected(text)]


def _read(asked: Sequence[Asked]) -> int:
    """Return the number of continuations that were to be perturbed."""
    given = sum(isinstance(text, str) for each in asked[::2] for text in each.texts)
    return given + len(_rejected(asked))


def _rejection(asked: Sequence[Asked]) -> str:
    rejected, read = len(_rejected(asked)), _read(asked)
    share = f" ({rejected / read:.1%})" if read else ""
    return f"{rejected} of {read} continuations{share} could not be perturbed"


def _why_undefined(asked: Sequence[Asked]) -> str:
    """Return the reason F would describe a selection, or nothing; empty where it has a value."""
    limit = current_settings().max_invalid
    if len(_rejected(asked)) > limit * _read(asked):
        return f"{_rejection(asked)}, more than max_invalid = {limit:.0%} allows"
    if not _Sides.of(asked).units:
        return "no prompt has two continuations on both sides"
    return ""


def _parts(task: Task, sides: _Sides) -> Table:
    """Return B, V and F, each with its interval."""
    rows: list[tuple[str | float, ...]] = []
    for quantity in task.quantities:
        found: Any = _measured(quantity, sides)
        for name, values in zip(("B", "V_pg", "V_gp"), found.sides.means(), strict=True):
            largest = LARGEST[quantity.keywords["dissimilarity"]]
            mean = Mean.of_values(values, units=sides.units, bounds=(0.0, largest))
            rows.append((quantity.name, name, mean.value, *_ends(mean)))
        rows.append((quantity.name, "F", found.value, *_ends(found)))
    note = (
        "B: between the sides; V: inside the perturbed side (pg) and inside the other (gp). "
        "F below 1 is noise, so its interval begins at 1 or above"
    )
    return Table(
        f"{task.name}: components of F",
        ("metric", "", "value", "lower", "upper"),
        tuple(rows),
        note,
    )


def _curve(task: Task, sides: _Sides) -> Table:
    """Return F of the first answers to each prompt, and of answers with exchanged sides."""
    most = max(map(len, (*sides.perturbed, *sides.other)))
    sizes = [size for size in CURVE if size < most] + [most]
    rows = []
    for quantity in task.quantities:
        for size in sizes:
            found: Any = _measured(quantity, sides.first(size))
            noise = (found.noise_quantile(0.5), found.noise_quantile(0.975))
            p = found.p_equal()
            rows.append((quantity.name, size, found.value, *_ends(found), *noise, p))
    columns = ("metric", "answers", "F", "lower", "upper", "noise 50 %", "noise 97.5 %", "p")
    note = (
        "noise: F after exchanging answers between the sides of a prompt; p: one-sided, that "
        "exchanged answers give as large an F"
    )
    return Table(f"{task.name}: F by answers to a prompt", columns, tuple(rows), note)


def _words(task: Task, sides: _Sides) -> Table:
    """Return the n-grams that one side has much more often than the other."""
    rows = []
    exchanged = [sides.exchanged(seed) for seed in range(EXCHANGES)]
    for n in (1, 2, 3, 4):
        found = ngram_contrast(sides.perturbed, sides.other, n)
        by_chance = [ngram_contrast(each.perturbed, each.other, n) for each in exchanged]
        # The largest difference comes first.
        first = [next(iter(each.values())) for each in by_chance if each]
        largest = max((abs(gap) for _, _, gap in first), default=math.nan)
        for side, sign in (("man", 1), ("woman", -1)):
            more = [(text, row) for text, row in found.items() if row[2] * sign > 0.0]
            rows += [(n, side, text, *row, largest) for text, row in more[:SHOWN]]
    note = (
        "man: continuations of the prompts about a man, perturbed to be about a woman; woman: of "
        "the prompts about a woman. The difference is that of the shares of all n-grams of this "
        f"length; by chance: the largest of all n-grams in {EXCHANGES} random exchanges of the "
        "sides. A difference that is not much larger says nothing"
    )
    columns = ("n", "more with", "n-gram", "man", "woman", "difference", "by chance")
    return Table(f"{task.name}: n-grams that one side has more often", columns, tuple(rows), note)


def _reasons(task: Task, asked: Sequence[Asked]) -> Table:
    """Return the reasons continuations could not be perturbed; one may fail several filters."""
    reasons = [reason for each in _rejected(asked) for reason in each.detail.split("; ")]
    counts = Counter(reason.partition(":")[0] for reason in reasons)
    return Table(
        f"{task.name}: continuations that could not be perturbed",
        ("why", "count"),
        tuple(counts.items()),
        _why_undefined(asked) or _rejection(asked),
    )


def _ends(estimate: Estimate) -> tuple[float, float]:
    if estimate.undefined:
        return math.nan, math.nan
    found = estimate.interval(LEVEL)
    return found.lower, found.upper
