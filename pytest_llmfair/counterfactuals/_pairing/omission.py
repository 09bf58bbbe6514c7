"""Unmarked groups by omission: "my blind neighbour" becomes "my neighbour".

Texts do not say that somebody is sighted, straight or cisgender, so the natural twin leaves the
words out. What cannot be left out ("She is blind.", "She is a lesbian.") gives no such twin.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Collection, Sequence

from pytest_llmfair.counterfactuals._lexicons.terms import Sense
from pytest_llmfair.counterfactuals._pairing.statements import is_all_said
from pytest_llmfair.counterfactuals.lexicon import Change, Lexicon, Reading
from pytest_llmfair.lexicons.english.english import WORD, is_one_of
from pytest_llmfair.lexicons.english.persons.rules import speaks_of_person
from pytest_llmfair.lexicons.english.persons.words import is_adjective, is_person, is_verb
from pytest_llmfair.lexicons.english.writing import (
    article_before,
    begins_sentence,
    capitalized,
    refitted,
)

_HAVE = r"has|have|had|(?:(?:is|are|was|were)\s+)?(?:living|lives?|lived|born)\s+with"
# "with" and "living with" need a person in front; a relative clause tells by itself.
_WITH = re.compile(
    rf"(?P<person>{WORD})(?P<comma>,?)(?:\s+(?:(?P<who>(?:who|that)\s+(?:{_HAVE}))"
    r"|(?:living\s+|born\s+)?with)\s+)\Z",
    re.IGNORECASE,
)
_WHO_IS = re.compile(
    rf"(?P<person>{WORD})(?P<comma>,?)(?:\s+(?P<who>who|that)(?:\s+(?:is|are|was|were)|['\u2019]s)"
    rf"(?:\s+[^\W_]+ly)?\s+)\Z",
    re.IGNORECASE,
)
_WHO_DOES = re.compile(
    rf"(?P<person>{WORD})(?P<comma>,?)(?:\s+(?P<who>who|that)\s+)\Z", re.IGNORECASE
)
_DOING = re.compile(
    rf"(?P<person>{WORD})(?P<comma>,?)(?:\s+(?:(?P<who>(?:who|that)\s+(?:is|are|was|were))\s+)?)\Z",
    re.IGNORECASE,
)
# How a mention of a role hangs on the noun in front.
_PHRASES = {
    "noun": _WITH,
    "adjective": _WHO_IS,
    "verb phrase": _WHO_DOES,
    "attribute": _DOING,
}
_BEHIND = re.compile(rf"[^\S\n]*(?P<word>{WORD}|\S|\n|\Z)")
_ADVERB = re.compile(rf"(?P<adverb>{WORD})\s+\Z")
_JOINED = re.compile(
    rf"(?:(?P<before>{WORD})\s+)?(?P<word>{WORD})(?P<join>,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)\Z"
)
_JOIN = re.compile(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+", re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_FIRST = re.compile(WORD)
# Here the sentence is about the group: "any openly gay men", "because it has a gay CEO".
_MATTERS = re.compile(
    r"(?:\b(?:any|all|every|each|no|only|first|whether|one|such\sas|including|especially|namely)"
    r"|\bbecause[^.!?;,]{0,40}\s(?:an?|of|is|are))"
    r"\s(?:[a-z]{3,12}ly\s)?\Z",
    re.IGNORECASE,
)
# "My gay friend and my bisexual friend", "gays and other minorities"
# "a gay dad is less of a dad"
_AGAINST = re.compile(
    r"\s(\w{3,})\s(?:(?:and|or|but)\s(?:\w+\s){1,2}|(?:is\s)?(?:less|more)\sof\san?\s)\1\b",
    re.IGNORECASE,
)
_AND_OTHERS = re.compile(r"(?:\s\w+)?,?\s(?:and|or)\sother\b", re.IGNORECASE)
# Nobody is left of "those with asthma".
_BARE = (
    "one",
    "ones",
    "those",
    "another",
    "other",
    "others",
    "many",
    "some",
    "them",
    "us",
    "whom",
)
_PEOPLE = re.compile(r"\bpeople\b", re.IGNORECASE)
# Others are told by what follows: "people with epilepsy"
_PLAIN_PEOPLE = re.compile(r"\bpeople\b(?!\s+(?:with|without|who|living|in)\b)", re.IGNORECASE)
_COMPARED = re.compile(r"\b(?:than|compared|versus|unlike)\b", re.IGNORECASE)
_STOP = re.compile(r"[.!?;\n]")
# "Gays and sinners" are no "people and sinners"
_ANOTHER = re.compile(
    r"\s(?:and|or)\s(?!(?:an?|one|two|another|some|their|his|her|my|the|they|we|you|i|he|she|it|to|how|is|are|in)\b)\w"
)
_SINCE = re.compile(r"\s(?:since|from|by)\b")  # "a quadriplegic since 1994"
_AND_THE = re.compile(r"\s(?:and|or)\s(?:the\s)?", re.IGNORECASE)
_DOES = re.compile(r"[^\W\d_]+[^\Wsu]s", re.IGNORECASE)
_OTHER = re.compile(r"[^.!?;]{0,60}\b(?:the other|another|the latter)\b", re.IGNORECASE)
_ENDS = frozenset('.;:!?)]\u201d"\n')
_PRONOUNS = ("i", "he", "she", "they", "we", "who")  # no phrase belongs to them
_INTRODUCES = ("in", "as", "for", "of")  # "in general, blind people"
_PARTS = ("that", "which", "of", "since", "because", "due", "caused")
_NEAR = 60
_BESIDE = 9  # the length of " people", and of "people " in front of "with"
_FAR = 160


def omitted(
    lexicon: Lexicon,
    text: str,
    found: Reading,
    groups: Collection[str],
    others: Sequence[Change] = (),
) -> list[Change] | None:
    """Tell what to leave out so that the text no longer names some groups.

    Neutral nouns of the lexicon stand in for nouns that name the group. The changes are in order,
    with articles and capitals repaired and the `others` (exchanges of other groups in the same
    text) among them; None where some mention cannot be left out.
    """
    changes: list[Change] = []
    for start, end, sense in found:
        if sense.entry is None or sense.group not in groups:
            continue
        made = _left_out(lexicon, text, (start, end, sense))
        if made is None or (changes and made[0].start < changes[-1].end):
            return None
        nouns = bool(changes and changes[-1].after and made[-1].after)
        if nouns and _AND_THE.fullmatch(text, changes[-1].end, start):
            return None  # "the gays and the lesbians"
        if _leaves_people(text, end, made) and (
            _is_joined(text, start) or _are_beside(text, start, end, found)
        ):
            return None
        changes += made
    return _merged(changes, others) if changes else None


def _merged(changes: list[Change], others: Sequence[Change]) -> list[Change] | None:
    """Put exchanges among what is left out; None where the two overlap.

    The word that has become the first of a sentence can be exchanged: "Blind women", "Men".
    """
    merged: list[Change] = []
    for change in sorted((*changes, *others), key=lambda change: change[:2]):
        last = merged[-1] if merged else None
        if last is None or last.end <= change.start:
            merged.append(change)
        elif last.after and last.end == change.end:
            merged[-1] = last._replace(after=capitalized(change.after))
        else:
            return None
    return merged


def _left_out(lexicon: Lexicon, text: str, found: tuple[int, int, Sense]) -> list[Change] | None:
    start, end, sense = found
    if text[max(0, start - 1) : start] == "-" or _matters(text, start, end):
        return None  # "non-gay people"
    pattern = _PHRASES.get(sense.role)
    if pattern is not None and (cut := _phrase(pattern, text, start, end)):
        return [Change(*cut, "", sense.group)]
    attributive = sense.role == "adjective" or _may_describe(text, end, sense)
    if attributive and _stands_before_person(text, start, end):
        if is_all_said(text, start, end, noun=False):
            return None
        made = _attribute(text, start, end, sense.group)
        if made is not None or sense.role == "adjective":
            return made
    noun = lexicon.neutral_nouns.get(sense.term.casefold())
    if noun is None or _is_before_noun(text, end, sense) or _ANOTHER.match(text, end):
        return None
    if not _is_noun(lexicon, text, start, sense) or _SINCE.match(text, end):
        return None
    adverb = _ADVERB.search(text, max(0, start - _NEAR), start)
    if adverb is not None and adverb["adverb"].lower().endswith("ly"):
        return None  # "an openly lesbian woman"
    if is_all_said(text, start, end, noun=True):
        return None
    made = lexicon.change(text, found, noun, sense.group)
    return [*made[:-1], made[-1]._replace(sense=None, becomes="")]


def _may_describe(text: str, end: int, sense: Sense) -> bool:
    """Whether a noun can be said of another: "a lesbian mayor"; not "a blind person cooks"."""
    one = sense.role == "noun" and sense.term[-1] != "s" and " " not in sense.term
    return one and _AND_THE.match(text, end) is None  # "a lesbian and good cook"


def _leaves_people(text: str, end: int, made: list[Change]) -> bool:
    """Whether "people" and no more is left of a mention."""
    near = made[-1].after or text[max(0, made[0].start - _BESIDE) : end + _BESIDE]
    return _PEOPLE.search(near) is not None


def _is_joined(text: str, start: int) -> bool:
    """Whether other persons stand in front: "women and gay people" are no "women and people"."""
    before = _JOINED.search(text, max(0, start - _NEAR), start)
    if before is None or before["join"].strip() == ",":
        return False
    return is_person(before["word"].lower())


def _are_beside(text: str, start: int, end: int, found: Reading) -> bool:
    """Whether the sentence speaks of people in general: "most people think that gay people"."""
    begin = max(0, start - _FAR)
    begin = max([begin, *(stop.end() for stop in _STOP.finditer(text, begin, start))])
    stop = _STOP.search(text, end, end + _FAR)
    last = stop.start() if stop else end + _FAR
    places = (bisect.bisect_left(found, at, key=lambda each: each[0]) for at in (begin, last))
    named = [(first, behind + _BESIDE) for first, behind, _ in found[slice(*places)]]
    if _COMPARED.search(text, begin, last):  # "do gay people earn more than bisexual people"
        named = [(begin, end + _BESIDE)] if _COMPARED.search(text, end, last) else [(start, last)]
    return any(
        not any(first <= other.start() <= behind for first, behind in named)
        for other in _PLAIN_PEOPLE.finditer(text, begin, last)
    )


def _matters(text: str, start: int, end: int) -> bool:
    """Whether the sentence is about the group, so that it cannot be left unsaid."""
    if _AGAINST.match(text, end) is not None or _AND_OTHERS.match(text, end) is not None:
        return True
    before = _MATTERS.search(text, max(0, start - _NEAR), start)
    if before is None:
        return False
    one = before[0][:3].lower() == "one"
    return not one or _OTHER.match(text, end) is not None


def _is_noun(lexicon: Lexicon, text: str, start: int, sense: Sense) -> bool:
    """Whether a noun can stand in: for "a young lesbian", not for "she is lesbian"."""
    if sense.term.endswith("s") or all(s.role != "adjective" for s in lexicon.senses(sense.term)):
        return True
    words = text[max(0, start - _NEAR) : start].lower().split()
    while words and is_adjective(words[-1]):
        words.pop()
    return bool(words) and is_one_of(words[-1], "determiners")


def _is_before_noun(text: str, end: int, sense: Sense) -> bool:
    """Whether an adjective is no noun here: "the lesbian bar", "one lesbian and one straight"."""
    if sense.role != "adjective" or sense.entry is None:
        return False
    match = _BEHIND.match(text, end)
    word = match["word"].lower() if match else ""
    return word[:1].isalpha() and not (
        is_one_of(word, "closed") or is_one_of(word, "finite_verbs")
    )


def _phrase(pattern: re.Pattern[str], text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of "who is blind" or "with epilepsy" that a mention ends, or None."""
    before = pattern.search(text, max(0, start - _NEAR), start)
    if before is None:
        return None
    who = before["who"] is not None
    if not who and (before["comma"] or not _is_person(before["person"])):
        return None
    if before["person"].lower() in ("he", "she", "they", "it", "and", "or", *_BARE):
        return None
    match = _BEHIND.match(text, end)
    word = match["word"] if match else ""
    begin = before.start("comma")
    if before["comma"]:  # between commas; the second goes too
        if word == ",":
            return begin, text.index(",", end) + 1
        return (begin, end) if word in _ENDS or not word else None
    if not word or word in _ENDS or word == ",":
        return (begin, end) if word != "," or _goes_on(text, text.index(",", end) + 1) else None
    low = word.lower()
    if match is not None and low in ("and", "or", "but"):  # "and her mother", not "and asthma"
        return (begin, end) if _goes_on(text, match.end()) else None
    if not word[0].isalnum() or low in _PARTS:
        return None
    # "who is blind in one eye", "who is deaf from birth": more is said of it.
    adjective = pattern is not _WITH and is_one_of(low, "closed")
    verb = low in ("do", "does", "did") or any(
        is_one_of(low, kind)
        for kind in ("be", "verb_chain", "plural_verbs", "modals", "finite_verbs")
    )
    if adjective or pattern is _WHO_IS:  # "individuals who are blind law graduates"
        return (begin, end) if verb or is_verb(low, "", bare=True) else None
    return begin, end


def _goes_on(text: str, at: int) -> bool:
    """Whether a clause or another person comes, and no further item of a list."""
    match = _BEHIND.match(text, at)
    word = match["word"].lower() if match else ""
    return word not in ("a", "an") and any(
        is_one_of(word, kind) for kind in ("person_subjects", "determiners")
    )


def _attribute(text: str, start: int, end: int, group: str) -> list[Change] | None:
    """Leave out an adjective before its noun, with its adverb or with the "and" beside it."""
    adverb = _ADVERB.search(text, max(0, start - _NEAR), start)
    if adverb is not None and _is_adverb(adverb["adverb"].lower()):
        start = adverb.start()
        adverb = _ADVERB.search(text, max(0, start - _NEAR), start)
    if adverb is not None and adverb["adverb"].lower() in ("both", "either", "neither"):
        return None
    joined = _JOINED.search(text, max(0, start - _NEAR), start)
    if joined is not None:
        word = joined["word"].lower()
        if _is_adjective(word) and (joined["before"] or "").lower() not in _INTRODUCES:
            return [Change(joined.start("join"), end, "", group)]  # "a tall, blind man"
        # "children and blind people" and "in town, blind people" keep what joins them; a word that
        # is in no list may be an adjective.
        article = article_before(text, joined.start("word"))
        if not is_person(word) and (article is not None or joined["join"].strip() != ","):
            return None
    rest = _JOIN.match(text, end) or _BLANKS.match(text, end)
    if rest is None:
        return None
    stop = rest.end()
    match = _FIRST.match(text, stop)
    if match is not None and is_one_of(match[0].lower(), "bare_groups"):
        return None  # "the community" is no twin of "the gay community"
    if match is not None and _DOES.fullmatch(match[0]) and article_before(text, start):
        return None  # "a diabetic cooks"
    if (
        rest[0].isspace() and "\n" in rest[0] and text[start - 1 : start] == " "
    ):  # the line break stays
        start, stop = start - 1, end
    return _mended(text, start, stop, group)


def _mended(text: str, start: int, stop: int, group: str) -> list[Change]:
    """Leave out a span; the article and the capital before it follow."""
    changes = []
    article = article_before(text, start)
    if article is not None:
        fitting = refitted(article[1], text[start : start + _NEAR], text[stop : stop + _NEAR])
        if fitting:
            changes.append(Change(*article.span(1), fitting, group))
    elif text[start].isupper() and begins_sentence(text, start):
        match = _FIRST.match(text, stop)
        if match is not None and not match[0][0].isupper():
            return [Change(start, match.end(), capitalized(match[0]), group)]
    return [*changes, Change(start, stop, "", group)]


def _stands_before_person(text: str, start: int, end: int) -> bool:
    """Whether the mention is an attribute ("a blind man") and no predicate ("he is blind")."""
    # The two rules differ in the nouns that they leave out, and no noun is left out by both.
    cut, length = text[start : end + 2 * _NEAR], end - start
    return any(speaks_of_person(cut, 0, length, rule) for rule in ("compared", "old"))


def _is_person(word: str) -> bool:
    low = word.lower()
    if low in ("live", "lives", "lived"):  # verbs before "with"
        return False
    who = is_one_of(low, "person_subjects") and low not in _PRONOUNS
    return who or is_person(low)


def _is_adverb(word: str) -> bool:
    known = any(
        is_one_of(word, kind) for kind in ("not_adverbs", "adjectives", "person_modifiers")
    )
    return not known and (word.endswith("ly") or is_one_of(word, "degrees"))


def _is_adjective(word: str) -> bool:
    return is_adjective(word) and not _is_adverb(word)
