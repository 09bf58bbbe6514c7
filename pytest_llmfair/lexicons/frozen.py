"""Immutable data that compare by value and can be pickled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NoReturn


class FrozenDict(dict[Any, Any]):
    """A read-only dict that can be pickled."""

    def _refuse(self, *given: object, **keywords: object) -> NoReturn:
        raise TypeError(
            "the data of a lexicon cannot be changed, for every test shares them; extend it: "
            "Lexicon.from_dict({'extends': 'gender', ...})"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class ByValue:
    """Mixin of frozen dataclasses: frozen mappings, equality by value, no caches in pickles."""

    def __post_init__(self) -> None:
        freeze(self)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and self.__getstate__() == other.__getstate__()

    def __hash__(self) -> int:
        return hash((type(self), getattr(self, "name", "")))

    def __getstate__(self) -> dict[str, Any]:
        # Caches are keyed by object identity, which is meaningless in another process.
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]


def freeze(data: Any) -> None:
    """Make the mappings of a frozen dataclass read-only."""
    for each in fields(data):
        value = getattr(data, each.name)
        if isinstance(value, Mapping) and not isinstance(value, FrozenDict):
            object.__setattr__(data, each.name, FrozenDict(value))
