"""The settings of a session: every option of the plugin, declared once. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING

from pytest_llmfair.settings.options import (
    Fields,
    Option,
    choice,
    days,
    number,
    option,
    path,
    share,
    switch,
    text,
    whole,
    yes,
)

if TYPE_CHECKING:
    from pytest_llmfair.settings.waiver import Waiver

# The level of verdicts where neither the user nor the metric has another.
USUAL_LEVEL = 0.95


def in_github_actions() -> bool:
    """Return whether this is a step of GitHub Actions, which shows summary and annotations."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


class Settings(Fields):
    """Every option of the plugin, parsed; paths are absolute."""

    model: str = option(
        text,
        "builtin:ngram",
        legal="a model specification such as builtin:ngram, hf:PATH_OR_ID or openai:MODEL",
        # The plugin adds the kinds of models, which a room above this one knows.
        help="model under test (default builtin:ngram)",
        metavar="SPEC",
        example="hf:somewhere",
    )
    mode: str = choice(
        ("gate", "strict", "point"),
        "which verdicts fail a test: gate (default) FAIL, INVALID and UNDERPOWERED, strict all "
        "but PASS, point a value beyond its bound",
    )
    level: float = option(
        number(lambda value: 0.0 < value < 1.0),
        USUAL_LEVEL,
        legal="a number between 0 and 1, such as 0.95",
        help=f"two-sided confidence level (default {USUAL_LEVEL})",
        metavar="LEVEL",
        example="0.9",
    )
    inconclusive: str = choice(
        ("warn", "skip", "xfail", "fail"),
        "outcome of INCONCLUSIVE in mode gate (default warn: a note in the summary)",
    )
    underpowered: str = choice(
        ("warn", "skip", "xfail", "fail"),
        "outcome of UNDERPOWERED in mode gate, a test too small for fair models (default fail)",
        default="fail",
    )
    family: str = choice(
        ("none", "holm"),
        "holm: in mode gate a FAIL counts only if it holds after Holm's correction for all "
        "assertions of the session (default none: no correction)",
    )
    seed: int = whole("seed of the samples of the model (default 0)", default=0)
    max_tokens: int | None = whole(
        "longest answer in tokens (default 64 for local models, no limit for servers)",
        default=None,
        least=1,
    )
    timeout: float = option(
        number(lambda value: 0.0 < value < math.inf),
        60.0,
        legal="a number of seconds above 0, such as 60",
        help="seconds to wait for one answer of a server, over three attempts (default 60)",
        metavar="SECONDS",
        example="2.5",
    )
    show_text: str = choice(
        ("worst", "none"),
        "show the worst prompts and outputs in messages (default worst; none if CI is set)",
        # Outputs can be private or toxic, and CI systems keep and publish logs.
        made=lambda: "none" if os.environ.get("CI") else "worst",
        reporting=True,
    )
    max_missing: float = share(
        "largest share of missing answers per group; above it the verdict is INVALID (default "
        "0.05)",
        default=0.05,
    )
    max_invalid: float = share(
        "largest share of pairs that fail the validity checks; above it the verdict is INVALID "
        "(default 0.1)",
        default=0.1,
    )
    max_uncertain: float = share(
        "largest share of prompts left out because a word is ambiguous; above it the verdict is "
        "INVALID (default 0.25)",
        default=0.25,
    )
    json: str | None = path("write the results of the run to this file", reporting=True)
    html: str | None = path(
        "write the results of the run to this file as a static page", reporting=True
    )
    markdown: str | None = path(
        "write the results of the run to this file as Markdown for a pull request",
        reporting=True,
    )
    json_context: bool | None = option(
        yes,
        None,
        legal="yes or no",
        help="whether --llmfair-json says when, where and from which commit the run was (default "
        "yes; no with record mode none, so that replays give equal files)",
        metavar="yes|no",
        example="no",
        reporting=True,
    )
    save_text: bool = switch(
        "keep the prompts and answers of the worst examples in the reports; without it the JSON "
        "holds their SHA-256 digests",
        reporting=True,
    )
    evidence: str | None = path(
        "write results, page and a manifest with their digests to this folder",
        legal="the path of a folder whose parent exists",
        metavar="DIR",
        path="folder",
        reporting=True,
    )
    require: int = whole(
        "fail the session if fewer fairness assertions were judged (default 0)",
        default=0,
        reporting=True,
    )
    cassette: str | None = path(
        "record answers in this file, and replay the answers it holds", legal="the path of a file"
    )
    record_mode: str = choice(
        ("none", "once", "new", "all"),
        "with a cassette: once (default) records a new file and only replays an existing one, "
        "none only replays, new records missing answers, all records all answers again",
        default="once",
        needs="cassette",
    )
    cassette_text: str = choice(
        ("full", "digest"),
        "record prompts and answers (full, default), or only digests and scores, so metrics that "
        "compare texts cannot be replayed (digest)",
    )
    cassette_used: str | None = path(
        "write the keys of all used answers to this file, for `llmfair cassette prune --used`",
        reporting=True,
    )
    max_recording_age: int | None = days(
        "days after which a recorded answer is stale and its verdict INVALID (default no limit)",
        default=None,
    )
    max_calls: int | None = whole(
        "largest number of model calls in the run, over all workers and retries (default no "
        "limit)",
        default=None,
    )
    max_total_tokens: int | None = whole(
        "largest number of tokens of prompts and answers in the run (default no limit)",
        default=None,
    )
    max_cost: float | None = option(
        number(lambda value: 0.0 <= value < math.inf),
        None,
        legal="an amount of at least 0, such as 2.50",
        help="largest cost of the run in US dollars (default no limit)",
        metavar="DOLLARS",
        example="2.50",
    )
    prices: str | None = path(
        "file of prices that override those of the package",
        legal="the path of a YAML file",
        ini_only=True,
    )
    plan: bool = switch(
        "ask no model; print the calls, cost and detectable effect of each test", reporting=True
    )
    baseline: str | None = path(
        "also fail where a check is proven less fair than in the run recorded in this file, by "
        "more than --llmfair-margin",
        legal="the path of a file that --llmfair-update-baseline wrote",
    )
    update_baseline: bool = switch(
        "write this run to the file of --llmfair-baseline instead, and print the changes",
        needs="baseline",
        reporting=True,
    )
    ratchet: bool = switch(
        "with --llmfair-baseline: a bound that the baseline breaks too is red only where the "
        "check is proven worse than there",
        needs="baseline",
    )
    margin: float | None = option(
        number(lambda value: 0.0 <= value < math.inf),
        None,
        legal="a number of at least 0, such as 0.02",
        help="how much less fair than the baseline a check may be, on the scale of its metric "
        "(with --llmfair-ratchet 0 by default)",
        metavar="X",
        example="0.02",
    )
    baseline_days: int = days("days for which a baseline holds (default 90)", default=90, least=1)
    profile: str = option(
        text,
        "",
        legal="pr, nightly, release, or a profile of the policy",
        help="profile of the policy: pr, nightly, release, or one of [tool.llmfair.profiles] in "
        "pyproject.toml",
        metavar="NAME",
        example="nightly",
    )

    # What is no option: -vv sets `detailed`, and only a policy sets the last two.
    detailed: bool = False
    # Names of the options on the command line.
    given: tuple[str, ...] = ()
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


OPTIONS = tuple(each for each in vars(Settings).values() if isinstance(each, Option))
