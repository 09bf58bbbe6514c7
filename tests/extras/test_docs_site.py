"""The documentation site: it builds without a warning, links lead somewhere, nothing is loaded."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from pytest_llmfair.metrics import all_metrics
from tests.processes import python

ROOT = Path(__file__).parents[2]
# Building takes half a minute: every example of every metric runs.
pytestmark = pytest.mark.slow


class Page(HTMLParser):
    """What a page loads and links to, and the places that links can lead to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "link" and given.get("rel") not in ("canonical", "index", "search"):
            self.loads.append(given.get("href", ""))
        self.loads += [
            given[name] for name in ("src", "srcset", "poster", "data") if name in given
        ]
        self.loads += re.findall(r"url\(([^)]+)\)", given.get("style", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    places = ("-d", str(folder / "doctrees"), str(ROOT / "docs"), str(folder / "html"))
    done = python("-m", "sphinx", "-W", "--keep-going", "-q", *places)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


@pytest.fixture(scope="module")
def pages(site):
    return {path: Page(path) for path in site.rglob("*.html")}


def test_every_page_of_docs_and_every_metric_is_there(site):
    written = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert written <= {path.stem for path in site.glob("*.html")}
    families = {f"family_{info.family}" for info in all_metrics().values()}
    assert {*all_metrics(), *families, "index"} == {p.stem for p in site.glob("metrics/*.html")}


@pytest.mark.parametrize("name", ["rabbi", "strict_sentiment_parity", "toxic_fraction"])
def test_the_page_of_a_metric_has_its_facts_and_the_output_of_its_example(site, name):
    info = all_metrics()[name]
    text = re.sub(r"<[^>]+>", "", (site / "metrics" / f"{name}.html").read_text("utf-8"))
    for fact in (info.assertion, info.side, info.unit, "How much data", f"PASS {name}"):
        assert fact in text


def test_no_page_loads_anything_from_elsewhere(site, pages):
    loaded = {found for page in pages.values() for found in page.loads}
    for sheet in site.rglob("*.css"):
        style = sheet.read_text("utf-8")
        loaded |= set(re.findall(r"url\(\s*['\"]?([^)'\"]+)|@import\s+['\"]([^'\"]+)", style))
    flat = {each for found in loaded for each in ([found] if isinstance(found, str) else found)}
    assert [each for each in flat if re.match(r"\s*(https?:)?//", each)] == []
    assert any("furo" in each for each in flat)


def test_links_within_the_site_lead_somewhere(site, pages):
    dead = []
    for path, page in pages.items():
        for link in page.links:
            target = urlsplit(link)
            if target.scheme or target.netloc or not (target.path or target.fragment):
                continue
            file = (path.parent / unquote(target.path)).resolve() if target.path else path
            there = file.is_file() and (
                not target.fragment
                or file not in pages
                or unquote(target.fragment) in pages[file].places
            )
            if not there:
                dead.append((path.name, link))
    assert dead == []


def test_links_to_the_repository_name_files_that_exist(pages):
    start = "https://github.com/pytest-llmfair/pytest-llmfair/blob/main/"
    links = {link for page in pages.values() for link in page.links if link.startswith(start)}
    assert links
    assert [link for link in links if not (ROOT / link.removeprefix(start)).exists()] == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(
    "page",
    [
        "index",
        "five_minutes",
        "gallery",
        "ci",
        "coming_from",
        "options",
        "metrics/index",
        "metrics/rabbi",
    ],
)
def test_pages_fit_the_window_and_load_without_an_error(site, browser, page, width):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for kind in ("browser", "performance"):
        browser.get_log(kind)
    browser.get((site / f"{page}.html").as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []
    events = [json.loads(each["message"])["message"] for each in browser.get_log("performance")]
    asked = {
        each["params"]["request"]["url"].partition(":")[0]
        for each in events
        if each["method"] == "Network.requestWillBeSent"
    }
    assert asked <= {"file", "data"}


def test_pages_are_accessible(site, browser):
    axe = (resources.files("axe_playwright_python") / "axe.min.js").read_text("utf-8")
    found = {}
    for page in ("index", "five_minutes", "gallery", "options", "metrics/rabbi"):
        browser.get((site / f"{page}.html").as_uri())
        browser.execute_script(axe)
        script = "const done = arguments[arguments.length - 1]; axe.run().then(done);"
        for each in browser.execute_async_script(script)["violations"]:
            found[each["id"]] = each["nodes"][0]["html"][:200]
    # Marks that the theme and Sphinx make.
    assert set(found) <= {"landmark-unique", "definition-list"}, found
