"""Fairness through unawareness: do prompts name a group? (Bouchard 2024, section 2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pytest_llmfair.lexicons.attributes import lexicons_of
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import first_few, listed
from pytest_llmfair.stats import Estimate, Finding, GroupRow, Mean, Population

E = TypeVar("E", bound=Estimate)

__all__ = ["fairness_through_unawareness"]

_MOST_SHOWN = 6
_MOST_NAMED = 3


@metric(
    family="unawareness",
    paper="bouchard2024",
    symbol="FTU",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="prompt",
    needs="prompts",
    aliases=("FTU",),
)
def fairness_through_unawareness(
    prompts: Sequence[str],
    attribute: Any = None,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Share of prompts that name a group of a protected attribute.

    Bouchard (2024), section 2.1: a use case is fair through unawareness when none of its prompts
    holds a word of the attribute's lexicon. Words are read in their context, so that a black
    manuscript names no group. Names and other proxies are not checked.

    Parameters
    ----------
    prompts : sequence of str
        Prompts as they are sent; none may be empty.
    attribute : str, Lexicon, or sequence of these, optional
        Names of shipped lexicons, or lexicons; by default every English one that is shipped. A
        name is always that of a shipped one: where the fixture `lexicons` is overridden, give
        ``lexicons["gender"]``, the lexicon itself.
    units : sequence, optional
        One label per prompt; prompts with equal labels are one sampling unit. Default: equal
        prompts are one.
    population : {"sampled", "fixed"}
        Whether the prompts were drawn from a larger population or are all of it. To judge a fixed
        list by the count itself use :func:`pytest_llmfair.assert_fairness_through_unawareness`.

    Returns
    -------
    Mean
        Value in [0, 1]; 0 is unaware. ``.groups`` has the share of each (attribute, group) named,
        ``.lacks`` the groups for which the lexicons have no terms.

    Raises
    ------
    ValueError
        If there is no prompt or no such lexicon, or a prompt is empty or no text (names the row).

    Examples
    --------
    >>> from pytest_llmfair.metrics import fairness_through_unawareness
    >>> prompts = ["Summarise the report.", "Is she a good nurse?"]
    >>> fairness_through_unawareness(prompts, "gender")
    Mean 0.500 [0.013, 0.987] (95 %, 2 prompts)
    """
    seen = MentionCounts.of(prompts, attribute)
    estimate = Mean.of_indicators(
        seen.rows, units=seen.prompts if units is None else units, population=population
    )
    return seen.added_to(estimate)


@dataclass(frozen=True, slots=True)
class MentionCounts:
    """Mentions of groups in prompts: which prompts have one, and the share of prompts by group."""

    prompts: list[str]
    rows: list[float]
    groups: Mapping[Hashable, GroupRow]
    variant: str
    notes: tuple[str, ...]
    lacks: tuple[str, ...]

    @classmethod
    def of(cls, prompts: Any, attribute: Any) -> MentionCounts:
        """Look for the groups of an attribute, or of several, in prompts."""
        texts = _checked(prompts)
        lexicons = lexicons_of(attribute)
        named = [
            [
                (each.name, found)
                for each in lexicons
                for found in each.mentions(text, doubts=False)
            ]
            for text in texts
        ]
        counts: Counter[tuple[str, str]] = Counter()
        for row in named:
            counts.update(list(dict.fromkeys((name, found.group) for name, found in row)))
        notes = ["names and other proxies are not checked"]
        hits = [f"{_words(row)} in prompt {i}" for i, row in enumerate(named) if row]
        if hits:
            words = first_few(hits, _MOST_SHOWN, "; ")
            notes.insert(0, f"{len(hits)} of {len(texts)} prompts name a group: {words}")
        names = ", ".join(each.name for each in lexicons)
        several = f"{len(lexicons)} attributes"
        return cls(
            texts,
            [float(bool(row)) for row in named],
            {key: GroupRow(n / len(texts), len(texts)) for key, n in counts.items()},
            f" ({names if len(lexicons) <= _MOST_NAMED else several})",
            tuple(notes),
            tuple(dict.fromkeys(group for each in lexicons for group in each.lacks)),
        )

    def added_to(self, estimate: E) -> E:
        """Return an estimate with the mentions that were found."""
        return replace(
            estimate,
            rows=self.rows,
            groups=self.groups,
            variant=self.variant,
            findings=(
                *map(Finding.note, self.notes),
                *estimate.findings,
                Finding("names_not_checked"),
                *map(Finding.uncovered, self.lacks),
            ),
        )


def _checked(prompts: Any) -> list[str]:
    texts = list(listed(prompts, "prompts"))
    if not texts:
        raise ValueError("prompts is empty; give at least one prompt")
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(
                f"prompts row {i} is {str(text)[:40]!r}, a {type(text).__name__}; give texts"
            )
        if not text.strip():
            raise ValueError(f"prompts row {i} is empty; give a text, or leave it out")
    return texts


def _words(found: Sequence[tuple[str, Any]]) -> str:
    """Return the words that name groups, each once, with attribute and group."""
    words = [f"{each.text!r} ({name}: {each.group})" for name, each in found]
    return first_few(list(dict.fromkeys(words)), _MOST_SHOWN)
