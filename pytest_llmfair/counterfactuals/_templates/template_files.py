"""Template files: every error names the file and the line."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, overload

from pytest_llmfair.counterfactuals._lexicons.entries import date_in
from pytest_llmfair.counterfactuals._lexicons.fields import text_in
from pytest_llmfair.counterfactuals._lexicons.loading import (
    at_line,
    kind_of,
    load_lexicons,
    load_yaml,
    meant_lexicon,
    suggestion,
)
from pytest_llmfair.counterfactuals._templates.group_terms import NAME
from pytest_llmfair.counterfactuals._templates.template import Template
from pytest_llmfair.files import read_utf8

_TEXTS = ("name", "attribute", "language", "version", "source", "licence", "limits", "reviewed")
_KEYS = (*_TEXTS, "fillers", "templates", "shared")
_PARTS = ("text", "label", "tags")
_FOLDER = "templates"
_SHARED = "shared"


@dataclass(frozen=True, slots=True)
class TemplateSet(Sequence[Template]):
    """The templates of a file.

    Attributes
    ----------
    templates : tuple of Template
        In the order of the file.
    name : str
        What the set is called.
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
    (a list, or a text split at blanks); or a mapping of gold label to such a list. It may hold
    `attribute`, `fillers` as :func:`fill_templates` takes them, ``shared: true`` for the thirty
    templates of the package that suit any attribute of people, and `name`, `language`, `version`,
    `source`, `licence`, `limits` and `reviewed`.

    Raises
    ------
    ValueError
        If the file is wrong; the message names the file and the line.
    OSError
        If the file cannot be read.
    """
    return _read(load_yaml(read_utf8(Path(path)), str(path)), str(path))


@functools.cache
def template_set(name: str) -> TemplateSet:
    """Return a set of templates that ships with the package.

    Parameters
    ----------
    name : str
        An attribute (gender, race, religion, age, disability, sexual_orientation, nationality,
        name): 60 templates of which 20 each are labelled "positive", "neutral" and "negative"; or
        "country": templates with token tags for sequence labelling.

    Raises
    ------
    ValueError
        If there is none; the nearest names are suggested.
    """
    folder = resources.files("pytest_llmfair.counterfactuals") / _FOLDER
    known = sorted(
        entry.name.removesuffix(".yaml")
        for entry in folder.iterdir()
        if entry.name.endswith(".yaml") and entry.name != f"{_SHARED}.yaml"
    )
    if name not in known:
        hint = suggestion(str(name), known)
        if name != str(name):
            hint = f"a set is about one attribute: {', '.join(known)}"
        raise ValueError(
            f"no template set is called {name!r}; {hint} (load_templates reads yours)"
        )
    file = folder / f"{name}.yaml"
    return _read(load_yaml(file.read_text(encoding="utf-8"), file.name), file.name)


def _read(data: Any, source: str) -> TemplateSet:
    if not isinstance(data, Mapping):
        raise ValueError(f"{source} holds a {kind_of(data)}; give a mapping with 'templates'")
    for key in data:
        if key not in _KEYS:
            where = at_line(source, data, key)
            raise ValueError(f"{where}: unknown key {key!r}; {suggestion(str(key), _KEYS)}")
    fillers = data.get("fillers") or {}
    if not isinstance(fillers, Mapping):
        raise ValueError(
            f"{at_line(source, data, 'fillers')}: fillers is a {kind_of(fillers)}; give a "
            "mapping of slot to a list of texts"
        )
    templates = list(_templates(data, source))
    if data.get("shared"):
        folder = resources.files("pytest_llmfair.counterfactuals") / _FOLDER
        file = folder / f"{_SHARED}.yaml"
        templates += _templates(load_yaml(file.read_text(encoding="utf-8"), file.name), file.name)
    if not templates:
        raise ValueError(f"{source} has no templates; give at least one under 'templates'")
    texts = {
        key: text_in(data[key], f"{at_line(source, data, key)}: {key}")
        for key in _TEXTS
        if data.get(key) not in (None, "")
    }
    date_in(data.get("reviewed"), at_line(source, data, "reviewed"))
    attribute = texts.get("attribute", NAME)
    if attribute != NAME and attribute not in load_lexicons():
        raise ValueError(
            f"{at_line(source, data, 'attribute')}: attribute {attribute!r} is no lexicon that "
            f"ships with the package; {meant_lexicon(attribute, list(load_lexicons()))} (for one "
            "of your own leave it out, and give attribute=... with the templates)"
        )
    return TemplateSet(tuple(templates), fillers=dict(fillers), **texts)


def _templates(data: Mapping[str, Any], source: str) -> Iterator[Template]:
    given = data.get("templates") or []
    if not isinstance(given, Mapping):
        yield from _listed(given, None, source, at_line(source, data, "templates"))
        return
    for label, own in given.items():
        yield from _listed(own, label, source, f"{at_line(source, given, label)}, label {label!r}")


def _listed(given: Any, label: Hashable, source: str, start: str) -> Iterator[Template]:
    if not isinstance(given, list):
        raise ValueError(f"{start}: templates is a {kind_of(given)}; give a list")
    for place, item in enumerate(given):
        where = f"{at_line(source, given, place)}: template {place + 1}"
        own = item if isinstance(item, Mapping) else {"text": item}
        for key in own:
            if key not in _PARTS:
                raise ValueError(f"{where}: unknown key {key!r}; {suggestion(str(key), _PARTS)}")
        tags = own.get("tags")
        if tags is not None and not isinstance(tags, (str, list)):
            raise ValueError(f"{where}: tags is {tags!r}; give a list, or a text with blanks")
        yield Template(own.get("text", ""), own.get("label", label), tags, where)
