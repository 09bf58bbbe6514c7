"""Whether "her" is an object although a noun of hers could follow: "made her cry", "gave her tea".

The word before "her" decides most cases: a verb that takes two objects, an adjective or another
verb after its object. Each question answers with a reading, or None to leave it to the next.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.around import Around, is_form, words_after
from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    is_adverb,
    is_closed,
    is_final,
    is_in_ly,
    is_number,
    is_one_of,
    is_participle,
    is_predicative,
    tells_when,
)
from pytest_llmfair.lexicons.english.persons.words import is_person


class Reading(NamedTuple):
    """Whether the pronoun is an object, and whether the words around it tell that."""

    is_object: bool
    sure: bool = True


OBJECT, OWNER = Reading(True), Reading(False)
PERHAPS_OBJECT, PERHAPS_OWNER = Reading(True, False), Reading(False, False)

ARTICLES = ("a", "an", "the", "his", "her", "their", "its", "my", "our", "your")
_DEMONSTRATIVES = ("this", "that", "these", "those", "it", "him", "them")
OBJECTS = ("me", "us", "him", "her", "them")
_SUBJECTS = ("i", "you", "he", "she", "it", "we", "they")
_ANYBODY = tuple(f"{some}{body}" for some in ("some", "any", "every") for body in ("one", "body"))
_MODALS = ("will", "can", "may", "might", "would", "could", "should", "must")
_COPULAS = ("is", "are", "was", "were", "isn't", "aren't", "wasn't", "weren't")
_JOINS = ("and", "but", "or", "yet", "if", "though", "not")
_SEEM = ("look", "sound", "feel", "seem", "appear", "smell")
_COMPARING = ("more", "most", "less", "least")
_DEGREES = ("very", "so", "too", "quite", "rather", "really", "extremely", "completely", "totally")
_AFTER_DEGREES = ("own", "soul", "life", "heart", "core", "first", "best", "last", "being")
_BY_HOW_MUCH = (*_COMPARING, "harder", "better", "further", "faster", "longer", "earlier")
_SPANS = ("ago", "later", "earlier", "before", "after", "back")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "last")
# "does her good", "serves her right", "held her hostage"
_DONE = {
    **dict.fromkeys(("good", "harm", "wrong", "justice"), ("do", "di")),
    **dict.fromkeys(("hostage", "captive", "prisoner"), ("ho", "he", "ta", "to", "ke")),
    "company": ("ke",),
    "right": ("serve", "treat"),
}
_PARTS_OF_DAY = ("morning", "afternoon", "evening", "night")
_REPEATED = ("by", "after", "for", "to")
_PAIRS = {"day": "night", "night": "day", "black": "blue", "high": "dry", "fair": "square"}
_PET_NAMES = ("baby", "darling", "dear", "honey", "sweetheart", "ma'am", "madam", "liar")
_ABOUT = re.compile(r"\b(?i:some|any|no|every)thing (?:about|in) \Z")
_MONEY = ("$", "\u00a3", "\u20ac", "\u00a5")
_QUOTES = "\"'\u201c\u2018\u00ab"
_QUOTATION = re.compile(
    r"\s[*_]*[\"\u201c\u2018\u00ab']+([^\"\u201d\u00bb\n]{1,90}?)[\"\u201d\u2019\u00bb']+(?!\w)"
)
# "images of her dancing", "the man behind her watching"
_DEPICTED = re.compile(
    r"\b(?:images?|photos?|photographs?|pictures?|videos?|clips?|footage|recordings?|scenes?"
    r"|sights?|memor(?:y|ies)|visions?|sounds?|films?|sketch(?:es)?) of\s\Z",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\b(?:behind|beside|near|opposite|around|above|below|alongside|(?:in )?front of|next to"
    r"|close to|with|without)\s\Z",
    re.IGNORECASE,
)
# Who shares what follows: "me and her share", "my mum and her love".
_JOINED = re.compile(
    r"(?:(?:\A|[\n.!?;:,(\"\u201c\u2018\u2014])\s*|\b(?i:because|since|so|that|when|while|if|but)\s)"
    r"(?i:both\s)?(?:(?i:me|you|him|us|them|i|he|we|they)|[A-Z][\w'\u2019-]+"
    r"|(?i:my|your|our|his|her|their|the)\s(?:[\w-]+\s)?[\w-]+)\s(?:and|&)\s\Z"
)
_LABEL = re.compile(
    r"\s+[a-z][\w-]+\s+(?:(?:#|[Nn]o\.?|[Nn]umber)\s?\d[\w-]*|[A-Z]{0,3}-?\d[\w/-]*|[A-Z])(?!\w)"
)
_TOKEN = re.compile(r"([^\W_]+(?:['\u2019-][^\W_]+)*)|([^\w\s*_~\"\u201c\u201d])")
_HERSELF = ("she", "xe", "she's", "she'd", "she'll")
_NEAR = 50
_FAR = 90


def object_reading(around: Around) -> Reading | None:
    """Tell how "her" reads before a word that can begin a noun phrase; None for no evidence."""
    for question in _QUESTIONS:
        if (reading := question(around)) is not None:
            return reading
    return None


def _is_never_owned(around: Around) -> Reading | None:
    """Nobody owns what follows: "sued her due to the delay", "gave her such a fright"."""
    first, second, third, fourth = around.after
    if first.endswith("ing") and not around.before[1][:1].isalpha():
        return None  # "Her using it annoyed us"
    if is_one_of(first, "never_owned") or is_one_of(f"{first}-{second}", "never_owned"):
        return OBJECT
    if first == third and second in _REPEATED and is_final(fourth):  # "line by line"
        return OBJECT
    if second == "and" and _PAIRS.get(first) == third:
        return OBJECT
    if around.before[1] == "with" and around.before[0][:4] in ("brin", "brou", "take", "took"):
        return None if first == "own" else OBJECT  # "took with her two maps"
    if first in _ORDINALS and around.before[1].startswith(("rank", "plac", "seed", "pick")):
        return OBJECT if _ends(second, third) else None
    if around.is_after("names") and first in _PET_NAMES and is_final(second):
        return OBJECT
    for done, behind in ((first, second), (second, third)):
        if done in _DONE and around.before[1].startswith(_DONE[done]) and is_final(behind):
            return OBJECT
    if first.endswith(("s", "ed")) and not is_final(second) and _is_any_verb(first):
        front = around.text[max(0, around.start - _NEAR) : around.start]
        if _ABOUT.search(front):  # "Something about her suggested talent"
            return OBJECT
    if first == "one" and around.before[1] not in ("of", "from", "in"):
        again = second in ("last", "more", "final") and is_one_of(third, "times")
        return OBJECT if second == "of" or again or is_one_of(second, "times") else None
    return None


def _is_quoted(around: Around) -> Reading | None:
    """What she is called or told stands in quotes: 'called her "kid"'; not 'her "friend" left'."""
    if not around.mark or around.mark not in _QUOTES:
        return None
    quotation = _QUOTATION.match(around.text, around.end)
    if quotation is None:
        return None
    named = around.is_after("names") or around.before[1] in ("called", "calls")
    kinds = ("says_to", "writes_to", "gives")
    if not (named or any(around.is_after(kind) for kind in kinds)):
        return None
    if is_person(low(quotation[1].split()[-1].strip(".,!?"))) and not named:
        return None  # 'asked her "friend"'
    behind, further = map(low, words_after(around.text, quotation.end(), 2))
    ends = quotation[1][-1] in ".,!?" or is_adverb(behind)
    ends = ends or (is_final(behind) and behind not in ("a", "an", "the", "to"))
    if not (ends or tells_when(behind, further)):
        return None
    called = named and around.before[0] in _SUBJECTS  # 'what she called her "method"'
    return PERHAPS_OBJECT if called and "what" in _words_before(around) else OBJECT


def _is_paid(around: Around) -> Reading | None:
    """A sum is paid to her: "owed her $500 extra", not "paid her $500 fee"."""
    verb = around.before[1]
    if around.mark not in _MONEY or not around.after[0][:1].isdigit():
        return None
    if (
        not verb[:1].isalpha()
        or is_closed(verb)
        or verb.startswith(("spen", "los", "sav", "inve"))
    ):
        return OWNER
    second, third = around.after[1:3]
    ends = _ends(second, third) or second in ("extra", "cash", "total", "each")
    return OBJECT if ends else OWNER


def _is_result(around: Around) -> Reading | None:
    """An adjective tells what came of it: "scared her silly, so", "did her great harm"."""
    first, second, third, _ = around.after
    verb = around.before[1]
    if not is_one_of(first, "resulting") or not verb[:1].isalpha() or is_closed(verb):
        return None
    if second in (",", "and", "but"):
        return OBJECT if is_closed(third) or is_participle(third) else None
    return OBJECT if is_final(second) or is_adverb(second) else None


def _is_doing(around: Around) -> Reading | None:
    """A participle tells what she does: "pictures of her dancing"; not "her trembling hands"."""
    first, second, third, _ = around.after
    left = first == "being" or (first == "feeling" and around.is_after("keeps"))
    thing = is_one_of(first, "things_in_ing") and not left
    if not first.endswith("ing") or "-" in first or thing:
        return None
    ends = is_final(second) or is_adverb(second) or is_one_of(second, "times")
    if not ends and is_one_of(first, "describes_in_ing"):
        return OWNER
    if is_one_of(second, "owns_activity"):  # "heard her singing voice"
        return OWNER
    front = around.text[max(0, around.start - _NEAR) : around.start]
    if _DEPICTED.search(front) is not None:
        return OBJECT
    if around.is_after("makes_so") and is_predicative(first) and ends_at_second(around):
        return OBJECT  # "considered her charming"
    if around.is_after("perceives") or around.is_after("keeps"):
        return OBJECT
    if first == "being":
        return OBJECT if around.before[1] in ("with", "without") else None
    if around.is_after("arranges") and ends and not is_one_of(first, "actions_in_ing"):
        return OBJECT  # "has her working nights"
    if around.is_after("moves") and ends and not around.before[1].startswith("carr"):
        return OBJECT
    found = _BESIDE.search(front) is not None
    if not found or not ends or first.startswith("un"):
        return None
    return None if is_final(second) and is_one_of(first, "actions_in_ing") else PERHAPS_OBJECT


def _acts(around: Around) -> Reading | None:
    """She does what follows a verb of letting, having or seeing: "heard her call me"."""
    first, second, third, fourth = around.after
    causes, has = around.is_after("causes"), around.before[1] in ("have", "has", "had", "having")
    attends = around.before[0].startswith(("listen", "look")) and around.before[1] in ("to", "at")
    if attends:
        return OBJECT if is_bare_verb(first) else None
    sees = around.is_after("perceives")
    if not (causes or has or sees):
        return None
    makes = is_form(around.before[1], "causes") and around.before[1][:3] in ("mak", "mad")
    if second in ("me", "us", "him", "them"):
        return OBJECT
    if (second in _ANYBODY or second in ("you", "it", "people")) and not _is_any_verb(third):
        return OBJECT
    if first in _SEEM and causes and second not in _COPULAS:
        return OBJECT  # "made her look older"
    pure, rather = is_bare_verb(first), is_one_of(first, "verbs_rather_than_nouns")
    bodily = is_one_of(first, "bodily_acts")
    maybe = bodily or is_one_of(first, "verbs_or_nouns")
    if causes and is_one_of(first, "moves_made") and second not in ARTICLES:
        return OWNER  # "made her escape", "let her guard down"
    if second == "herself" and (rather or maybe) and not (makes or has):
        return OBJECT
    if (
        (is_in_ly(first) or first == "better")
        and not is_participle(second)
        and _is_any_verb(second)
    ):
        return OBJECT  # "watched her carefully fold the letter"
    if pure or rather:
        return _acts_by_verb(around, makes, has, sees)
    begins_object = second in (*ARTICLES, "every", "two", "three") or second.endswith("'s")
    begins_object = (begins_object or second[:1].isdigit()) and not _is_while(second, third)
    if maybe and not makes:
        amount = second in _BY_HOW_MUCH and (third.endswith("s") or is_final(third))
        if amount or second == "back":
            return None if has else (OBJECT if causes or bodily else PERHAPS_OBJECT)
        if around.before == ("to", "see") and not is_person(first) and second != "be":
            return PERHAPS_OBJECT  # "would like to see her mentor juniors"
    if begins_object and not is_person(first):
        spoiled = makes and second in ("a", "an") and (is_one_of(third, "results") or not maybe)
        return None if spoiled or (has and not maybe) else OBJECT
    if maybe and causes and is_final(second) and second != "be":
        return OBJECT  # "made her cough", "let her order in"
    if maybe and sees and (is_final(second) or is_adverb(second)):
        seen = bodily and not around.before[1].startswith(("noti", "rem", "rec"))
        return OBJECT if seen else PERHAPS_OWNER
    return None


def _acts_by_verb(around: Around, makes: bool, has: bool, sees: bool) -> Reading | None:
    """A word that is a verb first: "let her work"; not "let her work speak for itself"."""
    first, second, third, _ = around.after
    noun = is_one_of(first, "verbs_rather_than_nouns")
    if has:
        counted = bool(second) and is_number(second) and not is_one_of(third, "spans")
        if not noun or counted or second in ARTICLES:  # "had her run two laps"
            goes_on = second[:1].isalnum() and not _is_while(second, third)
            return OBJECT if goes_on else OWNER
        return OBJECT if second[:1].isalnum() and is_final(second) else None
    if not noun:
        return OBJECT
    manner = is_adverb(second)
    if second == "be" or (_is_any_verb(second) and not manner):
        return OWNER
    if around.before[1].startswith(("remember", "recall")):
        return None
    if makes and first in ("move", "start", "attempt", "approach") and not second[:1].isalnum():
        return PERHAPS_OWNER
    if not makes:
        return PERHAPS_OBJECT if sees and is_final(second) and not is_adverb(second) else OBJECT
    if is_predicative(second) and is_final(third) and not manner:  # "make her work visible"
        return OWNER
    if second in _COMPARING and _describes(third):
        return OWNER
    return OWNER if second in ("a", "an") and is_one_of(third, "results") else OBJECT


def _is_shared(around: Around) -> Reading | None:
    """Somebody joined to her does the same: "me and her share a flat"."""
    first, second, third, _ = around.after
    if around.before[1] not in ("and", "&"):
        return None
    bare = is_bare_verb(first) or is_one_of(first, "shared_verbs")
    bare = bare or is_one_of(first, "verbs_rather_than_nouns")
    if not (bare or is_adverb(first)):
        return None
    if _JOINED.search(around.text, max(0, around.start - _NEAR), around.start) is None:
        return None
    if not bare:  # "me and her finally married"
        return OBJECT if is_participle(second) and is_final(third) else None
    if second in ARTICLES or is_final(second) or is_adverb(second):
        return OBJECT if second not in ("of", "for", "and") else None
    return None


def _is_relative(around: Around) -> Reading | None:
    """A clause ends with her: "those who met her said", "the man behind her plays drums"."""
    first, second, third, _ = around.after
    if is_one_of(first, "finite_verbs"):
        return OBJECT
    goes_on = second in OBJECTS or second in ARTICLES or second in _SUBJECTS or second == "that"
    if is_one_of(first, "acted") and (goes_on or second in ("as", "like")):
        return OBJECT  # "all who knew her lost a friend"
    in_clause = around.before[0] in ("who", "that")
    if in_clause and is_bare_verb(first) and (second in _SUBJECTS or is_final(second)):
        return OBJECT
    if not first.endswith("s") or first.endswith("ss"):
        return None
    verb = is_one_of(first[:-1], "bare_verbs") or is_one_of(first[:-1], "verbs_rather_than_nouns")
    verb = verb or is_closed(first[:-1])
    if second in OBJECTS or (in_clause and second in ARTICLES):
        return OBJECT if verb else None
    front = around.text[max(0, around.start - _NEAR) : around.start]
    if _BESIDE.search(front) and around.before[1] not in ("with", "without", "around"):
        begun = second in ARTICLES or second in ("everything", "something", "nothing")
        known = verb or is_one_of(first[:-1], "verbs_or_nouns")
        return (
            OBJECT
            if (begun and known) or (is_bare_verb(first[:-1]) and is_final(second))
            else None
        )
    return None


def _is_utterance(around: Around) -> Reading | None:
    """It is told her without quotes: "tell her yes", "bid her farewell"."""
    first, second, third, _ = around.after
    said = is_one_of(first, "utterances") and is_final(second) and second != "to"
    said = said or (is_one_of(f"{first}-{second}", "utterances") and is_final(third))
    verb = around.before[1]
    told = around.is_after("says_to") or around.is_after("writes_to")
    return (
        OBJECT
        if said and (told or verb.startswith(("kiss", "wav", "hug", "sang", "sing")))
        else None
    )


def _is_office(around: Around) -> Reading | None:
    """It is what she is made: "elected her captain"; not "named her partner as a suspect"."""
    first, second, third, fourth = around.after
    if not around.is_after("appoints"):
        return None
    if is_one_of(first, "before_offices") and (is_one_of(second, "offices") or is_person(second)):
        return OBJECT if _ends(third, fourth) else OWNER
    if not is_one_of(first, "offices"):
        return None
    return OBJECT if _ends(second, third) and second != "as" else OWNER


def _is_described(around: Around) -> Reading | None:
    """An adjective tells how she is made or found: "made her happy", "found her lying"."""
    first, second, third, _ = around.after
    final = is_final(second)
    complement = around.is_after("makes_so")
    left = complement or around.is_after("keeps") or around.is_after("perceives")
    left = left or around.is_after("arranges")
    if not left:
        if first in _DEGREES and is_final(third) and second not in _AFTER_DEGREES:
            return OBJECT if is_adverb(second) else None
        return None
    if around.is_after("names") and "names" in (first, second, third):
        return OBJECT
    if around.before[1].startswith("ma") and (first, second) == ("part", "of"):
        return OBJECT
    counted = is_number(first) and not first.endswith(("st", "nd", "rd", "th"))
    said_of = is_predicative(first) and not counted
    better = is_one_of(first, "comparatives") and first not in ("more", "less", "other", "rather")
    if complement and (said_of or better) and (first, second) != ("kind", "of"):
        going = second.endswith("ing") and not is_one_of(second, "things_in_ing")
        if ends_at_second(around) or going or second == "enough":
            return OBJECT
        return OBJECT if is_form(second, "causes") or is_one_of(second, "finite_verbs") else OWNER
    if said_of and final and not is_one_of(first, "also_nouns"):
        return OBJECT  # "never saw her sad"
    if first in _COMPARING and (complement or around.is_after("appoints")):
        return OBJECT if _describes(second) and (is_final(third) or is_adverb(third)) else OWNER
    if final and (is_participle(first) or is_one_of(first, "states")):
        return OBJECT
    if first in _DEGREES and is_final(third) and second not in _AFTER_DEGREES:
        return OBJECT if complement or is_adverb(second) else None
    if is_in_ly(first) and is_final(third):
        formed = second.endswith(("ive", "ic", "al", "ent", "ant", "ary", "y"))
        formed = formed and complement and not is_person(second)
        return OBJECT if formed or _describes(second) or second.endswith("ing") else None
    if is_one_of(first, "place_adverbs") and second.endswith("ing"):
        return OBJECT
    return None


def _is_amount(around: Around) -> Reading | None:
    """A time, a price or a number of things: "took her years", "sent her 2 letters"."""
    first, second, third, fourth = around.after
    final = is_final(second)
    if is_one_of(first, "spans"):
        return OBJECT if around.is_after("lasts") and final else None
    counted = is_number(first) and not first.endswith(("st", "nd", "rd", "th"))
    verb = around.before[1]
    if counted:
        if third in ("a", "per", "each", "every") and verb != "in":  # "two nights a week"
            return None if around.is_after("trusts") else OBJECT
        if is_one_of(second, "spans") or second == "more":
            if third in _SPANS or second == "times" or verb in ("know", "known", "knew"):
                return OBJECT
            if third in ("old", "older", "younger"):
                return OBJECT if around.is_after("makes_so") and second[-1] == "s" else None
            paid = any(around.is_after(kind) for kind in ("gives", "charges", "lasts"))
            return OBJECT if paid else None
        if is_person(second) or is_one_of(second.removesuffix("s"), "pets"):
            return OWNER  # "fed her two sons"
        tries = is_one_of(second, "money_and_tries") and around.is_after("lasts")
        if tries or around.is_after("charges"):
            return OBJECT
        if around.is_after("gives"):
            return _handed(around, first, third, fourth)
        return None
    if around.is_after("charges") and first in ("double", "triple", "treble", "extra"):
        return OBJECT if _ends(second, third) else None
    if first in ("little", "much", "more", "many") and is_one_of(second, "gifts"):
        makes = around.before[1].startswith(("ma", "lea", "left", "w", "sav"))
        return OBJECT if makes and _ends(third, fourth) else None  # "left her little time"
    if first in ("millions", "thousands") and around.before[1].startswith("ma"):
        return OBJECT
    label = _LABEL.match(around.text, around.end) if around.is_after("gives") else None
    if label is not None:  # "sent her form B-7"
        behind, further = map(low, words_after(around.text, label.end(), 2))
        if _subject(around) is not True and (_ends(behind, further) or further in ARTICLES):
            return OBJECT
    return None


def _is_given(around: Around) -> Reading | None:
    """A thing goes to her: "gave her flowers", "sent her anonymous threats"."""
    first, second, third, fourth = around.after
    if not around.is_after("gives"):
        return None
    if around.before[1] in ("teach", "taught", "teaching") and is_one_of(first, "taught"):
        return OBJECT if is_final(second) else None
    if first == "much":
        return None if is_participle(second) or is_one_of(second, "comparatives") else OBJECT
    if first == "more" and not _describes(second):
        return OBJECT if _ends(third, "") and not is_final(second) else None
    if is_one_of(first, "gifts") and second in ("a", "an", "another"):  # "give her hair a trim"
        return OWNER
    if _ends(second, third) or (second, third) == ("free", "of"):
        noun, behind, further, described = first, second, third, False
    elif _ends(third, fourth) and (_may_describe(first) or _is_gift_of_two(first, second)):
        noun, behind, further, described = second, third, fourth, True
    elif _may_describe(first) and _may_describe(second) and is_final(fourth):
        noun, behind, further, described = third, fourth, "", True
    else:
        return None
    known = is_one_of(noun, "gifts") or is_one_of(noun, "rarely_owned_gifts")
    known = known or _is_gift_of_two(first, second) or noun == "work"
    several = noun.endswith("s") and not noun.endswith(("ss", "us", "is", "'s"))
    if not (known or several) or is_person(noun):
        return None
    if not known and not (described or around.is_after("gives_away")):
        return PERHAPS_OWNER
    if around.before[1].startswith(("allow", "permit")) and (described or not known):
        return None
    if not known and (_subject(around) is True or is_one_of(noun.removesuffix("s"), "pets")):
        return None
    return _handed(around, noun, behind, further)


def _is_served(around: Around) -> Reading | None:
    """Somebody makes her a meal: "he made her tea"."""
    first, second = around.after[:2]
    if not around.is_after("prepares") or not is_one_of(first, "meals") or not is_final(second):
        return None
    subject = _subject(around)
    return OBJECT if subject is False else (OWNER if subject else PERHAPS_OWNER)


def _is_time(around: Around) -> Reading | None:
    """It tells when: "saw her last week", "told her Monday works"."""
    first, second, third, _ = around.after
    if is_one_of(first, "calendar"):
        part = second in _PARTS_OF_DAY and (is_final(third) or is_adverb(third))
        told = around.is_after("says_to")
        clause = second in _MODALS or third in _COPULAS or third in _MODALS
        clause = clause or (second[-1:] == "s" and second[-2:] != "ss" and not is_person(second))
        return OBJECT if is_final(second) or part or (told and clause) else None
    if first in ("last", "next"):
        if is_one_of(second, "calendar") and not tells_when(second, third):
            return None  # "her next Monday class"
        talk = around.before[1] in ("to", "with", "from") and is_form(around.before[0], "talks")
        owned = is_closed(around.before[1]) and not talk or around.before[1].startswith("spen")
        return OBJECT if is_one_of(second, "times") and not owned else None
    if first == "then":
        bare = is_bare_verb(second) or is_one_of(second, "verbs_rather_than_nouns")
        return OBJECT if bare or (is_final(third) and _is_any_verb(second)) else None
    if first == "first" and is_final(second):
        talk = around.before[1] in ("to", "with") and is_form(around.before[0], "talks")
        return OBJECT if talk or around.is_after("says_to") or around.is_after("names") else None
    return None


def _is_proper_name(around: Around) -> Reading | None:
    """A name follows: "named her Rose", "told her Tom was late"; not "told her Ohio mayor"."""
    first, second, third, _ = around.after
    if not around.raw[:1].isupper() or around.raw.isupper():
        return None
    made = around.before[1].startswith(("ma", "declare"))
    if around.is_after("appoints") and (first.endswith("'s") or not made):
        return OBJECT  # "elected her Grand Duchess"
    if is_final(third) and is_person(second) and not _is_any_verb(second):
        return OWNER
    said = around.is_after("says_to") and around.before[1][:4] != "show"
    if first.endswith("'s") and around.is_after("gives"):
        return OBJECT
    if is_one_of(first, "demonyms") and not is_final(second):
        return OWNER
    made = around.before[1].startswith(("ma", "declare"))
    return (
        OBJECT
        if said or around.is_after("names") or (around.is_after("appoints") and not made)
        else None
    )


def _is_direction(around: Around) -> Reading | None:
    """It tells where to: "drove her home", "sent her back to bed"; not "hurt her back"."""
    first, second, third, _ = around.after
    verb = around.before[1]
    if (first, second) == ("straight", "home"):
        return OBJECT
    if first in ("home", "north", "south", "east", "west"):
        safe = first == "home" and second in ("safe", "safely", "early", "late")
        return OBJECT if around.is_after("moves") and (safe or ends_at_second(around)) else None
    if first == "past":
        motion = verb[:1].isalpha() and not is_closed(verb)
        return OBJECT if is_final(second) and second in ARTICLES and motion else None
    if first != "back" or not verb[:1].isalpha() or is_closed(verb):
        return None
    goes_on = second == "right" or (second == "into" and third in ("a", "an"))
    if second in ("straight", "flat", "upright") or (is_form(verb, "hurts") and not goes_on):
        return OWNER
    return OBJECT if goes_on or ends_at_second(around) else None


_QUESTIONS = (
    _is_never_owned,
    _is_quoted,
    _is_paid,
    _is_result,
    _is_doing,
    _acts,
    _is_shared,
    _is_relative,
    _is_utterance,
    _is_office,
    _is_described,
    _is_amount,
    _is_given,
    _is_served,
    _is_time,
    _is_proper_name,
    _is_direction,
)


def follows_gift(around: Around) -> bool:
    """Whether a gift or a meal follows, described or not."""
    first, second = around.after[:2]
    heads = (first, second) if _may_describe(first) else (first,)
    return any(is_one_of(head, kind) for head in heads for kind in ("gifts", "meals"))


def ends_at_second(around: Around) -> bool:
    """Whether the phrase ends after the next word, except for an adverb: "her happy again"."""
    _, second, third, _ = around.after
    return second == "most" or _ends(second, third) and (not is_adverb(second) or is_final(third))


def is_bare_verb(word: str) -> bool:
    """Whether a word is a verb in its base form and no noun."""
    if is_one_of(word, "bare_verbs"):
        return True
    return len(word) > 5 and word.endswith(("ize", "ise", "ify")) and not is_person(word)


def _is_any_verb(word: str) -> bool:
    """Whether a word can be a verb: "works", "worked", "work", "will"."""
    if word in _MODALS or word in _COPULAS or is_participle(word):
        return True
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    return (
        any(map(is_bare_verb, forms))
        or any(is_one_of(form, "verbs_rather_than_nouns") for form in forms)
        or any(is_one_of(word, kind) for kind in ("finite_verbs", "acted", "verbs_or_nouns"))
    )


def _describes(word: str) -> bool:
    return is_predicative(word) or is_participle(word) or is_one_of(word, "describing")


def _may_describe(word: str) -> bool:
    """Whether a word can describe a gift: "anonymous", "extra"; not "favourite"."""
    formed = len(word) > 4 and word.endswith(("ic", "al", "ive", "ent", "ant", "ary", "ing"))
    kinds = ("gift_adjectives", "comparatives", "demonyms")
    return formed or _describes(word) or any(is_one_of(word, kind) for kind in kinds)


def _is_gift_of_two(first: str, second: str) -> bool:
    return is_one_of(f"{first}-{second}", "gifts_of_two")


def _ends(word: str, following: str) -> bool:
    return is_final(word) or is_adverb(word) or tells_when(word, following) or word == "most"


def _is_while(article: str, noun: str) -> bool:
    """Whether a time begins with an article: "the whole day", "a bit longer"."""
    long = ("whole", "entire", "full", "next", "last", "while", "bit", "little", "lot", "few")
    return article in ARTICLES and (noun in long or is_one_of(noun, "times") or noun == "rest")


def _handed(around: Around, noun: str, behind: str, further: str) -> Reading | None:
    """Tell whether a thing goes to her: "gave her tickets", not "she showed her tickets"."""
    if behind in ("away", "back"):
        return OWNER
    rarely = is_one_of(noun, "rarely_owned_gifts")
    if behind == "to" and not rarely and not (is_bare_verb(further) or _is_rather(further)):
        return OWNER  # "gave her tickets to the guard"
    if behind in ("in", "over", "out", "up", "off") and not further[:1].isalnum():
        return OWNER
    subject = _subject(around)
    if subject is None and _is_passive(around):
        return OWNER
    if around.is_after("gives_away"):
        own = subject is True and is_one_of(noun, "own_gifts")
        return OWNER if own else OBJECT
    if is_number(noun):
        return OWNER if subject is True else OBJECT
    if around.before[1].startswith(("pa", "refus", "ask")):
        return OBJECT if rarely and subject is not True else PERHAPS_OWNER
    if rarely or subject is False:
        return OBJECT
    bought = around.before[1] in ("buy", "buys", "bought", "buying")
    if bought and subject is None:
        return OBJECT
    return OWNER if subject is True else PERHAPS_OBJECT


def _is_rather(word: str) -> bool:
    return is_one_of(word, "verbs_rather_than_nouns")


def _words_before(around: Around) -> list[str]:
    return low(around.text[max(0, around.start - _NEAR) : around.start]).split()


def _is_passive(around: Around) -> bool:
    """Whether a form of "be" stands before the verb: "was given her medication"."""
    front = around.before[0]
    if around.before[1].endswith("ing"):
        return False
    return front in _COPULAS or front in ("been", "being", "be", "got", "getting")


def _subject(around: Around) -> bool | None:
    """Tell whether "she" is the subject of the verb before the pronoun; None for unclear."""
    tokens = _TOKEN.findall(around.text, max(0, around.start - _FAR), around.start)
    verb = around.before[1]
    going = verb.endswith("ing") and verb != "bring"
    linked = False
    for place, (raw, mark) in enumerate(reversed(tokens[:-1])):
        word = low(raw)
        if mark:
            if mark in ".!?;:\u2014([{>|":
                return False if not place and not going else None
            linked = True
        elif word in _HERSELF:
            return True
        elif word.partition("'")[0] in ("i", "he", "we", "you", "they") or word == "please":
            return False
        elif word in ("and", "or", "to", "who", "that", "which", "then"):
            linked = True
        elif not (linked or is_closed(word) or is_in_ly(word)):
            several = word.endswith("s") and not word.endswith(("ss", "us", "'s"))
            return False if several and raw.islower() else None
    begins = around.start <= _FAR and len(tokens) == 1 and not going
    return False if begins else None  # "Send her flowers"
