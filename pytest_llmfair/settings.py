"""The settings of a session: options and ini values, resolved once. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def _default_show_text() -> str:
    """Return "none" on CI machines: outputs can be private or toxic, and logs are kept there."""
    return "none" if os.environ.get("CI") else "worst"


@dataclass(frozen=True, slots=True)
class Settings:
    """Every option of the plugin, checked and typed: one field per entry of `OPTIONS`.

    `level` is a two-sided confidence level in (0, 1); `max_missing`, `max_invalid` and
    `max_uncertain` are shares in [0, 1]; paths are absolute. `detailed` is set by ``-vv``.
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
    evidence: str | None = None
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

    @property
    def reports(self) -> tuple[str, ...]:
        """What is to be written at the end of a session."""
        return tuple(path for path in (self.json, self.html, self.evidence) if path is not None)


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as users write it.

    Attributes
    ----------
    name : str
        Field of :class:`Settings`.
    parse : callable
        Text to value; raises ``ValueError`` when the text is not legal.
    legal : str
        The legal values, in words that follow "give".
    help : str
        What it does, with its default.
    metavar : str
        Placeholder of the value in ``pytest --help``.
    ini_only : bool
        Whether there is no command line option.
    switch : bool
        Whether the command line option has no value.
    """

    name: str
    parse: Callable[[str], Any]
    legal: str
    help: str
    metavar: str
    ini_only: bool = False
    switch: bool = False

    @property
    def flag(self) -> str:
        """Name on the command line."""
        return "--" + self.key.replace("_", "-")

    @property
    def key(self) -> str:
        """Name in ini files, and of the parsed option."""
        return f"llmfair_{self.name}"


def _text(text: str) -> str:
    if not text:
        raise ValueError
    return text


def _level(text: str) -> float:
    level = float(text)
    if not 0.0 < level < 1.0:
        raise ValueError
    return level


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0.0 < seconds < math.inf:
        raise ValueError
    return seconds


def _share(text: str) -> float:
    share = float(text)
    if not 0.0 <= share <= 1.0:
        raise ValueError
    return share


def _money(text: str) -> float:
    amount = float(text)
    if not 0.0 <= amount < float("inf"):
        raise ValueError
    return amount


def _yes(text: str) -> bool:
    return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]


def _at_least(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text)
        if number < least:
            raise ValueError
        return number

    return parse


def _choice(name: str, words: tuple[str, ...], help_text: str) -> Option:
    def parse(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    return Option(name, parse, f"one of {', '.join(words)}", help_text, "|".join(words))


OPTIONS: tuple[Option, ...] = (
    Option(
        "model",
        _text,
        "a model specification such as builtin:ngram, hf:PATH_OR_ID or openai:MODEL",
        "model under test: builtin:ngram (default), hf:PATH_OR_ID, openai:MODEL, "
        "anthropic:MODEL, litellm:MODEL, python:MODULE:CALLABLE or responses:FILE",
        "SPEC",
    ),
    _choice(
        "mode",
        ("gate", "strict", "point"),
        "when a verdict is red: gate (default) on FAIL, INVALID and UNDERPOWERED, strict on "
        "anything but PASS, point on a value beyond its bound",
    ),
    Option(
        "level",
        _level,
        "a number between 0 and 1, such as 0.95",
        "two-sided confidence level (default 0.95)",
        "LEVEL",
    ),
    _choice(
        "inconclusive",
        ("warn", "skip", "xfail", "fail"),
        "what mode gate does with INCONCLUSIVE (default warn: a section of the summary)",
    ),
    _choice(
        "underpowered",
        ("warn", "skip", "xfail", "fail"),
        "what mode gate does with UNDERPOWERED, a test too small for fair models (default fail)",
    ),
    _choice(
        "family",
        ("none", "holm"),
        "holm: FAIL at the gate counts only if it holds after Holm's correction over the session "
        "(default none: each assertion decides at once)",
    ),
    Option(
        "seed",
        _at_least(0),
        "a whole number of at least 0",
        "seed of the samples of the model (default 0)",
        "N",
    ),
    Option(
        "max_tokens",
        _at_least(1),
        "a whole number of at least 1",
        "longest answer in tokens (default 64 for local models, no limit for servers)",
        "N",
    ),
    Option(
        "timeout",
        _seconds,
        "a number of seconds above 0, such as 60",
        "seconds that one answer of a server may take, three attempts together (default 60)",
        "SECONDS",
    ),
    _choice(
        "show_text",
        ("worst", "none"),
        "show the worst prompts and outputs in messages (default worst; none when CI is set)",
    ),
    Option(
        "max_missing",
        _share,
        "a number from 0 to 1, such as 0.05",
        "largest share of missing answers per group that can still be judged (default 0.05)",
        "SHARE",
        ini_only=True,
    ),
    Option(
        "max_invalid",
        _share,
        "a number from 0 to 1, such as 0.1",
        "largest share of pairs that may fail the validity checks and be left out (default 0.1)",
        "SHARE",
        ini_only=True,
    ),
    Option(
        "max_uncertain",
        _share,
        "a number from 0 to 1, such as 0.25",
        "largest share of prompts left out because a word can be read in two ways (default 0.25)",
        "SHARE",
        ini_only=True,
    ),
    Option(
        "json",
        _text,
        "the path of a file to write",
        "write the results of the run to this file",
        "PATH",
    ),
    Option(
        "html",
        _text,
        "the path of a file to write",
        "write a page with the results of the run to this file; it loads nothing and runs nothing",
        "PATH",
    ),
    Option(
        "evidence",
        _text,
        "the path of a folder, which is made if its parent is there",
        "write results, page and a manifest with their digests into this folder",
        "DIR",
    ),
    Option(
        "require",
        _at_least(0),
        "a whole number of at least 0",
        "fail the session when fewer fairness assertions than this were judged (default 0)",
        "N",
    ),
    Option(
        "cassette",
        _text,
        "the path of a file",
        "record answers in this file, and replay those that are in it",
        "PATH",
    ),
    _choice(
        "record_mode",
        ("none", "once", "new", "all"),
        "with a cassette: none asks no model, once (default) records if the file is absent and "
        "asks none otherwise, new asks for what is missing, all asks for everything again",
    ),
    _choice(
        "cassette_text",
        ("full", "digest"),
        "record prompts and answers (full, default), or digests only, which keep scores but no "
        "texts that metrics could compare",
    ),
    Option(
        "cassette_used",
        _text,
        "the path of a file to write",
        "write the keys of the answers used to this file, for `llmfair cassette prune --used`",
        "PATH",
    ),
    Option(
        "max_recording_age",
        _at_least(0),
        "a whole number of days",
        "days after which a recorded answer is stale, which makes a verdict INVALID (no limit)",
        "DAYS",
        ini_only=True,
    ),
    Option(
        "max_calls",
        _at_least(0),
        "a whole number of at least 0",
        "most calls of models in the whole run, all workers and retries together (no limit)",
        "N",
    ),
    Option(
        "max_total_tokens",
        _at_least(0),
        "a whole number of at least 0",
        "most tokens of prompts and answers in the whole run (no limit)",
        "N",
    ),
    Option(
        "max_cost",
        _money,
        "an amount of at least 0, such as 2.50",
        "most that the whole run may cost, in US dollars (no limit)",
        "DOLLARS",
    ),
    Option(
        "prices",
        _text,
        "the path of a YAML file",
        "file of prices that override those of the package",
        "PATH",
        ini_only=True,
    ),
    Option(
        "plan",
        _yes,
        "true or false",
        "ask no model; say what each test would ask for, what that costs, and what it can find",
        "",
        switch=True,
    ),
)


def resolve(config: pytest.Config, check_model: Callable[[str], object]) -> Settings:
    """Return the settings of a session: command line before ini file before default.

    `check_model` raises ``ValueError`` for a specification of a model that is wrong.

    Raises
    ------
    pytest.UsageError
        If a value is not legal; the message names the option, the value and the legal values.
    """
    import pytest

    values: dict[str, Any] = {"detailed": config.get_verbosity() >= 2}
    for option in OPTIONS:
        source, folder = option.flag, config.invocation_params.dir
        text = None if option.ini_only else config.getoption(option.key)
        if text is None:
            source, folder = option.key, (config.inipath or config.rootpath / "ini").parent
            text = config.getini(option.key)
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
                raise pytest.UsageError(f"{source} is {text!r}; that is no file")
            if option.name == "cassette_used" and (why := _unwritable(path, folder=False)):
                raise pytest.UsageError(f"{source} is {text!r}; {why}")
            values[option.name] = str(path)
        if option.name in ("json", "html", "evidence"):
            path = folder / Path(values[option.name]).expanduser()
            if why := _unwritable(path, folder=option.name == "evidence"):
                raise pytest.UsageError(f"{source} is {text!r}; {why}")
            values[option.name] = str(path)
    if "record_mode" in values and "cassette" not in values:
        raise pytest.UsageError(
            f"--llmfair-record-mode is {values['record_mode']!r}, and no cassette is named; add "
            "--llmfair-cassette PATH"
        )
    return Settings(**values)


def _unwritable(path: Path, *, folder: bool) -> str:
    """Say why a file or folder cannot be written; an empty string when it can."""
    if path.exists() and path.is_dir() != folder:
        if folder:
            return "that is a file; give the path of a folder"
        return "that is a folder; give the path of a file"
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}; make it first"
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        return "that place cannot be written to; choose another"
    return ""
