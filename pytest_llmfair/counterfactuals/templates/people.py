"""The one person of a prompt: where the name stands, and the gender that words around it show."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from pytest_llmfair.counterfactuals.templates.slots import PERSON
from pytest_llmfair.counterfactuals.templates.template import Template
from pytest_llmfair.lexicons.english.context import opens_sentence
from pytest_llmfair.lexicons.english.full_names import is_no_name, is_title
from pytest_llmfair.lexicons.english.this_person import is_noun
from pytest_llmfair.lexicons.english.words import in_classes, is_one_of, is_person
from pytest_llmfair.lexicons.lexicon import PRONOUNS
from pytest_llmfair.lexicons.loading import load_lexicons
from pytest_llmfair.lexicons.name_lexicon import NameLexicon, NamesOfPeople
from pytest_llmfair.lexicons.name_lists import GENDERS, first_names, last_names
from pytest_llmfair.lexicons.reading import Mention
from pytest_llmfair.lexicons.terms import Entry
from pytest_llmfair.responses import Uncertain

FIRST, LAST = "first_name", "last_name"
NAME_SLOTS = (PERSON, FIRST, LAST)
# Stands in the slots of a template while the words around them are read.
_NOBODY = {PERSON: "Rojan Zandt", FIRST: "Rojan", LAST: "Zandt"}

# Words that tell a gender, and are no mention of a group.
_BODIES = {
    "female": r"\b(?:pregnan\w+|maternity|breast-?fe\w+|gave birth|menopaus\w*|gyna?ecolog\w+)\b",
    "male": r"\b(?:prostate|paternity|vasectomy|beard)\b",
}
_NO_MODIFIER = (
    r"(?!(?:not?|with|from|at|in|on|for|to|by|of|like|than|and|or|his|her|their|my|our|your)\b)"
)
_WORDS = rf"(?:{_NO_MODIFIER}[\w'\u2019-]+\s+){{0,2}}"
_HELP = r"(?:(?:will|would|can|could|may|has|had|been|used|to|works?|worked|is|was|on|now)\s+)"
_OWN = r"(?:my|our|your|the|a|an|this)\s+"
_BE = r"(?:is|was|as|becom(?:es?|ing)|became|be)"
# Between a word and the name that it describes: "my wife, Ann", "Mr. Ann", "a woman called Ann".
_TO_NAME = re.compile(
    r"[\s,:(-]*(?:['\u2019]s\s+(?:\w+\s+)?name\s+(?=is))?(?:(?:is|was)\s+)?"
    r"(?:(?:named|called)\s+)?[\"\u201c]?",
    re.IGNORECASE,
)
_PRONOUN_TO_NAME = re.compile(
    r"\s+(?:(?:\w+\s+)?name\s+is|is\s+called|goes\s+by)\s+", re.IGNORECASE
)
# "Ann, 34, a woman", "Ann is a young woman", "Ann will be his wife".
_FROM_NAME = re.compile(
    rf",\s*(?:\d+,\s*)?(?:{_OWN}{_WORDS})?"
    rf"|(?:,?\s+who)?\s+{_HELP}{{0,2}}{_BE}\s+(?:{_OWN}|(?:his|her|their)\s+)?{_WORDS}",
    re.IGNORECASE,
)
_PRONOUN_FROM_NAME = re.compile(r"\s*\(")
# "Ann, his wife" is Ann or another person.
_KIN_AFTER = re.compile(r",\s*(?:his|her)\s+(?:[\w-]+\s+)?", re.IGNORECASE)
# "{Possessive_determiner} mother" is no word about the person.
_THEY = "Zzyr"
_RELATIVE = re.compile(rf"{_THEY}\s+(?:[\w-]+\s+)?\Z", re.IGNORECASE)
# Both genders show none: "he or she", "Sir/Madam", "women and men".
_BOTH = re.compile(r"\.?\s*(?:/|\s(?:or|and)\s)\s*", re.IGNORECASE)

_PARTICLES = r"(?:(?:van|von|de|del|der|da|dos|el|al|bin|ibn|la|le)[^\S\n]+)*"
# "Walsh" of "Walsh's car", and nothing of "I'd".
_SHORT = r"['\u2019](?:s|m|d|t|re|ve|ll)\b"
_SURNAME = re.compile(
    rf"[^\S\n]+({_PARTICLES}[^\W\d_a-z](?:(?!{_SHORT})[\w'\u2019-])*\w)"
    rf"(?!\w|(?!['\u2019]s){_SHORT})"
)
_WORD_BEFORE = re.compile(r"([\w.-]+)[^\S\n]+\Z")
_SUFFIXES = frozenset(("jr", "sr", "phd"))
_BARE_OWNER = re.compile(r"(['\u2019])(?=\s+[a-z])")  # "James' car"
_QUOTED = re.compile(r"(?<!\w)['\u2018][^'\u2019\n]*\Z")
_ARTICLE_BEFORE = re.compile(r"\b(?:an?|the)\s+\Z", re.IGNORECASE)
_WORK_BEFORE = re.compile(r"(\w+)(?:\s+(?:called|named|titled))?\s+[\"\u201c]?\Z")
_WORDS_AFTER = re.compile(r"[^\S\n]+([a-z]+[^\Ws])(?![\w'\u2019-])(?:[^\S\n]+(\w+))?")
# "Paul's Boutique", "Thomas the Tank Engine"; not "Paul's German".
_TITLE_AFTER = re.compile(r"(?:['\u2019]s|[^\S\n]+the)[^\S\n]+([A-Z]\w*[a-z])\b")
_FIRM_BEFORE, _FIRM_AFTER = re.compile(r"&\s*\Z"), re.compile(r"\s*&")
# "Sofia is the capital", "Carmen is a famous opera".
_IS_SOMETHING = re.compile(r"\s+(?:is|was)\s+(?:an?|the|my|our|his|her|their)\s+([\w\s-]+)")
_THINGS = ("work_nouns", "institutions", "businesses")
_TOWNS = frozenset(("capital", "town", "village", "language"))
_NEAR = 30
_LETTERS = 3  # a part of a name with fewer is found in other words too


class Shown(NamedTuple):
    """The gender that a prompt shows of its person, or why that is uncertain."""

    gender: str = ""
    why: str = ""


@functools.lru_cache(maxsize=1024)
def shown_gender(template: Template, own: str = "") -> Shown:
    """Return the gender that a name in a template must have; `own` is that of the name it had."""
    # A gender on which all words agree is right, whoever they are about. Only words that tell of
    # both genders, around a name of unknown gender, have to be understood.
    text, places = _with_nobody(template)
    found = _of_one_gender(text)
    direct = {each.group for each in found if _describes(text, each, places)}
    if len({*direct, own} - {""}) > 1:
        return Shown(why="words of two genders describe one person")
    pronouns = {each.group for each in found if each.role in PRONOUNS}
    left = _unexplained(found, direct)
    if own:
        if pronouns and own not in pronouns and left:
            return Shown(why=f"the name is {own}, and a pronoun is not")
        return Shown(own)
    if direct:
        sure = not left or left & direct
        return Shown(direct.pop()) if sure else Shown(why="a pronoun contradicts the words around")
    named = {each.group for each in found}
    named |= {gender for gender, words in _BODIES.items() if re.search(words, text, re.IGNORECASE)}
    if len(named) < 2:
        return Shown(next(iter(named), ""))
    kin = any(_KIN_AFTER.fullmatch(text, end, each.start) for _, end in places for each in found)
    left = left if len(pronouns) > 1 else pronouns
    if kin or len(left) != 1:
        return Shown(why="words of both genders can be about the name")
    return Shown(left.pop())


def _with_nobody(template: Template) -> tuple[str, list[tuple[int, int]]]:
    """Return the text of a template with a name of nobody, and where that stands."""
    fills = {name: _THEY if name in PRONOUNS else name for name in template.slots} | _NOBODY
    places, at = [], 0
    parts = template.parts(fills)
    for part in parts:
        if part.slot in NAME_SLOTS:
            places.append((at, at + len(part.text)))
        at += len(part.text)
    return "".join(part.text for part in parts), places


def _of_one_gender(text: str) -> list[Mention]:
    """Return the words that can tell the gender of the person: one of two, and of no relative."""
    found = [
        each
        for each in load_lexicons()["gender"].mentions(text)
        if each.group in GENDERS and not _RELATIVE.search(text, 0, each.start)
    ]
    both = {
        each.start
        for pair in itertools.pairwise(found)
        if pair[0].group != pair[1].group and _BOTH.fullmatch(text, pair[0].end, pair[1].start)
        for each in pair
    }
    return [each for each in found if each.start not in both]


def _describes(text: str, word: Mention, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a word next to the name is about the person."""
    pronoun = word.role in PRONOUNS
    before, after = (_PRONOUN_TO_NAME, _PRONOUN_FROM_NAME) if pronoun else (_TO_NAME, _FROM_NAME)
    end_of_word = word.end + (word.role == "title" and text[word.end : word.end + 1] == ".")
    owner = text[word.end : word.end + 2] in ("'s", "\u2019s")
    return any(
        before.fullmatch(text, end_of_word, start)
        or (not owner and after.fullmatch(text, end, word.start))
        for start, end in places
    )


def _unexplained(found: Sequence[Mention], direct: set[str]) -> set[str]:
    """Return the genders of pronouns that no other person before them can explain."""
    others = [each for each in found if each.role not in PRONOUNS and each.group not in direct]
    return {
        each.group
        for each in found
        if each.role in PRONOUNS
        and not any(other.group == each.group and other.start < each.start for other in others)
    }


class Found(NamedTuple):
    """A prompt with slots in the place of its name, and what that name shows."""

    template: Template
    first: str = ""
    gender: str = ""
    case: Callable[[str], str] = str  # str.upper of "EMILY"


class _Name(NamedTuple):
    start: int
    end: int
    slot: str
    first: str
    last: str


def person_of(prompt: str, lexicon: NameLexicon, where: str) -> Found | Uncertain | None:
    """Return the template of a prompt that names one person; None where it names nobody."""
    firsts, lasts = lexicon.parts
    known = first_names().keys() | firsts, last_names() | lasts
    reading = _every_name(frozenset().union(*known)).read(prompt)
    names = list(_names(prompt, [each[:2] for each in reading], *known))
    doubt = next((each for each in reading.doubts if each.counted or not names), None)
    if doubt is not None:
        return Uncertain(prompt, doubt.start, doubt.end, doubt.why)
    for name in names:
        if (why := _doubtful(prompt, name)) is not None:
            return Uncertain(prompt, name.start, name.end, why)
    if not names:
        return None
    whole = max(names, key=lambda name: (bool(name.first) + bool(name.last), -name.start))
    for name in names:
        if (name.first and name.first.casefold() != whole.first.casefold()) or (
            name.last and name.last.casefold() != whole.last.casefold()
        ):
            called = [f"{each.first} {each.last}".strip() for each in (whole, name)]
            why = f"{called[0]!r} and {called[1]!r} can be two people; {{Person}} says who changes"
            return Uncertain(prompt, name.start, name.end, why)
    names += _alone(prompt, whole, names)
    pieces, at = [], 0
    for name in sorted(names):
        pieces += [prompt[at : name.start], f"{{{name.slot}}}"]
        at = name.end
        owner = _BARE_OWNER.match(prompt, at) if prompt[at - 1] in "sS" else None
        if owner and not _QUOTED.search(prompt, max(0, name.start - _NEAR), name.start):
            pieces[-1] += f"{owner[1]}s"
            at = owner.end()
    pieces.append(prompt[at:])
    rest = " ".join(pieces[::2]).casefold()
    for part in (whole.first, whole.last):
        if len(part) >= _LETTERS and part.casefold() in rest:
            start = prompt.casefold().find(part.casefold())
            why = f"{part!r} stands in the prompt in another way too"
            return Uncertain(prompt, start, start + len(part), why)
    pieces[::2] = [piece.replace("{", "{{").replace("}", "}}") for piece in pieces[::2]]
    template = Template("".join(pieces), where=where)
    written = "".join(prompt[name.start : name.end] for name in names)
    case = str.upper if written.isupper() else str.lower if written.islower() else str
    return Found(template, whole.first, lexicon.gender_of(whole.first), case)


@functools.lru_cache(maxsize=8)
def _every_name(listed: frozenset[str]) -> NamesOfPeople:
    """Return a lexicon of every name that the package and the caller know."""
    entries = tuple(Entry("name", {"name": (name,)}) for name in sorted(listed))
    return NamesOfPeople("names", ("name",), ("name",), entries)


def _names(
    prompt: str, spans: Sequence[tuple[int, int]], firsts: Set[str], lasts: Set[str]
) -> Iterator[_Name]:
    """Yield the names that stand in a prompt, each with the slot for it."""
    stop = 0
    for start, end in spans:
        if start < stop:
            continue
        word = prompt[start:end]
        is_first, is_last = word.casefold() in firsts, word.casefold() in lasts
        after = _SURNAME.match(prompt, end)
        last = after[1].split()[-1].casefold() if after is not None else ""
        first = _unknown_first(prompt, start)
        no_last = after is None or is_no_name(last) or in_classes(last, "demonyms", "times")
        if is_first and after is not None and (last in lasts or not no_last):
            # Middle names: "Emily Jane Walsh".
            while (more := _SURNAME.match(prompt, after.end(1))) and more[1].casefold() in lasts:
                after = more
            stop = after.end(1)
            yield _Name(start, stop, PERSON, word, after[1])
        elif is_last and (first is not None or _is_titled(prompt, start) or not is_first):
            stop = end
            if first is not None and not opens_sentence(prompt, first.start(1)):
                yield _Name(first.start(1), end, PERSON, first[1], word)
            else:
                yield _Name(start, end, LAST, "", word)
        else:
            stop = end
            yield _Name(start, end, FIRST, word, "")


def _doubtful(prompt: str, name: _Name) -> str | None:
    """Say why a name can be a part of another one, or a thing."""
    called = prompt[name.start : name.end]
    if name.slot == LAST and (first := _unknown_first(prompt, name.start)) is not None:
        return f"{first[1]!r} can be the first name before {called!r}"
    after = _SURNAME.match(prompt, name.end)
    word = after[1].casefold() if after is not None else ""
    may_be_last = word not in _SUFFIXES and (is_person(word) or not is_no_name(word))
    if after is not None and may_be_last and not after[1].isupper():
        return f"{after[1]!r} can be the last name after {called!r}"
    front = prompt[max(0, name.start - _NEAR) : name.start]
    work = _WORK_BEFORE.search(front)
    following = _WORDS_AFTER.match(prompt, name.end) if name.slot == FIRST else None
    title = _TITLE_AFTER.match(prompt, name.end)
    said = _IS_SOMETHING.match(prompt, name.end)
    words = said[1].lower().split() if said is not None else []
    thing = any(in_classes(each, *_THINGS) for each in words)
    if (
        (work is not None and is_one_of(work[1].lower(), "work_nouns"))
        or ((thing or not _TOWNS.isdisjoint(words)) and not any(map(is_person, words)))
        or (name.slot != LAST and _ARTICLE_BEFORE.search(front))
        or (  # "Adam optimizer"
            following is not None
            and opens_sentence(prompt, name.start)
            and is_noun(following[1], following[2] or "")
        )
        or (title is not None and not is_one_of(title[1].lower(), "demonyms"))
        or _FIRM_BEFORE.search(front)
        or _FIRM_AFTER.match(prompt, name.end)
    ):
        return f"{called!r} can be a thing here, and no person"
    return None


def _is_titled(prompt: str, start: int) -> bool:
    before = _WORD_BEFORE.search(prompt, max(0, start - _NEAR), start)
    return before is not None and is_title(before[1].rstrip(".").lower())


def _unknown_first(prompt: str, start: int) -> re.Match[str] | None:
    """Return the word with a capital before a last name that can be a first name."""
    before = _WORD_BEFORE.search(prompt, max(0, start - _NEAR), start)
    if before is None or not before[1][0].isupper() or is_no_name(before[1].rstrip(".").lower()):
        return None
    return before


def _alone(prompt: str, whole: _Name, names: Sequence[_Name]) -> Iterator[_Name]:
    """Yield the places of a last name that no list has: "Ms. Zandt"."""
    if not whole.last:
        return
    for match in re.finditer(rf"(?<![\w-]){re.escape(whole.last)}(?![\w-])", prompt):
        titled = _is_titled(prompt, match.start())
        if titled and not any(name.start <= match.start() < name.end for name in names):
            yield _Name(*match.span(), LAST, "", whole.last)
