"""Source examples: filled templates in the shapes that models and metrics take."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, overload

from pytest_llmfair.counterfactuals._templates.rows import Rows
from pytest_llmfair.counterfactuals._templates.template import Template

T = TypeVar("T")


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

    Ask the model about `texts`, for one row of scores each; ``nested(scores)`` is the `y_prob` of
    a counterfactual metric, with `y_true=labels`, `groups` and `units`. Metrics in group form take
    one row per text: `y_true=text_labels`, `groups=text_groups`, `units=text_units`.

    Attributes
    ----------
    groups : tuple of str
        The groups, in the order of the columns.
    units : list of int
        Template of each source example: those of one template are no independent evidence.
    lacks : tuple of str
        Groups of the attribute for which its lexicon has no terms; `text_groups` and what
        :meth:`nested` arranges know them too, and metrics tell.
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
        """What to ask: the text of each variation."""
        return [variation.text for variation in self.variations]

    @property
    def text_labels(self) -> list[Hashable]:
        """Gold label of each text."""
        return [self.examples[place].template.label for place, _, _ in self._rows()]

    @property
    def text_groups(self) -> list[str]:
        """Group of each text."""
        return Rows((group for _, group, _ in self._rows()), self.lacks)

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

        Raises
        ------
        ValueError
            If there are not as many values as texts.
        """
        given = list(values)
        if len(given) != len(self.texts):
            raise ValueError(f"{len(given)} values for {len(self.texts)} texts; give one for each")
        rest = iter(given)
        return Rows(
            (
                [list(itertools.islice(rest, len(own))) for own in example.variations.values()]
                for example in self.examples
            ),
            self.lacks,
        )

    def _rows(self) -> Iterator[tuple[int, str, Variation]]:
        for place, example in enumerate(self.examples):
            for group, own in example.variations.items():
                yield from ((place, group, variation) for variation in own)
