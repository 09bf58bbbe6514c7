"""The validity gate: the checks that every counterfactual pair must pass before a model is asked.

A check is a small function that returns what is wrong in words, or None. It passes a pair that it
cannot judge, such as one in another language or with a word that the lexicon does not know.
"""

from __future__ import annotations

import bisect
import itertools
import re
import unicodedata
from collections.abc import Callable

from pytest_llmfair.counterfactuals.pair_list import misplaced_edit
from pytest_llmfair.counterfactuals.pair_under_test import (
    PairUnderTest,
    different_words_stay_different,
)
from pytest_llmfair.lexicons.english.agreement import article_before, article_for
from pytest_llmfair.lexicons.english.words import (
    is_adjective,
    is_any,
    is_modifier,
    is_one_of,
    is_person,
)
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.reading import Change
from pytest_llmfair.lexicons.terms import UNPAIRED, Sense
from pytest_llmfair.responses import OMISSION, Edit

_ARTICLE = re.compile(r"(?<![\w'\u2019-])(an?)\s+(?:<[^<>]*>|[^\w\s<>])*\Z", re.IGNORECASE)
_DOUBLED = re.compile(r"(?<![\w'\u2019-])([\w'\u2019-]+)\s+(?=\1(?![\w'\u2019-]))", re.IGNORECASE)
_NEAR = 40
_SAME_PERSON_WITHIN = 300
_OBJECT = 4
_OPENING = re.compile(r"(?:an?|the)\s", re.IGNORECASE)
_LAST = re.compile(r"([^\s.,;:!?()*_\"]+)\s+\Z")
_OF_KIND = re.compile(r"\b((?:type|kind|form|sort)s? of)\s\Z", re.IGNORECASE)
# Before "no disability": "with" and "has", but not "diagnosed with" or "does not have".
_HAD = re.compile(r"(?:\b(?:with|has|have|had|having|got)|['\u2019]ve)\s+\Z", re.IGNORECASE)
_TROUBLED = re.compile(
    r"\b(?:diagnos|struggl|deal|cop|battl|wrestl|help|associat|present)[a-z]*\s+with\s+\Z",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"(?:n['\u2019]t|\b(?:not|never|nor|without|hardly|cannot))(?:\s[a-z]+){0,3}\s*\Z",
    re.IGNORECASE,
)
_VALUE = re.compile(r"(?:\A|[:(\n])[\s\"'*]*\Z"), re.compile(r"[\s\"'*]*(?:[.;,)\n]|\Z)")
_BEING = re.compile(r"(?:\b(?:is|are|was|were|am)|['\u2019](?:s|re|m))\s+\Z", re.IGNORECASE)
_JOINT = re.compile(r"(?:,\s*|\s+)(?:(?:and|or)\s+)?")
_CLAUSE_END = re.compile(r"[.!?;:()\n]")
_WORD = re.compile(r"[a-z][a-z-]*")
# "She was a maid", "my aunt, a maid"
_IS_ONE = re.compile(
    r"(?:\b(?:is|was|were|be|been|became|becomes?|as)|['\u2019][sm]|,)\s"
    r"(?:(?:an?|the|our|my|once|then|also|still|not)\s){0,2}(?:[\w'-]+\s)?\Z"
)


def changes_something(case: PairUnderTest) -> str | None:
    """Check that every edit changes what a reader sees."""
    for edit in case.pair.edits:
        if _composed(edit.before) == _composed(edit.after):
            return f"an edit changes nothing: {edit.before!r}"
    return None if case.pair.edits else "there are no edits"


def equal_outside(case: PairUnderTest) -> str | None:
    """Check that the two texts are equal, byte by byte, outside the edits."""
    return misplaced_edit(case.pair)


def names_the_other_group(case: PairUnderTest) -> str | None:
    """Check that every replacement names the other group."""
    for change, sense, edit in case.named:
        found = case.twin.get(edit.counterfactual_start)
        if found is None:
            return f"a replacement names no group: {edit.after!r} is not read as {change.becomes}"
        if found[1].negated is not None and sense.negated is None:
            continue  # "without autism" for "with autism"
        if found[1].entry is None and sense.role in PRONOUNS:
            if change.becomes in case.lexicon.default_groups:
                return f"a replacement names no group: {edit.after!r} fits any group"
            continue
        # A counterpart that is used for everyone ("host" for "hostess") names no group when read.
        if found[1].group != change.becomes and found[1].entry is not None:
            if sense.group == change.becomes:
                return f"a word of another group changes: {edit.before!r} names {sense.group}"
            return f"a replacement names another group: {edit.after!r} names {found[1].group}"
    return None


def read_alike(case: PairUnderTest) -> str | None:
    """Check that words that are not exchanged have the same reading in both texts."""
    if case.pair.variant == OMISSION:
        return None
    pair, roles_differ = case.pair, False
    edits = iter(pair.edits)
    edit, shift = next(edits, None), 0
    for start, end, sense in case.found:
        while edit is not None and edit.start < start:
            shift += len(edit.after) - len(edit.before)
            edit = next(edits, None)
        twin = case.twin.get(start + shift)
        if twin is None:
            word = pair.original[start:end]
            return f"the texts are read differently: {word!r} is a mention only in the original"
        shared = twin[1].entry is None and sense.role in PRONOUNS  # "they were" for "he was"
        roles_differ = roles_differ or (twin[1].role != sense.role and not shared)
    if len(case.found) < len(case.twin):
        return "the texts are read differently: the counterfactual has more mentions"
    if (doubt := case.doubt_in_one_member()) is not None:
        return f"the texts are read differently: in one of them {doubt.why}"
    if case.lexicon.language != "en" or not roles_differ:
        return None  # adjectives agree: "mi marido es alto", "mi mujer es alta"
    if len({*map(case.lexicon.mask, (pair.original, pair.counterfactual))}) > 1:
        return "the texts are read differently: the masked texts differ"
    return None


def no_residual_term(case: PairUnderTest) -> str | None:
    """Check that no term of the source group is left."""
    allowed: set[str] = set()
    for start, (end, sense) in case.twin.items() if case.absent else ():
        if sense.group not in case.absent or sense.role == UNPAIRED or sense.term in allowed:
            continue
        if not _is_for_everyone(case.lexicon, sense):
            word = case.pair.counterfactual[start:end]
            return f"a term of the source group is left: {word!r} names {sense.group}"
        allowed.add(sense.term)
    return None


def _is_for_everyone(lexicon: Lexicon, sense: Sense) -> bool:
    """Whether another group adds a word to it, as in "female actor" for "actor"."""
    if sense.term.endswith(("man", "men")):
        return False
    return any(
        term.endswith(f" {sense.term}")
        for entry in lexicon.entries
        if entry.role == "occupation"
        for group, terms in entry.terms.items()
        if group != sense.group
        for term in terms
    )


def name_is_new(case: PairUnderTest) -> str | None:
    """Check that a name swap brings a name that is not in the prompt yet."""
    if case.pair.attribute != "name":
        return None
    places = {edit.counterfactual_start for edit in case.pair.edits}
    for start, (end, sense) in case.twin.items():
        if sense.group == case.pair.to_group and start not in places:
            word = case.pair.counterfactual[start:end]
            return f"the prompt already contains the name: {word!r}"
    return None


def articles_fit(case: PairUnderTest) -> str | None:
    """Check that "a" and "an" fit, unless the original had them wrong already."""
    if case.lexicon.language != "en":
        return None
    pair = case.pair
    for edit in pair.edits:
        start = edit.counterfactual_start
        article = _article(pair.counterfactual, start)
        if article is None:
            continue
        after = edit.after or pair.counterfactual[start : start + _NEAR]
        before = _article(pair.original, edit.start)
        odd = before is not None and before[1].lower() != article_for(edit.before)
        if article[1].lower() != article_for(after) and not odd:
            return f"an article does not fit: {article[1]} {after[:20]!r}"
    return None


def _article(text: str, start: int) -> re.Match[str] | None:
    """Return the article before a place, through tags and punctuation."""
    article = article_before(text, start)
    if article is None and start and not (text[start - 1].isalnum() or text[start - 1].isspace()):
        return _ARTICLE.search(text, max(0, start - _NEAR), start)
    return article


def no_doubled_words(case: PairUnderTest) -> str | None:
    """Check that no edit doubles a word ("the the"); "gave her her keys" is fine."""
    pair = case.pair
    for change, edit in zip(case.changes, pair.edits, strict=True):
        if not edit.after or (change.sense is not None and change.sense.role in PRONOUNS):
            continue
        at = edit.counterfactual_start
        word = _doubled(pair.counterfactual, at, at + len(edit.after))
        if word and not _doubled(pair.original, edit.start, edit.end):
            return f"a word is doubled: {word} {word}"
    return None


def _doubled(text: str, *places: int) -> str:
    """Return a word that is on both sides of one of these places; "" if there is none."""
    for at in places:
        for found in _DOUBLED.finditer(text, max(0, at - _NEAR), at + _NEAR):
            if found.start() < at <= found.end():
                return found[1].lower()
    return ""


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def one_determiner(case: PairUnderTest) -> str | None:
    """Check that no article follows a determiner or an adjective ("severe a disability")."""
    text = case.pair.counterfactual
    for edit in case.pair.edits:
        if not _OPENING.match(edit.after) or _OPENING.match(edit.before):
            continue
        start = edit.counterfactual_start
        front = text[max(0, start - _NEAR) : start]
        last = _LAST.search(front)
        word = last[1].lower() if last else ""
        if is_one_of(word, "determiners"):
            return f"two determiners: {word} {edit.after}"
        if is_adjective(word) or _OF_KIND.search(front):
            return f"an article after {word!r}: {edit.after}"
    return None


def denial_fits(case: PairUnderTest) -> str | None:
    """Check that a denial follows "with" or "has", or is a value: "Condition: no disability"."""
    text, starts = case.pair.counterfactual, list[int]()
    for change, sense, edit in case.named:
        if change.becomes not in case.lexicon.unmarked:
            continue
        start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
        front, denial = text[max(0, start - _NEAR) : start], edit.after.lower()
        if denial.startswith("not in "):
            last = _LAST.search(front)
            fits = _BEING.search(front) is not None or (last and is_person(last[1].lower()))
        elif denial.startswith("no ") and sense.role == "noun":
            fits = _HAD.search(front) is not None and not _TROUBLED.search(front)
        else:
            continue
        value = _VALUE[0].search(front) and _VALUE[1].match(text, end)
        if not value and (not fits or _NOT.search(front)):
            return f"a denial does not fit here: {front[-20:].lstrip()}{edit.after}"
        starts = starts or sorted(case.twin)
        place = bisect.bisect_left(starts, start)
        for at in (*starts[max(0, place - 1) : place], *starts[place + 1 : place + 2]):
            stop, other = case.twin[at]
            gap = text[stop:start] if at < start else text[end:at]
            if other.group not in ("", change.becomes) and _JOINT.fullmatch(gap):
                return f"one condition is denied and another remains: {edit.after!r}"
    return None


def word_fits_age(case: PairUnderTest) -> str | None:
    """Check that age and noun fit; not "a 16-year-old grandmother"."""
    if case.pair.attribute != "age":
        return None
    text = case.pair.counterfactual
    for change, sense, edit in case.named:
        if sense.role != "adjective" or "young" not in (sense.group, change.becomes):
            continue
        end = edit.counterfactual_start + len(edit.after)
        near = _CLAUSE_END.split(text[end : end + _NEAR].lower(), 1)[0]
        word = next(itertools.dropwhile(is_modifier, _WORD.findall(near)), "")
        if is_any(word, "young_persons" if sense.group == "young" else "old_persons"):
            return f"no {change.becomes} person is called {word!r}: choose a word for any age"
    return None


def one_person(case: PairUnderTest) -> str | None:
    """Check that a word without a counterpart is not a person whose other words change."""
    alone = [each for each in case.found if each[2].role == UNPAIRED]
    begins = [edit.start for *_, edit in case.named] if alone else []
    for start, end, sense in alone:
        near = (
            bisect.bisect_left(begins, start - _SAME_PERSON_WITHIN),
            bisect.bisect(begins, end + _SAME_PERSON_WITHIN),
        )
        around = [each for each in case.named[slice(*near)] if each[1].group == sense.group]
        if start in begins[slice(*near)] or not around:
            continue  # "lesbian" of two attributes is exchanged by the other
        if case.pair.attribute != "gender" or _is_same(case.pair.original, start, end, around):
            word = case.pair.original[start:end]
            return f"names {sense.group}: {word!r} has no counterpart"
    return None


def _is_same(text: str, start: int, end: int, around: list[tuple[Change, Sense, Edit]]) -> bool:
    """Whether the word from `start` to `end` and one that changes can be the same person."""
    led, several = False, re.match(r"[a-z].*[^s]s\Z", text[start:end]) is not None
    for _, other, edit in around:
        if edit.end <= start:
            between = text[edit.end : start]
            if _CLAUSE_END.search(between.removeprefix(".")) is None:
                led = True
                if _IS_ONE.search(between) and other.role != "possessive_determiner":
                    return True
        elif not (led or several) and other.role in PRONOUNS:
            # Not in "the chambermaid told her".
            return other.role != "object" or text[end : edit.start].count(" ") > _OBJECT
    return False


CHECKS: dict[str, Callable[[PairUnderTest], str | None]] = {
    "edits change something": changes_something,
    "equal outside the edits": equal_outside,
    "names the other group": names_the_other_group,
    "read alike": read_alike,
    "no residual term": no_residual_term,
    "no word without a counterpart": one_person,
    "the word fits the age": word_fits_age,
    "the name is new": name_is_new,
    "articles fit": articles_fit,
    "one determiner": one_determiner,
    "the denial fits": denial_fits,
    "no doubled words": no_doubled_words,
    "groups told apart": different_words_stay_different,
}


def failed_checks(case: PairUnderTest) -> tuple[str, ...]:
    """Return the defects of a pair, in words; empty for a valid pair."""
    return tuple([reason for check in CHECKS.values() if (reason := check(case)) is not None])
