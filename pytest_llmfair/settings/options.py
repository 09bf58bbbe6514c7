"""How an option of the plugin is declared. PYTEST_DONT_REWRITE.

Standard library only: the plugin loads this at start-up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar, cast, dataclass_transform

T = TypeVar("T")


class Option:
    """One setting as users write it; as an attribute of settings that have no value, its default.

    Parameters
    ----------
    parse : callable
        Converts text to a value; raises ValueError or KeyError if the text is not legal.
    default : object
        The value where the user gives none; `made` makes one per session.
    legal : str
        The legal values, in words that follow "give" in error messages.
    help : str
        Description, with the default.
    metavar : str
        Placeholder of the value in ``pytest --help``.
    example : str
        A legal text with another value than the default.
    ini_only : bool
        Whether it is no option of the command line.
    switch : bool
        Whether it takes no value on the command line.
    path : str
        What a path is of: "file" or "folder"; "" for other values.
    needs : str
        Name of the option that it is an error to leave out beside it; "" for none.
    reporting : bool
        Whether it changes what is shown or written, and no verdict: a rerun does without it.
    """

    # No dataclass: to make one takes every session time, also one without a fairness test.
    def __init__(
        self,
        parse: Callable[[str], Any],
        default: Any,
        *,
        legal: str,
        help: str,
        metavar: str,
        example: str,
        made: Callable[[], Any] | None = None,
        ini_only: bool = False,
        switch: bool = False,
        path: str = "",
        needs: str = "",
        reporting: bool = False,
    ) -> None:
        self.name = ""
        self.parse = parse
        self.default = default
        self.legal = legal
        self.help = help
        self.metavar = metavar
        self.example = example
        self.made = made
        self.ini_only = ini_only
        self.switch = switch
        self.path = path
        self.needs = needs
        self.reporting = reporting

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else self.default

    @property
    def flag(self) -> str:
        """Name on the command line."""
        return "--" + self.key.replace("_", "-")

    @property
    def key(self) -> str:
        """Name in ini files, and of the parsed option."""
        return f"llmfair_{self.name}"


@dataclass_transform(eq_default=False, frozen_default=True)
class Fields:
    """Read-only values by name; those that are not given have their defaults."""

    # No dataclass either: with so many fields that takes a millisecond.
    def __init__(self, **values: Any) -> None:
        known = type(self).__annotations__
        if unknown := [name for name in values if name not in known]:
            raise TypeError(f"there is no setting {', '.join(unknown)}")
        declared = vars(type(self)).values()
        made = {x.name: x.made() for x in declared if isinstance(x, Option) and x.made}
        self.__dict__.update(made | values)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"settings are read-only; use replaced({name}=...) for a copy")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("settings are read-only; use replaced() for a copy")

    def get(self, name: str, otherwise: T) -> T:
        """Return a value that was given, also one that is the default; else `otherwise`."""
        return cast(T, vars(self).get(name, otherwise))

    def replaced(self, **values: Any) -> Self:
        """Return a copy with other values."""
        return type(self)(**{**vars(self), **values})


def option(parse: Callable[[str], T], default: T, **about: Any) -> T:
    """Declare a field of `Settings` that users can give; see :class:`Option`."""
    return cast(T, Option(parse, default, **about))


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
