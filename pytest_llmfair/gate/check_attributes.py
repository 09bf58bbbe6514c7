"""Protected attributes in files of checks: lexicons, groups, and whether prompts have slots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_llmfair.counterfactuals.templates.fillers import known_slots
from pytest_llmfair.counterfactuals.templates.slots import slot_names
from pytest_llmfair.counterfactuals.templates.template import TemplateSet
from pytest_llmfair.lexicons.attributes import lexicon_for, lexicon_of
from pytest_llmfair.lexicons.lexicon import Lexicon
from pytest_llmfair.lexicons.name_lexicon import NAMES, NameLexicon, is_names

Prompts = list[str] | TemplateSet


@dataclass(frozen=True, slots=True)
class ChosenAttribute:
    """A protected attribute of a check, as `counterfactual_pairs` takes it."""

    name: str
    # The name of a shipped lexicon, a lexicon, or two of these.
    lexicon: Any
    # Groups that make the pairs: two names, or two peoples.
    exchanged: tuple[str, ...] = ()
    # Keywords that choose among the groups of the pairs.
    compared: Mapping[str, Any] = field(default_factory=dict)


def attribute_from(name: str, about: Mapping[str, Any], folder: Path) -> ChosenAttribute:
    """Return an attribute by its name and what a file says about it."""
    groups = about.get("groups")
    if "names" in about and name not in NAMES:
        raise ValueError(f"names go with the attribute names, not with {name!r}; call it names")
    handed: str | Lexicon = name
    if "names" in about:
        handed = NameLexicon.from_dict(about["names"])
    elif "lexicon" in about:
        kind = NameLexicon if name in NAMES else Lexicon
        handed = kind.from_file(folder / about["lexicon"])
    if is_names(handed):
        return _names_from(name, handed, about)
    lexicon = lexicon_of(handed)
    if groups is not None and (two := lexicon_for(lexicon, groups)) is not lexicon:
        return ChosenAttribute(name, handed, tuple(map(two.group, groups)))
    chosen = ChosenAttribute(name, handed)
    compared = {key: about[key] for key in ("groups", "reference") if key in about}
    labels = {key: labels_of(chosen, value) for key, value in compared.items()}
    return replace(chosen, compared=labels)


def _names_from(name: str, handed: Any, about: Mapping[str, Any]) -> ChosenAttribute:
    """Return the attribute of names, whose groups make the pairs."""
    groups = about.get("groups")
    lexicon = lexicon_for(handed, groups)
    if "names_per_prompt" in about:
        if not isinstance(lexicon, NameLexicon):
            raise ValueError("names_per_prompt is for groups of names, and these are two names")
        handed = replace(lexicon, names_per_prompt=about["names_per_prompt"])
    compared = {"reference": about["reference"]} if "reference" in about else {}
    compared = {key: lexicon.group(value) for key, value in compared.items()}
    return ChosenAttribute(name, handed, tuple(map(lexicon.group, groups or ())), compared)


def labels_of(attribute: ChosenAttribute, given: Any) -> Any:
    """Return a group, or a list of them, by their labels, from any of their names."""
    if attribute.name in NAMES or attribute.exchanged:
        return given
    lexicon = lexicon_of(attribute.lexicon)
    return lexicon.group(given) if isinstance(given, str) else [*map(lexicon.group, given)]


def have_slots(prompts: Prompts, attribute: ChosenAttribute | None) -> bool:
    """Whether prompts are templates, with slots that words of an attribute fill."""
    if isinstance(prompts, TemplateSet):
        return True
    known = set(known_slots("gender" if attribute is None else attribute.lexicon, {}))
    return any(not known.isdisjoint(slot_names(text)) for text in prompts)


def chosen_attribute(
    named: str | list[str], declared: Mapping[str, ChosenAttribute], folder: Path
) -> ChosenAttribute:
    """Return an attribute by its name, or two that are crossed."""
    if isinstance(named, str):
        try:
            return declared.get(named) or attribute_from(named, {}, folder)
        except ValueError as error:
            own = f" (attributes of this file: {', '.join(declared)})"
            raise ValueError(f"{error}{own if declared else ''}") from None
    chosen = [chosen_attribute(name, declared, folder) for name in named]
    both = (chosen[0].lexicon, chosen[1].lexicon)
    lexicon_of(both)
    return ChosenAttribute(" x ".join(named), both)
