"""Genuine result files, and commands that read them."""

from __future__ import annotations

import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from pytest_llmfair.cli import main

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="session")
def genuine(tmp_path_factory):
    """Return the folder of the genuine files, with the Inspect logs as ``.eval`` too."""
    folder = tmp_path_factory.mktemp("genuine")
    with tarfile.open(DATA / "genuine.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    for path in sorted((folder / "inspect").glob("*.json")):
        log = json.loads(path.read_text(encoding="utf-8"))
        samples = log.pop("samples")
        with zipfile.ZipFile(path.with_suffix(".eval"), "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps(log))
            archive.writestr("summaries.json", "[]")
            for sample in samples:
                name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
                archive.writestr(name, json.dumps(sample))
    return folder


@pytest.fixture
def command(capsys):
    """Return a function that runs a command here: its status, output and errors."""

    def run(*arguments):
        try:
            status = main([str(each) for each in arguments])
        except SystemExit as stopped:
            status = int(stopped.code)
        written = capsys.readouterr()
        return status, written.out, written.err

    return run


@pytest.fixture
def table(tmp_path):
    """Return a function that writes rows to a JSONL file."""

    def write(rows, name="rows.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return str(path)

    return write
