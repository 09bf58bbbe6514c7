"""``llmfair check``: files of checks, or one check given by options, run by pytest."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pytest_llmfair._util.documents import schema_of
from pytest_llmfair._util.located import load_yaml
from pytest_llmfair.gate.check import AssertionCall, Checks
from pytest_llmfair.gate.check_file import checks_in
from pytest_llmfair.gate.yaml_checks import GivenChecks, run_pytest

_USAGE = """llmfair check FILE.llmfair.yaml ... [pytest options]
       llmfair check --metric METRIC --bound X --prompts FILE [--attribute NAME] [--model SPEC]
       llmfair check --metric METRIC --bound X --data FILE.csv"""
_EPILOG = """Whatever is not listed above goes to pytest, such as -q, -k, --llmfair-json or
--llmfair-plan. The exit status is that of pytest: 0 if no check is red, 1 if one is, 2 if the
run was interrupted or an option is wrong, 4 for wrong usage of pytest, 5 if there is no check."""
# Keys of a check that are no options of their own: --set gives them.
_BY_SET = ("columns", "marks", "data", "prompts")
_KINDS = {"number": float, "integer": int}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of one check."""
    parser.usage, parser.epilog = _USAGE, _EPILOG
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="prompts, one per line")
    parser.add_argument("--data", type=Path, metavar="FILE", help="CSV or JSONL of arrays")
    for name, about in _options().items():
        kind = _KINDS.get(str(about.get("type")), str)
        parser.add_argument(
            f"--{name}", type=kind, metavar=name.upper(), help=about["description"]
        )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a further key of the check, such as threshold=0.4 or groups=[female, male]",
    )


def _options() -> dict[str, Any]:
    """Return the keys of a check that are options, with what their schema says."""
    schema = schema_of("gate/checks.schema.json")["$defs"]
    keys = schema["check"]["properties"]
    return {
        name: schema[part["$ref"].rpartition("/")[2]] if "$ref" in part else part
        for name, part in keys.items()
        if name not in _BY_SET
    }


def run(arguments: argparse.Namespace) -> int:
    """Run the checks with pytest, and return its exit status."""
    given = list(arguments.rest)
    if arguments.metric is None:
        if not any(Path(text.partition("::")[0]).exists() for text in given):
            raise ValueError(
                "there is nothing to check; give a file such as fairness.llmfair.yaml (`llmfair "
                "init` writes one), or --metric, a bound and --prompts FILE or --data FILE"
            )
        return run_pytest(given)
    path, make = _one_check(arguments)
    if _is_known(arguments.metric):
        # What is wrong shows at once; a metric of a conftest.py is only known to pytest.
        make()
    return run_pytest([*given, str(path)], GivenChecks(path, make))


def _is_known(metric: str) -> bool:
    try:
        AssertionCall.of(metric)
    except ValueError:
        return False
    return True


def _one_check(arguments: argparse.Namespace) -> tuple[Path, Callable[[], Checks]]:
    """Return the file that a check is about, and a function that makes the check."""
    entry: dict[str, Any] = {
        "rationale": "given on the command line",
        "owner": "who ran the command",
    }
    given = {name: getattr(arguments, name) for name in _options()}
    entry |= {name: value for name, value in given.items() if value is not None}
    files = [file for file in (arguments.prompts, arguments.data) if file is not None]
    if len(files) != 1:
        raise ValueError(
            f"{len(files)} files are given for {arguments.metric}; give --prompts FILE for a "
            "model that is asked, or --data FILE for arrays"
        )
    path = files[0].resolve()
    entry["data" if arguments.prompts is None else "prompts"] = str(path)
    for text in arguments.set:
        key, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--set is {text!r}; write KEY=VALUE, such as threshold=0.4")
        entry[key.strip()] = load_yaml(value, f"--set {key.strip()}")
    document = {"version": 1, "checks": [entry]}
    return path, partial(checks_in, document, "llmfair check", Path())
