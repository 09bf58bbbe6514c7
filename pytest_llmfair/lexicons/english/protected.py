"""Parts of a text that name nobody and must not be edited: addresses, code, tags, files."""

from __future__ import annotations

import bisect
import re

from pytest_llmfair.lexicons.english.made_by import works_made_by

# Endings of files; longer ones first, so that none is cut short.
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
# What these hold is code; an element that is not closed is a tag alone.
_ELEMENT_OPENS = re.compile(r"<(code|kbd|samp|script|style)\b[^<>\n]*+>", re.IGNORECASE)
_ELEMENT_CLOSES = re.compile(r"</(code|kbd|samp|script|style)\s*+>", re.IGNORECASE)
# None of these holds a blank.
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
# A value without blanks: 'user.gender = "he"'.
_VALUE = re.compile(r"=\s?(?:\"[^\"\s]+\"|'[^'\s]+')")
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
# Helium and higher education; no lookahead goes further than their next word.
_H = re.compile(r"H[eE]\b")
_ELEMENT = re.compile(
    r"\b(?:of|in|with|contain(?:s|ed|ing)?|into|from|for|under|liquid|gaseous|pure|cold|dry"
    r"|superfluid|residual|ioni[sz]ed|flowing|using|use[sd]?|per) (?:\d\w* )?"
    r"He\b(?! (?:who|whom|that|is|was|has|had)\b)"
    r"|[a-z] He(?= (?:atoms?|gas|nucle(?:i|us)|ions?|isotopes?|plasma|cryostats?|leaks?"
    r"|abundances?|flow|dewars?)\b)"
)
_SECTOR = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|UK|US|EU|of|in|for|our|its) "
    r"HE(?= [a-z]|[.,;:)]|\Z)(?! (?:who|said|is|was|has|had|did)\b)"
    r"|[a-z] \(HE(?=\))"
)
# Mathematics, "$h_e = 1$", "\(he\)": no blanks, or a sign of it between the marks, so that neither
# "$5 and he paid $6" nor the brackets of Markdown ("\[she laughs\]") are taken for it.
_FORMULA = re.compile(
    r"(?<![\\$])\$\$([^$]++)\$\$"
    r"|(?<![\\$\w])\$(?=[^\s$])([^$\n]*+)(?<=[^\s\\])\$(?![\d$])"
    r"|\\\(((?:[^\\]|\\[^()])*+)\\\)"
    r"|\\\[((?:[^\\]|\\[^\[\]])*+)\\\]"
)
_MATHS = re.compile(r"\A\S*\Z|[\\^_={+<>]")
# Commands with what they get, and lines behind a prompt.
_COMMAND = re.compile(
    r"\b(?:(?:pip3?|brew|conda|apt|apt-get|npm|cargo|gem) install|git clone|python3? -m)"
    r"(?: --?\w\S*+){0,9}+ [^\s-]\S*+(?: --?[A-Za-z]\S*+){0,9}+|(?<=\s)--[a-z][a-z-]*+=\S+"
)
_PROMPT = re.compile(r"^[^\S\n]*\$ [A-Za-z.~/].*$", re.MULTILINE)
# The end of a word that is not written out: "f**king".
_VEILED = re.compile(r"(?<![^\W_])[A-Za-z]+\*+[A-Za-z]+")
# Cheap signs that a text may hold one; most texts hold none.
# Single signs stand one by one: a search skips to the first letters of such choices.
_SIGN = re.compile(rf"@|/|\\|`|<|~~~|www\.|{_ENDING}")
_OPENED = re.compile("[`<]")
# Part numbers and tickets: "HE-2210", "44-MAN-7"; not "MAN-child", "UNDER-18".
_NUMBERED = re.compile(r"-\d(?<=[A-Z][A-Z]-\d)")
_PART = re.compile(r"(?<![A-Za-z])(?!(?:UNDER|OVER|AGED?|MID)-)[A-Z]{2,20}-\d[\w-]*")
_RUN = 80


def protected_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans, by their start, that substitution and masking leave alone."""
    dotted = _DOT.search(text) is not None
    marked = "@" in text or "/" in text or "\\" in text or "`" in text or "<" in text
    marked = marked or "~~~" in text
    spans = _marked_spans(text) if marked or dotted or "www." in text else []
    if "=" in text:
        values = [m.span() for m in _VALUE.finditer(text) if _is_assigned(text, m.start())]
        spans = sorted([*spans, *values])
    if "H" in text:
        terms = (m.span() for m in _H.finditer(text, 2) if text[m.start() - 2] not in ".!?:\n")
        named = [span for span in terms if _is_abbreviation(text, *span)]
        spans = sorted([*spans, *named]) if named else spans
    if dotted or ("(" in text and _CALL.search(text)):
        spans = sorted({*spans, *_attributes(text)})
    if "SELECT " in text:
        spans = sorted([*spans, *(match.span() for match in _QUERY.finditer(text))])
    if "$" in text or "\\" in text:
        spans = sorted([*spans, *_formulas(text)])
    if " by " in text and (works := works_made_by(text)):
        spans = sorted([*spans, *works])
    if "-" in text and _NUMBERED.search(text):
        spans = sorted([*spans, *(match.span() for match in _PART.finditer(text))])
    if "*" in text:
        spans = sorted([*spans, *(match.span() for match in _VEILED.finditer(text))])
    if " --" in text or " install " in text or "git clone " in text or " -m " in text:
        spans = sorted([*spans, *(match.span() for match in _COMMAND.finditer(text))])
    return spans


def _formulas(text: str) -> list[tuple[int, int]]:
    """Return mathematics, and lines behind the sign of a prompt, which is one of its marks."""
    found = [
        match.span()
        for match in _FORMULA.finditer(text)
        if _MATHS.search(match[match.lastindex or 0]) is not None
    ]
    return [*found, *(match.span() for match in _PROMPT.finditer(text))]


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


def _is_abbreviation(text: str, start: int, end: int) -> bool:
    """Whether it is helium or higher education, by the words beside it."""
    kind = _SECTOR if text[end - 1] == "E" else _ELEMENT
    return any(match.end() == end for match in kind.finditer(text, max(0, start - 20), end + 14))


def _is_assigned(text: str, sign: int) -> bool:
    """Whether a variable stands before the sign of equality."""
    before = text[max(0, sign - 4) : sign].rstrip("=! ")[-1:]
    return before.isalnum() or before in ("_", "]")


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
    end, blank = 0, -1
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
        if blank < at:  # else it is still the next one
            blank = text.find(" ", at)
            blank = len(text) if blank < 0 else blank
        run = _IN_RUN.match(text, start, blank)
        if run is not None:
            spans.append(run.span(1))
            end = run.end()
        else:
            opened = _OPENED.search(text, at, blank)
            end = blank if opened is None else opened.start()
    return spans
