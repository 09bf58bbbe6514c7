"""Classifiers as models: what a specification says about them, and how labels are called."""

from __future__ import annotations

import json

import pytest

from pytest_llmfair.clients import ModelClient, ModelSpecError
from pytest_llmfair.clients.spec import Labels, ModelSpec, classifies, name_of


@pytest.mark.parametrize(
    ("architecture", "found"),
    [
        ("RobertaForSequenceClassification", "texts"),
        ("BertForTokenClassification", "words"),
        ("GPT2LMHeadModel", None),
    ],
)
def test_the_config_of_a_folder_says_what_it_classifies(architecture, found, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"architectures": [architecture]}))
    assert classifies(ModelSpec.parse(f"hf:{tmp_path}")) == found


def test_labels_stand_for_a_classifier_that_is_not_on_this_machine():
    spec = ModelSpec.parse("hf:away/model?labels=positive:POS")
    assert classifies(spec) == "either"
    assert classifies(ModelSpec.parse("hf:away/model")) is None
    assert name_of(spec) == "hf:away/model?labels=positive:POS"
    assert classifies(ModelSpec.parse("python:mine:sentiment")) == "either"
    assert classifies(ModelSpec.parse("builtin:ngram")) is None


def test_labels_are_found_in_any_case_and_by_the_name_that_the_user_gives():
    row = {"POSITIVE": 0.7, "LABEL_0": 0.3}
    found = Labels({"negative": "LABEL_0"}).read(row, ["positive", "negative"], "m", "map them")
    assert found == [0.7, 0.3]
    with pytest.raises(ValueError, match="m has the labels POSITIVE, LABEL_0, and is asked for"):
        Labels().read(row, ["positive", "negative"], "m", "map them")


@pytest.mark.parametrize("labels", ["positive", "positive:", ":POS", "positive:A,positive:B", ""])
def test_labels_that_map_nothing_are_errors(labels):
    with pytest.raises(ModelSpecError, match="write CLASS:LABEL, with commas between"):
        Labels.of(ModelSpec.parse(f"hf:m?labels={labels}"))


def test_labels_of_a_language_model_are_an_error(tmp_path):
    from pytest_llmfair.clients import load_client

    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["GPT2LMHeadModel"]}))
    with pytest.raises(ModelSpecError, match="labels is for classifiers"):
        load_client(f"hf:{tmp_path}?labels=positive:POS")


def test_a_function_may_return_classes_with_their_probabilities():
    def sentiment(text):
        return {"good": 0.75, "bad": 0.25}

    client = ModelClient.of(sentiment)
    assert client.label_probabilities(["Fine."], ["bad", "good"]) == [{"bad": 0.25, "good": 0.75}]

    def broken(text):
        raise OSError("no disk")

    with pytest.raises(ValueError, match=r"failed at 'Fine\.': OSError: no disk"):
        ModelClient.of(broken).label_probabilities(["Fine."], ["bad", "good"])
    with pytest.raises(ValueError, match=r"gives 'good' the probability 'high' at 'Fine\.'"):
        ModelClient.of(lambda text: {"good": "high"}).label_probabilities(["Fine."], ["good"])
