"""Whether a noun names persons of a group: "a Muslim", "the old", "most whites", "the women".

Answers the kind "person_noun" for ``english.py``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pytest_llmfair.lexicons.english.context import (
    Phrase,
    Words,
    low,
    opens_sentence,
    phrase_at,
    word_after,
    word_before,
)
from pytest_llmfair.lexicons.english.noun_phrases import is_hyphenated
from pytest_llmfair.lexicons.english.other_uses import is_exclamation, is_verb_here
from pytest_llmfair.lexicons.english.proper_names import is_in_name, is_in_title
from pytest_llmfair.lexicons.english.rules import Rule, decide
from pytest_llmfair.lexicons.english.words import (
    JOINED,
    JOINS,
    ends_phrase,
    in_classes,
    is_adjective,
    is_adverbial,
    is_age_noun,
    is_any,
    is_ly_adverb,
    is_modifier,
    is_one_of,
    is_people,
    is_person,
    is_verb,
    noun_phrase_ends,
    shape_of,
    singulars,
)
from pytest_llmfair.lexicons.grammar import Verdict

_WINDOW = 7
# "The French", "the Irish", "the Chinese" have no plural in -s.
_PEOPLES_IN = ("ese", "nch", "tch", "sh", "ss")
_OF_SEVERAL = ("who", "are", "were", "have")
_SOME = ("many", "most", "few", "several", "some", "other", "these", "those", "two", "three")
_SHARES = frozenset(("%", "percent", "per"))
_POSSESSIVE = ("my", "your", "his", "her", "our", "their", "its", "whose")
_CODE = re.compile(
    r"[^\S\n]+(?:`|'\w|\u2018\w|[\[{$\\]\w|_?[a-z]+_[a-z]|<(?:code|tt|kbd|var|samp|pre|a)\b)"
)
_ADDRESSED = frozenset(("you", "u", "ya", "fucking", "bloody", "damn", "goddamn"))


def counts(text: str, start: int, end: int) -> Verdict:
    """Return whether the noun names persons here."""
    doubt = _doubt(text, start, end)
    return Verdict(_counts(text, start, end), not doubt, doubt)


def _doubt(text: str, start: int, end: int) -> str:
    """Return why the other answer is possible too; "" if it is not."""
    word, after = text[start:end], word_after(text, end)
    low_word, (before, begin) = word.lower(), word_before(text, start)
    group = _is_strict(low_word, low_word, word[0].isupper()) or is_people(singulars(low_word)[-1])
    if group and before.lower() == "the" and is_one_of(low(after), "noun_verbs"):
        opens = ends_phrase(low(word_before(text, begin)[0]))
        if opens and not in_classes(low(after), "mostly_verbs", "plural_verbs"):
            return f"'{after}' after '{before} {word}' can be a noun or a verb"
        return ""
    if group or not word[0].isupper() or word.isupper() or opens_sentence(text, start):
        return ""
    front = low(before)
    named = after[:1].isupper() or (before[:1].isupper() and not is_modifier(front))
    other = in_classes(front, "closed", "quantities", "polite") or not front
    other = other or is_any(low_word, "titled_persons") or is_any(low_word, "gods")
    return f"'{word}' with its capital can be part of a name" if named and not other else ""


def _counts(text: str, start: int, end: int) -> bool:
    word = text[start:end].lower()
    last = word.rpartition(" ")[2]
    single = singulars(last)
    if is_one_of(word, "gods") or is_one_of(single[-1], "gods"):
        return _is_one_of_gods(text, start, end)
    strict = _is_strict(word, last, text[start].isupper())
    plural_adjective = _is_plural_adjective(word, last)
    if not strict and not plural_adjective:
        return _is_person_noun(text, start, end)
    if is_in_name(text, start, end):
        return False
    if is_hyphenated(text, start, end):
        former = text[max(0, start - 3) : start].lower() == "ex-"
        return former and is_group_noun(phrase_at(text, start - 3, end))  # "an ex-Muslim"
    phrase = phrase_at(text, start, end)
    if plural_adjective:
        return _are_people(phrase)
    if any(is_one_of(form, "nouns_of_things") for form in single):
        return _is_insult(phrase, last.endswith("s"))
    noun = not _is_adjective_only(word, last) and is_group_noun(phrase)
    return noun or _is_collective(phrase)


def _is_strict(word: str, last: str, capital: bool) -> bool:
    """Whether the noun can also be an adjective or a thing, and so needs a determiner."""
    if last.endswith(("man", "woman")) and is_person(last):
        return False
    if is_people(last) or is_age_noun(word) or word.endswith((" old", " race")):
        return True
    if capital and last.endswith(("an", "ic")) and not is_person(last):  # "Sri Lankan"
        return True
    if in_classes(word, "faiths", "contrasted", "seldom_of_things", "strict_nouns"):
        return True
    if in_classes(last, "contrasted", "seldom_of_things", "strict_nouns", "faiths"):
        return True
    return any(is_one_of(form, "nouns_of_things") for form in singulars(last))


def _is_adjective_only(word: str, last: str) -> bool:
    """Whether no singular noun is spelled so: "blind", "French"; but "a Muslim", "a diabetic"."""
    if in_classes(last, "faiths", "strict_nouns") or is_age_noun(word) or word.endswith(" old"):
        return False
    if is_one_of(last, "adjectives_as_nouns") or last.endswith(_PEOPLES_IN):
        return True
    return not (is_people(last) or last.endswith(("an", "ic")))


def _is_plural_adjective(word: str, last: str) -> bool:
    """Whether it is the plural of an adjective: "whites", "seniors", "30-year-olds", "Gen Z"."""
    if word.startswith("gen") and len(last) == 1:
        return True
    return last.endswith("s") and (
        is_one_of(last[:-1], "adjectives_as_nouns") or word.endswith(("-olds", " olds"))
    )


def _is_person_noun(text: str, start: int, end: int) -> bool:
    """Whether a noun that always names persons is used as one, and not in a name or a verb."""
    if is_verb_here(text, start, end) or is_exclamation(text, start, end):
        return False
    if not text[start].isupper() or text[start:end].isupper():
        return True
    word = text[start:end].lower()
    if is_people(singulars(word)[-1]):
        return True
    if is_any(word, "titled_persons"):  # "Father Brian", "Dear Rabbi"; not "Judas Priest"
        before, begin = word_before(text, start)
        known = in_classes(low(before), "closed", "polite", "quantities")
        known = known or (opens_sentence(text, begin) and is_verb(low(before), "", bare=True))
        surname = before[:1].isupper() and not (known or is_modifier(low(before)))
        return not surname or opens_sentence(text, start)
    return not is_in_title(text, start, end)


def _is_one_of_gods(text: str, start: int, end: int) -> bool:
    """Whether a god is one of several: "the sun god", "many gods"; not "God", "my goddess"."""
    if text[end : end + 1] == "-":
        return False
    phrase = phrase_at(text, start, end)
    plural = text[end - 1] in "sS" and not text[:end].lower().endswith("goddess")
    if is_one_of(phrase.last, "gods_of"):
        return True
    if text[start].isupper() and not opens_sentence(text, start):
        return plural and (phrase.last in JOINS or is_one_of(phrase.last, "determiners"))
    if plural:
        return True
    if phrase.next == "of" and (phrase.last == "," or in_classes(phrase.last, "be")):
        return True  # "Ares, god of war"
    words = [word for word in phrase.before[-3:] if in_classes(word, "determiners")]
    owned = bool(words) and words[-1] in _POSSESSIVE
    return bool(words) and not owned and words[-1] != "that" and phrase.last not in JOINS


def is_group_noun(phrase: Phrase) -> bool:
    """Whether a singular is a noun: "as an Italian, I", "a Muslim prayed"; not "a Muslim dish"."""
    term = shape_of(phrase.term)
    words = list(phrase.before)
    while (
        words
        and not _is_determiner(words[-1])
        and (words[-1] == "out" or is_modifier(words[-1]) or words[-1].endswith("est"))
    ):
        words.pop()
    first = words[-1] if words else ""
    if not _is_determiner(first) or is_one_of(first, "plural_determiners"):
        return False
    if _describes_thing_too(phrase.after):
        return False
    if term.people and first in _POSSESSIVE:
        return False
    # "a Pole and a Dane share"
    bare = "and" in phrase.before[-3:] or is_one_of(term.word, "peoples_only_nouns")
    bare = bare or is_one_of(" ".join(words[-2:-1]), "asking")  # "would a Dane feel"
    if is_one_of(first, "singular_determiners") and phrase.next.endswith("s"):
        # "a Sikh hosts a dinner", "needs help"
        needed = any(is_one_of(form, "before_to") for form in singulars(phrase.next))
        bare = bare or needed or ends_phrase(" ".join(phrase.after[1:2]))
    return noun_phrase_ends(phrase.after, bare=bare) or _is_followed(phrase.after)


def _describes_thing_too(after: Words) -> bool:
    """Whether "and the Greek constitution" follows: another people with an article and a thing."""
    if len(after) < 4 or after[0] not in JOINED or not in_classes(after[1], "articles"):
        return False
    if not (is_people(after[2]) or in_classes(after[2], "contrasted", "person_adjectives")):
        return False
    return not (
        noun_phrase_ends(after[3:], bare=True)
        or after[3] in ("alike", "each")
        or is_person(after[3])
    )


def _is_determiner(word: str) -> bool:
    return is_one_of(word, "determiners")


class _Collective(NamedTuple):
    """An adjective that may name all: `words` end before "the", `rest` follows what is joined."""

    phrase: Phrase
    words: Words
    rest: Words
    people: bool
    next: str
    front: str

    def begins(self) -> bool:
        """Whether a clause can begin with "the"."""
        return not self.front or self.front in JOINS or not self.front[0].isalnum()


def _is_collective(phrase: Phrase) -> bool:
    """Whether an adjective names all: "the blind", "for the elderly", "young and old"."""
    words, people = list(phrase.before), shape_of(phrase.term).people
    if people and phrase.next in _OF_SEVERAL:
        while len(words) > 1 and is_adjective(words[-1]):
            words.pop()  # "the wealthy Chinese who"
    while words and (words[-1].endswith("ly") or words[-1] in ("very", "most", "and", "or")):
        words.pop()
        while len(words) > 1 and words[-1] != "the" and is_adjective(words[-1]):
            words.pop()
    rest = _after_joined(phrase.after)
    following, front = rest[0] if rest else "", words[-2] if len(words) > 1 else ""
    place = _Collective(phrase, tuple(words), rest, people, following, front)
    return decide(COLLECTIVES, place, False)


def _is_joined(place: _Collective) -> bool:
    joined = place.phrase.last in JOINED or place.phrase.next in JOINED
    return joined and (_is_joined_to_opposite(place.phrase) or _is_joined_to_people(place.phrase))


def _is_of_body(place: _Collective) -> bool:
    named = place.phrase.has_capital and place.front in ("of", "for")
    return named and is_any("".join(place.words[-3:-2]), "bodies_named")


def _is_subject(place: _Collective) -> bool:
    """Whether a verb can follow that can be a noun too."""
    opens = place.begins() or is_one_of(place.front, "clause_starts") or _is_asked(place)
    counted = place.front == "of" and is_one_of(" ".join(place.words[-3:-2]), "quantities")
    return (opens or counted) and is_verb(place.next, "", bare=True)


def _is_asked(place: _Collective) -> bool:
    return place.front != "does" and is_one_of(place.front, "asking")


def _acts(place: _Collective) -> bool:
    clear = place.front in ("do", "don't") or is_one_of(place.next, "mostly_verbs")
    return _is_verb_phrase(place.rest[1:], clear or _is_asked(place))


COLLECTIVES: tuple[Rule[_Collective, bool], ...] = (
    Rule(_is_joined, True, "A show for young and «old» alike."),
    Rule(
        lambda p: p.phrase.last == "of" and p.people and len(p.phrase.before) > 1,
        lambda p: is_any(p.phrase.before[-2], "counted_in") and noun_phrase_ends(p.phrase.after),
        "There are millions of «Japanese».",
    ),
    Rule(lambda p: p.people and _are_some(p.phrase), True, "Many «Japanese» think so."),
    Rule(lambda p: p.words[-1:] != ("the",), False, "I bought some «French» fries."),
    Rule(
        lambda p: _describes_thing_too(p.phrase.after),
        False,
        "The «French» and the Greek constitution differ.",
    ),
    Rule(lambda p: _CODE.match(p.phrase.text, p.phrase.end), False, "Set the «blind» `flag`."),
    Rule(lambda p: _is_near_things(p.phrase), False, "Clean the «blind» slats."),
    Rule(lambda p: is_one_of(p.next, "nouns_of_things_after"), False, "The «old» ones broke."),
    Rule(
        lambda p: _is_plural_noun(p.next) or is_one_of(p.next, "other_colours"),
        False,
        "We learned the «old» dances.",
    ),
    Rule(_is_of_body, False, "She runs the Institute for the «Blind»."),
    Rule(
        lambda p: p.begins() and is_one_of(p.next, "singular_verbs"),
        False,
        "The «old» has to go.",
    ),
    Rule(
        lambda p: (
            noun_phrase_ends(p.rest) or _is_followed(p.rest) or is_one_of(p.next, "plural_verbs")
        ),
        True,
        "He cares for the «elderly».",
    ),
    Rule(_is_subject, _acts, "The «elderly» benefit most."),
)


def _are_some(phrase: Phrase) -> bool:
    """Whether several of a people are named: "many Japanese think"; not "some French fries"."""
    number = phrase.last.isdigit() or is_one_of(phrase.last, "numbers")
    you = phrase.last in ("you", "we")  # "you British always talk"
    if not (number or you or phrase.last in _SOME):
        return False
    rest = _after_joined(phrase.after)
    while you and len(rest) > 1 and is_one_of(rest[0], "predicate_adverbs"):
        rest = rest[1:]
    first = rest[0] if rest else ""
    if first in JOINED:
        return False
    if is_one_of(first, "plural_verbs"):
        return True
    if ends_phrase(first):
        return number or phrase.last in ("many", "few", "several")
    if first.endswith(("s", "ly")):
        return False
    return is_verb(first, "", bare=True) and _is_verb_phrase(rest[1:], True)


def _is_joined_to_opposite(phrase: Phrase) -> bool:
    """Whether its opposite is joined and no noun follows: "for young and old alike"."""
    kind, words, rest = shape_of(phrase.term).opposed, phrase.before, phrase.after
    if not kind:
        return False
    if len(words) > 1 and words[-1] in ("and", "or") and is_one_of(words[-2], kind):
        words = words[:-2]
    elif len(rest) > 1 and rest[0] in ("and", "or") and is_one_of(rest[1], kind):
        rest = rest[2:]
    else:
        return False
    while words and words[-1] in ("both", "either", "the"):
        words = words[:-1]
    while words and kind == "opposed_races" and is_one_of(words[-1], "predicate_adverbs"):
        words = words[:-1]  # "is rarely black and white"
    first, following = words[-1] if words else "", rest[0] if rest else ""
    if first in ("a", "an") or in_classes(first, "be", "be_contracted"):
        return False  # "a black and white checked tie", "is black and white"
    alike = following == "alike"
    if kind == "opposed_races" and first in ("in", "to") and not alike:
        return False  # "there in black and white"
    opens = ends_phrase(first) or is_person(first) or is_verb(first, "")
    return opens and (
        alike or noun_phrase_ends(rest, bare=True) or is_one_of(following, "plural_verbs")
    )


def _is_joined_to_people(phrase: Phrase) -> bool:
    """Whether it is joined to the plural of a people: "Spaniards, Portuguese and Italians pay"."""
    rest = _after_joined(phrase.after)
    if rest[:1] and rest[0] in JOINED:
        rest = rest[2:]
    others = (*phrase.before[-2:-1], *phrase.after[1:2])
    people = any(word.endswith("s") and is_people(word[:-1]) for word in others)
    return people and shape_of(phrase.term).people and noun_phrase_ends(rest, bare=True)


def _is_followed(after: Words) -> bool:
    """Whether an adverb or a participle of a person's action follows: "living in Texas"."""
    first, second = (*after[:2], "", "")[:2]
    if is_adverbial(first, second) or is_one_of(first, "doing_something"):
        return True
    if not is_one_of(first, "doing"):
        return False
    return ends_phrase(second) or is_one_of(second, "closed_if_final") or second.endswith("ly")


def _is_verb_phrase(after: Words, clear: bool) -> bool:
    """Whether the words after a verb that can be a noun make it one: "the elderly (work)"."""
    first, second = (*after[:2], "", "")[:2]
    if is_one_of(first, "objects") or first in ("themselves", "each"):
        return True
    if _is_determiner(first) and first != "that":  # "cost the state"
        return True
    if clear and ends_phrase(first) and first not in ("of", "please"):
        return True
    how = is_ly_adverb(first) or in_classes(first, "closed_if_final", "how_done")
    ended = ends_phrase(second) and not is_one_of(second, "finite_forms")
    return how and (ended or in_classes(second, "closed_if_final", "how_done"))


def _after_joined(words: Words) -> Words:
    """Return what follows the adjectives joined to the term: "the sick and frail"."""
    rest = words
    while len(rest) > 1 and rest[0] in JOINED and is_adjective(rest[1]):
        rest = rest[2:]
    return rest


def _is_plural_noun(word: str) -> bool:
    """Whether a verb in -s has to be a noun, as its subject is plural: "the old dances"."""
    if not word.endswith("s") or word.endswith(("ss", "us")) or ends_phrase(word):
        return False
    forms = singulars(word)[1:]
    return any(in_classes(form, "base_verbs", "person_verbs", "noun_verbs") for form in forms)


def _are_people(phrase: Phrase) -> bool:
    """Whether a plural names people: "most whites", "many seniors"; not "egg whites"."""
    if "eyes" in phrase.before or "eyes" in phrase.after or _is_near_things(phrase):
        return False
    first = phrase.last
    if is_one_of(first, "school_words"):
        return False
    opens = ends_phrase(first) or is_modifier(first) or is_verb(first, "")
    return (opens or is_one_of(first, "quantities")) and (
        noun_phrase_ends(phrase.after)
        or _is_followed(phrase.after)
        or is_any(phrase.next, "plural_verbs")
        or is_one_of(phrase.next, "verbs_of_several")
        or _is_share(phrase)
        or (not is_one_of(first, "singular_determiners") and is_verb(phrase.next, "", bare=True))
    )


def _is_share(phrase: Phrase) -> bool:
    """Whether a share or an age follows: "whites 60 percent", "whites 65 and over"."""
    if not phrase.next[:1].isdigit():
        return False
    unit, third = (*phrase.after[1:3], "", "")[:2]
    if unit == "+" or (unit in ("and", "or") and is_one_of(third, "age_bounds")):
        return True
    return unit in _SHARES or (ends_phrase(unit) and not _SHARES.isdisjoint(phrase.before))


def _is_near_things(phrase: Phrase) -> bool:
    return any(is_one_of(word, "no_people_near") for word in (*phrase.before, *phrase.after))


def _is_insult(phrase: Phrase, plural: bool) -> bool:
    """Whether a slur that is a thing elsewhere names a person: "they hate dykes"."""
    near = (*phrase.before[-_WINDOW:], *phrase.after[:_WINDOW])
    if any(is_one_of(word, "near_harmless_uses") for word in near):
        return False
    if plural:
        owned = in_classes(phrase.next, "determiners", "owners")  # "the tax cripples the trade"
        verb = owned and phrase.last not in ("", "the")
        return not verb and noun_phrase_ends(phrase.after, bare=True)
    if is_group_noun(phrase):
        return True
    addressed = not _ADDRESSED.isdisjoint(phrase.before[-3:])
    return addressed and noun_phrase_ends(phrase.after) and not _is_determiner(phrase.next)
