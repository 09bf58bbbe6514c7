"""The lexicons of this suite: those that ship, and one of our own that extends one of them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from pytest_llmfair.counterfactuals import Lexicon, load_lexicons


@pytest.fixture(scope="session")
def lexicons() -> Mapping[str, Lexicon]:
    """Gender comes with the words of `family.yaml`."""
    return load_lexicons(Path(__file__).with_name("family.yaml"))
