"""Answers about several groups: every two are compared, and the worst two decide."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.judging.inputs import MetricInputs, judge_missing, texts_of, usable
from pytest_llmfair.judging.missing_data import losses_of
from pytest_llmfair.judging.pairing import groups_of, is_pair, pair_units
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.responses import Answer, PairedResponses
from pytest_llmfair.stats import Estimate, WorstGroups


@dataclass(frozen=True, slots=True)
class Compare:
    """How answers to pairs are compared.

    Attributes
    ----------
    groups : sequence of str or None
        Groups to compare, two or more; by default all of the pairs.
    reference : str or None
        Compare each group with this one only.
    mask : bool
        Whether words of the pairs' own attribute are masked before texts are compared.
    placebo : bool
        Whether the noise floor comes from placebo twins.
    floor : bool
        Whether a FAIL needs a noise floor.
    text : bool
        Whether the excess reads as a share of changed answers: true of texts, not of scores.
    adapt : callable or None
        What is judged of the metric's estimate, when that is not the value.
    """

    groups: Sequence[str] | None = None
    reference: str | None = None
    mask: bool = True
    placebo: bool = False
    floor: bool = True
    text: bool = False
    adapt: Callable[[Estimate, MetricInputs], Estimate] | None = None

    def wanted(self, pairs: Sequence[Any]) -> list[tuple[str, str]]:
        """Return the comparisons that are asked for, or raise ``ValueError``."""
        return wanted_groups(groups_of(pairs), self.groups, self.reference)


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
    known: Sequence[str],
    *,
    groups: Sequence[str] | None = None,
    reference: str | None = None,
    units: Sequence[Any] | None = None,
    placebo: bool = False,
) -> dict[tuple[str, str], Comparison]:
    """Part answers to pairs of several groups into one comparison for every two groups.

    A prompt about one group and its twins about others are one family; two groups are compared
    on all families that have both, so also by two twins of one prompt. With `placebo` pairs are
    compared as they were made: two twins of one prompt have no placebo in common. Without `units`
    pairs that share a text, or share it with a third, are one. Raises ``ValueError`` if a group is
    not among the `known` ones.
    """
    wanted = wanted_groups(known, groups, reference)
    labels = pair_units(responses.pairs) if units is None else units
    twins = responses.placebo or ((),) * len(responses)
    Member = tuple[str, str, Sequence[Answer], str]
    families: dict[str, dict[tuple[str, str], Member]] = {}
    label_of: dict[str, Any] = {}
    found: dict[tuple[str, str], list[Any]] = {key: [] for key in wanted}

    def add(first: Member, second: Member, like: Any, label: Any) -> None:
        key = (first[0], second[0])
        if key not in found:
            first, second, key = second, first, (second[0], first[0])
        if key in found:
            pair = _between(first, second, like)
            found[key].append((pair, first[2], second[2], (), label))

    for pair, (a, b), twin, label in zip(responses.pairs, responses, twins, labels, strict=True):
        sides = (
            (str(pair.from_group), pair.original, a, ""),
            (str(pair.to_group), pair.counterfactual, b, getattr(pair, "variant", "")),
        )
        if placebo:
            # As it was made: the placebo rewords the original, whichever group that is about.
            named = (sides[0][0], sides[1][0])
            key = named if named in found else named[::-1]
            if key in found:
                found[key].append((pair, a, b, twin, label))
            continue
        family = families.setdefault(pair.original, {})
        label_of.setdefault(pair.original, label)
        for side in sides:
            family.setdefault(side[:2], side)
    like = responses.pairs[0]
    for text, family in families.items():
        for first, second in itertools.combinations(family.values(), 2):
            if first[0] != second[0]:
                add(first, second, like, label_of[text])
    return {
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


def evidence_of_groups(
    responses: PairedResponses,
    labels: Sequence[Any],
    parts: Sequence[MetricInputs],
    worst: MetricInputs,
    max_missing: float,
) -> MetricInputs:
    """Return the evidence of several comparisons: all that was asked, and the worst two's rows."""
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
    units = dict(zip([pair.original for pair in responses.pairs], labels, strict=True))
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
            whole.invalid.setdefault(code, f"{' and '.join(part.labels)}: {words}")
    return whole


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


def _between(first: Any, second: Any, like: Any) -> Any:
    """Return the pair of two texts; they passed the checks as twins of one prompt."""
    from pytest_llmfair.counterfactuals import Pair

    variant = "omission" if "omission" in (first[3], second[3]) else ""
    attribute = str(getattr(like, "attribute", ""))
    return Pair(first[1], second[1], first[0], second[0], (), attribute, variant)


def compare_of(info: MetricInfo, source: Any, keywords: dict[str, Any]) -> Compare:
    """Take from the keywords how answers to pairs are compared; arrays have no such choice."""
    pairs = isinstance(source, PairedResponses) or (
        isinstance(source, (list, tuple)) and len(source) > 0 and is_pair(source[0])
    )
    if not pairs:
        return Compare(mask=False)
    masked = "mask" not in keywords or keywords["mask"] == "attribute"
    if masked or info.needs == "embedding_pairs":
        keywords.pop("mask", None)
    return Compare(
        keywords.pop("groups", None),
        keywords.pop("reference", None),
        mask=masked,
        text=info.needs == "text_pairs",
    )


def measure_every_two(
    info: MetricInfo,
    responses: PairedResponses,
    parts: Mapping[tuple[str, str], Comparison],
    max_missing: float,
    units: Sequence[Any] | None,
    measure_one: Callable[..., tuple[MetricInputs, Estimate]],
) -> tuple[MetricInputs, Estimate]:
    """Measure every comparison of two groups, and return the worst."""
    if info.direction == "two-sided":
        raise ValueError(
            f"{info.name} is fair in the middle of its range, so that no two of {len(parts)} "
            "comparisons are the worst; give groups=(one, other)"
        )
    texts = [pair.original for pair in responses.pairs]
    texts += [pair.counterfactual for pair in responses.pairs]
    rows = dict(zip(texts, responses.original + responses.counterfactual, strict=True)).values()
    # Repeats count once only where all of them are identical, in all groups.
    repeats = [row for row in map(texts_of, rows) if len(row) > 1]
    same = all(len(set(row)) == 1 for row in repeats)
    measured = {
        key: measure_one(part.responses, units=part.units, fixed=not same)
        for key, part in parts.items()
    }
    estimate = WorstGroups.of_parts(
        {key: each for key, (_, each) in measured.items()},
        info.direction,
        units=len({label for part in parts.values() for label in part.units}),
        generations=sum(map(len, rows)),
    )
    worst = getattr(estimate, "worst", next(iter(parts)))
    return (
        evidence_of_groups(
            responses,
            pair_units(responses.pairs) if units is None else units,
            [each for each, _ in measured.values()],
            measured[worst][0],
            max_missing,
        ),
        estimate,
    )
