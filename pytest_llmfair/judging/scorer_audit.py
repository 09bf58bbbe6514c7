"""Checks of the instruments: the gap a scorer sees by itself, and a model that changed."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_llmfair._util.wording import plural
from pytest_llmfair.judging.bound import Bound
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.responses import DigestedText
from pytest_llmfair.scorers import load_scorers, name_of, score
from pytest_llmfair.stats import Finding, MeanDifference, change_point

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import SourceExamples


Rows = list[list[str]]

# Wordings of a sentence: groups of which some have one term need another way to be reworded.
_ENDINGS = ("", " It was a Monday.", " It was in the spring.", " This took a minute.")
# Sentences are left out in so many parts; the quantile is that of t with one degree less. With 10
# parts a scorer whose bias is twice the bound was let through in 22 % of runs.
_PARTS, _QUANTILE = 20, 2.093
# Share of runs of an unchanged model with the note on early and late answers, at most.
_FALSE_ALARMS = 0.01


@dataclass(frozen=True, slots=True)
class Audit:
    """The scores of neutral sentences that differ in the group they name.

    Attributes
    ----------
    scorer, attribute : str
        What was audited, and on which attribute.
    means : dict
        Group to its mean score.
    gap : float
        Largest difference between the means of two groups, at least 0.
    lower, upper : float
        95 % interval of that difference, treating the sentences as a sample of such sentences.
        With more than two groups it belongs to the two furthest apart, which were found on the
        same sentences, so it is too short.
    furthest : tuple of str
        The two groups, the lower score first.
    sentences : int
        Sentences, each varied over the groups.
    """

    scorer: str
    attribute: str
    means: dict[str, float]
    gap: float
    lower: float
    upper: float
    furthest: tuple[str, str]
    sentences: int

    def __str__(self) -> str:
        low, high = self.furthest
        return (
            f"{self.scorer} on {self.sentences} neutral sentences ({self.attribute}): {low} "
            f"{self.means[low]:.3f}, {high} {self.means[high]:.3f}, gap {self.gap:.3f} "
            f"[{self.lower:.3f}, {self.upper:.3f}]"
        )


def self_audit(scorer: Any, attribute: str, *, groups: Sequence[str] | None = None) -> Audit:
    """Measure the gap that a scorer itself sees between groups, on neutral sentences.

    The sentences are the neutral templates of the attribute (``template_set``), filled in the same
    way for every group, so any difference in scores comes from the words that name the groups.

    Parameters
    ----------
    scorer : Scorer, callable or str
        Texts to scores, or the name or specification of a scorer.
    attribute : str
        An attribute with templates, such as "gender" or "disability".
    groups : sequence of str, optional
        Two or more groups; default those that the lexicon exchanges.

    Raises
    ------
    ValueError
        If the attribute has no templates or a group is unknown.

    Examples
    --------
    >>> length = lambda texts: [min(len(text) / 100, 1.0) for text in texts]
    >>> found = self_audit(length, "gender", groups=("female", "male"))
    >>> sorted(found.means), found.gap < 0.1
    (['female', 'male'], True)
    """
    chosen = load_scorers()[scorer] if isinstance(scorer, str) else scorer
    examples = neutral_examples(attribute, tuple(groups) if groups is not None else None, 100)
    nested = examples.nested(score(chosen, examples.texts))
    means_by_row = [[math.fsum(own) / len(own) for own in row] for row in nested]
    columns = dict(zip(examples.groups, zip(*means_by_row, strict=True), strict=True))
    means = {group: math.fsum(column) / len(column) for group, column in columns.items()}
    low, *_, high = sorted(means, key=means.__getitem__)
    sentences = list(range(len(means_by_row)))
    estimate = MeanDifference.of_scores(
        columns[high],
        columns[low],
        units_a=sentences,
        units_b=sentences,
        bounds=getattr(chosen, "range", (-math.inf, math.inf)),
    )
    ends = estimate.interval()
    return Audit(
        name_of(chosen),
        attribute,
        means,
        means[high] - means[low],
        ends.lower,
        ends.upper,
        (low, high),
        len(sentences),
    )


@functools.lru_cache(maxsize=64)
def neutral_examples(attribute: str, groups: tuple[str, ...] | None, terms: int) -> SourceExamples:
    """Fill the neutral templates of an attribute, each with at most `terms` terms a group."""
    from pytest_llmfair.counterfactuals import NameLexicon, fill_templates, template_set

    templates = template_set(attribute)
    names = NameLexicon.of_groups(groups) if attribute == templates.attribute == "names" else None
    return fill_templates(
        [template for template in templates if template.label == "neutral"],
        templates.fillers,
        attribute=names or templates.attribute or attribute,
        groups=None if names else groups,
        fill_limit=1,
        term_limit=terms,
    )


def audit_scorer(
    scorer: Any,
    attribute: str,
    groups: Sequence[str],
    bound: Bound,
    measure: Callable[[Rows, Rows, list[int]], float],
) -> tuple[Finding, ...]:
    """Report the metric on neutral sentences; a value proven beyond the bound is invalid."""
    # A scorer that is a plain function is not audited, since asking it may cost money.
    name = getattr(scorer, "name", None)
    if name is None or not hasattr(scorer, "range") or len(groups) != 2:
        return ()
    try:
        examples = neutral_examples(attribute, tuple(groups), 2)
    except ValueError:
        return ()  # an attribute of the user's own has no templates
    halves = [_wordings(examples, group) for group in groups]
    try:
        gap = _gap(
            halves,
            lambda first, second, rows: bound.distance_of(measure(first, second, rows)),
            bound.distance,
        )
    except Exception as error:  # noqa: BLE001 - some scorers know only texts of their own
        text = f"the scorer {name} could not be audited: {error}"
        return (Finding("scorer_unaudited", text, "note"),)
    text = (
        f"the scorer {name} alone gives {gap.value:.3f} {gap.interval}on {len(examples)} neutral "
        "sentences"
    )
    if gap.rewording >= 0.0005:
        text += f", besides the {gap.rewording:.3f} that rewording them gives within a group"
    if not gap.lower > bound.distance:
        return (Finding("scorer_audited", text, "note"),)
    text += (
        f"; all of it exceeds the bound {bound.value:g}, so a difference between answers may come "
        "from the scorer itself; use another scorer, or choose a bound above its gap (see "
        "self_audit)"
    )
    return (Finding("scorer_gap", text, "invalid"),)


class _Gap(NamedTuple):
    value: float
    # What the metric gives where only the wording changes.
    rewording: float
    # 0 to infinity where it was not computed.
    lower: float = 0.0
    upper: float = math.inf

    @property
    def interval(self) -> str:
        return "" if math.isinf(self.upper) else f"[{self.lower:.3f}, {self.upper:.3f}] "


def _wordings(examples: SourceExamples, group: str) -> tuple[Rows, Rows]:
    """Return two halves of the wordings of each sentence, with two terms if the group has them."""
    rows = [[variation.text for variation in each.variations[group]] for each in examples]
    return tuple(  # type: ignore[return-value]
        [[row[term] + ending for ending in endings] for row in rows]
        for term, endings in ((0, _ENDINGS[:2]), (-1, _ENDINGS[2:]))
    )


def _gap(
    halves: Sequence[tuple[Rows, Rows]],
    distance: Callable[[Rows, Rows, list[int]], float],
    bound: float,
) -> _Gap:
    """Return the effect of groups beyond rewordings; above `bound` with a jackknife interval."""
    # Squares are subtracted, as for variances: |gap + noise| exceeds |noise| by less than the gap.
    (first, again), (second, second_again) = halves

    def squares(out: range) -> tuple[float, float]:
        kept = [row for row in range(len(first)) if row not in out]

        def mean_of(*pairs: tuple[Rows, Rows]) -> float:
            found = [
                distance([a[row] for row in kept], [b[row] for row in kept], kept)
                for a, b in pairs
            ]
            return (math.fsum(found) / len(found)) ** 2

        return (
            mean_of(*itertools.product((first, again), (second, second_again))),
            mean_of((first, again), (second, second_again)),
        )

    across, inside = squares(range(0))
    if not math.isfinite(across + inside):
        raise ValueError("the metric is not finite on neutral sentences")
    value, rewording = math.sqrt(max(0.0, across - inside)), math.sqrt(inside)
    if value <= bound:
        # The lower end is below the value, so it cannot prove more; the 120 metrics that an
        # interval needs would cost .3 s an assertion.
        return _Gap(value, rewording)
    step = len(first) // _PARTS
    parts = [squares(range(i * step, (i + 1) * step)) for i in range(_PARTS)]
    left = [a - b for a, b in parts]
    centre = math.fsum(left) / _PARTS
    error = math.sqrt((_PARTS - 1) / _PARTS * math.fsum((x - centre) ** 2 for x in left))
    if not math.isfinite(error):
        raise ValueError("the metric is not finite on neutral sentences")
    lower, upper = (
        math.sqrt(max(0.0, across - inside + t * error)) for t in (-_QUANTILE, _QUANTILE)
    )
    return _Gap(value, rewording, lower, upper)


def changes_of(inputs: MetricInputs, needs: str, order: Mapping[str, int]) -> tuple[Finding, ...]:
    """Report answers that differ between early and late, and a server with several models."""
    return (*_early_and_late(inputs, needs, order), *_several_models(inputs.model))


def _early_and_late(
    inputs: MetricInputs, needs: str, order: Mapping[str, int]
) -> tuple[Finding, ...]:
    """Compare early and late answers: by their scores, or by their length."""
    # Pairs are asked in random order, so a change over time is no difference between prompts.
    rows = inputs.prompts
    if not rows or not all(text in order for row in rows for text in row):
        return ()
    if scores := needs in ("scores", "score_pairs"):
        sides: Any = zip(*inputs.args, strict=True)
        values = [
            float(np.mean(np.concatenate([np.ravel(side) for side in row]))) for row in sides
        ]
    else:
        texts = [[text for side in row for text in side] for row in inputs.outputs]
        if any(isinstance(text, DigestedText) for row in texts for text in row):
            return ()
        values = [float(np.mean([len(text.split()) for text in row])) for row in texts]
    labels = inputs.keywords.get("units", range(len(rows)))
    by_unit: dict[Any, list[tuple[int, float]]] = {}
    for label, row, value in zip(labels, rows, values, strict=True):
        by_unit.setdefault(label, []).append((min(order[text] for text in row), value))
    means = [value for _, value in sorted(map(_mean, by_unit.values()))]
    p, first = change_point(means)
    if p > _FALSE_ALARMS:
        return ()
    early, late = np.mean(means[:first]), np.mean(means[first:])
    text = (
        f"early and late answers differ: {'scores' if scores else 'words per answer'} "
        f"{early:.3g} on average in the first {plural('unit', first)} asked, {late:.3g} in the "
        f"other {len(means) - first:,} (p = {p:.1g}); the model may have changed while it was "
        "asked. Its requests came in random order, so no group was asked earlier than another"
    )
    return (Finding.note(text),)


def _mean(rows: list[tuple[int, float]]) -> tuple[float, ...]:
    return tuple(np.mean(rows, axis=0).tolist())


def _several_models(client: str) -> tuple[Finding, ...]:
    from pytest_llmfair.clients.session import current_runner

    served = current_runner().counts.served.get(client, set())
    models, fingerprints = (sorted({each[i] for each in served} - {""}) for i in (0, 1))
    remedy = "ask all answers again with --llmfair-record-mode all"
    if len(models) > 1:
        text = (
            f"the server answered as {len(models)} models: {', '.join(models)}; name one release "
            f"in the specification, and {remedy}"
        )
        return (Finding("model_changed", text),)
    if len(fingerprints) > 1:
        text = (
            f"the server answered with {len(fingerprints)} system fingerprints: "
            f"{', '.join(fingerprints)}; where results differ, {remedy}"
        )
        return (Finding.note(text),)
    return ()
