"""Public names that a room hands on from a room above it, loaded at first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def handed_on(room: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a room whose old public names live elsewhere now.

    `homes` maps a public name to the module that defines it. Nothing is imported before a name is
    used, so a lower room never needs a higher one to load.
    """

    def getattr_of_room(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return getattr_of_room
