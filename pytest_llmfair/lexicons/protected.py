"""Parts of a text that are not English prose: addresses, code, tags, files, other languages."""

from __future__ import annotations

import bisect
import functools
import re

from pytest_llmfair.lexicons.english.words import is_one_of, words_of

# File name endings, longer ones first: the pattern takes the first that matches.
_SUFFIXES = (
    *("html", "json", "yaml", "jpeg", "docx", "xlsx", "pptx", "toml", "java", "conf"),
    *("txt", "csv", "tsv", "pdf", "png", "jpg", "gif", "svg", "mp3", "mp4", "wav", "zip", "xml"),
    *("yml", "doc", "xls", "ppt", "log", "sql", "css", "exe", "php", "cfg", "ini", "tex"),
    *("py", "js", "ts", "md", "sh", "rb", "rs", "go", "cpp", "htm"),
)

_ENDING = rf"\.(?:com|org|net|io|edu|gov|co\.|{'|'.join(_SUFFIXES)})"
# Quotes as TeX writes them are no code: "``fine'' ... ``mine''", "the `Wired' film of `him'".
_QUOTED = r"[^\W\d_][^`'\n]*(?:(?<=\w)'\w[^`'\n]*)*(?<=[\w.,!?])'(?=[\s.,;:!?)]|\Z)"
_CODE = (
    r"```.*?(?:```|\Z)|``(?:(?!``|'')[^\n])+``|(?<!`)`(?!`)(?!" + _QUOTED + r")[^`\n]+`",
    r"<[A-Za-z/!][^<>\n]*>",
    r"(?:(?<=\n)|\A)~~~[^\n]*\n(?:.*?\n~~~|.*\Z)",
)
# Their content is code; without an end tag only the tag itself is skipped.
_ELEMENT_OPENS = re.compile(r"<(code|kbd|samp|script|style)\b[^<>\n]*+>", re.IGNORECASE)
_ELEMENT_CLOSES = re.compile(r"</(code|kbd|samp|script|style)\s*+>", re.IGNORECASE)
# Addresses and names in code; none contains a space.
_RUNS = (
    r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]*+://\S+",
    r"\bwww\.\S+",
    r"(?<![\w.+-])[\w.+-]++@[\w-]+(?:\.[\w-]+)+|(?<![\w@])@\w+",
    r"(?<![\w.-])(?:[\w-]+\.)+(?:com|org|net|io|edu|gov|co\.\w\w)\b\S*",
    # Paths: "~/his/notes", "./her.sh", "/home/her/docs", "C:\\her"; not "his/her".
    r"(?<![^\s\"'(\[=])(?:(?:~|\.{1,2})/|/[\w.-]+/|[A-Za-z]:\\)[\w./\\-]*\w",
    rf"(?<![\w.-])\w[\w-]*+(?:\.[\w-]++)*?\.(?:{'|'.join(_SUFFIXES)})\b(?![\w-])",
)
_IN_CODE = re.compile("|".join(_CODE), re.DOTALL)
_IN_RUN = re.compile(rf"[^`<]*?({'|'.join(_RUNS)})")  # code is looked for first
# A value without spaces: 'user.gender = "he"'.
_VALUE = re.compile(r"(?<=[\w\]=!])\s?=\s?(?:\"[^\"\s]+\"|'[^'\s]+')")
# A query up to its semicolon, else its clauses.
_CLAUSE = (
    r"\s(?:WHERE|AND|OR|ORDER|GROUP|BY|LIMIT|JOIN|ON|HAVING)\b[^\S\n]?\S*(?:\s?[<>=!]+\s?\S+)?"
)
_QUERY = re.compile(
    rf"SELECT\s(?=[^;\n]{{0,200}}[a-z*])[^;\n]{{1,200}}?\sFROM\s[^\s;]+"
    rf"(?:[^;.\n]{{0,400}};|(?:{_CLAUSE})*)"
)
# Attributes and calls outside quotes: "print(he.name)", "self.he"; not "e.g.", "she left.he fell".
_DOTTED = r"[a-z_]\w*(?:\.[a-z_]\w*)+"
_ATTRIBUTE = re.compile(
    rf"(?<=\(){_DOTTED}|(?:(?<==)|(?<==\s)){_DOTTED}|\b(?:self|this|cls)\.\w+"
    rf"|(?<![\w.]){_DOTTED}(?=\s?=|[()\[\]])"
    r"|(?<![\w.])[a-z_]\w*\((?:her|him|his|he|she)\b"
)
_DOT = re.compile(r"\.[a-z]")
_CALL = re.compile(r"\((?:h|she)")
# Mathematics, "$h_e = 1$", "\(he\)": without spaces, or with a sign of it inside, so that neither
# "$5 and he paid $6" nor the brackets of Markdown ("\[she laughs\]") are mistaken for it.
_FORMULA = re.compile(
    r"(?<![\\$])\$\$([^$]++)\$\$"
    r"|(?<![\\$\w])\$(?=[^\s$])([^$\n]*+)(?<=[^\s\\])\$(?![\d$])"
    r"|\\\(((?:[^\\]|\\[^()])*+)\\\)"
    r"|\\\[((?:[^\\]|\\[^\[\]])*+)\\\]"
)
_MATHS = re.compile(r"\A\S*\Z|[\\^_={+<>]")
# Shell commands with their arguments, and lines after a prompt.
_COMMAND = re.compile(
    r"\b(?:(?:pip3?|brew|conda|apt|apt-get|npm|cargo|gem) install|git clone|python3? -m)"
    r"(?: --?\w\S*+){0,9}+ [^\s-]\S*+(?: --?[A-Za-z]\S*+){0,9}+|(?<=\s)--[a-z][a-z-]*+=\S+"
)
_PROMPT = re.compile(r"^[^\S\n]*\$ [A-Za-z.~/].*$", re.MULTILINE)
# The end of a word that is not written out: "f**king".
_VEILED = re.compile(r"(?<![^\W_])[A-Za-z]+\*+[A-Za-z]+")
# A quick test: a text without these characters contains no protected part.
# Single signs stand one by one: a search skips to the first letters of such choices.
_SIGN = re.compile(rf"@|/|\\|`|<|~~~|www\.|{_ENDING}")
_OPENED = re.compile("[`<]")
_SECTOR = re.compile(r"\b(?:UK|US|EU) HE\b|\(HE\)")  # higher education
# Part numbers and tickets: "HE-2210", "44-MAN-7"; not "MAN-child", "UNDER-18".
_PART = re.compile(r"(?<![A-Za-z])(?!(?:UNDER|OVER|AGED?|MID)-)[A-Z]{2,20}-\d[\w-]*")
_RUN = 80
# Every match of a pattern contains one of these signs.
_SIMPLE = (
    (("=",), _VALUE),
    (("SELECT ",), _QUERY),
    (("-",), _PART),
    (("*",), _VEILED),
    (("HE",), _SECTOR),
    (("$",), _PROMPT),
    ((" --", " install ", "git clone ", " -m "), _COMMAND),
)
# A line break as JSON writes it, inside JSON too. A tab, except the commands of TeX ("\\text").
_ESCAPE = re.compile(r"(?:\\{1,4}r)?\\{1,4}n|\\{1,4}t(?=[A-Z])")
_ENTITY = re.compile(r"&(?:nbsp|ensp|emsp|thinsp|#160|#xa0);|\{\{nbsp\}\}", re.IGNORECASE)
# Each of these words identifies English; none exists in the other languages.
_ENGLISH = (" the ", " and ", " that ", " with ", " you ", " for ", " were ", " she ", " his ")


@functools.lru_cache(maxsize=8)  # it looks through a whole text, which can hold many terms
def with_spaces(text: str) -> str:
    """Return a text of the same length with spaces for escaped line breaks and "&nbsp;"."""
    if "\\" in text:
        text = _ESCAPE.sub(lambda e: ("\n" if e[0][-1] == "n" else "").rjust(len(e[0])), text)
    if "&" in text or "{{" in text:
        text = _ENTITY.sub(lambda found: " " * len(found[0]), text)
    return text


def is_foreign(text: str) -> bool:
    """Whether a text holds two small words of another language and no sign of English."""
    if any(map(text.__contains__, _ENGLISH)):
        return False
    return len(words_of("of_other_languages").intersection(text.lower().split())) > 1


def looks_english(word: str) -> bool:
    """Whether a word means something else in another language: "son", "her", "man"."""
    return is_one_of(word.lower(), "homographs")


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans, by their start, that substitution and masking leave alone."""
    dotted = _DOT.search(text) is not None
    marked = dotted or "www." in text or "~~~" in text or any(map(text.__contains__, "@/\\`<"))
    spans = _marked_spans(text) if marked else []
    if dotted or ("(" in text and _CALL.search(text)):
        spans += _attributes(text)
    if "$" in text or "\\" in text:
        spans += (
            match.span()
            for match in _FORMULA.finditer(text)
            if _MATHS.search(match[match.lastindex or 0]) is not None
        )
    for signs, pattern in _SIMPLE:
        if any(map(text.__contains__, signs)):
            spans += (match.span() for match in pattern.finditer(text))
    return sorted({*spans})


def _attributes(text: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for sign in (*_DOT.finditer(text), *_CALL.finditer(text)):
        at = sign.start()
        if found and found[-1][0] <= at < found[-1][1]:
            continue
        # The run of letters and marks around it, no longer than code is.
        first, last = max(0, at - _RUN), at + _RUN
        begin, stop = text.rfind(" ", first, at), text.find(" ", at, last)
        begin = begin + 1 if begin >= 0 else first
        run = _ATTRIBUTE.search(text, begin, stop + 2 if stop >= 0 else last)
        if run is not None and run.start() <= at < run.end():
            found.append(run.span())
    return found


def _code_elements(text: str) -> dict[int, int]:
    """Return where elements of HTML that hold code begin and end."""
    closes: dict[str, list[tuple[int, int]]] = {}
    for tag in _ELEMENT_CLOSES.finditer(text):
        closes.setdefault(tag[1].lower(), []).append(tag.span())
    elements = {}
    for tag in _ELEMENT_OPENS.finditer(text) if closes else ():
        ends = closes.get(tag[1].lower(), [])
        place = bisect.bisect_left(ends, (tag.end(), 0))
        if place < len(ends):
            elements[tag.start()] = ends[place][1]
    return elements


def _marked_spans(text: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    end, space = 0, -1
    elements = _code_elements(text) if "</" in text else {}
    while sign := _SIGN.search(text, end):
        at = sign.start()
        if text[at] in "`<" or sign[0] == "~~~":
            if (stop := elements.get(at)) is not None:
                spans.append((at, stop))
                end = stop
                continue
            code = _IN_CODE.match(text, at)
            if code is not None:
                spans.append(code.span())
            end = at + 1 if code is None else code.end()
            continue
        start = max(end, text.rfind(" ", end, at))
        if space < at:  # else it is still the next one
            space = text.find(" ", at)
            space = len(text) if space < 0 else space
        run = _IN_RUN.match(text, start, space)
        if run is not None:
            spans.append(run.span(1))
            end = run.end()
        else:
            opened = _OPENED.search(text, at, space)
            end = space if opened is None else opened.start()
    return spans
