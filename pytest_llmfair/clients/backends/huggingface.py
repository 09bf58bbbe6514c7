"""Language models of transformers, local or from the hub, sampled in batches.

Every token is drawn from the model's whole distribution (no top-k, no top-p) by inverting the
cumulative distribution at a number of the sample's own generator, so an answer does not depend on
its batch, up to the rounding of the model's arithmetic. A tokenizer with a chat template gets the
prompt as a user's message, any other tokenizer as a text to continue.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pytest_llmfair._util.huggingface import (
    first_line,
    load_tokenizer,
    load_weights,
    looks_local,
    readable,
)
from pytest_llmfair._util.validation import install
from pytest_llmfair.clients.backends.chat import Chat, Talk
from pytest_llmfair.clients.backends.decoding import (
    Beginning,
    Decoder,
    EncoderDecoder,
    Ending,
)
from pytest_llmfair.clients.protocol import Request
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError, classifies, suggestion
from pytest_llmfair.responses import Answer, CutAnswer, Missing

T = TypeVar("T")

# Sampling is faster with many rows, since the weights are read once per step; scoring is one pass
# over long rows, and fastest while they fit into the processor's cache.
_SCORING_ROWS = 8


@dataclass(frozen=True, slots=True)
class HuggingFace:
    """A language model with its tokenizer: decoder-only, or encoder and decoder."""

    decoder: Decoder
    tokenizer: Any
    name: str
    batch_size: int = 128

    @classmethod
    def load(cls, target: str, spec: ModelSpec) -> HuggingFace:
        """Load a folder or a hub id with the options of a specification."""
        device = spec.options.get("device")
        dtype = spec.choice("dtype", ("float32", "bfloat16", "float16"))
        batch_size = spec.count("batch_size", 128)
        trust_remote_code = spec.choice("trust_remote_code", ("true", "false")) == "true"
        name = f"hf:{target}"
        source = _located(target, name)
        try:
            import torch
            from transformers import (
                AutoConfig,
                AutoModelForCausalLM,
                AutoModelForSeq2SeqLM,
                AutoTokenizer,
            )
        except ImportError as error:
            raise ModelSpecError(
                f"model {name!r} needs {error.name or error}; run: {install('hf')}"
            ) from error
        try:
            trust = {"trust_remote_code": trust_remote_code}
            encodes = AutoConfig.from_pretrained(source, **trust).is_encoder_decoder
            tokenizer = load_tokenizer(AutoTokenizer, source, **trust)
            kind = AutoModelForSeq2SeqLM if encodes else AutoModelForCausalLM
            model = load_weights(kind, source, **trust)
        except (OSError, ValueError, KeyError) as error:
            raise ModelSpecError(
                f"model {name!r} cannot be loaded ({first_line(error)}); give a folder written "
                "by save_pretrained (model and tokenizer), or the id of a language model on a "
                "hub that this machine can reach"
            ) from error
        try:
            place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
            if dtype is not None:
                model = model.to(getattr(torch, dtype))
            # On a CPU half precision is no faster, and its rounding makes batches differ.
            elif place.type == "cpu":
                model = model.float()
            model = model.to(place).eval()
        except (RuntimeError, AssertionError) as error:
            raise ModelSpecError(
                f"model {name!r} cannot use device {device!r} ({first_line(error)}); "
                "write device=cpu, or a device of this machine such as device=cuda:0"
            ) from error
        reader = EncoderDecoder if encodes else Decoder
        return cls(reader(model, _stops(model, tokenizer)), tokenizer, name, batch_size)

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        model = self.decoder.model
        return f"{model.config.model_type} with {model.num_parameters():,} parameters"

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Answer the turns of all prompts, the first ones together, then the second."""
        talks = [Talk(Chat(), request.prompt) for request in requests]
        for turn in itertools.count():
            asked = [
                (talk, self._framed(messages), request.seed + turn if temperature > 0.0 else 0)
                for talk, request in zip(talks, requests, strict=True)
                if (messages := talk.next()) is not None
            ]
            if not asked:
                break
            answers = self._sampled([each[1:] for each in asked], temperature, max_tokens)
            for (talk, _, _), answer in zip(asked, answers, strict=True):
                talk.take(answer)
        return [talk.judged for talk in talks]

    @property
    def takes_turns(self) -> bool:
        """Whether a prompt may be a conversation."""
        return bool(self.tokenizer.chat_template)

    def _sampled(
        self, wanted: Sequence[tuple[str, int]], temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Sample by framed prompt and seed in batches, each distinct prompt read once in one."""
        distinct = list(dict.fromkeys(prompt for prompt, _ in wanted))
        ids = dict(zip(distinct, self._ids(distinct), strict=True))
        answers: dict[tuple[str, int], Answer] = {
            key: Missing("error", why)
            for key in wanted
            if (why := self._why_unreadable(ids[key[0]]))
        }
        rest = [key for key in dict.fromkeys(wanted) if key not in answers]
        # Prompts of similar length go together, which needs little padding.
        rest.sort(key=lambda key: (len(ids[key[0]]), key[0]))
        beginning = self.decoder.begin(list({key[0]: ids[key[0]] for key in rest}.values()))
        for batch in _batches(rest, self.batch_size):
            prompts = list(dict.fromkeys(prompt for prompt, _ in batch))
            limits = [min(max_tokens, self._room(ids[prompt])) for prompt, _ in batch]
            sampled = self.decoder.sample(
                [ids[prompt] for prompt in prompts],
                beginning,
                [prompts.index(prompt) for prompt, _ in batch],
                [random.Random(seed) for _, seed in batch],
                limits,
                temperature,
            )
            for key, limit, tokens in zip(batch, limits, sampled, strict=True):
                full = len(tokens) == limit and tokens[-1] not in self.decoder.stops
                answers[key] = self._answer(tokens, full, limit == max_tokens)
        return [answers[key] for key in wanted]

    def probabilities(self, prompts: Sequence[str], words: Sequence[str]) -> list[list[float]]:
        """Probability at temperature 1 that the answer to each prompt starts with each word."""
        found = {prompt: [0.0] * len(words) for prompt in prompts}
        # Words of one token share one pass over their prompt; longer words need one each.
        places: dict[tuple[tuple[int, ...], tuple[int, ...]], list[tuple[str, int, int]]] = {}
        for prompt in found:
            before, continuations = self._continued(prompt, words)
            for i, ids in enumerate(continuations):
                if why := self._why_unreadable(before, len(ids) - 1):
                    raise ValueError(f"prompt {prompt[:80]!r} cannot be scored: {why}")
                places.setdefault((before, ids[:-1]), []).append((prompt, i, ids[-1]))
        endings = [
            Ending(before, start, [last for _, _, last in places[before, start]])
            for before, start in places
        ]
        endings.sort(key=lambda ending: (len(ending.read), ending))
        keep = max(len(ending.start) for ending in endings) + 1
        beginning = self.decoder.begin([ending.read for ending in endings], keep)
        for batch in _batches(endings, min(self.batch_size, _SCORING_ROWS)):
            scores = self.decoder.log_probabilities(batch, beginning)
            for ending, of_row in zip(batch, scores, strict=True):
                asked = places[ending.prompt, ending.start]
                for (prompt, i, _), score in zip(asked, of_row, strict=True):
                    found[prompt][i] = math.exp(score)
        return [found[prompt] for prompt in prompts]

    def log_likelihoods(self, texts: Sequence[str], context: str) -> list[tuple[float, int]]:
        """Logarithm of the probability of each text after a context, and its tokens."""
        if not self.decoder.shares_context:
            raise ValueError(
                f"{self.name} reads a text before it answers, so that a text by itself has no "
                "probability; use a decoder-only model"
            )
        before, *rows = self._plain([context, *(f"{context} {text}".strip() for text in texts)])
        endings = []
        for text, row in zip(texts, rows, strict=True):
            same = zip(before, row[:-1], strict=False)
            # A tokenizer may join the end of the context with the text.
            begin = max(1, sum(1 for _ in itertools.takewhile(lambda two: two[0] == two[1], same)))
            if why := self._why_unreadable(row) if len(row) > begin else "it has no token":
                raise ValueError(f"text {text[:80]!r} cannot be scored: {why}")
            endings.append(Ending(row[:begin], row[begin:-1], [row[-1]]))
        found: dict[int, tuple[float, int]] = {}
        order = sorted(range(len(endings)), key=lambda place: len(endings[place].read))
        for batch in _batches(order, _SCORING_ROWS):
            parts = [endings[place] for place in batch]
            for place, own in zip(
                batch, self.decoder.log_probabilities(parts, Beginning()), strict=True
            ):
                found[place] = own[0], len(endings[place].start) + 1
        return [found[place] for place in range(len(endings))]

    def _plain(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        """Return the ids of texts as they stand, after the token that starts a text if any."""
        starts = [self.tokenizer.bos_token_id, self.tokenizer.eos_token_id]
        first = [start for start in starts if start is not None][:1]
        rows = self.tokenizer([readable(text) for text in texts], add_special_tokens=False)
        return [(*first, *row) for row in rows["input_ids"]]

    def _answer(self, tokens: list[int], full: bool, wished: bool) -> Answer:
        """Return an answer; at the limit it is cut if the user set the limit, else missing."""
        if full and not wished:
            return Missing("length", f"the model holds no more than {self._context} tokens")
        text: str = self.tokenizer.decode(tokens, skip_special_tokens=True).strip()
        if not text:
            return Missing("empty", "the model ended at once")
        return CutAnswer(text) if full else text

    def _framed(self, messages: list[dict[str, str]]) -> str:
        if not self.tokenizer.chat_template:
            return messages[-1]["content"]
        framed: str = self.tokenizer.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        return framed

    def _ids(self, texts: Sequence[str]) -> list[tuple[int, ...]]:
        # A chat template writes the special tokens itself.
        special = not self.tokenizer.chat_template
        given = [readable(text) for text in texts]
        rows = self.tokenizer(given, add_special_tokens=special)["input_ids"]
        # An answer must not follow the token that ends a text.
        end = -1 if special and self._closes else None
        return [tuple(row[:end]) for row in rows]

    @property
    def _closes(self) -> bool:
        """Whether the tokenizer ends every text with a token, which only an encoder needs."""
        if not self.decoder.shares_context:
            return False
        ends = {*self.decoder.stops, self.tokenizer.sep_token_id}
        return not ends.isdisjoint(self.tokenizer("a")["input_ids"][-1:])

    def _continued(
        self, prompt: str, words: Sequence[str]
    ) -> tuple[tuple[int, ...], list[tuple[int, ...]]]:
        """Return the ids of the prompt, and of each word after it."""
        framed = self._framed([{"role": "user", "content": prompt}])
        if framed == prompt and self.decoder.shares_context:
            # Tokenizers put the space before a word into its token.
            framed = prompt.rstrip(" ")
            words = [w if framed[-1].isspace() else " " + w.lstrip(" ") for w in words]
        joined = [framed + word for word in words] if self.decoder.shares_context else []
        before, *rows = self._ids([framed, *joined])
        n = len(before)
        # A word is tokenized alone after an encoder, and if it changes the prompt's last token.
        endings = [row[n:] if row[:n] == before else () for row in rows] or [()] * len(words)
        for i, word in enumerate(words):
            if not endings[i]:
                endings[i] = tuple(
                    self.tokenizer(readable(word), add_special_tokens=False)["input_ids"]
                )
            if not endings[i]:
                raise ValueError(f"the tokenizer of {self.name} has no token for {word!r}")
        return before, endings

    @property
    def _context(self) -> float:
        size = getattr(self.decoder.model.config, "max_position_embeddings", None)
        return math.inf if size is None else int(size)

    def _room(self, ids: Sequence[int]) -> int:
        taken = len(ids) if self.decoder.shares_context else 0
        return int(min(self._context - taken, 2**31))

    def _why_unreadable(self, ids: Sequence[int], more: int = 0) -> str:
        """Say why the model cannot read a prompt and `more` tokens; empty if it can."""
        if not ids:
            return "the tokenizer makes no token of the prompt"
        if self._room(ids) < 1 + more or len(ids) > self._context:
            return f"the prompt has {len(ids)} tokens, the model holds {self._context}"
        return ""


def load(spec: ModelSpec) -> Any:
    """Load ``hf:PATH_OR_ID``: a classifier where the config of the folder says so."""
    if classifies(spec) is not None:
        from pytest_llmfair.clients.backends import classifier

        return classifier.load(spec)
    if "labels" in spec.options:
        raise ModelSpecError(
            f"model {spec.text!r}: labels is for classifiers, and the config of the folder names "
            "none; leave it out"
        )
    return HuggingFace.load(spec.target, spec)


def _located(target: str, name: str) -> str:
    """Return a folder or a hub id; a path that does not exist is not looked up on the hub."""
    path = Path(target).expanduser()
    if path.is_dir():
        return str(path)
    if path.exists() or looks_local(target):
        siblings = sorted(p.name for p in path.parent.iterdir()) if path.parent.is_dir() else []
        raise ModelSpecError(
            f"model {name!r}: there is no folder {str(path)!r}; give a folder written by "
            f"save_pretrained, or a hub id such as hf:openai-community/gpt2"
            + suggestion(path.name, siblings)
        )
    return target


def _stops(model: Any, tokenizer: Any) -> frozenset[int]:
    config = model.generation_config.eos_token_id if model.generation_config else None
    given = config if isinstance(config, list) else [config]
    return frozenset(i for i in (*given, tokenizer.eos_token_id) if i is not None)


def _batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    return (items[i : i + size] for i in range(0, len(items), size))
