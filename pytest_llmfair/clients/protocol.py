"""What a backend is: requests, replies, and the protocols that backends implement."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from pytest_llmfair.responses import Answer

# Longest answer of a model of this machine if no limit is given.
LOCAL_MAX_TOKENS = 64


# Reasons of passing failures. What the model itself did (refused, filtered, empty) is an outcome.
TRANSIENT = frozenset({"error", "malformed", "rate_limit", "server_error", "timeout"})


class NotRecorded(LookupError):
    """A question whose answer is not in the cassette, where nothing may be asked."""


class UnknownProbability(ValueError):
    """A model gave no probability of a word, though it could answer in words."""


class ModelError(RuntimeError):
    """A model that cannot be asked at all: no key, a wrong key, or no such model."""


@dataclass(frozen=True, slots=True)
class Request:
    """One sample to draw.

    Attributes
    ----------
    prompt : str
        The text to answer.
    seed : int
        Seed of this sample, in [0, 2**64).
    repeat : str
        Which sample of its prompt this is, such as "0.3" or "counterfactual:0.3": side of the
        pair, how often the prompt came before in the call, index. Recorded answers are found by
        it.
    first_token : bool
        Ask for the probabilities of the first token in place of an answer. The answer is then a
        JSON object of tokens and logarithms of their probabilities.
    block : tuple of int
        Pair or prompt of the call, and sample. Blocks are asked in random order, and a budget pays
        for all requests of a block or for none; requests without one keep their order.
    messages : list of dict
        The prompt as a conversation so far, for servers that answer every turn of it.

    Examples
    --------
    >>> Request("The nurse said that", seed=1)
    Request(prompt='The nurse said that', seed=1, repeat='0.0', first_token=False)
    """

    prompt: str
    seed: int
    repeat: str = "0.0"
    first_token: bool = False
    block: tuple[int, ...] = field(default=(), repr=False, compare=False)
    messages: list[dict[str, str]] = field(default_factory=list, repr=False, compare=False)

    @property
    def numbers(self) -> bool:
        """Whether the answer is probabilities instead of a text."""
        return self.first_token or self.repeat.startswith("probabilities ")


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of one request.

    Attributes
    ----------
    answer : str or Missing
        The answer, or why there is none.
    prompt_tokens, answer_tokens : int
        As the server counted them; 0 if it did not.
    attempts : int
        HTTP requests that were sent, each one a call of the budget; 0 if the budget was spent.
    unread : int
        Attempts whose answer could not be read, but may have been charged.
    raised : bool
        Whether the user's function raised an exception.
    served : (str, str)
        Model and system fingerprint as the server named them; "" where it did not.

    Examples
    --------
    >>> Reply("An answer.", prompt_tokens=5, answer_tokens=3).attempts
    1
    """

    answer: Answer
    prompt_tokens: int = 0
    answer_tokens: int = 0
    attempts: int = 1
    unread: int = 0
    raised: bool = False
    served: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class Attempt:
    """The outcome of one HTTP request.

    Attributes
    ----------
    reply : Reply
        The answer, or why there is none if this attempt is the last.
    retry : bool
        Whether another attempt may do better.
    retry_after : float or None
        Seconds that the server asks to wait.
    fatal : str
        Why no request of this run can be answered, with the remedy; empty if others can.

    Examples
    --------
    >>> from pytest_llmfair.clients import Missing
    >>> busy = Attempt(Reply(Missing("rate_limit", "HTTP 429")), retry=True, retry_after=2.0)
    >>> busy.reply.answer.reason
    'rate_limit'
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
        Requests are spaced evenly; None is no limit.

    Examples
    --------
    >>> Limits(concurrency=4, requests_per_minute=60.0)
    Limits(concurrency=4, requests_per_minute=60.0, tokens_per_minute=None)
    """

    concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


DEFAULT_LIMITS = Limits()


class Named(Protocol):
    """The name and description that every backend has."""

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

    An answer may depend on its own request only, never on other requests of the batch. Two more
    attributes are optional: `identity`, a mapping of texts (provider, model, revision) by which
    recorded answers are found, in place of the name; and `known_as`, a hashable value that two
    objects for the same model share, so that a session remembers answers for both.

    Examples
    --------
    >>> class Echo:
    ...     name, description = "echo", "repeats the prompt"
    ...
    ...     def generate(self, requests, *, temperature, max_tokens):
    ...         return [request.prompt for request in requests]
    >>> from pytest_llmfair.clients import ModelClient
    >>> ModelClient.of(Echo()).generate(["Hello."])
    [['Hello.']]
    """

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Return one answer per request, in order; a failed request gets a `Missing`."""
        ...


@runtime_checkable
class ScoringBackend(Backend, Protocol):
    """A backend that also gives the probabilities of its next words.

    Examples
    --------
    >>> from pytest_llmfair.clients import load_client
    >>> isinstance(load_client("builtin:ngram").backend, ScoringBackend)
    True
    """

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Return P(the answer starts with the word) at temperature 1, by prompt and word."""
        ...


@runtime_checkable
class LikelihoodBackend(Backend, Protocol):
    """A backend that also gives the probability of a whole text."""

    def log_likelihoods(self, texts: Sequence[str], context: str) -> list[tuple[float, int]]:
        """Return the logarithm of P(text), after a context that may be empty, and its tokens."""
        ...


@runtime_checkable
class RemoteBackend(Named, Protocol):
    """Answers single requests, many of them at the same time, on a background event loop.

    Examples
    --------
    >>> class Shouting:
    ...     name, description, identity = "shouting", "a server", {"model": "shouting"}
    ...     limits = Limits(concurrency=4)
    ...
    ...     def open(self):
    ...         pass
    ...
    ...     async def send(self, request, *, temperature, max_tokens):
    ...         return Attempt(Reply(request.prompt.upper()))
    >>> from pytest_llmfair.clients import ModelClient
    >>> ModelClient(Shouting()).generate(["Hello."])
    [['HELLO.']]
    """

    @property
    def identity(self) -> Mapping[str, str]:
        """Provider, model and options, by which recorded answers are found."""
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
            If no request can be answered: no key, or a server that refused the key before.
        """
        ...

    async def send(
        self, request: Request, *, temperature: float, max_tokens: int | None
    ) -> Attempt:
        """Send one request once; failures of the server are returned, not raised.

        Without `max_tokens` the answer ends where the model ends it, and an answer that the
        server cuts is missing.
        """
        ...


@runtime_checkable
class FirstTokenBackend(RemoteBackend, Protocol):
    """A remote backend that gives the likeliest first tokens of an answer."""

    def read_first_token(self, answer: str, words: Sequence[str]) -> list[float]:
        """Return P(the answer starts with the word) by word, from a `first_token` answer."""
        ...


def identity_of(backend: Backend | RemoteBackend) -> dict[str, str]:
    """Return the fields by which recorded answers of a backend are found."""
    return dict(getattr(backend, "identity", None) or {"model": backend.name})


def sample_seed(seed: int, prompt: str, occurrence: int, sample: int, side: str = "") -> int:
    """Return the seed of one sample, in [0, 2**64), from what identifies it."""
    # `occurrence` counts how often the same text came earlier in the call, since equal prompts
    # get answers of their own; `side` keeps equal members of a pair independent.
    digest = hashlib.blake2b(digest_size=8)
    for part in (str(seed), str(occurrence), str(sample), side, prompt):
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return int.from_bytes(digest.digest(), "big")
