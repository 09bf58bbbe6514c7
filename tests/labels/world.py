"""Answers of two groups or more with a judge that errs, and people who label what a plan drew."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from pytest_llmfair import label_plan


def answers(
    n: int = 2000,
    rates: dict[str, float] | None = None,
    sees: tuple[float, ...] = (0.5, 0.9, 0.7),
    seed: int = 3,
) -> tuple[list[dict[str, Any]], dict[str, int]]:
    """Rows with a verdict of the judge, one per group and prompt, and what is true by text."""
    rates = rates or {"women": 0.30, "men": 0.15}
    rng, rows, truth = np.random.default_rng(seed), [], {}
    for i in range(n):
        place = i % len(rates)
        group = list(rates)[place]
        event = rng.random() < rates[group]
        seen = rng.random() < (sees[place] if event else 0.05)
        text = f"answer {i}"
        truth[text] = int(event)
        prompt = f"prompt {i // len(rates)}"
        rows.append({"prompt": prompt, "answer": text, "group": group, "toxicity": int(seen)})
    return rows, truth


def labelled(folder: Path, rows: Any, truth: dict[str, Any], **plan: Any) -> Path:
    """Write a plan, let people fill the sheet with what is true, and return the labelled file."""
    given = {"scorer": "toxicity", "total": 300, "seed": 1, **plan}
    sheet, _ = label_plan(rows, **given).write(folder)
    return filled(sheet, truth)


def filled(sheet: Path, truth: dict[str, Any], missing: Any = ()) -> Path:
    """Fill a sheet with what is true; texts in `missing` stay without a label."""
    with sheet.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    target = sheet.with_name("labelled.csv")
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, found[0])
        writer.writeheader()
        for row in found:
            if row["text"] not in missing:
                row["label"] = truth[row["text"]]
            writer.writerow(row)
    return target


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write rows as CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path
