"""The check that words for different groups stay different: not "women and women"."""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_llmfair.counterfactuals.pair_under_test import PairUnderTest
from pytest_llmfair.lexicons.lexicon import PRONOUNS

_COMPARED_WITHIN = 90
_SENTENCE_END = re.compile(r"[.!?]\s")
_COMPARED = re.compile(
    r"(?<![\w-])(?:than|versus|vs|whereas|while|unlike|over|other|instead|compared|opposed"
    r"|but also|out(?:number|perform|earn|rank|scor|liv|pac)\w*)(?![\w-])"
    r"|,\s(?:like|not)\s|\b(?:as|(?:am|is|are|was|were) not)(?:\s(?:an?|the))?\s\Z",
    re.IGNORECASE,
)
_OWN = r"(?:an?|the|my|our|your|his|her|their)\b"
# Text between two groups that are joined: "Hindus, 13.5% Jains and six Sikhs".
_CHOICE = r"(?:or|nor|to|into|from|for|with|against)\W+(?:\w+\W+){0,3}"
_JOINED = re.compile(
    rf"\W*(?:\w+\W+){{0,3}}?(?:{_CHOICE}|[-\u2013/,;]\W*(?:[\d.]+\W+)?"
    rf"|(?:and|&)\W+(?!{_OWN})(?:[\w.%]+\W+){{0,2}})",
    re.IGNORECASE,
)
# Two changed words with only a joint between them: "the Baptist and the Methodist".
_LISTED = re.compile(rf"\W*(?:\w+\W+){{0,1}}?(?:and|or|,)\W+(?:{_OWN}\W+)?", re.IGNORECASE)
_OPTION = re.compile(r"\W*(?:\w+\W*){0,2}?(?:\\n|[(\n ])+[a-h1-8][.)]\W*(?:an?\s)?", re.IGNORECASE)
_AND = re.compile(r",?\s+(?:and|or|nor)\s+|\s?/\s?|\s&\s", re.IGNORECASE)
_ENDING = re.compile(r"\b(young|old)er\b|s\b")


class _MentionPair(NamedTuple):
    start: int
    end: int
    now: str
    was: str
    changed: bool
    pronoun: bool


def different_words_stay_different(case: PairUnderTest) -> str | None:
    """Check that words for different groups stay different: not "women and women"."""
    text = case.pair.counterfactual
    phrases = _mention_pairs(case)
    for place, first in enumerate(phrases):
        for second in phrases[place + 1 : place + 5]:
            gap = text[first.end : second.start]
            if len(gap) > _COMPARED_WITHIN or (
                _SENTENCE_END.search(gap) and not _OPTION.fullmatch(gap)
            ):
                break
            if _same(text, first, second) and _belong_together(first, second, gap):
                return f"different words become the same: {text[first.start : second.end]!r}"
    return None


def _same(text: str, first: _MentionPair, second: _MentionPair) -> bool:
    """Whether two phrases that differed are now equal, perhaps up to "younger" before "adults"."""
    if first.was == second.was or first.now[:2] != second.now[:2]:
        return False
    short, long = sorted((first, second), key=lambda each: len(each.now))
    shown = text[short.start : short.start + len(long.now) + 3]
    return short.now == long.now or (
        long.now.startswith(f"{short.now} ") and _base(shown).startswith(long.now)
    )


def _belong_together(first: _MentionPair, second: _MentionPair, gap: str) -> bool:
    if first.pronoun or second.pronoun:
        both = first.changed and second.changed
        return not both and _AND.fullmatch(gap) is not None
    if first.changed and second.changed and _LISTED.fullmatch(gap):
        return True
    patterns = (_JOINED, _OPTION)
    return bool(_COMPARED.search(gap)) or any(each.fullmatch(gap) for each in patterns)


def _mention_pairs(case: PairUnderTest) -> list[_MentionPair]:
    """Return the mentions of the counterfactual with the words of the original there."""
    twin = sorted((start, end, sense) for start, (end, sense) in case.twin.items())
    if len(twin) < 2 or len(twin) != len(case.found):
        return []
    text, original = case.pair.counterfactual, case.pair.original
    phrases: list[_MentionPair] = []
    for (start, end, sense), (begin, stop, other) in zip(twin, case.found, strict=True):
        was, now = _base(original[begin:stop]), _base(text[start:end])
        one = _MentionPair(
            start,
            end,
            now + " lacked" * (sense.negated is not None),
            was + " lacked" * (other.negated is not None),
            text[start:end] != original[begin:stop],
            sense.role in PRONOUNS,
        )
        last = phrases[-1] if phrases else None
        if last and text[last.end : start] == " " and not (last.pronoun or one.pronoun):
            phrases[-1] = last._replace(
                end=end, now=f"{last.now} {one.now}", was=f"{last.was} {one.was}"
            )
        else:
            phrases.append(one)
    return phrases


def _base(words: str) -> str:
    return _ENDING.sub(r"\1", words.casefold())
