"""The settings of a session, frozen. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field


def _default_show_text() -> str:
    """Return "none" on CI machines: outputs can be private or toxic, and logs are kept there."""
    return "none" if os.environ.get("CI") else "worst"


@dataclass(frozen=True, slots=True)
class Settings:
    """Every option of the plugin, checked and typed.

    Attributes
    ----------
    model : str
        Specification of the model under test, such as ``builtin:ngram``.
    mode : {"gate", "strict", "point"}
        When a verdict is red.
    level : float
        Two-sided confidence level in (0, 1).
    inconclusive, underpowered : {"warn", "skip", "xfail", "fail"}
        What mode ``gate`` does with an undecided verdict.
    family : {"none", "holm"}
        Whether FAIL at the gate waits for Holm's correction over the session.
    seed : int
        Session seed, from which the samples of a model are derived.
    max_tokens : int or None
        Longest answer in tokens; without one a model of this machine stops after 64, and a server
        where its model ends.
    timeout : float
        Seconds that one answer of a server may take, all attempts together.
    show_text : {"worst", "none"}
        Whether messages show prompts and outputs; by default "none" when ``CI`` is set.
    detailed : bool
        Whether messages name methods and other statistical details; set by ``-vv``.
    max_missing : float
        Largest share of missing answers in [0, 1] per group before a verdict is INVALID.
    max_invalid : float
        Largest share of pairs in [0, 1] that may fail the validity checks before a verdict is
        INVALID.
    max_uncertain : float
        Largest share of prompts in [0, 1] that may be left out because a word can be read in two
        ways before a verdict is INVALID.
    json : str or None
        File for the results of the run.
    html : str or None
        File for a page with the results.
    evidence : str or None
        Folder for results, page and a manifest of both.
    require : int
        Fewest fairness assertions a session must have judged.
    cassette : str or None
        File of recorded answers.
    record_mode : {"none", "once", "new", "all"}
        When a model is asked although there is a cassette.
    cassette_text : {"full", "digest"}
        Whether prompts and answers are recorded, or their digests only.
    cassette_used : str or None
        File for the keys of the recorded answers that the run used.
    max_recording_age : int or None
        Days after which a recorded answer is stale.
    max_calls, max_total_tokens : int or None
        Most calls, and most tokens of prompts and answers, of the whole run.
    max_cost : float or None
        Most that the whole run may cost, in US dollars.
    prices : str or None
        File of prices that come before those of the package.
    plan : bool
        Whether the run only says what it would ask.
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
