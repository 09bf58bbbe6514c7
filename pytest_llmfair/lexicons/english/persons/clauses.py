"""Whether a word behind "the old" is the verb of its clause, by the other words of the clause."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.surroundings import Words
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    ends_phrase,
    is_person,
    is_verb,
    singulars,
)

_ASKED = ("what", "who", "which", "how", "why")
_RELATIVE = ("who", "that")
_FAR = 7  # words in which the verb of a noun is looked for
_JOINED = (*JOINS, ",", "while", "whereas")


def is_told(behind: Words) -> bool:
    """Whether what could be a verb is a noun, of which a finite verb tells: "date was fun".

    One part of the sentence may stand between: "the old stay in the valley was", "the old play the
    school put on was".
    """
    if not behind or not is_one_of(behind[0], "noun_verbs"):
        return False
    following = behind[1] if len(behind) > 1 else ""
    owned = is_one_of(following, "determiners")
    wanted = 2 if owned else 1  # "the old play the school put on" holds a verb of its own
    joined = owned or is_one_of(following, "prepositions")
    for word in behind[1:_FAR] if joined else behind[1:2]:
        if _is_finite(word) if owned else _is_form(word):
            wanted -= 1
            if not wanted:
                return True
        if word in (",", "they") or is_one_of(word, "clause_starts") or word in _ASKED:
            return False
    return False


def is_plural_noun(word: str) -> bool:
    """Whether a verb in -s is a noun, as it can be none of several: "the old dances"."""
    if not word.endswith("s") or word.endswith(("ss", "us")) or ends_phrase(word):
        return False
    kinds = ("base_verbs", "person_verbs", "noun_verbs")
    return any(is_one_of(form, kind) for form in singulars(word)[1:] for kind in kinds)


def is_only_verb(front: str, behind: Words) -> bool:
    """Whether a clause would have no other verb: "when the old cough, nobody listens"."""
    if not is_one_of(front, "conjunctions"):
        return False
    for word in behind[1:_FAR]:
        if word == ",":
            return True
        if word.endswith(("s", "ed")) or _is_finite(word) or is_verb(word, "", bare=True):
            return False
    return len(behind) < _FAR


def follows_relative(before: Words, behind: Words) -> bool:
    """Whether a verb follows what is said of "who" or "anyone": "who is deaf wants".

    Behind "who is deaf" no noun can stand, behind "who are deaf" one can: "who are deaf book a".
    """
    verb, third = (*behind[:2], "", "")[:2]
    if not verb.isalpha() or verb.endswith(("ss", "us")):
        return False
    at = len(before) - 1
    while at > 0 and is_one_of(before[at], "predicate_adverbs"):
        at -= 1
    finite = verb.endswith(("s", "ed"))
    if is_one_of(before[at], "indefinite"):
        return at == 0 and finite
    if at < 1 or before[at - 1] not in _RELATIVE:
        return before[at] in ("who's", "that's") and finite
    if before[at] in ("is", "was", "isn't", "wasn't"):
        return finite
    object_follows = is_one_of(third, "determiners") or is_one_of(third, "person_objects")
    return before[at] in ("are", "were") and not verb.endswith("s") and object_follows


def is_contrasted(before: Words, behind: Words, kind: str) -> bool:
    """Whether another verb is said of the opposite: "the young walk, the old ride".

    `before` ends in front of the article, `kind` is the class of the opposites.
    """
    if not kind:
        return False
    for at in range(1, min(_FAR, len(behind) - 2)):
        if behind[at] in _JOINED and _is_opposite(behind[at + 1 :], kind):
            return True
    if not before or before[-1] not in _JOINED:
        return False
    begin = max(0, len(before) - _FAR)
    return any(_is_opposite(before[at:], kind) for at in range(begin, len(before) - 2))


def trusts_persons(behind: Words) -> bool:
    """Whether persons and a comparison follow: "the young trust influencers more than"."""
    if len(behind) < 3 or behind[2] not in ("more", "less", "better", "most", "least", "too"):
        return False
    risen = behind[3:4] == ("than",) and " ".join(behind[4:5]).endswith("ed")  # "doubled"
    return behind[1].endswith("s") and is_person(behind[1]) and not risen


def _is_opposite(words: Words, kind: str) -> bool:
    """Whether the words begin with "the young walk" and the clause can end there."""
    if len(words) < 3 or words[0] != "the" or not is_one_of(words[1], kind):
        return False
    return is_verb(words[2], "", bare=True) and ends_phrase(" ".join(words[3:4]))


def _is_finite(word: str) -> bool:
    known = ("acted", "past_verbs", "other_pasts")
    past = any(is_one_of(word, kind) for kind in known) or word.endswith("ed")
    return past or _is_form(word)


def _is_form(word: str) -> bool:
    return is_one_of(word, "finite_forms") or is_one_of(word, "finite_verbs")
