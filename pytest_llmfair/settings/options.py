"""The options of the plugin: names, legal values and help. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Option:
    """One setting as users write it.

    Attributes
    ----------
    name : str
        Field of :class:`Settings`.
    parse : callable
        Converts text to a value; raises ``ValueError`` if the text is not legal.
    legal : str
        The legal values, in words that follow "give" in error messages.
    help : str
        Description, with the default.
    metavar : str
        Placeholder of the value in ``pytest --help``.
    ini_only : bool
        Whether the option exists only in ini files.
    switch : bool
        Whether the command line option takes no value.
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


# Options whose value is the path of a file that a run reads or adds to.
PATHS = ("cassette", "cassette_used", "prices", "baseline")

OPTIONS: tuple[Option, ...] = (
    Option(
        "model",
        _text,
        "a model specification such as builtin:ngram, hf:PATH_OR_ID or openai:MODEL",
        # The plugin adds the kinds of models, which a room above this one knows.
        "model under test (default builtin:ngram)",
        "SPEC",
    ),
    _choice(
        "mode",
        ("gate", "strict", "point"),
        "which verdicts fail a test: gate (default) FAIL, INVALID and UNDERPOWERED, strict all "
        "but PASS, point a value beyond its bound",
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
        "outcome of INCONCLUSIVE in mode gate (default warn: a note in the summary)",
    ),
    _choice(
        "underpowered",
        ("warn", "skip", "xfail", "fail"),
        "outcome of UNDERPOWERED in mode gate, a test too small for fair models (default fail)",
    ),
    _choice(
        "family",
        ("none", "holm"),
        "holm: in mode gate a FAIL counts only if it holds after Holm's correction for all "
        "assertions of the session (default none: no correction)",
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
        "seconds to wait for one answer of a server, over three attempts (default 60)",
        "SECONDS",
    ),
    _choice(
        "show_text",
        ("worst", "none"),
        "show the worst prompts and outputs in messages (default worst; none if CI is set)",
    ),
    Option(
        "max_missing",
        _share,
        "a number from 0 to 1, such as 0.05",
        "largest share of missing answers per group; above it the verdict is INVALID (default "
        "0.05)",
        "SHARE",
        ini_only=True,
    ),
    Option(
        "max_invalid",
        _share,
        "a number from 0 to 1, such as 0.1",
        "largest share of pairs that fail the validity checks; above it the verdict is INVALID "
        "(default 0.1)",
        "SHARE",
        ini_only=True,
    ),
    Option(
        "max_uncertain",
        _share,
        "a number from 0 to 1, such as 0.25",
        "largest share of prompts left out because a word is ambiguous; above it the verdict is "
        "INVALID (default 0.25)",
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
        "write the results of the run to this file as a static page",
        "PATH",
    ),
    Option(
        "markdown",
        _text,
        "the path of a file to write",
        "write the results of the run to this file as Markdown for a pull request",
        "PATH",
    ),
    Option(
        "json_context",
        _yes,
        "yes or no",
        "whether --llmfair-json says when, where and from which commit the run was (default yes; "
        "no with record mode none, so that replays give equal files)",
        "yes|no",
    ),
    Option(
        "save_text",
        _yes,
        "true or false",
        "keep the prompts and answers of the worst examples in the reports; without it the JSON "
        "holds their SHA-256 digests",
        "",
        switch=True,
    ),
    Option(
        "evidence",
        _text,
        "the path of a folder whose parent exists",
        "write results, page and a manifest with their digests to this folder",
        "DIR",
    ),
    Option(
        "require",
        _at_least(0),
        "a whole number of at least 0",
        "fail the session if fewer fairness assertions were judged (default 0)",
        "N",
    ),
    Option(
        "cassette",
        _text,
        "the path of a file",
        "record answers in this file, and replay the answers it holds",
        "PATH",
    ),
    _choice(
        "record_mode",
        ("none", "once", "new", "all"),
        "with a cassette: once (default) records a new file and only replays an existing one, "
        "none only replays, new records missing answers, all records all answers again",
    ),
    _choice(
        "cassette_text",
        ("full", "digest"),
        "record prompts and answers (full, default), or only digests and scores, so metrics that "
        "compare texts cannot be replayed (digest)",
    ),
    Option(
        "cassette_used",
        _text,
        "the path of a file to write",
        "write the keys of all used answers to this file, for `llmfair cassette prune --used`",
        "PATH",
    ),
    Option(
        "max_recording_age",
        _at_least(0),
        "a whole number of days",
        "days after which a recorded answer is stale and its verdict INVALID (default no limit)",
        "DAYS",
        ini_only=True,
    ),
    Option(
        "max_calls",
        _at_least(0),
        "a whole number of at least 0",
        "largest number of model calls in the run, over all workers and retries (default no "
        "limit)",
        "N",
    ),
    Option(
        "max_total_tokens",
        _at_least(0),
        "a whole number of at least 0",
        "largest number of tokens of prompts and answers in the run (default no limit)",
        "N",
    ),
    Option(
        "max_cost",
        _money,
        "an amount of at least 0, such as 2.50",
        "largest cost of the run in US dollars (default no limit)",
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
        "ask no model; print the calls, cost and detectable effect of each test",
        "",
        switch=True,
    ),
    Option(
        "baseline",
        _text,
        "the path of a file that --llmfair-update-baseline wrote",
        "also fail where a check is proven less fair than in the run recorded in this file, by "
        "more than --llmfair-margin",
        "PATH",
    ),
    Option(
        "update_baseline",
        _yes,
        "true or false",
        "write this run to the file of --llmfair-baseline instead, and print what changed",
        "",
        switch=True,
    ),
    Option(
        "margin",
        _money,
        "a number of at least 0, such as 0.02",
        "how much less fair than the baseline a check may be, on the scale of its metric",
        "X",
    ),
    Option(
        "baseline_days",
        _at_least(1),
        "a whole number of days",
        "days for which a baseline holds (default 90)",
        "DAYS",
        ini_only=True,
    ),
    Option(
        "profile",
        _text,
        "pr, nightly, release, or a profile of the policy",
        "profile of the policy: pr, nightly, release, or one of [tool.llmfair.profiles] in "
        "pyproject.toml",
        "NAME",
    ),
)
