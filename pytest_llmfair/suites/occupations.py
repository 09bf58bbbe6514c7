"""Tasks about occupations (RUTEd, Lum et al. 2024): texts, pronoun resolution and next words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from pytest_llmfair._util.located import shipped
from pytest_llmfair.judging.arrange import collapse_identical_repeats
from pytest_llmfair.lexicons.english.agreement import article_for
from pytest_llmfair.metrics import (
    get_metric,
    next_word_gender,
    pronoun_counts,
    pronoun_gender,
    pronoun_ties,
)
from pytest_llmfair.stats import Estimate, Finding, Mean
from pytest_llmfair.suites.design import Quantity, Suite, Task
from pytest_llmfair.suites.kind import Kind, undefined
from pytest_llmfair.suites.questions import Asked, Question, missing_answers

PRONOUNS = {"male": "he", "female": "she"}


def labels(suite: Suite) -> dict[str, str]:
    """Return the occupations of a suite with the gender of most of their workers."""
    return {
        each["name"]: "female" if each["percent_women"] > 50.0 else "male"
        for each in suite.data["occupations"]
    }


def chosen(suite: Suite, size: Mapping[str, int]) -> list[str]:
    """Return the occupations of a size: half of each label, alternating."""
    known = labels(suite)
    sides = [[name for name in known if known[name] == label] for label in PRONOUNS]
    # Pairs of the pronoun test are one of each label.
    rows = zip(*(side[: size["occupations"] // 2] for side in sides), strict=True)
    return [name for row in rows for name in row]


def with_article(occupation: str) -> str:
    """Return the occupation with its article."""
    return f"{article_for(occupation)} {occupation}"


class Texts(Kind):
    """Long texts, whose pronouns give the person's gender."""

    says = ("He left.", "She left.")

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording and occupation."""
        return [
            Question(
                wording.format(occupation=name, an_occupation=with_article(name)),
                number,
                (name,),
                answers=size["answers"],
            )
            for number, wording in enumerate(task.wordings)
            for name in chosen(suite, size)
        ]

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Count the texts of each occupation by gender, over all wordings."""
        by_name = texts_by_occupation(_distinct(asked)[0])
        counts = {name: pronoun_counts(texts) for name, texts in by_name.items()}
        keywords: dict[str, Any] = dict(quantity.keywords)
        if quantity.metric == "ruted_stereotype":
            known = labels(suite)
            keywords["majority"] = {name: known[name] for name in counts}
        return get_metric(quantity.metric).function(
            {name: male for name, (male, _, _) in counts.items()},
            {name: kept for name, (_, kept, _) in counts.items()},
            total_counts={name: total for name, (_, _, total) in counts.items()},
            tie_counts={name: pronoun_ties(texts) for name, texts in by_name.items()},
            population=quantity.population,
            **keywords,
        )

    def findings(self, asked: Sequence[Asked]) -> list[Finding]:
        """Report missing texts, and a model that always writes the same."""
        return [*missing_answers(asked), *_distinct(asked)[1]]

    def profile(self, asked: Sequence[Asked]) -> dict[str, float]:
        """Return the share of texts about a man, of those with a gender, by occupation."""
        shares = {}
        for name, texts in texts_by_occupation(asked).items():
            genders = [gender for gender in map(pronoun_gender, texts) if gender is not None]
            if genders:
                shares[name] = genders.count("male") / len(genders)
        return shares


def _distinct(asked: Sequence[Asked]) -> tuple[list[Asked], tuple[Finding, ...]]:
    """Count the repeats of a model that always writes the same as one text, and report them."""
    texts = [[text for text in each.texts if isinstance(text, str)] for each in asked]
    prompts = [each.question.prompt for each in asked]
    (rows,), findings = collapse_identical_repeats(prompts, texts)
    kept = [replace(each, texts=tuple(row)) for each, row in zip(asked, rows, strict=True)]
    return kept, findings


def texts_by_occupation(asked: Iterable[Asked]) -> dict[str, list[str]]:
    """Return the texts about each occupation; answers that are missing are left out."""
    found: dict[str, list[str]] = {}
    for each in asked:
        texts = [text for text in each.texts if isinstance(text, str)]
        found.setdefault(each.question.about[0], []).extend(texts)
    return found


class PronounResolution(Kind):
    """Sentences about two people, in which a pronoun refers to one of them."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording, sentence, pair of occupations and pronoun."""
        names = chosen(suite, size)
        pairs = zip(names[::2], names[1::2], strict=True)
        found = []
        for pair, (number, wording), sentence in product(
            pairs, enumerate(task.wordings), task.data["sentences"]
        ):
            for order, (label, pronoun) in product((pair, pair[::-1]), PRONOUNS.items()):
                first, second = order
                right = first if sentence["right"] == "first" else second
                text = sentence["text"].format(first=first, second=second, pronoun=pronoun)
                prompt = wording.format(sentence=text, pronoun=pronoun)
                about = (right, label, sentence["text"], f"{first}, {second}")
                found.append(Question(prompt, number, about, pair))
        return found

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Compare the right answer's probability with either pronoun; occupations are units."""
        known = labels(suite)
        sides: dict[bool, list[list[float]]] = {True: [], False: []}
        units = []
        # Both pronouns of a sentence are left out where one has no answer.
        lost = {_but_pronoun(each) for each in asked if not each.probabilities}
        for each in asked:
            right, label, _, _ = each.question.about
            if _but_pronoun(each) in lost:
                continue
            place = each.question.words.index(right)
            row = [each.probabilities[place], each.probabilities[1 - place]]
            sides[known[right] == label].append(row)
            if label == "male":
                units.append(right)
        return get_metric(quantity.metric).function(
            sides[True], sides[False], units=units, population=quantity.population
        )

    def profile(self, asked: Sequence[Asked]) -> dict[str, float]:
        """Return the share of "he" in the probability of each occupation where it is right."""
        shares: dict[tuple[str, str], list[float]] = {}
        for each in asked:
            right, label, _, _ = each.question.about
            if mass := sum(each.probabilities):
                place = each.question.words.index(right)
                shares.setdefault((right, label), []).append(each.probabilities[place] / mass)
        means = {key: sum(values) / len(values) for key, values in shares.items()}
        found = {}
        for name in dict.fromkeys(name for name, _ in means):
            he, she = (means.get((name, label), math.nan) for label in PRONOUNS)
            if he + she > 0.0:
                found[name] = he / (he + she)
        return found


def _but_pronoun(asked: Asked) -> tuple[int, str, str]:
    right, _, sentence, _ = asked.question.about
    return asked.question.wording, right, sentence


class NextWord(Kind):
    """The gender of the word that follows an occupation."""

    def questions(self, suite: Suite, task: Task, size: Mapping[str, int]) -> list[Question]:
        """Return a prompt for each wording and occupation."""
        words = shipped("metrics/gender_words.json")
        return [
            Question(
                wording.format(occupation=name),
                number,
                (name,),
                (*words["male"], *words["female"]),
                continues=True,
            )
            for number, wording in enumerate(task.wordings)
            for name in chosen(suite, size)
        ]

    def measure(self, suite: Suite, quantity: Quantity, asked: Sequence[Asked]) -> Estimate:
        """Return the mean skew or neutrality over occupations; occupations are units."""
        values, units = [], []
        for each in asked:
            name = each.question.about[0]
            row = dict(zip(each.question.words, each.probabilities, strict=True))
            if not any(row.values()):
                why = f"no gendered word can follow {each.question.prompt!r}"
                return undefined(why, len(asked), len(asked))
            gender = next_word_gender(row)
            values.append(gender.skew if quantity.metric == "ruted_skew" else gender.neutrality)
            units.append(name)
        bounds = (-1.0, 1.0) if quantity.metric == "ruted_skew" else (0.0, 1.0)
        return Mean.of_values(values, units=units, bounds=bounds)

    def profile(self, asked: Sequence[Asked]) -> dict[str, float]:
        """Return the share of male words among the gendered next words, by occupation."""
        found: dict[str, list[float]] = {}
        for each in asked:
            row = dict(zip(each.question.words, each.probabilities, strict=True))
            if any(row.values()):
                share = next_word_gender(row).p_male
                found.setdefault(each.question.about[0], []).append(share)
        return {name: sum(shares) / len(shares) for name, shares in found.items()}
