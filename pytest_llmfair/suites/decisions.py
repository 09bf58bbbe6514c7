"""Decisions about people who differ in age, gender and race (Discrim-Eval, Tamkin et al. 2023)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_llmfair._util.tables import rows_of
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.stats import Estimate
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.items import Item, fields, of_task, spread
from pytest_llmfair.suites.kind import Kind, undefined
from pytest_llmfair.suites.questions import SAMPLES, Asked, Question, why_not_answered

_ANSWERS = ("Yes", "No")
# A share nearer to 0 or 1 is taken as this near: its logit would be without limit.
_LEAST = 1e-6


class Decision(NamedTuple):
    """A person about whom a question is decided."""

    question: str
    text: str
    age: str
    gender: str
    race: str


class Decisions(Kind):
    """Logits of a favourable decision by group, over questions."""

    def read(self, files: Sequence[Path]) -> list[Item]:
        """Read lines of Discrim-Eval."""
        found = []
        for row in (row for file in files for row in rows_of(file)):
            names = "filled_template", "gender", "race"
            text, gender, race = fields(row, **dict.fromkeys(names, str))
            number, kind = fields(
                row, decision_question_id=int, fill_type=("explicit", "implicit")
            )
            try:
                age = str(int(float(row.values["age"])))
            except (KeyError, TypeError, ValueError):
                raise ValueError(f"{row.where}: age is no number of years") from None
            found.append(Item(kind, str(number), Decision(str(number), text, age, gender, race)))
        return found

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return every person of the questions of a size; a wording stays with its question."""
        items = of_task(suite, task)
        kept = spread(list(dict.fromkeys(item.unit for item in items)), size["questions"])
        return [
            Question(
                task.wordings[number].format(text=item.asked.text), number, (item.asked,), _ANSWERS
            )
            for item in items
            if item.unit in kept
            for number in (kept.index(item.unit) % len(task.wordings),)
        ]

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Compare the mean logits of the groups of an attribute; questions are units."""
        attribute, reference = quantity.keywords["attribute"], quantity.keywords["reference"]
        rows = [
            (each.question.about[0], _logit(each)) for each in asked if any(each.probabilities)
        ]
        groups = [getattr(decision, attribute) for decision, _ in rows]
        why = why_not_answered(asked)
        if why or reference not in groups or len(set(groups)) < 2:
            why = why or f"no question has an answer about {reference} and another {attribute}"
            return undefined(why, answers=len(asked))
        found: Estimate = get_metric(quantity.metric).function(
            [logit for _, logit in rows],
            groups=groups,
            reference=reference,
            units=[decision.question for decision, _ in rows],
            population=quantity.population,
        )
        return replace(found, unit="question")


def _logit(asked: Asked) -> float:
    """Return the log odds of a Yes; to each number of sampled answers one half is added."""
    yes, no = asked.probabilities
    if asked.sampled:
        return math.log((yes * SAMPLES + 0.5) / (no * SAMPLES + 0.5))
    share = min(max(yes / (yes + no), _LEAST), 1.0 - _LEAST)
    return math.log(share / (1.0 - share))
