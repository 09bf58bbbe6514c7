"""What is said of a group that a lexicon does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_llmfair.counterfactuals._lexicons.loading import suggestion
from pytest_llmfair.counterfactuals._lexicons.peoples import called_people
from pytest_llmfair.lexicons.english.words import is_one_of

if TYPE_CHECKING:
    from pytest_llmfair.counterfactuals.lexicon import Lexicon


def unknown_group(lexicon: Lexicon, name: object) -> str:
    """Say that a lexicon has no such group, and which is near, or which one a term names."""
    called = str(name)
    remedy = suggestion(called, [*lexicon.groups, *lexicon.aliases])
    if called_people(lexicon.peoples, called) is not None:
        remedy = 'a people changes places with another: groups=("Italian", "Nigerian")'
    elif meant := lexicon.groups_of(called):
        remedy = (
            f"did you mean {' or '.join(meant)}, of which it is a word? To exchange two words "
            "of your choice, give a Lexicon.from_dict of them (docs/pairs.md)"
        )
    elif is_one_of(called.lower(), "first_names"):
        remedy = f'names change places with attribute="name"; of {lexicon.name} {remedy}'
    return f"{lexicon.name} has no group {name!r}; {remedy}"
