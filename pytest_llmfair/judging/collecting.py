"""Collect answers from a client, after checking what it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair.judging.pairs import is_pair
from pytest_llmfair.judging.validity import drop_invalid_pairs, most_common_reasons, words_lost
from pytest_llmfair.responses import PairedResponses, Responses, left_out

if TYPE_CHECKING:
    from pytest_llmfair.metrics import MetricInfo

# Whether a metric can be measured on answers to single prompts, and on answers to pairs.
_ANSWERS_TO = {
    "scores": (True, True),
    "text_pairs": (False, True),
    "score_pairs": (False, True),
    "embedding_pairs": (False, True),
    "texts": (True, False),
    "pronoun_counts": (True, False),
    "prompts": (False, False),
    "table": (False, False),
}


def collect(
    data: Any, client: Any, n: int, *, placebo: bool = True
) -> Responses | PairedResponses:
    """Ask the client for n answers to every prompt, or to both members of every pair.

    Where all pairs fail the validity checks nothing is asked, and the responses hold the pairs in
    `.rejected`. With `placebo` the placebo twins of pairs are asked too.
    """
    from pytest_llmfair.clients import ModelClient, origins

    if not hasattr(client, "generate"):
        client = ModelClient.of(client)
    data, _ = drop_invalid_pairs(data)
    left = left_out(data)
    if (left["rejected"] or left["uncertain"]) and not len(data):
        return PairedResponses((), (), (), getattr(client, "name", ""), **left)
    items = prompts_or_pairs(data)
    if is_pair(items[0]):
        if not placebo:
            items = [
                item.without_placebo() if getattr(item, "placebo", None) else item
                for item in items
            ]
        answered: PairedResponses = client.answer_pairs(items, n=n)
        return replace(answered, **left) if any(left.values()) else answered
    origin = origins()
    rows = tuple(tuple(row) for row in client.generate(items, n=n))
    return Responses(tuple(items), rows, getattr(client, "name", ""), origin())


def prompts_or_pairs(data: Any) -> list[Any]:
    """Return prompts, or pairs, as a list; anything else is an error that names the item."""
    if isinstance(data, str):
        raise ValueError(f"the prompts are one text, {data[:40]!r}; give a list of prompts")
    if isinstance(data, (Mapping, Set)) or not isinstance(data, Iterable):
        raise ValueError(
            f"the prompts are a {type(data).__name__}; give a list of prompts, or of pairs"
        )
    items = list(data)
    if not items:
        raise ValueError(_why_empty(data))
    if not all(map(is_pair, items)):
        for i, item in enumerate(items):
            if not isinstance(item, str):
                how = (
                    "; two prompts make a pair as Pair(original, counterfactual, from_group, "
                    "to_group, (), attribute)"
                )
                raise ValueError(
                    f"item {i} is a {type(item).__name__}; give all prompts as texts, "
                    f"or all as pairs{how if isinstance(item, (tuple, list)) else ''}"
                )
    return items


def _why_empty(data: Any) -> str:
    left = left_out(data)
    if rejected := left["rejected"]:
        return (
            f"all {len(rejected)} pairs failed the validity checks: "
            f"{most_common_reasons(rejected)}; reword their prompts"
        )
    if uncertain := left["uncertain"]:
        return (
            "there are no pairs, since a word can be read in two ways in all "
            f"{len(uncertain)} prompts; first: {uncertain[0].reason}; table() of the pairs shows "
            "how to settle them"
        )
    if lost := left["lost"]:
        return (
            f"there are no pairs, since the lexicon has no counterpart of {words_lost(lost)}; "
            "name the group by other words in the prompts, or add terms to the lexicon"
        )
    if asked := getattr(data, "unmentioned", 0):
        return (
            f"there are no pairs, since none of {asked} prompts names a group that could be "
            "exchanged; name one in the prompts"
        )
    return "there is no prompt to collect answers for; give at least one"


def check_data_kind(info: MetricInfo, *, pairs: bool) -> None:
    """Raise ``ValueError`` unless the metric takes answers to pairs, or to single prompts.

    Callers check before the first answer is paid for.
    """
    kinds = _ANSWERS_TO[info.needs]
    if kinds[pairs]:
        return
    if info.needs == "prompts":
        raise ValueError(f"{info.name} looks at prompts, not at answers; give the prompts alone")
    remedy = (
        "it takes arrays (scores or predictions, and groups); make them from the answers first, "
        "or register a metric of your own with @metric(..., needs=...)"
    )
    if any(kinds):
        remedy = f"collect answers to {'prompts' if pairs else 'pairs'}"
    raise ValueError(
        f"{info.name} cannot be measured on answers to {'pairs' if pairs else 'single prompts'}: "
        f"{remedy}"
    )


def check_units(units: Sequence[Any] | None, asked: Sequence[Any]) -> None:
    """Raise ``ValueError`` unless there is one label for each prompt or pair."""
    if units is not None and len(units) != len(asked):
        raise ValueError(
            f"units has {len(units)} labels for {len(asked)} prompts or pairs; give one for each"
        )
