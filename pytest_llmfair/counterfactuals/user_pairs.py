"""Checks of pairs that a person, a template or a model made.

Only the mentions may change, each to one of the same kind. Pairs made from a lexicon satisfy this
by construction and skip these checks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pytest_llmfair.counterfactuals.checks import failed_checks
from pytest_llmfair.counterfactuals.pair_list import Pairs, misplaced_edit
from pytest_llmfair.counterfactuals.pair_under_test import PairUnderTest, exchange_of, read_pair
from pytest_llmfair.lexicons.attributes import Attribute, lexicon_for, lexicon_of_pair
from pytest_llmfair.lexicons.english.agreement import possessive_after
from pytest_llmfair.lexicons.english.words import WORD, is_ly_adverb, is_one_of
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.lexicons.name_lexicon import NAMES
from pytest_llmfair.lexicons.reading import Change, Reading
from pytest_llmfair.lexicons.terms import Sense
from pytest_llmfair.lexicons.writing import edits_between
from pytest_llmfair.responses import OMISSION, Edit, Pair, Rejected, marked
from pytest_llmfair.text import MASK

_CLITIC = re.compile(r"['\u2019]s?\Z")
_HOLE = "\ufffc"  # one character for a mention, which no text holds for itself
_NEAR = 30
_SHOWN = "\u2026"
_LIVES = ("live", "lives", "lived", "living", "born")
_PLURAL = re.compile(r"(?:men|people|children|folk|[^sui]s|\wies)\Z")
_HEAD = re.compile(r"-in-|\s(?:of|in|with|who|to)\s")
_THEY = re.compile(r"\bthey\b", re.IGNORECASE)
_AGREEING = {"was": "were", "is": "are", "has": "have", "does": "do", "s": "re"}
_AFTER_MENTION = re.compile(rf"{_HOLE}\s(?:(?:\w+ly|always|often|never|also|still|now)\s)?\Z")

Spans = Sequence[tuple[int, int]]


def check_pair(pair: Pair, attribute: Attribute) -> tuple[str, ...]:
    """Check a pair that was made by hand, by a template or by a model.

    In addition to the checks of :func:`generate_pairs`, only mentions may change, each to one of
    the same role and number, so the masked texts must be equal. In languages other than English
    words around a mention may change to agree with it. Where a text omits an unmarked group ("a
    person" for "a wheelchair user"), words around the mention may be omitted too.

    Parameters
    ----------
    pair : Pair
        The pair. Its groups may be aliases. Missing edits and a missing `variant` are derived from
        the texts.
    attribute : str, Lexicon or tuple of two of these
        Name of a shipped lexicon, or a lexicon.

    Returns
    -------
    tuple of str
        What is wrong, in words; empty for a valid pair.

    Raises
    ------
    ValueError
        If the attribute or a group is unknown, or this is not a pair of texts.

    Examples
    --------
    >>> from pytest_llmfair.counterfactuals import Pair
    >>> texts = "She lost her keys.", "He lost her keys."
    >>> check_pair(Pair(*texts, "female", "male", (), "gender"), "gender")
    ("a term of the source group is left: 'her' names female",)
    """
    if not isinstance(pair, Pair):
        raise ValueError(
            f"{str(pair)[:40]!r} is a {type(pair).__name__}; give a Pair(original, "
            "counterfactual, from_group, to_group, (), attribute)"
        )
    for text in (pair.original, pair.counterfactual):
        check_is_text(text)
    lexicon = lexicon_for(attribute, (pair.from_group, pair.to_group))
    return reasons_invalid(pair, lexicon, lexicons_that_may_change(lexicon))


def check_is_text(text: object) -> None:
    """Raise ``ValueError`` unless this is a text."""
    if not isinstance(text, str):
        raise ValueError(f"the text is {str(text)[:40]!r}, a {type(text).__name__}; give a text")


def lexicons_that_may_change(lexicon: Lexicon) -> tuple[Lexicon, ...]:
    """Return the lexicons whose words may change; gendered pronouns follow a name."""
    return (lexicon, load_lexicons()["gender"]) if lexicon.name in NAMES else (lexicon,)


def reasons_invalid(
    pair: Pair, lexicon: Lexicon, also_allowed: Sequence[Lexicon]
) -> tuple[str, ...]:
    """Return the defects of a user's pair; see :func:`check_pair`."""
    groups = lexicon.group(pair.from_group), lexicon.group(pair.to_group)
    if groups[0] == groups[1]:
        return (f"both members name the same group, as in a placebo: {groups[0]}",)
    found, twin = _read(pair, lexicon, groups)
    named, named_twin = ({sense.group for *_, sense in each} for each in (found, twin))
    if not pair.variant:
        omittable, implied_before = (
            lexicon.left_unsaid(*groups),
            lexicon.left_unsaid(*groups[::-1]),
        )
        if omittable and named_twin.isdisjoint(omittable.values()):
            pair = replace(pair, variant=OMISSION)
        elif implied_before and named.isdisjoint(implied_before.values()):
            texts = pair.counterfactual, pair.original
            swapped = Pair(*texts, *groups[::-1], (), pair.attribute, OMISSION)
            return reasons_invalid(swapped, lexicon, also_allowed)
    if pair.edits and (reason := misplaced_edit(pair)) is not None:
        return (reason,)
    pair = replace(pair, from_group=groups[0], to_group=groups[1])
    spans, spans_twin = ([(start, end) for start, end, _ in each] for each in (found, twin))
    if pair.variant == OMISSION:  # "users' votes" and "people's votes"
        text = pair.original
        spans = [(start, end + len(possessive_after(text, end))) for start, end in spans]
    if not pair.edits:
        edits = edits_between(pair.original, pair.counterfactual, spans, spans_twin)
        pair = replace(pair, edits=tuple(p for e in edits for p in _parts(e, spans, spans_twin)))
    senses = {
        (start, stop): sense
        for start, end, sense in reversed(found)  # the first of two counts
        if sense.entry is not None
        for stop in (end + len(possessive_after(pair.original, end)), end)
    }
    to = {groups[0]: groups[1]}
    edited = {senses[span].group for e in pair.edits if (span := (e.start, e.end)) in senses}
    spread = lexicon.spread(to)
    if not edited.isdisjoint(spread.values()):  # the two change places
        if named.isdisjoint(spread):
            return (f"the groups are swapped: the original names {groups[1]}",)
        to[groups[1]] = groups[0]
    exchange = exchange_of(lexicon, to)
    left_out = exchange.omittable if pair.variant == OMISSION else {}
    changes = [_change(edit, groups[0], senses, exchange.spread, left_out) for edit in pair.edits]
    case = read_pair(pair, changes, lexicon, exchange.absent_groups(pair.variant), found, twin)
    return (*failed_checks(case), *_not_minimal(case, also_allowed))


def _read(pair: Pair, lexicon: Lexicon, groups: tuple[str, str]) -> tuple[Reading, Reading]:
    """Return the readings of both members; edits settle uncertain words."""
    found, twin = lexicon.read(pair.original), lexicon.read(pair.counterfactual)
    if not found.doubts and not twin.doubts:
        return found, twin
    edits = edits_between(pair.original, pair.counterfactual)
    there = [(edit.start, edit.end, edit.after) for edit in edits]
    back = [
        (edit.counterfactual_start, edit.counterfactual_start + len(edit.after), edit.before)
        for edit in edits
    ]
    to = lexicon.spread({groups[0]: groups[1], groups[1]: groups[0]})
    becomes = {**to, **{after: before for before, after in to.items() if after not in to}}

    def counterpart(sense: Sense) -> str | None:
        return lexicon.counterpart(sense, becomes.get(sense.group, ""))

    settled, settled_twin = found.settled(there, counterpart), twin.settled(back, counterpart)
    # A word that is uncertain in one member and does not change is read alike in the other.
    stays = _starts(found) - _starts(settled)
    stays_twin = _starts(twin) - _starts(settled_twin)
    stays_twin |= {start + _shift(there, start) for start in stays}
    stays |= {start + _shift(back, start) for start in stays_twin}
    return (
        Reading(each for each in settled if each[0] not in stays),
        Reading(each for each in settled_twin if each[0] not in stays_twin),
    )


def _starts(reading: Reading) -> set[int]:
    return {start for start, *_ in reading}


def _shift(edits: Sequence[tuple[int, int, str]], at: int) -> int:
    """Return the distance by which the edits before a place move it."""
    return sum(len(after) - (end - start) for start, end, after in edits if start < at)


def _change(
    edit: Edit,
    group: str,
    senses: Mapping[tuple[int, int], Sense],
    to: Mapping[str, str],
    left_out: Mapping[str, str],
) -> Change:
    sense = senses.get((edit.start, edit.end))
    if sense is None or not edit.after or sense.group in left_out:
        return Change(edit.start, edit.end, edit.after, group)
    becomes = to.get(sense.group, sense.group)
    return Change(edit.start, edit.end, edit.after, group, sense, becomes)


def _parts(edit: Edit, spans: Spans, spans_twin: Spans) -> Iterator[Edit]:
    """Split words that lead to a mention from it, as an exchange does: "church", "the mosque"."""
    at, place = edit.start, edit.counterfactual_start
    lead = _lead(at, edit.before, spans)
    leads = _lead(place, edit.after, spans_twin)
    if lead is None or leads is None or lead == leads or not at:
        yield edit
        return
    # The space before the mention is that of both texts: "to", " the", " mosque".
    before, after = (f" {each}".removesuffix(" ") for each in (lead, leads))
    yield Edit(at - 1, at - 1 + len(before), before, after, place - 1)
    at, place = at + len(lead), place + len(leads)
    yield Edit(at, edit.end, edit.before[len(lead) :], edit.after[len(leads) :], place)


def _lead(start: int, part: str, spans: Spans) -> str | None:
    """Return the words before the mentions at the end of an edit; None without a mention."""
    end = start + len(part)
    inside = [span for span in spans if start <= span[0] and span[1] <= end]
    ended = any(stop == end for _, stop in inside)
    return part[: min(inside)[0] - start] if ended else None


def _not_minimal(case: PairUnderTest, also_allowed: Sequence[Lexicon]) -> tuple[str, ...]:
    """Return the changes beyond the mentions; judged only for English."""
    if (reason := _slur_added(case)) is None and case.lexicon.language == "en":
        if case.pair.variant == OMISSION:
            reason = next(_wrongly_omitted(case), None)
        else:
            reason = _changed_outside(case.pair, also_allowed) or _role_or_number_changed(case)
    return () if reason is None else (reason,)


def _slur_added(case: PairUnderTest) -> str | None:
    """Say which slur is written where none stood: the insult would be measured as the group."""
    for _, sense, edit in case.named:
        end, meant = case.twin.get(edit.counterfactual_start, (0, sense))
        if _is_slur(meant) and not _is_slur(sense):
            word = case.pair.counterfactual[edit.counterfactual_start : end]
            return f"a replacement is a slur: {word!r}"
    return None


def _is_slur(sense: Sense) -> bool:
    return sense.entry is not None and sense.entry.register(sense.term) == "slur"


def _changed_outside(pair: Pair, also_allowed: Sequence[Lexicon]) -> str | None:
    """Return the difference outside the mentions; the masked texts must be equal."""
    texts = [pair.original, pair.counterfactual]
    they = len({bool(_THEY.search(text)) for text in texts}) > 1
    for lexicon in also_allowed:
        texts = [lexicon.mask(text) for text in texts]
    if texts[0] == texts[1]:
        return None
    original, twin = (text.replace(MASK, _HOLE) for text in texts)
    for edit in edits_between(original, twin):
        # "Miss Lane", "Mr. Lane"
        point = {edit.before, edit.after} == {"", "."} and original[edit.start - 1] == _HOLE
        if not point and not (they and _agrees(edit, original)):
            return _difference(
                *(part.replace(_HOLE, _SHOWN) for part in (edit.before, edit.after))
            )
    return None


def _agrees(edit: Edit, text: str) -> bool:
    """Whether a verb follows the number of "they": "he was", "they were"; "asks", "ask"."""
    before, after = edit.before.lower(), edit.after.lower()
    if after == _AGREEING.get(before) or before == _AGREEING.get(after):
        return True
    one, other = sorted((before, after), key=len)
    follows = _AFTER_MENTION.search(text, max(0, edit.start - _NEAR), edit.start) is not None
    return follows and other in (f"{one}s", f"{one}es", f"{one[:-1]}ies")


def _difference(before: str, after: str) -> str:
    both = f"{before}{after}"
    if not both.strip():
        return f"spaces change: {before!r} -> {after!r}"
    if not both.replace(_SHOWN, "").strip():
        return f"one text has more mentions than the other: {before!r} -> {after!r}"
    if not before.strip():
        return f"text outside a mention was added: {after!r}"
    if not after.strip():
        return f"text outside a mention was removed: {before!r}"
    if before.strip() == _SHOWN:
        return f"a mention became a word that names no group: {after!r}"
    if after.strip() == _SHOWN:
        return f"a word that names no group became a mention: {before!r}"
    return f"text outside a mention changed: {before!r} -> {after!r}"


def _role_or_number_changed(case: PairUnderTest) -> str | None:
    """Return the mention that changes role or number: "she cooks", "boys cooks"."""
    twin = sorted((start, end, sense) for start, (end, sense) in case.twin.items())
    starts = Counter(start for start, _, _ in case.found)
    if len(twin) != len(case.found):  # one word for two attributes: "Latina", "Black woman"
        return None
    texts, lexicon = (case.pair.original, case.pair.counterfactual), case.lexicon
    for (start, end, sense), (at, stop, other) in zip(case.found, twin, strict=True):
        if sense.entry is None or other.entry is None or sense.group == other.group:
            continue
        if starts[start] > 1 or sense.negated or other.negated:
            continue
        senses = [own for own in lexicon.senses(other.term) if own.group == other.group]
        if any(own.entry and sense.term in own.entry.terms.get(sense.group, ()) for own in senses):
            continue  # they stand for each other in some line of the lexicon
        # "Blind person" is one mention, as "wheelchair user" is.
        person = lexicon.person_after(texts[0], end, sense)
        person_twin = lexicon.person_after(texts[1], stop, other)
        before = texts[0][start : person.end() if person else end]
        after = texts[1][at : person_twin.end() if person_twin else stop]
        written = lexicon.counterpart(sense, other.group) or ""
        if written and f"{after} ".casefold().startswith(f"{written} ".casefold()):
            continue  # "Asian Americans" for "Black Americans": one mention for two
        role = "noun" if person else sense.role
        if role not in (("noun",) if person_twin else [own.role for own in senses]):
            return f"a replacement has another grammatical role: {before!r} -> {after!r}"
        if sense.role not in PRONOUNS and _is_plural(before) != _is_plural(after):
            return f"a replacement has another grammatical number: {before!r} -> {after!r}"
    return None


def _is_plural(term: str) -> bool:
    return _PLURAL.search(_HEAD.split(term.lower(), maxsplit=1)[0]) is not None


def _wrongly_omitted(case: PairUnderTest) -> Iterator[str]:
    """Yield edits with words that do not belong to an omitted mention."""
    named = [(start, end) for start, end, _ in case.found]
    named_twin = [(start, end) for start, (end, _) in case.twin.items()]
    nouns = {word for noun in case.lexicon.neutral_nouns.values() for word in noun.split()}
    for edit in case.pair.edits:
        lost, mentions = _words(edit.before, edit.start, named)
        new, _ = _words(edit.after, edit.counterfactual_start, named_twin)
        known = {word.lower() for word in (*lost, *mentions, *nouns)}
        came = [word for word in new if word not in known and not is_one_of(word, "articles")]
        went = [word for word in lost if word not in new and not _may_be_omitted_too(word)]
        sides = edit.before.lower(), edit.after.lower()
        article = all(is_one_of(side, "articles") for side in sides)
        if came or went or not (mentions or article or sides[0] == sides[1]):
            yield _difference(edit.before, edit.after)


def _words(part: str, start: int, named: Spans) -> tuple[list[str], list[str]]:
    """Return the lower-case words of a part of a text, outside and inside the mentions."""
    found: tuple[list[str], list[str]] = ([], [])
    for word in re.finditer(WORD, part):
        at = start + word.start()
        named_too = any(first <= at < last for first, last in named)
        found[named_too].append(_CLITIC.sub("", word[0].lower()))
    return found


def _may_be_omitted_too(word: str) -> bool:
    """Whether a word can be omitted with a mention: "who is totally" with "blind"."""
    known = is_one_of(word, "closed") or is_one_of(word, "degrees")
    return known or word in _LIVES or is_ly_adverb(word)


def checked_pairs(pairs: Sequence[Any]) -> tuple[Pairs, list[int]]:
    """Check the pairs of a list that have not been checked yet."""
    kept: dict[int, Any] = {}
    rejected: list[Rejected] = []
    lacks = dict.fromkeys(getattr(pairs, "lacks", ()))
    for row, pair in enumerate(pairs):
        if getattr(pair, "checked", False) or why_unchecked(pair):
            kept[row] = pair
            continue
        lexicon = lexicon_of_pair(pair)
        lacks |= dict.fromkeys(lexicon.lacks)
        if reasons := check_pair(pair, lexicon):
            rejected.append(Rejected(pair, reasons))
        else:
            kept[row] = marked(replace(pair))
    before = Pairs(pairs)  # with what was left out of them
    rejected = [*before.rejected, *rejected]
    before[:] = kept.values()
    return Pairs(before, rejected=rejected, lacks=lacks), list(kept)


def why_unchecked(pair: Any) -> str:
    """Return the reason no shipped lexicon can judge a pair; "" if one can."""
    if not isinstance(pair, Pair):
        return f"a {type(pair).__name__} is not a Pair"
    try:
        lexicon = lexicon_of_pair(pair)
        for group in (pair.from_group, pair.to_group):
            lexicon.group(group)
    except ValueError as error:
        return str(error)
    if any(lexicon.read(text).with_doubts() for text in (pair.original, pair.counterfactual)):
        return ""
    return f"the lexicon {lexicon.name} has no word of either text"
