"""Parts of an estimate besides its value, and its printed form."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import FrozenInstanceError, asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from pytest_llmfair._util.wording import counted, escape, number, plain, plug_in, span

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Population = Literal["sampled", "fixed"]
# Two ends of a range, and the share of fair models that pass by sample size.
Ends = tuple[float, float]
Passes = Callable[[float], float]


class NoRepeats(ValueError):
    """Fixed units have a single generation, so the variation of generations is unknown."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval.

    Attributes
    ----------
    lower, upper : float
        Ends, on the metric's own scale.
    level : float
        Two-sided confidence level in (0, 1); half of ``1 - level`` on either side.
    method : str
        How it was computed, in words.
    of : {"value", "debiased"}
        Whether it is an interval for the paper's value or the bias-corrected one.

    Examples
    --------
    >>> Interval(0.1, 0.3, 0.95, "Wilson")
    Interval [0.100, 0.300] (95 %, Wilson)
    >>> 0.2 in Interval(0.1, 0.3, 0.95, "Wilson")
    True
    """

    lower: float
    upper: float
    level: float
    method: str
    of: Literal["value", "debiased"] = "value"

    def __str__(self) -> str:
        return f"[{number(self.lower)}, {number(self.upper)}]"

    def __repr__(self) -> str:
        return f"Interval {self} ({100 * self.level:g} %, {self.method})"

    def __contains__(self, x: float) -> bool:
        return self.lower <= x <= self.upper

    @property
    def width(self) -> float:
        """Upper end minus lower end."""
        return self.upper - self.lower


@dataclass(frozen=True, slots=True)
class Sample:
    """Size of the data of an estimate.

    Attributes
    ----------
    units : int
        Sampling units (clusters): prompts, pairs, rounds, people or occupations.
    generations : int
        Model outputs (or scored rows) in all.
    fewest, most : int
        Generations of the unit with the fewest and with the most.
    population : {"sampled", "fixed"}
        Whether the units were drawn from a larger population or are the population.
    effective : float
        Effective sample size: independent draws with the same precision; NaN where not defined.
    icc, design_effect : float
        Intraclass correlation and variance inflation by clustering; NaN where not defined.

    Examples
    --------
    >>> Sample.of_sizes([3, 5]).generations
    8
    """

    units: int
    generations: int
    fewest: int
    most: int
    population: Population = "sampled"
    effective: float = math.nan
    icc: float = math.nan
    design_effect: float = math.nan

    @classmethod
    def of_sizes(
        cls,
        sizes: Iterable[int] | Floats | Indices,
        population: Population = "sampled",
        effective: float = math.nan,
        icc: float = math.nan,
        design_effect: float = math.nan,
    ) -> Sample:
        """Describe units by the generations of each."""
        # An array is summed as it is: a list of 40,000 sizes takes longer than the estimate.
        own = np.asarray(sizes if isinstance(sizes, np.ndarray) else list(sizes), dtype=np.intp)
        fewest, most = (int(own.min()), int(own.max())) if own.size else (0, 0)
        units, total = len(own), int(own.sum())
        return cls(units, total, fewest, most, population, effective, icc, design_effect)


@dataclass(frozen=True, slots=True)
class Call:
    """The call of a metric that gave an estimate, from which the estimate can be made again.

    Examples
    --------
    >>> Call("toxic_fraction", ([[0.1, 0.9]],)).quantity
    'value'
    """

    metric: str
    args: tuple[Any, ...]
    keywords: Mapping[str, Any] = field(default_factory=dict)
    # What was taken from the metric's estimate: "value", "excess" or "no floor".
    quantity: str = "value"


@dataclass(frozen=True, slots=True)
class Finding:
    """A warning, an explanation or a reason why an estimate must not be judged.

    Attributes
    ----------
    code : str
        Short name for programs, such as ``"thin_evidence"``.
    text : str
        The same in a sentence, for reports; may be empty.
    kind : {"note", "flag", "invalid"}
        A note explains, a flag warns, and with an invalid finding nothing may be judged.

    Examples
    --------
    >>> Finding("thin_evidence", "only 4 units")
    Finding(code='thin_evidence', text='only 4 units', kind='flag')
    """

    code: str
    text: str = ""
    kind: Literal["note", "flag", "invalid"] = "flag"

    @classmethod
    def note(cls, text: str) -> Finding:
        """Explain something to the reader of a report."""
        return cls("note", text, "note")

    @classmethod
    def undefined(cls, why: str) -> Finding:
        """Say why a value is NaN."""
        return cls("undefined", why, "invalid")

    @classmethod
    def uncovered(cls, group: str) -> Finding:
        """Name a group that the lexicon in use has no terms for."""
        return cls("uncovered_group", group, "note")


@dataclass(frozen=True, slots=True)
class Contributions:
    """Pseudo-values of an estimate: their mean over rows is its value.

    Value plus influence of each row, exact for means and first order for others. `reach` is the
    largest difference that two models can make in one row.
    """

    values: Floats
    units: Sequence[Hashable] | Indices | None
    reach: float

    def __repr__(self) -> str:
        return f"Contributions of {len(self.values):,} rows"

    @classmethod
    def of_groups(
        cls,
        value: float,
        influence_a: Floats,
        influence_b: Floats,
        units: Sequence[Hashable] | Indices,
        span: float,
    ) -> Contributions:
        """Rows of the first group, then of the second; `span` is the largest influence gap."""
        n_a, n_b = len(influence_a), len(influence_b)
        n = n_a + n_b
        rows = np.concatenate([influence_a * (n / n_a), influence_b * (n / n_b)])
        return cls(value + rows, units, span * n / min(n_a, n_b))


_DERIVED = ("reasons", "notes", "invalid", "undefined", "lacks")


class Sealed:
    """Mixin of dataclasses: each field is assigned once."""

    # Not ``frozen=True``: a dataclass of a user could then inherit only if it is frozen too.

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __setattr__(self, name: str, value: object) -> None:
        self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        object.__delattr__(self, name)

    def _refuse_change(self, name: str) -> None:
        if name in _DERIVED and isinstance(getattr(type(self), name), property):
            raise FrozenInstanceError(
                f"{name!r} of a {type(self).__name__} follows from its findings; make a copy with "
                "estimate.with_findings(Finding(...))"
            )
        # Caches of subclasses are not fields, and may change.
        if name in self.__dict__ and name in self.__dataclass_fields__:
            raise FrozenInstanceError(
                f"cannot assign {name!r} of a {type(self).__name__}; make a copy with "
                f"dataclasses.replace(estimate, {name}=...), or in __post_init__ use "
                f"object.__setattr__(self, {name!r}, ...)"
            )

    def _changed(self, **changes: object) -> Self:
        # Not dataclasses.replace: a subclass may have an __init__ of its own.
        other = copy.copy(self)
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        return other


class Shown:
    """Representations of an estimate for notebooks, logs and files."""

    if TYPE_CHECKING:
        value: float
        sample: Sample
        groups: Mapping[Hashable, Any]
        metric: Any
        variant: str
        unit: str

        def interval(self, level: float = 0.95) -> Interval: ...
        @property
        def undefined(self) -> str | None: ...
        @property
        def debiased(self) -> float: ...
        @property
        def centre(self) -> float: ...
        def noise_floor(self) -> float: ...

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # The repr of a dataclass would print all arrays.
        if "__repr__" not in cls.__dict__:
            cls.__repr__ = Shown.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        kind = type(self).__name__
        evidence = self._evidence()
        if self.undefined is not None:
            return f"{kind} not computable: {escape(self.undefined)} ({evidence})"
        ends = self.interval()
        shown = f"{kind} {number(self.centre)} {ends}"
        if ends.of == "debiased":
            shown += f" {plug_in(self.value, self.noise_floor())}"
        return f"{shown} ({100 * ends.level:g} %, {evidence})"

    def _unit(self) -> str:
        return str(self.unit or (self.metric.unit if self.metric else "unit"))

    def _evidence(self) -> str:
        of = self.sample
        return counted(of.units, of.generations, self._unit(), of.population)

    def table(self, level: float = 0.95) -> list[dict[str, Any]]:
        """Return the group table as plain rows; NaN where a row has no such number.

        Keys are key (the group's name; two groups as ``A / B``), value (the one that the interval
        surrounds), lower, upper, n, rate and p. Intervals of confidence `level` are not corrected
        for their number.
        """
        rows = []
        for key, row in self.groups.items():
            ends = row.interval(level) if row.estimate is not None else None
            rows.append(
                {
                    "key": " / ".join(map(str, key)) if isinstance(key, tuple) else str(key),
                    "value": row.centre,
                    "lower": ends.lower if ends else math.nan,
                    "upper": ends.upper if ends else math.nan,
                    "n": row.n,
                    "rate": row.rate,
                    "p": row.p,
                }
            )
        return rows

    def to_dict(self, level: float = 0.95) -> dict[str, Any]:
        """Return the estimate as plain JSON types, under the names that results use.

        NaN becomes None, infinity "inf" or "-inf"; it holds no number of an input row.

        Examples
        --------
        >>> from pytest_llmfair.metrics import toxicity_probability
        >>> toxicity_probability([[0.1, 0.9], [0.2, 0.3]]).to_dict()["value"]
        0.5
        """
        own = ("value", "debiased", "undefined", "lacks", "reasons", "notes", "invalid")
        record = {
            "kind": type(self).__name__,
            "metric": f"{self.metric.name if self.metric else 'estimate'}{self.variant}",
            **asdict(self.interval(level)),
            **asdict(self.sample),
            "unit": self._unit(),
            "noise_floor": self.noise_floor(),
            "groups": self.table(level),
        }
        return {key: plain(x) for key, x in record.items()} | {
            name: plain(getattr(self, name)) for name in own
        }

    def to_frame(self, level: float = 0.95) -> Any:
        """Return the :meth:`table` as a pandas DataFrame by group, without columns of NaN.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        from pytest_llmfair._util.notebook import frame

        return frame(self.table(level))

    def _repr_html_(self) -> str:
        from pytest_llmfair._util.notebook import block

        info, record, lines = self.metric, self.to_dict(), []
        name = record["metric"] if info else record["kind"]
        if info:
            lines += [
                info.summary,
                f"Scale: {info.bounds[0]:g} to {info.bounds[1]:g}, {info.side}.",
            ]
        if self.undefined is not None:
            return block(record, f"{name}: no value, because {self.undefined}", lines)
        ends = self.interval()
        lines.append(f"{span(ends.level, ends.lower, ends.upper)} from {self._evidence()}.")
        if ends.of == "debiased":
            lines.append(f"Corrected for sampling noise; {number(self.value)} without that.")
        return block(record, f"{name}: {number(self.centre)}", lines)
