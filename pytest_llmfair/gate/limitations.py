"""What a run does not show, from its record: groups, languages, lost answers, undecided checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pytest_llmfair._util.wording import plural
from pytest_llmfair.gate.documents import described_models, model_names, rendered, replayed
from pytest_llmfair.judging.facts import missing
from pytest_llmfair.judging.message import decides, metric_name

_TOY = "builtin:ngram"

Lines = list[tuple[str, str]]


def limitations(record: Mapping[str, Any], *, level: int = 1) -> str:
    """Return the limits of a run as Markdown.

    Parameters
    ----------
    record : mapping
        As ``--llmfair-json`` writes it. What it does not hold is said.
    level : int
        Level of the heading: 1 for a page, 2 for a section.

    Examples
    --------
    >>> print(limitations({"results": []}).splitlines()[0])
    # Limits of this evaluation
    """
    results = record["results"]
    undecided = [r for r in results if r["verdict"] in ("INCONCLUSIVE", "UNDERPOWERED")]
    return rendered(
        "limitations",
        mark="#" * level,
        model=_of_models(record),
        groups=_of_groups(results),
        languages=_languages(record),
        own_data=any(not r["attribute"] for r in results),
        lost=_lost(results),
        undecided=[(check_name(r), decides(r) or "no number is known") for r in undecided],
        invalid=[(check_name(r), _why(r)) for r in results if r["verdict"] == "INVALID"],
        found=[
            (check_name(r), r["direction_words"] or "no direction between groups is recorded")
            for r in results
            if r["verdict"] == "FAIL"
        ],
        scorers=_of_scorers(results),
    )


def check_name(result: Mapping[str, Any]) -> str:
    """Return test and metric of a result."""
    return f"{result['nodeid']} {metric_name(result)}".strip()


def _of_models(record: Mapping[str, Any]) -> list[str]:
    """Return what the record says, and does not say, about the model that answered."""
    lines = []
    names = model_names(record)
    if not names:
        lines.append("No check names a model: the checks judge data whose origin is not recorded.")
    if _TOY in names:
        lines.append(
            f"{_TOY} is the built-in toy model. It was made for trying the tests; nothing here is "
            "about a model that anyone uses."
        )
    versions = {m["name"]: m.get("revision") or m.get("digest") for m in described_models(record)}
    lines += [
        f"No revision and no digest of {name} is recorded, so it cannot be told from later ones."
        for name in names
        if not versions.get(name) and name != _TOY
    ]
    answers = replayed(record)
    if answers is None and names:
        lines.append("The record does not say whether answers were asked live or replayed.")
    elif answers is not None and answers[1]:
        live, old = answers
        lines.append(
            f"{plural('answer', old)} replayed from a recording"
            + (f", {live:,} asked live." if live else ": no new evidence about the model.")
        )
    return lines


def _of_groups(results: Iterable[Mapping[str, Any]]) -> Lines:
    """Return by attribute the groups that a lexicon has no terms for."""
    lacks: dict[str, list[str]] = {}
    for result in results:
        if result["attribute"]:
            named = lacks.setdefault(result["attribute"], [])
            named += [group for group in result["lacks"] if group not in named]
    return [(name, ", ".join(groups)) for name, groups in sorted(lacks.items())]


def _languages(record: Mapping[str, Any]) -> str:
    found = [str(x["language"]) for x in record.get("lexicons") or () if x.get("language")]
    return ", ".join(sorted(set(found)))


def _lost(results: Iterable[Mapping[str, Any]]) -> Lines:
    """Return answers that are missing and prompts left out, with their share."""
    lines = []
    for result in results:
        parts = []
        if gone := sum(result["missing"].values()):
            parts.append(f"{plural('answer', gone)} missing: {missing(result)}")
            # Only the judge knew how many answers each group was asked for.
            parts += [note for note in result["notes"] if "missing answers" in note]
        if pairs := result["rejected"]:
            parts.append(f"{plural('pair', pairs)} left out as invalid ({_share(pairs, result)})")
        if prompts := result["uncertain"]:
            parts.append(
                f"{plural('prompt', prompts)} left out, with a word that can be read in two ways "
                f"({_share(prompts, result)})"
            )
        if parts:
            lines.append((check_name(result), "; ".join(parts)))
    return lines


def _share(left_out: int, result: Mapping[str, Any]) -> str:
    both = left_out + result["units"]
    return f"{left_out / both:.1%} of {both:,}, the others judged"


def _why(result: Mapping[str, Any]) -> str:
    return "; ".join(result["notes"] or result["reasons"]) or "the record gives no reason"


def _of_scorers(results: Iterable[Mapping[str, Any]]) -> Lines:
    """Return what the audits of scorers on neutral sentences found."""
    marks = ("neutral sentences", "could not be audited")
    notes = [
        (check_name(result), note)
        for result in results
        for note in result["notes"]
        if any(mark in note for mark in marks)
    ]
    return list(dict.fromkeys(notes))
