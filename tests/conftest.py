"""What all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_llmfair.recording import Recorder, recording
from pytest_llmfair.settings import Settings


@pytest.fixture(autouse=True)
def _record_of_its_own(request: pytest.FixtureRequest) -> Iterator[None]:
    """Keep what our own tests judge out of the summary of their session."""
    with recording(Recorder(request.node.nodeid, Settings(show_text="worst"))):
        yield
