"""The student: a small linear model that gives a second opinion on how a word is read.

It was trained on the answers of earlier, much longer rules, on text under free licences
(``benchmarks/grammar``). It sees the words around a span and the kind of the term but never its
spelling, so a sentence and its counterfactual get the same answer. A feature is a short string:
a word next to the span, its class ("a preposition", "ends in -ing"), or some combination.
"""

from __future__ import annotations

import functools
import math
import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair._util.located import shipped
from pytest_llmfair.lexicons.english.context import context_of
from pytest_llmfair.lexicons.english.words import is_one_of, words_of

BITS = 20  # a feature is one of 2 ** 20 numbers
_REACH = 120  # characters looked at on each side
_WINDOW = 5  # words looked at on each side, in their order
_TOPIC = 9  # words looked at on each side in any order
# Classes at which the noun phrase after a term ends.
_ENDS_PHRASE = ("preposition", "be", "have", "modal", "and", "clause", "do")
_MARKS = ".,!?$;:"
_PERSON = "person"
_NAME_CLASSES = ("also_word", "also_month", "also_place", "also_firm", "also_people")

Numbers = NDArray[np.uint32]


@functools.cache
def _words() -> dict[str, dict[str, str]]:
    """Return `alike`, the form that swapped words share, and `closed`, the class of a word."""
    data = shipped("lexicons/english/student.yaml")
    alike = {word: line.split()[0] for line in data["alike"] for word in line.split()}
    closed = {word: kind for kind, line in data["closed"].items() for word in line.split()}
    return {"alike": alike, "closed": closed}


@functools.lru_cache(maxsize=65536)
def canonical(word: str) -> str:
    """Return a word in lower case; words that an exchange swaps ("she", "he") share one form."""
    low = word.lower()
    return _words()["alike"].get(low, low)


@functools.lru_cache(maxsize=65536)
def classes(word: str) -> tuple[str, ...]:
    """Return the classes of a word, the most informative first."""
    low = canonical(word)
    closed = _words()["closed"].get(low)
    if closed is not None:
        found = [closed]
    elif not word[0].isalnum():
        return (word if word in ".,!?;:\"'()-" else "mark",)
    elif word[0].isdigit():
        found = ["digits"]
    else:
        persons = words_of("person_nouns")
        person = low in persons or low.removesuffix("s") in persons
        endings = shipped("lexicons/english/student.yaml")["endings"].split()
        ending = (e for e in endings if low.endswith(e) and len(low) > len(e) + 2)
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


def counts_numbers(text: str, start: int, end: int, kind: str, attribute: str = "") -> Numbers:
    """Return the model's inputs for a term."""
    kinds = ["counts", kind, f"{kind} {attribute}"] if attribute else ["counts", kind]
    return _with(_term_numbers(text, start, end), kinds)


def role_numbers(text: str, start: int, end: int, roles: Iterable[str]) -> Numbers:
    """Return the model's inputs for a pronoun."""
    kind = "her" if "object" in roles else "his"
    return _with(_numbers(features(text, start, end)), [kind])


def name_numbers(text: str, start: int, end: int, name: str) -> Numbers:
    """Return the model's inputs for a name: first, last or only one, perhaps also a word."""
    word = text[start:end]
    first = name.lower().startswith(word.lower())
    part = "only" if " " not in name else "first" if first else "last"
    kinds = [f"name {kind}" for kind in name_classes(word.partition(" ")[0]) or ("plain",)]
    return _with(_numbers(name_features(text, start, end)), ["name", f"name {part}", *kinds])


@functools.lru_cache(maxsize=8)  # a term may be asked about as a noun and as an adjective
def _term_numbers(text: str, start: int, end: int) -> Numbers:
    return _numbers(term_features(text, start, end))


def _numbers(found: Iterable[str]) -> Numbers:
    """Return a number for each feature."""
    encoded = {feature.encode("utf-8", "surrogatepass") for feature in found}
    return np.fromiter(map(zlib.crc32, encoded), np.uint32, len(encoded))


def _with(numbers: Numbers, kinds: Iterable[str]) -> Numbers:
    """Return the numbers of features, each taken together with each kind."""
    shifts = np.array([zlib.crc32(kind.encode()) for kind in kinds], np.uint32)
    return ((numbers[:, None] + shifts) & np.uint32((1 << BITS) - 1)).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class Student:
    """A linear model of the three grammar questions; every answer is a probability."""

    weights: NDArray[np.float32]

    def counts(self, text: str, start: int, end: int, kind: str, attribute: str = "") -> float:
        """Return the probability that a term of this kind names a person's group here."""
        return self._probability(counts_numbers(text, start, end, kind, attribute))

    def role(self, text: str, start: int, end: int, roles: Iterable[str]) -> float:
        """Return the probability that "her" or "his" is a determiner: "her book"."""
        return self._probability(role_numbers(text, start, end, roles))

    def is_person(self, text: str, start: int, end: int, name: str) -> float:
        """Return the probability that ``text[start:end]`` is the person of this name."""
        return self._probability(name_numbers(text, start, end, name))

    def _probability(self, numbers: Numbers) -> float:
        return 1 / (1 + math.exp(-float(self.weights[numbers].sum())))


def unpack(gaps: NDArray[np.uint16], q: NDArray[np.int8], scale: float) -> NDArray[np.float32]:
    """Return the weights of a file: distances between those that are not 0, and int8."""
    weights = np.zeros(1 << BITS, dtype=np.float32)
    weights[np.cumsum(gaps, dtype=np.int64)] = q * np.float32(scale)
    return weights


@functools.cache
def student() -> Student:
    """Return the model that ships with the package."""
    with (
        resources.files(__package__).joinpath("weights.npz").open("rb") as file,
        np.load(file, allow_pickle=False) as arrays,
    ):
        return Student(unpack(arrays["gaps"], arrays["q"], float(arrays["scale"])))
