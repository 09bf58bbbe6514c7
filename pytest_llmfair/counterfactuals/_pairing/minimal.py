"""Whether a pair that others wrote changes the mentions only, each to one of the same kind.

Pairs made from a lexicon are so by the way they are made, and are not asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pytest_llmfair.counterfactuals._lexicons.terms import Sense
from pytest_llmfair.counterfactuals._pairing.case import Case
from pytest_llmfair.counterfactuals._pairing.pair import OMISSION, Edit, Pair, edits_between
from pytest_llmfair.counterfactuals.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.english.english import WORD, is_in_ly, is_one_of
from pytest_llmfair.text import MASK

_CLITIC = re.compile(r"['\u2019]s?\Z")
_HOLE = "\ufffc"  # one character for a mention, which no text holds for itself
_NEAR = 30
_SHOWN = "\u2026"
_LIVES = ("live", "lives", "lived", "living", "born")
_PLURALS = ("men", "people", "children", "folk")
_SINGULARS = ("ss", "us", "is")
_THEY = re.compile(r"\bthey\b", re.IGNORECASE)
_AGREEING = {"was": "were", "is": "are", "has": "have", "does": "do", "s": "re"}
_BEHIND_MENTION = re.compile(rf"{_HOLE}\s(?:(?:\w+ly|always|often|never|also|still|now)\s)?\Z")
_NAME_BEHIND = re.compile(r"\s[A-Z]")
_HEAD = re.compile(r"-in-|\s(?:of|in|with|who|to)\s")

Spans = Sequence[tuple[int, int]]


def not_minimal(case: Case, beside: Sequence[Lexicon]) -> tuple[str, ...]:
    """Return what is wrong with the edits of a pair, in words; empty where nothing is.

    Words of the lexicons `beside` may change: of the attribute, and for a name the words that
    follow it. The twin of another language than English has to agree in more, and is not judged.
    """
    if (slur := _slur(case)) is not None:
        return (slur,)
    if case.lexicon.language != "en":
        return ()
    if case.pair.variant == OMISSION:
        said = next(_left_out(case), None)
    else:
        said = _changed(case.pair, beside) or _of_another_kind(case)
    return () if said is None else (said,)


def _slur(case: Case) -> str | None:
    """Say which slur is written where none stood: the insult would be measured as the group."""
    for _, sense, edit in case.named:
        end, meant = case.twin.get(edit.counterfactual_start, (0, sense))
        if _is_slur(meant) and not _is_slur(sense):
            word = case.pair.counterfactual[edit.counterfactual_start : end]
            return f"a replacement is a slur: {word!r}"
    return None


def _is_slur(sense: Sense) -> bool:
    return sense.entry is not None and sense.entry.register(sense.term) == "slur"


def _changed(pair: Pair, beside: Iterable[Lexicon]) -> str | None:
    """Say what differs although it names nobody: both must be the same once masked."""
    texts = [pair.original, pair.counterfactual]
    for lexicon in beside:
        texts = [lexicon.mask(text) for text in texts]
    if texts[0] == texts[1]:
        return None
    original, twin = (text.replace(MASK, _HOLE) for text in texts)
    edits = edits_between(original, twin)
    if len({bool(_THEY.search(text)) for text in (pair.original, pair.counterfactual)}) > 1:
        edits = tuple(edit for edit in edits if not _agrees(edit, original))
    edits = tuple(edit for edit in edits if not _is_point_of_title(edit, original))
    if not edits:
        return None
    edit = edits[0]
    before, after = (part.replace(_HOLE, _SHOWN) for part in (edit.before, edit.after))
    if not f"{before}{after}".strip():
        return f"blanks change: {before!r} -> {after!r}"
    if not f"{before}{after}".replace(_SHOWN, "").strip():
        return f"more is named in one text than in the other: {before!r} -> {after!r}"
    return _said(before, after)


def _agrees(edit: Edit, text: str) -> bool:
    """Whether a verb follows the number of "they": "he was", "they were"; "asks", "ask"."""
    before, after = edit.before.lower(), edit.after.lower()
    if after == _AGREEING.get(before) or before == _AGREEING.get(after):
        return True
    one, other = sorted((before, after), key=len)
    behind = _BEHIND_MENTION.search(text, max(0, edit.start - _NEAR), edit.start) is not None
    return behind and other in (f"{one}s", f"{one}es", f"{one[:-1]}ies")


def _is_point_of_title(edit: Edit, text: str) -> bool:
    """Whether a title of one text has a point: "Miss Lane", "Mr. Lane"."""
    if {edit.before, edit.after} != {"", "."} or text[edit.start - 1 : edit.start] != _HOLE:
        return False
    return _NAME_BEHIND.match(text, edit.end) is not None


def _said(before: str, after: str) -> str:
    if not before.strip():
        return f"words are added that name nobody: {after!r}"
    if not after.strip():
        return f"words are left out that name nobody: {before!r}"
    if before.strip() == _SHOWN:
        return f"a mention becomes a word that names nobody: {after!r}"
    if after.strip() == _SHOWN:
        return f"a word that names nobody becomes a mention: {before!r}"
    return f"words change that name nobody: {before!r} -> {after!r}"


def _of_another_kind(case: Case) -> str | None:
    """Say which mention becomes one of another role or number: "she cooks", "boys cooks"."""
    twin = sorted((start, end, sense) for start, (end, sense) in case.twin.items())
    starts = Counter(start for start, _, _ in case.found)
    if len(twin) != len(case.found):  # one word for two attributes: "Latina", "Black woman"
        return None
    for (start, end, sense), (at, stop, other) in zip(case.found, twin, strict=True):
        if sense.entry is None or other.entry is None or sense.group == other.group:
            continue
        if starts[start] > 1 or sense.lacked or other.lacked:
            continue
        senses = [own for own in case.lexicon.senses(other.term) if own.group == other.group]
        if any(own.entry and sense.term in own.entry.terms.get(sense.group, ()) for own in senses):
            continue  # they stand for each other in some line of the lexicon
        before, after = case.pair.original[start:end], case.pair.counterfactual[at:stop]
        written = case.lexicon.counterpart(sense, other.group)
        if written is not None and f"{after} ".casefold().startswith(f"{written} ".casefold()):
            continue  # "Asian Americans" for "Black Americans", of which two words count, and one
        ends = (before, case.pair.counterfactual, stop), (after, case.pair.original, end)
        if any(_ends_alike(*each) for each in ends):
            continue
        person = case.lexicon.person_behind(case.pair.original, end, sense)
        person_twin = case.lexicon.person_behind(case.pair.counterfactual, stop, other)
        before += person[0] if person else ""  # "blind person" is one, as "wheelchair user" is
        after += person_twin[0] if person_twin else ""
        role = "noun" if person else sense.role
        if role not in (("noun",) if person_twin else [own.role for own in senses]):
            return f"a replacement is of another kind: {before!r} -> {after!r}"
        if sense.role not in PRONOUNS and _is_plural(before) != _is_plural(after):
            return f"a replacement is of another number: {before!r} -> {after!r}"
    return None


def _ends_alike(term: str, text: str, end: int) -> bool:
    """Whether a term of several words ends with the word behind the other: "Swedish people"."""
    _, blank, last = term.rpartition(" ")
    return bool(blank) and text.startswith(f" {last}", end)


def _is_plural(term: str) -> bool:
    head = _HEAD.split(term.lower(), maxsplit=1)[0]
    return head.endswith(_PLURALS) or (head.endswith("s") and not head.endswith(_SINGULARS))


def _left_out(case: Case) -> Iterator[str]:
    """Say which words go, come or change that do not belong to a mention left out."""
    pair = case.pair
    named = [(start, end) for start, end, _ in case.found]
    named_twin = [(start, end) for start, (end, _) in case.twin.items()]
    nouns = {word for noun in case.lexicon.neutral_nouns.values() for word in noun.split()}
    for edit in pair.edits:
        lost, mentions = _words(edit.before, edit.start, named)
        new, _ = _words(edit.after, edit.counterfactual_start, named_twin)
        known = {word.lower() for word in (*lost, *mentions, *nouns)}
        came = [word for word in new if word not in known and not is_one_of(word, "articles")]
        went = [word for word in lost if word not in new and not _goes_along(word)]
        moved = not mentions and not _is_article_or_capital(edit)
        if came or went or moved:
            yield _said(edit.before, edit.after)


def _words(part: str, start: int, named: Spans) -> tuple[list[str], list[str]]:
    """Return the words of a part of a text in lower case, outside and inside the mentions."""
    found: tuple[list[str], list[str]] = ([], [])
    for word in re.finditer(WORD, part):
        at = start + word.start()
        named_too = any(first <= at < last for first, last in named)
        found[named_too].append(_CLITIC.sub("", word[0].lower()))
    return found


def _goes_along(word: str) -> bool:
    """Whether a word can go with a mention: "who is totally" with "blind"."""
    return (
        is_one_of(word, "closed") or word in _LIVES or is_in_ly(word) or is_one_of(word, "degrees")
    )


def _is_article_or_capital(edit: Edit) -> bool:
    sides = edit.before.lower(), edit.after.lower()
    return sides[0] == sides[1] or all(is_one_of(side, "articles") for side in sides)
