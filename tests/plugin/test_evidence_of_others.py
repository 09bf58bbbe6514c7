"""Folders of evidence that someone else made: no file outside the evidence is touched."""

from __future__ import annotations

import datetime
import json
import shutil
from hashlib import sha256

import pytest

from pytest_llmfair._util.manifest import manifest_text
from pytest_llmfair._util.validation import json_in
from pytest_llmfair.cli import main

TEST = """
from pytest_llmfair import assert_toxic_fraction_within

def test_tone():
    assert_toxic_fraction_within([[0.9], [0.1]] * 10, bound=0.9)
"""


@pytest.mark.parametrize("kind", ["parent", "absolute", "backwards", "beside", "windows"])
def test_a_manifest_deletes_no_file_of_the_user(pytester, run, kind):
    pytester.makepyfile(test_bot=TEST)
    folder = pytester.mkdir("pack")
    # Where "\\" is no separator, this is a file in the folder.
    name = "..\\victim.txt" if kind == "windows" else "victim.txt"
    victim = (folder if kind in ("beside", "windows") else pytester.path) / name
    victim.write_text("mine")
    listed = {
        "parent": "../victim.txt",
        "absolute": str(victim),
        "backwards": "a/../../victim.txt",
        "beside": "victim.txt",
        "windows": name,
    }[kind]
    (folder / "MANIFEST.json").write_text(json.dumps({"files": {listed: {}}}))
    result = run("--llmfair-evidence=pack")
    assert victim.read_text() == "mine"
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: the evidence is not written: *is no file of evidence*"])


def test_a_manifest_that_cannot_be_read_lists_nothing(pytester, run):
    pytester.makepyfile(test_bot=TEST)
    folder = pytester.mkdir("pack")
    for content in ("[" * 100_000, "[]", '{"files": 1}', '{"files": null}'):
        (folder / "MANIFEST.json").write_text(content)
        result = run("--llmfair-evidence=pack")
        result.stdout.fnmatch_lines(["ERROR: the evidence is not written: *holds other files*"])
        assert (folder / "MANIFEST.json").read_text() == content


def test_a_link_in_the_folder_is_replaced_not_followed(pytester, run, pack):
    victim = pytester.path / "victim.txt"
    victim.write_text("mine")
    for path in pack.iterdir():
        if path.name != "MANIFEST.json":
            path.unlink()
            path.symlink_to(victim)
    run("--llmfair-evidence=pack").assert_outcomes(passed=1)
    assert victim.read_text() == "mine"
    assert not any(path.is_symlink() for path in pack.iterdir())


@pytest.fixture
def pack(pytester, run, once):
    """Return the evidence of a run of one check."""
    pytester.makepyfile(test_bot=TEST)
    return once("pack", lambda: run("--llmfair-evidence=pack").assert_outcomes(passed=1))


def verified(folder, capsys, *options):
    status = main(["verify", str(folder), *options])
    return status, capsys.readouterr().out


def seal(folder):
    (folder / "MANIFEST.json").write_text(manifest_text(folder, {}))


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("report.html", "0.900", "0.800"),
        ("checklist.md", "open", "yes"),
        ("checklist.json", '"open"', '"yes"'),
        ("bounds.json", '"mode": "gate"', '"mode": "strict"'),
        ("bounds.json", '"file": "test_bot.py"', '"file": "test_other.py"'),
        ("prompts.jsonl", "", json.dumps({"sha256": ["0" * 64], "tests": []}) + "\n"),
    ],
)
def test_what_follows_from_the_run_is_derived_again(pack, name, old, new, capsys):
    text = (pack / name).read_text()
    assert old in text
    (pack / name).write_text(text.replace(old, new) if old else new)
    seal(pack)
    status, shown = verified(pack, capsys)
    assert status == 1
    assert name in shown


def test_a_forged_version_leaves_no_page_unseen(pack, capsys):
    for name in ("run.json", "checklist.md"):
        text = (pack / name).read_text()
        text = text.replace('"pytest_llmfair": "', '"pytest_llmfair": "9').replace("open", "yes")
        (pack / name).write_text(text)
    seal(pack)
    status, shown = verified(pack, capsys)
    assert status == 0
    assert "NOT COMPARED with the results: report.html, checklist.md, " in shown
    (pack / "prompts.jsonl").write_text(json.dumps({"sha256": ["0" * 64], "tests": []}) + "\n")
    seal(pack)
    assert verified(pack, capsys)[0] == 1


def test_evidence_verifies_after_its_waivers_have_ended(pytester, run, capsys, monkeypatch):
    (pytester.path / "llmfair.yaml").write_text(
        "waivers:\n- {test: '*', reason: r, approver: a, expires: 2098-01-01, worst: 1}\n"
    )
    pytester.makepyfile(test_bot=TEST.replace("bound=0.9", "bound=0.1"))
    run("--llmfair-evidence=pack").assert_outcomes(passed=1)

    class Later(datetime.date):
        @classmethod
        def today(cls):
            return cls(2099, 1, 1)

    monkeypatch.setattr("datetime.date", Later)
    assert verified(pytester.path / "pack", capsys)[0] == 0


def test_a_forger_who_computes_all_digests_again_is_found_by_the_published_one(
    pytester, run, pack, capsys
):
    status, shown = verified(pack, capsys)
    assert status == 0
    digest = sha256((pack / "MANIFEST.json").read_bytes()).hexdigest()
    assert f"SHA-256 of MANIFEST.json: {digest}" in shown
    assert "does not prove its origin" in shown
    status, shown = verified(pack, capsys, "--sha256", digest.upper())
    assert status == 0
    assert "does not prove" not in shown
    # A whole new run of fairer answers is the best of forgeries.
    pytester.makepyfile(test_bot=TEST.replace("[0.9]", "[0.2]"))
    shutil.rmtree(pack)
    run("--llmfair-evidence=pack").stdout.fnmatch_lines(["*evidence: SHA-256 of *"])
    assert verified(pack, capsys)[0] == 0
    status, shown = verified(pack, capsys, "--sha256", digest)
    assert status == 1
    assert f"not {digest}: another evidence" in shown


def leaves(value, path=()):
    """Yield the path of every value in a document."""
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in inner:
        yield (*path, key)
        if isinstance(each, (dict, list)):
            yield from leaves(each, (*path, key))


def changed(document, path, value):
    copy = json.loads(json.dumps(document))
    here = copy
    for key in path[:-1]:
        here = here[key]
    here[path[-1]] = value
    return copy


WRONG = (None, [], {}, "x", -1, 1e999, [[None]], {"a": {"b": 1}})


READ_BY = {
    "run.json": ("verify", "checklist", "compare"),
    "context.json": ("verify", "checklist"),
    "bounds.json": ("verify", "checklist"),
    "statistics.jsonl": ("verify", "compare"),
}


@pytest.mark.parametrize("name", READ_BY)
def test_content_of_a_wrong_type_is_a_problem_and_no_traceback(pack, name, capsys):
    whole = (pack / name).read_text()
    document = json.loads(whole)
    # A prime step, so that every kind of wrong value meets every part of the document.
    for i, path in list(enumerate(leaves(document)))[::3]:
        value = WRONG[i % len(WRONG)]
        (pack / name).write_text(json.dumps(changed(document, path, value)) + "\n")
        seal(pack)
        for command in READ_BY[name]:
            assert ended([command, str(pack)]) in (0, 1, 2), (command, path, value)
        if name == "run.json":
            for command in ("report", "model-card"):
                assert ended([command, str(pack / name)]) in (0, 1, 2), (command, path, value)
    capsys.readouterr()


def ended(command):
    try:
        return main(command)
    except SystemExit as error:
        return error.code


@pytest.mark.parametrize(
    "name", ["MANIFEST.json", "run.json", "context.json", "bounds.json", "statistics.jsonl"]
)
@pytest.mark.parametrize("deep", ["[" * 100_000, "[" * 500 + "]" * 500, "1" * 5000, "\ud800"])
def test_json_that_nothing_can_read_is_a_problem_and_no_traceback(pack, name, deep, capsys):
    (pack / name).write_text(deep, "utf-8", "surrogatepass")
    if name != "MANIFEST.json":
        seal(pack)
    for command in (["verify"], ["checklist"], ["compare"]):
        assert ended([*command, str(pack)]) in (1, 2), command
    for command in ("report", "model-card", "compare", "comment --repo a/b --pr 1 --dry-run"):
        assert ended([*command.split(), str(pack / name)]) == 2, command
    capsys.readouterr()


def test_json_is_read_down_to_64_levels():
    assert json_in("[" * 64 + "]" * 64, "a.json", "write it again")
    with pytest.raises(ValueError, match=r"a\.json is nested deeper than 64 levels; write it"):
        json_in("[" * 66 + "]" * 66, "a.json", "write it again")
