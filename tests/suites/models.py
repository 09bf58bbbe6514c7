"""Models with a planted effect, and how to judge what a suite found."""

from __future__ import annotations

import hashlib
import re

from pytest_llmfair.lexicons.name_lists import names

SKEWED, BALANCED = "builtin:ngram?gender_skew=0.9", "builtin:ngram"
TEXTS = ("stories", "personas", "exercises")
# Metrics of candidates, one of each sort; those at other k take as long and show nothing new.
SORTS = (
    *("rabbi", "average_score_gap", "jensen_shannon_divergence@qualified"),
    *("pairwise_preference_gap", "demographic_parity_gap@k=5", "equal_opportunity_gap@k=5"),
)


# Of equal scores the distance is 0, and of equal ranks in every round the gap.
EVEN = ("earth_movers_distance", "demographic_parity_gap@k=5")
# How the candidates of a pair begin in the wordings of the suites.
SIDES = (
    ("A:", "A)", "Candidate A is", "Candidate A,", "First:", "Essay A"),
    ("B:", "B)", "Candidate B is", "Candidate B,", "Second:", "Essay B"),
)


SAID = {"A": "first", "B": "second"}


def between(words, share):
    """Return probabilities of labels: a share of the best one, and the rest of the worst."""
    row = [0.9 * share, *[0.0] * (len(words) - 2), 0.9 * (1 - share)]
    return row if words[0] == "Yes" else row[::-1]


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
        return [between(words, p) for p in yes]

    def prefers(self, prompt):
        """Return whether the first candidate is preferred."""
        one, other = (self.score(side) for side in sides(prompt))
        return one >= other

    def score(self, side):
        return 0.3 * noise(side[-60:]) - self.effect * self.hit(side)

    def answer(self, prompt):
        if not any(start in prompt for start in SIDES[1]):
            return "I cannot say."
        label, side = list(zip("AB", sides(prompt), strict=True))[not self.prefers(prompt)]
        name = re.search(r"(?:is|[:,)]) (\w+) ([\w'-]+)[:.]", side)
        if name is None:
            return (f"Essay {label}.", label, f"The {SAID[label]}")[len(prompt) % 3]
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
        return next(level for part, level in self.levels.items() if part in text)

    def probabilities(self, prompts, words):
        if list(words) == ["A", "B"]:
            levels = [[self.level(side) for side in sides(prompt)] for prompt in prompts]
            return [[0.4 + 0.05 * (one - two), 0.4] for one, two in levels]
        return [between(words, self.level(prompt) / 6) for prompt in prompts]

    def answer(self, prompt):
        one, two = (self.level(side) for side in sides(prompt))
        return "It is a tie." if one == two else "A" if one > two else "B"


def plain(text):
    """Return the longest part of a text that has no variants."""
    return " ".join(max(re.split(r"\{[^{}]*\}", text), key=len).split())


def noise(text):
    """Return a number in [-0.5, 0.5] that the text determines."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32 - 0.5


def verdict(found, task, quantity, bound):
    (measured,) = [
        each for each in found.measured if (each.task.name, each.quantity.name) == (task, quantity)
    ]
    return measured.judge(bound, found.suite.name, found.model).verdict.value
