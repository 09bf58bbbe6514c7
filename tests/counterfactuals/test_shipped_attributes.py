"""The lexicons that ship beside gender: what they write, where they find persons, way back."""

from __future__ import annotations

import pytest

from pytest_llmfair.counterfactuals import Entry, generate_pairs, load_lexicons, mask, mentions

NAMES = ["age", "disability", "nationality", "race", "religion", "sexual_orientation"]
CARRIERS = {
    "": "so {} so",
    "before_person": "so {} engineers so",
    "no_switch": "so {} engineers so",
    "contrasted": "so most {} kiss friends and LGBTQ posters",
    "demonym": "so {} engineers so",
    "compared": "so {} engineers so",
    "old": "so {} engineers so",
    "predicate": "so he is {}, so",
    "collective": "so the {}, so",
    "person_noun": "it is {a} {}, so",
    "insult": "the {} slept, so",
    "noble": "the {} and the peasants slept, so",
    "people": "so most {}, so",
    "no_team": "so {} so",
    "no_first_name": "so {} so",
    "had": "so she has {}, so",
    "owned": "so her {}, so",
    "condition": "so they have {} so",
    "no_compound": "so they {} so",
    "origin": "so she is from {}, so",
    "no_given_name": "so {} values so",
    "no_institution": "so {} values so",
    "house": "so their {} so",
    "scripture": "so their {} so",
    "of_couple": "so {} couples so",
    "faith": "so {} values so",
    "behind_person": "so women {}, so",
    "decade": "so women in their {}, so",
    "superlative": "so the {} engineers so",
    "value": "Age: {}",
    "years": "so he is {}, so",
}
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


def carried(entry: Entry, term: str) -> str:
    terms = [t for own in entry.terms.values() for t in own]
    # What can be denied has to be somebody's.
    context = "condition" if any(t.startswith("no ") for t in terms) else entry.context
    if entry.role == "attribute":
        context = "behind_person"
    article = "an" if term[0].lower() in "aeiou" and not term.startswith("Eu") else "a"
    return CARRIERS[context].format(term, a=article)


@pytest.mark.parametrize("name", sorted(PAPER))
def test_every_group_of_czarnowska_2021_table_3_is_known_by_its_label(name: str) -> None:
    lexicon = load_lexicons()[name]
    assert {lexicon.group(label) for label in PAPER[name]} == set(lexicon.groups)


def test_nationality_has_the_six_groups_of_czarnowska_2021() -> None:
    assert len(load_lexicons()["nationality"].groups) == 6


@pytest.mark.parametrize("name", NAMES)
def test_every_term_that_is_generated_is_preferred_or_neutral(name: str) -> None:
    lexicon = load_lexicons()[name]
    made = 0
    for entry in lexicon.entries:
        for terms in entry.terms.values():
            for term in terms:
                for pair in generate_pairs([carried(entry, term)], attribute=name):
                    if pair.variant == "omission":
                        continue
                    made += 1
                    registers = [m.register for m in lexicon.mentions(pair.counterfactual)]
                    assert registers, pair
                    assert set(registers) <= {"preferred", "neutral"}, pair
                    assert mask(pair.original, name) == mask(pair.counterfactual, name)
    assert made > 10


@pytest.mark.parametrize("name", NAMES)
def test_every_group_gets_pairs_and_gives_pairs(name: str) -> None:
    lexicon = load_lexicons()[name]
    texts = [carried(e, t) for e in lexicon.entries for ts in e.terms.values() for t in ts]
    pairs = generate_pairs(texts, attribute=name)
    assert {pair.from_group for pair in pairs} == set(lexicon.groups)
    assert {pair.to_group for pair in pairs} == set(lexicon.groups)


@pytest.mark.parametrize("name", NAMES)
def test_the_written_terms_come_back(name: str) -> None:
    lexicon = load_lexicons()[name]

    def is_first(entry: Entry, group: str) -> bool:
        term = entry.written(group)
        return entry is next(e for e in lexicon.entries if term in e.terms.get(group, ()))

    for entry in lexicon.entries:
        for group in entry.terms:
            term = entry.written(group)
            if term is None or not is_first(entry, group):
                continue
            text = carried(entry, term)
            for pair in generate_pairs([text], attribute=name):
                if pair.variant == "omission" or entry.written(pair.to_group) is None:
                    continue
                if is_first(entry, pair.to_group):
                    back = generate_pairs(
                        [pair.counterfactual], name, groups=(pair.to_group, pair.from_group)
                    )
                    named = [p.counterfactual for p in back if p.variant != "omission"]
                    assert named == [text], pair


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
