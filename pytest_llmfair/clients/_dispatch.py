"""Asking a server: many requests at once, paced, tried again, and none of them lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pytest_llmfair.clients._backend import Reply, Request, RemoteBackend


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try.

    Attributes
    ----------
    timeout : float
        Seconds for a request, all of its attempts and pauses together.
    attempts : int
        HTTP requests at most.
    pause : float
        Longest first pause in seconds, doubled with every attempt.
    """

    timeout: float = 60.0
    attempts: int = 3
    pause: float = 0.5


def dispatch(
    backend: RemoteBackend,
    requests: Sequence[Request],
    keep: Callable[[int, Reply], None],
    *,
    temperature: float,
    max_tokens: int | None,
    reserve: Callable[[Request], str] = lambda request: "",
    patience: Patience = Patience(),
    tick: Callable[[], None] = lambda: None,
) -> None:
    """Answer every request, handing each reply to `keep` as it comes.

    Parameters
    ----------
    keep : callable
        Takes the row of the request and its reply, in the thread of the caller, in the order in
        which replies come. Every reply that came is kept also when the call is interrupted or ends
        with an error. A request is not followed by another one before its reply is kept, so no
        more than `concurrency` replies are ever unkept.
    temperature, max_tokens
        As for the backend.
    reserve : callable
        Called on the loop before every HTTP request; returns why it may not be sent (the reply is
        then missing, "over_budget"), or an empty text.
    tick : callable
        Called in the thread of the caller several times a second, to show the time left.

    Raises
    ------
    ModelError
        If no request of this run can be answered; what came before is kept.
    """
    raise NotImplementedError
