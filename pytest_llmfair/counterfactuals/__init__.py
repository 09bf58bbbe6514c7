"""Counterfactual pairs: lexicons of protected attributes, their mentions, masks and exchanges."""

from __future__ import annotations

from pytest_llmfair.counterfactuals.pairs import Pairs, check_pair, generate_pairs, mask, mentions
from pytest_llmfair.counterfactuals.templates.filling import (
    SourceExample,
    SourceExamples,
    Variation,
    fill_templates,
)
from pytest_llmfair.counterfactuals.templates.pairs import pairs_from_templates
from pytest_llmfair.counterfactuals.templates.template import (
    Template,
    TemplateSet,
    load_templates,
    template_set,
)
from pytest_llmfair.lexicons.intersections import intersection
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.loading import Lexicons, load_lexicons
from pytest_llmfair.lexicons.name_lexicon import NameLexicon
from pytest_llmfair.lexicons.name_lists import name_groups, name_pairs, names
from pytest_llmfair.lexicons.names import name_lexicon
from pytest_llmfair.lexicons.reading import Mention
from pytest_llmfair.lexicons.terms import Entry
from pytest_llmfair.responses import Edit, Pair, Rejected, Uncertain

__all__ = [
    "Edit",
    "Entry",
    "Lexicon",
    "Lexicons",
    "Mention",
    "NameLexicon",
    "Pair",
    "Pairs",
    "Rejected",
    "SourceExample",
    "SourceExamples",
    "Template",
    "TemplateSet",
    "Uncertain",
    "Variation",
    "check_pair",
    "fill_templates",
    "generate_pairs",
    "intersection",
    "load_lexicons",
    "load_templates",
    "mask",
    "mentions",
    "name_groups",
    "name_lexicon",
    "name_pairs",
    "names",
    "pairs_from_templates",
    "template_set",
]
