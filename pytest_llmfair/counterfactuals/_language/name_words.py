"""What a word spelled like a name is: a verb, a place, a firm, or somebody else's name.

Every rule looks at the words around the name only, as those of ``persons.py`` do; the classes are
those of ``grammar/en_names.yaml``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from pytest_llmfair.counterfactuals._language.english import is_one_of
from pytest_llmfair.counterfactuals._language.person_words import is_person, is_verb
from pytest_llmfair.counterfactuals._language.usage import is_place as is_street

_HYPHENS = "-\u2010\u2011"
_WORD = r"[^\W\d_][\w'\u2019-]*"
_FOLLOWING = re.compile(rf"[^\S\n]+({_WORD}|\d)")
_IN_FRONT = re.compile(rf"({_WORD})\.?[^\S\n]+\Z")
_WORDS = re.compile(rf"{_WORD}|[^\w\s]")
_SENTENCE_END = re.compile(r"(?:\A|[.!?:\n][\"')\u201d\u2019]*)[\s\"'(\u201c\u2018*_#>-]*\Z")
_NUMERAL = re.compile(r"[^\S\n]+(?:I[IVX]+|[VX][IVX]*)\b")
_EPITHET = re.compile(r"[^\S\n]+the[^\S\n]+([A-Z]\w+)")
_CAPITALS = re.compile(rf"(?:[^\S\n]+(?=[^\W\d_])(?![a-z]){_WORD}\.?)+")
_REGION = re.compile(rf",[^\S\n]+({_WORD})(?=([^\S\n]+(?:and|or|&)\b|,)?)")
_POSTAL = re.compile(r",[^\S\n]+[A-Z]{2}\b")
_BEHIND_TOWN = re.compile(r"\b[Ii]n[^\S\n]+[A-Z][\w'\u2019-]+(?:[^\S\n]+[A-Z]\w+)?,[^\S\n]+\Z")
_LABEL = re.compile(r"(\w+)[\"'*]*[^\S\n]*[:=|][^\S\n]*[\"'*]*\Z")
_POSSESSIVE = re.compile(r"['\u2019](?:s\b)?")
_STOPS = re.compile(r"\s*(?:[.,;:!?)\]\"\u201d]|\Z|\n)")
_LOCATIVES = ("in", "at", "on", "the", "near", "through", "along", "via", "around", "outside")
_NEAR = 60


def is_of_class(word: str, kind: str) -> bool:
    """Whether a lower-case word belongs to a class of the words about names, such as "given"."""
    return word in _classes()[kind]


def phrases_with(names: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases that hold one of the names and mean somebody or something else."""
    listed = _classes()["phrases"]
    return tuple(dict.fromkeys(p for name in names for p in listed.get(name.casefold(), ())))


def is_ordinary_word(text: str, start: int, end: int) -> bool:
    """Whether the word, though spelled like a name, is a verb, a noun or a month here."""
    word = text[start:end].lower()
    if not is_of_class(word, "words"):
        return False
    if text[start].islower():
        return True
    following = _following(text, end)
    before = _in_front(text, start).lower()
    if following.isdigit() or text[max(0, start - _NEAR) : start].rstrip()[-1:].isdigit():
        return True
    if is_of_class(before, "before_months"):
        return is_of_class(word, "months")
    if before in ("the", "this", "these"):
        return not is_of_class(following.lower(), "families")
    if _SENTENCE_END.search(text, max(0, start - _NEAR), start) is None:
        return False
    if following[:1].isupper() and not following.isupper():
        return word in ("will", "may") and _is_asked(text, end)
    return _begins_sentence(text, word, end)


def is_something_else(text: str, start: int, end: int) -> bool:
    """Whether a place, an institution or a ruler bears the name here, and no ordinary person."""
    if text[start].islower():
        return False
    before = _in_front(text, start)
    if before[:1].isupper() and is_of_class(before.lower(), "before_others"):
        return True
    if _NUMERAL.match(text, end):
        return True
    epithet = _EPITHET.match(text, end)
    if epithet is not None and is_of_class(epithet[1].lower(), "epithets"):
        return True
    if _names_institution(text, end):
        return True
    if before.lower() in _LOCATIVES and is_street(text, end):
        return True
    return is_of_class(text[start:end].lower(), "places") and _is_place(text, start, end)


def is_joined(text: str, start: int, end: int) -> bool:
    """Whether a hyphen makes it a part of another name: "John-Paul"; not "a John-style beard"."""
    before = re.search(rf"(\w+)[{_HYPHENS}]\Z", text[max(0, start - _NEAR) : start])
    behind = re.match(rf"[{_HYPHENS}](\w+)", text[end : end + _NEAR])
    return (before is not None and not is_of_class(before[1], "prefixes")) or (
        behind is not None and not is_of_class(behind[1], "suffixes")
    )


def _begins_sentence(text: str, word: str, end: int) -> bool:
    """Whether a sentence begins with it as a verb or a noun: "Mark the date", "Art books"."""
    behind = [low.lower().replace("\u2019", "'") for low in _line_behind(text, end)]
    following, third = behind[0], behind[1]
    if is_of_class(following, "openers"):
        return True
    if is_of_class(following, "particles"):
        return is_of_class(word, "verbs")
    if not following.isalpha() or not text[end].isspace():
        return False
    if is_one_of(following, "closed") or is_one_of(following, "modals"):
        return False
    if is_of_class(following, "behind_name") or is_of_class(following, "irregular_pasts"):
        return False
    past = len(following) > 4 and following.endswith("ed") and not following.endswith("eed")
    if past or following.endswith(("ly", "ing")):
        return False
    if not following.endswith("s") or following.endswith(("ss", "us")):
        return True
    if is_of_class(third, "plural_forms") or is_one_of(third, "modals"):
        return True
    return not is_verb(following, third) and _is_plural_verb(third)


def _is_plural_verb(word: str) -> bool:
    """Whether a noun in the plural can be the subject of the word: "gardens need"."""
    return is_of_class(word, "irregular_pasts") or (
        word.isalpha() and not word.endswith(("s", "ly")) and is_verb(word, "", bare=True)
    )


def _is_asked(text: str, end: int) -> bool:
    """Whether "Will" or "May" asks about the name behind it: "Will Anna come?"."""
    names = _CAPITALS.match(text, end)
    if names is None:
        return False
    following = names[0].split()[0].lower()
    verb = _following(text, names.end())
    if verb:
        past = verb.endswith(("s", "ed")) or is_of_class(verb, "irregular_pasts")
        bare = verb in ("be", "have", "do") or is_one_of(verb, "base_verbs")
        return bare or (not past and is_verb(verb, "", bare=True) and not _is_said(verb))
    return is_of_class(following, "given") or following in ("will", "may")


def _is_said(verb: str) -> bool:
    return is_one_of(verb, "modals") or is_one_of(verb, "closed")


def _names_institution(text: str, end: int) -> bool:
    names = _CAPITALS.match(text, end)
    if names is None:
        return False
    words = [word.lower().rstrip(".") for word in names[0].split()]
    return any(is_of_class(word, "institutions") for word in words[:3])


def _is_place(text: str, start: int, end: int) -> bool:
    """Whether a name that is a place too is the place: "moved to Austin", "Austin, Texas"."""
    if _POSTAL.match(text, end) or _before_region(text, end):
        return True
    label = _LABEL.search(text, max(0, start - _NEAR), start)
    if label is not None:
        return is_of_class(label[1].lower(), "place_labels")
    if is_of_class(_following(text, end), "place_nouns"):
        return True
    if _STOPS.match(text, end) and _BEHIND_TOWN.search(text, max(0, start - _NEAR), start):
        return True
    if _POSSESSIVE.match(text, end):
        return False
    words = [word.lower() for word in _WORDS.findall(text[max(0, start - 2 * _NEAR) : start])]
    words = ["", "", *words]
    if is_of_class(words[-1], "place_prepositions"):
        return words[-1] != "in" or not any(is_of_class(w, "said_with_in") for w in words[-3:-1])
    if words[-1] == "of":
        return is_of_class(words[-2], "place_heads")
    if words[-1] == "for":
        return is_of_class(words[-2], "left_for")
    if words[-1] == "from" and _comes(words[-2], words[-3]):
        return True
    return words[-1] in ("to", "from") and _is_way(words[:-1])


def _before_region(text: str, end: int) -> bool:
    region = _REGION.match(text, end)
    if region is None or not region[1][0].isupper():
        return False
    name = region[1].lower()
    return is_of_class(name, "regions") or (
        is_of_class(name, "regions_at_end") and region[2] is None
    )


def _is_way(words: list[str]) -> bool:
    """Whether somebody moves: "flew back", "a train", "moved from Lyon"."""
    while words and is_of_class(words[-1], "motion_adverbs"):
        words = words[:-1]
    if len(words) > 2 and words[-2] == "from":
        words = words[:-2]
    return bool(words) and is_of_class(words[-1], "moved")


def _comes(word: str, earlier: str) -> bool:
    """Whether people come from there: "a student from Georgia", "she is from Austin"."""
    return (
        is_person(word)
        or word in ("i'm", "she's", "he's", "we're", "they're", "you're")
        or (
            word in ("am", "is", "are", "was", "were", "come", "comes", "came")
            and (is_one_of(earlier, "subjects_of_clauses") or is_person(earlier))
            and earlier != "it"
        )
    )


def _following(text: str, end: int) -> str:
    behind = _FOLLOWING.match(text, end)
    return behind[1] if behind else ""


def _in_front(text: str, start: int) -> str:
    before = _IN_FRONT.search(text, max(0, start - _NEAR), start)
    return before[1] if before else ""


def _line_behind(text: str, end: int) -> list[str]:
    line = text[end : end + _NEAR].partition("\n")[0]
    return [*_WORDS.findall(line), "", ""][:2]


@functools.cache
def _classes() -> Mapping[str, Any]:
    import yaml

    path = resources.files("pytest_llmfair.counterfactuals") / "grammar" / "en_names.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    held: dict[str, list[str]] = {}
    for phrase in (phrase for line in data.pop("phrases") for phrase in line):
        for word in dict.fromkeys(re.split(r"[\s,]+|['\u2019]s\b", phrase.casefold())):
            held.setdefault(word, []).append(phrase)
    classes: dict[str, Any] = {
        key: frozenset(word for line in lines for word in line.lower().split())
        for key, lines in data.items()
        if key != "language"
    }
    return {**classes, "phrases": held}
