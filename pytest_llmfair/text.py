"""Words of a text: tokens, sentences, ROUGE-L, and whole-word search, in any script.

Every part of the package that looks at words does so through this module, so that a word means
the same to masking, matching, co-occurrence and text similarity.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from pytest_llmfair.term_edges import edges, is_glue, with_ascii_marks, with_edges

# Scripts written without blanks: a character (with its marks) is a token, as in the default rules
# of Unicode Annex 29: Thai, Lao, Burmese, Khmer, Hiragana, Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3041-\u309f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
_FIRST_UNSPACED = re.compile("[\u0e00-\U0010ffff]")

# What may follow a word behind an apostrophe without making it another word: he's, she'd, we'll.
CLITICS = frozenset(("s", "d", "ll", "re", "ve", "m"))
_GAP = str.maketrans({"\u2019": "'", "\u2010": "-", "\u2011": "-"})


class _WordLine(dict[int, int | None]):
    """Translation that keeps words, folds apostrophes, drops glue and blanks out the rest."""

    def __missing__(self, code: int) -> int | None:
        char = chr(code)
        value: int | None = 0x20
        if is_glue(char):
            value = None
        elif char.isalnum() or unicodedata.category(char)[0] == "M":
            value = code
        elif char in "'\u2019":
            value = 0x27
        self[code] = value
        return value


class _PieceLine(dict[int, int]):
    """Translation of equal length: letters stay, marks and glue become NUL, the rest blanks.

    ASCII letters become small.
    """

    def __missing__(self, code: int) -> int:
        char = chr(code)
        value = 0x20
        if is_glue(char) or unicodedata.category(char)[0] == "M":
            value = 0
        elif char.isalnum():
            value = ord(char.lower()) if char.isascii() else code
        self[code] = value
        return value


# Both fill themselves with the characters that occur.
_WORD_LINE = _WordLine()
_PIECE_LINE = _PieceLine()
_ASCII_LINE = bytes(_WORD_LINE[ord(chr(code).lower())] or 0x20 for code in range(128)) + bytes(128)
_ASCII_PIECE = re.compile(r"[A-Za-z0-9]+")
_ASCII_PIECES = bytes(
    ord(chr(code).lower()) if chr(code).isalnum() else 0x20 for code in range(128)
) + bytes(128)
_NO_ASCII = re.compile(r"[^\0-\x7f]")
_FEW = 8
_PIECE = re.compile(rf"[{_UNSPACED}]\0*|[^ \0{_UNSPACED}][^ {_UNSPACED}]*")

_SENTENCE_END = re.compile(r"[.!?\u061f\u06d4\u0964]\s+|[\u3002\uff01\uff1f\uff61]\s*")
_ASCII_SENTENCE_END = re.compile(r"[.!?]\s+")  # three times as fast


# Stands for a masked word; tokens() reads it as one word.
MASK = "[MASK]"


_Term = tuple[tuple[tuple[str, str], ...], str]
_Piece = tuple[int, int, list[_Term]]


class Found(NamedTuple):
    """A word found in a text: ``text[start:end]`` reads `word` in some case."""

    start: int
    end: int
    word: str


def tokens(text: str) -> list[str]:
    """Split a text into words, case folded.

    A word is a run of letters, digits and their marks in any script; an apostrophe (straight
    or curly) inside a word stays in it ("isn't" is one token), hyphens, points and underscores
    part words, numbers are words. In scripts written without blanks (Chinese and Japanese
    characters, Thai, Lao, Khmer, Burmese) every character is a token. Symbols and emoji are no
    words. On ASCII text without apostrophes the tokens are those of the ``rouge-score`` package.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Words in order; empty when the text has none.
    """
    if text.isascii():
        line = text.encode("ascii").translate(_ASCII_LINE).decode("ascii")
    else:
        line = _fold(text).translate(_WORD_LINE)
        if _FIRST_UNSPACED.search(line):
            line = _unspaced().sub(r" \g<0> ", line)
    if "'" in line:  # drop those that are not inside a word
        line = line.replace("''", "  ").replace(" '", " ").replace("' ", " ").strip("'")
    return line.split()


def sentences(text: str) -> list[str]:
    """Split a text into sentences.

    A sentence ends at ``.``, ``!`` or ``?`` (or the Arabic, Urdu and Hindi marks) before a blank
    or the end, and at the full-width marks of Chinese and Japanese.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    list of str
        Sentences in order, without the blanks around them; empty for a blank text.
    """
    text = text.strip()
    ends = _ASCII_SENTENCE_END if text.isascii() else _SENTENCE_END
    found = []
    start = 0
    for match in ends.finditer(text):
        found.append(text[start : match.start() + 1])
        start = match.end()
    return [*found, text[start:]] if start < len(text) else found


def rouge_l(tokens_a: Sequence[Hashable], tokens_b: Sequence[Hashable]) -> float:
    """ROUGE-L F1 of two token lists: longest common subsequence (Lin 2004, eq. 2 to 4, beta 1).

    Parameters
    ----------
    tokens_a, tokens_b : sequence of str or of int
        Tokens of either text, as :func:`tokens` gives them, or their numbers.

    Returns
    -------
    float
        In [0, 1]; the same for swapped arguments. Two empty lists are equal (1), one empty list
        scores 0.
    """
    if not tokens_a or not tokens_b:
        return float(len(tokens_a) == len(tokens_b))
    # It compares 64-bit hashes: two of 1,000 distinct words share one with odds of 3e-14. Numbers
    # rule that out; metrics hand them in, which the vocabulary of the run has at no cost.
    common = _common()(tokens_a, tokens_b)
    precision = common / len(tokens_b)
    recall = common / len(tokens_a)
    return 2 * precision * recall / (precision + recall) if common else 0.0


@functools.cache
def _common() -> Callable[[Sequence[Hashable], Sequence[Hashable]], int]:
    from rapidfuzz.distance import LCSseq

    return LCSseq.similarity


def find_words(text: str, words: Iterable[str]) -> list[Found]:
    """Find whole words and terms of several words in a text.

    Parameters
    ----------
    text : str
        Any text, any script.
    words : iterable of str
        Words or terms ("old man"), matched in any case; the longest match wins, matches never
        overlap.

    Returns
    -------
    list of Found
        Start, end (in characters) and the word as listed, in order of the text.

    See Also
    --------
    WordFinder : The same, prepared once for many texts.
    """
    return _finder(tuple(words)).find(text)


def replaced(text: str, changes: Iterable[tuple[int, int, str]]) -> str:
    """Return the text with spans replaced; everything between them stays as it is.

    Parameters
    ----------
    text : str
        Any text.
    changes : iterable of (start, end, replacement)
        Spans in order, without overlap.
    """
    parts = []
    last = 0
    for start, end, after in changes:
        parts += [text[last:start], after]
        last = end
    return "".join([*parts, text[last:]])


def mask_words(text: str, words: Iterable[str]) -> str:
    """Return the text with :data:`MASK` in place of every word listed; see :func:`find_words`."""
    return replaced(text, [(start, end, MASK) for start, end, _ in find_words(text, words)])


class WordFinder:
    """Whole-word search for a fixed list of terms; its speed does not depend on their number.

    A word is never found inside another ("her" in "there"), nor inside an identifier
    ("her_name") or a name with an apostrophe ("O'Brien"); a clitic behind it is left alone ("he"
    is found in "he's", "girlfriend" in "girlfriend's"). Blanks inside a term match any blanks,
    line breaks too. Marks at the ends of a term belong to it ("C++", "'em"), and where a term with
    and one without them fit, the former is found.

    Parameters
    ----------
    words : iterable of str
        Terms, matched in any case.
    elided : bool
        Whether a word may begin behind a letter and an apostrophe, as "ami" does in "l'ami".

    Raises
    ------
    ValueError
        If a term holds no letter or digit; the message names it.
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
            if (marks := edges(word, spans[0][0], spans[-1][1])) != ("", ""):
                self._marks[word] = marks
            second = rest[0][1] if rest else ""
            heads.setdefault(head, {}).setdefault(second, []).append((rest, word))
        # The same, terms of one piece apart; they follow those that begin with both pieces.
        self._heads: dict[str, tuple[list[_Term], dict[str, list[_Term]]]] = {}
        for head, seconds in heads.items():
            alone = sorted(seconds.pop("", []), key=self._rank)
            for terms in seconds.values():
                terms.sort(key=self._rank)
                terms += alone
            self._heads[head] = alone, seconds

    def find(self, text: str) -> list[Found]:
        """Return every match in order; see :func:`find_words`."""
        return [Found(*match) for match in self.matches(text)]

    def matches(self, text: str) -> list[tuple[int, int, str]]:
        """Return what :meth:`find` does as plain tuples, at less cost."""
        if not text.isascii():
            text = with_ascii_marks(text)
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
                        around = with_edges(text, start, stop, marks[word])
                        if around is None or around[0] < position:
                            continue
                        start, stop = around
                    position = stop
                    while not ascii_only and is_glue(text[stop - 1]):
                        stop -= 1  # a joiner behind a word stays when the word goes
                    found.append((start, stop, word))
                    break
        return found

    def _opens(self, text: str, start: int) -> bool:
        """Whether a word may begin here: not behind ``letter'`` or ``letter_``."""
        parted = start > 1 and text[start - 1] in self._parting
        return not (parted and text[start - 2].isalnum())

    def _rank(self, term: _Term) -> tuple[int, int]:
        """Tell which of two terms comes first: that of more pieces, then of more marks."""
        rest, word = term
        return -len(rest), -sum(map(len, self._marks.get(word, ())))

    def _ascii_pieces(self, text: str) -> list[_Piece]:
        """Return where a term may begin: start, end and what may stand there, in order."""
        line = text.encode("ascii").translate(_ASCII_PIECES).decode("ascii")
        words = line.split()
        if self._heads.keys().isdisjoint(words):
            return []  # the usual case at less cost
        return self._placed(line, words, words)

    def _pieces(self, text: str, pattern: re.Pattern[str], line: str) -> list[_Piece]:
        """Do the same for a text of any script."""
        known = self._heads
        if "\0" in line or _FIRST_UNSPACED.search(line):
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
        """Find the words again, of which a line parted by blanks holds those of a known head."""
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
            # The blank before the first letter is not counted.
            if not alone:  # where it began no term, it was passed over
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
    """Pattern and line, as long as the text, that give its runs of letters and digits.

    ASCII letters of a text that is not all ASCII are in lower case.
    """
    if text.isascii():
        return _ASCII_PIECE, text
    others = [match.start() for match in _NO_ASCII.finditer(text)]
    if _FEW * len(others) > len(text):
        return _PIECE, text.translate(_PIECE_LINE)
    # A tenth of the time where few letters are no ASCII.
    line = text.encode("ascii", "replace").translate(_ASCII_PIECES).decode("ascii")
    parts = []
    last = 0
    for at in others:
        parts += [line[last:at], chr(_PIECE_LINE[ord(text[at])])]
        last = at + 1
    return _PIECE, "".join([*parts, line[last:]])


@functools.cache
def _unspaced() -> re.Pattern[str]:
    marks = [c for c in map(chr, range(0xE00, 0x3100)) if unicodedata.category(c)[0] == "M"]
    return re.compile(f"[{_UNSPACED}][{''.join(marks)}]*")


def _fold(text: str) -> str:
    """Fold case; composed and decomposed letters become the same."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _fold_piece(piece: str) -> str:
    return piece.lower() if piece.isascii() else _fold(piece).translate(_WORD_LINE)


def _gap(between: str) -> str:
    """Normalise what stands between two words: blanks are one blank, dashes one dash."""
    if between == " ":
        return between  # the usual case at less cost
    return " ".join(between.translate(_GAP).split()) or (" " if between else "")


def _follow(
    text: str, line: str, pattern: re.Pattern[str], end: int, rest: tuple[tuple[str, str], ...]
) -> int:
    """End of a term whose first piece ends at `end`, or 0 when the text goes on differently."""
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
    """Whether a word may end here: an apostrophe may bring a clitic, an underscore no letter."""
    if end + 1 >= len(text) or not text[end + 1].isalnum():
        return True
    if text[end] == "_":
        return False
    if text[end] not in "'\u2019":
        return True
    clitic = pattern.search(line, end + 1)
    return clitic is not None and _fold_piece(clitic[0]) in CLITICS
