"""Where the terms of an entry count: its kind, and lists of words next to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_llmfair.counterfactuals._lexicons.loading import suggestion
from pytest_llmfair.lexicons.grammar import KINDS

_LISTS = ("not_before", "not_after", "only_before", "only_after")
WHERE = ("kind", "context", *_LISTS)
# Entries had a context before they had a kind.
_CONTEXTS = {
    "person_adjective": "before_person no_switch contrasted demonym predicate compared old "
    "superlative of_couple no_first_name no_given_name no_institution living calling",
    "person_noun": "person_noun insult people collective no_team noun no_work kin no_degree "
    "shortened deity",
    "condition": "had owned condition no_compound origin",
    "age": "years value behind_person decade aged",
    "title": "before_name not_behind_name not_beside_name royal couple address noble",
    "plain": "field contracted scripture faith house",
}
_INSTEAD = {context: kind for kind, those in _CONTEXTS.items() for context in those.split()}


def where_counted(item: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the kind and the lists of an entry of a file.

    Raises
    ------
    ValueError
        If the kind is unknown or a list holds no word; the message begins with `where`.
    """
    if "context" in item:
        known = _INSTEAD.get(str(item["context"]), " or ".join(KINDS))
        raise ValueError(
            f"{where}: 'context: {item['context']}' is no longer read; write 'kind: {known}'"
        )
    kind = item.get("kind", "")
    if kind and kind not in KINDS:
        raise ValueError(f"{where}: unknown kind {kind!r}; {suggestion(str(kind), list(KINDS))}")
    return {"kind": kind, **{key: _words(item.get(key, ()), f"{where}, {key}") for key in _LISTS}}


def _words(value: Any, where: str) -> tuple[str, ...]:
    words = value if isinstance(value, (list, tuple)) else [value]
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise ValueError(
                f"{where}: {word!r} is no word; quote it if YAML reads it as something else"
            )
        if word != word.lower():
            raise ValueError(
                f"{where}: {word!r} has a capital; give {word.lower()!r}, which stands for both"
            )
    return tuple(" ".join(word.split()) for word in words)
