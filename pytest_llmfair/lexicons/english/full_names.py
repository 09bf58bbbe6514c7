"""Full names, initials and namesakes: the first questions of ``this_person.py``."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import NamedTuple

from pytest_llmfair.lexicons.english.context import context_of, low, one_case, opens_sentence
from pytest_llmfair.lexicons.english.words import (
    LETTERS,
    in_classes,
    is_one_of,
    is_person,
    is_verb,
)
from pytest_llmfair.lexicons.grammar import Name

_OWNER = re.compile(r"['\u2019](?:s\b|(?![\w\"]))")
_CLIPPED = re.compile(r"\w['\u2019]\s\Z")
_PIECE_BEFORE = re.compile(r"([^\W\d_]+)[-\u2010\u2011]\Z")
_PIECE_AFTER = re.compile(r"[-\u2010\u2011]([^\W\d_]+)")
STARTS = ("", "\n", "-", "*", "#", "\u2022", ".", ")", "|", ">")
_NO_INITIALS = ((".", "u"), (".", "l"), (".", "d"), (".", "a"), (".", "p"))  # "in the U.S. James"
QUOTES = ('"', "\u201c", "'", "\u2018", "(")
_TOWNS = ("village", "town", "city", "capital", "county")
_FEW = 6
Words = tuple[str, ...]
# "Henry VIII", "John 3:16"; not "John 10:30".
_NUMBERED = re.compile(
    r"[^\S\n]+(?:[IVX]{2,5}\b|[VX]\b(?!\.)|I[^\S\n]+of\b|\d{1,3}:(?!00|15|30|45)\d)"
)
# "A" and "I" without a dot are words.
_CAPITAL = r"[^\W\d_a-z](?:\.|(?<![AI])(?=[^\S\n]))"
_NAMES_BEFORE = re.compile(
    rf"(?<![\w.'\u2019-])(?=(\w)){_CAPITAL}(?:[^\S\n]*{_CAPITAL}){{0,3}}[^\S\n]*\Z"
)
_WORD_BEFORE = re.compile(rf"({LETTERS})\.?[^\S\n]+\Z")
_NAMES = r"((?:[^\W\d_a-z][\w'\u2019-]*\.?[^\S\n]+){0,2})"
_NO_NAMES = ("closed", "titles", "abbreviations", "polite", "labels", "greetings", "styles")
_NEAR = 60


class NameContext(NamedTuple):
    """Words and marks around a name, the nearest first; `front` and `back` are in lower case."""

    text: str
    start: int
    end: int
    owner: bool
    opens: bool
    before: Words
    following: Words
    front: Words
    back: Words


def around_name(text: str, start: int, end: int) -> NameContext:
    """Return the text around ``text[start:end]``, without the dot of a title."""
    context = context_of(text)
    before = context.before(start, _NEAR)[: -_FEW - 1 : -1]
    if _CLIPPED.search(text, max(0, start - 3), start):  # "Lil' (Kim)"
        before[:2] = [before[1] + before[0]]
    opens = opens_sentence(text, start)
    if len(before) > 1 and before[0] == "." and is_title(low(before[1])):
        before, opens = before[1:], False
    owner = _OWNER.match(text, end) if text[start - 1 : start] not in ("'", "\u2018") else None
    after = end if owner is None else owner.end()
    following = context.after(after, _NEAR)[:_FEW]
    near, far = ((*words, *[""] * (_FEW - len(words))) for words in (before, following))
    front, back = (tuple(low(word) for word in words) for words in (near, far))
    return NameContext(text, start, end, after > end, opens, near, far, front, back)


def is_title(word: str) -> bool:
    """Whether a lower-case word is a title: "Ms", "Dr"."""
    return is_one_of(word, "titles") or is_one_of(word, "abbreviations")


def any_in_class(words: Iterable[str], kind: str) -> bool:
    """Whether one of the lower-case words belongs to a class."""
    return any(is_one_of(word, kind) for word in words)


def person_by_full_name(here: NameContext, name: Name, kinds: Words) -> bool | None:
    """Return True for the person by another part of the name, False for another, else None."""
    last = name.part == "last name"
    if _is_joined(here, kinds) or _is_called(here, name.own):
        return False
    full = (last and here.front[0] in name.own) or (
        name.part != "name" and _is_in_full(here.text, here.start, here.end, name.full, last=last)
    )
    if _is_another(here, name, kinds, full=full) or (not full and _is_of_another(here, name)):
        return False
    first = here.before[0][:1].isupper() and not is_no_name(here.front[0])
    if last and (first or (here.front[0] == "." and len(here.front[1]) == 1)):
        return True
    return True if full or (first and _is_last_name(name, kinds)) else None


def _is_another(here: NameContext, name: Name, kinds: Words, *, full: bool) -> bool:
    """Whether the word before is the first name of another person: "Elton John"."""
    last = name.part == "last name"
    front, back, raw = here.front, here.back, here.before[0]
    word, verb = front[:2]
    if last and full:
        return False
    if last and _is_another_initial(here.text, here.start, name.full):
        return True
    listed = back[0] == "," and front[0] in (*STARTS, ";", ":")
    if last and listed and is_one_of(back[1], "first_names"):
        return len(back[2]) < 2 and back[1] not in name.own  # "Walsh, Daniel"
    if word == "." and len(verb) == 1 and here.before[1].isupper() and name.part == "name":
        return not _is_last_name(name, kinds) and here.front[2:4] not in _NO_INITIALS
    if not word[:1].isalpha() or word in name.own:
        return False
    if not raw[0].isupper() and not (one_case(here.text)[0] and is_one_of(word, "first_names")):
        return False
    inside = verb == "," or here.before[1][:1].islower() or is_title(verb) or is_person(verb)
    first = word.partition("-")[0]
    if is_one_of(first, "first_names") or (inside and is_one_of(first, "also_word")):
        # "told Mary John was late" names two; "Denise Garcia" has the last name asked for.
        two = is_one_of(verb, "give") or is_one_of(verb, "say_to")
        return not (two or _is_last_name(name, kinds))
    if raw.isupper() or is_no_name(word) or word.endswith("'s"):
        return False
    # "Amandine Henry"; after a preposition or at the start of a sentence a capital shows nothing.
    inside = here.before[1].islower() and not is_one_of(verb, "prepositions")
    known = in_classes(word, "demonyms", "times", "also_firm", "calendar")
    known = known or _is_last_name(name, kinds)
    return last or (inside and not known)


def _is_last_name(name: Name, kinds: Words) -> bool:
    """Whether a single name is a last name: listed as such, or in no list at all."""
    single = name.part == "name" and not any_in_class(name.forms, "first_names")
    return single and (not kinds or any_in_class(name.forms, "last_names"))


def _is_of_another(here: NameContext, name: Name) -> bool:
    """Whether another last name follows a first name: "Emily Stone", "Mary Ann"."""
    second, raw = here.back[0].removesuffix("'s"), here.following[0]
    if name.part == "last name" or here.owner or not raw[:1].isupper() or second in name.own:
        return False
    if is_one_of(second, "double_seconds") and any_in_class(name.forms, "double_firsts"):
        return True
    other = name.part == "first name"
    if len(raw) == 1 and here.following[1] == ".":  # "Emily J. Stone"
        other = other and here.following[2][:1].isupper() and here.back[2] not in name.own
        return other and second != name.full.split()[-1][0].lower()
    return other and not (raw.isupper() and raw.isalpha()) and not is_one_of(second, "closed")


def is_counted_name(here: NameContext, *, family: bool) -> bool:
    """Whether people of the name are meant: "two Johns", "the Walshes"; no "Johns Hopkins"."""
    word = here.front[0]
    counted = is_one_of(word, "numbers") or word == "both" or (family and word == "the")
    return counted and here.text[here.start].isupper() and not here.following[0][:1].isupper()


def is_no_name(word: str) -> bool:
    """Whether a lower-case word before a name is not a first name: "Mrs", "Ask", "Please"."""
    if is_one_of(word, "first_names"):
        return False
    if in_classes(word, *_NO_NAMES) or is_person(word):
        return True
    return not is_one_of(word, "also_word") and is_verb(word, "", bare=True)


def is_initial(text: str, start: int, end: int, name: str, *, last: bool) -> bool:
    """Whether a letter stands for a part of a name: "E. Walsh", "Walsh, E.", "Emily W."."""
    around = f"{text[max(0, start - _NEAR) : start]}\0{text[start:end]}\0{text[end : end + _NEAR]}"
    as_first, as_last, both = _initials_of(name)
    found = (as_last if last else as_first).search(around)
    if found is not None:
        return last or not _is_after_another(around, found.start(), name)
    return both.search(around) is not None and _is_named(text, name)


@functools.lru_cache(maxsize=256)
def _initials_of(name: str) -> tuple[re.Pattern[str], ...]:
    """Return the text around the initials of a name, separated by null characters."""
    first, last = (re.escape(part) for part in (name.split()[0], name.split()[-1]))
    e, w, gap = re.escape(name[0]), re.escape(name.split()[-1][0]), r"[^\S\n]"
    ends = rf"(?:\.|(?={gap}*(?:[,;:)\]\"'\u201d\u2019|(/&]|\Z|\n)))(?!{gap}*{last})"
    dotted = rf"\.(?:{gap}?[^\W\d_]\.){{0,2}}{gap}*"
    bare = rf"(?<![AIai]\0){gap}+(?:[^\W\d_]{gap}+){{0,2}}"
    patterns = (
        rf"\0\w\0(?:{dotted}|{bare}){last}(?![\w-])|(?<![\w-]){last},?{gap}+\0\w\0{ends}",
        rf"(?<![\w-]){first}{gap}+\0\w\0{ends}",
        rf"(?<![\w.])\0{e}\0\.{gap}?{w}\.|(?<![\w.]){e}\.{gap}?\0{w}\0\.",
    )
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def _is_named(text: str, name: str) -> bool:
    """Whether the text holds first and last name too."""
    parts = (name.split()[0], name.split()[-1])
    return all(re.search(rf"\b{re.escape(part)}\b", text) for part in parts)


def _is_in_full(text: str, start: int, end: int, name: str, *, last: bool) -> bool:
    """Whether first and last name are together, perhaps with middle names: "Emily J. Walsh"."""
    first, family = (re.escape(part) for part in (name.split()[0], name.split()[-1]))
    if last:
        found = re.search(
            rf"(?<![\w-]){first}[^\S\n]+{_NAMES}\Z", text[max(0, start - _NEAR) : start]
        )
    else:
        found = re.match(rf"[^\S\n]+{_NAMES}{family}(?![\w-])", text[end : end + _NEAR])
    between = found[1].lower().split() if found is not None else ["the"]
    return not any(is_one_of(word.strip("."), "closed") for word in between)


def _is_another_initial(text: str, start: int, name: str) -> bool:
    """Whether the initials before a last name are another person's: "D. Walsh"."""
    found = _NAMES_BEFORE.search(text, max(0, start - _NEAR), start)
    if found is None or (found[1] in ("A", "I") and found[0][:2] != "A."):
        return False
    if _is_after_another(text, found.start(), name):
        return True
    before = _WORD_BEFORE.search(text, max(0, found.start() - _NEAR), found.start())
    word = before[1].casefold() if before is not None else ""
    own = word == name.split()[0].casefold() or found[1].casefold() == name[0].casefold()
    return not own and not is_one_of(word, "labels")  # "Plan B. Walsh"


def _is_after_another(text: str, start: int, name: str) -> bool:
    """Whether another first name or initial comes before: "John E. Walsh"."""
    near = max(0, start - _NEAR)
    if text[start - 1 : start] == "." or _NAMES_BEFORE.search(text, near, start):
        return True
    before = _WORD_BEFORE.search(text, near, start)
    word = before[1].lower() if before is not None else ""
    if before is None or not before[1][0].isupper() or word == name.split()[0].casefold():
        return False
    return not is_no_name(word) and (not before[1].isupper() or is_one_of(word, "first_names"))


def _is_joined(here: NameContext, kinds: Words) -> bool:
    """Whether a hyphen makes it a part of another word: "John-Paul"; not "a John-sized hole"."""
    before = _PIECE_BEFORE.search(here.text, max(0, here.start - _NEAR), here.start)
    if before is not None and (kinds or before[1].lower() not in ("ex", "then", "non", "anti")):
        return True
    following = _PIECE_AFTER.match(here.text, here.end)
    if following is None:
        return False
    shouted = here.text[here.start : here.end].isupper() and not one_case(here.text)[0]
    other = is_one_of(low(following[1]), "first_names")
    return bool(kinds) or other or not (following[1].islower() or shouted)


def _is_called(here: NameContext, own: frozenset[str]) -> bool:
    """Whether words next to a name make it a ruler, a lake, a school or a shop of that name."""
    front, back = here.front, here.back
    if is_one_of(front[0], "before_others") or _NUMBERED.match(here.text, here.end):
        return True
    if any(front[n] in QUOTES and is_one_of(front[n + 1], "work_nouns") for n in range(4)):
        return True  # 'the film "Emma"'
    body = here.before[1][:1].isupper() and is_one_of(front[1], "institutions")
    if front[0] == "of" and (front[1] in (*_TOWNS, "gospel", "book") or body):
        return not here.owner
    if back[0] == "the" and here.following[1][:1].isupper() and is_one_of(back[1], "epithets"):
        return True
    if back[0] == "," and is_one_of(back[1], "regions") and is_one_of(front[0], "prepositions"):
        return True  # "from Alfred, Maine"
    stop = next((n for n, word in enumerate(here.following) if not word[:1].isupper()), _FEW)
    bodies = {word.removesuffix("'s") for word in back[:stop]} - own
    owned = here.owner or any(word.endswith("'s") for word in back[:stop])
    kinds = ("businesses", "institutions") if owned else ("institutions",)
    return any(in_classes(word, *kinds) for word in bodies)
