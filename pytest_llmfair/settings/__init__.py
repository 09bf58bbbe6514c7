"""The settings of a session: options and ini values, resolved once. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_llmfair.settings.options import OPTIONS

if TYPE_CHECKING:
    import pytest

# Keys of ours in ini and TOML files.
_OUR_KEYS = re.compile(r"^[ \t]*[\"']?(llmfair[_-][\w-]+)[\"']?[ \t]*[=:]", re.M | re.I)


class Waiver(NamedTuple):
    """A known result that is accepted until a date; `test` and `metric` may hold wildcards.

    A metric without its variant, such as ``toxic_fraction`` for ``toxic_fraction@25``, is meant
    with every variant. `worst` is a bound: a value beyond it is not accepted. `place` says where
    the waiver stands.
    """

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
        named = any(name == wanted or fnmatchcase(name, wanted) for name in names)
        return test and named and not self.expired

    def __str__(self) -> str:
        """Return why, by whom, up to which value and until when."""
        most = "" if self.worst is None else f"up to {self.worst:g}, "
        return f"{self.reason} ({self.approver}, {most}until {self.expires})"

    @property
    def title(self) -> str:
        """What is waived, and where that is written."""
        return f"the waiver of {self.metric or 'all metrics'} in {self.test} ({self.place})"


def _default_show_text() -> str:
    # Outputs can be private or toxic, and CI systems keep and publish logs.
    return "none" if os.environ.get("CI") else "worst"


def in_github_actions() -> bool:
    """Return whether this is a step of GitHub Actions, which shows summary and annotations."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


@dataclass(frozen=True, slots=True)
class Settings:
    """Every option of the plugin, parsed: one field per entry of `OPTIONS`.

    `level` is a two-sided confidence level in (0, 1). `max_missing`, `max_invalid` and
    `max_uncertain` are shares in [0, 1]. Paths are absolute. ``-vv`` sets `detailed`.

    Examples
    --------
    >>> Settings(level=0.9).level
    0.9
    """

    model: str = "builtin:ngram"
    mode: str = "gate"
    level: float = 0.95
    inconclusive: str = "warn"
    underpowered: str = "fail"
    family: str = "none"
    seed: int = 0
    max_tokens: int | None = None
    timeout: float = 60.0
    show_text: str = field(default_factory=_default_show_text)
    detailed: bool = False
    max_missing: float = 0.05
    max_invalid: float = 0.1
    max_uncertain: float = 0.25
    json: str | None = None
    html: str | None = None
    markdown: str | None = None
    evidence: str | None = None
    json_context: bool | None = None
    save_text: bool = False
    require: int = 0
    cassette: str | None = None
    record_mode: str = "once"
    cassette_text: str = "full"
    cassette_used: str | None = None
    max_recording_age: int | None = None
    max_calls: int | None = None
    max_total_tokens: int | None = None
    max_cost: float | None = None
    prices: str | None = None
    plan: bool = False
    baseline: str | None = None
    update_baseline: bool = False
    margin: float | None = None
    baseline_days: int = 90
    profile: str = ""
    # Names of the options on the command line.
    given: tuple[str, ...] = ()
    # Only a policy sets these.
    failing: str = "fail"
    waivers: tuple[Waiver, ...] = ()

    @property
    def reports(self) -> tuple[str, ...]:
        """Paths of the reports to write at the end of a session."""
        paths = (self.json, self.html, self.markdown, self.evidence)
        return tuple(path for path in paths if path is not None)

    @property
    def recorded(self) -> bool:
        """Whether something is made from the record of the run."""
        return bool(self.reports) or self.update_baseline or in_github_actions()

    @property
    def keeps_context(self) -> bool:
        """Whether the JSON says when and where the run was; not where runs only replay."""
        replays = self.record_mode == "none"
        return not replays if self.json_context is None else self.json_context

    @property
    def keeps_data(self) -> bool:
        """Whether results keep the data from which they can be computed again."""
        return self.evidence is not None or self.update_baseline


def resolve(
    config: pytest.Config,
    check_model: Callable[[str], object],
    policy: Mapping[str, str] | None = None,
    policy_file: Path | None = None,
) -> Settings:
    """Return the settings of a session: command line, else ini file, else policy, else defaults.

    `check_model` raises ``ValueError`` if the specification of a model is wrong. `policy` maps
    names of options to texts from `policy_file`.

    Raises
    ------
    pytest.UsageError
        If a value is not legal, or an ini key is unknown; the message names the option, the value
        and the legal values.
    """
    import pytest

    _check_keys(config)
    values: dict[str, Any] = {"detailed": config.getoption("verbose", 0) >= 2}
    for option in OPTIONS:
        source, folder = option.flag, config.invocation_params.dir
        text = None if option.ini_only else config.getoption(option.key)
        if text is not None:
            values["given"] = (*values.get("given", ()), option.name)
        else:
            source, folder = option.key, (config.inipath or config.rootpath / "ini").parent
            text = config.getini(option.key)
        if text is None and policy_file is not None and policy is not None:
            source, folder = f"{option.name} in {policy_file}", policy_file.parent
            text = policy.get(option.name)
        if text is None:
            continue
        try:
            values[option.name] = option.parse(text.strip())
            if option.name == "model":
                check_model(values["model"])
        except (KeyError, ValueError) as error:
            if option.name == "model" and text.strip():
                # "model 'opena:gpt': unknown scheme ...", with secrets removed.
                raise pytest.UsageError(str(error).replace("model", f"{source} is", 1)) from None
            raise pytest.UsageError(f"{source} is {text!r}; give {option.legal}") from None
        if option.name in ("cassette", "cassette_used", "prices"):
            path = folder / Path(values[option.name]).expanduser()
            if path.is_dir() or (option.name == "prices" and not path.is_file()):
                raise pytest.UsageError(f"{source} is {text!r}; that is not a file")
            if option.name == "cassette_used" and (why := _unwritable(path, folder=False)):
                raise pytest.UsageError(f"{source} is {text!r}; {why}")
            values[option.name] = str(path)
        if option.name in ("json", "html", "markdown", "evidence", "baseline"):
            path = folder / Path(values[option.name]).expanduser()
            if why := _unwritable(path, folder=option.name == "evidence"):
                raise pytest.UsageError(f"{source} is {text!r}; {why}")
            values[option.name] = str(path)
    if "record_mode" in values and "cassette" not in values:
        raise pytest.UsageError(
            f"--llmfair-record-mode is {values['record_mode']!r}, but there is no cassette; add "
            "--llmfair-cassette PATH"
        )
    baseline, update = values.get("baseline"), values.get("update_baseline", False)
    if update and baseline is None:
        raise pytest.UsageError("--llmfair-update-baseline needs --llmfair-baseline PATH")
    if baseline is not None and not update:
        if values.get("margin") is None:
            raise pytest.UsageError(
                "--llmfair-baseline needs --llmfair-margin X: how much less fair than the "
                "baseline a check may be, on the scale of its metric"
            )
        if not Path(baseline).is_file():
            raise pytest.UsageError(
                f"--llmfair-baseline is {baseline!r}; there is no such file: "
                "--llmfair-update-baseline writes it"
            )
    return Settings(**values)


def _check_keys(config: pytest.Config) -> None:
    """Raise ``UsageError`` for an unknown key of ours; pytest itself only warns of it."""
    import pytest

    given = {"-o": "\n".join(config.getoption("override_ini", None) or ())}
    if config.inipath is not None:
        given[str(config.inipath)] = config.inipath.read_text("utf-8", "replace")
    names = [option.name for option in OPTIONS]
    for source, text in given.items():
        for key in _OUR_KEYS.findall(text):
            try:
                config.getini(key)  # other plugins may have keys like ours
            except ValueError:
                from pytest_llmfair._util.keywords import suggestion

                hint = suggestion(key[len("llmfair_") :].lower().replace("-", "_"), names)
                raise pytest.UsageError(f"{source} has the unknown key {key!r}; {hint}") from None


def _unwritable(path: Path, *, folder: bool) -> str:
    """Return why a file or folder cannot be written; an empty string if it can."""
    if path.exists() and path.is_dir() != folder:
        if folder:
            return "that is a file; give the path of a folder"
        return "that is a folder; give the path of a file"
    if not path.parent.is_dir():
        return f"the folder {path.parent} does not exist; create it first"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return "that path is not writable; choose another"
    return ""
