"""``llmfair check``: files of checks, or one check given by options, run by pytest."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.gate.check import Checks
from pytest_llmfair.gate.check_file import checks_in
from pytest_llmfair.gate.yaml_checks import CheckFile
from pytest_llmfair.lexicons.schema import read_yaml

_USAGE = """llmfair check FILE.llmfair.yaml ... [pytest options]
       llmfair check --metric METRIC --bound X --prompts FILE [--attribute NAME] [--model SPEC]
       llmfair check --metric METRIC --bound X --data FILE.csv"""
_EPILOG = """Whatever is not listed above goes to pytest, such as -q, -k, --llmfair-json or
--llmfair-plan. The exit status is that of pytest: 0 if no check is red, 1 if one is, 2 if the
run was interrupted or an option is wrong, 4 for wrong usage of pytest, 5 if there is no check."""
# Options that become keys of a check as they are.
_TEXTS = {
    "attribute": "protected attribute whose groups are exchanged in the prompts",
    "model": "model to ask, such as openai:gpt-4o-mini (default that of pytest)",
    "scorer": "scorer of the answers, by name or as a model",
    "dissimilarity": "what counterfactual_invariance compares answers by",
    "mode": "when a verdict is red: gate, strict or point",
    "label": "text that the report adds to the metric's name",
    "expect": "verdict that is expected: PASS, FAIL, INVALID or UNDERPOWERED",
    "rationale": "why the check has this bound",
    "owner": "who answers for the check",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options of one check."""
    # Shortened options would take those of pytest.
    parser.allow_abbrev = False
    parser.usage, parser.epilog = _USAGE, _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--metric", help="name of a metric, or counterfactual_invariance")
    for name in ("bound", "minimum", "eps"):
        parser.add_argument(f"--{name}", type=float, metavar="X", help="the value to accept")
    parser.add_argument("--prompts", type=Path, metavar="FILE", help="prompts, one per line")
    parser.add_argument("--data", type=Path, metavar="FILE", help="CSV or JSONL of arrays")
    for name, text in _TEXTS.items():
        parser.add_argument(f"--{name}", metavar="TEXT", help=text)
    parser.add_argument("--generations", type=int, metavar="N", help="answers per prompt")
    parser.add_argument("--level", type=float, metavar="LEVEL", help="confidence level")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a further key of the check, such as threshold=0.4 or groups=[female, male]",
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the checks with pytest, and return its exit status."""
    given = list(arguments.rest)
    plugins: list[Any] = []
    if arguments.metric is None:
        if not any(Path(text.partition("::")[0]).exists() for text in given):
            raise ValueError(
                "there is nothing to check; give a file such as fairness.llmfair.yaml (`llmfair "
                "init` writes one), or --metric, a bound and --prompts FILE or --data FILE"
            )
    else:
        plugin = _OneCheck(*_one_check(arguments))
        plugins.append(plugin)
        given.append(str(plugin.path))
    return int(pytest.main(["-p", "llmfair", *given], plugins))


def _one_check(arguments: argparse.Namespace) -> tuple[Path, Checks]:
    """Return the check that options describe, and the file that it is about."""
    entry: dict[str, Any] = {
        "rationale": "given on the command line",
        "owner": "who ran the command",
    }
    names = ("metric", "bound", "minimum", "eps", "generations", "level", *_TEXTS)
    entry |= {name: getattr(arguments, name) for name in names if getattr(arguments, name)}
    entry |= {
        name: getattr(arguments, name)
        for name in ("bound", "minimum", "eps")
        if getattr(arguments, name) is not None
    }
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
        entry[key.strip()] = read_yaml(value)
    return path, checks_in({"version": 1, "checks": [entry]}, "llmfair check", Path())


class _OneCheck:
    """Lets pytest collect a check in the place of the file that it is about."""

    def __init__(self, path: Path, checks: Checks) -> None:
        self.path = path
        self._checks = checks

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        """Stay in this process: workers of xdist would not know a check that is in no file."""
        if getattr(config.option, "dist", "no") != "no":
            config.option.dist = "no"

    @pytest.hookimpl(wrapper=True)
    def pytest_collect_file(self, file_path: Path, parent: Any) -> Generator[None, Any, Any]:
        """Return the check; another plugin may take a .txt file for doctests."""
        found = yield
        if file_path != self.path:
            return found
        file = CheckFile.from_parent(parent, path=file_path)
        file.given = self._checks
        return [file]
