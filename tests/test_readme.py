"""The README holds what a newcomer meets: its examples run, its links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import tarfile
import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
import yaml

import pytest_llmfair
from pytest_llmfair._util.validation import PACKAGES, install
from pytest_llmfair.clients.spec import SCHEMES
from tests.processes import python

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LINKS = re.compile(r"\]\(([^)#]+)[^)]*\)")
PICTURES = re.compile(r"(?:src|srcset)=\"([^\"]+)\"")


@pytest.fixture(autouse=True, scope="module")
def _no_other_plugins():
    """Load only this plugin in the processes that run the README, which saves a second each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.setenv("PYTEST_PLUGINS", "pytest_llmfair.plugin")
        yield


@pytest.fixture(scope="module")
def make():
    """Return docs/make.py, which runs the README and writes the generated parts of the docs."""
    spec = importlib.util.spec_from_file_location("make_docs", ROOT / "docs" / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def first_run(make, tmp_path_factory):
    """Return the first tests as they ran, and their results."""
    folder = tmp_path_factory.mktemp("first")
    done = make.run_first_tests(folder, "--llmfair-json=run.json")
    assert done.returncode == 1, done.stdout + done.stderr
    return done, json.loads((folder / "run.json").read_text("utf-8"))["results"]


def test_every_first_test_runs_on_the_builtin_model_and_only_the_unfair_bot_is_red(
    make, first_run
):
    done, results = first_run
    tests = re.findall(r"^def (test_\w+)", make.first_tests(), re.M)
    assert {r["nodeid"].partition("::")[2] for r in results} == set(tests)
    bad = {r["nodeid"].partition("::")[2] for r in results if r["verdict"] != "PASS"}
    assert bad == {make.FIRST_TEST}
    assert f"1 failed, {len(tests) - 1} passed" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_with_other_seeds_no_other_is_red(make, tmp_path, seed):
    done = make.run_first_tests(tmp_path, f"--llmfair-seed={seed}")
    assert "1 failed" in done.stdout
    assert f"FAILED test_letters.py::{make.FIRST_TEST}" in done.stdout


def test_the_message_shown_is_what_the_test_before_it_says(make, first_run, monkeypatch):
    # All other tests are green, so that the only message is that of the first.
    monkeypatch.setattr(make, "run_first_tests", lambda *arguments: first_run[0])
    said = make.message()
    (shown,) = make.MESSAGE.findall(make.FIVE_MINUTES.read_text("utf-8"))
    assert shown == said
    assert shown.startswith("FAIL group_predictability (gender")
    assert make.MESSAGE.findall(README) == [make.excerpt(said)]
    assert make.first_tests(make.README) in make.first_tests()


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 110


def test_every_kind_of_model_is_in_the_table():
    page = (ROOT / "docs" / "models.md").read_text("utf-8")
    rows = " ".join(re.findall(r"^\| (`.*?) \|", page, re.M))
    assert [scheme for scheme in SCHEMES if f"`{scheme}" not in rows] == []


@pytest.mark.parametrize(
    "page", ["README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
)
def test_links_lead_to_files(page):
    file = ROOT / page
    text = file.read_text("utf-8")
    links = LINKS.findall(text) + PICTURES.findall(text)
    assert [x for x in links if "://" not in x and not (file.parent / x).exists()] == []


def test_there_are_two_commands_with_the_pinned_versions():
    commands = re.findall(r"^pip install .*-c \.ci/constraints\.txt .*pytest.*$", README, re.M)
    assert len(commands) == 2
    assert re.match(r"^pip install .*--group test.*pytest", commands[1])


def test_remedies_name_the_packages_of_the_extras():
    extras = PROJECT["optional-dependencies"]
    # LiteLLM is no extra: its own pins differ from those of the tests.
    assert {name: tuple(extras[name]) for name in PACKAGES if name != "litellm"} == {
        name: packages for name, packages in PACKAGES.items() if name != "litellm"
    }
    assert set(extras) - set(PACKAGES) == {"all"}
    # vLLM pins its own torch.
    joined = [name for name in extras if name not in ("all", "vllm")]
    assert extras["all"] == [f"pytest-llmfair[{','.join(joined)}]"]
    assert install("property") == 'pip install "hypothesis>=6.100"'


def test_the_citation_is_of_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == pytest_llmfair.__version__
    assert citation["license"] == PROJECT["license"]


def test_help_is_printed_where_only_the_plugin_is_installed():
    """As after the first command of the README: none of what the tests need is there."""
    code = (
        "import sys\n"
        "for name in ('hypothesis', 'pandas', 'nltk', 'torch', 'transformers', 'xdist'):\n"
        "    sys.modules[name] = None\n"
        "import importlib.util\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *more: sys.modules.get(name, 0) is not None"
        " and real(name, *more) or None\n"
        "import pytest\n"
        "sys.exit(pytest.main(['-p', 'pytest_llmfair.plugin', '--help']))\n"
    )
    done = python("-c", code, folder=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--llmfair-model" in done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return an sdist, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("built")

    def build(kind, source):
        code = f"import hatchling.build as b; print(b.build_{kind}({str(folder)!r}))"
        done = python("-c", code, folder=source)
        assert done.returncode == 0, done.stderr
        return folder / done.stdout.split()[-1]

    sdist = build("sdist", ROOT)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return sdist, build("wheel", folder / sdist.name.removesuffix(".tar.gz"))


def test_the_sdist_has_all_that_the_readme_names(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    pages = {f"docs/{page.name}" for page in (ROOT / "docs").iterdir() if page.is_file()}
    assert pages | {".ci/constraints.txt", "README.md", "tests/test_readme.py"} <= names
    assert {x for x in LINKS.findall(README) + PICTURES.findall(README) if Path(x).suffix} <= names


def test_the_wheel_has_its_data_and_links_that_work_on_pypi(built):
    with zipfile.ZipFile(built[1]) as archive:
        names = archive.namelist()
        (metadata,) = (name for name in names if name.endswith("/METADATA"))
        metadata_of_wheel = message_from_string(archive.read(metadata).decode("utf-8"))
    assert {
        "pytest_llmfair/py.typed",
        "pytest_llmfair/counterfactuals/templates/fillers.yaml",
    } <= set(names)
    assert not [name for name in names if name.startswith(("docs/", "tests/"))]
    urls = dict(url.split(", ") for url in metadata_of_wheel.get_all("Project-URL", []))
    assert set(urls) == {"Repository", "Documentation", "Issues"}
    links = LINKS.findall(str(metadata_of_wheel.get_payload()))
    assert len(links) == len(LINKS.findall(README)) > 5
    assert all(link.startswith(urls["Repository"] + "/blob/main/") for link in links)
    pictures = PICTURES.findall(str(metadata_of_wheel.get_payload()))
    assert len(pictures) == len(PICTURES.findall(README)) > 1
    raw = urls["Repository"].replace("github.com", "raw.githubusercontent.com")
    assert all(picture.startswith(raw + "/main/docs/") for picture in pictures)
