"""Whether a term is part of a proper name: "the Muslim Brotherhood", "Derry Girls"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.context import (
    FAR,
    NEXT,
    Phrase,
    is_before_name,
    is_headline,
    low,
    opens_sentence,
    phrase_at,
    word_before,
)
from pytest_llmfair.lexicons.english.predicates import is_predicate
from pytest_llmfair.lexicons.english.words import (
    JOINED,
    ends_phrase,
    in_classes,
    is_any,
    is_modifier,
    is_one_of,
    is_person,
    noun_phrase_ends,
    words_of,
)

_LINKS = r"(?:(?:of|the|an?|with|on|in|for|to|from|at|by)[^\S\n]+){0,2}"
_CAPITAL = r"[A-Z][\w'\u2019-]*+"
_NAMED_BEFORE = re.compile(rf"(?<!\w)(?:{_CAPITAL}[^\S\n]+{_LINKS})+\Z")
_NAMED_AFTER = re.compile(rf"(?:['\u2019]s)?(?:[^\S\n]+{_LINKS}{_CAPITAL}){{1,9}}")
_CAPITALS = re.compile(rf"(?<!\w){_CAPITAL}")
_QUOTES = "\"'\u201c\u201d\u2018\u2019"
_INSIDE = re.compile(rf"[a-z\d]['\u2019]? The (?:{_CAPITAL} )*\Z")
_BODY = re.compile(r"\b([A-Z]\w+) (?:for|of|on) (?:the )?\Z")
_PRIZE = (
    r"(?:Oscars?|Academy Awards?|Emmys?|Grammys?|BAFTAs?|Tonys?|Golden \w+|Palme|Pulitzer|Booker"
    r"|[Bb]est \w+)"
)
_WORK = (
    r"(?:film|movie|documentary|drama|comedy|novel|novella|book|bestseller|memoir|poem|play|musical"
    r"|opera|ballet|sitcom|series|masterpiece|blockbuster|show|podcast|album|song|single|band|group"
    r"|painting|game)"
)
# Words for works and bands, rarely used of a person with a capital.
_WORDS_OF_WORKS = re.compile(
    rf"(?: {_CAPITAL})* (?:(?:has|have|had|just|also|finally|recently) )?(?:"
    rf"(?:won|wins|received|swept|scooped|took|got|earned) (?:[\w-]+ ){{0,4}}{_PRIZE}\b"
    r"|(?:gross(?:ed|es)|premier(?:ed|es)|flopped|flops|headlin(?:ed|es))\b"
    r"|(?:was|were|been|is|being|will be) (?:being |rarely )?"
    r"(?:filmed|remade|adapted|screened|shown|re-?released|restored|staged|seriali[sz]ed"
    r"|reissued|set|out)\b(?! (?:of|to|for|off|free|by))"
    r"|(?:is|was|remains|became) (?:an?|the|my|our|his|her|their) (?:[\w'-]+ ){0,3}?"
    rf"{_WORK}\b(?! \w+(?:er|or|ist|man|woman)\b)"
    r"|(?:is|was|are|were|came|comes|stream(?:s|ed)) (?:[a-z]+ ){0,4}"
    r"(?:on (?:Netflix|Hulu|Disney|Broadway|HBO|Amazon Prime|Apple TV)|to (?:Netflix|Broadway))\b"
    r"|(?:got|gets|drew|received|opened to) (?:[a-z]+ ){0,2}reviews\b)"
)
# Capitalised words after a possessive: "(Men)'s Health".
POSSESSED = re.compile(r"['\u2019]s?((?:[^\S\n]+[A-Z][a-z]+(?:-[A-Z]?[a-z]+)?(?!\w)){1,4})")


def is_in_name(text: str, start: int, end: int) -> bool:
    """Whether an adjective with a capital is in the title of a work or the name of a body."""
    if not text[start].isupper():
        return False
    before = word_before(text, start)[0]
    if text[end : end + 1] == " " and text[end + 1 : end + 2].isupper():
        body = _BODY.search(text, max(0, start - FAR), start)
        if body is not None and is_one_of(body[1].lower(), "bodies_named"):
            return True  # "Center for Lesbian Rights"
        if any(is_one_of(word, "bodies_of_people") for word in _names_after(text, end)[1:]):
            return not is_headline(phrase_at(text, start, end).raw)
    elif before != "The" and (
        not before[:1].isupper() or in_classes(low(before), "closed", "quantities")
    ):
        return False
    front = text[max(0, start - FAR) : start]
    inside = " The " in front and _INSIDE.search(front) is not None
    if not (inside or _is_work(text, start, end)):
        return False
    if any(is_any(word, "offices") or is_any(word, "peoples") for word in _names_after(text, end)):
        return False  # "met The French President"
    return not is_headline(phrase_at(text, start, end).raw)


def _names_after(text: str, end: int) -> list[str]:
    after = _NAMED_AFTER.match(text, end, end + FAR)
    return low(after[0]).split() if after else []


def _is_work(text: str, start: int, end: int) -> bool:
    """Whether the sentence is about a work: "The English Patient won nine Oscars"."""
    if start and text[start - 1] in _QUOTES and text[end : end + 1] in _QUOTES:
        return end < len(text) and _WORDS_OF_WORKS.match(text, end + 1) is not None
    if _WORDS_OF_WORKS.match(text, end) is None:
        return False
    front = _NAMED_BEFORE.search(text, max(0, start - FAR), start)
    begin = front.start() if front else start
    return opens_sentence(text, begin)


def is_in_title(text: str, start: int, end: int) -> bool:
    """Whether a capitalised noun is part of a name: "Derry Girls", "The Girl on the Train"."""
    if _is_work(text, start, end) or _owns_name(text, start, end):
        return True
    before, front = word_before(text, start)
    if before[:1].isupper() and is_one_of(low(before), "polite"):
        return False
    plural = text[end - 1] == "s" or text[start:end].lower().endswith("men")
    if (plural and text[end : end + 1] in ("'", "\u2019")) or opens_sentence(text, start):
        return False
    if before == "The" and not opens_sentence(text, front):
        return not is_in_headline(text, start, end)  # "loves The Godfather"
    named = _NAMED_BEFORE.search(text, max(0, start - FAR), start)
    words = _CAPITALS.findall(named[0]) if named else []
    if named and opens_sentence(text, named.start()):
        words = words[1:]
    after = _NAMED_AFTER.match(text, end)
    words += _CAPITALS.findall(after[0]) if after else []
    if not any(_is_of_title(low(word)) for word in words):
        return False
    return not is_in_headline(text, start, end)


def _owns_name(text: str, start: int, end: int) -> bool:
    """Whether it owns a paper, a body or a shop: "Men's Health"; not "Women's Final"."""
    if text[end : end + 1] not in ("'", "\u2019"):
        return False
    after = POSSESSED.match(text, end)
    if after is None:
        return False
    words = low(after[1]).split()
    if not in_classes(words[0], "periodicals") and not in_classes(words[-1], "periodicals"):
        before, front = word_before(text, start)
        counted = text[max(0, front - 2) : front].strip().isdigit()  # "the 2012 Women's Open"
        if counted or is_one_of(low(before), "determiners"):
            return False
        if any(is_any(word, "of_a_group") for word in words) or any(map(is_modifier, words[:-1])):
            return False
    return not is_in_headline(text, start, end)


def _is_of_title(word: str) -> bool:
    """Whether the capital of a word shows a title: no "Black", no "Indian", no "of Color"."""
    return is_one_of(word, "title_adjectives") or not (
        is_modifier(word) or word in ("i", "color", "colour") or is_one_of(word, "polite")
    )


def is_institution(phrase: Phrase) -> bool:
    """Whether a capital after it makes a name: "the Muslim Brotherhood"; not "Muslim Turks"."""
    if not phrase.has_capital or not is_before_name(phrase):
        return False
    if phrase.last.endswith("ly") and not is_one_of(phrase.last, "not_adverbs"):
        return False  # "the staunchly Protestant Edward VI"
    known = ("demonyms", "person_adjectives", "of_faith", "mass_nouns", "causes", "first_names")
    return not (is_person(phrase.next) or any(is_any(phrase.next, kind) for kind in known))


def is_first_name(phrase: Phrase) -> bool:
    """Whether a term that is also a given name is one here: "Christian said", "I met Gay"."""
    if phrase.term.islower() or phrase.term.isupper():
        return False
    if is_before_name(phrase):
        known = ("demonyms", "of_faith", "bare_groups", "merry_things")
        adjective = phrase.last == "the" or any(is_any(phrase.next, kind) for kind in known)
        return not adjective or is_institution(phrase)
    if phrase.next in JOINED and len(phrase.after) > 1 and is_modifier(phrase.after[1]):
        return False
    last = phrase.last
    if last in ("as", "%", "percent") or in_classes(
        last, "determiners", "predicate_adverbs", "be_contracted", "begun", "person_modifiers"
    ):
        return False
    if is_one_of(last, "be") and len(phrase.before) > 1:  # not "is Christian in?"
        return is_one_of(phrase.before[-2], "called")
    noun = phrase.next[:1].isalpha() and not phrase.next.endswith("ing")
    if noun and not noun_phrase_ends(phrase.after, bare=is_one_of(last, "asking")):
        return False
    listed = last in (",", "(") and "and" not in phrase.after[:2]
    return not (listed and is_predicate(phrase, phrase.before, phrase.after))


def is_food_or_feast(phrase: Phrase) -> bool:
    """Whether a dish or a feast follows, or a gay thing: "Jewish rye", "gay ribbons"."""
    for at, word in enumerate(phrase.after[:3]):
        if any(is_any(word, kind) for kind in ("fare", "feasts", "merry_things")):
            return not is_person(" ".join(phrase.after[at + 1 : at + 2]))
        if ends_phrase(word) or is_person(word):
            return False
    return False


def is_in_headline(text: str, start: int, end: int) -> bool:
    """Whether only closed words of the sentence are without a capital."""
    raw = phrase_at(text, start, end).raw
    known = words_of("closed")
    return not any(word[0].islower() and len(word) > 1 and word not in known for word in raw)


def is_possessed(text: str, start: int, end: int) -> bool:
    """Whether a possessive makes what follows a name: "The King's Speech"."""
    if text[end : end + 1] not in ("'", "\u2019") or POSSESSED.match(text, end) is None:
        return False
    return not is_in_headline(text, start, end)


def is_in_street(text: str, start: int, end: int) -> bool:
    """Whether a capitalised word begins the name of a street, a hill or a hospital."""
    place, stop = _place_after(text, end)
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


def _place_after(text: str, end: int) -> tuple[str, int]:
    """Return the last word for a place among the next capitals, and its end; "" for none."""
    place, stop, at = "", end, end
    for _ in range(3):
        following = NEXT.match(text, at)
        if following is None or not following[1][0].isupper():
            break
        word, at = low(following[1]).removesuffix("'s"), following.end()
        if is_one_of(word, "places") or is_one_of(word, "more_places"):
            if word == "st" and text[at + 1 : at + 3].strip()[:1].isupper():
                break  # "Pastor St. John"
            place, stop = word, at
        elif place:
            break
    return place, stop
