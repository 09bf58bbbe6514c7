"""Whether "her" is the one who acts: "have her call me", "me and her share a flat"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_final,
    is_in_ly,
    is_number,
    is_participle,
    is_predicative,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import is_person
from pytest_llmfair.lexicons.english.pronouns.growing import shows_verb
from pytest_llmfair.lexicons.english.pronouns.handed import is_by_herself

_NEAR = 50
# The beginning of a clause with "me and", "my mum and": who shares what follows.
_SHARED = re.compile(
    r"(?:(?:\A|[\n.!?;:,(\"\u201c\u2018\u2014])\s*"
    r"|\b(?i:because|since|so|that|when|while|if|but|where|how|why|until|did|do|does)\s)"
    r"(?i:both\s)?(?:(?P<pronoun>(?i:me|you|him|us|them|i|he|we|they))|[A-Z][\w'\u2019-]+"
    r"|(?i:my|your|our|his|her|their|the)\s(?:[\w-]+\s)?[\w-]+)\s(?:and|&)\s\Z"
)
_EVERYONE = ("everyone", "everybody", "nobody", "anyone", "anybody", "one", "none", "all")
_ANYTHING = ("something", "anything", "everything", "someone", "anyone", "everyone", "somebody")
_BOTH = ("handled", "verbal_nouns", "base_nouns", "developing")
_SAVE = ("but", "except", "save", "besides")


def acts_herself(around: Around) -> bool | None:
    """Whether she does what follows a verb of letting, having or seeing: "heard her call me".

    None where other rules must tell.
    """
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    if f"{around.before[0]}-{verb}" in words["attending"]:  # "listening to her speak"
        return (first in words["base_verbs"] and first not in words["base_nouns"]) or None
    helped, had = verb in words["let_make_help"], verb in words["have"]
    if not (helped or had or verb in words["perceive"]):
        return None
    if first == "live" and second in words["live_things"]:  # "made her live debut"
        return False
    if (first, second) == ("guard", "down"):
        return False
    if _is_done_to_person(second, third):
        return True
    if first in words["seeming"] and verb in words["make"] and _is_state(second):
        return True  # "made her look older"
    if helped and _begins_task(around):
        return True
    if shows_verb(around):
        return True
    if is_in_ly(first) and _is_done_so(second, third):
        return True  # "watched her carefully fold the letter"
    if first in words["prepare"] and second in words["meals"] and is_final(third):
        return True  # "have her order lunch"
    if first in words["base_verbs"]:
        recalled = verb in words["recall"] and first in words["base_nouns"]
        return None if recalled else _is_base_verb(around)
    if had:
        return _is_ordered(around) or None
    if helped:
        if first in words["verbal_nouns"] and is_final(second):  # "made her cough"
            return True
        if verb in words["let"] and first in words["handled"]:  # "let her order in"
            return is_final(second) and second != "be"
        return _is_helped(around) or None
    if second == "that" and third in words["subjects_of_clauses"]:  # "heard her voice that I"
        return None
    if second in words["articles"]:  # "watched her paint the fence"
        return third not in words["times"] and first not in words["person_nouns"]
    if verb in words["witnessing"] and first in words["bodily_acts"] and _ends(second):
        return True
    if first in words["slips"]:  # "saw her trip on the stairs"
        return second in words["behind_slips"]
    if second == "back":  # "saw her grin back at me"
        return (first in words["gestures"] and third == "at") or None
    aimed = first in words["verbal_nouns"] and third in words["objects"]
    return (second == "at" and (aimed or first in words["gestures"])) or None


def shares_predicate(around: Around) -> bool:
    """Whether somebody is joined in front and does the same: "me and her share a flat"."""
    words = word_classes()
    first, second, third = around.next
    before = around.before
    if before[1] in _SAVE and before[0] in _EVERYONE:  # "everyone but her eats meat"
        single = first[:-1]
        if not first.endswith("s"):
            return False
        verb = single in words["base_verbs"] and single not in words["base_nouns"]
        known = verb or single in words["wanting"]
        return known or (single in words["base_verbs"] and is_final(second))
    if before[1] not in ("and", "&"):
        return False
    bare = first in words["base_verbs"] or first in words["shared_verbs"]
    if not (bare or is_adverb(first)):
        return False
    shared = _SHARED.search(around.text, max(0, around.start - _NEAR), around.start)
    if shared is None:
        return False
    if not bare:  # "me and her finally married"
        verb = any(second in words[kind] for kind in ("finite_verbs", "acted", "base_verbs"))
        return (verb or is_participle(second)) and is_final(third)
    when = is_adverb(second) or second.removesuffix("s") in words["times"]  # "work nights"
    if second in words["articles"] or when or second in ("together", "apart"):
        return True
    noun = first in words["base_nouns"] or first in words["shared_verbs"]
    known = shared["pronoun"] is not None or not noun
    return known and is_final(second) and second not in ("of", "for", "and")


def _is_base_verb(around: Around) -> bool | None:
    """Whether a word that can be a verb is one here: "let her work", not "let her work speak"."""
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    noun = first in words["base_nouns"]
    if verb in words["have"]:
        counted = bool(second) and is_number(second) and third not in words["spans"]
        if not noun or counted or second in words["articles"]:  # "had her run two laps"
            return bool(second) and second[0].isalnum() and not _lasts(second, third)
        return (bool(second) and second[0].isalnum()) if is_final(second) else None
    if verb not in words["let_make_help"]:  # not "see her work come to life"
        return not (noun and second in words["base_verbs"] and second not in words["manners"])
    if noun and second in words["base_verbs"]:
        return False
    if verb in words["make"] and _is_made_by_herself(around):
        return False
    if noun and verb in words["make"]:  # "make her work visible", "her dance a success"
        manner = second in words["manners"]
        if is_predicative(second) and is_final(third) and not manner:
            return False
        described = is_predicative(third) or third in words["attributive"]
        if second in words["compares"] and described:  # "her work more complicated"
            return False
        return not (second in ("a", "an") and third in words["results"])
    return True


def _begins_task(around: Around) -> bool:
    """Whether it is told with what she is helped: "help her draft something", "better plan"."""
    words = word_classes()
    first, second, third = around.next
    if first == "better":
        return second in words["base_verbs"] or any(second in words[kind] for kind in _BOTH)
    if not (first in words["base_verbs"] or any(first in words[kind] for kind in _BOTH)):
        return False
    if second == "up" and around.before[1].startswith("help"):  # "help her cover up the well"
        return not is_person(first)
    return second in _ANYTHING or (second == "into" and third in words["articles"])


def _is_made_by_herself(around: Around) -> bool:
    """Whether one makes it oneself: "made her escape", "makes her return to the stage"."""
    words = word_classes()
    first, second, _ = around.next
    if first in words["moves_made"]:
        return not (second in words["articles"] or second in words["determiners"])
    return first in words["moves_ending"] and (
        not second[:1].isalnum() or second in ("and", "but")
    )


def _is_ordered(around: Around) -> bool:
    """Whether a noun behind "have her" is a verb: "have her paint the hall"."""
    words = word_classes()
    first, second, third = around.next
    if first in words["reported"] and second in words["behind_reported"]:
        return True  # "have her call back"
    noun = first in words["not_participles"] or first in words["going_nouns"]
    if first.endswith("ing") and not noun:
        timed = second.removesuffix("s") in words["times"] or second in words["articles"]
        known = timed or is_adverb(second) or (is_final(second) and first not in words["loads"])
        return known and not is_by_herself(around)  # "has her working nights"
    acts = first in words["handled"] or first in words["verbal_nouns"]
    return acts and _begins_object(second) and not _lasts(second, third)


def _is_helped(around: Around) -> bool:
    """Whether an article begins what she does: "let her paint a wall"; not "her life a misery"."""
    words = word_classes()
    first, second, third = around.next
    if second[:1].isdigit() and around.before[1].startswith("help"):  # "help her place 40 pots"
        return first in words["handled"]
    if second not in words["articles"] or _lasts(second, third):
        return False
    if first in words["handled"] or first in words["verbal_nouns"]:
        made = around.before[1] in words["make"] and second in ("a", "an")
        return not (made and third in words["results"])
    if first in words["person_nouns"] or first.removesuffix("s") in words["person_nouns"]:
        return False
    return around.before[1] not in words["make"] or second not in ("a", "an")


def _is_done_to_person(second: str, third: str) -> bool:
    """Whether a person, or "it", is whom it is done to: "call you back"; not "work you liked"."""
    words = word_classes()
    if second in ("me", "us", "him", "them"):
        return True
    if second not in words["done_to"]:
        return False
    single = third.removesuffix("s")
    clause = (
        third in words["finite_verbs"]
        or third in words["auxiliaries"]
        or third in words["acted"]
        or is_participle(third)
    )
    return not (clause or single in words["base_verbs"] or single in words["verbal_nouns"])


def _is_state(word: str) -> bool:
    return is_predicative(word) or word in word_classes()["comparatives"] or is_final(word)


def _ends(word: str) -> bool:
    return is_final(word) or is_adverb(word)


def _is_done_so(second: str, third: str) -> bool:
    """Whether a verb follows an adverb: "fold the letter"; not "prepared notes"."""
    if is_participle(second) or second.endswith("ing"):
        return False
    words = word_classes()
    return second in words["base_verbs"] or third in words["objects"] or _begins_object(third)


def _begins_object(word: str) -> bool:
    words = word_classes()
    return word in words["articles"] or word in words["determiners"] or word.endswith("'s")


def _lasts(article: str, noun: str) -> bool:
    """Whether a time begins with an article: "the whole day", "a bit longer"."""
    words = word_classes()
    return _begins_object(article) and (
        noun in words["times"] or noun in words["whole_times"] or noun in words["spans"]
    )
