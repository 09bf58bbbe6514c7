"""Whether a noun names persons of a group: "a Muslim", "the old", "most whites", "the women"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.collectives import (
    describes_thing_too,
    is_collective,
    is_followed,
    is_near_things,
)
from pytest_llmfair.lexicons.english.context import (
    NEAR,
    Phrase,
    low,
    opens_sentence,
    phrase_at,
    word_after,
    word_before,
)
from pytest_llmfair.lexicons.english.noun_phrases import is_hyphenated
from pytest_llmfair.lexicons.english.proper_names import is_in_name, is_in_title
from pytest_llmfair.lexicons.english.words import (
    JOINS,
    LETTERS,
    ends_phrase,
    in_classes,
    is_age_noun,
    is_any,
    is_modifier,
    is_one_of,
    is_people,
    is_person,
    is_plural,
    is_verb,
    noun_phrase_ends,
    singulars,
    without_end,
)
from pytest_llmfair.lexicons.grammar import Verdict

_WINDOW = 7
# "The French", "the Irish", "the Chinese" have no plural in -s.
_PEOPLES_IN = ("ese", "nch", "tch", "sh", "ss")
_SHARES = frozenset(("%", "percent", "per"))
_POSSESSIVE = ("my", "your", "his", "her", "our", "their", "its", "whose")
_ADDRESSED = frozenset(("you", "u", "ya", "fucking", "bloody", "damn", "goddamn"))
# Nouns that name no person: exclamations ("Man, it hurts"), verbs ("to man the desk").
_EXCLAIMED = ("man", "boy", "dude", "girl")
_COMMA = re.compile(r",[^\S\n]+([^\s,.!?;:]+)")
_COMMA_BEFORE = re.compile(rf"(?:({LETTERS})[\"'\u201d\u2019]?)?,[^\S\n]+\Z")
_END = re.compile(r"[,.!?;]|\s*\Z|\s*\n")
_OPENED_QUOTE = re.compile(r"[\s(][\"'\u201c\u2018]\Z")
_LAST_WORD = re.compile(r"[.!?]*[\"'\u201d\u2019]?\s*(?:\Z|\n)")
_FRONT = 16
# An exclamation follows a mark, an opening quote or a word such as "but", "oh".
_FREE = re.compile(
    r"(?:\A|\n|[^\w\s'\u2019/-]\s*|(?:\A|[\s(])['\u2018]"
    r"|\b(?:but|so|cause|cuz|because|well|oh|yeah)\s+)\Z",
    re.IGNORECASE,
)
_GREETED = re.compile(
    r"(?:\A|[^\w\s'\u2019-]\s*|\n\s*)(?:hey|hi|yo|hello|thanks|thanx|thx|thank\syou|nah|nope|yeah|yep"
    r"|ok|okay|sorry|cheers|congrats|damn|dang|wow|ugh|c['\u2019]mon|come\son)\s+\Z",
    re.IGNORECASE,
)
_SUBJECT = "I|it|he|she|xe|we|you|they|this|that|there"
# "boy, did it drag", "boy does the sound clunk", "Man am I glad", "man what a day".
_INVERTED = re.compile(
    r",?\s(?:(?:am|are|is|was|were|isn't|wasn't|ain't|can|could|will|would|have|has|had|did|didn't"
    rf"|do|does|don't|doesn't)\s(?:{_SUBJECT})|what\san?)\b"
    r"|,\s(?:is|are|was|were|has|have|had|did|do|does)\s(?:the|these|those|my|your|his|her|our)\b"
)
# "Man I love this song"
_CLAUSE = re.compile(
    r"\s(?:I|we|they|you|it|he|she|xe|this|that|there|how|what)\b(?!\s(?:and|or)\b)"
)
_GOES_ON = re.compile(r"\s(?:in|at|on|of|from|with|behind|near|by|who|whose|that)\b")
_OBJECTS = {
    "man": ("up",),
    "husband": ("my", "our", "your", "their", "its", "resources", "strength"),
}


def counts(text: str, start: int, end: int) -> Verdict:
    """Return whether the noun names persons here."""
    doubt = _doubt(text, start, end)
    return Verdict(_counts(text, start, end), not doubt, doubt)


def _doubt(text: str, start: int, end: int) -> str:
    """Return the reason the other answer is possible too; "" if it is not."""
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
    return noun or is_collective(phrase)


def _is_strict(word: str, last: str, capital: bool) -> bool:
    """Whether the noun can also be an adjective or a thing, and so needs a determiner."""
    if last.endswith(("man", "woman")) and is_person(last):
        return False
    if is_people(last) or is_age_noun(word) or word.endswith((" old", " race")):
        return True
    if capital and last.endswith(("an", "ic")) and not is_person(last):  # "Sri Lankan"
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
    if _is_verb_here(text, start, end) or _is_exclamation(text, start, end):
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
    words = without_end(phrase.before, _is_before_noun)
    first = words[-1] if words else ""
    if not _is_determiner(first) or is_one_of(first, "plural_determiners"):
        return False
    if describes_thing_too(phrase.after):
        return False
    if is_people(phrase.word) and first in _POSSESSIVE:
        return False
    # "a Pole and a Dane share"
    bare = "and" in phrase.before[-3:] or is_one_of(phrase.word, "peoples_only_nouns")
    bare = bare or is_one_of(" ".join(words[-2:-1]), "asking")  # "would a Dane feel"
    if is_one_of(first, "singular_determiners") and phrase.next.endswith("s"):
        # "a Sikh hosts a dinner", "needs help"
        needed = any(is_one_of(form, "before_to") for form in singulars(phrase.next))
        bare = bare or needed or ends_phrase(" ".join(phrase.after[1:2]))
    return noun_phrase_ends(phrase.after, bare=bare) or is_followed(phrase.after)


def _is_before_noun(word: str) -> bool:
    modifies = word == "out" or is_modifier(word) or word.endswith("est")
    return modifies and not _is_determiner(word)


def _is_determiner(word: str) -> bool:
    return is_one_of(word, "determiners")


def _are_people(phrase: Phrase) -> bool:
    """Whether a plural names people: "most whites", "many seniors"; not "egg whites"."""
    if "eyes" in phrase.before or "eyes" in phrase.after or is_near_things(phrase):
        return False
    first = phrase.last
    if is_one_of(first, "school_words"):
        return False
    opens = ends_phrase(first) or is_modifier(first) or is_verb(first, "")
    return (opens or is_one_of(first, "quantities")) and (
        noun_phrase_ends(phrase.after)
        or is_followed(phrase.after)
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


def _is_exclamation(text: str, start: int, end: int) -> bool:
    """Whether it is an exclamation: "Man what a day", "but boy, did it drag", "hey man"."""
    word = text[start:end].lower()
    if word not in _EXCLAIMED:
        return False
    near = max(0, start - _FRONT)
    if word != "boy" and word != "girl" and _GREETED.search(text, near, start):
        return _GOES_ON.match(text, end) is None
    if _is_between_commas(text, start, end):
        return True
    if word == "girl" or _FREE.search(text, near, start) is None:
        return False
    return bool(_INVERTED.match(text, end) or (word != "boy" and _CLAUSE.match(text, end)))


def _is_between_commas(text: str, start: int, end: int) -> bool:
    after = _COMMA.match(text, end)
    following = low(after[1]) if after else ""
    if following[:1].isdigit() or is_one_of(following, "person_nouns"):
        return False
    if opens_sentence(text, start) or _OPENED_QUOTE.search(text, max(0, start - 2), start):
        return after is not None
    before = _COMMA_BEFORE.search(text, max(0, start - NEAR), start)
    if before is None or not _END.match(text, end):
        return False
    if _LAST_WORD.match(text, end) and low(text[start:end]) in ("girl", "boy"):
        return before[1] is None or len(before[1]) < 3  # "Oh, boy!"; not "Come here, boy."
    return before[1] is None or not is_one_of(low(before[1]), "person_nouns")


def _is_verb_here(text: str, start: int, end: int) -> bool:
    """Whether it is a verb with an object: "to man the desk", "he grooms the horses"."""
    object_ = low(word_after(text, end))
    if not object_:
        return False
    word = low(word_before(text, start)[0])
    if object_ in _OBJECTS.get(text[start:end].lower(), ()):
        return is_one_of(word, "before_verbs") or opens_sentence(text, start)
    if not is_one_of(object_, "articles"):
        return False
    if not word:
        return opens_sentence(text, start)
    if is_one_of(word, "before_verbs") or (word in ("he", "she") and text[end - 1] == "s"):
        return True
    return is_plural(word) and is_person(word)  # "volunteers man the bar"
