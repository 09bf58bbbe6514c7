"""Answers that already exist, in a file that `results` can read, in place of a model.

Tables have the columns `prompt`, `answer`, and optionally `repeat`, a whole number, or `sample`;
`reason` and `detail` say why an answer is null. Answer j of a call is the j-th answer to the
prompt, by `repeat` where it is given; a prompt that comes twice in a call continues where it
stopped. `sample`, as in the answers of an audit, names the side of the pair and the sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pytest_llmfair._util.tables import TableError
from pytest_llmfair.clients.protocol import Request
from pytest_llmfair.clients.spec import ModelSpec, ModelSpecError
from pytest_llmfair.responses import Answer
from pytest_llmfair.results.readers.tables import rows_in
from pytest_llmfair.results.registry import knows, read_results
from pytest_llmfair.results.source import File
from pytest_llmfair.results.table import Row

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
    seeds: Mapping[str, set[str]] = field(default_factory=dict, repr=False)

    # A call is answered as a whole, since its prompts use up the answers in order.
    batch_size: ClassVar[int] = 2**62

    @classmethod
    def load(cls, target: str) -> RecordedAnswers:
        """Read ``.jsonl``, ``.csv``, ``.parquet`` or a folder of the last, file by file."""
        name = f"responses:{target}"
        path = Path(target).expanduser()
        file = File(path, {"needed": "prompt answer"})
        try:
            answers, places, seeds = _by_prompt(_rows(file))
            digest = file.digest()
        except TableError as error:
            raise ModelSpecError(f"model {name!r}: {error}") from None
        return cls(path, name, digest, answers, places, seeds)

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
        distinct = len(set().union(*known))
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


def _rows(file: File) -> Iterator[Row]:
    """Yield the answers: of tables one by one, for those of an audit may be millions."""
    if not knows(file.path):
        yield from rows_in(file)
        return
    results = read_results([file.path])
    if len(results.models) > 1:
        raise TableError(
            f"{file.path} has answers of {len(results.models)} models: "
            f"{', '.join(results.models)}; give a file with those of one"
        )
    for row in sorted(results.rows, key=lambda row: row.repeat):
        # Numbers and names of a tool are of its samples, several of which may have one prompt.
        row.repeat, row.sample = -1, ""
        yield row


def _by_prompt(
    rows: Iterable[Row],
) -> tuple[dict[str, list[Answer]], dict[tuple[str, str], int], dict[str, set[str]]]:
    """Return answers and seeds by prompt, and the place of each sample where rows name samples."""
    found: dict[str, dict[int, Answer]] = {}
    places: dict[tuple[str, str], int] = {}
    seeds: dict[str, set[str]] = {}
    for row in rows:
        seed = row.fields.get("seed")
        # Greedy decoding uses none.
        if seed is not None and row.fields.get("temperature") not in ("0", "0.0"):
            seeds.setdefault(row.prompt, set()).add(seed)
        answers = found.setdefault(row.prompt, {})
        place = row.repeat if row.repeat >= 0 else len(answers)
        if row.repeat < 0 and row.sample:
            twice = places.setdefault((row.prompt, row.sample), place) != place
        else:
            twice = place in answers
        if twice:
            which = f"repeat {place}" if row.repeat >= 0 else f"sample {row.sample}"
            raise TableError(f"{row.where} is {which} of {row.prompt[:80]!r} once more")
        answers[place] = row.answer
    if not found:
        raise TableError("there is no answer in the file; write one line per answer")
    ordered = {prompt: [own[place] for place in sorted(own)] for prompt, own in found.items()}
    return ordered, places, seeds


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
