"""Every term of the shipped lexicons: it is found, exchanged for fitting words, and comes back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import pytest

from pytest_llmfair.counterfactuals import (
    Entry,
    Lexicon,
    Pair,
    generate_pairs,
    load_lexicons,
    mask,
    mentions,
)

NAMES = ["age", "disability", "nationality", "race", "religion", "sexual_orientation"]
# A term must count in one of these sentences, whatever its kind.
FRAMES = (
    "Yesterday {a} {} teacher's dog barked.",
    "Our teacher is {}, they say.",
    "We met {a} {} woman.",
    "She is {a} {}.",
    "Yesterday {a} {} slept.",
    "Yesterday the {} slept.",
    "Most {} slept.",
    "We spoke about {}.",
    "We wrote about the {}.",
    "We wrote about people {}.",
    "We wrote about people in their {}.",
    "She is in her {}.",
    "They live with {}.",
    "She lives with {}.",
    "We spoke about her {}.",
    "Our teacher comes from {}.",
    "We wrote about {} couples.",
    "These {} songs are loud.",
    "We walked past {a} {}.",
    "We met {} Lee.",
    "Excuse me, {}, is this seat taken?",
    "Yesterday the {} and the peasants slept.",
    "Most {} kiss friends and LGBTQ posters.",
    "She was {}.",
    "Our teacher, {}, is late.",
    "They {} too.",
    "Age: {}",
    "Sex: {}, too",
    "I ({}) am late.",
    "{} late, they say.",
    "so {} so",
)
PAPER = {
    "gender": "aab, female, male, cis, many-genders, no-gender, non-binary, trans",
    "sexual_orientation": "asexual, homosexual, heterosexual, bisexual, other",
    "religion": "atheism, buddhism, baha'i-faith, christianity, hinduism, islam, judaism, "
    "mormonism, sikhism, taoism",
    "race": "african american, american indian, asian, hispanic, pacific islander, white",
    "age": "young, adult, old",
    "disability": "cerebral palsy, chronic illness, cognitive, down syndrome, epilepsy, hearing, "
    "mental health, mobility, physical, short stature, sight, unspecified, without",
}
NOT_AN = ("European", "Uruguayan")  # sound otherwise than they are spelled
AN = (*"aeiou8", "18")
TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
NUMBER = re.compile(rf"\d+|\b(?:eighteen|nineteen|(?:{TENS})(?:-(?!year|yr)[a-z]+)?)")


def write(frame: str, term: str) -> str:
    article = "an" if term.lower().startswith(AN) and not term.startswith(NOT_AN) else "a"
    return frame.format(term, a=article)


def entries(lexicon: Lexicon) -> list[Entry]:
    """Return the entries; of those that differ in the number of years only, one."""
    kinds = {}
    for entry in lexicon.entries:
        terms = [NUMBER.sub("0", term) for own in entry.terms.values() for term in own]
        kinds.setdefault((entry.role, *terms), entry)
    return list(kinds.values())


def terms(lexicon: Lexicon) -> Iterator[tuple[Entry, str, str]]:
    for entry in entries(lexicon):
        for group, own in entry.terms.items():
            for term in own:
                if term not in lexicon.neutral:
                    yield entry, group, term


def is_sure(lexicon: Lexicon, frame: str, group: str, term: str) -> bool:
    """Whether a term alone counts in a frame, for its group and without a doubt."""
    found = lexicon.mentions(write(frame, term))
    sure = [(m.text, m.group) for m in found if m.confidence != "uncertain"]
    return len(found) == 1 and sure == [(term, group)]


def first_frame(
    lexicon: Lexicon, terms: Mapping[str, str], frames: Iterable[str] = FRAMES
) -> str | None:
    """Return the first frame in which the term of every group alone counts for certain."""
    for frame in frames:
        if all(is_sure(lexicon, frame, group, term) for group, term in terms.items()):
            return frame
    return None


def frames_for(entry: Entry) -> list[str]:
    """Return the frames in which every term of an entry reads well enough."""
    starts = {term.split()[0] for own in entry.terms.values() for term in own}
    if starts & {"not", "does"}:
        return []
    if starts & {"a", "an", "no"}:
        return [frame for frame in FRAMES if " with {}" in frame]
    if entry.role in ("adjective", "number"):
        return list(FRAMES)
    not_for = r"\bis \{\}|\{\} teacher" if entry.role == "noun" else r"\bis \{\}|\{a\}"
    return [frame for frame in FRAMES if not re.search(not_for, frame)]


def all_named(name: str, text: str, groups: tuple[str, str] | None = None) -> list[Pair]:
    """Return the pairs of a text in which both groups are named."""
    pairs = generate_pairs([text], name, groups=groups, placebo=groups is None)
    return [pair for pair in pairs if pair.variant != "omission"]


@pytest.mark.parametrize("name", [*NAMES, "gender", "gender_es"])
def test_every_term_is_found(name: str) -> None:
    lexicon = load_lexicons()[name]
    missed = [
        (entry.role, group, term)
        for entry, group, term in terms(lexicon)
        if first_frame(lexicon, {group: term}) is None
    ]
    assert missed == []


@pytest.mark.parametrize("name", [*NAMES, "gender", "gender_es"])
def test_no_exception_and_no_neutral_word_is_found(name: str) -> None:
    lexicon = load_lexicons()[name]
    phrases = (*lexicon.exceptions, *lexicon.neutral)
    assert [phrase for phrase in phrases if lexicon.mentions(f"so {phrase} so")] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_term_gives_pairs_of_plain_words_that_are_equal_once_masked(name: str) -> None:
    lexicon = load_lexicons()[name]
    left, reached, wrong = set(), set(), []
    for number, (entry, group, term) in enumerate(terms(lexicon)):
        if number % 10 and group in left and entry.register(term) == "preferred":
            continue  # a tenth of the usual terms, and all others
        text = write(first_frame(lexicon, {group: term}) or "{}", term)
        for pair in all_named(name, text):
            left.add(pair.from_group)
            reached.add(pair.to_group)
            twins = (pair.counterfactual, pair.placebo or pair.counterfactual)
            registers = [{mention.register for mention in mentions(t, name)} for t in twins]
            plain = all(found and found <= {"preferred", "neutral"} for found in registers)
            if not plain or mask(text, name) != mask(pair.counterfactual, name):
                wrong.append(pair)
    assert wrong == []
    assert left == reached == set(lexicon.default_groups)


@pytest.mark.parametrize("name", NAMES)
def test_terms_are_exchanged_with_their_article_and_exchanged_back(name: str) -> None:
    lexicon = load_lexicons()[name]
    made, wrong = 0, []
    for entry in entries(lexicon):
        groups = [*entry.terms]
        for group, other in zip(groups, groups[1:] + groups[:1], strict=True):
            term = entry.written(group)
            if group == other or term is None or not reads(lexicon, entry, group, term):
                continue
            both = {group: term, other: entry.written(other) or term}
            frame = first_frame(lexicon, both, frames_for(entry))
            if frame is None:
                continue
            text = write(frame, term)
            for pair in all_named(name, text, (group, other)):
                made += 1
                twin = pair.edits[-1].after
                back = [text]
                if twin in entry.terms[other] and reads(lexicon, entry, other, twin):
                    turned = all_named(name, pair.counterfactual, (other, group))
                    back = [each.counterfactual for each in turned]
                if pair.counterfactual != write(frame, twin) or text not in back:
                    wrong.append((pair, back))
    assert wrong == []
    assert made > 10


def reads(lexicon: Lexicon, entry: Entry, group: str, term: str) -> bool:
    """Whether a term is read by this entry, not by one before it."""
    return entry is next(e for e in lexicon.entries if term in e.terms.get(group, ()))


def test_every_group_of_czarnowska_2021_table_3_is_known_by_its_label() -> None:
    for name, labels in PAPER.items():
        lexicon = load_lexicons()[name]
        assert {lexicon.group(label) for label in labels.split(", ")} <= {*lexicon.groups}, name
    assert len(load_lexicons()["nationality"].groups) == 6
