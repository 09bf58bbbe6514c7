"""Checks that different words do not become the same beside each other."""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections import Counter

from pytest_llmfair.counterfactuals._lexicons.intersections import Intersection
from pytest_llmfair.counterfactuals._lexicons.lacking import may_lack
from pytest_llmfair.counterfactuals._lexicons.terms import COLLECTIVE, Sense
from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals._pairing.pair import Edit
from pytest_llmfair.counterfactuals.lexicon import PRONOUNS
from pytest_llmfair.lexicons.english.english import is_number, is_one_of
from pytest_llmfair.lexicons.english.escapes import with_blanks

# What joins the items of a list, with their shares: "Catholics, 13.5% Lutherans and 6% Baptists".
_LISTED = re.compile(
    r"[,;/\u2013-]?\s?(?:(?:and|or|nor|&|vs\.?|versus)\s)?(?:the\s)?(?:[\d.,]+\s?%\s)?"
)
_NEAR = 30
_COMPARED = re.compile(
    r"(?<![\w-])(?:than|versus|vs|whereas|while|unlike|over|other|instead|compared|as opposed to"
    r"|but also|(?:am|is|are|was|were) not"
    r"|out(?:(?:number|perform|earn|rank)(?:s|ed|ing)?|(?:scor|liv|pac|vot)(?:e[sd]?|ing))"
    r")(?![\w-])|,\s(?:like|not)\s",
    re.IGNORECASE,
)
_STOP = re.compile(r"[.!?]\s")
_LINKS = ("-", "\u2013", "/")  # "Hindu-Muslim unity"
_TURNED = frozenset({"to", "into", "from", "with", "against", "for"})  # "from Islam to Islam"
_ITEM = 3
# "(a) younger people (b) older people", "B. Judaism"
_OPTION = re.compile(r"[A-Ha-h1-8][.)]\s")
_FIRST = ("a) ", "A) ", "1) ", "A. ", "1. ", "a. ", "A.\n", "A)\n")
# Who is younger of the two is not told apart by being young.
_COMPARATIVE = re.compile(r"\b(young|old)er\b")
_FAR = 90
_NOUN = re.compile(r"\s[\w-]+")
_SHARE = re.compile(r"\b[\d.]+\s?(?:%|percent\b|per\scent\b)")
_BETWEEN = re.compile(r" (?:[a-z]+ ){1,2}")


def told_apart(case: Case) -> str | None:
    """Check that a list of several kinds keeps them apart: no "62% Buddhist, 13.5% Buddhist".

    Nor "with asthma and no disability", "Do white pupils read more than white pupils?".
    """
    # What cannot be is not looked for, at less cost.
    if case.pair.to_group in case.lexicon.unmarked and (said := _denied(case)):
        return said
    if may_lack(case.pair.original, case.lexicon.unmarked) and (said := _had_by_all(case)):
        return said
    if case.pair.attribute == "nationality" and (said := _gone_to(case)):
        return said
    if len(case.twin) > len(case.named) and (said := _compared(case)):
        return said
    if len(case.twin) > 1 and (said := _chosen(case)):
        return said
    if isinstance(case.lexicon, Intersection) and (said := _compared_alike(case)):
        return said
    if len(case.named) < 2:
        return None
    text = case.pair.counterfactual
    for (_, sense, edit), (_, other, following) in itertools.pairwise(case.named):
        begin, end = edit.counterfactual_start + len(edit.after), following.counterfactual_start
        first, second = edit.after.casefold(), following.after.casefold()
        if end - begin > _FAR or not first or not second.startswith(first.split(" ", 1)[0]):
            continue  # the usual case at less cost
        gap = text[begin:end]
        if end - begin > _NEAR and not _COMPARED.search(gap):
            continue
        if first.removesuffix("s") == second.removesuffix("s"):
            kinds = _kinds(case.lexicon.synonyms)
            one, two = kinds.get(sense.term, -1), kinds.get(other.term, -1)
            alike = sense.term.removesuffix("s") == other.term.removesuffix("s")
            described = sense.role == other.role == "adjective"
            if alike or (one == two >= 0 and not described):
                continue
            listed = _LISTED.fullmatch(gap) is not None
            if not listed and _is_set_against(text, gap, end + len(second)):
                return f"two persons become the same: {edit.after!r} and {following.after!r}"
            known = min(one, two) >= 0
            told = (known or end - begin <= _NEAR) and sense.role not in PRONOUNS
            if ((known or sense.is_condition) and listed) or (
                told and _set_apart(text, begin, end, end + len(second), described=described)
            ):
                return f"different words become the same: {edit.after!r} and {following.after!r}"
        elif second.startswith(f"{first} ") and _describes(gap):
            return f"a word stands twice: {edit.after}{gap}{following.after}"
    return None


def _denied(case: Case) -> str | None:
    """Whether a condition is denied beside another that is left."""
    text = case.pair.counterfactual
    starts: list[int] = []
    for change, sense, edit in case.named:
        if edit.after[:3] not in ("no ", "No ", "NO ") or not sense.is_condition:
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


def _gone_to(case: Case) -> str | None:
    """Whether somebody goes where she is: "from Nigeria to Nigeria"."""
    text = case.pair.counterfactual
    for *_, edit in case.named:
        if text.startswith(f" to {edit.after}", edit.counterfactual_start + len(edit.after)):
            return f"what is compared becomes the same: {edit.after!r}"
    return None


def _had_by_all(case: Case) -> str | None:
    """Whether a condition that one had and another lacked is had by both."""
    lacked = {sense.term for *_, sense in case.found if sense.lacked is not None}
    was = Counter(sense.term for *_, sense in case.found if sense.lacked is None)
    had = Counter(sense.term for _, sense in case.twin.values() if sense.lacked is None)
    for term in lacked & was.keys():
        if had[term] > was[term]:
            return f"what is compared becomes the same: {term!r}"
    return None


def _compared(case: Case) -> str | None:
    """Whether a group becomes the one that it is compared with, which stays as it is."""
    text, target = case.pair.counterfactual, case.pair.to_group
    if [sense.group for _, sense in case.twin.values()].count(target) <= len(case.named):
        return None  # the usual case
    edited = {
        edit.counterfactual_start: (edit, sense.role)
        for _, sense, edit in case.named
        if sense.role not in PRONOUNS
    }
    starts = sorted(edited)
    far = _FAR + max((len(edit.after) for edit, _ in edited.values()), default=0)
    for at, (stop, other) in case.twin.items():
        if at in edited:
            continue
        near = bisect.bisect_left(starts, at - far), bisect.bisect_right(starts, stop + _FAR)
        for start in starts[slice(*near)]:
            edit, role = edited[start]
            own = start, start + len(edit.after)
            if not _is_same(text, (at, stop), own):
                continue  # the usual case
            word = text[at:stop].casefold()
            (_, begin), (end, last) = sorted((own, (at, stop)))
            near_by = end - begin <= _FAR and not _STOP.search(text, begin, end)
            if near_by and _are_ages(edit, word):
                return f"two ages become the same: {word!r}"
            described = role == other.role in ("adjective", "book") or _is_whole(other)
            if _set_apart(text, begin, end, last, described=described):
                return f"what is compared becomes the same: {word!r}"
    return None


def _are_ages(edit: Edit, word: str) -> bool:
    """Whether by their ages alone two are told apart: "the older pupils and the younger ones"."""
    both = _COMPARATIVE.fullmatch(edit.before.casefold()) and _COMPARATIVE.fullmatch(word)
    return edit.after[:1].isdigit() or both is not None


def _chosen(case: Case) -> str | None:
    """Whether two options become the same: "(a) older staff (b) older staff"."""
    for label in _FIRST:  # at less cost than all labels are looked for
        if label in case.pair.counterfactual:
            break
    else:
        return None
    options = _options(with_blanks(case.pair.counterfactual))
    if len(options) == len({*options}):
        return None  # the usual case
    before, first = _options(with_blanks(case.pair.original)), dict[str, int]()
    for place, (option, was) in enumerate(zip(options, before, strict=False)):
        if option and before[first.setdefault(option, place)] != was:
            return f"two options become the same: {option!r}"
    return None


def _options(text: str) -> list[str]:
    """Return what the options of a question say, without their labels."""
    labels = [found for found in _OPTION.finditer(text) if _is_label(text, found.start())]
    ends = [label.start() for label in labels[1:]] + [len(text)]
    said = (text[label.end() : end] for label, end in zip(labels, ends, strict=False))
    return [_base(body.partition("\n")[0].strip(" ,;.(")) for body in said]


def _is_label(text: str, start: int) -> bool:
    """Whether no word and no more than one bracket is in front of a letter or number."""
    start -= text[start - 1 : start] == "("
    return not start or not (text[start - 1].isalnum() or text[start - 1] in "_(")


def _is_same(text: str, first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Whether two spans say the same; "younger" does before "adults" as "young adults" do."""
    one, two = (_base(text[slice(*span)]) for span in (first, second))
    if one[:1] != two[:1]:
        return False  # the usual case at less cost
    if len(one) > len(two):
        one, two, first = two, one, second
    longer = text[first[0] : first[1] + len(two) - len(one) + 2]
    return bool(one) and (
        one == two or (two.startswith(f"{one} ") and _base(longer).startswith(two))
    )


def _base(words: str) -> str:
    """Return words in small letters, without a plural and without what only compares."""
    return _COMPARATIVE.sub(r"\1", words.casefold()).removesuffix("s")


def _set_apart(text: str, begin: int, end: int, stop: int, *, described: bool = False) -> bool:
    """Whether two words are told apart by what is between: "a Sikh or a Sikh", "than a Sikh".

    Two that describe one noun, or stand for all of a kind, are even with a determiner of their
    own ("a young and a younger man", "the blind and the blind"); other persons where they are
    counted, or told before ("ten Sikhs and five Sikhs", "the gay one and the gay one").
    """
    gap = text[begin:end]
    if len(gap) > _FAR or _STOP.search(gap):
        return False
    if gap in _LINKS or _COMPARED.search(gap):
        return True
    *words, last = _SHARE.sub(" ", gap.lower()).replace(",", " , ").split() or [""]
    determiner = ""
    if words and (is_one_of(last, "determiners") or is_number(last)):
        determiner = last
        *words, last = words
    if last == "as" and "as" in words:  # "as kind as"
        return True
    if last in _TURNED:
        return not words
    noun, *items = (part.strip() for part in " ".join(words).split(","))
    behind = (*text[stop : stop + _NEAR].lower().split(), "")[0].strip(",.;:?!")
    alike = not noun or behind in (*noun.split()[:1], "one", "ones")
    if last in ("and", ",") and (determiner or not items):
        # "Young and younger staff"; two persons in "an imam, a rabbi and an imam"
        apart = not determiner or is_number(determiner) or (described and not noun)
        apart = apart or (determiner == "the" and behind in ("one", "ones"))
        return last == "and" and not items and alike and apart
    if last not in ("and", ",", "or", "nor") or any(item.count(" ") >= _ITEM for item in items):
        return False
    return alike


def _compared_alike(case: Case) -> str | None:
    """Whether two that were compared become the same: "white women earn less than white men"."""
    text = case.pair.counterfactual
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
    """Whether the same noun follows both: "my Catholic friend and my Christian friend".

    No "and" need stand between: "the Catholic runner beat the Methodist runner".
    """
    noun, *words = (gap.startswith(" ") and gap.split()) or [""]
    again = bool(words) and is_one_of(words[-1], "articles")
    joined = len(noun) > 2 and (again or not {"and", "or", "but"}.isdisjoint(words))
    return joined and re.match(rf" {re.escape(noun)}\b", text[end : end + _NEAR]) is not None


def _is_whole(sense: Sense) -> bool:
    """Whether it stands for all of a group: "the blind"."""
    return sense.role == COLLECTIVE


def _describes(gap: str) -> bool:
    """Whether words of the same noun phrase stand between: "Buddhist state Buddhist temples"."""
    words = gap.split() if _BETWEEN.fullmatch(gap) else ()
    return bool(words) and not any(is_one_of(word, "closed") for word in words)


@functools.lru_cache(maxsize=16)
def _kinds(synonyms: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    return {term: row for row, terms in enumerate(synonyms) for term in terms}
