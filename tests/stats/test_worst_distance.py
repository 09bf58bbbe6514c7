from __future__ import annotations

import numpy as np
import pytest

from pytest_llmfair.stats import Distance, Undefined
from pytest_llmfair.stats._records import Sample
from pytest_llmfair.stats.pairwise_max import MaxDistance


def divergences(rng, shares, rows=80):
    base = rng.integers(0, 3, rows)
    found = {}
    for name, share in shares.items():
        other = np.where(rng.random(rows) < share, 3, rng.integers(0, 3, rows))
        found[name] = Distance.of_divergence([*base, *other], [0] * rows + [1] * rows)
    return found


def test_value_and_upper_end_are_those_of_the_largest():
    parts = divergences(np.random.default_rng(0), {"near": 0.0, "far": 0.4})
    worst = MaxDistance.of_pairs(parts)
    assert worst.value == parts["far"].value
    assert worst.upper_bound(0.025) == max(p.upper_bound(0.025) for p in parts.values())


@pytest.mark.parametrize("level", [0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("seed", range(5))
def test_the_debiased_value_is_inside_the_interval(seed, level):
    parts = divergences(np.random.default_rng(seed), {"one": 0.0, "two": 0.0, "three": 0.1})
    worst = MaxDistance.of_pairs(parts)
    interval = worst.interval(level)
    assert interval.of == "debiased"
    assert interval.lower <= worst.debiased <= interval.upper


def test_distances_whose_interval_surrounds_the_value_keep_doing_so():
    rng = np.random.default_rng(1)
    parts = {
        name: Distance.of_distributions(rng.random(40), rng.random(40)) for name in ("p", "q")
    }
    worst = MaxDistance.of_pairs(parts)
    assert worst.interval().of == "value"
    assert worst.noise_floor() == max(p.noise_floor() for p in parts.values())


def test_equality_of_all_is_tested_with_a_correction_for_their_number():
    parts = divergences(np.random.default_rng(2), {"same": 0.0, "other": 0.3})
    smallest = min(p.p_equal() for p in parts.values())
    assert MaxDistance.of_pairs(parts).p_equal() == pytest.approx(min(1.0, 2 * smallest))


def test_undefined_parts_keep_the_rest_from_being_judged():
    nothing = Undefined(undefined="nobody", sample=Sample(0, 0, 0, 0))
    parts = divergences(np.random.default_rng(3), {"one": 0.2}) | {"two": nothing}
    worst = MaxDistance.of_pairs(parts)
    assert worst.value == parts["one"].value
    assert "nobody" in worst.invalid["not_computable"]
    assert MaxDistance.of_pairs({"two": nothing}).undefined
