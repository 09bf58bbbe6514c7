"""Classes of names for the rules about persons that still ask for them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources


def is_of_class(word: str, kind: str) -> bool:
    """Whether a lower-case word belongs to a class of names, such as "given"."""
    return word in _classes()[kind]


@functools.cache
def _classes() -> Mapping[str, frozenset[str]]:
    import yaml

    load = functools.partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    path = resources.files("pytest_llmfair.lexicons") / "english" / "en_names.yaml"
    return {
        key: frozenset(word for line in lines for word in line.lower().split())
        for key, lines in load(path.read_text(encoding="utf-8")).items()
        if key != "language"
    }
