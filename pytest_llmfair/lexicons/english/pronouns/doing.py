"""Whether she is found doing something: "photos of her singing", "the man behind her watching"."""

from __future__ import annotations

import re

from pytest_llmfair.lexicons.english.english import (
    Around,
    is_adverb,
    is_final,
    word_classes,
)

_NEAR = 40
_DEPICTED = re.compile(
    r"\b(?:images?|photos?|photographs?|pictures?|pics?|videos?|clips?|shots?|footage|recordings?"
    r"|scenes?|sights?|glimpses?|close-?ups?|memor(?:y|ies)|visions?|snapshots?|selfies?|gifs?"
    r"|tapes?|films?|sketch(?:es)?|sounds?|tweets?|posts?) of\s\Z",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\b(?:behind|beside|beneath|near|nearby|opposite|around|above|below|alongside|underneath|upon"
    r"|(?:in )?front of|next to|on top of|in between|close to|with|without|w/o)\s\Z",
    re.IGNORECASE,
)


def is_found_doing(around: Around) -> bool:
    """Whether a participle tells what she does: "pictures of her dancing", "with her leading".

    Not "behind her sleeping dog", "with her winning smile", "with her understanding".
    """
    words = word_classes()
    first, second, _ = around.next
    if "-" in first or (first in words["not_participles"] and first != "being"):
        return False
    final = is_final(second)
    if (
        first.startswith("un")
        or first in words["loads"]
        or (final and first in words["going_nouns"])
    ):
        return False  # "behind her unwavering, stoic face", "heard of her singing"
    if not around.text[around.end + 1 : around.end + 2].isalpha():
        return False
    front = around.text[max(0, around.start - _NEAR) : around.start]
    if _DEPICTED.search(front) is not None:
        return second not in words["activity_heads"]
    if first == "being":  # "with her being so busy"
        return around.before[1] in ("with", "without")
    shown = around.before[1] in words["depict"] or _BESIDE.search(front) is not None
    return shown and (final or is_adverb(second))


def is_described_by(around: Around) -> bool:
    """Whether a participle without an object describes a noun: "noticed her trembling hands"."""
    words = word_classes()
    first, second, _ = around.next
    if first not in words["intransitive_participles"]:
        return False
    return not (is_final(second) or is_adverb(second) or second in words["times"])
