"""Whether a name is the person asked for, and not somebody else, a word, a month or a place.

A name with a capital is that person. One that is a word, a month, a place, a firm or a people too
("Rose", "May", "Jordan", "Chase", "Christian") needs words around it that settle it.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from pytest_llmfair.lexicons.english.beside import low, one_case, opens_sentence
from pytest_llmfair.lexicons.english.english import is_adverb, is_one_of
from pytest_llmfair.lexicons.english.initials import (
    is_another_initial,
    is_in_full,
    is_initial,
    is_no_name,
)
from pytest_llmfair.lexicons.english.persons.words import is_person, is_verb
from pytest_llmfair.lexicons.grammar import Name, Verdict

_KINDS = {
    "also_word": "a word",
    "also_month": "a month",
    "also_place": "a place",
    "also_firm": "a firm",
    "also_people": "a word for a people or a faith",
}
_TOKEN = re.compile(r"[^\W\d_](?:[\w'\u2019]|[-\u2010\u2011](?=\w))*|\d[\w.,:/%-]*|\n|[^\w\s]")
_OWNER = re.compile(r"['\u2019](?:s\b|(?![\w\"]))")
_PIECE_BEFORE = re.compile(r"([^\W\d_]+)[-\u2010\u2011]\Z")
_PIECE_BEHIND = re.compile(r"[-\u2010\u2011]([^\W\d_]+)")
_PREFIXES = ("ex", "pro", "anti", "non", "mid", "pre", "post", "then", "all", "fellow")
_NUMERAL = re.compile(r"[^\S\n]+(?:[IVX]{2,5}\b|[VX]\b(?!\.)|I[^\S\n]+of\b)")
_VERSE = re.compile(r"[^\S\n]+\d{1,3}:\d{1,3}(?![^\S\n]*(?:[ap]\.?m\b|sharp\b))")
_QUOTE_OPENS = re.compile(r"(?<!\w)[\"'*_\u201c\u2018]([^\"\u201c\u201d\u2018.!?\n]*)\Z")
_QUOTE_CLOSES = re.compile(r"([^\"\u201c\u201d.!?\n]*?)[\"'*_\u201d\u2019](?!\w)")
_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?\n]")
_STOPS = (".", ",", "!", "?", ";", ":", "\n", ")", '"', "\u201d", "\u2019", "'", "")
_STARTS = ("", "\n", "-", "*", "#", "\u2022", ".", ")", "|", ">")
_QUOTES = ('"', "\u201c", "'", "\u2018", "(")
_BE = ("is", "was", "isn't", "wasn't")
_HELP = ("has", "had", "will", "would", "can", "could", "should", "might", "must", "won't")
_DENY = ("doesn't", "didn't", "hasn't", "hadn't", "does", "did", "can't", "couldn't", "wouldn't")
_ARTICLES = ("a", "an", "the", "this", "these", "no", "some", "any", "every", "another")
_OWNED = ("my", "our", "your", "his", "her", "their")
_LINKS = ("and", "or", "&", ",")
_ADDRESSED = ("you", "your", "please", "can", "could", "i", "i'm", "we", "let's", "thanks", "are")
_LABELS = ("name", "from", "to", "cc", "by", "user", "author", "attn", "speaker")
_NO_INITIALS = ((".", "u"), (".", "l"), (".", "d"), (".", "a"), (".", "p"))  # "in the U.S. James"
_NEAR = 60
_FAR = 120
_FEW = 6
_Words = tuple[str, ...]


class _Around(NamedTuple):
    """Words and marks around a name, the nearest first; `front` and `back` are in lower case."""

    text: str
    start: int
    end: int
    owner: bool
    opens: bool
    before: _Words
    behind: _Words
    front: _Words
    back: _Words


def is_this_person(text: str, start: int, end: int, name: Name) -> Verdict:
    """Tell whether ``text[start:end]`` is the person asked for."""
    last = name.part.startswith("last")
    if name.part.endswith("initial"):
        return Verdict(is_initial(text, start, end, name.full, last=last))
    here = _around(text, start, end)
    if name.part.startswith("plural"):
        return Verdict(_is_counted(here, family=name.part != "plural"))
    if text[start].islower() and text[start:end] not in name.full and not one_case(text)[0]:
        return Verdict(False)
    kinds = _kinds_of(name.forms)
    if _is_joined(here, kinds) or _is_called(here, name.own) or _is_in_work(here):
        return Verdict(False)
    full = (last and here.front[0] in name.own) or (
        name.part != "name" and is_in_full(text, start, end, name.full, last=last)
    )
    if _is_another(here, name, full) or (not full and _is_of_another(here, name)):
        return Verdict(False)
    first = here.before[0][:1].isupper() and not is_no_name(here.front[0])
    first = first or (last and here.front[0] == "." and len(here.front[1]) == 1)
    full = full or (first and (last or _is_last_name(name)))
    if full or not kinds:
        return Verdict(True)
    settled = _settled(here, kinds, name.forms, last=last)
    if settled is not None:
        return Verdict(settled)
    plain = (
        "also_word" not in kinds or not here.opens or here.back[0] in (*_BE, *_HELP, ",", "and")
    )
    if plain and _is_settled_elsewhere(text, name.forms, kinds):
        return Verdict(True)
    also = next(form for form in sorted(name.forms) if kinds[0] in _kinds_of(frozenset({form})))
    return Verdict(True, False, f"'{also.title()}' is also {_KINDS[kinds[0]]}")


@functools.lru_cache(maxsize=256)
def _kinds_of(forms: frozenset[str]) -> _Words:
    """Return what else a name can be."""
    place = "also_place" if _is_any(forms, "regions") else ""
    return tuple(kind for kind in _KINDS if kind == place or _is_any(forms, kind))


def _around(text: str, start: int, end: int) -> _Around:
    before = _TOKEN.findall(text[max(0, start - _NEAR) : start])[::-1][:_FEW]
    opens = opens_sentence(text, start)
    if len(before) > 1 and before[0] == "." and _is_title(low(before[1])):
        before, opens = before[1:], False
    owner = _OWNER.match(text, end) if text[start - 1 : start] not in ("'", "\u2018") else None
    after = end if owner is None else owner.end()
    behind = _TOKEN.findall(text[after : after + _NEAR])[:_FEW]
    near, far = ((*words, *[""] * (_FEW - len(words))) for words in (before, behind))
    front, back = (tuple(low(word) for word in words) for words in (near, far))
    return _Around(text, start, end, after > end, opens, near, far, front, back)


def _is_title(word: str) -> bool:
    return is_one_of(word, "titles") or is_one_of(word, "abbreviations")


def _is_any(words: Iterable[str], kind: str) -> bool:
    return any(is_one_of(word, kind) for word in words)


# Somebody or something else, whatever the name.


def _is_joined(here: _Around, kinds: _Words) -> bool:
    """Whether a hyphen makes it a part of another word: "John-Paul"; not "a John-sized hole"."""
    before = _PIECE_BEFORE.search(here.text, max(0, here.start - _NEAR), here.start)
    if before is not None and (kinds or low(before[1]) not in _PREFIXES):
        return True
    behind = _PIECE_BEHIND.match(here.text, here.end)
    if behind is None:
        return False
    shouted = here.text[here.start : here.end].isupper() and not one_case(here.text)[0]
    other = is_one_of(low(behind[1]), "first_names")
    return bool(kinds) or other or not (behind[1].islower() or shouted)


def _is_called(here: _Around, own: frozenset[str]) -> bool:
    """Whether words beside it make it a ruler, a lake, a school or a shop of that name."""
    front, back = here.front, here.back
    if is_one_of(front[0], "before_others") or _NUMERAL.match(here.text, here.end):
        return True
    if front[0] == "of" and front[1] in ("village", "town", "city", "gospel", "book", "epistle"):
        return not here.owner
    if _VERSE.match(here.text, here.end):
        return True
    if back[0] == "the" and here.behind[1][:1].isupper() and is_one_of(back[1], "epithets"):
        return True
    if _is_in_capitals(here):  # "Man Sues Tom's Diner Over Burn"
        return False
    stop = next((n for n, word in enumerate(here.behind) if not word[:1].isupper()), _FEW)
    bodies = {word.removesuffix("'s") for word in back[:stop]} - own
    owned = here.owner or any(word.endswith("'s") for word in back[:stop])
    kinds = ("businesses", "institutions") if owned else ("institutions",)
    return any(is_one_of(word, kind) for word in bodies for kind in kinds)


def _is_in_capitals(here: _Around) -> bool:
    """Whether all words around it have capitals, as in a heading."""
    words = [word for word in (*here.before, *here.behind) if word[:1].isalpha()]
    words = [word for word in words if not is_one_of(low(word), "closed")]
    return len(words) > 2 and not any(word[0].islower() for word in words)


def _is_in_work(here: _Around) -> bool:
    """Whether it is in quotes beside a word for a film or a book: 'the film "Emma"'."""
    opens = _QUOTE_OPENS.search(here.text, max(0, here.start - _NEAR), here.start)
    closes = _QUOTE_CLOSES.match(here.text, here.end, here.end + _NEAR) if opens else None
    if opens is None or closes is None:
        return False
    if any(word.islower() for word in re.findall(r"\b[^\W\d_]{4,}", opens[1] + closes[1])):
        return False
    front = _TOKEN.findall(here.text[max(0, opens.start() - _NEAR) : opens.start()].lower())
    back = _TOKEN.findall(here.text[closes.end() : closes.end() + _NEAR].lower())
    return _is_any((*front[-2:], *back[:5]), "work_nouns")


def _is_another(here: _Around, name: Name, full: bool) -> bool:
    """Whether the word in front is the first name of somebody else: "Elton John"."""
    last, single = name.part == "last name", name.part == "name"
    front, back, raw = here.front, here.back, here.before[0]
    word, verb = front[:2]
    if last and full:
        return False
    listed = (
        back[0] == "," and back[2] in ("", "\n", ";", "|") and front[0] in (*_STARTS, ";", ":")
    )
    if last and listed and is_one_of(back[1], "first_names") and back[1] not in name.own:
        return True  # "Walsh, Daniel" in a list
    if last and is_another_initial(here.text, here.start, name.full):
        return True
    if word == "." and len(verb) == 1 and here.before[1].isupper() and single:
        return not _is_last_name(name) and here.front[2:4] not in _NO_INITIALS
    if not word[:1].isalpha() or word in name.own:
        return False
    if not raw[0].isupper() and not (one_case(here.text)[0] and is_one_of(word, "first_names")):
        return False
    if _is_first_name(here):  # "told Mary John was late" names two
        owned = single and _is_last_name(name)  # "Denise Garcia" has the last name asked for
        return not (owned or is_one_of(verb, "give") or is_one_of(verb, "say_to"))
    if raw.isupper() or is_no_name(word) or word.endswith("'s"):
        return False
    # "Amandine Henry"; a sentence or a preposition can have a capital of its own in front.
    inside = here.before[1].isalpha() and here.before[1].islower()
    inside = inside and not is_one_of(verb, "prepositions") and not _is_last_name(name)
    known = any(is_one_of(word, kind) for kind in ("demonyms", "times", "also_firm", "calendar"))
    return last or (inside and not known)


def _is_first_name(here: _Around) -> bool:
    """Whether the word in front is a first name; one that is a word too, inside a sentence."""
    word, verb = here.front[0].partition("-")[0], here.before[1]
    inside = verb[:1].islower() or verb == "," or _is_title(low(verb)) or is_person(low(verb))
    return is_one_of(word, "first_names") or (inside and is_one_of(word, "also_word"))


def _is_last_name(name: Name) -> bool:
    """Whether a single name is a last name: listed as such, or in no list at all."""
    if name.part != "name" or _is_any(name.forms, "first_names"):
        return False
    return _is_any(name.forms, "last_names") or not _kinds_of(name.forms)


def _is_of_another(here: _Around, name: Name) -> bool:
    """Whether another last name is behind a first name: "Emily Stone", "Mary Ann"."""
    second, raw = here.back[0].removesuffix("'s"), here.behind[0]
    if name.part == "last name" or here.owner or not raw[:1].isupper() or second in name.own:
        return False
    if is_one_of(second, "double_seconds") and _is_any(name.forms, "double_firsts"):
        return True
    if len(raw) == 1 and here.behind[1] == ".":  # "Emily J. Stone"
        other = here.behind[2][:1].isupper() and second != name.full.split()[-1][0].lower()
        return name.part == "first name" and other and here.back[2] not in name.own
    in_capitals = raw.isupper() and raw.isalnum()  # it can be any word
    return name.part == "first name" and not in_capitals and not is_one_of(second, "closed")


def _is_counted(here: _Around, *, family: bool) -> bool:
    """Whether people of the name are meant: "two Johns", "the Walshes"; no "Johns Hopkins"."""
    if not here.text[here.start].isupper() or here.behind[0][:1].isupper():
        return False
    word = here.front[0]
    return is_one_of(word, "numbers") or word == "both" or (family and word == "the")


# What settles a name that is something else too.


def _settled(
    here: _Around, kinds: _Words, forms: frozenset[str], *, last: bool = False
) -> bool | None:
    """Return whether it is a person; None where nothing shows it."""
    if _is_asked(here, forms) or any(_THINGS[kind](here, last) for kind in kinds):
        return False
    if _is_named(here) or _acts(here, kinds) or _is_referred_to(here):
        return True
    body = "also_place" in kinds or "also_firm" in kinds
    around = _TOKEN.findall(here.text[max(0, here.start - _NEAR) : here.end + _NEAR].lower())
    if body and _is_any(around, "place_nouns" if "also_place" in kinds else "firm_nouns"):
        return False
    if kinds != ("also_word",) or here.opens or not here.text[here.start].isupper():
        return None
    # Inside a sentence the capital shows a name, but for what else has one.
    asked = here.front[0] in (*_BE, *_HELP, *_DENY)
    beside = (here.before[0][:1].isupper() and not asked) or here.front[0] in (*_OWNED, "in")
    shouted = _is_in_capitals(here) or one_case(here.text)[1]
    return None if beside or shouted or here.front[0] in (*_QUOTES, *_ARTICLES) else True


@functools.lru_cache(maxsize=64)  # it looks through a whole text, which can hold many names
def _is_settled_elsewhere(text: str, forms: frozenset[str], kinds: _Words) -> bool:
    """Whether the text speaks of the person elsewhere: by title, with a person's verb."""
    words = "|".join(re.escape(form) for form in sorted(forms))
    found = re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text, re.IGNORECASE)
    places = (_around(text, *match.span()) for match in found if text[match.start()].isupper())
    return any(_is_named(here) and not _is_called(here, forms) for here in places)


def _is_named(here: _Around) -> bool:
    """Whether words beside it show a person: a title, a greeting, a last name, "with"."""
    front, back = here.front, here.back
    stops, ends = back[0] in _STOPS, back[0] in (".", "!", "?", "", "\n")
    line = front[0] == "\n" and back[0] in ("", "\n") and front[1] in (",", "!")  # a signature
    beside = (back[:2], here.front[:2])
    return (
        _is_title(front[0])
        or (is_person(front[0]) and not front[0].endswith("s"))
        or (is_one_of(front[0], "greetings") and stops)
        or (
            front[0] == ","
            and (is_one_of(front[1], "greetings") or (here.before[1].islower() and ends))
        )
        or (here.opens and back[0] == "," and any(word in _ADDRESSED for word in back[1:5]))
        or (back[0] == ":" and front[0] in _STARTS)
        or (front[0] in (":", "|") and (front[1] in _LABELS or is_person(front[1])))
        or line
        or (here.behind[0][:1].isupper() and is_one_of(back[0], "last_names") and not here.owner)
        or is_one_of(front[0], "told")
        or front[0] in ("i'm", "named", "with")
        or back[:2] == ("and", "i")
        or (front[0] == "is" and "name" in front[1:4])
        or (front[0] in ("to", "from") and _is_any(front[1:5], "told"))
        or any(
            link in _LINKS and is_one_of(word, "first_names") and not is_one_of(word, "also_place")
            for link, word in beside
        )
    )


def _acts(here: _Around, kinds: _Words) -> bool:
    """Whether it does, has or is what only a person does, has or is."""
    back = here.back
    if here.owner:
        owned = _is_any(back[:2], "own_things") or is_person(back[0]) or is_person(back[1])
        return owned or not {"also_place", "also_firm", "also_people"}.intersection(kinds)
    if back[0] in (",", "("):  # ", 34,", ", a nurse,", "(she/her)"
        age = back[1].rstrip(",.")
        told = back[1] in (*_ARTICLES, *_OWNED) and _has_person(back[2:])
        return (
            (age.isdigit() and len(age) == 2) or told or back[1] in ("who", "whose", "she", "he")
        )
    at = 1 if is_adverb(back[0]) and here.behind[0].islower() else 0
    verb, rest = back[at], back[at + 1 :]
    if verb in _BE:
        if rest[0].isdigit():  # "is 34 years old"
            return True
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


def _is_finite(verb: str, following: str) -> bool:
    if is_one_of(verb, "past_forms") or is_one_of(verb, "finite_verbs"):
        return True
    return verb.endswith(("s", "ed")) and is_verb(verb, following)


def _has_person(words: _Words) -> bool:
    stop = next((n for n, word in enumerate(words) if word in _STOPS), len(words))
    return any(is_person(word) for word in words[:stop])


def _is_referred_to(here: _Around) -> bool:
    """Whether a pronoun behind can mean nobody else: "Jordan, in her first year"."""
    pronoun = _PRONOUN.search(here.text, here.end, here.end + _FAR)
    if pronoun is None or (here.back[0] in _BE and here.back[1] in _ARTICLES):
        return False
    front = _SENTENCE.split(here.text[max(0, here.start - _FAR) : here.start])[-1]
    words = [low(w) for w in _TOKEN.findall(front + here.text[here.end : pronoun.start()])]
    return not any(
        is_person(word) or is_one_of(word, "first_names") or _PRONOUN.fullmatch(word)
        for word in words
        if word[0].isalpha()
    )


def _is_asked(here: _Around, forms: frozenset[str]) -> bool:
    """Whether "Will" or "May" asks about the name behind it: "Will Anna come?"."""
    if forms.isdisjoint(("will", "may")) or not here.opens:
        return False
    if here.behind[0].islower():  # "Will get there."
        verb = here.back[0]
        return is_verb(verb, "", bare=True) and not _is_finite(verb, "") and verb not in _HELP
    if not here.behind[0].isalpha():
        return False
    stop = _SENTENCE.search(here.text, here.end, here.end + 2 * _FAR)
    return stop is not None and stop[0] == "?"


def _is_word(here: _Around, last: bool) -> bool:
    """Whether a name is an ordinary word: "Rose petals fell", "Will you come?", "the Rose"."""
    front, back = here.front, here.back
    if front[0] in _ARTICLES:
        family = is_one_of(back[0], "families") or here.behind[0][:1].isupper()
        return not (family or (last and front[0] == "the"))
    if back[back[0] == "."][:1].isdigit() or is_one_of(front[0], "demonyms"):  # "Art. 5"
        return True
    if back[0] == "of" and here.behind[2 if back[1] == "the" else 1][:1].isupper():
        return True
    if front[0] in ("of", "for") and here.before[1][:1].isupper() and not is_person(front[1]):
        return not is_no_name(front[1])
    starts = here.opens or front[0] in _QUOTES or here.text[here.start].islower()
    if not starts or here.owner:
        return False
    if is_one_of(back[0], "openers") or back[0] in ("are", "were"):
        return True
    several = back[0].endswith("s") and not is_verb(back[0], back[1]) and back[0].isalpha()
    noun = _is_bare(back[0]) or (several and not is_one_of(back[0], "closed"))
    return here.behind[0].islower() and noun and not is_adverb(back[0])


def _is_bare(word: str) -> bool:
    """Whether a word behind a name is no verb of it: a noun, an adjective or a bare verb."""
    if word in ("be", "have", "do"):
        return True
    if not word.isalpha() or word in _HELP or is_one_of(word, "closed") or is_verb(word, ""):
        return False
    singular = not word.endswith("s") or word.endswith(("ss", "us", "tions", "ments"))
    return (
        singular and not word.endswith(("ed", "ly", "ing")) and not is_one_of(word, "past_forms")
    )


def _is_month(here: _Around, last: bool) -> bool:
    """Whether a day, a year or another month is beside it: "on May 5", "in May", "May rain"."""
    front, back = here.front, here.back
    day = front[1] if front[0] == "of" else front[0]
    if back[0][:1].isdigit() or (day[:1].isdigit() and len(day.rstrip("stndrh")) < 3):
        return True
    if is_one_of(front[0], "before_months"):
        return front[0] != "from" or not _is_any(front[1:4], "told")
    linked = back[0] in ("and", "or", "to", "through", "-", "\u2013", "/")
    asked = here.opens and is_one_of(back[0], "openers")
    other = linked and is_one_of(back[1], "also_month")
    return asked or other or is_one_of(back[0], "month_nouns") or front[0] in ("the", "a")


def _is_place(here: _Around, last: bool) -> bool:
    """Whether somebody goes there or it is told where it is: "moved to Austin", "Austin, TX"."""
    front, back = here.front, here.back
    if here.owner:
        return is_one_of(back[0], "place_nouns")
    region = (len(back[1]) == 2 and here.behind[1].isupper()) or is_one_of(back[1], "regions")
    if back[0] == "," and here.behind[1][:1].isupper() and region:
        return True
    if front[0] == "," and here.before[1][:1].isupper() and is_one_of(front[2], "prepositions"):
        return back[0] in _STOPS and not is_one_of(front[1], "first_names")
    if front[0] in ("in", "into", "near", "within", "around"):
        return not _is_any(front[1:3], "said_with_in")
    if front[0] in ("to", "from", "for") and _is_any(front[1:5], "moving"):
        return not _is_any(front[1:4], "told")
    listed = any(
        words[0] in _LINKS and is_one_of(low(words[1]), "regions") for words in (back, front)
    )
    noun = here.behind[0].islower() and _is_bare(back[0])
    return (
        listed
        or is_one_of(back[0], "place_nouns")
        or is_one_of(front[0], "places_done_to")
        or (back[0] in _BE and _is_any(back[1:5], "place_nouns"))
        or (front[0] in ("of", ":") and is_one_of(front[1], "place_nouns"))
        or (front[0] == "from" and back[0] in ("to", "into") and here.behind[1][:1].isupper())
        or (front[0] in ("the", "a", "an") and noun)
    )


def _is_firm(here: _Around, last: bool) -> bool:
    """Whether somebody has one or deals with it: "drives a Ford", "my Chase card"."""
    front, back = here.front, here.back
    if front[0] in (*_ARTICLES, *_OWNED):
        return not is_person(back[0])
    around = _TOKEN.findall(here.text[max(0, here.start - _NEAR) : here.end + _NEAR].lower())
    near = any(is_one_of(word, kind) for word in around for kind in ("firm_nouns", "firm_deals"))
    dealt = near and front[0] in ("at", "with", "from")
    return dealt or is_one_of(back[0], "firm_nouns")


def _is_people(here: _Around, last: bool) -> bool:
    """Whether it is said of somebody or something: "a devout Christian", "Norman kings"."""
    front, back = here.front, here.back
    if front[0] in _ARTICLES:
        return not is_one_of(back[0], "families")
    if front[0] in (*_BE, "are", "were", "be", "am") and back[0] != ",":
        return "name" not in front[1:4]
    if back[0] in ("and", "or") and is_one_of(back[1], "demonyms"):
        return True
    said = is_person(back[0]) or is_one_of(back[0], "things_of_peoples")
    return said and not here.owner and not is_verb(back[0], back[1])


_THINGS = {
    "also_word": _is_word,
    "also_month": _is_month,
    "also_place": _is_place,
    "also_firm": _is_firm,
    "also_people": _is_people,
}
