"""Which of several sentences is likelier: CrowS-Pairs and StereoSet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from pytest_llmfair._util.tables import Row, rows_of
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.clients.likelihoods import Likelihoods
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.stats import Estimate
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.items import Item, fields, of_task, spread
from pytest_llmfair.suites.kind import Kind, undefined
from pytest_llmfair.suites.questions import Asked, Question

_PARTS = ("intrasentence", "intersentence")
_LABELS = ("stereotype", "anti-stereotype", "unrelated")


class Contest(NamedTuple):
    """Sentences that compete: stereotypical, the other one, and one that makes no sense if any."""

    # What its outcome is averaged with before others, such as its term.
    row: str
    sentences: tuple[str, ...]
    context: str = ""


class Pairs(Kind):
    """Two sentences that differ in the group they name (CrowS-Pairs)."""

    unit, per_token = "writer", False

    def read(self, files: Sequence[Path]) -> list[Item]:
        """Read the rows of CrowS-Pairs; whoever wrote a sentence wrote others like it."""
        found = []
        for row in (row for file in files for row in rows_of(file)):
            names = "sent_more", "sent_less", "bias_type", "anon_writer"
            more, less, category, writer = fields(row, **dict.fromkeys(names, str))
            found.append(Item(category, writer, Contest(row.where, (more, less))))
        return found

    def fitted(self, task: Task, client: ModelClient) -> Task:
        """Raise ``ValueError`` before anything is asked where a model gives no likelihood."""
        Likelihoods.of(client.backend, ["a text"])
        return task

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return every sentence."""
        by_category: dict[str, list[Item]] = {}
        for item in of_task(suite, task):
            by_category.setdefault(item.category, []).append(item)
        return [
            Question(task.wordings[0].format(sentence=sentence), 0, (item.unit, item.asked, place))
            for items in by_category.values()
            for item in spread(items, size["items"])
            for place, sentence in enumerate(item.asked.sentences)
        ]

    def ask(self, task: Task, questions: Sequence[Question], client: ModelClient) -> list[Asked]:
        """Ask for the logarithm of the probability of each sentence, or its mean by token."""
        contexts: dict[str, list[Question]] = {}
        for each in questions:
            contexts.setdefault(each.about[1].context, []).append(each)
        found: dict[Question, Asked] = {}
        for context, own in contexts.items():
            rows = client.log_likelihoods([each.prompt for each in own], context)
            for each, (log, tokens) in zip(own, rows, strict=True):
                found[each] = Asked(each, probabilities=(log / tokens if self.per_token else log,))
        return [found[each] for each in questions]

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Count which sentence is likelier; a tie counts half."""
        scores: dict[tuple[str, Contest], dict[int, float]] = {}
        for each in asked:
            unit, contest, place = each.question.about
            scores.setdefault((unit, contest), {})[place] = each.probabilities[0]
        preferred: dict[tuple[str, str], list[float]] = {}
        meaningful: dict[tuple[str, str], list[float]] = {}
        for (unit, contest), row in scores.items():
            stereotype, other, *nonsense = (row[place] for place in sorted(row))
            preferred.setdefault((unit, contest.row), []).append(_likelier(stereotype, other))
            meaningful.setdefault((unit, contest.row), []).extend(
                _likelier(score, none) for none in nonsense for score in (stereotype, other)
            )
        if not preferred:
            return undefined("nothing was asked")
        rows = {"stereotype_preference": [preferred], "answer_accuracy": [meaningful]}
        given = rows.get(quantity.metric, [meaningful, preferred])
        found: Estimate = get_metric(quantity.metric).function(
            *(list(each.values()) for each in given),
            units=[unit for unit, _ in preferred],
            population=quantity.population,
        )
        return replace(found, unit=self.unit)


def _likelier(one: float, other: float) -> float:
    # Rounding must not decide.
    return 0.5 if abs(one - other) < 1e-6 else float(one > other)


class Triples(Pairs):
    """Three sentences about a term: stereotype, anti-stereotype and nonsense (StereoSet)."""

    unit, per_token = "term", True

    def read(self, files: Sequence[Path]) -> list[Item]:
        """Read both parts of StereoSet's dev.json; a term is a unit."""
        found = []
        for file in files:
            try:
                parts = json.loads(file.read_text(encoding="utf-8"))["data"]
                rows = [(part, n, row) for part in _PARTS for n, row in enumerate(parts[part])]
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{file} is no JSON with data of {_PARTS} ({error})") from None
            for part, number, values in rows:
                where = f"{part} {number} of {file}"
                names = "target", "bias_type", "context"
                row = Row(where, values if isinstance(values, dict) else {})
                term, category, context = fields(row, **dict.fromkeys(names, str))
                sentences = _three(row)
                asked = Contest(term, sentences, context if part == _PARTS[1] else "")
                found.append(Item(category, term, asked))
        return found


def _three(row: Row) -> tuple[str, ...]:
    """Return the sentences of an item in the order of `_LABELS`."""
    (given,) = fields(row, sentences=list)
    by_label = {}
    for number, values in enumerate(given):
        one = Row(f"sentence {number} of {row.where}", values if isinstance(values, dict) else {})
        sentence, label = fields(one, sentence=str, gold_label=_LABELS)
        by_label[label] = sentence
    if len(given) != len(by_label) or len(by_label) != len(_LABELS):
        raise ValueError(f"{row.where}: there is not one sentence of each of {', '.join(_LABELS)}")
    return tuple(by_label[label] for label in _LABELS)
