"""Fairness through unawareness: do prompts name a group? (Bouchard 2024, section 2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
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
    """Mentions of groups in prompts: for each prompt those found, with the attribute."""

    prompts: list[str]
    found: list[list[tuple[str, Any]]]
    lexicons: list[Any]

    @classmethod
    def of(cls, prompts: Any, attribute: Any) -> MentionCounts:
        """Look for the groups of an attribute, or of several, in prompts."""
        texts, lexicons = _checked(prompts), lexicons_of(attribute)
        found = [
            [(each.name, own) for each in lexicons for own in each.mentions(text, doubts=False)]
            for text in texts
        ]
        return cls(texts, found, lexicons)

    @property
    def rows(self) -> list[float]:
        """Return 1 for each prompt that names a group, else 0."""
        return [float(bool(row)) for row in self.found]

    def added_to(self, estimate: E) -> E:
        """Return an estimate with the mentions that were found."""
        n, names = len(self.prompts), [each.name for each in self.lexicons]
        counts: Counter[tuple[str, str]] = Counter()
        for row in self.found:
            counts.update(list(dict.fromkeys((name, own.group) for name, own in row)))
        hits = [f"{_words(row)} in prompt {i}" for i, row in enumerate(self.found) if row]
        words = f"{len(hits)} of {n} prompts name a group: {first_few(hits, _MOST_SHOWN, '; ')}"
        notes = [*([words] if hits else []), "names and other proxies are not checked"]
        several = f"{len(names)} attributes"
        lacks = dict.fromkeys(group for each in self.lexicons for group in each.lacks)
        return replace(
            estimate,
            rows=self.rows,
            groups={key: GroupRow(count / n, n) for key, count in counts.items()},
            variant=f" ({', '.join(names) if len(names) <= _MOST_NAMED else several})",
            findings=(
                *map(Finding.note, notes),
                *estimate.findings,
                Finding("names_not_checked"),
                *map(Finding.uncovered, lacks),
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
