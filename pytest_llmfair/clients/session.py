"""The request runner of the pytest session, made from its settings."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, cast

from pytest_llmfair._util.printing import standard_error
from pytest_llmfair.clients.budget import Budget, Caps, Prices
from pytest_llmfair.clients.cassette.locks import QuestionLocks
from pytest_llmfair.clients.cassette.replay import RecordedScores, Replay
from pytest_llmfair.clients.cassette.store import Cassette
from pytest_llmfair.clients.protocol import Limits, ModelError, Reply, Request
from pytest_llmfair.clients.requests import Memory, Progress, RequestRunner
from pytest_llmfair.clients.sending import LiveRequests
from pytest_llmfair.clients.spec import Classifies, Labels
from pytest_llmfair.session import Session, active, current_session
from pytest_llmfair.settings import Settings
from pytest_llmfair.text.turns import turns_of

# Bytes of English text per token, for a guess of what a plan costs.
_BYTES_PER_TOKEN = 4

# A test may ask from several threads.
_first = threading.Lock()

_ALONE = RequestRunner(
    progress=lambda name, total, recorded: Progress(name, total, recorded, standard_error())
)
# What a block outside pytest remembers.
_block: ContextVar[RequestRunner | None] = ContextVar("block", default=None)


@contextmanager
def remembering() -> Iterator[None]:
    """Ask no question twice in a block, as everywhere in a pytest session."""
    token = _block.set(replace(_ALONE, memory=Memory()))
    try:
        yield
    finally:
        _block.reset(token)


def current_runner() -> RequestRunner:
    """Return the runner of the session; outside pytest, one that remembers within a block only."""
    session = current_session()
    if session is None:
        # Running a cell of a notebook again asks again.
        return _block.get() or _ALONE
    with _first:
        if session.asker is None:
            session.asker = runner_of(session)
        return cast(RequestRunner, session.asker)


def origins() -> Callable[[], tuple[int, int]]:
    """Return a function that counts the answers since now: live ones and replayed ones.

    Examples
    --------
    >>> from pytest_llmfair.clients import ModelClient
    >>> since = origins()
    >>> _ = ModelClient.of(str.upper, name="upper").generate(["hello"], 2)
    >>> since()
    (2, 0)
    """
    counts = current_runner().counts
    live, replayed = counts.live, counts.replayed
    return lambda: (counts.live - live, counts.replayed - replayed)


def may_ask() -> bool:
    """Whether the running session may ask a model, so that one must be loaded."""
    session = current_session()
    return session is None or (session.records and not session.settings.plan)


@dataclass(frozen=True, slots=True)
class ReplayOnlyBackend:
    """A model that is named but not loaded, since its answers are replayed or only planned."""

    name: str
    classifies: Classifies | None = None
    labels: Labels = field(default_factory=Labels)
    # Empty where the specification says it.
    identity: Mapping[str, str] = field(default_factory=dict)

    description: ClassVar[str] = "not loaded: its answers are replayed"

    def generate(self, *asked: Any, **parameters: Any) -> Any:
        """Raise :class:`ModelError`, whatever is asked."""
        raise ModelError(f"model {self.name!r} was not loaded, since nothing may be asked")

    probabilities = log_likelihoods = generate


def runner_of(session: Session) -> RequestRunner:
    """Return a runner by the settings of a session."""
    settings = session.settings
    replay = None
    if (cassette := Cassette.of(settings)) is not None:
        session.scores = RecordedScores(cassette, session.records)
        replay = Replay(
            cassette,
            QuestionLocks(cassette.path),
            records=session.records,
            again=settings.record_mode == "all",
            since=session.since,
            max_age=settings.max_recording_age,
            used=None if settings.cassette_used is None else Path(settings.cassette_used),
        )
    caps = Caps(settings.max_calls, settings.max_total_tokens, settings.max_cost)
    budget = None
    if caps.limited:
        budget = Budget(
            caps, lambda: Path(session.shared_folder()) / "spent", lambda: _prices(settings)
        )
    planned = _planned if settings.plan else None

    def progress(name: str, total: int, recorded: int) -> Progress:
        write = session.screen()
        if write is None:
            return Progress(name, total, recorded)
        price = _prices(settings).of(name)

        def cost(reply: Reply) -> float:
            return price.cost(reply.prompt_tokens, reply.answer_tokens) / 1e12 if price else 0.0

        return Progress(name, total, recorded, write, cost)

    memory = Memory() if replay is None else None
    return RequestRunner(replay, memory, budget, planned, settings.timeout, progress)


def _prices(settings: Settings) -> Prices:
    return Prices.load(None if settings.prices is None else Path(settings.prices))


def _planned(live: LiveRequests, requests: Sequence[Request], recorded: int) -> None:
    """Note what would be asked, and skip the test."""
    import pytest

    recorder = active()
    if recorder is not None:
        recorder.planned.append(
            {
                "nodeid": recorder.nodeid,
                "model": live.backend.name,
                "recorded": recorded,
                **_size(live, requests, recorder.settings),
                **recorder.asking,
            }
        )
    pytest.skip("planned", allow_module_level=True)


def _size(
    live: LiveRequests, requests: Sequence[Request], settings: Settings
) -> dict[str, object]:
    """Return calls, tokens, time and the highest cost of requests."""
    size = [len(request.prompt.encode("utf-8", "surrogatepass")) for request in requests]
    prompt = sum(n // _BYTES_PER_TOKEN + 1 for n in size)
    longest = live.longest
    answer = None if longest is None else longest * len(requests)
    prices = _prices(settings)
    price = prices.of(live.backend.name)
    cost = None
    if price is not None and answer is not None:
        cost = price.cost(prompt, answer) / 1e12
    calls = sum(len(turns_of(request.prompt)) for request in requests)
    limits = getattr(live.backend, "limits", Limits(concurrency=1))
    minutes = [
        amount / most
        for amount, most in (
            (calls, limits.requests_per_minute),
            (prompt + (answer or 0), limits.tokens_per_minute),
        )
        if most
    ]
    return {
        "calls": calls,
        # Seconds if each answer takes one, and at least by the rate limits.
        "seconds": calls / limits.concurrency,
        "least_seconds": 60.0 * max(minutes, default=0.0),
        "prompt_tokens": prompt,
        "answer_tokens": answer,
        "cost": cost,
        "prices": prices.date,
    }
