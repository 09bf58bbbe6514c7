"""Count UnifiedQA's published answers to BBQ by template: python count_bbq.py CLONE_OF_BBQ.

Writes data/bbq_unifiedqa.csv. Answers are read as the suite bbq reads answers in words.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path

from pytest_llmfair.suites.options import option_of
from pytest_llmfair.suites.runner import chosen_suite

COUNTS = ("right", "biased", "against", "unknown", "no_target", "unread")
FORMATS = {"race": "unifiedqa-t5-11b_pred_race", "arc": "unifiedqa-t5-11b_pred_arc"}


def counted(file: Path) -> Counter[tuple[str, ...]]:
    """Return counts by category, template, context, format and what an answer is."""
    suite, _ = chosen_suite("bbq", data=file)
    found: Counter[tuple[str, ...]] = Counter()
    with file.open(encoding="utf-8") as lines:
        for item, line in zip(suite.items, lines, strict=True):
            choice, answers = item.asked, json.loads(line)
            for name, column in FORMATS.items():
                key = item.category, item.unit, choice.condition, name
                place = option_of(answers[column], choice.options, choice.unknown)
                if place is None:
                    found[*key, "unread"] += 1
                    continue
                found[*key, "right"] += place == choice.right
                if choice.biased is None:
                    found[*key, "no_target"] += 1
                else:
                    found[*key, ("unknown", "biased", "against")[choice.side(place)]] += 1
    return found


def main(clone: Path) -> None:
    """Write the table."""
    files = sorted((clone / "results" / "UnifiedQA").glob("*.jsonl"))
    found = sum((counted(file) for file in files), Counter())
    where = Path(__file__).parent / "data" / "bbq_unifiedqa.csv"
    with where.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("category", "template", "context", "format", *COUNTS))
        rows = sorted({key[:-1] for key in found}, key=lambda key: (key[0], int(key[1]), *key[2:]))
        writer.writerows((*key, *(found[*key, what] for what in COUNTS)) for key in rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
