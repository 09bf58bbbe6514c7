"""Signatures and docstrings of the assertions made for metrics, for editors and ``help()``."""

from __future__ import annotations

import difflib
import inspect
import math
import pprint
import textwrap
from collections.abc import Callable
from inspect import Parameter
from typing import Any

from pytest_llmfair._util.keywords import helpful_keywords
from pytest_llmfair.judging.assertion import group_keywords
from pytest_llmfair.judging.result import Result
from pytest_llmfair.metrics import MetricInfo


class _Source(str):
    """An annotation, or a default, that ``help()`` shows without quotes."""

    __slots__ = ()
    __repr__ = str.__str__


# What a table, answers or a mapping may bring instead.
DOTS = _Source("...")


def word_of(info: MetricInfo) -> str:
    """Return the name of a metric's bound: "bound" or "minimum"."""
    return "minimum" if info.direction == "higher" else "bound"


def make_assertion(info: MetricInfo, general: Callable[..., Result]) -> Callable[..., Result]:
    """Make the assertion of a metric from the one for any metric."""

    def assertion(*data: Any, **keywords: Any) -> Result:
        __tracebackhide__ = True
        return general(info.name, *data, **keywords)

    assertion.__name__ = assertion.__qualname__ = info.assertion
    assertion.__module__ = general.__module__
    assertion.__doc__ = documentation_of(info, general)
    assertion.__signature__ = signature_of(info, general)  # type: ignore[attr-defined]
    words = dict.fromkeys(("bound", "minimum", "threshold", "eps"), word_of(info))
    return helpful_keywords(n="generations", **words)(assertion)


def no_such_assertion(name: str, known: list[str], elsewhere: str = "") -> str:
    """Say that there is no such assertion, and which ones are near, or what others call so."""
    if elsewhere:
        return f"there is no {name}; {elsewhere}"
    stem = name.removesuffix("_within").removesuffix("_at_least")
    near = [each for each in known if each in (f"{stem}_within", f"{stem}_at_least")]
    near = near or difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"use {' or '.join(near)}" if near else "`llmfair metrics` lists all metrics"
    return f"there is no {name}; {hint}"


def signature_of(info: MetricInfo, general: Callable[..., Any]) -> inspect.Signature:
    """Return every way to call the assertion of a metric; what data may bring is not required."""
    own = [_loosened(each) for each in inspect.signature(info.function).parameters.values()]
    if not own or own[0].kind is Parameter.KEYWORD_ONLY:
        own.insert(0, Parameter("data", Parameter.POSITIONAL_ONLY, default=DOTS, annotation="Any"))
    own.append(Parameter(word_of(info), _ANYHOW, default=DOTS, annotation="float"))
    chosen = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation="Any")
        for name in group_keywords(info)
    ]
    names = {each.name for each in own} | {"bound", "minimum"}
    for each in (*chosen, *inspect.signature(general).parameters.values()):
        if each.kind is Parameter.KEYWORD_ONLY and each.name not in names:
            own.append(each)
    bare = [
        each.replace(annotation=_Source(each.annotation))
        if isinstance(each.annotation, str)
        else each
        for each in sorted(own, key=lambda each: each.kind)
    ]
    return inspect.Signature(bare, return_annotation=_Source("Result"))


_ANYHOW = Parameter.POSITIONAL_OR_KEYWORD


def _loosened(own: Parameter) -> Parameter:
    """Let a positional argument also be what stands for it: answers, a mapping, or the bound."""
    if own.kind is _ANYHOW and own.annotation != "float":
        own = own.replace(annotation="Any")
    required = own.default is Parameter.empty and own.kind in (_ANYHOW, Parameter.KEYWORD_ONLY)
    return own.replace(default=DOTS) if required else own


def documentation_of(info: MetricInfo, general: Callable[..., Any]) -> str:
    """Return the docstring of the assertion of a metric; `general` documents what all share."""
    word = word_of(info)
    written, shared = (inspect.getdoc(each) or "" for each in (info.function, general))
    own = written.partition("\nParameters\n----------\n")[2].split("\n\n")[0]
    side = {
        "lower": "Largest value you can still accept",
        "higher": "Smallest value you can still accept",
        "two-sided": f"Largest distance from {info.fair_value:g} you can still accept",
    }[info.direction]
    keywords = shared.partition("\nclient : ")[2].partition("\n**keywords")[0]
    ending = shared.partition("\nReturns\n")[2].partition("\n\nExamples\n")[0]
    groups = "reference, groups : optional\n    Of more than two groups: which are compared.\n"
    lines = [
        f"Assert that {info.name} is {'at least' if word == 'minimum' else 'within'} a {word}.",
        f"\n{info.summary}\n\nParameters\n----------\n{own}",
        f"{word} : float\n    {side}, inclusive; also as a last positional number.",
        f"{groups if group_keywords(info) else ''}client : {keywords}",
        f"\nReturns\n{ending}",
        *(_prompted(info) if info.example else ()),
    ]
    return "\n".join(lines)


def example_call(info: MetricInfo) -> str:
    """Return a call with the data of a perfectly fair model, few enough to read."""
    given = [
        f"{name}={pprint.pformat(value, width=80, compact=True, sort_dicts=False)}"
        for name, value in info.fair_arguments(4, 2).items()
    ]
    given += [f"{word_of(info)}={example_bound(info):.3g}", 'mode="point"']
    return f"{info.assertion}(\n" + textwrap.indent(",\n".join(given), "    ") + ",\n)"


def _prompted(info: MetricInfo) -> list[str]:
    first, *rest = f"result = {example_call(info)}".splitlines()
    return [
        "\nExamples\n--------",
        f">>> from pytest_llmfair import {info.assertion}",
        f">>> {first}",
        *(f"... {line}" for line in rest),
        ">>> result.red\nFalse",
    ]


def example_bound(info: MetricInfo) -> float:
    """Return a bound that fair data keep; short of halfway, where some metrics have their end."""
    low, high = info.bounds
    if info.direction == "higher":
        return 0.5 * (low + high)
    reach = 0.4 * (high - info.fair_value) if math.isfinite(high) else 0.4
    return reach if info.direction == "two-sided" else info.fair_value + reach
