"""What docs/architecture.md says about adding things, done in a copy of the package."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import pytest_llmfair
from tests.processes import python, session_in

MAKE_STUB = Path(__file__).parent / "make_stub.py"

METRIC = '''
"""Difference in the length of answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from pytest_llmfair.metrics import metric
from pytest_llmfair.stats import Mean, Population

__all__ = ["short_answer_share"]


@metric(
    family="length", paper="ours", symbol="SAS", direction="lower", bounds=(0.0, 1.0),
    unit="prompt", needs="scores", scorer="tokens",
)
def short_answer_share(
    scores: ArrayLike,
    *,
    units: Sequence[Hashable] | None = None,
    population: Population = "sampled",
) -> Mean:
    """Share of answers with fewer than five words.

    Parameters
    ----------
    scores : array_like of shape (n_prompts, n_generations)
        Words per answer.
    """
    short = (np.asarray(scores) < 5).astype(float)
    return Mean.of_rows(short, units=units, population=population, outcomes=True)
'''

SCORER = '''
"""Vowels of an answer."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_llmfair.scorers import score, scorer
from pytest_llmfair.scorers.base import Scores


@scorer("vowels")
class VowelScorer:
    name, range = "vowels", (0.0, float("inf"))

    def __call__(self, texts: Sequence[str]) -> Scores:
        return score(lambda rows: [sum(map(text.count, "aeiou")) for text in rows], texts)
'''

LEXICON = """
name: marital_status
groups: [married, single, divorced, widowed]
members:
  married: married people
  single: single people
  divorced: divorced people
  widowed: widowed people
word_order: 25
source: written for this test
licence: Apache-2.0
limits: four words
reviewed: 2026-11-01
entries:
  - {role: adjective, kind: person_adjective, married: married, single: [single, unmarried],
     divorced: divorced, widowed: widowed}
"""

CLIENT = '''
"""A model that repeats what it is asked."""

from __future__ import annotations

from pytest_llmfair.clients.spec import ModelSpec
from pytest_llmfair.session import active


class Parrot:
    description = "repeats the prompt"

    def __init__(self, name: str) -> None:
        self.name = name

    def generate(self, requests, *, temperature, max_tokens):
        if (recorder := active()) is not None:
            recorder.context["longest"] = max(len(request.prompt) for request in requests)
        return [f"You asked me this: {request.prompt}" for request in requests]


def load(spec: ModelSpec) -> Parrot:
    return Parrot(spec.text)
'''

# What each recipe adds: new files, and text after the first text in a file that is there.
FILES = {
    "metrics/short_answers.py": METRIC,
    "lexicons/data/marital_status.yaml": LEXICON,
    "scorers/vowels.py": SCORER,
    "clients/backends/parrot.py": CLIENT,
}
SETTINGS, CASSETTE = "settings/__init__.py", "clients/cassette/store.py"
ADDED = (
    (
        "clients/spec.py",
        "SCHEMES: dict[str, Scheme] = {\n",
        '    "parrot": Scheme("parrot:NAME", "parrot", "a model that repeats"),\n',
    ),
    (
        "reports/columns.py",
        "COLUMNS = (\n",
        """
    Column(heading="confidence", cell=lambda record: f"{record['level']:.0%}"),
    Column(
        heading="seconds per answer",
        cell=lambda record: (
            f"{record['context']['seconds'] / sum(answers.values()):.4f}"
            if (answers := record["context"].get("answers"))
            else ""
        ),
        terminal=False,
        comment=True,
    ),
    Column(
        heading="longest prompt",
        cell=lambda record: str(record["context"].get("longest", "")),
        terminal=False,
        comment=True,
    ),
""",
    ),
    (
        "gate/checks.schema.json",
        '      "required": ["metric", "rationale", "owner"],\n      "properties": {\n',
        """
        "seasons": {
          "description": "a list of words",
          "type": "array",
          "items": {"description": "a word", "type": "string"},
          "x-record": true
        },
""",
    ),
    (
        SETTINGS,
        "class Settings(Fields):\n",
        '    tone: str = choice(("calm", "loud"), "tone of the summary (default calm)")\n'
        '    cassette_most: int | None = whole("largest number of answers in the cassette", '
        'default=None, needs="cassette")\n',
    ),
    (
        "metrics/_registry.py",
        'verdicts and plans, unless the user gives one."""\n',
        '        if self.family == "cooccurrence":\n            return 0.9\n',
    ),
    (CASSETTE, "path: Path, *, text: bool = True", ", most: int | None = None"),
    (CASSETTE, "        self.text = text\n", "        self.most = most\n"),
    (CASSETTE, 'text=settings.cassette_text == "full"', ", most=settings.cassette_most"),
    (
        CASSETTE,
        "        size = _repaired(self._handle)\n",
        "        if self.most is not None and len(self) >= self.most:\n"
        '            raise ValueError(f"{self.path} holds {self.most} answers already")\n',
    ),
)

TEST = """
from pytest_llmfair import assert_short_answer_share_within
from pytest_llmfair.counterfactuals import fill_templates, generate_pairs
from pytest_llmfair.scorers import load_scorers

def test_answers_are_long(model_client):
    prompts = [f"question {i}" for i in range(200)]
    assert_short_answer_share_within(prompts, bound=0.1, client=model_client, scorer="vowels")

def test_the_scorer_counts():
    assert load_scorers()["vowels"](["a parrot", ""]).tolist() == [3.0, 0.0]

def test_the_lexicon_exchanges():
    pairs = generate_pairs(["A married nurse called."], "marital_status")
    assert [pair.counterfactual for pair in pairs] == [
        "A single nurse called.", "A divorced nurse called.", "A widowed nurse called."
    ]

def test_the_lexicon_fills_templates():
    texts = fill_templates(["{Person} called."], attribute="marital_status").texts
    assert texts[0] == "A married person called."
    crossed = fill_templates(["{Person} called."], attribute=("marital_status", "age"))
    assert "An older widowed person called." in crossed.texts
"""

CHECKS = """
version: 1
prompts: [Who are you?]
checks:
- {metric: short_answer_share, bound: 0.5, mode: point, rationale: r, owner: o, seasons: SEASONS}
"""

# What is read in a second process: the stub, the command, and texts about models.
LOOK = """
import contextlib, io, json, runpy, sys
from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.cli import main
from pytest_llmfair.clients import ModelSpecError, load_client
from pytest_llmfair.counterfactuals import generate_pairs, load_lexicons
from pytest_llmfair.gate.check_file import read_checks
from pytest_llmfair.scorers import load_scorers

def printed(*arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main([*arguments])
    return out.getvalue()

texts = {"list": printed("metrics"), "metric": printed("metrics", "short_answer_share")}
texts["card"] = printed("model-card", "run.json")
texts["power"] = printed(*"power EGA --bound 0.5 --units 100".split())
texts["scorers"] = repr(load_scorers())
texts["lexicons"] = repr(load_lexicons())
texts["load_client"] = load_client.__doc__
try:
    load_client("nothing:at-all")
except ModelSpecError as error:
    texts["error"] = str(error)
try:
    read_checks("wrong.yaml")
except ValueError as error:
    texts["seasons"] = str(error)
prompts = [f"Is a married nurse late on day {day}?" for day in range(100)]
pairs = generate_pairs(prompts, "marital_status", ("married", "widowed"))
try:
    answer = lambda prompt: "no way" if "widowed" in prompt else "yes"
    assert_counterfactual_invariance(pairs, 0.1, client=answer)
except AssertionError as error:
    texts["message"] = str(error)
sys.argv[1:] = []
runpy.run_path(MAKE_STUB, run_name="__main__")
print(json.dumps(texts))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package, to which each recipe added one thing."""
    folder = tmp_path_factory.mktemp("copy")
    package = folder / "pytest_llmfair"
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(pytest_llmfair.__file__).parent, package, ignore=skipped)
    for name, text in FILES.items():
        (package / name).write_text(text, encoding="utf-8")
    for name, first, added in ADDED:
        before = (package / name).read_text("utf-8")
        assert before.count(first) == 1
        (package / name).write_text(before.replace(first, first + added), encoding="utf-8")
    (folder / "test_it.py").write_text(TEST, encoding="utf-8")
    for file, given in (("it.llmfair.yaml", "[release, letters]"), ("wrong.yaml", "[release, 7]")):
        (folder / file).write_text(CHECKS.replace("SEASONS", given), encoding="utf-8")
    return folder


def run(folder: Path, *command: str) -> str:
    """Return what a command prints where the copy is the package that Python finds."""
    done = python(*command, folder=folder, PYTHONPATH=str(folder), CI="1")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def pytest_in(copy: Path, *arguments: str) -> str:
    """Return what a session of the copy prints, with its own model and option."""
    session = ("-m", "pytest", "-p", "llmfair", "-p", "no:cacheprovider", *arguments)
    return run(copy, *session, "--llmfair-model=parrot://cage/grey", "--llmfair-tone=loud")


@pytest.fixture(scope="module")
def shown(copy: Path) -> str:
    """Return what a session prints that uses everything new, and writes every report."""
    reports = ("--llmfair-json=run.json", "--llmfair-html=run.html", "--junitxml=run.xml")
    return pytest_in(copy, "test_it.py", *reports, "--llmfair-markdown=run.md")


@pytest.fixture(scope="module")
def help_page(copy: Path) -> str:
    """Return the help of pytest."""
    return run(copy, "-m", "pytest", "-p", "llmfair", "--help")


@pytest.fixture(scope="module")
def texts(copy: Path, shown: str) -> dict[str, str]:
    """Return what commands, docstrings and messages say after that session."""
    read: dict[str, str] = json.loads(run(copy, "-c", f"MAKE_STUB = {str(MAKE_STUB)!r}\n{LOOK}"))
    return read


def test_a_new_metric_has_an_assertion_and_is_in_every_report(copy: Path, shown: str) -> None:
    assert "short_answer_share" in shown
    (result,) = json.loads((copy / "run.json").read_text("utf-8"))["results"]
    assert (result["metric"], result["verdict"], result["unit"]) == (
        "short_answer_share",
        "PASS",
        "prompt",
    )
    for report in ("run.html", "run.xml"):
        assert "short_answer_share" in (copy / report).read_text("utf-8")


def test_a_new_metric_is_in_the_stub_and_in_the_command(copy: Path, texts: dict[str, str]) -> None:
    stub = (copy / "pytest_llmfair/metric_assertions.pyi").read_text("utf-8")
    assert "def assert_short_answer_share_within(" in stub
    assert "short_answer_share" in texts["list"]
    assert "fewer than five words" in texts["metric"]


def test_a_new_scorer_is_found_by_its_name(shown: str, texts: dict[str, str]) -> None:
    assert "4 passed" in shown
    assert (
        "length, refusal, regard, sentiment, stereotype, tokens, toxicity, vowels"
        in (texts["scorers"])
    )


def test_a_new_lexicon_is_listed_and_messages_name_its_people(texts: dict[str, str]) -> None:
    assert "marital_status" in texts["lexicons"]
    words = " ".join(texts["message"].split())
    assert "about married people and about widowed people" in words


def test_a_new_client_is_asked_and_listed(
    copy: Path, shown: str, help_page: str, texts: dict[str, str]
) -> None:
    (result,) = json.loads((copy / "run.json").read_text("utf-8"))["results"]
    assert result["model"] == "parrot://cage/grey"
    assert "parrot:NAME" in help_page
    assert "parrot:NAME" in texts["load_client"]
    assert "parrot:NAME" in texts["error"]


def test_a_new_column_is_in_the_table_and_on_the_page(copy: Path, shown: str) -> None:
    assert " confidence " in shown
    page = (copy / "run.html").read_text("utf-8")
    assert '<th scope="col">confidence</th>' in page
    assert ">95%</td>" in page


def test_a_new_fact_of_a_test_is_in_the_context_and_in_the_columns_of_every_report(
    copy: Path, shown: str, texts: dict[str, str]
) -> None:
    document = json.loads((copy / "run.json").read_text("utf-8"))
    facts = document["context"]["tests"]["test_it.py::test_answers_are_long"]
    assert (facts["longest"], facts["answers"]) == (12, {"live": 200, "replayed": 0})
    assert "longest" not in json.dumps(document["results"])
    page, comment = ((copy / f"run.{kind}").read_text("utf-8") for kind in ("html", "md"))
    for heading, cell in (
        ("longest prompt", "12"),
        ("seconds per answer", f"{facts['seconds'] / 200:.4f}"),
    ):
        assert f'data-name="{heading}">{cell}</td>' in page.replace("<wbr>", "")
        for table in (comment, texts["card"]):
            assert f"| {heading} |" in table
            assert f"| {cell} |" in table
    assert "longest prompt" not in shown


def test_a_new_key_of_checks_is_compared_with_its_entry_and_recorded(
    copy: Path, texts: dict[str, str]
) -> None:
    assert texts["seasons"] == "wrong.yaml:5: season 2 is 7; give a word"
    assert "1 passed" in pytest_in(copy, "it.llmfair.yaml", "--llmfair-json=tagged.json")
    run(copy, "-m", "pytest_llmfair.cli", "report", "tagged.json")
    (result,) = json.loads((copy / "tagged.json").read_text("utf-8"))["results"]
    assert result["about"] == {"seasons": ["release", "letters"]}
    assert (result["rationale"], result["owner"]) == ("r", "o")


def test_a_new_option_is_taken_and_in_the_help(copy: Path, shown: str, help_page: str) -> None:
    assert " passed" in shown
    assert " failed" not in shown
    assert "--llmfair-tone=calm|loud" in help_page
    words = " ".join(help_page.split())
    assert "llmfair_tone (string): tone of the summary (default calm)" in words


def test_a_family_of_metrics_can_have_a_level_of_its_own(texts: dict[str, str]) -> None:
    assert "100 prompts per group, 90 %" in texts["power"]


def test_a_new_option_of_the_cassette_needs_it_and_takes_two_files(copy: Path) -> None:
    limit, tape = "--llmfair-cassette-most=0", "--llmfair-cassette=tape.jsonl"
    alone = session_in(copy, limit, PYTHONPATH=str(copy))
    assert alone.returncode == pytest.ExitCode.USAGE_ERROR
    message = "--llmfair-cassette-most is 0, but there is no cassette; add --llmfair-cassette "
    assert message in alone.stderr
    options = (limit, tape, "--llmfair-model=parrot:grey")
    full = session_in(copy, "test_it.py", *options, PYTHONPATH=str(copy))
    assert "tape.jsonl holds 0 answers already" in full.stdout
    assert (copy / "tape.jsonl").read_bytes() == b""
