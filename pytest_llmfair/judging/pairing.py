"""From answers to counterfactual pairs to two sides of texts, with what the pairs left behind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_llmfair.judging.inputs import (
    MetricInputs,
    Texts,
    judge_missing,
    note_left_out,
    note_sameness,
    texts_of,
    usable,
)
from pytest_llmfair.judging.missing_data import losses_of
from pytest_llmfair.judging.rules import LargestShares
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
) -> tuple[MetricInputs, Texts, Texts, list[Any]]:
    """Return the answers of either side with missing ones left out and counted.

    Of pairs of two groups. Sides are groups: a pair that goes the other way round is turned, so
    that the first side is always the group that the first pair starts from. With `whole` a pair
    that misses one answer is left out, and repeats stay as they are. With `placebo` the answers
    to placebo twins are counted and kept too; a pair without them stays. Without `units` pairs
    that share a text are one.
    """
    if not responses.pairs and (responses.rejected or responses.uncertain):
        return MetricInputs(undefined=_NOBODY_ASKED), [], [], []
    groups_of(responses.pairs)
    first = responses.pairs[0]
    sides = (str(first.from_group), str(first.to_group))
    evidence = MetricInputs(labels=sides, model=responses.model, asked=len(responses))
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


def judge_selection(evidence: MetricInputs, source: Any, shares: LargestShares) -> None:
    """Say what was left out before anything was asked; too many rejected pairs are invalid.

    `source` is the set of pairs, or the answers to it; anything else left nothing out.
    """
    beside = left_behind(source)
    rejected, lost = beside["rejected"], beside["lost"]
    evidence.rejected, evidence.lacks = len(rejected), beside["lacks"]
    if rejected:
        n, total, most = len(rejected), len(rejected) + len(source), commonest(rejected)
        if n / total > shares.invalid:
            evidence.invalid["invalid_pairs"] = (
                f"{n} of {total} pairs ({n / total:.1%}) failed the validity checks, more than "
                f"max_invalid = {shares.invalid:.0%}; most often: {most}; reword the prompts that "
                "table() of the pairs lists as rejected (of a pair of your own check_pair tells "
                "what is wrong), or raise max_invalid"
            )
        else:
            evidence.reasons.append("pairs_left_out")
            evidence.notes.append(f"{n} of {total} pairs left out as invalid: {most}")
    if unsure := beside["uncertain"]:
        evidence.uncertain = len(unsure)
        named_in = _pairs_in(source)
        named_in += [one.pair for one in rejected]
        n = len({one.prompt for one in unsure})
        prompts = len({pair.original for pair in named_in} | {one.prompt for one in unsure})
        told = (
            f"{n} of {prompts} prompts left out, since a word can be read in two ways; "
            f"first: {unsure[0].reason}"
        )
        if n / prompts > shares.uncertain:
            evidence.invalid["uncertain_prompts"] = (
                f"{told}. That is {n / prompts:.1%}, more than max_uncertain = "
                f"{shares.uncertain:.0%}; table() of the pairs lists them and how to settle them"
            )
        else:
            evidence.reasons.append("prompts_uncertain")
            evidence.notes.append(told)
    if kept := [why for pair in _pairs_in(source) if (why := getattr(pair, "uncertain", ""))]:
        evidence.reasons.append("uncertain_pairs_kept")
        evidence.notes.append(
            f"{len(kept)} of {len(source)} pairs kept although a word of them can be read in two "
            f"ways; first: {kept[0]}"
        )
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


def _pairs_in(source: Any) -> list[Any]:
    """Return the pairs of a set, or of the answers to it."""
    listed = source.pairs if isinstance(source, PairedResponses) else source
    return list(filter(is_pair, listed)) if isinstance(listed, (list, tuple)) else []


def unfit(source: Any, shares: LargestShares) -> MetricInputs | None:
    """Return what is to be said of pairs that nobody needs to answer: too many are invalid."""
    evidence = MetricInputs(undefined=_NOBODY_ASKED)
    judge_selection(evidence, source, shares)
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
