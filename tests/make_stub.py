"""Write what is made from the list of metrics: ``python tests/make_stub.py [--check]``.

The stub of their assertions for type checkers, and the table of the module of each name, by which
`get_metric` imports no other module.
"""

from __future__ import annotations

import json
import sys
from inspect import Parameter, Signature, unwrap
from pathlib import Path

import pytest_llmfair
from pytest_llmfair.assertions import assert_metric
from pytest_llmfair.metrics import all_metrics
from pytest_llmfair.metrics._registry import public_modules
from pytest_llmfair.signatures import signature_of

PACKAGE = Path(pytest_llmfair.__file__).parent
HEAD = '''\
"""Assertions made for metrics, as type checkers see them; written by tests/make_stub.py."""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

from numpy.typing import ArrayLike

from pytest_llmfair.judging.result import Result
from pytest_llmfair.metrics.arguments import Dissimilarity, Mask, TextRows
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


def homes() -> str:
    """Return the public names of each module of metrics, and the aliases of its metrics."""
    names = {module.__name__: list(module.__all__) for module in public_modules()}
    for info in all_metrics().values():
        names[unwrap(info.function).__module__] += info.aliases
    start = len("pytest_llmfair.metrics.")
    table = {module[start:]: sorted(set(own)) for module, own in names.items() if own}
    rows = (f"  {json.dumps(module)}: {json.dumps(own)}" for module, own in table.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


FILES = {"metric_assertions.pyi": stub, "metrics/names.json": homes}

if __name__ == "__main__":
    for name, make in FILES.items():
        if "--check" not in sys.argv:
            (PACKAGE / name).write_text(make(), encoding="utf-8")
        elif (PACKAGE / name).read_text(encoding="utf-8") != make():
            sys.exit(f"{name} is stale; run python tests/make_stub.py")
