"""Ordered tables of rules: the first that applies decides, and each shows an example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, NamedTuple, TypeVar

P = TypeVar("P")
A = TypeVar("A")


class Rule(NamedTuple, Generic[P, A]):
    """A row of a table; of its example, it decides the term in «marks»."""

    applies: Callable[[P], object]
    answer: Callable[[P], A] | A
    example: str


class Question(NamedTuple, Generic[P, A]):
    """A row of a table of questions: each answers, or leaves it to the next with None."""

    ask: Callable[[P], A | None]
    example: str


def first_answer(questions: Sequence[Question[P, A]], place: P) -> A | None:
    """Return the first answer to one of the questions; None for none."""
    return next((found for ask, _ in questions if (found := ask(place)) is not None), None)


def decide(rules: Sequence[Rule[P, A]], place: P, default: A) -> A:
    """Return the answer of the first rule that applies."""
    for applies, answer, _ in rules:
        if applies(place):
            return answer(place) if callable(answer) else answer
    return default
