"""The Markdown of a run, and `llmfair report`, which makes reports of a record."""

from __future__ import annotations

import copy
import html
import re

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.reports.html import html_page
from pytest_llmfair.reports.markdown import LONGEST, markdown, plain_text


def test_it_begins_with_its_marker_and_counts_the_verdicts(document):
    lines = markdown(document).splitlines()
    assert lines[0] == "<!-- pytest-llmfair report -->"
    assert lines[1] == "## \N{MULTIPLICATION SIGN} Fairness: 3 of 9 FAIL"
    assert "9 fairness assertions: 1 PASS, 3 FAIL" in lines[3]
    rows = [line for line in lines if line.startswith("| <code>")]
    assert len(rows) == 9
    # The most urgent first; what a test expects comes last.
    assert "| FAIL |" in rows[0]
    assert rows[-1].endswith("| FAIL (expected) |")
    # GitHub cuts wider tables.
    assert {row.count(" | ") for row in rows} == {3}


def test_the_three_largest_differences_are_named_in_words(document):
    text = markdown(document)
    found = text.partition("### Largest differences\n\n")[2].splitlines()[:4]
    assert [line[:2] for line in found] == ["1.", "2.", "3.", ""]
    assert "The rates of the groups differ by 0.30; you allow 0.10." in found[0]
    assert "Answers to prompts about women and about men differ by" in found[2]
    assert "Answers about women are" in found[2]


def test_only_differences_are_among_the_largest_differences(document):
    fails = [record for record in document["results"] if record["verdict"] == "FAIL"]
    none, small, large = (copy.deepcopy(fails[0]) for _ in range(3))
    none |= {"verdict": "INCONCLUSIVE", "value": none["fair_value"], "metric": "none"}
    small |= {"verdict": "UNDERPOWERED", "value": 0.4, "metric": "too small a test"}
    large |= {"verdict": "INCONCLUSIVE", "value": 0.09, "metric": "large"}
    for record in (none, small, large):
        record |= {"of": "value", "expected": False, "waiver": "", "attribute": ""}
    document["results"] = [none, small, large]
    found = markdown(document).partition("### Largest differences, none of them proven\n\n")[2]
    found = found.splitlines()
    named = [line.partition(":")[0] for line in found[: found.index("")]]
    assert named == ["1. **INCONCLUSIVE** large"]
    document["results"] = [none]
    assert "Largest differences" not in markdown(document)


def test_no_prompt_and_no_answer_is_in_it(document):
    text = markdown(document)
    assert "leader" not in text
    assert "<script" not in html.unescape(text)
    assert "asks for a reference" not in text


def test_it_links_to_the_run_with_the_artefacts(document):
    url = "https://github.com/me/bot/actions/runs/12"
    document["context"]["ci"] = {"provider": "GitHub Actions", "run_url": url}
    assert f"({url}#artifacts)" in markdown(document)
    for wrong in ("javascript:alert(1)", "https://x.org/) [click](https://evil.org", "http://a b"):
        document["context"]["ci"]["run_url"] = wrong
        assert not re.search(r"\[[^]]*\]\(", markdown(document))


def test_it_fits_into_a_comment(document):
    few = len(document["results"])
    document["results"] *= 400
    text = markdown(document)
    assert LONGEST - 1000 < len(text) <= LONGEST
    shown = text.count("| <code>")
    assert f"and {400 * few - shown:,} checks more" in text
    assert "### Largest differences" in text


def test_a_run_without_context_or_results_has_markdown_too(document):
    bare = copy.deepcopy(document)
    del bare["context"]
    assert "date:" in markdown(document)
    assert "date:" not in markdown(bare)
    bare["results"] = []
    assert "No fairness assertion was judged." in markdown(bare)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("demographic_parity", "demographic_parity"),
        ("_em_ **b** `c`", "&#95;em&#95; &#42;&#42;b&#42;&#42; &#96;c&#96;"),
        ("a | b\n[x](y)", "a &#124; b\\n&#91;x](y)".replace("\\n", "&#92;n")),
        ("<img src=x> &amp;", "&lt;img src=x&gt; &amp;amp;"),
        ("@octocat #12", "@\u2060octocat #\u206012"),
        ("https://evil.org www.evil.org", "https:\u2060//evil.org www\u2060.evil.org"),
        ("\x1b[31m", "&#92;x1b&#91;31m"),
    ],
)
def test_texts_of_others_become_no_markup(text, shown):
    assert plain_text(text) == shown


def test_reports_are_made_again_from_the_record(showcase, tmp_path, capsys, document):
    run = str(showcase / "run.json")
    page, text = tmp_path / "page.html", tmp_path / "run.md"
    assert main(["report", run, "--html", str(page), "--markdown", str(text)]) == 0
    assert page.read_text("utf-8") == (showcase / "page.html").read_text("utf-8")
    assert text.read_text("utf-8") == (showcase / "run.md").read_text("utf-8")
    assert page.read_text("utf-8") == html_page(document)
    assert main(["report", run]) == 0
    assert capsys.readouterr().out == text.read_text("utf-8")
