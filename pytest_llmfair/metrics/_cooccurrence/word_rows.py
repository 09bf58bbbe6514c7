"""Tables by word, and what is said about words that no number could be given for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_llmfair.metrics._cooccurrence.word_lists import Indices, WordLists
from pytest_llmfair.stats import Estimate, Sample, Undefined

_MOST_SHOWN = 5


def some(words: Sequence[object]) -> str:
    """Name the first few words."""
    rest = len(words) - _MOST_SHOWN
    return ", ".join(map(str, words[:_MOST_SHOWN])) + (f" and {rest} more" if rest > 0 else "")


def without_targets(words: WordLists, sample: Sample) -> Estimate | None:
    """Return what is left when every target is a stop word or names a group, else None."""
    if words.targets:
        return None
    return Undefined(
        undefined=f"every target word is a stop word or names a group ({some(words.left_out)}); "
        "give others",
        sample=sample,
    )


def note_words(
    estimate: Estimate, words: WordLists, seen: Indices, where: str = " with a group"
) -> None:
    """Count the targets that were left out and those, by number, that were not seen."""
    if words.left_out:
        estimate.notes += (
            "target words left out, since they are stop words or name a group "
            f"({len(words.left_out)}): {some(words.left_out)}",
        )
    unseen = np.delete(np.arange(len(words.targets)), seen).tolist()
    if unseen:
        estimate.notes += (
            f"target words never seen{where} ({len(unseen)} of {len(words.targets)}): "
            + some([words.targets[word] for word in unseen]),
        )
