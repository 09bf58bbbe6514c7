"""Templates: sentences with slots, filled for every group alike (Czarnowska 2021, section 5)."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from pytest_llmfair._util.validation import check_is_list, whole, whole_seed
from pytest_llmfair.counterfactuals.templates.fillers import (
    Fillers,
    Forms,
    GroupTerm,
    all_fillers,
    attribute_of_templates,
    read_fillers,
)
from pytest_llmfair.counterfactuals.templates.slots import text_of
from pytest_llmfair.counterfactuals.templates.template import (
    Template,
    as_template,
)
from pytest_llmfair.lexicons.attributes import Attribute
from pytest_llmfair.sampling import sampled_product

T = TypeVar("T")


class MetricRows(list[T]):
    """A list of rows that also names the groups without data; metrics report them."""

    def __init__(self, rows: Iterable[T] = (), lacks: Iterable[str] = ()) -> None:
        super().__init__(rows)
        self.lacks = tuple(lacks)


@dataclass(frozen=True, slots=True)
class Variation:
    """A source example in the words of one group.

    Attributes
    ----------
    text : str
        The filled template.
    tokens : tuple of str
        Its tokens.
    tags : tuple of str or None
        BILOU tag of each token, where the template has tags.
    identity : tuple of int
        Places of the tokens that name the group.
    variant : str
        "omission" where an unmarked group is left unsaid, "explicit" where the same group is
        named, else "".
    """

    text: str
    tokens: tuple[str, ...]
    tags: tuple[str, ...] | None
    identity: tuple[int, ...]
    variant: str = ""


@dataclass(frozen=True, slots=True)
class SourceExample:
    """A template with its fillers filled in, varied over the groups.

    Attributes
    ----------
    template : Template
        The template, which carries the gold label.
    fills : dict
        Slot to fill, for the slots that do not depend on the group.
    variations : dict
        Group to its variations, at least one each: what ``variation_product`` takes.
    """

    template: Template
    fills: Mapping[str, str]
    variations: Mapping[str, tuple[Variation, ...]]


@dataclass(frozen=True, slots=True)
class SourceExamples(Sequence[SourceExample]):
    """Source examples in the shapes that models and generalized metrics take.

    Ask the model about `texts` for one row of scores each; ``nested(scores)`` is the `y_prob` of
    a counterfactual metric, with `y_true=labels`, `groups` and `units`. Metrics in group form take
    one row per text: `y_true=text_labels`, `groups=text_groups`, `units=text_units`.

    Attributes
    ----------
    groups : tuple of str
        The groups, in the order of the columns.
    units : list of int
        Template of each source example; those of one template are not independent.
    lacks : tuple of str
        Groups of the attribute for which its lexicon has no terms; `text_groups` and what
        :meth:`nested` arranges carry them too, and metrics report them.
    """

    examples: tuple[SourceExample, ...]
    groups: tuple[str, ...]
    units: list[int]
    lacks: tuple[str, ...] = ()

    @overload
    def __getitem__(self, place: int) -> SourceExample: ...
    @overload
    def __getitem__(self, place: slice) -> SourceExamples: ...
    def __getitem__(self, place: int | slice) -> SourceExample | SourceExamples:
        if isinstance(place, slice):
            return SourceExamples(self.examples[place], self.groups, self.units[place], self.lacks)
        return self.examples[place]

    def __len__(self) -> int:
        return len(self.examples)

    @property
    def labels(self) -> list[Hashable]:
        """Gold label of each source example."""
        return [example.template.label for example in self.examples]

    @property
    def variations(self) -> list[Variation]:
        """All variations in one list: by source example, in it by group."""
        return [variation for _, _, variation in self._rows()]

    @property
    def texts(self) -> list[str]:
        """The prompts: the text of each variation."""
        return [variation.text for variation in self.variations]

    @property
    def text_labels(self) -> list[Hashable]:
        """Gold label of each text."""
        return [self.examples[place].template.label for place, _, _ in self._rows()]

    @property
    def text_groups(self) -> list[str]:
        """Group of each text."""
        return MetricRows((group for _, group, _ in self._rows()), self.lacks)

    @property
    def text_units(self) -> list[int]:
        """Template of each text."""
        return [self.units[place] for place, _, _ in self._rows()]

    def nested(self, values: Iterable[T]) -> list[list[list[T]]]:
        """Arrange one value per text as ``[example][group][variation]``.

        Parameters
        ----------
        values : iterable
            One for each of `texts`, in order; such as a row of class probabilities.

        Returns
        -------
        list of list of list
            The values by source example, then by group in the order of `groups`, then by
            variation; `.lacks` names the groups without data.

        Raises
        ------
        ValueError
            If there are not as many values as texts.

        Examples
        --------
        >>> examples = fill_templates(["{Person} called."], attribute="gender", term_limit=1)
        >>> examples.nested([0.2, 0.3])
        [[[0.2], [0.3]]]
        """
        given = list(values)
        if len(given) != len(self.texts):
            raise ValueError(f"{len(given)} values for {len(self.texts)} texts; give one for each")
        rest = iter(given)
        sizes = [map(len, example.variations.values()) for example in self.examples]
        rows = ([list(itertools.islice(rest, size)) for size in own] for own in sizes)
        return MetricRows(rows, self.lacks)

    def _rows(self) -> Iterator[tuple[int, str, Variation]]:
        for place, example in enumerate(self.examples):
            for group, own in example.variations.items():
                yield from ((place, group, variation) for variation in own)


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
    attribute : str, Lexicon, "names", or tuple of two, optional
        Where terms of the groups come from. A lexicon fills ``{person}`` ("a Muslim person", with
        its article), ``{noun}`` ("Muslim person"), ``{people}``, ``{identity}`` ("Muslim") and,
        for gender, ``{subject}``, ``{object}``, ``{possessive_determiner}``,
        ``{possessive_pronoun}`` and ``{reflexive}``. "names" fills ``{person}`` with full names,
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
        If a slot is unknown or a filler empty (the message names the template, the slot and the
        nearest names), a template has no slot that depends on the group, there is no template or
        group, or a limit is below 1.

    Examples
    --------
    >>> examples = fill_templates(
    ...     ["{Person} is {a:job}."],
    ...     {"job": ["engineer"]},
    ...     attribute="religion",
    ...     groups=["muslim", "christian"],
    ... )
    >>> examples.texts[0], examples.text_groups[0]
    ('A Muslim person is an engineer.', 'muslim')
    """
    term_limit, seed = whole(term_limit, "term_limit"), whole_seed(seed)
    attribute = attribute if attribute is not None else attribute_of_templates(templates) or None
    check_is_list(templates, "templates", "templates")
    checked = [as_template(template, f"template {n}") for n, template in enumerate(templates)]
    if not checked:
        raise ValueError("there are no templates; give at least one")
    filled = all_fillers(templates, fillers)
    known = read_fillers(filled, attribute, groups)
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
        gender = known.gender_in(template)
        terms = {
            group: sampled_product([known.terms_of(template, group, gender)], term_limit, seed)
            for group in known.groups
        }
        for fills in combinations:
            variations = {
                group: tuple(_variation(template, known, term, fills) for (term,) in own)
                for group, own in terms.items()
            }
            examples.append(SourceExample(template, fills, variations))
            units.append(number)
    return SourceExamples(tuple(examples), known.groups, units, known.lacks)


def _variation(template: Template, known: Fillers, term: GroupTerm, fills: Forms) -> Variation:
    parts = template.parts({**term.forms, **fills})
    tokens, tags = template.tagged(parts)
    return Variation(
        text=text_of(parts),
        tokens=tokens,
        tags=tags,
        identity=template.places(parts, known.shared),
        variant=term.variant,
    )
