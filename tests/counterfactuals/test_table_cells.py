"""Cells of tables, beside a slow transcription that cuts the lines anew for every place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.lexicons.english.persons.tables import cell_at


@given(st.text("ab|,\n ", min_size=1, max_size=40), st.sampled_from("|,"), st.data())
def test_a_cell_is_what_the_signs_of_its_line_part(
    text: str, sign: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    cell = cell_at(text, sign, at)
    line = text.rfind("\n", 0, at) + 1
    row = text[line:].split("\n")[0].split(sign)
    column = text.count(sign, line, at)
    assert (cell.column, cell.row.cells) == (column, row)
    assert text[cell.begin : cell.stop] == row[column]


@given(st.lists(st.text("ab| ", max_size=12), min_size=1, max_size=5), st.data())
def test_the_head_is_the_first_line_with_the_sign_above_without_a_break(
    lines: list[str], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(lines) - 1))
    at = len("\n".join(["", *lines[:number]]))
    first = number
    while first and "|" in lines[first - 1]:
        first -= 1
    expected = lines[first].split("|") if first < number else []
    assert cell_at("\n".join(lines), "|", at).row.head == expected
