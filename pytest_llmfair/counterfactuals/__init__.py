"""Counterfactual pairs: lexicons of protected attributes, their mentions, masks and exchanges."""

from __future__ import annotations

from pytest_llmfair.counterfactuals._lexicons.intersections import intersection
from pytest_llmfair.counterfactuals._lexicons.loading import Lexicons, load_lexicons
from pytest_llmfair.counterfactuals._lexicons.name_swaps import name_lexicon
from pytest_llmfair.counterfactuals._lexicons.names import name_groups, name_pairs, names
from pytest_llmfair.counterfactuals._lexicons.terms import Entry
from pytest_llmfair.counterfactuals.continuations import (
    FairPairAnswers,
    TooFewAnswers,
    collect_fairpair,
)
from pytest_llmfair.counterfactuals.lexicon import Lexicon, Mention
from pytest_llmfair.counterfactuals.pairs import (
    Edit,
    Pair,
    Pairs,
    Rejected,
    Uncertain,
    check_pair,
    generate_pairs,
    mask,
    mentions,
)
from pytest_llmfair.counterfactuals.rewriting import RewrittenPairs, rewrite_pairs
from pytest_llmfair.counterfactuals.template_pairs import pairs_from_templates
from pytest_llmfair.counterfactuals.templates import (
    SourceExample,
    SourceExamples,
    Template,
    TemplateSet,
    Variation,
    fill_templates,
    load_templates,
    template_set,
)
from pytest_llmfair.counterfactuals.worst_pair import WorstPair, find_worst_pair

__all__ = [
    "Edit",
    "Entry",
    "FairPairAnswers",
    "Lexicon",
    "Lexicons",
    "Mention",
    "Pair",
    "Pairs",
    "Rejected",
    "RewrittenPairs",
    "SourceExample",
    "SourceExamples",
    "Template",
    "TemplateSet",
    "TooFewAnswers",
    "Uncertain",
    "Variation",
    "WorstPair",
    "check_pair",
    "collect_fairpair",
    "fill_templates",
    "find_worst_pair",
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
    "rewrite_pairs",
    "template_set",
]
