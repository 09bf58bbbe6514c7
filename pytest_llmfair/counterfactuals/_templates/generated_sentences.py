"""Sentences about the groups of a lexicon, each with one of its terms."""

from __future__ import annotations

import functools
from importlib import resources
from typing import Any

from pytest_llmfair.counterfactuals._lexicons.loading import load_yaml
from pytest_llmfair.counterfactuals._lexicons.terms import WRITTEN, is_joined
from pytest_llmfair.counterfactuals.lexicon import Lexicon


@functools.cache
def _data() -> dict[str, Any]:
    path = resources.files("pytest_llmfair.counterfactuals") / "sentences.yaml"
    data: dict[str, Any] = load_yaml(path.read_text(encoding="utf-8"), path.name)
    return data


def surroundings() -> tuple[list[str], list[str], list[str]]:
    """Return what can stand around a sentence, between two of them, and at the ends of a text."""
    data = _data()
    return data["around"], data["between"], data["fringes"]


@functools.cache
def sentences_about(lexicon: Lexicon, groups: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return by role every sentence that a term of the groups makes, the simplest first.

    A sentence in which the lexicon does not find its own term (a colour, a surname) is left out.

    Raises
    ------
    ValueError
        If a group has no term that may be written.
    """
    made: dict[str, list[tuple[int, str]]] = {}
    written: set[str] = set()
    for entry in lexicon.entries:
        for rank, frame in enumerate(_frames(lexicon, entry.role)):
            start = frame.index("{}")
            for group in groups:
                for term in entry.terms.get(group, ()):
                    if entry.register(term) not in WRITTEN or is_joined(term):
                        continue
                    text = frame.format(term if start else term[0].upper() + term[1:])
                    found = [(m.start, m.end, m.group) for m in lexicon.mentions(text)]
                    if found == [(start, start + len(term), group)]:
                        made.setdefault(entry.role, []).append((rank, text))
                        written.add(group)
    for group in groups:
        if group not in written:
            raise ValueError(
                f"no sentence can be written about {lexicon.name} {group}: the lexicon has no "
                "term for it that is preferred or neutral; leave the group out, or add a term"
            )
    return tuple(
        tuple(dict.fromkeys(text for _, text in sorted(own, key=lambda item: item[0])))
        for own in made.values()
    )


def _frames(lexicon: Lexicon, role: str) -> list[str]:
    data: dict[str, Any] = _data()["languages"].get(lexicon.language, {"roles": {"other": ["{}"]}})
    role = data.get("like", {}).get(role, role)
    own: list[str] | None = data.get("attributes", {}).get(lexicon.name, {}).get(role)
    return own or data["roles"].get(role) or data["roles"]["other"]
