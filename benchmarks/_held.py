"""Prompts held back from everybody who changes the rules: their hashes, and how to spend a file.

``pairs/held/*.yaml`` are scored by figures alone. ``pairs/held/hashes.txt`` has a SHA-256 of each
text, so that a test can see that none of them is in the training data or among the prompts of
``pairs/*.yaml``.
"""

from __future__ import annotations

import hashlib
import json
import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import yaml

PAIRS = Path(__file__).with_name("pairs")
HELD = PAIRS / "held"
TRAINING = Path(__file__).with_name("grammar")
_HEAD = "# Held back and unread until spent. At first sight: "


def digest(text: str) -> str:
    """Return the SHA-256 of a text, whatever its case and spacing."""
    return hashlib.sha256(
        " ".join(text.casefold().split()).encode(errors="surrogatepass")
    ).hexdigest()


def digests(folder: Path) -> list[str]:
    """Return the sorted digests of the prompts in a folder."""
    files = [_yaml(path.read_text(encoding="utf-8")) for path in folder.glob("*.yaml")]
    return sorted({digest(case["text"]) for data in files for case in data["cases"]})


def write_hashes(folder: Path) -> None:
    """Write the digests of a folder to its ``hashes.txt``."""
    (folder / "hashes.txt").write_text("".join(f"{line}\n" for line in digests(folder)))


def leaks(hashes: Iterable[str], files: Iterable[Path]) -> list[str]:
    """Return the names of the files that hold a text with one of these digests."""
    held = frozenset(hashes)
    return [path.name for path in files if any(digest(text) in held for text in texts_of(path))]


def texts_of(path: Path) -> Iterator[str]:
    """Yield all strings of a YAML or JSON-lines file, and the lines of other files.

    A file that ends in ``.xz`` is decompressed first.
    """
    data = path.read_bytes()
    name = path.name
    if name.endswith(".xz"):
        data, name = lzma.decompress(data), name.removesuffix(".xz")
    text = data.decode(errors="replace")
    if name.endswith(".yaml"):
        yield from _strings(_yaml(text))
        return
    for line in text.splitlines():
        try:
            yield from _strings(json.loads(line))
        except ValueError:
            yield line


def spend(path: Path, figure: str) -> Path:
    """Move a held file to the spent ones, with its figure at the head; return its new path."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    body = "".join(line for line in lines if not line.startswith("#"))
    target = path.parents[1] / f"held_{path.name}"
    target.write_text(f"{_HEAD}{figure}.\n{body}", encoding="utf-8")
    path.unlink()
    write_hashes(path.parent)
    return target


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def _yaml(text: str) -> Any:
    # The loader written in C is ten times as fast; it refuses some escapes of odd characters.
    try:
        return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return yaml.safe_load(text)
