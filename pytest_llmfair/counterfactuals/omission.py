"""Unmarked groups by omission ("my blind neighbour", "my neighbour"), and placebo twins.

Texts usually do not say that a person is sighted, straight or cisgender, so the natural twin omits
the words. If they cannot be omitted ("She is blind.", "She is a lesbian.") there is no such twin.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Collection, Container, Iterator, Sequence

from pytest_llmfair.counterfactuals.checks import failed_checks
from pytest_llmfair.counterfactuals.pair_list import pair_of
from pytest_llmfair.counterfactuals.pair_under_test import read_pair
from pytest_llmfair.lexicons.english.agreement import article_before, fitting_article
from pytest_llmfair.lexicons.english.words import (
    WORD,
    in_classes,
    is_adjective,
    is_ly_adverb,
    is_modifier,
    is_one_of,
    is_person,
    is_verb,
)
from pytest_llmfair.lexicons.lexicon import PRONOUNS, Lexicon
from pytest_llmfair.lexicons.name_lists import other_names
from pytest_llmfair.lexicons.names import name_lexicon
from pytest_llmfair.lexicons.reading import Change, Reading
from pytest_llmfair.lexicons.spelling import begins_sentence, capitalized
from pytest_llmfair.lexicons.terms import WRITTEN, Sense, is_joined

_BE = r"(?:is|are|was|were)"
_HAVE = rf"(?:has|have|had|(?:{_BE}\s+)?(?:living|lives?|lived|born)\s+with)"
# Words between a noun and a mention of each role: "a man (who is) blind".
_LINKS = {
    "noun": rf"(?:(?P<who>(?:who|that)\s+{_HAVE})|(?:living\s+|born\s+)?with)\s+",
    "adjective": rf"(?P<who>who|that)(?:\s+{_BE}|['\u2019]s)(?:\s+[a-z]+ly)?\s+",
    "verb phrase": r"(?P<who>who|that)\s+",
    "attribute": rf"(?:(?P<who>(?:who|that)\s+{_BE})\s+)?",
}
_PHRASES = {
    role: re.compile(rf"(?P<person>{WORD})(?P<comma>,?)\s+{link}\Z", re.IGNORECASE)
    for role, link in _LINKS.items()
}
_NEXT = re.compile(rf"[^\S\n]*(?P<word>{WORD}|\S|\n|\Z)")
_LAST = re.compile(rf"({WORD})\s+\Z")
_JOINED = re.compile(rf"(?P<word>{WORD})(?P<join>,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+)\Z")
_JOIN = re.compile(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s+", re.IGNORECASE)
_SPACE = re.compile(r"\s+")
_FIRST = re.compile(WORD)
# Words that show that the sentence is about the group itself: "any openly gay men".
_MATTERS = re.compile(
    r"\b(?:any|all|every|each|no|only|first|whether|as|including|especially|namely|because\W.{0,40})"
    r"\s(?:[a-z]{3,12}ly\s)?\Z",
    re.IGNORECASE,
)
# "My gay friend and my bisexual friend", "a gay dad is less of a dad"
_AGAIN = re.compile(r"\s(\w{3,})\b[^.!?\n]{1,25}\s\1\b", re.IGNORECASE)
# A verb that links a subject to its predicate: "she was a lesbian", "they are openly gay men".
_IS = r"(?:am|is|are|was|were|be|been|being|become|becomes|became|remained)"
_PREDICATE = re.compile(
    rf"(?:(?<!\w)(?!(?:there|here|why|how|where|when|and|or|but|if)\b)[a-z]+\s{_IS}(?:n['\u2019]t)?"
    rf"|\b{_IS}\s(?:i|you|he|she|they|we)|['\u2019](?:m|re|s|ve been)|\b(?:out|identif\w+) as)"
    r"\s(?:(?:not|also|still|both|all|just|[a-z]{2,12}ly)\s){0,2}(?:an?\s)?\Z",
    re.IGNORECASE,
)
_MORE = re.compile(
    r"[-\w]|['\u2019]s?\b|,?\s(?:who|whose|that|which|with|from|of|in|at|on|by|for|[a-z]{2,12}ing)\b"
)
_MAN = re.compile(r"(?:(?:wo)?m[ae]n|person|people|guys?)\Z")
# Not omitted: "gays and sinners" (not "people and sinners"), "a quadriplegic since 1994".
_ANOTHER = re.compile(
    r"\s(?:(?:and|or)\s(?!(?:an?|one|two|their|his|her|my|they|we|you|i|he|she|it|to|is|are)\b)\w"
    r"|(?:since|from|by)\b)"
)
_PEOPLE = re.compile(r"\bpeople\b", re.IGNORECASE)
_STOP = re.compile(r"[.!?;\n]")
_ENDS = frozenset('.;:!?)]\u201d"\n')
_BARE = (
    *("he", "she", "they", "it", "and", "or", "one", "ones", "those", "another", "other"),
    *("others", "many", "some", "them", "us", "whom"),
)
_MORE_OF_IT = ("that", "which", "of", "since", "because", "due", "caused")
_NEAR = 60
_FAR = 160


def omitted(
    lexicon: Lexicon,
    text: str,
    found: Reading,
    groups: Collection[str],
    others: Sequence[Change] = (),
) -> list[Change] | None:
    """Return the changes that omit all mentions of some groups, and exchange `others`, or None."""
    changes: list[Change] = []
    for start, end, sense in found:
        if sense.entry is None or sense.group not in groups:
            continue
        made = _omission(lexicon, text, (start, end, sense))
        overlaps = made and changes and made[0].start < changes[-1].end
        if made is None or overlaps or _leaves_people(text, start, end, made):
            return None
        changes += made
    return _merged(changes, others) if changes else None


def _merged(changes: list[Change], others: Sequence[Change]) -> list[Change] | None:
    """Merge exchanges with omissions; None where the two overlap."""
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


def _omission(lexicon: Lexicon, text: str, found: tuple[int, int, Sense]) -> list[Change] | None:
    start, end, sense = found
    front = text[max(0, start - _NEAR) : start]
    if front.endswith("-") or _MATTERS.search(front) or _AGAIN.match(text, end):
        return None  # "non-gay people"
    if sense.role in _PHRASES and (cut := _phrase_span(sense.role, text, start, end)):
        return [Change(*cut, "", sense.group)]
    noun = lexicon.neutral_nouns.get(sense.term.casefold())
    one = noun is not None and sense.role == "noun" and not re.search(r"s\Z| ", sense.term)
    if (sense.role == "adjective" or one) and (person := _person(text, start, end, one)):
        is_predicate = _MAN.search(text, end, person) and _is_whole_predicate(front, text, person)
        return None if is_predicate else _without_adjective(text, found)
    if noun is None or sense.role == "adjective" or _ANOTHER.match(text, end):
        return None
    words = front.lower().split()
    if _is_whole_predicate(front, text, end) or (words and is_ly_adverb(words[-1])):
        return None  # "an openly lesbian woman"
    if one and any(own.role == "adjective" for own in lexicon.senses(sense.term)):
        while words and is_adjective(words[-1]):
            words.pop()
        if not words or not is_one_of(words[-1], "determiners"):
            return None  # "a young lesbian" has a noun, "she is lesbian" has none
    made = lexicon.change(text, found, noun, sense.group)
    return [*made[:-1], made[-1]._replace(sense=None, becomes="")]


def _person(text: str, start: int, end: int, noun: bool) -> int:
    """Return the end of the noun for a person that a mention describes; 0 if there is none."""
    gap = (_SPACE if noun else _JOIN).match(text, end)
    for place in range(4):
        match = _FIRST.match(text, gap.end()) if gap else None
        if match is None or is_one_of(word := match[0].lower(), "closed"):
            return 0
        described = is_modifier(word) or is_adjective(word)
        if place == 0 and gap and not (gap[0].isspace() or described):
            return 0  # "he is gay, and nobody cares"
        if is_one_of(word, "bare_groups"):
            return 0  # "the community" is no twin of "the gay community"
        if is_person(word):
            cooks = word.endswith("s") and not word.endswith("ss")
            return 0 if noun and cooks and article_before(text, start) else match.end()
        end = match.end()
        gap = _SPACE.match(text, end)
    return 0


def _is_whole_predicate(front: str, text: str, end: int) -> bool:
    """Whether the mention is the whole predicate, so omitting it would leave nothing."""
    return _PREDICATE.search(front) is not None and _MORE.match(text, end) is None


def _leaves_people(text: str, start: int, end: int, made: list[Change]) -> bool:
    """Whether "people" would remain next to other people: "women and gay people"."""
    if _PEOPLE.search(made[-1].after or text[max(0, start - 9) : end + 9]) is None:
        return False
    before = _STOP.split(text[max(0, start - _FAR) : made[0].start])[-1]
    after = _STOP.split(text[made[-1].end : end + _FAR])[0]
    joined = _JOINED.search(before)
    if joined is not None and joined["join"].strip() != "," and is_person(joined["word"].lower()):
        return True
    rest = before.rstrip().removesuffix("people") + " , " + after.lstrip().removeprefix("people")
    return _PEOPLE.search(rest) is not None


def _phrase_span(role: str, text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return the span of "who is blind" or "with epilepsy" that a mention ends, or None."""
    before = _PHRASES[role].search(text, max(0, start - _NEAR), start)
    if before is None or before["person"].lower() in _BARE:
        return None
    who, person = before["who"] is not None, before["person"].lower()
    known = is_person(person) or is_one_of(person, "person_subjects")
    if not who and (before["comma"] or not known or person in ("live", "lives", "lived")):
        return None
    begin, following = before.start("comma"), _NEXT.match(text, end)
    word = following["word"].lower() if following else ""
    if word == "," and before["comma"]:  # between commas; the second goes too
        return begin, text.index(",", end) + 1
    if not word or word in _ENDS:
        return begin, end
    if before["comma"] or following is None:
        return None
    if word in (",", "and", "or", "but"):  # "and her mother", not "and asthma"
        follows = _NEXT.match(text, following.end())
        next_word = follows["word"].lower() if follows else ""
        clause = is_one_of(next_word, "person_subjects") or is_one_of(next_word, "determiners")
        return (begin, end) if clause and next_word not in ("a", "an") else None
    if not word[0].isalnum() or word in _MORE_OF_IT:
        return None
    verb = in_classes(word, "be", "modals", "finite_verbs", "plural_verbs")
    if verb or is_verb(word, "", bare=True) or role == "noun":
        return begin, end
    # "Who is blind in one eye" and "who is deaf from birth" go on, so nothing can be omitted.
    return (begin, end) if role == "attribute" and not is_one_of(word, "closed") else None


def _without_adjective(text: str, found: tuple[int, int, Sense]) -> list[Change] | None:
    """Omit an adjective before its noun, with its adverb or the "and" next to it."""
    start, end, sense = found
    before = _LAST.search(text, max(0, start - _NEAR), start)
    if before and (is_ly_adverb(before[1].lower()) or is_one_of(before[1].lower(), "degrees")):
        start = before.start()
        before = _LAST.search(text, max(0, start - _NEAR), start)
    if before and before[1].lower() in ("both", "either", "neither"):
        return None
    joined = _JOINED.search(text, max(0, start - _NEAR), start)
    if joined is not None:
        word = joined["word"].lower()
        if is_adjective(word) and not is_ly_adverb(word):
            return [Change(joined.start("join"), end, "", sense.group)]  # "a tall, blind man"
        if not is_person(word) and (
            article_before(text, joined.start()) or joined["join"].strip() != ","
        ):
            return None
    rest = _JOIN.match(text, end)
    stop = rest.end() if rest else end
    if "\n" in text[end:stop] and text[start - 1 : start] == " ":  # the line break stays
        start, stop = start - 1, end
    changes = []
    article = article_before(text, start)
    if article is not None:
        fitting = fitting_article(
            article[1], text[start : start + _NEAR], text[stop : stop + _NEAR]
        )
        if fitting:
            changes.append(Change(*article.span(1), fitting, sense.group))
    elif text[start].isupper() and begins_sentence(text, start):
        match = _FIRST.match(text, stop)
        if match is not None and not match[0][0].isupper():
            return [Change(start, match.end(), capitalized(match[0]), sense.group)]
    return [*changes, Change(start, stop, "", sense.group)]


_LETTERS = 1  # by which two names of similar length may differ


# The difference between the answers to an original and its placebo is the effect of any rewording.
# Only what a counterfactual adds to it is an effect of the group.
def placebo_of(
    lexicon: Lexicon, text: str, found: Reading, groups: Container[str], seed: str
) -> str | None:
    """Return the text reworded within its groups; None if no other term or name is known."""
    generator = random.Random(seed)
    for changes, own in _rewordings(lexicon, text, found, groups, generator):
        group = changes[-1].group
        pair = pair_of(text, changes, (group, changes[-1].becomes), own.name)
        case = read_pair(pair, changes, own, frozenset())
        named = [sense.group for _, sense in case.twin.values()]
        same = own is not lexicon or named == [sense.group for *_, sense in found]
        if same and not failed_checks(case):
            return pair.counterfactual
    return None


def alternatives(lexicon: Lexicon, sense: Sense) -> tuple[str, ...]:
    """Return other terms for a meaning in its group; none outdated, a slur or joined."""
    if sense.entry is None or sense.negated or sense.role in PRONOUNS:
        return ()
    term = sense.term.casefold()
    line = next((x for x in lexicon.synonyms if term in map(str.casefold, x)), None)
    if line is None:
        line = sense.entry.terms[sense.group]
        fine = [other for other in line if sense.entry.register(other) in WRITTEN]
    else:
        fine = [
            other
            for other in line
            for own in lexicon.senses(other)
            if (own.role, own.group) == (sense.role, sense.group)
            and own.entry is not None
            and own.entry.register(own.term) in WRITTEN
        ]
    own = next((place for place, other in enumerate(line) if other.casefold() == term), 0)
    order = [*line[own + 1 :], *line[:own]]
    # A term that differs only by a hyphen is no rewording.
    other_words = (other for other in order if _unhyphened(other) != _unhyphened(term))
    return tuple(other for other in other_words if other in fine and not is_joined(other))


def _unhyphened(term: str) -> str:
    return term.casefold().replace("-", " ")


def _rewordings(
    lexicon: Lexicon,
    text: str,
    found: Reading,
    groups: Container[str],
    generator: random.Random,
) -> Iterator[tuple[list[Change], Lexicon]]:
    """Yield the possible rewordings, each with the lexicon that reads it."""
    if lexicon.name == "name":
        for old, new in _other_names(lexicon, text, groups, generator):
            own = name_lexicon((old, new))
            changes, _ = own.exchanges(text, {old: new})
            if changes:
                yield changes, own
        return
    reworded = [each for each in found if each[2].group in groups]
    choices = {(sense.term, sense.role): alternatives(lexicon, sense) for *_, sense in reworded}
    most = max(map(len, choices.values()), default=0)
    first = generator.randrange(most) if most else 0
    # All terms move by the same step: "a German from Germany" becomes "an Italian from Italy".
    for turn in range(first, first + most):
        changes = []
        for each in reworded:
            terms = choices[each[2].term, each[2].role]
            if terms:
                changes += lexicon.change(text, each, terms[turn % len(terms)], each[2].group)
        yield changes, lexicon


def _other_names(
    lexicon: Lexicon, text: str, groups: Container[str], generator: random.Random
) -> Iterator[tuple[str, str]]:
    """Yield the name with replacements of its gender and group and of similar length."""
    old = next(group for group in lexicon.groups if group in groups)
    own = {part.casefold() for group in lexicon.groups for part in group.split()}
    here = text.casefold()
    columns = []
    for number, part in enumerate(old.split()):
        names = [
            name
            for name in other_names(part, last=number > 0)
            if abs(len(name) - len(part)) <= _LETTERS
            and name.casefold() not in own
            and name.casefold() not in here
        ]
        columns.append(generator.sample(names, len(names)) or [part])
    for parts in itertools.product(*columns):
        if list(parts) != old.split():
            yield old, " ".join(parts)
