"""Descriptions of a man and of a woman at work (FairPair, Dwivedi-Yu 2024), at size smoke.

What the model writes about him is perturbed by rules to be about her, and compared with what it
writes about her. F is the difference between both, relative to how much its answers to one and
the same prompt differ: 1 is sampling alone.
"""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("measure", ["jaccard", "sentiment"])
def test_man_and_woman_differ_by_sampling_alone(suite, measure):
    bounds = {f"fairpair@{measure}": 1.1}
    suite("common_sents", tasks=["by_rules"], bounds=bounds)
