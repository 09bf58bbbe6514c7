"""Whole-word search for terms of one or several words, in any script."""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

from pytest_llmfair.text.tokens import CLITICS, FIRST_UNSPACED, UNSPACED, WORD_LINE, fold, is_glue

# Stands for a masked word; tokens() reads it as one word.
MASK = "[MASK]"

# Typographic marks and their ASCII forms. Dashes become ";" because they separate words, while a
# hyphen joins them.
_ASCII_MARKS = (
    *(("\u2018", "'"), ("\u2019", "'"), ("\u201c", '"'), ("\u201d", '"')),
    *(("\u2013", ";"), ("\u2014", ";"), ("\u2026", ";"), ("\u00a0", " ")),
)
_OPENING = "([{"
_GAP = str.maketrans({"\u2019": "'", "\u2010": "-", "\u2011": "-"})

# A piece is a run of letters and digits; in scripts without spaces, one character.
_ASCII_PIECE = re.compile(r"[A-Za-z0-9]+")
_ASCII_PIECES = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() else 0x20 for code in range(128)
) + bytes(128)
_PIECE = re.compile(rf"[{UNSPACED}]\0*|[^ \0{UNSPACED}][^ {UNSPACED}]*")
_NO_ASCII = re.compile(r"[^\0-\x7f]")
# Below one character in so many that is not ASCII, the ASCII path is faster.
_FEW = 8

# The pieces after the first with the gap before each, and the term as listed.
_Term = tuple[tuple[tuple[str, str], ...], str]
# Start, end, and the terms that may begin here.
_Piece = tuple[int, int, list[_Term]]


class _PieceLine(dict[int, int]):
    """Translation of equal length: letters stay, marks and glue become NUL, the rest spaces."""

    def __missing__(self, code: int) -> int:
        char = chr(code)
        value = 0x20
        if is_glue(char) or unicodedata.category(char)[0] == "M":
            value = 0
        elif char.isalnum():
            value = ord(char.lower()) if char.isascii() else code
        self[code] = value
        return value


_PIECE_LINE = _PieceLine()


class Found(NamedTuple):
    """A word found in a text: ``text[start:end]`` reads `word` in some case."""

    start: int
    end: int
    word: str


def find_words(text: str, words: Iterable[str]) -> list[Found]:
    """Find whole words and terms of several words in a text."""
    return _finder(tuple(words)).find(text)


def replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """Return the text with spans replaced; everything between them stays as it is."""
    parts = []
    last = 0
    for start, end, after in changes:
        parts += [text[last:start], after]
        last = end
    return "".join([*parts, text[last:]])


def mask_words(text: str, words: Iterable[str]) -> str:
    """Return the text with :data:`MASK` in place of every word listed."""
    return replaced(text, [(start, end, MASK) for start, end, _ in find_words(text, words)])


class WordFinder:
    """Whole-word search for a fixed list of terms; its speed does not depend on their number.

    A word is never found inside another ("her" in "there"), inside an identifier ("her_name") or
    inside a name with an apostrophe ("O'Brien"). It is found before a clitic ("he" in "he's",
    "girlfriend" in "girlfriend's"). A space inside a term matches any white space, including line
    breaks. Marks at the ends of a term belong to it ("C++", "'em"); if a term with marks and one
    without both match, the one with marks is found.
    """

    def __init__(self, words: Iterable[str], *, elided: bool = False) -> None:
        self._parting = "_" if elided else "'\u2019_"
        # First piece of a term -> second piece ("" for none) -> the other pieces with the gap
        # before each, longest term first.
        heads: dict[str, dict[str, list[_Term]]] = {}
        self._marks: dict[str, tuple[str, str]] = {}
        for word in dict.fromkeys(words):
            pattern, line = _scan(word)
            spans = [match.span() for match in pattern.finditer(line)]
            if not spans:
                raise ValueError(f"the word {word!r} has no letter or digit, so no text holds it")
            rest = tuple(
                (_gap(word[end:start]), _fold_piece(word[start:stop]))
                for (_, end), (start, stop) in itertools.pairwise(spans)
            )
            head = _fold_piece(word[slice(*spans[0])])
            if (marks := _edges(word, spans[0][0], spans[-1][1])) != ("", ""):
                self._marks[word] = marks
            second = rest[0][1] if rest else ""
            heads.setdefault(head, {}).setdefault(second, []).append((rest, word))
        # Terms of one piece come apart, and again after longer terms with the same first piece.
        self._heads: dict[str, tuple[list[_Term], dict[str, list[_Term]]]] = {}
        for head, seconds in heads.items():
            alone = sorted(seconds.pop("", []), key=self._rank)
            for terms in seconds.values():
                terms.sort(key=self._rank)
                terms += alone
            self._heads[head] = alone, seconds

    def find(self, text: str) -> list[Found]:
        """Find the terms in a text."""
        return [Found(*match) for match in self.matches(text)]

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Return the matches as plain tuples; faster than :meth:`find`."""
        if not text.isascii():
            text = _with_ascii_marks(text)
        pattern, line = _scan(text)
        ascii_only = text.isascii()
        pieces = self._ascii_pieces(text) if ascii_only else self._pieces(text, pattern, line)
        found: list[tuple[int, int, str]] = []
        position = 0
        marks = self._marks
        for start, end, terms in pieces:
            if start < position or not (text[start - 1] == " " or self._opens(text, start)):
                continue
            for rest, word in terms:
                stop = _follow(text, line, pattern, end, rest) if rest else end
                if stop and (text[stop : stop + 1] == " " or _closes(text, line, pattern, stop)):
                    if marks and word in marks:
                        around = _with_edges(text, start, stop, marks[word])
                        if around is None or around[0] < position:
                            continue
                        start, stop = around
                    position = stop
                    while not ascii_only and is_glue(text[stop - 1]):
                        stop -= 1  # a joiner after a word stays when the word is replaced
                    found.append((start, stop, word))
                    break
        return found

    def _opens(self, text: str, start: int) -> bool:
        """Return whether a word may begin here: not after ``letter'`` or ``letter_``."""
        parted = start > 1 and text[start - 1] in self._parting
        return not (parted and text[start - 2].isalnum())

    def _rank(self, term: _Term) -> tuple[int, int]:
        """Sort key: terms with more pieces first, then terms with more marks."""
        rest, word = term
        return -len(rest), -sum(map(len, self._marks.get(word, ())))

    def _ascii_pieces(self, text: str) -> list[_Piece]:
        """Return the places in an ASCII text where a term may begin."""
        line = text.encode("ascii").translate(_ASCII_PIECES).decode("ascii")
        words = line.split()
        if self._heads.keys().isdisjoint(words):
            return []  # most texts mention no term
        return self._placed(line, words, words)

    def _pieces(self, text: str, pattern: re.Pattern[str], line: str) -> list[_Piece]:
        """Return the places in a text of any script where a term may begin."""
        known = self._heads
        if "\0" in line or FIRST_UNSPACED.search(line):
            spans = [match.span() for match in pattern.finditer(line)]
            heads = [*(_fold_piece(text[slice(*span)]) for span in spans), ""]
            return [
                (*span, known[head][1].get(following, known[head][0]))
                for span, (head, following) in zip(spans, itertools.pairwise(heads), strict=True)
                if head in known
            ]
        words = line.split()
        heads = [word if word.isascii() else _fold_piece(word) for word in words]
        return self._placed(line, words, heads)

    def _placed(self, line: str, words: list[str], heads: list[str]) -> list[_Piece]:
        """Locate the words of `line` that start a known term."""
        known = self._heads
        places = [*itertools.compress(itertools.count(), map(known.__contains__, heads))]
        line = f" {line} "
        last = len(heads) - 1
        pieces = []
        at = reached = 0
        for place in places:
            alone, longer = known[heads[place]]
            terms = longer.get(heads[place + 1], alone) if longer and place < last else alone
            if not terms:
                continue
            word = words[place]
            # The space added before the line makes the index that of the word itself. Words that
            # begin only longer terms may have been skipped before: step over those.
            if not alone:
                for _ in range(words[reached:place].count(word)):
                    at = line.index(f" {word} ", at) + 1
            at = line.index(f" {word} ", at)
            end = at + len(word)
            pieces.append((at, end, terms))
            at, reached = end, place + 1
        return pieces


@functools.lru_cache(maxsize=64)
def _finder(words: tuple[str, ...]) -> WordFinder:
    return WordFinder(words)


def _scan(text: str) -> tuple[re.Pattern[str], str]:
    """Return a pattern and a line of equal length in which it finds the pieces of the text."""
    if text.isascii():
        return _ASCII_PIECE, text
    others = [match.start() for match in _NO_ASCII.finditer(text)]
    if _FEW * len(others) > len(text):
        return _PIECE, text.translate(_PIECE_LINE)
    # Ten times faster than translating every character when few are not ASCII.
    line = text.encode("ascii", "replace").translate(_ASCII_PIECES).decode("ascii")
    parts = []
    last = 0
    for at in others:
        parts += [line[last:at], chr(_PIECE_LINE[ord(text[at])])]
        last = at + 1
    return _PIECE, "".join([*parts, line[last:]])


def _fold_piece(piece: str) -> str:
    return piece.lower() if piece.isascii() else fold(piece).translate(WORD_LINE)


def _gap(between: str) -> str:
    """Normalise the text between two pieces: one space for white space, one kind of hyphen."""
    if between == " ":
        return between  # the common case, kept fast
    return " ".join(between.translate(_GAP).split()) or (" " if between else "")


def _follow(
    text: str, line: str, pattern: re.Pattern[str], end: int, rest: tuple[tuple[str, str], ...]
) -> int:
    """Return the end of a term whose first piece ends at `end`, or 0 if the rest differs."""
    for gap, word in rest:
        match = pattern.search(line, end)
        if match is None:
            return 0
        start, stop = match.span()
        between, piece = text[end:start], text[start:stop]
        if between != gap and _gap(between) != gap:
            return 0
        if piece != word and _fold_piece(piece) != word:
            return 0
        end = stop
    return end


def _closes(text: str, line: str, pattern: re.Pattern[str], end: int) -> bool:
    """Return whether a word may end here: before a clitic, but not before ``_letter``."""
    if end + 1 >= len(text) or not text[end + 1].isalnum():
        return True
    if text[end] == "_":
        return False
    if text[end] not in "'\u2019":
        return True
    clitic = pattern.search(line, end + 1)
    return clitic is not None and _fold_piece(clitic[0]) in CLITICS


def _edges(word: str, start: int, end: int) -> tuple[str, str]:
    """Return the marks before the first and after the last letter or digit of a term."""
    word = _with_ascii_marks(word)
    sides = (word[:start].lstrip(), word[end:].rstrip())
    lead, trail = ("".join(char for char in side if not is_glue(char)) for side in sides)
    return lead, trail


def _with_edges(text: str, start: int, end: int, marks: tuple[str, str]) -> tuple[int, int] | None:
    """Return the span of a term with its marks, or None if the marks or word ends are missing."""
    lead, trail = marks
    first, last = start - len(lead), end + len(trail)
    if first < 0 or text[first:start] != lead or text[end:last] != trail:
        return None
    before, after = text[max(0, first - 1) : first], text[last : last + 1]
    opens = not lead or lead[0] in _OPENING or not before.isalnum()  # "sales(wo)man"
    return (first, last) if opens and not (trail and after.isalnum()) else None


def _with_ascii_marks(text: str) -> str:
    """Replace common typographic marks by ASCII ones of the same length."""
    for mark, other in _ASCII_MARKS:
        text = text.replace(mark, other)
    return text
