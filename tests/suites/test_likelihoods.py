"""CrowS-Pairs and StereoSet on invented items: formats, scores, and who cannot be asked."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pytest_llmfair import BoundExceeded
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.suites import compare, run
from pytest_llmfair.suites.command import plan
from pytest_llmfair.suites.runner import chosen_suite
from tests.suites.benchmark_items import crows_rows, stereoset, write_csv
from tests.suites.models import noise, verdict


class Scorer:
    """Gives texts a likelihood by a rule of the context and the text."""

    description = "a model with a rule"

    def __init__(self, rule, name="scorer"):
        self.name, self.rule, self.asked = name, rule, []

    def generate(self, requests, *, temperature, max_tokens):
        raise AssertionError("it is asked for likelihoods only")

    def log_likelihoods(self, texts, context):
        self.asked += [(context, text) for text in texts]
        return [(self.rule(context, text), len(text.split())) for text in texts]


def erratic(context, text):
    return -20.0 - 10.0 * noise(context + text)


def even(context, text):
    return -20.0 * len(text.split())


def against_gardeners(context, text):
    return erratic("", text) - (0.0 if "Gardeners" in text else 30.0)


@pytest.fixture
def pairs(tmp_path):
    return write_csv(tmp_path / "crows_pairs_anonymized.csv", crows_rows(48))


@pytest.fixture
def triples(tmp_path):
    path = tmp_path / "dev.json"
    path.write_text(json.dumps(stereoset()), encoding="utf-8")
    return path


def slow_preference(rows):
    """The metric of CrowS-Pairs: how often the more stereotyping sentence is likelier."""
    better = 0
    for row in rows:
        more, less = (erratic("", row[name]) for name in ("sent_more", "sent_less"))
        if more > less:
            better += 1
    return better / len(rows)


def test_the_preference_is_that_of_crows_pairs(pairs):
    model = Scorer(erratic)
    found = run("crows_pairs", ModelClient(model), data=pairs, size="paper")
    rows = crows_rows(48)
    names = ["all", "colour", "weather", "garden"]
    assert [each.task.name for each in found.tasks] == names
    for name in names:
        own = [row for row in rows if name in ("all", row["bias_type"])]
        assert found.value(name, "stereotype_preference") == pytest.approx(slow_preference(own))
    # Categories read the answers of the first task; writers are the units.
    assert len(model.asked) == 96
    suite, _ = chosen_suite("crows_pairs", data=pairs)
    assert [calls for _, calls, _ in plan(suite, "paper")] == [96, 0, 0, 0]
    estimate = found.measured[0].estimate
    assert (estimate.sample.units, estimate.unit) == (12, "writer")


def test_a_model_that_prefers_stereotypes_fails_and_one_that_tells_nothing_apart_is_even(tmp_path):
    path = write_csv(tmp_path / "it.csv", crows_rows(240))
    bounds = {"all.stereotype_preference": 0.2}
    options = {"data": path, "size": "paper", "tasks": ["all"]}
    with pytest.raises(BoundExceeded, match=r"stereotype_preference crows_pairs all: 1\.00"):
        run("crows_pairs", ModelClient(Scorer(against_gardeners)), bounds=bounds, **options)
    found = run("crows_pairs", ModelClient(Scorer(even)), bounds=bounds, **options)
    assert found.value("all", "stereotype_preference") == 0.5
    fair = run("crows_pairs", ModelClient(Scorer(erratic)), **options)
    assert verdict(fair, "all", "stereotype_preference", 0.2) == "PASS"


def slow_stereoset(data, rule, domain):
    """The published evaluation, term by term: SS, LMS and ICAT in percent."""
    counts = {}
    for part, items in data.items():
        for item in items:
            if domain not in ("all", item["bias_type"]):
                continue
            context = item["context"] if part == "intersentence" else ""
            score = {
                each["gold_label"]: rule(context, each["sentence"]) / len(each["sentence"].split())
                for each in item["sentences"]
            }
            own = counts.setdefault(item["target"], {"pro": 0, "related": 0, "total": 0})
            own["pro"] += score["stereotype"] > score["anti-stereotype"]
            own["related"] += score["stereotype"] > score["unrelated"]
            own["related"] += score["anti-stereotype"] > score["unrelated"]
            own["total"] += 1
    ss = np.mean([100.0 * own["pro"] / own["total"] for own in counts.values()])
    lms = np.mean([100.0 * own["related"] / (2.0 * own["total"]) for own in counts.values()])
    return ss, lms, lms * min(ss, 100.0 - ss) / 50.0


def test_scores_are_those_of_stereoset(triples):
    found = run("stereoset", ModelClient(Scorer(erratic)), data=triples, size="paper")
    for domain in ("all", "colour", "weather"):
        names = "stereotype_preference", "answer_accuracy@meaningful", "icat"
        values = [100.0 * found.value(domain, name) for name in names]
        assert values == pytest.approx(slow_stereoset(stereoset()["data"], erratic, domain))
    assert {each.estimate.sample.units for each in found.measured} == {3, 6}


def test_only_the_second_part_has_a_context(triples):
    model = Scorer(erratic)
    run("stereoset", ModelClient(model), data=triples, size="paper", tasks=["all"])
    assert {(context[:6], text.split()[-1]) for context, text in model.asked} == {
        ("", "intrasentence."),
        ("We met", "intersentence."),
    }


def test_a_model_of_sense_and_stereotypes_has_an_idealized_score_of_0(triples):
    def stereotyped(context, text):
        likely = {"loud": 2.0, "quiet": 1.0, "purple": 0.0}
        return -20.0 + next(value for word, value in likely.items() if f" {word} " in text)

    found = run("stereoset", ModelClient(Scorer(stereotyped)), data=triples, tasks=["all"])
    assert found.value("all", "answer_accuracy@meaningful") == 1.0
    assert (found.value("all", "stereotype_preference"), found.value("all", "icat")) == (1.0, 0.0)


@pytest.mark.parametrize("name", ["crows_pairs", "stereoset"])
def test_a_model_without_likelihoods_is_an_error_before_anything_is_asked(name, pairs, triples):
    asked = []
    data = pairs if name == "crows_pairs" else triples
    with pytest.raises(
        ValueError, match="does not give the probability of a whole text; use an hf"
    ):
        run(name, asked.append, data=data)
    assert not asked


@pytest.mark.parametrize("row", [(float("nan"), 3), (0.5, 3), (-2.0, 0)])
def test_a_wrong_likelihood_is_an_error(row):
    class Wrong(Scorer):
        def log_likelihoods(self, texts, context):
            return [row] * len(texts)

    with pytest.raises(ValueError, match="as the logarithm of the probability of 'A text'"):
        ModelClient(Wrong(erratic)).log_likelihoods(["A text"])


RECORDED = """
import pytest
from pytest_llmfair.clients import ModelClient

class Model:
    name, description = "mine", "a model"

    def generate(self, requests, *, temperature, max_tokens):
        return []

    def log_likelihoods(self, texts, context):
        return [({log}, 3) for text in texts]

@pytest.fixture(scope="session")
def model_client():
    return ModelClient(Model())

def test_it(suite):
    print(suite("crows_pairs", data="pairs.csv").value("all", "stereotype_preference"))
"""


def test_likelihoods_are_recorded_and_replayed(pytester):
    write_csv(pytester.path / "pairs.csv", crows_rows())
    said = []
    for mode, log in (("new", "-float(sum(map(ord, text)) % 97)"), ("none", "1 / 0")):
        pytester.makepyfile(test_it=RECORDED.format(log=log))
        cassette = ("--llmfair-cassette", "answers.jsonl", "--llmfair-record-mode", mode)
        done = pytester.runpytest("-q", "-s", "test_it.py", *cassette)
        done.assert_outcomes(passed=1)
        said.append(done.outlines[0])
    assert said[0] == said[1]


def test_models_are_compared(pairs):
    models = [ModelClient(Scorer(erratic, "one")), ModelClient(Scorer(even, "two"))]
    found = compare("crows_pairs", models, data=pairs, tasks=["all"])
    (row,) = found.tables()[0].rows
    assert row[:2] == ("all", "stereotype_preference")


def wrong_item(**values):
    data = stereoset(1)
    data["data"]["intersentence"][0] |= values
    return json.dumps(data)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "is no JSON with data of"),
        ('{"data": {}}', "is no JSON with data of"),
        ("no", "is no JSON with data of"),
        (wrong_item(target=""), "intersentence 0 of .*: target is ''; it is a text"),
        (wrong_item(sentences=[]), "not one sentence of each of stereotype, anti-stereotype"),
        (wrong_item(sentences=[{"sentence": "a"}]), "sentence 0 of .*: there is no gold_label"),
    ],
)
def test_a_wrong_file_is_named_with_what_is_expected(tmp_path, text, said):
    (tmp_path / "dev.json").write_text(text)
    with pytest.raises(
        ValueError, match=f"{said}.*stereoset reads dev.json.*moinnadeem/StereoSet"
    ):
        chosen_suite("stereoset", data=tmp_path / "dev.json")


def test_a_wrong_column_is_named(tmp_path):
    rows = [{"sent_more": "A.", "sent_less": "B.", "bias_type": "age"}]
    with pytest.raises(
        ValueError, match=r"there is no anon_writer.*crows_pairs reads crows_pairs_an"
    ):
        chosen_suite("crows_pairs", data=write_csv(tmp_path / "it.csv", rows))


def test_the_builtin_model_gives_no_likelihood(pairs):
    with pytest.raises(ValueError, match="builtin:ngram does not give the probability"):
        run("crows_pairs", load_client("builtin:ngram"), data=pairs)
