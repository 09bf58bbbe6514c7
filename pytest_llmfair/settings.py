"""Options and ini values, resolved once into one frozen `Settings`. Standard library only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

CHOICES: dict[str, tuple[str, ...]] = {
    "mode": ("gate", "strict", "point"),
    "inconclusive": ("warn", "skip", "xfail", "fail"),
    "underpowered": ("fail", "warn", "skip", "xfail"),
    "show_text": ("worst", "none"),
}


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
    seed : int
        Session seed, from which the samples of a model are derived.
    max_tokens : int
        Longest answer in tokens.
    show_text : {"worst", "none"}
        Whether messages show prompts and outputs.
    max_missing : float
        Largest share of missing answers in [0, 1] per group before a verdict is INVALID.
    json : str or None
        File for the results of the run.
    require : int
        Fewest fairness assertions a session must have judged.
    """

    model: str = "builtin:ngram"
    mode: str = "gate"
    level: float = 0.95
    inconclusive: str = "warn"
    underpowered: str = "fail"
    seed: int = 0
    max_tokens: int = 64
    show_text: str = "worst"
    max_missing: float = 0.05
    json: str | None = None
    require: int = 0
