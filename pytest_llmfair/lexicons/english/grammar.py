"""The default grammar of English."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from importlib import resources

from pytest_llmfair.lexicons.english import ages, conditions, plain, titles
from pytest_llmfair.lexicons.english.persons.rules import RULES, speaks_of_person
from pytest_llmfair.lexicons.english.pronouns.roles import pronoun_role
from pytest_llmfair.lexicons.english.pronouns.things import stands_for_thing
from pytest_llmfair.lexicons.english.usage import USES
from pytest_llmfair.lexicons.grammar import Kind, Name, Verdict

_COUNTS = {
    "condition": conditions.counts,
    "age": ages.counts,
    "title": titles.counts,
    "plain": plain.counts,
}


class English:
    """The rules of English."""

    def role(self, text: str, start: int, end: int, roles: Collection[str]) -> Verdict:
        """Tell which of its roles a pronoun has; "" where it stands for a thing."""
        if stands_for_thing(text, start, end):
            return Verdict("")
        if len(roles) == 1:
            return Verdict(next(iter(roles)))
        return Verdict(pronoun_role(text, start, end, roles))

    def counts(self, text: str, start: int, end: int, kind: Kind) -> Verdict:
        """Tell whether a term names the group of a person here."""
        if kind in _COUNTS:
            return _COUNTS[kind](text, start, end)
        return Verdict(_counts_before(text, start, end, kind))

    def is_this_person(self, text: str, start: int, end: int, name: Name) -> Verdict:
        """Tell whether a name is the person asked for."""
        raise NotImplementedError


# In transition: nouns and adjectives are read by the rules of the contexts that they had before.
_AGED = re.compile(r"\d|.*(?:year|yr)s?[ -]old")
_PREDICATES = ("years old", "years of age")


def _counts_before(text: str, start: int, end: int, kind: Kind) -> bool:
    word = " ".join(text[start:end].lower().replace("\xad", "").split())
    if (word[0].isdigit() or word[-1].isdigit()) and ages.is_in_range(text, start, end):
        return False
    contexts = _contexts_before()[kind].get(word)
    if contexts is None and _AGED.match(word):
        if kind == "person_noun":
            contexts = ("people",) if word.endswith("olds") else ("person_noun",)
        else:
            contexts = ("predicate",) if word.endswith(_PREDICATES) else ("before_person",)
            contexts = ("before_person", "predicate") if word.endswith("o") else contexts
    if contexts is None:
        contexts = ("before_person",) if kind == "person_adjective" else ("person_noun",)
    return any(
        speaks_of_person(text, start, end, context)
        if context in RULES
        else USES[context](text, start, end)
        for context in contexts
    )


@functools.cache
def _contexts_before() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    import yaml

    file = resources.files("pytest_llmfair.lexicons") / "english" / "contexts_before.yaml"
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    return {
        kind: {word: tuple(contexts.split()) for contexts, words in by.items() for word in words}
        for kind, by in data.items()
    }
