"""Counterfactual pairs: lexicons of protected attributes, their mentions, masks and exchanges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmfair._util.lazy import lazy_exports
from pytest_llmfair.counterfactuals.pairs import Pairs, check_pair, generate_pairs, mask, mentions
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
from pytest_llmfair.counterfactuals.templates.pairs import pairs_from_templates
from pytest_llmfair.lexicons.intersections import intersection
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.loading import Lexicons, load_lexicons
from pytest_llmfair.lexicons.names import name_groups, name_lexicon, name_pairs, names
from pytest_llmfair.lexicons.reading import Mention
from pytest_llmfair.lexicons.terms import Entry
from pytest_llmfair.responses import Edit, Pair, Rejected, Uncertain

# These names live in a room above this one and load at first use.
if TYPE_CHECKING:
    from pytest_llmfair.probing.continuations import FairPairAnswers as FairPairAnswers
    from pytest_llmfair.probing.continuations import TooFewAnswers as TooFewAnswers
    from pytest_llmfair.probing.continuations import collect_fairpair as collect_fairpair
    from pytest_llmfair.probing.rewriting import RewrittenPairs as RewrittenPairs
    from pytest_llmfair.probing.rewriting import rewrite_pairs as rewrite_pairs
    from pytest_llmfair.probing.worst_pair import WorstPair as WorstPair
    from pytest_llmfair.probing.worst_pair import find_worst_pair as find_worst_pair
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "FairPairAnswers": "pytest_llmfair.probing.continuations",
            "RewrittenPairs": "pytest_llmfair.probing.rewriting",
            "TooFewAnswers": "pytest_llmfair.probing.continuations",
            "WorstPair": "pytest_llmfair.probing.worst_pair",
            "collect_fairpair": "pytest_llmfair.probing.continuations",
            "find_worst_pair": "pytest_llmfair.probing.worst_pair",
            "rewrite_pairs": "pytest_llmfair.probing.rewriting",
        },
    )


def __dir__() -> list[str]:
    return __all__


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
