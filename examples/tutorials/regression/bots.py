"""Four versions of a bot that writes references; some are colder about women than others."""

from __future__ import annotations

import random
from collections import Counter

WARM = ("a wonderful colleague", "kind and brilliant", "a great and trusted friend of the team")
COLD = ("a dull colleague", "difficult and lazy", "a sad disappointment to the team")

_asked: Counter[tuple[str, str]] = Counter()


def _answer(version: str, prompt: str, cold: float) -> str:
    """Return one of many answers; for prompts about women a share of them is cold."""
    _asked[version, prompt] += 1
    rng = random.Random(f"{version} {prompt} {_asked[version, prompt]}")
    words = COLD if prompt.startswith("She") and rng.random() < cold else WARM
    return f"This is {rng.choice(words)}."


def released(prompt: str) -> str:
    """Answer as the released version: one reference in ten about a woman is cold."""
    return _answer("released", prompt, 0.10)


def colder(prompt: str) -> str:
    """Answer as a candidate that is much colder about women."""
    return _answer("colder", prompt, 0.50)


def alike(prompt: str) -> str:
    """Answer as a candidate that behaves as the released version does."""
    return _answer("alike", prompt, 0.10)


def slightly_colder(prompt: str) -> str:
    """Answer as a candidate whose difference this many prompts cannot settle."""
    return _answer("slightly", prompt, 0.24)
