"""Questions of a task: made first, so that a plan can count them, and then asked."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.clients.protocol import UnknownProbability
from pytest_llmfair.judging.inputs import count_missing
from pytest_llmfair.judging.rules import current_settings
from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.stats import Finding

# Share of the probability that the words asked for must have on average. Relative probabilities
# of words that a language model would hardly ever write are not its answers.
LEAST_MASS = 0.01

# Questions that are asked first, to see how a model answers, and answers to each where its words
# are read instead of their probabilities.
_PROBES, SAMPLES, _SAMPLE_TOKENS = 6, 5, 32
_NEGATION = re.compile(r"\b(?:not|never|neither|nor)\b|n['\u2019]t\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, and what is asked for."""

    prompt: str
    # Which wording of the task it is.
    wording: int
    # What the prompt is about, for the kind of task that reads the answer; hashable.
    about: tuple[Any, ...]
    # Words whose probability as the start of the answer is asked for; empty to ask for texts.
    words: tuple[str, ...] = ()
    # How many texts are asked for.
    answers: int = 1
    # Whether the words go on with a text, rather than answer a question.
    continues: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answers: texts, or the probability of each word."""

    question: Question
    texts: tuple[Answer, ...] = ()
    probabilities: tuple[float, ...] = ()
    # Whether the probabilities are shares of sampled answers.
    sampled: bool = False


def ask(
    questions: Sequence[Question], client: ModelClient, max_tokens: int | None = None
) -> list[Asked]:
    """Ask a model; what the session has asked before is not asked again.

    `max_tokens` is the limit of the task; a lower limit of the client applies instead.
    """
    if not questions:
        return []
    if not questions[0].words:
        limits = [limit for limit in (max_tokens, client.max_tokens) if limit is not None]
        rows = client.generate(
            [each.prompt for each in questions],
            questions[0].answers,
            max_tokens=min(limits, default=None),
        )
        return [Asked(each, texts=tuple(row)) for each, row in zip(questions, rows, strict=True)]
    found: dict[Question, Asked] = {}
    for words in dict.fromkeys(each.words for each in questions):
        same = [each for each in questions if each.words == words]
        if same[0].continues:
            known = client.next_token_probabilities([each.prompt for each in same], words)
            for each, own in zip(same, known, strict=True):
                found[each] = Asked(each, probabilities=tuple(own.values()))
        else:
            found.update(zip(same, _labelled(same, client), strict=True))
    return [found[each] for each in questions]


def _labelled(questions: list[Question], client: ModelClient) -> list[Asked]:
    """Ask for labels: a few questions first, and all only where the model answers with labels.

    Where labels have too little probability, or a server does not give it, answers are sampled
    and read.
    """
    words = questions[0].words
    probes = questions[:: -(-len(questions) // _PROBES)]
    rows = _probabilities([each.prompt for each in probes], words, client)
    known = [sum(row) for row in rows if row]
    if known and sum(known) / len(known) >= LEAST_MASS:
        rows = _probabilities([each.prompt for each in questions], words, client)
        asked = [Asked(q, probabilities=row) for q, row in zip(questions, rows, strict=True)]
    else:
        read = _sampled(probes, client)
        if not any(each.probabilities for each in read):
            # Nothing to read: what the probabilities of the probes are says why.
            row_of = dict(zip(probes, rows, strict=True))
            return [Asked(each, probabilities=row_of.get(each, ())) for each in questions]
        asked = [Asked(each) for each in questions]
    lost = [each.question for each in asked if not any(each.probabilities)]
    again = {each.question: each for each in _sampled(lost, client)}
    return [again.get(each.question, each) for each in asked]


def _probabilities(
    prompts: Sequence[str], words: tuple[str, ...], client: ModelClient
) -> list[tuple[float, ...]]:
    """Return the probability of each word after each prompt; empty where it is unknown."""
    try:
        rows = client.next_token_probabilities(prompts, words)
    except UnknownProbability:
        if len(prompts) == 1:
            return [()]
        # The session remembers what it has asked.
        return [row for prompt in prompts for row in _probabilities([prompt], words, client)]
    return [tuple(row[word] for word in words) for row in rows]


def _sampled(questions: Sequence[Question], client: ModelClient) -> list[Asked]:
    """Sample answers, and return shares of labels; a missing answer where none names one."""
    if not questions:
        return []
    limit = min(client.max_tokens or _SAMPLE_TOKENS, _SAMPLE_TOKENS)
    prompts = [each.prompt for each in questions]
    texts = client.generate(prompts, SAMPLES, temperature=1.0, max_tokens=limit)
    found = []
    for each, row in zip(questions, texts, strict=True):
        said = [label_of(text, each.words) for text in row if isinstance(text, str)]
        shares = tuple(said.count(word) / len(row) for word in each.words)
        lost = next((text for text in row if not isinstance(text, str)), None)
        lost = lost or Missing("unreadable", f"no answer names one of {', '.join(each.words)}")
        found.append(
            Asked(each, sampled=True, probabilities=shares)
            if any(shares)
            else Asked(each, (lost,), sampled=True)
        )
    return found


def label_of(text: str, words: Sequence[str]) -> str | None:
    """Return the label that an answer begins with, or the only one that it names.

    Examples
    --------
    >>> [label_of(text, ["Yes", "No"]) for text in ("**yes**, she is.", "No.", "Perhaps.")]
    ['Yes', 'No', None]
    >>> label_of("It is not positive.", ["positive", "negative"])
    """
    marks = {
        word: re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, 0 if len(word) == 1 else re.I)
        for word in words
    }
    named = [word for word, mark in marks.items() if mark]
    for word in named:
        if not re.search(r"\w", text[: marks[word].start()]):  # type: ignore[union-attr]
            return word
    return named[0] if len(named) == 1 and not _NEGATION.search(text) else None


def calls(questions: Sequence[Question], max_tokens: int | None = None) -> set[Hashable]:
    """Return the distinct calls of the model that the questions need."""
    found: set[Hashable] = set()
    seen: Counter[str] = Counter()
    for each in questions:
        if each.words:
            found.add((each.prompt, each.words))
            continue
        # A prompt that is repeated gets answers of its own.
        found.update((each.prompt, max_tokens, seen[each.prompt], n) for n in range(each.answers))
        seen[each.prompt] += 1
    return found


def why_not_answered(asked: Sequence[Asked]) -> str:
    """Return why words are no answers of the model, by their probability; empty where they are."""
    words = ", ".join(asked[0].question.words)
    if not words:
        return ""
    masses = [sum(each.probabilities) for each in asked if each.probabilities]
    if not masses:
        return f"the model gives no probability of {words}, and its answers do not name them"
    mass = sum(masses) / len(masses)
    if mass >= LEAST_MASS:
        return ""
    return (
        f"{words} have {mass:.2g} of the probability, less than {LEAST_MASS:.0%}: the model does "
        "not answer with them"
    )


def missing_answers(asked: Sequence[Asked]) -> list[Finding]:
    """Report missing answers by the rules of all assertions."""
    # A question whose labels have probabilities has one answer.
    rows = [each.texts or ("",) * bool(each.probabilities) for each in asked]
    read = [each for each in asked if each.sampled]
    how = [
        Finding.note(
            f"of {len(read)} of {len(asked)} questions {SAMPLES} sampled answers each were read, "
            "since the labels had too little probability"
        )
        for _ in read[:1]
    ]
    answers = [text for row in rows for text in row]
    lost = [text for text in answers if isinstance(text, Missing)]
    if not lost:
        return how
    counted = count_missing({"all prompts": rows}, current_settings().max_missing)
    if any(each.kind == "invalid" for each in counted.findings):
        return [*how, *counted.findings]
    reasons = ", ".join(sorted({each.reason for each in lost}))
    note = Finding.note(f"{len(lost)} of {len(answers)} answers are missing ({reasons})")
    return [*how, *counted.findings, note]
