"""Who asks the models of a session: cassette, budget and plan as its settings say."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pytest_llmfair._util.progress import standard_error
from pytest_llmfair.clients._asking import Asker, Replay
from pytest_llmfair.clients._backend import ModelError, Reply, Request
from pytest_llmfair.clients._claims import Claims
from pytest_llmfair.clients._live import Live
from pytest_llmfair.clients._memory import Memory
from pytest_llmfair.clients._progress import Progress
from pytest_llmfair.clients.budget import Budget, Caps, Prices
from pytest_llmfair.clients.cassette import Cassette
from pytest_llmfair.responses import Answer
from pytest_llmfair.session import Session, active, current_session
from pytest_llmfair.settings import Settings

# Bytes of English text per token, for a guess of what a plan costs.
_BYTES_PER_TOKEN = 4

# A test may ask from several threads.
_first = threading.Lock()

_ALONE = Asker(
    progress=lambda name, total, recorded: Progress(name, total, recorded, standard_error())
)


def current_asker() -> Asker:
    """Return who asks the models of the running session.

    Outside pytest, one without limits that remembers nothing: a notebook has no session, and who
    runs a cell again asks again.
    """
    session = current_session()
    if session is None:
        return _ALONE
    with _first:
        if session.asker is None:
            session.asker = _asker(session)
        return cast(Asker, session.asker)


def origins() -> Callable[[], tuple[int, int]]:
    """Return what tells how many answers were live, and how many replayed, since now."""
    counts = current_asker().counts
    live, replayed = counts.live, counts.replayed
    return lambda: (counts.live - live, counts.replayed - replayed)


def may_ask() -> bool:
    """Tell whether the running session can ask a model at all, so that one must be loaded."""
    session = current_session()
    return session is None or (session.records and not session.settings.plan)


@dataclass(frozen=True, slots=True)
class Unloaded:
    """A model that is named and not loaded: its answers are replayed, or only planned."""

    name: str

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        return "not loaded: its answers are replayed"

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Raise :class:`ModelError`."""
        raise self._error()

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Raise :class:`ModelError`."""
        raise self._error()

    def _error(self) -> ModelError:
        return ModelError(f"model {self.name!r} was not loaded, since nothing may be asked")


def _asker(session: Session) -> Asker:
    settings = session.settings
    replay = None
    if settings.cassette is not None:
        path = Path(settings.cassette)
        replay = Replay(
            Cassette(path, text=settings.cassette_text == "full"),
            Claims(path),
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
    return Asker(replay, memory, budget, planned, settings.timeout, progress)


def _prices(settings: Settings) -> Prices:
    return Prices.load(None if settings.prices is None else Path(settings.prices))


def _planned(live: Live, requests: Sequence[Request], recorded: int) -> None:
    """Note what would be asked, and leave the test."""
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


def _size(live: Live, requests: Sequence[Request], settings: Settings) -> dict[str, object]:
    """Return calls, tokens and the highest cost of requests."""
    size = [len(request.prompt.encode("utf-8", "surrogatepass")) for request in requests]
    prompt = sum(n // _BYTES_PER_TOKEN + 1 for n in size)
    longest = live.longest
    answer = None if longest is None else longest * len(requests)
    prices = _prices(settings)
    price = prices.of(live.backend.name)
    cost = None
    if price is not None and answer is not None:
        cost = price.cost(prompt, answer) / 1e12
    return {
        "calls": len(requests),
        "prompt_tokens": prompt,
        "answer_tokens": answer,
        "cost": cost,
        "prices": prices.date,
    }
