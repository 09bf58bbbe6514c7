"""Things that no list of gifts holds: "gave her mixed reviews", "handing her ingredients"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_final,
    is_participle,
    is_predicative,
    tells_when,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import is_person
from pytest_llmfair.lexicons.english.pronouns.handed import (
    is_by_herself,
    is_by_other,
    is_handed,
)
from pytest_llmfair.lexicons.english.pronouns.nearby import words_behind

_NO_GIVING = (
    *("allow", "allows", "allowed", "allowing"),
    *("permit", "permits", "permitted", "permitting"),
)
_OWNED_BEHIND = ("of", "for", "as")  # "gave her reason for leaving"
_DESCRIBING = ("offered", "attributive", "comparatives", "demonyms", "closed_if_final")
_QUALITIES = ("ility", "tivity", "ness")
_FORMED = ("ic", "al", "ive", "ent", "ant", "ary", "ory", "ular", "ing")


def is_gift(around: Around) -> bool:
    """Whether a described or an unlisted thing goes to her, and is not her own.

    One that is described is a listed one or several: "sent her anonymous threats"; one that is not
    is several: "gave her tasks". Single things need an article: "gave her final lecture" is hers.
    """
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    if verb in _NO_GIVING or (verb == "given" and not is_final(around.before[0])):
        return False  # "allows her usual bias", "Given her recent choices"
    if first == "more" and _ends(third, ""):  # "showed her more affection"
        adjective = is_predicative(second) or second in words["attributive"]
        return not (adjective or is_participle(second) or is_final(second))
    if _ends(second, third):
        noun, behind, further = first, second, third
        amount = noun in words["given_some"] and behind not in _OWNED_BEHIND
        known = verb in words["hand_over"] and (_is_several(noun) or amount)
    elif _ends(third, "") and (_describes(first) or _is_kind(first, second)):
        noun, behind, further = second, third, low(words_behind(around.text, around.end, 4)[3])
        known = f"{first}-{second}" in words["gifts_of_two"]
        known = known or _is_several(noun) or any(noun in words[kind] for kind in _THINGS)
        # "gave her greater mobility"
        known = known or (noun.endswith(_QUALITIES) and noun not in words["own_qualities"])
    elif _describes(first) and _describes(second):  # "gave her detailed technical advice"
        noun, behind, further = third, low(words_behind(around.text, around.end, 4)[3]), ""
        known = _ends(behind, "") and any(noun in words[kind] for kind in _THINGS)
    else:
        return False
    if not known or is_person(noun) or noun in words["own_goods"]:
        return False
    if noun in words["owned_plurals"] and not (noun != first and is_by_other(around)):
        return False  # "gave her results", not "the test gave her wrong results"
    for_another = f"{first}-{second}" in words["gifts_of_two"]  # "she gave her first aid"
    own = is_by_herself(around) and not for_another
    single = noun.removesuffix("s")
    if own or single in words["pets"] or single in words["animals"]:
        return False
    return is_handed(around, noun, behind, further)


_GOODS = ("given", "given_some", "gifts", "meals", "granted", "paid", "own_goods")
_THINGS = ("given", "given_some", "gifts", "granted", "offered_amounts")


def may_be_owned(around: Around) -> bool:
    """Whether what can be given to her can be her own as well: "brought her lunch"."""
    words = word_classes()
    first, second, _ = around.next
    return any(first in words[kind] for kind in _GOODS) or (
        _describes(first) and any(second in words[kind] for kind in _GOODS)
    )


def is_amount(around: Around) -> bool:
    """Whether some amount is left or made: "left her little time", "made her more money"."""
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    if first in words["sums"] and verb in words["make"]:  # "the books made her millions"
        return _ends(second, third) and is_by_other(around)
    if first not in words["left_amounts"] or not _ends(third, "") or is_by_herself(around):
        return False
    if verb in words["make"]:
        return second in words["made_amounts"]
    left = verb.startswith("leav") or verb == "left"
    return left and (second == "time" or any(second in words[kind] for kind in _THINGS))


def is_renown(around: Around) -> bool:
    """Whether a success brought her fame: "won her worldwide acclaim", "earned her praise"."""
    words = word_classes()
    first, second, third = around.next
    if around.before[1] not in words["win"] or is_by_herself(around):
        return False
    if first == "many":  # "won her many fans"
        return True
    famed = first in words["renown"] and _ends(second, third)
    return famed or (second in words["renown"] and _ends(third, "") and _describes(first))


def _ends(word: str, following: str) -> bool:
    return is_final(word) or is_adverb(word) or tells_when(word, following)


def _is_kind(first: str, second: str) -> bool:
    """Whether a noun tells of what kind a thing is: "vitamin tablets", "first aid"."""
    words = word_classes()
    return first in words["gift_kinds"] or f"{first}-{second}" in words["gifts_of_two"]


def _is_several(noun: str) -> bool:
    return noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))


def _describes(word: str) -> bool:
    words = word_classes()
    if word in words["owned_adjectives"]:
        return False
    if any(word in words[kind] for kind in _DESCRIBING):
        return True
    formed = len(word) > 4 and word.endswith(_FORMED) and word not in words["not_participles"]
    return formed or is_predicative(word) or is_participle(word)
