"""Names, labels and answers of others in what is printed: no terminal or CI log obeys them."""

from __future__ import annotations

import json
import unicodedata
from contextlib import suppress
from importlib.resources import files
from pathlib import Path

import pytest

import pytest_llmfair
from pytest_llmfair._util.printing import printable
from pytest_llmfair.cli import main
from pytest_llmfair.gate.manifest import manifest_text

HOSTILE = "::error file=x::owned \x1b[31mred\x1b[0m \u202egnorw ##[error]owned ##vso[task]owned \r"

TEST = f"""
import pytest
from pytest_llmfair import assert_demographic_parity_difference_within as assert_parity
from pytest_llmfair import assert_metric

GROUPS = [{HOSTILE!r}, "::warning::owned"] * 40
WRONG = GROUPS[0] + "?"

@pytest.mark.parametrize("name", ["a"], ids=["::error::owned"])
def test_rates(name):
    assert_parity([1, 0] * 40, groups=GROUPS, bound=0.1)

def test_wrong_label():
    assert_metric("impact_ratio", [1, 0] * 40, groups=GROUPS, minimum=0.1, majority=WRONG)

def test_same():
    assert_parity([1, 0] * 40, groups=["a", "b", "c", "d"] * 20, bound=0.3)
    assert_parity([1, 0] * 40, groups=["a", "a", "c", "c"] * 20, bound=0.3)
"""

CHECKS = """
version: 1
attributes:
  "::error::owned \\e[31m ##[error]owned": {groups: [female, male], lexicon: gender.yaml}
prompts: ["She is ill."]
checks:
- {metric: counterfactual_invariance, eps: 0.1, attribute: "##[error]owned",
   rationale: w, owner: o}
"""


def harmless(text):
    """Whether no line is a command, and no character controls a terminal."""
    commands = [line for line in text.splitlines() if line.strip().startswith("::")]
    controls = {c for c in text if unicodedata.category(c) in ("Cc", "Cf")} - set("\n\t\u2060")
    return not commands and not controls and "##[" not in text and "##vso[" not in text


@pytest.fixture
def printed(pytester, run, capsys):
    """Return a function that runs pytest and returns what it printed, to the last character."""

    def printed(*arguments):
        capsys.readouterr()
        result = run("-rA", *arguments)
        text = "".join(capsys.readouterr())
        assert result.outlines[-1] in text
        return text

    return printed


def test_the_printer_leaves_what_is_harmless():
    text = "café 東京 🙂 a::b # title\n  - x: y [1] ##\n\tJSON {}"
    assert printable(text) == text
    assert json.loads(printable(json.dumps({"a": "##[b"}))) == {"a": "##[b"}
    assert harmless(printable(f"{HOSTILE}\n  ::x::\n\t::y::\u2028::z::"))


@pytest.mark.parametrize("options", [(), ("-v",), ("--tb=short",), ("--tb=line",)], ids=str)
def test_a_session_obeys_no_name_and_no_label(pytester, printed, options):
    pytester.makepyfile(test_it=TEST)
    text = printed(*options, "--llmfair-evidence=pack")
    assert " failed" in text
    assert "owned" in text
    assert harmless(text), text


def test_a_file_of_checks_names_no_command(pytester, printed):
    lexicon = files("pytest_llmfair.lexicons") / "data" / "gender.yaml"
    (pytester.path / "gender.yaml").write_text(lexicon.read_text("utf-8"), "utf-8")
    pytester.makefile(".llmfair.yaml", nurses=CHECKS)
    text = printed()
    assert "no lexicon is called" in text
    assert harmless(text), text
    right = CHECKS.replace('attribute: "##', 'attribute: "::error::owned \\e[31m ##')
    pytester.makefile(".llmfair.yaml", nurses=right)
    text = printed("-v", "--llmfair-model=builtin:ngram")
    assert "owned" in text
    assert harmless(text), text


@pytest.fixture
def forged(pytester, run):
    """Return a folder of evidence in which every name of a test is hostile."""
    pytester.makepyfile(test_it=TEST)
    run("--llmfair-evidence=pack", "-k", "same")
    folder = pytester.path / "pack"
    for name in ("run.json", "statistics.jsonl", "bounds.json"):
        text = (folder / name).read_text()
        bad = json.dumps(HOSTILE + "\n##[error]a\n::error::a")[1:-1]
        (folder / name).write_text(text.replace("test_it.py::test_same", bad))
    (folder / "MANIFEST.json").write_text(manifest_text(folder, {}))
    return folder


COMMANDS = (
    "verify pack",
    "compare pack pack",
    "compare pack pack --json",
    "checklist pack",
    "checklist pack --format yaml",
    "model-card pack/run.json",
    "report pack/run.json",
    "comment pack/run.json --repo a/b --pr 1 --dry-run",
    "self-check pack --repeats 3",
    "verify ::error::owned\x1b[31m##[error]",
)


def test_a_command_obeys_no_name_of_a_record(forged, capsys, monkeypatch):
    monkeypatch.chdir(forged.parent)
    for command in COMMANDS:
        with suppress(SystemExit):
            main(command.split(" "))
        text = "".join(capsys.readouterr())
        assert text, command
        assert harmless(text), (command, text)


def test_only_the_printer_writes_to_standard_output():
    root = Path(pytest_llmfair.__file__).parent
    writers = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if "sys.stdout.write" in (text := file.read_text("utf-8"))
        or "terminalreporter.write" in text.replace("terminalreporter.write_sep", "")
    }
    # The plugin writes the progress line, and the commands for GitHub that it makes itself.
    assert writers == {"_util/printing.py", "plugin.py"}
