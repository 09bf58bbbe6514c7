"""What several tests of counterfactual pairs need."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_llmfair.counterfactuals import Pair


@pytest.fixture(scope="session")
def rebuilt() -> Callable[[Pair], str]:
    """Return a function that replays the edits of a pair on its original, the last one first."""

    def replay(pair: Pair) -> str:
        text = pair.original
        for edit in reversed(pair.edits):
            assert text[edit.start : edit.end] == edit.before
            text = text[: edit.start] + edit.after + text[edit.end :]
        for edit in pair.edits:
            end = edit.counterfactual_start + len(edit.after)
            assert text[edit.counterfactual_start : end] == edit.after
        return text

    return replay
