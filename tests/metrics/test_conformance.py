"""Every registered metric passes the shared tests, against a formula written out slowly."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from pytest_llmfair.metrics import all_metrics
from pytest_llmfair.testing import check_metric


def every_case():
    found = {}
    for path in sorted(Path(__file__).parent.glob("cases_*.py")):
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        twice = set(found) & set(module.CASES)
        assert not twice, f"{path.name} has a second case of {twice}"
        found |= module.CASES
    return found


CASES = every_case()


def test_every_metric_has_a_case():
    assert sorted(CASES) == list(all_metrics())


@pytest.mark.parametrize("name", CASES)
def test_metric_conforms(name):
    check_metric(name, CASES[name], draws=4)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_metric_conforms_on_many_data_sets(name):
    check_metric(name, CASES[name])
