"""The lexicons that ship with the package, and those of your own files."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pytest_llmfair._util.keywords import UnknownName, suggestion
from pytest_llmfair.lexicons.fields import shipped_attributes, shipped_fields
from pytest_llmfair.lexicons.lexicon import Lexicon

# Other names of the shipped attributes.
_CALLED = {
    "sex": "gender",
    "ethnicity": "race",
    "race/ethnicity": "race",
    "sexuality": "sexual_orientation",
    "orientation": "sexual_orientation",
    "faith": "religion",
    "country": "nationality",
    "origin": "nationality",
}


def meant_lexicon(name: str, known: Sequence[str]) -> str:
    """Return a hint: the lexicon that was probably meant, or all known ones."""
    folded = name.casefold().replace(" ", "_")
    meant = _CALLED.get(folded, folded)
    return f"did you mean {meant}?" if meant in known else suggestion(name, known)


class Lexicons(Mapping[str, Lexicon]):
    """Lexicons by attribute, in alphabetical order; a file is read at its first use."""

    def __init__(self, extra: Mapping[str, Lexicon] | None = None) -> None:
        self._extra = dict(extra or {})
        self._names = {*shipped_attributes(), *self._extra}

    def __getitem__(self, name: str) -> Lexicon:
        if name not in self:
            raise UnknownName(
                f"no lexicon is called {name!r}; {meant_lexicon(str(name), [*self, 'names'])} "
                "(Lexicon.from_file and Lexicon.from_dict read one of your own)"
            )
        return self._extra.get(name) or _shipped(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._names))

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._names

    def __repr__(self) -> str:
        return f"Lexicons({', '.join(self)})"


@functools.cache
def _shipped(name: str) -> Lexicon:
    return Lexicon(**shipped_fields(name))


def load_lexicons(*files: str | Path) -> Lexicons:
    """Return the lexicons that ship with the package, and those of your own files.

    Parameters
    ----------
    *files : str or Path
        YAML files of your own; one that has the name of a shipped lexicon takes its place.

    Returns
    -------
    Lexicons
        Read-only mapping from attribute to `Lexicon`. Shipped files are read at first use.

    Raises
    ------
    ValueError
        If a file of yours is wrong, which names the file and the entry, or two have one name.

    Examples
    --------
    >>> sorted(load_lexicons())[:3]
    ['age', 'disability', 'gender']
    >>> load_lexicons()["race"].group("African American")
    'black'
    """
    own: dict[str, Lexicon] = {}
    for file in files:
        lexicon = Lexicon.from_file(file)
        if lexicon.name in own:
            raise ValueError(
                f"{file}: a file before it is called {lexicon.name!r} too; give each a name of "
                "its own, or put all entries into one file"
            )
        own[lexicon.name] = lexicon
    return Lexicons(own)
