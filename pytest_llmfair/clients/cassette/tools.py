"""What `llmfair cassette` does: statistics, verifying, pruning, compacting and merging."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from pytest_llmfair.clients.cassette.locks import locked
from pytest_llmfair.clients.cassette.record import (
    DamagedRecord,
    Record,
    ScoreRecord,
    key_of,
    read_record,
)
from pytest_llmfair.responses import Missing


@dataclass(frozen=True, slots=True)
class CassetteLine:
    """A line of a cassette, numbered from 1; without a record, `damage` says why."""

    number: int
    data: bytes
    record: Record | ScoreRecord | None
    damage: str = ""


@dataclass(frozen=True, slots=True)
class Pruning:
    """Conditions that each remove a record; `model` is written ``openai:gpt-4o`` or ``gpt-4o``."""

    older_than: int | None = None
    model: str | None = None
    revision: str | None = None
    # Keys that stay; all others go.
    used: frozenset[str] | None = None

    def takes(self, record: Record | ScoreRecord, today: date) -> bool:
        """Whether a record is removed."""
        old = self.older_than is not None and (today - record.day).days > self.older_than
        if isinstance(record, ScoreRecord):
            # A score belongs to a text, which other models may have answered too.
            return old
        model = record.question.model
        names = (model.get("model"), f"{model.get('provider')}:{model.get('model')}")
        return (
            old
            or (self.model is not None and self.model in names)
            or (self.revision is not None and self.revision == model.get("revision"))
            or (self.used is not None and record.key not in self.used)
        )


def read_lines(path: Path) -> Iterator[CassetteLine]:
    """Yield the lines of a cassette, damaged ones too."""
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            data = raw.rstrip(b"\r\n")
            if not data:
                continue
            try:
                key_of(data)
                record = read_record(data)
            except DamagedRecord as error:
                yield CassetteLine(number, data, None, str(error))
                continue
            why = "its prompt or a parameter was changed after it was recorded"
            altered = isinstance(record, Record) and record.altered
            yield CassetteLine(number, data, record, why if altered else "")


def stats(path: Path) -> str:
    """Describe what a cassette holds."""
    lines = list(read_lines(path))
    damaged = sum(line.record is None for line in lines)
    last = {line.record.key: line.record for line in lines if line.record}
    older = len(lines) - damaged - len(last)
    records = [record for record in last.values() if isinstance(record, Record)]
    scores = Counter(one.scorer for one in last.values() if isinstance(one, ScoreRecord))
    out = [f"{path}: {len(records):,} answers, {path.stat().st_size:,} bytes"]
    models = Counter(_model(record) for record in records)
    out += [f"  {count:>9,}  {name}" for name, count in sorted(models.items())]
    missing = Counter(
        record.reply.answer.reason
        for record in records
        if isinstance(record.reply.answer, Missing) and not record.answer_digest
    )
    out += [f"  {count:>9,}  missing: {reason}" for reason, count in sorted(missing.items())]
    if digests := sum(bool(record.answer_digest) for record in records):
        out.append(f"  {digests:>9,}  as digests, without their texts")
    out += [f"  {count:>9,}  scores of {name}" for name, count in sorted(scores.items())]
    if records:
        prompts = {record.question.request.prompt or record.prompt_digest for record in records}
        days = sorted(record.day for record in records)
        tokens = [sum(record.reply.prompt_tokens for record in records)]
        tokens.append(sum(record.reply.answer_tokens for record in records))
        out.append(f"  {len(prompts):>9,}  different prompts")
        out.append(f"  recorded  {days[0]} to {days[-1]}")
        out.append(f"  tokens    {tokens[0]:,} of prompts, {tokens[1]:,} of answers, as counted")
    if older:
        out.append(f"  {older:,} older answers to the same questions; prune removes them")
    if damaged:
        out.append(f"  {damaged:,} damaged lines; verify names them")
    return "\n".join(out)


def verify(path: Path) -> list[str]:
    """Return one message per damaged line, which begins with file and line."""
    return [f"{path}:{line.number}: {line.damage}" for line in read_lines(path) if line.damage]


def prune(path: Path, pruning: Pruning, *, dry_run: bool = False) -> str:
    """Remove records, damaged lines and superseded answers; return what was removed."""
    today = datetime.now(UTC).date()
    counts: Counter[str] = Counter()

    def chosen(lines: list[CassetteLine]) -> Iterator[bytes]:
        last = {line.record.key: line.number for line in lines if line.record}
        for line in lines:
            if line.record is None:
                counts["damaged lines"] += 1
            elif last[line.record.key] != line.number:
                counts["older answers to the same questions"] += 1
            elif pruning.takes(line.record, today):
                counts["answers"] += 1
            else:
                counts["kept"] += 1
                yield line.data

    _rewrite(path, chosen, dry_run=dry_run)
    kept = counts.pop("kept", 0)
    gone = ", ".join(f"{n:,} {what}" for what, n in sorted(counts.items())) or "nothing"
    return f"{path}: {gone} {'would be ' if dry_run else ''}removed, {kept:,} answers kept"


def compact(path: Path) -> None:
    """Replace the first answer to every question by the last one, and remove the others."""

    def chosen(lines: list[CassetteLine]) -> Iterator[bytes]:
        last = {line.record.key: line.data for line in lines if line.record}
        for line in lines:
            if line.record is None:
                yield line.data
            elif line.record.key in last:
                yield last.pop(line.record.key)

    _rewrite(path, chosen)


def merge(target: Path, sources: Sequence[Path]) -> tuple[str, list[str]]:
    """Write several cassettes into a new one; return what was written, or else the problems."""
    if target.exists():
        return "", [f"{target} exists; name a new file"]
    found: dict[str, _Place] = {}
    problems = []
    for source in sources:
        own: dict[str, _Place] = {}
        for line in read_lines(source):
            where = f"{source}:{line.number}"
            if line.damage or line.record is None:
                problems.append(f"{where}: {line.damage}")
                continue
            # Within a file the last answer counts.
            own[line.record.key] = (line.record, where, line.data)
        for key, place in own.items():
            if key not in found or _says_more(place[0], found[key][0]):
                found[key] = place
            elif _conflict(place[0], found[key][0]):
                problems.append(
                    f"{place[1]}: another answer than {found[key][1]} to the same question "
                    f"({_asked(place[0])})"
                )
    if problems:
        return "", problems
    _write(target, (data for _, _, data in found.values()))
    return f"{target}: {len(found):,} answers of {len(sources)} files", []


# A record, where it is, and its line.
_Place = tuple[Record | ScoreRecord, str, bytes]


def _says_more(new: Record | ScoreRecord, old: Record | ScoreRecord) -> bool:
    """Whether a record replaces another one without contradicting it."""
    if not isinstance(new, Record) or not isinstance(old, Record) or new.transient:
        return False
    # An answer replaces a passing failure, and a text its digest.
    return old.transient or (bool(old.answer_digest) and new.outcome == old.outcome)


def _conflict(new: Record | ScoreRecord, old: Record | ScoreRecord) -> bool:
    if isinstance(new, Record) and isinstance(old, Record):
        return not new.transient and new.outcome != old.outcome
    return new != old and isinstance(new, ScoreRecord) and new.score != getattr(old, "score", None)


def _model(record: Record) -> str:
    model = dict(record.question.model)
    provider, name = model.pop("provider", ""), model.pop("model", "")
    more = ", ".join(f"{key} {value[:40]}" for key, value in model.items() if value)
    return f"{provider}:{name}".lstrip(":") + (f" ({more})" if more else "")


def _asked(record: Record | ScoreRecord) -> str:
    if isinstance(record, ScoreRecord):
        return f"score of {record.scorer}, text digest {record.digest}"
    prompt = record.question.request.prompt
    shown = ascii(prompt[:60]) if prompt else f"prompt digest {record.prompt_digest}"
    return f"{shown}, sample {record.question.request.repeat}"


def _rewrite(
    path: Path, chosen: Callable[[list[CassetteLine]], Iterable[bytes]], *, dry_run: bool = False
) -> None:
    """Replace a cassette under its lock; readers find the old or the new one."""
    handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        with locked(handle):
            lines = list(read_lines(path))
            data = list(chosen(lines))
            if not dry_run and data != [line.data for line in lines]:
                _write(path, data)
    finally:
        os.close(handle)


def _write(path: Path, lines: Iterable[bytes]) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(line + b"\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        # A new file stays as `mkstemp` makes it, for its owner only.
        if path.exists():
            Path(name).chmod(path.stat().st_mode & 0o777)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
