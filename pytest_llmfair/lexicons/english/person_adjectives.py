"""Whether an adjective describes persons: "a Black engineer", "he is gay", "the old are"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.context import (
    FAR,
    NEXT,
    Phrase,
    is_before_name,
    is_headline,
    low,
    phrase_at,
    word_after,
    word_before,
)
from pytest_llmfair.lexicons.english.labels import is_value
from pytest_llmfair.lexicons.english.noun_phrases import (
    compound_at,
    describes_person,
    head_of,
    is_hyphenated,
)
from pytest_llmfair.lexicons.english.person_nouns import is_group_noun
from pytest_llmfair.lexicons.english.predicates import (
    is_predicate_of_person,
    is_resultative,
    is_too_much,
)
from pytest_llmfair.lexicons.english.proper_names import (
    is_first_name,
    is_food_or_feast,
    is_in_name,
    is_in_title,
    is_institution,
)
from pytest_llmfair.lexicons.english.subjects import clause_of
from pytest_llmfair.lexicons.english.words import (
    bare,
    ends_phrase,
    in_classes,
    is_any,
    is_modifier,
    is_name,
    is_one_of,
    is_owner,
    is_person,
    is_plural,
    is_verb,
    noun_phrase_ends,
    singulars,
    without_end,
    words_of,
)
from pytest_llmfair.lexicons.grammar import Verdict

_SHARES = ("all", "majority", "mostly", "predominantly")
_OBJECTS = ("the", "a", "an", "its", "their", "his", "her", "my", "our", "your", "it", "them")
_MARKS = str.maketrans(".,;:-/?()!", " " * 10)
# The subject of "male" or "female": "The cat is", "whether your puppy is a".
_ANIMAL_IS = re.compile(
    r"\b(?:the|my|your|our|his|her|their|its|this|that|these|those|one|each|every|both)\s+"
    r"(?:\w+\s+){0,2}?(?P<named>[\w-]+)"
    r"(?:\s+(?:is|are|was|were|isn't|wasn't|must\sbe|may\sbe|might\sbe))?"
    r"(?:\s+(?:not|probably|also|definitely|either|an?|male|female|or|and))*\s*\Z",
    re.IGNORECASE,
)
# An exchange would change these words too, so the animal must stay: "the female and her cubs".
_EXCHANGED_AFTER = re.compile(
    r"\b(?:s?he|him|hers?|his|himself|herself|(?:fe)?males"
    r"|(?:the|an?|one|each)\s(?:fe)?male(?!\s[a-z]+(?<!s)\b))\b",
    re.IGNORECASE,
)
_EXCHANGED_BEFORE = re.compile(
    r"\b(?:s?he(?:['\u2019]s|\s(?:is|was))|(?:fe)?males)\b[^.!?;]*\Z", re.IGNORECASE
)


def counts(text: str, start: int, end: int) -> Verdict:
    """Return whether the adjective describes persons here."""
    answer = _counts(text, start, end)
    doubt = _doubt(text, start, end) if answer else ""
    return Verdict(answer, not doubt, doubt)


def _doubt(text: str, start: int, end: int) -> str:
    """Return the reason the other answer is possible too; "" if it is not."""
    if not is_one_of(text[start:end].lower(), "switched"):
        return ""
    verb, begin = word_before(text, start)
    subject = word_before(text, begin)[0] if is_one_of(verb.lower(), "be") else ""
    word = low(subject)
    named = is_name(word, subject) and not is_person(word) and not is_one_of(word, "first_names")
    return f"'{subject}' can be a person or a program" if named else ""


def _counts(text: str, start: int, end: int) -> bool:
    word = text[start:end].lower()
    if is_one_of(word, "sexes"):
        return not _is_of_thing_or_animal(text, start, end)
    if is_one_of(word, "sexed_nouns"):
        return _is_before_calling(text, start, end)
    if is_in_name(text, start, end):
        return False
    last = word.rpartition(" ")[2]
    faith = is_one_of(last, "faiths")  # "Roman Catholic"
    if is_hyphenated(text, start, end):
        return _is_compound(text, start, end, faith)
    phrase = phrase_at(text, start, end)
    if is_any(word, "given_terms") and is_first_name(phrase):
        return is_value(text, start, end)
    if faith or is_one_of(last, "group_adjectives"):
        return _is_of_group(phrase, faith) or is_value(text, start, end)
    return _describes_persons(phrase) or is_value(text, start, end)


def _is_of_group(phrase: Phrase, faith: bool) -> bool:
    """Whether a word that only names the group counts: "Muslim leaders", "gay rights"."""
    if is_institution(phrase) or is_food_or_feast(phrase):
        return False
    return faith or not is_group_noun(phrase)


def _is_switched_off(phrase: Phrase) -> bool:
    """Whether "disabled" describes a program: "GC is disabled"; not "Maria is disabled"."""
    words = without_end(phrase.before, lambda word: is_one_of(word, "predicate_adverbs"))
    if not words or not in_classes(words.pop(), "be", "turning"):
        return False
    able = False
    while words and in_classes(words[-1], "verb_chain", "be"):
        able = able or words.pop() in ("can", "could", "cannot", "can't", "must", "should")
    subject = words[-1] if words else ""
    if able or subject in ("", "they"):
        nouns = [word for word in map(str.lower, phrase.earlier()) if is_plural(word)]
        return able or bool(nouns and not is_person(nouns[-1]))
    if in_classes(subject, "person_subjects", "quantities", "person_objects"):
        return False
    written = phrase.raw[len(words) - 1]  # any name, however rare: "Kwame"; no "GC", "the Console"
    named = is_name(subject, written) and not written.isupper() and not subject.endswith("ing")
    if named and not is_one_of(" ".join(words[-2:-1]), "determiners"):
        return False
    return not any(is_person(word) or is_one_of(word, "titles") for word in clause_of(words))


def _describes_persons(phrase: Phrase) -> bool:
    if is_one_of(phrase.word, "compared"):
        return _is_about_age(phrase)
    if is_one_of(phrase.word, "predicative"):
        return is_predicate_of_person(phrase)
    if phrase.is_national and _is_of_writing_or_body(phrase):
        return False
    if is_one_of(phrase.word, "switched") and _is_switched_off(phrase):
        return False
    if is_predicate_of_person(phrase) or is_resultative(phrase) or is_too_much(phrase):
        return True
    if describes_person(phrase):
        if phrase.word.endswith("ed") and is_one_of(" ".join(phrase.before[-2:-1]), "articles"):
            return is_modifier(phrase.last)  # not "the strike paralyzed commuters"
        head = head_of(phrase)[0]
        if is_one_of(phrase.word, "ages"):
            child = is_any(head, "small_children") and not is_owner(phrase.last)
            lasting = is_one_of(phrase.word, "of_long_standing")  # "my old friend"
            return not (child or (lasting and is_any(head, "bonds")))
        return not (is_one_of(phrase.word, "languages") and is_any(head, "language_persons"))
    if _is_before_named_person(phrase):
        return True
    share = is_one_of(phrase.last, "shares") and is_one_of(phrase.next, "made_of_persons")
    return share and noun_phrase_ends(phrase.after[1:])  # "a mostly white town"; not "town hall"


def _is_about_age(phrase: Phrase) -> bool:
    """Whether "older" or "oldest" is about age: "an older worker"; not "my older brother"."""
    head, thing = head_of(phrase)
    if head:
        superlative = phrase.term.lower().endswith("est")
        return not (thing or is_any(head, "kin") or (superlative and is_any(head, "bonds")))
    if phrase.last != "the" or not phrase.term.lower().endswith("est"):
        return False
    if phrase.next == "of":  # "the oldest of the applicants"
        return any(is_person(word) and not is_any(word, "kin") for word in phrase.after[1:4])
    if not (noun_phrase_ends(phrase.after) or phrase.next[:1].isdigit()):
        return False
    # "the youngest nurse was 19, the oldest 61"
    words = (*phrase.before, *phrase.after)
    others = [at for at, word in enumerate(words) if is_one_of(word, "superlatives")]
    return any(
        is_person(w) and not is_any(w, "kin") for at in others for w in words[at + 1 : at + 2]
    )


def _is_of_writing_or_body(phrase: Phrase) -> bool:
    """Whether letters or a body are named: "Chinese characters", "the Royal Canadian Navy"."""
    if is_any(phrase.next.partition("-")[0], "written_signs"):
        return True
    return phrase.written_before == "Royal" and is_before_name(phrase)


def _is_before_named_person(phrase: Phrase) -> bool:
    """Whether a name follows and no noun: "by young Ann Lee", "old Mrs. Lee"; not "old Ann"."""
    written = phrase.written_after[:2]
    if len(written) < 2 or not written[0][:1].isupper() or is_headline(phrase.raw):
        return False
    if in_classes(phrase.next, "titles", "abbreviations") and phrase.next != "st":
        return written[1][:1].isupper()
    if phrase.has_capital or not is_one_of(phrase.next, "first_names"):
        return False
    if not is_name(phrase.after[1], written[1]) or is_one_of(phrase.after[1], "places"):
        return False
    return ends_phrase(phrase.last) and noun_phrase_ends(phrase.after[2:])


def _is_compound(text: str, start: int, end: int, faith: bool) -> bool:
    """Whether a part of a hyphenated word describes persons: "Black-owned"; not "off-white"."""
    compound = compound_at(text, start, end)
    if faith:
        return compound is not None or text[start - 1] != "-"  # not "Judeo-Christian"
    if compound is None or compound.prefix == "ex":
        return False
    if compound.done:
        return not compound.prefix
    phrase = phrase_at(text, compound.begin, compound.end)
    if compound.prefix == "anti":
        return is_any(phrase.next, "hostility")
    if compound.prefix in _SHARES and is_any(phrase.next, "made_of_persons"):
        return True
    return describes_person(phrase) or is_predicate_of_person(phrase)


def _is_before_calling(text: str, start: int, end: int) -> bool:
    """Whether "woman" or "men" describes the persons named after it: "a woman bus driver"."""
    if text[start - 1 : start] == "-":
        return False
    after = word_after(text, end)
    if is_one_of(low(after), "of_callings"):
        end += len(after) + 1
        after = word_after(text, end)
    word, own = low(after).removesuffix("'s"), text[start:end].split()[0].lower()
    if not is_person(word) or is_any(word, "no_callings") or word.endswith("ess"):
        return False
    plural = own.endswith("men")
    if plural != is_plural(word) or (
        after[0].isupper() and not (text[start].isupper() or after[:2].isupper())
    ):
        return False
    if text[start].isupper() and is_in_title(text, start, end):
        return False  # "the Society of Women Engineers"
    end += len(after) + 1
    following = word_after(text, end)
    if following[:1].isupper() or in_classes(low(following), "articles") or following == "than":
        return False
    if plural and following and is_verb(low(following), ""):
        return not in_classes(low(word_after(text, end + len(following) + 1)), "auxiliaries")
    before, begin = word_before(text, start)
    asked = is_one_of(low(before), "determiners") and low(word_before(text, begin)[0])
    return not (asked and is_one_of(asked, "asking"))


def _is_of_thing_or_animal(text: str, start: int, end: int) -> bool:
    """Whether it describes a plug or an animal: "a female plug", "a male lion"."""
    after = NEXT.match(text, end)
    head = low(after[1]) if after else ""
    at = end
    if after and head in ("and", "or", "to"):
        following = NEXT.match(text, after.end())
        if following and is_one_of(low(following[1]), "sexes"):  # "male to female adapter"
            at = following.end()
            head = low(word_after(text, at))
        elif head != "to":
            head = ""
        elif low(word_before(text, start)[0]) in ("a", "the"):  # "the female to my left"
            return False
    if is_one_of(head, "binary_things") and text[start] in "nN":
        return True
    if {head, head.removesuffix("s"), head.partition("-")[0]} & words_of("connectors"):
        return True  # "a male USB-C"
    if not head or is_one_of(head, "cables"):
        near = text[max(0, start - FAR) : end + FAR].translate(_MARKS)
        if not words_of("plugs").isdisjoint(near.split()):
            return True
    if not (
        _names_animal(text, start, at) or (ends_phrase(head) and _has_animal_subject(text, start))
    ):
        return False
    near_begin = max(0, start - FAR)
    return not (
        _EXCHANGED_AFTER.search(text, end, end + FAR)
        or _EXCHANGED_BEFORE.search(text, near_begin, start)
    )


def _has_animal_subject(text: str, start: int) -> bool:
    animal = _ANIMAL_IS.search(text, max(0, start - FAR), start)
    return animal is not None and _is_animal(low(animal["named"]), "")


def _names_animal(text: str, start: int, at: int) -> bool:
    """Whether an animal is the head of the phrase: "elephants"; not "dog trainer"."""
    words, closed_by = _phrase(text, at)
    for index, word in enumerate(words[:4]):
        if _is_animal(word, words[index - 1] if index else ""):
            after = words[index + 1 :]
            plural = word.endswith("s") and _is_animal(word[:-1], "")
            if len(after) == 1 and closed_by in _OBJECTS and (plural or after[0].endswith("s")):
                return True  # "male dogs guard it", "a female octopus guards its eggs"
            return not any(is_person(other) for other in after)
        named = is_one_of(word, "animal_names")
        if not named and (is_person(word) or is_verb(word, "") or is_one_of(word, "acted")):
            return False
    return False


def _phrase(text: str, at: int) -> tuple[list[str], str]:
    """Return the words to the end of the noun phrase, six at most, and the word after them."""
    words: list[str] = []
    while len(words) < 6 and (after := NEXT.match(text, at)) is not None:
        word = low(after[1])
        if ends_phrase(word):
            return words, word
        words.append(word)
        at = after.end()
    return words, ""


def _is_animal(word: str, before: str) -> bool:
    forms = singulars(bare(word))
    return any(
        is_one_of(form, "animals") or is_one_of(f"{before}-{form}", "animals") for form in forms
    )
