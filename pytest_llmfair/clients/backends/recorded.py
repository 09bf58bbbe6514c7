"""Answers that already exist, in a file or a folder of Parquet files, in place of a model.

Columns are `prompt`, `answer` or `response`, and optionally `repeat`, a whole number, or `sample`;
`reason` and `detail` say why an answer is null. Answer j of a call is the j-th answer to the
prompt, by `repeat` where it is given; a prompt that comes twice in a call continues where it
stopped. `sample`, as in the answers of an audit, names the side of the pair and the sample.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import ClassVar

from pytest_llmfair._util.tables import Row, TableError, rows_of
from pytest_llmfair.clients.protocol import Request
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError
from pytest_llmfair.responses import Answer, CutAnswer, Missing

_ANSWERS = ("answer", "response")
# With fewer prompts equal seeds may be chance.
_MANY_PROMPTS = 10


@dataclass(frozen=True, slots=True)
class RecordedAnswers:
    """A file of prompts and answers, or a folder of such Parquet files, in place of a model."""

    path: Path
    name: str
    # SHA-256 of the file, or of all files.
    digest: str
    answers: Mapping[str, Sequence[Answer]] = field(repr=False)
    # Place of the answer by prompt and sample; empty without the column `sample`.
    places: Mapping[tuple[str, str], int] = field(default_factory=dict, repr=False)
    # Seeds of the sampled answers by prompt; empty without the column `seed`.
    seeds: Mapping[str, frozenset[str]] = field(default_factory=dict, repr=False)

    # A call is answered as a whole, since its prompts use up the answers in order.
    batch_size: ClassVar[int] = 2**62

    @classmethod
    def load(cls, target: str) -> RecordedAnswers:
        """Read ``.jsonl``, ``.csv``, ``.parquet`` or a folder of the last, file by file."""
        name = f"responses:{target}"
        path = Path(target).expanduser()
        try:
            files = _files(path)
            rows = chain.from_iterable(map(rows_of, files))
            seeds: dict[str, set[str]] = {}
            answers, places = _by_prompt(_noting_seeds(rows, seeds), path)
            digests = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
        except TableError as error:
            raise ModelSpecError(f"model {name!r}: {error}") from None
        several = hashlib.sha256(" ".join(digests).encode()).hexdigest()
        known = {prompt: frozenset(each) for prompt, each in seeds.items()}
        return cls(path, name, several if path.is_dir() else digests[0], answers, places, known)

    @property
    def description(self) -> str:
        """What the model is, in one sentence."""
        count = sum(map(len, self.answers.values()))
        return f"{count} recorded answers to {len(self.answers)} prompts of {self.path.name}"

    @property
    def identity(self) -> Mapping[str, str]:
        """Digest of the file."""
        return {"provider": "responses", "model": self.path.name, "revision": self.digest}

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        """Look up the answers; temperature and limit have no effect."""
        prompts = list(dict.fromkeys(request.prompt for request in requests))
        self._check_prompts(prompts)
        if self.places:
            return [self._sample(request) for request in requests]
        asked = Counter(request.prompt for request in requests)
        for prompt in prompts:
            if asked[prompt] > len(self.answers[prompt]):
                raise ValueError(
                    f"{self.path} has {len(self.answers[prompt])} answers to {prompt[:80]!r}, and "
                    f"{asked[prompt]} are asked for; ask for fewer repeats, or add answers"
                )
        places = _places(requests)
        return [self.answers[request.prompt][places[request]] for request in requests]

    def shared_seeds(self, prompts: Iterable[str]) -> tuple[int, int]:
        """Count the seeds that prompts share, and these prompts; (0, 0) if none or unknown."""
        known = [self.seeds[prompt] for prompt in set(prompts) if self.seeds.get(prompt)]
        distinct = len(frozenset().union(*known))
        # Two members of a pair may have one seed; where there are fewer, prompts share them.
        shared = len(known) >= _MANY_PROMPTS and 2 * distinct < len(known)
        return (distinct, len(known)) if shared else (0, 0)

    def _sample(self, request: Request) -> Answer:
        place = self.places.get((request.prompt, request.repeat))
        if place is None:
            raise ValueError(
                f"{self.path} has no sample {request.repeat} of {request.prompt[:80]!r}; ask for "
                "the pairs or prompts, and at most as many answers, as were asked there"
            )
        return self.answers[request.prompt][place]

    def _check_prompts(self, prompts: Sequence[str]) -> None:
        lacking = [prompt for prompt in prompts if prompt not in self.answers]
        if not lacking:
            return
        from rapidfuzz import process

        near = process.extractOne(lacking[0], self.answers.keys())
        hint = f"; the nearest is {near[0][:120]!r}" if near else ""
        raise ValueError(
            f"{self.path} has no answer to {len(lacking)} of {len(prompts)} prompts; the first is "
            f"{lacking[0][:120]!r}{hint}; prompts must match exactly"
        )


def load(spec: ModelSpec) -> RecordedAnswers:
    """Load ``responses:FILE``."""
    return RecordedAnswers.load(spec.target)


def _noting_seeds(rows: Iterable[Row], seeds: dict[str, set[str]]) -> Iterator[Row]:
    """Pass on rows, and note the seeds of the prompts; greedy decoding uses none."""
    for row in rows:
        seed = row.values.get("seed")
        if seed not in (None, "") and row.values.get("temperature") not in (0, "0", "0.0"):
            seeds.setdefault(str(row.values.get("prompt")), set()).add(str(seed))
        yield row


def _files(path: Path) -> list[Path]:
    """Return a file, or the Parquet files of a folder; those of an audit are in a folder of it."""
    if not path.is_dir():
        return [path]
    folder = path / "answers" if (path / "manifest.json").is_file() else path
    # Other engines mark their own files and folders, such as those of a job that was never
    # finished, by a first letter of "_" or ".".
    files = [
        file
        for file in sorted(folder.rglob("*.parquet"))
        if not any(part[0] in "_." for part in file.relative_to(folder).parts)
    ]
    if not files:
        raise TableError(f"there is no .parquet file in the folder {path}; name one with answers")
    return files


def _by_prompt(
    rows: Iterable[Row], path: Path
) -> tuple[dict[str, list[Answer]], dict[tuple[str, str], int]]:
    """Return the answers by prompt, and the place of each sample where rows name samples."""
    found: dict[str, list[tuple[int, Answer]]] = {}
    places: dict[tuple[str, str], int] = {}
    needed: list[str] = []
    for row in rows:
        if not needed:
            # The first row says which columns there are.
            column = next((name for name in _ANSWERS if name in row.values), "")
            order = next((name for name in ("sample", "repeat") if name in row.values), "")
            needed = ["prompt", column or "answer", *([order] if order else [])]
        if not row.values.keys() >= set(needed):
            # Of one table all rows have the same columns.
            table = path.suffix.lower() in (".csv", ".parquet")
            needs = f"{path} needs the columns" if table else f"{row.where} needs"
            names = " and ".join([", ".join(needed[:-1]), needed[-1]])
            raise TableError(f"{needs} {names}; found {', '.join(map(str, row.values))}")
        prompt = row.values["prompt"]
        if not isinstance(prompt, str) or not prompt.strip():
            raise TableError(f"{row.where}: the prompt is {prompt!r}; give a text")
        answers = found.setdefault(prompt, [])
        repeat = _repeat(row) if order == "repeat" else len(answers)
        if order == "sample":
            known = (prompt, str(row.values["sample"]))
            twice = places.setdefault(known, repeat) != repeat
        else:
            twice = order == "repeat" and any(repeat == other for other, _ in answers)
        if twice:
            which = f"{order} {row.values[order]}"
            raise TableError(f"{row.where} is {which} of {prompt[:80]!r} once more")
        answers.append((repeat, _answer(row, column)))
    if not found:
        raise TableError("there is no answer in the file; write one line per answer")
    return {
        prompt: [answer for _, answer in sorted(answers, key=lambda pair: pair[0])]
        for prompt, answers in found.items()
    }, places


def _answer(row: Row, column: str) -> Answer:
    answer = row.values[column]
    if answer is None:
        reason = row.values.get("reason") or "null"
        return Missing(str(reason), str(row.values.get("detail") or "recorded as null"))
    if not isinstance(answer, str):
        raise TableError(f"{row.where}: the {column} is {answer!r}; give a text, or null")
    if not answer.strip():
        return Missing("empty", "recorded as an empty text")
    return CutAnswer(answer) if row.values.get("cut") is True else answer


def _repeat(row: Row) -> int:
    try:
        return int(str(row.values["repeat"]))
    except ValueError:
        raise TableError(
            f"{row.where}: the repeat is {row.values['repeat']!r}; give a whole number"
        ) from None


def _places(requests: Sequence[Request]) -> dict[Request, int]:
    """Return the place of each request's answer among those to its prompt."""
    groups: dict[str, dict[str, list[tuple[int, Request]]]] = {}
    for request in requests:
        side, _, sample = request.repeat.rpartition(".")
        groups.setdefault(request.prompt, {}).setdefault(side, []).append((int(sample), request))
    places = {}
    for of_prompt in groups.values():
        n = 1 + max(sample for group in of_prompt.values() for sample, _ in group)
        for rank, group in enumerate(of_prompt.values()):
            places.update({request: rank * n + sample for sample, request in group})
    return places
