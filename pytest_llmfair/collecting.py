"""From what a test has (prompts, pairs, answers, texts) to what a metric takes (arrays)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_llmfair.responses import Answer, Missing, PairedResponses, Responses

if TYPE_CHECKING:
    from pytest_llmfair.metrics import MetricInfo

Texts = list[list[str]]

# How many arguments of a metric are made from answers; what follows is the caller's.
COLLECTED = {"scores": 1, "score_pairs": 2, "texts": 1, "text_pairs": 2, "pronoun_counts": 2}


@dataclass(slots=True)
class Evidence:
    """Arguments for a metric, and what was lost on the way.

    Attributes
    ----------
    args, keywords : tuple, dict
        What the metric is called with.
    missing : dict
        Group to reason to number of missing answers.
    invalid : dict
        Reason code to words, when too much is missing to judge.
    reasons, notes : list of str
        Codes and words for the report.
    prompts, outputs : list of tuple
        Per row the prompt (or both) and the answers (of either side), for the worst examples.
    labels : tuple of str
        Groups of the two sides; empty for single prompts.
    undefined : str or None
        Why there is nothing to measure.
    model : str
        Which model answered; empty when unknown.
    asked : int
        Rows of the responses.
    kept : list of int
        Those that have an answer (on either side).
    """

    args: tuple[Any, ...] = ()
    keywords: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    invalid: dict[str, str] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    prompts: list[tuple[str, ...]] = field(default_factory=list)
    outputs: list[tuple[list[str], ...]] = field(default_factory=list)
    labels: tuple[str, ...] = ()
    undefined: str | None = None
    model: str = ""
    asked: int = 0
    kept: list[int] = field(default_factory=list)

    def units_of(self, units: Any) -> Any:
        """Leave out of one label per row asked those of the rows that were left out."""
        found = list(units)
        return [found[i] for i in self.kept] if len(found) == self.asked else found


def collect(data: Any, client: Any, n: int) -> Responses | PairedResponses:
    """Ask the client for n answers to every prompt, or to both members of every pair.

    Parameters
    ----------
    data : list of str or list of Pair
        Prompts, or pairs from ``generate_pairs``.
    client : ModelClient or callable
        The model.
    n : int
        Answers per prompt.

    Raises
    ------
    ValueError
        If there is no prompt, or the list mixes prompts and pairs.
    """
    from pytest_llmfair.clients import ModelClient

    if not hasattr(client, "generate"):
        client = ModelClient.of(client)
    items = prompts_or_pairs(data)
    if is_pair(items[0]):
        answered: PairedResponses = client.answer_pairs(items, n=n)
        return answered
    rows = tuple(tuple(row) for row in client.generate(items, n=n))
    return Responses(tuple(items), rows, getattr(client, "name", ""))


def prompts_or_pairs(data: Any) -> list[Any]:
    """Return prompts, or pairs, as a list; anything else is an error that names the item."""
    if isinstance(data, str):
        raise ValueError(f"the prompts are one text, {data[:40]!r}; give a list of prompts")
    items = list(data)
    if not items:
        raise ValueError("there is no prompt to collect answers for; give at least one")
    if not all(map(is_pair, items)):
        for i, item in enumerate(items):
            if not isinstance(item, str):
                raise ValueError(
                    f"item {i} is a {type(item).__name__}; give all prompts as texts, "
                    "or all as pairs"
                )
    return items


def is_pair(item: Any) -> bool:
    """Tell whether an item is a pair of prompts."""
    return hasattr(item, "original") and hasattr(item, "counterfactual")


def evidence_for(
    info: MetricInfo,
    data: tuple[Any, ...],
    *,
    scorer: Callable[[Sequence[str]], Any],
    max_missing: float,
    fixed: bool = False,
) -> Evidence:
    """Turn data into the arguments of a metric.

    Responses are cleaned of missing answers and scored as the metric needs; texts for a
    metric that needs scores are scored; anything else is handed on as it is. What follows the
    responses are further arguments of the metric, such as a threshold. Identical repeats of a
    deterministic model become one generation, except for a `fixed` population, whose intervals
    count them once by themselves.
    """
    first = data[0] if data else None
    if isinstance(first, (PairedResponses, Responses)):
        measurable(info, pairs=isinstance(first, PairedResponses))
        evidence = (
            _from_pairs(info, first, scorer, max_missing, fixed)
            if isinstance(first, PairedResponses)
            else _from_prompts(info, first, scorer, max_missing, fixed)
        )
        evidence.args += data[1:]
        return evidence
    data = tuple(list(x) if isinstance(x, Iterator) else x for x in data)
    if info.needs in ("scores", "score_pairs"):
        return Evidence(tuple(_scored(_rows(x), scorer) if _holds_texts(x) else x for x in data))
    return Evidence(data)


def measurable(info: MetricInfo, *, pairs: bool) -> None:
    """Raise ``ValueError`` unless answers to pairs, or to single prompts, are what a metric takes.

    Before the first answer is paid for.
    """
    kinds = {
        "scores": (True, True),
        "text_pairs": (False, True),
        "score_pairs": (False, True),
        "texts": (True, False),
        "pronoun_counts": (True, False),
        "table": (False, False),
    }[info.needs]
    if kinds[pairs]:
        return
    raise ValueError(
        f"{info.name} cannot be measured on answers to {'pairs' if pairs else 'single prompts'}: "
        + (
            f"collect answers to {'prompts' if pairs else 'pairs'}"
            if any(kinds)
            else "it takes arrays (scores or predictions, and groups); make them from the "
            "answers first"
        )
    )


def _from_pairs(
    info: MetricInfo, responses: PairedResponses, scorer: Any, max_missing: float, fixed: bool
) -> Evidence:
    evidence, rows_a, rows_b, units = paired_texts(
        responses, max_missing, fixed=fixed, whole=info.whole_rows
    )
    if evidence.undefined is not None:
        return evidence
    evidence.keywords["units"] = units
    if info.needs == "text_pairs":
        evidence.args = (rows_a, rows_b)
    elif info.needs == "score_pairs":
        evidence.args = (_scored(rows_a, scorer), _scored(rows_b, scorer))
    else:
        # Both members of a pair are prompts of their own, but one sampling unit.
        evidence.args = (_scored([*rows_a, *rows_b], scorer),)
        evidence.keywords["units"] = [*units, *units]
        evidence.kept *= 2
        evidence.prompts = [(p[side],) for side in (0, 1) for p in evidence.prompts]
        evidence.outputs = [(o[side],) for side in (0, 1) for o in evidence.outputs]
        evidence.labels = ()
    return evidence


def _from_prompts(
    info: MetricInfo, responses: Responses, scorer: Any, max_missing: float, fixed: bool
) -> Evidence:
    from pytest_llmfair.metrics import pronoun_counts, pronoun_ties

    evidence = Evidence(model=responses.model)
    evidence.missing = {"all": _reasons(responses.answers)}
    evidence.asked = len(responses)
    whole = info.whole_rows
    evidence.kept = [i for i, row in enumerate(responses) if _usable(row, whole)]
    kept = [(responses.prompts[i], _texts(responses[i])) for i in evidence.kept]
    _judge_missing(evidence, {"all": responses.answers}, max_missing)
    _note_left_out(evidence, len(responses) - len(kept), len(responses), "prompts")
    if not kept:
        return evidence
    prompts = [prompt for prompt, _ in kept]
    # Counts of generations carry no repeats that an interval could still see through.
    keep = whole or (fixed and info.needs in ("scores", "texts"))
    (rows,) = note_sameness(evidence, prompts, [texts for _, texts in kept], fixed=keep)
    evidence.prompts = [(prompt,) for prompt in prompts]
    evidence.outputs = [(row,) for row in rows]
    if info.needs == "scores":
        evidence.args = (_scored(rows, scorer),)
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


def paired_texts(
    responses: PairedResponses, max_missing: float, *, fixed: bool = False, whole: bool = False
) -> tuple[Evidence, Texts, Texts, list[str]]:
    """Return the answers of either side with missing ones left out and counted.

    Sides are groups: a pair that goes the other way round is turned, so that the first side is
    always the group that the first pair starts from. With `whole` a pair that misses one answer is
    left out, and repeats stay as they are.
    """
    sides = _sides(responses)
    evidence = Evidence(labels=sides, model=responses.model, asked=len(responses))
    prompts, rows_a, rows_b = [], [], []
    asked: dict[str, list[Sequence[Answer]]] = {side: [] for side in sides}
    for i, (pair, (a, b)) in enumerate(zip(responses.pairs, responses, strict=True)):
        texts = (pair.original, pair.counterfactual)
        if pair.from_group != sides[0]:
            texts, a, b = (texts[1], texts[0]), b, a
        asked[sides[0]].append(a)
        asked[sides[1]].append(b)
        if _usable(a, whole) and _usable(b, whole):
            evidence.kept.append(i)
            prompts.append(texts)
            rows_a.append(_texts(a))
            rows_b.append(_texts(b))
    evidence.missing = {side: _reasons(asked[side]) for side in sides}
    _judge_missing(evidence, asked, max_missing)
    _note_left_out(evidence, len(responses) - len(rows_a), len(responses), "pairs")
    if rows_a:
        rows_a, rows_b = note_sameness(
            evidence, [a for a, _ in prompts], rows_a, rows_b, fixed=fixed or whole
        )
    evidence.prompts = list(prompts)
    evidence.outputs = list(zip(rows_a, rows_b, strict=True))
    return evidence, rows_a, rows_b, ["\0".join(sorted(texts)) for texts in prompts]


def _sides(responses: PairedResponses) -> tuple[str, str]:
    if not responses.pairs:
        raise ValueError(
            "there are no pairs; a prompt without a mention of the attribute gives none"
        )
    first = responses.pairs[0]
    sides = (str(first.from_group), str(first.to_group))
    for i, pair in enumerate(responses.pairs):
        if {str(pair.from_group), str(pair.to_group)} != set(sides):
            raise ValueError(
                f"pair {i} compares {pair.from_group} with {pair.to_group}, pair 0 {sides[0]} "
                f"with {sides[1]}; several pairs of groups are never averaged: test each alone"
            )
    return sides


def _texts(row: Sequence[Answer]) -> list[str]:
    return [answer for answer in row if isinstance(answer, str)]


def _usable(row: Sequence[Answer], whole: bool) -> bool:
    """Tell whether some answer, or with `whole` every answer, is there."""
    found = len(_texts(row))
    return found > 0 and (found == len(row) or not whole)


def _reasons(rows: Sequence[Sequence[Answer]]) -> dict[str, int]:
    return dict(
        sorted(Counter(a.reason for row in rows for a in row if isinstance(a, Missing)).items())
    )


def _judge_missing(
    evidence: Evidence, asked: Mapping[str, Sequence[Sequence[Answer]]], max_missing: float
) -> None:
    for group, rows in asked.items():
        total = sum(len(row) for row in rows)
        lost = sum(evidence.missing[group].values())
        if total == 0 or lost / total > max_missing:
            reasons = ", ".join(f"{n} {reason}" for reason, n in evidence.missing[group].items())
            said = _most_often_said(rows)
            words = (
                f"{lost} of {total} answers are missing for {group} ({reasons or 'none asked'}), "
                f"more than max_missing = {max_missing:.0%}; mend the client, or raise max_missing"
                + (f"; most often: {said}" if said else "")
            )
            before = evidence.invalid.get("missing")
            evidence.invalid["missing"] = words if before is None else f"{before}; {words}"


def _most_often_said(rows: Sequence[Sequence[Answer]]) -> str:
    """Return what the model said most often where it gave no answer; the first of equals."""
    said = Counter(a.detail[:200] for row in rows for a in row if isinstance(a, Missing))
    del said[""]
    return max(said, key=lambda detail: said[detail], default="")


def _note_left_out(evidence: Evidence, lost: int, total: int, what: str) -> None:
    if lost == total:
        evidence.undefined = f"none of the {total} {what} has an answer; mend the client first"
    elif lost:
        evidence.notes.append(f"{lost} of {total} {what} left out: an answer is missing")


def note_sameness(
    evidence: Evidence, prompts: Sequence[Any], *sides: Texts, fixed: bool = False
) -> tuple[Texts, ...]:
    """Flag canned answers; count the repeats of a deterministic model as one generation."""
    rows = [row for side in sides for row in side]
    if len({text for row in rows for text in row}) == 1 and len(set(prompts)) > 1:
        evidence.reasons.append("uninformative")
        evidence.notes.append(f"one answer to all {len(set(prompts))} prompts; check the client")
    if not fixed and all(len(row) > 1 and len(set(row)) == 1 for row in rows):
        evidence.reasons.append("identical_repeats")
        evidence.notes.append(
            f"all {len(rows[0])} repeats of every prompt are identical (a deterministic model): "
            "they count as one generation"
        )
        return tuple([row[:1] for row in side] for side in sides)
    return sides


def _holds_texts(data: Any) -> bool:
    if not isinstance(data, (list, tuple)) and not hasattr(data, "tolist"):
        return False
    for row in data:
        first = row if isinstance(row, (str, Missing)) or not hasattr(row, "__len__") else row[:1]
        return isinstance(first, (str, Missing)) or (
            hasattr(first, "__len__") and len(first) > 0 and isinstance(first[0], (str, Missing))
        )
    return False


def _rows(data: Any) -> Texts:
    from pytest_llmfair.metrics._checks import text_rows

    return text_rows(data, "texts")


def _scored(rows: Texts, scorer: Callable[[Sequence[str]], Any]) -> list[list[float]]:
    """Score every text once and keep the rows."""
    flat = [text for row in rows for text in row]
    scores = iter([float(x) for x in scorer(flat)])
    return [[next(scores) for _ in row] for row in rows]
