"""``llmfair run``: a suite as tests of pytest, with all options of pytest."""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair._util.printing import printable, say, say_line
from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.check import Checks
from pytest_llmfair.gate.yaml_checks import GivenChecks, run_pytest
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.power import expected_power
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.session import current_session
from pytest_llmfair.stats import Estimate
from pytest_llmfair.suites.checks import checks_of
from pytest_llmfair.suites.design import SIZES, Quantity, Suite, Task, all_suites
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.models import Comparison
from pytest_llmfair.suites.own_data import COLUMN, NOT_YOURS
from pytest_llmfair.suites.questions import Asked, Question, calls
from pytest_llmfair.suites.result import SuiteResult
from pytest_llmfair.suites.runner import (
    Answers,
    chosen_suite,
    chosen_tasks,
    hand_on,
)

_USAGE = """llmfair run --list
       llmfair run SUITE --plan [--size smoke|standard|paper]
       llmfair run SUITE --model SPEC [--size SIZE] [--bounds METRIC=X,...] [pytest options]
       llmfair run SUITE --model SPEC --model SPEC --model SPEC
       llmfair run bbq --data PATH --model SPEC [...]
       llmfair run assessment --prompts FILE --model SPEC [--scorer toxicity=SPEC] [...]"""
_EPILOG = """All other options go to pytest, such as -q, --llmfair-json, --llmfair-cassette,
--llmfair-max-calls or --llmfair-html. Metrics without a bound are measured and not judged. The
exit status is that of pytest: 0 if no verdict is red, 1 if one is, 2 if an option is wrong or the
run was interrupted."""

_REPEATABLE = (
    ("--model", "SPEC", "the model (default: that of the session); several are compared"),
    ("--bounds", "METRIC=X,...", "acceptable values by METRIC or TASK.METRIC"),
    ("--task", "TASK", "only this task, or tasks of a pattern; repeatable"),
    ("--metrics", "METRIC,...", "instead of those that the suite selects; all for all it has"),
    ("--scorer", "NAME=SPEC", "a model that scores texts, such as toxicity=detoxify:original"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.usage, parser.epilog = _USAGE, _EPILOG
    parser.add_argument("suite", nargs="?", metavar="SUITE", help="name of a suite")
    parser.add_argument("--list", action="store_true", help="list the suites, one per line")
    parser.add_argument("--plan", action="store_true", help="count the calls, and ask nothing")
    parser.add_argument("--size", choices=SIZES, default="smoke", help="how much is asked (smoke)")
    parser.add_argument(
        "--population",
        choices=("fixed", "sampled"),
        help="whether the occupations or rounds are all of interest, or a sample of more",
    )
    parser.add_argument(
        "--prompts",
        type=Path,
        metavar="FILE",
        help=f"your own prompts, one per line, or the column {COLUMN} of a .csv or .jsonl file",
    )
    parser.add_argument(
        "--data", metavar="PATH", help="file or folder with the items of a suite that brings none"
    )
    for option, value, purpose in _REPEATABLE:
        parser.add_argument(option, action="append", default=[], metavar=value, help=purpose)


def run(arguments: argparse.Namespace) -> int:
    """List, plan or run, and return the exit status."""
    if arguments.list:
        width = max(map(len, all_suites()))
        for suite in all_suites().values():
            say(f"{suite.name:<{width}}  {suite.about}\n")
        return 0
    if arguments.suite is None:
        raise ValueError("no suite is named; `llmfair run --list` lists them")
    metrics = [name.strip() for text in arguments.metrics for name in text.split(",")]
    tasks, prompts = arguments.task or None, arguments.prompts
    suite, bounds = chosen_suite(
        arguments.suite,
        size=arguments.size,
        bounds=read_bounds(arguments.bounds),
        population=arguments.population,
        tasks=tasks,
        prompts=prompts,
        scorers=read_scorers(arguments.scorer),
        metrics=metrics,
        data=arguments.data,
    )
    models = list(dict.fromkeys(arguments.model))
    if arguments.plan:
        lines = [*_planned(suite, arguments.size, tasks)]
        lines += decidable(suite, arguments.size, bounds)
        say("\n".join(lines) + "\n")
        if suite.prompts is not None:
            whose = f"of {prompts}" if prompts else f"({NOT_YOURS}; give --prompts FILE)"
            say(f"{plural('prompt', len(suite.prompts))} {whose}\n")
        if len(models) > 1:
            say(f"for each of {len(models)} models\n")
        return 0
    given = list(arguments.rest)
    for word in {*given}.intersection(task.name for task in suite.tasks):
        raise ValueError(f"{word} is a task of {suite.name}; write --task {word}")
    for before, word in zip(("", *given), given, strict=False):
        if Path(word).is_file() and not before.startswith("-"):
            raise ValueError(
                f"{word} belongs to no option; write --prompts {word} for prompts, or "
                f"--data {word} for items"
            )
    # As with `python -m pytest`, so that `python:FILE:FUNCTION` finds a file of this folder.
    sys.path.insert(0, str(Path.cwd()))
    if models:
        given += ["--llmfair-model", models[0]]
    options = [f"--metrics={name}" for name in metrics]
    options += [f"--prompts={prompts}"] if prompts else []
    options += [f"--data={arguments.data}"] if arguments.data else []
    options += [f"--scorer={each}" for each in arguments.scorer]
    asked = [
        Answers(suite, arguments.size, tasks, arguments.population, spec=model, options=options)
        for model in (models if len(models) > 1 else [None])
    ]
    return run_pytest([*given, str(Path.cwd())], _SuiteRun(asked, bounds))


def read_bounds(given: Iterable[str]) -> dict[str, float]:
    """Return bounds from texts such as "ruted_skew=0.2,stories.ruted_skew=0.1"."""
    found = {}
    for part in (part.strip() for text in given for part in text.split(",")):
        # The name may hold one too, such as demographic_parity_gap@k=1.
        name, equals, value = (text.strip() for text in part.rpartition("="))
        if name in found:
            raise ValueError(f"--bounds gives {name} twice; give it once")
        try:
            found[name] = float(value)
        except ValueError:
            equals = ""
        if not (equals and name):
            raise ValueError(f"--bounds is {part!r}; write METRIC=NUMBER, such as skew=0.2")
    return found


def read_scorers(given: Iterable[str]) -> dict[str, str]:
    """Return scorers from texts such as "toxicity=detoxify:original"."""
    found = {}
    for part in given:
        name, equals, spec = part.partition("=")
        if not (equals and spec.strip()):
            raise ValueError(f"--scorer is {part!r}; write NAME=SPEC, such as toxicity=SPEC")
        found[name.strip()] = spec.strip()
    return found


def _planned(suite: Suite, size: str, tasks: list[str] | None) -> Iterator[str]:
    rows = plan(suite, size, tasks)
    yield f"{suite.name} ({size}): {plural('call', sum(n for _, n, _ in rows))}; nothing was asked"
    for name, number, prompt in rows:
        first = " ".join(prompt.split())
        such = f"such as: {first[:70]}" if number else first
        yield f"  {name:<20} {plural('call', number):<12} {such}".rstrip()


def _how_to_continue() -> str:
    session = current_session()
    cassette = session.settings.cassette if session else None
    if cassette is None or not Path(cassette).exists():
        return "no answer is kept; with --llmfair-cassette FILE a run that stops can continue"
    return (
        f"the answers so far are in {cassette}, and the same command with "
        "--llmfair-record-mode new asks only for the rest"
    )


class _SuiteRun(GivenChecks):
    """Lets pytest collect a suite instead of the current folder, and prints its tables."""

    def __init__(self, asked: Sequence[Answers], bounds: Mapping[tuple[str, str], float]) -> None:
        checks = tuple(check for each in asked for check in checks_of(each, bounds))
        super().__init__(Path.cwd(), lambda: Checks(asked[0].suite.name, checks))
        self.answers, self.bounds = asked, bounds
        self.names = [check.name for check in checks]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        """Restore the order of the suite, which other plugins may have changed."""
        items.sort(key=lambda item: self.names.index(item.check.name))

    def pytest_runtest_setup(self, item: Any) -> None:
        """Skip the checks of a model that cannot be loaded; other models are asked."""
        if item.check.answers.loading:
            pytest.skip("the model cannot be loaded")

    def pytest_runtest_teardown(self, item: Any, nextitem: Any) -> None:
        """Stop where no model can be loaded, and record the comparison of several at the end."""
        if all(answers.loading for answers in self.answers):
            item.session.shouldfail = "the model cannot be loaded"
        results = self._results()
        if nextitem is None and len(results) > 1:
            hand_on(Comparison(results), of_file=True)

    def _results(self) -> dict[str, SuiteResult]:
        """Return the measurements by model."""
        return {
            answers.spec or answers.model: answers.result()
            for answers in self.answers
            if answers.found
        }

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        """Print what was measured, and how a run that stopped early can continue."""
        results = self._results()
        interrupted = exitstatus == pytest.ExitCode.INTERRUPTED
        if not (results or interrupted) or terminalreporter.config.get_verbosity() < -1:
            return
        blocks = [found.table() for found in results.values()]
        if len(results) > 1:
            blocks.append(Comparison(results).table())
        if results and not self.bounds:
            blocks.append("no bound was given, so nothing was judged; add --bounds METRIC=X")
        measured = [each for found in results.values() for each in found.measured]
        unpaid = [f for each in measured for f in each.findings if f.code == "over_budget"]
        if interrupted or unpaid or any(found.unmeasured for found in results.values()):
            blocks.append(("interrupted; " if interrupted else "") + _how_to_continue())
        terminalreporter.write_sep("=", printable(f"suite {self.answers[0].suite.name}"))
        say_line(terminalreporter, "\n\n".join(blocks))


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


def decidable(suite: Suite, size: str, bounds: Mapping[tuple[str, str], float]) -> Iterator[str]:
    """Yield for each bound how often a model of random answers, alike for all, would pass it."""
    if bounds:
        yield "bounds, for a model that treats all alike and answers at random:"
    for (name, of), value in bounds.items():
        task = next(each for each in suite.tasks if each.name == name)
        quantity = next(each for each in task.quantities if each.name == of)
        yield f"  {name}.{of} {value:g}: {_power(suite, size, task, quantity, value)}"


def _power(suite: Suite, size: str, task: Task, quantity: Quantity, value: float) -> str:
    kind, info = KINDS[task.kind], get_metric(quantity.metric)
    unknown = "the answers decide how much this size can show"
    questions = kind.questions(suite, task, suite.size(size))
    if not (kind.says or all(each.words for each in questions)):
        return unknown
    asked = [_answered(each, kind.says) for each in questions]

    def sample() -> Estimate:
        return kind.measure(suite, quantity, asked)

    bound = Bound(value, info.direction, info.fair_value, info.scale)
    found = expected_power(sample, bound, info.level, None, info.unit)
    if found["share"] is None:
        return unknown
    return found["undecidable"] or f"would pass in {found['share']:.0%} of runs"


def _answered(question: Question, says: tuple[str, ...]) -> Asked:
    draw = random.Random(f"{question.prompt} {question.about}")
    if not question.words:
        return Asked(question, tuple(draw.choice(says) for _ in range(question.answers)))
    weights = [draw.expovariate(1.0) for _ in question.words]
    return Asked(question, probabilities=tuple(each / sum(weights) for each in weights))
