"""Features of a span of English text, for the linear model of ``student.py``.

A feature is a short string about the words around the span: the words themselves, their classes
("a preposition", "ends in -ing", "names a person") and a few combinations. Of the span itself only
the shape is used, never the spelling. "Black" and "White", or two names, therefore always get the
same reading.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from pytest_llmfair.lexicons.english.context import context_of
from pytest_llmfair.lexicons.english.words import is_one_of, words_of

_REACH = 120  # characters looked at on each side
_WINDOW = 5  # words looked at on each side, in their order
_TOPIC = 9  # words looked at on each side in any order
# Words that an exchange swaps count as one word, so both texts of a pair have equal features.
_ALIKE = {
    word: line.split()[0]
    for line in (
        *("a an", "she he", "her him his hers", "herself himself", "mrs mr"),
        *("woman man", "women men", "girl boy", "girls boys", "lady gentleman"),
        *("ladies gentlemen", "female male", "mother father", "mothers fathers", "mom dad"),
        *("daughter son", "daughters sons", "sister brother", "sisters brothers", "wife husband"),
        *("aunt uncle", "niece nephew", "grandmother grandfather", "girlfriend boyfriend"),
        *("queen king", "actress actor"),
    )
    for word in line.split()
}
_CLOSED = {
    word: kind
    for kind, words in {
        "article": "a the",
        "this": "this that these those",
        "quantity": "every each some any no another either neither several many few most all both",
        "her": "her",
        "owner": "my your our their its whose",
        "be": "is are was were be been being am 's 're 'm isn't aren't wasn't weren't",
        "have": "has have had having hasn't haven't hadn't",
        "modal": "will would can could shall should may might must won't can't couldn't wouldn't",
        "do": "do does did don't doesn't didn't",
        "preposition": "of in on at by for with from to into onto about over under after before "
        "between through during against among within without toward towards behind near since "
        "until upon as like than",
        "and": "and or but nor",
        "clause": "that whether if because when while where who whom which what how why although "
        "though unless so",
        "pronoun": "i you she it we they me us them someone somebody anyone anybody "
        "everyone everybody nobody one who herself",
        "adverb": "not never always very too also just still already again often really quite "
        "more most so well soon now then there here yesterday today tomorrow tonight",
        "number": "one two three four five six seven eight nine ten",
    }.items()
    for word in words.split()
}
_ENDINGS = (
    *("ing", "ed", "ly", "tion", "ness", "ment", "er", "or", "ist", "ian", "s", "al", "ous"),
    *("ive", "able", "ful", "ity", "est", "ant", "ent", "man", "men", "ese", "ish"),
)
# Classes at which the noun phrase after a term ends.
_ENDS_PHRASE = ("preposition", "be", "have", "modal", "and", "clause", "do")
_MARKS = ".,!?$;:"
_PERSON = "person"
_NAME_CLASSES = ("also_word", "also_month", "also_place", "also_firm", "also_people")


@functools.lru_cache(maxsize=65536)
def canonical(word: str) -> str:
    """Return a word in lower case; words that an exchange swaps ("she", "he") share one form."""
    low = word.lower()
    return _ALIKE.get(low, low)


@functools.lru_cache(maxsize=65536)
def classes(word: str) -> tuple[str, ...]:
    """Return the classes of a word, the most informative first."""
    low = canonical(word)
    closed = _CLOSED.get(low)
    if closed is not None:
        found = [closed]
    elif not word[0].isalnum():
        return (word if word in ".,!?;:\"'()-" else "mark",)
    elif word[0].isdigit():
        found = ["digits"]
    else:
        persons = words_of("person_nouns")
        person = low in persons or low.removesuffix("s") in persons
        ending = (e for e in _ENDINGS if low.endswith(e) and len(low) > len(e) + 2)
        found = [*([_PERSON] if person else []), "-" + next(ending, "")]
    if word[0].isupper():
        found.append("capitals" if word.isupper() and len(word) > 1 else "capital")
    return tuple(found)


def shape(term: str) -> str:
    """Return the form of a term without its spelling: "9-x" for "40-year-old", "Xs" for "Jews"."""
    words = re.findall(r"\d+|[^\W\d_]+|-", term)[:4]
    last = words[-1] if words else ""
    forms = [
        "9" if w[0].isdigit() else w if w == "-" else "X" if w[0].isupper() else "x" for w in words
    ]
    plural = "s" if last.endswith(("s", "S")) and len(last) > 3 else ""
    return "".join(forms) + plural + ("!" if term.isupper() and len(term) > 1 else "")


def words_around(text: str, start: int, end: int) -> tuple[list[str], list[str]]:
    """Return the words before a span, the nearest first, and those after it."""
    context = context_of(text)
    return context.before(start, _REACH)[::-1], context.after(end, _REACH)


def padded(words: list[str], mark: str) -> list[str]:
    """Return the nearest words, filled up where the text begins or ends."""
    return (words[:_WINDOW] + [mark] * _WINDOW)[:_WINDOW]


def features(text: str, start: int, end: int) -> list[str]:
    """Return the features of ``text[start:end]``."""
    before, after = words_around(text, start, end)
    before, after = padded(before, "^"), padded(after, "$")
    b, a = [canonical(w) for w in before], [canonical(w) for w in after]
    cb, ca = [classes(w) for w in before], [classes(w) for w in after]
    form = shape(text[start:end])
    found = ["bias", "shape " + form, f"shape {form} {b[0]}", f"shape {form} {a[0]}"]
    for i in range(4):
        found += [f"a{i} {a[i]}", f"b{i} {b[i]}"]
        found += [f"A{i} {c}" for c in ca[i]]
        found += [f"B{i} {c}" for c in cb[i]]
    found += [f"b0a0 {b[0]} {a[0]}", f"a01 {a[0]} {a[1]}", f"b10 {b[1]} {b[0]}"]
    found += [f"A01 {x} {y}" for x in ca[0] for y in ca[1]]
    found += [f"B0A0 {y} {x}" for x in ca[0] for y in cb[0]]
    found += [f"b0A0 {b[0]} {x}" for x in ca[0]]
    found += [f"B0a0 {x} {a[0]}" for x in cb[0]]
    found += [f"B10 {y} {x}" for x in cb[0] for y in cb[1]]
    found += [f"a0A1 {a[0]} {x}" for x in ca[1]]
    found += _phrase(a, ca, cb)
    found.append("first " + b[0] if b[0] in "^.!?\n" else "inside")
    return found


def _phrase(a: list[str], ca: list[tuple[str, ...]], cb: list[tuple[str, ...]]) -> Iterator[str]:
    """Return where the noun phrase after the span ends, and whether it names a person."""
    stop = next(
        (i for i, w in enumerate(a) if w in _MARKS or any(c in _ENDS_PHRASE for c in ca[i])),
        _WINDOW,
    )
    person = next((i for i, c in enumerate(ca) if _PERSON in c), _WINDOW + 1)
    yield f"person {person < stop}"
    yield f"person {min(person, stop)} {person < stop}"
    yield f"person before {any(_PERSON in c or 'pronoun' in c or 'her' in c for c in cb)}"
    if stop:
        yield "head " + a[stop - 1]
        yield from (f"HEAD {c}" for c in ca[stop - 1])


def term_features(text: str, start: int, end: int) -> list[str]:
    """Return the features of a term: those of any span, and the words near it in any order."""
    found = features(text, start, end)
    for side, words in zip("ba", words_around(text, start, end), strict=True):
        found += [f"near {side} {canonical(word)}" for word in words[:_TOPIC]]
    return found


def name_features(text: str, start: int, end: int) -> list[str]:
    """Return the features of a name: those of any span, and the names next to it."""
    found = features(text, start, end)
    for side, words in zip("ba", words_around(text, start, end), strict=True):
        for i, word in enumerate(words[:2]):
            found += [f"name {side}{i} {c} {word[0].isupper()}" for c in name_classes(word)]
    return found


@functools.lru_cache(maxsize=4096)
def name_classes(word: str) -> tuple[str, ...]:
    """Return the other classes of a name: a word, a month, a place, a firm."""
    low = word.lower()
    return tuple(kind for kind in _NAME_CLASSES if is_one_of(low, kind))
