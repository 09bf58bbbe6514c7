"""How an option of the plugin is declared. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, field
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")


class Option(NamedTuple):
    """One setting as users write it."""

    # Field of `Settings`, and its value where the user gives none.
    name: str
    default: Any
    # Converts text to a value; raises ValueError or KeyError if the text is not legal.
    parse: Callable[[str], Any]
    # The legal values, in words that follow "give" in error messages.
    legal: str
    # Description, with the default.
    help: str
    # Placeholder of the value in ``pytest --help``.
    metavar: str
    # A legal text with another value than the default.
    example: str
    ini_only: bool = False
    # Whether the option takes no value on the command line.
    switch: bool = False
    # What a path is of: "file" or "folder"; "" for other values.
    path: str = ""
    # Whether it changes what is shown or written, and no verdict: a rerun does without it.
    reporting: bool = False

    @classmethod
    def of(cls, declared: Field[Any]) -> Option:
        """Return the option that a field of `Settings` declares."""
        return cls(declared.name, declared.default, **declared.metadata)

    @property
    def flag(self) -> str:
        """Name on the command line."""
        return "--" + self.key.replace("_", "-")

    @property
    def key(self) -> str:
        """Name in ini files, and of the parsed option."""
        return f"llmfair_{self.name}"


def option(
    parse: Callable[[str], T], default: T, *, made: Callable[[], T] | None = None, **about: object
) -> T:
    """Declare a field of `Settings` that users can give; `made` makes a default per session."""
    about["parse"] = parse
    if made is not None:
        return field(default_factory=made, metadata=about)
    return field(default=default, metadata=about)


def choice(words: tuple[str, ...], help: str, *, default: str = "", **about: Any) -> str:
    """Declare one of some words; the first is the default."""

    def parse(text: str) -> str:
        if text not in words:
            raise ValueError
        return text

    default = default or words[0]
    return option(
        parse,
        default,
        legal=f"one of {', '.join(words)}",
        help=help,
        metavar="|".join(words),
        example=words[0] if default == words[-1] else words[-1],
        **about,
    )


def whole(help: str, *, default: T, least: int = 0, **about: Any) -> int | T:
    """Declare a whole number."""

    def parse(text: str) -> int:
        found = int(text)
        if found < least:
            raise ValueError
        return found

    usual: int | T = default
    legal = f"a whole number of at least {least}"
    return option(
        parse, usual, **{"legal": legal, "help": help, "metavar": "N", "example": "7", **about}
    )


def days(help: str, *, default: T, least: int = 0) -> int | T:
    """Declare a number of days, in ini files only."""
    legal = "a whole number of days"
    return whole(help, default=default, least=least, legal=legal, metavar="DAYS", ini_only=True)


def share(help: str, *, default: float) -> float:
    """Declare a number from 0 to 1, in ini files only."""
    return option(
        number(lambda value: 0.0 <= value <= 1.0),
        default,
        legal=f"a number from 0 to 1, such as {default}",
        help=help,
        metavar="SHARE",
        example="0.2",
        ini_only=True,
    )


def path(
    help: str,
    *,
    legal: str = "the path of a file to write",
    metavar: str = "PATH",
    path: str = "file",
    **about: Any,
) -> str | None:
    """Declare the path of a file, or of a folder."""
    about |= {"legal": legal, "help": help, "metavar": metavar, "path": path}
    found: str | None = option(text, None, example="written", **about)
    return found


def switch(help: str, **about: Any) -> bool:
    """Declare what is on or off; on the command line it takes no value."""
    about |= {"legal": "true or false", "help": help, "metavar": ""}
    return option(yes, False, example="yes", switch=True, **about)


def text(text: str) -> str:
    """Read a text that is not empty."""
    if not text:
        raise ValueError
    return text


def yes(text: str) -> bool:
    """Read yes or no, true or false."""
    return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]


def number(is_legal: Callable[[float], bool]) -> Callable[[str], float]:
    """Return a reader of some numbers."""

    def parse(text: str) -> float:
        found = float(text)
        if not is_legal(found):
            raise ValueError
        return found

    return parse
