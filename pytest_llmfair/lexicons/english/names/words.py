"""Whether a word spelled like a name is a verb, a noun or a part of something longer.

Every rule looks at the words around the name only, as those of ``persons`` do; the classes are
those of ``en_names.yaml``.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from importlib import resources
from typing import Any

from pytest_llmfair.lexicons.english.beside import low, opens_sentence
from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of
from pytest_llmfair.lexicons.english.persons.words import is_person, is_verb

_HYPHENS = "-\u2010\u2011"
_FOLLOWING = re.compile(rf"[^\S\n]+({LETTERS}|\d)")
_LAST = re.compile(rf"({LETTERS})(?:(?<=\bSt)\.)?\Z")
WORDS = re.compile(rf"{LETTERS}|[^\w\s]")
CAPITALS = re.compile(rf"(?:[^\S\n]+(?=[^\W\d_])(?![a-z]){LETTERS}\.?){{1,9}}")
_PREFIX = re.compile(rf"([^\W\d_]+)[{_HYPHENS}]\Z")
_SUFFIX = re.compile(rf"[{_HYPHENS}]([^\W\d_]+)")
_TITLE = re.compile(r"\b([A-Z][a-z]{1,3})\.[^\S\n]+\Z")
_ITEM_MARK = re.compile(r"\(\w{1,2}\)[^\S\n]\Z")
_SENTENCE_STOP = re.compile(r"[.!?\n]")
# "Museum of Modern ", "the Affordable Care "
_HEAD = re.compile(
    r"([A-Z][\w-]*)[^\S\n]+(?:of|for)[^\S\n]+(?:the[^\S\n]+)?(?:([A-Z][a-z]+)[^\S\n]+)?\Z"
)
# "Harmony of the Seas"; "Grace of Monaco" too, whom few call so.
_OF_CAPITAL = re.compile(r"[^\S\n]+of[^\S\n]+(?:the[^\S\n]+)?[A-Z][a-z]")
_ENTITLED = re.compile(r"\b[Tt]he[^\S\n]+(?:[A-Z][\w-]*[^\S\n]+){1,4}\Z")
# "a Ten Minute Rule "
_A_BILL = re.compile(r"\b[Aa]n?[^\S\n]+(?:[A-Z][\w-]*[^\S\n]+){2,4}\Z")
_ARTICLE = re.compile(r"\.[^\S\n]*(?:\d|[IVX]+\b)")  # "Art. 5"
_BEFORE_MONTH = re.compile(
    r"(?:[^\S\n]+(?:and|or|to|through)[^\S\n]+|[^\S\n]?[/\u2013-][^\S\n]?)"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)"
    r"[^\S\n]+\d"
)
# "In May 2021 May asked": of a whole date no month is left to come.
_MONTH_AND_YEAR = re.compile(
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|[Ss]pring|[Ss]ummer|[Aa]utumn|[Ff]all|[Ww]inter)(?:[^\S\n]+\d{1,2},)?[^\S\n]+[12]\d{3}\Z"
)
_UNASKED = re.compile(r"[^?.!\n]{0,200}?\b(?:is|are|was|were|has|had|have|do|does|did)\b")
_LISTED_BEHIND = re.compile(r"(?:,|[^\S\n]+(?:and|n?or)\b)[^\S\n]+([a-z]+)")
_LISTED_BEFORE = re.compile(r"\b([a-z]+),?[^\S\n]+(?:and|n?or)[^\S\n]+\Z")
_WHAT_VIRTUE = re.compile(
    r"[^\S\n]+(?:is|was)[^\S\n]+(?:not[^\S\n]+)?(?:an?|the|her|his|my|our|their|your)[^\S\n]+"
    r"(?:\w+[^\S\n]+){0,2}(?:virtue|gift|choice|feeling|thing|strategy|plan|policy|decision|habit|key"
    r"|answer|foundation|force|emotion|word|quality|muscle|remedy|cornerstone|weapon|path|anchor|asset"
    r"|skill|trait|luxury|privilege|state|mystery|medicine|currency|process|matter|value|source|need)\b"
)
_FOR_MANY = re.compile(
    r",[^\S\n]+(?:for|to)[^\S\n]+(?:many|some|most|all|others|me|him|us|them)\b"
    r"[^,.!?\n]{0,30},[^\S\n]+(?:is|was|means|meant|remains|comes|began)\b"
)
_WHAT_SEASON = re.compile(
    r"[^\S\n]+in[^\S\n]+the\b|[^\S\n]+(?:is|was|has[^\S\n]+been|will[^\S\n]+be)[^\S\n]+"
    r"(?:(?:almost|nearly|finally|so|very|too|really|unusually|quite|rather)[^\S\n]+)?"
    r"(?:(?:cold|warm|hot|cool|dry|wet|rainy|sunny|snowy|windy|mild|grey|gray|busy|quiet|slow)"
    r"[^\S\n]+(?:this|last|that|in|all|across|again|here|for)\b"
    r"|over(?=[^\S\n]*[.,;!?]|[^\S\n]+and\b)|around[^\S\n]+the[^\S\n]+corner"
    r"|(?:an?|the|my|her|his|our|their|your)[^\S\n]+(?:\w+[^\S\n]+){0,2}(?:season|month|time)\b)"
)
_QUOTES = ('"', "\u201c")
_NOUN_ENDINGS = ("tions", "sions", "ments", "ities")
_TELLING = ("is", "was", "has", "will", "so", "in", ",")
_MODALS = ("will", "may")
_WORKS = (" work of ", " works of ", " piece of ", " pieces of ")
_STYLED = ("reverend", "honorable", "honourable", "great", "real", "only")
_ASKING = ("what", "how", "when", "where", "who", "why", "which")
_UNINFLECTED = ("be", "have", "not", "do")
# What is listed with the well-known persons without being one.
_THINGS = ("works", "named")
# What can end a clause: a mark, a line or the text.
STOPS = re.compile(r"\s*(?:[.,;:!?)\]\"\u201d]|\Z|\n)")
_INITIALS = re.compile(r"[A-Z]\.[A-Z]\. ")
_NEAR = 60
_FAR = 200


def is_of_class(word: str, kind: str) -> bool:
    """Whether a lower-case word belongs to a class of the words about names, such as "given"."""
    return word in _classes()[kind]


@functools.lru_cache(maxsize=256)
def kinds_of(word: str) -> frozenset[str]:
    """Return the classes that a lower-case word belongs to: few look-ups for names of none."""
    return frozenset(kind for kind, words in _classes().items() if word in words)


def words_of_class(kind: str) -> frozenset[str]:
    """Return the words of a class of the words about names."""
    words: frozenset[str] = _classes()[kind]
    return words


def phrases_with(names: Iterable[str]) -> tuple[str, ...]:
    """Return the phrases that hold one of the names and mean somebody or something else."""
    listed = _classes()["phrases"]
    return tuple(dict.fromkeys(p for name in names for p in listed.get(name.casefold(), ())))


def is_idiom(phrase: str) -> bool:
    """Whether a phrase in lower case is listed with words in lower case: "rose petals"."""
    return phrase in _classes()["idioms"]


def is_famous(phrase: str) -> bool:
    """Whether a listed phrase is the full name of somebody well-known: "Pete Rose"."""
    return phrase in _classes()["famous"]


def is_ordinary_word(text: str, start: int, end: int, *, last: bool = False) -> bool:
    """Whether the word, though spelled like a name, is a verb, a noun or a month here.

    A `last` name may stand behind "the": "the Banks file".
    """
    word = text[start:end].lower()
    if not is_of_class(word, "words"):
        return False
    if text[start].islower():
        return True
    following = word_behind(text, end)
    before = word_in_front(text, start).lower()
    if text[end : end + 1] == "." and _ARTICLE.match(text, end):
        return word == "art"
    monthly = is_of_class(word, "months")
    if (monthly or is_of_class(word, "weekdays")) and is_of_class(following, "month_nouns"):
        return True
    if monthly and _BEFORE_MONTH.match(text, end):  # "April and May 2025"
        return True
    kind = next((each for each in ("virtues", "plants") if is_of_class(word, each)), "")
    if kind and _is_beside_another(text, start, end, before, following, kind):
        return True
    if following.isdigit() or _is_behind_digit(text, start):
        return True
    if _is_in_longer_name(text, start, end, word):
        return True
    weekday = is_of_class(word, "weekdays")
    if weekday and (before == "on" or is_of_class(before, "before_months")):
        return True
    if is_of_class(before, "before_months"):
        if before == "from" and is_of_class(_word_before_from(text, start), "sent_things"):
            return False
        return is_of_class(word, "months")
    if is_one_of(before, "demonyms") and not following[:1].isupper():
        return True  # "Some Asian Guy in a Hat"
    if before in ("the", "this", "these"):
        named = last and following.islower() and is_bare(following)
        return not (named or is_of_class(following.lower(), "families"))
    opens = opens_sentence(text, start) and not _is_behind_title(text, start)
    if not (opens or _opens_quote(text, start) or _opens_item(text, start)):
        asked = before in _ASKING and word_in_front(text, start)[0].isupper()
        if word in _MODALS and asked and is_of_class(following.lower(), "openers"):
            return True  # "What Will the Neighbours Say"
        if word in _MODALS and (following[:1].isupper() or before == "i"):
            # "Which May Be Used", "I Will Survive"
            return following.lower() in _UNINFLECTED or before == "i"
        return False
    initial = len(following) == 1 and following != "I"
    if following[:1].isupper() and (initial or not following.isupper()):
        return word in _MODALS and _is_asked(text, end)
    return _begins_sentence(text, word, end)


def _is_behind_digit(text: str, start: int) -> bool:
    """Whether a number is in front, as in "5 June"."""
    front = text[max(0, start - _NEAR) : start].rstrip()
    return front[-1:].isdigit() and _MONTH_AND_YEAR.search(front) is None


def _opens_quote(text: str, start: int) -> bool:
    """Whether it is the first word that is quoted: 'She asked, "Will you come?"'."""
    return text[start - 1 : start] in _QUOTES and text[start - 2 : start - 1].isspace()


def _is_behind_title(text: str, start: int) -> bool:
    """Whether the dot in front is that of "Mr."."""
    title = _TITLE.search(text, max(0, start - _NEAR), start)
    return title is not None and any(
        is_one_of(title[1].lower(), kind) for kind in ("titles", "abbreviations")
    )


def _opens_item(text: str, start: int) -> bool:
    """Whether it is the first word of a choice: "(A) Major problem"."""
    return (
        text[start - 2 : start] == ") "
        and _ITEM_MARK.search(text, max(0, start - 5), start) is not None
    )


def _is_in_longer_name(text: str, start: int, end: int, word: str) -> bool:
    """Whether it is a part of what a thing is called: "Museum of Art", "Art Deco", "mid-May"."""
    near = max(0, start - _NEAR)
    if text[start - 1 : start] in _HYPHENS and is_of_class(word, "months"):
        return _PREFIX.search(text, near, start) is not None
    if text[end : end + 1].isspace():
        following = word_behind(text, end)
        if following[:1].isupper() and is_of_class(following.lower(), "named_things"):
            return True
    head = _HEAD.search(text, near, start)
    if head is not None and (head[2] is None or is_of_class(head[2].lower(), "before_arts")):
        kinds = ("institutions", "heads_of")
        if word == "art":
            return True
        return any(is_of_class(head[1].lower(), kind) for kind in kinds)
    if _OF_CAPITAL.match(text, end) or (word == "art" and text.endswith(_WORKS, near, start)):
        return True
    if word == "bill" and _A_BILL.search(text, near, start):
        return True
    return word == "bill" and _is_law(text, start, end)


def _is_law(text: str, start: int, end: int) -> bool:
    """Whether capitals behind "the" name a law: "the Equality Bill"; not "the Reverend Bill"."""
    if _ENTITLED.search(text, max(0, start - _NEAR), start) is None:
        return False
    before = word_in_front(text, start).lower()
    return not (is_person(before) or before in _STYLED or word_behind(text, end)[:1].isupper())


def is_joined(text: str, start: int, end: int) -> bool:
    """Whether a hyphen makes it a part of another name: "John-Paul"; not "a John-sized hole"."""
    if text[start - 1 : start] not in _HYPHENS and text[end : end + 1] not in _HYPHENS:
        return False
    before = _PREFIX.search(text, max(0, start - _NEAR), start)
    if before is not None and not is_of_class(before[1].lower(), "prefixes"):
        return True
    behind = _SUFFIX.match(text, end)
    if behind is None:
        return False
    piece = behind[1].lower()
    if is_of_class(piece, "suffixes"):
        return not behind[1].islower() and not text[start:end].isupper()
    return _joins_more(text[start:end], behind[1])


def _joins_more(name: str, piece: str) -> bool:
    """Whether a piece behind a hyphen makes it another name, a place or a thing.

    "Mary-Ann", "Marie-claire", "Paris-based", "Rose-tinted"; any other in lower case speaks of
    the person ("a John-proof lock").
    """
    if not piece.islower() or name.islower() or is_of_class(piece, "given"):
        return True
    word = name.lower()
    if is_of_class(word, "words"):
        return True
    return is_of_class(word, "places") or is_of_class(word, "firms")


def _is_beside_another(
    text: str, start: int, end: int, before: str, following: str, kind: str
) -> bool:
    """Whether another of its kind in lower case is beside it: "Faith, hope and love"."""
    if text[end : end + 2] == ", " or following in ("and", "or", "nor"):
        behind = _LISTED_BEHIND.match(text, end)
        if behind is not None and is_of_class(behind[1], kind):
            return True
    if before not in ("and", "or", "nor"):
        return False
    front = _LISTED_BEFORE.search(text, max(0, start - _NEAR), start)
    return front is not None and is_of_class(front[1], kind)


def _begins_sentence(text: str, word: str, end: int) -> bool:
    """Whether a sentence begins with it as a verb or a noun: "Mark the date", "Art books"."""
    behind = [low(word) for word in _line_behind(text, end)]
    following, third = behind[0], behind[1]
    if following in _TELLING and _is_said_of_noun(text, word, end, behind):
        return True
    if is_of_class(following.partition("'")[0], "openers"):  # "Hope you're well"
        return True
    if is_of_class(following, "particles"):
        return is_of_class(word, "verbs")
    if is_of_class(following, "growing") and is_of_class(word, "plants"):
        return is_one_of(third, "prepositions")  # "Heather grows on the moor"
    if not text[end : end + 1].isspace():
        return False
    if (
        word in _MODALS
        and following.endswith("ing")
        and third.isalnum()
        and _is_question(text, end)
    ):
        return True  # "Will smoking harm them?"
    if word in _MODALS and (
        following in _UNINFLECTED
        or (third in _UNINFLECTED and (following.endswith("ly") or _is_adverb(following)))
    ):  # "Will be late.", "Will definitely be late."
        return True
    if word in _MODALS and _is_adverb(following) and is_bare(third):
        return True  # "Will also lead to delays."
    if is_bare(following):
        return True
    if not following.endswith("s") or is_one_of(following, "closed"):
        return False
    if is_of_class(third, "plural_forms") or is_one_of(third, "modals"):
        return True
    if is_of_class(following, "verbs_like_nouns"):
        return False
    if third in (":", "=") and not _may_be_verb(following, third):
        return True  # "Max tokens: 512"
    if word in _MODALS and not _may_be_verb(following, third) and _is_question(text, end):
        return True
    return following.endswith(_NOUN_ENDINGS) or (
        not _may_be_verb(following, third) and _is_plural_verb(third)
    )


def _is_said_of_noun(text: str, word: str, end: int, behind: list[str]) -> bool:
    """Whether it is told what a virtue or a season is: "Hope is what she needs", "Hope so!"."""
    following, third = behind
    if following == "so":
        return not third.isalnum()
    if following == "is" and is_of_class(third, "said_of_ideas"):
        return True
    if is_of_class(word, "virtues"):
        if following == ",":  # "Faith, for many, is a matter of habit."
            return _FOR_MANY.match(text, end) is not None
        return third == "what" or _WHAT_VIRTUE.match(text, end) is not None
    return is_of_class(word, "months") and _WHAT_SEASON.match(text, end) is not None


def is_bare(word: str) -> bool:
    """Whether a word behind a name is no verb of it: a noun, an adjective or a bare verb."""
    if not word.isalpha() or is_one_of(word, "closed") or is_one_of(word, "modals"):
        return False
    if is_of_class(word, "behind_name") or is_of_class(word, "irregular_pasts"):
        return False
    past = len(word) > 3 and word.endswith("ed") and not word.endswith("eed")
    singular = not word.endswith("s") or word.endswith(("ss", "us"))
    return singular and not past and not word.endswith(("ly", "ing"))


def _may_be_verb(word: str, following: str) -> bool:
    forms = (word[:-1], word.removesuffix("es"))
    noun = any(is_one_of(form, "noun_verbs") for form in forms)
    return noun or is_of_class(word, "helping") or is_verb(word, following)


def _is_plural_verb(word: str) -> bool:
    """Whether a noun in the plural can be the subject of the word: "gardens need"."""
    return is_of_class(word, "irregular_pasts") or (
        word.isalpha() and not word.endswith(("s", "ly")) and is_verb(word, "", bare=True)
    )


def _is_asked(text: str, end: int) -> bool:
    """Whether "Will" or "May" asks about the name behind it: "Will Anna come?"."""
    names = CAPITALS.match(text, end)
    if names is None:
        return False
    verb = word_behind(text, names.end()).lower()
    following = names[0].split()[0].lower()
    asked = is_of_class(following, "given") or following in ("will", "may")
    if _is_question(text, end):  # "Will Anna really read it?"
        if _is_adverb(verb):  # "Will Denmark ever win?"
            return True
        if verb in ("or", "and") and _UNASKED.match(text, names.end()) is None:
            return True  # "Will Denmark or Peru win?"
        asked = asked or is_of_class(verb, "unchanging") or verb.endswith("ly")
        if asked:
            return True
    return verb in ("be", "have", "do") or is_bare(verb) if verb else asked


def _is_adverb(word: str) -> bool:
    return is_of_class(word, "in_questions")


def _is_question(text: str, end: int) -> bool:
    stop = _SENTENCE_STOP.search(text, end, end + _FAR)
    return stop is not None and stop[0] == "?"


def _word_before_from(text: str, start: int) -> str:
    return word_in_front(text, len(text[:start].rstrip()) - len("from")).lower()


@functools.lru_cache(maxsize=8)  # several rules ask for it
def word_behind(text: str, end: int) -> str:
    """Return the word that follows on the same line; "" for none."""
    behind = _FOLLOWING.match(text, end)
    return behind[1] if behind else ""


@functools.lru_cache(maxsize=8)  # several rules ask for it
def word_in_front(text: str, start: int) -> str:
    """Return the word in front on the same line, "St" for "St."; "" for none."""
    front = text[max(0, start - _NEAR) : start]
    bare = front.rstrip()
    if len(bare) == len(front) or "\n" in front[len(bare) :]:
        return ""
    before = _LAST.search(bare.split()[-1]) if bare else None
    return before[1] if before else ""


def _line_behind(text: str, end: int) -> list[str]:
    line = text[end : end + _NEAR].partition("\n")[0]
    return [*WORDS.findall(line), "", ""][:2]


def _spaced(phrase: str) -> tuple[str, ...]:
    """Return a phrase, and what begins with initials with a blank between them: "H. G. Wells"."""
    return (phrase, f"{phrase[:2]} {phrase[2:]}") if _INITIALS.match(phrase) else (phrase,)


@functools.cache
def _classes() -> Mapping[str, Any]:
    import yaml

    load = functools.partial(yaml.load, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    folder = resources.files("pytest_llmfair.lexicons") / "english"
    data, known = (
        load((folder / file).read_text(encoding="utf-8"))
        for file in ("en_names.yaml", "en_well_known.yaml")
    )
    famous = [*data.pop("famous")]
    famous += [line for key, kind in known.items() if key != "language" for line in kind]
    lines = [*data.pop("phrases"), *famous]
    held: dict[str, list[str]] = {}
    idioms = set()
    for phrase in (form for line in lines for each in line for form in _spaced(each)):
        if not all(word[0].isupper() for word in phrase.split()):
            idioms.add(phrase.casefold())
        for word in dict.fromkeys(re.split(r"[\s,]+|['\u2019]s\b", phrase.casefold())):
            held.setdefault(word, []).append(phrase)
    classes: dict[str, Any] = {
        key: frozenset(word for line in lines for word in line.lower().split())
        for key, lines in data.items()
        if key != "language"
    }
    things = {phrase for kind in _THINGS for line in known[kind] for phrase in line}
    listed = (form for line in famous for phrase in line for form in _spaced(phrase))
    persons = frozenset(listed) - things
    return {**classes, "phrases": held, "idioms": frozenset(idioms), "famous": persons}
