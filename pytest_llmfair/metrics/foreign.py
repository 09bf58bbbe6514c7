"""Names that other libraries and papers use for what is measured here, with their conventions."""

from __future__ import annotations

import functools
import json
import re
import textwrap
from dataclasses import dataclass
from importlib import resources

# For the registry and the rooms above; these are not names of `pytest_llmfair.metrics`.
__all__: list[str] = []


@dataclass(frozen=True, slots=True)
class ForeignName:
    """A name elsewhere, the metric here that is nearest to it, and what differs."""

    tool: str
    name: str
    # None where nothing here measures the same.
    ours: str | None
    note: str

    def __str__(self) -> str:
        where = "in papers" if self.tool == "papers" else f"in {self.tool}"
        return f"{self.name} {where}: {self.note}"

    @property
    def answer(self) -> str:
        """Our name for one of another tool, in a sentence."""
        return f"{'no metric here' if self.ours is None else f'here it is {self.ours}'} ({self})"


@functools.cache
def foreign_names() -> tuple[ForeignName, ...]:
    """Read the table of foreign names."""
    text = (resources.files("pytest_llmfair.metrics") / "foreign_names.json").read_text("utf-8")
    return tuple(ForeignName(**row) for row in json.loads(text)["names"])


def foreign(name: str) -> ForeignName | None:
    """Find a name of another tool, in any case and however it is spaced."""
    return next((each for each in foreign_names() if _plain(each.name) == _plain(name)), None)


def elsewhere(name: str) -> str:
    """Answer for a name of another tool; empty for a name that none uses."""
    known = foreign(name)
    return known.answer if known else ""


def _plain(name: str) -> str:
    return re.sub(r"[\W_]", "", name).casefold()


def with_foreign_names(name: str, text: str | None) -> str | None:
    """Add to a docstring what other tools call the metric."""
    known = [str(each) for each in foreign_names() if each.ours == name]
    if not (known and text):
        return text
    lines = [
        textwrap.fill(f"- {each}.", 90, subsequent_indent="  ", break_on_hyphens=False)
        for each in known
    ]
    section = "\n".join(["Notes", "-----", "Elsewhere:", "", *lines])
    return text.replace("\nExamples\n---", f"\n{section}\n\nExamples\n---", 1)
