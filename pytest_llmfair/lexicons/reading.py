"""What a lexicon finds in a text: mentions, uncertain places, and effects of nearby words."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from pytest_llmfair.lexicons.grammar import EveryMention, Grammar
from pytest_llmfair.lexicons.protected import with_spaces
from pytest_llmfair.lexicons.terms import (
    UNPAIRED,
    Choice,
    Register,
    Sense,
    cases_of,
)

Confidence = Literal["certain", "context", "uncertain"]
_UNSURE = "the grammar is not sure"
# Not in "with and without epilepsy"
_WITHOUT = re.compile(
    r"(?<![\w'\u2019-])(?<!\bwith and )(?<!\bwith or )(?P<words>without(?:\s+any)?)\s+\Z",
    re.IGNORECASE,
)
_JOINT = re.compile(r"(?:,\s*|\s+)(?:(?:and|or|nor)\s+)?")
_NEAR = 24
_Found = list[tuple[int, int, Sense]]


class Change(NamedTuple):
    """A replacement: ``text[start:end]``, which names `group`, becomes `after`."""

    start: int
    end: int
    after: str
    group: str
    sense: Sense | None = None  # None for an article, and for words left out
    becomes: str = ""  # the group then named


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a text names a group.

    Attributes
    ----------
    start, end : int
        Span in characters; ``text[start:end]`` is `text`.
    text : str
        The words as they stand there.
    group : str
        The group named.
    role : str
        What the words are: a pronoun's case ("subject", "object", "possessive_determiner",
        "possessive_pronoun", "reflexive"), or "noun", "adjective", "title", "kinship" and so on,
        as the lexicon says.
    register : {"preferred", "neutral", "outdated", "slur"}
        How people take the words.
    confidence : {"certain", "context", "uncertain"}
        "certain" if the words name the group wherever they stand; "context" if the grammar reads
        them so from the words around them, as with "black" and "French"; "uncertain" if the text
        allows the other reading too, so that they may name no group, or have another role.
    """

    start: int
    end: int
    text: str
    group: str
    role: str
    register: Register = "preferred"
    confidence: Confidence = "certain"


class Doubt(NamedTuple):
    """A place whose reading is uncertain."""

    start: int
    end: int
    senses: tuple[Sense, ...]  # what the words may mean
    counted: bool  # whether the reading takes them as a mention
    why: str


class Reading(list[tuple[int, int, Sense]]):
    """Mentions and neutral words, and `doubts`; `passed` if another term is no mention here."""

    def __init__(
        self,
        found: Iterable[tuple[int, int, Sense]] = (),
        doubts: Sequence[Doubt] = (),
        passed: bool = False,
    ) -> None:
        super().__init__(found)
        self.doubts = tuple(doubts)
        self.passed = passed

    def doubt_about(self, groups: Collection[str]) -> Doubt | None:
        """Return the first uncertain place that can name one of these groups."""
        for doubt in self.doubts:
            if any(own.group in groups and own.role != UNPAIRED for own in doubt.senses):
                return doubt
        return None

    def with_doubts(self) -> Reading:
        """Return the reading with every uncertain place as a mention."""
        passed = [
            (each.start, each.end, each.senses[0]) for each in self.doubts if not each.counted
        ]
        longest_first = sorted([*self, *passed], key=lambda each: (each[0], -each[1]))
        return Reading(longest_first, self.doubts)

    def overlapping(self, spans: Sequence[tuple[int, int]]) -> Reading:
        """Return the mentions that overlap one of these spans."""
        return Reading(each for each in self if any(a < each[1] and each[0] < b for a, b in spans))

    def settled(
        self,
        edits: Sequence[tuple[int, int, str]],
        counterpart: Callable[[Sense], str | None],
    ) -> Reading:
        """Return the reading that a user's own twin implies: an edited word is a mention."""
        doubtful = {(doubt.start, doubt.end) for doubt in self.doubts}
        found = [each for each in self if each[:2] not in doubtful]
        for start, end, senses, *_ in self.doubts:
            for first, last, after in edits:
                inserted = first == last and start <= first <= end
                if inserted or (first < end and start < last):
                    fitting = (own for own in senses if counterpart(own) == after.lower())
                    found.append((start, end, next(fitting, senses[0])))
                    break
        return Reading(sorted(found, key=lambda each: each[:2]))


def grammar_for(language: str, attribute: str = "") -> Grammar:
    """Return the grammar of a language for the terms of an attribute; only English has rules."""
    if language != "en":
        return EveryMention()
    # At the first text, because the linear model loads numpy.
    from pytest_llmfair.lexicons.english.english import English, SecondOpinion

    return SecondOpinion(English(), attribute)


def rules_of(grammar: Grammar) -> Grammar:
    """Return a grammar without its second opinion, which never changes an answer."""
    from pytest_llmfair.lexicons.english.english import SecondOpinion

    return grammar.rules if isinstance(grammar, SecondOpinion) else grammar


def chosen_sense(
    grammar: Grammar, choice: Choice, text: str, start: int, end: int
) -> tuple[Sense | None, Doubt | None]:
    """Return the meaning that a term has here, if any, and why it is uncertain."""
    senses, cases, doubts = choice.senses, choice.cases, []
    if not choice.settled:
        senses = []
        for sense in choice.senses:
            verdict = sense.read(grammar, text, start, end)
            counted = verdict.counts
            if not verdict.sure:
                doubts.append(Doubt(start, end, (sense,), counted, verdict.why or _UNSURE))
            if counted:
                senses.append(sense)
                if not cases:
                    break
        cases = cases_of(senses)
    meant = senses[0] if senses else None
    if meant is not None and (choice.pronoun or cases):
        roles = cases or {meant.role: meant}
        verdict = grammar.role(text, start, end, tuple(roles))
        meant = roles.get(verdict.role_among(roles))
        if not verdict.sure:
            doubt = Doubt(
                start, end, (*roles.values(),), meant is not None, verdict.why or _UNSURE
            )
            return meant, doubt
    if meant is None:
        return None, next(iter(doubts), None)
    return meant, next((doubt for doubt in doubts if doubt.counted), None)


def edits_before(text: str, start: int, sense: Sense) -> list[tuple[int, int, str]]:
    """Return the edit that turns "without" before a condition into "with"."""
    lack = _without(with_spaces(text), start) if sense.negated else None
    return [] if lack is None else [(*lack.span("words"), lack["words"][:4])]


def _without(text: str, start: int) -> re.Match[str] | None:
    if not text[max(0, start - 5) : start].rstrip().lower().endswith(("out", "any")):
        return None  # the usual case, and fast
    return _WITHOUT.search(text, max(0, start - _NEAR), start)


def with_negated_conditions(
    text: str, reading: Reading, unmarked: tuple[str, ...], known: dict[int, Sense | None]
) -> Reading:
    """Return a reading in which "without epilepsy" names the unmarked group; `known` caches."""
    if not unmarked or "ithout" not in text.lower():
        return reading
    negated: _Found = []
    last = -1  # end of the last negated condition; others can be joined to it
    for start, end, sense in reading:
        other = None
        if _without(text, start) or (last > 0 and _JOINT.fullmatch(text, last, start)):
            if id(sense) not in known:
                known[id(sense)] = _negated_sense(sense, unmarked)
            other = known[id(sense)]
        last = end if other is not None else -1
        negated.append((start, end, other or sense))
    senses = {(start, end): (sense,) for start, end, sense in negated}
    doubts = [
        each._replace(senses=senses.get((each.start, each.end), each.senses))
        for each in reading.doubts
    ]
    return Reading(negated, doubts, reading.passed)


def with_conditions_alike(reading: _Found, to: Mapping[str, str]) -> _Found:
    """Return a reading in which a condition and its negation change alike."""
    if all(sense.negated is None or sense.group in to for *_, sense in reading):
        return reading
    had = {sense.term for *_, sense in reading if sense.negated is None}
    return [
        (start, end, sense.negated or sense if sense.term in had else sense)
        for start, end, sense in reading
    ]


def _negated_sense(sense: Sense, unmarked: tuple[str, ...]) -> Sense | None:
    """Return the reading of a condition (its entry has "no ...") after "without", or None."""
    if sense.entry is None or sense.role != "noun" or sense.group in unmarked:
        return None
    for group in unmarked:
        if (sense.entry.written(group) or "").startswith("no "):
            return replace(sense, group=group, negated=sense)
    return None


def mentions_in(text: str, found: Reading) -> list[Mention]:
    """Return the mentions of a reading; "without" before a condition belongs to it."""
    doubtful = {(doubt.start, doubt.end) for doubt in found.doubts}
    mentions = []
    for at, end, sense in found:
        if (entry := sense.entry) is None:
            continue
        start = next((edit[0] for edit in edits_before(text, at, sense)), at)
        known: Confidence = "context" if entry.kind else "certain"
        mentions.append(
            Mention(
                start,
                end,
                text[start:end],
                sense.group,
                sense.role,
                entry.register(sense.term),
                "uncertain" if (at, end) in doubtful else known,
            )
        )
    return mentions
