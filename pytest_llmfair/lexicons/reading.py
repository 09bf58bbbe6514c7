"""What a lexicon reads in a text: mentions, and places that could be read otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pytest_llmfair.lexicons.terms import UNPAIRED, Register, Sense

Confidence = Literal["certain", "context", "uncertain"]


class Change(NamedTuple):
    """A replacement: ``text[start:end]``, which names `group`, becomes `after`.

    `sense` is what the words mean and `becomes` the group then named; an article that has to
    follow, and words that are left out, have neither.
    """

    start: int
    end: int
    after: str
    group: str
    sense: Sense | None = None
    becomes: str = ""


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
    """A place whose reading is uncertain.

    Attributes
    ----------
    start, end : int
        Its span.
    senses : tuple of Sense
        What the words may mean; the roles that a pronoun may have.
    counted : bool
        Whether the reading takes the words as a mention.
    why : str
        What makes it uncertain.
    """

    start: int
    end: int
    senses: tuple[Sense, ...]
    counted: bool
    why: str


class Reading(list[tuple[int, int, Sense]]):
    """Start, end and meaning of mentions and neutral words, in order; `doubts` in order too."""

    def __init__(
        self, found: Iterable[tuple[int, int, Sense]] = (), doubts: Sequence[Doubt] = ()
    ) -> None:
        super().__init__(found)
        self.doubts = tuple(doubts)

    def doubt_about(self, groups: Collection[str]) -> Doubt | None:
        """Return the first place that may name one of these groups, or may not."""
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

    def touched_by(self, spans: Sequence[tuple[int, int]]) -> Reading:
        """Return what overlaps one of these spans."""
        return Reading(each for each in self if any(a < each[1] and each[0] < b for a, b in spans))

    def settled(
        self,
        edits: Sequence[tuple[int, int, str]],
        counterpart: Callable[[Sense], str | None],
    ) -> Reading:
        """Return the reading that a twin made by hand settles.

        An uncertain word is a mention where an edit changes it, else it is none; of several
        meanings it has the one whose counterpart is written.

        Parameters
        ----------
        edits : sequence of (int, int, str)
            Start and end in the text, and what takes the place.
        counterpart : callable
            What a meaning becomes in the other group.
        """
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
