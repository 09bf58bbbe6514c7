"""The result of an assertion as one record, and the errors it raises."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.notebook import block, frame
from pytest_llmfair._util.wording import number, plain, span
from pytest_llmfair.judging import facts
from pytest_llmfair.judging.bound import Direction, Scale
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.message import failure_message, summary_line

if TYPE_CHECKING:
    from pytest_llmfair.judging.assertion import EstimateAssertion
    from pytest_llmfair.judging.inputs import MetricInputs
    from pytest_llmfair.stats import Estimate

_MEANS = {
    "PASS": "The whole interval is within the bound.",
    "FAIL": "The whole interval is beyond the bound.",
    "INCONCLUSIVE": "The interval lies across the bound: this sample does not decide.",
    "UNDERPOWERED": "A sample this small could not have decided.",
    "INVALID": "The evidence cannot be judged.",
}


class Verdict(StrEnum):
    """The answer of the data about a bound; never that a model is free of bias."""

    PASS = "PASS"
    FAIL = "FAIL"
    INCONCLUSIVE = "INCONCLUSIVE"
    UNDERPOWERED = "UNDERPOWERED"
    INVALID = "INVALID"


@dataclass(frozen=True, slots=True)
class Example:
    """A row that drives the value, for the failure message."""

    # The row's own value of the metric.
    value: float
    # The prompt and its answer, or both of a pair.
    prompts: tuple[str, ...]
    outputs: tuple[str, ...]
    # Group of each prompt; empty for single prompts.
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """Everything an assertion found; message, summary, JSON and exit status come from it.

    Attributes
    ----------
    metric : str
        Name of the metric, with its variant where it has one.
    verdict : Verdict
        Judged on the interval, in every mode.
    value, lower, upper, level : float
        Estimate and interval. Where `of` is "debiased" the interval surrounds `debiased`, the
        bias-corrected value.
    bound : float
        The threshold; `direction` says which side is fairer.
    red : bool
        Whether the test must fail; for a postponed FAIL this is known at the end of the session.
    p_exceeds, p_within : float
        One-sided p-values of "beyond the bound" and of "within the bound".
    noise_floor : float
        What a perfectly fair model would score at this sample size; NaN without one.
    unit, units, generations, effective, population
        What was sampled and how much of it.
    missing : dict
        Missing answers by reason; `missing_by_group` the same by group.
    cut : dict
        Answers cut at a length limit that the user set, as ``{"length": n}``; else empty.
    origin : (int, int)
        Answers asked for live, and replayed from a cassette; (0, 0) where unknown.
    rejected : int
        Pairs left out since a validity check failed.
    uncertain : int
        Prompts left out because one of their words can be read in two ways.
    lacks : tuple of str
        Groups of the attribute that were not tested: its lexicon has no terms for them.
    reasons, notes : tuple of str
        Reason codes, and the same in words.
    groups : tuple of dict
        The estimate's table: key, value, lower, upper, n, rate, p.
    examples : tuple of Example
        Rows that drive the value, the worst first.
    could_find : tuple of str or None
        The smallest difference that a test like this finds in 80 % of runs: the amount, and what
        it is an amount of. None where it would find nothing.
    fair_pass_share : float
        For an undecided verdict, share of runs in which a perfectly fair model would pass a test
        of this size; NaN where unknown.
    units_for_fair_pass : int or None
        Units for a share of 80 %; None where unknown, over a million, or a fixed list.
    needed_units : tuple of int or None
        Range of units that would decide.
    model : str
        The model that answered, where answers were collected.
    family : str
        Which assertions share one error rate when the session corrects for their number.
    postponed : bool
        Whether a FAIL waits for that correction at the end of the session.
    looks, calls : tuple of int or None
        For a sequential assertion, looks taken and planned, and answers asked for and planned.
    over_looks : tuple of float or None
        P-value of "beyond the bound" over all of these looks, and the confidence level over them.
    options, attribute
        Command line options that repeat the run, and protected attribute of the pairs.
    compared : tuple of str
        The two groups that the value compares: the worst two if there are more.
    judged : {"value", "excess"}
        Whether the value is the metric's own, or what it is beyond its noise floor.
    differences : tuple of dict
        In what the answers to two groups differ: measure, means by group, and the group that is
        treated worse (None where the measure does not tell).
    direction_words : str
        The same in words; empty where unknown.
    scorer, score_unit : str
        What gave the scores, and their unit, such as "length" and "words"; empty where unknown.
    robustness : dict
        With `robust_over`, by label: over what the interval is, the verdict of each wording alone,
        what varies how much, what would narrow it most, and what may not have been seen.
    labelled : dict
        With people's labels: digests of plan, answers and labels, what the judge alone gives, and
        labelled lines of the message.
    waiver : str
        Why a result that would be red is accepted for now, by whom and until when.
    data : dict or None
        SHA-256 digests of prompts, answers and arguments, where a report needs them.
    recorded : dict or None
        Data from which the result can be computed again, where a report needs them.
    estimate, evidence, assertion
        What was judged, its data, and how; in no record, and not sent to other processes.

    Examples
    --------
    >>> from pytest_llmfair import assert_metric
    >>> result = assert_metric("toxic_fraction", [[0.1, 0.2]] * 100, bound=0.1)
    >>> result.verdict.value, result.value, result.units
    ('PASS', 0.0, 100)
    """

    metric: str
    verdict: Verdict
    value: float
    lower: float
    upper: float
    level: float
    bound: float
    direction: Direction
    mode: str
    red: bool
    fair_value: float = 0.0
    scale: Scale = "linear"
    debiased: float = math.nan
    of: str = "value"
    method: str = ""
    p_exceeds: float = math.nan
    p_within: float = math.nan
    noise_floor: float = math.nan
    floor_words: str = ""
    unit: str = "unit"
    units: int = 0
    generations: int = 0
    effective: float = math.nan
    population: str = "sampled"
    detectable: float = math.nan
    could_find: tuple[str, str] | None = None
    fair_pass_share: float = math.nan
    units_for_fair_pass: int | None = None
    needed_units: tuple[int, int] | None = None
    missing: dict[str, int] = field(default_factory=dict)
    missing_by_group: dict[str, dict[str, int]] = field(default_factory=dict)
    cut: dict[str, int] = field(default_factory=dict)
    origin: tuple[int, int] = field(default=(0, 0), compare=False)
    rejected: int = 0
    uncertain: int = 0
    lacks: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    groups: tuple[dict[str, Any], ...] = ()
    examples: tuple[Example, ...] = ()
    nodeid: str = ""
    model: str = ""
    family: str = "session"
    postponed: bool = False
    looks: tuple[int, int] | None = None
    over_looks: tuple[float, float] | None = None
    calls: tuple[int, int] | None = None
    options: tuple[str, ...] = ()
    attribute: str = ""
    compared: tuple[str, ...] = ()
    judged: str = "value"
    differences: tuple[dict[str, Any], ...] = ()
    direction_words: str = ""
    scorer: str = ""
    score_unit: str = ""
    robustness: dict[str, str] = field(default_factory=dict)
    labelled: dict[str, Any] = field(default_factory=dict)
    waiver: str = ""
    data: dict[str, str | None] | None = field(default=None, compare=False, repr=False)
    recorded: dict[str, Any] | None = field(default=None, compare=False, repr=False)
    # Kept in this process only: too large for a record, and not plain data.
    assertion: EstimateAssertion | None = field(default=None, compare=False, repr=False)

    @property
    def estimate(self) -> Estimate | None:
        """The estimate that was judged."""
        return None if self.assertion is None else self.assertion.judged

    @property
    def evidence(self) -> MetricInputs | None:
        """The data of the estimate."""
        return None if self.assertion is None else self.assertion.inputs

    def __getstate__(self) -> list[Any]:
        """Return all fields but the data, to be sent to other processes."""
        return [None if f.name == "assertion" else getattr(self, f.name) for f in fields(self)]

    def __str__(self) -> str:
        """Return in words what was found, as a failing test prints it."""
        return self.message(show_text="none")

    def __repr__(self) -> str:
        """Return the verdict and its numbers in one line."""
        return summary_line(self.to_dict())

    def message(self, *, show_text: str, detailed: bool = False) -> str:
        """Return the message of a failure in several lines."""
        return failure_message(self.to_dict(), show_text=show_text, detailed=detailed)

    def error(self, message: str) -> FairnessAssertionError:
        """Return the error that this result raises where it is red."""
        return error_for(self)(self, message)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON types; numbers that JSON lacks become None or a word."""
        record = asdict(replace(self, assertion=None))
        del record["assertion"]
        return {key: plain(value) for key, value in record.items()}

    def to_frame(self) -> Any:
        """Return the group table as a pandas DataFrame, as :meth:`Estimate.to_frame` does."""
        return frame(self.groups)

    def _repr_html_(self) -> str:
        return notebook_block(self.to_dict())


class FairnessAssertionError(AssertionError):
    """A fairness assertion is red; `result` holds everything it found."""

    def __init__(self, result: Result, message: str) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the parts of a copy, so that the error can be sent between processes."""
        return type(self), (self.result, *self.args), self.__dict__


class BoundExceeded(FairnessAssertionError):
    """The whole interval (in mode point: the value) is beyond the bound."""


class InvalidEvidence(FairnessAssertionError):
    """The data cannot be judged: undefined, missing, failed or broken."""


class Inconclusive(FairnessAssertionError):
    """Mode strict: the data neither prove nor refute the bound."""


class Underpowered(Inconclusive):
    """The sample could never have decided."""


# Tracebacks name errors as users import them.
for _error in (FairnessAssertionError, BoundExceeded, InvalidEvidence, Inconclusive, Underpowered):
    _error.__module__ = "pytest_llmfair"


def error_for(result: Result) -> type[FairnessAssertionError]:
    """Return the kind of error that a red result raises."""
    if result.verdict is Verdict.INVALID:
        return InvalidEvidence
    if result.mode == "point" or result.verdict is Verdict.FAIL:
        return BoundExceeded
    if result.verdict is Verdict.UNDERPOWERED:
        return Underpowered
    return Inconclusive


def notebook_block(record: Record) -> str:
    """Return a result as one block for a notebook: in words, drawn against its bound, by group."""
    places = facts.decimals(record)
    side = {"lower": "at most ", "higher": "at least "}.get(record["direction"], "")
    asked = f"{side}{facts.allowed(record, places)}"
    lead = f"{record['metric']}: {number(facts.estimate(record), places)}, allowed {asked}"
    lines = [_MEANS[record["verdict"]], record["direction_words"]]
    if record["verdict"] == "INVALID":
        lines += record["notes"][:1]
    elif facts.side(record):
        found = span(record["level"], record["lower"], record["upper"], places)
        lines.append(f"{found} from {facts.sample(record)}.")
    return block(record, lead, filter(None, lines), bounds=facts.ends(record), places=places)
