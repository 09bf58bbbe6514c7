"""Models with a planted effect, and how to judge what a suite found."""

from __future__ import annotations

import hashlib

from pytest_llmfair.lexicons.names import names

SKEWED, BALANCED = "builtin:ngram?gender_skew=0.9", "builtin:ngram"
TEXTS = ("stories", "personas", "exercises")


class Screener:
    """Says yes with a probability that depends on the prompt, less for Black women by `effect`."""

    description = "a screener with a planted effect"

    def __init__(self, effect):
        self.name, self.effect, self.asked = f"screener-{effect}", effect, 0
        self.names = names("black female", 40)

    def generate(self, requests, *, temperature, max_tokens):
        raise AssertionError("texts are not asked for")

    def probabilities(self, prompts, words):
        self.asked += len(prompts)
        if list(words) == ["A", "B"]:
            return [self.compare(prompt) for prompt in prompts]
        yes = [0.5 + 0.3 * noise(prompt) - self.effect * self.hit(prompt) for prompt in prompts]
        return [[0.9 * p, 0.9 * (1 - p)] for p in yes]

    def compare(self, prompt):
        # Candidates stand in lines that begin with the letter, or with its title.
        lines = [line for line in prompt.splitlines() if ". " in line or ": " in line]
        one, other = (
            next(line for line in lines if line.startswith((f"{letter}:", f"{letter})", title)))
            for letter, title in (("A", "Candidate A is"), ("B", "Candidate B is"))
        )
        sides = [0.3 * noise(side[-60:]) - self.effect * self.hit(side) for side in (one, other)]
        return [0.45 + sides[0] - sides[1], 0.45] if sides[0] < sides[1] else [0.5, 0.4]

    def hit(self, prompt):
        return any(name in prompt for name in self.names)


def noise(text):
    """Return a number in [-0.5, 0.5] that the text determines."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32 - 0.5


def verdict(found, task, quantity, bound):
    (measured,) = [
        each for each in found.measured if (each.task.name, each.quantity.name) == (task, quantity)
    ]
    return measured.judge(bound, found.suite.name, found.model).verdict.value
