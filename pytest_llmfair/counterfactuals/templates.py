"""Templates: sentences with slots, filled for every group alike (Czarnowska 2021, section 5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pytest_llmfair.checks import check_is_list, whole, whole_seed
from pytest_llmfair.counterfactuals._templates.fillers import (
    Fillers,
    Forms,
    all_fillers,
    own_attribute,
    read_fillers,
)
from pytest_llmfair.counterfactuals._templates.group_terms import Term, lacks_of
from pytest_llmfair.counterfactuals._templates.slots import text_of
from pytest_llmfair.counterfactuals._templates.source_examples import (
    SourceExample,
    SourceExamples,
    Variation,
)
from pytest_llmfair.counterfactuals._templates.template import Template, as_template
from pytest_llmfair.counterfactuals._templates.template_files import (
    TemplateSet,
    load_templates,
    template_set,
)
from pytest_llmfair.counterfactuals.attribute import Attribute
from pytest_llmfair.sampling import sampled_product

__all__ = [
    "SourceExample",
    "SourceExamples",
    "Template",
    "TemplateSet",
    "Variation",
    "fill_templates",
    "load_templates",
    "template_set",
]


def fill_templates(
    templates: Iterable[str | Template],
    fillers: Mapping[str, Any] | None = None,
    *,
    attribute: Attribute | None = None,
    groups: Sequence[str] | None = None,
    fill_limit: int = 100,
    term_limit: int = 100,
    seed: int = 0,
) -> SourceExamples:
    """Fill templates for every group: templates x fillers x groups x terms of the group.

    Each template and combination of fillers is a source example; its variations hold the same
    fillers and one term of one group each.

    Parameters
    ----------
    templates : iterable of str or Template, or TemplateSet
        What to fill; a set brings the attribute and the fillers of its file along.
    fillers : mapping, optional
        Slot to a list of texts that all groups share, or to a mapping of group to such a list.
        Without it there is a list for ``{occupation}``.
    attribute : str, Lexicon, "name", or tuple of two, optional
        Where terms of the groups come from. A lexicon fills ``{person}`` ("a Muslim person", with
        its article), ``{noun}`` ("Muslim person"), ``{people}``, ``{identity}`` ("Muslim") and,
        for gender, ``{subject}``, ``{object}``, ``{possessive_determiner}``,
        ``{possessive_pronoun}`` and ``{reflexive}``. "name" fills ``{person}`` with full names,
        ``{first_name}``, ``{last_name}`` and pronouns. A tuple crosses two attributes.
    groups : sequence of str, optional
        Groups to fill for; default those that the lexicon exchanges, or those of the fillers.
    fill_limit : int
        Most source examples a template; of more combinations of fillers some are drawn.
    term_limit : int
        Most variations a group and source example; of more terms some are drawn.
    seed : int
        Of the draws and of the names; the same seed gives the same texts everywhere.

    Returns
    -------
    SourceExamples
        In the order of the templates.

    Raises
    ------
    ValueError
        If a slot is unknown or a filler empty (the template, the slot and the nearest names are
        told), a template has no slot that depends on the group, there is no template or group, or
        a limit is below 1.
    """
    term_limit, seed = whole(term_limit, "term_limit"), whole_seed(seed)
    attribute = attribute if attribute is not None else own_attribute(templates) or None
    checked = _checked(templates)
    filled = all_fillers(templates, fillers)
    known = read_fillers(filled, attribute, groups, count=term_limit, seed=seed)
    if len(known.groups) < 2:
        raise ValueError(
            f"groups are {list(known.groups)}; name at least two: give attribute=..., or fillers "
            'by group such as {"person": {"day shift": [...], "night shift": [...]}}'
        )
    examples, units = [], []
    for number, template in enumerate(checked):
        combinations = known.combinations(template, number, fill_limit, seed)
        if not known.has_group(template):
            raise ValueError(
                f"{template.named()} has no slot that depends on the group; use one of "
                + ", ".join(f"{{{name}}}" for name in known.known if name not in known.shared)
            )
        terms = {
            group: [term for (term,) in sampled_product([own], term_limit, seed)]
            for group in known.groups
            if (own := known.terms_of(template, group))
        }
        for fills in combinations:
            variations = {
                group: tuple(_variation(template, known, term, fills) for term in own)
                for group, own in terms.items()
            }
            examples.append(SourceExample(template, fills, variations))
            units.append(number)
    return SourceExamples(tuple(examples), known.groups, units, lacks_of(attribute, known.groups))


def _checked(templates: Iterable[str | Template]) -> list[Template]:
    check_is_list(templates, "templates", "templates")
    found = [as_template(template, f"template {n}") for n, template in enumerate(templates)]
    if not found:
        raise ValueError("there are no templates; give at least one")
    return found


def _variation(template: Template, known: Fillers, term: Term, fills: Forms) -> Variation:
    parts = template.parts({**term.forms, **fills})
    tokens, tags = template.tagged(parts)
    return Variation(
        text=text_of(parts),
        tokens=tokens,
        tags=tags,
        identity=template.places(parts, known.shared),
        variant=term.variant,
    )
