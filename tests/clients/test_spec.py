from __future__ import annotations

import importlib
import sys

import pytest

from pytest_llmfair.clients import ModelSpecError, load_client
from pytest_llmfair.clients.spec import SCHEMES


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "no scheme; write builtin:ngram, builtin:smollm2, hf:PATH_OR_ID"),
        ("gpt2", "no scheme"),
        ("builtin", 'no scheme; did you mean "builtin"\\? Write builtin:ngram'),
        ("buildin:ngram", "unknown scheme 'buildin'.*did you mean \"builtin\""),
        ("pyhton:a:b", 'did you mean "python"'),
        ("zzz:ngram", r"unknown scheme 'zzz'; write [^;]*$"),
        ("builtin:", "nothing after 'builtin'"),
        ("builtin:ngrm", "no built-in model 'ngrm'; .*did you mean \"ngram\""),
        ("builtin:smollm", "no built-in model 'smollm'; .*did you mean \"smollm2\""),
        ("builtin:smollm2?gender_skew=1", "no option 'gender_skew'; the options are batch_size"),
        ("builtin:ngram?gendre_skew=1", "no option 'gendre_skew'.*did you mean \"gender_skew\""),
        ("builtin:ngram?device=cpu", "builtin models have no option 'device'; the options are"),
        ("builtin:ngram?gender_skew=1.5", "gender_skew is '1.5'; give a number from -1 to 1"),
        ("builtin:ngram?gender_skew=nan", "gender_skew is 'nan'"),
        ("builtin:ngram?gender_skew=", "gender_skew is ''"),
        ("builtin:ngram?gender_skew", "cannot read 'gender_skew'; write options as"),
        ("builtin:ngram?temperature=-1", "temperature is '-1'; give a number at least 0"),
        ("builtin:ngram?temperature=inf", "temperature is 'inf'"),
        ("builtin:ngram?temperature=warm", "temperature is 'warm'"),
        ("builtin:ngram?max_tokens=0", "max_tokens is '0'; give a whole number of at least 1"),
        ("builtin:ngram?max_tokens=1.5", "max_tokens is '1.5'"),
        ("builtin:ngram?max_tokens=3&max_tokens=4", "an option is given twice"),
        ("hf:./no/such/folder", "no folder 'no/such/folder'"),
        ("hf:/no/such/folder", "no folder '/no/such/folder'; .*save_pretrained"),
        ("hf:a/b/c", "no folder 'a/b/c'"),
        ("hf:~/no-such-folder-here", "no folder '.*no-such-folder-here'"),
        ("hf:./no?batch_size=0", "batch_size is '0'"),
        ("hf:./no?devise=cpu", "no option 'devise'.*did you mean \"device\""),
        ("python:json", "does not name a callable; write python:package.module:callable"),
        ("python::dumps", "does not name a callable"),
        ("python:json:", "does not name a callable"),
        ("python:no_such_module_here:ask", "no module 'no_such_module_here'; .*pythonpath"),
        ("python:json.nope:ask", "no module 'json.nope'"),
        ("python:json:dmps", "'json' has no 'dmps'; did you mean \"dumps\""),
        ("python:json:decoder.JSONDecodr", 'did you mean "JSONDecoder"'),
        ("python:json:__name__", "is not callable but str"),
        ("python:json:dumps?device=cpu", "python models have no option 'device'"),
        ("python:operator:add", "cannot be called with one prompt"),
    ],
)
def test_a_bad_specification_is_one_clear_error(spec, words):
    with pytest.raises(ModelSpecError, match=words) as caught:
        load_client(spec)
    assert isinstance(caught.value, ValueError)
    assert repr(spec.partition("?")[0])[1:-1] in str(caught.value)


@pytest.mark.parametrize("spec", [None, 3, len])
def test_a_specification_must_be_text(spec):
    with pytest.raises(ModelSpecError, match=r"not (NoneType|int|builtin_.*); .*ModelClient\.of"):
        load_client(spec)


def test_a_near_miss_of_a_folder_is_suggested_and_a_file_is_none(tmp_path):
    (tmp_path / "my-model").mkdir()
    with pytest.raises(ModelSpecError, match='did you mean "my-model"'):
        load_client(f"hf:{tmp_path}/my-modle")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(ModelSpecError, match="no folder"):
        load_client(f"hf:{tmp_path}/model.safetensors")


def test_a_missing_package_is_named_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ModelSpecError, match='run: pip install "transformers>='):
        load_client(f"hf:{tmp_path}")


def test_a_module_that_fails_to_import_is_named_with_its_error(monkeypatch, tmp_path):
    (tmp_path / "llmfair_broken_bot.py").write_text("1 / 0", encoding="utf-8")
    (tmp_path / "llmfair_needy_bot.py").write_text("import no_such_dependency", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelSpecError, match="failed with ZeroDivisionError: division by zero"):
        load_client("python:llmfair_broken_bot:ask")
    with pytest.raises(ModelSpecError, match="needs 'no_such_dependency', which is not installed"):
        load_client("python:llmfair_needy_bot:ask")


def test_options_of_the_specification_win_over_the_defaults():
    client = load_client("builtin:ngram?temperature=0.5&max_tokens=7", seed=9, max_tokens=64)
    assert (client.temperature, client.max_tokens, client.seed) == (0.5, 7, 9)
    assert load_client("builtin:ngram", max_tokens=11).max_tokens == 11


def test_a_callable_is_found_by_its_path(monkeypatch, tmp_path):
    code = "class Bot:\n    def ask(self, prompt): return 'I heard ' + prompt\nbot = Bot()\n"
    (tmp_path / "llmfair_good_bot.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    client = load_client("python:llmfair_good_bot:bot.ask?temperature=0.2")
    assert client.generate(["you"]) == [["I heard you"]]
    assert client.name == "python:llmfair_good_bot:bot.ask"


@pytest.mark.parametrize(
    "spec", ["openai:m?api_key=%s", "opnai:m?x=1&Password=%s", "openai:?key=%s"]
)
def test_a_key_in_a_specification_is_refused_and_not_shown(spec):
    with pytest.raises(ModelSpecError) as caught:
        load_client(spec % "sk-canary")
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_row_of_the_table_is_loaded_and_documented(scheme):
    row = SCHEMES[scheme]
    assert callable(importlib.import_module(f"pytest_llmfair.clients.backends.{row.module}").load)
    assert f"``{row.form}``" in (load_client.__doc__ or "")
