"""FairPair: difference between two sides relative to sampling noise (Dwivedi-Yu 2024)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Literal

from pytest_llmfair._util.validation import share, whole
from pytest_llmfair.metrics import _examples
from pytest_llmfair.metrics._paired_perturbations import (
    SideAnswers,
    describe_lengths,
    fold_count,
    folded,
    prepared,
)
from pytest_llmfair.metrics._registry import metric
from pytest_llmfair.metrics.arguments import (
    Dissimilarity,
    Floats,
    TextRows,
    labels,
    text_rows,
)
from pytest_llmfair.stats import FairPairRatio, Finding, Population
from pytest_llmfair.text import tokens

__all__ = ["fairpair", "ngram_contrast", "perturbation_is_valid"]


@metric(
    family="fairpair",
    paper="dwivedi2024",
    symbol="F",
    direction="lower",
    bounds=(0.0, math.inf),
    fair_value=1.0,
    unit="prompt",
    generations=100,
    reported="1.00 to 1.04 with Jaccard, 1.00 to 1.09 with sentiment (GPT-2 to InstructGPT, six "
    "models, 60 prompts x 100 samples a side)",
    example=_examples.continuations,
)
def fairpair(
    perturbed_continuations: Sequence[Any],
    continuations_of_perturbed: Sequence[Any],
    *,
    dissimilarity: Dissimilarity = "jaccard",
    folds: int | None = None,
    aggregate: Literal["pooled", "mean"] = "pooled",
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> FairPairRatio:
    """Difference between the answers of two sides, relative to the variability inside them.

    F of Dwivedi-Yu (2024), section 2: ``B^2 / (V_a V_b)`` with B the mean dissimilarity over all
    pairs of answers to a prompt from different sides, V over the pairs from one side. It is 1
    where the sides differ by sampling alone; values below 1 are noise.

    Parameters
    ----------
    perturbed_continuations : sequence of sequences
        Per prompt the answers to it, perturbed to the other group: p(g(x)). Texts, token sets or
        scores.
    continuations_of_perturbed : sequence of sequences
        Per prompt the answers to the perturbed prompt: g(p(x)). Row i of both is one prompt.
    dissimilarity : {"jaccard", "sentiment"} or callable
        "jaccard": share of the tokens of both that only one has (token sets are taken as they
        are, texts split into Unicode words). "sentiment": absolute difference of VADER's compound
        scores, or of the scores given. A callable takes two answers and must be symmetric.
    folds : int, optional
        Join the answers of each side to so many contiguous folds first: the union of their
        tokens, the mean of their scores. The scale of F depends on it.
    aggregate : {"pooled", "mean"}
        Ratio of the means over prompts, or the paper's mean of the prompts' ratios, which is
        biased upwards.
    units : sequence, optional
        One label per prompt; prompts with equal labels are one sampling unit.
    population : {"sampled", "fixed"}
        Whether prompts were drawn from a larger population, or only answers vary.

    Returns
    -------
    FairPairRatio
        Value in [0, inf), with ``.bias`` (B), ``.variability_original`` (V of
        `perturbed_continuations`) and ``.variability_perturbed``. Infinite where answers never
        vary inside a side but differ between the sides, NaN where they never vary at all. The
        notes compare the lengths of the sides.

    Raises
    ------
    ValueError
        If the sides differ in length, a prompt has fewer than two answers on a side, an answer is
        missing, answers do not fit the dissimilarity, or there are more folds than answers.

    Examples
    --------
    >>> from pytest_llmfair.metrics import fairpair
    >>> perturbed = [["he ran home", "he ran away"], ["he sang", "he sings"]]
    >>> of_perturbed = [["he ran home", "he sat"], ["he cried", "he wept"]]
    >>> round(fairpair(perturbed, of_perturbed).value, 3)
    0.824
    """
    if aggregate not in ("pooled", "mean"):
        raise ValueError(f"aggregate is {aggregate!r}; choose pooled or mean")
    answers = SideAnswers.read(
        perturbed_continuations=perturbed_continuations,
        continuations_of_perturbed=continuations_of_perturbed,
    )
    joined = None if units is None else labels(units, "units", len(answers.counts))
    phi = prepared(dissimilarity, answers)
    k = fold_count(folds)

    def dissimilarities(prompt: int) -> Floats:
        sides = ([phi.read(answer) for answer in side[prompt]] for side in answers.sides)
        return phi.between_all([x for own in sides for x in folded(own, prompt, k, phi.join)])

    estimate = FairPairRatio.of_dissimilarities(
        map(dissimilarities, range(len(answers.counts))),
        [k or len(row) for row in answers.sides[0]],
        aggregate=aggregate,
        units=joined,
        population=population,
        negative_type=phi.negative_type,
    )
    counts = answers.counts
    sample = replace(
        estimate.sample, generations=sum(counts), fewest=min(counts), most=max(counts)
    )
    unfolded = k is None or all(len(row) == k for row in chain(*answers.sides))
    variant = f"@{phi.name}" + ("" if unfolded else f",{folds} folds")
    if aggregate == "mean":
        variant += ",mean"
    estimate = replace(estimate, sample=sample, variant=variant)
    lengths = answers.lengths()
    if lengths:
        estimate = estimate.with_findings(Finding.note(describe_lengths(lengths, joined)))
    return estimate


def perturbation_is_valid(
    source: str,
    output: str,
    *,
    prefix: str,
    source_name: str,
    max_dissimilarity: float = 0.15,
) -> bool:
    """Return whether a perturbed text passes the filters of Dwivedi-Yu (2024), section 3.3.

    It begins with the perturbed prompt, does not name the source entity, and shares most of its
    words with the source. A text of ten words fails if two words are changed: report how many
    texts fail.

    Parameters
    ----------
    source, output : str
        The text before and after the perturbation, each with its prompt.
    prefix : str
        What the output must begin with.
    source_name : str
        Name that must be gone, as a whole word ("John" is not in "Johnson") in this spelling or
        in capitals.
    max_dissimilarity : float
        Largest Jaccard dissimilarity allowed, in [0, 1], on the words that :func:`fairpair`
        compares: without punctuation, in any case.

    Raises
    ------
    ValueError
        If `source_name` is empty or `max_dissimilarity` is outside [0, 1].

    Examples
    --------
    >>> from pytest_llmfair.metrics import perturbation_is_valid
    >>> source = "John went to the shop to buy milk and bread for us all on Monday"
    >>> output = "Mary went to the shop to buy milk and bread for us all on Monday"
    >>> perturbation_is_valid(source, output, prefix="Mary", source_name="John")
    True
    """
    limit = share(max_dissimilarity, "max_dissimilarity")
    name = source_name.strip()
    if not name:
        raise ValueError("source_name is empty; give the name that must be gone")
    before, after = set(tokens(source)), set(tokens(output))
    union = len(before | after)
    apart = (union - len(before & after)) / union if union else 0.0
    named = re.search(rf"(?<!\w)(?:{re.escape(name)}|{re.escape(name.upper())})(?!\w)", output)
    return output.startswith(prefix) and named is None and apart <= limit


class NgramTable(dict[str, tuple[int, int, float]]):
    """N-grams by their text; a tuple of words finds them too."""

    def __missing__(self, key: Any) -> tuple[int, int, float]:
        """Find the n-gram of some words."""
        if isinstance(key, tuple):
            return self[" ".join(key)]
        raise KeyError(key)


def ngram_contrast(texts_a: TextRows, texts_b: TextRows, n: int) -> NgramTable:
    """Compare how often two sets of texts use each n-gram (Dwivedi-Yu 2024, section 4.1).

    Parameters
    ----------
    texts_a, texts_b : list of str, or list of list of str
        The answers of either side.
    n : int
        Words in a row, at least 1; never across two texts.

    Returns
    -------
    NgramTable
        Dictionary from n-gram (its words with a space between, as
        :func:`pytest_llmfair.text.tokens` spells them) to its count in either side and its share
        of all n-grams of the first less that of the second. The largest differences come first;
        NaN where a side has no n-gram at all.

    Raises
    ------
    ValueError
        If `n` is no whole number of at least 1, or a side is empty or holds anything but text.

    Examples
    --------
    >>> from pytest_llmfair.metrics import ngram_contrast
    >>> ngram_contrast(["she smiled", "she left"], ["he left"], 1)["left"]
    (1, 1, -0.25)
    """
    n = whole(n, "n")
    counts_a = _ngrams(texts_a, "texts_a", n)
    counts_b = _ngrams(texts_b, "texts_b", n)
    total_a, total_b = counts_a.total(), counts_b.total()
    table = {}
    for ngram in sorted({**counts_a, **counts_b}):
        a, b = counts_a[ngram], counts_b[ngram]
        table[ngram] = (a, b, a / total_a - b / total_b if total_a and total_b else math.nan)
    # If one gap is NaN all are, and the order stays alphabetical.
    return NgramTable(sorted(table.items(), key=lambda item: abs(item[1][2]), reverse=True))


def _ngrams(texts: Any, argument: str, n: int) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in chain(*text_rows(texts, argument)):
        words = tokens(text)
        counts.update(" ".join(words[i : i + n]) for i in range(len(words) - n + 1))
    return counts
