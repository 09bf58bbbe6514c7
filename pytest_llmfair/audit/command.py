"""``llmfair audit``: many prompts, several workers, parts on disk, and checks at the end."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pytest_llmfair._util.progress import Line, standard_error
from pytest_llmfair._util.wording import plural
from pytest_llmfair.audit.checks import judge, read_audit_checks, scorers_of
from pytest_llmfair.audit.engines import TRIES, InProcess, Pool, Processes, make_parts
from pytest_llmfair.audit.index import make_index
from pytest_llmfair.audit.loading import load
from pytest_llmfair.audit.plan import Plan, digest_of
from pytest_llmfair.audit.store import Store
from pytest_llmfair.audit.work import FAILED, SCORES, revision_of
from pytest_llmfair.clients.budget import Caps
from pytest_llmfair.clients.spec import ModelSpec

_USAGE = """llmfair audit DATA --model SPEC --checks FILE --out FOLDER [--attribute NAME] [options]
       llmfair audit --checks FILE --out FOLDER"""
_EPILOG = """DATA is a .jsonl, .csv, .parquet or .txt file with a prompt in each row. The same
command again continues an audit; the second form judges its answers by other checks, without a
model. Whatever is not listed above goes to pytest, such as --llmfair-json or --llmfair-html. The
exit status is that of pytest: 0 if no check is red, 1 if one is, 2 where an option is wrong or a
phase could not be finished."""

# Options that are fields of a plan.
_OPTIONS = (
    *("column", "model", "attribute", "placebo", "generations", "seed", "max_tokens"),
    "shard_size",
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
        checks = read_audit_checks(arguments.checks, plan, lambda: load(folder))
        load(folder)
    else:
        if arguments.model is None:
            raise ValueError("no model is named; give --model SPEC")
        wanted = _plan(arguments, data)
        # What is wrong with the checks must show before anything is asked.
        checks = read_audit_checks(arguments.checks, wanted, lambda: load(folder))
        plan = wanted.begin(store, data)
    caps = Caps(arguments.max_calls, arguments.max_total_tokens, arguments.max_cost)
    pool = _pool(arguments, folder, caps)
    try:
        if data is not None:
            _ask(pool, store, plan)
        shards = store.done("answers")
        for name in scorers_of(checks):
            _phase(pool, store, f"{SCORES}{name}", shards)
    finally:
        pool.close()
    return judge(arguments.checks, plan, folder, options)


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
        revision=revision_of(arguments.model),
        groups=groups,
        **{name: getattr(arguments, name) for name in _OPTIONS},
    )


def _pool(arguments: argparse.Namespace, folder: Path, caps: Caps) -> Pool:
    if arguments.workers < 1:
        raise ValueError(f"--workers is {arguments.workers}; give a whole number of at least 1")
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
    if len(store.done("questions")) < len(shards):
        make_index(store, shards, paired=bool(plan.attribute))
    for shard, why in _phase(pool, store, "answers", shards, may_fail=True).items():
        store.put(FAILED, shard, {"why": [why]})


def _phase(
    pool: Pool, store: Store, phase: str, shards: Sequence[int], *, may_fail: bool = False
) -> dict[int, str]:
    """Make the missing parts of a phase, show how far it is, and return why shards failed."""
    known = len(set(store.done(phase)) & set(shards))
    made: list[int] = []
    began = time.monotonic()

    def text() -> str:
        speed = sum(made) / max(time.monotonic() - began, 1e-9)
        return (
            f"{phase}: {known + len(made)} of {len(shards)} shards, {speed:,.0f} rows a second, "
            f"{line.left(len(made), len(shards) - known)}"
        )

    def done(rows: int) -> None:
        made.append(rows)
        line.show(text)

    with Line(standard_error()) as line:
        failed = make_parts(pool, store, phase, shards, done)
    if made:
        parts, rows = plural("shard", len(made)), plural("row", sum(made))
        sys.stderr.write(f"{phase}: {parts}, {rows} in {time.monotonic() - began:,.1f} s\n")
    if failed:
        first, number = min(failed), plural("shard", len(failed))
        why = f"{number} of {phase} failed {TRIES} times; shard {first}: {failed[first]}"
        if not may_fail:
            raise ValueError(f"{why}; run the same command again once this is fixed")
        sys.stderr.write(f"llmfair audit: {why}; its answers count as missing\n")
    return failed
