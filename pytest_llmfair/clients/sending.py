"""The requests of one call: checked, seeded one by one, and sent within the budget."""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pytest_llmfair._util.validation import whole
from pytest_llmfair.clients.budget import Budget, BudgetReservation
from pytest_llmfair.clients.concurrency import RetryPolicy, dispatch
from pytest_llmfair.clients.protocol import (
    LOCAL_MAX_TOKENS,
    TRANSIENT,
    Backend,
    FirstTokenBackend,
    RemoteBackend,
    Reply,
    Request,
    ScoringBackend,
    UnknownProbability,
    sample_seed,
)
from pytest_llmfair.responses import Answer, Missing

T = TypeVar("T", bound=Hashable)

# The name of a side of the pairs, empty without pairs, and its prompts.
Side = tuple[str, list[str]]
AnyBackend = Backend | RemoteBackend
Batch = Callable[[Sequence[Request]], list[Answer]]

_NOT_ASKED = "not asked"

# Requests that a model of this machine gets at once if it has no batch size of its own. If the
# process is killed, at most these are lost.
_AT_ONCE = 64

# Requests to a server between two checks of how many longest answers the budget can pay for.
_SLICE = 256


@dataclass(frozen=True, slots=True)
class FirstWords:
    """The question which words answers begin with; asked like any other, so it is recorded too."""

    backend: ScoringBackend | FirstTokenBackend
    prompts: list[str]
    words: list[str]

    @classmethod
    def of(cls, backend: AnyBackend, prompts: Sequence[str], words: Sequence[str]) -> FirstWords:
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
        scores = isinstance(self.backend, ScoringBackend)
        repeat = f"probabilities {json.dumps(self.words)}" if scores else "first token"
        return [
            Request(prompt, 0, repeat, first_token=not scores, block=(row, 0))
            for row, prompt in enumerate(dict.fromkeys(self.prompts))
        ]

    @property
    def batch(self) -> Batch | None:
        """Function that answers requests in place of ``backend.generate``; None for a server."""
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


@dataclass(slots=True)
class Failures:
    """Counts failures in a row; after too many of them the rest of a call is not asked."""

    # The answer to everything that is not asked any more; None while asking goes on.
    rest: Missing | None = None
    _in_a_row: int = 0

    def end_with(self, reply: Reply, *, remote: bool) -> bool:
        """Count one more reply; return whether the call ends."""
        answer = reply.answer
        # A model of this process fails by an exception only.
        failed = reply.raised or (remote and is_failure(answer))
        self._in_a_row = self._in_a_row + 1 if failed else 0
        most, what = (5, "calls") if reply.raised else (20, "requests")
        if isinstance(answer, Missing) and self._in_a_row >= most and self.rest is None:
            words = f"{_NOT_ASKED}: {self._in_a_row} {what} in a row failed"
            self.rest = Missing(answer.reason, words)
        return self.rest is not None


@dataclass(frozen=True, slots=True)
class LiveRequests:
    """Sends the requests of one call; `batch`, if given, replaces ``backend.generate``."""

    backend: AnyBackend
    temperature: float
    max_tokens: int | None
    batch: Batch | None = None
    budget: Budget | None = None
    timeout: float = 60.0
    failures: Failures = field(default_factory=Failures)

    @property
    def longest(self) -> int | None:
        """Most tokens of an answer; None where the server decides."""
        if self.max_tokens is None and not isinstance(self.backend, RemoteBackend):
            return LOCAL_MAX_TOKENS
        return self.max_tokens

    def ask(
        self, requests: Mapping[Any, Request], keep: Callable[[Mapping[Any, Reply]], None]
    ) -> None:
        """Answer requests, handing replies to `keep` as they come."""
        waiting = dict(self._in_order(requests))

        def kept(replies: Mapping[Any, Reply]) -> None:
            keep(replies)
            for key in replies:
                waiting.pop(key, None)

        reservation = BudgetReservation.of(
            self.budget, self.backend.name, self.longest, requests.values()
        )
        try:
            while waiting and self.failures.rest is None:
                size = self._portion(waiting, reservation)
                some = dict(itertools.islice(waiting.items(), size))
                if isinstance(self.backend, RemoteBackend) and self.batch is None:
                    dispatch(
                        self.backend,
                        list(some.values()),
                        _by_row(some, kept, reservation),
                        temperature=self.temperature,
                        max_tokens=self.max_tokens,
                        reserve=reservation.reserve,
                        retries=RetryPolicy(self.timeout),
                        ends=functools.partial(self.failures.end_with, remote=True),
                    )
                else:
                    kept(self._answer_here(some, reservation))
        finally:
            reservation.give_back()
        if waiting and self.failures.rest is not None:
            keep(dict.fromkeys(waiting, Reply(self.failures.rest, attempts=0)))

    def _in_order(self, requests: Mapping[Any, Request]) -> list[tuple[Any, Request]]:
        """Put pairs of similar length together where the model of this machine makes batches."""
        items = list(requests.items())
        size = getattr(self.backend, "batch_size", None) or 1
        if size == 1:
            return items
        pairs: dict[Any, list[tuple[Any, Request]]] = {}
        for key, request in items:
            pairs.setdefault(request.block[:1] or key, []).append((key, request))
        batches: list[list[tuple[Any, Request]]] = []
        for own in sorted(pairs.values(), key=lambda own: max(len(r.prompt) for _, r in own)):
            if not batches or len(batches[-1]) >= size:
                batches.append([])
            batches[-1] += own
        # The batches stay in random order, since lengths may differ between groups.
        place = {key: number for number, key in enumerate(requests)}
        batches.sort(key=lambda batch: place[batch[0][0]])
        return [item for batch in batches for item in batch]

    def _portion(self, waiting: Mapping[Any, Request], reservation: BudgetReservation) -> int:
        """Return the number of requests to send before the next look at the budget."""
        if not isinstance(self.backend, RemoteBackend) or self.batch is not None:
            return getattr(self.backend, "batch_size", None) or _AT_ONCE
        if self.budget is None:
            return len(waiting)
        # The longest answers are reserved, and what shorter ones leave is free again: requests
        # that must wait for that are not refused.
        return reservation.room(list(itertools.islice(waiting.values(), _SLICE))) or 1

    def _answer_here(
        self, some: Mapping[Any, Request], reservation: BudgetReservation
    ) -> dict[Any, Reply]:
        """Answer one batch with a model of this machine."""
        refused = {key: reservation.reserve(request) for key, request in some.items()}
        paid = {key: request for key, request in some.items() if not refused[key]}
        asked = list(paid.values())
        backend: Any = self.backend
        if not asked:
            answered: list[Reply] = []
        elif self.batch is not None:
            answered = [Reply(answer) for answer in self.batch(asked)]
        elif reply_to := getattr(backend, "reply_to", None):
            answered = [reply_to(request, self.temperature, self.longest) for request in asked]
        else:
            answers = backend.generate(
                asked, temperature=self.temperature, max_tokens=self.longest
            )
            answered = [Reply(answer) for answer in answers]
        replies = dict(zip(paid, answered, strict=True))
        for key, reply in replies.items():
            reservation.settle(some[key], reply)
        for key, why in refused.items():
            if why:
                replies[key] = Reply(Missing("over_budget", why), attempts=0)
        for reply in replies.values():
            if self.failures.end_with(reply, remote=False):
                break
        return replies


def _by_row(
    some: Mapping[Any, Request],
    keep: Callable[[Mapping[Any, Reply]], None],
    reservation: BudgetReservation,
) -> Callable[[int, Reply], None]:
    """Return a function that keeps the reply to the request in a row, and settles its cost."""
    rows = list(some.items())
    kept: set[int] = set()

    def keep_row(row: int, reply: Reply) -> None:
        # An interrupt between keeping a reply and noting it makes `dispatch` hand it over again.
        if row in kept:
            return
        key, request = rows[row]
        keep({key: reply})
        kept.add(row)
        reservation.settle(request, reply)

    return keep_row


def is_failure(answer: Answer) -> bool:
    """Whether an answer is missing because of a passing failure, and not by the model's choice."""
    return isinstance(answer, Missing) and answer.reason in TRANSIENT


def was_sent(answer: Answer) -> bool:
    """Whether a request was sent: the budget allowed it, and the call had not ended."""
    return not isinstance(answer, Missing) or (
        answer.reason != "over_budget" and not answer.detail.startswith(_NOT_ASKED)
    )
