"""The manifest of a folder: the digest of every file, and of the manifest itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MANIFEST = "MANIFEST.json"


def manifest_text(folder: Path, about: Mapping[str, Any]) -> str:
    """Return the manifest of all files of a folder as JSON text, with the facts in `about`."""
    listed = {name: _entry(folder / name) for name in _files(folder)}
    content = {**about, "files": listed}
    return _text({**content, "sha256": _digest(_text(content).encode())})


def changes(folder: Path) -> Iterator[str]:
    """Yield one message per file that is not as the manifest, or its own digest, lists it."""
    raw = (folder / MANIFEST).read_bytes()
    try:
        content = json.loads(raw)
        own = content.pop("sha256")
        listed = dict(content["files"])
        whole = _digest(_text(content).encode()) == own
        as_written = _text({**content, "sha256": own}).encode() == raw
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
        yield f"{MANIFEST} was changed: it is no manifest any more"
        return
    if not (whole and as_written):
        yield f"{MANIFEST} was changed: its content does not match its own digest"
        return
    present = set(_files(folder))
    for name, entry in listed.items():
        if name not in present:
            yield f"{name} is missing"
        elif _entry(folder / name) != entry:
            yield f"{name} was changed: its digest is not the one in {MANIFEST}"
    for name in sorted(present - set(listed)):
        yield f"{name} is not in {MANIFEST}: it was added later"


def _files(folder: Path) -> list[str]:
    found = (path for path in folder.rglob("*") if path.is_file())
    names = sorted(path.relative_to(folder).as_posix() for path in found)
    return [name for name in names if name != MANIFEST]


def _entry(file: Path) -> dict[str, Any]:
    held = file.read_bytes()
    return {"sha256": _digest(held), "bytes": len(held)}


def manifest_digest(folder: Path) -> str:
    """Return the SHA-256 of the manifest, which stands for all files that it lists."""
    return _digest((folder / MANIFEST).read_bytes())


def _digest(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()


def _text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True, allow_nan=False) + "\n"
