"""Scorers by name, and from specifications such as ``hf:FOLDER?label=negative``."""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pytest_llmfair._util.keywords import UnknownName
from pytest_llmfair.replies import FACTS
from pytest_llmfair.scorers.facts import FactScorer

_MAKERS: dict[str, Callable[[], Any]] = {}
_SOURCES: dict[str, ModelKind] = {}
Maker = TypeVar("Maker", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model that a specification can name, such as ``hf:FOLDER_OR_ID?label=LABEL``."""

    forms: tuple[str, ...]
    # Names that may follow as a query.
    options: tuple[str, ...]
    # Takes the specification, its target and its options, and returns a scorer.
    load: Callable[[str, str, Mapping[str, str]], Any]


def scorer(*names: str) -> Callable[[Maker], Maker]:
    """Register a scorer under its name.

    A new scorer is one file in this folder whose class has this decorator::

        @scorer("exclamations")
        class ExclamationScorer:
            name, range = "exclamations", (0.0, float("inf"))

            def __call__(self, texts: Sequence[str]) -> Scores:
                return score(lambda rows: [text.count("!") for text in rows], texts)

    Parameters
    ----------
    *names : str
        What the scorer is called in ``scorer=...`` and :func:`load_scorers`. A class with several
        names is made once for each, with the keyword `name`; any other without arguments.

    Examples
    --------
    >>> from pytest_llmfair.scorers import LengthScorer, scorer
    >>> scorer("length")(LengthScorer) is LengthScorer  # as in the file of this scorer
    True
    """

    def registered(maker: Maker) -> Maker:
        for name in names:
            _MAKERS[name] = functools.partial(maker, name=name) if len(names) > 1 else maker
        return maker

    return registered


def source(kind: str, *forms: str, options: tuple[str, ...]) -> Callable[[Maker], Maker]:
    """Register a function that loads the models of a kind; see :class:`ModelKind`."""

    def registered(load: Maker) -> Maker:
        _SOURCES[kind] = ModelKind(forms, options, load)
        return load

    return registered


@functools.cache
def _load_all() -> None:
    """Import every module of this folder, so that its decorators run."""
    for module in pkgutil.iter_modules([str(Path(__file__).parent)]):
        importlib.import_module(f"{__package__}.{module.name}")


def _forms() -> str:
    *first, last = (form for kind in sorted(_SOURCES) for form in _SOURCES[kind].forms)
    return f"{', '.join(first)} or {last}"


class Scorers(Mapping[str, Any]):
    """Scorers by name, made at first use; those with a model load it when they first score.

    A specification is a name too: ``scorers["hf:models/regard?label=negative"]``.

    Examples
    --------
    >>> scorers = load_scorers()
    >>> "sentiment" in scorers, len(scorers) >= 8
    (True, True)
    """

    def __init__(self, makers: Mapping[str, Callable[[], Any]]) -> None:
        self._makers = dict(makers)
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = self._maker(name)()
        return self._made[name]

    def check(self, name: str) -> None:
        """Raise ``UnknownName`` or ``ValueError`` for a wrong name, without loading a model.

        Examples
        --------
        >>> load_scorers().check("hf:FOLDER?label=negative")
        """
        self._maker(name)
        if name not in self._makers and not name.startswith(FACTS):
            _parsed(name)

    def _maker(self, name: str) -> Callable[[], Any]:
        if name in self._makers:
            return self._makers[name]
        if isinstance(name, str) and name.startswith(FACTS) and name != FACTS:
            return functools.partial(FactScorer, name)
        if isinstance(name, str) and name.partition(":")[0] in _SOURCES and ":" in name:
            return functools.partial(_specified, name)
        keyword = name if isinstance(name, str) and name.isidentifier() else "name"
        near = difflib.get_close_matches(str(name), list(self._makers), n=1)
        hint = f"did you mean {near[0]!r}" if near else f"scorers: {', '.join(self)}"
        raise UnknownName(
            f"no scorer is called {name!r}; {hint}; or name a model ({_forms()}) or a fact of "
            "answers (facts.NAME), or bring your own, a callable from texts to scores: pass it "
            f"as scorer=..., or override the `scorers` fixture with load_scorers({keyword}=...)"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._makers))

    def __len__(self) -> int:
        return len(self._makers)

    def __contains__(self, name: object) -> bool:
        return name in self._makers

    def __repr__(self) -> str:
        return f"Scorers({', '.join(self)})"


def load_scorers(**own: Any) -> Scorers:
    """Return the scorers by name.

    Parameters
    ----------
    **own : Scorer
        Scorers of your own, or a configured one in place of a shipped one:
        ``load_scorers(toxicity=ToxicityScorer.from_pretrained("models/toxicity"))``. A text is a
        specification: ``load_scorers(stereotype="hf:models/stereotype?label=stereotype")``.

    Returns
    -------
    Scorers
        Read-only mapping: "sentiment" (VADER), "refusal" (rules), "length" (words), "tokens" and
        "characters"; then
        "toxicity", "stereotype", "regard" and "embedding", which need weights that you name; with
        your own. A specification is a name too: ``detoxify:original`` (also "unbiased",
        "multilingual", a checkpoint or a folder), ``hf:FOLDER_OR_ID?label=LABEL``,
        ``sentence-transformers:FOLDER_OR_ID``. What is not on this machine is fetched only for a
        specification that names it.

    Raises
    ------
    TypeError
        If a scorer of your own is neither callable nor a specification.

    Examples
    --------
    >>> scorers = load_scorers(shouting=lambda texts: [float(t.isupper()) for t in texts])
    >>> scorers["shouting"](["HELP", "hello"])
    [1.0, 0.0]
    >>> scorers["length"](["Please help me", ""])
    array([3., 0.])
    """
    _load_all()
    makers = dict(_MAKERS)
    for name, given in own.items():
        if isinstance(given, str):
            makers[name] = functools.partial(_specified, given)
        elif callable(given):
            makers[name] = functools.partial(_same, given)
        else:
            raise TypeError(
                f"scorer {name} is {given!r}; give a callable from texts to scores, or {_forms()}"
            )
    return Scorers(makers)


def _same(given: Any) -> Any:
    return given


def _specified(spec: str) -> Any:
    """Load the model that a specification names."""
    kind, target, options = _parsed(spec)
    return _SOURCES[kind].load(spec, target, options)


def _parsed(spec: str) -> tuple[str, str, dict[str, str]]:
    body, _, query = spec.partition("?")
    kind, _, target = body.partition(":")
    if kind not in _SOURCES or not target:
        raise ValueError(f"scorer {spec!r} is not a specification; write {_forms()}")
    try:
        options = dict(parse_qsl(query, strict_parsing=bool(query)))
    except ValueError:
        raise ValueError(
            f"scorer {spec!r}: cannot read {query!r}; write options as ?name=value&name=value"
        ) from None
    for name in options:
        if name not in _SOURCES[kind].options:
            raise ValueError(
                f"scorer {spec!r} has no option {name!r}; its options are "
                f"{', '.join(_SOURCES[kind].options)}"
            )
    return kind, target, options
