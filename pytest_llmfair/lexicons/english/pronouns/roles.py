"""Whose "her" and "his" it is: the grammatical role of a pronoun that could have several."""

from __future__ import annotations

import functools
import re
from collections.abc import Container

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_closed,
    is_final,
    is_in_ly,
    is_number,
    is_participle,
    is_predicative,
    tells_when,
    word_classes,
)
from pytest_llmfair.lexicons.english.persons.words import is_person
from pytest_llmfair.lexicons.english.pronouns.animals import has_animal_part
from pytest_llmfair.lexicons.english.pronouns.described import describes_on
from pytest_llmfair.lexicons.english.pronouns.nearby import words_around, words_behind
from pytest_llmfair.lexicons.english.pronouns.objects import (
    ends_at_second,
    is_mostly,
    reads_as_object,
)
from pytest_llmfair.lexicons.english.pronouns.owners import (
    OTHER_OWNERS,
    her_is_shared,
    his_is_shared,
    is_compared,
    is_in_list,
)
from pytest_llmfair.lexicons.english.pronouns.quoted import (
    is_before_title,
    is_of_acquaintance,
    is_owned_quotation,
)
from pytest_llmfair.lexicons.english.pronouns.things import is_of_thing, is_sailed
from pytest_llmfair.lexicons.english.pronouns.unfinished import begins_subject

OBJECT = "object"
DETERMINER = "possessive_determiner"
PRONOUN = "possessive_pronoun"
CASES = frozenset((OBJECT, DETERMINER, PRONOUN))

# "her" struck out: "~~her~~ his approval".
_STRUCK = re.compile(r"~~|</(?:del|s|strike)>|\s(?:~~|<(?:del|s|strike)>)")
_SELF = re.compile(r"[)\]]self\b|[(\[]self[)\]]")
_IN_BRACKETS = re.compile(
    r" \([a-z]+\) (?!(?:and|or|but|is|was|has|had|will|with|in|on|at|by|to)\b)[A-Za-z]"
)
# "That old car of his"
_THAT_OF = re.compile(r"\b(?:this|that)\s(?:[a-z]+\s){1,2}of\s\Z", re.IGNORECASE)
_NEAR = 60
_JOINS = ("or", "and", "nor", "/", "&")
_GIVE = ("give", "gives", "gave", "given", "giving")
_GIVEN = re.compile(rf"\b(?i:{'|'.join(_GIVE)})\s((?:[\w'\u2019-]+\s){{1,4}})\Z")


def pronoun_role(text: str, start: int, end: int, roles: Container[str]) -> str:
    """Tell which grammatical role a pronoun has that could have several.

    Parameters
    ----------
    text : str
        The whole text; the pronoun is ``text[start:end]``.
    start, end : int
        Span of the pronoun.
    roles : container of str
        The roles its spelling allows: two of object, possessive determiner, possessive pronoun.

    Returns
    -------
    str
        One of `roles`, "" where a ship, a country or an animal is meant. Undecided cases are read
        as standing before a noun.
    """
    around = words_around(text, start, end)
    if text[start - 1 : start] == "-" == text[end : end + 1]:  # "what's-her-name"
        return DETERMINER if DETERMINER in roles else PRONOUN
    if OBJECT in roles:
        if _SELF.match(text, end):  # "(her)self"
            return OBJECT
        if _her_owns(around):
            return "" if is_of_thing(around) else DETERMINER
        return "" if is_sailed(around) else OBJECT
    if not _his_owns(around):
        return PRONOUN
    return "" if has_animal_part(around) else DETERMINER


def _her_owns(around: Around) -> bool:
    """Whether a noun phrase follows that "her" determines; else it is an object."""
    join, other, third = around.next
    clause_start = not around.before[1][:1].isalnum()
    if around.before[1] in ("or", "/") and around.before[0] in ("him", "xem"):
        return False
    if around.before[1] in _JOINS and around.before[0] in ("his", "xyr"):
        return True
    if around.before[1] == "/" and around.before[0] in ("she", "he", "xe"):
        return False  # "she/her"
    if around.before[1] in ("a", "an"):  # "that is a her problem"
        return False
    if join in _JOINS:
        if other in ("his", "xyr"):
            several = third.endswith("s") and not is_person(third)  # "her and his salaries"
            return join != "and" or clause_start or several or around.before[1] == "both"
        if join not in ("and", "nor") and other in OTHER_OWNERS and not is_final(third):
            return True
        return her_is_shared(around)
    if join in ("his", "xyr") and not is_final(other) and _STRUCK.match(around.text, around.end):
        return True
    if around.text[around.start] in "HX" and _opens_sentence(around):
        return True
    if not join[:1].isalnum():
        return is_in_list(around) or begins_subject(around)
    if around.before == ("him", "and"):  # "watched him and her dance"
        front = around.text[max(0, around.start - _NEAR) : around.start].split()
        around = around._replace(before=("", low(front[-3]) if len(front) > 2 else ""))
    return _noun_follows(around) and not reads_as_object(around)


def _his_owns(around: Around) -> bool:
    """Whether a noun phrase follows that "his" determines; else it stands alone."""
    join, other, third = around.next
    if join in _JOINS:
        if other in ("her", "xyr") or (other in OTHER_OWNERS and not is_final(third)):
            return True
        return his_is_shared(around)
    if around.before[1] in _JOINS and around.before[0] in ("her", "xyr"):
        return True
    if join in ("her", "xyr", *OTHER_OWNERS) and not is_final(other):
        return True  # "~~his~~ her approval"
    if around.text[around.start] in "HX" and _opens_sentence(around):
        return True
    if not join[:1].isalnum():
        return is_in_list(around) or begins_subject(around)
    words = word_classes()
    if is_owned_quotation(around):
        return True
    if join in words["finite_verbs"]:
        return False
    if around.before[1] in words["copulas"] and is_predicative(join) and is_final(other):
        return False
    if join == "back" and around.before[1] in words["returning"]:  # "I sent his back"
        return not is_final(other)
    if around.next_raw == "The":  # "in his The Lost Coast"
        return True
    acted_on = other in ("me", "us") or other in words["done_to"]
    if around.before[1] == "of" and acted_on and join.removesuffix("s") in words["base_verbs"]:
        return False  # "that laugh of his drives me mad"
    if around.before[1] == "of" and _is_done_by_thing(around):
        return False
    of_friend = is_of_acquaintance(around)
    if of_friend and is_in_ly(join):  # "a friend of his really liked it"
        join = other
    acts = (is_participle(join) and join != "beloved") or join in words["acted"]
    # But "an admirer of his looks wrote": that is the verb.
    named = join.endswith("s") and other in words["finite_verbs"]
    if of_friend and (acts or (join.removesuffix("s") in words["base_verbs"] and not named)):
        return False
    return _noun_follows(around) and not is_compared(around)


def _is_done_by_thing(around: Around) -> bool:
    """Whether it is told what a thing of his does: "that car of his breaks down".

    Of a person or a pet the verb alone tells it: "that dog of his barks".
    """
    words = word_classes()
    verb, following, further = around.next
    alive = is_person(around.before[0]) or around.before[0] in words["pets"]
    ends = alive and is_final(following) and verb[:-1] not in words["base_nouns"]
    if is_in_ly(verb):  # "that old car of his barely runs"
        verb, following, ends = following, further, is_final(further)
    goes_on = following in words["articles"] or following in words["behind_slips"]
    if not verb.endswith("s") or not (ends or goes_on or is_adverb(following)):
        return False
    known = any(verb[:-1] in words[kind] for kind in ("base_verbs", "verbal_nouns", "handled"))
    return (
        known
        and _THAT_OF.search(around.text, max(0, around.start - _NEAR), around.start) is not None
    )


def _noun_follows(around: Around) -> bool:
    """Whether the next words can begin the noun phrase that a possessive belongs to."""
    words = word_classes()
    first, second, third = around.next
    if (first, second, third) == ("next", "of", "kin"):
        return True
    if first in ("all", "everything") and is_final(second):
        said = first == "everything" or not second[:1].isalnum()  # no "was his all along"
        return (said and around.before[1] in words["copulas"]) or _is_effort(around)
    if first == "what" and second == "?":  # "lost her what?"
        return True
    if first == "used" and second == "to":  # "me and her used to swim"
        return False
    if first == "every":
        return not _each_time(around)
    if second == "every" and first in words["nearly"]:  # "wakes her almost every night"
        return False
    if first == "most" and is_mostly(first, second, third):
        return False
    if not first[:1].isalnum():
        return False
    if is_closed(first) and not _opens_phrase(around):
        if around.next_raw == "The" and around.before[1] in words["prepositions_of_things"]:
            return True
        # 'her "On Language" column'; not 'said to her "Why not?"'
        return around.before[1] not in ("to", "at") and is_before_title(around)
    if is_participle(first) and first not in words["nouns_in_ed"] and ends_at_second(around):
        goes_on = "-" in first and second == ","  # "her self-titled, third album"
        return goes_on or is_before_title(around)
    if first == "right" and second in words["behind_right"]:
        return False
    if first in words["comparatives"] and second == "than":
        described = is_predicative(third) or third in words["attributive"]
        known = described or (first == "less" and not (is_final(third) or is_number(third)))
        return known and not is_final(low(words_behind(around.text, around.end, 4)[3]))
    if first == "hardest" and around.before[1] in words["trying"]:  # "tried her hardest"
        return True
    if first in ("most", "more") and is_in_ly(second) and is_final(third):
        return False  # "thanked her most sincerely"
    if first in words["modals"]:
        return second not in words["base_verbs"] and second not in ("be", "have", "not", "never")
    if first in ("most", "least") and _is_past(around):
        return False  # "what surprised her most came later"
    if first == "best" and around.before[1] in words["liking"] and second not in _JOINS:
        return not is_final(second)
    if is_final(second):
        return not is_adverb(first) or describes_on(around) or _is_doubly_described(around)
    adverb = first.endswith("ly") or first in words["closed_if_final"]
    when = tells_when(second, third) or is_mostly(second, third, "")
    return not (adverb and first not in ("next", "last") and when)


def _is_doubly_described(around: Around) -> bool:
    """Whether two adverbs describe: "his socially and politically active sister"."""
    first, second, third = around.next
    if second != "and" or not (is_in_ly(first) and is_in_ly(third)):
        return False
    adjective, noun = map(low, words_behind(around.text, around.end, 5)[3:])
    formed = is_participle(adjective) or is_predicative(adjective)
    return formed and not is_final(noun) and not is_adverb(noun)


def _is_effort(around: Around) -> bool:
    """Whether "all" is all that somebody can do: "gave it her all"; not "gave her all of it"."""
    words = word_classes()
    first, second, third = around.next
    if second == "into":  # "put her all into it"
        return True
    if second == "this":  # "gave her all this season"
        return third in words["times"] and third != "time"
    if second in words["behind_whole"] or second in words["articles"]:
        return False
    counted = third if second == "but" else second  # "all but one", "all three"
    if counted[:1].isalnum() and is_number(counted):
        return False
    if around.before[1] in _GIVE:
        return first == "all"
    given = _GIVEN.search(around.text, max(0, around.start - _NEAR), around.start)
    return given is not None and _is_receiver(low(given[1]).split())


def _is_receiver(phrase: list[str]) -> bool:
    """Whether a phrase behind a verb of giving is to whom: "gave the job her all"."""
    words = word_classes()
    first = phrase[0]
    opens = first in words["articles"] or first in words["receivers_of_all"]
    return (opens or not is_closed(first)) and not any(map(is_closed, phrase[1:]))


def _is_past(around: Around) -> bool:
    """Whether a verb follows the next word: "came later", "retired in June"; not "prized,"."""
    words = word_classes()
    _, second, third = around.next
    if second in words["finite_verbs"] or second in words["modals"]:
        return True
    goes_on = third[:1].isalnum() and third not in _JOINS and is_final(third)
    return goes_on and is_participle(second)


def _opens_phrase(around: Around) -> bool:
    """Whether a word that mostly ends a phrase begins it here: "her already full diary"."""
    words = word_classes()
    first, second, third = around.next
    if first not in _openers():
        return False
    if f"{first}-{second}" in words["before_all_adjectives"]:  # "her by now famous soup"
        head = words_behind(around.text, around.end, 4)[3]
        ends = is_final(third) or is_final(low(head))
        return not (ends or is_number(third) or tells_when(third, low(head)))
    if first == "not" and second in words["behind_not"]:  # "her not so subtle hints"
        described = is_predicative(third) or third in words["attributive"] or is_participle(third)
        return described and not is_final(low(words_behind(around.text, around.end, 4)[3]))
    if is_final(second):
        return False
    forms = (second, second.removesuffix("s"), second.removesuffix("es"))
    if any(f"{first}-{form}" in words["closed_compounds"] for form in forms):
        return around.before[1] not in words["give"]  # "gave her inside information"
    if first == "later":
        known = second in words["base_verbs"] and second not in words["base_nouns"]
        acts = known or second.endswith("ing")
        return not (acts or is_adverb(second) or tells_when(second, third))
    if first not in words["before_adjectives"] or is_final(third) or tells_when(third, ""):
        return False
    verb = around.before[1]
    if second in words["attributive"] and not is_adverb(third):  # "made her already large nose"
        return True
    if verb in words["complement"] or verb in words["perceive"] or verb in words["keep"]:
        return False
    if second in ("more", "less", "most", "least"):
        return is_predicative(third)
    if second.endswith("ing") and first in ("ever", "never"):
        return True
    known = second in words["comparatives"] or second in words["attributive"]
    return known or is_predicative(second) or is_participle(second)


def _opens_sentence(around: Around) -> bool:
    """Whether a capital "Her" or "His" owns what follows a closed word: "Her not so new car".

    An object begins a sentence seldom: "Her I like", "Her with the red hat", "Her again?".
    """
    words = word_classes()
    text, end = around.text, around.end
    if around.before[1][:1].isalnum() or text[end : end + 1] == "\n":
        return False
    if text[around.start + 1].isupper():
        return False
    first, second, third = around.next
    if _IN_BRACKETS.match(text, end):  # "Her (second) husband"
        return True
    if first in words["before_adjectives"] and second.endswith("ing"):  # "Her not being there"
        return True
    phrase = f"{first}-{second}"
    if phrase in words["before_all_adjectives"] or phrase in words["before_first_adjectives"]:
        return not is_final(third)
    degree = first in words["before_adjectives"] and second in words["behind_not"]
    return degree and not is_final(third)


@functools.cache
def _openers() -> frozenset[str]:
    words = word_classes()
    compounds = {compound.partition("-")[0] for compound in words["closed_compounds"]}
    phrases = {phrase.partition("-")[0] for phrase in words["before_all_adjectives"]}
    return words["before_adjectives"] | compounds | phrases | {"later"}


def _each_time(around: Around) -> bool:
    """Whether "every" tells how often, or what was handed over: no "every move" of somebody."""
    words = word_classes()
    _, second, third = around.next
    if second in ("now", "so", "once") and third in ("and", "often", "in"):  # "every now and then"
        return True
    counted = is_final(second) or is_number(second) or words["frequencies"] & {second, third}
    return bool(counted) or around.before[1] in words["give"]
