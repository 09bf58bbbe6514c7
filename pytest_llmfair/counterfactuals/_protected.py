"""Parts of a text that name nobody and must not be edited: addresses, code, tags, files."""

from __future__ import annotations

import functools
import re

# Endings of files; longer ones first, so that none is cut short.
_SUFFIXES = (
    *("html", "json", "yaml", "jpeg", "docx", "xlsx", "pptx", "toml", "java", "conf"),
    *("txt", "csv", "tsv", "pdf", "png", "jpg", "gif", "svg", "mp3", "mp4", "wav", "zip", "xml"),
    *("yml", "doc", "xls", "ppt", "log", "sql", "css", "exe", "php", "cfg", "ini", "tex"),
    *("py", "js", "ts", "md", "sh", "rb", "rs", "go", "cpp", "htm"),
)

# Cheap signs that a text may hold a kind of them (most texts hold none), and what the kind is.
_KINDS = (
    (("`",), r"```.*?(?:```|\Z)|`[^`\n]+`"),
    (("<",), r"<[A-Za-z/!][^<>\n]*>"),
    (("://",), r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://\S+"),
    (("www.",), r"\bwww\.\S+"),
    (("@",), r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+|(?<![\w@])@\w+"),
    # Paths: "~/his/notes", "./her.sh", "/home/her/docs", "C:\\her"; not "his/her".
    (("/", "\\"), r"(?<![^\s\"'(\[=])(?:(?:~|\.{1,2})/|/[\w.-]+/|[A-Za-z]:\\)[\w./\\-]*\w"),
)
# The same, for texts with a letter right behind a point.
_POINTED = re.compile(r"\.[a-z]")
_POINTED_KINDS = (
    (
        (".com", ".org", ".net", ".io", ".edu", ".gov", ".co."),
        r"(?<![\w.-])(?:[\w-]+\.)+(?:com|org|net|io|edu|gov|co\.\w\w)\b\S*",
    ),
    (
        tuple(f".{suffix}" for suffix in _SUFFIXES),
        rf"(?<![\w.-])\w[\w-]*+(?:\.[\w-]++)*?\.(?:{'|'.join(_SUFFIXES)})\b(?![\w-])",
    ),
)


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans, in order, that substitution and masking leave alone."""
    possible = (*_KINDS, *_POINTED_KINDS) if _POINTED.search(text) else _KINDS
    kinds = tuple(kind for signs, kind in possible if any(sign in text for sign in signs))
    return [match.span() for match in _pattern(kinds).finditer(text)] if kinds else []


@functools.cache
def _pattern(kinds: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(kinds), re.DOTALL)
