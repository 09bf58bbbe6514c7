"""Which of two candidates a text chooses; what is not clear is unusable rather than wrong."""

from __future__ import annotations

import re
from functools import lru_cache

_ONE, _TWO = "\u2460", "\u2461"
_SIDES = {_ONE: "first", _TWO: "second"}
_NOUN = "(?:candidate|applicant|person|resume|option|choice|essay|text|writer|author)"
_VERBS = ("is", "choose", "pick", "select", "prefer", "invite", "hire", "recommend")
_BEFORE = "|".join(
    rf"(?<=\b{word} )" for word in (*_VERBS, "than", "over", "not", "and", "or", "but", "with")
)
_AFTER = "is|has|was|would|should|seems|looks|wins|over|because|and|or|but|than|due|since|not"
# How an answer refers to a place; {0} is the letter, {1} the small letter, {2} the number, {3} and
# {4} are words. A lone letter counts only where an article or a degree could not stand.
_REFERENCES = (
    rf"\b(?i:{_NOUN}) (?:number |no\. ?|# ?)?(?:{{0}}|{{2}}|{{1}}(?=\W*(?:$|[.,!?\n])))(?!\w)",
    rf"\b(?i:(?:the )?{{3}} (?:{_NOUN}|one))\b",
    rf"\b(?i:the (?:{{3}}|{{4}}))(?=\s*(?:$|[.,:;!\n]|(?:{_AFTER})\b))",
    r"^\W*(?i:{3}|{4})\W*$",
    rf"(?<![\w.]){{0}}(?=\s*(?:$|[/&{_ONE}{_TWO}]|[.,:;!?\n-](?!\w)|(?:{_AFTER})\b))",
    rf"(?:{_BEFORE}){{0}}\b(?!\.\w|\s+[a-z])",
    r"^\W*(?:{1}|{2})\W*$",
)
_WORDS = {
    _ONE: ("A", "a", "1", "(?:first|1st)", "former"),
    _TWO: ("B", "b", "2", "(?:second|2nd)", "latter"),
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
    rf"\b(?:{'|'.join(_VERBS)})\W+([{_ONE}{_TWO}])\W*$",
    re.IGNORECASE,
)
_LEADS = re.compile(rf"^\W*[{_ONE}{_TWO}],?\s*\b(?:because|since|due)\b", re.IGNORECASE)


@lru_cache(maxsize=100_000)
def choice(answer: str, first: str = "", second: str = "") -> str | None:
    """Return which of two candidates an answer chooses: first, second or tie.

    None where the answer chooses both in turn, refuses, or uses words that cannot be read with
    certainty, such as "not A but B". Names stand in the order shown, and are empty where
    candidates have labels only; names that both share name neither of them.

    Examples
    --------
    >>> choice("I would invite Ms. Adler.", "Mia Adler", "Ann Berg")
    'first'
    >>> choice("Not Mia Adler, but the other one.", "Mia Adler", "Ann Berg") is None
    True
    """
    text = _marked(answer, first, second)
    sentences = re.split(r"(?<=[.!?;])\s+|\n+", text)
    found = {
        _decision(clause)
        for sentence in sentences
        for clause in ([sentence] if _UNCLEAR.search(sentence) else re.split(r",? but ", sentence))
    }
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
    for sign, words in _WORDS.items():
        for pattern in _REFERENCES:
            text = re.sub(pattern.format(*words), sign, text)
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
