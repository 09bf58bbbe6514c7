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
from pytest_llmfair.lexicons.english.names_and_words import (
    ARTICLES,
    BE,
    HELP,
    KINDS,
    LINKS,
    OWNED,
    STOPS,
    is_finite,
    is_noun,
)
from pytest_llmfair.lexicons.english.words import (
    is_adverb,
    is_one_of,
    is_person,
    is_verb,
)
from pytest_llmfair.lexicons.grammar import Name, Verdict

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
    return Verdict(True, False, f"'{also.title()}' is also {KINDS[kinds[0]][0]}")


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
    return tuple(kind for kind in KINDS if kind == place or any_in_class(forms, kind))


def _settled(
    here: NameContext, kinds: Words, forms: frozenset[str], *, last: bool = False
) -> bool | None:
    """Return whether it is a person; None without evidence."""
    if _is_asked(here, forms) or any(KINDS[kind][1](here, last) for kind in kinds):
        return False
    if _is_named(here) or _acts(here, kinds) or _is_referred_to(here):
        return True
    if kinds != ("also_word",) or here.opens or not here.text[here.start].isupper():
        return None
    # Inside a sentence a capital shows a name, unless something else explains the capital.
    asked = here.front[0] in (*BE, *HELP, *_DENY)
    odd = here.front[0] in (*QUOTES, *ARTICLES, *OWNED, "in") or one_case(here.text)[1]
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
        link in LINKS and is_one_of(word, "first_names") and not is_one_of(word, "also_place")
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
        lambda h: is_one_of(h.front[0], "greetings") and h.back[0] in STOPS,
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
        described = back[1] in (*ARTICLES, *OWNED) and _has_person(back[2:])
        return (
            described
            or _AGE.match(back[1]) is not None
            or back[1] in ("who", "whose", "she", "he")
        )
    helps = back[0] in (*BE, *HELP, *_DENY) or is_finite(back[0], "")
    often = is_adverb(back[0]) or (is_one_of(back[0], "auxiliaries") and not helps)
    at = 1 if often and here.following[0].islower() else 0
    verb, rest = back[at], back[at + 1 :]
    if verb in BE:
        if rest[0] in (*ARTICLES, *OWNED, "not"):
            return _has_person(rest[1:])
        return is_person(rest[0]) or (is_one_of(rest[0], "adjectives") and "also_word" in kinds)
    if verb in _DENY or verb in ("who", "whose"):
        return True
    body = "also_place" in kinds or "also_firm" in kinds
    if verb in HELP:
        done = rest[1] if is_adverb(rest[0]) else rest[0]
        return is_verb(done, "", bare=True) and not is_one_of(done, "body_acts")
    return is_finite(verb, rest[0]) and not (body and is_one_of(verb, "body_acts"))


def _has_person(words: Words) -> bool:
    stop = next((n for n, word in enumerate(words) if word in STOPS), len(words))
    return any(is_person(word) for word in words[:stop])


def _is_referred_to(here: NameContext) -> bool:
    """Whether a later pronoun can only mean this name: "Jordan, in her first year"."""
    pronoun = _PRONOUN.search(here.text, here.end, here.end + _FAR)
    if pronoun is None or (here.back[0] in BE and here.back[1] in ARTICLES):
        return False
    context = context_of(here.text)
    front = _SENTENCE.split(here.text[max(0, here.start - _FAR) : here.start])[-1]
    words = map(
        low,
        (
            *context.before(here.start, len(front)),
            *context.after(here.end, pronoun.start() - here.end),
        ),
    )
    return not any(
        is_person(word) or is_one_of(word, "first_names") or _PRONOUN.fullmatch(word)
        for word in words
        if word[0].isalpha()
    )


def _is_asked(here: NameContext, forms: frozenset[str]) -> bool:
    """Whether "Will" or "May" asks about the name after it: "Will Anna come?"."""
    if forms.isdisjoint(("will", "may")) or not (here.opens and here.following[0][:1].isupper()):
        return False
    stop = _SENTENCE.search(here.text, here.end, here.end + 2 * _FAR)
    return stop is not None and stop[0] == "?"
