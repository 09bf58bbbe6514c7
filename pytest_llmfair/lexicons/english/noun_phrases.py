"""Which person noun an adjective describes: "a Black and a white engineer"."""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.context import Phrase, Rule, Words, decide
from pytest_llmfair.lexicons.english.words import (
    JOINED,
    JOINS,
    bare,
    ends_phrase,
    in_classes,
    is_age_noun,
    is_any,
    is_modifier,
    is_one_of,
    is_people,
    is_person,
    is_person_compound,
    is_plural,
    is_verb,
    noun_phrase_ends,
    without_end,
)

_AGAIN = {"a": ("a", "an"), "an": ("a", "an"), "the": ("the",), "one": ("another",)}
_WINDOW = 7  # words that can stand between the term and its noun
_NO_VERBS = ("ss", "us", "is", "ics", "'s")
_PREFIX = re.compile(
    r"(?<![\w-])(all|majority|mostly|predominantly|non|half|part|anti|ex)-\Z", re.IGNORECASE
)
_BORN = re.compile(r"-(?:born|raised|identifying|identified|presenting)\b", re.IGNORECASE)
# Participles whose agent is a person: "Black-owned"; not "white-LED lamp".
_DONE = re.compile(
    r"-(?:[Oo]wned|[Ll]ed|[Rr]un|[Ff]ounded|[Mm]ajority|[Dd]ominated|[Cc]ontrolled|[Oo]perated"
    r"|[Ss]taffed|[Dd]irected|[Aa]uthored|[Ss]erving|[Ff]riendly)\b"
)
_SECOND = re.compile(r"-([A-Z]\w+)\b")
_LONGEST_PREFIX = 16


class Compound(NamedTuple):
    """A hyphenated word around the term; `done` for "Black-owned", which needs no person."""

    begin: int
    end: int
    prefix: str
    done: bool


def is_hyphenated(text: str, start: int, end: int) -> bool:
    """Whether a hyphen joins ``text[start:end]`` to another word."""
    return text[max(0, start - 1) : start] == "-" or text[end : end + 1] == "-"


def compound_at(text: str, start: int, end: int) -> Compound | None:
    """Return the compound that holds the term; None for others such as "off-white"."""
    prefix = _PREFIX.search(text, max(0, start - _LONGEST_PREFIX), start)
    if prefix is None and text[max(0, start - 1) : start] == "-":
        return None
    begin, name = (start, "") if prefix is None else (prefix.start(), prefix[1].lower())
    if text[end : end + 1] != "-":
        return Compound(begin, end, name, False)
    done = _DONE.match(text, end)
    suffix = done or _BORN.match(text, end) or _second_people(text, start, end)
    return None if suffix is None else Compound(begin, suffix.end(), name, done is not None)


def _second_people(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the second part of "Korean-American" and the like; the first alone is exchanged."""
    second = _SECOND.match(text, end)
    if second is None or not is_one_of(second[1].lower(), "demonyms"):
        return None
    return second if second[1] != text[start:end] else None


def describes_person(phrase: Phrase) -> bool:
    """Whether the noun that the term describes is a person or a group of persons."""
    head, thing = head_of(phrase)
    return bool(head) and (not thing or is_any(head, "peoples"))


def head_of(phrase: Phrase) -> tuple[str, bool]:
    """Return the person noun that the term describes, or "", and whether it is part of a thing."""
    if phrase.written_after[:2] == ("Lives", "Matter"):
        return "", False
    head, thing = _first_person(phrase)
    if is_any(head, "signs") and _is_about_signs(phrase):
        return "", False  # "a white character ends the line"
    return head, thing or (is_any(head, "chessmen") and not phrase.is_national)


class _Next(NamedTuple):
    """A word after the term, while its noun is looked for."""

    phrase: Phrase
    at: int
    word: str
    next: str
    joined: bool  # to an adjective before it: "Black and white"

    def rest(self, count: int) -> Words:
        """Return the words after it."""
        return self.phrase.after[self.at + 1 : self.at + 1 + count]


_Head = tuple[str, bool]


def _is_about_signs(phrase: Phrase) -> bool:
    return any(is_any(word, "sign_words") for word in (*phrase.before, *phrase.after))


def _first_person(phrase: Phrase) -> _Head:
    """Find the first person noun; only modifiers can come before it, joined or not."""
    words = phrase.after
    for at, word in enumerate(words[:_WINDOW]):
        joined = at > 0 and (
            words[at - 1] in JOINED
            or (at > 1 and words[at - 2] in JOINS and _is_repeated(words[at - 1], phrase.last))
        )
        following = words[at + 1] if at + 1 < len(words) else ""
        head = decide(HEADS, _Next(phrase, at, word, following, joined), None)
        if head is not None:
            return head
    return _NO_HEAD


def _repeats_determiner(place: _Next) -> bool:
    joined = place.at > 0 and place.phrase.after[place.at - 1] in JOINS
    return joined and _is_repeated(place.word, place.phrase.last)


def _is_country(place: _Next) -> bool:
    capital = place.phrase.written_after[place.at][0].isupper()
    return capital and is_one_of(place.word, "countries")


def _participant(place: _Next) -> _Head:
    """Return "female" in "a Caucasian female presenting with chest pain"."""
    words = place.phrase.after[: place.at + 1]
    found = (
        word
        for word, following in reversed([*itertools.pairwise(words)])
        if is_one_of(word, "person_adjectives") and following.endswith("ing") and is_modifier(word)
    )
    return next(found, ""), False


def _is_person_adjective(place: _Next) -> bool:
    """Whether an adjective is the noun: "a Black male"; not "French and Greek food"."""
    adjective = is_one_of(place.word, "person_adjectives") or is_age_noun(place.word)
    peoples = place.joined and place.phrase.is_national and is_people(place.word)
    return (
        adjective
        and not peoples
        and _ends_with_adjective(place.rest(3), _is_single(place.phrase.before))
    )


_NO_HEAD: _Head = ("", False)
# None: the noun comes later.
HEADS: tuple[Rule[_Next, _Head | None], ...] = (
    Rule(lambda p: p.word in JOINED, None, "A «young», tall nurse left."),
    Rule(_repeats_determiner, None, "A «Black» and a white engineer spoke."),
    Rule(
        lambda p: not p.joined and is_person_compound(p.word, p.next),
        lambda p: (p.word, False),
        "A «Black» running back scored.",
    ),
    Rule(
        lambda p: not p.joined and is_person(p.word) and not _is_describing(p.phrase, p.at),
        lambda p: (p.word, p.word == bare(p.word) and _is_part_of_thing(p.rest(2))),
        "A «Black» engineer spoke.",
    ),
    Rule(
        lambda p: not p.joined and _is_one_of_people(p.phrase, p.at),
        lambda p: (p.word, False),
        "A «black» Briton won.",
    ),
    Rule(
        lambda p: not p.joined and p.word in ("one", "ones"),
        lambda p: (_stands_for(p.phrase, p.word), False),
        "The white nurse met a «Black» one.",
    ),
    Rule(lambda p: not p.joined and _is_country(p), None, "A «young» Spain fan left."),
    Rule(
        lambda p: not is_modifier(p.word) and ends_phrase(p.word),
        _participant,
        "A «Caucasian» female presenting with chest pain.",
    ),
    Rule(
        lambda p: not is_modifier(p.word) and p.joined,
        _NO_HEAD,
        "They sold «French» and pasta dishes.",
    ),
    Rule(
        lambda p: (
            not is_modifier(p.word)
            and is_any(p.word, "persons_here")
            and _is_person_here(p.phrase, p.at)
        ),
        lambda p: (p.word, False),
        "An «Asian» MBA left.",
    ),
    Rule(
        lambda p: not is_modifier(p.word) and not _is_field(p.phrase, p.at),
        _NO_HEAD,
        "A «black» door closed.",
    ),
    Rule(lambda p: not is_modifier(p.word), None, "A «Black» piano teacher left."),
    Rule(_is_person_adjective, lambda p: (p.word, False), "A «Black» male presents with pain."),
)


def _is_repeated(word: str, last: str) -> bool:
    """Whether a word repeats the determiner before the term, `last`."""
    counted = is_one_of(last, "quantities") or last.isdigit()
    repeated = word in _AGAIN.get(last, ())
    return repeated or (counted and (is_one_of(word, "quantities") or word.isdigit()))


def _is_single(before: Words) -> bool:
    """Whether the determiner before the term is singular: "a devout"."""
    words = without_end(before, lambda word: is_modifier(word) and word != "one")
    return bool(words) and is_one_of(words[-1], "singular_determiners")


def _is_part_of_thing(after: Words) -> bool:
    """Whether a noun after a person noun makes it a thing: "old user accounts"."""
    first, second = (*after[:2], "", "")[:2]
    if is_one_of(first, "thing_heads"):  # but "the runner guides the boy"
        return not (first.endswith("s") and is_one_of(second, "determiners"))
    # but "a Black customer service agent"
    return is_one_of(first, "serving_bodies") and not is_person(second)


def _is_one_of_people(phrase: Phrase, at: int) -> bool:
    """Whether it is one of a people, or where persons come from: "a Black Briton"."""
    word = phrase.after[at]
    if is_one_of(word, "origins"):
        return True
    if is_one_of(word, "backgrounds") and phrase.last == "of":  # "people of Chinese origin"
        whose = " ".join(phrase.before[-2:-1])
        return is_person(whose) or in_classes(whose, "person_subjects", "be")
    if phrase.has_capital or not is_any(word, "peoples_only_nouns"):
        return False  # "Young Turks"
    return phrase.written_after[at][0].isupper()  # not "a black pole"


def _is_describing(phrase: Phrase, at: int) -> bool:
    """Whether a person noun is an adjective here: "Chinese academic customs"."""
    rest = phrase.after[at + 1 :]
    if not rest or not is_one_of(phrase.after[at], "describing_persons"):
        return False
    second = " ".join(rest[1:2])
    if second != "that" and is_one_of(second, "determiners"):
        return False  # "an executive challenging her assistant"
    return not noun_phrase_ends(rest, bare=True)


def _is_person_here(phrase: Phrase, at: int) -> bool:
    """Whether a word that can be a thing is a person: "an Asian MBA", "hire a young model"."""
    word, after = phrase.after[at], phrase.after[at + 1 :]
    if is_any(word, "models"):
        asked = is_one_of(" ".join(phrase.before[-2:-1]), "casting") and _is_single(phrase.before)
        fashion = any(is_one_of(other, "fashion_words") for other in (*phrase.before, *after))
        return (asked or fashion) and noun_phrase_ends(after) and after[:1] != ("of",)
    if word == "voices":
        return True
    if is_any(word, "royals"):  # of a people; in tales and games they are black and white
        owner = word.endswith(("'s", "s'"))
        return phrase.is_national and (
            owner or noun_phrase_ends(after) or phrase.written_after[at + 1][0].isupper()
        )
    if is_any(word, "partisans"):
        return phrase.is_national and after[:1] != ("of",) and noun_phrase_ends(after)
    return sum(map(str.isupper, phrase.written_after[at])) > 1 and noun_phrase_ends(after)


def _is_field(phrase: Phrase, at: int) -> bool:
    """Whether a word is a field of work before a person: "a Black piano teacher"."""
    word, following, third = (*phrase.after[at : at + 3], "", "")[:3]
    direct = is_person(following)
    head = following if direct else third
    if not head or not (direct or is_person(head)):
        return False
    written = phrase.written_after[at]
    if written.isupper() and len(written) > 1 and any(map(str.islower, phrase.raw)):
        return direct and not is_any(head, "dealers")  # "Asian T2DM patients", "NHS nurses"
    if is_one_of(re.split(r"[\s/-]+", phrase.word)[-1], "seldom_of_things"):
        if is_one_of(word, "described_things"):
            return False
        nouns = (word,) if direct else (word, following)
        single = is_one_of(phrase.last, "singular_determiners")
        if not any(map(ends_phrase, nouns)) and (
            single or not any(is_verb(noun, "", bare=True) for noun in nouns)
        ):
            return True
    listed = is_one_of(word, "fields") or (not phrase.is_national and is_one_of(word, "crafts"))
    if direct and at and is_one_of(word, "field_parts"):  # the second word of "quiz show"
        listed = listed or in_classes(phrase.after[at - 1], "fields", "field_begins")
    if not direct:
        part = is_one_of(following, "field_parts") or is_modifier(following)
        listed = listed or (part and is_one_of(word, "field_begins"))
        listed = listed and (part or is_one_of(following, "fields"))
    return listed and not is_any(head, "dealers")


def _ends_with_adjective(after: Words, one: bool) -> bool:
    """Whether no noun follows an adjective such as "male"; `one` after a singular determiner."""
    first, second = (*after[:2], "", "")[:2]
    if first.endswith("s") and is_one_of(second, "finite_forms"):
        return ends_phrase(first)  # "the black male leads are missing"
    if noun_phrase_ends(after[:1]) or noun_phrase_ends(after[:2]):
        return True
    if is_one_of(first, "doing_something"):
        return True  # "a female taking aspirin"
    if is_one_of(first, "undergone") and ends_phrase(second) and second not in JOINS:
        return True  # "a Black male seen in clinic"
    if second == "/" and (first == "w" or is_one_of("".join(after[:3]), "clinical_notes")):
        return True  # "c/o chest pain"
    if not one or not first.endswith("s") or first.endswith(_NO_VERBS) or second == "of":
        return False
    return ends_phrase(second) and second not in JOINS  # "a Black male presents with"


def _stands_for(phrase: Phrase, word: str) -> str:
    """Return the person noun that "one" or "ones" stands for; "" for a thing."""
    several = word == "ones"
    for words in (phrase.before, tuple(w.lower() for w in phrase.earlier())):
        nouns = _candidates(words, several)
        for kind in (_is_contrasted, is_modifier):
            described = [noun for noun, front in nouns if front and kind(front)]
            if described:
                return described[0] if is_person(described[0]) else ""
        if nouns:
            return nouns[0][0] if all(is_person(noun) for noun, _ in nouns) else ""
    return ""


def _is_contrasted(word: str) -> bool:
    return is_one_of(word, "contrasted") or is_people(word) or "-" in word or " " in word


def _candidates(words: Words, several: bool) -> list[tuple[str, str]]:
    """Return the nouns that "one" can stand for with the word before each, the last first."""
    found = []
    for at in range(len(words) - 1, -1, -1):
        word, front = words[at], words[at - 1] if at else ""
        if front and is_person_compound(front, word):  # "my Welsh au pair"
            word, front = "people" if several else "person", words[at - 2] if at > 1 else ""
        if not word[0].isalpha() or ends_phrase(word):
            continue
        described = bool(front) and (is_modifier(front) or is_one_of(front, "determiners"))
        if is_plural(word):
            if is_person(word) or described or not is_verb(word, ""):
                found.append((word, front))
        elif not several and described:
            following = words[at + 1] if at + 1 < len(words) else ""
            if is_person(word) or not (is_modifier(word) and not ends_phrase(following)):
                found.append((word, front))
    return found
