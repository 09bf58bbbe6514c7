"""Candidates who are judged by their resumes or essays, alone and two by two (RABBI)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from random import Random
from statistics import median
from typing import Any

from pytest_llmfair.lexicons.name_lists import names
from pytest_llmfair.metrics import get_metric, pairwise_scores, pointwise_score
from pytest_llmfair.stats import Estimate, Mean
from pytest_llmfair.stats.crossed import fixed_factor, over_factors
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import LEVEL, Kind, Table, undefined
from pytest_llmfair.suites.questions import Asked, Question, choice, why_not_answered

_NAME = "first name"
# Outcomes of a pair that is shown in both orders.
_OUTCOMES = ("consistent", "flipped by order", "tied twice", "tied once", "unusable")
# Full names that the package has for each group.
NAMES = 40
_CHOICES = re.compile(r"\{([^{}]*)\}")


class Candidates(Kind):
    """Each candidate alone: the score is the expected value of labels such as yes and no."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording and candidate."""
        return [
            Question(
                wording.format(**each.slots, name=candidate.name, text=candidate.text),
                number,
                (each.name, *candidate.about),
                tuple(suite.data["labels"]),
            )
            for number, wording in enumerate(task.wordings)
            for each in rounds_of(suite, size)
            for candidate in each.pool
        ]

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Give every candidate the mean score over the wordings, and compare the groups."""
        values = tuple(suite.data["labels"].values())
        scores: dict[tuple[str, str], list[float]] = {}
        qualified, names = {}, {}
        if why := why_not_answered(asked):
            return undefined(why, len(asked), len(asked))
        # A round without an answer about one of its candidates is left out.
        lost = {each.question.about[0] for each in asked if not any(each.probabilities)}
        for each in asked:
            pool, seat, name, mark = each.question.about
            if pool in lost:
                continue
            score = pointwise_score(each.probabilities, values)
            scores.setdefault((pool, seat), []).append(score)
            qualified[pool, seat], names[pool, seat] = bool(mark), name
        if not scores:
            why = "no round has an answer about each candidate"
            return undefined(why, len(asked), len(asked))
        means = {key: sum(row) / len(row) for key, row in scores.items()}
        return _compared(suite, quantity, means, qualified, names)


class CandidatePairs(Kind):
    """Every two candidates of a round, in both orders, by probability or an answer in words."""

    says = ("The first", "The second")

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each round and order of two candidates; wordings take turns."""
        words = tuple(task.data.get("words", ()))
        found = []
        for place, each in enumerate(rounds_of(suite, size)):
            number = place % len(task.wordings)
            for first, second in permutations(each.pool, 2):
                prompt = task.wordings[number].format(
                    **each.slots,
                    first=first.name,
                    first_text=first.text,
                    second=second.name,
                    second_text=second.text,
                )
                about = (each.name, *first.about, *second.about)
                found.append(Question(prompt, number, about, words))
        return found

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Compare the groups by wins."""
        if why := why_not_answered(asked):
            return undefined(why, len(asked), len(asked))
        rows = _comparisons(asked)
        if all(row["winner"] is None for row in rows):
            why = "no answer names one of the two candidates, or both"
            return undefined(why, len(asked), len(asked))
        if quantity.metric == "pairwise_preference_gap":
            found: Estimate = get_metric(quantity.metric).function(
                rows,
                groups=seats_of(suite),
                reference=suite.data["reference"],
                population=quantity.population,
                **quantity.keywords,
            )
            if not suite.data.get("named"):
                return found
            why = "a comparison has a name of each group, too little"
            return found.with_findings(fixed_factor(_NAME, why))
        qualified, names = {}, {}
        for each in asked:
            pool, *sides = each.question.about
            for seat, name, mark in (sides[:3], sides[3:]):
                qualified[pool, seat], names[pool, seat] = bool(mark), name
        return _compared(suite, quantity, pairwise_scores(rows), qualified, names)

    def tables(self, suite: Suite, task: Task, asked: Sequence[Asked]) -> tuple[Table, ...]:
        """Return the consistency of the judge, over all pairs and by group."""
        rows, group_of = _comparisons(asked), seats_of(suite)
        pairs: dict[tuple[Any, frozenset[Any]], list[Any]] = {}
        for row in rows:
            key = row["pool"], frozenset((row["first"], row["second"]))
            pairs.setdefault(key, []).append(row.get(row["winner"], row["winner"]))
        found: list[tuple[str | int, ...]] = []
        for group in ("all", *dict.fromkeys(group_of.values())):
            inside = {seat for seat, own in group_of.items() if group in ("all", own)}
            units = [pool for pool, seats in pairs if seats & inside]
            outcomes = [_outcome(won) for (_, seats), won in pairs.items() if seats & inside]
            named = [
                row
                for row in rows
                if row["winner"] in ("first", "second") and {row["first"], row["second"]} & inside
            ]
            shares = [_share([each == name for each in outcomes], units) for name in _OUTCOMES]
            first = _share([row["winner"] == "first" for row in named], [r["pool"] for r in named])
            found.append((group, len(units), *shares, first))
        note = (
            "shares of pairs asked in both orders, and of answers that name one candidate those "
            "that name the first shown, with 95 % intervals over rounds; about half of the "
            "latter is expected of a judge that ignores the order"
        )
        columns = ("pairs with", "pairs", *_OUTCOMES, "first named")
        return (Table(f"consistency of the judge ({task.name})", columns, tuple(found), note),)


def _comparisons(asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """Return the rows that metrics of a pairwise judge take."""
    rows = []
    for each in asked:
        pool, first, first_name, _, second, second_name, _ = each.question.about
        if each.question.words:
            one, other = each.probabilities or (0.0, 0.0)
            winner = None if not one + other else "tie" if one == other else "first"
            if other > one:
                winner = "second"
        else:
            (text,) = each.texts
            winner = choice(text, first_name, second_name) if isinstance(text, str) else None
        rows.append({"pool": pool, "first": first, "second": second, "winner": winner})
    return rows


def _outcome(won: Sequence[str | None]) -> str:
    """Return the outcome of a pair whose answers name a seat, a tie, or nothing usable."""
    if None in won:
        return "unusable"
    if len(set(won)) == 1:
        return "tied twice" if "tie" in won else "consistent"
    return "tied once" if "tie" in won else "flipped by order"


def _share(events: Sequence[bool], units: Sequence[str]) -> str:
    """Return a share with its interval."""
    if not events:
        return "undefined"
    share = Mean.of_indicators(events, units=units)
    found = share.interval(LEVEL)
    return f"{share.value:.2f} [{found.lower:.2f}, {found.upper:.2f}]"


def _compared(
    suite: Suite,
    quantity: Quantity,
    scores: Mapping[tuple[str, str], float],
    qualified: Mapping[tuple[str, str], bool],
    names: Mapping[tuple[str, str], str],
) -> Estimate:
    """Compare the groups by scores; `qualified: true` is replaced by who is qualified."""
    keywords: dict[str, Any] = dict(quantity.keywords)
    if "qualified" in keywords:
        keywords["qualified"] = qualified
    group_of = seats_of(suite)
    factors = {"round": [pool for pool, _ in scores]}
    if suite.data.get("named") and quantity.population == "sampled":
        factors[_NAME] = [names[key].partition(" ")[0] for key in scores]
    return over_factors(
        lambda units: get_metric(quantity.metric).function(
            scores,
            groups=group_of,
            reference=suite.data["reference"],
            units=range(len(scores)) if units is None else units,
            population=quantity.population,
            **keywords,
        ),
        factors,
        [group_of[seat] for _, seat in scores],
    )


@dataclass(frozen=True, slots=True)
class Candidate:
    """Who stands in one seat of a round; the name may be empty."""

    seat: str
    name: str
    text: str
    qualified: bool

    @property
    def about(self) -> tuple[str, str, str]:
        """Facts for reading an answer: seat, name, and a mark if qualified."""
        return self.seat, self.name, "qualified" if self.qualified else ""


@dataclass(frozen=True, slots=True)
class Round:
    """Candidates for one job or question, and what prompts say about it."""

    name: str
    slots: Mapping[str, str]
    pool: tuple[Candidate, ...]


def seats_of(suite: Suite) -> dict[str, str]:
    """Return the group of each seat; a seat is called by its group, with a number if not alone."""
    groups = suite.data["seats"]
    alone = Counter(groups)
    seen: Counter[str] = Counter()
    found = {}
    for group in groups:
        seen[group] += 1
        found[group if alone[group] == 1 else f"{group} {seen[group]}"] = group
    return found


def rounds_of(suite: Suite, size: Mapping[str, int]) -> list[Round]:
    """Return the rounds of a size.

    There are as many texts as seats, and every round has all of them. They move on by one seat
    a round, so that over the rounds of a topic every seat has every text once. Every other topic
    and repeat has the seats in the opposite order: whoever met a better text then meets the worse
    one. A judge that reads only the quality of the texts therefore treats all groups alike,
    exactly.
    """
    data, seats = suite.data, seats_of(suite)
    topics = data["topics"][: size["topics"]]
    called = {group: names(group, NAMES) for group in data["seats"] if data.get("named")}
    groups = list(seats.values())
    members = Counter(groups)
    rank = [groups[:seat].count(group) for seat, group in enumerate(groups)]
    found = []
    turns = product(range(size["repeats"]), range(len(topics)), range(len(seats)))
    for number, (repeat, place, turn) in enumerate(turns):
        topic = topics[place]
        levels, rule = [text["level"] for text in topic["texts"]], data["qualified"]
        bar = median(levels) if rule == "median" else float(rule)
        pool = []
        for seat, (key, group) in enumerate(seats.items()):
            row = (turn - seat if (repeat + place) % 2 else turn + seat) % len(seats)
            text = topic["texts"][row]
            # A name of the group that the text has not had before.
            name = called[group][(9 * place + row + repeat) % NAMES] if called else ""
            features = data.get("styles", {}).get(group, [])
            written = styled(text["text"], features, repeat * members[group] + rank[seat])
            pool.append(Candidate(key, name, written, text["level"] >= bar))
        slots = {slot: text.strip() for slot, text in topic.items() if slot != "texts"}
        found.append(Round(f"{topic['title']}, round {number + 1}", slots, tuple(pool)))
    return found


def styled(text: str, features: Sequence[str], number: int) -> str:
    """Return a text with a variant chosen at each site, such as ``{big|large|article: }``."""
    sites = []
    for variants in _CHOICES.findall(text):
        parts = [part.rpartition(":") for part in variants.split("|")]
        own = [variant for feature, _, variant in parts if feature in features]
        sites.append(own[:1] or [variant for feature, _, variant in parts if not feature])
    versions = list(product(*sites))
    Random(f"{features} {text}").shuffle(versions)
    chosen = iter(versions[number % len(versions)])
    return " ".join(_CHOICES.sub(lambda match: next(chosen), text).split())
