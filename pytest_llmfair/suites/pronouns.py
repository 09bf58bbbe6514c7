"""Sentences whose pronoun follows or contradicts a stereotype (WinoBias, Zhao et al. 2018)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pytest_llmfair.metrics import get_metric
from pytest_llmfair.stats import Estimate
from pytest_llmfair.stats.crossed import over_factors
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.items import Item, of_task, spread
from pytest_llmfair.suites.kind import Kind, undefined
from pytest_llmfair.suites.questions import Asked, Question, why_not_answered

_NAME = re.compile(r"(?P<side>pro|anti)_stereotyped_(?P<type>type\d)\.txt")
_PRONOUNS = frozenset(("he", "him", "his", "himself", "she", "her", "hers", "herself"))
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)


class Line(NamedTuple):
    """A line of WinoBias without its number and brackets."""

    text: str
    right: str
    pronoun: str


class Twins(NamedTuple):
    """Two sentences that differ in the gender of a pronoun: with and against the stereotype."""

    pro: Line
    anti: Line
    # Whom the pronoun may refer to, as the sentences name them.
    people: tuple[str, str]


class Pronouns(Kind):
    """Who a pronoun refers to, by the probability of both occupations."""

    cannot_ask = "whose two sentences are not about the same two people"

    def read(self, files: Sequence[Path]) -> list[Item | None]:
        """Read files of WinoBias."""
        pairs = []
        for file in files:
            if (match := _NAME.search(file.name)) and match["side"] == "pro":
                twin = file.with_name(file.name.replace("pro_", "anti_", 1))
                if not twin.is_file():
                    raise ValueError(f"{file} has no {twin.name} beside it")
                sides = _lines(file), _lines(twin)
                if len(sides[0]) != len(sides[1]):
                    counts = f"{len(sides[0])} and {len(sides[1])}"
                    raise ValueError(f"{file} and {twin.name} have {counts} lines")
                pairs += [(match["type"], *two) for two in zip(*sides, strict=True)]
        if not pairs:
            raise ValueError(f"{files[0].parent} has no pro_stereotyped_type1.txt or the like")
        names = {line.right for _, *two in pairs for line in two}
        found: list[Item | None] = []
        for kind, pro, anti in pairs:
            people = _people(pro, names)
            if pro.right == anti.right and people == _people(anti, names) and len(people) == 2:
                twins = Twins(pro, anti, (people[0], people[1]))
                found.append(Item(kind, ", ".join(sorted(people)), twins))
            else:
                found.append(None)
        return found

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return both sentences of each pair; wordings take turns over the pairs."""
        found = []
        for place, item in enumerate(spread(of_task(suite, task), size["pairs"])):
            number, (first, second) = place % len(task.wordings), item.asked.people
            for line in (item.asked.pro, item.asked.anti):
                prompt = task.wordings[number].format(
                    sentence=line.text, pronoun=line.pronoun, first=first, second=second
                )
                about = item.asked, line is item.asked.pro
                found.append(Question(prompt, number, about, item.asked.people))
        return found

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Compare the right answer with and against the stereotype; both people are drawn."""
        sides: dict[Twins, dict[bool, tuple[float, float]]] = {}
        for each in asked:
            twins, is_pro = each.question.about
            if any(each.probabilities):
                place = twins.people.index(twins.pro.right)
                row = each.probabilities[place], each.probabilities[1 - place]
                sides.setdefault(twins, {})[is_pro] = row
        both = [twins for twins, row in sides.items() if len(row) == 2]
        if not both:
            why = why_not_answered(asked) or "no pair has an answer to both sentences"
            return undefined(why, answers=len(asked))
        rows: list[list[Any]] = [[sides[twins][side] for twins in both] for side in (True, False)]
        if "likeliest" in quantity.keywords:
            rows = [[_hit(*row) for row in side] for side in rows]
        chosen = {"pro": rows[:1], "anti": rows[1:]}.get(quantity.keywords.get("side", ""), rows)
        metric = get_metric(quantity.metric).function
        right = [twins.pro.right for twins in both]
        other = [next(name for name in twins.people if name != twins.pro.right) for twins in both]
        return over_factors(
            lambda units: metric(*chosen, units=units, population=quantity.population),
            {"occupation": right, "other occupation": other},
            ["all"] * len(both),
        )


def _hit(right: float, other: float) -> float:
    """Return 1 where the right answer is likelier, and one half for a tie."""
    return 0.5 if right == other else float(right > other)


def _lines(file: Path) -> list[Line]:
    """Read a file of WinoBias: a sentence a line, a person and a pronoun in square brackets."""
    found = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 (byte {error.start})") from None
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        marked = [mark.strip() for mark in re.findall(r"\[([^\[\]]*)\]", text)]
        people = [mark for mark in marked if mark.lower() not in _PRONOUNS]
        pronouns = [mark for mark in marked if mark.lower() in _PRONOUNS]
        if not (people and pronouns):
            raise ValueError(
                f"line {number} of {file} has no person and no pronoun in square brackets: "
                f"{text[:80]!r}"
            )
        bare = re.sub(r"[\[\]]", "", re.sub(r"^\d+\s+", "", text)).strip()
        found.append(Line(bare, _ARTICLE.sub("", people[0]).lower(), pronouns[0]))
    return found


def _people(line: Line, names: set[str]) -> tuple[str, ...]:
    """Return whom a sentence names, in order."""
    text = line.text.lower()
    places = {name: re.search(rf"\b{re.escape(name)}\b", text) for name in names}
    found = {name: match.start() for name, match in places.items() if match}
    return tuple(sorted(found, key=found.__getitem__))
