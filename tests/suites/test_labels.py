"""Labels that models do not answer with: probed first, then sampled and read, or nothing paid."""

from __future__ import annotations

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.clients import ModelClient
from pytest_llmfair.clients.protocol import UnknownProbability
from pytest_llmfair.suites import run
from pytest_llmfair.suites.questions import label_of
from tests.suites.models import verdict
from tests.suites.sentences import SentenceModel


class Chat:
    """Answers in sentences; its labels have almost no probability as a first word.

    `unknown` says after which prompts the probability is not known, `silent` whether it never
    names a label.
    """

    description = "a chat model"

    def __init__(self, effect=0.0, *, mass=0.001, unknown=lambda prompt: False, silent=False):
        self.name = f"chat {effect} {mass} {silent} {id(self)}"
        self.model, self.mass, self.unknown, self.silent = effect, mass, unknown, silent
        self.known = SentenceModel(effect)
        self.asked, self.sampled = set(), 0

    def probabilities(self, prompts, words):
        self.asked.update(prompts)
        if any(map(self.unknown, prompts)):
            raise UnknownProbability("not listed")
        return [[self.mass * self.shares(prompt)[word] for word in words] for prompt in prompts]

    def generate(self, requests, *, temperature, max_tokens):
        self.sampled += len(requests)
        return [self.said(request) for request in requests]

    def said(self, request):
        if self.silent:
            return "I would rather talk about the weather."
        positive = self.shares(request.prompt)["positive"]
        label = "Positive" if (request.seed % 1000) / 1000 < positive else "negative"
        return f"The feeling of this text is **{label}**."

    def shares(self, prompt):
        return self.known(prompt)


