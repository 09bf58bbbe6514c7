"""How an English word is used: as a noun, as an exclamation, to call somebody, in a street name.

Every rule looks at the words around the term only, as those of ``persons`` do.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

from pytest_llmfair.lexicons.english.beside import (
    NEAR,
    NEXT,
    low,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.callings import is_calling
from pytest_llmfair.lexicons.english.deities import is_deity
from pytest_llmfair.lexicons.english.english import (
    LETTERS,
    is_in_ly,
    is_one_of,
    is_owner,
    words_of,
)
from pytest_llmfair.lexicons.english.exclaimed import is_outcry
from pytest_llmfair.lexicons.english.living import is_said_of_people
from pytest_llmfair.lexicons.english.persons.conditions import (
    is_condition,
    is_no_compound,
)
from pytest_llmfair.lexicons.english.persons.labels import is_value
from pytest_llmfair.lexicons.english.persons.titles import is_famous
from pytest_llmfair.lexicons.english.persons.words import (
    ends_phrase,
    is_modifier,
    is_person,
    is_verb,
)
from pytest_llmfair.lexicons.english.persons.years import is_years
from pytest_llmfair.lexicons.english.things_called import is_tool
from pytest_llmfair.lexicons.english.works import (
    is_headline,
    is_in_title,
    is_no_work,
    is_told_of,
)

_COMMA = re.compile(r",[^\S\n]+([^\s,.!?;:]+)")
_COMMA_BEFORE = re.compile(rf"(?:({LETTERS})[\"'\u201d\u2019]?)?,[^\S\n]+\Z")
_SMALL_TITLE = re.compile(r"\bM[sx]\b")
_NAME = re.compile(rf"(?:\.?[^\S\n]+|\.)({LETTERS})")
_POINT = re.compile(r"\.[^\S\n]*[^\W\d_]")
_END = re.compile(r"[,.!?;]|\s*\Z|\s*\n")
_KIN_OF_FIRMS = ("son", "sons", "daughters", "brothers", "sisters")
_OPENED_QUOTE = re.compile(r"[\s(][\"'\u201c\u2018]\Z")
_LAST_WORD = re.compile(r"[.!?]*[\"'\u201d\u2019]?\s*(?:\Z|\n)")
_COUPLE_BEFORE = re.compile(r"\bmrs?\.?\s(?:and|&)\s\Z", re.IGNORECASE)
_COUPLE_BEHIND = re.compile(r"\.?\s(?:and|&)\smrs?\b", re.IGNORECASE)
_PEER = r"(?:lords?|lady|ladies|knights?|vassals?|peasants?|commoners?)"
_AND_PEER = (
    r"\s(?:and|or|nor|&)\s(?:(?:the|a|an|his|her|my|our|their|other|young|old|great|fine)\s){0,2}"
)
_PEER_BEFORE = re.compile(rf"\b{_PEER}{_AND_PEER}\Z", re.IGNORECASE)
_PEER_BEHIND = re.compile(rf"{_AND_PEER}{_PEER}\b", re.IGNORECASE)
_FIELD = re.compile(r"\b(?:sex|gender)[\"'*_]{0,3}\s?[:=]\s?[\"'*_]{0,3}\Z", re.IGNORECASE)
_YEARS_OLD = re.compile(
    r"\d[\s-]?(?:y/?o|years?[\s-]old|yrs?[\s-]old|y\.o\.)\s(?:[A-Z][a-z]+\s)?\Z"
)
_TOLD_BEHIND = re.compile(rf"[,;]?[^\S\n]+({LETTERS})")
_OWNER = re.compile("['\u2019]s?")
_AGE = re.compile(r"[^\S\n]?\([^\W_]?\d\d")
_PERSON_BEFORE = re.compile(rf"({LETTERS})(,?)[^\S\n]+\Z")
_RANGE_JOIN = r"[^\S\n]*(?:[-\u2013\u2014/]|to|and|or|until|through)[^\S\n]*"
_RANGE_BEFORE = re.compile(rf"\d-?{_RANGE_JOIN}\Z")
_RANGE_BEHIND = re.compile(
    rf"{_RANGE_JOIN}\d|[^\S\n]*(?:\+|(?:and|or)[^\S\n]+(?:over|above|older|up|under|younger)\b)"
)
_DECADE_BEFORE = re.compile(
    r"\b(?:in|into|by|since|through|throughout|during|from)[^\S\n]+(?:my|your|his|her|their|our|xyr)[^\S\n]+(?:very[^\S\n]+)?"
    r"(?:(?:early|mid|middle|late|later)(?:[^\S\n]+|-))?\Z",
    re.IGNORECASE,
)
# "In their twenties and thirties" is a range, "in their 80s heyday" a time.
_DECADE_BEHIND = re.compile(
    r"(?:,|[^\S\n]*(?:[-\u2013/]|and|or|to|through|until|into))[^\S\n]*"
    r"(?:(?:my|your|his|her|their|our|xyr)[^\S\n]+)?"
    r"(?:(?:early|mid|late)[^\S\n]+|mid-)?(?:\d0s|thirties|(?:twen|for|fif|six|seven|eigh|nine)ties)\b"
    r"|[^\S\n]+(?:heyday|prime|pomp|hits?|sound|style|look|incarnation)\b",
    re.IGNORECASE,
)
# "the Miss Lind movie"
_FILM = re.compile(r" [A-Z][\w'\u2019-]+ (?:movies?|films?|novels?|trilogy|sequels?|sitcom)\b")
_FIRM = re.compile(r"(?<!\w)([A-Z][\w'\u2019-]*)[^\S\n]+(?:and|&)[^\S\n]+\Z")
# "Man up", "husband our strength".
_OBJECTS_OF_VERBS = {
    "man": ("up",),
    "husband": ("my", "our", "your", "their", "its", "resources", "strength"),
}
_THINGS = {
    "mother": "mother_things",
    "father": "mother_things",
    "daughter": "daughter_things",
    "son": "daughter_things",
    "sister": "sister_things",
    "brother": "sister_things",
}


def is_noun(text: str, start: int, end: int) -> bool:
    """Whether it is a noun: no verb ("to man the desk"), no exclamation ("Man, it hurts").

    Nor may it end a name, as `is_no_work` tells.
    """
    # The usual case at less cost: no mark behind it, so that nobody exclaims.
    goes_on = text[end : end + 1] == " " and text[end + 1 : end + 2].isalnum()
    if _is_verb(text, start, end) or (not goes_on and _is_exclaimed(text, start, end)):
        return False
    return not is_outcry(text, start, end) and is_no_work(text, start, end)


def is_no_tool(text: str, start: int, end: int) -> bool:
    """Whether it is in no name of a work, and no program: "a setup wizard"."""
    return is_no_work(text, start, end) and not is_tool(text, start, end)


def is_of_people(text: str, start: int, end: int) -> bool:
    """Whether it is said of no plug and no animal, nor of what is not binary."""
    if text[start] in "nN":
        behind = NEXT.match(text, end)
        if behind and is_one_of(low(behind[1]).removesuffix("s"), "binary_things"):
            return False
    return is_said_of_people(text, start, end)


def is_kin(text: str, start: int, end: int) -> bool:
    """Whether a word of kin is part of no compound: no "daughter cells", no "sister ship".

    The next word may also be the verb of somebody's kin: "my mother plants roses".
    """
    kind = _THINGS.get(text[start:end].lower())
    if text[start].isupper() and (_is_of_firm(text, start, end) or is_famous(text, start, end)):
        return False
    if text[start - 1 : start] == text[end : end + 1] and is_told_of(text, start, end):
        return False
    if text[start - 1 : start] == "-":  # "a brother-and-sister act"
        return True
    behind = NEXT.match(text, end) if kind and text[end : end + 1].isspace() else None
    if kind is None or behind is None:
        return True
    of = text[start].isupper() and text.startswith(" of ", end)
    if of and is_in_title(text, start, end):
        return False  # "Father of the Bride"
    known, head = words_of(kind), low(behind[1])
    form = next((form for form in (head, head[:-1], head[:-2]) if form in known), None)
    if form is None or (form != head and not head.endswith("s")):
        return True
    if form == head or not is_one_of(form, "kin_acts"):
        following = NEXT.match(text, behind.end())  # "helped her mother plant the roses"
        # "saw his brother act naturally"
        adverb = following is not None and form == head and is_in_ly(low(following[1]))
        return adverb or (following is not None and is_one_of(low(following[1]), "articles"))
    owner = low(word_before(text, start)[0])
    return is_owner(owner)


def _is_of_firm(text: str, start: int, end: int) -> bool:
    """Whether capitals name a firm of kin: "Wiley and Sons"; not "Mothers and Sons"."""
    behind = NEXT.match(text, end)
    if low(text[start:end]) not in _KIN_OF_FIRMS or (behind and behind[1][0].isupper()):
        return False
    firm = _FIRM.search(text, max(0, start - NEAR), start)
    if firm is None or is_person(low(firm[1])) or is_person(low(firm[1]).removesuffix("s")):
        return False
    return not is_headline(text, start, end)


def is_couple(text: str, start: int, end: int) -> bool:
    """Whether two titles share a name: "Mr. and Mrs. Lindqvist"."""
    if _COUPLE_BEHIND.match(text, end):
        return True
    return _COUPLE_BEFORE.search(text, max(0, start - 12), start) is not None


def is_noble(text: str, start: int, end: int) -> bool:
    """Whether a lord is joined to others: "the lord and the lady"; not "the Lord"."""
    behind = _PEER_BEHIND.match(text, end)
    return behind is not None or _PEER_BEFORE.search(text, max(0, start - NEAR), start) is not None


def is_field(text: str, start: int, end: int) -> bool:
    """Whether a letter is what a field says: "sex": "F"; not "Sex: M/F"."""
    if text[end : end + 1] in ("/", "|") or text[end : end + 2] == " /":
        return False
    near = max(0, start - 20)
    return bool(_FIELD.search(text, near, start) or _YEARS_OLD.search(text, near, start))


def is_age_and_sex(text: str, start: int, end: int) -> bool:
    """Whether "27F" tells somebody's age and sex: "I (27F)", "62F, widow"; not "It was 62F"."""
    if not text[end - 1].isupper():
        return False
    before, behind = text[start - 1 : start], text[end : end + 1]
    if before and before in "([" and behind and behind in ")],;/":
        front = text[max(0, start - NEAR) : start - 1].rstrip() + " "
        said, _ = word_before(front, len(front))
        word = low(said)
        return not said or is_person(word) or is_one_of(word, "aged_persons") or said[0].isupper()
    if opens_sentence(text, start):
        following = _TOLD_BEHIND.match(text, end)
        if following is None:
            return False
        word = low(following[1])
        return is_person(word) or is_modifier(word) or is_one_of(word, "clinical")
    return is_field(text, start, end)


def is_no_degree(text: str, start: int, end: int) -> bool:
    """Whether a bachelor is unmarried: "the bachelor's flat"; not "she has a bachelor's"."""
    owner = _OWNER.match(text, end)
    plural = text[end - 1] in "sS"
    if owner is None and not plural:
        return True
    behind = NEXT.match(text, owner.end() if owner else end)
    word = low(behind[1]) if behind else ""
    degree = ends_phrase(word) or is_one_of(word, "degree_things")
    if owner is not None:
        return not degree
    said = low(word_before(text, start)[0])
    return said not in ("a", "my", "his", "her", "their", "your")


def is_contracted(text: str, start: int, end: int) -> bool:
    """Whether "shes" is "she is": what is said of her follows."""
    behind = NEXT.match(text, end)
    word = low(behind[1]) if behind else ""
    if word in ("", "and", "or"):
        return False
    kinds = ("closed", "closed_if_final", "chat")
    return any(is_one_of(word, kind) for kind in kinds) or is_modifier(word)


def is_shortened(text: str, start: int, end: int) -> bool:
    """Whether "gf" is a girlfriend: "my gf left", "bf (25M)"; not "gf bread"."""
    if _AGE.match(text, end):
        return True
    if not is_one_of(low(word_before(text, start)[0]), "owners"):
        return False
    behind = NEXT.match(text, end)
    word = low(behind[1]) if behind else ""
    return ends_phrase(word) or is_verb(word, "")


def is_address(text: str, start: int, end: int) -> bool:
    """Whether the word calls somebody: "Excuse me, miss, is this seat taken?"."""
    if not _END.match(text, end):
        return False
    before = _COMMA_BEFORE.search(text, max(0, start - NEAR), start)
    return before is not None and before[1] is not None and is_one_of(low(before[1]), "polite")


def is_place(text: str, end: int) -> bool:
    """Whether a street, a school or another place is named, as in "King Street".

    Up to two more capitals can stand between: "Lady Margaret Road".
    """
    at = end
    for _ in range(3):
        behind = NEXT.match(text, at)
        if behind is None:
            return False
        word = low(behind[1])
        if not behind[1][0].isupper():
            return at > end and word in ("pub", "inn")
        if is_one_of(word, "places"):
            return True
        at = behind.end()
    return False


def names_thing(text: str, start: int, end: int) -> bool:
    """Whether a title begins the name of a place or a ship: "HMS Lady Nelson", "in Lady Lane"."""
    if text[start:end] == "Sir":  # would be read as calling somebody
        return False
    word = low(word_before(text, start)[0])
    if is_one_of(word, "ships") or _FILM.match(text, end):
        return True
    numbered = text[max(0, start - 2) : start].rstrip()[-1:].isdigit()
    located = word in ("in", "on", "at", "near", "off", "along", "down", "up")
    return (numbered or located) and is_place(text, end)


def is_short_title(text: str, start: int, end: int) -> bool:
    """Whether it is short for a title: "MS. LEE", "mr lee", "DEAR MS LEE"; not "5 ms. later"."""
    if text[start:end].lower() in ("mr", "mrs"):
        return is_couple(text, start, end) or _is_before_name(text, start, end)
    return takes_case(text, start, end)


def takes_case(text: str, start: int, end: int) -> bool:
    """Whether another short title stands in its case: "mrs lee", "ms. lee"; not "mr lee"."""
    if text[start:end].lower() == "mrs":
        return is_short_title(text, start, end)
    before = text[max(0, start - NEAR) : start].rstrip()
    if before[-1:].isdigit():
        return False
    return _POINT.match(text, end) is not None or _is_large_title(text, start, end)


def _is_before_name(text: str, start: int, end: int) -> bool:
    """Whether a name can follow: "mr smith", "MR. JONES"; not "MR images", "mr and armor"."""
    named = _NAME.match(text, end)
    if named is None or text[start - 1 : start] in ("-", "|", "^", "_"):
        return False
    if text[start].isupper() or named[1][0].isupper():
        return named[1][0].isupper()
    article = is_one_of(low(word_before(text, start)[0]), "articles")  # "an mr image"
    return not (article or ends_phrase(low(named[1])))


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def _is_large(text: str) -> bool:
    # "Ms", as the lexicon spells it, is no small word of the text.
    return _SMALL_TITLE.sub("", text).isupper()


def _is_large_title(text: str, start: int, end: int) -> bool:
    """Whether a name follows in a text all of capitals: "MS LEE"; not "MS WORD", "MY MS"."""
    behind = NEXT.match(text, end)
    if behind is None or not _is_large(text):
        return False
    if is_one_of(low(word_before(text, start)[0]), "determiners"):
        return False
    word = low(behind[1])
    return not ends_phrase(word) and not is_one_of(word, "no_name_behind_ms")


def _is_verb(text: str, start: int, end: int) -> bool:
    behind = NEXT.match(text, end)
    if behind is None:
        return False
    object_ = low(behind[1])
    word = low(word_before(text, start)[0])
    if text[start:end] == "groom" and is_one_of(word, "before_verbs") and behind[1].islower():
        return not is_one_of(object_, "closed") or is_one_of(object_, "articles")
    if object_ in _OBJECTS_OF_VERBS.get(text[start:end].lower(), ()):
        return is_one_of(word, "before_verbs") or opens_sentence(text, start)
    if not is_one_of(object_, "articles"):
        return False
    if not word:
        return opens_sentence(text, start)
    if is_one_of(word, "before_verbs") or (word in ("he", "she") and text[end - 1] == "s"):
        return True  # "he grooms the horses"
    several = word.endswith("s") and not word.endswith(("ss", "'s", "us"))
    return (several or is_one_of(word, "plurals")) and is_person(word)  # "volunteers man the bar"


def _is_exclaimed(text: str, start: int, end: int) -> bool:
    behind = _COMMA.match(text, end)
    following = low(behind[1]) if behind else ""
    if following[:1].isdigit() or is_one_of(following, "person_nouns"):
        return False
    if opens_sentence(text, start) or _OPENED_QUOTE.search(text, max(0, start - 2), start):
        return behind is not None
    before = _COMMA_BEFORE.search(text, max(0, start - NEAR), start)
    if before is None or not _END.match(text, end):
        return False
    if _LAST_WORD.match(text, end) and low(text[start:end]) in ("girl", "boy"):
        return before[1] is None or len(before[1]) < 3  # "Oh, boy!"; not "Come here, boy."
    return before[1] is None or not is_one_of(low(before[1]), "person_nouns")


def is_behind_person(text: str, start: int, end: int) -> bool:
    """Whether a person stands right in front: "a woman aged 70", "Ann, aged 70,"."""
    before = _PERSON_BEFORE.search(text, max(0, start - NEAR), start)
    if before is None:
        return False
    word = low(before[1])
    known = is_person(word) or is_one_of(word, "indefinite") or word in ("those", "people")
    return known or (bool(before[2]) and before[1][0].isupper())


def is_decade_of_life(text: str, start: int, end: int) -> bool:
    """Whether it tells somebody's age: "in her seventies"; not "in the seventies"."""
    if _DECADE_BEFORE.search(text, max(0, start - NEAR), start) is None:
        return False
    return _DECADE_BEHIND.match(text, end) is None


def is_in_range(text: str, start: int, end: int) -> bool:
    """Whether a number is one end of a range: "aged 18 to 24", "18- to 24-year-olds"."""
    before = _RANGE_BEFORE.search(text, max(0, start - NEAR), start)
    return before is not None or _RANGE_BEHIND.match(text, end) is not None


# Whether a term of a context counts in its place.
USES: Mapping[str, Callable[[str, int, int], bool]] = {
    "condition": is_condition,
    "no_compound": is_no_compound,
    "noun": is_noun,
    "no_work": is_no_tool,
    "address": is_address,
    "couple": is_couple,
    "noble": is_noble,
    "field": is_field,
    "contracted": is_contracted,
    "shortened": is_shortened,
    "aged": is_age_and_sex,
    "deity": is_deity,
    "calling": is_calling,
    "no_degree": is_no_degree,
    "living": is_of_people,
    "kin": is_kin,
    "value": is_value,
    "years": is_years,
    "behind_person": is_behind_person,
    "decade": is_decade_of_life,
}
