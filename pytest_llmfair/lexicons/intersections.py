"""Phrases for a person of a group, and groups of two attributes at once: "black female"."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import shipped
from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.reading import Change, Doubt, Mention, Reading
from pytest_llmfair.lexicons.terms import UNPAIRED, WRITTEN, Entry, Sense
from pytest_llmfair.text import MASK

IDENTITY, NOUN, PEOPLE = "identity", "noun", "people"

Forms = dict[str, str]

_IRREGULAR = {"person": "people", "woman": "women", "man": "men", "child": "children"}
_NO_MEN = ("german", "norman", "ottoman", "roman", "human", "shaman")


@functools.lru_cache(maxsize=16)
def phrases(lexicon: Lexicon) -> list[dict[str, Forms]]:
    """Return lines of group to the forms of one phrase; those of a line stand for each other."""
    if lexicon.language != "en":
        return []
    listed = [
        {
            group: _forms(phrase) | pronouns(lexicon, _pronouns_of(phrase, group))
            for group, phrase in line.items()
            if group in lexicon.groups
        }
        for line in shipped("lexicons/persons.yaml")["lines"].get(lexicon.name, ())
    ]
    lines = listed if any(listed) else _derived(lexicon)
    return [
        {
            group: forms
            for group, forms in line.items()
            if all(m.register in WRITTEN for m in lexicon.mentions(f"I met the {forms[NOUN]}."))
        }
        for line in lines
    ]


def left_unsaid(lexicon: Lexicon, forms: Forms) -> Forms | None:
    """Return a phrase without the words for the group: "woman" for "straight woman", or None."""
    identity = forms.get(IDENTITY)
    if identity and forms[NOUN].startswith(f"{identity} "):
        plain = {key: forms[key].removeprefix(f"{identity} ") for key in (NOUN, PEOPLE)}
        return {**forms, **plain, IDENTITY: ""}
    words = forms[NOUN].split()
    if len(words) > 1 and is_one_of(words[0], "person_nouns"):
        return {**forms, NOUN: words[0], PEOPLE: forms[PEOPLE].split()[0]}
    noun = lexicon.neutral_nouns.get(forms[NOUN].casefold())
    return None if noun is None else {**forms, NOUN: noun, PEOPLE: _plural(noun)}


def pronouns(lexicon: Lexicon, group: str) -> Forms:
    """Return the pronouns of a group by case; empty where the lexicon has none."""
    first = {entry.role: entry for entry in reversed(lexicon.entries)}
    written = {role: first[role].written(group) for role in sorted(PRONOUNS & first.keys())}
    return {role: word for role, word in written.items() if word is not None}


def _forms(phrase: str | Mapping[str, str]) -> Forms:
    if isinstance(phrase, str):
        return {NOUN: f"{phrase} person", PEOPLE: f"{phrase} people", IDENTITY: phrase}
    return {form: phrase[form] for form in (NOUN, PEOPLE, IDENTITY) if form in phrase}


def _pronouns_of(phrase: str | Mapping[str, str], group: str) -> str:
    return group if isinstance(phrase, str) else phrase.get("pronouns", group)


def _derived(lexicon: Lexicon) -> Iterator[dict[str, Forms]]:
    """Yield phrases from adjectives, and from nouns for one person."""
    for entry in lexicon.entries:
        is_adjective = entry.role == "adjective"
        written = {
            group: [
                _forms(term) if is_adjective else {NOUN: term, PEOPLE: _plural(term)}
                for term in terms
                if entry.register(term) in WRITTEN
                and (is_adjective or _is_one_person(entry, term))
            ]
            for group, terms in entry.terms.items()
        }
        for place in range(max(map(len, written.values()))):
            yield {
                group: forms[place] | pronouns(lexicon, group)
                for group, forms in written.items()
                if place < len(forms)
            }


def _is_one_person(entry: Entry, term: str) -> bool:
    last = term.lower().split()[-1]
    # Nouns for one person rarely end with a single s: "Germans", "pupils".
    ends = last.endswith("s") and not last.endswith(("ss", "us"))
    several = last in _IRREGULAR.values() or last == "folk" or ends
    known = entry.kind == "person_noun" or is_one_of(last, "person_nouns")
    return entry.role == "noun" and known and not several


def _plural(noun: str) -> str:
    start, space, last = noun.rpartition(" ")
    for one, several in _IRREGULAR.items():
        if last.lower().endswith(one) and last.lower() not in _NO_MEN:
            return start + space + last[: len(last) - len(one)] + several
    if last.endswith("y") and last[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return noun + ("es" if last.endswith(("s", "x", "ch", "sh")) else "s")


# One word can name groups of both attributes, and its counterpart need two: "lesbian", "gay man".
_RUN = re.compile(rf"{re.escape(MASK)}(?:\s+{re.escape(MASK)})+")
# Groups have the names of the file of names: "black female".
_LAST = "gender"
# A word that names groups of two attributes at once: "Latina", "Englishwoman".
_TwoGroupWord = tuple[int, int, Sense, Sense]


@dataclass(frozen=True, eq=False, repr=False)
class Intersection(Lexicon):
    """A lexicon of two attributes, whose mentions are found, masked and exchanged together."""

    parts: tuple[Lexicon, ...] = ()
    cells: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # by label, as in `parts`

    def group(self, name: str) -> str:
        """Return the group that goes by a name for either part, in either order and any case."""
        group = self.called(name)
        if group is not None:
            return group
        # The groups that the words name if they are not names of groups: "Black women".
        meant = [
            " ".join(groups)
            for both in _sides(name)
            for groups in itertools.product(*map(_named_by, self.parts, both))
        ]
        remedy = (
            f"did you mean {' or '.join(dict.fromkeys(meant))}?"
            if meant
            else suggestion(str(name), self.groups)
        )
        raise ValueError(f"{self.name} has no group {name!r}; {remedy}")

    def called(self, name: str) -> str | None:
        """Return the group that both parts of a name stand for; None if either is unknown."""
        for both in _sides(name):
            first, second = map(Lexicon.called, self.parts, both)
            if first is not None and second is not None:
                return f"{first} {second}"
        return None

    def first_named(self, found: Reading, among: Sequence[str]) -> str | None:
        """Return the group made of the first named group of each part; None if one lacks."""
        cells = [self.cells[label] for label in among]
        named = [
            part.first_named(found, [cell[place] for cell in cells])
            for place, part in enumerate(self.parts)
        ]
        return None if None in named else f"{named[0]} {named[1]}"

    def spread(self, to: Mapping[str, str]) -> dict[str, str]:
        """Return the exchange of the groups of either attribute."""
        return {
            one: other
            for before, after in to.items()
            for one, other in zip(self.cells[before], self.cells[after], strict=True)
            if one != other
        }

    def left_unsaid(self, source: str, target: str) -> dict[str, str]:
        """Return the groups of either attribute that can be omitted, and what that implies."""
        cells = zip(self.parts, self.cells[source], self.cells[target], strict=True)
        return {
            before: after
            for part, before, after in cells
            if after in part.unmarked and before != after
        }

    def exchanges(
        self, text: str, to: Mapping[str, str], found: Reading | None = None
    ) -> tuple[list[Change], list[str]]:
        """Return the changes and the words lost; neither where a text names but one group."""
        found = self.read(text) if found is None else found
        named = {sense.group for *_, sense in found if sense.role != UNPAIRED}
        if not named.issuperset(self.cells[next(iter(to))]):
            return [], []
        twice, rest = _two_group_words(found)
        changes, lost = super().exchanges(text, to, rest)
        spread = self.spread(to) if twice else {}
        for start, end, first, second in twice:
            if first.group in spread or second.group in spread:
                term, group = _replacement_of_both(self.parts, spread, first, second, rest)
                if term is None:
                    lost.append(text[start:end])
                else:
                    changes += self.change(text, (start, end, first), term, group)
        changes.sort(key=lambda change: change.start)
        for before, after in itertools.pairwise(changes):
            if after.start < before.end:
                lost.append(text[before.start : before.end])
        return changes, lost

    def mentions(self, text: str, *, doubts: bool = True) -> list[Mention]:
        """Return every mention of a group of either part, the first of those that overlap."""
        found = super().mentions(text, doubts=doubts)
        ends = itertools.accumulate((each.end for each in found), max, initial=0)
        return [each for each, end in zip(found, ends, strict=False) if each.start >= end]

    def mask(self, text: str) -> str:
        """Return the text with one placeholder for each run of mentions, whatever their groups."""
        return _RUN.sub(MASK, super().mask(text))

    def read(self, text: str, *, doubts: bool = True) -> Reading:
        """Return start, end and meaning of every mention of either attribute, in order."""
        parts = [part.read(text, doubts=doubts) for part in self.parts]
        found = sorted(itertools.chain(*parts), key=lambda each: (each[0], -each[1]))
        uncertain = itertools.chain(*(part.doubts for part in parts))
        passed = any(part.passed for part in parts)
        return Reading(found, sorted(uncertain, key=lambda each: each[:2]), passed)

    def doubt(self, found: Reading, wanted: Sequence[str]) -> Doubt | None:
        """Return the first uncertain place, if the text names a group of both attributes."""
        groups = {group for label in wanted for group in self.cells[label]}
        both = self.first_named(found.with_doubts(), wanted) is not None
        return found.doubt_about(groups) if both else None

    def senses(self, term: str) -> list[Sense]:
        """Return the meanings that a term can have in either attribute."""
        return [sense for part in self.parts for sense in part.senses(term)]


def _two_group_words(found: Reading) -> tuple[list[_TwoGroupWord], Reading]:
    twice: list[_TwoGroupWord] = []
    rest = Reading()
    for each in found:
        if rest and each[:2] == rest[-1][:2] and each[2].entry and rest[-1][2].entry:
            twice.append((*each[:2], rest.pop()[2], each[2]))
        else:
            rest.append(each)
    return twice, rest


def _replacement_of_both(
    parts: tuple[Lexicon, ...], to: Mapping[str, str], first: Sense, second: Sense, rest: Reading
) -> tuple[str | None, str]:
    """Return the replacement of a word for two groups, and the group of the first attribute."""
    group, other = to.get(first.group, first.group), to.get(second.group, second.group)
    if group == first.group:
        return parts[1].counterpart(second, other), group
    forms, other_forms = (
        next((line[name] for line in phrases(part) if name in line), {})
        for part, name in zip(parts, (group, other), strict=True)
    )
    identity = forms.get(IDENTITY)
    if first.role != "adjective":
        several = second.term.endswith(("s", "men"))
        return identity and f"{identity} {other_forms[PEOPLE if several else NOUN]}", group
    term = parts[0].counterpart(first, group)
    second_is_named = any(sense.group == second.group for *_, sense in rest)
    return (
        term if second_is_named or term is None else f"{term} {other_forms.get(IDENTITY, other)}",
        group,
    )


def _sides(name: str) -> list[tuple[str, str]]:
    """Return every way to read a name as the names of two groups, in either order."""
    words = str(name).split()
    cuts = [(" ".join(words[:cut]), " ".join(words[cut:])) for cut in range(1, len(words))]
    return [both for side in cuts for both in (side, side[::-1])]


def _named_by(part: Lexicon, name: str) -> list[str]:
    group = part.called(name)
    return part.groups_of(name) if group is None else [group]


@functools.lru_cache(maxsize=16)
def intersection(first: Lexicon, second: Lexicon) -> Intersection:
    """Cross two attributes: groups such as "black female".

    Parameters
    ----------
    first, second : Lexicon
        Of two attributes, in one language, without a group in common.

    Returns
    -------
    Intersection
        Its groups are every group of one with every group of the other, gender last.

    Raises
    ------
    ValueError
        If the two cannot be crossed.

    Examples
    --------
    >>> from pytest_llmfair.lexicons.loading import load_lexicons
    >>> shipped = load_lexicons()
    >>> intersection(shipped["race"], shipped["gender"]).group("female African American")
    'black female'
    """
    name = f"{first.name} x {second.name}"
    if first.name == second.name:
        raise ValueError(f"attribute is {name}; cross two different ones")
    if first.language != second.language:
        raise ValueError(f"{name}: their languages are {first.language} and {second.language}")
    for group in first.groups:
        if group in second.groups:
            raise ValueError(f"{name}: both have a group {group!r}; rename it in one of them")
    parts = (second, first) if first.name == _LAST else (first, second)
    cells = {f"{a} {b}": (a, b) for a, b in itertools.product(parts[0].groups, parts[1].groups)}
    default = itertools.product(parts[0].default_groups, parts[1].default_groups)
    return Intersection(
        name=name,
        groups=tuple(cells),
        default_groups=tuple(f"{a} {b}" for a, b in default),
        entries=(*first.entries, *second.entries),
        exact=(*first.exact, *second.exact),
        language=first.language,
        lacks=(*first.lacks, *second.lacks),
        unmarked=tuple(
            label
            for label, cell in cells.items()
            if any(group in part.unmarked for group, part in zip(cell, parts, strict=True))
        ),
        synonyms=(*first.synonyms, *second.synonyms),
        parts=parts,
        cells=cells,
    )
