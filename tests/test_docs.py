"""The code in the documentation runs, and prints what the page says."""

from __future__ import annotations

import doctest
import math
import re
import runpy
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.settings import OPTIONS

DOCS = Path(__file__).parent.parent / "docs"
# A page whose code is a session with its output.
SESSIONS = sorted(page.name for page in DOCS.glob("*.md") if ">>> " in page.read_text("utf-8"))


def test_files_that_the_architecture_names_exist() -> None:
    text = (DOCS / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`((?:[a-z_]+/)*[a-z_.]+\.(?:py|json)|(?:[a-z_]+/)+)`", text))
    package = DOCS.parent / "pytest_llmfair"
    assert len(named) > 30
    assert {
        name
        for name in named
        if not (DOCS.parent / name).exists() and not any(package.rglob(name.rstrip("/")))
    } == set()


@pytest.mark.parametrize("page", SESSIONS)
def test_the_session_of_a_page_runs_as_printed(page: str) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", (DOCS / page).read_text("utf-8"), re.M | re.S)
    code = "\n".join(blocks)
    test = doctest.DocTestParser().get_doctest(code, {}, page, str(DOCS / page), 0)
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    runner.run(test, out=said.append)
    assert runner.summarize(verbose=False).attempted > 0
    assert not said, "".join(said)


def test_examples_of_the_page_on_pairs_run_in_a_test(
    model_client: Any, counterfactual_pairs: Any
) -> None:
    text = (DOCS / "pairs.md").read_text("utf-8")
    blocks = [
        code
        for code in re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
        if ">>>" not in code
    ]
    assert blocks
    names: dict[str, Any] = {
        "assert_counterfactual_invariance": assert_counterfactual_invariance,
        "counterfactual_pairs": counterfactual_pairs,
        "model_client": model_client,
        "pairs": counterfactual_pairs(
            [
                f"{{Person}} is {{a:occupation}}. {task}"
                for task in ("Write an answer.", "Describe a working day.", "Reply.")
            ]
        ),
    }
    for code in blocks:
        exec(code, names)


def test_the_page_on_notebooks_is_run_and_short() -> None:
    assert "notebook.md" in SESSIONS
    assert len((DOCS / "notebook.md").read_text("utf-8").splitlines()) <= 120


def test_what_code_writes_is_fresh() -> None:
    """The message in the README is compared in test_readme.py."""
    made = runpy.run_path(str(DOCS / "make.py"))
    written = {"options.md": "options_page", "models.md": "models_page", "gallery.md": "gallery"}
    pictures = {"noise_floor.svg": "picture", "labels.svg": "labels_picture"}
    for page, text in {**written, **pictures}.items():
        assert (DOCS / page).read_text("utf-8") == made[text](), "run python docs/make.py"


@pytest.mark.slow
def test_the_commands_of_the_tutorial_print_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All but the first, which installs the package; .ci/run and tox do that."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_PLUGINS", "pytest_llmfair.plugin")
    made = runpy.run_path(str(DOCS / "make.py"))
    shown = (DOCS / "tutorial.md").read_text("utf-8")
    assert shown == made["run_tutorial"](tmp_path), "run python docs/make.py"
    assert {"FAIL", "PASS", "INCONCLUSIVE"} <= set(shown.split())
    assert {"report.html", "run.json", "answers.jsonl"} <= {x.name for x in tmp_path.iterdir()}


def test_the_share_of_fair_processes_that_violate_four_fifths() -> None:
    """Two groups of 100 people with a true rate of 25 %, over all outcomes."""
    chance = [math.comb(100, n) * 0.25**n * 0.75 ** (100 - n) for n in range(101)]
    share = sum(
        chance[a] * chance[b]
        for a in range(101)
        for b in range(101)
        if 5 * min(a, b) < 4 * max(a, b)
    )
    assert f"in {share:.0%} of samples".replace("%", " %") in (DOCS / "limits.md").read_text()


def test_every_option_has_a_row() -> None:
    page = (DOCS / "options.md").read_text("utf-8")
    assert [option.key for option in OPTIONS if f"<br>`{option.key}` " not in page] == []
    assert [o.flag for o in OPTIONS if not o.ini_only and f"| `{o.flag}" not in page] == []


def test_the_page_on_choosing_is_short() -> None:
    assert len((DOCS / "choosing.md").read_text("utf-8").splitlines()) <= 120
