"""Whether "man" or "boy" names nobody: "Man what a day", "but boy, did it drag"."""

from __future__ import annotations

import re

_WORDS = ("man", "boy", "dude")
_NEAR = 16
# Behind a mark, a quote that opens or a word that leads on; not behind an apostrophe or a hyphen.
_FREE = re.compile(
    r"(?:\A|\n|[^\w\s'\u2019/-]\s*|(?:\A|[\s(])['\u2018]|\b(?:but|and|so|cause|cuz|because|well|oh|yeah)\s+)\Z",
    re.IGNORECASE,
)
_AND = re.compile(r"\band\s+\Z", re.IGNORECASE)
_GREETED = re.compile(
    r"(?:\A|[^\w\s'\u2019-]\s*|\n\s*)(?:hey|hi|yo|hello|thanks|thanx|thx|thank\syou|nah|nope|yeah|yep|yup"
    r"|ok|okay|sorry|cheers|congrats|damn|dang|wow|ugh|c['\u2019]mon|come\son)\s+\Z",
    re.IGNORECASE,
)
_WHO = "I|it|he|she|xe|we|you|they|this|that|there"
# "boy, did it drag", "boy does the sound clunk", "Man am I glad", "man what a day".
_INVERTED = re.compile(
    r",?\s(?:(?:am|are|is|was|were|isn't|wasn't|ain't|can|could|will|would|have|has|had|did|didn't)"
    rf"\s(?:{_WHO})|(?:do|does|don't|doesn't)\s(?:{_WHO}|the|these|those|my|your|his|her|our|their)"
    r"|what an?)\b"
    r"|,\s(?:is|are|was|were|has|have|had|did)\s(?:the|these|those|my|your|his|her|our|their)\b"
)
# "Man I love this song"; a boy may be spoken to so: "Boy I know you".
_CLAUSE = re.compile(
    r"\s(?:I|we|they|you|it|he|she|xe|this|that|these|those|there|how|what)\b(?!\s(?:and|or)\b)"
)
# A noun phrase goes on: "thanks dude in front of me".
_GOES_ON = re.compile(r"\s(?:in|at|on|of|from|with|behind|near|by|who|whose|that)\b")


def is_outcry(text: str, start: int, end: int) -> bool:
    """Whether it is an exclamation without a comma, or one that its sentence shows.

    "Boy am I glad", "but boy, did it drag", "Man that hurts", "hey man"; not "Boy meets girl".
    """
    word = text[start:end].lower()
    if word not in _WORDS:
        return False
    near = max(0, start - _NEAR)
    if word != "boy" and _GREETED.search(text, near, start):
        return _GOES_ON.match(text, end) is None
    if _FREE.search(text, near, start) is None:
        return False
    if _INVERTED.match(text, end):
        return True
    if word == "boy" or _CLAUSE.match(text, end) is None:
        return False
    return _AND.search(text, near, start) is None
