"""Owners joined to "her" and "his": "her and Tom's wedding", "his and my proposal"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_closed,
    is_final,
    is_participle,
    is_predicative,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import is_person
from pytest_llmfair.lexicons.english.pronouns.nearby import words_behind

OTHER_OWNERS = ("their", "my", "your", "our", "its")
_WORD = r"[\w-]{1,30}"
# "and Tom's", "and her husband's", "and my old school friends'".
_OWNER = re.compile(
    rf"\s(?:and|n?or|&)\s(?:(?i:my|your|our|their|his|her|the)\s(?:{_WORD}\s){{0,2}}{_WORD}"
    rf"|(?:[A-Z][\w.-]{{0,30}}\s){{0,2}}[A-Z][\w-]{{0,30}}"
    r"|(?:every|some|any|no)(?:one|body)(?:\selse)?)(?:['\u2019]s|(?<=s)['\u2019])(?=\s)"
)
_OWNERS = r"(?:her|his|my|your|our|their|its)"
# "his, her and my shoes", "her, his or somebody's"
_LIST = re.compile(
    rf"(?:,\s{_OWNERS})+,?\s(?:and|n?or|&)\s(?:{_OWNERS}|[\w ]{{1,30}}['\u2019]s)\s[\w-]",
    re.IGNORECASE,
)
_OTHERS = re.compile(
    r"\b(?:mine|yours|hers|ours|theirs)\b|['\u2019]s (?:is|was|\w+s)\b"
    r"|\b(?:my|your|our|their) [\w-]+ (?:is|was|\w+s)\b",
    re.IGNORECASE,
)
_FAR = 80
_MORE = ("more", "less", "like", "too", "also", "fine", "all", "when", "every", "just")
_CLAUSES = ("but", "and", "while", "whereas", "because", "so", "yet", "though", "although")


def his_is_shared(around: Around) -> bool:
    """Whether somebody owns with him what follows: "his and Priya's proposal"."""
    words = word_classes()
    if around.before[1] == "of" and around.before[0] in words["acquaintances"]:
        return False  # "a friend of his and Tom's brother"
    owned = _owned(around)
    if not owned:
        return False
    # "The house is his and Priya's car is new".
    told = around.before[1] in words["copulas"] and around.before[0][:1].isalnum()
    return not (told and (owned[1] in words["auxiliaries"] or owned[1] in words["finite_verbs"]))


def is_in_list(around: Around) -> bool:
    """Whether owners are listed behind a comma: "his, her and my shoes"."""
    if around.next[0] != "," or not around.text.startswith(",", around.end):
        return False
    return around.next[1] == "" and _LIST.match(around.text, around.end) is not None


def is_compared(around: Around) -> bool:
    """Whether "his" is the subject of a verb beside another thing: "Mine leaks; his works"."""
    words = word_classes()
    first, second, _ = around.next
    stem = first.removesuffix("s")
    if stem == first or not (stem in words["base_verbs"] or stem in words["acts_of_things"]):
        return False
    front = around.before[1]
    joined = front in (",", ";") or front in _CLAUSES
    if front[:1].isalnum() and not joined:
        return False
    goes_on = is_adverb(second) or second in words["manners"] or second in _MORE
    if second[:1].isalnum() and not (joined and goes_on):
        return False  # "and his works of art"
    return _OTHERS.search(around.text, max(0, around.start - _FAR), around.start) is not None


def her_is_shared(around: Around) -> bool:
    """Whether somebody owns with her what follows: "at her and Tom's place".

    Inside a clause persons are joined to her: "met her and Tom's sister".
    """
    words = word_classes()
    _, other, third = around.next
    verb = around.before[1]
    opens = not verb[:1].isalnum() or verb in words["begins_clauses"]
    opens = opens or (verb == "both" and not around.before[0][:1].isalnum())
    if other in OTHER_OWNERS:
        if is_final(third) or not opens:
            return False
        heads = (third, low(words_behind(around.text, around.end, 4)[3]))
        if not any(is_person(word) for word in heads if word):  # no "her and my brother are"
            return True
    owned = _owned(around)
    if not owned or opens:
        return bool(owned)
    if verb == "between" or verb in words["give"] or verb in words["say_to"]:
        return False
    return not any(is_person(word) for word in owned if word)


def _owned(around: Around) -> tuple[str, str] | None:
    """Return the two words behind another owner; None where it is none: "her and Tom's late"."""
    owner = _OWNER.match(around.text, around.end)
    if owner is None:
        return None
    raw, behind = words_behind(around.text, owner.end(), 2)
    noun, behind = low(raw), low(behind)
    if not noun[:1].isalnum() or is_closed(noun) or is_adverb(noun):
        return None
    words = word_classes()
    if noun.endswith("ing") and noun not in words["not_participles"]:
        return None
    if (is_participle(noun) or is_predicative(noun)) and is_final(behind):
        return None
    return noun, behind
