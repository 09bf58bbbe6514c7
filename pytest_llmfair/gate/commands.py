"""Commands of ``llmfair`` that come from the gate, each with its module."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import NamedTuple


class Command(NamedTuple):
    """A command: its module has ``configure(parser)`` and ``run(arguments) -> exit status``."""

    module: str
    help: str
    # Whether arguments that the command does not know go to its `run`, as ``arguments.rest``.
    takes_rest: bool = False


# Only the module of the command in use is imported.
COMMANDS: dict[str, Command] = {
    "check": Command(
        "pytest_llmfair.gate.yaml_checks",
        "run files of checks, or one check given by options, with pytest",
        takes_rest=True,
    ),
    "run": Command(
        "pytest_llmfair.suites.command",
        "run the design of a paper as a suite on a model, with pytest",
        takes_rest=True,
    ),
    "audit": Command(
        "pytest_llmfair.audit.command",
        "ask a model about many prompts, in shards that a later run continues, and judge",
        takes_rest=True,
    ),
    "labels": Command(
        "pytest_llmfair.labels.command",
        "plan which answers people label to correct a judge, and check their labels",
    ),
    "doctor": Command(
        "pytest_llmfair.gate.doctor", "say which metrics can judge a result file of another tool"
    ),
    "judge": Command(
        "pytest_llmfair.gate.judge",
        "judge a result file of another tool, with pytest where a bound is given",
        takes_rest=True,
    ),
    "init": Command("pytest_llmfair.gate.starter", "write a first file of checks"),
    "recommend": Command(
        "pytest_llmfair.gate.recommend_command", "choose metrics for a use case, with reasons"
    ),
    "report": Command("pytest_llmfair.reports.files", "make the reports of a recorded run"),
    "comment": Command(
        "pytest_llmfair.reports.comment", "post a recorded run as one comment on a pull request"
    ),
    "diff": Command(
        "pytest_llmfair.gate.diff", "say what changed between two recorded runs, check by check"
    ),
    "history": Command(
        "pytest_llmfair.gate.history", "draw each check over recorded runs, commits and models"
    ),
    "export": Command("pytest_llmfair.gate.export", "log a recorded run to a run of MLflow"),
    "self-check": Command(
        "pytest_llmfair.gate.self_check",
        "measure how often a recorded suite errs: placebo groups and samples drawn again",
    ),
    "verify": Command(
        "pytest_llmfair.gate.evidence", "compute every number of an evidence folder again"
    ),
    "checklist": Command(
        "pytest_llmfair.gate.checklist", "fill the pre-release checklist from a recorded run"
    ),
    "local-law-144": Command(
        "pytest_llmfair.gate.local_law_144",
        "tables of selection rates and impact ratios by sex and race/ethnicity",
    ),
    "model-card": Command(
        "pytest_llmfair.gate.model_card",
        "section of a Hugging Face model card, or the limitations, from a recorded run",
    ),
}


def configure(name: str, parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command."""
    if COMMANDS[name].takes_rest:
        # Shortened options would take those of pytest.
        parser.allow_abbrev = False
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
    import_module(COMMANDS[name].module).configure(parser)


def run(name: str, arguments: argparse.Namespace) -> int:
    """Run a command, and return its exit status."""
    status: int = import_module(COMMANDS[name].module).run(arguments)
    return status
