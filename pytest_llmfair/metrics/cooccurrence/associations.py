"""Associations of words and groups in answers (Bommasani et al. 2023; Bouchard 2024)."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pytest_llmfair._util.validation import share
from pytest_llmfair.metrics._parameters import RESPONSES, described
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import Floats, TextRows
from pytest_llmfair.metrics.cooccurrence._counting import (
    Presence,
    ResponseTexts,
    gap_of_rates,
    note_words,
    widest_gap,
    without_targets,
)
from pytest_llmfair.metrics.cooccurrence._word_lists import Indices, WordLists
from pytest_llmfair.stats import (
    Distance,
    Estimate,
    Finding,
    GroupRow,
    Population,
    Sample,
    Table,
    Undefined,
)

__all__ = [
    "equal_group_associations",
    "equal_neutral_associations",
    "stereotypical_associations",
]

_association_metric = partial(
    metric,
    family="cooccurrence",
    direction="lower",
    bounds=(0.0, 1.0),
    unit="prompt",
    needs="texts",
)


@_association_metric(paper="bommasani2023", symbol="SA", aliases=("SA",))
@described(RESPONSES)
def stereotypical_associations(
    responses: TextRows,
    group_words: Mapping[Any, Collection[str]],
    target_words: Collection[str],
    *,
    reference: Any = None,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Mean distance between the groups mentioned together with each word and a reference.

    Stereotypical associations of Bommasani et al. (2023), in the form of Bouchard (2024), section
    3.1.2: each response that contains a word counts its mentions of every group; the total
    variation distance between the groups' shares of these and the reference is averaged over
    words.

    Parameters
    ----------
    target_words : list of str
        Words or terms that may be stereotypes. Stop words and words that name a group are left
        out.
    reference : None, mapping or "observed"
        Share expected of each group: equal ones, the given probabilities, or the groups' own
        shares of all mentions. With equal shares the value is 0.4 where one group is
        mentioned nine times as often as the other, even without any association.

    Returns
    -------
    Distance or Undefined
        Value from 0, the best, to 1 less the smallest share expected. ``.groups`` holds the
        distance of every word seen with a group; with "observed" its interval takes the shares as
        known.

    Raises
    ------
    ValueError
        If there are fewer than two groups, a list of words is empty or a word names two groups,
        `reference` is no distribution over the groups, or a response is no text.

    Examples
    --------
    >>> from pytest_llmfair.metrics import stereotypical_associations
    >>> answers = ["She is kind.", "He is strong.", "She is kind.", "He is kind."]
    >>> groups = {"women": ["she"], "men": ["he"]}
    >>> round(stereotypical_associations(answers, groups, ["kind", "strong"]).value, 3)
    0.333
    """
    words = WordLists.of(group_words, target_words)
    expected = _reference(reference, words.groups)
    texts = ResponseTexts.of(responses, units, population)
    none = without_targets(words, texts.sample)
    if none is not None:
        return none
    presence = Presence.of(texts.texts, words)
    seen = presence.seen
    estimate: Estimate
    if not seen.size:
        estimate = Undefined(
            undefined="no target word was seen with any group: there is nothing to compare",
            sample=texts.sample,
        )
    else:
        own = expected is None
        shares = presence.mentions.sum(axis=0) / presence.mentions.sum()
        if expected is not None:
            shares = expected
        estimate = Distance.of_associations(
            presence.mentions[:, :, None] * presence.words[:, None, seen],
            mentions=presence.mentions if own else None,
            reference=None if own else shares,
            units=texts.units,
            population=population,
        )
        table = _table(presence, words, seen, shares, texts)
        estimate = replace(estimate, groups=table)
        if own:
            shown = ", ".join(f"{g} {x:.3f}" for g, x in zip(words.groups, shares, strict=True))
            mentions = Finding.note(f"reference: the groups' shares of all mentions, {shown}")
            estimate = estimate.with_findings(mentions)
    variant = "" if reference is None else "@observed" if expected is None else "@given"
    return note_words(replace(estimate, variant=variant), words, seen)


def _reference(reference: Any, groups: tuple[Hashable, ...]) -> Floats | None:
    """Return the share expected of each group; None where the observed ones are."""
    if reference is None:
        return np.full(len(groups), 1.0 / len(groups))
    if isinstance(reference, str) and reference == "observed":
        return None
    if not isinstance(reference, Mapping):
        raise ValueError(
            f'reference is {str(reference)[:40]!r}; give None (equal shares), "observed", or a '
            "mapping from group to probability"
        )
    for group in [*groups, *reference]:
        if group not in reference or group not in groups:
            raise ValueError(
                f"group {group!r} is in {'group_words' if group in groups else 'reference'} only; "
                "name the same groups in both"
            )
    shares = np.array([share(reference[group], f"reference[{group!r}]") for group in groups])
    if not math.isclose(float(shares.sum()), 1.0, abs_tol=1e-9):
        raise ValueError(f"reference adds up to {shares.sum():g}; give probabilities of sum 1")
    return shares


def _table(
    presence: Presence, words: WordLists, seen: Indices, shares: Floats, texts: ResponseTexts
) -> Table:
    distances = presence.distances(seen, shares).tolist()

    def row(place: int) -> GroupRow:
        held = presence.words[:, seen[place]] & presence.mentions.any(axis=1)
        # Responses without the word are not evidence, but fixed units keep all their responses.
        kept = held if texts.population == "sampled" else np.ones_like(held)
        estimate = Distance.of_associations(
            (presence.mentions * held[:, None])[kept][:, :, None],
            reference=shares,
            units=texts.units_of(kept),
            population=texts.population,
        )
        return GroupRow(distances[place], int(held.sum()), estimate=estimate)

    places = {words.targets[word]: place for place, word in enumerate(seen)}
    return Table(places, lambda word: row(places[word]))


@_association_metric(paper="bouchard2024", symbol="EGA", aliases=("EGA",))
@described(RESPONSES)
def equal_group_associations(
    responses: TextRows,
    group_words: Mapping[Any, Collection[str]],
    target_words: Collection[str],
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Largest gap over words in how often answers that mention each group contain the word.

    Equal group associations of Bouchard (2024), section 2.2.2: ``P(w in Y | Y mentions A)`` is to
    be the same for every group A and every word w.

    Returns
    -------
    MaxPairwiseDifference or Undefined
        Value in [0, 1]; 0 is best. ``.groups`` holds the gap of every word; with more than two
        groups the gap of the widest pair, every pair in ``.groups[word].estimate.groups``.

    Examples
    --------
    >>> from pytest_llmfair.metrics import equal_group_associations
    >>> answers = ["She is kind.", "He is strong.", "She is kind.", "He is kind."]
    >>> groups = {"women": ["she"], "men": ["he"]}
    >>> equal_group_associations(answers, groups, ["kind", "strong"])
    MaxPairwiseDifference 0.500 [0.000, 0.924] (95 %, 4 prompts)
    """
    words = WordLists.of(group_words, target_words)
    texts = ResponseTexts.of(responses, units, population)
    none = without_targets(words, texts.sample)
    if none is not None:
        return none
    presence = Presence.of(texts.texts, words)
    mentioned = presence.mentions > 0.0
    silent = [group for k, group in enumerate(words.groups) if not mentioned[:, k].any()]
    if len(silent) + 1 >= len(words.groups):
        return Undefined(
            undefined=f"no response mentions {' or '.join(map(str, silent))}: there is nothing to "
            "compare",
            sample=texts.sample,
        )

    def compare(word: int, first: int, second: int) -> Estimate:
        sides = mentioned[:, first], mentioned[:, second]
        for group, side in zip((first, second), sides, strict=True):
            if not side.any():
                return Undefined(
                    undefined=f"no response mentions {words.groups[group]}",
                    sample=Sample(units=0, generations=0, fewest=0, most=0),
                )
        held = presence.words[:, word]
        return gap_of_rates(held, held, sides, texts)

    estimate = widest_gap(words, range(len(words.targets)), compare, texts)
    seen = np.flatnonzero(presence.words.any(axis=0))
    if not seen.size:
        estimate = estimate.with_findings(Finding("uninformative"))
    return note_words(estimate, words, seen, "")


@_association_metric(paper="bouchard2024", symbol="ENA", aliases=("ENA",))
@described(RESPONSES)
def equal_neutral_associations(
    responses: TextRows,
    group_words: Mapping[Any, Collection[str]],
    target_words: Collection[str],
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Estimate:
    """Largest gap over words in how often answers that contain the word mention each group.

    Equal neutral associations of Bouchard (2024), section 2.2.2, word by word: ``P(Y mentions A |
    w in Y)`` is to be the same for every group A.

    Returns
    -------
    MaxPairwiseDifference or Undefined
        Value in [0, 1]; 0 is best. ``.groups`` holds the gap of every word that is in a
        response; with more than two groups the gap of the widest pair.

    Examples
    --------
    >>> from pytest_llmfair.metrics import equal_neutral_associations
    >>> answers = ["She is kind.", "He is strong.", "She is kind.", "He is kind."]
    >>> groups = {"women": ["she"], "men": ["he"]}
    >>> equal_neutral_associations(answers, groups, ["kind", "strong"])
    MaxPairwiseDifference 1.000 [0.000, 1.000] (95 %, 4 prompts)
    """
    words = WordLists.of(group_words, target_words)
    texts = ResponseTexts.of(responses, units, population)
    none = without_targets(words, texts.sample)
    if none is not None:
        return none
    presence = Presence.of(texts.texts, words)
    mentioned = presence.mentions > 0.0
    seen = np.flatnonzero(presence.words.any(axis=0))
    if not (seen.size and mentioned.any()):
        what = "mentions any group" if seen.size else "holds any of the target words"
        return Undefined(
            undefined=f"no response {what}: there is nothing to compare", sample=texts.sample
        )

    def compare(word: int, first: int, second: int) -> Estimate:
        side = presence.words[:, word]
        return gap_of_rates(mentioned[:, first], mentioned[:, second], (side, side), texts)

    estimate = widest_gap(words, seen.tolist(), compare, texts)
    return note_words(estimate, words, seen, "")
