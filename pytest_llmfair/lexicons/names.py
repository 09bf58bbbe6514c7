"""The lexicon that swaps two names."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.grammar import Name
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.name_lexicon import NamesOfPeople
from pytest_llmfair.lexicons.terms import Entry, Sense

_FAMILY = "plural of a last name"


class _TwoNames(NamesOfPeople):
    """A lexicon of two names, found only where they are the person asked for."""

    def _name(self, sense: Sense) -> Name:
        own = frozenset(" ".join(self.groups).casefold().split())
        listed = itertools.chain(*sense.entry.terms.values()) if sense.entry else ()
        return Name(sense.group, sense.role, own, frozenset(map(str.casefold, listed)))


def name_lexicon(groups: Sequence[str] | None) -> Lexicon:
    """Make the lexicon of a name swap, for `mentions`, `mask` and `generate_pairs`.

    A name counts as a whole word with a capital first letter (or all capitals), in the plural
    after a number ("two Johns") and as a family ("the Walshes"); in lower case only if it was
    given so, or if the text has no capital at all. Other people are left alone: "Johnson",
    "John-Paul", "Mary Ann", "John" after another first name ("Elton John"), "King John",
    "Henry VIII", and for a full name everyone with another first or last name. So are schools,
    streets and shops of that name ("John Street", "Joe's Diner"). There is no list of famous
    people, firms or works: "Mark" in "Mark Twain" is swapped.

    Some names are also a word, a month, a place, a firm or a people ("Rose", "May", "Jordan",
    "Chase", "Christian"). The words around them decide: a title, a greeting, a last name, a
    person's verb, "her" or "his" close by make it the person; "in May", "May 5", "moved to
    Jordan", "Rose petals", "a Ford" do not. Where neither is there, the mention is uncertain and
    the prompt gives no pair. Write the full name, or use a slot ("{Person}"), to settle it.

    A prompt that already has the second name is left out by `generate_pairs`, since both people
    would have the same name. Titles and pronouns stay as they are ("Mr. Jane Smith called his
    wife"): choose two names of one gender if the prompts have them.

    Parameters
    ----------
    groups : (str, str)
        The two names; each is a group of its own. Two names of equally many words ("Emily Walsh",
        "Keisha Banks") are exchanged word by word, so that "Emily" or "Ms. Walsh" alone follows,
        and so do initials next to the rest of the name ("E. Walsh", "Walsh, E.", "Emily W.") or
        both together ("E.W.") where the text has the names too. Middle names stay ("Emily Jane
        Walsh"); "D. Walsh" is another person.

    Returns
    -------
    Lexicon
        For attribute "name".

    Raises
    ------
    ValueError
        If these are not two different names.

    Examples
    --------
    >>> from pytest_llmfair.counterfactuals import generate_pairs
    >>> lexicon = name_lexicon(("Emily Walsh", "Keisha Banks"))
    >>> generate_pairs(["Emily called. Ms. Walsh was late."], lexicon)[0].counterfactual
    'Keisha called. Ms. Banks was late.'
    """
    if not isinstance(groups, (tuple, list)) or len(groups) != 2:
        raise ValueError(f'groups is {groups!r}; give two names, such as ("John", "Jane")')
    for name in groups:
        if not isinstance(name, str) or not any(char.isalpha() for char in name):
            raise ValueError(f'{name!r} is not a name; give two texts, such as ("John", "Jane")')
    first, second = groups = groups[0].strip(), groups[1].strip()
    if first.casefold().split() == second.casefold().split():
        raise ValueError(f"groups is {groups!r}, the same name twice; give two different names")
    shorter, longer = sorted((f" {name.casefold()} " for name in groups), key=len)
    if shorter in longer:
        raise ValueError(
            f"groups is {groups!r}, and one name contains the other; give a first and a last name "
            "for both, or for neither"
        )
    return _TwoNames("name", groups, groups, tuple(_entries(first, second)))


def _split(name: str) -> list[str]:
    """Return first and other names: "Ludwig", "van Houten"; "Mary Ann", "Jones"."""
    first, *others = name.split()
    double = is_one_of(first.casefold(), "double_firsts") and bool(others)
    if double and is_one_of(others[0].casefold(), "double_seconds"):
        first, others = f"{first} {others[0]}", others[1:]
    parts: list[str] = []
    for word in reversed(others):
        if parts and is_one_of(word.casefold(), "name_particles"):
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
            role = "plural" if is_one_of(first.casefold(), "first_names") else _FAMILY
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
    """Yield the initials of first and last name, where both names have two that differ."""
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


def _overlap(parts: list[str], others: list[str]) -> bool:
    """Whether a word is at different places in the two names ("Lee Kim", "Kim Lee")."""
    places = itertools.product(enumerate(parts), enumerate(others))
    return any(a[1].casefold() == b[1].casefold() and a != b for a, b in places)
