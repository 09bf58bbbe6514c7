"""Dataclasses whose fields cannot be assigned a second time."""

from __future__ import annotations

import copy
from dataclasses import FrozenInstanceError
from typing import Any, ClassVar, Self

_DERIVED = ("reasons", "notes", "invalid", "undefined", "lacks")


class Sealed:
    """Mixin of dataclasses: each field is assigned once.

    Not ``frozen=True``: a dataclass of a user could then inherit only if it is frozen too.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def __setattr__(self, name: str, value: object) -> None:
        self._refuse_change(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._refuse_change(name)
        object.__delattr__(self, name)

    def _refuse_change(self, name: str) -> None:
        if name in _DERIVED and isinstance(getattr(type(self), name), property):
            raise FrozenInstanceError(
                f"{name!r} of a {type(self).__name__} follows from its findings; make a copy with "
                "estimate.with_findings(Finding(...))"
            )
        # Caches of subclasses are not fields, and may change.
        if name in self.__dict__ and name in self.__dataclass_fields__:
            raise FrozenInstanceError(
                f"cannot assign {name!r} of a {type(self).__name__}; make a copy with "
                f"dataclasses.replace(estimate, {name}=...), or in __post_init__ use "
                f"object.__setattr__(self, {name!r}, ...)"
            )

    def _changed(self, **changes: object) -> Self:
        # Not dataclasses.replace: a subclass may have an __init__ of its own.
        other = copy.copy(self)
        for name, value in changes.items():
            object.__setattr__(other, name, value)
        return other
