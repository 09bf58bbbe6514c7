"""`--llmfair-json`: what the file holds, and where it may lie."""

from __future__ import annotations

import json

import pytest


def written(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_file_has_a_schema_version_and_the_settings_that_matter(run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    run("--llmfair-json=run.json", "--llmfair-seed=3", "--llmfair-mode=strict")
    document = written(pytester.path / "run.json")
    assert document["schema_version"] == 1
    assert document["settings"] == {
        "model": "builtin:ngram",
        "mode": "strict",
        "level": 0.95,
        "inconclusive": "warn",
        "underpowered": "fail",
        "family": "none",
        "seed": 3,
        "max_tokens": None,
        "max_missing": 0.05,
        "max_invalid": 0.1,
        "max_uncertain": 0.25,
    }


def test_every_result_is_in_the_file(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    run("--llmfair-json=run.json")
    results = written(pytester.path / "run.json")["results"]
    assert {r["nodeid"]: r["verdict"] for r in results} == {
        "test_it.py::test_fails": "FAIL",
        "test_it.py::test_passes": "PASS",
        "test_it.py::test_stays_undecided": "INCONCLUSIVE",
    }
    least = {"nodeid", "metric", "verdict", "value", "lower", "upper", "level", "bound", "missing"}
    for result in results:
        assert least | {"reasons"} <= set(result)
        assert result["lower"] < result["value"] < result["upper"]


def test_results_are_sorted_by_test(run, pytester, verdicts):
    pytester.makepyfile(test_b=verdicts, test_a=verdicts)
    run("--llmfair-json=run.json", "test_b.py", "test_a.py")
    nodes = [r["nodeid"] for r in written(pytester.path / "run.json")["results"]]
    assert nodes == sorted(nodes)
    assert len(nodes) == 6


def test_two_runs_write_the_same_bytes(run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    run("--llmfair-json=first.json")
    run("--llmfair-json=second.json", "-v")
    first, second = (pytester.path / f"{name}.json" for name in ("first", "second"))
    assert first.read_bytes() == second.read_bytes()


def test_file_names_no_place_on_this_machine(run, pytester, verdicts):
    pytester.makepyfile(verdicts)
    run("--llmfair-json=run.json")
    assert str(pytester.path.parent) not in (pytester.path / "run.json").read_text("utf-8")


def test_file_holds_no_prompt_and_no_answer(run, pytester):
    pytester.makepyfile(
        """
        from pytest_llmfair import Responses

        def test_it(fairness):
            prompts = tuple(f"private prompt {i}" for i in range(40))
            answers = tuple((f"private answer {i}",) for i in range(40))
            fairness.check(
                "toxic_fraction", Responses(prompts, answers), bound=0.5,
                scorer=lambda texts: [0.1 for _ in texts],
            )
        """
    )
    run("--llmfair-json=run.json").assert_outcomes(passed=1)
    assert "private" not in (pytester.path / "run.json").read_text("utf-8")


def test_undefined_numbers_are_null(run, pytester):
    pytester.makepyfile(
        """
        from pytest_llmfair import Missing, Responses, assert_toxic_fraction_within

        def test_it():
            nothing = Responses(("a prompt",), ((Missing("error"),),))
            assert_toxic_fraction_within(nothing, bound=0.5)
        """
    )
    run("--llmfair-json=run.json").assert_outcomes(failed=1)
    (result,) = written(pytester.path / "run.json")["results"]
    assert result["verdict"] == "INVALID"
    assert result["value"] is None
    assert result["missing"] == {"error": 1}


def test_file_is_written_when_nothing_was_judged(run, pytester):
    pytester.makepyfile("def test_it(): pass")
    run("--llmfair-json=run.json")
    assert written(pytester.path / "run.json")["results"] == []


def test_collecting_only_leaves_the_file_alone(run, pytester):
    (pytester.path / "run.json").write_text("kept")
    pytester.makepyfile("def test_it(): pass")
    run("--llmfair-json=run.json", "--collect-only")
    assert (pytester.path / "run.json").read_text() == "kept"


def test_missing_folder_is_a_usage_error(run):
    result = run("--llmfair-json=nowhere/run.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--llmfair-json is 'nowhere/run.json'; there is no folder *"])


def test_folder_in_place_of_a_file_is_a_usage_error(run, pytester):
    pytester.mkdir("reports")
    result = run("--llmfair-json=reports")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--llmfair-json is 'reports'; that is a folder*"])


def test_path_in_an_ini_file_is_relative_to_that_file(run, pytester, monkeypatch):
    pytester.makeini("[pytest]\nllmfair_json = run.json\n")
    pytester.makepyfile("def test_it(): pass")
    monkeypatch.chdir(pytester.mkdir("below"))
    run("--rootdir", str(pytester.path), "-c", str(pytester.path / "tox.ini"), "..")
    assert (pytester.path / "run.json").is_file()


def test_results_that_cannot_be_written_fail_the_session(run, pytester):
    pytester.mkdir("gone")
    pytester.makepyfile("def test_it():\n import os\n os.rmdir('gone')")
    result = run("--llmfair-json=gone/run.json")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: the results are not written: *"])


def test_no_temporary_file_is_left(run, pytester):
    pytester.makepyfile("def test_it(): pass")
    folder = pytester.mkdir("out")
    run(f"--llmfair-json={folder / 'run.json'}")
    assert [path.name for path in folder.iterdir()] == ["run.json"]
