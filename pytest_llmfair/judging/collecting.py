"""Collect answers from a client, after checking what it is asked, and what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

from pytest_llmfair._util.wording import listed
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.pairs import groups_of, is_pair, pairs_in
from pytest_llmfair.judging.rules import Rules
from pytest_llmfair.lexicons.name_lexicon import OF_GROUPS
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.responses import PairedResponses, Responses, left_out, rows_of
from pytest_llmfair.stats import Finding

NOTHING_ASKED = "nothing was asked, since no answer could be judged"

_MOST_REASONS = 3
_MOST_WORDS = 5
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
    """Ask for n answers to prompts or pairs, unless all pairs fail the validity checks."""
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
    """Raise ``ValueError`` unless the metric takes answers to pairs, or to single prompts."""
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


def drop_invalid_pairs(data: Any, units: Any = None) -> tuple[Any, Any]:
    """Drop pairs that fail the validity checks, unless made by the package, with labels."""
    if isinstance(data, Iterator):
        data = list(data)
    pairs = pairs_in(data)
    if not any(map(_unchecked, pairs)):
        return data, units
    from pytest_llmfair.counterfactuals.user_pairs import checked_pairs

    groups_of(pairs)
    passed, kept = checked_pairs(pairs)
    result: Any = passed
    if isinstance(data, PairedResponses):
        result = replace(
            rows_of(data, kept),
            pairs=tuple(passed),
            rejected=(*data.rejected, *passed.rejected),
            uncertain=(*data.uncertain, *passed.uncertain),
            lacks=tuple(dict.fromkeys((*data.lacks, *passed.lacks))),
        )
    labels = None if units is None else list(units)
    if labels is not None and len(labels) == len(pairs):
        labels = [labels[row] for row in kept]
    return result, labels


def _unchecked(pair: Any) -> bool:
    return not getattr(pair, "checked", False)


def unchecked_pairs(source: Any) -> tuple[Finding, ...]:
    """Report pairs that no lexicon of the package can check, and why."""
    pairs = pairs_in(source)
    unknown = [pair for pair in pairs if _unchecked(pair)]
    if not unknown:
        return ()
    from pytest_llmfair.counterfactuals.user_pairs import why_unchecked

    why, _ = Counter(map(why_unchecked, unknown)).most_common(1)[0]
    text = (
        f"{len(unknown)} of {len(pairs)} pairs could not be checked, so other things than the "
        f"group may change in them: {why}"
    )
    return (Finding("pairs_unchecked", text),)


def selection_of(source: Any, rules: Rules) -> MetricInputs:
    """Count what was left out of pairs before anything was asked; too much is invalid."""
    left = left_out(source)
    findings = [
        *_rejected_pairs(source, left["rejected"], rules.chosen("max_invalid")),
        *_uncertain_prompts(source, left, rules.chosen("max_uncertain")),
    ]
    if kept := [why for pair in pairs_in(source) if (why := getattr(pair, "uncertain", ""))]:
        text = (
            f"{len(kept)} of {len(source)} pairs kept although one of their words can be read in "
            f"two ways; first: {kept[0]}"
        )
        findings.append(Finding("uncertain_pairs_kept", text))
    if lost := left["lost"]:
        text = f"prompts left out, since the lexicon has no counterpart of {words_lost(lost)}"
        findings.append(Finding("prompts_left_out", text))
    if n := left["unmentioned"]:
        text = (
            f"{n} {'prompt names' if n == 1 else 'prompts name'} no group that "
            "is exchanged, and gave no pair"
        )
        findings.append(Finding("no_group_named", text, "note"))
    findings += map(Finding.uncovered, left["lacks"])
    return MetricInputs(
        findings=tuple(findings), rejected=len(left["rejected"]), uncertain=len(left["uncertain"])
    )


def _rejected_pairs(source: Any, rejected: Sequence[Any], largest: float) -> list[Finding]:
    if not rejected:
        return []
    n, total, most = len(rejected), len(rejected) + len(source), most_common_reasons(rejected)
    if n / total <= largest:
        text = f"{n} of {total} pairs left out as invalid: {most}"
        return [Finding("pairs_left_out", text)]
    text = (
        f"{n} of {total} pairs ({n / total:.1%}) failed the validity checks, more than "
        f"max_invalid = {largest:.0%}; most often: {most}; reword the prompts that "
        "table() of the pairs lists as rejected (check_pair says what is wrong with a pair of "
        "your own), or raise max_invalid"
    )
    return [Finding("invalid_pairs", text, "invalid")]


def _uncertain_prompts(source: Any, left: Mapping[str, Any], largest: float) -> list[Finding]:
    uncertain = left["uncertain"]
    if not uncertain:
        return []
    pairs = [*pairs_in(source), *(one.pair for one in left["rejected"])]
    n = len({one.prompt for one in uncertain})
    # A prompt with several names is one prompt.
    asked = {
        (each.template, each.filler)
        if getattr(each, "attribute", "") == OF_GROUPS and each.filler
        else each.original
        for each in pairs
    }
    prompts = len(asked | {one.prompt for one in uncertain})
    text = (
        f"{n} of {prompts} prompts left out, since a word can be read in two ways; "
        f"first: {uncertain[0].reason}"
    )
    if n / prompts <= largest:
        return [Finding("prompts_uncertain", text)]
    text += (
        f". That is {n / prompts:.1%}, more than max_uncertain = {largest:.0%}; table() of the "
        "pairs lists them and how to settle them"
    )
    return [Finding("uncertain_prompts", text, "invalid")]


def words_lost(lost: Mapping[str, int]) -> str:
    """Return the words without a counterpart, each with its count."""
    words = [f"{word!r} ({n})" for word, n in lost.items()]
    return listed(words, _MOST_WORDS)


def most_common_reasons(rejected: Sequence[Any]) -> str:
    """Return the failed checks in words, the most frequent first, each with its count."""
    # After the colon comes the place in the prompt, which is different each time.
    counts = Counter(reason.partition(":")[0] for one in rejected for reason in one.reasons)
    return listed([f"{reason} ({n})" for reason, n in counts.most_common()], _MOST_REASONS)
