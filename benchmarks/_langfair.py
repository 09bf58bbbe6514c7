"""LangFair as a peer, in a process and an environment of its own: it pins numpy below 2.

The environment needs no more than three metrics and the generator of counterfactual prompts import
(no torch, no transformers, no langchain), and NLTK's data, which LlamaIndex brings in its wheel:

    python3.11 -m venv langfair-env
    langfair-env/bin/pip install "numpy<2" nltk rich==13.8.0 "sacremoses<0.2"
    langfair-env/bin/pip install --no-deps langfair==0.8.0 llama-index-core
    LLMFAIR_LANGFAIR_PYTHON=langfair-env/bin/python python benchmarks/kernels.py

This file is both sides: imported, it starts the worker; run by that interpreter, it is the worker.
A request is a line of JSON, the answer another with the seconds that LangFair took. The generator
of prompts runs as users have it. For the metrics two things are replaced before LangFair is
imported: the tokeniser runs without sentences, and the stop words are ours. The stereotype
classifier, which loads transformers, is left out, and so is what talks to models (langchain,
tiktoken, attack prompts).
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

VARIABLE = "LLMFAIR_LANGFAIR_PYTHON"
SETUP = (
    'python3.11 -m venv langfair-env && langfair-env/bin/pip install "numpy<2" nltk rich==13.8.0 '
    '"sacremoses<0.2" '
    "&& langfair-env/bin/pip install --no-deps langfair==0.8.0 llama-index-core, then set "
    f"{VARIABLE}=langfair-env/bin/python"
)


class LangFair:
    """The worker, started at the first call.

    Parameters
    ----------
    python : str
        Interpreter of LangFair's environment.
    stop_words : list of str
        What LangFair takes for NLTK's list.
    """

    def __init__(self, python: str, stop_words: list[str]) -> None:
        self._python = python
        self._stop_words = stop_words

    @functools.cached_property
    def _process(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self._python, str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={k: v for k, v in os.environ.items() if not k.startswith("PYTHON")},
        )

    @functools.cached_property
    def versions(self) -> str:
        """LangFair, numpy and NLTK of the worker."""
        return str(self._answer({"stop_words": self._stop_words})["versions"])

    def call(self, name: str, **arguments: Any) -> tuple[float, Any]:
        """Return the seconds that a metric took there, and its result."""
        assert self.versions
        answer = self._answer({"metric": name, "arguments": arguments})
        return float(answer["seconds"]), answer["result"]

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        worker = self._process
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        line = worker.stdout.readline()
        if not line:
            sys.exit(f"LangFair's process ended with {worker.wait()}; to make it anew: {SETUP}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def _cobs(responses: list[str], groups: dict[str, list[str]], targets: list[str]) -> Any:
    metric = importlib.import_module(_MODULES[0]).CooccurrenceBiasMetric(
        demographic_group_word_lists=groups, stereotype_word_list=targets, how="word_level"
    )
    return metric.evaluate(responses, show_progress_bars=False)


def _sa(responses: list[str], groups: dict[str, list[str]], targets: list[str]) -> Any:
    metric = importlib.import_module(_MODULES[1]).StereotypicalAssociations(
        demographic_group_word_lists=groups, stereotype_word_list=targets
    )
    return float(metric.evaluate(responses, show_progress_bars=False))


def _prag(first: list[list[str]], second: list[list[str]]) -> Any:
    measure = importlib.import_module(_MODULES[2]).PRAG().evaluate
    # LangFair takes the smaller of two calls that are one and the same; the paper means this.
    pairs = [min(measure(a, b), measure(b, a)) for a, b in zip(first, second)]  # noqa: B905
    return sum(pairs) / len(pairs)


def _found(texts: list[str], attribute: str | None, words: list[str] | None) -> Any:
    return _generator().parse_texts(texts, attribute=attribute, custom_list=words)


def _prompts(
    texts: list[str], attribute: str | None, words: dict[str, list[str]] | None
) -> dict[str, list[str]]:
    made = _generator().create_prompts(texts, attribute=attribute, custom_dict=words)
    return {key: made[key] for key in made if key.endswith("_prompt")}


@functools.cache
def _generator() -> Any:
    for name in _MODEL_PARTS:
        sys.modules[name] = MagicMock()
    module: Any = importlib.import_module("langfair.generator.counterfactual")
    # As it is installed: the tokeniser that `_patch` gives to the metrics skips sentences.
    module.word_tokenize = _tokenizer()
    return module.CounterfactualGenerator()


@functools.cache
def _tokenizer() -> Callable[..., list[str]]:
    """Return NLTK's tokeniser, as it is before `_patch` replaces it, with its data found."""
    import nltk.data
    import nltk.tokenize

    found = importlib.util.find_spec("llama_index.core")
    if found is None or not found.submodule_search_locations:
        sys.exit("NLTK's data are missing, which the wheel of llama-index-core brings")
    data = Path(found.submodule_search_locations[0]) / "_static" / "nltk_cache"
    nltk.data.path.insert(0, str(data))
    tokenize: Callable[..., list[str]] = nltk.tokenize.word_tokenize
    return tokenize


_MODEL_PARTS = (
    "langchain_core",
    "langchain_core.messages",
    "langchain_core.messages.human",
    "langchain_core.messages.system",
    "tiktoken",
    "langfair.generator.redteaming",
)
_MODULES = (
    "langfair.metrics.stereotype.metrics.cooccurrence",
    "langfair.metrics.stereotype.metrics.associations",
    "langfair.metrics.recommendation.metrics.prag",
)
_METRICS: dict[str, Callable[..., Any]] = {
    "cobs": _cobs,
    "sa": _sa,
    "prag": _prag,
    "found": _found,
    "prompts": _prompts,
}


def _patch(stop_words: list[str]) -> str:
    import nltk.corpus
    import nltk.tokenize

    nltk.tokenize.word_tokenize = functools.partial(_tokenizer(), preserve_line=True)
    nltk.corpus.stopwords = SimpleNamespace(words=lambda language: stop_words)
    left_out = ModuleType("langfair.metrics.stereotype.metrics.classifier")
    left_out.StereotypeClassifier = None  # type: ignore[attr-defined]
    sys.modules[left_out.__name__] = left_out
    for name in _MODULES:
        importlib.import_module(name)
    return ", ".join(f"{name} {version(name)}" for name in ("langfair", "numpy", "nltk"))


def _work() -> None:
    answers = sys.stdout
    sys.stdout = io.StringIO()  # whatever LangFair prints is no answer
    for line in sys.stdin:
        request = json.loads(line)
        if "stop_words" in request:
            answer: dict[str, Any] = {"versions": _patch(request["stop_words"])}
        else:
            if request["metric"] in ("found", "prompts"):
                _generator()
            start = time.perf_counter()
            result = _METRICS[request["metric"]](**request["arguments"])
            answer = {"seconds": time.perf_counter() - start, "result": result}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _work()
