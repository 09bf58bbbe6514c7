"""Every genuine file: as many rows as its tool says, and what is missing is never a score."""

from __future__ import annotations

import csv
import json
import sys
import zipfile

import pytest

from pytest_llmfair.responses import CutAnswer, Missing
from pytest_llmfair.results import Results, ResultsError, Row, reader
from pytest_llmfair.results.registry import read_results
from tests.results.names import HELM, KINDS, PLANTED

ROWS = {
    "inspect/old_0_3_60_no_effect.eval": (80, "inspect_ai", "0.3.60"),
    "inspect/planted.eval": (240, "inspect_ai", "0.3.285"),
    "inspect/planted.json": (240, "inspect_ai", "0.3.285"),
    "inspect/few.eval": (240, "inspect_ai", "0.3.285"),
    "promptfoo/planted.json": (240, "promptfoo", "0.121.20"),
    "promptfoo/planted.jsonl": (240, "promptfoo", ""),
    "promptfoo/echo.json": (12, "promptfoo", "0.121.20"),
    "promptfoo/echo.jsonl": (12, "promptfoo", ""),
    PLANTED[4]: (240, "lm_eval", "0.4.13"),
    PLANTED[5]: (80, "lm_eval", "0.4.13"),
    PLANTED[6]: (320, "lm_eval", "0.4.13"),
    "deepeval/planted_latest_run_full.json": (80, "deepeval", ""),
    "deepeval/conversations.json": (2, "deepeval", ""),
    "deepeval/evaluation_result.json": (8, "deepeval", ""),
    "inspect/scores.json": (12, "inspect_ai", "0.3.285"),
    "inspect/samples_df.csv": (12, "table", ""),
    KINDS: (32, "lm_eval", "0.4.13"),
    HELM.format("planted"): (237, "helm", ""),
    "other/braintrust_results.jsonl": (4, "table", ""),
    "other/langsmith_to_pandas.csv": (8, "table", ""),
    "other/junit.xml": (6, "junit", ""),
    "other/pytest_json_report.json": (6, "pytest-json-report", ""),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_reader_returns_as_many_rows_as_the_tool_says_it_has(genuine, name):
    found = read_results([genuine / name])
    assert (len(found.rows), found.tool, found.version) == ROWS[name]
    assert found.planned in (None, len(found.rows))
    assert not found.absent


def test_members_in_zstandard_are_read_and_absent_samples_are_missing(genuine):
    rows = read_results([genuine / "inspect/few.eval"]).rows
    there = [row for row in rows if getattr(row.answer, "reason", "") != "absent"]
    assert len(there) == 12
    assert {row.answer.reason for row in rows if isinstance(row.answer, Missing)} == {
        "absent",
        "filtered",
    }


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python reads Zstandard by itself")
def test_members_in_zstandard_name_the_extra_that_reads_them(genuine, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ResultsError, match=r"pip install .*zstandard.*, or: inspect log"):
        read_results([genuine / "inspect/few.eval"])


def test_errors_and_filtered_answers_are_missing_with_their_scores(genuine):
    for name in ("inspect/planted.eval", "promptfoo/planted.jsonl"):
        rows = read_results([genuine / name]).rows
        gone = [row for row in rows if isinstance(row.answer, Missing)]
        assert len(gone) == (6 if "inspect" in name else 3)
        assert all(value is None for row in gone for value in row.scores.values())
    kept = read_results([genuine / "promptfoo/planted.jsonl"])
    # A failed assertion is a score of 0, and no missing answer.
    assert sum(row.scores.get("approved") == 0.0 for row in kept.rows) == 75


def test_repeats_are_numbered_where_the_file_does_not(genuine):
    for name in ("promptfoo/planted.jsonl", "inspect/planted.eval", PLANTED[4]):
        rows = read_results([genuine / name]).rows
        assert sorted({row.repeat for row in rows}) == [0, 1, 2]


def test_equal_complementary_and_constant_scores_are_named(genuine):
    found = read_results([genuine / PLANTED[6]]).scores
    assert found["applications_mc/p(Declined)"].same_as == "applications_mc/p(Approved)"
    assert found["applications/exact_match,first"].per == "sample"
    assert found["applications_mc/acc"].kind == "0 or 1"
    found = read_results([genuine / "promptfoo/echo.json"]).scores
    assert found["contains:Mrs"].constant
    assert found["pass"].same_as == "score"


def test_a_failed_metric_has_no_score_and_says_why(genuine):
    rows = read_results([genuine / "deepeval/planted_latest_run_full.json"]).rows
    lost = [row for row in rows if row.scores["Tone"] is None]
    assert [sorted(row.score_missing) for row in lost] == [["Tone"], ["Tone"]]


REFUSED = {
    "promptfoo/echo.csv": "JSON and JSONL are read, which say why an answer is missing, and no",
    "promptfoo/other.csv": "promptfoo export eval latest --output results.json",
    "promptfoo/other.xml": "JSON and JSONL are read, which say why an answer is missing, and no",
    "promptfoo/other.yaml": "JSON and JSONL are read, which say why an answer is missing, and no",
    "deepeval/planted_deepeval-cache.json": "is the cache of DeepEval, which lacks metadata",
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_that_lack_what_is_needed_are_refused_with_a_remedy(genuine, command, name):
    status, _, err = command("doctor", genuine / name)
    assert status == 2
    assert REFUSED[name] in err


def test_options_are_what_differs_between_the_calls_about_a_document(genuine):
    rows = read_results([genuine / KINDS]).rows
    first = {row.task: row for row in reversed(rows)}
    # Calls without what was asked, for mutual information, are no further options.
    assert first["app_mi"].scores["app_mi/p(Approved)"] == pytest.approx(0.1226, abs=1e-4)
    assert first["app_mi"].answer == "Declined"
    # One continuation of several contexts, as in Winogrande.
    assert first["app_wino"].prompt == "gets the job as accountant"
    assert first["app_wino"].answer == "the woman is bad and"
    # The likelihood of a text is no text.
    assert first["app_roll"].scores["app_roll/loglikelihood"] == pytest.approx(-6.4393, abs=1e-4)
    assert first["app_roll"].answer == first["app_roll"].prompt
    # Parts of a score of the corpus are no number of an answer, and not left out in silence.
    assert read_results([genuine / KINDS]).scores["app_one/bleu"].kind == "label"


def test_tasks_that_pair_by_other_prompts_are_paired_by_their_field(genuine, command):
    out = command("doctor", genuine / KINDS)[1]
    assert "units    4 of doc.occupation, 4 with both groups; the prompts differ" in out


def test_scores_of_inspect_are_numbers_where_inspect_says_so(genuine):
    found = read_results([genuine / "inspect/scores.json"]).scores
    kinds = {name: found[name].kind for name in ("yesno", "rubric.tone", "verdicts")}
    assert kinds == {"yesno": "0 or 1", "rubric.tone": "number", "verdicts": "label"}
    assert found["rubric.grade"].low == 0.5


def test_a_sample_that_was_written_again_counts_once(genuine, tmp_path):
    path = tmp_path / "edited.eval"
    path.write_bytes((genuine / "inspect/planted.eval").read_bytes())
    with zipfile.ZipFile(path, "a") as archive:
        name = next(each for each in archive.namelist() if each.startswith("samples/"))
        sample = {**json.loads(archive.read(name)), "input": "edited"}
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr(name, json.dumps(sample))
    found = read_results([path])
    assert len(found.rows) == 240
    assert found.rows[0].prompt == "edited"


def test_conversations_are_what_was_said_by_either_side(genuine):
    (first, _) = read_results([genuine / "deepeval/conversations.json"]).rows
    assert (first.prompt, first.answer) == ("Hi, I am the woman.", "Hello")


def test_scores_without_their_answers_are_judged(genuine, command):
    path = genuine / "inspect/samples_df.csv"
    status, out, err = command("doctor", path)
    assert status == 0, err
    assert "scores of 12 answers that are not in the file, to 12 prompts; 0 missing" in out
    # The cell is {"gender": "female"}.
    assert "groups   metadata_who.gender: female (6), male (6)" in out
    assert "can be judged    difference of scores\n" in out
    declared = ("--group", "metadata_who.gender", "--pair-by", "metadata_occupation")
    status, out, err = command("judge", path, *declared)
    assert status == 0, err
    assert "rubric.tone  0." in out


def test_a_folder_of_logs_names_a_file_in_it(genuine, command):
    err = command("doctor", genuine / "deepeval")[2]
    assert "name a file in it, such as " in err
    assert "deepeval/conversations.json" in err


def test_means_without_samples_are_refused(genuine, tmp_path, command):
    means = tmp_path / "results_2026-11-23T15-31-42.679924.json"
    means.write_bytes((genuine / PLANTED[6]).read_bytes())
    status, _, err = command("doctor", means)
    assert status == 2
    assert "holds means only" in err
    assert "--log_samples" in err


def test_an_unknown_file_lists_the_readers(tmp_path, command):
    path = tmp_path / "notes.md"
    path.write_text("nothing")
    status, _, err = command("doctor", path)
    assert status == 2
    assert "notes.md is not a file that a reader knows; readers and their files are" in err
    for name in ("inspect", "promptfoo", "lm_eval", "helm", "openai_batch", "junit", "tables"):
        assert f"{name}: " in err
    assert command("doctor", path, "--reader", "inspekt")[2].endswith("did you mean inspect?\n")


def test_means_by_sample_are_no_samples(genuine, tmp_path, command):
    log = json.loads((genuine / "inspect/scores.json").read_text())
    means = [{"sample_id": each["id"], "value": 0.5} for each in log["samples"]]
    # As `inspect eval --no-log-samples` leaves it.
    kept = {**log, "reductions": [{"scorer": "includes", "samples": means}]}
    del kept["samples"]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(kept))
    err = command("doctor", path)[2]
    assert "log.json holds no answers (logs of --no-log-samples have none); run" in err
    path.write_text(json.dumps({"status": "success", "reductions": kept["reductions"], **log}))
    assert len(read_results([path], "inspect").rows) == 12


def test_every_failed_sample_is_missing_whatever_the_status(tmp_path):
    sample = {"id": "a", "epoch": 1, "input": "Hi?", "error": {"message": "boom"}, "output": {}}
    log = {"status": "success", "eval": {"task": "t", "task_id": "x"}, "samples": [sample]}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log))
    found = read_results([path])
    assert found.rows[0].answer == Missing("error", "boom")
    assert found.notes == ("every sample failed, whatever the status says: boom",)


def test_more_than_one_candidate_for_a_column_is_a_question(table, command):
    path = table([{"input": "a", "question": "b", "output": "c"}])
    with pytest.raises(ResultsError, match="2 columns that may be the prompt: input, question; "):
        read_results([path])
    assert read_results([path], options={"prompt": "question"}).rows[0].prompt == "b"
    assert "name one: --prompt input" in command("doctor", path)[2]


def test_cells_that_are_empty_labels_or_nan_are_never_a_number(table):
    cells = [None, "", "good", float("nan"), "0.5", True]
    rows = [{"prompt": "p", "answer": "a", "score.x": cell} for cell in cells]
    found = read_results([table(rows)])
    assert [row.scores["x"] for row in found.rows] == [None, None, "good", None, 0.5, 1.0]
    assert found.scores["x"].kind == "label"


def test_helm_declares_pairs_and_drops_equal_prompts(tmp_path):
    change = {"name": "dialect", "fairness": True, "source_class": "SAE", "target_class": "AAVE"}

    def state(number, text, perturbation=None):
        instance = {"id": f"id{number}", "input": {"text": text}}
        instance |= {"perturbation": perturbation} if perturbation else {}
        completions = [{"text": f"about {text}", "finish_reason": {"reason": "length"}}]
        result = {"success": True, "completions": completions}
        return {"instance": instance, "train_trial_index": 0, "request": {}, "result": result}

    states = [state(i, f"Is it {i}?") for i in range(3)]
    states += [state(0, "It be 0?", change), state(1, "Is it 1?", change)]
    states[2]["result"] = {"success": False, "error": "timed out", "completions": []}
    log = {"adapter_spec": {"model": "m"}, "request_states": states}
    (tmp_path / "scenario_state.json").write_text(json.dumps(log))
    name = {"name": "exact_match", "split": "test"}
    stats = [{"name": name, "count": 1, "sum": 1.0, "mean": 1.0}]
    stats.append({"name": {"name": "num_output_tokens"}, "count": 1, "mean": 9.0})
    entries = [{"instance_id": f"id{i}", "train_trial_index": 0, "stats": stats} for i in range(3)]
    entries.append({**entries[0], "perturbation": change})
    (tmp_path / "per_instance_stats.json").write_text(json.dumps(entries))
    found = read_results([tmp_path / "per_instance_stats.json"])
    assert found.notes == ("1 perturbed prompts are equal to the original: left out",)
    assert [row.scores["exact_match"] for row in found.rows] == [1.0, 1.0, None, 1.0]
    assert isinstance(found.rows[0].answer, CutAnswer)
    assert found.rows[2].answer == Missing("error", "timed out")
    assert found.pairs == ("perturbation", "instance")
    assert [found.rows[3].fields[name] for name in found.pairs] == ["dialect to AAVE", "id0"]
    assert found.models == ["m"]
    (tmp_path / "per_instance_stats.json").write_text(json.dumps(entries)[:-1])
    with pytest.raises(ResultsError, match=r"per_instance_stats\.json is not valid JSON"):
        read_results([tmp_path / "scenario_state.json"])


def test_a_batch_is_joined_with_its_requests(table):
    def request(number):
        messages = [{"role": "user", "content": f"Question {number}?"}]
        return {"custom_id": f"r{number}", "body": {"model": "m", "messages": messages}}

    def result(number, **body):
        return {"custom_id": f"r{number}", "response": {"status_code": 200, "body": body}}

    def said(text, finish="stop"):
        return {"choices": [{"message": {"content": text}, "finish_reason": finish}]}

    table([request(i) for i in range(5)], "requests.jsonl")
    lines = [result(0, **said("Yes.")), result(1, **said("Lo", "length"))]
    lines += [result(2, **said("No", "content_filter"))]
    lines += [{"custom_id": "r3", "response": None, "error": {"message": "gone"}}]
    found = read_results([table(lines, "out.jsonl")])
    assert [row.prompt for row in found.rows] == [f"Question {i}?" for i in range(5)]
    reasons = [getattr(row.answer, "reason", str(row.answer)) for row in found.rows]
    assert reasons == ["Yes.", "Lo", "filtered", "error", "absent"]
    assert isinstance(found.rows[1].answer, CutAnswer)


def test_errors_of_a_batch_are_in_a_file_of_their_own(table):
    table([{"custom_id": name, "body": {"input": "Hi"}} for name in "abc"], "requests.jsonl")
    body = {"choices": [{"message": {"content": "Yes."}, "finish_reason": "stop"}]}
    good = table([{"custom_id": "a", "response": {"status_code": 200, "body": body}}], "out.jsonl")
    lost = {"custom_id": "b", "response": None, "error": {"code": "batch_expired"}}
    found = read_results([good, table([lost], "error.jsonl")])
    reasons = {row.sample: getattr(row.answer, "reason", row.answer) for row in found.rows}
    assert reasons == {"a": "Yes.", "b": "error", "c": "absent"}
    assert found.planned == 3


def test_every_answer_to_a_request_counts(table):
    ids = {"a": {"input": "Hi", "n": 2}, "b": {"input": "Ho", "n": 2}}
    table([{"custom_id": name, "body": body} for name, body in ids.items()], "requests.jsonl")
    body = {"choices": [{"message": {"content": text}} for text in ("Yes.", "No.")]}
    line = {"custom_id": "a", "response": {"status_code": 200, "body": body}}
    found = read_results([table([line], "out.jsonl")])
    said = [(row.sample, row.repeat, str(row.answer)[:4]) for row in found.rows]
    assert said[:2] == [("a", 0, "Yes."), ("a", 1, "No.")]
    assert [row.gone for row in found.rows] == [False, False, True, True]
    assert found.planned == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[{"input": "a"}, {"input": "b"},', "is not valid JSON"),
        ('[{"input": "a"}', "its list breaks off at character 15"),
        ('[{"input": "a"} {"input": "b"}]', "its list breaks off at character 15"),
        ('[{"input": "a"}]\n[{"input": "b"}]', "more follows its list, from character 15"),
        ('{"data": [{"input": "a"}]}', "is one JSON object with data; write a list"),
    ],
)
def test_a_list_that_is_not_whole_is_no_shorter_list(tmp_path, text, message):
    path = tmp_path / "export.json"
    path.write_text(text)
    with pytest.raises(ResultsError, match=message):
        read_results([path], "tables")


def test_spreadsheets_of_other_countries_and_truth_values_in_csv(tmp_path):
    path = tmp_path / "export.csv"
    path.write_text("prompt;answer;score\na;b;0,5\n")
    with pytest.raises(ResultsError, match=r"export\.csv are not separated by commas but by ';'"):
        read_results([path])
    path.write_text("prompt,answer,score\na,b,True\nc,d,FALSE\n")
    assert [row.scores["score"] for row in read_results([path]).rows] == [1.0, 0.0]


def test_answers_of_no_known_model_are_counted(table):
    rows = [{"prompt": "p", "answer": "a", "model": model} for model in ("x", "y", None, "")]
    found = read_results([table(rows)]).of_model("x")
    assert found.notes == ("2 answers are of no known model: left out",)


def test_a_list_of_objects_in_json_is_a_table(tmp_path):
    path = tmp_path / "export.json"
    path.write_text('[{"input": "a", "output": "b", "scores": {"x": 1}}, {"input": "c"}]')
    found = read_results([path])
    assert [(row.prompt, row.scores) for row in found.rows] == [
        ("a", {"x": 1.0}),
        ("c", {"x": None}),
    ]
    # As MLflow writes tables.
    path.write_text('{"columns": ["inputs", "outputs", "t/v1/score"], "data": [["a", "b", 0.5]]}')
    (row,) = read_results([path]).rows
    assert (row.prompt, row.answer, row.scores) == ("a", "b", {"t": 0.5})
    path.write_text('{"columns": ["inputs", "outputs"], "data": [["a"]]}')
    with pytest.raises(ResultsError, match="is not valid JSON"):
        read_results([path])
    path.write_text('[{"input": "a"}, 3]')
    with pytest.raises(
        ResultsError, match=r"item 2 of .*export.json is a JSON int, not an object"
    ):
        read_results([path])


def test_a_batch_without_requests_asks_for_them(table, command):
    path = table([{"custom_id": "a", "response": {"status_code": 200, "body": {}}}], "out.jsonl")
    status, _, err = command("doctor", path)
    assert status == 2
    assert "name the requests of the batch: --requests FILE" in err


def test_a_reader_of_a_conftest_teaches_the_commands(tmp_path, monkeypatch, command):
    (tmp_path / "conftest.py").write_text(
        "from pytest_llmfair.results import Results, Row, reader\n"
        "@reader('mine', '.mine', knows=lambda file: file.suffix == '.mine')\n"
        "def mine(file):\n"
        "    lines = enumerate(file.head.splitlines())\n"
        "    rows = [Row(f'line {i}', text, 'Fine.', {'x': float(i)}) for i, text in lines]\n"
        "    return Results('mine', rows)\n"
    )
    (tmp_path / "some.mine").write_text("She is a nurse.\nHe is a nurse.\n")
    monkeypatch.chdir(tmp_path)
    status, out, _ = command("doctor", "some.mine")
    assert status == 0
    assert "some.mine: mine" in out
    assert "groups   words:gender: female (1), male (1)" in out


def test_the_decorator_registers_a_reader(tmp_path):
    @reader("tested", ".tested", knows=lambda file: file.suffix == ".tested")
    def tested(file):
        return Results("tested", [Row("all", "Hi?", file.head)])

    path = tmp_path / "a.tested"
    path.write_text("Hello.")
    assert read_results([path]).rows[0].answer == "Hello."


OLD = {
    "promptfoo": (
        "old.json",
        {
            "results": {
                "version": 2,
                "results": [
                    {
                        "provider": {"id": "echo"},
                        "prompt": {"raw": "Hi", "label": "Hi"},
                        "vars": {"who": "woman"},
                        "response": {"output": "Hello"},
                        "success": False,
                        "error": "Expected Bye",
                        "score": 0,
                        "namedScores": {"kind": 0.5},
                    },
                    {
                        "provider": {"id": "echo"},
                        "prompt": {"raw": "Hi", "label": "Hi"},
                        "vars": {"who": "man"},
                        "success": False,
                        "error": "API error",
                        "score": 0,
                        "namedScores": {},
                    },
                ],
            }
        },
        [("Hello", 0.5), ("error", None)],
    ),
    "deepeval": (
        "old.json",
        {
            "testCases": [
                {
                    "name": "a",
                    "input": "Hi",
                    "actualOutput": "Hello",
                    "metricsMetadata": [{"metric": "kind", "score": 0.5}],
                },
                {
                    "name": "b",
                    "input": "Hi",
                    "actualOutput": None,
                    "metricsData": [{"name": "kind"}],
                },
            ]
        },
        [("Hello", 0.5), ("null", None)],
    ),
}


@pytest.mark.parametrize("tool", OLD)
def test_files_of_older_versions_are_read(tmp_path, tool):
    name, content, expected = OLD[tool]
    (tmp_path / name).write_text(json.dumps(content))
    found = read_results([tmp_path / name])
    assert found.tool == tool
    answers = [getattr(row.answer, "reason", str(row.answer)) for row in found.rows]
    assert [
        (answer, row.scores.get("kind")) for answer, row in zip(answers, found.rows, strict=True)
    ] == expected


def test_older_samples_of_lm_eval_are_read(tmp_path):
    lines = [
        {"doc_id": 0, "doc": {"q": "x"}, "arguments": [["Q", " A"], ["Q", " B"]], "acc": 1.0}
        | {"resps": [[[-1.0, True]], [[-2.0, False]]], "filtered_resps": []},
        {"doc_id": 1, "doc": {"q": "y"}, "arguments": [["R", " A"], ["R", " B"]], "acc": 0.0}
        | {"resps": [[[-2.0, False]], [[-1.0, False]]], "filtered_resps": []},
    ]
    path = tmp_path / "samples_t_2024-05-13T12-00-00.123456.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    rows = read_results([path]).rows
    assert [(row.prompt, row.answer, row.scores["acc"], row.task) for row in rows] == [
        ("Q", "A", 1.0, "t"),
        ("R", "B", 0.0, "t"),
    ]
    assert rows[0].scores["p(A)"] == pytest.approx(0.731, abs=0.001)


def test_scores_of_langfuse_and_mlflow_are_found(table):
    said = {"name": "tone", "value": None, "stringValue": "warm"}
    rows = [
        {"input": "Hi", "output": "Hello", "scores": [{"name": "kind", "value": 0.5}, said]},
        {"input": "Bye", "output": "Ciao", "scores": []},
    ]
    found = read_results([table(rows)])
    assert [row.scores for row in found.rows] == [
        {"kind": 0.5, "tone": "warm"},
        {"kind": None, "tone": None},
    ]
    found = read_results([table([{"inputs": "a", "outputs": "b", "toxicity/v1/score": 0.25}])])
    assert found.rows[0].scores == {"toxicity": 0.25}


def test_objects_in_cells_are_columns_and_answers_in_json_are_texts(tmp_path):
    path = tmp_path / "export.csv"
    rows = [
        {
            "inputs": '{"question": "Hi?"}',
            "answer": '{"decision": "no"}',
            "metadata": '{"sex": "f"}',
        }
    ]
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (row,) = read_results([path]).rows
    assert (row.prompt, row.answer) == ("Hi?", '{"decision": "no"}')
    assert row.fields == {"metadata.sex": "f"}


def test_an_empty_file_and_an_empty_folder_are_said_to_be_empty(tmp_path, command):
    (tmp_path / "run.json").touch()
    (tmp_path / "logs").mkdir()
    assert (
        "run.json is empty; run the evaluation to its end"
        in command("doctor", tmp_path / "run.json")[2]
    )
    assert "logs is empty; give a result file" in command("doctor", tmp_path / "logs")[2]


def test_a_log_and_its_retry_count_once(genuine, tmp_path):
    log = json.loads((genuine / "inspect/scores.json").read_text())
    retry = json.loads(json.dumps(log))
    retry["eval"]["eval_id"], retry["eval"]["created"] = "another", "2026-11-24T00:00:00+00:00"
    log["status"], failed = "error", log["samples"][0]
    failed["error"], failed["output"]["choices"] = {"message": "no connection"}, []
    del log["samples"][6:]
    paths = [tmp_path / "log.json", tmp_path / "retry.json"]
    for path, content in zip(paths, (log, retry), strict=True):
        path.write_text(json.dumps(content))
    for given in (paths, paths[::-1]):
        found = read_results(given)
        assert len(found.rows) == 12
        assert [row.where for row in found.rows if row.gone] == []
        assert found.planned == 12
    # Another run of the same task has answers of its own.
    retry["eval"]["task_id"] = "fresh"
    paths[1].write_text(json.dumps(retry))
    assert len([row for row in read_results(paths).rows if not row.gone]) == 12 + 5
