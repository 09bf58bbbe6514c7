"""Co-occurrence metrics written out slowly, word by word and token by token."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np

from pytest_llmfair.metrics.cooccurrence.bias_score import default_stop_words
from pytest_llmfair.testing import Case
from pytest_llmfair.text import tokens

GROUPS = {"female": ["she", "Woman", "old woman"], "male": ["he", "MAN"]}
THREE = {**GROUPS, "nonbinary": ["xe"]}
TARGETS = ["nurse", "Kind", "clever", "fire fighter", "unheard", "the"]
FILLERS = ["said", "walked", "the", "was", "old", "fire", "house"]


def text(rng, groups, words):
    named = [word for own in groups.values() for word in own]
    pools = [named, words, FILLERS]
    picked = (pools[k][rng.integers(len(pools[k]))] for k in rng.integers(0, 3, rng.integers(12)))
    return " ".join(picked)


def draw_two(rng):
    words = TARGETS[: rng.integers(1, 7)]
    return {
        "responses": [text(rng, GROUPS, words) for _ in range(rng.integers(2, 30))],
        "group_words": GROUPS,
        "target_words": words,
    }


def draw_several(rng):
    groups = THREE if rng.random() < 0.25 else GROUPS
    words = rng.permutation(TARGETS)[: rng.integers(1, 4)].tolist()
    return {
        "responses": [text(rng, groups, words) for _ in range(rng.integers(2, 30))],
        "group_words": groups,
        "target_words": words,
    }


def draw_cobs(rng):
    given = draw_two(rng)
    if rng.random() < 0.3:
        given["window"] = int(rng.integers(1, 6))
    elif rng.random() < 0.5:
        given["decay"] = float(rng.uniform(0.3, 1.0))
    if rng.random() < 0.4:
        given["magnitude"] = True
    return given


def draw_associations(rng):
    given = draw_several(rng)
    if rng.random() < 0.3:
        given["reference"] = "observed"
    elif rng.random() < 0.4:
        shares = rng.dirichlet(np.ones(len(given["group_words"])))
        given["reference"] = dict(zip(given["group_words"], shares.tolist(), strict=True))
    return given


def without_bias(rng, groups=("she", "he")):
    """Each text comes once per group, otherwise word for word the same."""
    texts = []
    for _ in range(rng.integers(2, 8)):
        one = "{0} " + text(rng, {"none": ["walked"]}, ["nurse", "kind"]) + " nurse {0} kind"
        texts += [one.format(word) for word in groups]
    return {"responses": texts, "group_words": GROUPS, "target_words": ["nurse", "kind"]}


def starts(words, term):
    n = len(term)
    return [i for i in range(len(words) - n + 1) if words[i : i + n] == term]


def read(response, group_words):
    """Tokens, the group mentioned at each of some places, and the places inside mentions."""
    words = tokens(response)
    terms = [(tokens(term), group) for group, own in group_words.items() for term in own]
    mentions, inside = {}, set()
    for i in range(len(words)):
        here = [(len(term), group) for term, group in terms if i in starts(words, term)]
        if here and i not in inside:
            length, group = max(here, key=lambda found: found[0])
            mentions[i] = group
            inside |= set(range(i, i + length))
    return words, mentions, inside


def legal_targets(target_words, stop_words=None):
    stops = set(default_stop_words() if stop_words is None else stop_words)
    return [w for w in target_words if not set(tokens(w)) <= stops]


def word_log_ratios(
    responses, group_words, target_words, window=None, decay=0.95, stop_words=None, smoothing=0.0
):
    stops = set(default_stop_words() if stop_words is None else stop_words)
    first, second = group_words
    targets = legal_targets(target_words, stop_words)
    with_word = {word: {first: 0.0, second: 0.0} for word in targets}
    with_any = {first: 0.0, second: 0.0}
    count = {first: 0, second: 0}
    for response in responses:
        words, mentions, inside = read(response, group_words)
        for group in mentions.values():
            count[group] += 1

        def weight(i, group, mentions=mentions):
            total = 0.0
            for j, other in mentions.items():
                distance = abs(i - j)
                if other == group and (window is None or distance <= window):
                    total += decay**distance if window is None else 1.0
            return total

        for group in group_words:
            for i, word in enumerate(words):
                if i not in inside and word not in stops:
                    with_any[group] += weight(i, group)
            for word in targets:
                term = tokens(word)
                for i in starts(words, term):
                    if not inside & set(range(i, i + len(term))):
                        with_word[word][group] += weight(i, group)
    found = {}
    for word, sums in with_word.items():
        if not any(sums.values()) or 0 in (*count.values(), *with_any.values()):
            continue
        a, b = (sums[g] + smoothing for g in group_words)
        if a == 0.0 or b == 0.0:
            found[word] = math.inf if a else -math.inf
            continue
        p_a = (a / with_any[first]) / count[first]
        p_b = (b / with_any[second]) / count[second]
        found[word] = math.log(p_a / p_b)
    return found


def cobs(magnitude=False, **given):
    finite = [x for x in word_log_ratios(**given).values() if math.isfinite(x)]
    if not finite:
        return math.nan
    return sum(abs(x) if magnitude else x for x in finite) / len(finite)


def looked_up(responses, group_words, target_words):
    """Per response: mentions of each group, and the targets it holds."""
    rows = []
    for response in responses:
        words, mentions, inside = read(response, group_words)
        held = set()
        for target in legal_targets(target_words):
            term = tokens(target)
            for i in starts(words, term):
                if not inside & set(range(i, i + len(term))):
                    held.add(target)
        rows.append(({g: list(mentions.values()).count(g) for g in group_words}, held))
    return rows


def associations(responses, group_words, target_words, reference=None):
    rows = looked_up(responses, group_words, target_words)
    if reference is None:
        reference = dict.fromkeys(group_words, 1 / len(group_words))
    elif reference == "observed":
        everything = sum(sum(mentions.values()) for mentions, _ in rows)
        if everything == 0:
            return math.nan
        reference = {g: sum(mentions[g] for mentions, _ in rows) / everything for g in group_words}
    distances = []
    for target in legal_targets(target_words):
        gamma = {
            g: sum(mentions[g] for mentions, held in rows if target in held) for g in group_words
        }
        total = sum(gamma.values())
        if total:
            distances.append(sum(abs(gamma[g] / total - reference[g]) for g in group_words) / 2)
    return sum(distances) / len(distances) if distances else math.nan


def group_associations(responses, group_words, target_words):
    rows = looked_up(responses, group_words, target_words)
    rates = {}
    for group in group_words:
        own = [held for mentions, held in rows if mentions[group]]
        if own:
            rates[group] = {
                t: sum(t in held for held in own) / len(own) for t in legal_targets(target_words)
            }
    gaps = [abs(a[t] - b[t]) for a, b in combinations(rates.values(), 2) for t in a]
    return max(gaps, default=math.nan)


def neutral_associations(responses, group_words, target_words):
    rows = looked_up(responses, group_words, target_words)
    if not any(any(mentions.values()) for mentions, _ in rows):
        return math.nan
    gaps = []
    for target in legal_targets(target_words):
        own = [mentions for mentions, held in rows if target in held]
        if own:
            rates = [sum(mentions[g] > 0 for mentions in own) / len(own) for g in group_words]
            gaps += [abs(a - b) for a, b in combinations(rates, 2)]
    return max(gaps, default=math.nan)


def case(draw, expected):
    return Case(
        draw=draw,
        expected=expected,
        rows=("responses",),
        fair=without_bias,
        numbers=("responses", "group_words", "target_words"),
    )


CASES = {
    "cooccurrence_bias_score": case(draw_cobs, cobs),
    "stereotypical_associations": case(draw_associations, associations),
    "equal_group_associations": case(draw_several, group_associations),
    "equal_neutral_associations": case(draw_several, neutral_associations),
}
