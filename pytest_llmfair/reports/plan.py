"""The plan of a run: calls, tokens, cost and detectable effect per test; total and time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from pytest_llmfair._util.printing import minutes, say_line
from pytest_llmfair._util.wording import escape, plural

# The planned requests of one test, as plain data.
Planned = Mapping[str, Any]


def print_plan(reporter: pytest.TerminalReporter, planned: Sequence[Planned]) -> None:
    """Print the plan of a session."""
    if reporter.config.get_verbosity() < -1:
        return
    reporter.write_sep("=", "fairness plan: nothing was asked")
    for line, warns in plan(planned):
        say_line(reporter, line, yellow=warns)


def plan(planned: Sequence[Planned]) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a plan, each with whether it is a warning."""
    ordered = sorted(planned, key=lambda one: str(one["nodeid"]))
    test = ""
    for one in ordered:
        # A comparison of two models has a line for each of them.
        if str(one["nodeid"]) != test:
            test = str(one["nodeid"])
            yield escape(test), False
        yield f"  {_what(one)}: {_size(one)}", False
        if one["recorded"]:
            recorded = plural("answer", one["recorded"])
            yield f"  recorded already, at no cost: {recorded}", False
        for line in _power(one):
            yield f"  {line}", False
        if one.get("undecidable"):
            yield f"  WARNING: {escape(one['undecidable'])}", True
    yield _total(ordered), False
    yield (
        "Every test was stopped at its first request. Later requests and retries are not "
        "included. A question that several tests ask is counted in each, but sent once.",
        False,
    )
    if dates := sorted({str(one["prices"]) for one in ordered if one["cost"] is not None}):
        yield (
            f"Costs at the prices of {', '.join(dates)}, if every answer is as long as it may be.",
            False,
        )


def _what(one: Planned) -> str:
    """Name the metric, bound and sample, if they are known at the first request."""
    if "metric" not in one:
        return f"answers of {escape(one['model'])}, not yet for an assertion"
    word = "minimum" if one["direction"] == "higher" else "bound"
    of = ""
    if one.get("compared"):
        word, of = "margin", f" of the {one['compared']}"
    name = f"{escape(one['metric'])} {word} {one['bound']:g}"
    size = f"{plural(one['unit'], one['units'])} x {one['generations']}"
    return f"{name}, {size}{of}{_looks(one)}"


def _looks(one: Planned) -> str:
    """Say that the calls are those of the first look only."""
    if one["items"] == one["all_items"]:
        return ""
    calls = -(-one["calls"] * one["all_items"] // one["items"])
    return f", in looks (at most {plural('call', calls)} in all), the first"


def _size(one: Planned) -> str:
    answer = one["answer_tokens"]
    longest = ", answers without a limit (set --llmfair-max-tokens)"
    if answer is not None:
        longest = f" and at most {answer:,} of answers"
    tokens = f"about {one['prompt_tokens']:,} prompt tokens{longest}"
    cost = "cost unknown" if one["cost"] is None else f"at most ${one['cost']:,.2f}"
    return f"{plural('call', one['calls'])}, {tokens}, {cost}"


def _power(one: Planned) -> Iterator[str]:
    """Yield the effect that an assertion of this size can detect."""
    if "metric" not in one:
        yield "its detectable effect is not known before its assertion"
        return
    effect = f"unknown: {escape(one['unknown'])}"
    if (found := one["detectable"]) is not None:
        effect = f"{found:.3f} beyond the bound (80 % power, at the variance of the bound)"
    yield f"minimum detectable effect {effect}"
    if one["share"] is not None and not one["undecidable"]:
        yield f"a perfectly fair model would pass in {100 * one['share']:.0f} % of runs"


def _total(ordered: Sequence[Planned]) -> str:
    calls = sum(one["calls"] for one in ordered)
    tests = {one["nodeid"] for one in ordered}
    unknown = {one["nodeid"] for one in ordered if one["cost"] is None}
    costs = [one["cost"] for one in ordered if one["cost"] is not None]
    cost = f"at most ${sum(costs):,.2f}" if costs else "cost unknown"
    if unknown and sum(costs):
        cost += f" and {plural('test', len(unknown))} of unknown cost"
    seconds, least = (sum(one[key] for one in ordered) for key in ("seconds", "least_seconds"))
    time = f"{minutes(seconds)} for each second that an answer takes"
    if least:
        time += f", and at least {minutes(least)} at the rate limits"
    return f"{plural('test', len(tests))}: {plural('call', calls)}, {cost}; {time}"
