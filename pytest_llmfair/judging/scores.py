"""Words for scores: what gave them, and which group has the higher ones."""

from __future__ import annotations

from pytest_llmfair._util.wording import escape, number
from pytest_llmfair.judging import facts
from pytest_llmfair.judging.facts import Record
from pytest_llmfair.judging.people import people


def measured(record: Record) -> str:
    """Return what a scorer measures, in words; a function without a name gives scores."""
    scorer = escape(record.get("scorer") or "sentiment")
    if scorer == "sentiment":
        return "sentiments"
    return "scores" if scorer.startswith("<") else f"{scorer} scores"


def differ(record: Record, places: int) -> str:
    """Return which of two groups has the higher mean score, by how much; empty for other metrics.

    Both means follow. Of several groups those with the lowest and the highest are named.
    """
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
    return "score" if not scorer or scorer.startswith("<") else f"{scorer} score"


def _about(record: Record, group: str) -> str:
    """Return what is compared of a group: answers about it, or itself."""
    if record["attribute"]:
        return f"answers about {people(record['attribute'], group)}"
    return f"the {group} group" if group in ("first", "second") else people("", group)
