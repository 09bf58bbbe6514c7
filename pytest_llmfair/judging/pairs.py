"""What pairs of prompts have in common: their groups and their sampling units."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from pytest_llmfair._util.wording import plural
from pytest_llmfair.responses import PairedResponses
from pytest_llmfair.stats import Finding


def is_pair(item: Any) -> bool:
    """Whether an item is a pair of prompts."""
    return hasattr(item, "original") and hasattr(item, "counterfactual")


def pairs_in(source: Any) -> list[Any]:
    """Return the pairs of a list, or of the answers to it."""
    listed = source.pairs if isinstance(source, PairedResponses) else source
    return list(filter(is_pair, listed)) if isinstance(listed, (list, tuple)) else []


def groups_of(pairs: Sequence[Any]) -> tuple[str, ...]:
    """Return the groups that pairs compare, in order of appearance."""
    if not pairs:
        raise ValueError(
            "there are no pairs; a prompt without a mention of the attribute gives none"
        )
    groups: dict[str, None] = {}
    for i, pair in enumerate(pairs):
        sides = (str(pair.from_group), str(pair.to_group))
        if sides[0] == sides[1]:
            raise ValueError(
                f"pair {i} compares {sides[0]} with itself; words of one group make a placebo "
                "twin (placebo=True), no pair"
            )
        groups |= dict.fromkeys(sides)
    return tuple(groups)


def pair_units(pairs: Iterable[Any]) -> list[str]:
    """Return one label per pair, equal for pairs that share a text or a filler, also by a third.

    Twins of one prompt, a prompt and its mirror image, and variants of one pair are answers to
    the same words: one sampling unit, however many pairs they are. So are the pairs of one filler
    in several templates, since they share what the model makes of it.
    """
    above: dict[Any, Any] = {}

    def top(text: Any) -> Any:
        while (higher := above.setdefault(text, text)) != text:
            above[text] = above[higher]
            text = higher
        return text

    listed = list(pairs)
    for pair in listed:
        first = top(pair.original)
        filler = getattr(pair, "filler", "")
        # A tuple is no text of a prompt.
        shared = (pair.counterfactual, getattr(pair, "placebo", None), filler and (filler,))
        for text in filter(None, shared):
            above[top(text)] = first
    return [top(pair.original) for pair in listed]


def fixed_wordings(pairs: Sequence[Any]) -> Finding | None:
    """Say that templates are fixed, where the fillers that they share are the units."""
    made = [pair for pair in pairs if getattr(pair, "filler", "")]
    templates = len({pair.template for pair in made})
    fillers = len({pair.filler for pair in made})
    if len(made) < len(pairs) or len({(pair.template, pair.filler) for pair in made}) == fillers:
        return None
    text = (
        f"the {templates} templates share {plural('filler', fillers)}, which are the sampling "
        "units: the value is for other fillers too, and for these templates only"
    )
    return Finding("fixed_wordings", text, "note")


def wanted_groups(
    known: Sequence[str], groups: Sequence[str] | None, reference: str | None
) -> list[tuple[str, str]]:
    """Return the comparisons asked for, in the order of the groups."""
    chosen = list(known)
    if groups is not None:
        if isinstance(groups, str) or not isinstance(groups, Sequence) or len(set(groups)) < 2:
            raise ValueError(f"groups is {groups!r}; give two groups or more to compare")
        chosen = [_known_group(group, known, "groups") for group in groups]
    if reference is None:
        return list(itertools.combinations(chosen, 2))
    first = _known_group(reference, known, "reference")
    return [(first, group) for group in chosen if group != first]


def _known_group(group: str, known: Sequence[str], argument: str) -> str:
    if group in known:
        return group
    near = difflib.get_close_matches(str(group), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"the pairs compare {', '.join(known)}"
    raise ValueError(f"{argument} names {group!r}, and no pair is about it; {hint}")
