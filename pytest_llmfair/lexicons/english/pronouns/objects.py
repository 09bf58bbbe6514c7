"""Whether "her" is an object although a word follows that could be its noun: "made her cry"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_final,
    is_in_ly,
    is_number,
    is_participle,
    is_predicative,
    tells_when,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import is_person
from pytest_llmfair.lexicons.english.pronouns.acting import (
    acts_herself,
    shares_predicate,
)
from pytest_llmfair.lexicons.english.pronouns.doing import (
    is_described_by,
    is_found_doing,
)
from pytest_llmfair.lexicons.english.pronouns.gifts import is_amount, is_gift, is_renown
from pytest_llmfair.lexicons.english.pronouns.handed import (
    is_by_herself,
    is_by_other,
    is_handed,
    is_labelled,
)
from pytest_llmfair.lexicons.english.pronouns.nearby import words_behind
from pytest_llmfair.lexicons.english.pronouns.quoted import is_before_quotation
from pytest_llmfair.lexicons.english.pronouns.said_of import (
    is_impression,
    is_result,
    is_utterance,
)
from pytest_llmfair.lexicons.english.pronouns.settled import is_settled

_PARTS_OF_DAY = ("morning", "afternoon", "evening", "night")
_ORDINAL = ("st", "nd", "rd", "th")
_STANCES = ("straight", "flat", "upright")
_VERBS = ("base_verbs", "handled", "verbal_nouns")
_NO_STATES = ("more", "less", "fewer", "other", "rather")
# "Called her vile, insulting names".
_NAMES = re.compile(r"\s[\w-]+(?:,?\s[\w-]+){1,2} names\b")
_MONEY = ("$", "\u00a3", "\u20ac", "\u00a5")


def reads_as_object(around: Around) -> bool:
    """Whether "her" is an object although an open-class word follows: "made her cry"."""
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    raw = around.next_raw
    final = is_final(second)
    if second == "and" and f"{first}-{third}" in words["word_pairs"]:  # "day and night"
        return True
    if is_settled(around) or _is_seen_of_her(around):
        return True
    if (first, second) == ("head", "on") and not third[:1].isalnum():  # "hit her head on"
        return True
    mark = around.text[around.end + 1 : around.end + 2]
    if not mark.isalpha():
        if (quoted := is_before_quotation(around)) is not None:
            return quoted
        if mark in _MONEY:
            return _is_paid(around)
    if is_result(around) or (first.endswith(("ed", "s")) and is_impression(around)):
        return True
    if first.endswith("ing"):
        if is_described_by(around):
            return False
        if is_found_doing(around):
            return True
    acts = acts_herself(around)
    if acts is not None:
        return acts
    in_clause = around.before[0] in ("who", "that") and second in words["subjects_of_clauses"]
    if (in_clause and first in words["base_verbs"]) or shares_predicate(around):
        return True
    if around.before[0] == "who" and final and _is_verb_only(first):  # "all who know her say that"
        return True
    if is_utterance(around) or is_amount(around) or is_renown(around):
        return True
    if verb in words["appoint"] and (office := _ends_office(around.next)) is not None:
        return office
    if first.endswith("ing") and first not in words["not_participles"]:
        if second in words["activity_heads"]:  # "heard her singing voice"
            return False
        if verb in words["give"] and is_gift(around):  # "gave her conflicting advice"
            return True
        if verb in words["complement"] and is_predicative(first) and ends_at_second(around):
            return True  # "considered her charming"
        flung = _moved(around) and (final or is_adverb(second)) and not _is_load(around)
        return verb in words["perceive"] or verb in words["keep"] or flung
    if first == "being":
        return verb in words["keep"]
    if first in words["finite_verbs"]:  # "those who met her said"
        return True
    if first in words["acted"] and _goes_on_with(first, second):  # "all who knew her lost a"
        return True
    if first in words["spans"]:  # "it took her years"
        return verb in words["lasting"] and final
    if verb in words["name"] and second == "," and _NAMES.match(around.text, around.end):
        return True
    if verb in words["name"] and "names" in (first, second):
        bad = is_predicative(first) or first in words["attributive"] or first == "mean"
        return final if first == "names" else bad and is_final(third)
    counted = _counts(first)
    said_of = is_predicative(first) and not counted  # not "numerous"
    described = said_of or (first in words["comparatives"] and first not in _NO_STATES)
    if verb in words["complement"] and described and (first, second) != ("kind", "of"):
        going = second.endswith("ing") and second not in words["not_participles"]
        goes_on = going or second in words["let_make_help"] or second in words["finite_verbs"]
        return ends_at_second(around) or second == "enough" or goes_on
    if verb in words["perceive"] and said_of and first not in words["also_nouns"]:
        return final  # "never saw her sad"
    if (verb in words["complement"] or verb in words["appoint"]) and first in words["compares"]:
        described = is_predicative(second) or is_participle(second)
        return described and (is_final(third) or is_adverb(third))
    if verb in words["make"] and (first, second) == ("part", "of"):
        return True
    if verb in words["arrange"] and is_participle(first):
        return final
    if first in words["irregular_participles"] and _is_left(verb):
        return final or is_adverb(second)
    if first in words["degrees"] and is_final(third) and second not in words["after_degrees"]:
        return verb in words["complement"] or is_adverb(second)
    if first.endswith("ly") and is_in_ly(first) and is_final(third):
        return _is_described(verb, second)
    each = third in ("a", "per", "each", "every") and counted and verb != "in"
    if each and second[:-1] in words["frequencies"]:  # "two nights a week"
        return verb not in words["liking"]
    if second == "more" and verb in words["lasting"] and counted:
        return True
    if counted and second in words["spans"]:
        if third in words["after_spans"] or second == "times" or verb in words["known"]:
            return True
        if third in ("old", "older", "younger"):  # "that makes her 57 years old"
            return verb in words["complement"] and second.endswith("s")
        return any(verb in words[kind] for kind in ("give", "wager", "lasting"))
    if counted and _are_alive(second):
        return False  # "fed her two sons"
    if counted and (verb in words["wager"] or _is_effort(verb, second)):
        return True
    if _is_charged(around):
        return True
    if first == "hundred" and second in ("percent", "per"):  # "gave her hundred percent"
        return False
    if (first in words["numbered"] or first in words["labels"]) and is_labelled(around):
        return True
    if verb in words["give"] and counted:
        return is_handed(around, first, third, low(words_behind(around.text, around.end, 4)[3]))
    if verb in words["teach"] and first in words["subjects"]:
        return final
    verb_object = words["articles"] if around.before[0] in ("who", "that") else words["objects"]
    if second in verb_object and first.endswith("s"):  # "who meets her adores him"
        return first[:-1] in words["base_verbs"] or first[:-1] in words["closed"]
    if first.endswith("s") and _is_beside(around):  # "the boy behind her plays the drums"
        single = first[:-1]
        begun = second in words["articles"] or second in words["determiners"]
        if begun or second in ("everything", "something", "nothing"):
            return any(single in words[kind] for kind in _VERBS)
        return final and _is_verb_only(single)
    some = second in words["given"] or second in words["given_some"]
    if some and verb in words["give"] and first in words["offered"]:
        if not (is_final(third) or is_adverb(third)):
            return False
        return is_handed(around, second, third, low(words_behind(around.text, around.end, 4)[3]))
    thing = first in words["given"] or (first == "work" and verb in words["offer"])
    if thing and second == "to" and verb.startswith(("allow", "permit")):
        return first in words["things_to"]  # no "allowing her words to settle"
    if verb in words["give"] and thing:
        free = (second, third) == ("free", "of")  # "advice free of charge"
        ends = free or ends_at_second(around) or tells_when(second, third)
        if not ends or second in ("a", "an", "another"):  # "give her hair a trim"
            return not final and is_gift(around)  # "gave her food poisoning"
        if not final and is_by_herself(around):  # "she teaches her lessons online"
            return False
        return is_handed(around, first, second, third)
    if verb in words["give"] and is_gift(around):
        return True
    if verb in words["prepare"] and first in words["meals"]:  # "he made her tea"
        return final and is_by_other(around)
    if first in words["whereabouts"] and second.endswith("ing"):  # "find her outdoors painting"
        return verb in words["complement"] or verb in words["perceive"]
    if first == "past":  # "waved her past the gate"
        return final and verb in words["past_move"]
    if first in words["calendar"] and verb in words["spend"]:  # "spent her Tuesday off"
        return False
    if first in words["calendar"]:
        clause = _is_verb_of_time(second) or (
            third in words["copulas"] or third in words["modals"]
        )
        part = second in _PARTS_OF_DAY and (is_final(third) or is_adverb(third))
        return final or part or (verb in words["say_to"] and clause)
    if first in words["demonyms"] and not final:  # "told her Spanish teacher"
        return False
    if raw[0].isupper() and not raw.isupper():
        office = verb in words["appoint"] and second in words["offices"]
        if is_final(third) and is_person(second) and not (office or third in words["auxiliaries"]):
            return False  # "told her Ohio congregation that"
        if first in words["high_titles"]:
            return False
        if _is_of_somebody(first):  # "made her Norway's first pilot"
            given = verb in words["give"] and not final  # "gave her Tom's keys"
            return given or any(
                verb in words[kind] for kind in ("complement", "appoint", "say_to")
            )
        shown = verb in words["show"] and not final  # "showed her Visa card"
        if verb in words["appoint"] and not _is_made(verb):  # "elected her Grand Duchess"
            return True
        return verb in words["name"] or (verb in words["say_to"] and not shown)
    if first in ("last", "next"):
        if second in words["calendar"] and not tells_when(second, third):
            return False  # "her next Monday class"
        owned = verb in words["closed"] or verb in words["spend"]
        recent = second in ("night", "week", "month") or second in words["calendar"]
        if recent and _is_talk(around):  # "spoke to her last week"
            return is_final(third)
        return second in words["times"] and not owned
    if first == "then":
        return _does_then(around)
    if first == "much" and verb in words["give"]:  # "gave her much praise"
        past = is_participle(second) and second != "needed"
        return not (past or second in words["comparatives"] or second == "too")
    if first in ("home", "north", "south", "east", "west"):
        safe = first == "home" and second in words["arriving"] and is_final(third)
        return _moved(around) and (safe or ends_at_second(around))
    if first == "straight":
        return second == "home" and _moved(around) and is_final(third)
    if first == "first":
        told = verb in words["say_to"] or verb in words["name"]
        return final and (told or _is_talk(around))  # "talk to her first"
    if first == "back":
        if second in _STANCES and verb in words["keep"]:  # "keeping her back straight"
            return False
        goes_on = second == "right" and third in words["behind_right"]
        if second == "into" and third in ("a", "an"):  # "turned her back into a boy"
            return True
        return (
            (goes_on or ends_at_second(around))
            and verb[:1].isalnum()
            and verb not in words["closed"]
            and verb not in words["body"]
        )
    return False


def _does_then(around: Around) -> bool:
    """Whether what is done next follows: "talk to her then give"; not "her then boyfriend"."""
    words = word_classes()
    _, second, third = around.next
    if any(second in words[kind] for kind in ("base_nouns", "handled", "verbal_nouns")):
        name = words_behind(around.text, around.end, 3)[2]
        return is_final(third) or name[:1].isupper()
    bare = second in words["give"] and not second.endswith(("s", "ed", "ing"))
    return bare or second in words["base_verbs"]


def ends_at_second(around: Around) -> bool:
    """Whether the phrase ends behind the next word, but for an adverb: "her happy again"."""
    _, second, third = around.next
    if is_final(second) or is_mostly(second, third, ""):
        return True
    return is_adverb(second) and is_final(third)


def is_mostly(first: str, second: str, third: str) -> bool:
    """Whether "most" tells how often: "most nights", "most summer evenings"."""
    if first != "most":
        return False
    often = word_classes()["frequencies"]
    if second.endswith("s") and second[:-1] in often:
        return is_final(third) or is_adverb(third)
    return second in often and third.endswith("s") and third[:-1] in often


def _ends_office(behind: tuple[str, str, str]) -> bool | None:
    """Whether the phrase ends behind an office, "captain last season"; None where none is."""
    words = word_classes()
    first, second, third = behind
    led = first in words["leading"] and is_person(second)
    if led or (first in words["before_offices"] and second in words["offices"]):
        return is_final(third) or third in ("last", "next") or is_adverb(third)
    if first not in words["offices"]:
        return None
    if second == "as":  # "named her partner as a suspect"
        return third in words["behind_as"]
    return is_final(second) or tells_when(second, third) or (is_adverb(second) and is_final(third))


def _is_paid(around: Around) -> bool:
    """Whether a sum is paid to her: "owed her $500 extra", not "paid her $500 fee"."""
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    if not any(verb in words[kind] for kind in ("give", "wager", "lasting", "remit", "prepare")):
        return False
    if ends_at_second(around) or tells_when(second, third) or second in words["behind_sums"]:
        return True
    several = second.endswith("s") and not second.endswith("ss")
    return several and verb in words["give_always"] and is_handed(around, first, third, "")


def _is_charged(around: Around) -> bool:
    """Whether it is told how much she is charged or paid: "charged her double", "full fare"."""
    words = word_classes()
    verb = around.before[1]
    first, second, third = around.next
    if verb not in words["wager"] and verb not in words["pay"]:
        return False
    if first in words["multiples"] and (is_final(second) or tells_when(second, third)):
        return True
    priced = first in words["price_adjectives"] and second in words["prices"]
    return priced and verb in words["wager"] and (is_final(third) or is_adverb(third))


def _is_described(verb: str, word: str) -> bool:
    """Whether a word behind an adverb is said of the object: "considers her highly qualified"."""
    words = word_classes()
    if is_participle(word) or word.endswith("ing"):
        return any(verb in words[kind] for kind in ("complement", "perceive", "keep", "arrange"))
    formed = word.endswith(("ive", "ic", "al", "ent", "ant", "ary", "y")) or is_predicative(word)
    return (formed or word in words["comparatives"]) and verb in words["complement"]


def _is_seen_of_her(around: Around) -> bool:
    """Whether a picture of her hangs or shows: "the portrait of her hangs in the hall"."""
    words = word_classes()
    depicted, nearest = around.before
    first, second, _ = around.next
    if nearest != "of" or first not in words["seen_acts"]:
        return False
    return depicted.removesuffix("s") in words["depictions"] and is_final(second)


def _is_beside(around: Around) -> bool:
    """Whether somebody is told by where they are: "the man next to her", "the girl near her"."""
    further, nearest = around.before
    if nearest in ("to", "of"):
        return f"{further}-{nearest}" in ("next-to", "close-to", "front-of")
    return further[:1].isalpha() and nearest in word_classes()["beside"]


def _goes_on_with(verb: str, word: str) -> bool:
    """Whether a past tense goes on with what is done or thought: "lost the", "made me"."""
    words = word_classes()
    if word in words["objects"]:
        return True
    if verb == "felt" and word in ("as", "like"):
        return True
    return word in words["articles"] or word in words["subjects_of_clauses"] or word == "that"


def _counts(word: str) -> bool:
    """Whether it is a number, and no place in an order: "three", not "7th"."""
    return is_number(word) and not word.endswith(_ORDINAL)


def _are_alive(word: str) -> bool:
    words = word_classes()
    one = word.removesuffix("s")
    return one in words["person_nouns"] or one in words["pets"] or word.endswith("men")


def _is_left(verb: str) -> bool:
    """Whether a verb tells in what state somebody is found, left or made."""
    kinds = ("complement", "keep", "arrange", "perceive")
    return any(verb in word_classes()[kind] for kind in kinds)


def _is_effort(verb: str, thing: str) -> bool:
    """Whether it is told how many tries it took: "took her three attempts"."""
    words = word_classes()
    return thing in words["efforts"] and verb in words["lasting"]


def _is_of_somebody(word: str) -> bool:
    """Whether a name in the possessive begins another phrase: "Norway's"; not "Valentine's"."""
    return word.endswith(("'s", "\u2019s")) and word not in word_classes()["things_in_s"]


def _is_load(around: Around) -> bool:
    """Whether what is carried ends in -ing too: "carry her shopping"."""
    return around.before[1].startswith("carr") and around.next[0] in word_classes()["loads"]


def _is_talk(around: Around) -> bool:
    """Whether somebody talks to her, or it happens to her."""
    verb, preposition = around.before
    return preposition in ("to", "with", "from") and verb in word_classes()["talking"]


def _is_verb_only(word: str) -> bool:
    words = word_classes()
    nouns = ("base_nouns", "verbal_nouns", "handled", "developing")
    return word in words["base_verbs"] and not any(word in words[kind] for kind in nouns)


def _is_made(verb: str) -> bool:
    return verb in word_classes()["make"] or verb.startswith("declare")


def _moved(around: Around) -> bool:
    return around.before[1] in word_classes()["move"]


def _is_verb_of_time(word: str) -> bool:
    """Whether it goes on with the day as its subject: "tell her Monday works for us"."""
    words = word_classes()
    if word in words["modals"] or word in words["finite_verbs"]:
        return True
    single = word[:-1]
    known = single in words["person_nouns"] or single in words["sessions"]
    return word.endswith("s") and not known
