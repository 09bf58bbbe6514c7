"""A template: a sentence with slots, its gold label and its token tags."""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_llmfair.bilou import expand_label, spans
from pytest_llmfair.counterfactuals._lexicons.loading import suggestion
from pytest_llmfair.counterfactuals._templates.slots import (
    Part,
    Piece,
    Slot,
    SlotError,
    as_written,
    is_attributive,
    parse,
    render,
    template_tokens,
    text_of,
    tokens_of,
)

_SHOWN = 40


def as_template(template: str | Template, where: str) -> Template:
    """Return the template of a text; errors will say where it comes from."""
    if not isinstance(template, Template):
        return Template(template, where=where)
    return template if template.where else replace(template, where=where)


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with slots.

    ``{occupation}`` inserts a fill, ``{Occupation}`` with a capital first letter,
    ``{a:occupation}`` and ``{A:occupation}`` with the article that fits before it; ``{{`` and
    ``}}`` are braces of the text. A slot that stands there twice gets the same fill.

    Parameters
    ----------
    text : str
        The sentence.
    label : hashable, optional
        Gold label, such as "positive".
    tags : sequence of str, or str, optional
        BILOU tags for sequence labelling, one per token of the template (a text is split at
        blanks). Tokens are words, marks and a possessive 's; a slot, with its article, is one.
    where : str
        What messages call the template, such as "file.yaml, line 12".

    Raises
    ------
    ValueError
        If a brace is neither doubled nor part of a slot, the label is a list, there are not as
        many tags as tokens, or the tags are not BILOU.
    """

    text: str
    label: Hashable = None
    tags: Sequence[str] | None = None
    where: str = field(default="", compare=False, repr=False)
    _pieces: tuple[Piece, ...] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise ValueError(f"{self.named()}: the text is {self.text!r}; give a sentence")
        if not isinstance(self.label, Hashable):
            raise ValueError(
                f"{self.named()}: the label is {self.label!r}; give one text or number"
            )
        try:
            object.__setattr__(self, "_pieces", parse(self.text))
        except SlotError as error:
            raise ValueError(f"{self.named()}, {error}") from None
        if self.tags is not None:
            tags = self.tags.split() if isinstance(self.tags, str) else self.tags
            object.__setattr__(self, "tags", tuple(tags))
            self._check_tags()

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots, each once, in order."""
        return tuple(dict.fromkeys(p.name for p in self._pieces if isinstance(p, Slot)))

    @property
    def tokens(self) -> tuple[str, ...]:
        """Tokens that tags belong to; a slot is one, written ``{name}``."""
        return tuple(token for _, token in template_tokens(self._pieces))

    def fill(self, fills: Mapping[str, str]) -> str:
        """Return the text with a fill in every slot.

        Raises
        ------
        ValueError
            If a slot has no fill, or a blank one.
        """
        for name in self.slots:
            if name not in fills:
                raise ValueError(self.unknown(name, list(fills)))
            if not fills[name].strip():
                raise ValueError(f"{self.named()}: slot {{{name}}} has an empty fill")
        return text_of(self.parts(fills))

    def parts(self, fills: Mapping[str, str]) -> list[Part]:
        """Return the filled text in parts; the same template always gives as many."""
        return render(self._pieces, fills)

    def tagged(self, parts: Sequence[Part]) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
        """Return the tokens of the filled text, and their tags where the template has tags."""
        tags: dict[int, list[str]] = {}
        for (piece, _), tag in zip(template_tokens(self._pieces), self.tags or (), strict=False):
            tags.setdefault(piece, []).append(tag)
        found: list[str] = []
        spread: list[str] = []
        for part in parts:
            own = tokens_of(part.text)
            found += own
            if self.tags is None or not own:
                continue
            if part.slot:
                spread += expand_label(tags[part.piece][0], len(own))
            elif isinstance(self._pieces[part.piece], Slot):  # the article of a slot
                spread += ["O"] * len(own)
            else:
                spread += tags[part.piece]
        return tuple(found), None if self.tags is None else tuple(spread)

    def places(self, parts: Sequence[Part], without: Container[str]) -> tuple[int, ...]:
        """Return the places of the tokens of slots, `without` some slots."""
        found: list[int] = []
        start = 0
        for part in parts:
            stop = start + len(tokens_of(part.text))
            if part.slot and part.slot not in without:
                found += range(start, stop)
            start = stop
        return tuple(found)

    def may_be_empty(self, name: str) -> bool:
        """Whether a slot stands before the noun that it describes, wherever it stands."""
        return is_attributive(self._pieces, name)

    def unknown(self, name: str, known: Sequence[str]) -> str:
        """Say that a slot is unknown, and which is near."""
        hint = suggestion(name.lower(), known) if known else "there are no fillers"
        return f"{self.named()}: slot {{{as_written(name)}}} is unknown; {hint}"

    def named(self) -> str:
        """Return what messages call this template."""
        text = self.text if isinstance(self.text, str) else repr(self.text)
        short = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
        return f"{self.where or 'template'} ({short!r})"

    def _check_tags(self) -> None:
        assert self.tags is not None
        if len(self.tags) != len(self.tokens):
            raise ValueError(
                f"{self.named()}: {len(self.tags)} tags for {len(self.tokens)} tokens; give one "
                f"for each of {' '.join(self.tokens)}"
            )
        spans(self.tags, f"tags of {self.named()}", strict=True)
