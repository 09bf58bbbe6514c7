"""Templates: sentences with slots, filled for every group alike (Czarnowska 2021, section 5)."""

from __future__ import annotations

from pytest_llmfair.counterfactuals.templates.filling import (
    MetricRows,
    SourceExample,
    SourceExamples,
    Variation,
    fill_templates,
)
from pytest_llmfair.counterfactuals.templates.template import (
    Template,
    TemplateSet,
    load_templates,
    read_prompts,
    template_set,
)

__all__ = [
    "MetricRows",
    "SourceExample",
    "SourceExamples",
    "Template",
    "TemplateSet",
    "Variation",
    "fill_templates",
    "load_templates",
    "read_prompts",
    "template_set",
]
