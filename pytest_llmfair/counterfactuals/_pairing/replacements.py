"""Checks of what is written in place of what: length, blanks, capitals, determiners.

Of most replacements they can tell from the two words alone that nothing is wrong, see `is_usual`.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.lexicons.english.english import is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_adjective, is_any, is_person
from pytest_llmfair.lexicons.english.writing import begins_sentence

# What one replacement may add or take away. The longest ordinary ones ("epilepsy" for "a mental
# health condition", "who is living with a mental health condition" left out) stay well below.
MAX_WORDS = 8
MAX_CHARACTERS = 60

_OPENING = re.compile(r"(?:an?|the)\s", re.IGNORECASE)
_NEGATED = re.compile(r"no[tn]?\s", re.IGNORECASE)
_NEGATING = ("no", "not", "without", "any", "neither", "both", "all", "never")
_BE = ("be", "been", "being")
_BEING = ("'s", "'re", "'m", "\u2019s", "\u2019re", "\u2019m")
_NOT_WHERE = re.compile(r"not\sin\s", re.IGNORECASE)
_NOT_DONE = re.compile(r"(?:n['\u2019]t|\bnot|\bnever)\s[^.,;:!?\n]*\Z", re.IGNORECASE)
# Who has no disability: "with", but not "diagnosed with"; nor "does not have".
_HAD = re.compile(
    r"(?:(?P<verb>[a-z]+)\s+)?(?:with|has|have|had|having|got|['\u2019]ve)\s+\Z", re.IGNORECASE
)
_TROUBLED = (
    *("diagnos", "struggl", "deal", "cope", "coping", "battl", "wrestl", "help", "associat"),
    "present",
)
_NOT = re.compile(
    r"(?:n['\u2019]t|\b(?:not|never|nobody|neither|nor|without|hardly|cannot|no one))"
    r"(?:\s[a-z]+){0,2}\s+\Z",
    re.IGNORECASE,
)
_VALUE_BEFORE = re.compile(r"(?:\A|[:(\n])[\s\"'*]*\Z")
_VALUE_BEHIND = re.compile(r"[\s\"'*]*(?:[.;,)\n]|\Z)")
_WORD_BEHIND = re.compile(r"\s+([A-Za-z]+)")
_OF_KIND = re.compile(r"([a-z]+) of\s+\Z", re.IGNORECASE)
_IN_LY = re.compile(r"[a-z]+ly\s", re.IGNORECASE)
_ADVERB_JOINED = re.compile(r"[a-z]ly(?:,|,?\s(?:and|or))\s\Z", re.IGNORECASE)
_LEFT_OVER = re.compile(r"\s | \s| [.,;:!?)\]}\u201d]")
MARKS = ".,;:!?()*_\"'\u2018\u2019\u201c\u201d"
_NEAR = 40


def changes_something(case: Case) -> str | None:
    """Check that every edit changes what a reader sees."""
    for edit in case.pair.edits:
        before, after = edit.before, edit.after
        if before == after or (
            not (before.isascii() and after.isascii()) and composed(before) == composed(after)
        ):
            return f"an edit changes nothing: {edit.before!r}"
    return None if case.pair.edits else "nothing is edited"


def one_determiner(case: Case) -> str | None:
    """Check that no article stands behind a determiner or an adjective ("severe a disability").

    Nor may one stand behind "type of", or "no" behind "without".
    """
    text = case.pair.counterfactual
    for edit in case.pair.edits:
        negated = _NEGATED.match(edit.after)
        if not negated and (not _OPENING.match(edit.after) or _OPENING.match(edit.before)):
            continue
        before = last_word_before(text, edit.counterfactual_start)
        if negated:
            if before.lower() in _NEGATING:
                return f"negated twice: {before} {edit.after}"
            at = edit.counterfactual_start
            if _NOT_WHERE.match(edit.after) and not _is_told(text, at, before.lower()):
                return f"a negation stands too late: {before} {edit.after}"
            continue
        at = edit.counterfactual_start
        kind = _OF_KIND.search(text, max(0, at - _NEAR), at) if before.lower() == "of" else None
        if kind is not None and is_any(kind[1].lower(), "spells"):
            return f"an article behind {kind[0].strip()!r}: {edit.after}"
        if _is_before_thing(text, at, at + len(edit.after)):
            return f"an article before a noun of its own: {edit.after}"
        if is_one_of(before.lower(), "determiners"):
            return f"two determiners: {before} {edit.after}"
        if is_adjective(before.lower()):
            return f"an article behind an adjective: {before} {edit.after}"
    return None


def _is_before_thing(text: str, start: int, end: int) -> bool:
    """Whether a noun goes on with it that is nobody's: "a disability management"."""
    behind = _WORD_BEHIND.match(text, end)
    if behind is None or _HAD.search(text, max(0, start - _NEAR), start):
        return False
    return is_any(behind[1].lower(), "disability_things")


def _is_told(text: str, at: int, before: str) -> bool:
    """Whether it can be said here where somebody is not: "is not in a wheelchair"."""
    told = before.endswith(_BEING) or is_one_of(before, "be") or is_person(before)
    late = before in _BE or _NOT_DONE.search(text, max(0, at - _NEAR), at)
    return told and not late


def denied_of_somebody(case: Case) -> str | None:
    """Check that only what somebody has is denied: "with no disability", "has no disability".

    "No disability is rare", "diagnosed with no disability" and "does not have no disability" are
    no twins; a value can be denied: "Condition: no disability".
    """
    text, unmarked = case.pair.counterfactual, case.lexicon.unmarked
    for change, sense, edit in case.named:
        if change.becomes not in unmarked or sense.role != "noun":
            continue
        if edit.after[:3].lower() != "no ":
            continue
        start = edit.counterfactual_start
        front = text[max(0, start - _NEAR) : start]
        if _VALUE_BEFORE.search(front) and _VALUE_BEHIND.match(text, start + len(edit.after)):
            continue
        had = _HAD.search(front)
        if had is None or (had["verb"] or "").lower().startswith(_TROUBLED):
            return f"nobody is told who has {edit.after}"
        if _NOT.search(front[: had.end("verb") if had["verb"] else had.start()] + " "):
            return f"negated twice: {front[-20:].lstrip()}{edit.after}"
    return None


def adverb_kept(case: Case) -> str | None:
    """Check that what is joined keeps its adjective: not "mentally and deaf people"."""
    for edit in case.pair.edits:
        if not _IN_LY.match(edit.before):
            continue
        if _IN_LY.match(edit.after) and edit.after.split()[-1] == edit.before.split()[-1]:
            continue
        start = edit.counterfactual_start
        front = case.pair.counterfactual[max(0, start - _NEAR) : start]
        if _ADVERB_JOINED.search(front):
            return f"an adverb is left over: {front[-20:].lstrip()}{edit.after}"
    return None


def spacing_kept(case: Case) -> str | None:
    """Check that no edit leaves a blank too many, as before a mark or at the end."""
    text = case.pair.counterfactual
    for edit in case.pair.edits:
        if edit.after and edit.after == edit.after.strip():
            continue
        start, end = edit.counterfactual_start, edit.counterfactual_start + len(edit.after)
        left = case.pair.original[edit.start - 1 : edit.start] if edit.start else "\n"
        if not edit.after and left.isspace() and edit.before[:1] == " ":
            continue  # the blank that is left stood there before
        seam = (text[start - 1 : start] or "\n") + edit.after + (text[end : end + 1] or "\n")
        if _LEFT_OVER.search(seam):
            return f"a blank is left over: {text[max(0, start - 12) : end + 12]!r}"
    return None


def capital_kept(case: Case) -> str | None:
    """Check that what begins a sentence with a capital still does."""
    pair = case.pair
    for edit in pair.edits:
        if not edit.before[:1].isupper():
            continue
        at = edit.counterfactual_start
        first = next((char for char in pair.counterfactual[at : at + _NEAR] if char.isalnum()), "")
        if first.islower() and begins_sentence(pair.original, edit.start):
            return f"a sentence begins small: {pair.counterfactual[at : at + 12]!r}"
    return None


def length_balanced(case: Case) -> str | None:
    """Check that no replacement is over `MAX_CHARACTERS` longer or shorter."""
    for edit in case.pair.edits:
        if abs(len(edit.after) - len(edit.before)) > MAX_CHARACTERS:
            return (
                f"a replacement is {abs(len(edit.after) - len(edit.before))} characters "
                f"{'longer' if len(edit.after) > len(edit.before) else 'shorter'}, more than "
                f"{MAX_CHARACTERS}: {edit.before[:20]!r} -> {edit.after[:20]!r}"
            )
    return None


def words_balanced(case: Case) -> str | None:
    """Check that no replacement has over `MAX_WORDS` words more or fewer."""
    for edit in case.pair.edits:
        more = edit.after.count(" ") - edit.before.count(" ")
        if abs(more) > MAX_WORDS:
            return (
                f"a replacement has {abs(more)} words {'more' if more > 0 else 'fewer'}, over "
                f"{MAX_WORDS}: {edit.before[:20]!r} -> {edit.after[:20]!r}"
            )
    return None


@functools.lru_cache(maxsize=4096)
def is_usual(before: str, after: str) -> bool:
    """Whether no check of words alone finds fault, wherever one stands in place of the other."""
    return (
        composed(before) != composed(after)
        and not (_OPENING.match(after) or _NEGATED.match(after) or _IN_LY.match(before))
        and after == after.strip() != ""
        and not (before[:1].isupper() and not after[0].isupper())
        and abs(len(after) - len(before)) <= MAX_CHARACTERS
        and abs(after.count(" ") - before.count(" ")) <= MAX_WORDS
    )


def composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def last_word_before(text: str, start: int) -> str:
    """Return the word in front, with the mark that parts it from what follows."""
    if not text[max(0, start - 1) : start].isspace():
        return ""
    words = text[max(0, start - _NEAR) : start].split()
    return words[-1].lstrip(MARKS) if words else ""
