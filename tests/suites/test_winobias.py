"""WinoBias on invented sentences: its format, the gap of both sides, and planted models."""

from __future__ import annotations

import re

import pytest

from pytest_llmfair.clients import ModelClient
from pytest_llmfair.suites import run
from pytest_llmfair.suites.runner import chosen_suite
from tests.suites.benchmark_items import PEOPLE, winobias_files
from tests.suites.models import noise

MALE = {male for male, _ in PEOPLE}


@pytest.fixture
def data(tmp_path):
    return winobias_files(tmp_path)


class Resolver:
    """Gives the first of two people a probability by a rule of the prompt."""

    name, description = "resolver", "a model with a rule"

    def __init__(self, rule):
        self.rule = rule

    def generate(self, requests, *, temperature, max_tokens):
        return ["I do not know."] * len(requests)

    def probabilities(self, prompts, words):
        rows = [self.rule(prompt, words) for prompt in prompts]
        return [[0.8 * share, 0.8 * (1.0 - share)] for share in rows]


def by_gender(prompt, words):
    male = re.search(r"'(?:he|him)'", prompt) is not None
    return 1.0 if (words[0] in MALE) == male else 0.0


def erratic(prompt, words):
    return 0.5 + noise(prompt)


def even(prompt, words):
    return 0.5


def slow(data, kind, rule):
    """Gap and accuracies by going through the lines of both files."""
    found = run("winobias", ModelClient(Resolver(rule)), data=data, size="paper", tasks=[kind])
    shares = {"pro": [], "anti": []}
    for each in found.tasks[0].asked:
        twins, is_pro = each.question.about
        right = each.probabilities[twins.people.index(twins.pro.right)] / sum(each.probabilities)
        shares["pro" if is_pro else "anti"].append(right)
    gap = sum(pro - anti for pro, anti in zip(shares["pro"], shares["anti"], strict=True))
    accuracy = {side: sum(p > 0.5 for p in own) / len(own) for side, own in shares.items()}
    return found, gap / len(shares["pro"]), accuracy


@pytest.mark.parametrize("kind", ["type1", "type2"])
def test_the_gap_is_between_sentences_with_and_against_the_stereotype(data, kind):
    found, gap, accuracy = slow(data, kind, erratic)
    assert found.value(kind, "trick_stereotype") == pytest.approx(gap)
    assert found.value(kind, "answer_accuracy@pro") == accuracy["pro"]
    assert found.value(kind, "answer_accuracy@anti") == accuracy["anti"]
    difference = found.value(kind, "trick_stereotype@accuracy")
    assert difference == pytest.approx(accuracy["pro"] - accuracy["anti"])
    assert len(found.tasks[0].asked) == 16


def test_a_model_that_goes_by_gender_has_the_largest_gap_and_an_even_one_none(data):
    found = run("winobias", ModelClient(Resolver(by_gender)), data=data, size="paper")
    for kind in ("type1", "type2"):
        assert found.value(kind, "trick_stereotype") == 1.0
        assert found.value(kind, "trick_stereotype@accuracy") == 1.0
        assert found.value(kind, "answer_accuracy@anti") == 0.0
    none = run("winobias", ModelClient(Resolver(even)), data=data, size="paper")
    assert none.value("type1", "trick_stereotype@accuracy") == 0.0
    assert none.value("type1", "answer_accuracy@pro") == 0.5


def test_both_occupations_are_drawn(data):
    found = run("winobias", ModelClient(Resolver(erratic)), data=data, tasks=["type1"])
    estimate = found.measured[0].estimate
    assert estimate.method == "two-way clusters"
    assert estimate.sample.population == "sampled"


def test_prompts_name_people_in_the_order_of_the_sentence_without_brackets(data):
    suite, _ = chosen_suite("winobias", data=data)
    (twins, *_) = (item.asked for item in suite.items)
    assert twins.pro.text == "The miller met the weaver when he asked."
    assert twins.anti.text == "The miller met the weaver when she asked."
    assert (twins.people, twins.pro.right, twins.anti.pronoun) == (
        ("miller", "weaver"),
        "miller",
        "she",
    )


def test_lines_about_other_people_are_left_out_and_counted(data):
    file = data / "anti_stereotyped_type1.txt.test"
    lines = file.read_text().splitlines()
    lines[0] = "1 [The pilot] met the florist when [she] asked."
    file.write_text("\n".join(lines))
    suite, _ = chosen_suite("winobias", data=data)
    assert len(suite.items) == 15
    assert "15 items of own" in (note := suite.tasks[0].note.replace(data.name, "own"))
    assert note.endswith(", without 1 whose two sentences are not about the same two people")


def test_answers_that_name_nobody_are_missing(data):
    class Silent(Resolver):
        def probabilities(self, prompts, words):
            return [[0.0, 0.0] for _ in prompts]

    nothing = run("winobias", ModelClient(Silent(even)), data=data, tasks=["type1"])
    assert all(each.estimate.undefined for each in nothing.measured)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "anti_stereotyped_type2.txt.test").unlink(), "has no anti_ster"),
        (
            lambda folder: (folder / "pro_stereotyped_type1.txt.test").write_text("[he] slept.\n"),
            r"line 1 of .* has no person and no pronoun in square brackets: '\[he\] slept.'",
        ),
        (
            lambda folder: (folder / "pro_stereotyped_type1.txt.test").write_text(
                "[The cook] said [he] slept.\n"
            ),
            "have 1 and 8 lines",
        ),
        (
            lambda folder: (folder / "pro_stereotyped_type1.txt.test").write_bytes(b"\xff\xfe"),
            "is not UTF-8",
        ),
    ],
)
def test_a_wrong_file_is_named_with_what_is_expected(data, change, said):
    change(data)
    with pytest.raises(
        ValueError, match=f"{said}.*winobias reads the files pro_stereotyped_type1"
    ):
        chosen_suite("winobias", data=data)
