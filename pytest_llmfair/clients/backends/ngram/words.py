"""Word classes of the embedded model: reading prompts into classes, writing classes as words."""

from __future__ import annotations

import functools
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Literal

from pytest_llmfair._util.located import shipped

Gender = Literal["male", "female"]

CORPUS = Path(__file__).with_name("corpus")
WORD = re.compile(r"\w+(?:-\w+)*|['’]\w+|[^\w\s]")  # noqa: RUF001 - a typographic apostrophe
SENTENCE_ENDS = frozenset(".?!:")
FAVOURABLE_SHARE = 0.7

_LONGEST = 4
_SIGNS = {"male": 1.0, "female": -1.0, None: 0.0}
# "her" means both "him" and "his". Disambiguating it by context would treat the genders
# differently, so the history of the model has one class for all of them; likewise for the
# "cleaning lady", whose twin is a "cleaning man".
_REMEMBERED_AS = {
    "{him}": "{his}",
    "{hers}": "{his}",
    "{gentleman}": "{man}",
    "{gentlewoman}": "{man}",
    "{lord}": "{man}",
}


@dataclass(frozen=True, slots=True)
class Person:
    """What a text has said about its person so far; the last mention counts."""

    gender: Gender | None = None
    name: str | None = None
    occupation: str | None = None


@dataclass(frozen=True, slots=True)
class Dials:
    """Planted skews, each in [-1, 1]."""

    gender_skew: float = 0.0
    sentiment_skew: float = 0.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not -1.0 <= value <= 1.0:
                raise ValueError(f"{each.name} is {value}; give a number from -1 to 1")


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a class: the words, their probability, and the person after them."""

    text: str
    probability: float
    person: Person


@dataclass(frozen=True, slots=True)
class Words:
    """The classes of ``corpus/words.yaml``, such as ``{he}``, and their words."""

    # Masculine and feminine form by class.
    pairs: Mapping[str, tuple[str, str]]
    names: Mapping[str, Gender]
    # The gender that the stereotype expects.
    occupations: Mapping[str, Gender]
    # Favourable and unfavourable words by class.
    judgements: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    # Words in lower case to their class and what they say of a person.
    surface: Mapping[tuple[str, ...], tuple[str, Person]]
    # Words in lower case to those that keep their capital inside a sentence.
    proper: Mapping[str, str]

    def read(self, text: str, subjects: Container[str]) -> tuple[list[str], Person]:
        """Turn a text into classes and the person it is about; `subjects` follow a name."""
        tokens = WORD.findall(text)
        lower = [token.lower() for token in tokens]
        history: list[str] = []
        person = Person()
        i = 0
        while i < len(tokens):
            size, cls, seen = self._match(lower, i)
            if cls is None and self._is_name(tokens, i, subjects):
                cls, seen = "{name}", Person(self.names.get(tokens[i]), tokens[i])
            if cls is None:
                history.append(lower[i])
            elif cls != "{name}" or history[-1:] != ["{name}"]:
                gender = seen.gender or (None if seen.name else person.gender)
                name, occupation = seen.name or person.name, seen.occupation or person.occupation
                person = Person(gender, name, occupation)
                history.append(history_class(cls))
            # Else "Anna Smith", one person: the first name is kept.
            i += size
        return history, person

    def forms(self, cls: str, person: Person, dials: Dials) -> tuple[Form, ...]:
        """Ways to write a class in a text about `person`; probabilities sum to 1."""
        if cls in self.judgements:
            ways = self._judgements(cls, person, dials)
        elif cls == "{name}":
            ways = self._names(person, dials)
        elif cls in ("{occupation}", "{a:occupation}"):
            ways = self._occupations(cls == "{a:occupation}", person, dials)
        else:
            shares = self._shares(person, dials)
            ways = (
                Form(word, share, replace(person, gender=gender))
                for word, (gender, share) in zip(self.pairs[cls], shares, strict=True)
            )
        return tuple(form for form in ways if form.probability > 0.0)

    def _shares(self, person: Person, dials: Dials) -> tuple[tuple[Gender, float], ...]:
        """Probability that a person is called "he" and "she"."""
        if person.gender is not None:
            male = float(person.gender == "male")
        else:
            expected = None if person.occupation is None else self.occupations[person.occupation]
            male = (1.0 + _SIGNS[expected] * dials.gender_skew) / 2.0
        return ("male", male), ("female", 1.0 - male)

    def _judgements(self, cls: str, person: Person, dials: Dials) -> Iterator[Form]:
        skew = _SIGNS[person.gender] * (1.0 - FAVOURABLE_SHARE) * dials.sentiment_skew
        favourable = FAVOURABLE_SHARE + skew
        kinds = zip(self.judgements[cls], (favourable, 1.0 - favourable), strict=True)
        return (Form(word, share / len(words), person) for words, share in kinds for word in words)

    def _names(self, person: Person, dials: Dials) -> Iterator[Form]:
        if person.name is not None:
            yield Form(person.name, 1.0, person)
            return
        for gender, share in self._shares(person, dials):
            names = [name for name, its in self.names.items() if its == gender]
            for name in names:
                yield Form(name, share / len(names), replace(person, gender=gender, name=name))

    def _occupations(self, article: bool, person: Person, dials: Dials) -> Iterator[Form]:
        if person.occupation is not None:
            jobs = {person.occupation: 1.0}
        elif person.gender is None:
            jobs = dict.fromkeys(self.occupations, 0.5)
        else:
            # Bayes' rule with equally frequent occupations, so that the dial works both ways.
            jobs = {
                job: dict(self._shares(Person(occupation=job), dials))[person.gender]
                for job in self.occupations
            }
        total = sum(jobs.values())
        for job, p in jobs.items():
            text = with_article(job) if article else job
            yield Form(text, p / total, replace(person, occupation=job))

    def _match(self, lower: list[str], i: int) -> tuple[int, str | None, Person]:
        for size in range(min(_LONGEST, len(lower) - i), 0, -1):
            found = self.surface.get(tuple(lower[i : i + size]))
            if found is not None:
                return size, found[0], found[1]
        return 1, None, Person()

    def _is_name(self, tokens: list[str], i: int, subjects: Container[str]) -> bool:
        if tokens[i] in self.names:
            return True
        starts = i == 0 or tokens[i - 1] in SENTENCE_ENDS
        if not tokens[i].istitle() or len(tokens[i]) < 2:
            return False
        return not starts or (i + 1 < len(tokens) and tokens[i + 1].lower() in subjects)


def history_class(cls: str) -> str:
    """Return the class that the history of the model has for this one."""
    return _REMEMBERED_AS.get(cls, cls)


def with_article(word: str) -> str:
    """Put "a" or "an" before a word of the shipped lists, by sound."""
    return ("an " if word[0] in "aeiou" or word == "honest" else "a ") + word


@functools.cache
def load_words() -> Words:
    """Read ``corpus/words.yaml`` once."""
    data = shipped("clients/backends/ngram/corpus/words.yaml")
    pairs = {f"{{{cls}}}": (male, female) for cls, (male, female) in data["pairs"].items()}
    names, occupations = (_by_gender(data[key]) for key in ("names", "occupations"))
    traits, answers = (
        (tuple(data[key]["favourable"]), tuple(data[key]["unfavourable"]))
        for key in ("traits", "answers")
    )
    with_articles = (tuple(map(with_article, traits[0])), tuple(map(with_article, traits[1])))
    judgements = {"{trait}": traits, "{a:trait}": with_articles, "{yes}": answers}

    surface: dict[tuple[str, ...], tuple[str, Person]] = {}
    for cls, (male, female) in pairs.items():
        surface.setdefault(tuple(male.split()), (cls, Person("male")))
        surface.setdefault(tuple(female.split()), (cls, Person("female")))
    for job in occupations:
        seen = Person(occupation=job)
        surface[tuple(job.split())] = ("{occupation}", seen)
        surface[tuple(with_article(job).split())] = ("{a:occupation}", seen)
    for cls, kinds in judgements.items():
        for word in (*kinds[0], *kinds[1]):
            surface[tuple(word.split())] = (cls, Person())
    proper = {word.lower(): word for word in data["proper"]}
    return Words(pairs, names, occupations, judgements, surface, proper)


def _by_gender(lists: Mapping[str, list[str]]) -> dict[str, Gender]:
    genders: tuple[Gender, Gender] = ("male", "female")
    return {word: gender for gender in genders for word in lists[gender]}
