"""The rules of an assertion: the caller's choice, or else the settings."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from numbers import Real
from pathlib import Path
from typing import Any

from pytest_llmfair._util.validation import share
from pytest_llmfair.judging.bound import Direction, Scale
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.session import active, current_session
from pytest_llmfair.settings import OPTIONS, USUAL_LEVEL, Settings

# What a run is compared with; one that writes it compares nothing.
_BASELINE_OPTIONS = {"baseline", "margin", "ratchet", "baseline_days"}


def is_number(value: Any) -> bool:
    """Return whether a value is a real number (of Python or numpy), and not a bool."""
    return isinstance(value, Real) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules to judge one assertion by; None stands for the settings.

    Attributes
    ----------
    level : float or None
        Two-sided confidence level in (0, 1).
    mode : {"gate", "strict", "point"} or None
        When the verdict is red.
    max_mde : float or None
        Largest detectable distance from the fair value that still counts as a test.
    max_missing : float or None
        Largest share of missing answers per group in [0, 1].
    label : str
        What the report adds to the metric's name.
    sequential : {"obf"} or None
        With a client: ask in looks with O'Brien-Fleming spending, and stop once decided.
    method : {"betting"} or None
        Judge a confidence sequence, which stays valid at any number of looks: with a client, ask
        in batches and stop once decided. For means over rows.
    family : str
        Assertions of one family share their error rate; by default all of the session.
    max_invalid : float or None
        Largest share of pairs, in [0, 1], that may fail the validity checks. It counts pairs from
        ``generate_pairs`` (also of a slice), and pairs made by hand, which are checked here.
    unit : str
        What the report calls a unit, singular, instead of the metric's own word.
    max_uncertain : float or None
        Largest share of prompts, in [0, 1], that ``generate_pairs`` may leave out because one of
        their words can be read in two ways.

    Examples
    --------
    >>> Rules(mode="strict", level=0.9).mode
    'strict'
    >>> Rules(mode="gentle")
    Traceback (most recent call last):
    ValueError: mode is 'gentle'; choose gate, strict or point
    """

    level: float | None = None
    mode: str | None = None
    max_mde: float | None = None
    max_missing: float | None = None
    label: str = ""
    sequential: str | None = None
    method: str | None = None
    family: str = "session"
    max_invalid: float | None = None
    unit: str = ""
    max_uncertain: float | None = None

    def __post_init__(self) -> None:
        """Raise ``ValueError`` for a setting without meaning."""
        if self.mode not in (None, "gate", "strict", "point"):
            raise ValueError(f"mode is {self.mode!r}; choose gate, strict or point")
        if self.sequential not in (None, "obf"):
            raise ValueError(f"sequential is {self.sequential!r}; choose obf, or leave it out")
        if self.method not in (None, "betting"):
            raise ValueError(f"method is {self.method!r}; choose betting, or leave it out")
        if self.sequential is not None and self.method is not None:
            raise ValueError("sequential and method are two ways to look early; give one of them")
        if not isinstance(self.family, str) or not self.family:
            raise ValueError(f"family is {self.family!r}; give the name that its members share")
        if not isinstance(self.unit, str):
            raise ValueError(f"unit is {self.unit!r}; give a word, such as 'ranking'")
        level, mde = self.level, self.max_mde
        if level is not None and not (is_number(level) and 0.0 < level < 1.0):
            raise ValueError(f"level is {level!r}; give a number between 0 and 1, such as 0.95")
        if mde is not None and not (is_number(mde) and mde > 0.0):
            raise ValueError(f"max_mde is {mde!r}; give a number above 0")
        for name in ("max_missing", "max_invalid", "max_uncertain"):
            if (given := getattr(self, name)) is not None:
                share(given, name)

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Rules:
        """Take the rules from the arguments of an assertion, which have the same names."""
        return cls(
            **{each.name: arguments[each.name] for each in fields(cls) if each.name in arguments}
        )

    @property
    def looks(self) -> str | None:
        """Which kind of early looks is asked for, if any."""
        return self.sequential or self.method

    def chosen(self, name: str) -> Any:
        """Return a rule, given or from the settings."""
        given = getattr(self, name)
        return getattr(current_settings(), name) if given is None else given

    def level_of(self, metric: JudgedMetric) -> float:
        """Return the level to judge a metric at: the caller's, the user's, or the metric's."""
        given = self.level
        return current_settings().get("level", metric.level) if given is None else given


def current_settings() -> Settings:
    """Return the settings of the running pytest session, or the defaults outside one."""
    recorder = active()
    return recorder.settings if recorder else Settings()


@dataclass(frozen=True, slots=True)
class Unregistered:
    """A metric outside the registry: by default lower is fairer, and 0 is fair."""

    name: str = "estimate"
    direction: Direction = "lower"
    fair_value: float = 0.0
    scale: Scale = "linear"
    unit: str = "unit"
    favourable: str | None = None
    level: float = USUAL_LEVEL


JudgedMetric = MetricInfo | Unregistered


def options_to_repeat(settings: Settings) -> tuple[str, ...]:
    """Return the command line options that answers and verdicts of the session depend on."""
    session, defaults, given = current_session(), Settings(), []
    left_out = _BASELINE_OPTIONS if settings.update_baseline else set()
    for option in OPTIONS:
        value = getattr(settings, option.name)
        # A default may be in the place of a value in the ini file; the seed is always named.
        named = value != getattr(defaults, option.name) or option.name in (*settings.given, "seed")
        if option.reporting or option.name in left_out or not named:
            continue
        root = session and session.root
        if option.path and root and Path(value).is_relative_to(root):
            # Tests are named relative to the root too, and reports show no folder of a machine.
            value = Path(value).relative_to(root).as_posix()
        if option.switch:
            given.append(option.flag)
            continue
        setting = shlex.quote(str(value))
        given.append(
            f"-o {option.key}={setting}" if option.ini_only else f"{option.flag} {setting}"
        )
    return tuple(given)
