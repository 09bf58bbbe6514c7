"""A file of checks that names a suite: ``suite: NAME`` with the bounds of the user."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from pytest_llmfair._util.documents import Document, schema_of
from pytest_llmfair.gate.check import Checks
from pytest_llmfair.suites.checks import checks_of
from pytest_llmfair.suites.design import get_suite
from pytest_llmfair.suites.prompts import read_own_prompts
from pytest_llmfair.suites.runner import Answers, chosen_suite

# What a file may choose, as in `pytest_llmfair.suites.run`, in the order of what depends on what.
_CHOSEN = ("prompts", "scorers", "metrics", "size", "tasks", "population")


def read_suite(path: Path) -> Checks:
    """Read a file that names a suite.

    Whatever is wrong raises one ``ValueError``: every problem on a line of its own, as
    ``file:line: what is wrong; what to do``.
    """
    document = Document.read(path, schema_of("suites/suite.schema.json"))
    given = document.content
    if "suite" not in given or document.attempt(("suite",), get_suite, given["suite"]) is None:
        document.check()
    choose = partial(chosen_suite, given["suite"])
    bounds = given.get("bounds", {})
    if "data" in given:
        choose = partial(choose, data=path.parent / given["data"])
    # Tasks and metrics follow from the data.
    if document.attempt(("data" if "data" in given else "suite",), choose) is None:
        document.check()
    for key, value in ((key, given[key]) for key in _CHOSEN if key in given):
        if isinstance(value, list):
            value = [each for each in value if each is not None]
        elif key == "prompts":
            value = document.attempt((key,), read_own_prompts, path.parent / value)
        if value and document.attempt((key,), partial(choose, **{key: value})) is not None:
            choose = partial(choose, **{key: value})
    # Which bounds there can be depends on metrics and prompts.
    known = document.is_right("metrics") and document.is_right("prompts")
    for metric, bound in bounds.items() if known else ():
        document.attempt(("bounds", metric), partial(choose, bounds={metric: bound}))
    document.check()
    suite, judged = choose(bounds=bounds)
    chosen = choose.keywords
    size = chosen.get("size", "smoke")
    answers = Answers(suite, size, chosen.get("tasks"), chosen.get("population"))
    return Checks(
        path.name,
        tuple(
            replace(
                check,
                rerun="",
                line=document.line("bounds"),
                rationale=given["rationale"],
                owner=given["owner"],
                model=given.get("model"),
            )
            for check in checks_of(answers, judged)
            if check.judged
        ),
    )
