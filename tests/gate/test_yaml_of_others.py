"""YAML of others: no alias and no nesting takes memory, time or the stack."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml

import pytest_llmfair
from pytest_llmfair._util.located import safe_yaml
from pytest_llmfair.gate.policy import load_policy

LAUGHS = "a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 10)
)
BOMBS = {
    "aliases": LAUGHS,
    "merges": "a0: &a0 {x0: 1}\n"
    + "".join(f"a{i}: &a{i} {{b: *a{i - 1}, c: *a{i - 1}}}\n" for i in range(1, 30)),
    "depth": "version: " + "[" * 100_000,
    "blocks": "- " * 50_000 + "x",
    "itself": "checks: &a [*a]",
}

READ = """
    import resource, sys
    from pathlib import Path
    resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
    from pytest_llmfair.{module} import {name}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        {call}
    except ValueError as error:
        print(str(error)[:200])
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, f"{{grown}} kB"
"""
READERS = {
    "checks": ("gate.check_file", "read_checks", "read_checks('bomb.yaml')"),
    "policy": ("gate.policy", "load_policy", "load_policy(Path('.'))"),
    "lexicon": ("lexicons.lexicon", "Lexicon", "Lexicon.from_file('bomb.yaml')"),
    "answers": ("gate.checklist", "read_answers", "read_answers(Path('bomb.yaml'))"),
}


@pytest.mark.parametrize("bomb", BOMBS)
@pytest.mark.parametrize("reader", READERS)
def test_a_bomb_is_an_error_and_takes_no_memory(tmp_path, reader, bomb):
    for name in ("bomb.yaml", "llmfair.yaml"):
        (tmp_path / name).write_text(BOMBS[bomb])
    module, name, call = READERS[reader]
    code = textwrap.dedent(READ.format(module=module, name=name, call=call))
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    words = {"depth": "nested deeper", "blocks": "nested deeper", "itself": "is part of"}
    assert words.get(bomb, "aliases repeat more than") in done.stdout


@pytest.mark.parametrize(
    "value",
    [
        *(
            "0x" + "f" * 400,
            "9" * 400,
            "9" * 5000,
            ":".join(["59"] * 5000),
            '!!int "0x' + "f" * 400 + '"',
        ),
        *("!!bool a", "!!int a", "!!timestamp a", "2001-99-99"),
    ],
)
def test_a_value_that_no_number_or_day_can_be_is_an_error_of_yaml(value):
    with pytest.raises(yaml.YAMLError):
        safe_yaml(f"a: {value}")


@pytest.mark.parametrize("level", ["0x" + "f" * 400, "9" * 5000, "[" * 5000], ids=len)
def test_toml_that_cannot_be_read_is_an_error_of_the_file(tmp_path, level):
    (tmp_path / "pyproject.toml").write_text(f"[tool.llmfair]\nlevel = {level}\n")
    with pytest.raises(ValueError, match=r"pyproject\.toml"):
        load_policy(tmp_path)


def test_texts_of_many_digits_are_read():
    text = "9" * 200
    assert safe_yaml(f"a: '{text}'\nb: sha512 {text}\nc: {'-' * 200}x")["a"] == text


def test_all_yaml_of_users_is_read_within_limits():
    root = Path(pytest_llmfair.__file__).parent
    readers = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if re.search(r"yaml\.\w*load", file.read_text("utf-8"))
    }
    # All but the first read files of the package alone.
    assert readers == {
        *("_util/located.py", "clients/backends/ngram/words.py"),
        *("lexicons/english/words.py", "scorers/refusals.py"),
    }


@pytest.mark.slow
def test_aliases_of_usual_size_are_read():
    shared = "base: &base {groups: [a, b]}\nchecks:\n" + "- {<<: *base, bound: 0.1}\n" * 200
    assert len(safe_yaml(shared)["checks"]) == 200
    assert safe_yaml(json.dumps(list(range(300_000))))[-1] == 299_999
    nested = "[" * 60 + "]" * 60
    assert safe_yaml(nested) == yaml.safe_load(nested)
