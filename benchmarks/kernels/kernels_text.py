"""Likeness of texts: ROUGE-L against the rouge-score package, BLEU against nltk."""

from __future__ import annotations

import random

from _kernel import Kernel

from pytest_llmfair.metrics import counterfactual_bleu, counterfactual_rouge_l
from pytest_llmfair.text import rouge_l, tokens
from pytest_llmfair.text.vocabulary import VOCABULARY

WORDS = 120
_PAIRS = 400
_CHUNK = 40
_CALL = 400

Texts = list[tuple[str, str]]


def make_pairs(rng: random.Random, pairs: int = _PAIRS) -> Texts:
    """Texts of about 120 words from a Zipf vocabulary; every other pair is an edited copy."""
    vocabulary = ["".join(rng.choices("etaoinshrdlucm", k=rng.randint(1, 9))) for _ in range(3000)]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]

    def text() -> list[str]:
        return rng.choices(vocabulary, weights, k=rng.randint(WORDS - 20, WORDS + 20))

    found = []
    for row in range(pairs):
        first, second = text(), text()
        if row % 2:
            second = [word if rng.random() < 0.8 else rng.choice(second) for word in first]
        found.append((" ".join(first).capitalize() + ".", ", ".join(second) + "!"))
    return found


def kernels() -> list[Kernel]:
    """Return the comparisons of this file."""
    return [*_rouge(), _bleu()]


def _pieces(pairs: Texts, size: int) -> list[Texts]:
    return [pairs[i : i + size] for i in range(0, len(pairs), size)]


def _rouge() -> list[Kernel]:
    from rouge_score.rouge_scorer import RougeScorer

    pairs = make_pairs(random.Random(0))
    scorer = RougeScorer(["rougeL"], use_stemmer=False)

    def theirs(some: Texts) -> list[float]:
        return [scorer.score(a, b)["rougeL"].fmeasure for a, b in some]

    def kernel(some: Texts) -> list[float]:
        return [rouge_l(tokens(a), tokens(b)) for a, b in some]

    def metric(some: Texts) -> list[float]:
        VOCABULARY.forget()
        a, b = zip(*some, strict=True)
        return list(counterfactual_rouge_l(a, b).rows)

    return [
        Kernel(
            f"ROUGE-L, texts to F, {_CHUNK} pairs of {WORDS} words",
            "rouge-score",
            100.0,
            theirs,
            kernel,
            _pieces(pairs, _CHUNK),
            lambda a, b: a == b,
        ),
        Kernel(
            f"ROUGE-L, texts to the estimate, {_CALL} pairs of {WORDS} words",
            "rouge-score",
            60.0,
            theirs,
            metric,
            _pieces(pairs, _CALL),
            lambda a, b: a == b,
            note="counterfactual_rouge_l; no text is kept from call to call.",
        ),
    ]


def _bleu() -> Kernel:
    from nltk.tokenize import word_tokenize
    from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

    smoothing = SmoothingFunction().method1
    # Edited copies, words only: both tokenisers find the same words.
    pairs = [
        (" ".join(tokens(a)), " ".join(tokens(b)))
        for a, b in make_pairs(random.Random(0), 2 * _PAIRS)[1::2]
    ]

    def words(text: str) -> list[str]:
        found: list[str] = word_tokenize(text.lower(), preserve_line=True)
        return found

    def score(a: list[str], b: list[str]) -> float:
        return min(
            sentence_bleu([b], a, smoothing_function=smoothing),
            sentence_bleu([a], b, smoothing_function=smoothing),
        )

    def theirs(some: Texts) -> list[float]:
        return [score(words(a), words(b)) for a, b in some]

    def ours(some: Texts) -> list[float]:
        VOCABULARY.forget()
        a, b = zip(*some, strict=True)
        return list(counterfactual_bleu(a, b).rows)

    return Kernel(
        f"BLEU both ways, texts to the estimate, {_CALL} pairs of {WORDS} words",
        "nltk",
        12.0,
        theirs,
        ours,
        _pieces(pairs, _CALL),
        lambda a, b: max(abs(x - y) for x, y in zip(a, b, strict=True)) <= 1e-12,
        note="counterfactual_bleu; no text is kept from call to call. nltk's way is that of "
        "LangFair, but its word_tokenize runs with preserve_line=True, since its sentence "
        "splitter needs data: less work than LangFair's. Texts are edited copies of words "
        "without marks, so that both read the same words in one sentence and nltk's smoothing "
        "has nothing to smooth.",
    )
