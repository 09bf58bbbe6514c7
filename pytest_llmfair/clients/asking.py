"""The requests of one call: prompts are checked, and every sample gets a seed of its own."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_llmfair.clients.protocol import (
    Backend,
    FirstTokenBackend,
    RemoteBackend,
    Request,
    ScoringBackend,
    sample_seed,
)
from pytest_llmfair.responses import Answer, Missing

if TYPE_CHECKING:
    from pytest_llmfair.clients.sending import Batch

# The name of a side of the pairs, empty without pairs, and its prompts.
Side = tuple[str, list[str]]


@dataclass(frozen=True, slots=True)
class FirstWords:
    """The question which words answers begin with; asked like any other, so it is recorded too."""

    backend: ScoringBackend | FirstTokenBackend
    prompts: list[str]
    words: list[str]

    @classmethod
    def of(
        cls, backend: Backend | RemoteBackend, prompts: Sequence[str], words: Sequence[str]
    ) -> FirstWords:
        """Return the checked question; ``ValueError`` for a backend without probabilities."""
        if not isinstance(backend, (ScoringBackend, FirstTokenBackend)):
            raise ValueError(
                f"{backend.name} returns texts only, no probabilities; use builtin:ngram, an hf: "
                "model or a server that offers logprobs, or sample with generate() and count"
            )
        prompts, words = checked(prompts), checked(words, "words")
        if len(set(words)) < len(words):
            raise ValueError(f"words has {_repeated(words)!r} twice; give each word once")
        return cls(backend, prompts, words)

    @property
    def requests(self) -> list[Request]:
        """One request per distinct prompt."""
        distinct = dict.fromkeys(self.prompts)
        if isinstance(self.backend, ScoringBackend):
            repeat = f"probabilities {json.dumps(self.words)}"
            return [Request(prompt, 0, repeat) for prompt in distinct]
        return [Request(prompt, 0, "first token", first_token=True) for prompt in distinct]

    @property
    def batch(self) -> Batch | None:
        """What answers requests in place of ``backend.generate``; None for a server."""
        backend, words = self.backend, self.words
        if not isinstance(backend, ScoringBackend):
            return None
        return lambda some: [
            json.dumps(row) for row in backend.probabilities([r.prompt for r in some], words)
        ]

    def read(self, answers: Sequence[Answer]) -> list[dict[str, float]]:
        """Return the probability of each word by prompt, from the answers to the requests."""
        rows = {}
        for prompt, answer in zip(dict.fromkeys(self.prompts), answers, strict=True):
            if isinstance(answer, Missing):
                spent = answer.reason == "over_budget"
                again = "ask again, or sample with generate() and count"
                raise ValueError(
                    f"{self.backend.name} gave no probabilities after {prompt[:80]!r} "
                    f"({answer.reason}: {answer.detail}); "
                    f"{'raise the limit, or ask for less' if spent else again}"
                )
            if isinstance(self.backend, ScoringBackend):
                rows[prompt] = json.loads(answer)
            else:
                rows[prompt] = self.backend.read_first_token(answer, self.words)
        return [dict(zip(self.words, rows[prompt], strict=True)) for prompt in self.prompts]


def requests_of(sides: Sequence[Side], n: int, seed: int) -> list[Request]:
    """Return `n` requests for every prompt of every side, in order."""
    n = whole_number(n, "n")
    requests = []
    for side, prompts in sides:
        seen: Counter[str] = Counter()
        for prompt in prompts:
            requests += samples_of(prompt, seen[prompt], side, n, seed)
            seen[prompt] += 1
    return requests


def samples_of(prompt: str, occurrence: int, side: str, n: int, seed: int) -> list[Request]:
    """Return `n` requests for a prompt that came `occurrence` times before on its side."""
    return [
        Request(
            prompt,
            sample_seed(seed, prompt, occurrence, j, side),
            f"{side}:{occurrence}.{j}" if side else f"{occurrence}.{j}",
        )
        for j in range(n)
    ]


def rows_of(answers: Sequence[Answer], sides: Sequence[Side], n: int) -> list[list[list[Answer]]]:
    """Return the answers to :func:`requests_of` by side and prompt."""
    given = iter(answers)
    return [[[next(given) for _ in range(n)] for _ in prompts] for _, prompts in sides]


def checked(texts: Sequence[str], what: str = "prompts") -> list[str]:
    """Return texts as a list; raise ``ValueError`` with the row that has no text."""
    if isinstance(texts, (str, bytes)):
        raise ValueError(f"{what} is one text; give a list of texts")
    texts = list(texts)
    if not texts:
        raise ValueError(f"{what} is empty; give at least one text")
    for row, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"{what}[{row}] is {type(text).__name__}; give a text")
        if not text.strip():
            raise ValueError(f"{what}[{row}] has no text; give one or leave the row out")
    return texts


def whole_number(value: int, what: str) -> int:
    """Return a number; raise ``ValueError`` if it is not a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{what} is {value!r}; give a whole number of at least 1")
    return value


def _repeated(words: Sequence[str]) -> str:
    return next(word for word, count in Counter(words).items() if count > 1)
