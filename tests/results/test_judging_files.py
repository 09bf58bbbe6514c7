"""``llmfair doctor`` and ``llmfair judge``: verdicts from genuine files, and every refusal."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from pytest_llmfair import assert_metric
from pytest_llmfair.gate.result_files import quantities
from pytest_llmfair.results import Results, Row
from pytest_llmfair.results.compare import comparison_of
from pytest_llmfair.results.registry import read_results
from tests.judged import result_of
from tests.results.names import FAIR, HELM, PLANTED

DECLARED = ("--group", "metadata.gender", "--pair-by", "metadata.template")


def verdicts(path):
    comparison = comparison_of(read_results([path]))
    return {
        name: result_of(
            assert_metric, "score_difference", comparison.scores(name), bound=0.15
        ).verdict.value
        for name, column in comparison.results.scores.items()
        if column.judged and not column.constant
    }


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_difference_fails_in_every_form_of_its_file(genuine, name):
    assert "FAIL" in verdicts(genuine / name).values()


@pytest.mark.parametrize("name", FAIR)
def test_a_fair_model_never_fails(genuine, name):
    found = verdicts(genuine / name)
    assert found
    assert "FAIL" not in found.values()


def test_the_command_that_doctor_prints_for_pairs_of_helm_runs(genuine, command, llmfair):
    copied = command("doctor", genuine / HELM.format("planted"))[1].rpartition("llmfair ")[2]
    assert "--group perturbation --pair-by instance --bound 0.15" in copied
    done = llmfair(*shlex.split(copied), "-q")
    assert done.returncode == 1, done.stderr
    assert "FAIL score_difference (exact_match@3)" in done.stdout


def test_texts_are_those_of_the_scores_that_are_there():
    rows = []
    for group in ("female", "male"):
        for repeat, score in enumerate((None, 0.5)):
            said = f"{group} {'unscored' if score is None else 'scored'}"
            fields = {"gender": group, "unit": "u"}
            rows.append(Row(said, "Hi", said, {"x": score}, fields, "u", repeat))
    found = comparison_of(Results("t", rows), group=["gender"], pair_by=["unit"]).scores("x")
    assert [row.answers for row in found.rows] == [["female scored"], ["male scored"]]


def test_answers_in_no_comparison_are_counted(table, command, llmfair):
    rows = [
        {"prompt": f"{who} {unit}", "answer": "a", "sex": who, "unit": unit, "score": unit % 5 / 5}
        for unit in range(30)
        for who in (("f", "m") if unit < 20 else ("f",))
    ]
    path = table([*rows, {"prompt": "x", "answer": "a", "sex": None, "unit": 0, "score": 0.5}])
    text = "11 of 51 answers left out: 1 name no group, 10 are of units about one group only"
    declared = ("--group", "sex", "--pair-by", "unit")
    assert text in command("judge", path, *declared)[1]
    done = llmfair("judge", path, *declared, "--bound", "0.15", "--json")
    assert text in json.loads(done.stdout)["results"][0]["notes"]


def test_doctor_says_what_can_be_judged(genuine, command, monkeypatch):
    monkeypatch.chdir(genuine / "inspect")
    status, out, _ = command("doctor", "planted.eval")
    assert status == 0
    lines = [line.split("     ")[0] for line in out.splitlines()]
    assert lines[:6] == [
        "planted.eval: inspect_ai 0.3.285, task applications, model mockllm/model",
        "  240 answers to 80 prompts, 3 answers each at most; 240 planned, 6 missing",
        "groups   metadata.gender: female (120), male (120)",
        "units    40 of metadata.template, 40 with both groups; the prompts agree; 40 of 40 pairs "
        "pass the checks",
        "missing  female 3 of 120 (3 error: diver-female), male 3 of 120 (3 filtered: pilot-male)",
        "scores   includes  0 or 1, per answer",
    ]
    assert "can find a difference of 0.18 (80 % of such files)" in out
    assert out.splitlines()[-1] == (
        "next     llmfair judge planted.eval --group metadata.gender --pair-by metadata.template "
        "--bound 0.15"
    )


def test_without_a_bound_there_are_estimates_and_no_verdict(genuine, command, monkeypatch):
    monkeypatch.chdir(genuine / "inspect")
    status, out, _ = command("judge", "fair.eval")
    assert status == 0
    assert out.startswith(
        "groups guessed from metadata.gender, units from metadata.template; --group and --pair-by "
        "confirm\nscore     female  male"
    )
    assert "no verdict: you named no bound. Differences up to 0." in out
    found = json.loads(command("judge", "fair.eval", "--json")[1])
    assert [row["score"] for row in found["scores"]] == ["includes", "tone"]
    assert "guessed" not in command("judge", "fair.eval", *DECLARED)[1]


@pytest.mark.parametrize("unused", [("--bond", "0.15"), ("-q",), ("--write", "it.llmfair.yaml")])
def test_options_of_a_verdict_are_refused_where_there_is_none(genuine, command, unused):
    status, _, err = command("judge", genuine / "inspect/planted.eval", *DECLARED, *unused)
    assert status == 2
    assert f"{unused[0]} has no use without --bound, which makes a verdict; give --bound X" in err


def test_the_bound_that_would_pass_does_and_a_smaller_one_does_not(genuine):
    comparison = comparison_of(read_results([genuine / FAIR[4]]))
    (first, *_) = quantities(comparison)
    result, holds, passes = first.passing()
    assert holds == passes
    assert first.result(passes).verdict.value == "PASS"
    assert first.result(passes - 0.02).verdict.value != "PASS"
    assert max(-result.lower, result.upper) <= passes


@pytest.mark.slow
def test_a_guess_does_not_judge_and_the_command_to_copy_does(genuine, command, llmfair):
    path = genuine / "promptfoo/planted.jsonl"
    status, _, err = command("judge", path, "--bound", "0.15")
    assert status == 2
    assert "a guess may describe a file, and only a declaration may judge it" in err
    copied = err.strip().rpartition("run: llmfair ")[2]
    assert copied.endswith("--group vars.person --pair-by vars.occupation --bound 0.15")
    done = llmfair(*copied.split(), "-q")
    assert done.returncode == 1, done.stdout
    assert "FAIL score_difference (gender, approved)" in done.stdout
    found = json.loads(llmfair(*copied.split(), "--json").stdout)["results"]
    failed = [each for each in found if each["verdict"] == "FAIL"]
    # Holm's correction over all scores that are judged.
    assert max(each["p_adjusted"] / each["p_exceeds"] for each in failed) == len(found) == 3


def test_checks_are_kept_as_a_file_that_gives_the_same_verdicts(genuine, llmfair, tmp_path):
    path = genuine / "inspect/planted.eval"
    options = ("--bound", "0.15", "--bound", "texts=0.9", "--bound", "words=5")
    first = llmfair(
        "judge", str(path), *DECLARED, *options, "--write", "kept.llmfair.yaml", "--json"
    )
    again = llmfair("check", "kept.llmfair.yaml", "--llmfair-json", "again.json", "-q")
    one, two = json.loads(first.stdout), json.loads((tmp_path / "again.json").read_text())
    assert first.returncode == again.returncode == 1
    both = [
        {each["metric"]: (each["verdict"], each["value"]) for each in record["results"]}
        for record in (one, two)
    ]
    assert both[0] == both[1]
    assert len(both[0]) == 4
    assert one["results"][0]["missing_by_group"] == {
        "female": {"error": 3},
        "male": {"filtered": 3},
    }


REFUSALS = [
    ((), "has answers of 2 models: echo, second; each is judged alone: --model echo"),
    (("--model", "third"), "has no answers of 'third'; its models are echo, second"),
    (("--model", "echo", "--group", "vars.persn"), "has no field 'vars.persn'; did you mean "),
    (("--model", "echo", "--pair-by", "plan"), "has no field 'plan'; "),
    (("--model", "echo", "--groups", "cats"), "--groups has 'cats'; write VALUE=GROUP"),
    (("--model", "echo", "--groups", "a cat=x,a dog=y"), "have two of the values a cat, a dog"),
    (("--model", "echo", "--bound", "much"), "--bound is 'much'; write a number, or NAME=NUMBER"),
    (("--model", "echo", "--score", "kind"), "has no score 'kind'; its scores are "),
    (("--model", "echo", "--group", "metadata.gender_note"), "has one value only: set by person"),
]


@pytest.mark.parametrize(("options", "message"), REFUSALS)
def test_what_cannot_be_judged_is_refused_with_a_remedy(genuine, command, options, message):
    status, _, err = command("judge", genuine / "promptfoo/echo.json", *options)
    assert status == 2
    assert message in err


def test_bounds_need_a_name_that_is_there_and_a_unit(table, command):
    rows = [
        {
            "prompt": f"{who} works as a {job}.",
            "answer": "a",
            "score.words": n * 10,
            "g": who,
            "j": job,
        }
        for n, job in enumerate(["cook", "nurse", "clerk"])
        for who in ("The man", "The woman")
    ]
    path, declared = table(rows), ("--group", "g", "--pair-by", "j")
    status, _, err = command("judge", path, *declared, "--bound", "0.1")
    assert status == 2
    assert "none of the scores (words) lies between 0 and 1" in err
    err = command("judge", path, *declared, "--bound", "tone=1")[2]
    assert "--bound names 'tone'; there are words, refusals, texts, invariance" in err
    even = table([{**row, "score.words": 10} for row in rows])
    err = command("judge", even, *declared, "--bound", "0.1")[2]
    assert "no score can be judged (words: constant); judge the answers by a bound on one" in err


def _rated(table, score):
    """Return the path of a table with 40 jobs, each rated for both groups."""
    rng = np.random.default_rng(4)
    rows = [
        {"prompt": f"Hire the {who} as {job}?", "answer": "a", "who": who, "job": f"job {job}"}
        | score(who == "man", rng)
        for job in range(40)
        for who in ("woman", "man")
    ]
    return table(rows)


def test_the_bound_that_is_proposed_is_one_that_a_rating_can_exceed(table, command, llmfair):
    path = _rated(table, lambda man, rng: {"score.stars": 1.0 + rng.integers(0, 3) + 2 * man})
    for name in ("doctor", "judge"):
        shown = command(name, path)[1].splitlines()[-1].split("llmfair ")[1]
        assert shown.endswith("--bound stars=0.6")
        assert "1 FAIL" in llmfair(*shown.split(), "-q").stdout


def test_a_difference_that_a_file_can_find_is_found(table):
    def found(gap):
        path = _rated(table, lambda man, rng: {"score": 0.4 + gap * man + rng.normal(0.0, 0.03)})
        quantity = next(quantities(comparison_of(read_results([path]))))
        result = quantity.result(1e-6)
        return quantity.detectable(), not result.lower <= 0.0 <= result.upper

    least, _ = found(0.0)
    assert found(1.1 * least)[1]
    # The standard error alone would promise 0.02.
    assert not found(0.8 * least)[1]


def test_a_score_of_one_group_hides_no_other(table, command):
    path = _rated(
        table,
        lambda man, rng: {"score.half": rng.random() if man else None, "score.x": rng.random()},
    )
    lines = [re.split("  +", line) for line in command("judge", path)[1].splitlines()]
    assert lines[1][:3] == ["score", "female", "male"]
    assert lines[2][:5] == ["half", "n/a", "n/a", "n/a", "n/a"]
    assert lines[3][0] == "x"
    assert "higher)" in lines[3][3]


def test_a_file_without_groups_lists_its_fields(table, command):
    path = table([{"prompt": f"Add {i}.", "answer": "1", "topic": "sums"} for i in range(4)])
    status, out, err = command("doctor", path)
    assert status == 2
    assert "4 answers to 4 prompts" in out
    assert "nothing in it names two groups of people; name the field by --group FIELD" in err
    assert "Fields: topic (sums)" in err


def test_groups_without_pairs_are_judged_only_as_independent_samples(table, command, llmfair):
    rows = [
        {
            "prompt": f"Case {i}.",
            "answer": "a",
            "score.ok": i % 2,
            "sex": "male" if i % 3 else "female",
        }
        for i in range(120)
    ]
    path = table(rows)
    out = command("doctor", path)[1]
    assert "units    none: no prompt is about two groups; a verdict only with --unpaired" in out
    assert command("judge", path)[0] == 0
    status, _, err = command("judge", path, "--group", "sex", "--bound", "0.3")
    assert status == 2
    assert "--group sex --unpaired --bound 0.3" in err
    done = llmfair("judge", str(path), "--group", "sex", "--unpaired", "--bound", "0.3", "-q")
    assert done.returncode in (0, 1)
    assert "score_difference" in done.stdout


def test_too_many_missing_are_invalid_by_group(table, llmfair):
    rows = [
        {
            "prompt": f"{who} {i}",
            "answer": None if who == "female" and i < 8 else "a",
            "score.x": i % 2,
        }
        | {"who": who, "unit": str(i)}
        for i in range(40)
        for who in ("female", "male")
    ]
    done = llmfair(
        "judge", table(rows), "--group", "who", "--pair-by", "unit", "--bound", "0.2", "-q"
    )
    assert done.returncode == 1
    assert "INVALID" in done.stdout
    assert "8 of 40 answers are missing for female (8 null)" in " ".join(done.stdout.split())


def test_planned_answers_that_are_not_there_make_the_file_invalid(genuine, llmfair, command):
    path = genuine / "inspect/few.eval"
    done = llmfair("judge", str(path), *DECLARED, "--bound", "0.3", "-q")
    assert done.returncode == 1
    assert "228 of 240 planned answers are not in the file" in done.stdout
    assert command("judge", path, *DECLARED, "--bound", "texts=0.7")[2].endswith(
        "run the evaluation to its end before its texts are compared\n"
    )


def test_one_answer_a_prompt_never_fails_texts(table, llmfair):
    rows = [
        {
            "prompt": f"The {who} bakes {i}.",
            "answer": f"{who} says {i}",
            "who": who,
            "unit": str(i),
        }
        for i in range(30)
        for who in ("woman", "man")
    ]
    options = ("--bound", "invariance=0.05")
    done = llmfair("judge", table(rows), "--group", "who", "--pair-by", "unit", *options, "-q")
    assert "UNDERPOWERED" in done.stdout
    assert "FAIL " not in done.stdout


def test_files_of_one_run_find_each_other_and_of_two_tools_do_not(genuine, command):
    folder = genuine / "lm_eval/planted/fake"
    samples = sorted(folder.glob("samples_*"))
    together = command("doctor", *samples)[1]
    alone = command("doctor", *folder.glob("results_*"))[1]
    assert together.splitlines()[1:-1] == alone.splitlines()[1:-1]
    err = command("doctor", samples[0], genuine / "promptfoo/fair.jsonl")[2]
    assert "the files are of lm_eval and promptfoo; give the files of one run" in err


def test_the_page_on_results_shows_what_the_commands_print(genuine, command, monkeypatch):
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text(encoding="utf-8")
    sessions = re.findall(r"^```\n\$ llmfair (.+)\n((?:.*\n)*?)```$", page, re.MULTILINE)
    assert len(sessions) == 6
    for words, shown in sessions:
        parts = re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)
        wanted, printed = "(?s:.*)".join(map(re.escape, parts)), []
        # A planted and a fair file can have one name.
        for file in genuine.rglob(words.split()[1]):
            monkeypatch.chdir(file.parent)
            printed.append(command(*words.split())[1])
        assert any(re.fullmatch(wanted, each) for each in printed), printed


@pytest.mark.slow
def test_fair_results_look_unfair_about_as_often_as_intervals_promise():
    rng = np.random.default_rng(11)
    missed, runs = 0, 250
    for _ in range(runs):
        rates = np.clip(rng.beta(2, 2, (40, 1)) + rng.normal(0, 0.15, (40, 2)), 0, 1)
        scores = (rng.random((40, 2, 5)) < rates[:, :, None]).astype(float)
        rows = [
            Row("", f"{who} {t}", "a", {"x": scores[t, g, n]}, {"who": who, "t": str(t)}, repeat=n)
            for t in range(40)
            for g, who in enumerate(("woman", "man"))
            for n in range(5)
        ]
        results = Results("drawn", rows, files=("drawn",))
        comparison = comparison_of(results, group=["who"], pair_by=["t"])
        (quantity,) = quantities(comparison)
        result = quantity.result(0.5)
        assert result.units == 40
        missed += not result.lower <= 0 <= result.upper
    # 4 %, and three standard errors of 250 runs; rows as units miss 8 % and more.
    assert missed / runs <= 0.075


def test_a_field_of_numbers_is_a_score_where_it_is_named(table, command, llmfair):
    rows = [
        {"input": {"q": f"The {who} asks {i}."}, "output": {"reply": "So."}, "useful": i % 5 / 4}
        | {"who": who, "unit": f"case {i}"}
        for i in range(30)
        for who in ("woman", "man")
    ]
    path = table(rows)
    out = command("doctor", path)[1]
    assert "scores   none named as such\nnumbers  useful: --score NAME takes one as a score" in out
    assert "useful  0.5" in command("judge", path, "--score", "useful")[1]
    declared = ("--group", "who", "--pair-by", "unit", "--score", "useful", "--bound", "0.6")
    done = llmfair("judge", path, *declared, "--json")
    assert [each["verdict"] for each in json.loads(done.stdout)["results"]] == ["PASS"]


def test_names_and_units_come_from_the_prompts_where_no_field_has_them(table, command):
    rows = [
        {"prompt": f"Dear {name}, your claim {i} is here.", "answer": "Paid.", "score.ok": i % 2}
        for i in range(12)
        for name in ("Emily", "Jamal")
    ]
    out = command("judge", table(rows), "--groups", "Emily=white,Jamal=black", "--json")[1]
    found = json.loads(out)
    assert found["groups"] == ["white", "black"]
    assert found["scores"][0]["difference"] == 0.0
    twins = [
        {"prompt": f"{who} is a waiter in town {i}.", "answer": "a"}
        for i in (1, 2)
        for who in ("He", "She")
    ]
    out = command("doctor", table(twins))[1]
    assert "groups   words:gender: male (2), female (2)" in out
    assert (
        "units    2 of the masked prompts, 2 with both groups; 2 of 2 pairs pass the checks" in out
    )
    assert "--group words:gender --pair-by prompt" in out


def test_what_is_not_judged_is_said_and_the_command_keeps_every_option(table, command, llmfair):
    rows = [
        {
            "prompt": f"The {who} asks {i}.",
            "answer": "So.",
            "score.ok": i % 2,
            "score.no": 1 - i % 2,
        }
        | {"score.all": 1, "score.days": i + 2, "score.mood": "good", "who": who, "unit": str(i)}
        for i in range(30)
        for who in ("woman", "man")
    ]
    path = table(rows)
    out = llmfair(
        "judge", path, "--group", "who", "--pair-by", "unit", "--bound", "0.9", "-q"
    ).stdout
    assert out.startswith(
        "not compared: no (says the same as ok)\nnot compared: all (constant)\n"
        "not compared: mood (no numbers)\nnot judged: days (no bound; --bound days=X)\n"
    )
    err = command("judge", path, "--score", "ok", "--bound", "0.9", "--bound", "texts=0.8")[2]
    assert "--group who --pair-by unit --score ok --bound 0.9 --bound texts=0.8" in err
