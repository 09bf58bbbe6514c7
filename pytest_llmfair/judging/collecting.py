"""From what a test has (prompts, pairs, answers, texts) to what a metric takes (arrays)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

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
from pytest_llmfair.judging.pairing import commonest, groups_of, is_pair, named, paired_texts
from pytest_llmfair.judging.validity import gated
from pytest_llmfair.lexicons.attributes import masker_of_pairs
from pytest_llmfair.responses import Missing, PairedResponses, Responses, left_behind

if TYPE_CHECKING:
    from pytest_llmfair.metrics import MetricInfo

# How many arguments of a metric are made from answers; what follows is the caller's.
COLLECTED = {
    "scores": 1,
    "score_pairs": 2,
    "embedding_pairs": 2,
    "texts": 1,
    "text_pairs": 2,
    "pronoun_counts": 2,
}


def collect(
    data: Any, client: Any, n: int, *, placebo: bool = True
) -> Responses | PairedResponses:
    """Ask the client for n answers to every prompt, or to both members of every pair.

    Parameters
    ----------
    data : list of str or list of Pair
        Prompts, or pairs from ``generate_pairs``.
    client : ModelClient or callable
        The model.
    n : int
        Answers per prompt.
    placebo : bool
        Whether to ask the placebo twins of pairs too.

    Raises
    ------
    ValueError
        If there is no prompt, or the list mixes prompts and pairs. Where all pairs fail the
        validity checks nobody is asked, and the responses hold them in `.rejected`.
    """
    from pytest_llmfair.clients import ModelClient, origins

    if not hasattr(client, "generate"):
        client = ModelClient.of(client)
    data, _ = gated(data)
    beside = left_behind(data)
    if (beside["rejected"] or beside["uncertain"]) and not len(data):
        return PairedResponses((), (), (), getattr(client, "name", ""), **beside)
    items = prompts_or_pairs(data)
    if is_pair(items[0]):
        if not placebo:
            items = [
                item.without_placebo() if getattr(item, "placebo", None) else item
                for item in items
            ]
        answered: PairedResponses = client.answer_pairs(items, n=n)
        return replace(answered, **beside) if any(beside.values()) else answered
    origin = origins()
    rows = tuple(tuple(row) for row in client.generate(items, n=n))
    return Responses(tuple(items), rows, getattr(client, "name", ""), origin())


def prompts_or_pairs(data: Any) -> list[Any]:
    """Return prompts, or pairs, as a list; anything else is an error that names the item."""
    if isinstance(data, str):
        raise ValueError(f"the prompts are one text, {data[:40]!r}; give a list of prompts")
    if isinstance(data, (Mapping, Set)) or not isinstance(data, Iterable):
        raise ValueError(
            f"the prompts are a {type(data).__name__}; give a list of prompts, or of pairs"
        )
    items = list(data)
    if not items and (rejected := left_behind(data)["rejected"]):
        raise ValueError(
            f"all {len(rejected)} pairs failed the validity checks: {commonest(rejected)}; "
            "reword their prompts"
        )
    if not items and (unsure := left_behind(data)["uncertain"]):
        raise ValueError(
            f"there are no pairs, since a word can be read in two ways in all {len(unsure)} "
            f"prompts; first: {unsure[0].reason}; table() of the pairs tells how to settle them"
        )
    if not items and (lost := left_behind(data)["lost"]):
        raise ValueError(
            f"there are no pairs, for the lexicon has no counterpart of {named(lost)}; name "
            "the group by other words in the prompts, or add terms to the lexicon"
        )
    if not items and (asked := getattr(data, "unmentioned", 0)):
        raise ValueError(
            f"there are no pairs, for none of {asked} prompts names a group that could be "
            "exchanged; name one in the prompts"
        )
    if not items:
        raise ValueError("there is no prompt to collect answers for; give at least one")
    if not all(map(is_pair, items)):
        for i, item in enumerate(items):
            if not isinstance(item, str):
                how = (
                    "; two prompts make a pair as Pair(original, counterfactual, from_group, "
                    "to_group, (), attribute)"
                )
                raise ValueError(
                    f"item {i} is a {type(item).__name__}; give all prompts as texts, "
                    f"or all as pairs{how if isinstance(item, (tuple, list)) else ''}"
                )
    return items


def evidence_for(
    info: MetricInfo,
    data: tuple[Any, ...],
    *,
    scorer: Callable[[Sequence[str]], Any],
    max_missing: float,
    fixed: bool = False,
    mask: bool = True,
    placebo: bool = False,
    units: Sequence[Any] | None = None,
) -> MetricInputs:
    """Turn data into the arguments of a metric.

    Responses are cleaned of missing answers and scored as the metric needs; texts for a
    metric that needs scores are scored; anything else is handed on as it is. What follows the
    responses are further arguments of the metric, such as a threshold. Identical repeats of a
    deterministic model become one generation, except for a `fixed` population, whose intervals
    count them once by themselves. With `mask`, words of the pairs' own attribute are masked in
    texts that are compared. With `placebo` the answers to placebo twins are an argument too.
    `units` are labels of the pairs.
    """
    first = data[0] if data else None
    if isinstance(first, (PairedResponses, Responses, AnswerRows)):
        measurable(info, pairs=not isinstance(first, Responses))
        if isinstance(first, PairedResponses):
            evidence = _from_pairs(info, first, scorer, max_missing, fixed, mask, placebo, units)
        elif isinstance(first, AnswerRows):
            evidence = _from_rows(first, fixed)
        else:
            evidence = _from_prompts(info, first, scorer, max_missing, fixed)
        evidence.args += data[1:]
        return evidence
    data = tuple(list(x) if isinstance(x, Iterator) else x for x in data)
    if info.needs in ("scores", "score_pairs"):
        return MetricInputs(
            tuple(scored(_rows(x), scorer) if _holds_texts(x) else x for x in data)
        )
    if info.needs == "embedding_pairs":
        return MetricInputs(
            tuple(_embedded(_rows(x), scorer) if _holds_texts(x) else x for x in data)
        )
    return MetricInputs(data)


def measurable(info: MetricInfo, *, pairs: bool) -> None:
    """Raise ``ValueError`` unless answers to pairs, or to single prompts, are what a metric takes.

    Before the first answer is paid for.
    """
    kinds = {
        "scores": (True, True),
        "text_pairs": (False, True),
        "score_pairs": (False, True),
        "embedding_pairs": (False, True),
        "texts": (True, False),
        "pronoun_counts": (True, False),
        "prompts": (False, False),
        "table": (False, False),
    }[info.needs]
    if kinds[pairs]:
        return
    if info.needs == "prompts":
        raise ValueError(f"{info.name} looks at prompts, not at answers; give the prompts alone")
    raise ValueError(
        f"{info.name} cannot be measured on answers to {'pairs' if pairs else 'single prompts'}: "
        + (
            f"collect answers to {'prompts' if pairs else 'pairs'}"
            if any(kinds)
            else "it takes arrays (scores or predictions, and groups); make them from the "
            "answers first"
        )
    )


@dataclass(frozen=True, slots=True)
class AnswerRows:
    """Answers to pairs that are given without the pairs: a row of texts per member.

    `placebo` holds the answers to the placebo twins; empty without any.
    """

    first: Texts
    second: Texts
    placebo: Texts


def _from_rows(rows: AnswerRows, fixed: bool) -> MetricInputs:
    evidence = MetricInputs()
    *sides, placebo = note_sameness(
        evidence, range(len(rows.first)), rows.first, rows.second, rows.placebo, fixed=fixed
    )
    evidence.args = tuple(sides)
    evidence.paired = True
    if rows.placebo:
        evidence.keywords["placebo"] = placebo
    return evidence


def _from_pairs(
    info: MetricInfo,
    responses: PairedResponses,
    scorer: Any,
    max_missing: float,
    fixed: bool,
    mask: bool,
    placebo: bool,
    units: Sequence[Any] | None,
) -> MetricInputs:
    evidence, rows_a, rows_b, labels = paired_texts(
        responses, max_missing, fixed=fixed, whole=info.whole_rows, placebo=placebo, units=units
    )
    if evidence.undefined is not None:
        return evidence
    evidence.paired = True
    evidence.keywords["units"] = labels
    if placebo:
        # A placebo rewords the original, on whichever side of a turned pair that is.
        sides = zip(rows_a, rows_b, evidence.turned, strict=True)
        ordered = [(b, a) if turned else (a, b) for a, b, turned in sides]
        rows_a, rows_b = [a for a, _ in ordered], [b for _, b in ordered]
        evidence.keywords["placebo"] = evidence.placebo
    if mask and info.needs in ("text_pairs", "embedding_pairs"):
        masked = masker_of_pairs(responses.pairs)
        # Where one prompt leaves the group unsaid, an answer to it has no word to mask.
        drops = [getattr(responses.pairs[i], "variant", "") == "omission" for i in evidence.kept]
        rows_a, rows_b, twins = (
            [[masked(text, drop) for text in row] for row, drop in zip(rows, drops, strict=True)]
            for rows in (rows_a, rows_b, evidence.placebo)
        )
        if placebo:
            evidence.keywords["placebo"] = twins
    if info.needs == "text_pairs":
        evidence.args = (rows_a, rows_b)
    elif info.needs == "score_pairs":
        evidence.args = (scored(rows_a, scorer), scored(rows_b, scorer))
    elif info.needs == "embedding_pairs":
        evidence.args = (_embedded(rows_a, scorer), _embedded(rows_b, scorer))
    else:
        # Both members of a pair are prompts of their own, but one sampling unit.
        prompts = [prompts[side] for side in (0, 1) for prompts in evidence.prompts]
        several = len(groups_of(responses.pairs)) > 2
        # Of several groups a prompt is in many pairs, and was asked once.
        first = {text: i for i, text in reversed(list(enumerate(prompts)))} if several else {}
        kept = sorted(first.values()) if several else list(range(len(prompts)))

        def of_kept(rows: Sequence[Any]) -> list[Any]:
            return [rows[i] for i in kept]

        evidence.args = (scored(of_kept([*rows_a, *rows_b]), scorer),)
        evidence.keywords["units"] = of_kept([*labels, *labels])
        evidence.outputs = [(row,) for row in of_kept([*rows_a, *rows_b])]
        evidence.prompts = [(text,) for text in of_kept(prompts)]
        evidence.kept = of_kept(evidence.kept * 2)
        evidence.paired = False
        evidence.labels = ()
    return evidence


def _from_prompts(
    info: MetricInfo, responses: Responses, scorer: Any, max_missing: float, fixed: bool
) -> MetricInputs:
    from pytest_llmfair.metrics import pronoun_counts, pronoun_ties

    evidence = MetricInputs(model=responses.model, origin=responses.origin)
    evidence.asked = len(responses)
    whole = info.whole_rows
    evidence.kept = [i for i, row in enumerate(responses) if usable(row, whole)]
    kept = [(responses.prompts[i], texts_of(responses[i])) for i in evidence.kept]
    judge_missing(evidence, {"all": responses.answers}, max_missing)
    asked: Sequence[tuple[Any, ...]] = responses.answers
    if info.needs == "pronoun_counts":
        # Equal prompts are one row of it, of which a missing answer moves all.
        of_prompt: dict[str, tuple[Any, ...]] = {}
        for prompt, answers in zip(responses.prompts, responses, strict=True):
            of_prompt[prompt] = (*of_prompt.get(prompt, ()), *answers)
        asked = list(of_prompt.values())
    evidence.losses = losses_of([asked], (), [range(len(asked))], bounded=info.needs != "texts")
    note_left_out(evidence, len(responses) - len(kept), len(responses), "prompts")
    if not kept:
        return evidence
    prompts = [prompt for prompt, _ in kept]
    # Counts of generations carry no repeats that an interval could still see through.
    keep = whole or (fixed and info.needs in ("scores", "texts"))
    (rows,) = note_sameness(evidence, prompts, [texts for _, texts in kept], fixed=keep)
    evidence.prompts = [(prompt,) for prompt in prompts]
    evidence.outputs = [(row,) for row in rows]
    if info.needs == "scores":
        evidence.args = (scored(rows, scorer),)
        evidence.keywords["units"] = prompts
        return evidence
    if info.needs == "texts":
        evidence.args = ([text for row in rows for text in row],)
        evidence.keywords["units"] = [p for p, row in zip(prompts, rows, strict=True) for _ in row]
        evidence.kept = [i for i, row in zip(evidence.kept, rows, strict=True) for _ in row]
        return evidence
    merged: dict[str, list[str]] = {}
    for prompt, row in zip(prompts, rows, strict=True):
        merged.setdefault(prompt, []).extend(row)
    counted = {prompt: pronoun_counts(row) for prompt, row in merged.items()}
    single = [prompt for prompt, (_, kept_count, _) in counted.items() if kept_count == 1]
    if single and len(single) == len(counted):
        evidence.undefined = (
            f"only one generation with a gendered pronoun for each of {len(counted)} prompts, "
            "which shows no lean; collect more, at a temperature at which answers differ"
        )
    evidence.args = tuple({p: c[i] for p, c in counted.items()} for i in (0, 1))
    evidence.keywords["total_counts"] = {p: c[2] for p, c in counted.items()}
    evidence.keywords["tie_counts"] = {p: pronoun_ties(row) for p, row in merged.items()}
    return evidence


def _holds_texts(data: Any) -> bool:
    if not isinstance(data, (list, tuple)) and not hasattr(data, "tolist"):
        return False
    for row in data:
        several = isinstance(row, (list, tuple)) or getattr(row, "ndim", 0) > 0
        first = (row[0] if len(row) else None) if several else row
        return isinstance(first, (str, Missing))
    return False


def _rows(data: Any) -> Texts:
    from pytest_llmfair.metrics.arguments import text_rows

    return text_rows(data, "texts")


def scored(rows: Texts, scorer: Callable[[Sequence[str]], Any]) -> list[list[float]]:
    """Score every text once and keep the rows."""
    flat = [text for row in rows for text in row]
    scores = iter([float(x) for x in scorer(flat)])
    return [[next(scores) for _ in row] for row in rows]


def _embedded(rows: Texts, encoder: Callable[[Sequence[str]], Any]) -> list[Any]:
    """Embed every text once and keep the rows: one array (n_generations, dim) each."""
    vectors = encoder([text for row in rows for text in row])
    ends = list(accumulate(len(row) for row in rows))
    return [vectors[end - len(row) : end] for end, row in zip(ends, rows, strict=True)]
