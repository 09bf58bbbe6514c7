"""``llmfair init``: a first file of checks, with comments, that runs as it is."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_llmfair._util.printing import say
from pytest_llmfair.counterfactuals import load_lexicons
from pytest_llmfair.counterfactuals.templates.template import read_prompts
from pytest_llmfair.gate.check_file import SUFFIXES
from pytest_llmfair.gate.documents import data as texts
from pytest_llmfair.gate.documents import rendered
from pytest_llmfair.gate.recommend_command import add_use_case, use_case_of
from pytest_llmfair.gate.selection import TASKS, Choice, Selection, UseCase, recommend
from pytest_llmfair.metrics import MetricInfo, get_metric
from pytest_llmfair.signatures import word_of

# Rows of invented data, for metrics on arrays.
_ROWS = 400


@dataclass(slots=True)
class _Entry:
    """A check as the starter writes it."""

    metric: str
    keys: dict[str, Any]
    comments: dict[str, str] = field(default_factory=dict)
    why_not: str = ""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments; on a terminal those that are missing are asked for."""
    parser.add_argument(
        "file", nargs="?", type=Path, default=Path("fairness.llmfair.yaml"), help="file to write"
    )
    add_use_case(parser)
    parser.add_argument("--model", metavar="SPEC", help="model to ask")
    parser.add_argument("--owner", metavar="WHO", help="who answers for the checks")


def run(arguments: argparse.Namespace) -> int:
    """Write the file, and example data that it needs."""
    if not arguments.file.name.endswith(SUFFIXES):
        raise ValueError(
            f"{arguments.file} would not be collected by pytest; give a name such as "
            "fairness.llmfair.yaml"
        )
    if sys.stdin.isatty():
        _ask(arguments)
    use_case = use_case_of(arguments, arguments.task or "generation")
    text, data = starter(
        use_case,
        arguments.file,
        model=arguments.model or texts("starter")["model"],
        prompts=arguments.prompts,
        owner=arguments.owner or "to be named",
    )
    contents = {arguments.file: text, **data}
    for file in contents:
        if file.exists():
            raise ValueError(f"{file} exists; remove it, or give another name: llmfair init FILE")
    for file, content in contents.items():
        file.write_text(content, encoding="utf-8")
        say(f"wrote {file}\n")
    say(f"run it with: pytest {arguments.file}\n")
    return 0


def _ask(arguments: argparse.Namespace) -> None:
    """Ask for what no option gives; an empty answer is the default."""
    for name, question in texts("starter")["questions"].items():
        text_only = name in ("model", "prompts") and TASKS.get(arguments.task or "") != "text"
        if getattr(arguments, name) is None and not (text_only and arguments.task):
            words = {"tasks": ", ".join(TASKS), "model": texts("starter")["model"]}
            answer = input(f"{question.format(**words)} ").strip()
            if answer:
                made: Mapping[str, Any] = {"attribute": [answer], "prompts": Path(answer)}
                setattr(arguments, name, made.get(name, answer))


def starter(
    use_case: UseCase, file: Path, *, model: str, prompts: Path | None, owner: str
) -> tuple[str, dict[Path, str]]:
    """Return a first file of checks for the folder of `file`, and its files of invented data."""
    examples: list[str] = texts("starter")["prompts"]
    asked: Any = examples if prompts is None else read_prompts(prompts)
    written: str | list[str] | None = None
    if prompts is not None:
        written = _path(prompts, file)
    elif TASKS[use_case.task] == "text":
        written = examples
    selection = recommend(use_case, None if written is None else asked)
    data: dict[Path, str] = {}
    entries = [
        _entry(each, selection, attribute, owner, file, data)
        for each in selection.chosen
        for attribute in (
            use_case.attributes if get_metric(each.metric).needs.endswith("_pairs") else [None]
        )
    ]
    text = rendered(
        "starter.yaml",
        file=file.name,
        use_case=_described(use_case),
        model=model,
        prompts=written,
        shipped=", ".join(load_lexicons()),
        attributes=list(use_case.attributes),
        generations=2,
        checks=sorted(entries, key=lambda each: bool(each.why_not)),
    )
    return text, data


def _entry(
    choice: Choice,
    selection: Selection,
    attribute: str | None,
    owner: str,
    file: Path,
    data: dict[Path, str],
) -> _Entry:
    """Return a recommended check, as a comment where it cannot run as it is."""
    use_case, info = selection.use_case, get_metric(choice.metric)
    bounds, not_yet = texts("starter")["bounds"], dict(texts("starter")["not_yet"])
    bound = bounds.get(choice.check, bounds[word_of(info)])
    entry = _Entry(choice.check, dict(bound["keys"]))
    entry.comments[next(iter(entry.keys))] = bound["comment"].format(fair=f"{info.fair_value:g}")
    if selection.unawareness.status != "unchecked":
        del not_yet["prompts"]
    if (missing := not_yet.get(info.scorer or info.needs)) is not None:
        entry.why_not = missing["why"]
        entry.keys |= missing["keys"]
    if attribute is not None:
        entry.keys["attribute"] = attribute
    if info.needs == "table" and info.example is not None:
        entry.why_not = ""
        entry.keys |= _example_data(info, file, data)
        entry.comments["data"] = "invented and fair; put your own rows there"
    if "positive" not in entry.keys and use_case.sensitive_classes and "once for" in choice.reason:
        entry.comments["data"] += "; one check for each sensitive class, positive: CLASS"
    entry.keys |= {"rationale": f"{choice.reason} ({choice.source})", "owner": owner}
    return entry


def _example_data(info: MetricInfo, file: Path, data: dict[Path, str]) -> dict[str, Any]:
    """Return the keys of a check on invented rows; the rows go to `data`, by their file."""
    given = info.fair_arguments(_ROWS)
    number = len(next(iter(given.values())))
    columns = {
        name: list(value)
        for name, value in given.items()
        if isinstance(value, (list, tuple)) and len(value) == number
    }
    rows = ({name: column[i] for name, column in columns.items()} for i in range(number))
    lines = map(json.dumps, rows)
    content = "\n".join(lines) + "\n"
    known = {text: path for path, text in data.items()}
    stem = file.name.split(".")[0]
    path = known.get(content, file.with_name(f"{stem}-example-{len(data) + 1}.jsonl"))
    data[path] = content
    rest = {name: value for name, value in given.items() if name not in columns}
    return {"data": path.name, **rest}


def _described(use_case: UseCase) -> dict[str, Any]:
    """Return the settings of a use case beyond the defaults."""
    plain = UseCase(use_case.task)
    names = [name for name in UseCase.__dataclass_fields__ if name not in ("task", "attributes")]
    given = {name: getattr(use_case, name) for name in names}
    return {"task": use_case.task} | {
        name: value for name, value in given.items() if value != getattr(plain, name)
    }


def _path(prompts: Path, file: Path) -> str:
    """Return the path of prompts relative to the folder of the file, where it is below it."""
    try:
        return prompts.resolve().relative_to(file.parent.resolve()).as_posix()
    except ValueError:
        return str(prompts.resolve())
