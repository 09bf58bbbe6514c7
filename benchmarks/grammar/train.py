"""Train the student of ``pytest_llmfair/lexicons/english``, and print how well it reads.

    python benchmarks/grammar/train.py            # trains, writes weights.npz, prints the figures
    python benchmarks/grammar/train.py --check    # trains and compares with the weights that ship

Needs scikit-learn. The teacher was the set of rules that read English before (about 11,000
lines); its decisions are kept in ``sentences.jsonl.xz``, a line for each text: source, text, and
decisions of the form [question, start, end, kind, answer]. ``SOURCES.md`` lists the sources.

The figures are those of texts held out: two genres as a whole (``test:...``), and a tenth of all
others by their hash.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import lzma
import re
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from pytest_llmfair.lexicons.english import student as model

HERE = Path(__file__).parent
SENTENCES = HERE / "sentences.jsonl.xz"
HELD = HERE.parent / "pairs" / "held"
WEIGHTS = Path(model.__file__).with_name("weights.npz")
QUESTIONS = ("counts", "role", "person")
STRENGTH = {"counts": 0.2, "role": 0.5, "person": 0.15}  # inverse of the L2 penalty
PRUNED = {"counts": 0.09, "role": 0.09, "person": 0.08}  # weights closer to 0 are left out
SEEN = 2  # features of fewer examples are left out
PROMPTS = ("pairs", "smollm2")  # sources that are prompts, as users write them
# Texts in which only these differ are held out together.
PRONOUNS = re.compile(
    r"\b(?:s?he|him(?:self)?|his|her(?:s|self)?|their|your|our|theirs|yours|ours)\b", re.IGNORECASE
)
LARGEST = 2.0  # the few weights beyond are cut, which keeps finer steps for all others
THRESHOLDS = (0.6, 0.7, 0.8, 0.9)


class Example(NamedTuple):
    """One decision: what was asked about which span, and the answer to learn."""

    source: str
    text: str
    start: int
    end: int
    kind: str
    answer: int
    label: str


def digest(text: str) -> str:
    """Return the hash of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@functools.lru_cache(maxsize=1)  # examples of one text follow each other
def in_tenth(text: str) -> bool:
    """Whether a text belongs to the tenth that is held out."""
    return int(digest(PRONOUNS.sub("", text))[:4], 16) % 10 == 0


def is_held_out(example: Example) -> bool:
    """Whether an example is for testing only: a genre of its own, or one text in ten."""
    return example.source.startswith("test:") or in_tenth(example.text)


def read(path: Path, every: int = 1) -> dict[str, list[Example]]:
    """Return the examples of each question, of one text in `every`."""
    examples: dict[str, list[Example]] = {question: [] for question in QUESTIONS}
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % every:
                continue
            source, text, decisions = json.loads(line)
            for asked, start, end, kind, answer in decisions:
                question, _, label = asked.partition(":")
                example = Example(source, text, start, end, kind, answer, label)
                examples[question].append(example)
    return examples


def held_back(folder: Path = HELD) -> set[str]:
    """Return the hashes of the prompts that measure the package, which nothing may learn from."""
    return {
        digest(case["text"])
        for path in sorted(folder.glob("*.yaml"))
        for case in yaml.safe_load(path.read_text(encoding="utf-8"))["cases"]
    }


def lessons(question: str, examples: Sequence[Example]) -> list[Example]:
    """Return the training examples: prompts twice, a quarter of the terms without attribute too.

    The latter teach the model to read terms of a user's own lexicon, where it knows only the kind.
    """
    learned = [example for example in examples if not is_held_out(example)]
    again = [example for example in learned if example.source in PROMPTS]
    plain = [
        example._replace(kind=example.kind.partition(" ")[0])
        for example in learned
        if question == "counts" and digest(example.text)[-1] in "0123"
    ]
    return learned + again + plain


def learned_texts(examples: dict[str, list[Example]]) -> set[str]:
    """Return the hashes of all texts of examples."""
    return {digest(example.text) for own in examples.values() for example in own}


def numbers_of(question: str, example: Example) -> model.Numbers:
    """Return what the student sees of an example."""
    _, text, start, end, kind, *_ = example
    if question == "counts":
        return model.counts_numbers(text, start, end, *kind.split(" ")[:2])
    if question == "role":
        return model.role_numbers(text, start, end, ["object"] if kind == "her" else [])
    return model.name_numbers(text, start, end, kind)


def matrix(question: str, examples: Sequence[Example]) -> csr_matrix:
    """Return the features of examples, a row for each."""
    rows = [np.sort(numbers_of(question, example)) for example in examples]
    ends = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows).astype(np.int32)
    ones = np.ones(len(columns), np.float32)
    return csr_matrix((ones, columns, ends), shape=(len(rows), 1 << model.BITS))


def fit(question: str, examples: Sequence[Example]) -> NDArray[np.float32]:
    """Return the weights of one question: fitted, pruned, and fitted again without the rest."""
    data = matrix(question, examples)
    answers = np.array([example.answer for example in examples])
    kept = np.flatnonzero(np.bincount(data.indices, minlength=data.shape[1]) >= SEEN)
    weights = np.zeros(data.shape[1], np.float32)
    for _ in range(2):
        machine = LogisticRegression(
            C=STRENGTH[question], solver="liblinear", fit_intercept=False, tol=0.01, random_state=0
        ).fit(data[:, kept], answers)
        weights[:] = 0
        weights[kept] = machine.coef_[0]
        kept = np.flatnonzero(np.abs(weights) >= PRUNED[question])
    weights[np.abs(weights) < PRUNED[question]] = 0
    return weights


def pack(weights: NDArray[np.float32]) -> dict[str, NDArray[np.generic]]:
    """Return weights as the arrays of a file: distances between those that are not 0, and int8."""
    kept = np.flatnonzero(weights)
    scale = np.float32(min(LARGEST, np.abs(weights).max()) / 127)
    whole = np.round(np.clip(weights[kept] / scale, -127, 127)).astype(np.int8)
    kept, whole = kept[whole != 0], whole[whole != 0]
    return {"gaps": np.diff(kept, prepend=0).astype(np.uint16), "q": whole, "scale": scale}


def train(examples: dict[str, list[Example]]) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of the file of weights."""
    weights = np.zeros(1 << model.BITS, np.float32)
    for question in QUESTIONS:
        weights += fit(question, lessons(question, examples[question]))
    return pack(weights)


def probabilities(
    student: model.Student, question: str, examples: Sequence[Example]
) -> NDArray[np.float64]:
    """Return the student's probability for each example."""
    scores = matrix(question, examples) @ student.weights
    return np.asarray(1 / (1 + np.exp(-scores.astype(float))))


def groups_of(question: str, example: Example) -> Iterator[str]:
    """Return the rows of the report in which an example counts."""
    genre = example.source.startswith("test:") or example.source in PROMPTS
    source = example.source if genre else "other texts"
    yield f"{question}"
    yield f"{question}, {source}"
    if question == "counts":
        yield f"{question}, {example.kind.split(' ')[0]}"
    if question == "role":
        yield f"{question}, {example.kind}, label {example.label}, {source}"


def report(student: model.Student, examples: dict[str, list[Example]]) -> None:
    """Print agreement with the labels of held-out texts, alone and above thresholds."""
    shown = " ".join(f"{f'>= {t}: kept, wrong':>21}" for t in THRESHOLDS)
    print(f"{'held-out texts, %':44}{'n':>7}{'right':>7} {shown}")
    for question in QUESTIONS:
        held = [example for example in examples[question] if is_held_out(example)]
        chance = probabilities(student, question, held)
        right = (chance > 0.5) == np.array([example.answer for example in held])
        sure = np.maximum(chance, 1 - chance)
        rows: dict[str, list[int]] = defaultdict(list)
        for number, example in enumerate(held):
            for group in groups_of(question, example):
                rows[group].append(number)
        for group in sorted(rows):
            own, certain = right[rows[group]], sure[rows[group]]
            cells = []
            for threshold in THRESHOLDS:
                kept = certain >= threshold
                wrong = 100 * (1 - own[kept].mean()) if kept.any() else 0.0
                cells.append(f"{100 * kept.mean():14.1f} {wrong:6.1f}")
            print(f"{group:44}{len(own):7}{100 * own.mean():7.1f} {' '.join(cells)}")


def speed(student: model.Student, examples: dict[str, list[Example]]) -> float:
    """Return decisions a second, one at a time as the package asks."""
    some = examples["counts"][:: max(1, len(examples["counts"]) // 2000)]
    begun = time.perf_counter()
    for _, text, start, end, kind, *_ in some:
        student.counts(text, start, end, *kind.split(" ")[:2])
    return len(some) / (time.perf_counter() - begun)


def main() -> None:
    """Train, compare or write, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    asked = parser.parse_args()
    examples = read(SENTENCES)
    if learned_texts(examples) & held_back():
        raise SystemExit("a prompt of benchmarks/pairs/held is among the training texts")
    arrays = train(examples)
    if asked.check:
        with np.load(WEIGHTS, allow_pickle=False) as shipped:
            same = all(np.array_equal(arrays[key], shipped[key]) for key in arrays)
        if not same:
            raise SystemExit("the weights that ship are not those of this training")
        print("the weights that ship are those of this training")
    else:
        np.savez_compressed(WEIGHTS, allow_pickle=False, **arrays)
    student = model.Student(model.unpack(arrays["gaps"], arrays["q"], float(arrays["scale"])))
    report(student, examples)
    print(f"{len(arrays['q'])} weights, {WEIGHTS.stat().st_size / 1000:.0f} kB")
    print(f"{speed(student, examples):.0f} decisions a second")


if __name__ == "__main__":
    main()
