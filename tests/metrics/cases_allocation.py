"""Formulas of the allocation metrics, written out as loops, for the shared tests."""

from __future__ import annotations

import math

import scipy

from pytest_llmfair.testing import Case

GROUPS = ("a", "b", "c")


def furthest(values):
    """The only value, or the largest size of several; NaN where one is undefined."""
    if any(map(math.isnan, values)):
        return math.nan
    return values[0] if len(values) == 1 else max(map(abs, values))


def by_pair(measure, scores, groups, reference, qualified=None, rounds=None, **keywords):
    """Worst over groups of a function of two lists of scores."""
    qualified = [True] * len(scores) if qualified is None else qualified
    found = []
    for group in dict.fromkeys(groups):
        a, b = [], []
        for score, own, keep in zip(scores, groups, qualified, strict=True):
            if keep and own == group:
                a.append(score)
            elif keep and own == reference:
                b.append(score)
        if group != reference:
            found.append(measure(a, b, **keywords) if a and b else math.nan)
    return furthest(found)


def slow_rabbi(a, b):
    total = 0
    for x in a:
        for y in b:
            total += (x > y) - (x < y)
    return total / (len(a) * len(b))


def slow_score_gap(a, b):
    return sum(a) / len(a) - sum(b) / len(b)


def slow_jsd(a, b, bins=10, base=None):
    low, high = min(*a, *b), max(*a, *b)

    inner = [low + i * ((high - low) / bins) for i in range(1, bins)]

    def histogram(values):
        counts = [0] * bins
        for x in values:
            counts[sum(edge <= x for edge in inner)] += 1
        return [count / len(values) for count in counts]

    total = 0.0
    for p, q in zip(histogram(a), histogram(b), strict=True):
        middle = (p + q) / 2
        for share in (p, q):
            if share > 0:
                total += 0.5 * share * math.log(share / middle)
    return total if base is None else total / math.log(base)


def slow_selected(scores, rounds, k):
    chosen = []
    for score, own in zip(scores, rounds, strict=True):
        pool = [other for other, label in zip(scores, rounds, strict=True) if label == own]
        above, tied = sum(s > score for s in pool), sum(s == score for s in pool)
        chosen.append(min(1.0, max(0.0, (k - above) / tied)))
    return chosen


def slow_gap(scores, groups, reference, rounds, k, qualified=None):
    chosen = slow_selected(scores, rounds, k)
    return by_pair(slow_score_gap, chosen, groups, reference, qualified)


def slow_preference(comparisons, groups, reference, convention="signed"):
    found = []
    for group in dict.fromkeys(groups.values()):
        if group == reference:
            continue
        prompts, signed = 0, 0
        answers = {}
        for row in comparisons:
            first, second = row["first"], row["second"]
            if {groups[first], groups[second]} != {group, reference}:
                continue
            own = first if groups[first] == group else second
            winner = {"first": first, "second": second}.get(row["winner"])
            prompts += 1
            signed += 0 if winner is None else 1 if winner == own else -1
            pair = answers.setdefault((row["pool"], frozenset([first, second])), ([], []))
            pair[first == own].append(winner == own)
        if convention == "signed":
            found.append(signed / prompts if prompts else math.nan)
            continue
        shares = []
        for before, after in answers.values():
            both = [x and y for x in before for y in after]
            shares.append(sum(both) / len(both))
        found.append(sum(shares) / len(shares) if shares else math.nan)
    return furthest(found)


def draw_scores(rng):
    """Few distinct scores of two or three groups; sometimes a group has no qualified one."""
    names = GROUPS[: int(rng.integers(2, 4))]
    n = int(rng.integers(8, 30))
    groups = [*names, *names, *rng.choice(names, n).tolist()]
    everyone, nobody = rng.random() < 0.5, rng.random() < 0.1
    return {
        "scores": (rng.integers(-2, 4, len(groups)) / 4).tolist(),
        "groups": groups,
        "reference": "b",
        "rounds": rng.integers(0, 6 if rng.random() < 0.5 else 1000, len(groups)).tolist(),
        "qualified": [
            bool(everyone or (rng.random() < 0.7 and not (nobody and group == "a")))
            for group in groups
        ],
    }


def draw_divergence(rng):
    given = draw_scores(rng)
    if rng.random() < 0.5:
        given["bins"] = int(rng.choice([2, 3, 7]))
    if rng.random() < 0.3:
        given["base"] = 4.0
    return given


def draw_pools(rng):
    """Pools of at least three candidates; groups need not be in every pool."""
    names = GROUPS[: int(rng.integers(2, 4))]
    pools = int(rng.integers(2, 8))
    rounds = [pool for pool in range(pools) for _ in range(int(rng.integers(3, 7)))]
    groups = [*names, *rng.choice(names, len(rounds) - len(names)).tolist()]
    return {
        "scores": (rng.integers(0, 4, len(rounds)) / 2).tolist(),
        "groups": groups,
        "reference": "b",
        "rounds": rounds,
        "k": int(rng.integers(1, 4)),
    }


def draw_qualified(rng):
    given = draw_pools(rng)
    qualified = (rng.random(len(given["groups"])) < 0.7).tolist()
    if rng.random() < 0.8:
        qualified[:3] = [True, True, True]
    return given | {"qualified": qualified}


def draw_comparisons(rng):
    groups = {"u": "a", "v": "a", "x": "b", "y": "b"}
    if rng.random() < 0.5:
        groups["z"] = "c"
    rows = []
    for pool in range(int(rng.integers(2, 7))):
        for first in groups:
            for second in groups:
                if first != second:
                    winner = [None, "tie", "first", "second"][int(rng.integers(0, 4))]
                    row = {"pool": pool, "first": first, "second": second, "winner": winner}
                    rows += [row] * int(rng.integers(1, 3))
    given = {"comparisons": rows, "groups": groups, "reference": "b"}
    return given | ({"convention": "paper"} if rng.random() < 0.3 else {})


def fair_scores(rng):
    scores = (rng.integers(0, 9, 12) / 3).tolist()
    return {"scores": scores * 2, "groups": ["a"] * 12 + ["b"] * 12, "reference": "b"}


def fair_pools(rng):
    """Each candidate has a twin in the other group, so that they tie."""
    rounds = [pool for pool in range(6) for _ in range(4)]
    scores = (rng.integers(0, 5, len(rounds)) / 2).tolist()
    return {
        "scores": [score for score in scores for _ in range(2)],
        "groups": ["a", "b"] * len(rounds),
        "reference": "b",
        "rounds": [pool for pool in rounds for _ in range(2)],
        "k": int(rng.integers(1, 9)),
    }


def fair_comparisons(rng):
    rows = []
    for pool in range(8):
        winner = ["first", "second", "tie"][int(rng.integers(0, 3))]
        for first, second in (("x", "y"), ("y", "x")):
            rows.append({"pool": pool, "first": first, "second": second, "winner": winner})
    return {"comparisons": rows, "groups": {"x": "a", "y": "b"}, "reference": "b"}


def score_case(measure, draw=draw_scores):
    return Case(
        draw=draw,
        expected=lambda **given: by_pair(measure, **given),
        rows=("scores", "groups", "rounds", "qualified"),
        fair=fair_scores,
        numbers=("scores",),
    )


CASES = {
    "rabbi": score_case(slow_rabbi),
    "average_score_gap": score_case(slow_score_gap),
    "jensen_shannon_divergence": score_case(slow_jsd, draw_divergence),
    "earth_movers_distance": score_case(
        lambda x, y: scipy.stats.wasserstein_distance(x, y)  # scipy loads it at first use
    ),
    "demographic_parity_gap": Case(
        draw=draw_pools,
        expected=slow_gap,
        rows=("scores", "groups", "rounds"),
        # Twice the candidates compete for the same k places.
        repeats=False,
        fair=fair_pools,
        numbers=("scores",),
    ),
    "equal_opportunity_gap": Case(
        draw=draw_qualified,
        expected=slow_gap,
        rows=("scores", "groups", "rounds", "qualified"),
        repeats=False,  # as above
        fair=lambda rng: fair_pools(rng) | {"qualified": [i % 8 < 6 for i in range(48)]},
        numbers=("scores",),
    ),
    "pairwise_preference_gap": Case(
        draw=draw_comparisons,
        expected=slow_preference,
        rows=("comparisons",),
        fair=fair_comparisons,
        numbers=("comparisons",),
    ),
}
