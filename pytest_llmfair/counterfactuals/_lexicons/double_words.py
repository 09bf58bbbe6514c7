"""Words that name groups of two attributes at once: "Latina", "Englishwoman"."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_llmfair.counterfactuals._lexicons.terms import Sense
from pytest_llmfair.counterfactuals._templates.person_phrases import IDENTITY, phrases
from pytest_llmfair.counterfactuals._templates.slots import NOUN, PEOPLE
from pytest_llmfair.counterfactuals.lexicon import Lexicon, Reading

Double = tuple[int, int, Sense, Sense]


def doubles(found: Reading) -> tuple[list[Double], Reading]:
    """Part what a reading has twice in one place from the rest."""
    twice: list[Double] = []
    rest = Reading()
    for each in found:
        if rest and each[:2] == rest[-1][:2] and each[2].entry and rest[-1][2].entry:
            twice.append((*each[:2], rest.pop()[2], each[2]))
        else:
            rest.append(each)
    return twice, rest


def double_term(
    parts: tuple[Lexicon, ...], to: Mapping[str, str], word: Double, rest: Reading
) -> tuple[str | None, str]:
    """Return what takes the place of such a word, and the group of the first attribute it names.

    Where the first attribute changes, a noun becomes the adjective of its group and "man" or
    "woman"; an adjective tells the second attribute only where nothing else does.
    """
    *_, first, second = word
    group, other = to.get(first.group, first.group), to.get(second.group, second.group)
    if group == first.group:
        return parts[1].counterpart(second, other), group
    forms, beside = (
        next((line[name] for line in phrases(part) if name in line), {})
        for part, name in zip(parts, (group, other), strict=True)
    )
    identity = forms.get(IDENTITY)
    if first.role != "adjective":
        several = second.term.endswith(("s", "men"))
        return identity and f"{identity} {beside[PEOPLE if several else NOUN]}", group
    term = parts[0].counterpart(first, group)
    told = any(sense.group == second.group for *_, sense in rest)
    return term if told or term is None else f"{term} {beside.get(IDENTITY, other)}", group
