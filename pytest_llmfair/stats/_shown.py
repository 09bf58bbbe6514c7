"""How an estimate shows itself: one line, a record, a data frame, a picture."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.wording import counted, escape, number, plain, plug_in, span

if TYPE_CHECKING:
    from pytest_llmfair.stats._records import Interval, Sample


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
