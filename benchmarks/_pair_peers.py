"""What LangFair's generator makes of the prompts that ``pairs.py`` labels.

LangFair changes letters to lower case and sets blanks anew, so that next to no pair of it is right
to the letter; it is counted twice, and the second time case and blanks do not matter. For gender
and race it uses its own lists. For other attributes and for names it gets our words as its custom
lists, single words in lower case, for it matches no others. It swaps nothing: all mentions become
one group, then the other, and either may be the right one.
"""

from __future__ import annotations

from _langfair import LangFair
from _pair_cases import Case

from pytest_llmfair.lexicons.attributes import lexicon_for

_OWN = ("gender", "race")


def langfair_is_right(peer: LangFair, case: Case) -> tuple[bool, bool]:
    """Whether LangFair gets a case right: to the letter, and but for case and blanks."""
    own = case.attribute if case.attribute in _OWN else None
    words = None if own else _words(case)
    flat = None if words is None else [word for group in words.values() for word in group]
    _, (found,) = peer.call("found", texts=[case.text], attribute=own, words=flat)
    if isinstance(case.expected, list):  # any mention at all counts as right
        return (bool(found) == bool(case.expected),) * 2
    if not found:
        return (case.expected is None,) * 2
    _, made = peer.call("prompts", texts=[case.text], attribute=own, words=words)
    wanted = case.text if case.expected is None else case.expected
    outputs = [made[key][0] for key in made if key != "original_prompt"]
    return wanted in outputs, _bare(wanted) in map(_bare, outputs)


def _words(case: Case) -> dict[str, list[str]]:
    """Return terms of two groups, line by line, as LangFair's custom dictionary."""
    if case.attribute == "name":
        assert case.groups is not None
        parts = [name.lower().split() for name in case.groups]
        size = max(map(len, parts))  # LangFair takes lists of one length
        lines = [[*words, *words[-1:] * (size - len(words))] for words in parts]
        return dict(zip(case.groups, lines, strict=True))
    lexicon = lexicon_for(case.attribute, case.groups)
    groups = [lexicon.group(name) for name in case.groups or lexicon.default_groups]
    if not isinstance(case.expected, list):
        groups = groups[:2]
    rows: list[list[str]] = []
    for entry in lexicon.entries:
        terms = [entry.terms.get(group, ()) for group in groups]
        if isinstance(case.expected, list):
            rows += [[term.lower()] * len(groups) for line in terms for term in line]
        elif all(terms):
            rows += [[term.lower(), terms[1][0].lower()] for term in terms[0]]
            rows += [[terms[0][0].lower(), term.lower()] for term in terms[1][1:]]
    return {group: [line[place] for line in rows] for place, group in enumerate(groups)}


def _bare(text: str) -> str:
    return "".join(text.lower().split())
