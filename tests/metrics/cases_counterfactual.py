"""Formulas of similarity and sentiment parity of counterfactual pairs, written out slowly."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import scipy

from pytest_llmfair.testing import Case

WORDS = ["a", "bird", "sang", "in", "the", "rain", "it's", "naïve"]
LEVELS = [0.0, 0.25, 0.5, 0.51, 0.9, 1.0]


def draw_text(rng):
    """Short texts of one to three sentences, some of them without a word."""
    if rng.random() < 0.1:
        return str(rng.choice(["", "...", " "]))
    sentences = [
        " ".join(rng.choice(WORDS, rng.integers(1, 8))) + str(rng.choice([".", "!", "?"]))
        for _ in range(rng.integers(1, 4))
    ]
    return " ".join(sentences)


def draw_near(rng, text):
    """The same text, the same with a word left out, or another."""
    words = text.split(" ")
    kind = rng.integers(3)
    if kind == 1:
        del words[rng.integers(len(words))]
    return draw_text(rng) if kind == 2 else " ".join(words)


def draw_texts(rng):
    pairs, answers = int(rng.integers(2, 9)), int(rng.choice([1, 1, 2, 3]))
    rows_a = [[draw_text(rng) for _ in range(answers)] for _ in range(pairs)]
    rows_b = [[draw_near(rng, text) for text in row] for row in rows_a]
    if answers == 1 and rng.random() < 0.5:
        return {"texts_a": [row[0] for row in rows_a], "texts_b": [row[0] for row in rows_b]}
    return {"texts_a": rows_a, "texts_b": rows_b}


def equal_texts(rng):
    texts = [draw_text(rng) for _ in range(rng.integers(2, 9))]
    return {"texts_a": texts, "texts_b": list(texts)}


def draw_scores(rng):
    pairs, answers = int(rng.integers(2, 9)), int(rng.choice([1, 1, 3]))
    draw = {f"scores_{side}": rng.choice(LEVELS, (pairs, answers)) for side in "ab"}
    return {name: rows.tolist() for name, rows in draw.items()}


def draw_any_scores(rng):
    """Scores in any unit, of one answer or several."""
    shape = (int(rng.integers(2, 9)), int(rng.choice([1, 1, 3])))
    unit = float(rng.choice([0.001, 1.0, 1000.0]))
    return {f"scores_{side}": (unit * rng.integers(-5, 60, shape)).tolist() for side in "ab"}


def difference_of_means(scores_a, scores_b):
    """Mean over rows of the mean score, first side minus second."""
    sides = []
    for rows in (scores_a, scores_b):
        means = [math.fsum(row) / len(row) for row in (np.atleast_1d(r).tolist() for r in rows)]
        sides.append(math.fsum(means) / len(means))
    return sides[0] - sides[1]


def draw_with_threshold(rng):
    return draw_scores(rng) | {"threshold": float(rng.choice([0.0, 0.25, 0.5]))}


def equal_scores(rng):
    scores = rng.choice(LEVELS, rng.integers(2, 9)).tolist()
    return {"scores_a": scores, "scores_b": list(scores)}


def draw_embeddings(rng):
    shape = (int(rng.integers(2, 7)), int(rng.choice([1, 2, 3])), 4)
    first, second = rng.integers(-3, 4, shape), rng.integers(-3, 4, shape)
    if shape[1] == 1:
        first, second = first[:, 0], second[:, 0]
    return {"embeddings_a": first.tolist(), "embeddings_b": second.tolist()}


def equal_embeddings(rng):
    rows = rng.standard_normal((int(rng.integers(2, 9)), 5))
    return {"embeddings_a": rows, "embeddings_b": 3.0 * rows}


def words(text):
    """Tokens of the alphabet above."""
    found = []
    for part in text.split():
        word = "".join(c for c in part if c.isalpha() or c == "'").casefold()
        if word:
            found.append(word)
    return found


def sentence_words(text):
    found, current = [], []
    for part in text.split():
        current += words(part)
        if part[-1] in ".!?":
            found.append(current)
            current = []
    return [*found, current]


def rouge_l(text_a, text_b):
    a, b = words(text_a), words(text_b)
    if not a or not b:
        return float(a == b)
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            longest = max(table[i][j + 1], table[i + 1][j])
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else longest
    common = table[-1][-1]
    if not common:
        return 0.0
    recall, precision = common / len(a), common / len(b)
    return 2 * recall * precision / (recall + precision)


def bleu(candidate, reference):
    """BLEU of one text against one other, as printed, by the orders that it has."""
    product, orders = 1.0, 0
    for n in range(1, 5):
        grams, others = (
            [
                tuple(sentence[i : i + n])
                for sentence in sentence_words(text)
                for i in range(len(sentence) - n + 1)
            ]
            for text in (candidate, reference)
        )
        if not grams:
            continue
        clipped = sum(min(grams.count(g), others.count(g)) for g in dict.fromkeys(grams))
        product *= clipped / len(grams)
        orders += 1
    penalty = min(1.0, math.exp(1 - len(words(reference)) / len(words(candidate))))
    return penalty * product ** (1 / orders)


def smaller_bleu(text_a, text_b):
    if not words(text_a) or not words(text_b):
        return float(words(text_a) == words(text_b))
    return min(bleu(text_a, text_b), bleu(text_b, text_a))


def cosine(x, y):
    product = sum(a * b for a, b in zip(x, y, strict=True))
    return product / math.sqrt(sum(a * a for a in x)) / math.sqrt(sum(b * b for b in y))


def nested(row, depth):
    """Whether a row holds several answers: the depth of one answer is known."""
    for _ in range(depth):
        if isinstance(row, (str, float, int)):
            return False
        row = row[0]
    return True


def mean_of_cross_pairs(rows_a, rows_b, compare, depth=1):
    total = 0.0
    for a, b in zip(rows_a, rows_b, strict=True):
        some_a = list(a) if nested(a, depth) else [a]
        some_b = list(b) if nested(b, depth) else [b]
        cross = [compare(x, y) for x in some_a for y in some_b]
        total += sum(cross) / len(cross)
    return total / len(rows_a)


def mean_cosine(embeddings_a, embeddings_b):
    for x in (*np.reshape(embeddings_a, (-1, 4)), *np.reshape(embeddings_b, (-1, 4))):
        if not any(x):
            return math.nan
    return mean_of_cross_pairs(embeddings_a, embeddings_b, cosine, depth=2)


def weak_parity(scores_a, scores_b, threshold):
    return mean_of_cross_pairs(
        scores_a, scores_b, lambda x, y: abs((x > threshold) - (y > threshold))
    )


def text_case(compare):
    return Case(
        draw=draw_texts,
        expected=lambda texts_a, texts_b: mean_of_cross_pairs(texts_a, texts_b, compare),
        rows=("texts_a", "texts_b"),
        fair=equal_texts,
        numbers=("texts_a", "texts_b"),
    )


def draw_answers(rng):
    """Answers of a few words to few pairs, on one side sometimes harsher than on the other."""
    pairs, most = int(rng.integers(2, 9)), int(rng.choice([1, 1, 2, 3]))
    harsh = rng.random()

    def side(share):
        return [
            [
                "no never" if rng.random() < share else draw_text(rng)
                for _ in range(rng.integers(1, most + 1))
            ]
            for _ in range(pairs)
        ]

    draw = {"texts_a": side(harsh), "texts_b": side(0.0)}
    if rng.random() < 0.3:
        draw["units"] = [int(x) for x in rng.integers(0, 3, pairs)]
    return draw


def presence(text, known):
    """Words and word pairs of a text among the known ones, and the logarithm of its length."""
    said = [word for word in re.findall(r"[a-zï']+", text.casefold()) if word.strip("'")]
    held = {*said, *(" ".join(both) for both in itertools.pairwise(said))}
    return [float(name in held) for name in known], math.log(1 + len(said)), held


def guessed(texts_a, texts_b, units=None):
    """The share of combinations that a ridge regression in feature space orders rightly."""
    n = len(texts_a)
    labels = list(range(n)) if units is None else units
    count = len(set(labels))
    if count < 2:
        return math.nan
    given = [text for side in (texts_a, texts_b) for row in side for text in row]
    every = [name for text in given for name in presence(text, [])[2]]
    known = sorted(name for name in set(every) if every.count(name) > 1)
    sides = [
        [[[*presence(t, known)[0], presence(t, known)[1]] for t in row] for row in side]
        for side in (texts_a, texts_b)
    ]
    means = np.array([[np.mean(row, axis=0) for row in side] for side in sides])
    squares = np.mean((means[0] - means[1]) ** 2, axis=0)
    scale = np.full(len(squares), math.inf)
    for block, damping in ((range(len(known)), 1e-3), ([len(known)], 0.0)):
        told = [j for j in block if squares[j] > 1e-12]
        weight = sum(squares[j] / (squares[j] + damping) for j in told)
        for j in told:
            scale[j] = math.sqrt((squares[j] + damping) * weight)
    place = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    draw = np.random.default_rng(21)
    right = np.zeros(n)
    partitions = max(1, min(5, 1500 // n))
    for _ in range(partitions):
        fold = draw.permutation(count) % min(5, count)
        fold = [int(fold[place[label]]) for label in labels]
        for i in range(n):
            learn = [j for j in range(n) if fold[j] != fold[i]]
            d = (means[0] - means[1])[learn] / scale
            kernel = d @ d.T
            ridge = 0.3 * np.trace(kernel) / len(learn)
            if ridge <= 1e-12:
                right[i] += 0.5 / partitions
                continue
            w = d.T @ np.linalg.solve(kernel + ridge * np.eye(len(learn)), np.ones(len(learn)))
            a, b = (np.array(side[i]) / scale @ w for side in sides)
            gaps = np.subtract.outer(a, b)
            tied = np.abs(gaps) < 1e-7
            right[i] += np.where(tied, 0.5, gaps > 0).mean() / partitions
    return max(0.5, float(right.mean()))


CASES = {
    "group_predictability": Case(
        draw=draw_answers,
        expected=guessed,
        fair=equal_texts,
        numbers=("texts_a", "texts_b"),
    ),
    "counterfactual_rouge_l": text_case(rouge_l),
    "counterfactual_bleu": text_case(smaller_bleu),
    "exact_match": text_case(lambda a, b: float(a == b)),
    "counterfactual_cosine": Case(
        draw=draw_embeddings,
        expected=mean_cosine,
        rows=("embeddings_a", "embeddings_b"),
        fair=equal_embeddings,
        numbers=("embeddings_a", "embeddings_b"),
    ),
    "strict_sentiment_parity": Case(
        draw=draw_scores,
        expected=lambda scores_a, scores_b: scipy.stats.wasserstein_distance(
            np.ravel(scores_a), np.ravel(scores_b)
        ),
        rows=("scores_a", "scores_b"),
        fair=equal_scores,
        numbers=("scores_a", "scores_b"),
    ),
    "score_difference": Case(
        draw=draw_any_scores,
        expected=difference_of_means,
        rows=("scores_a", "scores_b"),
        fair=equal_scores,
        numbers=("scores_a", "scores_b"),
    ),
    "weak_sentiment_parity": Case(
        draw=draw_with_threshold,
        expected=weak_parity,
        rows=("scores_a", "scores_b"),
        fair=equal_scores,
        numbers=("scores_a", "scores_b"),
    ),
}
