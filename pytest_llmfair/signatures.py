"""What editors, type checkers and ``help()`` show of the assertions made for metrics."""

from __future__ import annotations

import inspect
import math
import pprint
import re
import textwrap
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from pytest_llmfair.arguments import of_pairs
from pytest_llmfair.metrics import MetricInfo


class _Dots:
    """Default of an argument that a table, answers or a mapping may bring instead."""

    def __repr__(self) -> str:
        return "..."


DOTS = _Dots()


def word_of(info: MetricInfo) -> str:
    """Return what the bound of a metric is called."""
    return "minimum" if info.direction == "higher" else "bound"


def signature_of(info: MetricInfo, general: Callable[..., Any]) -> inspect.Signature:
    """Return every way to call the assertion of a metric in one signature.

    The metric's arguments, the bound (also as a last positional number), then what `general`, the
    assertion for any metric, takes by keyword. Nothing after the data is required here: prompts,
    answers or a mapping in their place bring the rest, and a call that lacks something says so.
    """
    own = list(inspect.signature(info.function).parameters.values())
    names = {each.name for each in own} | {"bound", "minimum"}
    if not own or own[0].kind is Parameter.KEYWORD_ONLY:
        own = [_optional("data", Parameter.POSITIONAL_ONLY), *own]
    shared = [
        each
        for each in inspect.signature(general).parameters.values()
        if each.kind is Parameter.KEYWORD_ONLY and each.name not in names
    ]
    chosen = [
        _optional(name, Parameter.KEYWORD_ONLY).replace(default=None) for name in of_pairs(info)
    ]
    bound = _optional(word_of(info), Parameter.POSITIONAL_OR_KEYWORD, "float")
    every = [*map(_loosened, own), bound, *(c for c in chosen if c.name not in names), *shared]
    return inspect.Signature(sorted(every, key=lambda each: each.kind), return_annotation="Result")


def _optional(name: str, kind: Any, annotation: str = "Any") -> Parameter:
    return Parameter(name, kind, default=DOTS, annotation=annotation)


def _loosened(own: Parameter) -> Parameter:
    """Let a positional argument also be what stands for it: answers, a mapping, or the bound."""
    if own.kind is Parameter.VAR_POSITIONAL or own.kind is Parameter.VAR_KEYWORD:
        return own
    if own.kind is not Parameter.KEYWORD_ONLY:
        own = own.replace(annotation="float" if own.annotation == "float" else "Any")
    return own.replace(default=DOTS) if own.default is Parameter.empty else own


def documentation_of(info: MetricInfo) -> str:
    """Return the docstring of the assertion of a metric."""
    word = word_of(info)
    written = inspect.getdoc(info.function) or ""
    own = re.search(r"\nParameters\n-+\n(.*?)(?=\n\n\S+\n-+\n|\Z)", written, re.DOTALL)
    side = {
        "lower": "Largest value you can still accept",
        "higher": "Smallest value you can still accept",
        "two-sided": f"Largest distance from {info.fair_value:g} you can still accept",
    }[info.direction]
    example = [f">>> from pytest_llmfair import {info.assertion}", *_prompted(info)]
    parts = [
        f"Assert that {info.name} is {'at least' if word == 'minimum' else 'within'} a {word}.",
        info.summary,
        "Parameters\n----------\n" + (own.group(1).strip("\n") if own else ""),
        _SHARED.format(word=word, side=side),
        "Examples\n--------\n" + "\n".join(example) if info.example else "",
    ]
    text = "\n\n".join(part for part in parts if part)
    return text.replace(f"\n\n{word} : float", f"\n{word} : float") + "\n"


_SHARED = """{word} : float
    {side}, inclusive; also as a last positional number.
client : ModelClient or callable, optional
    Model to ask: the first argument is then a list of prompts or pairs.
scorer : callable or str, optional
    Texts to scores in [0, 1], or the name of a scorer; by default the metric's own.
generations : int, optional
    Answers to ask for per prompt; by default the metric's own number.
level, mode, max_mde, max_missing, max_invalid, label, unit, sequential, method, family
    See :class:`pytest_llmfair.judging.Judging`.

Returns
-------
Result
    When the verdict is not red. Answers (`Responses`, `PairedResponses`) and a mapping of
    argument names to values are taken in place of the metric's arguments.

Raises
------
FairnessAssertionError
    The kind that belongs to the verdict: `BoundExceeded`, `InvalidEvidence`, `Inconclusive`,
    `Underpowered`.
ValueError
    If the data are malformed, or no data could reach or exceed the bound."""


def example_call(info: MetricInfo) -> str:
    """Return a call with the data of a perfectly fair model, few enough to read."""
    given = [
        f"{name}={pprint.pformat(value, width=80, compact=True, sort_dicts=False)}"
        for name, value in info.fair_arguments(4, 2).items()
    ]
    given += [f"{word_of(info)}={_example_bound(info):.3g}", 'mode="point"']
    return f"{info.assertion}(\n" + textwrap.indent(",\n".join(given), "    ") + ",\n)"


def _prompted(info: MetricInfo) -> list[str]:
    first, *rest = f"result = {example_call(info)}".splitlines()
    return [f">>> {first}", *(f"... {line}" for line in rest), ">>> result.red", "False"]


def _example_bound(info: MetricInfo) -> float:
    """Return a bound that fair data keep; short of halfway, where some metrics have their end."""
    low, high = info.bounds
    if info.direction == "higher":
        return 0.5 * (low + high)
    reach = 0.4 * (high - info.fair_value) if math.isfinite(high) else 0.4
    return reach if info.direction == "two-sided" else info.fair_value + reach
