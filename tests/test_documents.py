"""Documents of users: lines, values that YAML reads as something else, and our own data."""

from __future__ import annotations

from importlib import resources
from typing import get_args

import pytest

from pytest_llmfair._util.documents import Document, schema_of
from pytest_llmfair._util.located import load_toml, load_yaml
from pytest_llmfair.gate.check_file import read_checks
from pytest_llmfair.lexicons.attributes import KINDS_OF_WORDS
from pytest_llmfair.lexicons.entries import ENTRY_KEYS
from pytest_llmfair.lexicons.grammar import Kind
from pytest_llmfair.lexicons.terms import Register
from pytest_llmfair.suites.design import SIZES

LEXICON = schema_of("lexicons/lexicon.schema.json")
TEMPLATES = schema_of("counterfactuals/templates/templates.schema.json")
SHIPPED = {
    **dict.fromkeys(
        resources.files("pytest_llmfair").joinpath("lexicons/data").iterdir(), LEXICON
    ),
    **dict.fromkeys(
        resources.files("pytest_llmfair").joinpath("counterfactuals/templates/data").iterdir(),
        TEMPLATES,
    ),
}
SCHEMA = {
    "description": "a mapping of names",
    "type": "object",
    "additionalProperties": {
        "description": "a list of numbers",
        "type": "array",
        "items": {"description": "a number", "type": "number"},
    },
}


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
def test_the_data_of_the_package_fit_their_schema(file):
    content = load_yaml(file.read_text(encoding="utf-8"), file.name)
    Document(content, file.name, SHIPPED[file]).check()


def test_the_schema_of_lexicons_has_the_words_of_the_code():
    parts = LEXICON["$defs"]
    assert tuple(parts["entry"]["properties"]) == ENTRY_KEYS
    assert tuple(parts["entry"]["properties"]["kind"]["enum"]) == get_args(Kind)
    assert tuple(parts["term_of_group"]["properties"]["register"]["enum"]) == get_args(Register)
    people = LEXICON["properties"]["peoples"]["items"]
    assert set(people["properties"]) == set(KINDS_OF_WORDS)


def test_the_schema_of_suites_has_the_sizes_of_the_code():
    sizes = schema_of("suites/suite.schema.json")["properties"]["size"]["enum"]
    assert tuple(sizes) == SIZES


def test_what_the_schema_refuses_is_left_out():
    document = Document({"a": [1, "x", 3], "b": 4, "c": (5,)}, "given", SCHEMA)
    assert document.content == {"a": [1, None, 3], "c": [5]}
    assert document.is_broken("a", 1)
    assert not document.is_broken("a")
    assert not document.is_right("a")
    assert document.is_right("c")
    with pytest.raises(ValueError, match=r"^given: ") as caught:
        document.check()
    assert str(caught.value).splitlines() == [
        "given: a, item 2 is 'x'; give a number",
        "given: b is 4; give a list of numbers",
    ]


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan", "true"])
def test_a_number_is_finite(number):
    document = Document(load_yaml(f"\na: [{number}]", "it.yaml"), "it.yaml", SCHEMA)
    with pytest.raises(ValueError, match=r"^it\.yaml:2: a, item 1 is .*; give a number$"):
        document.check()


def test_words_that_yaml_reads_as_something_else_are_keys():
    assert load_yaml("{on: 1, no: 2, null: 3, 4: 5}", "it.yaml") == {
        "on": 1,
        "no": 2,
        "null": 3,
        4: 5,
    }
    assert load_yaml("2026-02-30", "it.yaml") == "2026-02-30"


def test_toml_has_lines():
    text = """
[tool.llmfair]
level = 0.9

[tool.llmfair.profiles."a b"]  # of ours
FAIL = "warn"

[[tool.llmfair.waivers]]
test = "*"

[[tool.llmfair.waivers]]
expires = 2027-01-31
inline = {worst = 1}
"""
    document = Document(load_toml(text, "it.toml")["tool"]["llmfair"], "it.toml", None)
    assert document.content["waivers"][1]["expires"] == "2027-01-31"
    assert document.line("level") == 3
    assert document.line("profiles", "a b", "FAIL") == 6
    assert document.line("profiles", "a b", "missing") == 5
    assert document.line("waivers", 0, "test") == 9
    assert document.line("waivers", 1) == 11
    assert document.line("waivers", 1, "inline", "worst") == 13
    with pytest.raises(ValueError, match=r"it\.toml:2: this is not valid TOML: "):
        load_toml("a = 1\nb\n", "it.toml")


KEYWORDS = {
    "threshold: high": "threshold is 'high'; give a number",
    "threshold: true": "threshold is True; give a number",
    "generations: 2.5": "generations is 2.5; give a whole number of answers per prompt",
    "sequential: [5]": "sequential is a list; give a text",
    "units: a": "units is 'a'; give a list",
    "max_missing: '0.1'": "max_missing is '0.1'; give a number",
    "zxq: [a]": "toxic_fraction has no key 'zxq'; it takes ",
}


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_no_key_of_a_check_is_accepted_unchecked(tmp_path, keyword):
    file = tmp_path / "it.llmfair.yaml"
    file.write_text(
        "version: 1\nprompts: [She left.]\nchecks:\n"
        f"- metric: toxic_fraction\n  bound: 0.1\n  rationale: r\n  owner: o\n  {keyword}\n"
    )
    with pytest.raises(ValueError, match=r"it\.llmfair\.yaml") as caught:
        read_checks(file)
    assert KEYWORDS[keyword] in str(caught.value)
    assert all("it.llmfair.yaml:8: " in line for line in str(caught.value).splitlines())


def test_a_function_cannot_stand_in_a_file(tmp_path):
    file = tmp_path / "it.llmfair.yaml"
    file.write_text(
        "version: 1\nchecks:\n- {metric: pairwise_comparison, bound: 0.1, rationale: r, owner: o, "
        "data: rows.csv, d: max}\n"
    )
    with pytest.raises(ValueError, match="d is a function; write this check as a test in Python"):
        read_checks(file)
