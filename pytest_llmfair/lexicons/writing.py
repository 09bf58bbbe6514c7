"""Writing into a text: placeholders, terms in the place of others, and the edits."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pytest_llmfair.lexicons.english.agreement import (
    article_before,
    fitting_article,
    missing_article,
    possessive_after,
    possessive_for,
    worship_preposition,
)
from pytest_llmfair.lexicons.english.titles import keeps_title_case
from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.protected import with_spaces
from pytest_llmfair.lexicons.reading import Change, Reading, edits_before
from pytest_llmfair.lexicons.spelling import begins_sentence, in_form, in_place
from pytest_llmfair.lexicons.terms import WRITTEN, Entry, Sense
from pytest_llmfair.responses import Edit
from pytest_llmfair.text import MASK, replaced

_SMALL = re.compile(r"(?<![\w'\u2019-])[a-z]{3,}(?![\w'\u2019-])")
_FAR = 40


def masked(
    text: str,
    found: Reading,
    person_after: Callable[[str, int, Sense], re.Match[str] | None],
    *,
    english: bool,
) -> str:
    """Return the text with placeholders; `person_after` finds "people" after an adjective."""
    changes: list[tuple[int, int, str]] = []
    last = 0
    named = {start for start, _, sense in found if sense.entry is not None}
    for start, end, sense in found:
        if start < last:
            continue
        changes += edits_before(text, start, sense)
        tail = person_after(text, end, sense)
        if tail is not None and tail.start(1) not in named:
            end = tail.end()
        article = article_before(text, start)
        if article is not None and sense.entry is not None and len(article[1]) == 2:
            changes.append((article.start(1) + 1, article.end(1), ""))
        standing = possessive_after(text, end, masked=True) if english else ""
        mask = f"{MASK}{standing[0]}s" if standing else MASK
        if sense.role == "place":  # "goes to church", "goes to the mosque"
            mask = missing_article(text, start, end) + mask
        last = end + len(standing)
        changes.append((start, last, mask))
    return replaced(text, changes)


def changes_to(
    text: str,
    found: tuple[int, int, Sense],
    after: str,
    group: str,
    *,
    english: bool,
    plurals: bool,
) -> list[Change]:
    """Return the changes that write `after` for words found, with article and possessive."""
    start, end, sense = found
    changes = [Change(*edit, sense.group) for edit in edits_before(text, start, sense)]
    if english:
        article = article_before(text, start)
        if article is not None and (
            fitting := fitting_article(article[1], text[start:end], after)
        ):
            changes.append(Change(*article.span(1), fitting, sense.group))
        if sense.role == "place" and (bare := worship_preposition(text, start, end, after)):
            changes.append(Change(*bare, sense.group))
        if standing := possessive_after(text, end):
            fitting = possessive_for(after, standing, plurals=plurals)
            if fitting != standing:
                end, after = end + len(standing), after + fitting
    if not (sense.negated and after == text[start:end]):  # "without autism", "with autism"
        changes.append(Change(start, end, after, sense.group, sense, group))
    return changes


def written_like(
    text: str, found: tuple[int, int, Sense], term: str, *, exact: bool, language: str
) -> str:
    """Return a term with the case and spaces of the words found; `exact` keeps its own case."""
    start, end, sense = found
    shown, listed = text[start:end], sense.listed
    if shown in listed and not shown[0].isupper():
        return in_form(text, shown, term)  # the usual case, and fast
    exact = exact and not (language == "en" and keeps_title_case(text, start, end))
    exact = exact or " ".join(shown.split()) in listed
    exact = exact or has_own_capital(text, start, end, sense)
    return in_place(text, start, end, term, exact, language)


def has_own_capital(text: str, start: int, end: int, sense: Sense) -> bool:
    """Whether a condition has a capital of its own: "with Autism", "has Type 1 diabetes"."""
    if not (sense.is_condition and text[start].isupper()) or text[end - 1].isupper():
        return False
    around = text[max(0, start - _FAR) : start], text[end : end + _FAR]
    return any(not is_one_of(word, "closed") for part in around for word in _SMALL.findall(part))


def partly_capitalised(entries: Iterable[Entry]) -> frozenset[int]:
    """Return the ids of entries with a capital for some groups only: "Black", "white"."""
    return frozenset(
        id(entry)
        for entry in entries
        if len({term[0].isupper() for group in entry.terms if (term := entry.written(group))}) > 1
    )


def terms_used(
    text: str, found: Iterable[tuple[int, int, Sense]], capitalised: frozenset[int]
) -> dict[tuple[int, str], str]:
    """Return the terms that a text uses: id of an entry and group to the first term."""
    used = {}
    for start, end, sense in found:
        entry = sense.entry
        key = id(entry), sense.group
        if entry is None or sense.negated or key in used:
            continue
        if entry.register(sense.term) not in WRITTEN:
            continue
        if key[0] in capitalised:
            spelled = text[start:end]
            clear = spelled[0].islower() or not begins_sentence(text, start)
            own = clear and not spelled.isupper() and spelled.casefold() == sense.term.casefold()
            used[key] = spelled if own else sense.term
        elif len(entry.terms[sense.group]) > 1:
            used[key] = sense.term
    return used


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
