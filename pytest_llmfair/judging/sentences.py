"""Sentences of certain metrics: scores, guesses of a reader, and the direction of a difference."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from pytest_llmfair._util.wording import escape, number
from pytest_llmfair.judging import facts
from pytest_llmfair.judging.bound import WORSE
from pytest_llmfair.judging.facts import Record, people
from pytest_llmfair.judging.inputs import MetricInputs
from pytest_llmfair.replies import FACTS
from pytest_llmfair.responses import DigestedText
from pytest_llmfair.scorers import SentimentScorer, score
from pytest_llmfair.stats import Estimate, Mean, PairedAUC
from pytest_llmfair.text import MASK

_READER = "group_predictability"
_RATE_DIFFERENCE = r"(\w+_rate|demographic_parity|equal_opportunity|tpr|tnr)_(difference|gap)"
_RATE_RATIO = r"(\w+_rate|impact|fnr|fpr)_ratio"
# More pairs would take time, and tell the reader the same.
_MOST_PAIRS = 500


def verb(record: Record) -> str:
    """Return the verb that goes with a bound, after "you"."""
    return "require" if record["direction"] == "higher" else "allow"


def what_was_found(record: Record, places: int) -> str:
    """Describe the value as a sentence about the groups, without a full stop."""
    value = number(facts.estimate(record), places)
    size = value.removeprefix("-")
    you = f"you {verb(record)} {facts.allowed(record, places)}"
    metric = record["metric"]
    answers = "the two answers of a pair"
    if len(record["compared"]) == 2:
        first, second = (people(record["attribute"], group) for group in record["compared"])
        answers = f"answers to prompts about {first} and about {second}"
    if differ := scores_differ(record, places):
        return f"{differ}; {you}"
    if metric.startswith("corrected "):
        what = "gap" if metric.startswith(facts.GAP) else "ratio"
        what = "logarithm of the ratio" if what == "ratio" and record["scale"] != "log" else what
        between = " and ".join(map(escape, record["compared"])) or "the groups"
        return f"with people's labels the {what} between {between} is {value}; {you}"
    if "sentiment" in metric:
        answers = f"the {measured(record)} of {answers}"
    if (
        metric.startswith("differs when it should")
        and "due: " in metric
        and len(record["compared"]) == 2
    ):
        more = "less" if value.startswith("-") else "more"
        return f"{first} get what is due by {size} {more} often than {second}; {you}"
    if record["judged"] == "excess":
        more = "less" if value.startswith("-") else "more"
        # Without a floor two answers to the same prompt do not differ.
        noise = record["floor_words"] or "two answers to the same prompt"
        return f"{answers} differ by {size} {more} than {noise} do"
    if of_guesses(record):
        return guessed(record)
    if WORSE in metric:
        found = "better" if value.startswith("-") else "worse"
        return f"the candidate is {found} than the baseline by {size}; {you}"
    if record["compared"] or metric.startswith("counterfactual invariance"):
        if record["direction"] == "higher":
            return f"the similarity of {answers} is {value} (1: the same); {you}"
        return f"{answers} differ by {size}; {you}"
    if re.match(_RATE_DIFFERENCE, metric):
        return f"the rates of the groups differ by {size}; {you}"
    if re.match(_RATE_RATIO, metric):
        return f"the ratio of the groups' rates is {value}; {you}"
    return f"the value is {value}; {you}"


def measured(record: Record) -> str:
    """Return the quantity a scorer measures; a function without a name gives scores."""
    scorer = escape(record.get("scorer") or "sentiment")
    if scorer == "sentiment":
        return "sentiments"
    return "scores" if scorer.startswith("<") else f"{scorer} scores"


def scores_differ(record: Record, places: int) -> str:
    """Compare the lowest and highest mean scores of groups in words; empty without these."""
    means = [row for row in record["groups"] if row["value"] is None and row["rate"] is not None]
    if not record["metric"].startswith("score_difference") or len(means) < 2:
        return ""
    size = number(facts.estimate(record), places).removeprefix("-")
    if len(means) > 2:
        means = [f(means, key=lambda row: float(row["rate"])) for f in (min, max)]
    about = [_about(record, row["key"]) for row in means]
    shown = [number(row["rate"], places) for row in means]
    how = f"{size} {escape(record.get('score_unit', ''))}".rstrip()
    if "relative)" in record["metric"]:
        how = f"{100 * abs(float(facts.estimate(record))):.0f} %"
    if not float(size):
        both = " and of ".join(about)
        return f"the {_scored(record)} of {both} is the same ({shown[0]} on average)"
    higher = float(means[0]["rate"]) > float(means[1]["rate"])
    if record.get("scorer") == "length":
        word = "longer" if higher else "shorter"
        about = [each if record["attribute"] else f"answers of {each}" for each in about]
        said = f"{about[0]} are {how} {word} than {about[1]}"
    else:
        word = "higher" if higher else "lower"
        said = f"the {_scored(record)} of {about[0]} is {how} {word} than that of {about[1]}"
    return f"{said} ({shown[0]} against {shown[1]} on average)"


def _scored(record: Record) -> str:
    """Return the name of a score that a sentence is about."""
    scorer = escape(record.get("scorer", ""))
    if scorer.startswith(FACTS):
        return scorer
    return "score" if not scorer or scorer.startswith("<") else f"{scorer} score"


def _about(record: Record, group: str) -> str:
    """Name a side of the comparison: answers about a group, or the group."""
    if record["attribute"]:
        return f"answers about {people(record['attribute'], group)}"
    return f"the {group} group" if group in ("first", "second") else people("", group)


def words_apart(estimate: Estimate, inputs: MetricInputs) -> str:
    """Return the words that tell two groups apart, with the share of answers that hold them."""
    part = getattr(estimate, "part", estimate)
    if not isinstance(part, PairedAUC) or not part.lower_bound(0.025) > part.attainable[0]:
        return ""
    one, other = ("first", "second")
    if len(groups := getattr(estimate, "worst", inputs.labels)) == 2:
        one, other = (people(inputs.attribute, group) for group in groups)
    # The placeholder of masked words is no word of an answer.
    shown = {MASK.strip("[]").lower(): MASK.lower()}
    words = (
        f'"{escape(" ".join(shown.get(each, each) for each in word.split()))}" '
        f"({100 * a:.0f} % {one}, {100 * b:.0f} % {other})"
        for word, a, b in part.telling()
    )
    return f"words that tell the answers apart: {', '.join(words)}"


def of_guesses(record: Mapping[str, Any]) -> bool:
    """Return whether a result is a share of right guesses, not the difference of two models."""
    name = record["metric"]
    return name.startswith(_READER) and WORSE not in name and record["lower"] is not None


def guessed(record: Mapping[str, Any]) -> str:
    """Return the reader's share of right guesses as a sentence without a full stop."""
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
    """Explain the guesses in sentences; empty for other metrics."""
    if not of_guesses(record):
        return ""
    found = ""
    if (least := changed(float(record["lower"]))) >= 0.005:
        found = f" At least {100 * least:.0f} % of the answers change with the group."
    elif record["verdict"] == "PASS":
        found = " This reader cannot tell; another might."
    # Where nothing is proven, what would have been found says how much that means.
    if record["verdict"] in ("PASS", "INCONCLUSIVE") and record["detectable"] is not None:
        share = 2.0 * float(record["detectable"])
        found += (
            f" It would have found {100 * share:.0f} % changed answers."
            if share <= 1.0
            else " It would often have missed even a change of all answers."
        )
    return found


def too_weak(record: Mapping[str, Any]) -> str:
    """Explain that a PASS of the reader would prove nothing; empty where it would."""
    if not of_guesses(record) or record["detectable"] is None:
        return ""
    stands = 2.0 * (record["bound"] - record["fair_value"])
    share = 2.0 * float(record["detectable"])
    if share <= stands:
        return ""
    finds = (
        f"would find {100 * share:.0f} % changed answers in 80 % of cases"
        if share <= 1.0
        else "would often miss even a change of all answers"
    )
    return (
        f"the reader {finds}, and a bound of {record['bound']:g} stands for {100 * stands:.0f} %"
    )


def changed(value: float) -> float:
    """Return the share of answers that at least change, where guesses are right so often."""
    return max(0.0, 1.0 - math.sqrt(2.0 * (1.0 - value)))


def differences_between(inputs: MetricInputs) -> tuple[dict[str, Any], ...]:
    """Describe how the answers to two groups differ, where that is proven over the pairs."""
    # Chance alone has no direction. Of a measure that does not tell, `worse` is empty.
    answered = sum(map(_both_answered, inputs.outputs))
    step = math.ceil(answered / _MOST_PAIRS) or 1
    rows = list(islice(filter(_both_answered, inputs.outputs), None, None, step))
    texts = [text for row in rows for side in row for text in side]
    digested = any(isinstance(text, DigestedText) for text in texts)
    if len(inputs.labels) != 2 or len(rows) < 2 or digested:
        return ()
    found = []
    means = _proven_means(rows, lambda text: len(text.split()))
    # A difference that rounds to nothing is no direction, however well it is proven.
    if means is not None and round(means[0]) != round(means[1]):
        found.append({"measure": "words", "means": _by_group(inputs, means), "worse": None})
    means = _proven_means(rows, _sentiment())
    if means is not None and round(abs(means[0] - means[1]), 2) > 0.0:
        worse = inputs.labels[means[0] > means[1]]
        found.append({"measure": "sentiment", "means": _by_group(inputs, means), "worse": worse})
    return tuple(found)


def rates_between(
    groups: Sequence[Mapping[str, Any]], favourable: str | None
) -> tuple[dict[str, Any], ...]:
    """Return the lowest and the highest rate in words; the metric says which is worse."""
    rates = {row["key"]: row["rate"] for row in groups if not math.isnan(row["rate"])}
    if len(set(rates.values())) < 2:
        return ()
    low, high = min(rates, key=rates.__getitem__), max(rates, key=rates.__getitem__)
    worse = {"high": low, "low": high}.get(favourable or "")
    return ({"measure": "rate", "means": {low: rates[low], high: rates[high]}, "worse": worse},)


def _both_answered(row: Sequence[Any]) -> bool:
    return len(row) == 2 and all(row)


def _by_group(inputs: MetricInputs, means: tuple[float, float]) -> dict[str, float]:
    return dict(zip(inputs.labels, means, strict=True))


def direction_in_words(differences: Sequence[Mapping[str, Any]], attribute: str) -> str:
    """Describe the differences between the answers to two groups; empty where unknown."""
    parts = []
    groups: list[str] = []
    for each in differences:
        groups = list(each["means"])
        first, second = each["means"].values()
        words = each["measure"] == "words"
        if math.isclose(first, second, abs_tol=0.5 if words else 0.005):
            continue
        if words:
            word = "longer" if first > second else "shorter"
            parts.append(f"are {word} ({first:.0f} against {second:.0f} words)")
        else:
            word = "higher" if first > second else "lower"
            parts.append(f"score {abs(first - second):.2f} {word} in sentiment")
    if not parts:
        return ""
    one, other = (people(attribute, group) for group in groups)
    return f"answers about {one} {' and '.join(parts)} than those about {other}"


def _proven_means(
    rows: Sequence[tuple[list[str], ...]], measure: Callable[[str], float]
) -> tuple[float, float] | None:
    """Return the mean of either side where the pairs prove that they differ."""
    sides = [
        [math.fsum(map(measure, row[side])) / len(row[side]) for row in rows] for side in (0, 1)
    ]
    differences = [a - b for a, b in zip(*sides, strict=True)]
    reach = max(map(abs, differences)) or 1.0
    ends = Mean.of_values(differences, bounds=(-reach, reach)).interval()
    if ends.lower <= 0.0 <= ends.upper:
        return None
    return math.fsum(sides[0]) / len(rows), math.fsum(sides[1]) / len(rows)


@functools.cache
def _sentiment() -> Callable[[str], float]:
    scorer = SentimentScorer()
    return lambda text: float(score(scorer, [text])[0])
