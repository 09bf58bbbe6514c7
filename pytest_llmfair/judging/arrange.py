"""Turn answers, texts or arrays into the arguments of a metric, and count what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pytest_llmfair.judging.assertion import Assertion
from pytest_llmfair.judging.collecting import NOTHING_ASKED, check_data_kind
from pytest_llmfair.judging.inputs import (
    MetricInputs,
    count_missing,
    has_answers,
    missing_data_of,
    rows_left_out,
    texts_of,
)
from pytest_llmfair.judging.pairs import groups_of, pair_units
from pytest_llmfair.judging.scoring import (
    Texts,
    check_scored,
    embedded,
    features_of,
    from_scored,
    reads,
    scored,
    takes,
    unmasked,
    with_rows_left_out,
)
from pytest_llmfair.lexicons.attributes import masker_of_pairs
from pytest_llmfair.metrics.arguments import text_rows
from pytest_llmfair.responses import Answer, Missing, PairedResponses, Responses
from pytest_llmfair.results.compare import ScoredAnswers
from pytest_llmfair.stats import Finding


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Answers to pairs given without the pairs: a row of texts per member, and placebos'."""

    first: Texts
    second: Texts
    placebo: Texts


def arrange(
    assertion: Assertion, data: tuple[Any, ...], units: Any, *, fixed: bool = False
) -> MetricInputs:
    """Turn responses, texts or arrays into the arguments of the assertion's metric."""
    # Intervals of a fixed population count identical repeats once by themselves.
    fixed = fixed or assertion.keywords.get("population") == "fixed"
    first = data[0] if data else None
    rest = data[1:]
    if isinstance(first, PairedResponses):
        check_data_kind(assertion.metric, pairs=True)
        inputs = _from_pairs(assertion, first, fixed, units)
    elif isinstance(first, AnswerRows):
        check_data_kind(assertion.metric, pairs=True)
        inputs = _from_rows(first, fixed)
    elif isinstance(first, ScoredAnswers):
        check_scored(assertion.metric)
        inputs = from_scored(first, assertion.rules.chosen("max_missing"))
    elif isinstance(first, Responses):
        check_data_kind(assertion.metric, pairs=False)
        inputs = _from_prompts(assertion, first, fixed)
    else:
        inputs, rest = _from_arrays(assertion, data), ()
        asked, most = assertion.source.asked, assertion.rules.chosen("max_missing")
        inputs = with_rows_left_out(inputs, asked, most)
    scored_by = _scored_by(assertion, inputs)
    keywords = {**inputs.keywords, **scored_by, **assertion.keywords}
    if units is not None:
        keywords["units"] = inputs.units_of(units) if inputs.asked else units
    if reads(assertion.metric):
        found = features_of(assertion.scorer, (*inputs.args, *rest), keywords)
        keywords |= {"features": found} if found else {}
    return replace(
        inputs,
        args=(*inputs.args, *rest),
        keywords=keywords,
        baseline=assertion.compare.baseline,
    )


def _scored_by(assertion: Assertion, inputs: MetricInputs) -> dict[str, Any]:
    """Return the keywords about scorer and groups for a metric of any score."""
    if inputs.scorer:
        assertion.scorer.check(assertion.metric)
    if not inputs.scorer or not takes(assertion.metric, "score_range"):
        return {}
    scorer = assertion.scorer.chosen
    # A lambda has no name that says anything.
    found: dict[str, Any] = {} if inputs.scorer[0] == "<" else {"score": inputs.scorer}
    if unit := getattr(scorer, "unit", ""):
        found["unit"] = unit
    span = getattr(scorer, "range", None)
    if (fact := assertion.scorer.fact) is not None:
        span = fact.range_of(row for sides in inputs.outputs for row in sides)
    if span is not None and all(map(math.isfinite, span)):
        found["score_range"] = span
    return found | ({"names": inputs.labels} if inputs.labels else {})


def _from_arrays(assertion: Assertion, data: tuple[Any, ...]) -> MetricInputs:
    needs, scorer = assertion.metric.needs, assertion.scorer
    given = tuple(list(x) if isinstance(x, Iterator) else x for x in data)
    make = {"scores": scored, "score_pairs": scored, "embedding_pairs": embedded}.get(needs)
    if make is not None:
        texts = [_holds_texts(x) for x in given]
        given = tuple(
            make(text_rows(x, "texts"), scorer) if t else x
            for x, t in zip(given, texts, strict=True)
        )
        return MetricInputs(given, scorer=scorer.name if any(texts) else "")
    return MetricInputs(given)


def _from_rows(rows: AnswerRows, fixed: bool) -> MetricInputs:
    (first, second, placebo), findings = collapse_identical_repeats(
        range(len(rows.first)), rows.first, rows.second, rows.placebo, fixed=fixed
    )
    keywords = {"placebo": placebo} if rows.placebo else {}
    return MetricInputs((first, second), keywords, findings, paired=True)


@dataclass(frozen=True, slots=True)
class _PairRow:
    """Answers to one pair, the first group's first."""

    at: int
    prompts: tuple[str, str]
    answers: tuple[Sequence[Answer], Sequence[Answer]]
    # Answers to the placebo twin, if it has one.
    twin: Sequence[Answer]
    # Whether the second prompt is the original, so that the two were exchanged here.
    exchanged: bool
    variant: str


def _from_pairs(
    assertion: Assertion, responses: PairedResponses, fixed: bool, units: Any
) -> MetricInputs:
    """Return two sides of answers; the first is always the group the first pair starts from."""
    if not responses.pairs and (responses.rejected or responses.uncertain):
        return MetricInputs(findings=(Finding.undefined(NOTHING_ASKED),))
    groups_of(responses.pairs)
    first = responses.pairs[0]
    sides = (str(first.from_group), str(first.to_group))
    placebo = assertion.compare.placebo
    whole = assertion.metric.whole_rows
    rows = _pair_rows(responses, sides[0], placebo)
    kept = [row for row in rows if all(has_answers(side, whole) for side in row.answers)]
    asked = {side: [row.answers[i] for row in rows] for i, side in enumerate(sides)}
    if placebo and any(responses.placebo):
        asked["placebo"] = [row for row in responses.placebo if row]
    counts = count_missing(asked, assertion.rules.chosen("max_missing"))
    left_out = rows_left_out(len(rows) - len(kept), len(rows), "pairs", counts)
    labels = pair_units(responses.pairs) if units is None else units
    drawn = labels if assertion.cells is None else assertion.cells.items(labels)
    texts = [[texts_of(row.answers[i]) for row in kept] for i in (0, 1)]
    texts.append([texts_of(row.twin) for row in kept])
    repeats: tuple[Finding, ...] = ()
    if kept:
        texts, repeats = collapse_identical_repeats(
            [row.prompts[0] for row in kept], *texts, fixed=fixed or whole
        )
    inputs = replace(
        counts.with_findings(*left_out, *repeats),
        keywords={"units": [labels[row.at] for row in kept]},
        missing_data=missing_data_of([asked[side] for side in sides], sides, [drawn, drawn]),
        origin=responses.origin,
        prompts=[row.prompts for row in kept],
        outputs=list(zip(texts[0], texts[1], strict=True)),
        labels=sides,
        attribute=str(getattr(first, "attribute", "")),
        model=responses.model,
        asked=len(responses),
        kept=[row.at for row in kept],
        paired=bool(kept),
    )
    if not kept:
        return inputs
    if assertion.metric.needs == "scores":
        return _as_single_prompts(assertion, inputs, several=len(groups_of(responses.pairs)) > 2)
    return _compared(assertion, inputs, texts, kept, responses)


def _pair_rows(responses: PairedResponses, first: str, placebo: bool) -> list[_PairRow]:
    rows = []
    twins = (placebo and responses.placebo) or ((),) * len(responses)
    for i, (pair, (a, b)) in enumerate(zip(responses.pairs, responses, strict=True)):
        prompts = (pair.original, pair.counterfactual)
        variant = getattr(pair, "variant", "")
        if exchanged := pair.from_group != first:
            prompts, a, b = (prompts[1], prompts[0]), b, a
        rows.append(_PairRow(i, prompts, (a, b), twins[i], exchanged, variant))
    return rows


def _compared(
    assertion: Assertion,
    inputs: MetricInputs,
    texts: Sequence[Texts],
    kept: Sequence[_PairRow],
    responses: PairedResponses,
) -> MetricInputs:
    """Add the two sides of a metric that compares them, masked, scored or embedded as it needs."""
    needs, compare = assertion.metric.needs, assertion.compare
    first, second, placebo = texts
    if compare.placebo:
        # A placebo rewords the original, so its answers are compared with those to the original.
        ordered = [
            (b, a) if row.exchanged else (a, b)
            for a, b, row in zip(first, second, kept, strict=True)
        ]
        first, second = [a for a, _ in ordered], [b for _, b in ordered]
    if compare.mask and needs in ("text_pairs", "embedding_pairs"):
        masked = masker_of_pairs(responses.pairs)
        # Where one prompt does not name the group, an answer to it has no word to mask.
        drops = [row.variant == "omission" for row in kept]
        first, second, placebo = (
            [[masked(text, drop) for text in row] for row, drop in zip(rows, drops, strict=True)]
            for rows in (first, second, placebo)
        )
    keywords = dict(inputs.keywords)
    if compare.placebo:
        keywords["placebo"] = placebo
    args: tuple[Any, ...] = (first, second)
    if reads(assertion.metric):
        inputs = replace(inputs, args=args)
        return unmasked(inputs, compare.names, compare.ignore, responses.shared_seeds)
    if needs == "score_pairs":
        args = tuple(scored(side, assertion.scorer) for side in args)
        inputs = replace(inputs, scorer=assertion.scorer.name)
    elif needs == "embedding_pairs":
        args = tuple(embedded(side, assertion.scorer) for side in args)
    return replace(inputs, args=args, keywords=keywords)


def _as_single_prompts(
    assertion: Assertion, inputs: MetricInputs, *, several: bool
) -> MetricInputs:
    """Take both members of a pair as prompts of their own, but as one sampling unit."""
    prompts = [row[side] for side in (0, 1) for row in inputs.prompts]
    outputs = [row[side] for side in (0, 1) for row in inputs.outputs]
    places = list(range(len(prompts)))
    if several:
        # With several groups a prompt is in many pairs, but was asked once.
        places = sorted({text: i for i, text in reversed(list(enumerate(prompts)))}.values())
    rows = [outputs[i] for i in places]
    labels, kept = inputs.keywords["units"] * 2, [*inputs.kept] * 2
    return replace(
        inputs,
        args=(scored(rows, assertion.scorer),),
        scorer=assertion.scorer.name,
        keywords={"units": [labels[i] for i in places]},
        prompts=[(prompts[i],) for i in places],
        outputs=[(row,) for row in rows],
        kept=[kept[i] for i in places],
        labels=(),
        paired=False,
    )


def _from_prompts(assertion: Assertion, responses: Responses, fixed: bool) -> MetricInputs:
    needs, whole = assertion.metric.needs, assertion.metric.whole_rows
    kept = [i for i, row in enumerate(responses) if has_answers(row, whole)]
    counts = count_missing({"all": responses.answers}, assertion.rules.chosen("max_missing"))
    left_out = rows_left_out(len(responses) - len(kept), len(responses), "prompts", counts)
    asked: Sequence[tuple[Answer, ...]] = responses.answers
    if needs == "pronoun_counts":
        # Equal prompts share one row, so one missing answer affects all of them.
        of_prompt: dict[str, tuple[Answer, ...]] = {}
        for prompt, answers in zip(responses.prompts, responses, strict=True):
            of_prompt[prompt] = (*of_prompt.get(prompt, ()), *answers)
        asked = list(of_prompt.values())
    inputs = replace(
        counts.with_findings(*left_out),
        missing_data=missing_data_of([asked], (), [range(len(asked))], bounded=needs != "texts"),
        origin=responses.origin,
        model=responses.model,
        asked=len(responses),
        kept=kept,
    )
    if not kept:
        return inputs
    prompts = [responses.prompts[i] for i in kept]
    # Pronoun counts cannot reveal identical repeats, so collapse them here.
    keep = whole or (fixed and needs in ("scores", "texts"))
    (rows,), repeats = collapse_identical_repeats(
        prompts, [texts_of(responses[i]) for i in kept], fixed=keep
    )
    inputs = replace(
        inputs.with_findings(*repeats),
        prompts=[(prompt,) for prompt in prompts],
        outputs=[(row,) for row in rows],
    )
    if needs == "scores":
        args = (scored(rows, assertion.scorer),)
        name = assertion.scorer.name
        return replace(inputs, args=args, keywords={"units": prompts}, scorer=name)
    if needs == "texts":
        return replace(
            inputs,
            args=([text for row in rows for text in row],),
            keywords={"units": [p for p, row in zip(prompts, rows, strict=True) for _ in row]},
            kept=[i for i, row in zip(kept, rows, strict=True) for _ in row],
        )
    return _pronouns_counted(inputs, prompts, rows)


def _pronouns_counted(inputs: MetricInputs, prompts: Sequence[str], rows: Texts) -> MetricInputs:
    from pytest_llmfair.metrics import pronoun_counts, pronoun_ties

    merged: dict[str, list[str]] = {}
    for prompt, row in zip(prompts, rows, strict=True):
        merged.setdefault(prompt, []).extend(row)
    counted = {prompt: pronoun_counts(row) for prompt, row in merged.items()}
    single = [prompt for prompt, (_, kept, _) in counted.items() if kept == 1]
    if single and len(single) == len(counted):
        why = (
            f"only one generation with a gendered pronoun for each of {len(counted)} prompts, "
            "which cannot show a gender skew; collect more, at a temperature where answers differ"
        )
        inputs = inputs.with_findings(Finding.undefined(why))
    return replace(
        inputs,
        args=tuple({p: c[i] for p, c in counted.items()} for i in (0, 1)),
        keywords={
            "total_counts": {p: c[2] for p, c in counted.items()},
            "tie_counts": {p: pronoun_ties(row) for p, row in merged.items()},
        },
    )


def collapse_identical_repeats(
    prompts: Sequence[Any], *sides: Texts, fixed: bool = False
) -> tuple[list[Texts], tuple[Finding, ...]]:
    """Count the repeats of a deterministic model as one generation; flag canned answers."""
    findings = []
    rows = [row for side in sides for row in side if row]
    if len({text for row in rows for text in row}) == 1 and len(set(prompts)) > 1:
        text = f"one answer to all {len(set(prompts))} prompts; check the client"
        findings.append(Finding("uninformative", text))
    most = max(map(len, rows), default=0)
    # A row that lost answers may hold a single one, which shows nothing about repeats.
    repeated = 2 * sum(len(row) > 1 for row in rows) > len(rows)
    if fixed or not repeated or not all(len(set(row)) == 1 for row in rows):
        return list(sides), tuple(findings)
    every = "both" if most == 2 else f"all {most}"
    text = (
        f"{every} repeats of every prompt are identical (a deterministic model): "
        "they count as one generation"
    )
    findings.append(Finding("identical_repeats", text))
    return [[row[:1] for row in side] for side in sides], tuple(findings)


def _holds_texts(data: Any) -> bool:
    if not isinstance(data, (list, tuple)) and not hasattr(data, "tolist"):
        return False
    for row in data:
        several = isinstance(row, (list, tuple)) or getattr(row, "ndim", 0) > 0
        first = (row[0] if len(row) else None) if several else row
        return isinstance(first, (str, Missing))
    return False
