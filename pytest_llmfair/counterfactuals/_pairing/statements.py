"""What a sentence says of its subject and no more: "she was a lesbian", "they are gay men".

With the group left out nothing would be said, so these have no twin by omission.
"""

from __future__ import annotations

import re

_BLANK = r"[^\S\n]+"
_BE = r"(?:am|is|are|was|were|be|been|being|become|becomes|became|remained)"
_APOSTROPHE = "['\u2019]"
_ADVERBS = rf"(?:(?:not|also|still|both|all|just|[a-z]{{2,12}}ly){_BLANK}){{0,2}}"
_ARTICLE = rf"(?:an?{_BLANK})"
# "There is a lesbian" and "why are lesbians" are no statements of that kind.
_SAID = re.compile(
    rf"(?<!\w)(?!(?:there|here|why|how|where|when|and|or|but|if)\b)[^\W\d_]{{1,20}}"
    rf"(?:{_BLANK}(?:{_BE}|(?:is|are|was|were)n{_APOSTROPHE}t){_BLANK}{_ADVERBS}{_ARTICLE}?"
    rf"|{_APOSTROPHE}(?:m|re|ve{_BLANK}been){_BLANK}{_ADVERBS}{_ARTICLE}?"
    rf"|{_APOSTROPHE}s{_BLANK}{_ADVERBS}{_ARTICLE})\Z",
    re.IGNORECASE,
)
_ASKED = re.compile(
    rf"\b(?:am|is|are|was|were){_BLANK}(?:i|you|he|she|they|we){_BLANK}{_ADVERBS}{_ARTICLE}?\Z",
    re.IGNORECASE,
)
_TOLD_AS = re.compile(
    rf"\b(?:out|(?:self-)?identif(?:y|ies|ied|ying)){_BLANK}as{_BLANK}{_ADVERBS}{_ARTICLE}?\Z",
    re.IGNORECASE,
)
# "A lesbian from Ohio" says more.
_MORE = re.compile(
    rf"[-\w]|{_APOSTROPHE}s?\b|,?{_BLANK}(?:who|whose|that|which|with|from|of|in|at|on|by|for"
    r"|[a-z]{2,12}ing)\b"
)
_PERSON = re.compile(rf"{_BLANK}(?:wo)?(?:man|men)\b|{_BLANK}(?:person|people|guy|guys)\b")
_FAR = 60


def is_all_said(text: str, start: int, end: int, *, noun: bool) -> bool:
    """Whether a mention, from `start` to `end`, is all that is said of a subject.

    After one that is no `noun` a word such as "man" must stand.
    """
    if not noun:
        person = _PERSON.match(text, end)
        if person is None:
            return False  # the usual case
        end = person.end()
    front = text[max(0, start - _FAR) : start]
    patterns = (_SAID, _ASKED, _TOLD_AS)
    return not _MORE.match(text, end) and any(pattern.search(front) for pattern in patterns)
