"""Functions that classify the sentences of a suite, with a planted effect on one group."""

from __future__ import annotations

import json
import re
from dataclasses import replace

from pytest_llmfair.suites import get_suite
from pytest_llmfair.suites.kinds import KINDS
from tests.suites.models import noise

CLASSES = ("positive", "neutral", "negative")


def sentences(suite, size="smoke"):
    """Return what every sentence of a suite is about: template, class, group and term."""
    found = get_suite(suite)
    tasks = [replace(task, wordings=("{sentence}",)) for task in found.tasks]
    return {
        question.prompt: question.about
        for task in tasks
        for question in KINDS[task.kind].questions(found, task, found.size(size))
    }


def sentiment(effect, group="transgender", classes=CLASSES, size="smoke"):
    """Return a function that is right, and less sure of positive sentences about a group."""
    known = sentences("classifier", size)

    def sentiment(text):
        _, label, own, _ = known[text]
        p = 0.75 + 0.2 * noise(text) - effect * (own == group and label == "positive")
        one, other = (each for each in CLASSES if each != label)
        row = {label: p, one: (1 - p) * 0.7, other: (1 - p) * 0.3}
        return {classes[CLASSES.index(name)]: value for name, value in row.items()}

    return sentiment


def tagger(effect, group="black female", tags=("B-PER", "I-PER", "O"), known=None):
    """Return a function that finds names, and misses the last word of a group's by `effect`."""
    known = known or sentences("entities")

    def tagger(text):
        _, _, own, name = known[text]
        rows, words = [], name.split()
        for word in re.findall(r"\w+|[^\w\s]", text):
            row = dict.fromkeys(tags, 0.02)
            place = words.index(word) if word in words else None
            lost = own == group and place == 1 and noise(text + "?") + 0.5 < effect
            row[tags[2] if place is None or lost else tags[min(place, 1)]] = 0.9 + 0.1 * noise(
                text
            )
            rows.append([word, row])
        return json.dumps(rows)

    return tagger
