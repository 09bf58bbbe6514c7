"""What a reader of answers gets to see, and what its result says in words."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_llmfair._util.wording import escape, plural
from pytest_llmfair.judging.bound import WORSE
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.judging.people import people
from pytest_llmfair.metrics import MetricInfo
from pytest_llmfair.stats import Estimate, Finding, PairedAUC

if TYPE_CHECKING:
    from pytest_llmfair.judging.assertion import Compare, TextScorer

_READER = "group_predictability"


def reads(info: MetricInfo) -> bool:
    """Whether a metric lets a reader guess from all that answers hold."""
    return "features" in inspect.signature(info.function).parameters


def features_of(
    scorer: TextScorer, texts: Sequence[Any], keywords: Mapping[str, Any]
) -> list[Any] | None:
    """Return what the scorers that a caller chose make of the answers, masked, side by side."""
    from pytest_llmfair.metrics.counterfactual.predictability import texts_to_read

    given = [*texts, *(keywords[name] for name in ("texts_a", "texts_b") if name in keywords)]
    if not scorer.several or len(given) != 2:
        return None
    hidden = (keywords.get(name) for name in ("mask", "mask_names", "ignore"))
    sides, _, _ = texts_to_read(*given, *hidden)
    texts = list(dict.fromkeys(text for side in sides for row in side for text in row))
    found = []
    for each in scorer.several:
        of_text = dict(zip(texts, each.numbers(texts), strict=True))
        found.append([[[of_text[text] for text in row] for row in side] for side in sides])
    return found


def words_apart(estimate: Estimate, inputs: MetricInputs) -> str:
    """Return the words that tell two groups apart, with the share of answers that hold them."""
    part = getattr(estimate, "part", estimate)
    if not isinstance(part, PairedAUC) or not part.lower_bound(0.025) > part.attainable[0]:
        return ""
    one, other = ("first", "second")
    if len(groups := getattr(estimate, "worst", inputs.labels)) == 2:
        one, other = (people(inputs.attribute, group) for group in groups)
    words = (
        f'"{escape(word)}" ({100 * a:.0f} % {one}, {100 * b:.0f} % {other})'
        for word, a, b in part.telling()
    )
    return f"words that tell the answers apart: {', '.join(words)}"


def of_guesses(record: Mapping[str, Any]) -> bool:
    """Whether a result has a share of right guesses, and not the difference of two models."""
    name = record["metric"]
    return name.startswith(_READER) and WORSE not in name and record["lower"] is not None


def guessed(record: Mapping[str, Any]) -> str:
    """Return how often the reader guesses right, without a full stop."""
    value, low, high = (round(100 * float(record[name])) for name in ("value", "lower", "upper"))
    which = "which of two answers was for which group"
    if len(record["compared"]) == 2:
        one, other = (people(record["attribute"], group) for group in record["compared"])
        which = f"which of two answers was for {one} and which for {other}"
    return (
        f"a reader guesses in {value} % of pairs [{low}, {high}] {which}, from the answers alone "
        f"(50 % is chance); you allow {100 * record['bound']:g} %"
    )


def of_reader(record: Mapping[str, Any]) -> str:
    """Return what the guesses mean, as sentences; empty for other metrics."""
    if not of_guesses(record):
        return ""
    found = ""
    if (least := changed(float(record["lower"]))) >= 0.005:
        found = f" At least {100 * least:.0f} % of the answers change with the group."
    elif record["verdict"] == "PASS":
        found = " This reader cannot tell; another might."
    # Where nothing is proven, what would have been found says how much that means.
    if record["verdict"] in ("PASS", "INCONCLUSIVE") and record["detectable"] is not None:
        found += f" It would have found {would_find(record)}."
    return found


def would_find(record: Mapping[str, Any]) -> str:
    """Return from which share on the reader finds changed answers in 80 % of cases."""
    share = 2.0 * float(record["detectable"])
    return (
        f"{100 * share:.0f} % changed answers" if share <= 1.0 else "no share of changed answers"
    )


def too_weak(record: Mapping[str, Any]) -> str:
    """Return why a PASS of the reader would prove nothing; empty where it would."""
    if not of_guesses(record) or record["detectable"] is None:
        return ""
    stands = 2.0 * (record["bound"] - record["fair_value"])
    if 2.0 * float(record["detectable"]) <= stands:
        return ""
    return (
        f"the reader would find {would_find(record)} in 80 % of cases, and a bound of "
        f"{record['bound']:g} stands for {100 * stands:.0f} %"
    )


def changed(value: float) -> float:
    """Return the share of answers that at least change, where guesses are right so often."""
    return max(0.0, 1.0 - math.sqrt(2.0 * (1.0 - value)))


def unmasked(
    inputs: MetricInputs, compare: Compare, shared_seeds: tuple[int, int]
) -> MetricInputs:
    """Mask what pairs do not name: given names, and what the caller ignores."""
    from pytest_llmfair.metrics.counterfactual.predictability import NAMED, hider

    names = compare.names
    if names is None:
        names = not NAMED.isdisjoint(inputs.attribute.split(" x "))
    hide_names, hide_ignored = hider(names, None), hider(False, compare.ignore)
    named: set[str] = set()

    def hide(text: str) -> str:
        found = hide_names(text)
        if found != text:
            named.add(text)
        return hide_ignored(found)

    sides = tuple([[hide(text) for text in row] for row in side] for side in inputs.args)
    inputs = replace(inputs, args=sides, keywords={**inputs.keywords, "mask_names": False})
    if named:
        text = f"given names in {plural('different answer', len(named))} are masked as well"
        inputs = inputs.with_findings(Finding.note(f"{text} (mask_names=False reads them)"))
    if any(shared_seeds):
        text = (
            f"{shared_seeds[1]} prompts share {plural('seed', shared_seeds[0])}: a sampler makes "
            "the same choices for all of them, so that a reader can tell two lists of seeds "
            "apart; record answers with a seed for each prompt"
        )
        inputs = inputs.with_findings(Finding("shared_seeds", text, "invalid"))
    return inputs
