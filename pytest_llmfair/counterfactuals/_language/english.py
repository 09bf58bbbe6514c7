"""English that substitution needs: whose "her" and "his" it is, and "a" or "an"."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources

OBJECT = "object"
DETERMINER = "possessive_determiner"
PRONOUN = "possessive_pronoun"

_WORD = r"[^\W_]++(?:[-'\u2019][^\W_]++)*+"
# A word, or one mark; emphasis, tags and single line breaks are looked through, but for a line
# that begins anew with a capital.
_TAG = r"</?[A-Za-z][^<>\n]{0,80}>"
_STYLE = rf"(?:[*_~]|{_TAG})*+"
_WRAP = r"(?:\n(?!\s*[A-Z][a-z])[^\S\n]*+)?"
_NEXT = re.compile(rf"{_STYLE}[^\S\n]*+{_WRAP}{_STYLE}({_WORD}|\S|\n)?")
# The usual case at less cost: three words with single blanks, or fewer before a mark.
_PLAIN = re.compile(
    r" ([A-Za-z]+)(?: ([A-Za-z]+)(?: ([A-Za-z]+)(?=[ .,;:!?])|([.,;:!?]))|([.,;:!?]))"
)
_BEFORE = re.compile(rf"{_TAG}|({_WORD}|[^\w\s*~])")
_NEAR = 60
_JOINS = ("or", "and", "/", "&")
_OTHER_OWNERS = ("their", "my", "your", "our", "its")
_QUOTES = '"\u201c\u2018\u00ab'
_QUOTED = ('""', "''", "\u201c\u201d", "\u2018\u2019")
# "a university", "a Eunice"; but "an uninsured man".
_EIGHT_OR_ELEVEN = re.compile(r"8|1[18](?!\d)")
_YOU = re.compile(r"e[uw]|uni(?!n|m|d(?!i)|ll)|us(?:[aeu]|$)|ut[eio]|ur[aiou]")
_VOWEL = re.compile("[aeiouy]")
_VOWELS = "aeiou\u00e0\u00e1\u00e2\u00e4\u00e6\u00e8\u00e9\u00ea\u00ed\u00f3\u00f6\u00fc"


@dataclass(frozen=True, slots=True)
class Around:
    """Words around a pronoun, lower case; "" where the clause ends.

    `next` holds three words behind it, `before` two in front of it, the nearer one last.
    """

    before: tuple[str, str]
    next: tuple[str, str, str]
    next_raw: str


def pronoun_role(text: str, start: int, end: int, roles: frozenset[str]) -> str:
    """Tell which grammatical role a pronoun has that could have several.

    Parameters
    ----------
    text : str
        The whole text; the pronoun is ``text[start:end]``.
    start, end : int
        Span of the pronoun.
    roles : frozenset of str
        The roles its spelling allows: two of object, possessive determiner, possessive pronoun.

    Returns
    -------
    str
        One of `roles`. Undecided cases are read as standing before a noun.
    """
    around = _around(text, start, end)
    if OBJECT in roles:
        return DETERMINER if _her_owns(around) else OBJECT
    return DETERMINER if _his_owns(around) else PRONOUN


def article_for(word: str) -> str:
    """Return "a" or "an", by the sound with which the word begins."""
    first = re.match(_WORD, word)
    if first is None:
        return "a"
    word = first[0]
    low = re.split(r"['\u2019-]", word.lower())[0]
    spelled = not _VOWEL.search(low) or low in _grammar()["initialisms"]
    if word[:2].isupper() and spelled:  # letter by letter: "an MBA", "a UN"
        return "an" if low[0] in "aefhilmnorsx8" else "a"
    if _YOU.match(low) or low in _grammar()["consonant_vowels"]:
        return "a"
    sounds_like_vowel = low[0] in _VOWELS or low.startswith(tuple(_grammar()["silent_h"]))
    return "an" if sounds_like_vowel or _EIGHT_OR_ELEVEN.match(low) else "a"


def is_one_of(word: str, kind: str) -> bool:
    """Whether a lower-case word belongs to a class of the word list, such as "closed"."""
    return word in _grammar()[kind]


def words_of(kind: str) -> frozenset[str]:
    """Return a class of the word list."""
    return _grammar()[kind]


def _her_owns(around: Around) -> bool:
    """Whether a noun phrase follows that "her" determines; else it is an object."""
    join, other, third = around.next
    clause_start = not around.before[1][:1].isalnum()
    if around.before[1] in _JOINS and around.before[0] in ("him", "xem"):
        return False
    if around.before[1] in _JOINS and around.before[0] in ("his", "xyr"):
        return True
    if around.before[1] == "/" and around.before[0] in ("she", "he", "xe"):
        return False  # "she/her"
    if join in _JOINS:
        if other in ("his", "xyr"):
            return join != "and" or clause_start
        return other in _OTHER_OWNERS and join != "and" and not _final(third)
    return _noun_follows(around) and not _reads_as_object(around)


def _his_owns(around: Around) -> bool:
    """Whether a noun phrase follows that "his" determines; else it stands alone."""
    join, other, third = around.next
    if join in _JOINS:
        return other in ("her", "xyr") or (other in _OTHER_OWNERS and not _final(third))
    if around.before[1] in _JOINS and around.before[0] in ("her", "xyr"):
        return True
    words = _grammar()
    if join in words["finite_verbs"]:
        return False
    if around.before[1] in words["copulas"] and _is_adjective(join) and _final(other):
        return False
    of_friend = around.before[1] == "of" and around.before[0] in words["acquaintances"]
    acts = (_is_participle(join) and join != "beloved") or join in words["acted"]
    if of_friend and (acts or join.removesuffix("s") in words["base_verbs"]):
        return False
    return _noun_follows(around)


def _noun_follows(around: Around) -> bool:
    """Whether the next words can begin the noun phrase that a possessive belongs to."""
    words = _grammar()
    first, second, third = around.next
    if first == "all" and around.before[1] in words["give"]:
        return _final(second)
    if first == "every":
        return not _each_time(around)
    if not first[:1].isalnum() or (_is_closed(first) and not _opens_phrase(around)):
        return False
    if _is_participle(first) and first not in words["nouns_in_ed"] and _ends_at_second(around):
        return False
    if first == "right" and second in words["behind_right"]:
        return False
    if first in words["comparatives"] and second == "than":
        return False
    if first in words["modals"]:
        return second not in words["base_verbs"] and second not in ("be", "have", "not", "never")
    if _final(second):
        return not _is_adverb(first)
    adverb = first.endswith("ly") or first in words["closed_if_final"]
    return not (adverb and first not in ("next", "last") and _tells_when(second, third))


def _opens_phrase(around: Around) -> bool:
    """Whether a word that mostly ends a phrase begins it here: "her already full diary"."""
    words = _grammar()
    first, second, third = around.next
    if first not in _openers() or _final(second):
        return False
    forms = (second, second.removesuffix("s"), second.removesuffix("es"))
    if any(f"{first}-{form}" in words["closed_compounds"] for form in forms):
        return around.before[1] not in words["give"]  # "gave her inside information"
    if first == "later":
        acts = second in words["base_verbs"] or second.endswith("ing")
        return not (acts or _is_adverb(second) or _tells_when(second, third))
    if first not in words["before_adjectives"] or _final(third) or _tells_when(third, ""):
        return False
    verb = around.before[1]
    if verb in words["complement"] or verb in words["perceive"] or verb in words["keep"]:
        return False
    if second in ("more", "less", "most", "least"):
        return _is_adjective(third)
    if second.endswith("ing") and first in ("ever", "never"):
        return True
    known = second in words["comparatives"] or second in words["attributive"]
    return known or _is_adjective(second) or _is_participle(second)


@functools.cache
def _openers() -> frozenset[str]:
    words = _grammar()
    compounds = {compound.partition("-")[0] for compound in words["closed_compounds"]}
    return words["before_adjectives"] | compounds | {"later"}


def _tells_when(word: str, following: str) -> bool:
    """Whether a time begins: "last week", "Monday morning", "two years"."""
    words = _grammar()
    if word in ("last", "next"):
        return not following or following in words["times"]
    if word in words["calendar"]:
        return _final(following) or following in words["times"]
    return bool(word) and _is_number(word) and following in words["spans"]


def _each_time(around: Around) -> bool:
    """Whether "every" tells how often, or what was handed over: no "every move" of somebody."""
    words = _grammar()
    _, second, third = around.next
    counted = _final(second) or _is_number(second) or words["frequencies"] & {second, third}
    return bool(counted) or around.before[1] in words["give"]


def _ends_at_second(around: Around) -> bool:
    """Whether the phrase ends behind the next word, but for an adverb: "her happy again"."""
    _, second, third = around.next
    return _final(second) or (_is_adverb(second) and _final(third))


def _final(word: str) -> bool:
    return not word or not word[0].isalnum() or _is_closed(word)


def _is_closed(word: str) -> bool:
    closed = _grammar()["closed"]
    return word in closed or ("'" in word and word.partition("'")[0] in closed)  # "you're"


def _reads_as_object(around: Around) -> bool:
    """Whether "her" is an object although an open-class word follows: "made her cry"."""
    words = _grammar()
    verb = around.before[1]
    first, second, third = around.next
    raw = around.next_raw
    final = _final(second)
    if second == "and" and f"{first}-{third}" in words["word_pairs"]:  # "day and night"
        return True
    if first in words["base_verbs"]:
        if verb in words["let_make_help"] or verb in words["perceive"]:
            return True
        if verb in words["have"] and final:
            return bool(second) and second[0].isalnum()
        if around.before[0] in ("who", "that") and second in words["subjects_of_clauses"]:
            return True
    if first in words["verbal_nouns"] and final:  # "made her cough", "have her call me"
        if verb in words["let_make_help"]:
            return True
        if verb in words["have"] and second in words["articles"] | words["objects"]:
            return True
    if verb in words["let_make_help"] and second in words["articles"]:
        return True
    if verb in words["perceive"] and second in words["articles"]:  # "watched her paint the fence"
        return third not in words["times"] and first not in words["person_nouns"]
    if first.endswith("ing") and first not in words["not_participles"]:
        if second in words["activity_heads"]:  # "heard her singing voice"
            return False
        return verb in words["perceive"] or verb in words["keep"] or (_moved(around) and final)
    if first == "being":
        return verb in words["keep"]
    if first in words["finite_verbs"]:  # "those who met her said"
        return True
    if first in words["spans"]:  # "it took her years"
        return verb in words["lasting"] and final
    if verb in words["appoint"] and first in words["offices"]:
        return final
    if verb in words["name"] and first == "names":
        return final
    if verb in words["complement"] and _is_adjective(first):
        goes_on = second in words["let_make_help"] or second in words["finite_verbs"]
        return _ends_at_second(around) or second == "enough" or goes_on
    if (verb in words["complement"] or verb in words["appoint"]) and first in words["compares"]:
        return _is_adjective(second) and _final(third)
    if verb in words["arrange"] and _is_participle(first):
        return final
    if first in words["degrees"] and _final(third) and second not in words["after_degrees"]:
        return verb in words["complement"] or _is_adverb(second)
    if first.endswith("ly") and _is_in_ly(first) and _final(third):
        return _is_described(verb, second)
    if _is_number(first) and second in words["spans"]:
        if third in words["after_spans"] or second == "times" or verb in words["known"]:
            return True
        return any(verb in words[kind] for kind in ("give", "wager", "lasting"))
    if _is_number(first) and second.removesuffix("s") in words["person_nouns"] | words["pets"]:
        return False  # "fed her two sons"
    if (verb in words["give"] or verb in words["wager"]) and _is_number(first):
        return True
    if verb in words["teach"] and first in words["subjects"]:
        return final
    verb_object = words["articles"] if around.before[0] in ("who", "that") else words["objects"]
    if second in verb_object and first.endswith("s"):  # "who meets her adores him"
        return first[:-1] in words["base_verbs"] or first[:-1] in words["closed"]
    if verb in words["give"] and first in words["offered"] and second in words["given"]:
        return _final(third)
    if verb in words["give"] and first in words["given"]:
        return final and second not in ("a", "an", "another")  # "give her hair a trim"
    if first in words["calendar"]:
        clause = _is_verb_of_time(second) or third in words["copulas"] | words["modals"]
        return final or (verb in words["say_to"] and clause)
    if first == "one" and second in words["times"]:
        return _final(third)
    if first in words["demonyms"] and not final:  # "told her Spanish teacher"
        return False
    if raw[0].isupper() and not raw.isupper():
        return verb in words["name"] or verb in words["say_to"]
    if first in ("last", "next"):
        if second in words["calendar"] and not _tells_when(second, third):
            return False  # "her next Monday class"
        return second in words["times"] and verb not in words["closed"]
    if first == "home":
        return _moved(around) and _ends_at_second(around)
    if first == "first":
        return final and (verb in words["say_to"] or verb in words["name"])
    if first == "back":
        goes_on = second == "right" and third in words["behind_right"]
        return (
            (goes_on or _ends_at_second(around))
            and verb not in words["closed"]
            and verb not in words["body"]
        )
    return False


def _is_described(verb: str, word: str) -> bool:
    """Whether a word behind an adverb is said of the object: "considers her highly qualified"."""
    words = _grammar()
    if _is_participle(word) or word.endswith("ing"):
        return any(verb in words[kind] for kind in ("complement", "perceive", "keep", "arrange"))
    formed = word.endswith(("ive", "ic", "al", "ent", "ant", "ary", "y")) or _is_adjective(word)
    return formed and verb in words["complement"]


def _moved(around: Around) -> bool:
    return around.before[1] in _grammar()["move"]


def _is_adjective(word: str) -> bool:
    words = _grammar()
    formed = word.endswith(("ous", "less", "ful", "able", "ible"))
    return word in words["adjectives"] or (formed and word not in words["not_adjectives"])


def _is_adverb(word: str) -> bool:
    return _is_in_ly(word) or word in _grammar()["closed_if_final"]


def _is_in_ly(word: str) -> bool:
    return word.endswith("ly") and word not in _grammar()["not_adverbs"]


def _is_verb_of_time(word: str) -> bool:
    """Whether it goes on with the day as its subject: "tell her Monday works for us"."""
    words = _grammar()
    if word in words["modals"] or word in words["finite_verbs"]:
        return True
    return word.endswith("s") and word[:-1] not in words["person_nouns"] | words["sessions"]


def _is_participle(word: str) -> bool:
    return len(word) > 4 and word.endswith("ed") and not word.endswith("eed")


def _is_number(word: str) -> bool:
    return word in _grammar()["numbers"] or word[0].isdigit()


def _around(text: str, start: int, end: int) -> Around:
    if (
        text[start - 1 : start] + text[end : end + 1] in _QUOTED
    ):  # the \u2018her\u2019 of a quotation
        end += 1
    plain = _PLAIN.match(text, end)
    found = [*filter(None, plain.groups()), "", ""][:3] if plain else _behind(text, end)
    low = [word.lower().replace("\u2019", "'") for word in found]
    parts = text[max(0, start - _NEAR) : start].rsplit(" ", 3)
    if len(parts) == 4 and not parts[3] and parts[2].isalpha() and parts[1].isalpha():
        before = parts[1:3]
    else:
        before = [word for word in _BEFORE.findall(text, max(0, start - _NEAR), start) if word]
        before = ["", "", *before[-2:]][-2:]
    first, second = (word.lower().replace("\u2019", "'") for word in before)
    return Around((first, second), (low[0], low[1], low[2]), found[0])


def _behind(text: str, end: int) -> list[str]:
    """Return three words behind a place, "" from where the clause ends."""
    found: list[str] = []
    at = end
    for _ in range(3):
        match = _NEXT.match(text, at)
        word = (match[1] or "") if match else ""
        found.append(word)
        if not word or not (word[0].isalnum() or word in "/&"):
            if word and word in _QUOTES and len(found) == 1:
                found.pop()
            else:
                break
        at = match.end() if match else at
    return found + [""] * (3 - len(found))


@functools.cache
def _grammar() -> Mapping[str, frozenset[str]]:
    import yaml

    folder = resources.files("pytest_llmfair.counterfactuals") / "grammar"
    load = functools.partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return {
        key: frozenset(word for line in lines for word in line.split())
        for file in ("en.yaml", "en_persons.yaml")
        for key, lines in load((folder / file).read_text(encoding="utf-8")).items()
        if key != "language"
    }
