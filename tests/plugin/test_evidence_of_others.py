"""Folders of evidence that someone else made: no file outside the evidence is touched."""

from __future__ import annotations

import json

import pytest

TEST = """
from pytest_llmfair import assert_toxic_fraction_within

def test_tone():
    assert_toxic_fraction_within([[0.9], [0.1]] * 200, bound=0.6)
"""


@pytest.mark.parametrize("kind", ["parent", "absolute", "backwards", "beside"])
def test_a_manifest_deletes_no_file_of_the_user(pytester, run, kind):
    pytester.makepyfile(test_bot=TEST)
    folder = pytester.mkdir("pack")
    victim = (folder if kind == "beside" else pytester.path) / "victim.txt"
    victim.write_text("mine")
    listed = {
        "parent": "../victim.txt",
        "absolute": str(victim),
        "backwards": "a/../../victim.txt",
        "beside": "victim.txt",
    }[kind]
    (folder / "MANIFEST.json").write_text(json.dumps({"files": {listed: {}}}))
    result = run("--llmfair-evidence=pack")
    assert victim.read_text() == "mine"
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["ERROR: the evidence is not written: *is no file of evidence*"])


def test_a_link_in_the_folder_is_replaced_not_followed(pytester, run):
    pytester.makepyfile(test_bot=TEST)
    run("--llmfair-evidence=pack").assert_outcomes(passed=1)
    victim = pytester.path / "victim.txt"
    victim.write_text("mine")
    for path in (pytester.path / "pack").iterdir():
        if path.name != "MANIFEST.json":
            path.unlink()
            path.symlink_to(victim)
    run("--llmfair-evidence=pack").assert_outcomes(passed=1)
    assert victim.read_text() == "mine"
    assert not any(path.is_symlink() for path in (pytester.path / "pack").iterdir())
