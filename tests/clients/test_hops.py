"""A question passes at most five functions of the package before its backend is asked."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import pytest_llmfair
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.clients.protocol import Attempt, Limits, Reply
from pytest_llmfair.responses import Pair

PACKAGE = Path(pytest_llmfair.__file__).parent
PAIR = Pair("She left.", "He left.", "female", "male", (), "gender")


def passed() -> set[str]:
    """Return the functions of the package that led here."""
    return {
        f"{Path(frame.filename).relative_to(PACKAGE)}:{frame.function}"
        for frame in inspect.stack()
        # Python 3.11 runs a comprehension as a function of its own.
        if Path(frame.filename).is_relative_to(PACKAGE) and frame.function != "<listcomp>"
    }


@dataclass
class Local:
    """A model of this machine."""

    name: str = "local"
    description: str = "a test"
    hops: set[str] = field(default_factory=set)

    def generate(self, requests, *, temperature, max_tokens):
        self.hops |= passed()
        return [request.prompt for request in requests]

    def probabilities(self, prompts, words):
        self.hops |= passed()
        return [[0.5] * len(words) for _ in prompts]


@dataclass
class Server:
    """A model that is asked on the event loop, by what its `open` was called from."""

    name: str = "server"
    description: str = "a test"
    limits: Limits = field(default_factory=Limits)
    hops: set[str] = field(default_factory=set)

    @property
    def identity(self):
        return {"model": self.name}

    def open(self):
        self.hops |= passed()

    async def send(self, request, *, temperature, max_tokens):
        self.hops |= passed()
        answer = json.dumps({"yes": -1.0}) if request.first_token else request.prompt
        return Attempt(Reply(answer))

    def read_first_token(self, answer, words):
        return [0.5] * len(words)


ASK = {
    "generate": lambda client: client.generate(["Hello."], 2),
    "answer_pairs": lambda client: client.answer_pairs([PAIR]),
    "next_token_probabilities": lambda client: client.next_token_probabilities(["Hi"], ["yes"]),
    "label_probabilities": lambda client: client.label_probabilities(["Hi"], ["yes", "no"]),
}


@pytest.mark.parametrize("kind", [Local, Server])
@pytest.mark.parametrize("method", ASK)
def test_a_backend_is_asked_after_at_most_five_functions(kind, method):
    backend = kind()
    ASK[method](ModelClient(backend))
    assert f"clients/client.py:{method}" in backend.hops
    assert len(backend.hops) <= 5, backend.hops


@pytest.mark.parametrize("method", ["generate", "answer_pairs"])
def test_a_function_is_called_after_at_most_five_functions(method):
    hops = set()

    def model(prompt):
        hops.update(passed())
        return prompt

    ASK[method](ModelClient.of(model))
    assert f"clients/client.py:{method}" in hops
    assert len(hops) <= 5, hops
