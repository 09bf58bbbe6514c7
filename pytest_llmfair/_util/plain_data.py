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
# Rows whose JSON is made together.
_AT_ONCE = 1000


class CannotRecord(ValueError):
    """An argument has no plain form, such as a function of the caller."""


def to_plain(value: Any) -> Any:
    """Return JSON data from which :func:`from_plain` makes an equal value, else `CannotRecord`."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, np.ndarray):
        return {"array": to_plain(value.tolist()), "dtype": value.dtype.str}
    if hasattr(value, "columns") and hasattr(value, "to_numpy"):
        names = list(value.columns)
        rows = [to_plain(list(value[name])) for name in names]
        return {"frame": [to_plain(names), rows]}
    if hasattr(value, "to_numpy"):
        return to_plain(list(value))
    if isinstance(value, Mapping):
        pairs = [[to_plain(key), to_plain(each)] for key, each in value.items()]
        return {"map": pairs}
    if isinstance(value, (set, frozenset)):
        return {"set": sorted((to_plain(each) for each in value), key=repr)}
    if isinstance(value, list):
        return [to_plain(each) for each in value]
    if isinstance(value, Sequence):
        return {"tuple": [to_plain(each) for each in value]}
    raise CannotRecord(f"data holds a {type(value).__name__}, which has no plain form")


def from_plain(data: Any) -> Any:
    """Return the value that :func:`to_plain` described."""
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
    """Replaces every word of a text by a number in letters: as many texts are equal as before."""

    def __init__(self) -> None:
        self._words: dict[str, int] = {}
        self._spellings: dict[str, dict[str, int]] = {}

    def of_data(self, value: Any, *, every: bool = False) -> Any:
        """Return nested data with all texts replaced; with `every` also those of one word."""
        if isinstance(value, str):
            return _WORD.sub(self._word, value) if every or " " in value.strip() else value
        if isinstance(value, Mapping):
            # Keys are labels, such as the groups of scores by group.
            return {key: self.of_data(x, every=every) for key, x in value.items()}
        if isinstance(value, (list, tuple)):
            made = (self.of_data(each, every=every) for each in value)
            return list(made) if isinstance(value, list) else tuple(made)
        return value

    def _word(self, found: re.Match[str]) -> str:
        word = found.group()
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


def sha256_of(text: str) -> str | None:
    """Return the SHA-256 digest of a text; None for an answer recorded as a digest only."""
    if isinstance(text, DigestedText):
        return None
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digests_of(inputs: Any) -> dict[str, str | None]:
    """Return digests of prompts, answers and the metric's arguments; None where there are none."""
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
