"""Phrases for a person of a group: listed for shipped lexicons, derived for others."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping

from pytest_llmfair._util.located import shipped
from pytest_llmfair.lexicons.english.words import is_one_of
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.terms import WRITTEN, Entry

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
