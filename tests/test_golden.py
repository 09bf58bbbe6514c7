"""The package gives what it gave when ``tests/golden`` was last written.

A change that is meant is written with ``python tests/golden/make.py``.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from pytest_llmfair.metrics import all_metrics

_SPEC = importlib.util.spec_from_file_location(
    "golden_make", Path(__file__).parent / "golden" / "make.py"
)
make = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make)

QUICK = 2
SHOWN = 20


def check(old, new, where):
    """Fail with the name, the old value and the new one of every field that differs."""
    found = list(make.differences(old, json.loads(json.dumps(new)), where, make.allowed()))
    more = [f"and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
    if found:
        shown = [line[:400] for line in found[:SHOWN]]
        pytest.fail("\n".join(["not as before:", *shown, *more]), pytrace=False)


def check_draws(metric, draws):
    for seed in draws:
        for name, of in (("values.json.xz", make.values_of), ("words.json.xz", make.words_of)):
            old = make.frozen(name)[metric][seed]
            check(old, of(metric, seed), f"{metric}, draw {seed}")


def test_every_metric_is_frozen():
    # Other tests of this process may have registered metrics of their own.
    shipped = [
        name
        for name, info in sorted(all_metrics().items())
        if info.function.__module__.startswith("pytest_llmfair.")
    ]
    assert list(make.frozen("values.json.xz")) == shipped
    assert list(make.frozen("words.json.xz")) == shipped


@pytest.mark.parametrize("metric", all_metrics())
def test_first_estimates_of_a_metric_are_as_before(metric):
    check_draws(metric, range(QUICK))


@pytest.mark.slow
@pytest.mark.parametrize("metric", all_metrics())
def test_all_estimates_of_a_metric_are_as_before(metric):
    check_draws(metric, range(make.DRAWS))


def test_public_names_and_options_are_as_before():
    old, new = make.frozen("names.json"), make.names()
    # A new name breaks no caller.
    check(old, {part: {name: new[part].get(name) for name in old[part]} for part in old}, "")


@pytest.mark.parametrize(
    "run",
    [
        "examples",
        pytest.param("details", marks=pytest.mark.slow),
        pytest.param("first tests", marks=pytest.mark.slow),
    ],
)
def test_reports_and_messages_are_as_before(run):
    check(make.frozen("outputs.json")[run], make.outputs_of(run), run)


def test_a_difference_names_metric_draw_field_and_both_values():
    old = {"value": 0.5, "p": [float("nan"), 0.0], "gone": 1}
    new = {"value": 0.25, "p": [float("nan"), -0.0], "new": 2}
    assert list(make.differences(old, new, "rabbi, draw 3")) == [
        "rabbi, draw 3, value: was 0.5, is 0.25",
        "rabbi, draw 3, p[1]: was 0.0, is -0.0",
        "rabbi, draw 3, gone: was 1, is gone",
        "rabbi, draw 3, new: was not there, is 2",
    ]


def test_on_another_machine_the_last_bits_may_differ():
    assert list(make.differences([0.1], [0.1 + 1e-12], "value", 1e-9)) == []
    assert list(make.differences([0.1], [0.1 + 1e-12], "value")) != []
    assert list(make.differences([0.1, 2], [0.1 + 1e-6, 3], "value", 1e-9)) == [
        "value[0]: was 0.1, is 0.100001",
        "value[1]: was 2, is 3",
    ]
