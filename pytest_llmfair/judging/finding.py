"""Stand-in until the package has its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """Something a result has to say besides its numbers."""

    code: str
    text: str = ""
    kind: Literal["note", "flag", "invalid"] = "flag"
