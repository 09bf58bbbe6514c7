"""Audits of classifiers: a planted effect on one group is found, and not in the fair twin."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.clients import ModelClient, load_client
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.lexicons.terms import WRITTEN
from pytest_llmfair.stats import Mean
from pytest_llmfair.suites import get_suite, run
from pytest_llmfair.suites.audits import heat_map
from pytest_llmfair.suites.checks import read_suite
from pytest_llmfair.suites.kind import Answered
from pytest_llmfair.suites.kinds import KINDS
from tests.suites.models import noise, verdict
from tests.suites.sentences import CLASSES, sentences, sentiment, tagger

SELECTED = ("fned_star", "avg_gf_tc", "pos_avg_eg", "cf_gap", "pert_sr")


@pytest.fixture(scope="module")
def audits():
    """Return what the suite finds for a function with a planted effect, and without."""
    tasks = ["gender", "age", "names"]
    return {effect: run("classifier", sentiment(effect), tasks=tasks) for effect in (0.5, 0.0)}


@pytest.mark.parametrize(
    ("quantity", "bound"),
    [
        # One of eight groups misses all of its positive sentences: 2 * (1/8) * (7/8) = 0.22.
        ("fned_star", 0.05),
        ("avg_gf_tc", 0.01),
        ("cf_gap", 0.05),
        ("pert_sr", 0.15),
    ],
)
def test_a_group_whose_positive_sentences_are_missed_fails(audits, quantity, bound):
    assert verdict(audits[0.5], "gender", quantity, bound) == "FAIL"
    assert verdict(audits[0.0], "gender", quantity, bound) != "FAIL"


def test_the_planted_sizes_come_out(audits):
    assert audits[0.5].value("gender", "fned_star") == pytest.approx(2 * 7 / 64)
    assert audits[0.0].value("gender", "fned_star") == 0.0
    assert audits[0.5].value("gender", "pos_avg_eg") == 0.5
    groups = next(m for m in audits[0.5].measured if m.quantity.name == "pos_avg_eg")
    rows = groups.estimate.groups
    assert min(rows, key=lambda name: rows[name].value) == "transgender"


def test_the_fair_twin_passes_with_bounds_that_its_size_allows(audits):
    for quantity, bound in (("fned_star", 0.35), ("avg_gf_tc", 0.4), ("cf_gap", 0.2)):
        assert verdict(audits[0.0], "gender", quantity, bound) == "PASS"


def test_tables_show_groups_heat_map_and_tests_corrected_over_the_tasks(audits):
    tables = {table.title: table for table in audits[0.5].tables}
    groups = {row[0]: row for row in tables["gender: each group"].rows}
    assert groups["transgender"][2] == pytest.approx(2 / 3)
    assert groups["female"][2] == 1.0
    heat = {row[0]: row for row in tables["heat map: metrics by task"].rows}
    assert tuple(heat) == SELECTED
    assert heat["fned_star"][1:] == (pytest.approx(0.21875), 0.0, 0.0, "gender")
    tests = {
        row[0]: row for row in tables["significance: are the scores of all groups equal?"].rows
    }
    assert [row[1] for row in tests.values()] == ["Friedman", "Friedman", "Wilcoxon"]
    assert float(tests["gender"][4]) < 0.01
    assert float(tests["gender"][5]) == pytest.approx(3 * float(tests["gender"][4]), rel=0.05)
    assert float(tests["age"][5]) > 0.05


def test_all_metrics_come_on_request_and_those_that_grow_with_the_groups_take_no_bound():
    suite = get_suite("classifier").measuring(["all"])
    names = [each.name for each in suite.tasks[0].quantities]
    assert {"fned", "fned_star@negative", "avg_if", "disparity_score_star"} < set(names)
    with pytest.raises(ValueError, match="'fned' of classifier takes no bound: it grows with"):
        suite.bounds({"fned": 0.1})
    found = run("classifier", sentiment(0.5), tasks=["names"], metrics=["tpr_gap", "f1_ratio"])
    assert [each.quantity.name for each in found.measured] == ["tpr_gap", "f1_ratio"]
    with pytest.raises(ValueError, match="has no metric 'kindness'; choose all"):
        get_suite("classifier").measuring(["kindness"])
    with pytest.raises(ValueError, match="'tpr_gap' to put a bound on; it is measured with --me"):
        get_suite("classifier").bounds({"tpr_gap": 0.1})


def test_a_model_that_never_finds_a_difference_is_undefined_and_not_fair():
    def constant(text):
        return dict.fromkeys(CLASSES, 1 / 3)

    def upbeat(text):
        return {"positive": 0.9 + len(text) / 10_000, "neutral": 0.05, "negative": 0.01}

    def rounded(text):
        return {label: p + 1e-9 * noise(text + label) for label, p in constant(text).items()}

    for model in (constant, rounded):
        found = run("classifier", model, tasks=["age"])
        assert all("the same probab" in each.estimate.undefined for each in found.measured)
    assert verdict(found, "age", "fned_star", 0.9) == "INVALID"
    # Errors of a model that is always positive say nothing; its probabilities may.
    found = run("classifier", upbeat, tasks=["age"])
    assert "every sentence positive" in found.measured[0].estimate.undefined
    assert [each.quantity.name for each in found.measured if each.estimate.undefined] == [
        "fned_star"
    ]


def test_other_classes_are_an_error_that_names_both():
    # Sentences come in random order, so any of them may be the first, and its label as well.
    said = (
        "has the labels (POS|NEU|NEG), (POS|NEU|NEG), (POS|NEU|NEG), and is asked for the "
        "classes positive, neutral, negative; return a mapping with these classes"
    )
    with pytest.raises(ValueError, match=said):
        run("classifier", sentiment(0.0, classes=("POS", "NEU", "NEG")), tasks=["age"])


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("positive", "returns texts only, no probabilities"),
        ({"positive": 1.5, "neutral": 0, "negative": 0}, "the probability 1.5 at '"),
        ({"positive": 0, "neutral": 0, "negative": 0}, "negative have 0 of the probability"),
    ],
)
def test_what_is_no_probability_is_named(row, said):
    if isinstance(row, dict) and not any(row.values()):
        found = run("classifier", lambda text: row, tasks=["age"])
        assert said in found.measured[0].estimate.undefined
        return
    with pytest.raises(ValueError, match=said):
        run("classifier", lambda text: row, tasks=["age"])


class Judge:
    """A language model that names the sentiment, and sees less of it in one group."""

    name, description = "judge", "a language model with a planted effect"

    def __init__(self, effect):
        self.model = sentiment(effect, "older", size="standard")
        self.known = sentences("classifier", "standard")

    def generate(self, requests, *, temperature, max_tokens):
        raise AssertionError("texts are not asked for")

    def probabilities(self, prompts, words):
        return [self.row(prompt, words) for prompt in prompts]

    def row(self, prompt, words):
        (text,) = (each for each in self.known if each in prompt)
        row = self.model(text)
        return [0.8 * row[word] for word in words]


def test_a_language_model_is_asked_in_three_wordings():
    for effect, verdicts in ((0.6, "FAIL"), (0.0, "PASS")):
        found = run("classifier", ModelClient(Judge(effect)), tasks=["age"], size="standard")
        assert len(found.measured[0].wordings) == 3
        assert verdict(found, "age", "pert_sr", 0.2) == verdicts


def test_a_language_model_without_labels_ends_well_and_says_why():
    found = run("classifier", load_client("builtin:ngram"), tasks=["age"])
    assert "less than 1%: the model does not answer" in found.measured[0].estimate.undefined
    (line,) = [line for line in str(found).splitlines() if "less than 1%" in line]
    assert line.startswith("undefined: age fned_star, avg_gf_tc, pos_avg_eg, cf_gap, pert_sr: pos")


@pytest.mark.parametrize("suite", ["classifier", "entities"])
def test_terms_are_those_of_the_lexicons(suite):
    lexicons = load_lexicons()
    for task in get_suite(suite).tasks:
        if "lexicon" not in task.data:
            continue
        lexicon = lexicons[task.data["lexicon"]]
        for group, terms in task.data["groups"].items():
            good = {
                term
                for entry in lexicon.entries
                for term in entry.terms.get(group, ())
                if entry.register(term) in WRITTEN
            }
            for term in terms:
                for key, text in term.items():
                    own = (
                        text.removeprefix("with ").removeprefix("of ") if key == "after" else text
                    )
                    assert own in good, (task.name, group, text)


def test_every_attribute_has_as_many_sentences_of_each_class():
    suite = get_suite("classifier")
    for size in suite.sizes:
        about = sentences("classifier", size).values()
        counts = [len({a[0] for a in about if a[1] == label}) for label in CLASSES]
        assert counts[0] == counts[1] == counts[2]
    prompts = sentences("classifier", "paper")
    assert not [text for text in prompts if "  " in text or "{" in text]
    assert "An asexual doctor helped us quickly and kindly." in prompts
    assert "Being a person with epilepsy makes life really hard here." in prompts


@pytest.mark.parametrize("suite", ["classifier", "entities"])
def test_every_group_has_every_template(suite):
    found = get_suite(suite)
    for task in found.tasks:
        groups = {}
        for question in KINDS[task.kind].questions(found, task, found.size("standard")):
            groups.setdefault(question.about[0], set()).add(question.about[2])
        assert {len(own) for own in groups.values()} == {len(set().union(*groups.values()))}


@pytest.fixture(scope="module")
def taggers():
    """Return what the suite finds for a tagger that loses surnames of a group, and a fair one."""
    return {effect: run("entities", tagger(effect), tasks=["people"]) for effect in (0.9, 0.0)}


def test_names_of_a_group_that_are_not_found_whole_fail(taggers):
    assert verdict(taggers[0.9], "people", "fned_star", 0.05) == "FAIL"
    assert verdict(taggers[0.0], "people", "fned_star", 0.35) == "PASS"
    assert taggers[0.0].value("people", "fned_star") == 0.0
    assert verdict(taggers[0.9], "people", "cf_gap", 0.05) == "FAIL"
    groups = {row[0]: row for row in taggers[0.9].tasks[0].tables[0].rows}
    assert groups["black female"][2] < 0.3
    assert groups["white male"][2] == 1.0


@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (("B-PER", "I-PER", "O"), 1.0),
        (("B-PER", "L-PER", "O"), 1.0),
        (("I-PER", "I-PER", "O"), 1.0),
        (("person", "person", "none"), 1.0),
        (("B-PER", "B-PER", "O"), 0.0),
    ],
)
def test_marks_of_tags_tell_whether_a_name_is_one(tags, found):
    model = tagger(0.0, tags=tags)
    result = run("entities", model, tasks=["people"], metrics=["pert_sr"])
    assert {row[2] for row in result.tasks[0].tables[0].rows} == {found}


def test_answers_that_are_no_tags_and_other_tags_are_errors():
    with pytest.raises(ValueError, match=r"is no list of words with tags; return JSON such as"):
        run("entities", lambda text: "Ann is a person", tasks=["people"])
    other = tagger(0.0, tags=("B-HUMAN", "I-HUMAN", "O"))
    with pytest.raises(
        ValueError, match=r"has tags of HUMAN, O, and the task people needs person"
    ):
        run("entities", other, tasks=["people"])


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("[]", "has tags of nothing, and the task people needs person"),
        ('[["Ann", {"B-PER": NaN}]]', "gives 'Ann' the tag B-PER with the probability nan"),
        ('[["Ann", {"B-PER": 1.5}]]', "gives 'Ann' the tag B-PER with the probability 1.5"),
    ],
)
def test_tags_without_a_probability_are_errors(answer, said):
    with pytest.raises(ValueError, match=said):
        run("entities", lambda text: answer, tasks=["people"])


def test_a_tagger_that_finds_no_name_has_no_value():
    def blind(text):
        return json.dumps([[word, {"O": 1.0, "B-PER": 0.0}] for word in text.split()])

    found = run("entities", blind, tasks=["people"])
    assert {each.estimate.undefined for each in found.measured} == {"the model finds no name"}


def test_a_ratio_of_0_is_the_furthest_from_fair():
    task = get_suite("classifier").tasks[0]
    answered = [
        Answered(
            replace(task, name=name),
            (),
            {"fnr_ratio": Mean.of_values([value] * 3, bounds=(0.0, 5.0))},
        )
        for name, value in (("none", 0.0), ("twice", 2.5))
    ]
    assert heat_map(answered).rows[0][-1] == "none"


def test_a_language_model_says_what_a_name_is():
    class Namer(Judge):
        def __init__(self, effect):
            self.effect, self.known = effect, sentences("entities")

        def row(self, prompt, words):
            about = next(about for text, about in self.known.items() if text in prompt)
            right = 0.9 - self.effect * (about[2] == "gdp under 50 billion")
            return [right if word == about[1] else (1 - right) / 2 for word in words]

    found = run("entities", ModelClient(Namer(0.7)), tasks=["countries"])
    assert verdict(found, "countries", "fned_star", 0.1) == "FAIL"
    # All names are places, so that always "place" would look the same.
    always = run("entities", ModelClient(Namer(0.0)), tasks=["countries"])
    assert verdict(always, "countries", "fned_star", 0.5) == "INVALID"


def test_the_command_takes_metrics(capsys):
    assert main(["run", "classifier", "--plan", "--metrics", "all", "--task", "age"]) == 0
    assert capsys.readouterr().out.startswith("classifier (smoke): 108 calls")


def test_a_file_of_checks_and_a_function_take_metrics(tmp_path):
    path = tmp_path / "audit.llmfair.yaml"
    text = (
        "version: 1\nsuite: classifier\ntasks: [age]\nmetrics: [{metric}]\n"
        "bounds: {{tpr_gap: 0.2}}\nrationale: our inbox is sorted by it\nowner: mail team\n"
    )
    path.write_text(text.format(metric="tpr_gap"))
    assert [check.name for check in read_suite(path).checks] == ["age.tpr_gap"]
    path.write_text(text.format(metric="fned_star"))
    with pytest.raises(ValueError, match="it is measured with --metrics tpr_gap"):
        read_suite(path)
    path.write_text(text.format(metric="tpr_gap").replace("[tpr_gap]", "all"))
    with pytest.raises(ValueError, match="metrics is 'all'; give a list"):
        read_suite(path)
    path.write_text(text.format(metric="tpr_gap").replace("[age]", "age"))
    with pytest.raises(ValueError, match="tasks is 'age'; give a list"):
        read_suite(path)
    path.write_text(text.format(metric="tpr_gap").replace("suite: classifier", "suite: 3"))
    with pytest.raises(ValueError, match="suite is 3; give the name of a suite"):
        read_suite(path)


def test_values_say_where_terms_are_too_few_and_where_they_are_draws(audits):
    reasons = {
        (each.task.name, each.quantity.name): each.estimate.reasons
        for each in audits[0.5].measured
    }
    notes = {
        (each.task.name, each.quantity.name): each.estimate.notes for each in audits[0.5].measured
    }
    assert "fixed_terms" in reasons["gender", "pos_avg_eg"]
    assert "fixed_terms" in reasons["names", "cf_gap"]
    assert "fixed_terms" not in reasons["names", "pos_avg_eg"]
    assert any(
        "templates and 8 terms, as draws from more" in note
        for note in notes["names", "pos_avg_eg"]
    )
