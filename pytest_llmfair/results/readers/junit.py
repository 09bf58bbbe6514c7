"""Reports of test runners: JUnit XML, and JSON of pytest-json-report."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree import ElementTree

from pytest_llmfair.responses import Missing
from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.table import TRUTHS, label_or_number, number_repeats

_PARAMETERS = re.compile(r"\A(?P<test>[^\[]+)\[(?P<values>.*)\]\Z", re.DOTALL)


def _knows(file: File) -> bool:
    if file.suffix == ".xml":
        return "<testsuite" in file.head
    return file.suffix == ".json" and '"exitcode"' in file.head and '"nodeid"' in file.head


@reader("junit", ".xml of JUnit, or .json of pytest-json-report", knows=_knows)
def read(file: File) -> Results:
    """Read every test; whether it passed is a score, and so are properties that are numbers."""
    if file.suffix == ".json":
        about, found = file.document("tests", lambda test, _: _of_json(test))
        planned = (about.get("summary") or {}).get("total")
        tool = "pytest-json-report"
    else:
        try:
            root = ElementTree.parse(file.path).getroot()
        except ElementTree.ParseError as error:
            raise ResultsError(f"{file.path} is not valid XML ({error})") from None
        found = [_of_xml(case) for case in root.iter("testcase")]
        planned, tool = None, "junit"
    number_repeats(found)
    return Results(tool, found, planned=planned)


def _of_json(test: dict[str, Any]) -> Row:
    given = [*flattened(test.get("metadata") or {})]
    for each in test.get("user_properties") or ():
        given += flattened(dict([each]) if isinstance(each, list) else each)
    return _row(str(test.get("nodeid", "")), str(test.get("outcome", "")), given)


def _of_xml(case: ElementTree.Element) -> Row:
    tags = {child.tag for child in case}
    outcome = next((tag for tag in ("error", "skipped", "failure") if tag in tags), "passed")
    given = [(each.get("name", ""), each.get("value", "")) for each in case.iter("property")]
    name = f"{case.get('classname', '')}::{case.get('name', '')}"
    return _row(name, "failed" if outcome == "failure" else outcome, given)


def _row(name: str, outcome: str, properties: Iterable[tuple[str, str]]) -> Row:
    row = Row(f"test {name}", answer=outcome, fields=dict(_parameters(name)))
    passed = {"passed": 1.0, "failed": 0.0}.get(outcome)
    row.scores["pass"] = passed
    for key, value in properties:
        number = label_or_number(value)
        if key in ("answer", "output", "response"):
            row.answer = value
        elif key in ("prompt", "input", "question"):
            row.prompt = value
        elif isinstance(number, float) and value.lower() not in TRUTHS:
            row.scores[key] = number
        else:
            row.fields[key] = value
    if passed is None:
        row.answer, row.scores = Missing(outcome), dict.fromkeys(row.scores)
    return row


def _parameters(name: str) -> Iterator[tuple[str, str]]:
    """Yield the test, and the parts of its parameters as pytest writes them."""
    match = _PARAMETERS.match(name)
    yield "test", match["test"] if match else name
    for place, value in enumerate(match["values"].split("-") if match else ()):
        yield f"parameter.{place}", value
