"""Whether a number or a decade is a person's age: "she is 34", "I (27F)", "in her seventies"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.context import (
    NEAR,
    Phrase,
    context_of,
    low,
    opens_sentence,
    phrase_at,
    word_before,
)
from pytest_llmfair.lexicons.english.labels import is_value
from pytest_llmfair.lexicons.english.predicates import is_predicate
from pytest_llmfair.lexicons.english.words import (
    JOINED,
    LETTERS,
    in_classes,
    is_modifier,
    is_one_of,
    is_person,
    is_person_compound,
    is_plural,
    without_end,
)
from pytest_llmfair.lexicons.grammar import Verdict

_FAR = 80
_GAP = r"[^\S\n]+"
_ADVERBS = rf"(?:(?:now|only|just|already|almost|nearly|about|both|still){_GAP})?"
# Verbs before an age, of one person only: "we are 34" counts people.
_AGE_VERB = re.compile(
    rf"(?:\b(?:am|is|was|turn|turns|turned|turning|you{_GAP}(?:are|were)|(?:are|were){_GAP}both"
    rf"|i{_GAP}?m|(?:will|to){_GAP}be)|['\u2019](?:m|s|ll{_GAP}be)|you['\u2019]?re)"
    rf"{_GAP}{_ADVERBS}\Z",
    re.IGNORECASE,
)
# What may follow an age; a unit, a score or a second number shows another quantity.
_AFTER_AGE = re.compile(
    rf"[\"'\u201d)]?(?:\Z|\n|[;!?)]|\.(?!\d)|,(?!\d)|[\u2013\u2014]"
    rf"|{_GAP}[\u2013\u2014-]{_GAP}|{_GAP}\()"
    rf"|{_GAP}(?:and|but|so|or|when|while|now|today|already|because|who|yesterday|tomorrow"
    rf"|with{_GAP}(?:a|an|no|two|three)|at{_GAP}the{_GAP}time"
    rf"|(?:this|next|last){_GAP}(?:year|month|week|spring|summer|autumn|winter|fall)"
    rf"|(?:in|on){_GAP}(?:\d\d?{_GAP})?[A-Z][a-z]+)\b(?!{_GAP}(?:\d|counting\b))"
)
_TURN = ("turn", "turns", "turned", "turning")
_SET_OFF = re.compile(rf"({LETTERS}),{_GAP}\Z")
_SET_OFF_AFTER = re.compile(rf"\Z|\n|[.;)](?!\d)|,(?!{_GAP}?\d)")
_BRACKETED = re.compile(rf"({LETTERS}){_GAP}\(\Z")
_BRACKETED_AFTER = re.compile(rf"\)|,{_GAP}?[^\W\d_]")
_PARTS = (":", ";", ",", "(", "\n")
_WITH_SEX = re.compile(rf"\((?:[mf]|(?:fe)?male|(?:wo)?man|nb),{_GAP}\Z", re.IGNORECASE)
_AT = re.compile(r"(?:\A|\n|[.!?][\"'\u201d]?[^\S\n])[\"'\u201c]?At[^\S\n]\Z")
_AT_AGE = re.compile(rf"\bat{_GAP}(?:the{_GAP})?age{_GAP}(?:of{_GAP})?\Z", re.IGNORECASE)
_PERSON_AFTER = re.compile(rf",{_GAP}(?:I|he|she|you|(?:my|his|her|our|their){_GAP}({LETTERS}))\b")
_PERSON_BEFORE = re.compile(rf"({LETTERS})(,?){_GAP}\Z")
_OWNER = r"(?:my|your|his|her|their|our|xyr)"
_DECADE_BEFORE = re.compile(
    rf"\b(?:in|into|by|since|through|throughout|during|from){_GAP}{_OWNER}{_GAP}(?:very{_GAP})?"
    rf"(?:(?:early|mid|middle|late|later)(?:{_GAP}|-))?\Z",
    re.IGNORECASE,
)
# "In their twenties and thirties" is a range, "in their 80s heyday" a time.
_DECADE_AFTER = re.compile(
    rf"(?:,|[^\S\n]*(?:[-\u2013/]|and|or|to|through|until|into))[^\S\n]*(?:{_OWNER}{_GAP})?"
    rf"(?:(?:early|mid|late){_GAP}|mid-)?(?:\d0s|thirties|\w{{3,5}}ties)\b"
    rf"|{_GAP}(?:heyday|prime|hits?|sound|style|look)\b",
    re.IGNORECASE,
)
_RANGE_JOIN = r"[^\S\n]*(?:[-\u2013\u2014/]|to|and|or|until|through)[^\S\n]*"
_RANGE_BEFORE = re.compile(rf"\d-?{_RANGE_JOIN}\Z")
_RANGE_AFTER = re.compile(
    rf"{_RANGE_JOIN}\d|[^\S\n]*(?:\+|(?:and|or){_GAP}(?:over|above|older|up|under|younger)\b)"
)
_NEXT_WORD = re.compile(rf"[,;]?{_GAP}({LETTERS})")


def counts(text: str, start: int, end: int) -> Verdict:
    """Return whether a number, a decade or "aged 70" is a person's age here."""
    return Verdict(_counts(text, start, end))


def _counts(text: str, start: int, end: int) -> bool:
    word = text[start:end]
    if word.isdigit():
        return _is_years(text, start, end) or is_value(text, start, end)
    if word[:1].isdigit() and word[-1] in "FMfm":
        return _is_age_and_sex(text, start, end)
    if word.lower().startswith("aged"):
        return _is_after_person(text, start)
    if word.lower().endswith(("ties", "0s")):
        decade = _DECADE_BEFORE.search(text, max(0, start - NEAR), start)
        return decade is not None and _DECADE_AFTER.match(text, end) is None
    return is_value(text, start, end)


def is_in_range(text: str, start: int, end: int) -> bool:
    """Whether a number is one end of a range: "aged 18 to 24", "18- to 24-year-olds"."""
    if not (text[start].isdigit() or text[end - 1].isdigit()):
        return False
    before = _RANGE_BEFORE.search(text, max(0, start - NEAR), start)
    return before is not None or _RANGE_AFTER.match(text, end) is not None


def _is_years(text: str, start: int, end: int) -> bool:
    """Whether a bare number describes a person."""
    before, near = text[max(0, start - 2) : start], max(0, start - _FAR)
    if not before or before[-1] not in " (":
        return False  # the usual case, and fast
    if before == ", " and _SET_OFF_AFTER.match(text, end):
        known = _WITH_SEX.search(text, near, start) is not None  # "a patient (f, 81)"
        return known or _is_set_off(text, start, _SET_OFF)
    if before[-1] == "(":
        bracketed = _BRACKETED_AFTER.match(text, end) is not None
        return bracketed and _is_set_off(text, start, _BRACKETED)
    front = text[max(0, start - 4) : start - 1]  # regexes run where a word can begin them
    if front.endswith("At") and _AT.search(text, near, start):
        trailing = _PERSON_AFTER.match(text, end)
        return trailing is not None and (trailing[1] is None or is_person(trailing[1].lower()))
    if front.lower().endswith(("age", " of")) and _AT_AGE.search(text, near, start):
        phrase = phrase_at(text, start, end)
        around = (*phrase.before, *phrase.after)
        # "Citizens may vote at the age of 18"
        modal = any(is_one_of(word, "modals") for word in around)
        return not modal and any(is_one_of(w, "person_subjects") or is_person(w) for w in around)
    if not (_AFTER_AGE.match(text, end) and _AGE_VERB.search(text, near, start)):
        return False
    return _has_person_subject(phrase_at(text, start, end))


def _has_person_subject(phrase: Phrase) -> bool:
    """Whether the subject of "is" or "turned" is a person; not a town with its score."""
    if any(is_one_of(word, "superlatives") for word in phrase.before):
        return False  # "the oldest was 64": another age would not be the oldest's
    words = without_end(phrase.before, lambda word: is_one_of(word, "predicate_adverbs"))
    if words and words[-1] in _TURN:  # "she is turning", "she turned": read as "she is"
        words.pop()
        if not (words and in_classes(words[-1], "be", "be_contracted")):
            words.append("is")
    raw = (*phrase.raw[: len(words)], *phrase.raw[len(phrase.before) :])
    alone = len(words) == 2 or (len(words) > 2 and words[-3] in JOINED)
    if alone and in_classes(words[-2], "also_place", "countries", "regions"):
        return False
    return is_predicate(phrase._replace(raw=raw), tuple(words), phrase.after)


def _is_set_off(text: str, start: int, pattern: re.Pattern[str]) -> bool:
    """Whether exactly one person comes before: "a tall nurse, 34,", "Ann (24)"."""
    found = pattern.search(text, max(0, start - _FAR), start)
    if found is None:
        return False
    word = found[1].lower()
    near = max(0, start - _FAR)
    begin = max(text.rfind(mark, near, found.start(1)) + 1 for mark in _PARTS)
    reach = found.end(1) - max(near, begin)
    words = [w for w in context_of(text).before(found.end(1), reach) if w[0].isalpha()]
    front = words[-2].lower() if len(words) > 1 else ""
    if found[1][0].isupper() and not is_person(word):
        names = _names(words)
        if len(names) > 1 and pattern is _BRACKETED:
            return False  # what the player scored
        given = names[0].lower() if names else ""
        return is_one_of(given, "first_names")
    if is_plural(word) or not (is_person(word) or is_person_compound(front, word)):
        return False
    rest = [word.lower() for word in words[:-1]]
    while rest and not is_one_of(rest[-1], "determiners") and is_modifier(rest[-1]):
        rest.pop()
    return bool(rest) and is_one_of(rest[-1], "determiners")  # "the other driver"


def _names(words: list[str]) -> list[str]:
    """Return the capitalised words at the end, if no title precedes them."""
    at = len(words)
    while at and words[at - 1][0].isupper():
        at -= 1
    names = words[at:]
    kinds = ("titles", "abbreviations")
    while len(names) > 1 and in_classes(names[0].lower(), *kinds):
        names = names[1:]
    return names


def _is_after_person(text: str, start: int) -> bool:
    """Whether a person comes right before: "a woman aged 70", "Ann, aged 70,"."""
    before = _PERSON_BEFORE.search(text, max(0, start - NEAR), start)
    if before is None:
        return False
    word = low(before[1])
    known = is_person(word) or is_one_of(word, "indefinite") or word in ("those", "people")
    return known or (bool(before[2]) and before[1][0].isupper())


def _is_age_and_sex(text: str, start: int, end: int) -> bool:
    """Whether "27F" is a person's age and sex: "I (27F)", "62F, widow"; not "It was 62F"."""
    if not text[end - 1].isupper():
        return False
    before, trailing = text[start - 1 : start], text[end : end + 1]
    if before and before in "([" and trailing and trailing in ")],;/":
        front = text[max(0, start - NEAR) : start - 1].rstrip() + " "
        written, _ = word_before(front, len(front))
        word = low(written)
        known = is_person(word) or is_one_of(word, "aged_persons")  # "my bf (25M)"
        return not written or written[0].isupper() or known
    if opens_sentence(text, start):
        following = _NEXT_WORD.match(text, end)
        word = low(following[1]) if following else ""
        return bool(word) and (is_person(word) or is_modifier(word) or is_one_of(word, "clinical"))
    return False
