"""The words next to a term that a lexicon lists, which settle what counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def shades(**where: Any) -> Lexicon:
    entry = {"role": "adjective", "dark": "black", "pale": "white", **where}
    return Lexicon.from_dict({"name": "shade", "groups": ["dark", "pale"], "entries": [entry]})


class TestLists:
    @pytest.mark.parametrize(
        ("where", "text", "found"),
        CASES["settle what counts"],
    )  # fmt: skip
    def test_settle_what_counts(self, where: dict[str, Any], text: str, found: int) -> None:
        mentions = shades(**where).mentions(text)
        assert len(mentions) == found
        assert {mention.confidence for mention in mentions} <= {"certain"}

    def test_narrow_what_the_grammar_is_asked(self) -> None:
        lexicon = shades(kind="person_adjective", not_before=["friday"])
        assert [m.text for m in lexicon.mentions("Black Friday, a Black nurse")] == ["Black"]
        assert lexicon.mentions("a black door") == []

    def test_words_they_exclude_are_read_by_another_entry(self) -> None:
        entries = [
            {"role": "noun", "a": "boss", "b": "chief", "only_after": ["my"]},
            {"role": "noun", "a": "boss", "b": "head"},
        ]
        lexicon = Lexicon.from_dict({"name": "x", "groups": ["a", "b"], "entries": entries})
        (pair,) = generate_pairs(["my boss met a boss"], attribute=lexicon)
        assert pair.counterfactual == "my chief met a head"
