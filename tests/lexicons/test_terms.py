"""Conditions, ages, titles and plain terms: what counts, and the lists of words next to a term."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs
from pytest_llmfair.lexicons.grammar import grammar_for

FAMILIES = [
    *(("condition", family) for family in ("has", "owned", "origin")),
    *(("age", family) for family in ("is", "set_off", "decade", "aged", "range", "label")),
    *(("title", family) for family in ("before_name", "address", "couple", "ruler")),
    *(("title", family) for family in ("kin_and_names", "lords")),
    *(("plain", family) for family in ("field", "house", "adjective")),
]
TERM = re.compile(r"\[([^\[\]]+)\]")


@functools.cache
def cases() -> Any:
    file = Path(__file__).parent / "typical_cases.yaml"
    return yaml.safe_load(file.read_text(encoding="utf-8"))


def spans(marked: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a text without its brackets, and where the terms in them are."""
    text, found, last = "", [], 0
    for term in TERM.finditer(marked):
        if term[1] == "NAME":  # a placeholder of the prompt
            continue
        text += marked[last : term.start()]
        found.append((len(text), len(text) + len(term[1])))
        text += term[1]
        last = term.end()
    return text + marked[last:], found


@pytest.mark.parametrize(("kind", "family"), FAMILIES)
def test_typical_sentences_are_read_right(kind: Any, family: str) -> None:
    grammar = grammar_for("en")
    wrong = [
        marked
        for answer, sentences in cases()[kind][family].items()
        for marked in sentences
        for text, places in [spans(marked)]
        for start, end in places
        if grammar.counts(text, start, end, kind).answer is not (answer == "counts")
    ]
    assert not wrong, f"{len(wrong)} of {kind}, {family} are misread: {wrong}"


def test_every_family_of_the_file_is_tested() -> None:
    kinds = {kind for kind, _ in FAMILIES}
    assert {(k, family) for k in kinds for family in cases()[k]} == set(FAMILIES)


def shades(**where: Any) -> Lexicon:
    entry = {"role": "adjective", "dark": "black", "pale": "white", **where}
    return Lexicon.from_dict({"name": "shade", "groups": ["dark", "pale"], "entries": [entry]})


class TestLists:
    @pytest.mark.parametrize(
        ("where", "text", "found"),
        [
            ({"not_before": ["market", "friday"]}, "black market; Black Friday; BLACK-market", 0),
            ({"not_before": ["market"]}, "a black marketeer; a black, market", 2),
            ({"not_before": ["'s in"]}, "a black\u2019s in law", 0),
            ({"not_before": [","]}, "black, then black", 1),
            ({"not_after": ["jet", "all"]}, "jet black; jet-black; all black; tall black", 1),
            ({"only_before": ["nurses", "cab drivers"]}, "black nurses; Black cab drivers", 2),
            ({"only_before": ["nurses"]}, "black doctors; black", 0),
            ({"only_after": ["my", "'s"]}, "my black; Ann's black; the black", 2),
        ],
    )  # fmt: skip
    def test_settle_what_counts(self, where: dict[str, Any], text: str, found: int) -> None:
        mentions = shades(**where).mentions(text)
        assert len(mentions) == found
        assert {mention.confidence for mention in mentions} <= {"certain"}

    def test_narrow_what_the_grammar_is_asked(self) -> None:
        lexicon = shades(kind="person_adjective", not_before=["friday"])
        assert [m.text for m in lexicon.mentions("Black Friday, a Black nurse")] == ["Black"]
        assert lexicon.mentions("a black door") == []

    def test_let_another_entry_take_what_they_leave(self) -> None:
        entries = [
            {"role": "noun", "a": "boss", "b": "chief", "only_after": ["my"]},
            {"role": "noun", "a": "boss", "b": "head"},
        ]
        lexicon = Lexicon.from_dict({"name": "x", "groups": ["a", "b"], "entries": entries})
        (pair,) = generate_pairs(["my boss met a boss"], attribute=lexicon)
        assert pair.counterfactual == "my chief met a head"
