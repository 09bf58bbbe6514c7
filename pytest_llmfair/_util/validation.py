"""Checks of arguments, of files that users write, and of packages that must be installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

# As in pyproject.toml. Messages name packages instead of extras, because `pytest-llmfair[hf]` can
# only be installed from PyPI, and the plugin may come from a clone or a wheel.
_HF = ("transformers>=4.44", "torch>=2.4", "safetensors>=0.4")
PACKAGES = {
    "property": ("hypothesis>=6.100",),
    "hf": _HF,
    "demo": (*_HF, "accelerate>=1.0", "gguf>=0.10"),
    "inspect": ("zstandard>=0.22; python_version < '3.14'",),
    "toxicity": ("detoxify>=0.5.2",),
    "embeddings": ("sentence-transformers>=3.0",),
    "openai": ("openai>=1.40",),
    "anthropic": ("anthropic>=0.34",),
    "mlflow": ("mlflow-skinny>=3.2", "sqlalchemy>=2.0", "alembic>=1.13"),
    "litellm": ("litellm",),
    "scale": ("ray>=2.52", "pyarrow>=17"),
    "vllm": ("vllm>=0.11",),
}

# Levels of the deepest file that a run or a user writes, and many more.
_DEEPEST = 64


def number(x: Any, argument: str) -> float:
    """Return a finite number."""
    if isinstance(x, bool) or not isinstance(x, Real) or not fits(x):
        raise ValueError(f"{argument} is {x!r}; give a finite number")
    return float(x)


def fits(x: Any) -> bool:
    """Whether a float can hold a number: it is finite, and no whole number of 400 digits."""
    return bool(abs(x) <= sys.float_info.max)


def share(x: Any, argument: str) -> float:
    """Return a number in [0, 1]."""
    if isinstance(x, bool) or not isinstance(x, Real) or not fits(x) or not 0.0 <= float(x) <= 1.0:
        raise ValueError(f"{argument} is {x!r}; give a number in [0, 1]")
    return float(x)


def whole(x: Any, argument: str, least: int = 1) -> int:
    """Return a whole number of at least `least`."""
    if not _is_whole(x) or x < least:
        raise ValueError(f"{argument} is {x!r}; give a whole number of at least {least}")
    return int(x)


def whole_seed(x: Any) -> int:
    """Return a seed: any whole number."""
    if not _is_whole(x):
        raise ValueError(f"seed is {x!r}; give a whole number")
    return int(x)


def one_sided(level: float) -> float:
    """Return the error rate on each side of a two-sided level; exactly .025 for .95."""
    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; give a number between 0 and 1, such as 0.95")
    return round((1.0 - level) / 2.0, 15)


def check_is_list(rows: object, argument: str = "prompts", of: str = "texts") -> None:
    """Raise ``ValueError`` unless `rows` is a list-like: not one text, a mapping or a table."""
    if isinstance(rows, (str, bytes)):
        raise ValueError(f"{argument} is one text, {rows[:40]!r}; give a list of {of}")
    if not isinstance(rows, Iterable) or isinstance(rows, Mapping):
        raise ValueError(f"{argument} is a {type(rows).__name__}; give a list of {of}")
    if getattr(rows, "ndim", 1) != 1:
        raise ValueError(f"{argument} is a {type(rows).__name__} table; give one column of it")


def _is_whole(x: Any) -> bool:
    return isinstance(x, Integral) and not isinstance(x, bool)


def read_utf8(path: Path) -> str:
    """Return the text of a UTF-8 file without its byte order mark; errors name the file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no file {path}; give the path of one") from None
    except IsADirectoryError:
        raise IsADirectoryError(f"{path} is a folder; give the path of a file in it") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 (byte {error.start}); save it as UTF-8") from None


def read_json(path: Path, remedy: str) -> Any:
    """Return the content of a JSON file; errors name the file and end with the remedy."""
    return json_in(read_utf8(path), str(path), remedy)


def json_in(text: str, source: str, remedy: str) -> Any:
    """Return the content of JSON text, if it is nested no deeper than reports are."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        place = (
            f" (line {error.lineno}: {error.msg})"
            if isinstance(error, json.JSONDecodeError)
            else ""
        )
        raise ValueError(f"{source} is no JSON{place}; {remedy}") from None
    level = [found] if isinstance(found, (dict, list)) else []
    for _ in range(_DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [x for values in inner for x in values if isinstance(x, (dict, list))]
        if not level:
            return found
    raise ValueError(f"{source} is nested deeper than {_DEEPEST} levels; {remedy}")


def install(extra: str) -> str:
    """Return the pip command that installs the packages of an extra."""
    return " ".join(["pip install", *(f'"{package}"' for package in PACKAGES[extra])])
