"""Results of assertions that may be red."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_llmfair import FairnessAssertionError, Result


def result_of(assertion: Callable[..., Result], *data: Any, **keywords: Any) -> Result:
    """Return the result of an assertion, red or not."""
    try:
        return assertion(*data, **keywords)
    except FairnessAssertionError as error:
        return error.result
