"""Language models of this machine's GPUs in vLLM, without a server.

vLLM schedules all requests of a call at once; rounding on a GPU can make an answer depend on the
others unless ``VLLM_BATCH_INVARIANT=1`` is set.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pytest_llmfair._util.huggingface import first_line, readable
from pytest_llmfair._util.validation import install
from pytest_llmfair.clients.protocol import Request
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError
from pytest_llmfair.responses import Answer, CutAnswer, Missing

# vLLM takes seeds of 64 bits with a sign.
_LARGEST_SEED = 2**63 - 1


@dataclass(frozen=True, slots=True)
class VllmModel:
    """A model in vLLM: every sample has a seed of its own, and no top-k or top-p."""

    engine: Any
    parameters: Any
    name: str

    # Continuous batching needs many requests in flight, more than any batch has.
    batch_size: ClassVar[int] = 8192

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return f"{self.name.partition(':')[2]} in vLLM"

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Sample an answer to every request; at temperature 0 once per prompt."""
        wanted = [(r.prompt, r.seed if temperature > 0.0 else 0) for r in requests]
        asked = list(dict.fromkeys(wanted))
        parameters = [
            self.parameters(
                temperature=temperature, max_tokens=max_tokens, seed=seed % _LARGEST_SEED
            )
            for _, seed in asked
        ]
        prompts = [readable(prompt) for prompt, _ in asked]
        if self.engine.get_tokenizer().chat_template:
            messages = [[{"role": "user", "content": prompt}] for prompt in prompts]
            outputs = self.engine.chat(messages, parameters, use_tqdm=False)
        else:
            outputs = self.engine.generate(prompts, parameters, use_tqdm=False)
        answers = {
            key: _answer(output.outputs[0], max_tokens)
            for key, output in zip(asked, outputs, strict=True)
        }
        return [answers[key] for key in wanted]

    def log_likelihoods(self, texts: Sequence[str], context: str) -> list[tuple[float, int]]:
        """Logarithm of the probability of each text after a context, and its tokens."""
        # The first token of a prompt has none.
        skip = max(1, len(self.engine.get_tokenizer().encode(context)) if context else 0)
        given = self.parameters(temperature=1.0, max_tokens=1, prompt_logprobs=0)
        prompts = [readable(f"{context} {text}".strip()) for text in texts]
        found = []
        for text, output in zip(
            texts,
            self.engine.generate(prompts, [given] * len(prompts), use_tqdm=False),
            strict=True,
        ):
            ids = output.prompt_token_ids[skip:]
            if not ids:
                raise ValueError(f"text {text[:80]!r} cannot be scored: it has no token")
            known = zip(ids, output.prompt_logprobs[skip:], strict=True)
            found.append((math.fsum(row[token].logprob for token, row in known), len(ids)))
        return found


def load(spec: ModelSpec) -> VllmModel:
    """Load ``vllm:PATH_OR_ID``."""
    # Before the import: vLLM reports its use unless told not to.
    os.environ["VLLM_NO_USAGE_STATS"] = os.environ["DO_NOT_TRACK"] = "1"
    name = f"vllm:{spec.target}"
    try:
        import vllm  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise ModelSpecError(
            f"model {name!r} needs {error.name or error}; run: {install('vllm')}"
        ) from error
    given: dict[str, Any] = {}
    if dtype := spec.options.get("dtype"):
        given["dtype"] = dtype
    if parallel := spec.count("tensor_parallel", 0):
        given["tensor_parallel_size"] = parallel
    if share := spec.number("gpu_memory", 0.0, low=0.0):
        given["gpu_memory_utilization"] = share
    try:
        engine = vllm.LLM(model=spec.target, **given)
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelSpecError(
            f"model {name!r} cannot be loaded ({first_line(error)}); give a folder written by "
            "save_pretrained, or use hf: where no GPU is"
        ) from error
    return VllmModel(engine, vllm.SamplingParams, name)


def _answer(output: Any, max_tokens: int) -> Answer:
    text: str = output.text.strip()
    if output.finish_reason == "length" and len(output.token_ids) < max_tokens:
        return Missing("length", "the model holds no more tokens")
    if not text:
        return Missing("empty", "the model ended at once")
    return CutAnswer(text) if output.finish_reason == "length" else text
