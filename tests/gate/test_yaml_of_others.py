"""YAML of others: no alias and no nesting takes memory, time or the stack."""

from __future__ import annotations

import json
import re
import textwrap
from pathlib import Path

import pytest
import yaml

import pytest_llmfair
from pytest_llmfair._util.located import safe_yaml
from pytest_llmfair.gate.policy import load_policy
from tests.processes import python

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

# Reads every bomb with every reader, and prints what each said and how much memory it took.
READ = """
    import json, resource
    from pathlib import Path
    resource.setrlimit(resource.RLIMIT_AS, (3 * 2**30, 3 * 2**30))
    from pytest_llmfair.gate.check_file import read_checks
    from pytest_llmfair.gate.checklist import read_answers
    from pytest_llmfair.gate.policy import load_policy
    from pytest_llmfair.lexicons.lexicon import Lexicon

    def memory():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    for folder in sorted(Path(".").iterdir()):
        readers = {
            "checks": lambda: read_checks(folder / "bomb.yaml"),
            "policy": lambda: load_policy(folder),
            "lexicon": lambda: Lexicon.from_file(folder / "bomb.yaml"),
            "answers": lambda: read_answers(folder / "bomb.yaml"),
        }
        for name, read in readers.items():
            before, said = memory(), ""
            try:
                read()
            except ValueError as error:
                said = str(error)[:200]
            print(json.dumps([folder.name, name, said, memory() - before]))
"""


def test_a_bomb_is_an_error_and_takes_no_memory(tmp_path):
    for bomb, text in BOMBS.items():
        (tmp_path / bomb).mkdir()
        for name in ("bomb.yaml", "llmfair.yaml"):
            (tmp_path / bomb / name).write_text(text)
    done = python("-c", textwrap.dedent(READ), folder=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 4 * len(BOMBS)
    words = {"depth": "nested deeper", "blocks": "nested deeper", "itself": "is part of"}
    for bomb, reader, said, kilobytes in found:
        assert words.get(bomb, "aliases repeat more than") in said, (bomb, reader)
        assert kilobytes < 100_000, (bomb, reader)


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
    # The second reads files of the package alone.
    assert readers == {"_util/located.py", "lexicons/english/words.py"}


@pytest.mark.slow
def test_aliases_of_usual_size_are_read():
    shared = "base: &base {groups: [a, b]}\nchecks:\n" + "- {<<: *base, bound: 0.1}\n" * 200
    assert len(safe_yaml(shared)["checks"]) == 200
    assert safe_yaml(json.dumps(list(range(300_000))))[-1] == 299_999
    nested = "[" * 60 + "]" * 60
    assert safe_yaml(nested) == yaml.safe_load(nested)
