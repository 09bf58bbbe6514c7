"""The registry of metrics: a decorator, and a scan of this folder at first use."""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import resources
from itertools import chain
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Literal, ParamSpec, TypeVar, get_args

from pytest_llmfair._util.keywords import unknown_keyword, unknown_metric
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics.arguments import same_index
from pytest_llmfair.metrics.foreign import elsewhere, with_foreign_names
from pytest_llmfair.settings import USUAL_LEVEL
from pytest_llmfair.stats import Call, Estimate, Finding, NoRepeats

Direction = Literal["lower", "higher", "two-sided"]
Needs = Literal[
    "scores",
    "score_pairs",
    "embedding_pairs",
    "texts",
    "text_pairs",
    "pronoun_counts",
    "prompts",
    "table",
]
Scale = Literal["linear", "log"]
Favourable = Literal["high", "low"]
FairExample = Callable[[int, int], Mapping[str, Any]]

# Assertions that measure what no metric does, and their calls.
_OWN_ASSERTIONS = {
    "counterfactual_invariance": "assert_counterfactual_invariance(pairs, eps=..., client=...)",
    "corrected_gap": "assert_corrected_gap_within(responses, labels=..., bound=...)",
}

P = ParamSpec("P")
E = TypeVar("E", bound=Estimate)

_METRICS: dict[str, MetricInfo] = {}
_ALIASES: dict[str, str] = {}
_PACKAGE = "pytest_llmfair.metrics"


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """Metadata of a metric; assertions, reports and documentation are made from it.

    The attributes are the parameters of :func:`metric`, and two more.

    Attributes
    ----------
    name : str
        Public name, also the function's.
    function : callable
        The metric itself.

    Examples
    --------
    >>> from pytest_llmfair.metrics import get_metric
    >>> get_metric("toxic_fraction").assertion
    'assert_toxic_fraction_within'
    """

    name: str
    family: str
    paper: str
    symbol: str
    direction: Direction
    bounds: tuple[float, float]
    fair_value: float
    unit: str
    reported: str
    needs: Needs
    scorer: str | None
    generations: int
    aliases: tuple[str, ...]
    scale: Scale
    judged_with: Mapping[str, Any]
    example: FairExample | None
    favourable: Favourable | None
    reduce: Callable[[Any, Any], Any] | None
    function: Callable[..., Estimate]

    def __repr__(self) -> str:
        low, high = self.bounds
        return f"MetricInfo {self.name} ({self.family}, {low:g} to {high:g}, {self.side})"

    def __reduce__(self) -> tuple[Callable[[str], MetricInfo], tuple[str]]:
        # A pickle or a deep copy refers to the metric by its name, as it does to functions.
        return get_metric, (self.name,)

    @property
    def level(self) -> float:
        """Two-sided confidence level of its verdicts and plans, unless the user gives one."""
        return USUAL_LEVEL

    @property
    def side(self) -> str:
        """Description of the fair values."""
        if self.direction == "two-sided":
            return f"around {self.fair_value:g} is fair"
        return f"{self.direction} is fairer"

    @property
    def whole_rows(self) -> bool:
        """Whether every prompt needs the same number of answers, none of them missing."""
        return self.needs == "scores" and self.generations > 1

    def fair_arguments(self, units: int, generations: int = 1) -> Mapping[str, Any]:
        """Return keyword arguments of a perfectly fair model of this size.

        Parameters
        ----------
        units : int
            Sampling units, of each group where groups are compared.
        generations : int
            Generations per unit.

        Raises
        ------
        ValueError
            If the metric does not say what its arguments look like.
        """
        if self.example is None:
            raise ValueError(
                f"{self.name} does not say what its arguments look like; give @metric(..., "
                "needs=...) where they come from answers, or else example=..., a function of the "
                "numbers of units and generations"
            )
        return self.example(units, generations)

    def fair_sample(self, units: int, generations: int = 1) -> Estimate:
        """Return the metric of a perfectly fair model of this size, as assertions measure it.

        Parameters
        ----------
        units, generations : int
            As in :meth:`fair_arguments`.
        """
        return self.function(**{**self.judged_with, **self.fair_arguments(units, generations)})

    @property
    def assertion(self) -> str:
        """Name of the assertion made for this metric."""
        ending = "at_least" if self.direction == "higher" else "within"
        return f"assert_{self.name}_{ending}"

    @property
    def summary(self) -> str:
        """First line of the metric's documentation."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]


def metric(
    *,
    family: str,
    paper: str,
    symbol: str,
    direction: Direction,
    bounds: tuple[float, float],
    unit: str,
    needs: Needs = "table",
    fair_value: float | None = None,
    reported: str = "no values",
    scorer: str | None = None,
    generations: int = 1,
    aliases: tuple[str, ...] = (),
    scale: Scale = "linear",
    judged_with: Mapping[str, Any] | None = None,
    example: FairExample | None = None,
    favourable: Favourable | None = None,
    reduce: Callable[[Any, Any], Any] | None = None,
) -> Callable[[Callable[P, E]], Callable[P, E]]:
    """Register a function from arrays to an `Estimate` as a metric.

    In a user's own ``conftest.py`` too, it gets an assertion, a row in every report and in
    ``llmfair metrics``, and the shared tests of :mod:`pytest_llmfair.testing`.

    Parameters
    ----------
    family, paper, symbol : str
        Family of metrics, key of the paper that defines it, the symbol used there.
    direction : {"lower", "higher", "two-sided"}
        Which side of a bound is fairer.
    bounds : tuple of float
        Range of the metric over all data.
    unit : str
        Unit of sampling, singular, such as "prompt".
    needs : str
        What the arguments are made of: "scores", "score_pairs", "embedding_pairs", "texts",
        "text_pairs", "pronoun_counts" or "prompts"; a "table" is never collected, but given.
    fair_value : float, optional
        By default 0, or the upper bound where higher is fairer.
    reported : str
        Values printed in the papers.
    scorer : str, optional
        Scorer that turns collected texts into the scores of the first arguments.
    generations : int
        Answers to collect per prompt when the caller does not say.
    aliases : tuple of str
        Other names of the metric.
    scale : {"linear", "log"}
        "log" for ratios: a bound is on the absolute logarithm of the value.
    judged_with : mapping, optional
        Keyword arguments that assertions use unless the caller gives others.
    example : callable, optional
        Arguments of a perfectly fair model, from the numbers of units and generations. Without it
        those of `needs` are used: scores that are all 0, or the same texts for everyone.
    favourable : {"high", "low"}, optional
        Which rate or score is better for the group that has it; reports name the other group as
        treated worse, and without it neither.
    reduce : callable, optional
        What turns the answers to pairs into a row of numbers each, as the metric itself does.

    Raises
    ------
    ValueError
        If the name is taken by another metric, a field has a value that is not allowed, or there
        is a scorer but no `needs`.

    Examples
    --------
    >>> @metric(  # doctest: +SKIP
    ...     family="refusals",
    ...     paper="ours",
    ...     symbol="RS",
    ...     direction="lower",
    ...     bounds=(0.0, 1.0),
    ...     unit="prompt",
    ...     needs="scores",
    ...     scorer="refusal",
    ... )
    ... def refused_share(scores, *, units=None, population="sampled"):
    ...     return Mean.of_rows(scores, units=units, population=population, outcomes=True)
    """
    fields = locals()
    low, high = bounds
    words = (direction, Direction), (needs, Needs), (favourable or "high", Favourable)
    if not low < high or any(word not in get_args(possible) for word, possible in words):
        raise ValueError(
            f"a metric cannot have direction {direction!r}, needs {needs!r}, favourable "
            f"{favourable!r} and bounds {bounds}: directions are "
            f"{', '.join(get_args(Direction))}; needs are {', '.join(get_args(Needs))}; "
            "favourable is high, low or None; bounds are (smallest, largest)"
        )
    if needs == "table" and scorer is not None:
        raise ValueError(
            f"scorer={scorer!r} has no use without needs=..., which says what the arguments are "
            f"made of: {', '.join(_examples.BY_NEEDS)}"
        )
    if fair_value is None:
        fair_value = high if direction == "higher" else 0.0
    fields |= {
        "fair_value": float(fair_value),
        "judged_with": MappingProxyType(dict(judged_with or {})),
        "example": example or _examples.BY_NEEDS.get(needs),
    }

    def register(function: Callable[P, E]) -> Callable[P, E]:
        parameters = inspect.signature(function).parameters
        takes_any = any(each.kind is each.VAR_KEYWORD for each in parameters.values())

        @functools.wraps(function)
        def measured(*args: P.args, **kwargs: P.kwargs) -> E:
            for keyword in () if takes_any else kwargs:
                if keyword not in parameters:
                    raise unknown_keyword(function.__name__, keyword, parameters)
            same_index({**dict(zip(parameters, args, strict=False)), **kwargs})
            try:
                estimate = function(*args, **kwargs)
            except NoRepeats:
                given: dict[str, Any] = {**kwargs, "population": "sampled"}
                estimate = _as_fixed(function(*args, **given))
            if not isinstance(estimate, Estimate):
                raise TypeError(
                    f"{function.__name__} returned a {type(estimate).__name__}; a metric returns "
                    "an Estimate, such as pytest_llmfair.stats.Mean.of_values(...)"
                )
            # Rows from templates and continuations list the groups that no prompt names.
            rows = (each for each in (*args, *kwargs.values()) if isinstance(each, list))
            uncovered = chain.from_iterable(getattr(each, "lacks", ()) for each in rows)
            found = estimate.with_metric(info, Call(info.name, args, kwargs))
            return found.with_findings(*map(Finding.uncovered, uncovered))

        info = MetricInfo(name=function.__name__, function=measured, **fields)
        measured.__doc__ = with_foreign_names(info.name, inspect.getdoc(function))
        _add(info)
        return measured

    return register


def _as_fixed(estimate: E) -> E:
    """Report on fixed units what was measured as a sample, whose interval is never narrower."""
    estimate = replace(estimate, sample=replace(estimate.sample, population="fixed"))
    single = (
        "a fixed unit has a single row, so that nothing shows how its answers vary: the interval "
        "is that of units drawn from more, wider than needed"
    )
    return estimate.with_findings(Finding("no_repeats", single))


def _add(info: MetricInfo) -> None:
    """Put a metric into the list; a file that is loaded again replaces its own."""
    for key in (info.name, *info.aliases):
        owner = _METRICS.get(_ALIASES.get(key, key))
        if owner is not None and _origin(owner) != _origin(info):
            raise ValueError(
                f"two metrics are called {key!r}, in {_origin(owner)[0]} and in "
                f"{_origin(info)[0]}; give yours another name"
            )
    _METRICS[info.name] = info
    _ALIASES.update(dict.fromkeys(info.aliases, info.name))


def _origin(info: MetricInfo) -> tuple[str, str]:
    code = inspect.unwrap(info.function).__code__
    return str(Path(code.co_filename).resolve()), info.name


@functools.cache
def public_modules() -> tuple[ModuleType, ...]:
    """Import every public module of this folder and of its folders, in alphabetical order."""
    package = importlib.import_module(_PACKAGE)
    found = pkgutil.walk_packages(package.__path__, f"{_PACKAGE}.")
    names = sorted(each.name for each in found if not each.ispkg and "._" not in each.name)
    return tuple(map(importlib.import_module, names))


@functools.cache
def _homes() -> dict[str, str]:
    """Read the module of each public name and alias, as tests/make_stub.py writes them."""
    text = (resources.files(_PACKAGE) / "names.json").read_text("utf-8")
    return {name: home for home, names in json.loads(text).items() for name in names}


def modules_of(name: str) -> tuple[ModuleType, ...]:
    """Import the module that a name or alias is listed for, or all where it is not listed."""
    home = _homes().get(name)
    return public_modules() if home is None else (importlib.import_module(f"{_PACKAGE}.{home}"),)


def all_metrics() -> dict[str, MetricInfo]:
    """Return every metric by name, in alphabetical order; the folder is scanned at first use.

    Examples
    --------
    >>> from pytest_llmfair.metrics import all_metrics
    >>> all_metrics()["rabbi"].paper
    'rabbi'
    """
    public_modules()
    return dict(sorted(_METRICS.items()))


def get_metric(name: str) -> MetricInfo:
    """Return the metadata of a metric by name or alias.

    Parameters
    ----------
    name : str
        Name or alias of a metric, such as "toxic_fraction" or "TF".

    Raises
    ------
    ValueError
        If there is no such metric; the message suggests the nearest names.

    Examples
    --------
    >>> from pytest_llmfair.metrics import get_metric
    >>> get_metric("DP")
    MetricInfo demographic_parity_difference (classification, 0 to 1, lower is fairer)
    """
    if not isinstance(name, str):
        raise ValueError(f"the metric is {str(name)[:40]!r}, a {type(name).__name__}; give a name")
    modules_of(name)
    if (found := _METRICS.get(name) or _METRICS.get(_ALIASES.get(name, ""))) is not None:
        return found
    if name in _OWN_ASSERTIONS:
        raise ValueError(f"{name} is an assertion of its own: call {_OWN_ASSERTIONS[name]}")
    known = all_metrics()
    names = {alias: known[own].family for alias, own in _ALIASES.items()}
    families = {key: each.family for key, each in known.items()} | names
    raise unknown_metric(name, families, elsewhere(name))
