"""The difference between two texts, in words and punctuation marks."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from pytest_llmfair.lexicons.protected import with_spaces
from pytest_llmfair.responses import Edit

Spans = Iterable[tuple[int, int]]

_PIECE = re.compile(r"\w+|\W")
# With a larger share of differing pieces the texts are probably shifted, so they are aligned.
_FEW = 0.3


def edits_between(
    text: str, twin: str, whole: Spans = (), whole_twin: Spans = ()
) -> tuple[Edit, ...]:
    """Return the edits that turn a text into its twin, in words and punctuation marks."""
    before, after = _pieces(text, whole), _pieces(twin, whole_twin)
    at, at_twin = _starts(before), _starts(after)
    return tuple(
        Edit(at[a], at[b], text[at[a] : at[b]], "".join(after[c:d]), at_twin[c])
        for a, b, c, d in _differing(before, after)
    )


def _pieces(text: str, whole: Spans) -> list[str]:
    blanked = with_spaces(text)  # of the same length
    spans: list[tuple[int, int]] = []
    last = 0
    longest = sorted(whole, key=lambda span: (span[0], -span[1]))
    for start, end in (*longest, (len(text), len(text))):
        if start >= last:
            spans += (piece.span() for piece in _PIECE.finditer(blanked, last, start))
            spans.append((start, end))
            last = end
    return [text[start:end] for start, end in spans if end > start]


def _differing(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield the runs of pieces that differ, by their bounds in both."""
    alike = len(before) == len(after)
    places = [i for i, pieces in enumerate(zip(before, after, strict=False)) if len({*pieces}) > 1]
    if not alike or len(places) > _FEW * len(before):
        matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
        found = [bounds for kind, *bounds in matcher.get_opcodes() if kind != "equal"]
        if not alike or sum(max(b - a, d - c) for a, b, c, d in found) < len(places):
            yield from ((a, b, c, d) for a, b, c, d in found)
            return
    for _, run in itertools.groupby(enumerate(places), lambda each: each[1] - each[0]):
        differing = [place for _, place in run]
        bounds = differing[0], differing[-1] + 1
        yield *bounds, *bounds


def _starts(pieces: Sequence[str]) -> list[int]:
    return [0, *itertools.accumulate(map(len, pieces))]
