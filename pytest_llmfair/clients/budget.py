"""Limits on what a run spends: one counter for all its processes, charged before sending."""

from __future__ import annotations

import functools
import math
import os
import re
import struct
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_llmfair._util.located import safe_yaml
from pytest_llmfair.clients.cassette.locks import locked
from pytest_llmfair.clients.protocol import Reply, Request
from pytest_llmfair.responses import Missing
from pytest_llmfair.text.turns import turns_of

# A prompt has at most one token per byte, and a chat template adds a few.
_TEMPLATE_TOKENS = 16

# Tokens reserved for an answer if no longest answer is given.
_LONGEST_ANSWER = 4096

_COUNTS = struct.Struct("<3q")
# Money is counted in whole units of 1e-12 dollars, so that sums are exact.
_UNITS = 10**12
_DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class UnknownPrice(ValueError):
    """The cost is limited, but the price of the model is unknown."""


@dataclass(frozen=True, slots=True)
class Price:
    """Price of a model in US dollars per million tokens."""

    prompt: float
    answer: float

    def cost(self, prompt_tokens: int, answer_tokens: int) -> int:
        """Return the cost of these tokens in units of 1e-12 dollars."""
        # Whole units per token, so that sums are exact.
        prompt, answer = (round(price * _UNITS / 10**6) for price in (self.prompt, self.answer))
        return prompt * prompt_tokens + answer * answer_tokens


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model, such as ``openai:gpt-4o``; ``builtin:*`` stands for all of a kind."""

    # Day on which the prices were looked up.
    date: str
    models: Mapping[str, Price]

    @classmethod
    def load(cls, own: Path | None = None) -> Prices:
        """Return the prices of the package, overridden by those of the user's file `own`."""
        shipped = _read(Path(__file__).with_name("prices.yaml"))
        if own is None:
            return shipped
        found = _read(own)
        return cls(found.date, {**shipped.models, **found.models})

    def of(self, model: str) -> Price | None:
        """Return the price of a model; a dated release has that of its model unless listed."""
        name = model.partition("?")[0]
        scheme = name.partition(":")[0]
        for candidate in (name, _DATED.sub("", name), f"{scheme}:*"):
            if candidate in self.models:
                return self.models[candidate]
        return None


@dataclass(frozen=True, slots=True)
class Caps:
    """Limits of a run; None is no limit."""

    # HTTP requests, retries included; an answer of a model of this machine counts as one.
    calls: int | None = None
    # Tokens of prompts and answers together.
    tokens: int | None = None
    # US dollars.
    cost: float | None = None

    @property
    def limited(self) -> bool:
        """Whether there is a limit."""
        return any(cap is not None for cap in (self.calls, self.tokens, self.cost))

    @property
    def sized(self) -> bool:
        """Whether the lengths of prompts and answers count."""
        return self.tokens is not None or self.cost is not None


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls, tokens and cost (units of 1e-12 dollars)."""

    calls: int = 0
    tokens: int = 0
    cost: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)

    def __mul__(self, times: int) -> Spent:
        return Spent(times * self.calls, times * self.tokens, times * self.cost)


@dataclass(slots=True)
class Budget:
    """Counter of what a run spends, in one file for all its processes."""

    # A process that dies leaves its reservations: part of the budget is lost, none exceeded.

    caps: Caps
    # Returns the file of the counter; called at the first spending.
    path: Callable[[], Path]
    # Called when a cost is first needed.
    prices: Callable[[], Prices] = field(default=lambda: Prices.load())
    _handle: int = -1
    # The file lock keeps processes apart, not the threads of one.
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def price(self, model: str) -> Price:
        """Return the price of a model; raise `UnknownPrice` if a limit needs it."""
        if self.caps.cost is None:
            return Price(0.0, 0.0)
        prices = self.prices()
        found = prices.of(model)
        if found is None:
            name = model.partition("?")[0]
            raise UnknownPrice(
                f"--llmfair-max-cost cannot be kept: no price of {name} is known (prices of "
                f"{prices.date}); give llmfair_prices a YAML file with\n"
                f"  date: 2026-01-31\n  models:\n    {name}: [0.15, 0.60]\n"
                "in dollars per million tokens of prompt and answer"
            )
        return found

    def reserve(self, amount: Spent) -> str:
        """Take an amount; return an empty text, or why nothing was taken."""
        with self._counter() as handle:
            after = _load(handle) + amount
            if why := self._exceeded(after):
                return why
            _store(handle, after)
        return ""

    def settle(self, reserved: Spent, used: Spent) -> None:
        """Replace a reservation by the amount used."""
        if not self.caps.sized and reserved.calls == used.calls:
            return
        with self._counter() as handle:
            _store(handle, _load(handle) - reserved + used)

    def room(self, amounts: Sequence[Spent]) -> int:
        """Count the amounts, from the first on, that could be taken now."""
        total = self.spent
        for count, amount in enumerate(amounts):
            total += amount
            if self._exceeded(total):
                return count
        return len(amounts)

    @property
    def spent(self) -> Spent:
        """What all processes of the run have spent and reserved."""
        with self._counter() as handle:
            return _load(handle)

    def close(self) -> None:
        """Close the counter."""
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1

    def _exceeded(self, after: Spent) -> str:
        caps = self.caps
        if caps.calls is not None and after.calls > caps.calls:
            return f"--llmfair-max-calls {caps.calls} is reached; nothing more is sent"
        if caps.tokens is not None and after.tokens > caps.tokens:
            return (
                f"--llmfair-max-total-tokens {caps.tokens} would be exceeded; nothing more is sent"
            )
        if caps.cost is not None and after.cost > round(caps.cost * _UNITS):
            return f"--llmfair-max-cost {caps.cost:g} would be exceeded; nothing more is sent"
        return ""

    @contextmanager
    def _counter(self) -> Iterator[int]:
        """Hold the counter, against other threads and other processes."""
        with self._mutex:
            if self._handle < 0:
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
                self._handle = os.open(self.path(), flags, 0o600)
            with locked(self._handle):
                yield self._handle


@dataclass(frozen=True, slots=True)
class BudgetReservation:
    """What one call of a client reserves in the budget, if there is one."""

    budget: Budget | None
    max_tokens: int | None
    price: Price
    # The requests of every block, reserved together so that a budget which ends leaves whole
    # pairs, and blocks that the budget refused.
    _blocks: dict[tuple[int, ...], list[Request]] = field(default_factory=dict)
    _refused: dict[tuple[int, ...], str] = field(default_factory=dict)
    # By identity: two equal requests of one call are still two.
    _attempts: Counter[int] = field(default_factory=Counter)
    _reserved_ahead: dict[int, Request] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        budget: Budget | None,
        model: str,
        max_tokens: int | None,
        requests: Iterable[Request] = (),
    ) -> BudgetReservation:
        """Return the reservation of a call; raises what :meth:`Budget.price` raises."""
        price = Price(0.0, 0.0) if budget is None else budget.price(model)
        found = cls(budget, max_tokens, price)
        for request in requests:
            found._blocks.setdefault(request.block, []).append(request)
        return found

    def reserve(self, request: Request) -> str:
        """Reserve one attempt; return an empty text, or why it may not be made."""
        if self.budget is None or self._reserved_ahead.pop(id(request), None) is not None:
            return ""
        if why := self._refused.get(request.block):
            return why
        first = request.block and not self._attempts[id(request)]
        together = self._blocks.get(request.block, [request]) if first else [request]
        if not (why := self.budget.reserve(sum(map(self._most, together), Spent()))):
            self._attempts.update(map(id, together))
            ahead = {id(each): each for each in together if each is not request}
            self._reserved_ahead.update(ahead)
            return ""
        if self.max_tokens is None and self.budget.caps.sized:
            why += (
                f"; {_LONGEST_ANSWER:,} tokens are reserved for each answer, since no longest "
                "answer is set: set --llmfair-max-tokens"
            )
        if first:
            self._refused[request.block] = why
        return why

    def give_back(self) -> None:
        """Give back what was reserved for requests that were not sent."""
        while self.budget is not None and self._reserved_ahead:
            self.budget.settle(self._most(self._reserved_ahead.popitem()[1]), Spent())

    def room(self, requests: Sequence[Request]) -> int:
        """Count the requests that could be reserved now, up to the end of a block."""
        if self.budget is None:
            return len(requests)
        new = [Spent() if id(r) in self._reserved_ahead else self._most(r) for r in requests]
        room = self.budget.room(new)
        while 0 < room < len(requests) and requests[room].block == requests[room - 1].block != ():
            room -= 1
        return room

    def settle(self, request: Request, reply: Reply) -> None:
        """Give back what the attempts of a request did not use."""
        attempts = self._attempts.pop(id(request), 0)
        if self.budget is not None and attempts:
            most = self._most(request)
            self.budget.settle(most * attempts, self._used(attempts, request, reply, most))

    def _most(self, request: Request) -> Spent:
        answer = _LONGEST_ANSWER if self.max_tokens is None else self.max_tokens
        turns = len(turns_of(request.prompt))
        # Every turn brings those before it, with their answers.
        prompt = turns * (prompt_tokens(request.prompt) + (turns - 1) * answer)
        return self._spent(turns, prompt, turns * answer)

    def _used(self, attempts: int, request: Request, reply: Reply, most: Spent) -> Spent:
        """Return the use of all attempts: the upper estimate if tokens were not counted."""
        if most.calls > 1:
            return most * attempts
        unread = replace(most, calls=0) * reply.unread
        if reply.prompt_tokens + reply.answer_tokens:
            return unread + self._spent(attempts, reply.prompt_tokens, reply.answer_tokens)
        if isinstance(reply.answer, Missing):
            return unread + Spent(attempts)
        prompt, answer = prompt_tokens(request.prompt), prompt_tokens(reply.answer)
        read = self._spent(attempts, prompt, answer)
        return unread + Spent(attempts, min(read.tokens, most.tokens), min(read.cost, most.cost))

    def _spent(self, calls: int, prompt: int, answer: int) -> Spent:
        return Spent(calls, prompt + answer, self.price.cost(prompt, answer))


def prompt_tokens(text: str) -> int:
    """Return an upper estimate of the tokens of a text: one per byte, and a chat template."""
    return len(text.encode("utf-8", "surrogatepass")) + _TEMPLATE_TOKENS


def _load(handle: int) -> Spent:
    os.lseek(handle, 0, os.SEEK_SET)
    data = os.read(handle, _COUNTS.size)
    return Spent(*_COUNTS.unpack(data)) if len(data) == _COUNTS.size else Spent()


def _store(handle: int, counts: Spent) -> None:
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, _COUNTS.pack(counts.calls, counts.tokens, counts.cost))


@functools.cache
def _read(path: Path) -> Prices:
    import yaml

    try:
        found: Any = safe_yaml(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ValueError(f"the prices of {path} cannot be read: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("models"), dict):
        raise ValueError(
            f"{path} has no prices; write `date:` and `models:` with one line per model"
        )
    models = {}
    for name, pair in found["models"].items():
        numbers = isinstance(pair, list) and all(
            isinstance(x, (int, float)) and not isinstance(x, bool) and 0.0 <= x < math.inf
            for x in pair
        )
        if not numbers or len(pair) != 2:
            raise ValueError(
                f"{path}: the price of {name} is {pair!r}; give [prompt, answer] in dollars per "
                "million tokens"
            )
        models[str(name)] = Price(float(pair[0]), float(pair[1]))
    return Prices(str(found.get("date", "an unknown day")), models)
