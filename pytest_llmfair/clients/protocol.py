"""What a backend is: requests, replies, and the protocols that backends implement."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pytest_llmfair.responses import Answer

# Longest answer of a model of this machine where nobody gave a limit.
LOCAL_MAX_TOKENS = 64


# Reasons of passing failures. What the model itself did (refused, filtered, empty) is an outcome.
TRANSIENT = frozenset({"error", "malformed", "rate_limit", "server_error", "timeout"})


class NotRecorded(LookupError):
    """A question whose answer is not in the cassette, where nothing may be asked."""


class ModelError(RuntimeError):
    """A model that cannot be asked any more: no key, a wrong one, or no such model."""


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to draw.

    Attributes
    ----------
    prompt : str
        What is asked.
    seed : int
        Seed of this sample, in [0, 2**64).
    repeat : str
        Which sample of its prompt this is, such as "0.3" or "counterfactual:0.3": side of the
        pair, how often the prompt came before in the call, index. Independent of seeds and of
        other prompts, so that recorded answers are found again.
    first_token : bool
        Ask for the probabilities of the first token in place of an answer. The answer is then a
        JSON object of tokens and logarithms of their probabilities.
    """

    prompt: str
    seed: int
    repeat: str = "0.0"
    first_token: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one request.

    Attributes
    ----------
    answer : str or Missing
        The answer, or why there is none.
    prompt_tokens, answer_tokens : int
        As the server counted them; 0 where it did not say.
    attempts : int
        HTTP requests that were sent, each of which counts as a call; 0 when the budget was spent.
    unread : int
        Of the attempts those that the server may have answered, and charged, though nothing could
        be read.
    raised : bool
        Whether a user's function raised an exception in place of answering.
    """

    answer: Answer
    prompt_tokens: int = 0
    answer_tokens: int = 0
    attempts: int = 1
    unread: int = 0
    raised: bool = False


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of one HTTP request.

    Attributes
    ----------
    reply : Reply
        The answer, or why there is none if this attempt is the last.
    retry : bool
        Whether another attempt may do better.
    retry_after : float or None
        Seconds that the server asks to wait.
    fatal : str
        Why no request of this run can be answered, with the remedy; empty when others can.
    """

    reply: Reply
    retry: bool = False
    retry_after: float | None = None
    fatal: str = ""


@dataclass(frozen=True, slots=True)
class Limits:
    """How fast a server may be asked.

    Attributes
    ----------
    concurrency : int
        Requests in flight at the same time.
    requests_per_minute, tokens_per_minute : float or None
        Paced evenly; None is no limit.
    """

    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


DEFAULT_LIMITS = Limits()


class Named(Protocol):
    """What every backend tells about itself."""

    @property
    def name(self) -> str:
        """Specification of the model, for reports."""
        ...

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        ...


class Backend(Named, Protocol):
    """Answers requests in batches.

    An answer depends on its own request only, never on the requests beside it. A backend may also
    have `identity`, a mapping of texts by which recorded answers are found again (provider, model,
    revision); without one that is its name. Answers that a session remembers belong to one object,
    unless that has `known_as`, a hashable value that is the same for every object of one model.
    """

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Return one answer per request, in order; a failed one is a `Missing`."""
        ...


@runtime_checkable
class ScoringBackend(Backend, Protocol):
    """A backend that also knows the probabilities of its next words."""

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Return P(the answer starts with the word) at temperature 1, by prompt and word."""
        ...


@runtime_checkable
class RemoteBackend(Named, Protocol):
    """Answers one request at a time, many of them at once, on the loop in the background."""

    @property
    def identity(self) -> Mapping[str, str]:
        """What tells its answers from those of other models: provider, model, options."""
        ...

    @property
    def limits(self) -> Limits:
        """How fast it may be asked."""
        ...

    def open(self) -> None:
        """Get ready, before the first request of a call.

        Raises
        ------
        ModelError
            If no request can be answered: no key, or a server that turned the key down before.
        """
        ...

    async def send(
        self, request: Request, *, temperature: float, max_tokens: int | None
    ) -> Attempt:
        """Send one request once; never raises for what a server can do.

        Without `max_tokens` the answer ends where the model ends it, and one that the server cut
        is missing.
        """
        ...


@runtime_checkable
class FirstTokenBackend(RemoteBackend, Protocol):
    """A remote backend that tells the likeliest first tokens of an answer."""

    def read_first_token(self, answer: str, words: Sequence[str]) -> list[float]:
        """Return P(the answer starts with the word) by word, from a `first_token` answer."""
        ...


def identity_of(backend: Backend | RemoteBackend) -> dict[str, str]:
    """Return what tells the answers of a backend from those of other models."""
    return dict(getattr(backend, "identity", None) or {"model": backend.name})


def sample_seed(seed: int, prompt: str, occurrence: int, sample: int, side: str = "") -> int:
    """Seed of one sample, an integer in [0, 2**64).

    `occurrence` is how many times the same text came earlier in the same call: equal prompts are
    asked anew and not copied. `side` keeps the members of a pair independent even when equal.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in (str(seed), str(occurrence), str(sample), side, prompt):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest(), "big")
