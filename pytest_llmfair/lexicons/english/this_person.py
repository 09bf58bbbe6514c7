"""Whether a name is the person asked for, and not another person, a word, a month or a place.

A name with a capital is that person. A name that is also a word, a month, a place, a firm or a
people ("Rose", "May", "Jordan", "Chase", "Christian") needs words around it that settle it.
"""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.context import Rule, context_of, decide, low, one_case
from pytest_llmfair.lexicons.english.full_names import (
    QUOTES,
    STARTS,
    NameContext,
    Words,
    any_in_class,
    around_name,
    is_counted_name,
    is_initial,
    is_no_name,
    is_title,
    person_by_full_name,
)
from pytest_llmfair.lexicons.english.words import (
    in_classes,
    is_adverb,
    is_one_of,
    is_person,
    is_verb,
)
from pytest_llmfair.lexicons.grammar import Name, Verdict

_STOPS = (".", ",", "!", "?", ";", ":", "\n", ")", '"', "\u201d", "\u2019", "'", "")
_BE = ("is", "was", "isn't", "wasn't")
_PLURAL = ("are", "were", "have", "do", "aren't", "weren't", "need")
_HELP = ("has", "had", "will", "would", "can", "could", "should", "might", "must", "won't")
_ARTICLES = ("a", "an", "the", "this", "these", "no", "some", "any", "every", "another")
_OWNED = ("my", "our", "your", "his", "her", "their")
_LINKS = ("and", "or", "&", ",")
_NEAR = 60
_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE)
_AGE = re.compile(r"\d\d[,.]?\Z")
_SENTENCE = re.compile(r"[.!?\n]")
_DENY = ("doesn't", "didn't", "hasn't", "hadn't", "does", "did", "can't", "couldn't", "wouldn't")
_ADDRESSED = frozenset(
    ("you", "your", "please", "can", "could", "i", "i'm", "we", "let's", "thanks", "are")
)
_BEFORE_PERSONS = ("i'm", "named", "with")
_LABELS = ("name", "from", "to", "cc", "by", "user", "author", "attn", "speaker")
_FAR = 120


def is_this_person(text: str, start: int, end: int, name: Name) -> Verdict:
    """Return whether ``text[start:end]`` is the person asked for."""
    last = name.part.startswith("last")
    if name.part.endswith("initial"):
        return Verdict(is_initial(text, start, end, name.full, last=last))
    here = around_name(text, start, end)
    if name.part.startswith("plural"):
        return Verdict(is_counted_name(here, family=name.part != "plural"))
    if text[start].islower() and text[start:end] not in name.full and not one_case(text)[0]:
        return Verdict(False)
    kinds = _kinds_of(name.forms)
    theirs = person_by_full_name(here, name, kinds)
    if theirs is not None:
        return Verdict(theirs)
    if name.part == "name" and _may_be_last_name(here):
        return Verdict(True, False, f"{text[start:end]!r} can be a last name here")
    if not kinds:
        return Verdict(True)
    settled = _settled(here, kinds, name.forms, last=last)
    if settled is None and not ("also_word" in kinds and here.opens):
        settled = _is_named_elsewhere(text, name.forms, name.own) or None
    if settled is not None:
        return Verdict(settled)
    also = next(form for form in sorted(name.forms) if kinds[0] in _kinds_of(frozenset({form})))
    return Verdict(True, False, f"'{also.title()}' is also {_KINDS[kinds[0]][0]}")


def _may_be_last_name(here: NameContext) -> bool:
    """Whether a capitalised word before a name can be the first name of another person."""
    raw, word = here.before[0], here.front[0]
    if not raw[:1].isupper() or raw.isupper() or word.endswith(("'s", "'m", "'re", "'ve")):
        return False
    return not (is_one_of(word, "first_names") or is_no_name(word) or is_one_of(word, "also_word"))


@functools.lru_cache(maxsize=256)
def _kinds_of(forms: frozenset[str]) -> Words:
    """Return the other readings of a name."""
    place = "also_place" if any_in_class(forms, "regions") else ""
    return tuple(kind for kind in _KINDS if kind == place or any_in_class(forms, kind))


def _settled(here: NameContext, kinds: Words, forms: frozenset[str], *, last: bool) -> bool | None:
    """Return whether it is a person; None without evidence."""
    if _is_asked(here, forms) or any(_KINDS[kind][1](here, last) for kind in kinds):
        return False
    if _is_named(here) or _acts(here, kinds) or _is_referred_to(here):
        return True
    if kinds != ("also_word",) or here.opens or not here.text[here.start].isupper():
        return None
    # Inside a sentence a capital shows a name, unless something else explains the capital.
    asked = here.front[0] in (*_BE, *_HELP, *_DENY)
    odd = here.front[0] in (*QUOTES, *_ARTICLES, *_OWNED, "in") or one_case(here.text)[1]
    odd = odd or (here.following[0].islower() and is_noun(*here.back[:2]))
    return None if odd or (here.before[0][:1].isupper() and not asked) else True


@functools.lru_cache(maxsize=64)  # it looks through a whole text, which can hold many names
def _is_named_elsewhere(text: str, forms: frozenset[str], own: frozenset[str]) -> bool:
    """Whether the text shows the person elsewhere: by a title, a greeting, a last name."""
    last_names = own - forms
    words = "|".join(re.escape(form) for form in sorted(forms))
    found = re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text, re.IGNORECASE)
    places = (around_name(text, *match.span()) for match in found if text[match.start()].isupper())
    return any(_is_named(here) or here.back[0] in last_names for here in places)


def _is_named(here: NameContext) -> bool:
    """Whether words next to it show a person: a title, a greeting, a last name, "with"."""
    return decide(NAMED, here, False)


def _is_called(here: NameContext) -> bool:
    """Whether it is addressed after a comma: "Thanks, Rose", "come here, Rose!"."""
    called = here.before[1].islower() and here.back[0] in (".", "!", "?", "", "\n")
    return here.front[0] == "," and (called or is_one_of(here.front[1], "greetings"))


def _is_next_to_name(here: NameContext) -> bool:
    return any(
        link in _LINKS and is_one_of(word, "first_names") and not is_one_of(word, "also_place")
        for link, word in (here.back[:2], here.front[:2])
    )


NAMED: tuple[Rule[NameContext, bool], ...] = (
    Rule(lambda h: is_title(h.front[0]), True, "I met Ms. «Rose»."),
    Rule(
        lambda h: is_person(h.front[0]) and not h.front[0].endswith("s"),
        True,
        "My sister «Rose» left.",
    ),
    Rule(
        lambda h: is_one_of(h.front[0], "greetings") and h.back[0] in _STOPS,
        True,
        "Hello «Rose», welcome.",
    ),
    Rule(_is_called, True, "Come here, «Rose»!"),
    Rule(
        lambda h: h.opens and h.back[0] == "," and not _ADDRESSED.isdisjoint(h.back[1:5]),
        True,
        "«Rose», can you come?",
    ),
    Rule(lambda h: h.back[0] == ":" and h.front[0] in STARTS, True, "«Rose»: I agree."),
    Rule(
        lambda h: h.front[0] in (":", "|") and (h.front[1] in _LABELS or is_person(h.front[1])),
        True,
        "Name: «Rose»",
    ),
    Rule(
        lambda h: (
            h.following[0][:1].isupper() and is_one_of(h.back[0], "last_names") and not h.owner
        ),
        True,
        "I saw «Rose» Smith there.",
    ),
    Rule(
        lambda h: is_one_of(h.front[0], "verbs_with_persons") or h.front[0] in _BEFORE_PERSONS,
        True,
        "I went with «Rose».",
    ),
    Rule(lambda h: h.front[0] == "is" and "name" in h.front[1:4], True, "My name is «Rose»."),
    Rule(
        lambda h: (
            h.front[0] in ("to", "from") and any_in_class(h.front[1:5], "verbs_with_persons")
        ),
        True,
        "I talked to «Rose».",
    ),
    Rule(_is_next_to_name, True, "Then Emily and «Rose» left."),
)


def _acts(here: NameContext, kinds: Words) -> bool:
    """Whether it does, has or is what only a person does, has or is."""
    back = here.back
    if here.owner:
        owned = any_in_class(back[:2], "own_things") or is_person(back[0]) or is_person(back[1])
        return owned or not {"also_place", "also_firm", "also_people"}.intersection(kinds)
    if back[0] in (",", "("):  # ", 34,", ", a nurse,", "(she/her)"
        if back[1] in (*_ARTICLES, *_OWNED) and _has_person(back[2:]):
            return True
        return _AGE.match(back[1]) is not None or back[1] in ("who", "whose", "she", "he")
    helps = back[0] in (*_BE, *_HELP, *_DENY) or _is_finite(back[0], "")
    often = is_adverb(back[0]) or (is_one_of(back[0], "auxiliaries") and not helps)
    at = 1 if often and here.following[0].islower() else 0
    verb, rest = back[at], back[at + 1 :]
    if verb in _BE:
        if rest[0] in (*_ARTICLES, *_OWNED, "not"):
            return _has_person(rest[1:])
        return is_person(rest[0]) or (is_one_of(rest[0], "adjectives") and "also_word" in kinds)
    if verb in _DENY or verb in ("who", "whose"):
        return True
    body = "also_place" in kinds or "also_firm" in kinds
    if verb in _HELP:
        done = rest[1] if is_adverb(rest[0]) else rest[0]
        return is_verb(done, "", bare=True) and not is_one_of(done, "body_acts")
    return _is_finite(verb, rest[0]) and not (body and is_one_of(verb, "body_acts"))


def _has_person(words: Words) -> bool:
    stop = next((n for n, word in enumerate(words) if word in _STOPS), len(words))
    return any(is_person(word) for word in words[:stop])


def _is_referred_to(here: NameContext) -> bool:
    """Whether a later pronoun can only mean this name: "Jordan, in her first year"."""
    pronoun = _PRONOUN.search(here.text, here.end, here.end + _FAR)
    if pronoun is None or (here.back[0] in _BE and here.back[1] in _ARTICLES):
        return False
    context = context_of(here.text)
    front = _SENTENCE.split(here.text[max(0, here.start - _FAR) : here.start])[-1]
    before = context.before(here.start, len(front))
    after = context.after(here.end, pronoun.start() - here.end)
    return not any(
        is_person(word) or is_one_of(word, "first_names") or _PRONOUN.fullmatch(word)
        for word in map(low, (*before, *after))
        if word[0].isalpha()
    )


def _is_asked(here: NameContext, forms: frozenset[str]) -> bool:
    """Whether "Will" or "May" asks about the name after it: "Will Anna come?"."""
    if forms.isdisjoint(("will", "may")) or not (here.opens and here.following[0][:1].isupper()):
        return False
    stop = _SENTENCE.search(here.text, here.end, here.end + 2 * _FAR)
    return stop is not None and stop[0] == "?"


def _is_finite(verb: str, following: str) -> bool:
    """Whether a verb in -s, in the past or the like follows a name."""
    alone = verb.endswith("s") and following not in _PLURAL
    if alone or verb.endswith("ed"):
        return is_verb(verb, following, bare=alone)
    return is_one_of(verb, "past_forms") or is_one_of(verb, "finite_verbs")


def _is_word(here: NameContext, last: bool) -> bool:
    """Whether a name is an ordinary word: "Rose petals fell", "Will you come?", "the Rose"."""
    front, back = here.front, here.back
    if front[0] in _ARTICLES:
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
    if not word.isalpha() or word in _HELP or is_one_of(word, "closed") or is_adverb(word):
        return word in ("be", "have", "do")
    finite = _is_finite(word, following) or is_verb(word, following, bare=word.endswith("s"))
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


def _is_in_region(here: NameContext) -> bool:
    second = here.following[1]
    region = (len(second) == 2 and second.isupper()) or is_one_of(here.back[1], "regions")
    return here.back[0] == "," and second[:1].isupper() and region


def _is_next_to_place(here: NameContext) -> bool:
    return any(
        words[0] in _LINKS and is_one_of(words[1], "regions") for words in (here.back, here.front)
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
        lambda h: h.back[0] in _STOPS and not is_one_of(h.front[1], "first_names"),
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
    if front[0] in (*_ARTICLES, *_OWNED):
        return not is_person(back[0])
    around = context_of(here.text).after(here.start - _NEAR, 2 * _NEAR + here.end - here.start)
    near = any(in_classes(low(word), "firm_nouns", "firm_deals") for word in around)
    dealt = near and front[0] in ("at", "with", "from")
    return dealt or is_one_of(back[0], "firm_nouns")


def _is_people(here: NameContext, last: bool) -> bool:
    """Whether it is used as an adjective or a people: "a devout Christian", "Norman kings"."""
    front, back = here.front, here.back
    if front[0] in _ARTICLES:
        return not is_one_of(back[0], "families")
    if front[0] in (*_BE, "are", "were", "be", "am") and back[0] != ",":
        return "name" not in front[1:4] and not here.following[0][:1].isupper()
    used = is_person(back[0]) or is_one_of(back[0], "things_of_peoples")
    return used and not here.owner and not is_verb(back[0], back[1])


_KINDS = {
    "also_word": ("a word", _is_word),
    "also_month": ("a month", _is_month),
    "also_place": ("a place", lambda here, _: decide(PLACES, here, False)),
    "also_firm": ("a firm", _is_firm),
    "also_people": ("a word for a people or a faith", _is_people),
}
