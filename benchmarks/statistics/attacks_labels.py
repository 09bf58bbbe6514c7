"""Judges that err differently by group, corrected with planned labels of people."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from attacks import Attack

from pytest_llmfair import assert_corrected_gap_within, label_plan
from pytest_llmfair.labels.strata import allocated
from pytest_llmfair.stats.corrected_gap import corrected_gap

# Largest tail of an interval of 95 %: 2.5 % is exact.
_TAIL = 0.035
_RUNS = 2000


@dataclass(frozen=True, slots=True)
class Design:
    """Rates of events by group, and how often the judge sees an event and a non-event as such."""

    name: str
    rates: tuple[float, float]
    sees: tuple[float, float]
    clears: tuple[float, float]
    labels: int = 50
    answers: int = 500

    @property
    def gap(self) -> float:
        """The true gap."""
        return self.rates[0] - self.rates[1]

    def drawn(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw what is true and what the judge says, one row a group."""
        events = rng.random((2, self.answers)) < np.array(self.rates)[:, None]
        seen = np.where(events, np.array(self.sees)[:, None], 1.0 - np.array(self.clears)[:, None])
        return events.astype(float), (rng.random(events.shape) < seen).astype(float)

    def interval(self, rng: np.random.Generator, lost: float = 0.0) -> tuple[float, float]:
        """Label a planned sample, of which a share of the events is lost, and return the ends."""
        truth, judge = self.drawn(rng)
        cells = [(g, f) for g in (0, 1) for f in (0.0, 1.0) if (judge[g] == f).any()]
        sizes = [int((judge[g] == f).sum()) for g, f in cells]
        guesses = [0.72 if f else 0.10 for _, f in cells]
        shares = [n / self.answers for n in sizes]
        labels = np.full(truth.shape, math.nan)
        for (g, f), n in zip(
            cells, allocated(shares, guesses, sizes, 2 * self.labels), strict=True
        ):
            chosen = rng.permutation(np.flatnonzero(judge[g] == f))[:n]
            labels[g, chosen] = truth[g, chosen]
        missing = (labels == 1.0) & (rng.random(labels.shape) < lost)
        labels[missing] = math.nan
        groups = np.repeat([0, 1], self.answers).tolist()
        found = corrected_gap(
            judge.ravel(),
            labels.ravel(),
            groups,
            missing=missing.ravel().tolist() if lost else None,
        ).interval(0.95)
        return found.lower, found.upper


DESIGNS = (
    Design("errors cancel", (0.30, 0.30), (0.85, 0.60), (0.90, 0.79)),
    Design("hidden gap", (0.30, 0.15), (0.50, 0.80), (0.95, 0.92)),
    Design("good judge", (0.30, 0.20), (0.95, 0.95), (0.97, 0.97)),
    Design("judge at chance in one group", (0.30, 0.20), (0.90, 0.30), (0.90, 0.70)),
    Design("rare events", (0.02, 0.01), (0.70, 0.70), (0.98, 0.98), labels=150),
)


def _tail(design: Design, *, above: bool, lost: float = 0.0) -> Attack:
    """Count intervals that lie above, or below, the true gap."""

    def happens(rng: np.random.Generator) -> bool:
        lower, upper = design.interval(rng, lost)
        return lower > design.gap if above else upper < design.gap

    side = "above" if above else "below"
    what = f", {100 * lost:.0f} % of the events unlabelled" if lost else ""
    name = f"{design.name}, {design.labels} labels a group{what}: interval {side} the true gap"
    return Attack("L2", name, _TAIL, happens, runs=_RUNS)


def _passes(rng: np.random.Generator) -> bool:
    """Plan labels for a bound of .1 and judge equal groups; the judge errs as plans expect."""
    yes = rng.random(2000) < 0.2
    events = rng.random(2000) < np.where(yes, 0.72, 0.10)
    rows = [
        {"text": f"answer {i}", "group": "ab"[i % 2], "judge": int(said), "event": int(event)}
        for i, (said, event) in enumerate(zip(yes, events, strict=True))
    ]
    plan = label_plan(rows, scorer="judge", bound=0.1, seed=int(rng.integers(2**31)))
    true = {row["text"]: row["event"] for row in rows}
    labels = {key: true[text] for key, text in plan.texts.items()}
    # The loose bound makes no test red; the interval is compared with the planned one.
    found = assert_corrected_gap_within(rows, 0.9, labels=labels, plan=plan, mode="point")
    return found.lower >= -0.1 and found.upper <= 0.1


ATTACKS = [
    *(_tail(design, above=above) for design in DESIGNS for above in (True, False)),
    *(_tail(DESIGNS[1], above=above, lost=0.3) for above in (True, False)),
    Attack("L2", "planned labels, equal groups: PASS", 0.75, _passes, 200, at_least=True),
    Attack("L2", "planned labels, equal groups: PASS in more than planned", 0.85, _passes, 200),
]
