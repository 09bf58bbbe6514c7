"""Model specifications such as ``builtin:ngram?gender_skew=0.8``, and the table of their schemes.

A new kind of model is one module in ``backends/`` with a function ``load(spec)`` that returns a
backend, and one row of :data:`SCHEMES`. Standard library only: the plugin checks
``--llmfair-model`` with this module before any test runs. PYTEST_DONT_REWRITE.
"""

from __future__ import annotations

import difflib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl

from pytest_llmfair.session import current_session

_COMMON = ("temperature", "max_tokens")
_SERVER = (*_COMMON, "system", "system_file", "answers", "concurrency", "rpm", "tpm", "tools")


@dataclass(frozen=True, slots=True)
class Scheme:
    """One kind of model."""

    # How it is written, as error messages and the docs show it.
    form: str
    # Module in ``clients/backends`` whose function ``load(spec)`` makes the backend.
    module: str
    help: str
    options: tuple[str, ...] = _COMMON
    # Extra of the package that it needs; for servers also the name of the SDK.
    extra: str | None = None
    # Loading is costly or runs the user's code: skipped where answers are replayed or planned.
    runs_here: bool = False

    @property
    def is_server(self) -> bool:
        """Whether a server answers, which may charge for it."""
        return "rpm" in self.options


# A key with a colon is one model of a scheme that has others too.
SCHEMES: dict[str, Scheme] = {
    "builtin": Scheme(
        "builtin:ngram",
        "ngram.model",
        "the small model that ships with the plugin",
        (*_COMMON, "gender_skew", "sentiment_skew"),
    ),
    "builtin:smollm2": Scheme(
        "builtin:smollm2",
        "smollm2",
        "SmolLM2-135M-Instruct, a chat model of 2025 that runs on a CPU, offline",
        (*_COMMON, "device", "dtype", "batch_size"),
        extra="demo",
        runs_here=True,
    ),
    "hf": Scheme(
        "hf:PATH_OR_ID",
        "huggingface",
        "transformers, decoder-only or encoder-decoder, in batches; a sample does not depend on "
        "its batch; or a classifier in a folder, for the suites `classifier` and `entities`",
        (*_COMMON, "device", "dtype", "batch_size", "trust_remote_code", "labels"),
        extra="hf",
        runs_here=True,
    ),
    "vllm": Scheme(
        "vllm:PATH_OR_ID",
        "vllm",
        "vLLM in this process, for GPUs; texts only",
        (*_COMMON, "dtype", "tensor_parallel", "gpu_memory"),
        extra="vllm",
        runs_here=True,
    ),
    "openai": Scheme(
        "openai:MODEL",
        "openai",
        "any OpenAI-compatible server: vLLM, llama.cpp, Ollama, TGI, OpenAI; `OPENAI_BASE_URL`, "
        "`OPENAI_API_KEY`",
        (*_SERVER, "seed", "top_logprobs"),
        extra="openai",
    ),
    "anthropic": Scheme(
        "anthropic:MODEL",
        "anthropic",
        "Anthropic; `ANTHROPIC_API_KEY`",
        _SERVER,
        extra="anthropic",
    ),
    "litellm": Scheme(
        "litellm:MODEL",
        "litellm",
        "any provider that LiteLLM knows, with the keys that it expects: `litellm:bedrock/MODEL`",
        (*_SERVER, "seed"),
        extra="litellm",
    ),
    "python": Scheme(
        "python:package.module:callable",
        "python",
        "your function of a prompt or of messages, sync or async; also `ModelClient.of(function)` "
        "and LangChain runnables",
        (*_COMMON, "files", "messages", "system_file", "answers"),
        runs_here=True,
    ),
    "responses": Scheme(
        "responses:FILE",
        "recorded",
        "answers that already exist: JSONL, CSV or Parquet with `prompt` and `answer`; or a "
        "folder of Parquet files, such as an audit",
        (),
    ),
}
*_FIRST, _LAST = (scheme.form for scheme in SCHEMES.values())
# How models are written, for messages and the help of --llmfair-model.
FORMS = f"{', '.join(_FIRST)} or {_LAST}"
# Endings of option names that suggest a key; their values are never shown.
_SECRETS = ("key", "secret", "password")
_SECRET = re.compile(rf"([?&]\w*(?:{'|'.join(_SECRETS)})=)[^&]+", re.IGNORECASE)


class ModelSpecError(ValueError):
    """A model specification from which no model can be loaded."""


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A specification, taken apart; `text` lacks the values of options that look like keys."""

    text: str
    scheme: str
    target: str
    options: dict[str, str] = field(default_factory=dict)

    @property
    def kind(self) -> Scheme:
        """Row of :data:`SCHEMES`."""
        return SCHEMES.get(f"{self.scheme}:{self.target}") or SCHEMES[self.scheme]

    @classmethod
    def parse(cls, text: str) -> ModelSpec:
        """Take a specification apart; raise :class:`ModelSpecError` if it is malformed."""
        if not isinstance(text, str):
            raise ModelSpecError(
                f"a model specification is a text such as {FORMS}, not {type(text).__name__}; "
                "for a function use ModelClient.of(function)"
            )
        body, _, query = text.strip().partition("?")
        text, query = (_SECRET.sub(r"\1...", part) for part in (text, "?" + query))
        query = query[1:]
        scheme, colon, target = body.partition(":")
        if not colon or scheme not in SCHEMES:
            fault = f"unknown scheme {scheme!r}" if colon else "no scheme"
            hint = suggestion(scheme if colon else body, SCHEMES)
            write = f"{hint} Write" if hint else "; write"
            raise ModelSpecError(f"model {text!r}: {fault}{write} {FORMS}")
        if not target:
            raise ModelSpecError(f"model {text!r}: nothing after {scheme!r}; write {FORMS}")
        try:
            pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
        except ValueError:
            raise ModelSpecError(
                f"model {text!r}: cannot read {query!r}; write options as ?name=value&name=value"
            ) from None
        options = dict(pairs)
        if len(options) < len(pairs):
            raise ModelSpecError(f"model {text!r}: an option is given twice; give each one once")
        return cls(text, scheme, target, options)

    def check_options(self, known: Iterable[str]) -> None:
        """Raise :class:`ModelSpecError` for an option that this kind of model does not have."""
        known = sorted(known)
        for name in self.options:
            if name not in known and name.lower().endswith(_SECRETS):
                raise ModelSpecError(
                    f"model '{self.scheme}:{self.target}' has the option {name!r}; a "
                    "specification is shown in reports, so set keys in the environment only"
                )
            if name not in known:
                raise ModelSpecError(
                    f"model {self.text!r}: {self.scheme} models have no option {name!r}; "
                    f"the options are {', '.join(known)}{suggestion(name, known)}"
                )

    def flag(self, name: str) -> bool:
        """Return an option that must be on or off, and is on by default."""
        text = self.options.get(name, "on")
        if text not in ("on", "off"):
            raise self._refused(name, "write on or off")
        return text == "on"

    def number(self, name: str, default: float, *, low: float, high: float = math.inf) -> float:
        """Return a numeric option that must lie in [low, high]."""
        text = self.options.get(name)
        try:
            value = default if text is None else float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high or math.isinf(value):
            limits = f"at least {low:g}" if math.isinf(high) else f"from {low:g} to {high:g}"
            raise self._refused(name, f"give a number {limits}")
        return value

    def choice(self, name: str, legal: Sequence[str]) -> str | None:
        """Return an option that must be one of a few words; None when it is not given."""
        text = self.options.get(name)
        if text is not None and text not in legal:
            raise self._refused(name, f"choose {', '.join(legal)}")
        return text

    def count(self, name: str, default: int) -> int:
        """Return an option that must be a whole number of at least 1."""
        text = self.options.get(name)
        if text is None:
            return default
        if not (text.isascii() and text.isdigit() and int(text) >= 1):
            raise self._refused(name, "give a whole number of at least 1")
        return int(text)

    @property
    def system(self) -> str:
        """The system prompt: a text, or that of a file."""
        if "system" in self.options and "system_file" in self.options:
            raise self._refused("system", "give it or system_file, not both")
        return self.options.get("system", "") or self.file("system_file").strip()

    def file(self, name: str) -> str:
        """Return the text of the file that an option names, relative to the root of the tests."""
        if name not in self.options:
            return ""
        session = current_session()
        path = ((session and session.root) or Path.cwd()) / self.options[name]
        try:
            return path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "no UTF-8 text"
            raise self._refused(name, f"{path} cannot be read ({why}); name a file") from None

    def _refused(self, name: str, remedy: str) -> ModelSpecError:
        given = self.options.get(name)
        return ModelSpecError(f"model {self.text!r}: {name} is {given!r}; {remedy}")


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return a closing hint such as ``'; did you mean "hf"?'``, empty when nothing is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f'; did you mean "{near[0]}"?' if near else ""


# What a model reads and gives classes for: a text, the words of a text, or either, as a function
# of the user does. A language model has no classes.
Classifies = Literal["texts", "words", "either"]


@dataclass(frozen=True, slots=True)
class Labels:
    """Names that the user gives to labels of a model: class of the question to label."""

    # Empty where labels are called as the classes, in any case.
    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: ModelSpec) -> Labels:
        """Read the option `labels`, such as ``labels=positive:LABEL_1,negative:LABEL_0``."""
        text = spec.options.get("labels")
        if text is None:
            return cls()
        pairs = [part.partition(":") for part in text.split(",")]
        given = {one.strip(): label.strip() for one, _, label in pairs}
        if len(given) < len(pairs) or not all([*given, *given.values()]):
            raise ModelSpecError(
                f"model {spec.text!r}: labels is {text!r}; write CLASS:LABEL, with commas "
                "between, each class once, such as labels=positive:LABEL_1,negative:LABEL_0"
            )
        return cls(given)

    def read(
        self, row: Mapping[str, float], classes: Sequence[str], model: str, remedy: str
    ) -> list[float]:
        """Return the probability of each class from those of all labels."""
        folded = {str(label).casefold(): value for label, value in row.items()}
        wanted = [self.given.get(each, each).casefold() for each in classes]
        if any(label not in folded for label in wanted):
            shown = ", ".join(map(str, row)) or "nothing"
            raise ValueError(
                f"{model} has the labels {shown}, and is asked for the classes "
                f"{', '.join(classes)}; {remedy}"
            )
        return [folded[label] for label in wanted]

    def class_of(self, label: str) -> str:
        """Return the class of a label; the label itself where the user gave no name."""
        return next((one for one, known in self.given.items() if known == label), label)


def classifies(spec: ModelSpec) -> Classifies | None:
    """Return the kind of input that a model classifies; None for a language model."""
    if spec.scheme == "python":
        return "either"
    if spec.scheme != "hf":
        return None
    config = Path(spec.target).expanduser() / "config.json"
    made_for: Any = []
    if config.is_file():
        try:
            made_for = json.loads(config.read_text(encoding="utf-8")).get("architectures") or []
        except (ValueError, AttributeError):
            return None
    if any(str(name).endswith("ForTokenClassification") for name in made_for):
        return "words"
    if any(str(name).endswith("ForSequenceClassification") for name in made_for):
        return "texts"
    # Where the folder is not on this machine the option `labels` stands for a classifier.
    return "either" if "labels" in spec.options and not config.is_file() else None


def name_of(spec: ModelSpec) -> str:
    """Return the name of a model by which its answers are found, with what changes them."""
    known = ("labels", "files", "messages", "system_file", "answers")
    own = [f"{key}={spec.options[key]}" for key in known if key in spec.options]
    return f"{spec.scheme}:{spec.target}" + (f"?{'&'.join(own)}" if own else "")
