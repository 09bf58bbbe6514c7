"""Template syntax: literal text, slots with capitals and articles, and tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pytest_llmfair.lexicons.english.agreement import article_before, article_for
from pytest_llmfair.lexicons.english.words import is_adjective, is_one_of
from pytest_llmfair.lexicons.intersections import NOUN, PEOPLE

PERSON = "person"

_BRACE = re.compile(r"\{\{|\}\}|\{[^{}]*\}|[{}]")
_SLOT = re.compile(r"\{(?:([aA]):)?([^\W\d]\w*)\}")
_ALMOST = re.compile(r"\{\s*(?:[aA]\s*:)?\s*([^\W\d]\w*)\s*(?:[:!][^{}]*)?\}")
_ARTICLE = re.compile(r"(?:an?|the)(?:\s*:|\s)\s*", re.IGNORECASE)
_OWN_ARTICLE = re.compile(r"(?:an?|the|some)\s", re.IGNORECASE)
_LAST_WORDS = re.compile(r"(?:([^\W\d_]+)[^\S\n]+)?([^\W\d_]+)[^\S\n]+\Z")
_NEAR = 60  # what decides an article is nearer
_ALSO_ALONE = ("that", "her")  # "I know that {person} lied", "told her {person} had left"
_POSSESSIVE = re.compile(r"\A(['\u2019])s\b")
_OPENING = "\"'\u2018\u201c(*_"
_ATTRIBUTIVE = re.compile(r"\s+([^\W_]+)")
# A word with its inner marks, a possessive 's on its own, or one mark.
_TOKEN = re.compile(
    r"['\u2019][sS]\b|[^\W_]+(?:(?!['\u2019][sS]\b)[-'\u2019.&/][^\W_]+)*|[^\w\s]|_+"
)


class SlotError(ValueError):
    """A brace that is neither a slot nor doubled."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A place to fill."""

    name: str  # with a small first letter
    article: str = ""  # "a" or "A" where the fitting article is written before the fill
    capital: bool = False


Piece = str | Slot


class Part(NamedTuple):
    """A stretch of a filled template."""

    text: str
    piece: int  # its place in the pieces of the template
    slot: str = ""  # "" for literal text, and for an article and the space after it


def parse(text: str) -> tuple[Piece, ...]:
    """Split a template into literal text and slots."""
    pieces: list[Piece] = []
    literal: list[str] = []
    at = 0
    for match in _BRACE.finditer(text):
        literal.append(text[at : match.start()])
        at = match.end()
        if match[0] in ("{{", "}}"):
            literal.append(match[0][0])
            continue
        slot = _SLOT.fullmatch(match[0])
        if slot is None:
            line = text.count("\n", 0, match.start()) + 1
            raise SlotError(f"line {line}: {_wrong(match[0], text[match.start() :])}")
        if before := "".join(literal):
            pieces.append(before)
        literal.clear()
        name = _name(slot[2])
        pieces.append(Slot(name, slot[1] or "", name != slot[2]))
    if rest := "".join([*literal, text[at:]]):
        pieces.append(rest)
    return tuple(pieces)


def slot_names(text: str) -> list[str]:
    """Return the names of what looks like a slot in any text, except in doubled braces."""
    found = (_SLOT.fullmatch(match[0]) for match in _BRACE.finditer(text))
    return [_name(slot[2]) for slot in found if slot is not None]


def almost_slots(text: str) -> list[tuple[str, str]]:
    """Return near-slots ("{ Person }", "{person:>10}"), each with the intended name."""
    braces = (match[0] for match in _BRACE.finditer(text))
    found = ((brace, _ALMOST.fullmatch(brace)) for brace in braces if not _SLOT.fullmatch(brace))
    return [(brace, _name(slot[1])) for brace, slot in found if slot is not None]


def _name(written: str) -> str:
    return written[0].lower() + written[1:]


def as_written(name: str) -> str:
    """Return a slot's name as the template writes it: "PERSON" for "pERSON"."""
    return name.upper() if name[1:].isupper() else name


def _wrong(brace: str, following: str) -> str:
    if len(brace) == 1:
        shown = following[:20].split("\n")[0]
        return (
            f"the brace of {shown!r} has no partner; a slot is {{name}}, and a brace of the text "
            "itself is doubled: {{ or }}"
        )
    plain = _ARTICLE.sub("", brace[1:-1].strip())
    name = re.sub(r"\W+", "_", plain).strip("_")
    name = name if name[:1].isalpha() else "name"
    return (
        f"{brace!r} is not a slot; write {{{name}}}, {{a:{name}}} with its article, or "
        "{{ and }} for braces of the text itself"
    )


def render(pieces: Sequence[Piece], fills: Mapping[str, str]) -> list[Part]:
    """Fill the slots; the same pieces always give the same number of parts, some empty."""
    parts: list[Part] = []  # from the last to the first
    for place in range(len(pieces) - 1, -1, -1):
        piece = pieces[place]
        if isinstance(piece, str):
            parts.append(Part(_with_article(piece, _text_after(parts)), place))
            continue
        slot = piece
        if slot.name == PERSON and PERSON not in fills:
            slot = Slot(NOUN, "A" if slot.capital or slot.article == "A" else "a")
        fill = fills[slot.name]
        own = _OWN_ARTICLE.match(fill)
        if (slot.article or own) and place and _is_determined(pieces[place - 1]):
            slot = Slot(slot.name, "", slot.capital)
            fill = fill[own.end() :] if own else fill
        if slot.capital or (own and slot.article == "A"):
            fill = capitalized(fill)
        if not fill:
            _close_gap(parts, capital=slot.capital)
        if slot.name == PEOPLE and parts and fill.endswith("s"):  # "Muslims'"
            parts[-1] = parts[-1]._replace(text=_POSSESSIVE.sub(r"\1", parts[-1].text, count=1))
        parts.append(Part(fill, place, slot.name))
        if slot.article:
            article = "" if own else article_for(_text_after(parts).lstrip(_OPENING))
            parts.append(Part(" " if article else "", place))
            parts.append(Part(capitalized(article) if slot.article == "A" else article, place))
    return parts[::-1]


def _text_after(parts: Sequence[Part]) -> str:
    """Return the beginning of parts that are listed from last to first."""
    text = ""
    for part in reversed(parts):
        text += part.text
        if len(text) > _NEAR:
            break
    return text


def _with_article(piece: str, following: str) -> str:
    """Return literal text whose last article fits what follows: "an {occupation}"."""
    article = article_before(piece, len(piece)) if following else None
    if article is None:
        return piece
    fitting = article_for(following.lstrip(_OPENING))
    if article[1].lower() == fitting:
        return piece
    written = capitalized(fitting) if article[1][0].isupper() else fitting
    if article[1].isupper() and len(article[1]) > 1:
        written = fitting.upper()
    return f"{piece[: article.start(1)]}{written}{piece[article.end(1) :]}"


def _is_determined(piece: Piece) -> bool:
    """Whether the text before leaves no place for an article: "the", "my old"."""
    last = _LAST_WORDS.search(piece) if isinstance(piece, str) else None
    if last is None:
        return False
    word, earlier = last[2].lower(), (last[1] or "").lower()
    return _determines(word) or (_determines(earlier) and is_adjective(word))


def _determines(word: str) -> bool:
    return is_one_of(word, "determiners") and word not in _ALSO_ALONE


def text_of(parts: Iterable[Part]) -> str:
    """Return the text of parts."""
    return "".join(part.text for part in parts)


def _close_gap(parts: list[Part], *, capital: bool) -> None:
    """Remove the spaces after an empty fill, and capitalise the next word if asked."""
    for place in range(len(parts) - 1, -1, -1):
        text = parts[place].text.lstrip()
        parts[place] = parts[place]._replace(text=capitalized(text) if capital else text)
        if text:
            break


def capitalized(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].title() + text[1:]


def is_attributive(pieces: Sequence[Piece], name: str) -> bool:
    """Whether every slot of a name comes before the noun that it describes, so it may be empty."""
    for piece, following in zip(pieces, [*pieces[1:], ""], strict=True):
        if not isinstance(piece, Slot) or piece.name != name:
            continue
        if isinstance(following, Slot):
            return False
        word = _ATTRIBUTIVE.match(following)
        blank_then_slot = following.isspace() and pieces[-1] != following
        if not blank_then_slot and (word is None or is_one_of(word[1].lower(), "closed")):
            return False
    return True


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text: words with inner marks, a possessive 's, punctuation."""
    return _TOKEN.findall(text)


def template_tokens(pieces: Iterable[Piece]) -> Iterator[tuple[int, str]]:
    """Yield the tokens of a template, each with its piece; a slot is one token."""
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            yield from ((place, token) for token in tokens_of(piece))
        else:
            yield place, f"{{{piece.name}}}"
