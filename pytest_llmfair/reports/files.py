"""Writes reports to files; a file is replaced only when its new version is complete."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import tempfile
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.version import __version__
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.json import json_text

if TYPE_CHECKING:
    from pytest_llmfair.settings import Settings

# Packages whose versions can change the numbers of a run.
_PACKAGES = ("numpy", "scipy", "rapidfuzz", "vaderSentiment", "torch", "transformers", "detoxify")


def write_reports(records: Sequence[Mapping[str, Any]], settings: Settings) -> list[str]:
    """Write the reports that the settings ask for; return one message per failed report."""
    errors = []
    writers: tuple[tuple[str, str | None, Callable[[Path], None]], ...] = (
        ("results are", settings.json, lambda at: write_text(at, json_text(records, settings))),
        ("page is", settings.html, lambda at: write_text(at, html_page(records, settings))),
        ("evidence is", settings.evidence, lambda at: _write_evidence(at, records, settings)),
    )
    for what, path, write in writers:
        if path is None:
            continue
        try:
            write(Path(path))
        except OSError as error:
            errors.append(f"the {what} not written: {error}")
    return errors


def write_text(target: Path, text: str) -> None:
    """Write a file atomically."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        # Reports escape lone surrogates; one that was missed must not lose the whole report.
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        # Temporary files are private; give the report the usual permissions.
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _write_evidence(
    folder: Path, records: Sequence[Mapping[str, Any]], settings: Settings
) -> None:
    """Write the results, the page, and a manifest with the digests of both."""
    folder.mkdir(exist_ok=True)
    files = {"run.json": json_text(records, settings), "report.html": html_page(records, settings)}
    for name, text in files.items():
        write_text(folder / name, text)
    manifest = {
        "pytest_llmfair": __version__,
        "python": platform.python_version(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
        "files": {
            name: {
                "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
                "bytes": (folder / name).stat().st_size,
            }
            for name in files
        },
    }
    write_text(folder / "manifest.json", json.dumps(manifest, indent=1) + "\n")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
