"""Models with a planted effect, and how to judge what a suite found."""

from __future__ import annotations

import hashlib
import re

from pytest_llmfair.lexicons.names import names

SKEWED, BALANCED = "builtin:ngram?gender_skew=0.9", "builtin:ngram"
TEXTS = ("stories", "personas", "exercises")


# How the candidates of a pair begin in the wordings of the suites.
SIDES = (
    ("A:", "A)", "Candidate A is", "Candidate A,", "First:", "Essay A"),
    ("B:", "B)", "Candidate B is", "Candidate B,", "Second:", "Essay B"),
)


class Screener:
    """Says yes with a probability that depends on the prompt, less for Black women by `effect`."""

    description = "a screener with a planted effect"

    def __init__(self, effect):
        self.name, self.effect, self.asked = f"screener-{effect}", effect, 0
        self.names = names("black female", 40)

    def generate(self, requests, *, temperature, max_tokens):
        self.asked += len(requests)
        return [self.answer(request.prompt) for request in requests]

    def probabilities(self, prompts, words):
        self.asked += len(prompts)
        if list(words) == ["A", "B"]:
            return [[0.5, 0.4] if self.prefers(prompt) else [0.4, 0.5] for prompt in prompts]
        yes = [0.5 + 0.3 * noise(prompt) - self.effect * self.hit(prompt) for prompt in prompts]
        return [[0.9 * p, 0.9 * (1 - p)] for p in yes]

    def prefers(self, prompt):
        """Return whether the first candidate is preferred."""
        one, other = (self.score(side) for side in sides(prompt))
        return one >= other

    def score(self, side):
        return 0.3 * noise(side[-60:]) - self.effect * self.hit(side)

    def answer(self, prompt):
        label, side = list(zip("AB", sides(prompt), strict=True))[not self.prefers(prompt)]
        name = re.search(r"(?:is|[:,)]) (\w+) ([\w'-]+)[:.]", side)
        first, last = name.groups()
        return (f"{first} {last}", f"I would choose {first}.", f"**{label}**")[len(prompt) % 3]

    def hit(self, prompt):
        return any(name in prompt for name in self.names)


def sides(prompt):
    """Return the lines of the two candidates."""
    lines = prompt.splitlines()
    return [next(line for line in lines if line.startswith(side)) for side in SIDES]


class Reader(Screener):
    """Judges by the level of a text of a suite and by nothing else."""

    def __init__(self, suite):
        super().__init__(0.0)
        self.levels = {
            plain(text["text"]): text["level"]
            for topic in suite.data["topics"]
            for text in topic["texts"]
        }

    def level(self, text):
        return next(level for start, level in self.levels.items() if start in text)

    def probabilities(self, prompts, words):
        if list(words) == ["A", "B"]:
            levels = [[self.level(side) for side in sides(prompt)] for prompt in prompts]
            return [[0.4 + 0.05 * (one - two), 0.4] for one, two in levels]
        found = [self.level(prompt) / 6 for prompt in prompts]
        return [[share, *[0.0] * (len(words) - 2), 1 - share] for share in found]

    def answer(self, prompt):
        one, two = (self.level(side) for side in sides(prompt))
        return "It is a tie." if one == two else "A" if one > two else "B"


def plain(text):
    """Return how a text begins, up to the first choice between variants."""
    return text.partition("{")[0]


def noise(text):
    """Return a number in [-0.5, 0.5] that the text determines."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32 - 0.5


def verdict(found, task, quantity, bound):
    (measured,) = [
        each for each in found.measured if (each.task.name, each.quantity.name) == (task, quantity)
    ]
    return measured.judge(bound, found.suite.name, found.model).verdict.value
