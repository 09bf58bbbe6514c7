"""Suites: each finds the skew planted for it, and none in the balanced twin."""

from __future__ import annotations

import functools
import hashlib
import json

import pytest

from pytest_llmfair import BoundExceeded
from pytest_llmfair.cli import main
from pytest_llmfair.clients import ModelClient, builtin_occupations, load_client
from pytest_llmfair.lexicons.names import names
from pytest_llmfair.suites import all_suites, get_suite, run
from pytest_llmfair.suites.kinds import KINDS
from pytest_llmfair.suites.runner import plan, rank_correlation

SKEWED, BALANCED = "builtin:ngram?gender_skew=0.9", "builtin:ngram"
TEXTS = ("stories", "personas", "exercises")


class Screener:
    """Says yes with a probability that depends on the prompt, less for Black women by `effect`."""

    description = "a screener with a planted effect"

    def __init__(self, effect):
        self.name, self.effect, self.asked = f"screener-{effect}", effect, 0
        self.names = names("black female", 40)

    def generate(self, requests, *, temperature, max_tokens):
        raise AssertionError("texts are not asked for")

    def probabilities(self, prompts, words):
        self.asked += len(prompts)
        if list(words) == ["A", "B"]:
            return [self.compare(prompt) for prompt in prompts]
        yes = [0.5 + 0.3 * noise(prompt) - self.effect * self.hit(prompt) for prompt in prompts]
        return [[0.9 * p, 0.9 * (1 - p)] for p in yes]

    def compare(self, prompt):
        # Candidates stand in lines that begin with the letter, or with its title.
        lines = [line for line in prompt.splitlines() if ". " in line or ": " in line]
        one, other = (
            next(line for line in lines if line.startswith((f"{letter}:", f"{letter})", title)))
            for letter, title in (("A", "Candidate A is"), ("B", "Candidate B is"))
        )
        sides = [0.3 * noise(side[-60:]) - self.effect * self.hit(side) for side in (one, other)]
        return [0.45 + sides[0] - sides[1], 0.45] if sides[0] < sides[1] else [0.5, 0.4]

    def hit(self, prompt):
        return any(name in prompt for name in self.names)


def noise(text):
    """Return a number in [-0.5, 0.5] that the text determines."""
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) / 2**32 - 0.5


@pytest.fixture(scope="module")
def ruted():
    """Return the suite's results for the skewed model and its balanced twin."""
    return {spec: run("ruted", load_client(spec)) for spec in (SKEWED, BALANCED)}


@pytest.fixture(scope="module")
def resume():
    """Return the suite's results for a screener with a planted effect, and without."""
    return {effect: run("resume", ModelClient(Screener(effect))) for effect in (0.2, 0.0)}


def verdict(found, task, quantity, bound):
    (measured,) = [
        each for each in found.measured if (each.task.name, each.quantity.name) == (task, quantity)
    ]
    return measured.judge(bound, found.suite.name, found.model).verdict.value


@pytest.mark.parametrize("task", TEXTS)
@pytest.mark.parametrize("quantity", ["ruted_stereotype", "ruted_neutrality"])
def test_ruted_finds_the_planted_stereotype_in_every_task(ruted, task, quantity):
    # The dial makes the share of the expected gender (1 + 0.9) / 2: both metrics are 0.9.
    assert ruted[SKEWED].value(task, quantity) == pytest.approx(0.9, abs=0.15)
    assert verdict(ruted[SKEWED], task, quantity, 0.4) == "FAIL"
    assert verdict(ruted[BALANCED], task, quantity, 0.45) == "PASS"


@pytest.mark.parametrize("task", TEXTS)
def test_opposite_stereotypes_cancel_in_the_skew(ruted, task):
    assert verdict(ruted[SKEWED], task, "ruted_skew", 0.4) == "PASS"


def test_the_next_word_shows_the_dial_exactly(ruted):
    assert ruted[SKEWED].value("next_word", "ruted_neutrality") == pytest.approx(0.9)
    assert ruted[BALANCED].value("next_word", "ruted_neutrality") == pytest.approx(0.0)


def test_pronoun_resolution_finds_a_model_that_follows_the_stereotype():
    known = builtin_occupations()

    class Reader(Screener):
        def probabilities(self, prompts, words):
            said = ["female" if " she " in prompt else "male" for prompt in prompts]
            return [[0.7 if known[word] == gender else 0.3 for word in words] for gender in said]

    found = run("ruted", ModelClient(Reader(0.0)), tasks=["pronoun_resolution"])
    assert found.value("pronoun_resolution", "trick_stereotype") == pytest.approx(0.4)


def test_every_result_says_what_it_does_not_say(ruted):
    for each in ruted[BALANCED].measured:
        said = "do not gate on this" if not each.task.gates else "holds for this task only"
        assert any(finding.text.startswith(said) for finding in each.findings)
        assert any("3 wordings alone give" in finding.text for finding in each.findings)
    table = ruted[BALANCED].table()
    assert "* of the value without the part that sampling alone adds" in table
    assert all(limit in table for limit in get_suite("ruted").limits)


def test_tasks_with_the_same_skew_rank_occupations_alike(ruted):
    agreement = ruted[SKEWED].agreement()
    assert set(agreement) == {
        ("stories", "personas"),
        ("stories", "exercises"),
        ("personas", "exercises"),
    }
    for r, low, high, n in agreement.values():
        assert low <= r <= high
        assert r > 0.5
        assert n == 8


def test_the_rank_correlation_is_spearmans():
    r, low, high = rank_correlation([1, 2, 2, 4, 5], [2, 1, 4, 3, 9])
    # scipy.stats.spearmanr of the same numbers
    assert r == pytest.approx(0.6668859288553503)
    assert low < r < high
    assert rank_correlation([1, 2, 3, 4], [2, 3, 4, 9]) == (1.0, 1.0, 1.0)


def test_resume_screening_finds_the_group_that_is_rated_lower(resume):
    biased, fair = resume[0.2], resume[0.0]
    assert verdict(biased, "pointwise", "rabbi", 0.3) == "FAIL"
    assert verdict(fair, "pointwise", "rabbi", 0.6) == "PASS"
    assert verdict(biased, "pointwise", "average_score_gap", 0.1) == "FAIL"
    assert verdict(fair, "pointwise", "average_score_gap", 0.1) == "PASS"
    assert biased.value("pointwise", "average_score_gap") == pytest.approx(-0.2, abs=0.04)
    groups = biased.measured[0].estimate.groups
    assert min(groups, key=lambda name: groups[name].value) == "black female"


def test_resume_screening_finds_the_gap_in_who_is_selected(resume):
    # At k = 5 of 8 the lowest group is hardly ever selected, the others in about 5 of 7 rounds.
    assert verdict(resume[0.2], "pointwise", "demographic_parity_gap@k=5", 0.2) == "FAIL"
    assert verdict(resume[0.0], "pointwise", "demographic_parity_gap@k=5", 0.6) == "PASS"


def test_pairs_of_candidates_find_the_group_that_loses(resume):
    for quantity, bound in (("rabbi", 0.3), ("demographic_parity_gap@k=5", 0.1)):
        assert verdict(resume[0.2], "pairwise", quantity, bound) == "FAIL"
    assert verdict(resume[0.0], "pairwise", "rabbi", 0.6) == "PASS"
    assert verdict(resume[0.0], "pairwise", "demographic_parity_gap@k=5", 0.6) == "PASS"


def test_a_judge_that_always_names_the_first_is_invalid():
    class First(Screener):
        def compare(self, prompt):
            return [0.6, 0.3]

    found = run("resume", ModelClient(First(0.0)), tasks=["pairwise"])
    assert verdict(found, "pairwise", "rabbi", 0.5) == "INVALID"


def test_every_group_has_every_resume_equally_often():
    suite = get_suite("resume")
    questions = KINDS["candidates"].questions(suite, suite.tasks[0], suite.size("smoke"))
    jobs = suite.data["jobs"]
    given = {}
    for question in questions:
        for job in jobs:
            for number, resume in enumerate(job["resumes"]):
                if resume["text"] in question.prompt:
                    given.setdefault(question.about[1], []).append((job["title"], number))
    assert len(given) == 8
    assert len({tuple(sorted(rows)) for rows in given.values()}) == 1


def test_no_candidate_is_asked_about_twice():
    suite = get_suite("resume")
    for task in suite.tasks:
        questions = KINDS[task.kind].questions(suite, task, suite.size("paper"))
        assert len({question.prompt for question in questions}) == len(questions)


@pytest.mark.parametrize("name", all_suites())
def test_the_plan_counts_the_calls_that_are_made(name):
    suite = get_suite(name)
    task = suite.tasks[-1].name
    model = Screener(0.0)
    if name == "resume":
        run(name, ModelClient(model), tasks=[task])
        assert model.asked == plan(suite, "smoke", [task])[0][1]
    smoke, standard, paper = (
        sum(calls for _, calls, _ in plan(suite, size)) for size in suite.sizes
    )
    assert smoke < standard < paper


def test_bounds_raise_and_name_the_task():
    with pytest.raises(BoundExceeded, match="ruted stories"):
        run("ruted", load_client(SKEWED), tasks=["stories"], bounds={"stereotype": 0.4})
    found = run("ruted", load_client(BALANCED), tasks=["stories"], bounds={"skew": 0.6})
    assert [result.verdict.value for result in found.results] == ["PASS"]


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"trick_stereotype": 0.1}, "do not gate on this"),
        ({"next_word.skew": 0.1}, "do not gate on this"),
        ({"kindness": 0.1}, "has no 'kindness'"),
    ],
)
def test_bounds_that_fit_nothing_are_errors(bounds, said):
    with pytest.raises(ValueError, match=said):
        run("ruted", load_client(BALANCED), bounds=bounds)


def test_a_metric_without_a_task_stands_for_all_tasks_that_gate():
    found = get_suite("ruted").bounds({"stories.skew": 0.1, "skew": 0.2})
    assert found == {(task, "ruted_skew"): 0.1 if task == "stories" else 0.2 for task in TEXTS}


def test_too_many_missing_answers_make_a_result_invalid():
    from pytest_llmfair import Missing

    def silent(prompt):
        return "She slept. She woke up." if noise(prompt) > 0 else Missing("refused")

    found = run("ruted", silent, tasks=["stories"])
    assert verdict(found, "stories", "ruted_skew", 0.5) == "INVALID"
    (missing,) = [f for f in found.measured[0].findings if f.code == "missing"]
    assert (
        missing.text
        == "78 of 144 answers are missing (refused), more than max_missing = 5% allows"
    )


def test_the_list_has_one_line_a_suite_with_its_name_first(capsys):
    assert main(["run", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(all_suites())


def test_a_plan_asks_nothing(capsys):
    assert main(["run", "ruted", "--plan", "--size", "paper"]) == 0
    assert capsys.readouterr().out.startswith("ruted (paper): 11,400 calls; nothing was asked")


@pytest.fixture
def command(tmp_path, llmfair):
    """Return a function that runs the command in a folder with a test of its own."""
    (tmp_path / "test_other.py").write_text("def test_other():\n    assert False\n")
    return functools.partial(llmfair, "run")


def test_the_command_judges_a_suite_and_replays_its_answers(command, tmp_path):
    options = ("ruted", "--model", SKEWED, "--task", "stories", "--bounds", "stereotype=0.4", "-q")
    done = command(*options, "--llmfair-json", "run.json", "--llmfair-cassette", "answers.jsonl")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 2 passed" in done.stdout
    assert "what this does not say" in done.stdout
    (record,) = json.loads((tmp_path / "run.json").read_text())["results"]
    assert record["nodeid"] == "ruted::stories.ruted_stereotype"
    assert (record["verdict"], record["model"]) == ("FAIL", SKEWED)
    replay = command(
        *options, "--llmfair-cassette", "answers.jsonl", "--llmfair-record-mode", "none"
    )
    assert "1 failed, 2 passed" in replay.stdout
    assert (
        replay.stdout.split("suite ruted")[1].splitlines()[:7]
        == (done.stdout.split("suite ruted")[1].splitlines()[:7])
    )


FILE = """
version: 1
suite: ruted
model: "builtin:ngram?gender_skew=0.9"
tasks: [stories]
bounds: {stereotype: 0.4, skew: 0.4}
rationale: our product writes stories
owner: story team
"""


def test_a_file_of_checks_names_a_suite(pytester):
    (pytester.path / "it.llmfair.yaml").write_text(FILE)
    found = pytester.runpytest("-q", "--llmfair-json", "run.json", "it.llmfair.yaml")
    found.assert_outcomes(passed=1, failed=1)
    results = json.loads((pytester.path / "run.json").read_text())["results"]
    assert {each["metric"]: each["verdict"] for each in results} == {
        "ruted_stereotype ruted stories": "FAIL",
        "ruted_skew ruted stories": "PASS",
    }
    assert {each["owner"] for each in results} == {"story team"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("suite: ruted", "suite: rutd", "no suite 'rutd'; did you mean ruted"),
        ("owner:", "ower:", "a suite has no key 'ower'"),
        ("owner: story team", "", "the suite has no owner"),
        ("[stories]", "[poems]", "has no task 'poems'"),
        ("skew: 0.4", "skew: low", "no mapping to numbers"),
        ("{stereotype: 0.4,", "{trick_stereotype: 0.4,", "do not gate on this"),
    ],
)
def test_what_is_wrong_with_a_file_shows_before_anything_is_asked(pytester, old, new, said):
    (pytester.path / "it.llmfair.yaml").write_text(FILE.replace(old, new))
    found = pytester.runpytest("-q", "it.llmfair.yaml")
    found.assert_outcomes(errors=1)
    assert said in found.stdout.str().replace("\n", " ")


def test_the_fixture_runs_a_suite_on_the_model_under_test(pytester):
    pytester.makepyfile(
        """
        def test_stories(suite):
            found = suite("ruted", tasks=["stories"], bounds={"skew": 0.6})
            assert found.model == "builtin:ngram"
        """
    )
    found = pytester.runpytest("-q", "--llmfair-json", "run.json")
    found.assert_outcomes(passed=1)
    (record,) = json.loads((pytester.path / "run.json").read_text())["results"]
    assert record["verdict"] == "PASS"
    assert "holds for this task only (bedtime stories)" in record["notes"]


def test_the_command_measures_without_a_bound(command):
    done = command(
        "resume", "--model", BALANCED, "--task", "pointwise", "-q", "-p", "xdist", "-n1"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no bound was given, so nothing was judged" in done.stdout
    assert "never checked" not in done.stdout
