"""Names, labels and answers of others in what is printed: no terminal or CI log obeys them."""

from __future__ import annotations

import json
import sys
import unicodedata
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from types import SimpleNamespace

import pytest

import pytest_llmfair
from pytest_llmfair import assert_metric
from pytest_llmfair._util.manifest import manifest_text
from pytest_llmfair._util.printing import Line, printable, say_line
from pytest_llmfair.audit.command import _say
from pytest_llmfair.cli import main

HOSTILE = "::error file=x::owned \x1b[31mred\x1b[0m \u202egnorw ##[error]owned ##vso[task]owned \r"

TEST = f"""
import pytest
from pytest_llmfair import assert_demographic_parity_difference_within as assert_parity
from pytest_llmfair.counterfactuals import generate_pairs

GROUPS = [{HOSTILE!r}, "::warning::owned"] * 40
WRONG = GROUPS[0] + "?"

@pytest.mark.parametrize("name", ["a"], ids=["::error::owned"])
def test_rates(name):
    assert_parity([1, 0] * 40, groups=GROUPS, bound=0.1)

def test_wrong_label():
    generate_pairs(["She is ill."], attribute="gender", groups=(WRONG, "male"))

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
        assert (result.outlines or result.errlines)[-1] in text
        return text

    return printed


def test_no_character_that_controls_a_terminal_is_printed():
    controls = [
        character
        for character in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        and character not in "\n\t\u2060"
    ]
    assert not set(printable("".join(controls))).intersection(controls)


@pytest.mark.parametrize(
    "line",
    [
        *("::set-output name=a::b", "::add-mask::a", "::stop-commands::a", "\u3000\xa0::error::a"),
        *("##[group]a", "a ##[command]b", "###[error]a", "##vso[task.complete]a"),
        *(
            "##teamcity[buildStop]",
            "section_start:1:a\r\x1b[0Ka",
            "\x1b]8;;//evil\x07a\x9d0;a\x9c",
        ),
    ],
)
def test_no_line_is_a_command_of_a_service(line):
    text = printable(f"a\n{line}")
    assert harmless(text), text
    assert "##teamcity[" not in text


def test_lines_for_the_terminal_are_escaped():
    lines = []
    reporter = SimpleNamespace(write_line=lambda text, **markup: lines.append(text))
    say_line(reporter, HOSTILE)
    assert harmless(lines[0])


def test_lines_of_progress_and_of_an_audit_are_escaped(capsys):
    shown = []
    with Line(shown.append, iter([0.0, 1e9]).__next__) as line:
        line.show(lambda: "##[error]owned \x9b31m")
    assert "0023#[error]owned \\u009b" in shown[0]
    _say(HOSTILE)
    assert harmless(capsys.readouterr().err)


def test_the_message_of_a_verdict_is_harmless_wherever_it_is_printed():
    groups = [HOSTILE, "##[error]owned"] * 100
    with pytest.raises(AssertionError, match="owned") as failed:
        assert_metric("demographic_parity_difference", [1, 0] * 100, groups=groups, bound=0.1)
    assert harmless(str(failed.value))


def test_the_printer_leaves_what_is_harmless():
    text = "café 東京 🙂 a::b # title\n  - x: y [1] ##\n\tJSON {}"
    assert printable(text) == text
    assert json.loads(printable(json.dumps({"a": "##[b"}))) == {"a": "##[b"}
    assert harmless(printable(f"{HOSTILE}\n  ::x::\n\t::y::\u2028::z::"))


@pytest.mark.parametrize(
    "options",
    [
        ("--llmfair-model=openai:##[error]owned",),
        *(("-v",), ("--tb=short",), ("--tb=line",), ("--tb=native",)),
    ],
    ids=str,
)
def test_a_session_obeys_no_name_and_no_label(pytester, printed, options):
    pytester.makepyfile(test_it=TEST)
    text = printed(*options, "--llmfair-evidence=pack")
    assert " failed" in text
    assert "owned" in text
    assert "has no group" in text
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


def test_a_policy_names_no_command(pytester, printed):
    (pytester.path / "llmfair.yaml").write_text('"##[error]owned": 1\nlevel: "##[error]owned"\n')
    text = printed()
    assert "unknown key" in text
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
