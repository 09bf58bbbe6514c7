"""Every rule of the tables of English decides its own example, and not an earlier rule."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, get_args

import pytest

from pytest_llmfair.lexicons import english
from pytest_llmfair.lexicons.english.context import Question, Rule
from pytest_llmfair.lexicons.english.english import English
from pytest_llmfair.lexicons.grammar import Kind, Name

MARK = re.compile("«(.+?)»")


def tables() -> Iterator[tuple[ModuleType, str, Sequence[Any]]]:
    """Yield every table with its module and its name."""
    for found in pkgutil.iter_modules(english.__path__):
        module = importlib.import_module(f"{english.__name__}.{found.name}")
        for name, value in vars(module).items():
            if (
                isinstance(value, tuple)
                and value
                and all(isinstance(r, Rule | Question) for r in value)
            ):
                yield module, name, value


def ask(text: str, start: int, end: int) -> None:
    """Ask the grammar all it can be asked about a place."""
    word = text[start:end].lower()
    for kind in get_args(Kind):
        English().counts(text, start, end, kind)
    if word in ("her", "his"):
        other = "object" if word == "her" else "possessive_pronoun"
        English().role(text, start, end, (other, "possessive_determiner"))
    forms = frozenset((word, "keisha"))
    English().is_this_person(text, start, end, Name(text[start:end], "name", forms, forms))


ROWS = [
    pytest.param(module, name, number, id=f"{name}-{number}")
    for module, name, rows in tables()
    for number in range(len(rows))
]


@pytest.mark.parametrize(("module", "name", "number"), ROWS)
def test_a_rule_decides_its_example(
    module: ModuleType, name: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = getattr(module, name)
    decided: list[tuple[int, Any]] = []

    def recording(place: int, row: Any) -> Any:
        own = row.ask if isinstance(row, Question) else row.answer

        def answer(at: Any) -> Any:
            given = own(at) if callable(own) else own
            decided.append((place, given))
            return given

        return row._replace(**{"ask" if isinstance(row, Question) else "answer": answer})

    monkeypatch.setattr(module, name, tuple(recording(*each) for each in enumerate(rows)))
    example = rows[number].example
    (marked,) = MARK.finditer(example)
    ask(MARK.sub(r"\1", example), marked.start(), marked.end() - 2)

    expected = getattr(rows[number], "answer", None)
    given = [answer for place, answer in decided if place == number]
    if isinstance(rows[number], Question):
        assert given != []
        assert None not in given
    elif callable(expected):
        assert given != []
        assert given[0] not in (False, None, ("", False)), "the example has to show a yes"
    else:
        assert expected in given


def test_there_are_tables() -> None:
    assert len(ROWS) > 25
