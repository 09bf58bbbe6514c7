"""Tables in CSV, JSONL or Parquet: LangSmith, Braintrust, Langfuse, Phoenix, MLflow and others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pytest_llmfair._util.tables import Row as TableRow
from pytest_llmfair._util.tables import TableError, is_table
from pytest_llmfair.responses import Answer, CutAnswer, Missing
from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.source import parquet_files
from pytest_llmfair.results.table import label_or_number, number_repeats, text_of, with_every_score

# Names of columns in any case; "inputs.question" counts as "question".
_ALIASES = {
    "prompt": (
        *("prompt", "input", "inputs", "question", "query", "request", "instruction"),
        "user_input",
    ),
    "answer": (
        *("answer", "output", "outputs", "response", "completion", "prediction", "predictions"),
        *("generated_text", "actual_output", "model_output", "result"),
    ),
}
_PREFIXES = {
    "prompt": ("inputs.", "input.", "attributes.input."),
    "answer": ("outputs.", "output.", "attributes.output."),
}
# What was expected is no answer.
_EXPECTED = re.compile(r"(?:\A|\.)(?:reference|expected|ground_truth|target|label)", re.IGNORECASE)
_SCORE = re.compile(
    r"\A(?:scores?[._/]|(?:feedback|metrics|eval)[./])(?P<name>.+)|\Ascore\Z", re.IGNORECASE
)
_SCORE_LAST = re.compile(r"(?P<name>.+?)(?:/v\d+)?[./]score\Z")
_ROLES = ("prompt", "answer", "repeat", "sample", "reason", "detail", "cut", "model", "error")


def _knows(file: File) -> bool:
    # A list of objects in JSON is a table too, and so are lists of columns and of rows.
    listed = file.suffix == ".json" and re.match(r'\s*(\[|\{\s*"columns"\s*:\s*\[)', file.head)
    return is_table(file.path) or file.path.is_dir() or bool(listed)


@reader(
    "tables",
    ".csv, .jsonl, .json or .parquet with columns such as prompt, answer, score.NAME",
    knows=_knows,
)
def read(file: File) -> Results:
    """Read a table; more than one candidate for a column is a question."""
    rows = list(rows_in(file))
    if any(row.repeat < 0 for row in rows):
        number_repeats(rows)
    return Results("table", with_every_score(rows))


def rows_in(file: File) -> Iterator[Row]:
    """Yield the rows of a table or of a folder of Parquet files; unnumbered repeats are -1."""
    for path in parquet_files(file.path) if file.path.is_dir() else [file.path]:
        yield from made_of(File(path).lines(), file)


def made_of(lines: Iterable[TableRow], file: File) -> Iterator[Row]:
    """Yield a row for each line, by its columns; `file` has their names and its own."""
    columns: dict[str, str] = {}
    seen: tuple[str, ...] = ()
    for line in lines:
        values = _values(line.values)
        if seen != (seen := tuple(values)):
            columns = _columns(file, values, line.where)
        yield _row(line, values, columns)


def _values(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of a row; nested objects become dotted names."""
    found: dict[str, Any] = {}
    for name, cell in given.items():
        # An answer may be JSON that the model wrote.
        value = cell if is_alias("answer", name) else _parsed(cell)
        if name == "scores" and isinstance(value, list):
            # As Langfuse writes them: a list of names and values.
            parts = [each for each in value if isinstance(each, Mapping) and "name" in each]
            for each in parts:
                said = each.get("value")
                found[f"scores.{each['name']}"] = each.get("stringValue") if said is None else said
        elif isinstance(value, Mapping) and value:
            found |= _values({f"{name}.{key}": each for key, each in value.items()})
        else:
            found[str(name)] = cell
    return found


def _parsed(cell: Any) -> Any:
    """Return the value of a cell; CSV has objects and lists as JSON."""
    if isinstance(cell, str) and (cell[:1], cell[-1:]) in (("{", "}"), ("[", "]")):
        try:
            return json.loads(cell)
        except (ValueError, RecursionError):
            return cell
    return cell


def _columns(file: File, values: Mapping[str, Any], where: str) -> dict[str, str]:
    """Return the column of each role that has one; `needed` of the options names those it must."""
    found = {name: name for name in _ROLES[2:] if name in values}
    for role in ("prompt", "answer"):
        if role in file.options:
            name = file.options[role]
            if name not in values:
                raise ResultsError(
                    f"{file.path} has no column {name!r}; its columns are {', '.join(values)}"
                )
            found[role] = name
            continue
        near = [name for name in values if is_alias(role, name)]
        if not near and file.options.get(f"or {role}") in values:
            near = [file.options[f"or {role}"]]
        if not near:
            # The only input, or the only output, of a name of its own.
            near = [n for n in values if n.lower().startswith(_PREFIXES[role])]
            near = near if len(near) == 1 else []
        if len(near) > 1:
            raise ResultsError(
                f"{file.path} has {len(near)} columns that may be the {role}: {', '.join(near)}; "
                f"name one: {file.options.get(f'to name {role}', f'--{role} ')}{near[0]}"
            )
        found |= {role: near[0]} if near else {}
    if needed := [role for role in file.options.get("needed", "").split() if role not in found]:
        raise ResultsError(
            f"{where} needs {file.options['needed'].replace(' ', ' and ')}, and has no "
            f"{' and no '.join(needed)}; found {', '.join(values)}"
        )
    return found


def is_alias(role: str, name: str) -> bool:
    """Whether a column may be the prompt or the answer by its name."""
    if _EXPECTED.search(name):
        return False
    low = name.lower()
    if low in _ALIASES[role]:
        return True
    inner = next((low[len(p) :] for p in _PREFIXES[role] if low.startswith(p)), "")
    own = "output" if role == "answer" else "input"
    return inner in (*_ALIASES[role], "value", "content", "text", own)


def score_in(name: str) -> str:
    """Name of the score that a column holds; "" for other columns."""
    match = _SCORE.match(name) or _SCORE_LAST.match(name)
    return "" if match is None else match["name"] or name


def _row(line: TableRow, values: Mapping[str, Any], columns: Mapping[str, str]) -> Row:
    row = Row(line.where, repeat=-1)
    if "prompt" in columns:
        prompt = values.get(columns["prompt"])
        prompt = text_of(_parsed(prompt)) or prompt
        if not isinstance(prompt, str) or not prompt.strip():
            raise TableError(f"{line.where}: the prompt is {prompt!r}; give a text")
        row.prompt = prompt
    if "answer" in columns:
        row.answer = _answer(line, values, columns["answer"])
    if "repeat" in columns:
        row.repeat = _repeat(line, values["repeat"])
    row.sample, row.model = (str(values.get(name) or "") for name in ("sample", "model"))
    gone = isinstance(row.answer, Missing) and "answer" in columns
    taken = {columns.get(role) for role in ("prompt", "answer", "repeat")} | {"reason", "detail"}
    for name, value in values.items():
        if score := score_in(name):
            row.scores[score] = None if gone else label_or_number(value)
        elif name not in taken:
            row.fields |= flattened(value, name)
    return row


def _answer(line: TableRow, values: Mapping[str, Any], column: str) -> Answer:
    answer = values.get(column)
    error = values.get("error")
    if answer is None or (error and not str(answer).strip()):
        reason = values.get("reason") or ("error" if error else "null")
        said = values.get("detail") or error or "recorded as null"
        return Missing(str(reason), str(said)[:300])
    if not isinstance(answer, str):
        answer = text_of(answer) or answer
    if not isinstance(answer, str):
        raise TableError(f"{line.where}: the {column} is {answer!r}; give a text, or null")
    if not answer.strip():
        return Missing("empty", "recorded as an empty text")
    return CutAnswer(answer) if values.get("cut") is True else answer


def _repeat(line: TableRow, value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise TableError(f"{line.where}: the repeat is {value!r}; give a whole number") from None
