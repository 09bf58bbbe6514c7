"""An order of units and groups that depends on what they hold, never on rows or names.

Resampling gives the k-th unit the k-th weight, so results stay the same when rows are shuffled or
groups renamed only if "k-th" is a matter of content.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_llmfair.stats._clusters import Floats, Indices

# Elements that are told apart by choice rather than by content, at most; more never occur outside
# made-up data.
_MOST_CHOICES = 50


def canonical_orders(
    axes: Sequence[Indices], sizes: Sequence[int], values: Floats
) -> list[Indices]:
    """Order the elements of every axis of a sparse table by content.

    Elements get colours; in each round an element's colour becomes the sorted list of its entries,
    each entry being its value and the colours of the elements it has on the other axes. Elements
    of one colour are interchangeable; on all axes but the first one of them is then put first and
    the rounds go on. `axes` has for every axis (unit, group, word) the element of each entry.
    """
    ranks = np.unique(values, return_inverse=True)[1].astype(np.int64)
    colours = [np.zeros(size, dtype=np.int64) for size in sizes]
    for _ in range(_MOST_CHOICES):
        _refine(colours, axes, ranks)
        tied = [k for k in range(1, len(axes)) if _count(colours[k]) < sizes[k]]
        if not tied:
            break
        _separate_one(colours[tied[0]])
    return [np.argsort(colour, kind="stable") for colour in colours]


def _count(colour: Indices) -> int:
    return int(colour.max(initial=-1)) + 1


def _refine(colours: list[Indices], axes: Sequence[Indices], ranks: Indices) -> None:
    before = -1
    while (found := sum(map(_count, colours))) != before:
        before = found
        for own in range(len(axes)):
            code = ranks
            for other in range(len(axes)):
                if other != own:
                    code = code * _count(colours[other]) + colours[other][axes[other]]
                    code = np.unique(code, return_inverse=True)[1].astype(np.int64)
            colours[own] = _by_entries(colours[own], axes[own], code)


def _by_entries(colour: Indices, element: Indices, code: Indices) -> Indices:
    order = np.lexsort((code, element))
    sorted_code = code[order].astype(">i8")
    ends = np.cumsum(np.bincount(element, minlength=len(colour)))
    starts = np.concatenate([[0], ends[:-1]])
    keys = [
        (int(old), sorted_code[start:end].tobytes())
        for old, start, end in zip(colour, starts.tolist(), ends.tolist(), strict=True)
    ]
    rank = {key: k for k, key in enumerate(sorted(set(keys)))}
    return np.array([rank[key] for key in keys], dtype=np.int64)


def _separate_one(colour: Indices) -> None:
    """Put one element of the first colour that several share behind the others of that colour."""
    first = int(np.argmax(np.bincount(colour) > 1))
    member = int(np.argmax(colour == first))
    colour[colour > first] += 1
    colour[member] = first + 1
