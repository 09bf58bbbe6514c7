"""The classes of English words that the rules look into."""

from __future__ import annotations

import re
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair.counterfactuals._lexicons.loading import load_yaml
from pytest_llmfair.lexicons import english
from pytest_llmfair.lexicons.english.english import word_classes

GRAMMAR = resources.files("pytest_llmfair.lexicons") / "english"
FILES = {  # a class that stands twice in one file is an error of the loader
    name: load_yaml((GRAMMAR / name).read_text(encoding="utf-8"), name)
    for name in (
        "en.yaml",
        "en_persons.yaml",
        "en_things.yaml",
        "en_work.yaml",
        "words_roles.yaml",
    )
}
NAMES = "en_names.yaml"  # classes of its own, which can share a name with those above
ALL = {**FILES, NAMES: load_yaml((GRAMMAR / NAMES).read_text(encoding="utf-8"), NAMES)}


def test_no_class_is_given_in_two_files() -> None:
    found = Counter(kind for classes in FILES.values() for kind in classes if kind != "language")

    assert [kind for kind, count in found.items() if count > 1] == []
    assert set(found) == set(word_classes())


@pytest.mark.parametrize("name", ALL)
def test_every_class_is_asked_for(name: str) -> None:
    code = "".join(
        path.read_text(encoding="utf-8") for path in Path(english.__path__[0]).rglob("*.py")
    )
    asked: set[Any] = set(re.findall(r"[\"'](\w+)[\"']", code))

    assert [kind for kind in ALL[name] if kind != "language" and kind not in asked] == []
