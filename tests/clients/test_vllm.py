"""``vllm:`` asks as vLLM is documented; a stand-in takes the place of the library and its GPU."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace

import pytest

from pytest_llmfair.clients import Missing, ModelSpecError, load_client
from pytest_llmfair.responses import is_cut


@dataclass
class SamplingParams:
    """The fields that are used, under their names in vLLM."""

    temperature: float
    max_tokens: int
    seed: int = 0
    prompt_logprobs: int | None = None


@dataclass
class LLM:
    """Answers with the prompt and the seed; counts what it was given."""

    model: str
    dtype: str = "auto"
    tensor_parallel_size: int = 1
    gpu_memory_utilization: float = 0.9
    asked: list = field(default_factory=list)
    template: str | None = None

    def get_tokenizer(self):
        return SimpleNamespace(chat_template=self.template, encode=tokens_of)

    def generate(self, prompts, sampling_params, *, use_tqdm):
        assert not use_tqdm
        self.asked.append((list(prompts), list(sampling_params)))
        return [
            SimpleNamespace(outputs=[reply(prompt, given)], **logs_of(prompt))
            for prompt, given in zip(prompts, sampling_params, strict=True)
        ]

    def chat(self, messages, sampling_params, *, use_tqdm):
        assert all(len(each) == 1 and each[0]["role"] == "user" for each in messages)
        return self.generate(
            [each[0]["content"] for each in messages], sampling_params, use_tqdm=use_tqdm
        )


def tokens_of(text):
    """A token that starts a text, and the length of each word as a token."""
    return [0, *map(len, text.split())]


def logs_of(prompt):
    ids = tokens_of(prompt)
    logs = [None, *({token: SimpleNamespace(logprob=-token / 10)} for token in ids[1:])]
    return {"prompt_token_ids": ids, "prompt_logprobs": logs}


def reply(prompt, given):
    kinds = {"cut": ("a b", "length", given.max_tokens), "none": ("", "stop", 0)}
    text, reason, tokens = kinds.get(prompt, (f" {prompt} {given.seed % 97}", "stop", 2))
    if prompt == "full":
        text, reason, tokens = "a", "length", given.max_tokens - 1
    return SimpleNamespace(text=text, finish_reason=reason, token_ids=[1] * tokens)


@pytest.fixture
def vllm(monkeypatch):
    module = ModuleType("vllm")
    module.LLM, module.SamplingParams = LLM, SamplingParams
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.delenv("VLLM_NO_USAGE_STATS", raising=False)
    monkeypatch.delenv("DO_NOT_TRACK", raising=False)
    return module


def test_every_sample_has_a_seed_of_its_own_in_one_call(vllm):
    client = load_client("vllm:/models/small?tensor_parallel=2&gpu_memory=0.5&dtype=bfloat16")
    rows = client.generate(["one", "two"], n=3)
    engine = client.backend.engine
    assert (engine.model, engine.tensor_parallel_size) == ("/models/small", 2)
    assert (engine.gpu_memory_utilization, engine.dtype) == (0.5, "bfloat16")
    ((prompts, given),) = engine.asked
    assert len(prompts) == 6
    assert len({each.seed for each in given}) == 6
    assert all(0 <= each.seed < 2**63 for each in given)
    assert [len(set(row)) for row in rows] == [3, 3]
    assert rows == load_client("vllm:/models/small").generate(["one", "two"], n=3)


def test_likelihoods_are_sums_over_the_tokens_after_the_context(vllm):
    client = load_client("vllm:/models/small")
    assert client.log_likelihoods(["one three", "a"]) == [
        (pytest.approx(-0.8), 2),
        (pytest.approx(-0.1), 1),
    ]
    assert client.log_likelihoods(["three four"], "once more") == [(pytest.approx(-0.9), 2)]
    (_, given) = client.backend.engine.asked[0]
    assert (given[0].max_tokens, given[0].prompt_logprobs) == (1, 0)


def test_at_temperature_0_a_prompt_is_asked_once(vllm):
    client = load_client("vllm:/models/small?temperature=0")
    (row,) = client.generate(["one"], n=3)
    assert len(client.backend.engine.asked[0][0]) == 1
    assert len(set(row)) == 1


def test_cut_and_empty_answers_are_told_apart(vllm):
    client = load_client("vllm:/models/small?max_tokens=5")
    (cut,), (none,), (full,) = client.generate(["cut", "none", "full"])
    assert is_cut(cut)
    assert none == Missing("empty", "the model ended at once")
    assert full == Missing("length", "the model holds no more tokens")


def test_a_chat_template_gets_the_prompt_as_a_message(vllm):
    client = load_client("vllm:/models/chat")
    client.backend.engine.template = "{{ messages }}"
    assert client.generate(["one"])[0][0].startswith("one ")


def test_usage_statistics_are_off_before_the_import(vllm, monkeypatch):
    import os

    load_client("vllm:/models/small")
    assert os.environ["VLLM_NO_USAGE_STATS"] == os.environ["DO_NOT_TRACK"] == "1"


def test_without_vllm_the_error_names_the_packages(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(ModelSpecError, match="run: pip install"):
        load_client("vllm:/models/small")


def test_probabilities_are_refused_with_a_remedy(vllm):
    with pytest.raises(ValueError, match="returns texts only, no probabilities; use"):
        load_client("vllm:/models/small").next_token_probabilities(["one"], ["yes"])
