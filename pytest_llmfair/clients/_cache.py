"""Keys and values that grow in place: transformers copies all of them at every token."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

# Tokens by which the room grows.
_STEP = 32


def give_room(cache: Any) -> None:
    """Let the plain layers of a transformers cache grow in place.

    Other kinds of layers (sliding windows, versions of transformers without layers) stay as they
    are: slower, and equally right.
    """
    layers = _layers()
    if layers is None:
        return
    plain, roomy = layers
    for layer in getattr(cache, "layers", ()):
        if type(layer) is plain:
            layer.__class__ = roomy


@functools.cache
def _layers() -> tuple[type, type] | None:
    try:
        from transformers.cache_utils import DynamicLayer
    except ImportError:
        return None

    class RoomyLayer(DynamicLayer):  # type: ignore[no-untyped-call, unused-ignore]
        """A layer whose keys and values are the first part of larger tensors."""

        rooms: tuple[Tensor, Tensor] | None = None

        def update(
            self, key_states: Tensor, value_states: Tensor, *args: Any, **kwargs: Any
        ) -> tuple[Tensor, Tensor]:
            held: Any = (self.keys, self.values)
            keys, values = held
            rooms = self.rooms or held
            keys, key_room = _append(keys, key_states, rooms[0])
            values, value_room = _append(values, value_states, rooms[1])
            self.keys, self.values, self.rooms = keys, values, (key_room, value_room)
            return keys, values

    return DynamicLayer, RoomyLayer


def _append(old: Tensor, new: Tensor, room: Tensor) -> tuple[Tensor, Tensor]:
    """Put `new` behind `old`; return both together and the room they lie in."""
    start = old.shape[-2]
    end = start + new.shape[-2]
    # Rows that were selected since lie elsewhere.
    if old.data_ptr() != room.data_ptr() or room.shape[-2] < end:
        room = old.new_empty((*old.shape[:-2], end + _STEP, old.shape[-1]))
        room[..., :start, :] = old
    room[..., start:end, :] = new
    return room[..., :end, :], room
