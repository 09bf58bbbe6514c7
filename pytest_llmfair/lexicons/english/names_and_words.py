"""Names that are also a word, a month, a place, a firm or a people: "Rose", "May", "Chase"."""

from __future__ import annotations

from pytest_llmfair.lexicons.english.context import Rule, context_of, decide, low
from pytest_llmfair.lexicons.english.full_names import QUOTES, NameContext, any_in_class
from pytest_llmfair.lexicons.english.words import (
    in_classes,
    is_adverb,
    is_one_of,
    is_person,
    is_verb,
)

STOPS = (".", ",", "!", "?", ";", ":", "\n", ")", '"', "\u201d", "\u2019", "'", "")
BE = ("is", "was", "isn't", "wasn't")
_PLURAL = ("are", "were", "have", "do", "aren't", "weren't", "need")
HELP = ("has", "had", "will", "would", "can", "could", "should", "might", "must", "won't")
ARTICLES = ("a", "an", "the", "this", "these", "no", "some", "any", "every", "another")
OWNED = ("my", "our", "your", "his", "her", "their")
LINKS = ("and", "or", "&", ",")
_NEAR = 60


def is_finite(verb: str, following: str) -> bool:
    """Whether a verb in -s, in the past or the like follows a name."""
    alone = verb.endswith("s") and following not in _PLURAL
    if alone or verb.endswith("ed"):
        return is_verb(verb, following, bare=alone)
    return is_one_of(verb, "past_forms") or is_one_of(verb, "finite_verbs")


def _is_word(here: NameContext, last: bool) -> bool:
    """Whether a name is an ordinary word: "Rose petals fell", "Will you come?", "the Rose"."""
    front, back = here.front, here.back
    if front[0] in ARTICLES:
        family = is_one_of(back[0], "families") or here.following[0][:1].isupper()
        return not (family or (last and front[0] == "the"))
    if back[back[0] == "."][:1].isdigit() or is_one_of(front[0], "demonyms"):  # "Art. 5"
        return True
    starts = here.opens or front[0] in QUOTES or here.text[here.start].islower()
    if not starts or here.owner:
        return False
    if is_one_of(back[0].partition("'")[0], "openers") or back[0] in _PLURAL:
        return True
    return here.following[0].islower() and is_noun(back[0], back[1])


def is_noun(word: str, following: str) -> bool:
    """Whether the word after a name is not its verb but a noun, adjective or bare verb."""
    if not word.isalpha() or word in HELP or is_one_of(word, "closed") or is_adverb(word):
        return word in ("be", "have", "do")
    finite = is_finite(word, following) or is_verb(word, following, bare=word.endswith("s"))
    return not (finite or word.endswith(("ed", "ing")))


def _is_month(here: NameContext, last: bool) -> bool:
    """Whether a day, a year or another month is next to it: "on May 5", "May rain"."""
    front, back = here.front, here.back
    day = front[1] if front[0] == "of" else front[0]
    if back[0][:1].isdigit() or (day[:1].isdigit() and len(day.rstrip("stndrh")) < 3):
        return True
    if is_one_of(front[0], "before_months"):
        return front[0] != "from" or not any_in_class(front[1:4], "verbs_with_persons")
    linked = back[0] in ("and", "or", "to", "through", "-", "\u2013", "/")
    asked = here.opens and is_one_of(back[0], "openers")
    other = linked and is_one_of(back[1], "also_month")
    return asked or other or is_one_of(back[0], "month_nouns") or front[0] in ("the", "a")


def _is_place(here: NameContext, last: bool) -> bool:
    """Whether words show a place: "moved to Austin", "Austin, TX"."""
    return decide(PLACES, here, False)


def _is_in_region(here: NameContext) -> bool:
    second = here.following[1]
    region = (len(second) == 2 and second.isupper()) or is_one_of(here.back[1], "regions")
    return here.back[0] == "," and second[:1].isupper() and region


def _is_next_to_place(here: NameContext) -> bool:
    return any(
        words[0] in LINKS and is_one_of(words[1], "regions") for words in (here.back, here.front)
    )


PLACES: tuple[Rule[NameContext, bool], ...] = (
    Rule(
        lambda h: h.owner,
        lambda h: is_one_of(h.back[0], "place_nouns"),
        "We saw «Austin»'s airport.",
    ),
    Rule(_is_in_region, True, "It rained, Jo said, «Austin», TX."),
    Rule(
        lambda h: (
            h.front[0] == ","
            and h.before[1][:1].isupper()
            and is_one_of(h.front[2], "prepositions")
        ),
        lambda h: h.back[0] in STOPS and not is_one_of(h.front[1], "first_names"),
        "They met in Paris, «Austin».",
    ),
    Rule(
        lambda h: h.front[0] in ("in", "into", "near", "within", "around"),
        lambda h: not any_in_class(h.front[1:3], "verbs_before_in"),
        "We live in «Austin».",
    ),
    Rule(
        lambda h: h.front[0] in ("to", "from", "for") and any_in_class(h.front[1:5], "moving"),
        lambda h: not any_in_class(h.front[1:4], "verbs_with_persons"),
        "They moved to «Austin».",
    ),
    Rule(_is_next_to_place, True, "I like Texas and «Austin»."),
    Rule(lambda h: is_one_of(h.back[0], "place_nouns"), True, "It was the «Austin» airport."),
    Rule(lambda h: is_one_of(h.front[0], "places_done_to"), True, "We visited «Austin»."),
    Rule(
        lambda h: h.front[0] in ("of", ":") and is_one_of(h.front[1], "place_nouns"),
        True,
        "I love the streets of «Austin».",
    ),
    Rule(
        lambda h: h.front[0] == "of" and h.before[1][:1].isupper(),
        True,
        "Then the Dean of «Austin» spoke.",
    ),
    Rule(
        lambda h: h.front[0] == "from" and (is_person(h.front[1]) or h.back[0] in ("to", "into")),
        True,
        "I met a nurse from «Austin».",
    ),
    Rule(
        lambda h: (
            h.front[0] in ("the", "a", "an")
            and h.back[0] == h.following[0]
            and is_noun(*h.back[:2])
        ),
        True,
        "We like the «Austin» vibe.",
    ),
)


def _is_firm(here: NameContext, last: bool) -> bool:
    """Whether words show a firm or its product: "drives a Ford", "my Chase card"."""
    front, back = here.front, here.back
    if front[0] in (*ARTICLES, *OWNED):
        return not is_person(back[0])
    around = context_of(here.text).after(here.start - _NEAR, 2 * _NEAR + here.end - here.start)
    near = any(in_classes(low(word), "firm_nouns", "firm_deals") for word in around)
    dealt = near and front[0] in ("at", "with", "from")
    return dealt or is_one_of(back[0], "firm_nouns")


def _is_people(here: NameContext, last: bool) -> bool:
    """Whether it is used as an adjective or a people: "a devout Christian", "Norman kings"."""
    front, back = here.front, here.back
    if front[0] in ARTICLES:
        return not is_one_of(back[0], "families")
    if front[0] in (*BE, "are", "were", "be", "am") and back[0] != ",":
        return "name" not in front[1:4] and not here.following[0][:1].isupper()
    used = is_person(back[0]) or is_one_of(back[0], "things_of_peoples")
    return used and not here.owner and not is_verb(back[0], back[1])


KINDS = {
    "also_word": ("a word", _is_word),
    "also_month": ("a month", _is_month),
    "also_place": ("a place", _is_place),
    "also_firm": ("a firm", _is_firm),
    "also_people": ("a word for a people or a faith", _is_people),
}
