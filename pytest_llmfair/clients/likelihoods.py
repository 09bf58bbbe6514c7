"""Probabilities of whole texts, asked for and recorded like answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from pytest_llmfair.clients.protocol import LikelihoodBackend, Request
from pytest_llmfair.clients.sending import AnyBackend, checked
from pytest_llmfair.responses import Answer, Missing


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The question how likely texts are after a context; recorded as answers are."""

    backend: LikelihoodBackend
    texts: list[str]
    context: str

    @classmethod
    def of(cls, backend: AnyBackend, texts: Sequence[str], context: str = "") -> Likelihoods:
        """Return the checked question; ``ValueError`` for a backend without likelihoods."""
        if not isinstance(backend, LikelihoodBackend):
            raise ValueError(
                f"{backend.name} does not give the probability of a whole text; use an hf: or "
                "vllm: model, or a class with log_likelihoods(texts, context)"
            )
        return cls(backend, checked(texts, "texts"), context)

    @property
    def requests(self) -> list[Request]:
        """One request per distinct text."""
        repeat = f"probabilities {json.dumps(['of the text after', self.context])}"
        distinct = enumerate(dict.fromkeys(self.texts))
        return [Request(text, 0, repeat, block=(row, 0)) for row, text in distinct]

    def batch(self, some: Sequence[Request]) -> list[str]:
        """Answer requests in place of ``backend.generate``."""
        found = self.backend.log_likelihoods([each.prompt for each in some], self.context)
        return [json.dumps(row) for row in found]

    def read(self, answers: Sequence[Answer]) -> list[tuple[float, int]]:
        """Return the logarithm of the probability of each text, and its tokens."""
        rows = {}
        for text, answer in zip(dict.fromkeys(self.texts), answers, strict=True):
            if isinstance(answer, Missing):
                raise ValueError(
                    f"{self.backend.name} gave no probability of {text[:80]!r} ({answer.reason}: "
                    f"{answer.detail}); ask again, or for less"
                )
            log, tokens = json.loads(answer)
            if not log <= 1e-6 or tokens < 1:
                raise ValueError(
                    f"{self.backend.name} gave {log} as the logarithm of the probability of "
                    f"{text[:80]!r}, and {tokens} tokens; it is at most 0, of 1 or more tokens"
                )
            rows[text] = float(log), int(tokens)
        return [rows[text] for text in self.texts]
