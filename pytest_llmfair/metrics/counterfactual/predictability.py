"""Predictability: whether the answers alone tell which group a prompt was about."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from pytest_llmfair.lexicons.english.words import words_of
from pytest_llmfair.lexicons.name_lists import listed_names, name_groups, split_cell
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import Floats, Mask, TextRows, labels, note_canned
from pytest_llmfair.metrics.counterfactual._pairs import sample_of_pairs
from pytest_llmfair.metrics.counterfactual._texts import masked_pairs
from pytest_llmfair.stats import Estimate, Finding, PairedAUC, Undefined
from pytest_llmfair.text import MASK, mask_words
from pytest_llmfair.text.vocabulary import VOCABULARY

__all__ = ["group_predictability"]

# Attributes that a given name tells too.
NAMED = frozenset({"gender", "race", "nationality"})
# Columns of words: as many as a reader of few pairs can take, and one of many in a short time.
_MOST_CELLS, _FEWEST_COLUMNS, _MOST_COLUMNS = 2**20, 1024, 8192
# Tables of more numbers are kept in half the space.
_LARGE = 2**23
_CAPITALISED = re.compile(r"\b[A-Z]\w+")


@metric(
    family="counterfactual",
    paper="lopezpaz2017",
    symbol="AUC",
    direction="lower",
    bounds=(0.5, 1.0),
    fair_value=0.5,
    unit="pair",
    needs="text_pairs",
    generations=2,
    example=_examples.drawn_answers,
)
def group_predictability(
    texts_a: TextRows,
    texts_b: TextRows,
    *,
    mask: Mask = None,
    mask_names: bool | None = None,
    ignore: str | Sequence[str] | None = None,
    features: Sequence[Any] | None = None,
    units: Sequence[Hashable] | None = None,
) -> Estimate:
    """How often a reader guesses which of two answers was for which group; 0.5 is chance.

    A classifier two-sample test (Lopez-Paz and Oquab 2017, section 3; Kim, Ramdas, Singh and
    Wasserman 2021) on pairs. The reader is a ridge regression on words, word pairs and length. It
    learns from nine tenths of the units and reads the rest. The value is the share of the
    combinations of two answers to a pair that it orders rightly, ties one half, as a mean over
    pairs: given one answer to each prompt, whatever the number of answers. Nobody can guess right
    in a share v of cases if fewer than 1 - sqrt(2 (1 - v)) of the answers change with the group.

    Parameters
    ----------
    texts_a, texts_b : list of str, or list of list of str
        Row i of both is one pair: one answer a side, or several.
    mask : lexicon, str, two of these, or list of str, optional
        Words that tell the group by themselves: replaced by a placeholder in all answers.
    mask_names : bool, optional
        Whether given names are masked too. By default where `mask` is the lexicon of gender, race
        or nationality.
    ignore : list of str, or str, optional
        Further words to mask, or a regular expression of what to mask.
    features : sequence of (list, list), optional
        Further features: each a row per pair for either side, with one number or one vector per
        answer. Assertions make them from ``scorer=``: names of scorers, or an embedder.
    units : sequence, optional
        One label per pair; pairs with equal labels are one sampling unit. Default: each pair.

    Returns
    -------
    Estimate
        Value in [0.5, 1]; 0.5 when the answers are the same. Undefined for a single unit.

    Raises
    ------
    ValueError
        If the sides differ in length, are empty, or hold anything but text (names the row), or
        `ignore` is no regular expression.

    Examples
    --------
    >>> from pytest_llmfair.metrics import group_predictability
    >>> harsh = [f"No, not {day}." for day in ("today", "now", "ever")] * 10
    >>> kind = [f"Yes, gladly {day}." for day in ("today", "now", "soon")] * 10
    >>> group_predictability(harsh, kind).value
    1.0
    """
    rows, given, lacks = texts_to_read(texts_a, texts_b, mask, mask_names, ignore)
    sample = sample_of_pairs(*rows, units=units, population="sampled", argument="texts")
    if sample.units < 2:
        why = "all pairs are one unit: a reader that has learned from it has nothing left to read"
        return Undefined(undefined=why, sample=sample)
    texts = {text: i for i, text in enumerate(dict.fromkeys(_flat(rows)))}
    first, second = (_places(side, texts) for side in rows)
    further = [_of_texts(each, rows, texts) for each in features or ()]
    answers = np.bincount(np.concatenate([side[side >= 0] for side in (first, second)]))
    blocks, words = _features(list(texts), answers, len(first), further)
    own = None if units is None else labels(units, "units", len(first))
    found = PairedAUC.of_answers(blocks, first, second, units=own, names=words)
    return note_canned(found, given).with_findings(*map(Finding.uncovered, lacks))


def texts_to_read(
    texts_a: Any, texts_b: Any, mask: Mask, names: bool | None, ignore: Any
) -> tuple[list[list[list[str]]], list[str], tuple[str, ...]]:
    """Return both sides as a reader gets them, the answers as given, and what a lexicon lacks."""
    rows_a, rows_b, given, lacks = masked_pairs(texts_a, texts_b, mask)
    if names is None:
        names = not NAMED.isdisjoint(str(getattr(mask, "name", mask)).split(" x "))
    hide = hider(names, ignore)
    rows = [[[hide(text) for text in row] for row in side] for side in (rows_a, rows_b)]
    return rows, list(given), lacks


def _flat(rows: list[list[list[str]]]) -> itertools.chain[str]:
    return itertools.chain.from_iterable(itertools.chain.from_iterable(rows))


def _places(rows: list[list[str]], texts: dict[str, int]) -> Any:
    """Return the number of each text, one row per pair, filled up with -1."""
    found = np.full((len(rows), max(map(len, rows))), -1)
    for i, row in enumerate(rows):
        found[i, : len(row)] = [texts[text] for text in row]
    return found


def _of_texts(feature: Any, rows: list[list[list[str]]], texts: dict[str, int]) -> Floats:
    """Return a feature of each text, from its first answer."""
    found: dict[str, Any] = {}
    for name, own, side in zip("ab", feature, rows, strict=True):
        for i, (values, row) in enumerate(zip(own, side, strict=True)):
            given = [values] if np.ndim(values) == 0 else list(values)
            if len(given) != len(row):
                raise ValueError(
                    f"features row {i} has {len(given)} values, and texts_{name} has {len(row)} "
                    "texts there; give one for each"
                )
            for text, value in zip(row, given, strict=True):
                found.setdefault(text, value)
    table = np.array([found[text] for text in texts], dtype=np.float64)
    if not np.isfinite(table).all():
        raise ValueError("features hold a NaN or an infinite number; give finite numbers")
    return table


def hider(names: Any, ignore: str | Sequence[str] | None) -> Callable[[str], str]:
    """Return the function that masks given names, if asked for, and what is to be ignored."""
    pattern: re.Pattern[str] | None = None
    if isinstance(ignore, str):
        try:
            pattern = re.compile(ignore)
        except re.error as error:
            raise ValueError(
                f"ignore is {ignore!r}, no regular expression ({error}); give a list of words, or "
                "a regular expression"
            ) from None
        if pattern.search("") is not None:
            raise ValueError(f"ignore is {ignore!r}, which matches an empty text; give words")
    words = [] if ignore is None or pattern else list(ignore)
    known = _given_names() if names else frozenset()

    def hide(text: str) -> str:
        if known:
            text = _CAPITALISED.sub(
                lambda found: MASK if found[0].lower() in known else found[0], text
            )
        if pattern is not None:
            return pattern.sub(MASK, text)
        return mask_words(text, words) if words else text

    return hide


def _given_names() -> frozenset[str]:
    groups = (listed_names(*split_cell(group)) for group in name_groups())
    return words_of("first_names").union(map(str.lower, itertools.chain(*groups)))


def _features(
    texts: list[str], answers: Any, pairs: int, further: list[Floats]
) -> tuple[list[Floats], list[str]]:
    """Return blocks of features of distinct texts, and the names of the columns of words."""
    ids = VOCABULARY.ids_of(texts)
    lengths = np.array([ids[text].size for text in texts])
    words, columns = _words([ids[text] for text in texts], lengths, answers, pairs)
    numbers = [np.log1p(lengths)]
    blocks: list[Floats] = []
    for table in further:
        (numbers if table.ndim == 1 else blocks).append(table)
    return [words, np.column_stack(numbers), *blocks], columns


def _words(ids: list[Any], lengths: Any, answers: Any, pairs: int) -> tuple[Floats, list[str]]:
    """Return presence of the words and word pairs that most answers hold, two at least."""
    flat = np.concatenate([*ids, np.empty(0, np.int32)]).astype(np.int64)
    text_of = np.repeat(np.arange(len(ids)), lengths)
    known, number = _numbered(flat)
    inside = np.flatnonzero(text_of[:-1] == text_of[1:])
    size = len(known) + 1
    listed, column = _numbered(
        np.concatenate([number * size, number[inside] * size + number[inside + 1] + 1])
    )
    held = np.sort(np.concatenate([text_of, text_of[inside]]) * (len(listed) + 1) + column)
    held = held[np.flatnonzero(np.diff(held, prepend=-1))]
    place, column = np.divmod(held, len(listed) + 1)
    counts = np.bincount(column, answers[place], len(listed))
    most = min(max(_MOST_CELLS // pairs, _FEWEST_COLUMNS), _MOST_COLUMNS)
    chosen = np.argsort(-counts, kind="stable")[:most]
    chosen = chosen[counts[chosen] > 1]
    order = np.full(len(listed), -1)
    order[chosen] = np.arange(len(chosen))
    kept = order[column] >= 0
    large = len(ids) * len(chosen) > _LARGE
    table = np.zeros((len(ids), len(chosen)), np.float32 if large else np.float64)
    table[place[kept], order[column[kept]]] = 1.0
    names = []
    for key in listed[chosen].tolist():
        one, other = divmod(key, size)
        both = [one, other - 1] if other else [one]
        names.append(" ".join(VOCABULARY.words[known[each]] for each in both))
    return table, names


def _numbered(keys: Any) -> tuple[Any, Any]:
    """Return the distinct entries, and the number of each entry, both by first appearance."""
    # The order of columns must not depend on the words: records hold pseudonyms.
    listed, start, number = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(start)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return listed[order], rank[number]
