"""Answers that hold facts besides their text: what an agent did, next to what it says."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, ClassVar

Facts = Mapping[str, Any]

# How a score that is a fact of answers begins: "facts.refund".
FACTS = "facts."


class Reply(str):
    """An answer with facts besides its text, as a model returns it.

    A reply is a text wherever texts are read. Its facts are recorded in the cassette, and compared
    between groups by their names: ``score="facts.refund"``. Replies are equal if both text and
    facts are.

    Parameters
    ----------
    text : str
        What the model said.
    facts : mapping of str to bool, number, str, sequence of str or mapping
        What it did, by name. A list of texts is asked item by item: ``"facts.tools.refund"`` is
        whether "refund" is among the tools. A text is asked for what it may be:
        ``"facts.outcome.approved"``. A mapping holds facts of its own. A fact that is None counts
        as absent; an absent fact is a missing answer where it is compared, never a 0.

    Attributes
    ----------
    facts : dict
        The facts; sequences are tuples.

    Raises
    ------
    TypeError
        If a fact is anything else; the message names it.
    ValueError
        If a number is NaN or infinite.

    Examples
    --------
    >>> reply = Reply("You get your money back.", facts={"refund": 25.0, "tools": ["refund"]})
    >>> reply, reply.facts
    ('You get your money back.', {'refund': 25.0, 'tools': ('refund',)})
    """

    __slots__ = ("facts",)

    cut: ClassVar[bool] = False
    facts: dict[str, Any]

    def __new__(cls, text: str, facts: Facts | None = None) -> Reply:
        """Create the answer; its facts are checked and copied."""
        made = super().__new__(cls, text)
        made.facts = checked_facts(facts or {})
        return made

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, other) is True and self.facts == facts_of(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    # A text without facts is equal to a plain text, so it has the same hash.
    __hash__ = str.__hash__


class CutAnswer(Reply):
    """An answer that ended at the caller's token limit: scored like any text, and counted."""

    __slots__ = ()

    cut: ClassVar[bool] = True


def is_cut(answer: object) -> bool:
    """Return whether an answer ended at the caller's token limit."""
    return bool(getattr(answer, "cut", False))


def text_answer(text: str, facts: Facts, *, cut: bool = False) -> str:
    """Return an answer with a text, as simple as it can be."""
    if cut:
        return CutAnswer(text, facts)
    return Reply(text, facts) if facts else text


def facts_of(answer: object) -> dict[str, Any]:
    """Return the facts of an answer; of a plain text none."""
    found: dict[str, Any] = getattr(answer, "facts", {})
    return found


def checked_facts(facts: Facts, where: str = "") -> dict[str, Any]:
    """Return facts as plain data, without those that are None; raise for what is no fact."""
    if not isinstance(facts, Mapping):
        raise TypeError(f"facts are {facts!r}, a {type(facts).__name__}; give a mapping")
    found = {}
    for key, value in facts.items():
        name = f"{where}{key}"
        if not isinstance(key, str) or not key or "." in key:
            raise TypeError(f"fact {name!r} has no usable name; give a text without dots")
        if (fact := _checked(name, value)) is not None:
            found[key] = fact
    return found


def _checked(name: str, value: Any) -> Any:
    if hasattr(value, "item") and not getattr(value, "shape", ()):  # a number of numpy
        value = value.item()
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ValueError(f"fact {name!r} is {value}; leave a fact out where it has no value")
        return float(value)
    if isinstance(value, Mapping):
        return checked_facts(value, f"{name}.")
    if isinstance(value, (set, frozenset)):
        value = sorted(value, key=str)
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise TypeError(
        f"fact {name!r} is {str(value)[:40]}, a {type(value).__name__}; give a number, True or "
        "False, a text, a list of texts, or a mapping of these"
    )


def changed_texts(facts: Facts, change: Callable[[str], str]) -> dict[str, Any]:
    """Return facts with every text in them changed; names stay."""

    def changed(value: Any) -> Any:
        if isinstance(value, Mapping):
            return changed_texts(value, change)
        if isinstance(value, tuple):
            return tuple(map(change, value))
        return change(value) if isinstance(value, str) else value

    return {name: changed(value) for name, value in facts.items()}


def text_digest(text: str) -> str:
    """Return the digest of a text, 32 hexadecimal digits."""
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()
