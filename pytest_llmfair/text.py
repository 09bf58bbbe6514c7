"""Words of a text: tokens, sentences, ROUGE-L, and whole-word search, in any script.

Every part of the package that looks at words does so through this module, so that a word means
the same to masking, matching, co-occurrence and text similarity.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

# Scripts written without blanks: a character (with its marks) is a token, as in the default rules
# of Unicode Annex 29: Thai, Lao, Burmese, Khmer, Hiragana, Han.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005\u3007\u3041-\u309f"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
)
_JOINERS = "\u200c\u200d"

# Letters and digits survive in lower case, the apostrophe for clitics; the rest parts words.
_KEEP = bytes(
    ord(chr(code).lower()) if code < 128 and (chr(code).isalnum() or code == 0x27) else 0x20
    for code in range(256)
)
_LOOSE_APOSTROPHE = re.compile(r"(?<![a-z0-9])'+|'+(?![a-z0-9])")
_ASCII_PIECE = re.compile(r"[A-Za-z0-9]+")
_SENTENCE_END = re.compile(r"(?<=[.!?\u061f\u06d4\u0964])\s+|(?<=[\u3002\uff01\uff1f\uff61])\s*")

# What may follow a word behind an apostrophe without making it another word: he's, she'd, we'll.
_CLITICS = frozenset(("s", "d", "ll", "re", "ve", "m"))
_GAP = str.maketrans({"\u2019": "'", "\u2010": "-", "\u2011": "-"})


class Found(NamedTuple):
    """A word found in a text: ``text[start:end]`` reads `word` in some case."""

    start: int
    end: int
    word: str


def tokens(text: str) -> list[str]:
    """Split a text into words, case folded.

    A word is a run of letters, digits and their marks in any script; an apostrophe (``'`` or
    ``’``) inside a word stays in it ("isn't" is one token), hyphens, points and underscores part
    words, numbers are words. In scripts written without blanks (Chinese and Japanese characters,
    Thai, Lao, Khmer, Burmese) every character is a token. Symbols and emoji are no words.
    On ASCII text without apostrophes the tokens are those of the ``rouge-score`` package.

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
        line = text.encode("ascii").translate(_KEEP).decode("ascii")
        return (_LOOSE_APOSTROPHE.sub(" ", line) if "'" in line else line).split()
    folded = _fold(text).replace("\u2019", "'")
    found: list[str] = _patterns()[1].findall(folded)
    return found


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
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def rouge_l(tokens_a: Sequence[str], tokens_b: Sequence[str]) -> float:
    """ROUGE-L F1 of two token lists: longest common subsequence (Lin 2004, section 3.1).

    Parameters
    ----------
    tokens_a, tokens_b : sequence of str
        Tokens of either text, as :func:`tokens` gives them.

    Returns
    -------
    float
        In [0, 1]; the same for swapped arguments. Two empty lists are equal (1), one empty list
        scores 0.
    """
    if not tokens_a or not tokens_b:
        return float(len(tokens_a) == len(tokens_b))
    from rapidfuzz.distance import LCSseq

    # rapidfuzz compares hashes; numbering the distinct tokens makes the comparison exact.
    distinct = dict.fromkeys(itertools.chain(tokens_a, tokens_b))
    number = dict(zip(distinct, range(len(distinct)), strict=True)).__getitem__
    common = LCSseq.similarity(list(map(number, tokens_a)), list(map(number, tokens_b)))
    precision = common / len(tokens_b)
    recall = common / len(tokens_a)
    return 2 * precision * recall / (precision + recall) if common else 0.0


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


class WordFinder:
    """Whole-word search for a fixed list of terms; its speed does not depend on their number.

    A word is never found inside another ("her" in "there"), nor inside an identifier
    ("her_name") or a name with an apostrophe ("O'Brien"); a clitic behind it is left alone ("he"
    is found in "he's", "girlfriend" in "girlfriend's"). Blanks inside a term match any blanks,
    line breaks too.

    Parameters
    ----------
    words : iterable of str
        Terms, matched in any case.

    Raises
    ------
    ValueError
        If a term holds no letter or digit; the message names it.
    """

    def __init__(self, words: Iterable[str]) -> None:
        # First piece of a term -> its other pieces with the gap before each, longest term first.
        self._heads: dict[str, list[tuple[tuple[tuple[str, str], ...], str]]] = {}
        for word in dict.fromkeys(words):
            pieces = [(match.start(), match.end()) for match in _pieces(word)]
            if not pieces:
                raise ValueError(f"the word {word!r} has no letter or digit, so no text holds it")
            rest = tuple(
                (_gap(word[end:start]), _fold(word[start:stop]))
                for (_, end), (start, stop) in itertools.pairwise(pieces)
            )
            head = _fold(word[slice(*pieces[0])])
            self._heads.setdefault(head, []).append((rest, word))
        for terms in self._heads.values():
            terms.sort(key=lambda term: -len(term[0]))

    def find(self, text: str) -> list[Found]:
        """Return every match in order; see :func:`find_words`."""
        heads = self._heads
        found: list[Found] = []
        position = 0
        for match in _pieces(text):
            terms = heads.get(_fold(match[0]))
            if terms is None or match.start() < position or not _opens(text, match.start()):
                continue
            for rest, word in terms:
                end = _follow(text, match.end(), rest)
                if end and _closes(text, end):
                    found.append(Found(match.start(), end, word))
                    position = end
                    break
        return found


@functools.lru_cache(maxsize=64)
def _finder(words: tuple[str, ...]) -> WordFinder:
    return WordFinder(words)


def _pieces(text: str) -> Iterable[re.Match[str]]:
    """Give the runs of letters and digits: tokens whose clitics are pieces of their own."""
    return (_ASCII_PIECE if text.isascii() else _patterns()[0]).finditer(text)


@functools.cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Pieces and tokens of any script; made at the first text that is not plain ASCII."""
    marks = "".join(
        char
        for char in map(chr, itertools.chain(range(0x300, 0x20000), range(0xE0100, 0xE01F0)))
        if unicodedata.category(char).startswith("M")
    )
    single = rf"[{_UNSPACED}][{marks}]*+"
    word = rf"(?:[^\W_{_UNSPACED}]++[{marks}{_JOINERS}]*+)++"
    return re.compile(f"{single}|{word}"), re.compile(f"{single}|{word}(?:'{word})*+")


def _fold(text: str) -> str:
    """Fold case; composed and decomposed letters become the same."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFC", text.casefold())


def _gap(between: str) -> str:
    return " ".join(between.translate(_GAP).split()) or ("" if not between else " ")


def _follow(text: str, end: int, rest: tuple[tuple[str, str], ...]) -> int:
    """End of a term whose first piece ends at `end`, or 0 when the text goes on differently."""
    for gap, word in rest:
        match = next(iter(_pieces_from(text, end)), None)
        if match is None or _gap(text[end : match.start()]) != gap or _fold(match[0]) != word:
            return 0
        end = match.end()
    return end


def _pieces_from(text: str, start: int) -> Iterable[re.Match[str]]:
    return (_ASCII_PIECE if text.isascii() else _patterns()[0]).finditer(text, start)


def _opens(text: str, start: int) -> bool:
    """Whether a word may begin here: not behind ``letter'`` or ``letter_``."""
    return not (start > 1 and text[start - 1] in "'\u2019_" and text[start - 2].isalnum())


def _closes(text: str, end: int) -> bool:
    """Whether a word may end here: an apostrophe may bring a clitic, an underscore no letter."""
    if end + 1 >= len(text) or not text[end + 1].isalnum():
        return True
    if text[end] == "_":
        return False
    if text[end] not in "'\u2019":
        return True
    clitic = next(iter(_pieces_from(text, end + 1)))
    return _fold(clitic[0]) in _CLITICS
