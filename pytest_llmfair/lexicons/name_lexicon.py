"""The lexicon of groups of names, shipped or of the caller."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from pytest_llmfair._util.documents import day
from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import load_yaml
from pytest_llmfair.lexicons.english.full_names import is_title
from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.grammar import Grammar, Name
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.name_lists import (
    GENDERS,
    cells_of,
    gender_of,
    listed_names,
    name_data,
    name_group,
    nearest_group,
    similar_group,
    split_cell,
)
from pytest_llmfair.lexicons.reading import Doubt
from pytest_llmfair.lexicons.terms import Choice, Entry, Sense

# What callers say for names, of groups or of two people; and what pairs of groups of names say.
NAMES = ("name", "names")
OF_GROUPS = NAMES[1]


class Person(NamedTuple):
    """A listed name: first and last name, and the origin and gender that it stands for."""

    first: str
    last: str
    cell: str  # "black female"; of own names the gender alone, "" where it is not known

    @property
    def gender(self) -> str:
        """The gender that the first name shows."""
        return self.cell.rpartition(" ")[2]


class NamesOfPeople(Lexicon):
    """A lexicon of names, found only where they are people."""

    _plurals: ClassVar[bool] = False

    def _chosen_sense(
        self, grammar: Grammar, choice: Choice, text: str, start: int, end: int
    ) -> tuple[Sense | None, Doubt | None]:
        verdicts = [
            (own, grammar.is_this_person(text, start, end, self._name(own)))
            for own in choice.senses  # both names can begin with one letter
        ]
        own, verdict = next((each for each in verdicts if each[1].counts), verdicts[0])
        named = verdict.counts
        doubt = None if verdict.sure else Doubt(start, end, (own,), named, verdict.why)
        return own if named else None, doubt

    def _name(self, sense: Sense) -> Name:
        forms = frozenset((sense.term.casefold(),))
        return Name(sense.term, "name", forms, forms)


@dataclass(frozen=True, eq=False, repr=False)
class NameLexicon(NamesOfPeople):
    """Names of groups: a lexicon whose words are the names of people.

    Attributes
    ----------
    people : dict
        Group to its names, as many for each group; those at one place stand for each other, and
        are of one gender where the lists have both.
    names_per_prompt : int
        Names of each group that a prompt is asked with.
    """

    people: Mapping[str, tuple[Person, ...]] = field(default_factory=dict)
    names_per_prompt: int = 1

    @classmethod
    def of_groups(cls, groups: Sequence[str] | None = None) -> NameLexicon:
        """Return the shipped names of groups; by default those of every origin.

        Raises
        ------
        ValueError
            If a group is unknown, named twice, or of another kind than the others.

        Examples
        --------
        >>> NameLexicon.of_groups(["turkish", "polish"]).people["polish"][0].first
        'Agnieszka'
        """
        asked = tuple(name_data()["origins"]) if groups is None else tuple(groups)
        cells = {name_group(group) or group: cells_of(group) for group in asked}
        _check_several(cells, asked)
        if len({len(each) for each in cells.values()}) > 1:
            raise ValueError(
                f"groups is {groups!r}, which are of several kinds; give origins (turkish), "
                "genders (female), or both together (turkish female)"
            )
        people = {group: tuple(_people(own)) for group, own in cells.items()}
        data = name_data()
        origins = {split_cell(cell)[0] for cell in itertools.chain(*cells.values())}
        about = [
            f"{origin}: {own['about']}; {own['era']}; {own['stands_for_it']}."
            for origin, own in data["origins"].items()
            if origin in origins
        ]
        return cls._made(
            people,
            source=data["source"],
            licence=data["licence"],
            limits=" ".join([data["limits"], *about]),
            version=str(data["version"]),
            reviewed=day(data["reviewed"]),
            lacks=tuple(data["lacks"]),
        )

    @classmethod
    def from_dict(cls, data: Any, source: str = "names") -> NameLexicon:
        """Return the lexicon of your own names.

        Parameters
        ----------
        data : mapping
            Group to its names. Names are a list of first or of full names, whose gender is looked
            up; or a mapping with lists `female` and `male`, and perhaps `last`.
        source : str
            Name of the data in messages.

        Raises
        ------
        ValueError
            If there are fewer than two groups, a list is empty, or two groups share a name.

        Examples
        --------
        >>> NameLexicon.from_dict({"a": ["Emily Walsh"], "b": ["Lakisha Banks"]}).groups
        ('a', 'b')
        """
        if not isinstance(data, Mapping) or len(data) < 2:
            raise ValueError(
                f"{source} is {str(data)[:60]!r}; give two groups or more, each with its names: "
                '{"a": ["Emily", ...], "b": ["Lakisha", ...]}'
            )
        own = {str(group): _own_people(given, source, group) for group, given in data.items()}
        owner: dict[str, str] = {}
        for group, listed in own.items():
            for person in listed:
                name = f"{person.first} {person.last}".strip()
                if owner.setdefault(name.casefold(), group) != group:
                    raise ValueError(
                        f"{source}: {name!r} is in {owner[name.casefold()]!r} and in {group!r}; "
                        "a name stands for one group"
                    )
        bare = [one for one in itertools.chain(*own.values()) if not one.last]
        if 0 < len(bare) < sum(map(len, own.values())):
            raise ValueError(
                f"{source}: {bare[0].first!r} has no last name and others have one, which "
                "would be a second difference of groups; give full names everywhere, or nowhere"
            )
        return cls._made(_aligned(own, source), source=source)

    @classmethod
    def from_file(cls, path: str | Path) -> NameLexicon:
        """Read names by group from a YAML file with the content of :meth:`from_dict`."""
        path = Path(path)
        return cls.from_dict(load_yaml(path.read_text(encoding="utf-8"), str(path)), str(path))

    @classmethod
    def _made(cls, people: Mapping[str, tuple[Person, ...]], **about: Any) -> NameLexicon:
        groups = tuple(people)
        return cls(OF_GROUPS, groups, groups, tuple(_entries(people)), people=people, **about)

    def among(self, groups: Sequence[str]) -> NameLexicon:
        """Return the lexicon of some of the groups."""
        chosen = tuple(map(self.group, groups))
        _check_several({*chosen}, groups)
        kept = ("source", "licence", "limits", "lacks", "names_per_prompt")
        about = {key: getattr(self, key) for key in kept}
        return self._made({group: self.people[group] for group in chosen}, **about)

    def called(self, name: str) -> str | None:
        """Return the group with a name or an alias, in any case; None if there is none."""
        found = super().called(name)
        return found if found is not None else super().called(name_group(name) or name)

    def gender_of(self, first: str) -> str:
        """Return the gender that a first name shows here, or else in the shipped lists."""
        people = itertools.chain(*self.people.values())
        own = {person.gender for person in people if person.first == first}
        return own.pop() if len(own) == 1 and own != {""} else gender_of(first)

    @functools.cached_property
    def parts(self) -> tuple[frozenset[str], frozenset[str]]:
        """The first names and the words of the last names, in lower case."""
        people = [*itertools.chain(*self.people.values())]
        lasts = itertools.chain(*(person.last.casefold().split() for person in people))
        return frozenset(person.first.casefold() for person in people), frozenset(lasts)


def _check_several(known: Collection[str], given: Sequence[str]) -> None:
    if len(known) < max(2, len(given)):
        raise ValueError(f"groups is {given!r}; name two groups or more, each once")


def is_names(attribute: Any) -> bool:
    """Whether an attribute means names, of groups or of two people."""
    return isinstance(attribute, NameLexicon) or attribute in NAMES


def names_of_groups(attribute: Any, groups: Sequence[str] | None) -> NameLexicon | None:
    """Return the names of groups that an attribute means; None for other attributes, two names."""
    if isinstance(attribute, NameLexicon):
        return attribute if groups is None else attribute.among(groups)
    if not isinstance(attribute, str) or attribute not in NAMES:
        return None
    if groups is None:
        return NameLexicon.of_groups()
    if not isinstance(groups, (tuple, list)) or not all(isinstance(x, str) for x in groups):
        return None  # said better of two names
    known = [name_group(group) is not None for group in groups]
    # "White" alone is a last name too; "Black Female" is none.
    certain = [
        name_group(each) is not None and (each.islower() or " " in each.strip()) for each in groups
    ]
    if all(known) or any(certain) or len(groups) > 2:
        return NameLexicon.of_groups(groups)
    meant = next((each for each in groups if each.islower() and similar_group(each)), None)
    if meant is None and all(is_one_of(each.casefold(), "demonyms") for each in groups):
        meant = groups[known.index(False)]
    if meant is not None:
        raise ValueError(f"no names are listed for group {meant!r}; {nearest_group(meant)}")
    return None


def _people(cells: Sequence[str]) -> Iterator[Person]:
    """Yield the names of a group: by line, then by cell."""
    parts = [(split_cell(cell), cell) for cell in cells]
    for line in range(min(len(listed_names(*own)) for own, _ in parts)):
        for (origin, gender), cell in parts:
            lasts = listed_names(origin, "last")
            yield Person(listed_names(origin, gender)[line], lasts[line % len(lasts)], cell)


def _own_people(given: Any, source: str, group: object) -> list[Person]:
    """Return the names of a group of the caller's."""
    where = f"{source}, group {group!r}"
    lists = given if isinstance(given, Mapping) else {"": given}
    lasts = _texts(lists["last"], f"{where}, last") if "last" in lists else []
    people = []
    for gender, listed in lists.items():
        if gender == "last":
            continue
        if gender not in ("", *GENDERS):
            hint = suggestion(str(gender), [*GENDERS, "last"])
            raise ValueError(f"{where}: {gender!r} is no kind of name; {hint}")
        for number, name in enumerate(_texts(listed, where)):
            first, _, last = name.partition(" ")
            if is_title(first.rstrip(".").lower()):
                raise ValueError(f"{where}: {name!r} begins with a title; leave that out")
            if lasts and not last:
                last = lasts[number % len(lasts)]
            people.append(Person(first, last.strip(), gender or gender_of(first)))
    if not people:
        raise ValueError(f"{where} has no first names; give a list of them")
    return people


def _texts(given: Any, where: str) -> list[str]:
    if isinstance(given, str) or not isinstance(given, Sequence) or not given:
        raise ValueError(f"{where}: names are {given!r}; give a list of them")
    for name in given:
        if not isinstance(name, str) or not any(map(str.isalpha, name)):
            raise ValueError(f"{where}: {name!r} is not a name; give texts")
    return list(dict.fromkeys(" ".join(name.split()) for name in given))


def _aligned(own: Mapping[str, Sequence[Person]], source: str) -> dict[str, tuple[Person, ...]]:
    """Return as many names for every group, of one gender at one place where all have it."""
    genders = [{one.cell for one in listed} for listed in own.values()]
    shared = set.intersection(*genders)
    for group, listed in own.items():
        alone = next((one for one in listed if shared and one.cell not in shared), None)
        if alone is not None:
            gender = alone.cell or "of unknown gender"
            raise ValueError(
                f"{source}, group {group!r}: {alone.first!r} is {gender}, and not every group has "
                "such names; leave it out, or say the genders: "
                f'{{{group!r}: {{"female": [...], "male": [...]}}, ...}}'
            )
    found: dict[str, tuple[Person, ...]] = dict.fromkeys(own, ())
    for gender in sorted(shared) or ["any"]:
        parts = {
            group: [one for one in listed if gender in (one.cell, "any")]
            for group, listed in own.items()
        }
        for group, part in parts.items():
            most = max(map(len, parts.values()))
            found[group] += tuple(itertools.islice(itertools.cycle(part), most))
    return found


def _entries(people: Mapping[str, Sequence[Person]]) -> Iterator[Entry]:
    """Yield an entry for each line of first names, and for each line of last names."""
    written: set[str] = set()
    for part in ("first", "last"):
        for line in zip(*people.values(), strict=True):
            terms: dict[str, tuple[str, ...]] = {
                group: (name,)
                for group, person in zip(people, line, strict=True)
                if (name := getattr(person, part)) and name not in written
            }
            written.update(*terms.values())
            if terms:
                yield Entry("name", terms)
