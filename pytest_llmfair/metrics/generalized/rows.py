"""The 22 metrics of Table 2 of Czarnowska et al. (2021), by name; each is a metric of its own."""

from __future__ import annotations

import difflib
import inspect
import re
import textwrap
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._parameters import described
from pytest_llmfair.metrics._people import PARAMETERS, Who, of_people
from pytest_llmfair.metrics._rates import accuracies, difference
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import labels
from pytest_llmfair.metrics.generalized._compare import first_and_second
from pytest_llmfair.metrics.generalized._forms import depth, read_counterfactuals, read_groups
from pytest_llmfair.metrics.generalized._row_scores import (
    measure_counterfactuals,
    measure_groups,
)
from pytest_llmfair.metrics.generalized._table import ROWS, WORDS, NamedRow
from pytest_llmfair.stats import Estimate, Population

__all__ = ["named"]
__all__ += [row.key for row in ROWS]


def named(
    name: str,
    *,
    y_true: ArrayLike | None = None,
    y_pred: ArrayLike | None = None,
    y_prob: ArrayLike | None = None,
    groups: ArrayLike,
    positive: Any = 1,
    reference: Any = None,
    original: ArrayLike | None = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Measure a row of Table 2 of Czarnowska et al. (2021) by its name in the paper.

    ``named("FPED*", y_true=..., y_pred=..., groups=...)`` is ``fped_star(y_true=..., ...)``. A
    star is the correctly normalised variant; "(TC)" takes examples of the positive gold class
    only, and divides by their number.

    Parameters
    ----------
    name : str
        FPED, FNED, FPED*, FNED*, AvgGF, AvgGF(TC), FPR Ratio, FNR Ratio, PosAvgEG, NegAvgEG,
        Disparity Score, Disparity Score*, TPR Gap, TNR Gap, Parity Gap, Accuracy Difference, TPR
        Difference, F1 Difference, LAS Difference, Recall Difference, F1 Ratio; on counterfactuals
        CFGap, CFGap(TC), PertSS, PertSD, PertSR, AvgIF, AvgIF(TC), Average Score Difference.
        Any other name is a ``ValueError`` that suggests the nearest ones.
    y_true, y_pred : array_like of shape (n_rows,)
        Gold and predicted class of each row. Lists of BILOU tags are sequences: their spans are
        compared exactly, and their tokens by scores that need true negatives.
    y_prob : array_like
        Group form: (n_rows, n_classes), or the probability of the positive class alone.
        Counterfactual form: ``y_prob[example][group][class]``, or
        ``y_prob[example][group][variation][class]`` with one or more variations.
    groups : sequence
        Group form: one label per row. Counterfactual form: the names in column order.
    positive : object
        The class that is meant, all others are the rest; for probabilities its column.
    reference : object, list or "rest", optional
        The background: a group, several (their union), or every group but the own. Of two groups
        that are compared with a sign, the one that is subtracted or divided by.
    original : array_like of shape (n_examples, n_classes), optional
        Probabilities of the unperturbed examples: the background of CFGap and PertSS, which
        otherwise compare pairs of groups.
    units : sequence, optional
        One label per row or source example; rows with equal labels are one sampling unit, also
        across groups. Default: each its own.
    population : {"sampled", "fixed"}
        Whether units were drawn from a larger population, or only generations vary.

    Returns
    -------
    Estimate
        Rows that give one number per group have the value furthest from fair, and each group in
        ``.groups``; rows over pairs have every pair there, and each group's mean over its pairs.

    Raises
    ------
    ValueError
        If data that the row needs are not given, lengths differ, a label is missing, a probability
        is outside [0, 1], there are fewer than two groups, or more than two for a row that is
        defined for two.

    Examples
    --------
    >>> from pytest_llmfair.metrics import named
    >>> y_pred = [1, 1, 1, 0, 1, 0, 0, 0]
    >>> named("Parity Gap", y_pred=y_pred, groups=["a"] * 4 + ["b"] * 4)
    RateDifference 0.500 [0.000, 0.868] (95 %, 8 examples)
    """
    given = locals()
    row = find_row(given.pop("name"))
    if row.key == "accuracy_difference":
        # The metric of that name takes more groups than the paper's row.
        first_and_second(row.name, list(dict.fromkeys(labels(groups, "groups"))), reference)
    return globals()[row.key](**given)  # type: ignore[no-any-return]


def find_row(name: str) -> NamedRow:
    """Return the row with a name, in any case, however it is spaced."""
    known = {
        _plain(own): row for row in ROWS for own in (row.key, row.title, *row.others, row.name)
    }
    if not isinstance(name, str) or _plain(name) not in known:
        shown = {_plain(row.name): row.name for row in ROWS}
        near = difflib.get_close_matches(_plain(str(name)), [*shown, *known], n=3, cutoff=0.5)
        names = list(dict.fromkeys(known[one].name for one in near))
        hint = f"did you mean {' or '.join(names)}?" if names else ", ".join(shown.values())
        raise ValueError(f"no row of Table 2 is called {name!r}; {hint}")
    return known[_plain(name)]


def _plain(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).casefold()


def _function(row: NamedRow) -> Callable[..., Estimate]:
    """Make the function of a row."""

    def measure(
        y_true: ArrayLike | None = None,
        y_pred: ArrayLike | None = None,
        *,
        y_prob: ArrayLike | None = None,
        groups: ArrayLike,
        positive: Any = 1,
        reference: Any = None,
        original: ArrayLike | None = None,
        units: Sequence[Hashable] | None = None,
        population: Population = "sampled",
    ) -> Estimate:
        if reference is not None and row.compares == "PCM" and not row.pairs_only:
            raise ValueError(f"{row.name} compares all pairs of groups; leave reference out")
        # A difference of mean scores is the same metric in either form.
        both = row.counterfactual and row.pairs_only
        if row.counterfactual and not (both and depth(y_prob) <= 2 and y_prob is not None):
            if y_prob is None:
                raise ValueError(f"{row.name} needs y_prob[example][group][class]")
            counterfactuals = read_counterfactuals(
                y_true, y_prob, groups, original, units, population
            )
            return measure_counterfactuals(row, counterfactuals, positive, reference)
        if depth(y_prob) > 2:
            raise ValueError(
                f"{row.name} takes data by group: y_prob has one row of classes per example, and "
                "groups one label per row (with units for the source example)"
            )
        form = read_groups(y_true, y_pred, y_prob, groups, units, population)
        return measure_groups(row, form, positive, reference)

    return measure if row.key != "accuracy_difference" else _of_any_groups(measure)


def _of_any_groups(measure: Callable[..., Estimate]) -> Callable[..., Estimate]:
    """Let a difference of accuracies take more than two groups, and what tables of people take."""

    def accuracy_difference(
        y_true: ArrayLike | None = None,
        y_pred: ArrayLike | None = None,
        *,
        positive: Any,
        y_prob: ArrayLike | None = None,
        original: ArrayLike | None = None,
        who: Who,
    ) -> Estimate:
        asked = who.weights is not None or who.minimum_n or who.minimum_share
        asked = asked or who.missing != "error"
        if (
            not asked
            and positive is not None
            and (depth(y_true) > 1 or len(set(labels(who.groups, "groups"))) == 2)
        ):
            return measure(
                y_true,
                y_pred,
                y_prob=y_prob,
                groups=who.groups,
                positive=positive,
                reference=who.reference,
                original=original,
                units=who.units,
                population=who.population,
            )
        if y_true is None or y_pred is None:
            raise ValueError(
                "an accuracy with weights, minimum_n, minimum_share or missing= compares y_true "
                "and y_pred; give both"
            )
        return difference(accuracies(y_true, y_pred, positive, who), signed=True)

    return of_people(accuracy_difference)


def _measured(row: NamedRow) -> Callable[..., Estimate]:
    """Make the metric of a row."""
    measure = _function(row)
    measure.__name__ = measure.__qualname__ = row.key
    measure.__doc__ = _documentation(row)
    if row.key == "accuracy_difference":
        measure = described(_MORE)(measure)
    return metric(
        family="generalized",
        paper="czarnowska2021",
        symbol=row.name,
        direction="two-sided" if row.signed or row.is_ratio else "lower",
        bounds=row.bounds,
        fair_value=1.0 if row.is_ratio else 0.0,
        unit="example",
        reported=row.reported,
        aliases=tuple(dict.fromkeys((row.name, *row.others))),
        scale="log" if row.is_ratio else "linear",
        example=_FAIR[_data_of(row)],
        favourable=row.favourable,
    )(measure)


def _data_of(row: NamedRow) -> str:
    """Return the kind of data that a row is about."""
    if row.counterfactual:
        return "counterfactuals"
    return "probabilities" if row.score == "p(c)" else "predictions"


_MORE = f"""
    positive : object
        The class that is separated from the rest; None counts rows whose class is right.
    {PARAMETERS.strip()}
    """

_FAIR = {
    "predictions": _examples.people,
    "probabilities": _examples.probabilities,
    "counterfactuals": _examples.counterfactuals,
}

_EXAMPLES = {
    "predictions": """\
>>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
>>> y_pred = [1, 0, 1, 0] + [1, 1, 1, 0, 0, 0, 0, 1]
>>> groups = ["a"] * 4 + ["b"] * 8
>>> round({key}(y_true=y_true, y_pred=y_pred, groups=groups).value, 3)""",
    "probabilities": """\
>>> y_true = [1, 1, 0, 0] + [1, 1, 1, 1, 0, 0, 0, 0]
>>> y_prob = [0.9, 0.4, 0.6, 0.2] + [0.9, 0.8, 0.7, 0.3, 0.1, 0.2, 0.3, 0.6]
>>> groups = ["a"] * 4 + ["b"] * 8
>>> round({key}(y_true=y_true, y_prob=y_prob, groups=groups).value, 3)""",
    "counterfactuals": """\
>>> y_prob = [[[0.2, 0.8], [0.6, 0.4]], [[0.9, 0.1], [0.7, 0.3]]]
>>> round({key}(y_true=[1, 0], y_prob=y_prob, groups=["a", "b"]).value, 3)""",
}


def _documentation(row: NamedRow) -> str:
    """Return the docstring of a row: its formula and example, and the parameters of `named`."""
    summary = row.title if row.title == row.name else f"{row.title} ({row.name})"
    divided = f", {WORDS['divisors'][row.divisor]}" if row.divisor and not row.pairs_only else ""
    form = "the mean over source examples of " if row.counterfactual else ""
    # Since Python 3.13 docstrings have lost their indentation already.
    shared = inspect.cleandoc(named.__doc__ or "").partition("y_true, y_pred :")[2]
    arguments = shared.partition("\n\nExamples\n")[0]
    compared = f"{WORDS['compared'][row.compares]}{divided}"
    if row.may_have_original:
        compared = f"{WORDS['compared']['pairs']}; with `original` {compared}"
    formula = (
        f"Row {row.number} of Table 2 of Czarnowska et al. (2021): {form}the "
        f"{WORDS['distances'][row.distance]} of the {WORDS['scores'][row.score]}"
        f"{WORDS['gold'][row.gold]}, {compared}."
    )
    example = _EXAMPLES[_data_of(row)].format(key=row.key)
    return (
        f"{summary}.\n\n{textwrap.fill(formula, 90)}\n\n"
        f"Parameters\n----------\ny_true, y_pred :{arguments}\n\n"
        f"Examples\n--------\n>>> from pytest_llmfair.metrics import {row.key}\n{example}\n"
        f"{row.example}"
    )


globals().update({row.key: _measured(row) for row in ROWS})
