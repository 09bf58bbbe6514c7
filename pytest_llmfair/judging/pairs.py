"""Pairs of prompts: their groups and sampling units, and the comparisons of every two groups."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair._util.wording import plural
from pytest_llmfair.judging.inputs import MetricInputs, count_missing, has_answers, missing_data_of
from pytest_llmfair.responses import Answer, Pair, PairedResponses
from pytest_llmfair.stats import Finding

Answers = Sequence[Answer]
Member = tuple[str, str, Answers, str]


NO_CLIENT = (
    "pairs need client=... to answer them, or hand over their answers (those of "
    "fairness.collect(pairs), where fairness.check is to judge them)"
)


def is_pair(item: Any) -> bool:
    """Return whether an item is a pair of prompts."""
    return hasattr(item, "original") and hasattr(item, "counterfactual")


def pairs_in(source: Any) -> Sequence[Any]:
    """Return the pairs of a list, or of the answers to it; none where it holds anything else."""
    listed = source.pairs if isinstance(source, PairedResponses) else source
    # The first item tells arrays from pairs: rows of an array are not looked at one by one.
    if not isinstance(listed, (list, tuple)) or not listed or not is_pair(listed[0]):
        return ()
    return listed if all(map(is_pair, listed)) else ()


def groups_of(pairs: Sequence[Any]) -> tuple[str, ...]:
    """Return the groups that pairs compare, in order of appearance."""
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


def pair_units(pairs: Iterable[Any]) -> list[str]:
    """Return one label per pair, equal for pairs that share a text or filler, also by a third."""
    # Answers to the same words are one sampling unit, and so are the pairs of one filler in
    # several templates, since they share what the model makes of it.
    above: dict[Any, Any] = {}

    def top(text: Any) -> Any:
        while (higher := above.setdefault(text, text)) != text:
            above[text] = above[higher]
            text = higher
        return text

    listed = list(pairs)
    for pair in listed:
        first = top(pair.original)
        filler = getattr(pair, "filler", "")
        # A tuple is no text of a prompt.
        shared = (pair.counterfactual, getattr(pair, "placebo", None), filler and (filler,))
        for text in filter(None, shared):
            above[top(text)] = first
    return [top(pair.original) for pair in listed]


def fixed_wordings(pairs: Sequence[Any]) -> Finding | None:
    """Say that templates are fixed, where the fillers that they share are the units."""
    made = [pair for pair in pairs if getattr(pair, "filler", "")]
    templates = len({pair.template for pair in made})
    fillers = len({pair.filler for pair in made})
    if len(made) < len(pairs) or len({(pair.template, pair.filler) for pair in made}) == fillers:
        return None
    text = (
        f"the {templates} templates share {plural('filler', fillers)}, which are the sampling "
        "units: the value is for other fillers too, and for these templates only"
    )
    return Finding("fixed_wordings", text, "note")


def wanted_groups(
    known: Sequence[str], groups: Sequence[str] | None, reference: str | None
) -> list[tuple[str, str]]:
    """Return the comparisons asked for, in the order of the groups."""
    chosen = list(known)
    if groups is not None:
        if isinstance(groups, str) or not isinstance(groups, Sequence) or len(set(groups)) < 2:
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


@dataclass(frozen=True, slots=True)
class TwoGroups:
    """Answers to all prompts that two groups share, the same group first in each, with units."""

    responses: PairedResponses
    units: list[Any]


def comparisons_of(
    responses: PairedResponses,
    wanted: Sequence[tuple[str, str]],
    units: Sequence[Any] | None = None,
    *,
    placebo: bool = False,
) -> dict[tuple[str, str], TwoGroups]:
    """Split answers to pairs of several groups into one comparison for every two groups."""
    # Two twins of one prompt have no placebo in common: `placebo` pairs stay as they were made.
    labels = pair_units(responses.pairs) if units is None else units
    members = _as_made if placebo else _by_family
    found: dict[tuple[str, str], list[Any]] = {key: [] for key in wanted}
    for first, second, made, twin, label in members(responses, labels):
        key = (first[0], second[0])
        if key in found:
            pair = made or _between(first, second, responses.pairs[0])
            found[key].append((pair, first[2], second[2], twin, label))
        elif key[::-1] in found:
            # A pair stays as it was made: its placebo rewords the original.
            a, b = (first, second) if made else (second, first)
            pair = made or _between(a, b, responses.pairs[0])
            found[key[::-1]].append((pair, a[2], b[2], twin, label))
    return {
        key: TwoGroups(
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


def _as_made(
    responses: PairedResponses, labels: Sequence[Any]
) -> Iterable[tuple[Member, Member, Any, Sequence[Answer], Any]]:
    twins = responses.placebo or ((),) * len(responses)
    for pair, answers, twin, label in zip(responses.pairs, responses, twins, labels, strict=True):
        yield *_members(pair, answers), pair, twin, label


def _by_family(
    responses: PairedResponses, labels: Sequence[Any]
) -> Iterable[tuple[Member, Member, Any, Sequence[Answer], Any]]:
    families: dict[str, dict[tuple[str, str], Member]] = {}
    label_of: dict[str, Any] = {}
    for pair, answers, label in zip(responses.pairs, responses, labels, strict=True):
        family = families.setdefault(pair.original, {})
        label_of.setdefault(pair.original, label)
        for member in _members(pair, answers):
            family.setdefault(member[:2], member)
    for text, family in families.items():
        for first, second in itertools.combinations(family.values(), 2):
            if first[0] != second[0]:
                yield first, second, None, (), label_of[text]


def _members(
    pair: Any, answers: tuple[Sequence[Answer], Sequence[Answer]]
) -> tuple[Member, Member]:
    """Return group, prompt, answers and variant of both members of a pair."""
    return (
        (str(pair.from_group), pair.original, answers[0], ""),
        (str(pair.to_group), pair.counterfactual, answers[1], getattr(pair, "variant", "")),
    )


def _between(first: Member, second: Member, like: Any) -> Any:
    """Return the pair of two texts; both passed the checks as twins of one prompt."""
    variant = "omission" if "omission" in (first[3], second[3]) else ""
    attribute = str(getattr(like, "attribute", ""))
    return Pair(first[1], second[1], first[0], second[0], (), attribute, variant)


def inputs_of_groups(
    responses: PairedResponses,
    labels: Sequence[Any],
    parts: Sequence[MetricInputs],
    worst: MetricInputs,
    max_missing: float,
) -> MetricInputs:
    """Return the inputs of several comparisons: all that was asked, and the worst two's rows."""
    asked: dict[str, dict[str, Sequence[Answer]]] = {}
    for pair, (a, b) in zip(responses.pairs, responses, strict=True):
        asked.setdefault(str(pair.from_group), {})[pair.original] = a
        asked.setdefault(str(pair.to_group), {})[pair.counterfactual] = b
    rows = {group: list(texts.values()) for group, texts in asked.items()}
    counts = count_missing(rows, max_missing)
    findings = list(counts.findings)
    if empty := sum(not has_answers(row, False) for texts in rows.values() for row in texts):
        text = f"{empty} of {sum(map(len, rows.values()))} prompts have no answer"
        findings.append(Finding("prompts_without_answer", text, "note"))
    units = dict(zip([pair.original for pair in responses.pairs], labels, strict=True))
    units |= {pair.counterfactual: units[pair.original] for pair in responses.pairs}
    missing_data = missing_data_of(
        list(rows.values()), tuple(rows), [[units[text] for text in asked[g]] for g in asked]
    )
    if missing_data.share:
        share = max(part.missing_data.share for part in parts)
        missing_data = replace(missing_data, share=share)
    first, *others = parts
    # What holds for some comparisons only is not a property of the whole.
    for each in first.findings:
        if each.kind != "invalid" and all(each in other.findings for other in others):
            findings.append(each)
        elif each.kind == "flag" and all(each.code in other.reasons for other in others):
            findings.append(Finding(each.code))
    known = {each.code for each in findings}
    for part in parts:
        for code, why in part.invalid.items():
            if code not in known:
                known.add(code)
                text = f"{' and '.join(part.labels)}: {why}"
                findings.append(Finding(code, text, "invalid"))
    return replace(
        worst,
        asked=0,
        every=asked,
        missing=counts.missing,
        cut=counts.cut,
        missing_data=missing_data,
        findings=tuple(findings),
    )
