"""Whether what follows is said of her, or to her: "scared her silly", "told her yes"."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.beside import low
from pytest_llmfair.lexicons.english.english import (
    WORD,
    Around,
    is_adverb,
    is_closed,
    is_final,
    is_participle,
    is_predicative,
    word_classes,
)

_FAR = 60
_WORDS = re.compile(rf"{WORD}|[^\w\s*_~\"\u201c\u201d]")
# What the clause goes on with: "scared her silly, so she left"; not "her silly, vain cousin".
_GOES_ON = re.compile(r"\s+[\w-]+,\s+(?:and\s+|but\s+)?([A-Za-z'\u2019]+)")
_JOINS = ("and", "but", "or", "yet", "if", "though", "not")
# A clause begins with what is unnamed: "Nothing about her suggested nerves".
_UNNAMED = re.compile(
    r"(?:(?:\A|[\n.!?;:,(\"\u201c\u2018\u2014])\s*(?:(?:and|but|yet|so|still)\s)?"
    r"|\b(?:but|and|because|since|that|while|though|although|if|when|where|as)\s)"
    r"(?:(?:some|any|no|every)thing|(?:some|any|no|every)(?:body|one)|no\sone|(?:very\s)?little"
    r"|much|not\smuch|a\slot|all|most)(?:\selse)?\s(?:about|around|in|within|near)\s\Z",
    re.IGNORECASE,
)


def is_result(around: Around) -> bool:
    """Whether an adjective behind "her" tells what came of it: "scared her silly"."""
    first, second, third = around.next
    words = word_classes()
    verbs = _verbs().get(first)
    if verbs is None and (first in words["attributive"] or first in words["harm_adjectives"]):
        first, second = second, third  # "did her great harm"
        verbs = _verbs().get(first) or None
    if verbs is None or not around.before[1][:1].isalpha():
        return False
    if verbs and not around.before[1].startswith(verbs):
        return False
    if first == "black":  # "beat her black and blue"
        return around.next[1:] == ("and", "blue")
    if second == ",":
        match = _GOES_ON.match(around.text, around.end)
        return match is not None and (is_closed(low(match[1])) or is_adverb(low(match[1])))
    if not second[:1].isalnum():
        return second not in ("-", "/", "&")
    if second == "and" and verbs:  # "pulled her close and kissed her"
        return not (is_predicative(third) or third in words["attributive"])
    return (is_closed(second) and second not in _JOINS) or is_adverb(second)


def is_impression(around: Around) -> bool:
    """Whether a verb follows that tells what something about her does: "suggested nerves"."""
    words = word_classes()
    first = around.next[0]
    stem = first.removesuffix("ed") if first.endswith("ed") else first.removesuffix("s")
    if not (stem in words["impressing"] or f"{stem}e" in words["impressing"]):
        return False
    if _UNNAMED.search(around.text, max(0, around.start - _FAR), around.start) is None:
        return False
    # Another verb makes it her noun's: "nothing about her suggested changes worked".
    for word in map(low, _WORDS.findall(around.text, around.end, around.end + _FAR)[1:]):
        linked = word in words["links_of_clauses"] or word in words["subjects_of_clauses"]
        if linked or not word[0].isalnum():
            return True
        if any(word in words[kind] for kind in ("auxiliaries", "finite_verbs", "acted")):
            return False
        if is_participle(word) or (word[-1] == "s" and word[:-1] in words["base_verbs"]):
            return False
    return True


def is_utterance(around: Around) -> bool:
    """Whether it is told her without quotes: "Tell her yes", "bid her farewell"."""
    words = word_classes()
    first, second, third = around.next
    if first in words["utterances"] and is_final(second):
        if second == "to" and first in words["own_utterances"]:
            return False  # "She bid her farewell to the team"
    elif f"{first}-{second}" not in words["utterances_of_two"] or not is_final(third):
        return False
    verb = around.before[1]
    return any(verb in words[kind] for kind in ("say_to", "greet")) or (
        verb in words["write_to"] and not verb.startswith("sen")
    )


@functools.cache
def _verbs() -> dict[str, tuple[str, ...]]:
    """Return how the verbs begin that an adjective may follow, () for all."""
    words = word_classes()
    verbs: dict[str, tuple[str, ...]] = {}
    for pair in words["resulting_of"]:
        verb, _, adjective = pair.partition("-")
        verbs[adjective] = (*verbs.get(adjective, ()), verb)
    return verbs | dict.fromkeys(words["resulting"], ())
