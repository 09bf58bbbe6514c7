"""Metric selection: what is chosen for a use case, and why everything else is left out."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.gate.selection import TASKS, UseCase, recommend, selection_page
from pytest_llmfair.metrics import all_metrics

NEUTRAL = ["Summarise the report.", "Shorten this letter."]
NAMED = ["Summarise the report.", "Write to my sister."]
PREDICTIONS = {
    *("tpr_gap", "tnr_gap", "parity_gap", "disparity_score_star", "fned_star", "fped_star"),
    *("background_comparison", "multigroup_comparison"),
}
PROBABILITIES = {"avg_if_tc", "avg_if", "avg_gf_tc", "avg_gf", "pert_sr"}


def chosen(use_case, prompts=None):
    return {each.metric for each in recommend(use_case, prompts).chosen}


def reason(use_case, metric, prompts=None):
    (found,) = [each for each in recommend(use_case, prompts).choices if each.metric == metric]
    return found.reason


def use_cases():
    for task, fairness, intervention, wanted in itertools.product(
        TASKS, ("error", "representation"), ("", "assistive", "punitive"), (True, False)
    ):
        yield UseCase(
            task,
            fairness=fairness,
            intervention=intervention,
            invariance_wanted=wanted,
            invariance_reason="" if wanted else "clinical texts",
        )


@pytest.mark.parametrize("prompts", [None, NEUTRAL, NAMED])
def test_every_metric_is_chosen_or_left_out_with_a_reason_and_a_section(prompts):
    for use_case in use_cases():
        found = recommend(use_case, prompts)
        assert sorted(each.metric for each in found.choices) == sorted(all_metrics())
        rows = found.to_dict()
        split = [each["metric"] for each in (*rows["chosen"], *rows["left_out"])]
        assert sorted(split) == sorted(all_metrics())
        assert [each["metric"] for each in rows["chosen"]] == [x.metric for x in found.chosen]
        for each in found.choices:
            assert each.reason, each.metric
            assert "{" not in each.reason
            assert re.search(r"\bsections? \d|Table \d", each.source), each


def test_unawareness_is_found_in_the_prompts():
    found = recommend(UseCase("generation"), NAMED)
    assert found.unawareness.status == "violated"
    assert found.unawareness.words == "1 of 2 prompts name a group"
    assert recommend(UseCase("generation"), NEUTRAL).unawareness.status == "satisfied"
    assert recommend(UseCase("generation")).unawareness.status == "unchecked"
    # Words of another attribute do not count, and templates always do.
    assert recommend(UseCase("generation", attributes=("age",)), NAMED).unawareness.count == 0
    assert recommend(UseCase("generation"), ["Greet {person}."]).unawareness.count == 1


def test_texts_are_always_tested_for_toxicity():
    for task in (task for task, kind in TASKS.items() if kind == "text"):
        for prompts in (None, NEUTRAL, NAMED):
            assert "toxic_fraction" in chosen(UseCase(task), prompts)


def test_stereotypes_and_counterfactuals_need_prompts_that_name_a_group():
    needed = {"stereotype_fraction", "stereotypical_associations", "strict_sentiment_parity"}
    needed |= {"counterfactual_rouge_l", "group_predictability"}
    assert needed <= chosen(UseCase("translation"), NAMED)
    assert needed <= chosen(UseCase("translation"))
    assert chosen(UseCase("translation"), NEUTRAL) == {
        "toxic_fraction",
        "fairness_through_unawareness",
    }
    assert "so the risk is low, though not zero" in reason(
        UseCase("translation"), "stereotype_fraction", NEUTRAL
    )


def test_where_answers_may_differ_only_their_sentiment_is_compared():
    clinical = UseCase(
        "summarisation", invariance_wanted=False, invariance_reason="symptoms differ by sex"
    )
    left_out = {"counterfactual_rouge_l", "group_predictability"}
    assert not left_out & chosen(clinical, NAMED)
    assert "strict_sentiment_parity" in chosen(clinical, NAMED)
    assert reason(clinical, "counterfactual_rouge_l", NAMED).endswith("symptoms differ by sex")


def test_a_difference_that_is_wanted_needs_a_reason():
    with pytest.raises(ValueError, match="say in invariance_reason why"):
        UseCase("recommendation", invariance_wanted=False)


def test_errors_that_hurt_decide_about_classes_of_persons():
    def case(**about):
        return UseCase("classification", person_level=True, **about)

    misses = {"false_negative_rate_difference", "false_omission_rate_difference"}
    alarms = {"false_positive_rate_difference", "false_discovery_rate_difference"}
    assert chosen(case(intervention="assistive"), NEUTRAL) == misses | {
        "fairness_through_unawareness"
    }
    assert chosen(case(intervention="punitive"), NAMED) == alarms
    assert chosen(case(), NAMED) == misses | alarms
    assert chosen(case(fairness="representation"), NAMED) == {"demographic_parity_difference"}


def test_shares_are_no_reason_where_errors_matter():
    for choice in recommend(UseCase("classification", fairness="error"), NAMED).choices:
        assert choice.chosen or "should get equal shares" not in choice.reason, choice.metric


def test_sensitive_classes_are_tested_one_by_one():
    case = UseCase("classification", person_level=True, sensitive_classes=("denied", "fraud"))
    text = reason(case, "false_negative_rate_difference", NAMED)
    assert text.endswith("once for each sensitive class, as positive: denied, fraud")


def test_classes_of_nobody_in_particular_need_no_metric():
    assert chosen(UseCase("classification"), NEUTRAL) == {"fairness_through_unawareness"}


@pytest.mark.parametrize("question", ["between_groups", "against_background", "any_effect"])
@pytest.mark.parametrize(
    "about", [{"intervention": "assistive"}, {"intervention": "punitive"}, {},
              {"fairness": "representation"}]
)  # fmt: skip
def test_templates_get_a_metric_on_predictions_and_one_on_probabilities(question, about):
    found = recommend(UseCase("classification", question=question, **about), NAMED)
    names = {each.metric for each in found.chosen}
    assert names & PREDICTIONS
    assert names & PROBABILITIES
    assert [step.split(",")[0] for step in found.steps] == ["step 1", "step 2", "step 3"]
    kind = {"between_groups": "PCM", "against_background": "BCM", "any_effect": "MCM"}[question]
    assert kind in found.steps[0]


def test_lists_are_compared_only_where_groups_should_get_the_same():
    lists = {"jaccard_at_k", "serp_at_k", "prag_at_k"}
    assert chosen(UseCase("recommendation"), NAMED) == lists
    assert not lists & chosen(UseCase("recommendation"), NEUTRAL)
    other = UseCase("recommendation", invariance_wanted=False, invariance_reason="shoe sizes")
    assert chosen(other, NAMED) == set()


def test_rankings_get_rabbi_and_the_gaps_at_the_quota():
    assert chosen(UseCase("ranking"), NAMED) == {"rabbi", "demographic_parity_gap"}
    known = UseCase("ranking", qualified_known=True, quota=3)
    assert "equal_opportunity_gap" in chosen(known, NAMED)
    assert reason(known, "demographic_parity_gap", NAMED).endswith("k = 3")


def test_people_that_are_made_up_have_a_gender():
    assert "ruted_neutrality" in chosen(UseCase("generation", invents_people=True), NAMED)
    assert "ruted_neutrality" not in chosen(UseCase("generation"), NAMED)


def test_a_person_who_reads_every_output_may_be_enough():
    (note,) = recommend(UseCase("generation", reviews_every_output=True), NAMED).notes
    assert "may be unnecessary" in note


@pytest.mark.parametrize("name", ["task", "fairness", "intervention", "question"])
def test_a_word_that_is_not_known_is_an_error_with_the_nearest(name):
    near = {"task": "rankin", "fairness": "errors", "intervention": "punitiv", "question": "any"}
    with pytest.raises(ValueError, match=rf"{name} is '{near[name]}'; (did you mean|known are) "):
        UseCase(**{"task": "ranking", name: near[name]})


def test_the_selection_is_plain_data_and_markdown():
    found = recommend(UseCase("generation", description="replies | to letters"), NAMED)
    data = json.loads(json.dumps(found.to_dict()))
    assert data["unawareness"] == {
        "status": "violated",
        "count": 1,
        "prompts": 2,
        "slots": 0,
        "words": "1 of 2 prompts name a group",
    }
    assert {each["metric"] for each in data["chosen"]} == chosen(UseCase("generation"), NAMED)
    markdown = selection_page([{**data, "file": "a|b.llmfair.yaml", "not_run": {}}], [])
    rows = [line for line in markdown.splitlines() if line.startswith("| `")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {4, 5}
    assert all(f"`{name}`" in markdown for name in all_metrics())


def test_the_command_prints_text_of_80_columns(capsys, tmp_path):
    prompts = tmp_path / "prompts.txt"
    prompts.write_text("\n".join(NAMED))
    assert main(["recommend", "--task", "summarisation", "--prompts", str(prompts)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1] == "prompts   1 of 2 prompts name a group"


def test_the_command_reads_a_file_of_checks_and_prints_json(capsys, tmp_path):
    file = tmp_path / "it.llmfair.yaml"
    file.write_text(
        "version: 1\nuse_case: {task: ranking, quota: 2}\nprompts: [She left.]\nchecks:\n"
        "- {metric: FTU, bound: 0.5, rationale: agreed, owner: us}\n"
    )
    assert main(["recommend", str(file), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["use_case"]["quota"] == 2
    assert data["unawareness"]["status"] == "violated"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "there is no use case; give a file of checks, or --task TASK"),
        (["--task", "rankin"], "task is 'rankin'; did you mean ranking?"),
        (["nothing.yaml"], "there is no file nothing.yaml; give the path of one"),
        (["--task", "ranking", "--attribute", "gendr", "--prompts", "p"], "there is no file p"),
    ],
)
def test_wrong_use_of_the_command_says_what_to_do(refused, options, message):
    assert message in refused("recommend", *options)
