"""Write the stub of the assertions made for metrics: ``python tests/make_stub.py [--check]``."""

from __future__ import annotations

import sys
from inspect import Parameter, Signature
from pathlib import Path

import pytest_llmfair
from pytest_llmfair.assertions import assert_metric
from pytest_llmfair.metrics import all_metrics
from pytest_llmfair.signatures import signature_of

STUB = Path(pytest_llmfair.__file__).parent / "metric_assertions.pyi"
HEAD = '''\
"""Assertions made for metrics, as type checkers see them; written by tests/make_stub.py."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from pytest_llmfair.judging.result import Result
from pytest_llmfair.metrics.arguments import Mask, TextRows
from pytest_llmfair.metrics.paired_perturbations import Dissimilarity
from pytest_llmfair.stats import Population

'''


def written(signature: Signature) -> str:
    """Return a signature as source; annotations are texts and need no quotes."""
    parts, before = [], None
    for each in signature.parameters.values():
        if before is Parameter.POSITIONAL_ONLY and each.kind is not before:
            parts.append("/")
        if each.kind is Parameter.KEYWORD_ONLY and before is not each.kind:
            parts.append("*")
        default = "" if each.default is Parameter.empty else f" = {each.default!r}"
        parts.append(f"{each.name}: {each.annotation}{default}")
        before = each.kind
    return f"({', '.join(parts)}) -> {signature.return_annotation}: ..."


def stub() -> str:
    """Return the stub; the formatter leaves its lines as they are."""
    lines = [
        f"def {info.assertion}{written(signature_of(info, assert_metric))}"
        for info in all_metrics().values()
    ]
    return HEAD + "# fmt: off\n# ruff: noqa: E501, F401\n" + "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        STUB.write_text(stub(), encoding="utf-8")
    elif STUB.read_text(encoding="utf-8") != stub():
        sys.exit(f"{STUB.name} is stale; run python tests/make_stub.py")
