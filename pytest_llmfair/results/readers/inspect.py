"""Logs of Inspect (inspect_ai): ``.eval``, which is a zip, or JSON."""

from __future__ import annotations

import json
import struct
import sys
import zipfile
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_llmfair._util.validation import install
from pytest_llmfair.responses import Missing
from pytest_llmfair.results import File, Results, ResultsError, Row, flattened, reader
from pytest_llmfair.results.table import (
    ABSENT,
    Score,
    answer_of,
    label_or_number,
    text_of,
    with_every_score,
)

_ZSTANDARD = 93
# As Inspect itself makes numbers of them.
_GRADES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0, "yes": 1.0, "no": 0.0}


def _knows(file: File) -> bool:
    if file.suffix == ".eval":
        return True
    return file.suffix == ".json" and '"eval"' in file.head and '"task_id"' in file.head


@reader("inspect", ".eval or .json logs of inspect_ai", knows=_knows)
def read(file: File) -> Results:
    """Read the samples of a log; those without an answer count as missing."""
    if zipfile.is_zipfile(file.path):
        header, rows = _from_zip(file)
    elif file.suffix == ".json":
        header, rows = file.document("samples", lambda sample, _: _row(sample))
    else:
        raise ResultsError(f"{file.path} is no zip archive; copy the .eval log again")
    about = header.get("eval") or {}
    for row in rows:
        row.model, row.task = str(about.get("model", "")), str(about.get("task", ""))
        # A retry has the id of the task that it goes on with.
        row.run = str(about.get("task_id", ""))
    status = header.get("status", "started")
    notes = [] if status == "success" else [f"the run ended with status {status!r}"]
    if not rows:
        notes.append("logs of --no-log-samples have none")
    gone = [row.answer for row in rows if isinstance(row.answer, Missing)]
    if gone and len(gone) == len(rows):
        notes.append(f"every sample failed, whatever the status says: {gone[0].detail[:100]}")
    dataset = about.get("dataset") or {}
    ids = [str(each) for each in dataset.get("sample_ids") or ()]
    epochs = int((about.get("config") or {}).get("epochs") or 1)
    _add_absent(rows, ids, epochs)
    total = (header.get("results") or {}).get("total_samples")
    planned = len(ids) * epochs or total or int(dataset.get("samples") or 0) * epochs
    version = str((about.get("packages") or {}).get("inspect_ai", ""))
    return Results("inspect_ai", with_every_score(rows), version, planned or None, tuple(notes))


def _from_zip(file: File) -> tuple[Mapping[str, Any], list[Row]]:
    try:
        with zipfile.ZipFile(file.path) as archive:
            names = set(archive.namelist())
            # A run that was interrupted has no header yet.
            head = next((n for n in ("header.json", "_journal/start.json") if n in names), None)
            if head is None:
                raise ResultsError(f"{file.path} has no header.json; it is no log of Inspect")
            header = json.loads(_member(archive, archive.getinfo(head)))
            # A sample that was written again comes twice; the last one counts.
            last = {each.filename: each for each in archive.infolist()}
            samples = [
                each
                for name, each in last.items()
                if name.startswith("samples/") and name.endswith(".json")
            ]
            read = (json.loads(_member(archive, each)) for each in samples)
            return header, [_row(sample) for sample in file.watched(read, "samples")]
    except (zipfile.BadZipFile, ValueError, struct.error) as error:
        if isinstance(error, ResultsError):
            raise
        raise ResultsError(
            f"{file.path} cannot be read ({error}); copy the .eval log again"
        ) from None


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member; before Python 3.14 `zipfile` refuses those in Zstandard."""
    if member.compress_type != _ZSTANDARD or sys.version_info >= (3, 14):
        return archive.read(member)
    try:
        import zstandard
    except ImportError:
        raise ResultsError(
            f"{archive.filename} is compressed with Zstandard; run: {install('inspect')}, or: "
            "inspect log convert --to json"
        ) from None
    raw = archive.fp
    assert raw is not None
    raw.seek(member.header_offset + 26)
    name, extra = struct.unpack("<HH", raw.read(4))
    raw.seek(name + extra, 1)
    data: bytes = zstandard.ZstdDecompressor().decompress(
        raw.read(member.compress_size), max_output_size=member.file_size
    )
    return data


def _row(sample: Mapping[str, Any]) -> Row:
    sample_id, epoch = str(sample.get("id", "")), int(sample.get("epoch") or 1)
    row = Row(
        f"sample {sample_id}, epoch {epoch}",
        prompt=text_of(sample.get("input")),
        sample=sample_id,
        repeat=epoch - 1,
        fields=dict(flattened(sample.get("metadata") or {}, "metadata")),
    )
    if isinstance(target := sample.get("target"), str) and target:
        row.fields["target"] = target[:200]
    choices = (sample.get("output") or {}).get("choices") or []
    choice = choices[0] if choices else {}
    error = sample.get("error") or (sample.get("output") or {}).get("error")
    if error:
        said = error.get("message", "") if isinstance(error, Mapping) else error
        row.answer = Missing("error", str(said)[:300])
    elif choice:
        said = (choice.get("message") or {}).get("content")
        row.answer = answer_of(said, choice.get("stop_reason"))
    given = sample.get("scores")
    if given is None and sample.get("score"):
        given = {"score": sample["score"]}
    for name, score in (given or {}).items():
        value = score.get("value") if isinstance(score, Mapping) else score
        for dotted, each in _values(name, value):
            row.scores[dotted] = None if isinstance(row.answer, Missing) else each
    return row


def _values(name: str, value: Any) -> Iterator[tuple[str, Score]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _values(f"{name}.{key}", each)
    elif isinstance(value, str) and value in _GRADES:
        yield name, _GRADES[value]
    else:
        yield name, label_or_number(value)


def _add_absent(rows: list[Row], ids: list[str], epochs: int) -> None:
    """Add the samples that were to be asked and are not in the log, as missing answers."""
    known = {(row.sample, row.repeat) for row in rows}
    of_sample = {row.sample: row for row in rows}
    for sample in ids if rows else ():
        for epoch in range(epochs):
            if (sample, epoch) not in known:
                twin = of_sample.get(sample, Row(""))
                rows.append(
                    Row(
                        f"sample {sample}, epoch {epoch + 1}",
                        prompt=twin.prompt,
                        answer=Missing(ABSENT, "planned, and not in the log"),
                        sample=sample,
                        repeat=epoch,
                        fields=dict(twin.fields),
                        model=rows[0].model,
                        task=rows[0].task,
                        run=rows[0].run,
                    )
                )
