"""Checks that different words do not become the same beside each other."""

from __future__ import annotations

import bisect
import functools
import itertools
import re

from pytest_llmfair.counterfactuals._language.english import is_one_of
from pytest_llmfair.counterfactuals._lexicons.terms import Sense
from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals.lexicon import PRONOUNS

# What joins the items of a list, with their shares: "Catholics, 13.5% Lutherans and 6% Baptists".
_LISTED = re.compile(r"[,;/]?\s?(?:(?:and|or|nor|&|vs\.?|versus)\s)?(?:the\s)?(?:[\d.,]+\s?%\s)?")
_NEAR = 30
_COMPARED = re.compile(
    r"(?:, not|(?<![\w-])(?:than|versus|vs|whereas|while|unlike|over|instead of|as opposed to"
    r"|compared (?:to|with)|(?:am|is|are|was|were) not"
    r"|out(?:(?:number|perform|earn|rank)(?:s|ed|ing)?|(?:scor|liv|pac|vot)(?:e[sd]?|ing))"
    r"))(?![\w-])",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?]\s")
_FAR = 90
_NOUN = re.compile(r"\s[\w-]+")
_BETWEEN = re.compile(r" (?:[a-z]+ ){1,2}")


def told_apart(case: Case) -> str | None:
    """Check that a list of several kinds keeps them apart: no "62% Buddhist, 13.5% Buddhist".

    Nor "with asthma and no disability", "Do white pupils read more than white pupils?".
    """
    # What cannot be is not looked for, at less cost.
    if case.pair.to_group in case.lexicon.unmarked and (said := _denied(case)):
        return said
    if len(case.twin) > len(case.named) and (said := _compared(case)):
        return said
    if len(case.named) > 1 and (said := _compared_alike(case)):
        return said
    if len(case.named) < 2:
        return None
    text = case.pair.counterfactual
    for (_, sense, edit), (_, other, following) in itertools.pairwise(case.named):
        begin, end = edit.counterfactual_start + len(edit.after), following.counterfactual_start
        first, second = edit.after.casefold(), following.after.casefold()
        if end - begin > _NEAR or not first or not second.startswith(first.split(" ", 1)[0]):
            continue  # the usual case at less cost
        gap = text[begin:end]
        if first.removesuffix("s") == second.removesuffix("s"):
            kinds = _kinds(case.lexicon.synonyms)
            one, two = kinds.get(sense.term, -1), kinds.get(other.term, -1)
            alike = sense.term.removesuffix("s") == other.term.removesuffix("s")
            kinds_differ = min(one, two) >= 0 and one != two
            listed = _LISTED.fullmatch(gap) is not None
            if not alike and not listed and _is_set_against(text, gap, end + len(second)):
                return f"two persons become the same: {edit.after!r} and {following.after!r}"
            if (kinds_differ or _is_had(sense)) and not alike and listed:
                return f"different words become the same: {edit.after!r} and {following.after!r}"
        elif second.startswith(f"{first} ") and _describes(gap):
            return f"a word stands twice: {edit.after}{gap}{following.after}"
    return None


def _denied(case: Case) -> str | None:
    """Whether a condition is denied beside another that is left."""
    text = case.pair.counterfactual
    starts: list[int] = []
    for change, sense, edit in case.named:
        if edit.after[:3] not in ("no ", "No ", "NO ") or not _is_had(sense):
            continue  # the usual case
        start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
        starts = starts or sorted(case.twin)
        place = bisect.bisect_left(starts, start)
        after = bisect.bisect_left(starts, end)
        for at in (*starts[max(0, place - 1) : place], *starts[after : after + 1]):
            stop, other = case.twin[at]
            gap = text[stop:start] if stop <= start else text[end:at]
            if other.group not in ("", change.becomes) and _LISTED.fullmatch(gap[: _NEAR + 1]):
                return f"a condition is denied beside another: {edit.after!r}"
    return None


def _compared(case: Case) -> str | None:
    """Whether a group becomes the one that it is compared with, which stays as it is."""
    text, target = case.pair.counterfactual, case.pair.to_group
    if [sense.group for _, sense in case.twin.values()].count(target) <= len(case.named):
        return None  # the usual case
    edited = {
        edit.counterfactual_start: edit.after.casefold()
        for _, sense, edit in case.named
        if sense.role not in PRONOUNS
    }
    starts = sorted(edited)
    far = _FAR + max(map(len, edited.values()), default=0)
    for at, (stop, _) in case.twin.items():
        if at in edited:
            continue
        word = text[at:stop].casefold()
        near = bisect.bisect_left(starts, at - far), bisect.bisect_right(starts, stop + _FAR)
        for start in starts[slice(*near)]:
            after = edited[start]
            gap = text[start + len(after) : at] if start < at else text[stop:start]
            same = word.removesuffix("s") == after.removesuffix("s")
            if same and len(gap) <= _FAR and _COMPARED.search(gap) and not _STOP.search(gap):
                return f"what is compared becomes the same: {word!r}"
    return None


def _compared_alike(case: Case) -> str | None:
    """Whether two that were compared become the same: "white women earn less than white men"."""
    text = case.pair.counterfactual
    if _COMPARED.search(text) is None:
        return None  # the usual case
    before = {edit.counterfactual_start: edit.before for *_, edit in case.named}
    phrases: list[tuple[int, int, str]] = []  # from, to, and what stood there
    for start, (end, sense) in sorted(case.twin.items()):
        if sense.role in PRONOUNS:
            continue
        was = before.get(start, text[start:end]).casefold()
        if phrases and phrases[-1][1] == start - 1 and text[start - 1] == " ":
            begin, _, front = phrases.pop()
            start, was = begin, f"{front} {was}"
        phrases.append((start, end, was))
    for (start, stop, one), (begin, end, other) in itertools.pairwise(phrases):
        same = text[start:stop].casefold() == text[begin:end].casefold()
        if not same or one == other or begin - stop > _FAR:
            continue
        nouns = [match and match[0] for match in (_NOUN.match(text, at) for at in (stop, end))]
        if " " not in text[start:stop] and nouns[0] != nouns[1]:
            continue  # "white nurses earn less than white doctors"
        if _COMPARED.search(text, stop, begin) and not _STOP.search(text, stop, begin):
            return f"what is compared becomes the same: {text[begin:end].casefold()!r}"
    return None


def _is_set_against(text: str, gap: str, end: int) -> bool:
    """Whether the same noun follows both: "my Catholic friend and my Christian friend"."""
    noun = gap.split(" ", 2)[1] if gap.startswith(" ") else ""
    joined = len(noun) > 2 and not {"and", "or", "but"}.isdisjoint(gap.split())
    return joined and re.match(rf" {re.escape(noun)}\b", text[end : end + _NEAR]) is not None


def _is_had(sense: Sense) -> bool:
    """Whether it is a condition that somebody has: "depression or anxiety"."""
    return sense.entry is not None and sense.entry.context in ("had", "owned", "condition")


def _describes(gap: str) -> bool:
    """Whether words of the same noun phrase stand between: "Buddhist state Buddhist temples"."""
    words = gap.split() if _BETWEEN.fullmatch(gap) else ()
    return bool(words) and not any(is_one_of(word, "closed") for word in words)


@functools.lru_cache(maxsize=16)
def _kinds(synonyms: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    return {term: row for row, terms in enumerate(synonyms) for term in terms}
