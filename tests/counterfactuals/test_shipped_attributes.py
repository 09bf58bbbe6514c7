"""The lexicons that ship beside gender: what they write, where they find persons, way back."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from pytest_llmfair.counterfactuals import Entry, generate_pairs, load_lexicons, mask, mentions

NAMES = ["age", "disability", "nationality", "race", "religion", "sexual_orientation"]
PAPER = {
    "gender": ["aab", "female", "male", "cis", "many-genders", "no-gender", "non-binary", "trans"],
    "sexual_orientation": ["asexual", "homosexual", "heterosexual", "bisexual", "other"],
    "religion": [
        *("atheism", "buddhism", "baha'i-faith", "christianity", "hinduism", "islam"),
        *("judaism", "mormonism", "sikhism", "taoism"),
    ],
    "race": [
        *("african american", "american indian", "asian", "hispanic", "pacific islander", "white")
    ],
    "age": ["young", "adult", "old"],
    "disability": [
        *("cerebral palsy", "chronic illness", "cognitive", "down syndrome", "epilepsy"),
        *("hearing", "mental health", "mobility", "physical", "short stature", "sight"),
        *("unspecified", "without"),
    ],
}


@functools.cache
def carried(name: str, carriers: Any) -> list[tuple[Entry, str, str, str]]:
    """Every term with its entry, its group and a sentence."""
    lexicon = load_lexicons()[name]
    return [
        (entry, group, term, carriers.filled(text, term))
        for entry in lexicon.entries
        for group, terms in entry.terms.items()
        for term in terms
        if (text := carriers.carrier(lexicon, entry, group, term))
    ]


@pytest.mark.parametrize("name", sorted(PAPER))
def test_every_group_of_czarnowska_2021_table_3_is_known_by_its_label(name: str) -> None:
    lexicon = load_lexicons()[name]
    default = lexicon.groups if name == "gender" else lexicon.default_groups
    assert {lexicon.group(label) for label in PAPER[name]} == set(default)


def test_race_exchanges_the_two_groups_that_the_paper_lacks_where_they_are_asked_for() -> None:
    text = "An Arab nurse met a biracial doctor."
    assert generate_pairs([text], "race") == []
    (pair,) = generate_pairs([text], "race", groups=("mena", "hispanic"))
    assert pair.counterfactual == "A Hispanic nurse met a biracial doctor."
    (pair,) = generate_pairs([text], "race", groups=("multiracial", "black"))
    assert pair.counterfactual == "An Arab nurse met a Black doctor."
    (pair,) = generate_pairs(["A Black nurse left."], "race", groups=("black", "arab"))
    assert pair.counterfactual == "A Middle Eastern nurse left."
    assert mentions("Middle Eastern food; the MENA region; the Arab League", "race") == []


def test_nationality_has_the_six_groups_of_czarnowska_2021() -> None:
    assert len(load_lexicons()["nationality"].groups) == 6


@pytest.mark.parametrize("name", NAMES)
def test_every_term_that_is_generated_is_preferred_or_neutral(name: str, carriers: Any) -> None:
    lexicon = load_lexicons()[name]
    made = 0
    for *_, text in carried(name, carriers):
        for pair in generate_pairs([text], attribute=name):
            if pair.variant == "omission":
                continue
            made += 1
            registers = [m.register for m in lexicon.mentions(pair.counterfactual)]
            assert registers, pair
            assert set(registers) <= {"preferred", "neutral"}, pair
            assert mask(pair.original, name) == mask(pair.counterfactual, name)
    assert made > 10


@pytest.mark.parametrize("name", NAMES)
def test_every_group_gets_pairs_and_gives_pairs(name: str, carriers: Any) -> None:
    lexicon = load_lexicons()[name]
    texts = [text for *_, text in carried(name, carriers)]
    pairs = generate_pairs(texts, attribute=name)
    assert {pair.from_group for pair in pairs} == set(lexicon.default_groups)
    assert {pair.to_group for pair in pairs} == set(lexicon.default_groups)
    for group in set(lexicon.groups) - set(lexicon.default_groups):
        assert generate_pairs(texts, attribute=name, groups=(group, lexicon.groups[0]))
        assert generate_pairs(texts, attribute=name, groups=(lexicon.groups[0], group))


@pytest.mark.parametrize("name", NAMES)
def test_the_written_terms_come_back(name: str, carriers: Any) -> None:
    lexicon = load_lexicons()[name]

    for entry, group, term, text in carried(name, carriers):
        if term != entry.written(group) or not carriers.reads(lexicon, entry, text):
            continue
        for pair in generate_pairs([text], attribute=name):
            twin = pair.counterfactual
            if pair.variant == "omission" or not carriers.reads(lexicon, entry, twin):
                continue
            back = generate_pairs(
                [pair.counterfactual], name, groups=(pair.to_group, pair.from_group)
            )
            assert [p.counterfactual for p in back if p.variant != "omission"] == [text], pair


@pytest.mark.parametrize(
    ("name", "text", "groups", "expected"),
    [
        ("race", "Asian people left.", ("asian", "caucasian"), "White people left."),
        ("race", "a Caucasian student", ("white", "african american"), "a Black student"),
        ("race", "He ate Asian food with an Asian friend.", ("asian", "hispanic"),
         "He ate Asian food with a Hispanic friend."),
        ("religion", "As a Muslim, I pray.", ("islam", "judaism"), "As a Jewish person, I pray."),
        ("religion", "an atheist family", ("atheist", "sikh"), "a Sikh family"),
        ("age", "A young nurse met an old friend.", ("young", "old"),
         "An older nurse met an old friend."),
        ("disability", "She has a chronic illness.", ("chronic illness", "without"),
         "She has no disability."),
        ("disability", "a handicapped man", ("disability", "sight"), "a blind man"),
        ("sexual_orientation", "He is gay.", ("homosexual", "heterosexual"), "He is straight."),
        ("sexual_orientation", "two straight men", ("straight", "gay"), "two gay men"),
        ("nationality", "an Indian engineer",
         ("gdp over 2 trillion", "gdp under 50 billion"), "a Haitian engineer"),
    ],
)  # fmt: skip
def test_becomes(name: str, text: str, groups: tuple[str, str], expected: str) -> None:
    (pair,) = generate_pairs([text], attribute=name, groups=groups)
    assert pair.counterfactual == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("race", "a black manuscript"),
        ("race", "a white mango"),
        ("race", "Mr. White met Jack Black."),
        ("race", "the Asian elephant"),
        ("age", "an old car"),
        ("age", "The bridge is 30 years old; women aged 18 to 24 crossed it."),
        ("age", "a 20-year-old whisky, aged 20 years; 20 apples; Stock: 20"),
        ("disability", "a blind spot; they disabled the alarm; on deaf ears"),
        ("disability", "Economists fear a depression in the valley."),
        ("disability", "The strike paralyzed commuters."),
        ("sexual_orientation", "a straight line; go straight on"),
        ("sexual_orientation", "Gay Talese is a straight shooter."),
        ("nationality", "the Indian Ocean, Turkish delight, a polish for shoes and a tent pole"),
        ("religion", "Hans Christian Andersen"),
        ("disability", "How was the blind date? The blind date was fun."),
        ("disability", "I was paralysed by stage fright and crippled by debt."),
        ("sexual_orientation", "Gay Street residents live near Straight Street."),
        ("sexual_orientation", "Straight from work, the nurse went home."),
        ("nationality", "It's all Greek to me."),
        ("age", "He paid the old rent; the old stay in the valley was long."),
        ("religion", "the Muslim holiday of Eid, the Christian calendar"),
        ("religion", "4 Pastor Lane; Church Hill Road near Mosque Street Station"),
        ("gender", "order part 44-MAN-7, HE-2210 and HE-2211"),
    ],
)
def test_names_nobody(name: str, text: str) -> None:
    assert mentions(text, name) == []


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("disability", "a student with severe depression", ["depression"]),
        ("religion", "Pastor Lane met Pastor St. John.", ["Pastor", "Pastor"]),
        ("religion", "Tell Rabbi Cohen. Dear Imam, hi", ["Rabbi", "Imam"]),
        ("gender", "Mrs Street: Woman Street Vendor Held", ["Mrs", "Woman"]),
        ("gender", "a 12-man crew, a MAN-child", ["man", "MAN"]),
        ("disability", "Maria suffers from anxiety.", ["anxiety"]),
        ("disability", "Their son is on the spectrum.", ["on the spectrum"]),
        ("sexual_orientation", "Gay Pride and Gay Asian men", ["Gay", "Gay"]),
        ("nationality", "Two Nigerians and a Pakistani nurse", ["Nigerians", "Pakistani"]),
        ("disability", "Blind since birth, the pianist plays.", ["Blind"]),
        ("disability", "He was left blind by a stroke.", ["blind"]),
        ("age", "The young move away while the old stay behind.", ["young", "old"]),
        ("age", "The elderly worry about falling.", ["elderly"]),
        ("race", "Whites made up 41 percent of the vote, Blacks 38.", ["Whites", "Blacks"]),
        ("nationality", "My in-laws are all Greek, one Greek said.", ["Greek", "Greek"]),
        ("sexual_orientation", "Gay City Council members met.", ["Gay"]),
    ],
)
def test_names(name: str, text: str, words: list[str]) -> None:
    assert [mention.text for mention in mentions(text, name)] == words
