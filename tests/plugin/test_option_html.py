"""`--llmfair-html` and `--llmfair-evidence`: what is in them, and that nothing in them runs."""

from __future__ import annotations

import hashlib
import json
import re
from html.parser import HTMLParser
from typing import ClassVar

import pytest

HOSTILE = """
from pytest_llmfair import assert_metric

def hostile(prompt):
    return "<script>alert(1)</script>\\x1b[31m\\x00\\ud800\\u202e\\u2066</pre>&lt; " + prompt

def test_hostile():
    assert_metric(
        "toxic_fraction",
        ["<img src=x onerror=alert(2)> %d" % i for i in range(40)],
        bound=0.2, client=hostile, generations=1, scorer=lambda texts: [1.0] * len(texts),
    )
"""


class Elements(HTMLParser):
    """Names and attributes of all elements, and the visible text."""

    def __init__(self, page):
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_the_page_has_a_row_and_a_message_for_every_result(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    run("--llmfair-html=page.html")
    page = Elements((pytester.path / "page.html").read_text(encoding="utf-8"))
    assert page.names.count("tr") == 1 + 3
    assert page.names.count("pre") == page.names.count("h3") == 3
    assert page.names.count("svg") == 3
    for name in ("test_fails", "test_passes", "test_stays_undecided"):
        assert page.text.count(f"test_it.py::{name}") >= 2
    assert len(re.findall("  method       interval by ", page.text)) == 3
    assert "model: none, for tests that judge data of their own" in page.text
    assert "1 PASS, 1 FAIL, 1 INCONCLUSIVE" in page.text


def test_on_a_narrow_screen_rows_are_blocks_and_numbers_say_what_they_are(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    run("--llmfair-html=page.html")
    text = (pytester.path / "page.html").read_text(encoding="utf-8")
    narrow = text[text.index("@media (max-width") : text.index("</style>")]
    assert "td, caption { display: block; }" in narrow
    assert "td.number { white-space: normal; }" in narrow
    assert Elements(text).attributes.count(("data-name", "bound")) == 3
    assert ("name", "viewport") in Elements(text).attributes


def test_every_element_is_closed_in_order(run, pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(HOSTILE)
    run("--llmfair-html=page.html")

    class Nesting(HTMLParser):
        opened: ClassVar[list[str]] = []

        def handle_starttag(self, tag, attrs):
            if tag != "meta":
                self.opened.append(tag)

        def handle_startendtag(self, tag, attrs):
            pass

        def handle_endtag(self, tag):
            assert self.opened.pop() == tag

    Nesting().feed((pytester.path / "page.html").read_text(encoding="utf-8"))
    assert Nesting.opened == []


def test_hostile_prompts_and_outputs_neither_run_nor_break_the_page(run, pytester, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(HOSTILE)
    run("--llmfair-html=page.html")
    text = (pytester.path / "page.html").read_text(encoding="utf-8")
    page = Elements(text)
    assert "alert(1)" in page.text
    assert "alert(2)" in page.text
    assert not {"script", "img", "iframe", "object", "link"} & set(page.names)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert not [v for name, v in page.attributes if name == "src" or "http:" in (v or "")]
    assert "\x1b" not in text
    assert "\x00" not in text
    assert not {"\u202e", "\u2066"} & set(text)


def test_outputs_that_may_not_be_shown_are_not_on_the_page(run, pytester):
    pytester.makepyfile(HOSTILE)
    run("--llmfair-html=page.html", "--llmfair-show-text=none", "--llmfair-evidence=found")
    for file in (pytester.path / "page.html", pytester.path / "found" / "report.html"):
        assert "alert(" not in file.read_text(encoding="utf-8")


def test_without_a_result_the_page_says_so(run, pytester):
    pytester.makepyfile("def test_nothing_of_ours(): pass")
    run("--llmfair-html=page.html")
    assert "No fairness assertion was judged." in (pytester.path / "page.html").read_text()


def test_evidence_holds_the_run_and_a_manifest_that_fits(run, pytester, verdicts):
    pytester.makepyfile(test_it=verdicts)
    run("--llmfair-evidence=found", "--llmfair-json=run.json")
    folder = pytester.path / "found"
    assert (folder / "run.json").read_bytes() == (pytester.path / "run.json").read_bytes()
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["files"]) == {"run.json", "report.html"}
    for name, entry in manifest["files"].items():
        data = (folder / name).read_bytes()
        assert entry == {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    assert manifest["packages"]["numpy"]


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--llmfair-html=taken", "that is a folder; give the path of a file"),
        ("--llmfair-evidence=file.txt", "that is a file; give the path of a folder"),
        ("--llmfair-evidence=no/such/folder", "there is no folder"),
    ],
)
def test_a_place_that_cannot_be_written_ends_the_session_at_once(run, pytester, option, message):
    pytester.makepyfile("def test_one(): pass")
    (pytester.path / "taken").mkdir()
    (pytester.path / "file.txt").touch()
    result = run(option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{message}*"])
