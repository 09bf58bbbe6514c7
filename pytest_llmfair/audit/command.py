"""``llmfair audit``: many prompts, several workers, parts on disk, and checks at the end."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from pytest_llmfair._util.progress import Line, standard_error
from pytest_llmfair._util.wording import plural
from pytest_llmfair.audit.checks import judge, read_audit_checks, scorers_of
from pytest_llmfair.audit.engines import TRIES, InProcess, Pool, Processes, make_parts
from pytest_llmfair.audit.index import INDEX, make_index
from pytest_llmfair.audit.loading import load
from pytest_llmfair.audit.plan import Plan, digest_of
from pytest_llmfair.audit.store import Store
from pytest_llmfair.audit.work import AGAIN, SCORES, answers_of, may_come, revision_of
from pytest_llmfair.clients.budget import Caps
from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.responses import Missing

_USAGE = """llmfair audit DATA --model SPEC --checks FILE --out FOLDER [--attribute NAME] [options]
       llmfair audit --checks FILE --out FOLDER"""
_EPILOG = """DATA is a .jsonl, .csv, .parquet or .txt file with a prompt in each row. The same
command again continues an audit; the second form judges its answers by other checks, without a
model. Whatever is not listed above goes to pytest, such as --llmfair-json or --llmfair-html. The
exit status is that of pytest: 0 if no check is red, 1 if one is, 2 where an option is wrong or a
phase could not be finished."""

# Options that say what is asked.
_OF_THE_PLAN = (
    *("attribute", "groups", "placebo", "generations"),
    *("column", "seed", "max_tokens", "shard_size"),
)


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    # Shortened options would take those of pytest.
    parser.allow_abbrev = False
    parser.usage, parser.epilog = _USAGE, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add = parser.add_argument
    add("--out", type=Path, required=True, metavar="FOLDER", help="where all parts are kept")
    add(
        "--checks", type=Path, required=True, metavar="FILE", help="what is judged, *.llmfair.yaml"
    )
    add("--model", metavar="SPEC", help="the model under test")
    add("--attribute", default="", metavar="NAME", help="exchange its groups; two as race,gender")
    add("--groups", default="", metavar="FROM,TO", help="exchange only these two groups")
    add("--placebo", action="store_true", help="ask placebo twins too (baseline: placebo)")
    add("--generations", type=int, default=1, metavar="N", help="answers per prompt (1)")
    add("--column", default="prompt", help="column of the prompts (prompt)")
    add("--seed", type=int, default=0, help="seed of the answers (0)")
    add("--max-tokens", type=int, metavar="N", help="longest answer")
    add("--shard-size", type=int, default=1000, metavar="N", help="prompts of a shard (1000)")
    add("--workers", type=int, default=1, metavar="N", help="shards made at the same time (1)")
    add(
        "--engine", choices=("local", "ray"), default="local", help="where shards are made (local)"
    )
    add("--address", default="local", help="of your Ray cluster; by default one is started here")
    add("--gpus-per-worker", type=float, default=0.0, metavar="N", help="GPUs of a worker on Ray")
    add("--max-calls", type=int, metavar="N", help="most requests to a paid model")
    add("--max-total-tokens", type=int, metavar="N", help="most tokens of a paid model")
    add("--max-cost", type=float, metavar="USD", help="most dollars for a paid model")


def run(arguments: argparse.Namespace) -> int:
    """Make what is missing of an audit, judge it, and return the exit status."""
    folder: Path = arguments.out
    store = Store(folder)
    options = list(arguments.rest)
    # Not an argument of the parser, which would take the value of an option of pytest for it.
    data = Path(options.pop(0)) if options and not options[0].startswith("-") else None
    if data is None:
        if arguments.model is not None:
            raise ValueError("--model is given without data; name the file of prompts first")
        plan = Plan.of_folder(folder)
        _check_judged(arguments, plan)
        checks = read_audit_checks(arguments.checks, plan, lambda: load(folder))
        load(folder)
    else:
        if arguments.model is None:
            raise ValueError("no model is named; give --model SPEC")
        wanted = _plan(arguments, data).with_words()
        # What is wrong with the checks must show before anything is asked.
        checks = read_audit_checks(arguments.checks, wanted, lambda: load(folder))
        plan = wanted
    if arguments.workers < 1:
        raise ValueError(f"--workers is {arguments.workers}; give a whole number of at least 1")
    caps = Caps(arguments.max_calls, arguments.max_total_tokens, arguments.max_cost)
    try:
        with ExitStack() as held:
            if data is not None:
                held.enter_context(store.alone())
                plan = plan.begin(store, data)
            pool = _pool(arguments, folder, caps)
            held.callback(pool.close)
            if data is not None:
                _ask(pool, store, plan)
            shards = store.done("answers")
            for name in scorers_of(checks):
                _phase(pool, store, f"{SCORES}{name}", shards)
    except KeyboardInterrupt:
        count = len(store.done("answers"))
        _say(
            f"interrupted; the answers of {plural('shard', count)} are in {folder}, and the same "
            "command continues"
        )
        return 2
    return judge(arguments.checks, plan, folder, options)


def _check_judged(arguments: argparse.Namespace, plan: Plan) -> None:
    """Raise ``ValueError`` for an option that would need other answers than those there are."""
    parser = argparse.ArgumentParser()
    configure(parser)
    unset = parser.parse_args(["--out", "", "--checks", ""])
    for name in _OF_THE_PLAN:
        given, known = getattr(arguments, name), getattr(plan, name)
        known = ",".join(known) if name == "groups" else known
        if given not in (getattr(unset, name), known):
            option = "--" + name.replace("_", "-")
            raise ValueError(
                f"{option} is {given!r}, and the audit has {known!r}; leave it out to judge the "
                "answers there are, or name data and model to make another audit"
            )


def _plan(arguments: argparse.Namespace, data: Path) -> Plan:
    if not data.is_file():
        raise ValueError(f"there is no file {data}; give the file of the prompts")
    spec = ModelSpec.parse(arguments.model)
    spec.check_options(spec.kind.options)
    if arguments.engine == "ray" and spec.kind.is_server:
        raise ValueError(
            f"{spec.scheme} models are asked over the network, where one machine is enough and "
            "budget and recorded answers are exact; use --engine local --workers N"
        )
    groups = tuple(filter(None, arguments.groups.split(",")))
    if groups and len(groups) != 2:
        raise ValueError(f"--groups is {arguments.groups!r}; give two with a comma between")
    return Plan(
        data=data.name,
        data_sha256=digest_of(data),
        column=arguments.column,
        model=arguments.model,
        revision=revision_of(arguments.model),
        attribute=arguments.attribute,
        groups=groups,
        placebo=arguments.placebo,
        generations=arguments.generations,
        seed=arguments.seed,
        max_tokens=arguments.max_tokens,
        shard_size=arguments.shard_size,
    )


def _pool(arguments: argparse.Namespace, folder: Path, caps: Caps) -> Pool:
    if arguments.engine == "ray":
        from pytest_llmfair.audit.ray_engine import RayActors

        return RayActors(
            folder, caps, arguments.workers, arguments.address, arguments.gpus_per_worker
        )
    if arguments.workers == 1:
        return InProcess(folder, caps)
    return Processes(folder, caps, arguments.workers)


def _ask(pool: Pool, store: Store, plan: Plan) -> None:
    """Make pairs, index and answers, as far as they are missing."""
    shards = plan.shards
    if plan.attribute:
        _phase(pool, store, "pairs", shards)
    if any(len(store.done(phase)) < len(shards) for phase in INDEX):
        make_index(store, shards, paired=bool(plan.attribute))
    store.forget_failures("answers")
    if again := _to_ask_again(store):
        _say(f"{_answers_in(again)} missing because of a limit or a failure, and asked again")
    _phase(pool, store, "answers", shards, again, may_fail=True)
    if again := _to_ask_again(store):
        first = next(filter(may_come, answers_of(store, min(again))))
        assert isinstance(first, Missing)
        _say(
            f"{_answers_in(again)} missing; the first: {first.reason}, {first.detail}. The same "
            "command asks for them again; a higher limit may go with it"
        )


def _to_ask_again(store: Store) -> dict[int, int]:
    """Return by shard how many answers are missing because of a limit or a passing failure."""
    counts = {each: store.about("answers", each).get(AGAIN, 0) for each in store.done("answers")}
    return {shard: count for shard, count in counts.items() if count}


def _answers_in(counts: dict[int, int]) -> str:
    number = sum(counts.values())
    verb = "is" if number == 1 else "are"
    return f"{plural('answer', number)} in {plural('shard', len(counts))} {verb}"


def _say(text: str) -> None:
    sys.stderr.write(f"llmfair audit: {text}\n")


def _phase(
    pool: Pool,
    store: Store,
    phase: str,
    shards: Sequence[int],
    again: Collection[int] = (),
    *,
    may_fail: bool = False,
) -> None:
    """Make the missing parts of a phase, and show how far it is."""
    known = set(store.done(phase)).intersection(shards).difference(again)
    with _Progress(phase, len(shards), len(known)) as progress:
        failed = make_parts(pool, store, phase, shards, progress.add, again)
    if not failed:
        return
    first, number = min(failed), plural("shard", len(failed))
    text = f"{number} of {phase} failed {TRIES} times; shard {first}: {failed[first]}"
    if not may_fail:
        raise ValueError(f"{text}; run the same command again once this is fixed")
    _say(f"{text}; its answers count as missing")


@dataclass(slots=True)
class _Progress:
    """A line with shards, rows per second and the time left."""

    phase: str
    total: int
    known: int
    rows: int = 0
    made: int = 0
    _began: float = field(default_factory=time.monotonic)
    _line: Line = field(default_factory=lambda: Line(standard_error()))

    def add(self, shard: int, rows: int) -> None:
        """Count a shard."""
        self.made += 1
        self.rows += rows
        self._line.show(self.text)

    def text(self) -> str:
        """Return what is done, at which speed, and the time left."""
        seconds = max(time.monotonic() - self._began, 1e-9)
        left = self._line.left(self.made, self.total - self.known)
        return (
            f"{self.phase}: {self.known + self.made} of {self.total} shards, "
            f"{self.rows / seconds:,.0f} rows a second, {left}"
        )

    def __enter__(self) -> _Progress:
        return self

    def __exit__(self, *args: object) -> None:
        """Erase the line, and say what was done."""
        self._line.__exit__()
        if self.made:
            seconds = time.monotonic() - self._began
            sys.stderr.write(
                f"{self.phase}: {plural('shard', self.made)}, {plural('row', self.rows)} in "
                f"{seconds:,.1f} s\n"
            )
