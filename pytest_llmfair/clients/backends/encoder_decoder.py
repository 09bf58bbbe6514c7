"""Batched decoding of a model that reads with an encoder and writes with a decoder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_llmfair.clients.backends.decoder import Beginning, Decoder, Ending, Reading
from pytest_llmfair.clients.protocol import ModelError

if TYPE_CHECKING:
    from torch import Tensor


@dataclass(frozen=True, slots=True)
class EncoderDecoder(Decoder):
    """A :class:`Decoder` whose prompts are read by an encoder, so that answers start anew."""

    @property
    def shares_context(self) -> bool:
        """Prompt and answer each have a context of their own."""
        return False

    def begin(self, rows: Sequence[tuple[int, ...]], keep: int = 1) -> Beginning:
        """Return nothing: what an encoder holds of a text depends on all of it."""
        return Beginning()

    def log_probabilities(
        self, endings: Sequence[Ending], beginning: Beginning
    ) -> list[list[float]]:
        """Log-probability of the last tokens, and of what comes before them in the answer."""
        import torch

        with torch.inference_mode():
            encoded, mask = self._encoded([ending.prompt for ending in endings])
            width = max(len(ending.start) for ending in endings)
            first = self._first
            ids = torch.tensor(
                [
                    [*first, *ending.start, *first[:1] * (width - len(ending.start))]
                    for ending in endings
                ],
                device=self.model.device,
            )
            # What is padded lies behind all that is read.
            out = self.model(encoder_outputs=encoded, attention_mask=mask, decoder_input_ids=ids)
            logs = out.logits.float().log_softmax(-1)
            found = []
            for row, ending in enumerate(endings):
                place = slice(len(first) - 1, len(first) + len(ending.start))
                tokens = torch.tensor(
                    [[*ending.start, last] for last in ending.last], device=logs.device
                )
                of_row = logs[row, place].expand(len(ending.last), -1, -1)
                found.append(of_row.gather(2, tokens[:, :, None]).sum((1, 2)).tolist())
            return found

    def _read(self, rows: Sequence[Sequence[int]], beginning: Beginning, keep: int) -> Reading:
        """Encode the rows, and read what every answer starts with."""
        import torch

        encoded, mask = self._encoded(rows)
        start = torch.tensor([self._first] * len(rows), device=self.model.device)
        return self._written(start, Reading(None, start, mask, encoded))

    def _next(self, ids: Tensor, reading: Reading) -> Reading:
        return self._written(ids[:, None], reading)

    def _written(self, ids: Tensor, reading: Reading) -> Reading:
        out = self.model(
            encoder_outputs=reading.encoded,
            attention_mask=reading.mask,
            decoder_input_ids=ids,
            past_key_values=reading.cache,
            use_cache=True,
        )
        return Reading(out.past_key_values, out.logits[:, -1:], reading.mask, reading.encoded)

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
        """Tokens that every answer starts with; the second, a language say, is forced by some."""
        written, model = self.model.generation_config, self.model.config
        given = (
            getattr(written, "decoder_start_token_id", None),
            getattr(model, "decoder_start_token_id", None),
            getattr(written, "bos_token_id", None),
        )
        start = next((token for token in given if token is not None), None)
        if start is None:
            raise ModelError(
                "the model does not say what its answers start with; set decoder_start_token_id "
                "in its generation_config.json"
            )
        forced = getattr(written, "forced_bos_token_id", None)
        first = start[0] if isinstance(start, list) else start
        return [int(first)] if forced is None else [int(first), int(forced)]
