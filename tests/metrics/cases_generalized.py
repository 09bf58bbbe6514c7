"""Formulas of Czarnowska et al. (2021), written out slowly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from itertools import combinations, product

import numpy as np
import scipy

from pytest_llmfair.testing import Case

NAN = math.nan


# Data ---------------------------------------------------------------------------------------


def draw_predictions(rng, most=3, classes=3):
    """Groups of different sizes, three classes; a group may lack one."""
    names = ["b", "a", "c"][: int(rng.integers(2, most + 1))]
    n = int(rng.integers(5, 40))
    groups = [*names, *rng.choice(names, n).tolist()]
    return {
        "y_true": rng.integers(0, classes, len(groups)).tolist(),
        "y_pred": rng.integers(0, classes, len(groups)),
        "groups": groups,
    }


def draw_parity(rng):
    given = draw_predictions(rng)
    del given["y_true"]
    return given


def draw_attachments(rng):
    """Sentences as lists of (head, label), and now and then single tokens."""
    given = draw_predictions(rng, most=2)
    y_true, y_pred = [], []
    for _ in given["groups"]:
        size = int(rng.integers(1, 4))
        gold = [(int(rng.integers(0, 3)), str(rng.choice(["nsubj", "obj"]))) for _ in range(size)]
        predicted = [token if rng.random() < 0.7 else (9, "obj") for token in gold]
        y_true.append(gold if size > 1 else gold[0])
        y_pred.append(predicted if size > 1 else predicted[0])
    return {"y_true": y_true, "y_pred": y_pred, "groups": given["groups"]}


def draw_probabilities(rng, classes=3, gold=False):
    """Probabilities with ties."""
    given = draw_predictions(rng, classes=classes)
    n = len(given["groups"])
    table = rng.integers(0, 4, (n, classes)) / (3.0 * classes)
    found = {"y_prob": table if rng.random() < 0.7 else table[:, 1].tolist()}
    if gold:
        found["y_true"] = given["y_true"]
    return found | {"groups": given["groups"]}


def draw_counterfactuals(rng, groups=None, gold=True):
    """Two or three groups, one or several variations each, probabilities of exactly 0."""
    names = ["b", "a", "c"][: groups or int(rng.integers(2, 4))]
    several = rng.random() < 0.5
    y_prob = []
    for _ in range(int(rng.integers(2, 12))):
        example = []
        for _ in names:
            rows = rng.integers(0, 4, (int(rng.integers(1, 4)), 3)) / 9.0
            example.append(rows.tolist() if several else rows[0].tolist())
        y_prob.append(example)
    found = {"y_prob": y_prob, "groups": names}
    if gold:
        found["y_true"] = rng.integers(0, 3, len(y_prob)).tolist()
    return found


def draw_with_original(rng):
    given = draw_counterfactuals(rng)
    return given | {"original": rng.integers(0, 4, (len(given["y_prob"]), 3)) / 9.0}


def fair_predictions(rng, groups=3):
    """The same rows in every group, with errors of both kinds."""
    y_true = [0, 0, 1, 1, *rng.integers(0, 2, 6).tolist()]
    y_pred = [0, 1, 0, 1, *rng.integers(0, 2, 6).tolist()]
    return {
        "y_true": y_true * groups,
        "y_pred": y_pred * groups,
        "groups": [name for name in "xyz"[:groups] for _ in range(10)],
    }


def fair_probabilities(rng):
    return {
        "y_true": [0, 1, 0, 1, 1] * 3,
        "y_prob": np.tile(rng.random((5, 1)) * [0.4, 0.6], (3, 1)),
        "groups": ["x"] * 5 + ["y"] * 5 + ["z"] * 5,
    }


def fair_counterfactuals(rng, groups=3, original=False):
    rows = rng.random((6, 3)) / 3.0
    found = {
        "y_true": [0, 1, 2, 0, 1, 1],
        "y_prob": [[row.tolist()] * groups for row in rows],
        "groups": ["x", "y", "z"][:groups],
    }
    return found | ({"original": rows} if original else {})


# Scores -------------------------------------------------------------------------------------


def rate(kind, y_true, y_pred):
    """Share of hits among what counts, over some rows."""
    hits = counted = 0
    for t, p in zip(y_true, y_pred, strict=True):
        gold, predicted = t == 1, p == 1
        if kind == "FPR":
            counted, hits = counted + (not gold), hits + (not gold and predicted)
        elif kind == "TNR":
            counted, hits = counted + (not gold), hits + (not gold and not predicted)
        elif kind == "FNR":
            counted, hits = counted + gold, hits + (gold and not predicted)
        elif kind == "TPR":
            counted, hits = counted + gold, hits + (gold and predicted)
        elif kind == "F1":
            counted, hits = counted + gold + predicted, hits + 2 * (gold and predicted)
        elif kind == "selection":
            counted, hits = counted + 1, hits + predicted
        else:
            counted, hits = counted + 1, hits + (gold == predicted)
    return hits / counted if counted else NAN


def rows_where(groups, wanted):
    return [i for i, name in enumerate(groups) if wanted(name)]


def rates(kind, y_true, y_pred, groups):
    """Rate of each group, and of all the others."""
    found = {}
    for name in dict.fromkeys(groups):
        own = rows_where(groups, lambda g, n=name: g == n)
        rest = rows_where(groups, lambda g, n=name: g != n)
        found[name] = tuple(
            rate(kind, [y_true[i] for i in rows], [y_pred[i] for i in rows])
            for rows in (own, rest)
        )
    return found


def over(a, b):
    if math.isnan(a) or math.isnan(b) or a == b == 0:
        return NAN
    return a / b if b else math.inf


def nan_if_any(values, value):
    return NAN if any(map(math.isnan, values)) else value()


# Rows ---------------------------------------------------------------------------------------


def background_gaps(kind, star, y_true, y_pred, groups):
    everyone = rate(kind, y_true, y_pred)
    own = [pair[0] for pair in rates(kind, y_true, y_pred, groups).values()]
    return nan_if_any(own, lambda: sum(abs(everyone - x) for x in own) / (len(own) if star else 1))


def pair_gaps(kind, divisor, y_pred, groups, y_true=None):
    own = [pair[0] for pair in rates(kind, y_true or y_pred, y_pred, groups).values()]
    pairs = list(combinations(own, 2))
    by = len(pairs) if divisor == "P" else len(own)
    return nan_if_any(own, lambda: sum(abs(a - b) for a, b in pairs) / by)


def difference(kind, y_true, y_pred, groups):
    (a, _), (b, _) = rates(kind, y_true, y_pred, groups).values()
    return a - b


def f1_ratio(y_true, y_pred, groups):
    (a, _), (b, _) = rates("F1", y_true, y_pred, groups).values()
    return over(a, b)


def las_difference(y_true, y_pred, groups):
    shares = {}
    for t, p, name in zip(y_true, y_pred, groups, strict=True):
        gold, predicted = (x if isinstance(x, list) else [x] for x in (t, p))
        hits, count = shares.get(name, (0, 0))
        right = sum(a == b for a, b in zip(gold, predicted, strict=True))
        shares[name] = hits + right, count + len(gold)
    (a, n), (b, m) = shares.values()
    return a / n - b / m


def furthest_ratio(kind, y_true, y_pred, groups):
    found = [over(own, rest) for own, rest in rates(kind, y_true, y_pred, groups).values()]
    if len(found) == 2:
        return found[0]
    return nan_if_any(
        found, lambda: max(found, key=lambda r: abs(math.log(r)) if 0 < r < math.inf else math.inf)
    )


def scores_of(y_prob):
    return [row if np.ndim(row) == 0 else row[1] for row in y_prob]


def avg_gf(y_prob, groups, y_true=None):
    scores = scores_of(y_prob)
    names = dict.fromkeys(groups)
    if y_true is not None:
        kept = [i for i, t in enumerate(y_true) if t == 1]
        scores, groups = [scores[i] for i in kept], [groups[i] for i in kept]
    total = 0.0
    for name in names:
        own = [scores[i] for i in rows_where(groups, lambda g, n=name: g == n)]
        if not own:
            return NAN
        total += scipy.stats.wasserstein_distance(scores, own)
    return total / len(names)


def avg_eg(wanted, y_prob, groups, y_true):
    scores = scores_of(y_prob)
    values = []
    for name in dict.fromkeys(groups):
        gold = [i for i, t in enumerate(y_true) if (t == 1) == wanted]
        own = [scores[i] for i in gold if groups[i] == name]
        rest = [scores[i] for i in gold if groups[i] != name]
        if not own or not rest:
            return NAN
        # U of the background: its wins over the group, ties as halves.
        u = sum(Fraction(2 * (x > y) + (x == y), 2) for x in rest for y in own)
        values.append(float(Fraction(1, 2) - u / (len(own) * len(rest))))
    return values[0] if len(values) == 2 else max(map(abs, values))


def variations(own):
    return own if np.ndim(own) == 2 else [own]


def per_example(compare, y_prob, y_true, kept=None):
    """Mean over examples of the mean over all combinations of one variation per group."""
    values = []
    for j, example in enumerate(y_prob):
        if kept is not None and not kept(j):
            continue
        c = 1 if y_true is None else y_true[j]
        found = [
            compare([row[c] for row in chosen], j) for chosen in product(*map(variations, example))
        ]
        values.append(sum(found) / len(found))
    return sum(values) / len(values) if values else NAN


def mean_over_pairs(scores, _):
    pairs = list(combinations(scores, 2))
    return sum(abs(a - b) for a, b in pairs) / len(pairs)


def cf_gap(y_prob, groups, y_true=None, original=None, true_class=False):
    kept = (lambda j: y_true[j] == 1) if true_class else None

    def from_original(scores, j):
        return sum(abs(original[j][1] - x) for x in scores) / len(scores)

    compare = mean_over_pairs if original is None else from_original
    return per_example(compare, y_prob, None, kept)


def pert_ss(y_prob, groups, y_true, original=None):
    if original is None:
        return per_example(mean_over_pairs, y_prob, y_true)
    return max(
        per_example(lambda scores, j, g=g: abs(original[j][y_true[j]] - scores[g]), y_prob, y_true)
        for g in range(len(groups))
    )


def deviation(scores, _):
    mean = sum(scores) / len(scores)
    return math.sqrt(sum((x - mean) ** 2 for x in scores) / len(scores))


def widest(scores, _):
    return max(scores) - min(scores)


def avg_if(y_prob, groups, y_true=None, true_class=False):
    values = []
    for j, example in enumerate(y_prob):
        if true_class and y_true[j] != 1:
            continue
        sets = [[row[1] for row in variations(own)] for own in example]
        pairs = list(combinations(sets, 2))
        values.append(sum(scipy.stats.wasserstein_distance(x, y) for x, y in pairs) / len(pairs))
    return sum(values) / len(values) if values else NAN


def score_difference(y_prob, groups, y_true=None):
    values = []
    for example in y_prob:
        first, second = ([row[1] for row in variations(own)] for own in example)
        values.append(sum(first) / len(first) - sum(second) / len(second))
    return sum(values) / len(values)


# General functions --------------------------------------------------------------------------


def mean_score(rows):
    return np.mean(np.asarray(rows)[:, 1])


def gap(x, y):
    return abs(x - y)


def draw_scores(rng):
    given = draw_probabilities(rng)
    if np.ndim(given["y_prob"]) == 1:
        given["y_prob"] = [[1.0 - p, p] for p in given["y_prob"]]
    return given


def group_means(y_prob, groups):
    return {
        name: sum(y_prob[i][1] for i in rows) / len(rows)
        for name in dict.fromkeys(groups)
        for rows in [rows_where(groups, lambda g, n=name: g == n)]
    }


def slow_pairwise(phi, d, y_prob, groups):
    pairs = list(combinations(group_means(y_prob, groups).values(), 2))
    return sum(abs(a - b) for a, b in pairs) / len(pairs)


def slow_background(phi, d, y_prob, groups, aggregate):
    everyone = sum(row[1] for row in y_prob) / len(y_prob)
    gaps = [abs(everyone - x) for x in group_means(y_prob, groups).values()]
    return sum(gaps) / len(gaps) if aggregate else max(gaps)


def slow_multigroup(phi, d, y_prob, groups):
    return deviation(list(group_means(y_prob, groups).values()), 0)


def with_functions(rng, d, draw=draw_scores, **keywords):
    given = draw(rng)
    given.pop("y_true", None)
    return {"phi": mean_score, "d": d, **given, **keywords}


def prediction_case(expected, *, signed=False, two=False):
    return Case(
        draw=partial(draw_predictions, most=2 if two else 3),
        expected=expected,
        rows=("y_true", "y_pred", "groups"),
        fair=partial(fair_predictions, groups=2 if two else 3),
        signed=signed,
        numbers=("y_true", "y_pred"),
    )


def probability_case(expected, *, gold=False, signed=False, classes=3):
    rows = ("y_prob", "groups", "y_true") if gold else ("y_prob", "groups")
    return Case(
        draw=partial(draw_probabilities, gold=gold, classes=classes),
        expected=expected,
        rows=rows,
        fair=fair_probabilities,
        signed=signed,
        numbers=("y_prob", "y_true") if gold else ("y_prob",),
    )


def counterfactual_case(expected, *, draw=draw_counterfactuals, groups=3, original=False):
    rows = ("y_prob", "y_true", "original") if original else ("y_prob", "y_true")
    return Case(
        draw=draw_with_original if original else draw,
        expected=expected,
        rows=rows,
        fair=partial(fair_counterfactuals, groups=groups, original=original),
        numbers=rows,
    )


CASES = {
    "fped": prediction_case(partial(background_gaps, "FPR", False)),
    "fped_star": prediction_case(partial(background_gaps, "FPR", True)),
    "fned": prediction_case(partial(background_gaps, "FNR", False)),
    "fned_star": prediction_case(partial(background_gaps, "FNR", True)),
    "avg_gf": probability_case(avg_gf),
    "avg_gf_tc": probability_case(avg_gf, gold=True),
    "fpr_ratio": prediction_case(partial(furthest_ratio, "FPR"), signed=True),
    "fnr_ratio": prediction_case(partial(furthest_ratio, "FNR"), signed=True),
    "pos_avg_eg": probability_case(partial(avg_eg, True), gold=True, signed=True),
    "neg_avg_eg": probability_case(partial(avg_eg, False), gold=True, signed=True, classes=2),
    "disparity_score": prediction_case(partial(pair_gaps, "F1", "T")),
    "disparity_score_star": prediction_case(partial(pair_gaps, "F1", "P")),
    "tpr_gap": prediction_case(partial(pair_gaps, "TPR", "P")),
    "tnr_gap": prediction_case(partial(pair_gaps, "TNR", "P")),
    "parity_gap": Case(
        draw=draw_parity,
        expected=partial(pair_gaps, "selection", "P"),
        rows=("y_pred", "groups"),
        fair=fair_predictions,
        numbers=("y_pred",),
    ),
    "accuracy_difference": prediction_case(partial(difference, "accuracy"), signed=True, two=True),
    "tpr_difference": prediction_case(partial(difference, "TPR"), signed=True, two=True),
    "f1_difference": prediction_case(partial(difference, "F1"), signed=True, two=True),
    "las_difference": Case(
        draw=draw_attachments,
        expected=las_difference,
        rows=("y_true", "y_pred", "groups"),
        signed=True,
        numbers=("y_true", "y_pred"),
    ),
    "recall_difference": prediction_case(partial(difference, "TPR"), signed=True, two=True),
    "f1_ratio": prediction_case(f1_ratio, signed=True, two=True),
    "cf_gap": counterfactual_case(cf_gap),
    "cf_gap_tc": counterfactual_case(partial(cf_gap, true_class=True), original=True),
    "pert_ss": counterfactual_case(pert_ss, original=True),
    "pert_sd": counterfactual_case(
        lambda y_prob, groups, y_true: per_example(deviation, y_prob, y_true)
    ),
    "pert_sr": counterfactual_case(
        lambda y_prob, groups, y_true: per_example(widest, y_prob, y_true)
    ),
    "avg_if": counterfactual_case(avg_if),
    "avg_if_tc": counterfactual_case(partial(avg_if, true_class=True)),
    "average_score_difference": counterfactual_case(
        score_difference, draw=partial(draw_counterfactuals, groups=2), groups=2
    ),
    "pairwise_comparison": Case(
        draw=partial(with_functions, d=gap),
        expected=slow_pairwise,
        rows=("y_prob", "groups"),
        fair=partial(with_functions, d=gap, draw=fair_probabilities),
        numbers=("y_prob",),
    ),
    "background_comparison": Case(
        draw=lambda rng: with_functions(rng, gap, aggregate=bool(rng.integers(0, 2))),
        expected=slow_background,
        rows=("y_prob", "groups"),
        fair=partial(with_functions, d=gap, draw=fair_probabilities),
        numbers=("y_prob",),
    ),
    "multigroup_comparison": Case(
        draw=partial(with_functions, d=np.std),
        expected=slow_multigroup,
        rows=("y_prob", "groups"),
        fair=partial(with_functions, d=np.std, draw=fair_probabilities),
        numbers=("y_prob",),
    ),
}
