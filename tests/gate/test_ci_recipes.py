"""The action and the recipes for CI: parsed, checked against the options there are, and run."""

from __future__ import annotations

import functools
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.cli import main
from tests.processes import session_in

ROOT = Path(__file__).parents[2]
ACTION = ROOT / ".github" / "actions" / "llmfair" / "action.yml"
RECIPES = sorted((ROOT / "docs" / "ci").iterdir())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FILES = [ACTION, *RECIPES, *WORKFLOWS]
GITHUB = [path for path in FILES if path.name.startswith("github_") or path in WORKFLOWS]

by_name = pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
by_workflow = pytest.mark.parametrize("path", GITHUB, ids=lambda path: path.name)


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps(node: Any) -> Iterator[dict[str, Any]]:
    """Yield every step of an action or a workflow."""
    if isinstance(node, dict):
        if "run" in node or "uses" in node:
            yield node
        for value in node.values():
            yield from steps(value)
    elif isinstance(node, list):
        for value in node:
            yield from steps(value)


def scripts(node: Any) -> Iterator[str]:
    """Yield every piece of shell of a recipe."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "entry") and isinstance(value, str):
                yield value
            elif key in ("script", "before_script"):
                yield from value
            else:
                yield from scripts(value)
    elif isinstance(node, list):
        for value in node:
            yield from scripts(value)


def arguments(text: str) -> set[str]:
    """Return the long options in a text, without comments."""
    code = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", code))


@functools.cache
def helped(*command: str) -> set[str]:
    """Return the options that the help of a command of llmfair lists."""
    with redirect_stdout(io.StringIO()) as shown, pytest.raises(SystemExit) as stopped:
        main([*command, "--help"])
    assert stopped.value.code == 0
    return set(re.findall(r"--[a-z][a-z-]+", shown.getvalue()))


@pytest.fixture(scope="module")
def options() -> set[str]:
    """Return the options that the help of pytest lists."""
    done = session_in(Path("/"), "--help", COLUMNS="200")
    return set(re.findall(r"--[a-z][a-z-]+", done.stdout))


@by_name
def test_every_option_of_pytest_is_in_its_help(path, options):
    text = "\n".join(re.findall(r"--(?:llmfair|junit)[^\n]*", path.read_text("utf-8")))
    assert arguments(text) - options == set()


def test_the_pages_of_the_documentation_name_options_that_exist(options):
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    named = {
        (page.name, name)
        for page in pages
        for name in re.findall(r"--llmfair-[a-z-]*[a-z]", page.read_text("utf-8"))
    }
    assert {each for each in named if each[1] not in options} == set()


def test_the_pages_of_the_documentation_name_commands_that_exist():
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md"))
    blocks = "".join(re.findall(r"^```(?:sh)?\n(.*?)^```$", pages, re.M | re.S))
    named = set(re.findall(r"^llmfair ([a-z][a-z0-9-]*)", blocks, re.M))
    assert {"check", "power", "verify"} <= named
    for command in named:
        helped(command)


@by_name
def test_every_command_of_llmfair_is_in_its_help(path):
    for script in scripts(load(path)):
        for command, options in re.findall(r"^llmfair (\w+)(.*)$", script, re.M):
            assert arguments(options) <= helped(command)


@by_name
def test_shell_is_well_formed_and_masks_no_exit_status(path):
    for script in scripts(load(path)):
        done = subprocess.run(
            ["bash", "-n"], input=script, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), script
        assert not re.search(r"\|\| *(true|:|exit 0)|set \+e|; *exit 0", script)
    assert "continue-on-error" not in path.read_text("utf-8")
    assert "allow_failure" not in path.read_text("utf-8")


@by_name
def test_what_others_wrote_never_becomes_part_of_a_script(path):
    """An expression in a script is replaced before the shell reads it: a branch can be code."""
    said = [re.findall(r"\$\{\{ *(\w+)", script) for script in scripts(load(path))]
    assert {context for each in said for context in each} <= {"matrix"}


@by_name
def test_actions_are_pinned_and_those_of_this_repository_exist(path):
    for step in steps(load(path)):
        if uses := step.get("uses"):
            name, _, pin = uses.partition("@")
            own = re.match(r"pytest-llmfair/pytest-llmfair/(.*)", name)
            # Whoever takes over an action can move its tags, and cannot change a commit.
            assert re.fullmatch("[0-9a-f]{40}", pin), uses
            assert own is None or (ROOT / own[1] / "action.yml").is_file()


@by_name
def test_inputs_of_the_action_are_those_it_has(path):
    inputs = load(ACTION)["inputs"]
    for step in steps(load(path)):
        if "/actions/llmfair@" in step.get("uses", ""):
            assert set(step["with"]) <= set(inputs)


@by_workflow
def test_workflows_may_read_and_only_comment_and_attestation_may_write(path):
    workflow = load(path)
    granted = [workflow["permissions"]]
    granted += [job["permissions"] for job in workflow["jobs"].values() if "permissions" in job]
    writes = {name for each in granted for name, right in each.items() if right != "read"}
    allowed = {
        "github_comment.yml": {"pull-requests"},
        "github_release.yml": {"id-token", "attestations"},
        "release.yml": {"id-token", "attestations"},
    }
    assert writes == allowed.get(path.name, set())
    assert set(workflow["permissions"]) <= {"contents"}


def test_a_release_attests_the_manifest_of_its_evidence_where_no_code_runs():
    jobs = load(ROOT / "docs" / "ci" / "github_release.yml")["jobs"]
    download, attest = jobs["attest"]["steps"]
    assert attest["uses"].startswith("actions/attest-build-provenance@")
    assert attest["with"]["subject-path"].endswith("/evidence/MANIFEST.json")
    (kept,) = (
        step["with"]["artefact"] for step in steps(jobs["strict"]) if "artefact" in str(step)
    )
    assert download["with"]["name"] == kept
    assert "permissions" not in jobs["strict"]


@by_workflow
def test_no_key_and_no_right_to_write_meets_the_code_of_a_pull_request(path):
    text = path.read_text("utf-8")
    # PyYAML reads the key `on` as true.
    triggers = load(path)[True]
    assert "pull_request_target" not in triggers
    if "pull_request" in triggers:
        assert "${{ secrets" not in text
    if "workflow_run" in triggers:
        assert "actions/checkout" not in text


@by_workflow
def test_jobs_end_by_themselves(path):
    assert all(job["timeout-minutes"] <= 240 for job in load(path)["jobs"].values())


def test_pull_requests_are_replayed_without_a_model():
    found = [
        step.get("with", {}) for step in steps(load(ROOT / "docs/ci/github_pull_request.yml"))
    ]
    assert [given["record-mode"] for given in found if "cassette" in given] == ["none"]


def test_the_workflow_of_this_repository_runs_files_that_exist():
    (ci,) = (path for path in WORKFLOWS if path.name == "ci.yml")
    runs = "\n".join(scripts(load(ci)))
    assert "bash .ci/run" in runs
    assert (ROOT / ".ci" / "run").is_file()
    environments = {
        each["env"] for each in load(ci)["jobs"]["tox"]["strategy"]["matrix"]["include"]
    }
    tox = (ROOT / "tox.ini").read_text("utf-8")
    assert all(re.search(rf"\[testenv:{name.partition('-py')[0]}", tox) for name in environments)


@pytest.mark.parametrize(
    ("tag", "says"), [("v9.9.9", "the tag is v9.9.9, and the version"), ("v0.1.0", "no heading")]
)
def test_a_release_needs_its_own_tag_and_a_dated_changelog(tag, says, tmp_path):
    (tmp_path / ".ci").mkdir()
    (tmp_path / "pytest_llmfair" / "_util").mkdir(parents=True)
    (tmp_path / "pytest_llmfair/_util/version.py").write_text('__version__ = "0.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 0.1.0 (unreleased)\n")
    script = (ROOT / ".ci" / "build").read_text("utf-8")
    (tmp_path / ".ci" / "build").write_text(script, encoding="utf-8")
    command = ["bash", str(tmp_path / ".ci" / "build"), tag]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert says in done.stderr


def test_every_recipe_is_shown_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs").glob("*.md"))
    assert [
        path.name for path in RECIPES if f"{{literalinclude}} ci/{path.name}" not in pages
    ] == []


# -- the action, run --------------------------------------------------------------------------


def run_action(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the step of the action that runs pytest."""
    (script,) = (step["run"] for step in steps(load(ACTION)) if "TESTS" in step.get("env", {}))
    declared = {name: each.get("default", "") for name, each in load(ACTION)["inputs"].items()}
    given = {**declared, **{name.replace("_", "-"): value for name, value in inputs.items()}}
    environment = {name.replace("-", "_").upper(): value for name, value in given.items()}
    return shell(folder, script, environment)


def shell(
    folder: Path, script: str, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a script as CI does, with this package and its plugin."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    package = {
        "PYTHONPATH": str(ROOT),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_PLUGINS": "pytest_llmfair.plugin",
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, **package, **variables, "PATH": path, "CI": "true"},
        capture_output=True,
        text=True,
        check=False,
    )


def write_test(folder: Path, bound: float = 0.5) -> None:
    """Write a test of two groups of people, hired with rates 0.5 and 0.25."""
    tests = folder / "tests" / "fairness"
    tests.mkdir(parents=True)
    (tests / "test_rates.py").write_text(
        "from pytest_llmfair import assert_demographic_parity_difference_within as within\n"
        "def test_rates():\n"
        "    hired = [0, 1] * 100 + [0, 0, 0, 1] * 50\n"
        "    people = [f'person {i}' for i in range(400)]\n"
        "    groups = ['a'] * 200 + ['b'] * 200\n"
        f"    within(hired, groups=groups, units=people, bound={bound})\n",
        encoding="utf-8",
    )


def reports(folder: Path) -> set[str]:
    """Return the names of the files that the action left."""
    return {path.name for path in (folder / "llmfair-reports").iterdir() if path.is_file()}


REPORTS = {"junit.xml", "run.json", "report.html", "comment.md"}


def test_no_argument_after_a_line_end_is_dropped_and_a_red_run_leaves_its_reports(tmp_path):
    write_test(tmp_path, 0.05)
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    arguments = "--llmfair-level 0.9\n--llmfair-require 9\n\n -k rates\n"
    done = run_action(tmp_path, tests="test_other.py\ntests\n", arguments=arguments)
    assert "collected 2 items / 1 deselected" in done.stdout
    assert "--llmfair-require asks for 9" in done.stdout
    assert done.returncode == 1
    assert reports(tmp_path) == REPORTS


def test_packages_of_every_line_are_installed(tmp_path):
    (script,) = (step["run"] for step in steps(load(ACTION)) if "INSTALL" in step.get("env", {}))
    # Stands in for pip, which would need the network.
    listed = script.replace("python -m pip install --quiet", "printf '%s\n'")
    done = shell(tmp_path, listed, {"INSTALL": "pytest-llmfair[openai]\n-r a.txt\n-c b.txt\n"})
    assert done.stdout.split() == ["pytest-llmfair[openai]", "-r", "a.txt", "-c", "b.txt"]


def test_a_replay_without_the_recording_is_red(tmp_path):
    (tmp_path / "test_bot.py").write_text(
        "from pytest_llmfair import assert_counterfactual_invariance\n"
        "def test_bot(model_client, counterfactual_pairs):\n"
        "    pairs = counterfactual_pairs(['She is a nurse.'])\n"
        "    assert_counterfactual_invariance(pairs, eps=0.5, client=model_client)\n",
        encoding="utf-8",
    )
    done = run_action(
        tmp_path,
        tests="test_bot.py",
        cassette="answers.jsonl",
    )
    assert done.returncode == 1, done.stdout + done.stderr


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a repository as the recipes expect it: tests, recorded answers, and a baseline."""
    folder = tmp_path_factory.mktemp("project")
    write_test(folder)
    (folder / "fairness").mkdir()
    (folder / "fairness" / "answers.jsonl").touch()
    baseline = "--llmfair-baseline fairness/baseline.json --llmfair-margin 0.05"
    done = run_action(folder, arguments=f"{baseline} --llmfair-update-baseline")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.parametrize("moment", ["pull_request", "nightly", "release"])
def test_recipes_for_github_run_as_they_are(project, moment):
    recipe = load(ROOT / "docs" / "ci" / f"github_{moment}.yml")
    (inputs,) = (s["with"] for s in steps(recipe) if "/actions/llmfair@" in s.get("uses", ""))
    done = run_action(project, **inputs)
    assert done.returncode == 0, done.stdout + done.stderr
    assert reports(project) >= REPORTS
    assert (project / "llmfair-reports" / "evidence").exists() or moment != "release"
    assert shlex.split(inputs["arguments"]) == inputs["arguments"].split()


@pytest.mark.parametrize("job", ["fairness", "fairness-nightly", "fairness-release"])
def test_recipes_for_gitlab_run_as_they_are(project, job):
    recipe = load(ROOT / "docs" / "ci" / "gitlab-ci.yml")
    done = shell(project, "\n".join(recipe[job]["script"]), recipe[".fairness"]["variables"])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_evidence_of_the_recipe_verifies_and_a_changed_byte_does_not(project):
    folder = project / "evidence"
    made = "python -m pytest tests/fairness --llmfair-profile release --llmfair-evidence evidence"
    verify = "python -m pytest_llmfair.cli verify evidence"
    assert shell(project, f"{made} && {verify}", {}).returncode == 0
    page = next(folder.glob("*.html"))
    page.write_bytes(page.read_bytes().replace(b"e", b"E", 1))
    done = shell(project, verify, {})
    assert done.returncode == 1
    assert page.name in done.stdout + done.stderr


def test_the_hook_for_pre_commit_runs_as_it_is(project):
    (hook,) = load(ROOT / "docs" / "ci" / "pre-commit-config.yaml")["repos"][0]["hooks"]
    done = shell(project, hook["entry"], {})
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.match(hook["files"], "tests/fairness/test_rates.py")
    assert not re.match(hook["files"], "src/app.py")
