"""What users read who installed the package alone: which extra is missing, and its remedy."""

from __future__ import annotations

import json
import subprocess
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pytest_llmfair
from pytest_llmfair._util.validation import PACKAGES, install

# What asks for each extra first.
USES = {
    "hf": "from pytest_llmfair.clients import load_client; load_client('hf:some/model')",
    "vllm": "from pytest_llmfair.clients import load_client; load_client('vllm:some/model')",
    "demo": "from pytest_llmfair.clients import load_client; load_client('builtin:smollm2')",
    "openai": "from pytest_llmfair.clients import load_client; load_client('openai:gpt')",
    "anthropic": "from pytest_llmfair.clients import load_client; load_client('anthropic:m')",
    "mlflow": "from pytest_llmfair.gate.export import to_mlflow; to_mlflow({}, None, 'name')",
    "litellm": "from pytest_llmfair.clients import load_client; load_client('litellm:m')",
    "toxicity": (
        "from pytest_llmfair.scorers import ToxicityScorer; ToxicityScorer.download('original')"
    ),
    "embeddings": (
        "from pytest_llmfair.scorers import EmbeddingScorer; EmbeddingScorer.from_pretrained('m')"
    ),
    "property": (
        "from pytest_llmfair.counterfactuals.strategies import prompts; prompts('gender')"
    ),
    "inspect": (
        "import io, zipfile; from pytest_llmfair.results.readers import inspect; "
        "archive = zipfile.ZipFile(io.BytesIO(), 'w'); archive.writestr('samples/1.json', '{}'); "
        "(member,) = archive.infolist(); member.compress_type = 93; "
        "inspect._member(archive, member)"
    ),
    "scale": (
        "from pytest_llmfair.audit.engines import RayActors; RayActors('', None, 1, '', 0.0)"
    ),
}


def required(name: str) -> set[str]:
    """Return the distributions that one needs, itself included, without any extra."""
    found, waiting = set(), [name]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            needs = map(Requirement, distribution(one).requires or ())
            waiting += [
                each.name
                for each in needs
                if each.marker is None or each.marker.evaluate({"extra": ""})
            ]
    return found


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment that holds the package and what it requires."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "pytest_llmfair").symlink_to(Path(pytest_llmfair.__file__).parent)
    for name in required("pytest-llmfair"):
        one = distribution(name)
        for part in {file.parts[0] for file in one.files or ()} - {"..", "__pycache__"}:
            if not (site / part).exists():
                (site / part).symlink_to(str(one.locate_file(part)))
    return folder / "bin" / "python"


def test_every_extra_is_tried() -> None:
    assert set(USES) == set(PACKAGES)


@pytest.fixture(scope="module")
def said(python: Path) -> dict[str, str]:
    """Return the last line of what each use says, all of them tried in one process."""
    code = f"""
import json, traceback
said = {{}}
for extra, use in {USES!r}.items():
    try:
        exec(use, {{}})
    except BaseException as error:
        said[extra] = "".join(traceback.format_exception_only(error)).splitlines()[-1]
print(json.dumps(said))
"""
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("extra", USES)
def test_a_missing_extra_is_named_with_its_remedy(said: dict[str, str], extra: str) -> None:
    assert install(extra) in said[extra]


@pytest.mark.slow
def test_the_package_alone_judges_arrays(python: Path) -> None:
    code = (
        "from pytest_llmfair import assert_demographic_parity_difference_within as check\n"
        "print(check([1, 0] * 200, groups=['a', 'a', 'b', 'b'] * 100, bound=0.3).verdict)"
    )
    done = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("PASS"), done.stderr
