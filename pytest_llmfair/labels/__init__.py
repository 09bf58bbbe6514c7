"""People's labels of planned answers, and the group gap that they correct."""

from __future__ import annotations

from pytest_llmfair.labels.assertion import assert_corrected_gap_within
from pytest_llmfair.labels.plan import LabelPlan, label_plan

__all__ = ["LabelPlan", "assert_corrected_gap_within", "label_plan"]
