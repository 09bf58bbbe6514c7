"""Batched decoding of language models: token ids in, token ids or log-probabilities out.

``generate`` of transformers computes every row of a batch until the longest answer ends. Here rows
that have ended leave the batch, each prompt is read once however many answers it gets, and each
row draws from a generator of its own. On one core that took half the time where answers end at
different lengths (``benchmarks/clients/clients_models.py`` compares the two on the same batch).
"""

from __future__ import annotations

import copy
import inspect
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from pytest_llmfair.clients.protocol import ModelError

if TYPE_CHECKING:
    from torch import Tensor

# Tokens; a shorter common beginning is cheaper to read again than to copy.
_WORTH_SHARING = 16
# Ended rows are dropped once they are this share of a batch.
_IDLE = 0.25


@dataclass(slots=True)
class BatchState:
    """State of a model after reading the rows of a batch."""

    # Keys and values, one row each.
    cache: Any
    # At the last positions, of shape (rows, kept positions, vocabulary).
    logits: Tensor
    # Of shape (rows, tokens), 1 for a token and 0 for padding.
    mask: Tensor
    # Output of the encoder, if there is one.
    encoded: Any = None


@dataclass(frozen=True, slots=True)
class Beginning:
    """Tokens that all rows start with, read once; often empty."""

    ids: tuple[int, ...] = ()
    cache: Any = None


class Ending(NamedTuple):
    """Token ids of answers to one prompt that differ in their last token only."""

    prompt: tuple[int, ...]
    start: tuple[int, ...]
    last: list[int]

    @property
    def read(self) -> tuple[int, ...]:
        """All tokens before the last one."""
        return self.prompt + self.start


@dataclass(frozen=True, slots=True)
class Decoder:
    """Batched decoding with a transformers model; ids in `stops` end an answer."""

    model: Any
    stops: frozenset[int]
    _accepts: frozenset[str] = field(init=False)

    # Whether prompt and answer lie in one context.
    shares_context: ClassVar[bool] = True

    def __post_init__(self) -> None:
        accepted = frozenset(inspect.signature(self.model.forward).parameters)
        object.__setattr__(self, "_accepts", accepted)

    def begin(self, rows: Sequence[tuple[int, ...]], keep: int = 1) -> Beginning:
        """Read what all rows start with, but for the last `keep` tokens of the shortest."""
        import torch

        if len(rows) < 2:
            return Beginning()
        # The first place where any two rows differ is where the smallest and the largest do.
        low, high = min(rows), max(rows)
        longest = max(min(map(len, rows)) - keep, 0)
        equal = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(low, high, strict=False))
        ids = tuple(token for token, _ in itertools.islice(equal, longest))
        if len(ids) < _WORTH_SHARING:
            return Beginning()
        with torch.inference_mode():
            cache = self._read([ids], Beginning(), 1).cache
        return Beginning(ids, cache) if _holds(cache, len(ids)) else Beginning()

    def sample(
        self,
        rows: Sequence[Sequence[int]],
        beginning: Beginning,
        which: Sequence[int],
        draws: Sequence[random.Random],
        limits: Sequence[int],
        temperature: float,
    ) -> list[list[int]]:
        """Sample answer i to ``rows[which[i]]``; each token takes one number of ``draws[i]``."""
        import torch

        # The token that ends an answer is included.
        with torch.inference_mode():
            reading = self._read(rows, beginning, 1)
            _select(reading, torch.tensor(which, device=self.model.device))
            answers: list[list[int]] = [[] for _ in which]
            # A row of the batch to its answer; -1 once it has ended.
            active = list(range(len(which)))
            while True:
                uniform = [draws[i].random() if i >= 0 else 0.0 for i in active]
                ids = _choose(reading.logits[:, -1], temperature, uniform)
                for row, (i, token) in enumerate(zip(active, ids.tolist(), strict=True)):
                    if i >= 0:
                        answers[i].append(token)
                        if token in self.stops or len(answers[i]) == limits[i]:
                            active[row] = -1
                living = [row for row, i in enumerate(active) if i >= 0]
                if not living:
                    return answers
                if len(active) - len(living) >= _IDLE * len(active):
                    index = torch.tensor(living, device=ids.device)
                    _select(reading, index)
                    ids = ids[index]
                    active = [active[row] for row in living]
                reading = self._next(ids, reading)

    def log_probabilities(
        self, endings: Sequence[Ending], beginning: Beginning
    ) -> list[list[float]]:
        """Log-probability of answers: one list per ending, one number per last token."""
        import torch

        with torch.inference_mode():
            found = []
            rows = self._logits(endings, beginning)
            for ending, logits in zip(endings, rows, strict=True):
                tokens = torch.tensor(
                    [[*ending.start, last] for last in ending.last], device=logits.device
                )
                logs = logits.float().log_softmax(-1).expand(len(tokens), -1, -1)
                found.append(logs.gather(2, tokens[:, :, None]).sum((1, 2)).tolist())
            return found

    def _logits(self, endings: Sequence[Ending], beginning: Beginning) -> list[Tensor]:
        """Logits of the tokens of each ending, of shape (tokens, vocabulary)."""
        keep = max(len(ending.start) for ending in endings) + 1
        logits = self._read([ending.read for ending in endings], beginning, keep).logits
        return [logits[row, -len(ending.start) - 1 :] for row, ending in enumerate(endings)]

    def _next(self, ids: Tensor, reading: BatchState) -> BatchState:
        """Read one more token of every row."""
        import torch

        mask = torch.nn.functional.pad(reading.mask, (0, 1), value=1)
        return self._forward(ids[:, None], mask, reading.cache, 1)

    def _read(self, rows: Sequence[Sequence[int]], beginning: Beginning, keep: int) -> BatchState:
        """Read the rest of the rows after the shared beginning, padded on the left."""
        import torch

        skip = len(beginning.ids)
        width = max(map(len, rows)) - skip
        device = self.model.device
        # Padding goes before all of a row, its shared beginning included, since models that count
        # positions by place or attend to a window must not see a gap between tokens. A shorter
        # row reads the end of the beginning again instead.
        gaps = [skip + width - len(row) for row in rows]
        ids = [[0] * (width - len(row)) + list(row[-width:]) for row in rows]
        known = [[0] * gap + [1] * len(row) for gap, row in zip(gaps, rows, strict=True)]
        cache = copy.deepcopy(beginning.cache)
        if cache is not None:
            _move(cache, gaps)
        return self._forward(
            torch.tensor(ids, device=device), torch.tensor(known, device=device), cache, keep
        )

    def _forward(self, ids: Tensor, mask: Tensor, cache: Any, keep: int) -> BatchState:
        more: dict[str, Any] = {}
        if "position_ids" in self._accepts:
            more["position_ids"] = (mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        if "logits_to_keep" in self._accepts:
            more["logits_to_keep"] = keep
        out = self.model(
            input_ids=ids, attention_mask=mask, past_key_values=cache, use_cache=True, **more
        )
        held = getattr(out, "past_key_values", None)
        if held is None:
            raise ModelError(
                f"a {type(self.model).__name__} keeps no keys and values of what it has read, so "
                "its answers cannot be sampled in batches; choose a transformer that generates "
                "text, or ask this model through python:MODULE:FUNCTION"
            )
        return BatchState(held, out.logits[:, -keep:], mask)


@dataclass(frozen=True, slots=True)
class EncoderDecoder(Decoder):
    """A :class:`Decoder` whose prompts are read by an encoder."""

    shares_context: ClassVar[bool] = False

    def begin(self, rows: Sequence[tuple[int, ...]], keep: int = 1) -> Beginning:
        """Return an empty beginning: an encoder reads every token with the whole text."""
        return Beginning()

    def _logits(self, endings: Sequence[Ending], beginning: Beginning) -> list[Tensor]:
        """Logits of the tokens of each ending, of shape (tokens, vocabulary)."""
        import torch

        encoded, mask = self._encoded([ending.prompt for ending in endings])
        width = max(len(ending.start) for ending in endings)
        first = self._first
        # Padding follows all tokens whose logits are used.
        rows = [
            [*first, *ending.start, *first[:1] * (width - len(ending.start))] for ending in endings
        ]
        ids = torch.tensor(rows, device=self.model.device)
        out = self.model(encoder_outputs=encoded, attention_mask=mask, decoder_input_ids=ids)
        begin = len(first) - 1
        return [
            out.logits[row, begin : begin + len(ending.start) + 1]
            for row, ending in enumerate(endings)
        ]

    def _read(self, rows: Sequence[Sequence[int]], beginning: Beginning, keep: int) -> BatchState:
        """Encode the rows, and read the first tokens of every answer."""
        import torch

        encoded, mask = self._encoded(rows)
        start = torch.tensor([self._first] * len(rows), device=self.model.device)
        return self._written(start, BatchState(None, start, mask, encoded))

    def _next(self, ids: Tensor, reading: BatchState) -> BatchState:
        return self._written(ids[:, None], reading)

    def _written(self, ids: Tensor, reading: BatchState) -> BatchState:
        out = self.model(
            encoder_outputs=reading.encoded,
            attention_mask=reading.mask,
            decoder_input_ids=ids,
            past_key_values=reading.cache,
            use_cache=True,
        )
        return BatchState(out.past_key_values, out.logits[:, -1:], reading.mask, reading.encoded)

    def _encoded(self, rows: Sequence[Sequence[int]]) -> tuple[Any, Tensor]:
        import torch

        width = max(map(len, rows))
        device = self.model.device
        ids = torch.tensor([[*row, *[0] * (width - len(row))] for row in rows], device=device)
        known = [[1] * len(row) + [0] * (width - len(row)) for row in rows]
        mask = torch.tensor(known, device=device)
        return self.model.get_encoder()(input_ids=ids, attention_mask=mask), mask

    @property
    def _first(self) -> list[int]:
        """First tokens of every answer; some models force a second one, such as a language."""
        written, model = self.model.generation_config, self.model.config
        given = (
            getattr(written, "decoder_start_token_id", None),
            getattr(model, "decoder_start_token_id", None),
            getattr(written, "bos_token_id", None),
        )
        start = next((token for token in given if token is not None), None)
        if start is None:
            raise ModelError(
                "the configuration of the model lacks the token that starts an answer; set "
                "decoder_start_token_id in its generation_config.json"
            )
        forced = getattr(written, "forced_bos_token_id", None)
        first = start[0] if isinstance(start, list) else start
        return [int(first)] if forced is None else [int(first), int(forced)]


def _holds(cache: Any, tokens: int) -> bool:
    """Whether every layer still has the keys and values of all tokens that were read."""
    layers = getattr(cache, "layers", ())
    held = [getattr(layer, "keys", None) for layer in layers]
    return bool(held) and all(keys is not None and keys.shape[-2] == tokens for keys in held)


def _move(cache: Any, gaps: Sequence[int]) -> None:
    """Copy the only row of a cache once per gap, shifted to the right by the gap."""
    for layer in cache.layers:
        for name in ("keys", "values"):
            held = getattr(layer, name)[0]
            moved = held.new_zeros((len(gaps), *held.shape))
            for row, gap in zip(moved, gaps, strict=True):
                row[:, gap:] = held[:, : max(held.shape[1] - gap, 0)]
            setattr(layer, name, moved)


def _select(reading: BatchState, index: Tensor) -> None:
    reading.cache.reorder_cache(index)
    reading.logits = reading.logits[index]
    reading.mask = reading.mask[index]
    if reading.encoded is not None:
        reading.encoded.last_hidden_state = reading.encoded.last_hidden_state[index]


def _choose(logits: Tensor, temperature: float, uniform: list[float]) -> Tensor:
    """Invert the cumulative distribution of each row at its number in [0, 1)."""
    import torch

    if temperature == 0.0:
        return logits.argmax(-1)
    logits = logits.float()
    if temperature != 1.0:
        # Shifted before the division, which would overflow at a tiny temperature.
        logits = (logits - logits.amax(-1, keepdim=True)) / temperature
    # Only the sums over a large vocabulary need double precision.
    weights = logits.softmax(-1).cumsum(-1, dtype=torch.float64)
    if bool(weights[:, -1].isnan().any()):
        raise ValueError("the model's logits are not numbers; load it in a wider precision")
    at = torch.tensor(uniform, dtype=torch.float64, device=logits.device)[:, None]
    found = torch.searchsorted(weights, at * weights[:, -1:], right=True)
    return found[:, 0].clamp(max=logits.shape[-1] - 1)
