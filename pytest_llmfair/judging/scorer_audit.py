"""The gap a scorer sees between groups by itself, measured on neutral sentences."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_llmfair.scorers import load_scorers, name_of, score
from pytest_llmfair.stats import Finding

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals import SourceExamples
    from pytest_llmfair.judging.bound import Bound

Rows = list[list[str]]


@dataclass(frozen=True, slots=True)
class Audit:
    """What a scorer gives to neutral sentences that differ in the group they name.

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


def self_audit(
    scorer: Any, attribute: str, *, groups: Sequence[str] | None = None, seed: int = 0
) -> Audit:
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
    seed : int
        Of the choice of terms where a group has many.

    Returns
    -------
    Audit

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
    from pytest_llmfair.stats import MeanDifference

    chosen = load_scorers()[scorer] if isinstance(scorer, str) else scorer
    examples = neutral_examples(
        attribute, tuple(groups) if groups is not None else None, seed, 100
    )
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
    ends = estimate.interval(0.95)
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
def neutral_examples(
    attribute: str, groups: tuple[str, ...] | None, seed: int, terms: int
) -> SourceExamples:
    """Fill the neutral templates of an attribute, each with at most `terms` terms a group."""
    from pytest_llmfair.counterfactuals import fill_templates, template_set

    templates = template_set(attribute)
    return fill_templates(
        [template for template in templates if template.label == "neutral"],
        templates.fillers,
        attribute=templates.attribute or attribute,
        groups=groups,
        fill_limit=1,
        term_limit=terms,
        seed=seed,
    )


def audit_scorer(
    scorer: Any,
    attribute: str,
    groups: Sequence[str],
    bound: Bound,
    measure: Callable[[Rows, Rows, list[int]], float],
) -> tuple[Finding, ...]:
    """Report the value of the metric on neutral sentences; beyond the bound the data are invalid.

    `measure` takes texts of the first group, of the second, and their units. A scorer that is a
    plain function is not audited, since asking it may cost money.
    """
    name = getattr(scorer, "name", None)
    if name is None or not hasattr(scorer, "range") or len(groups) != 2:
        return ()
    try:
        examples = neutral_examples(attribute, tuple(groups), 0, 1)
    except ValueError:
        return ()  # an attribute of the user's own has no templates
    sides: list[Rows] = [
        [[example.variations[group][0].text] for example in examples] for group in groups
    ]
    try:
        value = measure(sides[0], sides[1], list(range(len(examples))))
    except Exception as error:  # noqa: BLE001 - some scorers know only texts of their own
        text = f"the scorer {name} could not be audited: {error}"
        return (Finding("scorer_unaudited", text, "note"),)
    text = f"the scorer {name} alone gives {value:.3f} on {len(examples)} neutral sentences"
    if bound.allows(value):
        return (Finding("scorer_audited", text, "note"),)
    text += (
        f" that differ only in the group, which is beyond the bound {bound.value:g}, so a "
        "difference between answers may come from the scorer itself; use another scorer, or "
        "choose a bound above its gap (see self_audit)"
    )
    return (Finding("scorer_gap", text, "invalid"),)
