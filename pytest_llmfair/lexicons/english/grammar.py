"""The default grammar of English."""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_llmfair.lexicons.english import names
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.rules import RULES, speaks_of_person
from pytest_llmfair.lexicons.english.pronouns.roles import pronoun_role
from pytest_llmfair.lexicons.english.pronouns.things import stands_for_thing
from pytest_llmfair.lexicons.english.rulers import is_royal, is_ruler
from pytest_llmfair.lexicons.english.usage import (
    USES,
    is_in_range,
    is_kin,
    is_place,
    names_thing,
)
from pytest_llmfair.lexicons.english.works import is_in_title, is_possessed
from pytest_llmfair.lexicons.grammar import Kind, Name, Verdict

_NEAR = 40
_NAME_AFTER = re.compile(r"[^\S\n]+[\"'\u2018\u201c]?([^\W\d_]\w*)")
# A name to be filled in: "Miss [NAME]", "Lady {name}", "Miss ___".
_BLANK_AFTER = re.compile(r"[^\S\n]+(?:\[[A-Za-z]|\{[\s\w{]|<[A-Za-z]|_{2}|\$\{?[A-Za-z]|%s\b)")
_NAME_BEFORE = re.compile(r"([^\W\d_][\w'\u2019-]*)(\.?)[^\S\n]+\Z")


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
        return Verdict(_counts(text, start, end, kind))

    def is_this_person(self, text: str, start: int, end: int, name: Name) -> Verdict:
        """Tell whether a name is the person asked for."""
        return names.is_this_person(text, start, end, name)


def _counts(text: str, start: int, end: int, context: str) -> bool:
    word = text[start:end]
    if (word[0].isdigit() or word[-1].isdigit()) and is_in_range(text, start, end):
        return False
    if context == "before_name":
        if not word[0].isupper() or word.isupper():
            return False
        if not (_before_name(text, end) or _BLANK_AFTER.match(text, end)):
            return False
        return not names_thing(text, start, end)
    if context in RULES:
        return speaks_of_person(text, start, end, context)
    if context in USES:
        return USES[context](text, start, end)
    if context == "royal" and not is_royal(text, start, end):
        return False
    if context == "not_behind_name" and not is_kin(text, start, end):
        return False
    if not word[0].isupper():
        return True
    if is_place(text, end):
        return False
    if not word.isupper():
        if context == "not_beside_name":
            named = _before_name(text, end) or _behind_name(text, start)
            return not (named or is_possessed(text, start, end)) and is_ruler(text, start, end)
        if context == "not_behind_name" and is_in_title(text, start, end):
            return False
    return not _behind_name(text, start)


# Titles count whatever their case: an exchange can change it ("mr" to "Ms").
def _before_name(text: str, end: int) -> bool:
    match = _NAME_AFTER.match(text, end)
    return (
        match is not None and match[1][0].isupper() and not is_one_of(match[1].lower(), "titles")
    )


def _behind_name(text: str, start: int) -> bool:
    near = max(0, start - _NEAR)
    if not text[start - 2 : start - 1].isspace():  # the usual case at less cost
        near = max(near, text.rfind(" ", near, start - 1))
    match = _NAME_BEFORE.search(text, near, start)
    if match is None:
        return text[max(0, start - 2) : start] == "& "  # "Jensen & Sons"
    word = match[1].lower()
    if word.endswith(("'s", "\u2019s")):
        return False
    if is_one_of(word, "titles"):
        return True
    if not match[1][0].isupper():
        return False
    if match[2]:
        return len(word) == 1 or is_one_of(word, "abbreviations")
    return not is_one_of(word, "closed")
