"""What a size of a suite asks, and which bounds it can decide, before anything is paid for."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Mapping, Sequence

from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.power import expected_power
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.stats import Estimate
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.questions import Asked, Question, calls
from pytest_llmfair.suites.runner import chosen_tasks, own_population
from pytest_llmfair.suites.tables import LEVEL


def plan(
    suite: Suite, size: str, tasks: Sequence[str] | None = None
) -> list[tuple[str, int, str]]:
    """Return task, number of calls and first prompt of everything that would be asked."""
    rows = []
    known: set[Hashable] = set()
    for task in chosen_tasks(suite, tasks):
        kind = KINDS[task.kind]
        questions = kind.questions(suite, task, suite.size(size))
        # Tasks share the answers to the same question.
        new = calls(questions, task.max_tokens) - known
        known |= new
        why = kind.why_nothing_is_asked(suite, task)
        number = len(new) + kind.further_calls(task, questions)
        if questions and not number:
            why = "reads the answers of a task above"
        rows.append((task.name, number, questions[0].prompt if number else why))
    return rows


def decidable(
    suite: Suite, size: str, bounds: Mapping[tuple[str, str], float], population: str | None
) -> Iterator[str]:
    """Yield for each bound how often a model of random answers, alike for all, would pass it."""
    if bounds:
        yield "bounds, for a model that treats all alike and answers at random:"
    for (name, of), value in bounds.items():
        task = next(each for each in suite.tasks if each.name == name)
        quantity = next(each for each in task.quantities if each.name == of)
        yield f"  {name}.{of} {value:g}: {_power(suite, size, task, quantity, value, population)}"


def _power(
    suite: Suite, size: str, task: Task, quantity: Quantity, value: float, population: str | None
) -> str:
    kind, info = KINDS[task.kind], get_metric(quantity.metric)
    unknown = "what this size can decide depends on the answers"
    questions = kind.questions(suite, task, suite.size(size))
    if not (kind.says or all(each.words for each in questions)):
        return unknown
    asked = [_answered(each, kind.says) for each in questions]

    def sample() -> Estimate:
        return kind.measure(suite, quantity, asked, population or own_population(quantity))

    bound = Bound(value, info.direction, info.fair_value, info.scale)
    found = expected_power(sample, bound, LEVEL, None, info.unit)
    if found["share"] is None:
        return unknown
    return found["undecidable"] or f"would pass in {found['share']:.0%} of runs"


def _answered(question: Question, says: tuple[str, ...]) -> Asked:
    draw = random.Random(f"{question.prompt} {question.about}")
    if not question.words:
        return Asked(question, tuple(draw.choice(says) for _ in range(question.answers)))
    weights = [draw.expovariate(1.0) for _ in question.words]
    return Asked(question, probabilities=tuple(each / sum(weights) for each in weights))
