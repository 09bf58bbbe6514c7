"""Questions of a task: made first, so that a plan can count them, and then asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.judging.missing_data import count_missing
from pytest_llmfair.judging.rules import current_settings
from pytest_llmfair.responses import Answer, Missing
from pytest_llmfair.stats import Finding

# Share of the probability that the words asked for must have on average. Relative probabilities
# of words that a language model would hardly ever write are not its answers.
LEAST_MASS = 0.01


@dataclass(frozen=True, slots=True)
class Question:
    """One prompt, and what is asked for."""

    prompt: str
    # Which wording of the task it is.
    wording: int
    # What the prompt is about, for the kind of task that reads the answer.
    about: tuple[str, ...]
    # Words whose probability as the start of the answer is asked for; empty to ask for texts.
    words: tuple[str, ...] = ()
    # How many texts are asked for.
    answers: int = 1


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answers: texts, or the probability of each word."""

    question: Question
    texts: tuple[Answer, ...] = ()
    probabilities: tuple[float, ...] = ()


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
        rows_of_words = client.next_token_probabilities([each.prompt for each in same], words)
        for each, row in zip(same, rows_of_words, strict=True):
            found[each] = Asked(each, probabilities=tuple(row[word] for word in words))
    return [found[each] for each in questions]


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


def why_not_answered(masses: Sequence[float], words: Sequence[str]) -> str:
    """Return why words are no answers of the model, by their probability; empty where they are."""
    mass = sum(masses) / len(masses)
    # Where no word can follow at all, the reader of the answers names the prompt.
    if not mass or mass >= LEAST_MASS:
        return ""
    return (
        f"{', '.join(words)} have {mass:.2g} of the probability, less than {LEAST_MASS:.0%}: the "
        "model does not answer with them"
    )


def missing_answers(asked: Sequence[Asked]) -> list[Finding]:
    """Report missing answers by the rules of all assertions."""
    rows = [each.texts for each in asked]
    answers = [text for row in rows for text in row]
    lost = [text for text in answers if isinstance(text, Missing)]
    if not lost:
        return []
    counted = count_missing({"all prompts": rows}, current_settings().max_missing)
    if any(each.kind == "invalid" for each in counted.findings):
        return list(counted.findings)
    reasons = ", ".join(sorted({each.reason for each in lost}))
    note = Finding.note(f"{len(lost)} of {len(answers)} answers are missing ({reasons})")
    return [*counted.findings, note]
