"""Roles of "her" and "his": "saw her", "her book"; and "she" for a ship, an animal or a god."""

from __future__ import annotations

import re
from collections.abc import Collection

from pytest_llmfair.lexicons.english.context import (
    FAR,
    context_of,
    low,
    one_case,
    opens_sentence,
    word_before,
)
from pytest_llmfair.lexicons.english.object_readings import object_reading
from pytest_llmfair.lexicons.english.pronoun_context import (
    ARTICLES,
    COPULAS,
    MODALS,
    OBJECT,
    OWNER,
    SUBJECTS,
    PronounContext,
    PronounReading,
    describes,
    ends,
    is_bare_verb,
    is_plural_of_things,
    is_rather_verb,
    words_after,
    words_around,
)
from pytest_llmfair.lexicons.english.words import (
    is_adverb,
    is_closed,
    is_final,
    is_ly_adverb,
    is_number,
    is_one_of,
    is_participle,
    is_person,
    is_time,
)
from pytest_llmfair.lexicons.grammar import Verdict

PERSONAL_PRONOUNS = frozenset(
    (
        *("she", "her", "hers", "herself", "he", "him", "his", "himself"),
        *("xe", "xem", "xyr", "xyrs", "xemself"),
    )
)
DETERMINER = "possessive_determiner"
PRONOUN = "possessive_pronoun"
CASES = frozenset(("object", DETERMINER, PRONOUN))

_JOINS = ("or", "and", "nor", "/", "&")
_OTHER_OWNERS = ("their", "my", "your", "our", "its")
# "and Tom's", "and her husband's", "and my old school friends'".
_OWNER = re.compile(
    r"\s(?:and|n?or|&)\s(?:(?i:my|your|our|their|his|her|the)\s(?:[\w-]{1,30}\s){0,2}[\w-]{1,30}"
    r"|(?:[A-Z][\w.-]{0,30}\s){0,2}[A-Z][\w-]{0,30}|(?:every|some|any|no)(?:one|body))(?:['\u2019]s|(?<=s)['\u2019])(?=\s)"
)
# "his, her and my shoes"
_LIST = re.compile(
    r"(?:,\s(?:her|his|my|your|our|their|its)){1,8},?\s(?:and|n?or|&)\s"
    r"(?:(?:her|his|my|your|our|their)|[\w ]{1,30}['\u2019]s)\s[\w-]",
    re.IGNORECASE,
)
_GIVEN = re.compile(r"\b(?i:give|gives|gave|given|giving)\s(?:[\w'\u2019-]+\s){0,4}\Z")
_THAT_OF = re.compile(r"\b(?i:this|that)\s(?:\w+\s){1,2}of\s\Z")  # "that car of his"
_ELLIPSES = ("", "...", "....", "\u2026")


def role(text: str, start: int, end: int, roles: Collection[str]) -> Verdict:
    """Return the role of the pronoun ``text[start:end]``; "" if it refers to a thing."""
    if stands_for_thing(text, start, end):
        return Verdict("")
    verdict = _role(text, start, end, roles) if len(roles) > 1 else Verdict(next(iter(roles)))
    if verdict.sure and is_capital_inside(text, start, end):
        why = f"{text[start:end]!r} inside a sentence can be part of a title"
        return verdict._replace(sure=False, why=why)
    return verdict


def _role(text: str, start: int, end: int, roles: Collection[str]) -> Verdict:
    """Return the one of several roles that a pronoun has."""
    around = words_around(text, start, end)
    is_her = "object" in roles
    reading = _her(around) if is_her else _his(around)
    if reading.is_object:
        answer = "object" if is_her else PRONOUN
    else:
        answer = DETERMINER
        if owned_by_thing(text, start, end, around.after[:2]):
            return Verdict("")
    if reading.sure:
        return Verdict(answer)
    why = f"{text[start:end]!r} before {around.raw!r} can be the object or the owner"
    return Verdict(answer, False, why)


def _her(around: PronounContext) -> PronounReading:
    """Return whether "her" is an object."""
    first, before = around.after[0], around.before
    if before[0] in ("him", "xem") and before[1] in ("or", "/"):
        return OBJECT
    if (before[1] == "/" and before[0] in ("she", "he", "xe")) or before[1] in ("a", "an"):
        return OBJECT
    if first in _JOINS:
        return OWNER if _shares_owned(around) else OBJECT
    if not first[:1].isalnum():
        return OWNER if _is_in_list(around) or _breaks_off(around) else OBJECT
    if not _noun_follows(around):
        return OBJECT
    return object_reading(around) or OWNER


def _his(around: PronounContext) -> PronounReading:
    """Return whether "his" stands alone, like "hers"."""
    first, second, third, _ = around.after
    before = around.before
    if first in _JOINS:
        other = second in _OTHER_OWNERS and not is_final(third)
        shared = other or second in ("her", "xyr") or _his_is_shared(around)
        return OWNER if shared else OBJECT
    if not first[:1].isalnum():
        return OWNER if _is_in_list(around) or _breaks_off(around) else OBJECT
    if is_one_of(first, "finite_verbs"):
        return OBJECT
    if before[1] == "of" and _acts_of_his(around):
        return OBJECT
    return OWNER if _noun_follows(around) else OBJECT


def _noun_follows(around: PronounContext) -> bool:
    """Whether the next words can begin the noun phrase of a possessive."""
    first, second, third, _ = around.after
    verb = around.before[1]
    if first in ("all", "everything"):
        return _is_effort(around)
    if first == "used" and second == "to":  # "me and her used to swim"
        return False
    if first == "every":
        often = second in ("now", "so", "once") or is_final(second) or is_number(second)
        often = often or is_one_of(second, "frequencies") or is_one_of(third, "frequencies")
        return not (often or around.is_after("gives"))
    if is_closed(first) and not _opens_phrase(around):
        quoted = around.is_quoted() and around.raw[:1].isupper()
        return quoted and verb not in ("to", "at")  # 'her "On Language" column'
    if is_participle(first) and not is_one_of(first, "nouns_in_ed") and around.ends_at_second():
        quoted = around.is_quoted() and around.raw[:1].isupper()  # 'her "Haunted" tour'
        return quoted or ("-" in first and second == ",")
    if first in ("most", "more") and is_ly_adverb(second) and is_final(third):
        return False  # "thanked her most sincerely"
    if first in MODALS and (is_bare_verb(second) or is_rather_verb(second) or second == "be"):
        return False  # "those who know her will agree"
    if is_final(second):
        return not is_adverb(first) or _describes_on(around)
    adverb = first.endswith("ly") or is_one_of(first, "closed_if_final")
    return not (adverb and first not in ("next", "last") and is_time(second, third))


def _is_effort(around: PronounContext) -> bool:
    """Whether "all" means all effort: "gave it her all"; not "gave her all of it"."""
    first, second, third, _ = around.after
    if second == "into" or (second == "this" and third != "time"):
        return True
    clause = second in SUBJECTS or second in ("of", "about", "at", "but", "that", "is", "was")
    if not is_final(second) or second in ARTICLES or clause:
        return False
    front = around.front()
    given = _GIVEN.search(front)
    return given is not None and (first == "all" or " " in given[0].strip())


def _describes_on(around: PronounContext) -> bool:
    """Whether an adjective goes on after a comma or "and": "her long, dark hair"."""
    _, join, third, fourth = around.after
    comma = join == ","
    if comma:
        raw, following = words_after(around.text, around.text.find(",", around.end) + 1, 2)
        if not raw[:1].islower():
            return False
        third, fourth = low(raw), low(following)
    if join not in (",", "and", "but", "yet", "or", "if") or is_final(third) or is_final(fourth):
        return False
    adjective = describes(third) or is_one_of(third, "comparatives")
    formed = third.endswith(("ish", "ic", "al", "ive", "ent", "ant", "ary", "y", "en"))
    going = fourth.endswith("ing") or is_adverb(fourth)
    verb = (
        is_bare_verb(third)
        or is_plural_of_things(third)
        or third.endswith("ing")
        or is_number(third)
    )
    return (adjective or formed or (comma and not is_participle(third))) and not (going or verb)


def _opens_phrase(around: PronounContext) -> bool:
    """Whether a word that mostly ends a phrase begins it here: "her already full diary"."""
    first, second, third, fourth = around.after
    if is_one_of(f"{first}-{second}", "time_before_adjectives"):  # "her by now famous soup"
        return not is_final(fourth) and not is_final(third)
    opens = is_one_of(first, "goes_before_adjectives")
    if opens and second in ("so", "very", "too"):  # "her not so subtle hints"
        return not ends(third) and not is_final(fourth)
    if is_final(second):
        return False
    forms = (second, second.removesuffix("s"))
    if any(is_one_of(f"{first}-{form}", "closed_compounds") for form in forms):
        return not around.is_after("gives")  # "gave her inside information"
    if not opens or is_final(third) or is_time(third, ""):
        return False
    return describes(second) or is_one_of(second, "comparatives")


def _shares_owned(around: PronounContext) -> bool:
    """Whether a person shares with her what follows: "her and Tom's place", "her or his car"."""
    join, other, third, fourth = around.after
    opens = not around.before[1][:1].isalnum() or is_one_of(around.before[1], "clause_openers")
    opens = opens or around.before[1] == "both"
    if other in ("his", "xyr"):
        several = third.endswith("s") and not is_person(third)  # "her and his salaries"
        return join != "and" or opens or several
    if other in _OTHER_OWNERS:
        if is_final(third):
            return False
        persons = is_person(third) or (bool(fourth) and is_person(fourth))
        return join not in ("and", "nor") or (opens and not persons)
    owned = _owned(around)
    if not owned or opens:
        return bool(owned)
    return not any(map(is_person, filter(None, owned)))


def _his_is_shared(around: PronounContext) -> bool:
    """Whether a person shares with him what follows; not "it is his and Tom's car is new"."""
    owned = _owned(around)
    if owned is None:
        return False
    after_copula = around.before[1] in COPULAS and around.before[0][:1].isalnum()
    return not (after_copula and is_closed(owned[1]))


def _owned(around: PronounContext) -> tuple[str, str] | None:
    """Return the two words after another owner: "her and (Tom's) late uncle"; None for none."""
    owner = _OWNER.match(around.text, around.end)
    if owner is None:
        return None
    noun, following = map(low, words_after(around.text, owner.end(), 2))
    if is_final(noun) or is_adverb(noun) or (describes(noun) and is_final(following)):
        return None
    going = noun.endswith("ing") and not is_one_of(noun, "things_in_ing")
    return None if going else (noun, following)


def _is_in_list(around: PronounContext) -> bool:
    return around.after[0] == "," and _LIST.match(around.text, around.end) is not None


def _acts_of_his(around: PronounContext) -> bool:
    """Whether a verb follows "of his": "a friend of his works here", "that car of his broke"."""
    first, second = around.after[:2]
    owner = around.before[0].removesuffix("s")
    verb = first.removesuffix("s")
    known = is_bare_verb(verb) or is_rather_verb(verb)
    named = first.endswith("s") and is_one_of(second, "finite_verbs")
    if is_one_of(owner, "acquaintances"):
        past = (is_participle(first) and first != "beloved") or is_one_of(first, "acted")
        return past or (known and not named)
    if _THAT_OF.search(around.front()) is None or not first.endswith("s"):
        return False
    goes_on = is_final(second) or is_adverb(second) or second in ARTICLES
    return goes_on and (known or is_one_of(verb, "verbs_or_nouns"))


def _breaks_off(around: PronounContext) -> bool:
    """Whether the text ends where a noun is to come: "Although her", "In 1998, her"."""
    text, end = around.text, around.end
    if text[end : end + 12].strip() not in _ELLIPSES or len(text) > end + 12:
        return False
    further, word = around.before
    listed = further in PERSONAL_PRONOUNS  # "her, his"
    return (word == "," and not listed) or is_one_of(word, "clause_openers")


_WINDOW = 110
# Verbs of ships: "She sank", "she was launched".
_SHE_IS = re.compile(
    r" (?:sank|capsized|foundered|ran aground|displaced|"
    r"(?:was|is|had been|has been|being) (?:later |then |finally |also |first |soon )?"
    r"(?:launched|built|scrapped|torpedoed|wrecked|refitted|christened|commissioned|"
    r"decommissioned|scuttled|salvaged|sunk|beached|moored|laid down))\b"
)
_ANIMALS = {
    "her": r"lioness|tigress|she-wolf|mare|filly|heifer|cow|ewe|hen|sow|vixen|queen (?:bee|ant)",
    "his": r"stallion|gelding|bull|bullock|ram|rooster|cockerel|stag|gander|tomcat",
}
_KINDS = {word: re.compile(rf"\b(?:{kinds})\b", re.IGNORECASE) for word, kinds in _ANIMALS.items()}
_GOD = re.compile(
    r"\b(?:God|Jesus|Christ|Allah|Yahweh|Jehovah|Almighty|Savio(?:u)?r|Messiah|Redeemer|Creator"
    r"|Holy (?:Spirit|Ghost)|Lord(?! [A-Z]))\b"
)
_TITLE = re.compile(r"\b(?:film|movie|novel|album|watched|directed|starred in)\s[\"\u201c*_]*\Z")
# Two such words show a sentence; headlines have capitals.
_SMALL = re.compile(r"\b[a-z]{4,}\b")
_NEXT_TO = re.compile(
    r"(?i:\s?(?:[/,&]|and\b|or\b)\s?(?:she|hers?|he|him|his|theirs?|them|they)\b)"
)


def stands_for_thing(text: str, start: int, end: int) -> bool:
    """Whether a pronoun refers to a ship, an animal or a god, or is an acronym: "the HIS"."""
    word = text[start:end]
    if word.isupper() and not one_case(text)[1]:
        before, _ = word_before(text, start)
        named = low(before) in ARTICLES and not before.isupper()
        return named and not _NEXT_TO.match(text, end)
    if is_capital_inside(text, start, end):
        near = text[max(0, start - FAR) : end + FAR]
        before, _ = word_before(text, start)
        surname = word == "He" and before.istitle() and not ends(low(before))  # "Kaiming He"
        film = _TITLE.search(text, max(0, start - FAR), start)
        return surname or film is not None or _GOD.search(near) is not None
    word = word.lower()
    if word in ("herself", "himself"):
        return _is_animal(text, start, "her" if word == "herself" else "his")
    return word == "she" and _SHE_IS.match(text, end) is not None and _is_near(text, start)


def is_capital_inside(text: str, start: int, end: int) -> bool:
    """Whether a pronoun has a capital that no sentence or headline gives it: "directed Her"."""
    if not text[start:end].istitle() or not word_before(text, start)[0]:
        return False
    if opens_sentence(text, start) or _NEXT_TO.match(text, end):
        return False
    near = text[max(0, start - FAR) : end + FAR]
    return len(_SMALL.findall(near)) > 1


def owned_by_thing(text: str, start: int, end: int, after: tuple[str, ...]) -> bool:
    """Whether a ship or an animal owns what follows: "the frigate lost her mast"."""
    if any(is_one_of(word, "ship_parts") for word in after):
        return text[start:end].lower() == "her" and _is_near(text, start)
    if any(is_one_of(word, "animal_parts") for word in after):
        return _is_animal(text, start, text[start:end].lower())
    return False


def _is_near(text: str, start: int) -> bool:
    """Whether a ship comes before the pronoun, with no person between them."""
    found = False
    before = ""
    for written in _words_before(text, start, _WINDOW):
        word = low(written).removesuffix("'s")
        if is_one_of(word, "ship_words"):
            found = True
        elif _may_be_person(written, word) and not (
            written[0].isupper() and is_one_of(before, "ship_words")
        ):
            return False  # "the frigate Surprise" is the ship
        before = word
    return found


def _is_animal(text: str, start: int, word: str) -> bool:
    """Whether an animal in the sentence is meant, and no person can be: no "Ann's hen"."""
    begin = 1 + max(text.rfind(mark, 0, start) for mark in ".!?\n")
    begin = max(begin, start - _WINDOW)
    if word not in _KINDS or not _KINDS[word].search(text, begin, start):
        return False
    return not any(
        _may_be_person(written, low(written))
        for written in _words_before(text, start, start - begin)
        if not is_one_of(low(written), "animals")
    )


def _words_before(text: str, start: int, reach: int) -> list[str]:
    return [word for word in context_of(text).before(start, reach) if word[0].isalpha()]


def _may_be_person(raw: str, word: str) -> bool:
    if is_closed(word):
        return word in ("she", "her", "hers", "herself", "he", "him", "his", "himself")
    return raw[0].isupper() or is_person(word)
