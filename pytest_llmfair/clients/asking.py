"""The requests of one call: prompts are checked, and every sample gets a seed of its own."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pytest_llmfair._util.validation import whole
from pytest_llmfair.clients.protocol import (
    Backend,
    FirstTokenBackend,
    LikelihoodBackend,
    RemoteBackend,
    Request,
    ScoringBackend,
    UnknownProbability,
    sample_seed,
)
from pytest_llmfair.responses import Answer, Missing

if TYPE_CHECKING:
    from pytest_llmfair.clients.sending import Batch

T = TypeVar("T", bound=Hashable)

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
        if twice := [word for word, count in Counter(words).items() if count > 1]:
            raise ValueError(f"words has {twice[0]!r} twice; give each word once")
        return cls(backend, prompts, words)

    @property
    def requests(self) -> list[Request]:
        """One request per distinct prompt."""
        distinct = enumerate(dict.fromkeys(self.prompts))
        if isinstance(self.backend, ScoringBackend):
            repeat = f"probabilities {json.dumps(self.words)}"
            return [Request(prompt, 0, repeat, block=(row, 0)) for row, prompt in distinct]
        return [
            Request(prompt, 0, "first token", first_token=True, block=(row, 0))
            for row, prompt in distinct
        ]

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
                raise (ValueError if spent else UnknownProbability)(
                    f"{self.backend.name} gave no probabilities after {prompt[:80]!r} "
                    f"({answer.reason}: {answer.detail}); "
                    f"{'raise the limit, or ask for less' if spent else again}"
                )
            if isinstance(self.backend, ScoringBackend):
                rows[prompt] = json.loads(answer)
            else:
                rows[prompt] = self.backend.read_first_token(answer, self.words)
            for word, share in zip(self.words, rows[prompt], strict=True):
                # A sum of rounded probabilities may be above 1 by a little.
                if not 0.0 <= share <= 1.0 + 1e-6:
                    raise ValueError(
                        f"{self.backend.name} gave {share} as the probability of {word!r} after "
                        f"{prompt[:80]!r}; a probability lies between 0 and 1"
                    )
        return [dict(zip(self.words, rows[prompt], strict=True)) for prompt in self.prompts]


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """The question how likely texts are after a context; recorded as answers are."""

    backend: LikelihoodBackend
    texts: list[str]
    context: str

    @classmethod
    def of(
        cls, backend: Backend | RemoteBackend, texts: Sequence[str], context: str = ""
    ) -> Likelihoods:
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


def requests_of(
    sides: Sequence[Side], n: int, seed: int, blocks: Sequence[Sequence[int]] = ()
) -> list[Request]:
    """Return `n` requests for every prompt of every side, in order."""
    n = whole(n, "n")
    requests = []
    for (side, prompts), numbers in zip(sides, blocks or [range(len(sides[0][1]))], strict=True):
        seen: Counter[str] = Counter()
        for prompt, block in zip(prompts, numbers, strict=True):
            requests += samples_of(prompt, seen[prompt], side, n, seed, block)
            seen[prompt] += 1
    return requests


def samples_of(
    prompt: str, occurrence: int, side: str, n: int, seed: int, block: int
) -> list[Request]:
    """Return `n` requests for a prompt that came `occurrence` times before on its side."""
    return [
        Request(
            prompt,
            sample_seed(seed, prompt, occurrence, j, side),
            f"{side}:{occurrence}.{j}" if side else f"{occurrence}.{j}",
            block=(block, j),
        )
        for j in range(n)
    ]


def blocks_of(pairs: Iterable[Sequence[T]]) -> dict[T, int]:
    """Return the block of every question; pairs that share a question are one block."""
    block_of: dict[T, int] = {}
    members: dict[int, list[T]] = {}
    for number, questions in enumerate(pairs):
        joined = list(dict.fromkeys(questions))
        for known in {block_of[each] for each in joined if each in block_of}:
            joined += members.pop(known)
        members[number] = joined
        block_of.update(dict.fromkeys(joined, number))
    return block_of


def asking_order(requests: Sequence[Request]) -> list[int]:
    """Return the rows of requests in the random order in which they are asked."""
    # A model may change while it is asked. So that this does not look like a difference between
    # groups, blocks come in random order, and so do the members of a block within each of its
    # samples (restricted randomisation). A draw depends on its request alone, so the same call
    # has the same order again.
    begins: dict[int, bytes] = {}
    places = []
    for request in requests:
        if not request.block:
            places.append((b"", 0, b""))
            continue
        text = f"order {request.seed} {request.repeat} {request.prompt}"
        data = text.encode("utf-8", "surrogatepass")
        draw = hashlib.blake2b(data, digest_size=8).digest()
        block, sample = request.block
        # The draw of the first member, since the least of many would put large blocks first.
        places.append((begins.setdefault(block, draw), sample, draw))
    return sorted(range(len(requests)), key=places.__getitem__)


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
