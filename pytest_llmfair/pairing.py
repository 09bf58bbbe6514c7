"""From answers to counterfactual pairs to two sides of texts, with what the pairs left behind."""

from __future__ import annotations

import difflib
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.evidence import (
    Evidence,
    Texts,
    judge_missing,
    note_left_out,
    note_sameness,
    texts_of,
    usable,
)
from pytest_llmfair.losses import losses_of
from pytest_llmfair.responses import Answer, PairedResponses, left_behind

_MOST_REASONS = 3
_MOST_WORDS = 5
_NOBODY_ASKED = "nothing was asked, since no answer could be judged"


def paired_texts(
    responses: PairedResponses,
    max_missing: float,
    *,
    fixed: bool = False,
    whole: bool = False,
    placebo: bool = False,
    units: Sequence[Any] | None = None,
) -> tuple[Evidence, Texts, Texts, list[Any]]:
    """Return the answers of either side with missing ones left out and counted.

    Of pairs of two groups. Sides are groups: a pair that goes the other way round is turned, so
    that the first side is always the group that the first pair starts from. With `whole` a pair
    that misses one answer is left out, and repeats stay as they are. With `placebo` the answers to placebo twins are counted
    and kept too; a pair without them stays. Without `units` pairs that share a text are one.
    """
    if not responses.pairs and responses.rejected:
        return Evidence(undefined=_NOBODY_ASKED), [], [], []
    first = responses.pairs[0]
    sides = (str(first.from_group), str(first.to_group))
    evidence = Evidence(labels=sides, model=responses.model, asked=len(responses))
    evidence.origin = responses.origin
    evidence.attribute = str(getattr(responses.pairs[0], "attribute", ""))
    prompts, rows_a, rows_b = [], [], []
    asked: dict[str, list[Sequence[Answer]]] = {side: [] for side in sides}
    twins = responses.placebo if placebo else ()
    if any(twins):
        asked["placebo"] = [row for row in twins if row]
    for i, (pair, (a, b)) in enumerate(zip(responses.pairs, responses, strict=True)):
        texts = (pair.original, pair.counterfactual)
        turned = pair.from_group != sides[0]
        if turned:
            texts, a, b = (texts[1], texts[0]), b, a
        asked[sides[0]].append(a)
        asked[sides[1]].append(b)
        if usable(a, whole) and usable(b, whole):
            evidence.kept.append(i)
            evidence.turned.append(turned)
            evidence.placebo.append(texts_of(twins[i]) if twins else [])
            prompts.append(texts)
            rows_a.append(texts_of(a))
            rows_b.append(texts_of(b))
    judge_missing(evidence, asked, max_missing)
    note_left_out(evidence, len(responses) - len(rows_a), len(responses), "pairs")
    if rows_a:
        rows_a, rows_b, evidence.placebo = note_sameness(
            evidence,
            [a for a, _ in prompts],
            rows_a,
            rows_b,
            evidence.placebo,
            fixed=fixed or whole,
        )
    evidence.prompts = list(prompts)
    evidence.outputs = list(zip(rows_a, rows_b, strict=True))
    units = pair_units(responses.pairs) if units is None else units
    evidence.losses = losses_of([asked[side] for side in sides], sides, [units, units])
    return evidence, rows_a, rows_b, [units[i] for i in evidence.kept]


def pair_units(pairs: Iterable[Any]) -> list[str]:
    """Return one label per pair, the same for pairs that share a text, or share it with a third.

    Twins of one prompt, a prompt and its mirror image, and variants of one pair are answers to
    the same words: one sampling unit, however many pairs they are.
    """
    above: dict[str, str] = {}

    def top(text: str) -> str:
        while (higher := above.setdefault(text, text)) != text:
            above[text] = above[higher]
            text = higher
        return text

    listed = list(pairs)
    for pair in listed:
        first = top(pair.original)
        for text in (pair.counterfactual, getattr(pair, "placebo", None)):
            if text is not None:
                above[top(text)] = first
    return [top(pair.original) for pair in listed]


def is_pair(item: Any) -> bool:
    """Tell whether an item is a pair of prompts."""
    return hasattr(item, "original") and hasattr(item, "counterfactual")


def judge_selection(evidence: Evidence, source: Any, max_invalid: float) -> None:
    """Say what was left out before anything was asked; too many rejected pairs are invalid.

    `source` is the set of pairs, or the answers to it; anything else left nothing out.
    """
    beside = left_behind(source)
    rejected, lost = beside["rejected"], beside["lost"]
    evidence.rejected, evidence.lacks = len(rejected), beside["lacks"]
    if rejected:
        n, total, most = len(rejected), len(rejected) + len(source), commonest(rejected)
        if n / total > max_invalid:
            evidence.invalid["invalid_pairs"] = (
                f"{n} of {total} pairs ({n / total:.1%}) failed the validity checks, more than "
                f"max_invalid = {max_invalid:.0%}; most often: {most}; reword the prompts that "
                "table() of the pairs lists as rejected (of a pair of your own check_pair tells "
                "what is wrong), or raise max_invalid"
            )
        else:
            evidence.reasons.append("pairs_left_out")
            evidence.notes.append(f"{n} of {total} pairs left out as invalid: {most}")
    if lost:
        evidence.reasons.append("prompts_left_out")
        evidence.notes.append(
            f"prompts left out, for the lexicon has no counterpart of {named(lost)}"
        )
    if n := beside["unmentioned"]:
        evidence.notes.append(
            f"{n} {'prompt names' if n == 1 else 'prompts name'} no group that "
            "is exchanged, and gave no pair"
        )


def unfit(source: Any, max_invalid: float) -> Evidence | None:
    """Return what is to be said of pairs that nobody needs to answer: too many are invalid."""
    evidence = Evidence(undefined=_NOBODY_ASKED)
    judge_selection(evidence, source, max_invalid)
    return evidence if evidence.invalid else None


def named(lost: Mapping[str, int]) -> str:
    """Return the words without a counterpart, each with its count."""
    words = [f"{word!r} ({n})" for word, n in lost.items()]
    more = f" and {len(words) - _MOST_WORDS} more" if len(words) > _MOST_WORDS else ""
    return f"{', '.join(words[:_MOST_WORDS])}{more}"


def commonest(rejected: Sequence[Any]) -> str:
    """Return the failed checks in words, the most frequent first, each with its count."""
    # Behind the colon stands where in the prompt: not the same twice, and not for every report.
    counts = Counter(reason.partition(":")[0] for one in rejected for reason in one.reasons)
    shown = [f"{reason} ({n})" for reason, n in counts.most_common(_MOST_REASONS)]
    more = len(counts) - _MOST_REASONS
    return ", ".join(shown) + (f" and {more} more" if more > 0 else "")


def groups_of(pairs: Sequence[Any]) -> tuple[str, ...]:
    """Return the groups that pairs compare, in order of appearance.

    Raises
    ------
    ValueError
        If there is no pair, or one compares a group with itself.
    """
    if not pairs:
        raise ValueError(
            "there are no pairs; a prompt without a mention of the attribute gives none"
        )
    groups: dict[str, None] = {}
    for i, pair in enumerate(pairs):
        sides = (str(pair.from_group), str(pair.to_group))
        if sides[0] == sides[1]:
            raise ValueError(
                f"pair {i} compares {sides[0]} with itself; words of one group make a placebo "
                "twin (placebo=True), no pair"
            )
        groups |= dict.fromkeys(sides)
    return tuple(groups)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Answers to all prompts that two groups share.

    Attributes
    ----------
    responses : PairedResponses
        One pair a prompt; its first group is the first of the two everywhere.
    units : list
        Sampling unit of each pair: prompts made from one prompt are one unit.
    """

    responses: PairedResponses
    units: list[Any]


def comparisons_of(
    responses: PairedResponses,
    *,
    groups: Sequence[str] | None = None,
    reference: str | None = None,
    units: Sequence[Any] | None = None,
    placebo: bool = False,
) -> dict[tuple[str, str], Comparison]:
    """Part answers to pairs of several groups into one comparison for every two groups.

    A prompt about one group and its twins about others are one family; two groups are compared
    on all families that have both, so also by two twins of one prompt.

    Parameters
    ----------
    responses : PairedResponses
        Answers to pairs of any number of groups.
    groups : sequence of str, optional
        Compare these only, two or more.
    reference : str, optional
        Compare each group with this one only.
    units : sequence, optional
        One label per pair; by default pairs that share a text, or share it with a third, are one.
    placebo : bool
        Whether answers to placebo twins are needed: then pairs are compared as they were made,
        since two twins of one prompt have no placebo in common.

    Raises
    ------
    ValueError
        If a group is not among those of the pairs, or none are left to compare.
    """
    known = groups_of(responses.pairs)
    wanted = _wanted(known, groups, reference)
    labels = pair_units(responses.pairs) if units is None else units
    twins = responses.placebo or ((),) * len(responses)
    Member = tuple[str, str, Sequence[Answer]]
    families: dict[str, dict[tuple[str, str], Member]] = {}
    label_of: dict[str, Any] = {}
    found: dict[tuple[str, str], list[Any]] = {key: [] for key in wanted}

    def add(first: Member, second: Member, like: Any, label: Any, placebo: Any) -> None:
        key = (first[0], second[0])
        if key not in found:
            first, second, key = second, first, (second[0], first[0])
        if key in found:
            pair = _between(first, second, like)
            found[key].append((pair, first[2], second[2], placebo, label))

    for pair, (a, b), twin, label in zip(responses.pairs, responses, twins, labels, strict=True):
        sides = (
            (str(pair.from_group), pair.original, a),
            (str(pair.to_group), pair.counterfactual, b),
        )
        if placebo:
            add(*sides, pair, label, twin)
            continue
        family = families.setdefault(pair.original, {})
        label_of.setdefault(pair.original, label)
        for side in sides:
            family.setdefault(side[:2], side)
    like = responses.pairs[0]
    for text, family in families.items():
        for first, second in itertools.combinations(family.values(), 2):
            if first[0] != second[0]:
                add(first, second, like, label_of[text], ())
    made = {
        key: Comparison(
            replace(
                responses,
                pairs=tuple(row[0] for row in rows),
                original=tuple(row[1] for row in rows),
                counterfactual=tuple(row[2] for row in rows),
                placebo=tuple(row[3] for row in rows) if placebo else (),
            ),
            [row[4] for row in rows],
        )
        for key, rows in found.items()
        if rows
    }
    if not made:
        raise ValueError(
            f"no prompt is about two of the groups asked for; the pairs compare {', '.join(known)}"
        )
    return made


def evidence_of_groups(
    responses: PairedResponses, parts: Sequence[Evidence], worst: Evidence, max_missing: float
) -> Evidence:
    """Return the evidence of several comparisons: all that was asked, and the worst two's rows.

    Parameters
    ----------
    responses : PairedResponses
        All answers.
    parts : sequence of Evidence
        Of each comparison.
    worst : Evidence
        That of the worst two groups, whose rows are shown.
    max_missing : float
        Largest share of missing answers in a group.
    """
    whole = replace(worst, reasons=[], notes=[], invalid={}, asked=0)
    asked: dict[str, dict[str, Sequence[Answer]]] = {}
    for pair, (a, b) in zip(responses.pairs, responses, strict=True):
        asked.setdefault(str(pair.from_group), {})[pair.original] = a
        asked.setdefault(str(pair.to_group), {})[pair.counterfactual] = b
    rows = {group: list(texts.values()) for group, texts in asked.items()}
    judge_missing(whole, rows, max_missing)
    empty = sum(not usable(row, False) for texts in rows.values() for row in texts)
    if empty:
        whole.notes.append(f"{empty} of {sum(map(len, rows.values()))} prompts have no answer")
    units = dict(
        zip([p.original for p in responses.pairs], pair_units(responses.pairs), strict=True)
    )
    units |= {pair.counterfactual: units[pair.original] for pair in responses.pairs}
    whole.losses = losses_of(
        list(rows.values()), tuple(rows), [[units[text] for text in asked[g]] for g in asked]
    )
    if whole.losses.share:
        largest = max(part.losses.share for part in parts)
        whole.losses = replace(whole.losses, share=largest)
    # What holds for some comparisons only is no property of the whole.
    for name in ("reasons", "notes"):
        first, *others = (getattr(part, name) for part in parts)
        getattr(whole, name).extend(
            each for each in first if all(each in other for other in others)
        )
    for part in parts:
        for code, words in part.invalid.items():
            if code not in ("missing", "over_budget", "stale"):
                whole.invalid.setdefault(code, f"{' and '.join(part.labels)}: {words}")
    return whole


def _wanted(
    known: Sequence[str], groups: Sequence[str] | None, reference: str | None
) -> list[tuple[str, str]]:
    """Return the comparisons asked for, in the order of the groups."""
    chosen = list(known)
    if groups is not None:
        if isinstance(groups, str) or len(set(groups)) < 2:
            raise ValueError(f"groups is {groups!r}; give two groups or more to compare")
        chosen = [_known_group(group, known, "groups") for group in groups]
    if reference is None:
        return list(itertools.combinations(chosen, 2))
    first = _known_group(reference, known, "reference")
    return [(first, group) for group in chosen if group != first]


def _known_group(group: str, known: Sequence[str], argument: str) -> str:
    if group in known:
        return group
    near = difflib.get_close_matches(str(group), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the pairs compare {', '.join(known)}"
    raise ValueError(f"{argument} names {group!r}, and no pair is about it; {hint}")


def _between(first: Any, second: Any, like: Any) -> Any:
    """Return the pair of two texts; they passed the checks as twins of one prompt."""
    from pytest_llmfair.counterfactuals import Pair

    return Pair(first[1], second[1], first[0], second[0], (), str(getattr(like, "attribute", "")))
