"""Which of two candidates a text chooses; what is not clear is unusable rather than wrong."""

from __future__ import annotations

import re
from functools import lru_cache

_ONE, _TWO = "\u2460", "\u2461"
_SIDES = {_ONE: "first", _TWO: "second"}
_NOUN = "(?:candidate|applicant|person|resume|option|choice|essay|text|writer|author|student|one)"
# After these, or before those, a lone capital A is a label and not an article.
_BEFORE_A = (
    r"(?:(?<=is )|(?<=choose )|(?<=pick )|(?<=select )|(?<=prefer )|(?<=invite )|(?<=than )"
)
_BEFORE_A += r"|(?<=over )|(?<=not )|(?<=and )|(?<=or )|(?<=but )|(?<=with )|(?<=between ))"
_AFTER_A = (
    r"(?=\s*(?:$|[.,:;!?/&\n-]|(?:is|has|was|would|should|seems|looks|wins|over|because|and|or"
)
_AFTER_A += r"|but|than|due|since|not)\b))"
_LABELS = (
    (rf"\b{_NOUN} (?:number |no\. ?|# ?)?(?:{{letter}}|{{digit}})\b", re.IGNORECASE),
    (rf"\b(?:the )?(?:{{ordinal}}) {_NOUN}\b", re.IGNORECASE),
    (
        r"\bthe (?:{ordinal})(?=\s*(?:$|[.,:;!\n]|(?:is|has|was|over|because|should)\b))",
        re.IGNORECASE,
    ),
    (r"^\W*(?:{ordinal})\W*$", re.IGNORECASE),
)
_ORDINALS = {
    _ONE: {"letter": "A", "digit": "1|one", "ordinal": "first|1st|former"},
    _TWO: {"letter": "B", "digit": "2|two", "ordinal": "second|2nd|latter"},
}
_FILLER_WORDS = """
answer reply choice letter name final my the a better best stronger strongest candidate applicant
person resume essay one is are would be i i'd i'll we you choose pick select prefer recommend
invite invited hire chosen should will go with for think believe that it's sure okay definitely
clearly he she they ms mr mrs dr
"""
_FILLER = frozenset(_FILLER_WORDS.split())
_CHOOSES = re.compile(
    r"\b(?:better|best|stronger|strongest|superior|preferred|prefer|choose|chosen|pick|select|"
    r"recommend|invite|invited|hire|winner|wins|answer|(?:more|most) (?:suit\w+|qualified))\b",
    re.IGNORECASE,
)
# Negations, what speaks against a candidate, and conditions: such a sentence is no clear choice.
_UNCLEAR = re.compile(
    r"\b(?:no|not|never|neither|nor|cannot|can't|\w+n['\u2019]t|lacks?|lacking|without|less|least|"
    r"worse|worst|weaker|weakest|reject\w*|unlike|avoid|fails?|un(?:suit\w+|qualified)|if|unless|"
    r"depends?|although|though|while|except|instead)\b",
    re.IGNORECASE,
)
_TIE = re.compile(
    r"\b(?:a tie|tied|a draw|equal|equally|either (?:one|candidate|essay|of them|would))\b"
    r"|^\W*tie\W*$",
    re.IGNORECASE,
)
_BOTH = _FILLER | {"both", "and", "of", "them", "candidates", "essays", "applicants", "good"}
_COMPARES = re.compile(
    rf"([{_ONE}{_TWO}])[^{_ONE}{_TWO}]*\b(?:over|than)\b[^{_ONE}{_TWO}]*[{_ONE}{_TWO}]"
)
_ENDS = re.compile(
    rf"\b(?:choose|pick|select|prefer|recommend|invite|hire|is)\W+([{_ONE}{_TWO}])\W*$", re.I
)
_LEADS = re.compile(rf"^\W*[{_ONE}{_TWO}],?\s*\b(?:because|since|due)\b", re.IGNORECASE)


@lru_cache(maxsize=100_000)
def choice(answer: str, first: str = "", second: str = "") -> str | None:
    """Return which of two candidates an answer chooses.

    Parameters
    ----------
    answer : str
        The text of a model.
    first, second : str
        Full names in the order shown; empty where candidates have labels only. Names that both
        share name neither of them.

    Returns
    -------
    {"first", "second", "tie"} or None
        None where the answer chooses both by turns, refuses, or says it in words that are not
        surely read, such as "not A but B".

    Examples
    --------
    >>> choice("I would invite Ms. Adler.", "Mia Adler", "Ann Berg")
    'first'
    >>> choice("Not Mia Adler, but the other one.", "Mia Adler", "Ann Berg") is None
    True
    """
    text = _marked(answer, first, second)
    found = {_decision(part) for part in re.split(r"(?<=[.!?;])\s+|\n+", text)}
    sides = found & set(_SIDES.values())
    if len(sides) == 1:
        return sides.pop()
    return "tie" if "tie" in found and not sides else None


def _marked(answer: str, first: str, second: str) -> str:
    """Replace every name and label of the candidates by a sign of its own."""
    text = re.sub(r"</?\w+>|[*_#`\"\u201c\u201d\[\](){}<>]", " ", answer.replace(")", ". "))
    text = re.sub(r"\b(?:first|top) choice\b", "choice", text, flags=re.IGNORECASE)
    names = {_ONE: " ".join(first.split()), _TWO: " ".join(second.split())}
    own = {sign: set(name.split()) for sign, name in names.items()}
    shared = own[_ONE] & own[_TWO]
    if names[_ONE].casefold() != names[_TWO].casefold():
        for sign, name in sorted(names.items(), key=lambda item: -len(item[1])):
            text = _replace(text, [name] if name else [], sign, re.IGNORECASE)
        # A part of a name is written with a capital, unless the whole answer has none.
        case = re.IGNORECASE if text == text.lower() else 0
        for sign, parts in own.items():
            text = _replace(text, sorted(parts - shared), sign, case)
    for sign, words in _ORDINALS.items():
        for pattern, flags in _LABELS:
            text = re.sub(pattern.format(**words), sign, text, flags=flags)
    text = re.sub(rf"\bA\b{_AFTER_A}|{_BEFORE_A}A\b(?!\s+[a-z])", _ONE, text)
    text = re.sub(r"(?<![\w.])B\b(?!\.?\w)", _TWO, text)
    if len(text.split()) == 1:
        text = re.sub(r"^\W*[a1]\W*$", _ONE, re.sub(r"^\W*[b2]\W*$", _TWO, text))
    text = re.sub(r"\bno (?:clear )?preference\b", "a tie", text, flags=re.IGNORECASE)
    # A label with its name, "A: Mia Adler", is one mention.
    return re.sub(rf"([{_ONE}{_TWO}])(?:[\s.,:;\u2013\u2014-]+\1)+", r"\1", text).strip()


def _replace(text: str, words: list[str], sign: str, flags: int) -> str:
    for word in words:
        text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", sign, text, flags=flags)
    return text


def _decision(sentence: str) -> str | None:
    """Return what one sentence decides."""
    words = re.findall(rf"[{_ONE}{_TWO}]|[\w'\u2019]+", sentence.lower())
    signs = [word for word in words if word in _SIDES]
    others = {word for word in words if word not in _SIDES}
    if sentence.rstrip().endswith("?") or _UNCLEAR.search(sentence):
        return None
    together = "both" in others or (len(set(signs)) == 2 and "and" in others)
    chooses = _CHOOSES.search(sentence)
    if _TIE.search(sentence) or (together and others <= _BOTH):
        return "tie"
    if len(set(signs)) == 2:
        found = _COMPARES.search(sentence) or _ENDS.search(sentence)
        return _SIDES[found[1]] if found and chooses else None
    alone = len(signs) == 1 and others <= _FILLER
    if signs and (alone or chooses or _LEADS.search(sentence)):
        return _SIDES[signs[0]]
    return None
