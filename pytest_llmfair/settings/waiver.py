"""Known results that are accepted until a date; only sessions with a policy load this."""

from __future__ import annotations

from datetime import date
from fnmatch import fnmatchcase
from typing import NamedTuple


class Waiver(NamedTuple):
    """A known result accepted until a date; without a variant the metric is meant with each."""

    test: str
    metric: str
    reason: str
    approver: str
    expires: str
    worst: float | None = None
    place: str = ""

    @property
    def expired(self) -> bool:
        """Whether its last day, an ISO date, is over."""
        return date.fromisoformat(self.expires) < date.today()

    def covers(self, nodeid: str, metric: str) -> bool:
        """Whether a result of a test is meant, and the waiver still holds."""
        # Node ids of parametrized tests hold brackets, which are wildcards too.
        test = nodeid == self.test or fnmatchcase(nodeid, self.test)
        names = {metric, metric.partition(" (")[0], metric.partition("@")[0].partition(" (")[0]}
        wanted = self.metric or "*"
        # Who accepts a value does not accept that it became worse, unless the waiver says so.
        if " worse than " in metric and "worse" not in wanted:
            return False
        named = any(name == wanted or fnmatchcase(name, wanted) for name in names)
        return test and named and not self.expired

    def __str__(self) -> str:
        """Return reason, approver, largest value and last day of the waiver."""
        most = "a value of any size" if self.worst is None else f"up to {self.worst:g}"
        return f"{self.reason} (approved by {self.approver}, {most}, until {self.expires})"

    @property
    def title(self) -> str:
        """What is waived, and where that is written."""
        return f"the waiver of {self.metric or 'all metrics'} in {self.test} ({self.place})"
