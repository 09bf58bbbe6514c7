"""Whether a term is the value of a label: "Race: Black", {"religion": "Hindu"}, a table cell."""

from __future__ import annotations

import bisect
import functools
import itertools
import re

from pytest_llmfair.lexicons.english.context import TOKEN, low
from pytest_llmfair.lexicons.english.words import (
    JOINS,
    WORD,
    bare,
    in_classes,
    is_modifier,
    is_one_of,
    is_person,
)

_SIGNS = (":", "|", "=", "\t", "<", " - ", " \u2013 ", " \u2014 ", "?")
_FOLLOWING = re.compile(rf" ({WORD})")
_FAR = 160  # characters of a line that are looked at
_DASH = re.compile(r"\s[-\u2013\u2014]\s")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)[^<>]*>")
_MARKS = re.compile("[*`\"'\u2018\u2019\u201c\u201d\\[{]|__")
# What precedes an option: "a)", "(1)", "[x]"; list items can have a bullet instead.
_OPTION = r"(?:[(\[]?(?:[A-Za-z]|\d\d?)[).\]]|\[ ?\]|\( ?\))(?=\s)"
_BULLET = r"[-*\u2022\u00b7\u2610-\u2612\u25a1\u25cb\u25cf](?=\s)"
_OPTIONS = re.compile(rf"(?<![^\s:?]){_OPTION}")
_ASKED = re.compile(rf"\?(?=\s*{_OPTION})")
_ITEM = re.compile(rf"\s*(?:{_OPTION}|{_BULLET}|A(?:nswer)?:)")
_ASIDE = re.compile(r"\([^()]*\)")
_LABEL_END = re.compile(r"[:=|\t]")
_VALUE_END = re.compile(r"[:=|\t,;.!?()\]}\n]|\s[/\u00b7\u2022]\s")
_PHRASE_BEGIN = re.compile(r"[:=|\t,;.!?(){}\]]|\s[/\u00b7\u2022]\s")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")


@functools.lru_cache(maxsize=64)  # an ambiguous term is asked about several times in one place
def is_value(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is the whole value of a label or table cell: "Race: Black"."""
    following = _FOLLOWING.match(text, end)
    if following is not None and not (
        _is_next_to(following[1]) or (len(following[1]) == 1 and _OPTIONS.match(text, end + 1))
    ):
        return False  # the usual case, and fast
    near = max(0, start - _FAR)
    line = text[max(near, text.rfind("\n", near, start) + 1) : start]
    if any(map(line.__contains__, _SIGNS)):
        before = _plain(line)
        ends = [match.start() for match in _LABEL_END.finditer(before)]
        lead = before[ends[-1] + 1 :] if ends else before
        stop = text.find("\n", end, end + _FAR)
        trailing = _plain(text[end : stop if stop >= 0 else end + _FAR])
        if ends and _is_whole(lead, trailing):
            label = _ASIDE.sub("", before[: ends[-1]]).rstrip(" |:=\t")
            if _is_label(_PHRASE_BEGIN.split(label)[-1]):
                return True
    return _is_cell(text, start, end) or _is_line(text, start, end)


def _plain(part: str) -> str:
    """Return a part of a line without quotes and emphasis, with marks for tags and dashes."""
    if "<" in part:
        part = _TAG.sub(_mark_for, part)
    if ")" in part or "]" in part or "." in part:
        part = _OPTIONS.sub(";", _ASKED.sub(":", part))
    return _MARKS.sub("", _DASH.sub(":", part))


def _mark_for(tag: re.Match[str]) -> str:
    """Return the purpose of a tag: "" for a style, a cell, or the label of an element."""
    name = tag[2].lower()
    if is_one_of(name, "style_tags"):
        return ""
    if is_one_of(name, "cell_tags"):
        return "|"
    return "|" if tag[1] else f"|{tag[2]}:"


def _is_whole(lead: str, trailing: str) -> bool:
    """Whether the term shares the cell only with modifiers and other values."""
    trail = _VALUE_END.split(trailing, maxsplit=1)[0]
    return all(_is_next_to(word) for word in (*TOKEN.findall(lead), *TOKEN.findall(trail)))


def _is_next_to(word: str) -> bool:
    word = word.lower()
    if word in JOINS or not word[0].isalnum() or is_modifier(word):
        return True
    return in_classes(word, "predicate_adverbs", "person_adjectives")


def _is_label(label: str) -> bool:
    if len(label) > _FAR:
        return False
    words = [low(word) for word in TOKEN.findall(_HUMP.sub(" ", label)) if word[0].isalnum()]
    if words[1:2] == ["of"] and len(words) == 3 and words[0] in ("country", "place", "land"):
        return is_one_of(words[2], "places_of_persons")  # "country of birth"
    if not words:
        return False
    head, kind = words[-1], words[-2] if len(words) > 1 else ""
    if is_one_of(head, "person_labels"):
        # "Relay race", "wine age"
        return not is_one_of(head, "labels_of_things") or not kind or _is_of_person(kind)
    known = is_one_of(kind, "person_labels") or is_one_of(kind, "label_adjectives")
    return known and is_one_of(head, "label_heads")


def _is_of_person(word: str) -> bool:
    known = in_classes(word, "person_labels", "closed", "determiners")
    return known or is_person(bare(word)) or is_modifier(word)


def _is_cell(text: str, start: int, end: int) -> bool:
    """Whether the term fills a cell of a table whose column or row has a label as its head."""
    if text[start - 1 : start] == text[end : end + 1] == '"':
        start, end = start - 1, end + 1
    sign = _delimiter(text, start, end)
    if not sign:
        return False
    begins, rows = _table(text, sign)
    place = bisect.bisect_right(begins, start) - 1
    cells = rows[place]
    starts = [*itertools.accumulate((len(c) + len(sign) for c in cells), initial=begins[place])]
    column = bisect.bisect_right(starts, start) - 1
    begin, stop = starts[column], starts[column] + len(cells[column])
    if stop < end or max(start - begin, stop - end) > _FAR:
        return False
    if not _is_whole(_plain(text[begin:start]), _plain(text[end:stop])):
        return False
    if sign == "|" and _is_label(next(filter(str.strip, cells), "")):
        return True
    while place and len(rows[place - 1]) > 1:
        place -= 1
    head = rows[place]
    same = len(head) == len(cells) and head is not cells
    return same and _is_label(_MARKS.sub("", head[column]).strip())


def _delimiter(text: str, start: int, end: int) -> str:
    """Return the separator of the table's cells around the term; "" outside a table."""
    before, trailing = text[max(0, start - 1) : start], text[end : end + 1]
    for sign in (",", ";", "\t"):
        if {before, trailing} <= {sign, "\n", "\r", ""} and sign in (before, trailing):
            return sign
    return "|" if "|" in text else ""


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether the term fills a line below a label: "## Ethnicity" and then "Asian"."""
    near = max(0, start - _FAR)
    begin = text.rfind("\n", near, start) + 1
    item = _ITEM.match(text, begin, start)
    if not begin or text[item.end() if item else begin : start].strip(" *_"):
        return False
    if text[end : end + _FAR].partition("\n")[0].strip(" *_"):
        return False
    lines = text[max(0, begin - 2 * _FAR) : begin].rstrip().split("\n")
    while item and len(lines) > 1 and (_ITEM.match(lines[-1]) or not lines[-1].strip()):
        lines.pop()
    above = lines[-1].strip()
    asked = item is not None and above.endswith("?")
    headed = asked or above.startswith(("#", "**")) or above.endswith((":", ":**"))
    above = _MARKS.sub("", above.strip("#*:? "))
    return headed and _is_label(_PHRASE_BEGIN.split(above)[-1])


@functools.lru_cache(maxsize=8)
def _table(text: str, sign: str) -> tuple[list[int], list[list[str]]]:
    """Return where each line begins, and its cells."""
    lines = text.split("\n")
    begins = [*itertools.accumulate((len(line) + 1 for line in lines[:-1]), initial=0)]
    return begins, [line.split(sign) for line in lines]
