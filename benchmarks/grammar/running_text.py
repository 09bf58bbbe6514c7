"""How running text is read by the grammar as it ships: rules, and the student's second opinion.

    python benchmarks/grammar/running_text.py [--veto 0.8]

Reads the two genres of ``sentences.jsonl.xz`` that no weight was trained on. Of "her" and "his"
the text itself tells the role: the pronoun was put there for "him", "his", "hers". Of terms the
answer of the earlier, much longer rules stands in for the truth. Prints, by genre, how many are
right, uncertain and wrong, the share kept and the wrong among the kept. Exits non-zero where less
than 95 % are kept or more than 3 % of the kept are wrong of the pronouns.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pytest_llmfair.lexicons.english.english import VETO, English, SecondOpinion
from pytest_llmfair.lexicons.grammar import Verdict

SENTENCES = Path(__file__).with_name("sentences.jsonl.xz")
KEPT, WRONG = 95.0, 3.0
_DETERMINER = "possessive_determiner"
_ROLES = {"her": ("object", _DETERMINER), "his": (_DETERMINER, "possessive_pronoun")}


def decisions() -> Iterator[tuple[str, str, list[Any]]]:
    """Yield genre, text and each decision of the genres that are held out as a whole."""
    with lzma.open(SENTENCES, "rt", encoding="utf-8") as lines:
        for line in lines:
            source, text, known = json.loads(line)
            if source.startswith("test:"):
                yield from ((source.removeprefix("test:"), text, decision) for decision in known)


def outcome(verdict: Verdict, right: bool) -> str:
    """Return how an answer compares with the truth."""
    return "uncertain" if not verdict.sure else "right" if right else "wrong"


def read(
    grammar: Callable[[str], SecondOpinion], text: str, decision: list[Any]
) -> tuple[str, str] | None:
    """Return what was asked and the outcome; None for what this benchmark does not look at."""
    question, start, end, kind, truth = decision
    if question == "role:free":
        verdict = grammar("").role(text, start, end, _ROLES[kind])
        return f"{kind}, role", outcome(verdict, (verdict.answer == _DETERMINER) == bool(truth))
    if question == "counts":
        kind, attribute, *_ = (*kind.split(" "), "", "")
        verdict = grammar(attribute).counts(text, start, end, kind)
        return "terms, as the earlier rules", outcome(verdict, bool(verdict.answer) == bool(truth))
    return None


def main(arguments: list[str] | None = None) -> int:
    """Print the table and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--veto", type=float, default=VETO, help="probability of the student")
    veto = parser.parse_args(arguments).veto

    @functools.cache
    def grammar(attribute: str) -> SecondOpinion:
        return SecondOpinion(English(), attribute, veto)

    table: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for genre, text, decision in decisions():
        if (found := read(grammar, text, decision)) is not None:
            table[found[0], genre][found[1]] += 1
    columns = f"{'right':>7}{'uncertain':>11}{'wrong':>7}{'kept %':>8}{'wrong %':>9}"
    print(f"{'asked':28}{'genre':10}{columns}")
    met = True
    for (asked, genre), counts in sorted(table.items()):
        kept = counts["right"] + counts["wrong"]
        share, wrong = 100 * kept / counts.total(), 100 * counts["wrong"] / max(1, kept)
        ok = "role" not in asked or (share >= KEPT and wrong <= WRONG)
        met = met and ok
        print(
            f"{asked:28}{genre:10}{counts['right']:7}{counts['uncertain']:11}{counts['wrong']:7}"
            f"{share:8.1f}{wrong:9.1f}{'' if ok else '  MISSED'}"
        )
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
