"""Whether a name is the person asked for, and not somebody else, a word, a month or a place.

A name with a capital is that person. One that is a word, a month, a place, a firm or a people too
("Rose", "May", "Jordan", "Chase", "Christian") needs words around it that settle it.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.beside import low, one_case, opens_sentence
from pytest_llmfair.lexicons.english.english import LETTERS, is_adverb, is_one_of
from pytest_llmfair.lexicons.english.initials import (
    has_first_name,
    has_last_name,
    is_another_initial,
    is_before_another,
    is_first_initial,
    is_last_initial,
    is_listed_with_another,
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
_TOKEN = re.compile(rf"{LETTERS}|\d[\w.,:/%-]*|\n|[^\w\s]")
_OWNER = re.compile(r"['\u2019](?:s\b|(?![\w\"]))")
_HYPHENS = "-\u2010\u2011"
_PIECE_BEFORE = re.compile(rf"([^\W\d_]+)[{_HYPHENS}]\Z")
_PIECE_BEHIND = re.compile(rf"[{_HYPHENS}]([^\W\d_]+)")
_PREFIXES = ("ex", "pro", "anti", "non", "mid", "pre", "post", "then", "all", "fellow")
# "Walsh-Grant" and "O'Walsh" are not "Walsh".
_BEHIND = re.compile(
    r"[^\S\n]+((?:[^\W\d_]['\u2019](?=[^\W\d_a-z][^\W_]{2}))?[^\W_]+"
    r"(?:[-\u2010\u2011][^\W\d_a-z][^\W_]*)*)"
)
_CAPITALS = re.compile(rf"(?:[^\S\n]+(?=[^\W\d_])(?![a-z]){LETTERS}\.?){{1,4}}")
_HOUSE = re.compile(
    r"(?:[^\S\n]+(?:(?:and|&)[^\S\n]+)?[^\W\d_a-z][\w-]*){0,3}['\u2019]s?"
    r"((?:[^\S\n]+[^\W\d_a-z][\w-]*){1,4})"
)
_NUMERAL = re.compile(
    r"[^\S\n]+(?:[IVX]{2,5}\b|[VX]\b(?!\.)|I\b[^\S\n]+of\b|I,[^\S\n]+(?:[Kk]ing|the)\b)"
)
_EPITHET = re.compile(r"[^\S\n]+the[^\S\n]+([A-Z]\w+)")
_VERSE = re.compile(r"[^\S\n]+\d{1,3}:\d{1,3}(?![^\S\n]*(?:[ap]\.?m\b|sharp\b))")
_BIBLE = re.compile(
    r"\b(?:[Gg]ospels?|[Ee]pistles?|[Bb]ook)[^\S\n]+(?:of|according[^\S\n]+to)[^\S\n]+\Z"
)
_QUOTE_OPENS = re.compile(r"(?<!\w)[\"'*_\u201c\u2018]([^\"\u201c\u201d\u2018.!?\n]*)\Z")
_QUOTE_CLOSES = re.compile(r"([^\"\u201c\u201d.!?\n]*?)[\"'*_\u201d\u2019](?!\w)")
_PRONOUN = re.compile(r"\b(?:he|she|him|her|his|hers|himself|herself)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"[.!?\n]")
_STOPS = (".", ",", "!", "?", ";", ":", "\n", ")", '"', "\u201d", "\u2019", "'", "")
_MARKS = ("", "\n", "-", "*", "#", "\u2022", ".", ")", "|", ">", '"', "\u201c")
_BE = ("is", "was", "isn't", "wasn't")
_AUXILIARIES = ("has", "had", "will", "would", "can", "could", "should", "might", "must", "won't")
_DENIALS = (
    "doesn't",
    "didn't",
    "hasn't",
    "hadn't",
    "does",
    "did",
    "can't",
    "couldn't",
    "wouldn't",
)
_ARTICLES = ("a", "an", "the", "this", "that", "these", "no", "some", "any", "every", "another")
_OWNED = ("my", "our", "your", "his", "her", "their")
_LINKS = ("and", "or", "&", ",")
_WHO = ("who", "whose", "whom")
_ADDRESSED = ("you", "your", "please", "can", "could", "i", "i'm", "we", "let's", "thanks", "are")
_LABELS = ("name", "from", "to", "cc", "by", "user", "author", "attn", "speaker")
_NO_INITIALS = ((".", "u"), (".", "l"), (".", "d"), (".", "a"), (".", "p"))  # "in the U.S. James"
_NEAR = 60
_FAR = 120
_FEW = 6


class _Around(NamedTuple):
    """Words and marks around a name, the nearest first; `front` and `back` are in lower case."""

    text: str
    start: int
    end: int
    before: tuple[str, ...]
    behind: tuple[str, ...]
    front: tuple[str, ...]
    back: tuple[str, ...]
    owner: bool
    opens: bool


def is_this_person(text: str, start: int, end: int, name: Name) -> Verdict:
    """Tell whether ``text[start:end]`` is the person asked for."""
    part = name.part
    if part in ("plural", "plural of a last name"):
        return Verdict(_is_counted(text, start, end, part != "plural"))
    if part == "first initial":
        return Verdict(is_first_initial(text, start, end, name.full))
    if part == "last initial":
        return Verdict(is_last_initial(text, start, end, name.full))
    if text[start].islower() and text[start:end] not in name.full and not one_case(text)[0]:
        return Verdict(False)
    here = _around(text, start, end)
    kinds = tuple(kind for kind in _KINDS if any(is_one_of(form, kind) for form in name.forms))
    if _is_joined(here, kinds) or _is_called(here, name.own) or _is_in_work(here):
        return Verdict(False)
    if _is_asked(here, name.forms):
        return Verdict(False)
    full = is_in_full(here, name)
    if not (full and name.part == "last name") and _is_another(here, name):
        return Verdict(False)
    if not full and _is_of_another(here, name):
        return Verdict(False)
    if full or not kinds:
        return Verdict(True)
    settled = _settled(here, kinds, last=part == "last name")
    if settled is not None:
        return Verdict(settled)
    if _is_settled_elsewhere(text, name.forms, kinds):
        return Verdict(True)
    kind = kinds[0]
    also = next(form for form in sorted(name.forms) if is_one_of(form, kind))
    return Verdict(True, False, f"'{also.title()}' is also {_KINDS[kind]}")


def _around(text: str, start: int, end: int) -> _Around:
    before = _TOKEN.findall(text[max(0, start - _NEAR) : start])[::-1][:_FEW]
    opens = opens_sentence(text, start)
    if len(before) > 1 and before[0] == "." and _is_title(low(before[1])):
        before, opens = before[1:], False
    owner = _OWNER.match(text, end)
    after = owner.end() if owner is not None and text[start - 1 : start] not in "'\u2018" else end
    behind = _TOKEN.findall(text[after : after + _NEAR])[:_FEW]
    before, behind = ([*words, *[""] * (_FEW - len(words))] for words in (before, behind))
    return _Around(
        text,
        start,
        end,
        tuple(before),
        tuple(behind),
        tuple(low(word) for word in before),
        tuple(low(word) for word in behind),
        after > end,
        opens,
    )


def _is_title(word: str) -> bool:
    return is_one_of(word, "titles") or is_one_of(word, "abbreviations")


def is_in_full(here: _Around, name: Name) -> bool:
    """Whether the rest of the name asked for stands beside this part of it."""
    if name.part == "last name":
        own = here.front[0] in name.own
        return own or has_first_name(here.text, here.start, name.full)
    return name.part == "first name" and has_last_name(here.text, here.end, name.full)


# Somebody or something else, whatever the name.


def _is_joined(here: _Around, kinds: tuple[str, ...]) -> bool:
    """Whether a hyphen makes it a part of another word: "John-Paul"; not "a John-sized hole"."""
    before = _PIECE_BEFORE.search(here.text, max(0, here.start - _NEAR), here.start)
    if before is not None and (kinds or low(before[1]) not in _PREFIXES):
        return True
    behind = _PIECE_BEHIND.match(here.text, here.end)
    if behind is None:
        return False
    if here.text[here.start : here.end].isupper() and behind[1].isupper():
        return is_one_of(low(behind[1]), "first_names") or bool(kinds)
    return bool(kinds) or not behind[1].islower() or is_one_of(behind[1], "first_names")


def _is_called(here: _Around, own: frozenset[str]) -> bool:
    """Whether words beside it make it a ruler, a lake, a school or a shop of that name."""
    text, start, end = here.text, here.start, here.end
    if is_one_of(here.front[0], "before_others"):
        return True
    if here.front[0] == "of" and here.front[1] in ("village", "town", "city", "county"):
        return not here.owner
    if _NUMERAL.match(text, end) or _VERSE.match(text, end):
        return True
    if _BIBLE.search(text, max(0, start - _NEAR), start) and not here.owner:
        return True
    epithet = _EPITHET.match(text, end)
    if epithet is not None and is_one_of(low(epithet[1]), "epithets"):
        return True
    if _is_in_capitals(here):
        return False
    names = _CAPITALS.match(text, end)
    if names is not None:
        words = [low(word).rstrip(".") for word in names[0].split()]
        return any(is_one_of(word, "institutions") and word not in own for word in words)
    house = _HOUSE.match(text, end)
    return house is not None and is_one_of(low(house[1].split()[-1]), "businesses")


def _is_in_capitals(here: _Around) -> bool:
    """Whether the words around have capitals too: "Man Sues Tom's Diner Over Burn"."""
    words = [word for word in (*here.before, *here.behind) if word[:1].isalpha()]
    open_words = [word for word in words if not is_one_of(low(word), "closed")]
    return len(open_words) > 2 and not any(word[0].islower() for word in open_words)


def _is_in_work(here: _Around) -> bool:
    """Whether it is in quotes beside a word for a film or a book: 'the film "Emma"'."""
    opens = _QUOTE_OPENS.search(here.text, max(0, here.start - _NEAR), here.start)
    if opens is None:
        return False
    closes = _QUOTE_CLOSES.match(here.text, here.end, here.end + _NEAR)
    if closes is None:
        return False
    words = re.findall(LETTERS, opens[1] + here.text[here.start : here.end] + closes[1])
    if any(word[0].islower() and not is_one_of(word, "closed") for word in words):
        return False
    front = _TOKEN.findall(here.text[max(0, opens.start() - _NEAR) : opens.start()].lower())
    back = _TOKEN.findall(here.text[closes.end() : closes.end() + _NEAR].lower())
    near = (*front[-2:], *(back[:6] if len(words) > 1 else back[:4]))
    return any(is_one_of(word, "work_nouns") for word in near)


def _is_another(here: _Around, name: Name) -> bool:
    """Whether the word in front is the first name of somebody else: "Elton John"."""
    last = name.part == "last name"
    text, start, end = here.text, here.start, here.end
    if last and (
        is_another_initial(text, start, name.full)
        or is_listed_with_another(text, start, end, name.full)
    ):
        return True
    word, verb = here.front[0], here.front[1]
    if word == "." and len(verb) == 1 and here.before[1].isupper() and not last:
        return not _is_last_name(name) and here.front[2:4] not in _NO_INITIALS
    if not word[:1].isalpha() or word in name.own or "\n" in text[start - 1 : start]:
        return False
    if not here.before[0][0].isupper() and not (
        one_case(text)[0] and is_one_of(word, "first_names")
    ):
        return False
    if _is_first_name(here):  # "told Mary John was late" names two
        if name.part == "name" and _is_last_name(name):
            return False  # "Denise Garcia" bears the last name that is asked for
        return not (is_one_of(verb, "give") or is_one_of(verb, "say_to") or verb == "let")
    if here.before[0].isupper() or is_no_name(word):
        return False
    if last:
        return not here.before[0].endswith(("'s", "\u2019s"))
    # "Amandine Henry"; a sentence or a preposition can have a capital of its own in front.
    inside = verb.isalpha() and here.before[1].islower() and not is_one_of(verb, "prepositions")
    known = any(is_one_of(word, kind) for kind in ("demonyms", "times", "also_firm", "calendar"))
    return inside and not known and not word.endswith("'s") and not _is_last_name(name)


def _is_first_name(here: _Around) -> bool:
    """Whether the word in front is a first name; one that is a word too, inside a sentence."""
    word, verb = here.front[0].partition("-")[0], here.before[1]
    if is_one_of(word, "first_names"):
        return True
    inside = verb[:1].islower() or verb == "," or _is_title(low(verb)) or is_person(low(verb))
    return inside and is_one_of(word, "also_word")


def _is_last_name(name: Name) -> bool:
    """Whether a single name is a last name: listed as such, or in no list of names at all."""
    if any(is_one_of(form, "first_names") for form in name.forms):
        return False
    if any(is_one_of(form, "last_names") for form in name.forms):
        return True
    return not any(is_one_of(form, kind) for form in name.forms for kind in _KINDS)


def _is_of_another(here: _Around, name: Name) -> bool:
    """Whether another last name is behind a first name: "Emily Stone", "Mary Ann"."""
    if name.part == "last name":
        return False
    second = here.back[0].removesuffix("'s")
    if here.text[here.end : here.end + 1] == " " and is_one_of(second, "double_seconds"):
        double = any(is_one_of(form, "double_firsts") for form in name.forms)
        return double and second not in name.own
    if name.part != "first name":
        return False
    if is_before_another(here.text, here.end, name.full):
        return True
    behind = _BEHIND.match(here.text, here.end)
    if behind is None or not behind[1][0].isupper():
        return False
    if behind[1].isupper() and behind[1].isalnum():  # in capitals it can be any word
        return False
    return low(behind[1]) not in name.own and not is_one_of(low(behind[1]), "closed")


def _is_counted(text: str, start: int, end: int, family: bool) -> bool:
    """Whether people of the name are meant: "two Johns", "the Walshes"; no "Johns Hopkins"."""
    here = _around(text, start, end)
    if not text[start].isupper() or here.behind[0][:1].isupper():
        return False
    word = here.front[0]
    return is_one_of(word, "numbers") or word == "both" or (family and word == "the")


# What settles a name that is something else too.


def _settled(here: _Around, kinds: tuple[str, ...], *, last: bool) -> bool | None:
    """Return whether it is a person; None where nothing tells."""
    if any(_THINGS[kind](here, last) for kind in kinds):
        return False
    if _is_named(here, kinds) or _acts(here, kinds) or _is_referred_to(here):
        return True
    if any(_HINTS[kind](here) for kind in kinds if kind in _HINTS):
        return False
    if kinds == ("also_word",) and here.text[here.start].isupper() and not here.opens:
        plain = not (_is_in_capitals(here) or one_case(here.text)[1])
        beside = here.before[0][:1].isupper() or here.front[0] in _OWNED or not here.front[0]
        if plain and not beside and here.front[0] not in ('"', "\u201c", "'", "\u2018", "("):
            return not (here.front[0] in _ARTICLES) or None
    return None


@functools.lru_cache(maxsize=64)  # it looks through a whole text, which can hold many names
def _is_settled_elsewhere(text: str, forms: frozenset[str], kinds: tuple[str, ...]) -> bool:
    """Whether the text speaks of the person elsewhere: by title, with a person's verb."""
    words = "|".join(re.escape(form) for form in sorted(forms))
    for match in re.finditer(rf"(?<![\w-])(?:{words})(?![\w-])", text, re.IGNORECASE):
        if text[match.start()].isupper():
            here = _around(text, *match.span())
            if not _is_called(here, forms) and _settled(here, kinds, last=False):
                return True
    return False


def _is_named(here: _Around, kinds: tuple[str, ...]) -> bool:
    """Whether words beside it show a person: a title, a greeting, a last name, "with"."""
    front, back = here.front, here.back
    if _is_title(front[0]) or (is_person(front[0]) and not front[0].endswith("s")):
        return True
    if back[0] in _STOPS and (is_one_of(front[0], "greetings") and front[0] != "love"):
        return True
    if front[0] == "," and is_one_of(front[1], "greetings"):
        return True
    if front[0] == "," and here.before[1].islower() and back[0] in (".", "!", "?", "", "\n"):
        return True
    if here.opens and back[0] == "," and any(word in _ADDRESSED for word in back[1:5]):
        return True
    if back[0] == ":" and front[0] in _MARKS and "also_place" not in kinds:
        return True
    if front[0] in (":", "|") and (front[1] in _LABELS or is_person(front[1])):
        return True
    if front[0] == "\n" and back[0] in ("", "\n") and (front[1] in (",", "!") or front[2] == "\n"):
        return True
    if here.behind[0][:1].isupper() and not here.owner and is_one_of(back[0], "last_names"):
        return True
    if is_one_of(front[0], "done_to_persons") or front[0] in ("i'm", "named"):
        return True
    if front[0] == "is" and "name" in front[1:4]:
        return True
    if front[0] == "with" and "also_firm" not in kinds:
        return True
    if front[0] == "to" and any(is_one_of(word, "spoken_to") for word in front[1:5]):
        return True
    if front[0] == "from" and any(is_one_of(word, "spoken_with") for word in front[1:4]):
        return True
    if back[0] in _LINKS and is_one_of(back[1], "first_names"):
        return not is_one_of(back[1], "also_place")
    listed = front[0] in _LINKS and is_one_of(front[1], "first_names")
    return listed and not is_one_of(front[1], "also_place")


def _acts(here: _Around, kinds: tuple[str, ...]) -> bool:
    """Whether it does, has or is what only a person does, has or is."""
    back = here.back
    if here.owner:
        if kinds == ("also_word",):
            return True
        return any(is_one_of(word, "own_things") or is_person(word) for word in back[:2])
    if back[0] in _WHO or (back[0] == "," and back[1] in _WHO):
        return True
    if back[0] in (",", "("):
        if back[1][:1].isdigit() and back[1].rstrip(",.").isdigit():
            return len(back[1].rstrip(",.")) == 2
        if back[0] == "(" and _PRONOUN.fullmatch(back[1]):
            return True
        told = back[1] in (*_ARTICLES, *_OWNED)
        return told and any(is_person(word) for word in back[2 : _first_stop(back, 2)])
    at = 0
    while at < 2 and is_adverb(back[at]) and not here.behind[at][0].isupper():
        at += 1
    verb, rest = back[at], back[at + 1 :]
    if verb in _BE:
        if rest[0] in (*_ARTICLES, *_OWNED, "not"):
            return any(is_person(word) for word in rest[1 : _first_stop(rest, 1)])
        return is_person(rest[0]) or (is_one_of(rest[0], "adjectives") and len(kinds) == 1)
    if verb in _DENIALS:
        return True
    if verb in _AUXILIARIES:
        done = rest[1] if is_adverb(rest[0]) else rest[0]
        return is_verb(done, "", bare=True) and not is_one_of(done, "place_acts")
    inflected = verb.endswith(("s", "ed")) or is_one_of(verb, "finite_verbs")
    if not inflected or not is_verb(verb, rest[0]) or verb in ("can", "will", "may", "might"):
        return False
    return not (
        ("also_place" in kinds and is_one_of(verb, "place_acts"))
        or ("also_firm" in kinds and is_one_of(verb, "firm_acts"))
    )


def _first_stop(words: tuple[str, ...], at: int) -> int:
    return next((n for n in range(at, len(words)) if words[n] in _STOPS), len(words))


def _is_referred_to(here: _Around) -> bool:
    """Whether a pronoun behind can mean nobody else: "Jordan, in her first year"."""
    pronoun = _PRONOUN.search(here.text, here.end, here.end + _FAR)
    if pronoun is None or (here.back[0] in _BE and here.back[1] in _ARTICLES):
        return False
    front = _SENTENCE.split(here.text[max(0, here.start - _FAR) : here.start])[-1]
    words = _TOKEN.findall(front + here.text[here.end : pronoun.start()])
    return not any(
        is_person(low(word)) or is_one_of(low(word), "first_names") or _PRONOUN.fullmatch(word)
        for word in words
        if word[0].isalpha()
    )


def _is_word(here: _Around, last: bool) -> bool:
    """Whether a name is an ordinary word: "Rose petals fell", "Will you come?", "the Rose"."""
    front, back = here.front, here.back
    if back[0][:1].isdigit() or back[0] == "." and back[1][:1].isdigit():
        return True
    if is_one_of(front[0], "demonyms"):
        return True
    if front[0] in _ARTICLES:
        family = is_one_of(back[0], "families") or here.behind[0][:1].isupper()
        return not (family or (last and front[0] == "the"))
    if back[0] == "of" and here.behind[2 if back[1] == "the" else 1][:1].isupper():
        return True
    if front[0] in ("of", "for") and here.before[1][:1].isupper() and not is_person(front[1]):
        return not is_no_name(front[1])
    starts = here.opens or front[0] in ('"', "\u201c") or here.text[here.start].islower()
    if not starts or here.owner:
        return False
    return is_one_of(back[0], "openers") or (_is_bare(here.behind[0]) and not is_adverb(back[0]))


def _is_asked(here: _Around, forms: frozenset[str]) -> bool:
    """Whether "Will" or "May" asks about the name behind it: "Will Anna come?"."""
    if forms.isdisjoint(("will", "may")) or not here.behind[0][:1].isupper() or not here.opens:
        return False
    stop = _SENTENCE.search(here.text, here.end, here.end + 2 * _FAR)
    return stop is not None and stop[0] == "?"


def _is_bare(word: str) -> bool:
    """Whether a word behind a name is no verb of it: a noun, an adjective or a bare verb."""
    if not word.isalpha() or not word.islower() or is_one_of(word, "closed"):
        return False
    if word in _AUXILIARIES or is_one_of(word, "finite_verbs") or is_verb(word, ""):
        return word in ("be", "have", "do")
    past = len(word) > 3 and word.endswith("ed") and not word.endswith("eed")
    singular = not word.endswith("s") or word.endswith(("ss", "us", "tions", "ments"))
    return singular and not past and not word.endswith(("ly", "ing"))


def _is_month(here: _Around, last: bool) -> bool:
    """Whether a day, a year or another month is beside it: "on May 5", "in May", "May rain"."""
    front, back = here.front, here.back
    if back[0][:1].isdigit() or is_one_of(back[0], "month_nouns"):
        return True
    day = front[1] if front[0] == "of" else front[0]
    if day[:1].isdigit() and len(day.rstrip("stndrh")) < 3:
        return True
    if is_one_of(front[0], "before_months"):
        return not (front[0] == "from" and any(is_one_of(w, "spoken_with") for w in front[1:4]))
    other = back[0] in ("and", "or", "to", "through", "-", "\u2013", "/")
    if other and is_one_of(back[1], "also_month"):
        return True
    asked = here.opens and is_one_of(back[0], "openers")
    return asked or front[0] in ("the", "this", "a")


def _is_place(here: _Around, last: bool) -> bool:
    """Whether somebody goes there or it is told where it is: "moved to Austin", "Austin, TX"."""
    front, back = here.front, here.back
    if here.owner:
        return is_one_of(back[0], "place_owns")
    if back[0] == "," and here.behind[1][:1].isupper():
        postal = len(back[1]) == 2 and here.behind[1].isupper()
        if postal or is_one_of(back[1], "regions"):
            return True
    if is_one_of(back[0], "place_nouns") or is_one_of(front[0], "places_done_to"):
        return True
    if back[0] in _BE and any(is_one_of(word, "place_heads") for word in back[1:5]):
        return True
    if front[0] in ("in", "into", "near", "within", "around"):
        return not any(is_one_of(word, "said_with_in") for word in front[1:3])
    if front[0] in ("to", "from", "for") and any(is_one_of(word, "moving") for word in front[1:5]):
        return not any(is_one_of(word, "spoken_to") for word in front[1:4])
    if front[0] == "from" and back[0] == "to" and here.behind[1][:1].isupper():
        return True
    if front[0] == "of" and is_one_of(front[1], "place_heads"):
        return True
    if front[0] == ":" and is_one_of(front[1], "place_heads"):
        return True
    if _is_land(here.behind, 0) or _is_land(here.before, 0):
        return True
    noun = here.behind[0].islower() and _is_bare(here.behind[0])
    return front[0] in ("the", "a", "an") and noun


def _is_land(words: tuple[str, ...], at: int) -> bool:
    return words[at] in _LINKS and is_one_of(low(words[at + 1]), "regions")


def _is_firm(here: _Around, last: bool) -> bool:
    """Whether somebody has one or deals with it: "drives a Ford", "my Chase card"."""
    front, back = here.front, here.back
    if front[0] in (*_ARTICLES, *_OWNED):
        return not is_person(back[0])
    if is_one_of(back[0], "firm_nouns") or is_one_of(back[0], "firm_acts"):
        return True
    return front[0] in ("at", "with", "from") and _has_near(here, "firm_cues")


def _is_people(here: _Around, last: bool) -> bool:
    """Whether it is said of somebody or something: "a devout Christian", "Norman kings"."""
    front, back = here.front, here.back
    if front[0] in _ARTICLES:
        return not is_one_of(back[0], "families")
    if front[0] in (*_BE, "are", "were", "be", "am") and back[0] != ",":
        return "name" not in front[1:4]
    if back[0] in ("and", "or") and is_one_of(back[1], "demonyms"):
        return True
    if here.owner or not here.behind[0].islower() or is_verb(back[0], back[1]):
        return False
    return is_person(back[0]) or is_one_of(back[0], "things_of_peoples")


def _has_near(here: _Around, kind: str) -> bool:
    near = (
        here.text[max(0, here.start - _NEAR) : here.start] + here.text[here.end : here.end + _NEAR]
    )
    return any(is_one_of(low(word), kind) for word in _TOKEN.findall(near))


_THINGS = {
    "also_word": _is_word,
    "also_month": _is_month,
    "also_place": _is_place,
    "also_firm": _is_firm,
    "also_people": _is_people,
}
_HINTS = {
    "also_place": functools.partial(_has_near, kind="place_cues"),
    "also_firm": functools.partial(_has_near, kind="firm_cues"),
}
