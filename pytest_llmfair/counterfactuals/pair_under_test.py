"""A pair under test, and the check that words for its groups stay different."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.reading import Change, Doubt, Reading
from pytest_llmfair.lexicons.terms import Sense
from pytest_llmfair.responses import OMISSION, Edit, Pair


class Exchange(NamedTuple):
    """The groups that take each other's place in a pair."""

    groups: tuple[str, str]
    to: Mapping[str, str]
    spread: Mapping[str, str]  # `to` for the groups of mentions, which intersections split
    omittable: Mapping[str, str]  # group to omit -> the group that this implies

    def absent_groups(self, variant: str) -> frozenset[str]:
        """Return the groups that the counterfactual must not name."""
        if variant == OMISSION:
            return frozenset(self.omittable)
        return frozenset(self.spread).difference(self.spread.values())


def exchange_of(lexicon: Lexicon, to: Mapping[str, str]) -> Exchange:
    """Return the exchange of groups; the first two are from and to."""
    groups = next(iter(to.items()))
    return Exchange(groups, to, lexicon.spread(to), lexicon.left_unsaid(*groups))


class PairUnderTest(NamedTuple):
    """A pair with its changes and what the lexicon reads in both members."""

    pair: Pair
    changes: list[Change]
    found: Reading
    twin: Mapping[int, tuple[int, Sense]]  # start -> end and meaning in the counterfactual
    doubts: tuple[Doubt, ...]  # of the counterfactual
    absent: frozenset[str]  # groups that the counterfactual must not name
    lexicon: Lexicon
    named: list[tuple[Change, Sense, Edit]]  # the changes of words for a group

    def doubt_in_one_member(self) -> Doubt | None:
        """Return a word that does not change and is uncertain in one member only."""
        if not self.found.doubts and not self.doubts:
            return None
        edits = self.pair.edits
        own = _unchanged(self.found.doubts, [(edit.start, edit.end, 0) for edit in edits])
        moved = [
            (start, start + len(edit.after), len(edit.before) - len(edit.after))
            for edit in edits
            for start in (edit.counterfactual_start,)
        ]
        twin = _unchanged(self.doubts, moved)
        alone = own.keys() ^ twin.keys()
        return {**own, **twin}[min(alone)] if alone else None


def _unchanged(doubts: Sequence[Doubt], edits: Sequence[tuple[int, int, int]]) -> dict[int, Doubt]:
    """Return uncounted doubts outside edits (start, end, how far they move what follows)."""
    return {
        doubt.start + sum(shift for start, _, shift in edits if start < doubt.start): doubt
        for doubt in doubts
        if not doubt.counted
        and not any(start < doubt.end and doubt.start < end for start, end, _ in edits)
    }


def read_pair(
    pair: Pair,
    changes: list[Change],
    lexicon: Lexicon,
    absent: frozenset[str],
    found: Reading | None = None,
    found_twin: Reading | None = None,
) -> PairUnderTest:
    """Return a pair under test; its members are read unless their readings are given."""
    twin: dict[int, tuple[int, Sense]] = {}
    known = lexicon.read(pair.original) if found is None else found
    read = found_twin
    if read is None:  # a word that is a mention in both is not uncertain in one
        read = lexicon.read(pair.counterfactual, doubts=known.passed)
    for start, end, sense in read:
        twin.setdefault(start, (end, sense))  # of two at one place the first counts
    named = [
        (change, change.sense, edit)
        for change, edit in zip(changes, pair.edits, strict=True)
        if change.sense is not None
    ]
    return PairUnderTest(pair, changes, known, twin, read.doubts, absent, lexicon, named)


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
