"""Lazy re-exports: public names that load their module at first use."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def lazy_exports(
    room: str, names: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return a room's ``__getattr__``, ``__dir__`` and ``__all__`` for names by their module."""
    homes = {name: f"pytest_llmfair.{home}" for home, own in names.items() for name in own}
    public = sorted(homes)

    def getattr_of_room(name: str) -> Any:
        if name in homes:
            return getattr(importlib.import_module(homes[name]), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return getattr_of_room, lambda: public, public
