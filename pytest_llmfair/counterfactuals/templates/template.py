"""Templates: sentences with slots, gold labels and token tags, alone or in a YAML file."""

from __future__ import annotations

import functools
from collections.abc import Container, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, overload

from pytest_llmfair._util.documents import Document, schema_of
from pytest_llmfair._util.keywords import suggestion
from pytest_llmfair._util.located import shipped
from pytest_llmfair.counterfactuals.templates.slots import (
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
from pytest_llmfair.lexicons.loading import load_lexicons, meant_lexicon
from pytest_llmfair.lexicons.name_lexicon import NAMES
from pytest_llmfair.text.bilou import expand_label, spans

_SHOWN = 40
_TEXTS = ("name", "attribute", "language", "version", "source", "licence", "limits", "reviewed")
_SHARED = "shared"


def as_template(template: str | Template, where: str) -> Template:
    """Return a template; `where` says in errors where it comes from."""
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
        spaces). Tokens are words, marks and a possessive 's; a slot, with its article, is one.
    where : str
        Name of the template in messages, such as "file.yaml:12".

    Raises
    ------
    ValueError
        If a brace is neither doubled nor part of a slot, the label is a list, there are not as
        many tags as tokens, or the tags are not BILOU.

    Examples
    --------
    >>> Template("{Person} is {a:job}.").fill({"person": "Ann", "job": "engineer"})
    'Ann is an engineer.'
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
            if len(tags) != len(self.tokens):
                raise ValueError(
                    f"{self.named()}: {len(tags)} tags for {len(self.tokens)} tokens; give one "
                    f"for each of {' '.join(self.tokens)}"
                )
            spans(tuple(tags), f"tags of {self.named()}", strict=True)

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

        Parameters
        ----------
        fills : mapping of str to str
            Slot to the text that fills it; other slots are ignored.

        Raises
        ------
        ValueError
            If a slot has no fill, or one of spaces only.
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
        """Return the tokens of the filled text, and their tags if the template has tags."""
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
        """Return the positions of the tokens that come from slots, except slots in `without`."""
        found: list[int] = []
        start = 0
        for part in parts:
            stop = start + len(tokens_of(part.text))
            if part.slot and part.slot not in without:
                found += range(start, stop)
            start = stop
        return tuple(found)

    def may_be_empty(self, name: str) -> bool:
        """Whether every slot with this name comes before the noun that it describes."""
        return is_attributive(self._pieces, name)

    def unknown(self, name: str, known: Sequence[str]) -> str:
        """Return the message for an unknown slot, with the nearest names."""
        hint = suggestion(name.lower(), known) if known else "there are no fillers"
        return f"{self.named()}: slot {{{as_written(name)}}} is unknown; {hint}"

    def named(self) -> str:
        """Return the name of this template in messages."""
        text = self.text if isinstance(self.text, str) else repr(self.text)
        short = text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
        return f"{self.where or 'template'} ({short!r})"


@dataclass(frozen=True, slots=True)
class TemplateSet(Sequence[Template]):
    """The templates of a file.

    Attributes
    ----------
    templates : tuple of Template
        In the order of the file.
    name : str
        Name of the set.
    attribute : str
        Attribute whose groups fill the templates; "" where the caller says.
    fillers : dict
        Fillers of the file, as :func:`fill_templates` takes them.
    language, version, source, licence, limits, reviewed : str
        Where the templates come from, when they were read last, and what they do not cover.
    """

    templates: tuple[Template, ...]
    name: str = ""
    attribute: str = ""
    fillers: Mapping[str, Any] = field(default_factory=dict)
    language: str = "en"
    version: str = "1"
    source: str = ""
    licence: str = ""
    limits: str = ""
    reviewed: str = ""

    @overload
    def __getitem__(self, place: int) -> Template: ...
    @overload
    def __getitem__(self, place: slice) -> TemplateSet: ...
    def __getitem__(self, place: int | slice) -> Template | TemplateSet:
        if isinstance(place, slice):
            return replace(self, templates=self.templates[place])
        return self.templates[place]

    def __len__(self) -> int:
        return len(self.templates)


def load_templates(path: str | Path) -> TemplateSet:
    """Read templates from a YAML file.

    The file holds `templates`: a list of texts and of mappings with `text`, `label` and `tags`
    (a list, or a text split at spaces); or a mapping of gold label to such a list. It may hold
    `attribute`, `fillers` as :func:`fill_templates` takes them, ``shared: true`` for the thirty
    templates of the package that suit any attribute of people, and `name`, `language`, `version`,
    `source`, `licence`, `limits` and `reviewed`.

    Parameters
    ----------
    path : str or Path
        File in UTF-8.

    Raises
    ------
    ValueError
        If the file is wrong: every problem on a line of its own, with the file and the line.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "templates.yaml"
    ...     size = file.write_text("templates: ['{Person} called.']", encoding="utf-8")
    ...     load_templates(file)[0].slots
    ('person',)
    """
    schema = schema_of("counterfactuals/templates/templates.schema.json")
    return _read(Document.read(path, schema))


def read_prompts(path: str | Path) -> list[str] | TemplateSet:
    """Read prompts: templates in YAML, one a line, or those of a table or a result file."""
    # It loads numpy, which strategies of prompts do without.
    from pytest_llmfair.results.registry import prompts_in

    path = Path(path)
    if path.suffix in (".yaml", ".yml"):
        return load_templates(path)
    return list(prompts_in(path, lines=True))


@functools.cache
def template_set(name: str) -> TemplateSet:
    """Return a set of templates that ships with the package.

    Parameters
    ----------
    name : str
        An attribute (gender, race, religion, age, disability, sexual_orientation, nationality,
        name): 60 templates, 20 each labelled "positive", "neutral" and "negative"; or
        "country": templates with token tags for sequence labelling.

    Raises
    ------
    ValueError
        If there is no such set; the message suggests the nearest names.

    Examples
    --------
    >>> len(template_set("gender")), template_set("gender")[0].label
    (60, 'positive')
    """
    folder = resources.files("pytest_llmfair.counterfactuals.templates") / "data"
    names = {entry.name.removesuffix(".yaml") for entry in folder.iterdir()}
    known = sorted(names - {_SHARED})
    name = NAMES[0] if name == NAMES[1] else name
    if name not in known:
        hint = suggestion(str(name), known)
        if name != str(name):
            hint = f"a set is about one attribute: {', '.join(known)}"
        raise ValueError(
            f"no template set is called {name!r}; {hint} (load_templates reads yours)"
        )
    return _read(_shipped(name))


def _shipped(name: str) -> Document:
    """Return a document of the package, which the tests compare with the schema."""
    path = f"counterfactuals/templates/data/{name}.yaml"
    return Document(shipped(path), f"{name}.yaml", None)


def _read(document: Document) -> TemplateSet:
    data = document.content
    templates = list(_templates(document))
    if data.get("shared"):
        templates += _templates(_shipped(_SHARED))
    if document.is_right() and not templates:
        document.add((), "there are no templates; give at least one under 'templates'")
    texts = {key: str(data[key]) for key in _TEXTS if data.get(key) not in (None, "")}
    attribute = texts.get("attribute", "")
    if attribute not in ("", *NAMES, *load_lexicons()):
        document.add(
            ("attribute",),
            f"attribute {attribute!r} is no lexicon that ships with the package; "
            f"{meant_lexicon(attribute, list(load_lexicons()))} (for one of your own leave it "
            "out, and give attribute=... with the templates)",
        )
    document.check()
    return TemplateSet(tuple(templates), fillers=data.get("fillers") or {}, **texts)


def _templates(document: Document) -> Iterator[Template]:
    given = document.content.get("templates") or []
    by_label = given if isinstance(given, Mapping) else {None: given}
    for label, listed in by_label.items():
        start = ("templates",) if label is None else ("templates", label)
        for place, item in enumerate(listed):
            own = item if isinstance(item, Mapping) else {"text": item}
            if own.get("text") is None:  # the schema refuses it
                continue
            path = (*start, place)
            parts = own["text"], own.get("label", label), own.get("tags")
            where = f"{document.at(*path)}: template {place + 1}"
            if (made := document.attempt(path, Template, *parts, where)) is not None:
                yield made
