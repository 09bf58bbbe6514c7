"""Arguments of metrics as plain JSON, exact to the last bit, without texts; digests of rows."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pytest_llmfair._util.wording import plain
from pytest_llmfair.responses import DigestedText

# Letters, digits and marks; what separates words stays, so that the same words are found again.
_WORD = re.compile(r"[^\W_]+")


class CannotRecord(ValueError):
    """An argument has no plain form, such as a function of the caller."""


def to_plain(value: Any, where: str = "data") -> Any:
    """Return plain JSON data from which :func:`from_plain` makes an equal value.

    Parameters
    ----------
    value : object
        Numbers, texts, arrays, data frames, and lists, tuples, sets and mappings of these.
    where : str
        What error messages call the value.

    Raises
    ------
    CannotRecord
        If the value holds anything else.

    Examples
    --------
    >>> to_plain([(0.25, float("nan")), "nurse"])
    [{'tuple': [0.25, {'float': 'nan'}]}, 'nurse']
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.generic):
        return to_plain(value.item(), where)
    if isinstance(value, np.ndarray):
        return {"array": to_plain(value.tolist(), where), "dtype": value.dtype.str}
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        names = list(value.columns)
        rows = [to_plain(list(value[name]), where) for name in names]
        return {"frame": [to_plain(names, where), rows]}
    if hasattr(value, "to_numpy"):
        return to_plain(list(value), where)
    if isinstance(value, Mapping):
        pairs = [[to_plain(key, where), to_plain(each, where)] for key, each in value.items()]
        return {"map": pairs}
    if isinstance(value, (set, frozenset)):
        return {"set": sorted((to_plain(each, where) for each in value), key=repr)}
    if isinstance(value, list):
        return [to_plain(each, where) for each in value]
    if isinstance(value, Sequence):
        return {"tuple": [to_plain(each, where) for each in value]}
    raise CannotRecord(f"{where} holds a {type(value).__name__}, which has no plain form")


def from_plain(data: Any) -> Any:
    """Return the value that :func:`to_plain` described.

    Examples
    --------
    >>> from_plain({"tuple": [1, {"map": [["a", 2]]}]})
    (1, {'a': 2})
    """
    if isinstance(data, list):
        return [from_plain(each) for each in data]
    if not isinstance(data, dict):
        return data
    (kind, held), *rest = data.items()
    if kind == "array":
        (_, dtype), *_ = rest
        return np.array(from_plain(held), dtype=np.dtype(dtype))
    if kind == "float":
        return float(held)
    if kind == "frame":
        import pandas as pd

        names, columns = map(from_plain, held)
        return pd.DataFrame(dict(zip(names, columns, strict=True)))
    if kind == "map":
        return {from_plain(key): from_plain(each) for key, each in held}
    return {"tuple": tuple, "set": set}[kind](from_plain(each) for each in held)


class Pseudonyms:
    """Replaces every word of a text by a number, the same for the same word.

    Metrics that compare texts only ask which words are equal, so they give the same value;
    the texts cannot be read.

    Examples
    --------
    >>> pseudonyms = Pseudonyms()
    >>> pseudonyms.of("The nurse met the doctor.")
    'WordA wordB wordC wordA wordD.'
    """

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._spellings: dict[str, dict[str, int]] = {}

    def of(self, text: str) -> str:
        """Return the text with every word replaced."""
        return _WORD.sub(lambda found: self._word(found.group()), text)

    def of_data(self, value: Any, *, every: bool = False) -> Any:
        """Return nested data with all texts replaced; with `every` also those of one word."""
        if isinstance(value, str):
            return self.of(value) if every or " " in value.strip() else value
        if isinstance(value, Mapping):
            # Keys are labels, such as the groups of scores by group.
            return {key: self.of_data(x, every=every) for key, x in value.items()}
        if isinstance(value, (list, tuple)):
            made = (self.of_data(each, every=every) for each in value)
            return list(made) if isinstance(value, list) else tuple(made)
        return value

    def _word(self, word: str) -> str:
        folded = word.casefold()
        number = self._words.setdefault(folded, len(self._words))
        spellings = self._spellings.setdefault(folded, {folded: 0})
        spelling = spellings.setdefault(word, len(spellings))
        # Spellings that differ in case only are different texts, and the same word.
        cased = "".join(
            letter.upper() if spelling >> place & 1 else letter
            for place, letter in enumerate("word")
        )
        return cased + _letters(number) + ("" if spelling < 16 else f"x{spelling}")


def _letters(number: int) -> str:
    """Return a number as letters: A to Z, then AA, AB and so on."""
    text = ""
    number += 1
    while number:
        number, place = divmod(number - 1, 26)
        text = chr(ord("A") + place) + text
    return text


# Rows whose JSON is made together.
_AT_ONCE = 1000


def sha256_of(text: str) -> str | None:
    """Return the SHA-256 digest of a text in UTF-8; None for an answer recorded as a digest only.

    Examples
    --------
    >>> sha256_of("hello")[:16]
    '2cf24dba5fb0a30e'
    """
    if isinstance(text, DigestedText):
        return None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digests_of(inputs: Any) -> dict[str, str | None]:
    """Return digests of prompts, answers, and the metric's arguments; None where there are none.

    Examples
    --------
    >>> from pytest_llmfair import assert_metric
    >>> result = assert_metric("toxic_fraction", [[0.1, 0.2]] * 100, bound=0.1)
    >>> [name for name, digest in digests_of(result.evidence).items() if digest]
    ['arguments_sha256']
    """
    rows = {"prompts": getattr(inputs, "prompts", ()), "answers": getattr(inputs, "outputs", ())}
    found = {f"{name}_sha256": _digest(part, _pieces(part)) for name, part in rows.items()}
    args = getattr(inputs, "args", ())
    return {**found, "arguments_sha256": _digest(args, _listed(map(_pieces, args)))}


def _digest(part: Any, pieces: Iterable[str]) -> str | None:
    """Return the digest of JSON in pieces; None for a part without rows."""
    if not len(part):
        return None
    found = hashlib.sha256()
    try:
        for piece in pieces:
            found.update(piece.encode())
    except (TypeError, ValueError):
        # An answer recorded as a digest only, or an object whose text changes with every run.
        return None
    return found.hexdigest()


def _pieces(rows: Any) -> Iterator[str]:
    """Yield the JSON of data; of rows some at a time, since their JSON is larger than they."""
    if not isinstance(rows, (list, tuple)):
        return iter((_json(rows),))
    blocks = (rows[start : start + _AT_ONCE] for start in range(0, len(rows), _AT_ONCE))
    return _listed(iter((_json(block)[1:-1],)) for block in blocks)


def _listed(items: Iterable[Iterable[str]]) -> Iterator[str]:
    """Yield the JSON of a list, from the pieces of its items."""
    yield "["
    for number, pieces in enumerate(items):
        yield ", " if number else ""
        yield from pieces
    yield "]"


def _json(value: Any) -> str:
    return json.dumps(_readable(plain(value)))


def _readable(value: Any) -> Any:
    """Return plain data; raise ``TypeError`` for a text that cannot be read."""
    if isinstance(value, DigestedText):
        raise TypeError
    for item in value if isinstance(value, list) else ():
        _readable(item)
    return value
