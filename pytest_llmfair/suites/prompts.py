"""Prompts of the user, for the suites that take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_llmfair.clients.sending import checked
from pytest_llmfair.counterfactuals.templates.template import read_prompts
from pytest_llmfair.gate.check_attributes import have_slots
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.scorers import load_scorers
from pytest_llmfair.suites.design import Suite, all_suites
from pytest_llmfair.suites.kinds import KINDS

# Column of a table that holds the prompts.
COLUMN = "prompt"
NOT_YOURS = "the prompts are examples of the package, not yours"


def read_own_prompts(path: Path) -> list[str]:
    """Read prompts as they are sent, of any file that `read_prompts` takes but templates."""
    found = read_prompts(path)
    if not isinstance(found, list):
        raise ValueError(f"{path} holds templates; give prompts as they are sent, one a line")
    return found


def check_scorers(suite: Suite, given: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` for a scorer that a suite does not use, or a wrong specification."""
    metrics = [quantity.metric for task in suite.tasks for quantity in task.quantities]
    used = sorted({get_metric(each).scorer or "" for each in metrics} - {""})
    specifications = {name: each for name, each in given.items() if not callable(each)}
    for name, specification in specifications.items():
        if suite.prompts is None or name not in used:
            known = ", ".join(used) if suite.prompts is not None else "none"
            raise ValueError(f"{suite.name} has no use for a scorer {name!r}; it uses {known}")
        try:
            load_scorers().check(specification)
        except KeyError as error:
            raise ValueError(str(error)) from None


def with_prompts(
    suite: Suite,
    prompts: Sequence[str] | None = None,
    scorers: Mapping[str, Any] | None = None,
) -> Suite:
    """Return the suite with the prompts of the user, and the tasks that follow from them."""
    suite = replace(suite, scorers=scorers or {})
    if suite.prompts is None:
        if prompts is not None:
            takers = [each.name for each in all_suites().values() if each.prompts is not None]
            raise ValueError(
                f"{suite.name} asks questions of its own and takes no prompts; suites that take "
                f"yours: {', '.join(takers)}"
            )
        return suite
    if prompts is None:
        tasks = tuple(replace(each, note=f"{NOT_YOURS}; {each.note}") for each in suite.tasks)
        limits = (f"{NOT_YOURS[0].upper()}{NOT_YOURS[1:]}, so this is no assessment of your use.",)
        suite = replace(suite, tasks=tasks, limits=(*limits, *suite.limits))
    else:
        suite = replace(suite, prompts=tuple(checked(prompts)))
        for row, prompt in enumerate(suite.prompts or ()):
            if have_slots([prompt], None):
                raise ValueError(
                    f"prompts[{row}] is a template: {prompt[:60]!r}; fill its slots first"
                )
    made = tuple(KINDS[task.kind].prepared(suite, task) for task in suite.tasks)
    return replace(suite, tasks=made)
