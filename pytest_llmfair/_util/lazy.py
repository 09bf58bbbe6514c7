"""Lazy re-exports: public names that load their module at first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any


def lazy_exports(room: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's ``__getattr__`` for names by the module that defines them."""

    def getattr_of_room(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return getattr_of_room
