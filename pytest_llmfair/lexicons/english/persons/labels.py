"""Values of labels that tell of a person: "Race: Black", {"religion": "Hindu"}, a table cell."""

from __future__ import annotations

import functools
import re

from pytest_llmfair.lexicons.english.english import WORD, is_one_of
from pytest_llmfair.lexicons.english.persons.tables import cell_at
from pytest_llmfair.lexicons.english.persons.words import (
    JOINS,
    bare,
    is_modifier,
    is_person,
)

_SIGNS = (":", "|", "=", "\t", "<", " - ", " \u2013 ", " \u2014 ", "?")
_FOLLOWING = re.compile(rf" ({WORD})")
_FAR = 160  # characters of a line that are looked at
_DASH = re.compile(r"\s[-\u2013\u2014]\s")
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)[^<>]*>")
_MARKS = re.compile("[*`\"'\u2018\u2019\u201c\u201d\\[{]|__")
# What stands in front of an option: "a)", "(1)", "[x]"; of an item of a list also a bullet.
_OPTION = r"(?:[(\[]?(?:[A-Za-z]|\d\d?)[).\]]|\[ ?\]|\( ?\))(?=\s)"
_BULLET = r"[-*\u2022\u00b7\u2610-\u2612\u25a1\u25cb\u25cf](?=\s)"
_OPTIONS = re.compile(rf"(?<![^\s:?]){_OPTION}")
_ASKED = re.compile(rf"\?(?=\s*{_OPTION})")
_ITEM = re.compile(rf"\s*(?:{_OPTION}|{_BULLET}|A(?:nswer)?:)")
_ASIDE = re.compile(r"\([^()]*\)")
_LABEL_END = re.compile(r"[:=|\t]")
_VALUE_END = re.compile(r"[:=|\t,;.!?()\]}\n]|\s[/\u00b7\u2022]\s")
_PHRASE_BEGIN = re.compile(r"[:=|\t,;.!?(){}\]]|\s[/\u00b7\u2022]\s")
# What is ticked or put on a form: 'ticked "Black" on the census form', 'put "Asian" in the box'.
_TICKED = re.compile(
    r"\b(?:tick|check|select|enter|mark|circle|click|pick|type)(?:ed|s|d|ing)?\s(?:the\s)?"
    r"[\"'\u2018\u201c]\Z"
    r"|\b(?:puts?|putting|chose|chosen|chooses?|choosing|writes?|wrote|written|writing)\s"
    r"[\"'\u2018\u201c]\Z"
)
_FORM = re.compile(
    r"[\"'\u2019\u201d]\s(?:on|in|into|under|for)\s(?:the|an?|his|her|their|my|your|our|this|every)\s"
    r"((?:[\w-]+\s){0,2})(?:forms?|box|boxes|field|census|survey|questionnaire|application|drop-?down"
    r"|menu|column|section)\b"
)
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_TOKEN = re.compile(rf"{WORD}|[^\w\s]")
_OTHER_LABELS = re.compile(
    r"\b(?:gender|sex|pronouns|occupation|profession|job|race|ethnicity|religion|nationality"
    r"|marital status|education|income|salary|date of birth|patient|diagnosis)"
    r"[\"'*_)]*\s*[:=|]",
    re.IGNORECASE,
)


@functools.lru_cache(maxsize=64)  # an ambiguous term has several contexts in one place
def is_value(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is all that stands behind a label such as "ethnicity".

    Modifiers and joined values may stand beside it ("Race: Black or African American"). In a table
    the label may be the head of the row or of the column.
    """
    following = _FOLLOWING.match(text, end)
    if following is not None and not (
        _is_beside(following[1]) or (len(following[1]) == 1 and _OPTIONS.match(text, end + 1))
    ):
        return False  # the usual case at less cost
    if following is None and _is_ticked(text, start, end):
        return True
    near = max(0, start - _FAR)
    line = text[max(near, text.rfind("\n", near, start) + 1) : start]
    if any(map(line.__contains__, _SIGNS)):
        before = _plain(line)
        ends = [match.start() for match in _LABEL_END.finditer(before)]
        lead = before[ends[-1] + 1 :] if ends else before
        stop = text.find("\n", end, end + _FAR)
        behind = _plain(text[end : stop if stop >= 0 else end + _FAR])
        if ends and _is_whole(lead, behind):
            label = _ASIDE.sub("", before[: ends[-1]]).rstrip(" |:=\t")
            if _is_label(_PHRASE_BEGIN.split(label)[-1], text):
                return True
    return _is_in_brackets(line, text[end : end + _FAR]) or (
        _is_cell(text, start, end) or _is_line(text, start, end)
    )


def _is_in_brackets(before: str, behind: str) -> bool:
    """Whether values are listed behind a label: "racial groups (Asian, Hispanic, White)"."""
    label, bracket, lead = before.rpartition("(")
    trail, closed, _ = behind.partition(")")
    if not (bracket and closed and "," in lead + trail):
        return False
    beside = all(_is_beside(word) for word in _TOKEN.findall(f"{lead} {trail}"))
    return beside and _is_label(_PHRASE_BEGIN.split(label)[-1].strip(), "")


def _is_ticked(text: str, start: int, end: int) -> bool:
    """Whether it is a quoted answer on a form: 'put "Asian" in the ethnicity box'."""
    form = _FORM.match(text, end)
    if form is None or _TICKED.search(text, max(0, start - 20), start) is None:
        return False
    kinds = ("person_labels", "label_adjectives", "forms_of")
    return all(any(is_one_of(word, kind) for kind in kinds) for word in form[1].lower().split())


def _plain(part: str) -> str:
    """Return a part of a line without quotes and emphasis, with marks for tags and dashes."""
    if "<" in part:
        part = _TAG.sub(_mark_for, part)
    if ")" in part or "]" in part or "." in part:
        part = _OPTIONS.sub(";", _ASKED.sub(":", part))
    return _MARKS.sub("", _DASH.sub(":", part))


def _mark_for(tag: re.Match[str]) -> str:
    """Return what a tag says: nothing for a style, a cell, or the label of an element."""
    name = tag[2].lower()
    if is_one_of(name, "style_tags"):
        return ""
    if is_one_of(name, "cell_tags"):
        return "|"
    return "|" if tag[1] else f"|{tag[2]}:"


def _is_whole(lead: str, behind: str) -> bool:
    """Whether beside the term nothing but modifiers and other values stand in the cell."""
    trail = _VALUE_END.split(behind, maxsplit=1)[0]
    return all(_is_beside(word) for word in (*_TOKEN.findall(lead), *_TOKEN.findall(trail)))


def _is_beside(word: str) -> bool:
    word = word.lower()
    if word in JOINS or not word[0].isalnum() or is_modifier(word):
        return True
    return any(is_one_of(word, kind) for kind in ("predicate_adverbs", "person_adjectives"))


def _is_label(label: str, text: str) -> bool:
    if len(label) > _FAR:
        return False
    words = [word.lower() for word in _WORD.findall(_HUMP.sub(" ", label.replace("_", " ")))]
    if "of" in words:  # "country of birth"
        of = words.index("of")
        words = [*words[:of], *words[of + 1 :]]
        if of and words[of:] and is_one_of(words[of - 1], "places_of"):
            return is_one_of(words[-1], "places_of_persons") or _is_about_person(text)
    if not words:
        return False
    head, kind = words[-1], words[-2] if len(words) > 1 else ""
    if is_one_of(head, "person_labels"):
        # "Relay race", "wine age"
        return not is_one_of(head, "labels_of_things") or not kind or _is_of_person(kind)
    if is_one_of(head, "label_heads") and (
        is_one_of(kind, "person_labels") or is_one_of(kind, "label_adjectives")
    ):
        return True
    return is_one_of(head, "weak_labels") and _is_about_person(text)


def _is_of_person(word: str) -> bool:
    known = ("person_labels", "closed", "determiners")
    return (
        any(is_one_of(word, kind) for kind in known) or is_person(bare(word)) or is_modifier(word)
    )


def _is_cell(text: str, start: int, end: int) -> bool:
    """Whether the term fills a cell of a table whose column or row is headed by a label."""
    if text[start - 1 : start] == text[end : end + 1] == '"':
        start, end = start - 1, end + 1
    sign = _delimiter(text, start, end)
    if not sign:
        return False
    cell = cell_at(text, sign, start)
    if cell.stop < end or max(start - cell.begin, cell.stop - end) > _FAR:
        return False
    if not _is_whole(_plain(text[cell.begin : start]), _plain(text[end : cell.stop])):
        return False
    head, cells = cell.row.head, cell.row.cells
    if sign == "|" and _is_label(cell.row.first, text):
        return True
    return len(head) == len(cells) and _is_label(_MARKS.sub("", head[cell.column]).strip(), text)


def _is_line(text: str, start: int, end: int) -> bool:
    """Whether the term fills a line below a label: "## Ethnicity" and then "Asian".

    It may be one of a list: "What is your race?", "a) Black", "b) White".
    """
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
    return headed and _is_label(_PHRASE_BEGIN.split(above)[-1], text)


def _delimiter(text: str, start: int, end: int) -> str:
    """Return what parts the cells of the table that the term is a cell of; "" for no table."""
    before, behind = text[max(0, start - 1) : start], text[end : end + 1]
    for sign in (",", ";", "\t"):
        if {before, behind} <= {sign, "\n", "\r", ""} and sign in (before, behind):
            return sign
    return "|" if _has_bars(text) else ""


# These look through a whole text, which can hold many values.
@functools.lru_cache(maxsize=8)
def _has_bars(text: str) -> bool:
    return "|" in text


@functools.lru_cache(maxsize=8)
def _is_about_person(text: str) -> bool:
    """Whether another label of the text speaks of a person."""
    return _OTHER_LABELS.search(text) is not None
