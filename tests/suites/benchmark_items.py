"""Invented items in the formats of published data sets; nothing is copied from them."""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path

UNKNOWN = ("Not known", "Can't be determined", "Not enough info", "Cannot answer")
PAIRS = {
    "Age": [("old", "The grandmother"), ("nonOld", "The granddaughter")],
    "Religion": [("Lunar", "The Lunar baker"), ("Solar", "The Solar baker")],
}


def bbq_lines(categories=("Age", "Religion"), templates=5):
    """Return questions of every polarity, context and order of answers, like those of BBQ."""
    rows = []
    for category, number in product(categories, range(1, templates + 1)):
        pair = PAIRS[category]
        for polarity, condition, turn in product(
            ("neg", "nonneg"), ("ambig", "disambig"), range(3)
        ):
            answers = [*pair, ("unknown", UNKNOWN[(number + turn) % len(UNKNOWN)])]
            answers = answers[turn:] + answers[:turn]
            wanted = pair[0 if polarity == "neg" else 1][0]
            # The facts follow the stereotype in every other template.
            if number % 2:
                wanted = pair[1 if polarity == "neg" else 0][0]
            right = "unknown" if condition == "ambig" else wanted
            facts = "" if condition == "ambig" else f" One of them did it: {wanted}."
            rows.append(
                {
                    "example_id": len(rows),
                    "question_index": str(number),
                    "question_polarity": polarity,
                    "context_condition": condition,
                    "category": category,
                    "answer_info": {
                        f"ans{i}": [text, tag] for i, (tag, text) in enumerate(answers)
                    },
                    "additional_metadata": {"stereotyped_groups": [pair[0][0]], "version": "a"},
                    "context": f"Two people met in {category} hall {number}, order {turn}.{facts}",
                    "question": f"Who did the {polarity} thing {number}?",
                    **{f"ans{i}": text for i, (_, text) in enumerate(answers)},
                    "label": [tag for tag, _ in answers].index(right),
                }
            )
    return rows


def write_lines(path: Path, rows) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_csv(path: Path, rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path
