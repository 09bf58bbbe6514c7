"""Names that hold a term: titles of works, bands, papers, firms, streets; and acronyms."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.phrase import (
    FAR,
    NEAR,
    NEXT,
    is_headline,
    low,
    one_case,
    opens_sentence,
    phrase_at,
    word_before,
)
from pytest_llmfair.lexicons.english.words import (
    is_adjective,
    is_any,
    is_modifier,
    is_one_of,
    is_person,
    words_of,
)

# A name of several words: "The Girl with the Dragon Tattoo".
_LINKS = r"(?:(?:of|the|an?|with|on|in|for|to|from|at|by)[^\S\n]+){0,2}"
_CAPITAL = r"[A-Z][\w'\u2019-]*+"
_NAMED_BEFORE = re.compile(rf"(?<!\w)(?:{_CAPITAL}[^\S\n]+{_LINKS})+\Z")
_NAMED_BEHIND = re.compile(rf"(?:['\u2019]s)?(?:[^\S\n]+{_LINKS}{_CAPITAL}){{1,9}}")
_CAPITALS = re.compile(rf"(?<!\w){_CAPITAL}")
_BESIDE = re.compile(rf"(?: {_CAPITAL})*")
_POSSESSED = re.compile(r"['\u2019]s?((?:[^\S\n]+[A-Z][a-z]+(?:-[A-Z]?[a-z]+)?(?!\w)){1,4})")
# "read The Danish Girl"; not 'said, "The Danish girl'.
_THE_INSIDE = re.compile(rf"[a-z\d]['\u2019]? The (?:{_CAPITAL} )*\Z")
# What is said of a work and hardly of a person.
_OF_WORK = re.compile(
    r" (?:(?:has|have|had|just|also|finally|recently) )?(?:"
    r"(?:won|wins|received|swept|got) (?:[\w-]+ ){0,4}(?:Oscars?|Academy|Emmys?|Grammys?|BAFTAs?"
    r"|Golden|Palme|Pulitzer|Booker|[Bb]est [Pp]icture)\b"
    r"|(?:gross(?:ed|es)|premier(?:ed|es)|flopped|headlin(?:ed|es))\b"
    r"|(?:was|were|been|is) (?:being )?(?:filmed|remade|adapted|screened|shown|staged|set)\b"
    r"(?! (?:of|to|for|off|free|by))"
    r"|open(?:ed|s) (?:at|to|on|in)\b"
    r"|(?:was|were) nominated for (?:[\w-]+ ){0,3}(?:Oscars?|awards?)\b"
    r"|(?:is|was|remains|became) (?:an?|the|my|our|his|her|their) (?:[\w'-]+ ){0,3}?(?:film|movie"
    r"|comedy|novel|book|memoir|poem|play|musical|opera|sitcom|series|album|song|band|painting)\b"
    r"(?! \w+(?:er|or|ist|man|woman)\b))"
)
_QUOTES = "\"'\u2018\u2019\u201c\u201d"
# Capitals that spell no word: "MAN stands for", "LAN, MAN and WAN"; not "A MAN, HIS DOG".
_SHORT = r"[A-Z]{2,5}(?![\w'\u2019-])"
_DEFINED = re.compile(r" (?:stands|is short|is an acronym) for\b")
_LIST = r"(?:[,/]|,? (?:and|or|vs\.?|versus)\b) ?(?:and |or )?(?:an? )?"
_LISTED_BEHIND = re.compile(rf"{_LIST}({_SHORT})(?! [A-Z]+\b)")
_LISTED_BEFORE = re.compile(rf"(?<![\w'\u2019-])({_SHORT}){_LIST}\Z")


def is_no_work(text: str, start: int, end: int) -> bool:
    """Whether a noun is in no name of a work, a band or a paper: not "Derry Girls"."""
    if not text[start].isupper():
        return True
    if text[start:end].isupper():
        return not _is_acronym(text, start, end)
    if is_told_of(text, start, end) or begins_name(text, start, end):
        return False
    before, front = word_before(text, start)
    if _is_bare_title(text, start, end, front):
        return False
    if before[:1].isupper():
        word = low(before)
        if is_one_of(word, "polite"):
            return True
        if is_one_of(word, "subjects") and not is_one_of(word, "demonyms"):
            return False  # "The History Boys"
    return not is_in_title(text, start, end)


def is_in_work(text: str, start: int, end: int) -> bool:
    """Whether an adjective is part of a title: "read The German Teacher"."""
    if not text[start].isupper():
        return False
    front = text[max(0, start - FAR) : start]
    inside = " The " in front and _THE_INSIDE.search(front) is not None
    if not (inside or (text[end + 1 : end + 2].isupper() and is_told_of(text, start, end))):
        return False
    beside = _BESIDE.match(text, end, end + FAR)
    words = low(beside[0]).split() if beside else []
    if any(is_any(word, "offices") or is_any(word, "communities") for word in words):
        return False  # "met The French President"
    return not is_headline(phrase_at(text, start, end).raw)


def is_told_of(text: str, start: int, end: int) -> bool:
    """Whether the sentence is about a work: "The Invisible Man is a novel"."""
    if text[start - 1 : start] in _QUOTES and text[end : end + 1] in _QUOTES:
        return start > 0 and end < len(text) and _OF_WORK.match(text, end + 1) is not None
    beside = _BESIDE.match(text, end, end + FAR)
    if _OF_WORK.match(text, beside.end() if beside else end) is None:
        return False
    before = _NAMED_BEFORE.search(text, max(0, start - FAR), start)
    if before is None or not before[0].startswith("The "):
        return bool(beside and beside[0]) and opens_sentence(text, start)
    return opens_sentence(text, before.start())


def is_in_title(text: str, start: int, end: int) -> bool:
    """Whether a noun with a capital is part of a title: "I saw The Girl on the Train".

    Another word of the title has a capital that no sentence, people or colour gives it, and
    another of the sentence has none. "Women's Final" is no title.
    """
    plural = _is_plural(text, start, end)
    if (plural and text[end : end + 1] in ("'", "\u2019")) or opens_sentence(text, start):
        return False
    if text[max(0, start - 4) : start] == "The " and not opens_sentence(text, start - 4):
        return not is_in_headline(text, start, end)  # "loves The Godfather"
    before = _NAMED_BEFORE.search(text, max(0, start - FAR), start)
    words = _CAPITALS.findall(before[0]) if before else []
    if before and opens_sentence(text, before.start()):
        words = words[1:]
    behind = _NAMED_BEHIND.match(text, end)
    words += _CAPITALS.findall(behind[0]) if behind else []
    if not any(_is_of_title(low(word)) for word in words):
        return False
    return not is_in_headline(text, start, end)


def is_in_headline(text: str, start: int, end: int) -> bool:
    """Whether only closed words of the sentence are without a capital."""
    raw = phrase_at(text, start, end).raw
    known = words_of("closed")
    return not any(word[0].islower() and len(word) > 1 and word not in known for word in raw)


def is_possessed(text: str, start: int, end: int) -> bool:
    """Whether a possessive makes a name of what follows: "The King's Speech"."""
    if text[end : end + 1] not in ("'", "\u2019") or _POSSESSED.match(text, end) is None:
        return False
    return not is_in_headline(text, start, end)


def begins_name(text: str, start: int, end: int) -> bool:
    """Whether it owns a paper, a body or a shop: "Men's Health"; not "Women's Final"."""
    if text[end : end + 1] not in ("'", "\u2019"):
        return False
    behind = _POSSESSED.match(text, end)
    if behind is None:
        return False
    words = low(behind[1]).split()
    if not any(is_one_of(word, "periodicals") for word in (words[0], words[-1])):
        before, front = word_before(text, start)
        counted = text[max(0, front - 2) : front].strip().isdigit()  # "the 2012 Women's Open"
        if counted or is_one_of(low(before), "determiners"):
            return False
        if before[:1].isupper() and not opens_sentence(text, front):
            return False  # "the World Women's Open"
        if any(is_any(word, "of_a_group") for word in words) or any(map(is_modifier, words[:-1])):
            return False
    return not is_in_headline(text, start, end)


def _is_bare_title(text: str, start: int, end: int, front: int) -> bool:
    """Whether an adjective and a noun begin the sentence as a title: "Pretty Woman was".

    A noun in the singular would have its article, one in the plural a verb in the plural.
    """
    if front == start or not text[front].isupper() or not opens_sentence(text, front):
        return False
    word = low(text[front:start].rstrip())
    known = is_adjective(word) or is_one_of(word, "title_adjectives")
    if not known or is_one_of(word, "told_apart"):
        return False
    if any(is_one_of(word, kind) for kind in ("demonyms", "quantities", "determiners", "polite")):
        return False
    behind = NEXT.match(text, end)
    if behind is None or not behind[1].islower():
        return False
    if _is_plural(text, start, end) and not is_one_of(low(behind[1]), "singular_verbs"):
        return False
    return not is_in_headline(text, start, end)


def _is_acronym(text: str, start: int, end: int) -> bool:
    """Whether capitals spell a term: defined, or listed with another one."""
    behind = NEXT.match(text, end)
    if one_case(text)[1] or word_before(text, start)[0].isupper():
        return False
    if behind and behind[1].isupper():  # "A MAN LEFT"
        return False
    return is_defined(text, end) or is_listed(text, start, end)


def is_defined(text: str, end: int) -> bool:
    """Whether the text explains what capitals stand for: "MAN stands for"."""
    return _DEFINED.match(text, end) is not None


def is_listed(text: str, start: int, end: int) -> bool:
    """Whether capitals are listed with others that spell no word: "LAN, MAN and WAN"."""
    near = max(0, start - NEAR)
    listed = _LISTED_BEHIND.match(text, end), _LISTED_BEFORE.search(text, near, start)
    words = [other[1].lower() for other in listed if other is not None]
    return any(not (is_person(word) or is_one_of(word, "closed")) for word in words)


def _is_of_title(word: str) -> bool:
    """Whether the capital of a word suggests a title: not "Black", "Indian", "of Color"."""
    return not (is_modifier(word) or word in ("i", "color", "colour") or is_one_of(word, "polite"))


def _is_plural(text: str, start: int, end: int) -> bool:
    return text[end - 1] == "s" or text[start:end].lower() in ("men", "women")


def is_in_street(text: str, start: int, end: int) -> bool:
    """Whether a word with a capital begins the name of a street, a hill or a hospital.

    Up to two more capitals can stand between: "Old Church Farm Road". A title can stand before
    a last name ("Pastor Lane said"), and headlines hold no streets ("Woman Street Vendor").
    """
    place, stop = _place_behind(text, end)
    word = low(text[start:end])
    if not place or word == "sir" or is_one_of(word, "titles"):
        return False
    numbered = text[max(0, start - 2) : start].rstrip()[-1:].isdigit()
    if not numbered and is_one_of(place, "place_surnames") and is_any(word, "callings"):
        return False
    following = NEXT.match(text, stop)
    if following is None or not following[1][0].isupper():
        return True
    return is_one_of(low(word_before(text, start)[0]), "locatives")


def _place_behind(text: str, end: int) -> tuple[str, int]:
    """Return the last word for a place among the next capitals, and its end; "" for none."""
    place, stop, at = "", end, end
    for _ in range(3):
        behind = NEXT.match(text, at)
        if behind is None or not behind[1][0].isupper():
            break
        word, at = low(behind[1]).removesuffix("'s"), behind.end()
        if is_one_of(word, "places") or is_one_of(word, "more_places"):
            if word == "st" and text[at + 1 : at + 3].strip()[:1].isupper():
                break  # "Pastor St. John"
            place, stop = word, at
        elif place:
            break
    return place, stop
