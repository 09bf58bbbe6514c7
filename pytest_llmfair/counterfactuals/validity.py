"""The validity gate: what every counterfactual pair must fulfil before a model is asked.

A check is a small function that returns what is wrong in words, or None. What it cannot judge
(the twin of another language, a word that the lexicon does not know) it lets pass.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable

from pytest_llmfair.counterfactuals._lexicons.terms import UNPAIRED, Sense
from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals._pairing.of_age import age_fits, word_fits_age
from pytest_llmfair.counterfactuals._pairing.of_faith import no_word_of_faith
from pytest_llmfair.counterfactuals._pairing.pair import OMISSION, misplaced
from pytest_llmfair.counterfactuals._pairing.repeats import told_apart
from pytest_llmfair.counterfactuals._pairing.replacements import (
    MARKS,
    adverb_kept,
    capital_kept,
    changes_something,
    denied_of_somebody,
    is_usual,
    last_word_before,
    length_balanced,
    one_determiner,
    spacing_kept,
    words_balanced,
)
from pytest_llmfair.counterfactuals._pairing.unpaired import no_unpaired_person
from pytest_llmfair.counterfactuals.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.english.around import is_initialism
from pytest_llmfair.lexicons.english.beside import one_case
from pytest_llmfair.lexicons.english.english import article_for, is_one_of
from pytest_llmfair.lexicons.english.persons.words import JOINS
from pytest_llmfair.lexicons.english.roles import DETERMINER, may_be_owned
from pytest_llmfair.lexicons.english.writing import article_before, plain

_ARTICLE = re.compile(r"(?<![\w'\u2019-])(an?)\s+(?:<[^<>]*>|[^\w\s<>])*\Z", re.IGNORECASE)
_NEAR = 40
_CHOICES = ("between ", "Between ")
_JOINS = (" and ", " or ", " nor ", "/", " & ")
# "women and women", "white men or white men"
_JOINED_TWICE = re.compile(
    r"\b(?P<word>\w[\w '\u2019-]{0,40}?)"
    r"(?:,?\s+(?:and|(?P<choice>or|nor))\s+|\s?/\s?|\s&\s|,\s+)(?P=word)\b",
    re.IGNORECASE,
)


def equal_outside(case: Case) -> str | None:
    """Check that outside the edits the two texts are the same, byte by byte."""
    return misplaced(case.pair)


def names_the_other_group(case: Case) -> str | None:
    """Check that where a mention stood, the other group is named now."""
    for change, sense, edit in case.named:
        found = case.twin.get(edit.counterfactual_start)
        if found is None:
            return f"a replacement names nobody: {edit.after!r} is not read as {change.becomes}"
        if found[1].lacked is not None and sense.lacked is None:
            continue  # "without autism" beside "with autism"
        if found[1].entry is None and sense.role in PRONOUNS:
            if change.becomes in case.lexicon.default_groups:
                return f"a replacement names nobody: {edit.after!r} can be anybody"
            continue
        # A counterpart that is used for everyone ("host" for "hostess") names no group when read.
        if found[1].group != change.becomes and found[1].entry is not None:
            if sense.group == change.becomes:
                return f"a word of another group changes: {edit.before!r} names {sense.group}"
            return f"a replacement names another group: {edit.after!r} names {found[1].group}"
    return None


def read_alike(case: Case) -> str | None:
    """Check that what is not exchanged is read as before, so that both are equal once masked."""
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
            return f"the texts are read differently: {word!r} counts in the original only"
        shared = twin[1].entry is None and sense.role in PRONOUNS  # "they were" for "he was"
        roles_differ = roles_differ or (twin[1].role != sense.role and not shared)
    if len(case.found) < len(case.twin):
        return "the texts are read differently: more words count in the counterfactual"
    if case.lexicon.language != "en":
        return None  # adjectives agree: "mi marido es alto", "mi mujer es alta"
    masked = map(case.lexicon.mask, (pair.original, pair.counterfactual) if roles_differ else ())
    return (
        "the texts are read differently: they differ once masked" if len({*masked}) > 1 else None
    )


def no_residual_term(case: Case) -> str | None:
    """Check that no term of a group is left that the exchange should have removed.

    A word for one gender that is used for everyone may stay where somebody made the pair so: "the
    actor lost her keys".
    """
    if case.gone:
        allowed: set[str] = set()
        for start, (end, sense) in case.twin.items():
            named = sense.group in case.gone and sense.role != UNPAIRED
            if named and sense.term not in allowed:
                if _is_for_everyone(case.lexicon, sense):
                    allowed.add(sense.term)
                    continue
                word = case.pair.counterfactual[start:end]
                return f"a term of the source group is left: {word!r} names {sense.group}"
    return None


def name_is_new(case: Case) -> str | None:
    """Check that a name swap brings a name that the prompt does not hold yet."""
    if case.pair.attribute != "name":
        return None
    places = {edit.counterfactual_start for edit in case.pair.edits}
    for start, (end, sense) in case.twin.items():
        if sense.group == case.pair.to_group and start not in places:
            word = case.pair.counterfactual[start:end]
            return f"the prompt already holds the name: {word!r}"
    return None


def articles_fit(case: Case) -> str | None:
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


def noun_follows(case: Case) -> str | None:
    """Check that "a" and an adjective have a noun ("is a Jewish more likely"; not "a male is")."""
    text = case.pair.counterfactual
    for _, sense, edit in case.named:
        if sense.role != "adjective":
            continue
        start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
        if text[start - 2 : start] not in ("a ", "A ", "n ") or text[end : end + 1] != " ":
            continue  # the usual case at less cost
        raw = text[end + 1 : end + _NEAR].partition(" ")[0].strip(MARKS)
        if is_initialism(raw) and not one_case(text)[1]:  # "an Asian US senator"
            continue
        word = raw.lower()
        closed = is_one_of(word, "compares") or (is_one_of(word, "closed") and word not in JOINS)
        if not closed or is_one_of(edit.after.lower(), "person_adjectives"):
            continue
        if article_before(text, start) is not None:
            return f"a noun is missing: {edit.after} {word}"
    return None


def roles_kept(case: Case) -> str | None:
    """Check that a pronoun reads in the grammatical role of the one that it replaces.

    Where that one has one role only ("left him notes"), no reading of the new one tells more; nor
    where a thing can be given as well as owned ("brought his lunch").
    """
    for change, meant, edit in case.named:
        if meant.role not in PRONOUNS:
            continue
        found = case.twin.get(edit.counterfactual_start)
        if found is not None and found[1].role != meant.role:
            if found[1].entry is None:  # "their", which has no roles
                continue
            own = case.lexicon.senses(meant.term)
            if len({sense.role for sense in own if sense.group == change.group}) < 2:
                continue
            place = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
            if meant.role == DETERMINER and may_be_owned(case.pair.counterfactual, *place):
                continue
            role, was = (name.replace("_", " ") for name in (found[1].role, meant.role))
            return f"a pronoun changes its role: {edit.after!r} reads as {role}, not as {was}"
    return None


def no_doubled_words(case: Case) -> str | None:
    """Check that no edit doubles a word ("the the"); "gave her her keys" is fine."""
    pair = case.pair
    for change, edit in zip(case.changes, pair.edits, strict=True):
        if not edit.after or (change.sense is not None and change.sense.role in PRONOUNS):
            continue
        start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
        words = edit.after.lower().split()
        near = pair.counterfactual[max(0, start - _NEAR) : end + _NEAR].lower()
        if not words or not (near.count(words[0]) > 1 or near.count(words[-1]) > 1):
            continue  # the usual case at less cost
        word = _doubled(pair.counterfactual, start, end)
        if word and not _doubled(pair.original, edit.start, edit.end):
            return f"a word stands twice: {word} {word}"
    return None


def joined_once(case: Case) -> str | None:
    """Check that words joined by "and" or "or" do not become the same ("women and women").

    "The waitress and the waitress" are two persons, "her and her" can be "him and his", and
    "unlike her, her boss" joins nothing.
    """
    pair = case.pair
    text, edits = pair.counterfactual, pair.edits
    for _, sense, edit in case.named:
        start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
        pronoun = sense.role in PRONOUNS
        # What decides the usual cases comes first, at less cost.
        if pronoun and not (text.startswith(_JOINS, end) or text.endswith(_JOINS, 0, start)):
            continue
        near = text[max(0, start - _NEAR) : end + _NEAR].lower()
        if near.count(edit.after.lower()) < 2:
            continue
        twice = _joined_twice(text, start, end)
        if twice is None or _joined_twice(pair.original, edit.start, edit.end) is not None:
            continue
        place = bisect.bisect_left(edits, edit.start, key=lambda other: other.start)
        beside = [*edits[max(0, place - 1) : place], *edits[place + 1 : place + 2]]
        both = any(twice.start() <= other.counterfactual_start < twice.end() for other in beside)
        if not (pronoun and both):
            return f"joined words become the same: {twice[0]!r}"
    return None


def comes_back(case: Case) -> str | None:
    """Check that exchanging back gives the original, where the lexicon is one to one.

    Case apart, which the lexicon decides: "black" becomes "white" and comes back as "Black".
    """
    text, lexicon = case.pair.counterfactual, case.lexicon
    for change, sense, edit in case.named:
        at = edit.counterfactual_start
        if change.becomes == sense.group or at not in case.twin:
            continue
        end, found = case.twin[at]
        term = lexicon.counterpart(found, sense.group)
        if term is None or term == edit.before or term.casefold() == edit.before.casefold():
            continue
        as_written = found.term == lexicon.counterpart(sense, change.becomes)
        if not as_written or not lexicon.comes_back(sense, change.becomes):
            continue
        back = lexicon.written(text, (at, end, found), term)
        if not plain(edit.before).startswith(plain(back)):
            return f"the way back leads elsewhere: {edit.before!r} comes back as {back!r}"
    return None


CHECKS: dict[str, Callable[[Case], str | None]] = {
    "edits change something": changes_something,
    "equal outside the edits": equal_outside,
    "names the other group": names_the_other_group,
    "read alike": read_alike,
    "no residual term": no_residual_term,
    "no word without a counterpart": no_unpaired_person,
    "no word of a faith": no_word_of_faith,
    "the word fits the age": word_fits_age,
    "age fits": age_fits,
    "the name is new": name_is_new,
    "articles fit": articles_fit,
    "one determiner": one_determiner,
    "denied of somebody": denied_of_somebody,
    "adverbs kept": adverb_kept,
    "a noun follows": noun_follows,
    "pronoun roles kept": roles_kept,
    "no doubled words": no_doubled_words,
    "joined words differ": joined_once,
    "kinds told apart": told_apart,
    "spacing kept": spacing_kept,
    "capital kept": capital_kept,
    "length balanced": length_balanced,
    "words balanced": words_balanced,
    "comes back": comes_back,
}


# What these say of an edit depends on the two words: of most the answer is known.
_OF_WORDS = (
    changes_something,
    one_determiner,
    denied_of_somebody,
    adverb_kept,
    spacing_kept,
    capital_kept,
    length_balanced,
    words_balanced,
)
_OF_TEXTS = tuple(check for check in CHECKS.values() if check not in _OF_WORDS)


def failed(case: Case) -> tuple[str, ...]:
    """Return what is wrong with a pair, in words; empty where nothing is."""
    edits = case.pair.edits
    usual = bool(edits) and all(is_usual(edit.before, edit.after) for edit in edits)
    checks = _OF_TEXTS if usual else CHECKS.values()
    return tuple([said for check in checks if (said := check(case)) is not None])


def _is_for_everyone(lexicon: Lexicon, sense: Sense) -> bool:
    """Whether another group has a word too, once it is described: "actor", "female actor"."""
    if sense.term.endswith(("man", "men")):
        return False
    described = (
        term
        for entry in lexicon.entries
        if entry.role == "occupation"
        for group, terms in entry.terms.items()
        if group != sense.group
        for term in terms
    )
    return any(term.endswith(f" {sense.term}") for term in described)


def _article(text: str, start: int) -> re.Match[str] | None:
    """Return the article before a place, through any tags and marks."""
    article = article_before(text, start)
    if article is None and start and not (text[start - 1].isalnum() or text[start - 1].isspace()):
        return _ARTICLE.search(text, max(0, start - _NEAR), start)
    return article


def _doubled(text: str, start: int, end: int) -> str:
    """Return the first or last word of a span where it stands right beside the span too."""
    words = text[start:end].lower().split()
    if not words:
        return ""
    if last_word_before(text, start).lower() == words[0]:
        return words[0]
    behind = text[end : end + _NEAR].split(None, 1) if text[end : end + 1].isspace() else []
    return words[-1] if behind and behind[0].lower().rstrip(MARKS) == words[-1] else ""


def _joined_twice(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return what is joined to itself around a span, each without a determiner of its own.

    Where one of two is to be chosen they may have one: "the Pole or the Pole".
    """
    for match in _JOINED_TWICE.finditer(text, max(0, start - _NEAR), end + _NEAR):
        first, *others = match["word"].lower().split()
        if match.start() <= start and end <= match.end():
            own = bool(others) and is_one_of(first, "closed")
            chosen = match["choice"] or text.endswith(_CHOICES, 0, match.start())
            return None if own and not chosen else match
    return None
