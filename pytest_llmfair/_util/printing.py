"""Prints texts of others: nothing in them controls a terminal or the log of a CI service."""

from __future__ import annotations

import re
import sys
from typing import Any

# Escape sequences, carriage returns, and characters that reverse the order of a line. The word
# joiner is allowed: our Markdown uses it to keep mentions and addresses apart.
_UNSEEN = re.compile(r"[^\n\t -~\u2060]")
# GitHub takes a line that begins with "::" as a command, and "##[" anywhere in a line; other
# services have words between these signs.
_COMMAND = re.compile(r"(?m)^[^\S\n]*:(?=:)|#(?=#\w*\[)")


def printable(text: str) -> str:
    """Return a text with control characters and signs of CI commands escaped as in JSON."""
    shown = _UNSEEN.sub(lambda found: _visible(found[0]), text)
    return _COMMAND.sub(lambda found: found[0][:-1] + _escaped(found[0][-1]), shown)


def say(text: str) -> None:
    """Write a text to standard output."""
    sys.stdout.write(printable(text))


def say_line(reporter: Any, text: str, **markup: bool) -> None:
    """Write lines to the terminal of a pytest session."""
    reporter.write_line(printable(text), **markup)


def _visible(character: str) -> str:
    kept = character.isprintable() or character == "\xa0"
    return character if kept else _escaped(character)


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
