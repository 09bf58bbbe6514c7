"""The validity gate: what every counterfactual pair must fulfil before a model is asked.

A check is a small function that returns what is wrong in words, or None. What it cannot judge
(the twin of another language, a word that the lexicon does not know) it lets pass.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals._pairing.pair import misplaced
from pytest_llmfair.counterfactuals._pairing.repeats import told_apart
from pytest_llmfair.counterfactuals._pairing.wording import (
    denial_fits,
    one_determiner,
    one_person,
    word_fits_age,
)
from pytest_llmfair.lexicons.english.articles import article_before, article_for
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.terms import UNPAIRED, Sense
from pytest_llmfair.responses import OMISSION

_ARTICLE = re.compile(r"(?<![\w'\u2019-])(an?)\s+(?:<[^<>]*>|[^\w\s<>])*\Z", re.IGNORECASE)
_DOUBLED = re.compile(r"(?<![\w'\u2019-])([\w'\u2019-]+)\s+(?=\1(?![\w'\u2019-]))", re.IGNORECASE)
_NEAR = 40


def changes_something(case: Case) -> str | None:
    """Check that every edit changes what a reader sees."""
    for edit in case.pair.edits:
        if _composed(edit.before) == _composed(edit.after):
            return f"an edit changes nothing: {edit.before!r}"
    return None if case.pair.edits else "nothing is edited"


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
            continue  # "without autism" for "with autism"
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
    if case.lexicon.language != "en" or not roles_differ:
        return None  # adjectives agree: "mi marido es alto", "mi mujer es alta"
    if len({*map(case.lexicon.mask, (pair.original, pair.counterfactual))}) > 1:
        return "the texts are read differently: they differ once masked"
    return None


def no_residual_term(case: Case) -> str | None:
    """Check that no term of a group is left that the exchange should have removed.

    A word for one gender that is used for everyone may stay where somebody made the pair so: "the
    actor lost her keys".
    """
    allowed: set[str] = set()
    for start, (end, sense) in case.twin.items() if case.gone else ():
        if sense.group not in case.gone or sense.role == UNPAIRED or sense.term in allowed:
            continue
        if not _is_for_everyone(case.lexicon, sense):
            word = case.pair.counterfactual[start:end]
            return f"a term of the source group is left: {word!r} names {sense.group}"
        allowed.add(sense.term)
    return None


def _is_for_everyone(lexicon: Lexicon, sense: Sense) -> bool:
    """Whether another group has a word too, once it is described: "actor", "female actor"."""
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


def _article(text: str, start: int) -> re.Match[str] | None:
    """Return the article before a place, through any tags and marks."""
    article = article_before(text, start)
    if article is None and start and not (text[start - 1].isalnum() or text[start - 1].isspace()):
        return _ARTICLE.search(text, max(0, start - _NEAR), start)
    return article


def no_doubled_words(case: Case) -> str | None:
    """Check that no edit doubles a word ("the the"); "gave her her keys" is fine."""
    pair = case.pair
    for change, edit in zip(case.changes, pair.edits, strict=True):
        if not edit.after or (change.sense is not None and change.sense.role in PRONOUNS):
            continue
        at = edit.counterfactual_start
        word = _doubled(pair.counterfactual, at, at + len(edit.after))
        if word and not _doubled(pair.original, edit.start, edit.end):
            return f"a word stands twice: {word} {word}"
    return None


def _doubled(text: str, *places: int) -> str:
    """Return the word that stands on both sides of one of these places."""
    for at in places:
        for found in _DOUBLED.finditer(text, max(0, at - _NEAR), at + _NEAR):
            if found.start() < at <= found.end():
                return found[1].lower()
    return ""


CHECKS: dict[str, Callable[[Case], str | None]] = {
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
    "groups told apart": told_apart,
}


def failed(case: Case) -> tuple[str, ...]:
    """Return what is wrong with a pair, in words; empty where nothing is."""
    return tuple([said for check in CHECKS.values() if (said := check(case)) is not None])


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)
