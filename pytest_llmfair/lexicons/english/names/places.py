"""Whether something or somebody else bears a name: "moved to Austin", "King John"."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable, Mapping

from pytest_llmfair.lexicons.english.beside import one_case, opens_sentence
from pytest_llmfair.lexicons.english.english import LETTERS, is_one_of
from pytest_llmfair.lexicons.english.names.dates import is_short_month
from pytest_llmfair.lexicons.english.names.firms import is_business, is_firm
from pytest_llmfair.lexicons.english.names.initials import is_no_name
from pytest_llmfair.lexicons.english.names.lists import is_among_places, is_listed_with
from pytest_llmfair.lexicons.english.names.scripture import is_holy, is_of_bible
from pytest_llmfair.lexicons.english.names.things import bears_paper, is_called, is_prize
from pytest_llmfair.lexicons.english.names.towns import (
    answers_where,
    ends_place,
    is_in_state,
    is_on_route,
    is_state_of,
    is_team,
)
from pytest_llmfair.lexicons.english.names.words import (
    CAPITALS,
    STOPS,
    WORDS,
    is_bare,
    is_of_class,
    kinds_of,
    word_behind,
    word_in_front,
)
from pytest_llmfair.lexicons.english.persons.words import is_modifier, is_person
from pytest_llmfair.lexicons.english.usage import is_place as is_street

# "Henry VII", "George I of Greece", "George I, King of Greece"; not "Anna V. Lee".
_NUMERAL = re.compile(
    r"[^\S\n]+(?:(?:I[IVX]+|[VX][IVX]+)\b|[VX]\b(?!\.)|I(?:[^\S\n]+of[^\S\n]+[A-Z]"
    r"|,[^\S\n]+(?i:(?:the[^\S\n]+)?(?:holy[^\S\n]+roman[^\S\n]+|grand[^\S\n]+)?"
    r"(?:king|queen|emperor|empress|tsar|czar|pope|sultan|shah|prince|princess|duke|duchess))\b))"
)
_EPITHET = re.compile(r"[^\S\n]+the[^\S\n]+([A-Z]\w+)")
_REGION = re.compile(rf",[^\S\n]+({LETTERS})(?=([^\S\n]+(?:and|or|&)\b|,)?)")
_POSTAL = re.compile(r",[^\S\n]+([A-Z]{2})\b")
# "in Lyon, ", "at Guantanamo Bay, "
_BEHIND_TOWN = re.compile(
    r"\b(?:[Ii]n[^\S\n]+[A-Z][\w'\u2019-]+(?:[^\S\n]+[A-Z]\w+)?(?:,[^\S\n]+[A-Z]\w+)?"
    r"|[A-Z][\w'\u2019-]+[^\S\n]+(?:Bay|City|Beach|Island|Islands|Springs|County|Valley|Falls|Heights))"
    r",[^\S\n]+\Z"
)
# "in areas of Altoona, York, "
_PLACES_LISTED = re.compile(
    r"\b([A-Za-z]+)(?:[^\S\n]+of|[^\S\n]+like|,?[^\S\n]+such[^\S\n]+as|,?[^\S\n]+including|:)[^\S\n]+"
    r"(?:[A-Z][\w'\u2019-]+(?:[^\S\n]+[A-Z][\w-]+)?,?[^\S\n]+(?:and[^\S\n]+|or[^\S\n]+)?){0,4}\Z"
)
_LABEL = re.compile(r"(\w+)[\"'*]*[^\S\n]*[:=|][^\S\n]*[\"'*]*\Z")
_LABEL_MARKS = (":", "=", "|")
_POSSESSIVE = re.compile(r"['\u2019](?:s\b)?")
_IS_PLACE = re.compile(
    r"[^\S\n]+(?:is|was)[^\S\n]+(?:an?|the)[^\S\n]+(?:(?!of\b)\w+[^\S\n]+){0,2}"
    r"(?:capital|city|town|state|land|country|county|port|island|village)\b"
    r"(?=[^\S\n]+(?:of|in|that|which|where|with|on|by|near)\b|[.,;!?])"
)
_TOWN_OF = re.compile(
    r"\b(?:towns?|city|village|hamlet|township|borough|municipality|suburb)[^\S\n]+of[^\S\n]+\Z"
)
_BEFORE_TOWN = ("of", "in", "near")
_SENTENCE_STOP = re.compile(r"[.!?\n]")
_LOCATIVES = ("in", "at", "on", "the", "near", "through", "along", "via", "around", "outside")
# A score, as a club has it.
_SCORE = re.compile(
    r"[^\S\n]+(?:won|lost|drew|beat|led|trailed|win|lose|draw)\b[^.!?\n]{0,30}?\b\d{1,2}[-\u2013]\d{1,2}\b"
)
_SCORE_BEHIND = re.compile(r"[^\S\n]+\d{1,2}[-\u2013]\d{1,2}(?![\w-])")
_CLUB = re.compile(
    r"[^\S\n]+(?:F\.?C\.?|United|Athletic|Rovers|Wanderers|(?:Football|Soccer|Rugby|Cricket)[^\S\n]Club)"
    r"(?!\w)"
)
# "Chelsea, the team,"; not "Jordan, the team captain,"
_APPOSED = re.compile(
    r",[^\S\n]+(?:the|an?)[^\S\n]+(?:\w+[^\S\n]+){0,2}(?:city|town|country|state|team|club|capital|village|port)"
    r"(?=[,.;!?)]|[^\S\n]+(?:in|of|that|which|where|on|near)\b|\Z)"
)
_BEHIND_NAME = re.compile(r"[A-Z][\w-]+[^\S\n]+d[ei][^\S\n]+\Z")
# "Paris (Reuters) - The", "PARIS \u2013 The"
_DATELINE = re.compile(
    r"[^\S\n]+\((?:AP|AFP|UPI|ANI|PTI|CNN|dpa|Reuters|Xinhua|Bloomberg|[a-z]*[^\S\n]?[\d/.]*[12]\d{3})\)"
    r"[^\S\n]*(?:-{1,2}|\u2013|\u2014)[^\S\n]"
)
_DASHED = re.compile(r"[^\S\n]+[\u2013\u2014][^\S\n]+[A-Z]")
# "Abdullah II of Jordan", "Queen Rania of Jordan"
_RULER_OF = re.compile(
    r"(?:\b[IVX]{2,5}|\b(?:King|Queen|Prince|Princess|Duke|Duchess|Emperor|Empress|Sultan|Shah|Emir|Earl"
    r"|Bishop|Archbishop|Patriarch)[^\S\n]+[A-Z][\w'\u2019-]+)[^\S\n]+of[^\S\n]+\Z"
)
_NEAR = 60
_FEW = 5
_OWNERS = (
    *("my", "our", "your", "his", "her", "their", "its"),
    *("this", "that", "last", "first", "next"),
)
_Rule = Callable[[str, int, int], bool]


def is_something_else(text: str, start: int, end: int) -> bool:
    """Whether a place, a body, a firm, a book of the Bible, a saint or a ruler bears the name."""
    if text[start].isupper() and (_is_titled(text, start, end) or is_called(text, start, end)):
        return True
    if is_business(text, start, end):
        return True
    return any(rule(text, start, end) for rule in _rules_for(text[start:end].lower()))


@functools.lru_cache(maxsize=256)
def _rules_for(name: str) -> tuple[_Rule, ...]:
    kinds = kinds_of(name)
    return tuple(rule for kind, rule in _RULES.items() if kind in kinds)


def _is_titled(text: str, start: int, end: int) -> bool:
    """Whether capitalised words beside the name show it: "Lake George", "Mary University"."""
    before = word_in_front(text, start)
    if before[:1].isupper() and _begins_place(text, start, end, before):
        return True
    if is_of_class(before.lower(), "holy"):  # "the archangel Michael"
        return True
    if before in _BEFORE_TOWN and _is_town(text, start, end, before):
        return True
    if text[end : end + 1] == "," and not before[:1].isupper() and is_in_state(text, end):
        return True
    if is_of_class(before, "named_vessels") and _is_christened(text, start):
        return True
    if before.lower() in _LOCATIVES and is_street(text, end):
        return True
    following = word_behind(text, end)
    if following == "the":
        epithet = _EPITHET.match(text, end)
        return epithet is not None and is_of_class(epithet[1].lower(), "epithets")
    if following in ("is", "was"):  # "Amara is a town in Iraq"
        return _IS_PLACE.match(text, end) is not None
    if following.islower():  # the usual case at less cost
        return False
    if _NUMERAL.match(text, end) is not None:
        return True
    return _names_institution(text, end, before.lower() == "the")


def _is_town(text: str, start: int, end: int, before: str) -> bool:
    """Whether any name is a town here: "the town of Alfred", "in Alfred, Maine"."""
    if before == "of":
        return _TOWN_OF.search(text, max(0, start - _NEAR), start) is not None and (
            _POSSESSIVE.match(text, end) is None
        )
    return text[end : end + 1] == "," and _before_region(text, end)


def _is_christened(text: str, start: int) -> bool:
    """Whether a boat or a storm gets the name: "named their boat Emily"."""
    words = [word.lower() for word in WORDS.findall(text[max(0, start - _NEAR) : start])]
    return any(is_of_class(word, "named_verbs") for word in words[-_FEW:])


def _begins_place(text: str, start: int, end: int, before: str) -> bool:
    """Whether a capital in front begins the name: "Lake George", "Eau Claire, Wisconsin"."""
    word = before.lower()
    if is_of_class(word, "before_others"):
        return True
    inside = is_of_class(word, "before_others_inside")
    if not inside:
        name = text[start:end].lower()
        if text[end : end + 1] != "," or not is_of_class(name, "given"):
            return False
        if is_of_class(word, "given") or is_no_name(word) or not _before_region(text, end):
            return False
    return not opens_sentence(text, text.rindex(before, 0, start))


def _names_institution(text: str, end: int, determined: bool) -> bool:
    """Whether capitals behind name a body: "Mary Hardin University", "the Barry Railway"."""
    names = CAPITALS.match(text, end)
    if names is None:
        return False
    words = [word.lower().rstrip(".") for word in names[0].split()]
    if any(is_of_class(word, "institutions") for word in words[:4]):
        return True
    return determined and any(
        is_of_class(words[-1], kind) for kind in ("named_after", "bodies_behind")
    )


def _is_place(text: str, start: int, end: int) -> bool:
    """Whether a name that is a place too is the place: "moved to Austin", "Austin, Texas"."""
    postal = _POSTAL.match(text, end)
    if (postal and is_of_class(postal[1].lower(), "postal")) or _before_region(text, end):
        return True
    front = text[max(0, start - _NEAR) : start]
    label = _LABEL.search(front) if front.rstrip(" \t\"'*")[-1:] in _LABEL_MARKS else None
    if label is not None:
        kind = label[1].lower()
        return is_of_class(kind, "place_labels") or (
            is_of_class(kind, "answer_labels") and answers_where(text, start, end)
        )
    following = word_behind(text, end).removesuffix("'s")
    if is_of_class(following, "place_nouns") or _IS_PLACE.match(text, end):
        return True
    if text[end : end + 1] == "," and _APPOSED.match(text, end):
        return True
    if bears_paper(text, end) or _describes(text, start, end) or is_on_route(text, start, end):
        return True
    if is_among_places(text, start, end) or _is_dateline(text, start, end):
        return True
    if front[-2:-1] == "," and ends_place(text, end) and _BEHIND_TOWN.search(front):
        return True
    if front[-2:-1] == "," and is_state_of(text, start, end, front):
        return True
    listed = _PLACES_LISTED.search(front)
    if listed is not None and is_of_class(listed[1].lower(), "listed_places"):
        return True
    if is_of_class(text[start:end].lower(), "countries") and (
        _acts(text, end)
        or _ends_title(text, start)
        or text.startswith(("/", " (/"), end)  # "Israel/Hezbollah", "Kenya (/k...)"
        or is_listed_with(text, start, end, "lands")
    ):
        return True
    if (
        _SCORE.match(text, end)
        or _SCORE_BEHIND.match(text, end)
        or _CLUB.match(text, end)
        or _plays(text, end)
        or is_team(text, start, end)
    ):
        return True
    words = ["", "", *(word.lower() for word in WORDS.findall(front))]
    if is_of_class(words[-1], "said_of_clubs") and is_modifier(words[-2]):
        return True  # "their former club Chelsea"; not "the club Chelsea joined"
    part = is_of_class(words[-1], "place_prepositions")
    if part and not is_one_of(words[-1], "prepositions"):  # "South Dakota's"
        return True
    owner = _POSSESSIVE.match(text, end)
    if owner is not None:
        owned = word_behind(text, owner.end()).lower()
        country = is_of_class(text[start:end].lower(), "countries")
        return is_of_class(owned, "place_owns") or (country and is_of_class(owned, "country_owns"))
    if is_of_class(words[-1], "taken"):  # "fled Paris"
        return True
    if is_of_class(words[-1], "toured"):
        land = is_of_class(text[start:end].lower(), "visited_lands")
        if _has_sights(text, end) or (land and STOPS.match(text, end)):
            return True
    if words[-1] in ("de", "di") and _BEHIND_NAME.search(front):
        return True  # "Universidad de Cuba"; "Maria de Jordan" has nobody's first name there
    if words[-1] == "reached":
        return word_behind(text, end) == "in" or STOPS.match(text, end) is not None
    if words[-1] == "into":
        return is_of_class(words[-2], "crossed_into")
    if part:
        return words[-1] != "in" or not any(is_of_class(w, "said_with_in") for w in words[-3:-1])
    if words[-1] == "of":
        if _RULER_OF.search(front):
            return True
        return is_of_class(words[-3 if words[-2] == "," else -2], "place_heads")
    if words[-1] == "for":
        return is_of_class(words[-2], "left_for")
    if words[-1] == "from" and _comes(words[-2], words[-3]):
        return True
    return words[-1] in ("to", "from") and _is_way(words[:-1])


def _plays(text: str, end: int) -> bool:
    """Whether a club plays against another: "Chelsea beat Arsenal"."""
    words = text[end : end + _NEAR].lower().split()[:2]
    if len(words) < 2 or not is_of_class(words[0], "played"):
        return False
    return is_of_class(words[1].strip(".,;!?"), "other_clubs")


def _acts(text: str, end: int) -> bool:
    """Whether a country does something: "Jordan has ratified the treaty"."""
    words = text[end : end + _NEAR].lower().split()
    if words and words[0] in ("has", "had", "also", "never"):
        words = words[1:]
    if len(words) < 2:
        return False
    aims = is_of_class(words[0], "aimed_at") and is_of_class(words[1].strip(".,;"), "state_aims")
    return aims or is_of_class(words[0], "state_acts")


def _ends_title(text: str, start: int) -> bool:
    """Whether a capital in front names something of a country: "Team India", "Air China"."""
    front = word_in_front(text, start)
    if not front[:1].isupper() or is_no_name(front.lower()) or opens_sentence(text, start):
        return False
    if is_of_class(front.lower(), "given") or is_of_class(front.lower(), "given_words"):
        return False
    return not opens_sentence(text, text.rindex(front, 0, start)) and not one_case(text)[1]


def _is_dateline(text: str, start: int, end: int) -> bool:
    """Whether news begin with it as their place."""
    if text[start - 1 : start] not in ("", "\n"):
        return False
    if _DATELINE.match(text, end):
        return True
    name = text[start:end]
    return name.isupper() and _DASHED.match(text, end) is not None and not one_case(text)[1]


def _describes(text: str, start: int, end: int) -> bool:
    """Whether it tells where a thing is: "an Austin apartment"; not "a Jordan dressed in red"."""
    following, front = word_behind(text, end), word_in_front(text, start).lower()
    if following.isdigit():  # "the Camden 28"
        return front == "the"
    if not following.islower() or is_one_of(following, "closed"):
        return False
    if front == "the":  # "the Austin offices"
        return is_bare(following.removesuffix("s")) and not is_of_class(following, "families")
    if following.endswith(("ed", "ing", "ly", "s")):  # "my Jordan plays"
        return False
    return front in ("a", "an") or (front in _OWNERS and is_bare(following))


def _before_region(text: str, end: int) -> bool:
    region = _REGION.match(text, end)
    if region is None or not region[1][0].isupper():
        return False
    name = region[1].lower()
    return is_of_class(name, "regions") or (
        is_of_class(name, "regions_at_end") and region[2] is None
    )


def _has_sights(text: str, end: int) -> bool:
    """Whether the same sentence tells what is seen there: "visit Paris for the museums"."""
    behind = _SENTENCE_STOP.split(text[end : end + 2 * _NEAR], maxsplit=1)[0].lower()
    return any(is_of_class(word, "sights") for word in WORDS.findall(behind))


def _is_way(words: list[str]) -> bool:
    """Whether somebody moves: "flew back", "a train", "moved from Lyon"."""
    while words and is_of_class(words[-1], "motion_adverbs"):
        words = words[:-1]
    if len(words) > 2 and words[-2] == "from":
        words = words[:-2]
    if words and is_of_class(words[-1], "moved"):
        return True
    near = words[-_FEW:]  # "drove his old truck to"
    return not any(mark and not mark.isalpha() for mark in near) and any(
        is_of_class(verb, "driven_to")
        and is_one_of(following, "determiners")
        and "and" not in near[at:]
        for at, (verb, following) in enumerate(itertools.pairwise(near))
    )


def _comes(word: str, earlier: str) -> bool:
    """Whether people come from there: "a student from Georgia", "she is from Austin"."""
    return (
        is_person(word)
        or is_of_class(word, "anybody")
        or word in ("i'm", "she's", "he's", "we're", "they're", "you're")
        or (
            word in ("am", "is", "are", "was", "were", "come", "comes", "came")
            and (is_one_of(earlier, "subjects_of_clauses") or is_person(earlier))
            and earlier != "it"
        )
    )


def _is_feeling(text: str, start: int, end: int) -> bool:
    return is_listed_with(text, start, end, "feelings")


def _is_weekday(text: str, start: int, end: int) -> bool:
    return is_listed_with(text, start, end, "weekdays")


def _is_month(text: str, start: int, end: int) -> bool:
    return is_listed_with(text, start, end, "full_months")


# Class of a name to the rule that tells what else bears it.
_RULES: Mapping[str, _Rule] = {
    "bible_books": is_holy,
    "holy_persons": is_of_bible,
    "firms": is_firm,
    "short_months": is_short_month,
    "prizes": is_prize,
    "virtues": _is_feeling,
    "months": _is_month,
    "weekdays": _is_weekday,
    "places": _is_place,
}
