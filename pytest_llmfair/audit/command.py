"""``llmfair audit``: many prompts, several workers, parts on disk, and checks at the end."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import Line, printable, standard_error
from pytest_llmfair._util.validation import whole
from pytest_llmfair._util.wording import plural
from pytest_llmfair.audit.checks import judge, phases_of, read_audit_checks
from pytest_llmfair.audit.engines import TRIES, InProcess, Pool, Processes, make_parts
from pytest_llmfair.audit.loading import load
from pytest_llmfair.audit.plan import INDEX, Plan, make_index
from pytest_llmfair.audit.store import Store
from pytest_llmfair.audit.work import Worker, answers_of, may_come
from pytest_llmfair.clients.budget import Caps
from pytest_llmfair.clients.sending import is_failure
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.lexicons.name_lexicon import is_names
from pytest_llmfair.responses import Missing

_USAGE = """llmfair audit DATA --model SPEC --checks FILE --out FOLDER [--attribute NAME] [options]
       llmfair audit --checks FILE --out FOLDER"""
_EPILOG = """DATA is a .jsonl, .csv, .parquet or .txt file with a prompt in each row. The same
command again continues an audit; the second form judges its answers by other checks, without a
model. Whatever is not listed above goes to pytest, such as --llmfair-json or --llmfair-html. The
exit status is that of pytest: 0 if no check is red, 1 if one is, 2 where an option is wrong or a
phase could not be finished."""

# Shards in a row without an answer after which a server is not asked any more.
_UNANSWERED = 3

# Options that say what is asked, each a field of the plan; None where they are not given.
_OF_THE_PLAN: dict[str, dict[str, Any]] = {
    "attribute": {"metavar": "NAME", "help": "exchange its groups; two as race,gender"},
    "groups": {"metavar": "FROM,TO", "help": "exchange only these two groups; of names more"},
    "placebo": {"action": "store_true", "help": "ask placebo twins too (baseline: placebo)"},
    "generations": {"type": int, "metavar": "N", "help": "answers per prompt (1)"},
    "column": {"metavar": "NAME", "help": "column of the prompts (prompt)"},
    "seed": {"type": int, "metavar": "N", "help": "seed of the answers (0)"},
    "max_tokens": {"type": int, "metavar": "N", "help": "longest answer"},
    "shard_size": {"type": int, "metavar": "N", "help": "prompts of a shard (1000)"},
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.usage, parser.epilog = _USAGE, _EPILOG
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FOLDER", help="where all parts are kept")
    add("--checks", type=Path, required=True, metavar="FILE", help="the checks to judge, as YAML")
    add("--model", metavar="SPEC", help="the model under test")
    for name, about in _OF_THE_PLAN.items():
        add(_option(name), default=None, **about)
    add("--workers", type=int, default=1, metavar="N", help="shards made at the same time (1)")
    add("--engine", choices=("local", "ray"), default="local", help="where they are made (local)")
    add(
        "--address",
        default="local",
        help="address of your Ray cluster; by default one is started here",
    )
    add("--gpus-per-worker", type=float, default=0.0, metavar="N", help="GPUs of a worker on Ray")
    add("--max-calls", type=int, metavar="N", help="most requests to a paid model")
    add("--max-total-tokens", type=int, metavar="N", help="most tokens of a paid model")
    add("--max-cost", type=float, metavar="USD", help="most dollars for a paid model")


def run(arguments: argparse.Namespace) -> int:
    """Make what is missing of an audit, judge it, and return the exit status."""
    whole(arguments.workers, "--workers")
    options = list(arguments.rest)
    # Not an argument of the parser, which would take the value of an option of pytest for it.
    data = Path(options.pop(0)) if options and not options[0].startswith("-") else None
    try:
        plan = _made(arguments, data)
    except KeyboardInterrupt:
        count = len(Store(arguments.out).done("answers"))
        _say(
            f"interrupted; the answers of {plural('shard', count)} are in {arguments.out}, and "
            "the same command continues"
        )
        return 2
    return judge(arguments.checks, plan, arguments.out, options)


def _made(arguments: argparse.Namespace, data: Path | None) -> Plan:
    """Make what is missing, and return what the audit asks."""
    folder: Path = arguments.out
    store = Store(folder)
    plan = _plan(arguments, data) if data else _plan_of_the_answers(arguments)
    # What is wrong with the checks must show before anything is asked.
    checks = read_audit_checks(arguments.checks, plan, folder)
    if data is None:
        load(folder)
    with ExitStack() as held:
        if data is not None:
            held.enter_context(store.alone())
            plan.begin(store, data)
        pool = _pool(arguments)
        held.callback(pool.close)
        if data is not None:
            _ask(pool, store, plan)
        for phase in phases_of(checks, plan):
            _make(pool, store, phase, plan)
    return plan


def _option(name: str) -> str:
    return "--" + name.replace("_", "-")


def _given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of the plan that options give."""
    given = {name: getattr(arguments, name) for name in _OF_THE_PLAN}
    if given["groups"] is not None:
        given["groups"] = tuple(filter(None, given["groups"].split(",")))
        if len(given["groups"]) != 2 and not is_names(given["attribute"]):
            raise ValueError(f"--groups is {arguments.groups!r}; give two with a comma between")
    return {name: value for name, value in given.items() if value is not None}


def _plan(arguments: argparse.Namespace, data: Path) -> Plan:
    if not data.is_file():
        raise ValueError(f"there is no file {data}; give the file of the prompts")
    if arguments.model is None:
        raise ValueError("no model is named; give --model SPEC")
    spec = ModelSpec.parse(arguments.model)
    spec.check_options(spec.kind.options)
    if arguments.engine == "ray" and spec.kind.is_server:
        raise ValueError(
            f"{spec.scheme} models are asked over the network, where one machine is enough and "
            "budget and recorded answers are exact; use --engine local --workers N"
        )
    return Plan.of(data, arguments.model, **_given(arguments))


def _plan_of_the_answers(arguments: argparse.Namespace) -> Plan:
    """Return the plan of an audit that is judged again; its options would need other answers."""
    if arguments.model is not None:
        raise ValueError("--model is given without data; name the file of prompts first")
    plan = Plan.of_folder(arguments.out)
    for name, value in _given(arguments).items():
        if value != getattr(plan, name):
            raise ValueError(
                f"{_option(name)} is {value!r}, and the audit has {getattr(plan, name)!r}; leave "
                "it out to judge the answers there are, or name data and model to make another "
                "audit"
            )
    return plan


def _pool(arguments: argparse.Namespace) -> Pool:
    caps = Caps(arguments.max_calls, arguments.max_total_tokens, arguments.max_cost)
    folder, workers = arguments.out, arguments.workers
    if arguments.engine == "ray":
        from pytest_llmfair.audit.engines import RayActors

        return RayActors(folder, caps, workers, arguments.address, arguments.gpus_per_worker)
    return InProcess(folder, caps) if workers == 1 else Processes(folder, caps, workers)


def _ask(pool: Pool, store: Store, plan: Plan) -> None:
    """Make pairs, index and answers, as far as they are missing."""
    if plan.attribute:
        _make(pool, store, "pairs", plan)
    if any(len(store.done(phase)) < len(plan.shards) for phase in INDEX):
        make_index(store, plan.shards, paired=bool(plan.attribute))
    again = _to_ask_again(store)
    if again:
        _say(f"{_answers_in(again)} missing because of a limit or a failure, and asked again")
    failed = _make(pool, store, "answers", plan, again)
    for shard, why in failed.items():
        Worker(store.folder, Caps()).give_up(shard, why)
    if again := _to_ask_again(store):
        first = next(filter(may_come, answers_of(store, min(again))))
        assert isinstance(first, Missing)
        _say(
            f"{_answers_in(again)} missing; the first: {first.reason}, {first.detail}. The same "
            "command asks for them again; a higher limit may go with it"
        )


def _check_reached(store: Store, unanswered: list[int]) -> None:
    """Raise ``ValueError`` after shards in a row that got nothing but failures."""
    answers = answers_of(store, unanswered[-1])
    if not answers or not all(map(is_failure, answers)):
        unanswered.clear()
    elif len(unanswered) == _UNANSWERED:
        lost = answers[0]
        assert isinstance(lost, Missing)
        raise ValueError(
            f"the model answered nothing in {_UNANSWERED} shards in a row ({lost.reason}: "
            f"{lost.detail}); the same command continues once it can be reached"
        )


def _to_ask_again(store: Store) -> dict[int, int]:
    """Return by shard how many answers are missing because of a limit or a passing failure."""
    counts = {shard: store.about("answers", shard)["again"] for shard in store.done("answers")}
    return {shard: count for shard, count in counts.items() if count}


def _answers_in(counts: dict[int, int]) -> str:
    number = sum(counts.values())
    verb = "is" if number == 1 else "are"
    return f"{plural('answer', number)} in {plural('shard', len(counts))} {verb}"


def _say(text: str) -> None:
    sys.stderr.write(printable(f"llmfair audit: {text}\n"))


def _make(
    pool: Pool, store: Store, phase: str, plan: Plan, again: Collection[int] = ()
) -> dict[int, str]:
    """Make the missing parts of a phase, show how far it is, and return the shards that failed."""
    began = time.monotonic()
    rows: list[int] = []
    unanswered: list[int] = []
    server = phase == "answers" and ModelSpec.parse(plan.model).kind.is_server
    known = len(set(store.done(phase)).difference(again))
    with Line(standard_error()) as line:

        def shown() -> str:
            rate = sum(rows) / max(time.monotonic() - began, 1e-9)
            left = line.left(len(rows), len(plan.shards) - known)
            count = f"{known + len(rows)} of {len(plan.shards)} shards"
            return f"{phase}: {count}, {rate:,.0f} rows a second, {left}"

        def done(shard: int, number: int) -> None:
            rows.append(number)
            line.show(shown)
            if server:
                unanswered.append(shard)
                _check_reached(store, unanswered)

        failed = make_parts(pool, store, phase, plan.shards, done, again)
    if rows:
        what = f"{plural('shard', len(rows))}, {plural('row', sum(rows))}"
        sys.stderr.write(f"{phase}: {what} in {time.monotonic() - began:,.1f} s\n")
    if failed:
        first = min(failed)
        text = f"{plural('shard', len(failed))} of {phase} failed {TRIES} times; shard {first}: "
        if phase == "pairs":
            raise ValueError(f"{text}{failed[first]}; run the same command again once it is fixed")
        # For a score: a conftest.py may give another scorer this name, one that works.
        then = "its answers count as missing"
        if phase != "answers":
            then = "missing parts are computed where they are judged"
        _say(f"{text}{failed[first]}; {then}")
    return failed
