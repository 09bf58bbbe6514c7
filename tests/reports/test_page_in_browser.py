"""The page as people meet it: in a real browser, wide and narrow, light and dark, by keyboard."""

from __future__ import annotations

import json
import math
from importlib import resources
from itertools import pairwise

import pytest

from pytest_llmfair.cli import main
from pytest_llmfair.reports.html import html_page

WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")
VIEWS = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]

# Every text of a table cell or name, with the lines on which its letters stand.
BROKEN_WORDS = """
const broken = [];
for (const cell of document.querySelectorAll("td, th, h1, h2, h3, .chip, .tile, dt")) {
  const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    for (const found of walk.currentNode.data.matchAll(/[A-Za-z0-9.]+/g)) {
      const range = document.createRange();
      range.setStart(walk.currentNode, found.index);
      range.setEnd(walk.currentNode, found.index + found[0].length);
      const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top)));
      if (lines.size > 1) broken.push(found[0] + " in " + cell.outerHTML.slice(0, 80));
    }
  }
}
return broken;
"""
OUTSIDE = """
return [...document.querySelectorAll("main *, header *")].filter(each => {
  const box = each.getBoundingClientRect();
  return box.width && !each.closest(".scroll, svg, .skip, thead")
    && (box.right > innerWidth + 1 || box.left < -1);
}).map(each => each.outerHTML.slice(0, 120));
"""


@pytest.fixture
def look(browser):
    """Return a function that opens a page in a window of a width and a colour scheme."""

    def look(page, width=1280, scheme="light"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for kind in ("browser", "performance"):
            browser.get_log(kind)
        browser.get(page.as_uri())
        return browser

    return look


@pytest.fixture
def page(showcase):
    """Return the page with texts."""
    return showcase / "page.html"


@pytest.fixture(scope="session")
def axe():
    """Return the script that checks a page for accessibility."""
    return (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")


def check_accessibility(browser, axe):
    browser.execute_script(axe)
    script = "const done = arguments[arguments.length - 1]; axe.run().then(done);"
    found = browser.execute_async_script(script)["violations"]
    return [(each["id"], each["help"], [n["html"][:200] for n in each["nodes"]]) for each in found]


def requests_of(browser):
    entries = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    return [
        entry["params"]["request"]["url"]
        for entry in entries
        if entry["method"] == "Network.requestWillBeSent"
    ]


def test_the_page_loads_nothing_runs_nothing_and_logs_no_error(look, page):
    browser = look(page)
    assert browser.get_log("browser") == []
    assert requests_of(browser) == [page.as_uri()]
    assert browser.title == "Fairness report"
    assert not browser.find_elements("css selector", "script, img, iframe, link, object")
    shown = browser.find_element("css selector", "main").text
    assert "<script>document.title" in shown
    assert "\\x1b[31m" in shown


@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_wider_than_the_window_and_no_word_is_broken(look, page, width):
    browser = look(page, width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(OUTSIDE) == []
    assert browser.execute_script(BROKEN_WORDS) == []


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_axe_finds_nothing_to_complain_about(look, page, axe, width, scheme):
    browser = look(page, width, scheme)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert check_accessibility(browser, axe) == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
@pytest.mark.parametrize("command", ["diff", "history"])
def test_pages_of_several_runs_are_as_readable(look, showcase, axe, command, width, scheme):
    new = json.loads((showcase / "run.json").read_text("utf-8"))
    for each in new["results"][::2]:
        each |= {"bound": 2.0 * each["bound"], "verdict": "INVALID", "value": None, "lower": None}
    (showcase / "new.json").write_text(json.dumps(new), "utf-8")
    runs = [str(showcase / f"{name}.json") for name in ("run", "new")]
    assert main([command, *runs, "--html", str(showcase / f"{command}.html")]) in (0, 1)
    browser = look(showcase / f"{command}.html", width, scheme)
    assert browser.get_log("browser") == []
    assert not browser.find_elements("css selector", "script, img, iframe, link, object")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(OUTSIDE) == []
    assert check_accessibility(browser, axe) == []


def test_light_and_dark_differ(look, page):
    colour = "return getComputedStyle(document.body).backgroundColor"
    found = {look(page, scheme=scheme).execute_script(colour) for scheme in SCHEMES}
    assert len(found) == 2


def test_the_page_can_be_used_with_the_keyboard_alone(look, page):
    from selenium.webdriver.common.keys import Keys

    browser = look(page)
    focused = browser.switch_to.active_element
    focused.send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.text == "Skip to the results"
    assert focused.is_displayed()
    focused.send_keys(Keys.ENTER)
    assert browser.switch_to.active_element.get_attribute("id") == "main"
    browser.switch_to.active_element.send_keys(Keys.TAB)
    link = browser.switch_to.active_element
    assert link.get_attribute("class") == "name"
    assert link.value_of_css_property("outline-style") == "solid"
    link.send_keys(Keys.ENTER)
    target = link.get_attribute("href").partition("#")[2]
    assert browser.switch_to.active_element.get_attribute("id") == target


def test_headings_are_in_order_and_every_check_has_a_plot(look, page, document):
    browser = look(page)
    levels = [int(h.tag_name[1]) for h in browser.find_elements("css selector", "h1,h2,h3,h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(new <= old + 1 for old, new in pairwise(levels))
    lines = browser.find_elements("css selector", ".forest li svg[role=img]")
    assert len(lines) == len(document["results"]) == 9
    checks = browser.find_elements("css selector", "article.check")
    assert len({check.get_attribute("id") for check in checks}) == 9
    assert all("bound" in line.get_attribute("aria-label") for line in lines)


def test_all_checks_share_one_scale(look, page, document):
    """The place of every estimate is computed again from the record."""
    browser = look(page)
    places = {
        "fair": _place(browser, ".forest .scale text", "fair"),
        "bound": max(_places(browser, ".forest .scale text", "bound")),
    }
    unit = places["bound"] - places["fair"]
    for line in browser.find_elements("css selector", ".forest li"):
        text = line.find_element("css selector", ".name").text
        circles = line.find_elements("css selector", "circle")
        (record,) = (r for r in document["results"] if _is_named(r, text))
        if not circles:
            continue
        box = circles[0].rect
        found = (box["x"] + box["width"] / 2 - places["fair"]) / unit
        assert found == pytest.approx(_expected_place(record), abs=0.05)


def _expected_place(record):
    value = record["debiased"] if record["of"] == "debiased" else record["value"]
    if record["scale"] == "log":
        return math.log(value / record["fair_value"]) / record["bound"]
    return (value - record["fair_value"]) / (record["bound"] - record["fair_value"])


def _is_named(record, text):
    test, _, metric = text.partition("\n")
    start = record["metric"].split(" (")[0]
    return record["nodeid"].endswith(f"::{test}") and metric.startswith(start)


def _places(browser, selector, text):
    boxes = [e.rect for e in browser.find_elements("css selector", selector) if e.text == text]
    return [box["x"] + box["width"] / 2 for box in boxes]


def _place(browser, selector, text):
    return _places(browser, selector, text)[0]


def test_worst_pairs_stand_side_by_side_with_the_differences_marked(look, page):
    wide = look(page)
    first, second = wide.find_elements("css selector", ".sides")[0].find_elements(
        "css selector", ".side"
    )
    assert first.rect["y"] == second.rect["y"]
    marked = [mark.text for mark in first.find_elements("css selector", ".prompt mark")]
    assert marked == ["She"]
    assert "caring" in " ".join(m.text for m in first.find_elements("css selector", "mark"))


def test_two_models_have_four_answers_side_by_side(look, document, tmp_path):
    (record,) = (r for r in document["results"] if "reference" in r["nodeid"])
    labels = [f"{name}, {group}" for name in ("baseline", "candidate") for group in "ab"]
    answers = ["One is kind.", "One is bold.", "Two is kind.", "Two is kind."]
    record["examples"] = [{**record["examples"][0], "labels": labels, "outputs": answers}]
    page = tmp_path / "models.html"
    page.write_text(html_page(document), encoding="utf-8")
    sides = look(page).find_elements("css selector", f"[data-test='{record['nodeid']}'] .side")
    assert [each.find_element("css selector", ".who").text for each in sides] == labels
    marks = [each.find_elements("css selector", ".output mark") for each in sides]
    assert [[mark.text for mark in each] for each in marks] == [["kind"], ["bold"], [], []]


def test_only_tests_that_take_a_while_say_how_long_on_a_telephone(look, document, tmp_path):
    slow, fast = (each["nodeid"] for each in document["results"][:2])
    times = {slow: {"seconds": 61.4}, fast: {"seconds": 0.2}}
    path = tmp_path / "page.html"
    path.write_text(html_page({**document, "context": {**document["context"], "tests": times}}))
    took = look(path, 390).find_elements("css selector", "td[data-name='test took']")
    assert sorted(filter(None, (each.text for each in took))) == ["61 s"]
    assert any(not each.is_displayed() for each in took)


def test_an_expected_verdict_is_marked_as_expected(look, page):
    browser = look(page)
    chips = [each.text for each in browser.find_elements("css selector", ".forest .chip")]
    assert [chip for chip in chips if "expected" in chip] == [
        "\N{MULTIPLICATION SIGN} FAIL (expected)"
    ]
    assert "The test expects this verdict (xfailed)" in browser.page_source


@pytest.mark.parametrize(
    ("address", "links"),
    [("https://example.org/run/7", 1), ("javascript:alert(1)", 0), ('https://x/" onclick="a', 0)],
)
def test_the_head_links_to_the_run_of_the_ci(document, address, links):
    document["context"]["ci"] = {"provider": "CI", "run_url": address}
    assert html_page(document).count(f'<a href="{address}"') == links


def test_hidden_texts_are_said_to_be_hidden(look, document, tmp_path, axe):
    for record in document["results"]:
        for example in record["examples"]:
            del example["prompts"], example["outputs"]
    page = tmp_path / "hidden.html"
    page.write_text(html_page(document), encoding="utf-8")
    browser = look(page, 390)
    shown = browser.find_element("css selector", "main").text
    assert "The texts are hidden" in shown
    assert "reference" not in shown.replace("test_reference_letters", "")
    assert browser.execute_script(OUTSIDE) == []
    assert check_accessibility(browser, axe) == []
