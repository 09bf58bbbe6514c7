"""Words in front of a noun that agree with it: "la" and "el", "esta" and "este"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pytest_llmfair.counterfactuals._lexicons.loading import at_line, kind_of, suggestion
from pytest_llmfair.counterfactuals._lexicons.terms import Entry

Determiners = Mapping[str, tuple[Mapping[str, str], ...]]


def determiners_in(data: Any, labels: Mapping[str, str], source: str) -> Determiners:
    """Return the lists of determiners of a file by name, each by group.

    Raises
    ------
    ValueError
        If one is no list of mappings from every group to a word; the message names the line.
    """
    given = data.get("determiners") or {}
    where = at_line(source, data, "determiners")
    if not isinstance(given, Mapping):
        raise ValueError(
            f"{where}: determiners is a {kind_of(given)}; give name: [words by group]"
        )
    found = {}
    for name, listed in given.items():
        here = f"{at_line(source, given, name)}: determiners {name!r}"
        if not isinstance(listed, (list, tuple)) or not listed:
            raise ValueError(f"{here} is {listed!r}; give a list of mappings from group to word")
        found[name] = tuple(_by_group(words, labels, here) for words in listed)
    return found


def _by_group(words: Any, labels: Mapping[str, str], here: str) -> dict[str, str]:
    if not isinstance(words, Mapping):
        raise ValueError(f"{here} holds {words!r}; give a mapping from group to word")
    for label, word in words.items():
        if label not in labels:
            hint = suggestion(str(label), list(labels))
            raise ValueError(f"{here}: unknown group {label!r}; {hint}")
        if not isinstance(word, str) or not word.strip():
            raise ValueError(f"{here}: {word!r} is no word; quote it if YAML reads it otherwise")
    return {labels[label]: " ".join(word.split()) for label, word in words.items()}


def determined(entry: Entry, name: object, known: Determiners, where: str) -> Iterator[Entry]:
    """Give an entry, and one more for each determiner in front of its terms.

    A noun that both groups share ("estudiante") is found behind a determiner only. Raises
    ``ValueError`` without determiners of that name, or where these lack a group of the entry.
    """
    if name is None:
        yield entry
        return
    if not isinstance(name, str) or name not in known:
        hint = suggestion(str(name), list(known)) if known else "the file lists none"
        raise ValueError(f"{where}: unknown determiners {name!r}; {hint}")
    if len(set(entry.terms.values())) > 1:
        yield entry
    for words in known[name]:
        for group in entry.terms:
            if group not in words:
                raise ValueError(
                    f"{where}: determiners {name!r} have {dict(words)}, without one for {group!r}"
                )
        yield replace(
            entry,
            terms={
                group: tuple(f"{words[group]} {term}" for term in terms)
                for group, terms in entry.terms.items()
            },
            registers={
                f"{words[group]} {term}": entry.registers[term]
                for group, terms in entry.terms.items()
                for term in terms
                if term in entry.registers
            },
        )
