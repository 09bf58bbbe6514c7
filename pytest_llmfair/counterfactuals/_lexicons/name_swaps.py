"""Name swaps: which words of a text are the person asked for, and nobody else."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from pytest_llmfair.counterfactuals._lexicons.name_index import NameIndex
from pytest_llmfair.counterfactuals._lexicons.names import name_choices, name_group
from pytest_llmfair.counterfactuals._lexicons.reading import Doubt, Reading
from pytest_llmfair.counterfactuals._lexicons.terms import Choice, Entry, Sense
from pytest_llmfair.counterfactuals.lexicon import Lexicon
from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of
from pytest_llmfair.lexicons.english.escapes import with_blanks
from pytest_llmfair.lexicons.english.names.common import is_common, is_its_own_object
from pytest_llmfair.lexicons.english.names.initials import (
    has_last_name,
    has_middle_name,
    has_two_initials,
    is_another_initial,
    is_before_another,
    is_first_initial,
    is_last_initial,
    is_listed_with_another,
    is_no_name,
)
from pytest_llmfair.lexicons.english.names.namesakes import namesakes
from pytest_llmfair.lexicons.english.names.others import (
    is_behind_first,
    is_double,
    is_given,
    is_last_in_case,
    is_of_firm,
    is_party,
    seconds_of,
)
from pytest_llmfair.lexicons.english.names.places import is_something_else
from pytest_llmfair.lexicons.english.names.words import (
    is_joined,
    is_of_class,
    is_ordinary_word,
    phrases_with,
    word_in_front,
)

_BEFORE = re.compile(rf"(?:({LETTERS})[^\S\n]+)?({LETTERS})(\.?)[^\S\n]+\Z")
# "Walsh-Grant" and "O'Walsh" are not "Walsh".
_BEHIND = re.compile(
    r"[^\S\n]+((?:[^\W\d_]['\u2019](?=[^\W\d_a-z][^\W_]{2}))?[^\W_]+"
    r"(?:[-\u2010\u2011][^\W\d_a-z][^\W_]*)*)"
)
_PLAIN = str.maketrans({"\u2019": "'", "\u2010": "-", "\u2011": "-"})
_NEAR = 60
_FAMILY = "plural of a last name"
_PLURALS = ("plural", _FAMILY)
_INITIALS = {"first initial": is_first_initial, "last initial": is_last_initial}


class _TwoNames(Lexicon):
    """A lexicon of two names: found where they name the person asked for, and nobody else."""

    _plurals: ClassVar[bool] = False

    def read(self, text: str) -> Reading:
        """Return start, end and meaning of every mention of the person, in order."""
        found = super().read(text)
        if not found:
            return found
        text = with_blanks(text)
        no_capitals = text.islower()
        kept = Reading(
            (start, end, sense)
            for start, end, sense in found
            if (no_capitals or not text[start].islower() or text[start:end] == sense.term)
            and self._is_the_person(text, start, end, sense)
        )
        if not kept:
            return kept
        if len(kept) > 1:
            kept[1:] = [
                each
                for before, each in itertools.pairwise(kept)
                if not is_its_own_object(text, before[:2], *each[:2])
            ]
        first, end, sense = kept[0]
        if sense.role != "name" or text.find(text[first:end]) == first:
            return kept  # the usual case at less cost
        return Reading(kept[self._namesakes(text, found, kept) :])

    def _namesakes(self, text: str, found: Reading, kept: Reading) -> int:
        """Return how many of the first mentions are somebody else named in full before them."""

        def others() -> list[tuple[int, int]]:
            first = kept[0][0]
            passed = (each for each in found if each[0] < first)
            return [
                each[:2]
                for each in passed
                if self._another_person(text, *each) and not is_something_else(text, *each[:2])
            ]

        return namesakes(text, [each[:2] for each in kept], self.exceptions, others)

    def _meant(
        self, choice: Choice, text: str, start: int, end: int
    ) -> tuple[Sense | None, Doubt | None]:
        fitting = choice.senses
        for sense in fitting:  # both names can begin with one letter
            stands = _INITIALS.get(sense.role)
            if stands is not None and stands(text, start, end, sense.group):
                return sense, None
        return fitting[0], None

    @functools.cached_property
    def _index(self) -> NameIndex:
        return NameIndex(self.entries, self.neutral, self.exceptions, self.exact)

    @functools.cached_property
    def _own(self) -> frozenset[str]:
        return frozenset(part for group in self.groups for part in group.casefold().split())

    @functools.cached_property
    def _seconds(self) -> frozenset[str]:
        return seconds_of(self._own)

    def _is_the_person(self, text: str, start: int, end: int, sense: Sense) -> bool:
        if sense.role in _PLURALS:
            return text[start].isupper() and _counted(text, start, end, sense.role)
        if sense.role in _INITIALS:
            return _INITIALS[sense.role](text, start, end, sense.group)
        if is_joined(text, start, end) or is_something_else(text, start, end):
            return False
        if self._seconds and sense.role == "name" and is_double(text, end, self._seconds):
            return False
        last = sense.role == "last name"
        if not last and is_last_in_case(text, start, end):
            return False
        front = word_in_front(text, start)
        own = front.casefold() in self._own
        in_full = last and (own or has_middle_name(text, start, sense.group))
        if not in_full and (
            is_ordinary_word(text, start, end, last=last) or is_common(text, start, end)
        ):
            return False
        if last and not in_full and front.islower() and is_of_firm(text, end):
            return False
        beside = last or front[:1].isupper() or is_of_class(front, "given")
        beside = beside or text[start - 2 : start - 1] == "."
        if not in_full and beside and self._another_person(text, start, end, sense):
            return False
        if sense.role != "first name" or has_last_name(text, end, sense.group):
            return True
        if is_before_another(text, end, sense.group):
            return False
        behind = _BEHIND.match(text, end)
        if behind is None or not behind[1][0].isupper():
            return True
        if behind[1].isupper() and behind[1].isalnum():  # in capitals it can be any word
            return True
        own = behind[1].translate(_PLAIN).casefold() in self._own
        return own or is_one_of(behind[1].lower(), "closed")

    @functools.cached_property
    def _is_last_name(self) -> bool:
        """Whether a last name is asked for: a frequent one, or one that is no known first name."""
        name = self.groups[0].casefold()
        if is_of_class(name, "last_names"):
            return True
        fronts = [group.casefold().partition(" ")[0] for group in self.groups]
        kinds = ("given", "given_words", "given_verbs", "words", "places")
        return not any(is_of_class(front, kind) for front in fronts for kind in kinds)

    def _ends_another(self, text: str, before: re.Match[str]) -> bool:
        """Whether it is a last name behind an initial: "Stephen F. Austin", "E.L. James"."""
        if self._is_last_name:
            return False
        if before[1]:
            return is_given(text, before.start(1), before[1])
        name = self.groups[0].casefold()
        return is_of_class(name, "also_last") and has_two_initials(text, before.start(2))

    def _another_person(self, text: str, start: int, end: int, sense: Sense) -> bool:
        """Whether the word in front is the first name of somebody else."""
        if sense.role == "last name" and (
            is_another_initial(text, start, sense.group)
            or is_listed_with_another(text, start, end, sense.group)
        ):
            return True
        before = _BEFORE.search(text, max(0, start - _NEAR), start)
        if before is None:
            return False
        verb, name = (before[1] or "").casefold(), before[2].casefold()
        if name in self._own:
            return False
        if before[3]:
            return len(name) == 1 and sense.role == "name" and self._ends_another(text, before)
        if is_party(text, start, end, before[2]):
            return True
        if is_given(text, before.start(2), before[2]):  # "told Mary John was late" names two
            if sense.role == "name" and self._is_last_name:
                return False  # "Denise Garcia" bears the last name that is asked for
            return not (is_one_of(verb, "give") or is_one_of(verb, "say_to"))
        if sense.role == "name" and is_behind_first(text, start, end, before):
            return True
        if sense.role != "last name" or not before[2][0].isupper() or before[2].isupper():
            return False
        return not is_no_name(name)


def name_lexicon(groups: Sequence[str] | None) -> Lexicon:
    """Make the lexicon of a name swap, for `mentions`, `mask` and `generate_pairs`.

    A name counts as a whole word with a capital first letter (or all capitals), and in the plural
    behind a number ("two Johns") and as a family ("the Walshes"); in lower case only where it was
    given so, or where the text has no capital at all. "Johnson", "John-Paul", an address, and
    "John" behind another common given name ("Elton John") or "St." are other people; so are "King
    John", "Henry VIII", "Emily Walsh-Grant", and well-known people and firms ("John Deere")
    unless asked for by that name; those are a list of over three thousand, so that a person known
    to fewer ("John Sculley") is swapped too. "Mary Ann" is not "Mary". A frequent last name asked
    for alone ("Garcia") is that of "Denise Garcia" too. Names that are words too are no name
    before the words that such a sentence begins with ("Will you come?", "Rose petals fell."),
    beside a number ("May 5"), in what a thing is called ("Museum of Art"), or in lower case;
    names that are places or firms too are none where these are meant ("flew to Jordan", "Austin,
    Texas", "an account with Chase"), and none are books of the Bible ("John 3:16"); nor is a
    thing that somebody of its name has or uses ("Ford drives a Ford"). A prompt that already
    names the second person is left out by `generate_pairs`, since both would bear one name:
    choose a name that the prompts do not hold. Titles and pronouns stay as they are ("Mr. Jane
    Smith called his wife"): where prompts have them, choose two names of one gender.

    Parameters
    ----------
    groups : (str, str)
        The two names; each is a group of its own. Two names of equally many words ("Emily Walsh",
        "Keisha Banks") are exchanged word by word, so that "Emily" or "Ms. Walsh" alone follows,
        and so do initials beside the rest of the name ("E. Walsh", "Walsh, E.", "Emily W.") or
        both together ("E.W.") where the text has the names too. Middle names stay ("Emily Jane
        Walsh"); "D. Walsh" is somebody else.

    Returns
    -------
    Lexicon
        For attribute "name".

    Raises
    ------
    ValueError
        If these are not two different names.
    """
    if groups is None:
        raise ValueError(
            "a name swap has no groups of its own; give the name to replace and the one that "
            'takes its place: attribute="name", groups=("John", "Jane")'
        )
    if not isinstance(groups, (tuple, list)) or len(groups) != 2:
        raise ValueError(f'groups is {groups!r}; give two names, such as ("John", "Jane")')
    for name in groups:
        if not isinstance(name, str) or not any(char.isalpha() for char in name):
            raise ValueError(f'{name!r} is no name; give two texts, such as ("John", "Jane")')
        # "White" alone is a last name, and "Black Female" is none.
        if name in name_choices() or (" " in name.strip() and name_group(name) is not None):
            raise ValueError(
                f"{name!r} is a group, not a name; name_pairs({groups!r}, n) gives n pairs of "
                'names, and prompts with a slot such as "{Person}" get them in turn'
            )
    first, second = groups = groups[0].strip(), groups[1].strip()
    if first.casefold().split() == second.casefold().split():
        raise ValueError(f"groups is {groups!r}, the same name twice; give two different names")
    shorter, longer = sorted((f" {name.casefold()} " for name in groups), key=len)
    if shorter in longer:
        raise ValueError(
            f"groups is {groups!r}, and one name holds the other; give a first and a last name "
            "for both, or for neither"
        )
    phrases = tuple(p for p in phrases_with(_parts(groups)) if not _holds(p, groups))
    entries = tuple(_entries(first, second))
    return _TwoNames("name", (first, second), (first, second), entries, exceptions=phrases)


def _parts(groups: tuple[str, str]) -> list[str]:
    return [part for name in groups for part in name.split()]


def _holds(phrase: str, groups: tuple[str, str]) -> bool:
    """Whether a phrase and one of the names hold each other, which is then asked for."""
    low = phrase.casefold()
    return any(
        " " in name and (name.casefold() in low or low in name.casefold()) for name in groups
    )


def _split(name: str) -> list[str]:
    """Return first and other names: "Ludwig", "van Houten"; "Mary Ann", "Jones"."""
    first, *others = name.split()
    if others and is_of_class(f"{first}-{others[0]}".casefold(), "doubles"):
        first, others = f"{first} {others[0]}", others[1:]
    parts: list[str] = []
    for word in reversed(others):
        if parts and is_of_class(word.casefold(), "name_particles"):
            parts[0] = f"{word} {parts[0]}"
        else:
            parts.insert(0, word)
    return [first, *parts]


def _entries(first: str, second: str) -> Iterator[Entry]:
    parts, others = _split(first), _split(second)
    if len(parts) != len(others) and min(len(parts), len(others)) > 1:  # "Mary Ann Jones"
        parts, others = ([" ".join(each[:-1]), each[-1]] for each in (parts, others))
    if not 1 < len(parts) == len(others) or _overlap(parts, others):
        yield Entry("name", {first: (first,), second: (second,)})
        if len(parts) == len(others) == 1:
            role = "plural" if is_of_class(first.casefold(), "given") else _FAMILY
            yield Entry(role, {first: (_plural(first),), second: (_plural(second),)})
        return
    yield from _initials(first, second)
    taken = {part.casefold() for part in (*parts, *others)}
    for number, (part, other) in enumerate(zip(parts, others, strict=True)):
        if part == other:
            continue
        yield Entry("last name" if number else "first name", {first: (part,), second: (other,)})
        several = (_plural(part), _plural(other))
        if taken.isdisjoint(map(str.casefold, several)):
            role = _FAMILY if number == len(parts) - 1 else "plural"
            yield Entry(role, {first: several[:1], second: several[1:]})


def _initials(first: str, second: str) -> Iterator[Entry]:
    """Give the first letters of first and last name, where both names have two that differ."""
    parts, others = first.split(), second.split()
    if not all(part[0].isupper() and part[1:2].isalpha() for part in (*parts, *others)):
        return
    for role, place in (("first initial", 0), ("last initial", -1)):
        one, other = parts[place][0], others[place][0]
        if one != other:
            yield Entry(role, {first: (one,), second: (other,)})


def _plural(name: str) -> str:
    ending = "es" if name.lower().endswith(("s", "x", "z", "ch", "sh")) else "s"
    return name + (ending.upper() if name.isupper() else ending)


def _counted(text: str, start: int, end: int, role: str) -> bool:
    """Whether people of the name are meant: "two Johns", "the Walshes"; no "Johns Hopkins"."""
    before = _BEFORE.search(text, max(0, start - _NEAR), start)
    if before is None:
        return False
    word = before[2].lower()
    counted = is_one_of(word, "numbers") or word == "both"
    if not counted and (role != _FAMILY or word != "the"):
        return False
    behind = _BEHIND.match(text, end)
    return behind is None or not behind[1][0].isupper()


def _overlap(parts: list[str], others: list[str]) -> bool:
    """Whether a word stands at different places of the two names ("Lee Kim", "Kim Lee")."""
    return any(a.casefold() == b.casefold() for a in parts for b in others if a != b) or any(
        a == b for i, a in enumerate(parts) for j, b in enumerate(others) if i != j
    )
