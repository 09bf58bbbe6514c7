"""Name swaps: the person asked for changes name, and nothing else changes."""

from __future__ import annotations

from collections import Counter
from importlib import resources
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_llmfair.counterfactuals import (
    Edit,
    Pair,
    generate_pairs,
    mask,
    mentions,
    name_lexicon,
)

JOHN = ("John", "Jane")


def swapped(text: str, groups: tuple[str, str] = JOHN) -> str:
    """Return the twin, or the text itself where there is no pair."""
    pairs = generate_pairs([text], attribute="name", groups=groups)
    return pairs[0].counterfactual if pairs else text


def test_a_pair_holds_the_names_as_groups() -> None:
    (pair,) = generate_pairs(["Ask John."], attribute="name", groups=JOHN)
    assert pair == Pair(
        "Ask John.", "Ask Jane.", "John", "Jane", (Edit(4, 8, "John", "Jane", 4),), "name"
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("John and Mary", "Jane and Mary"),
        ("John Smith, John's car, John\u2019s", "Jane Smith, Jane's car, Jane\u2019s"),
        ("JOHN'S CAR", "JANE'S CAR"),
        ("(John) \"John\" 'John' **John** John/Mary", "(Jane) \"Jane\" 'Jane' **Jane** Jane/Mary"),
        ("Dear John,\n\n  John  said:\tno", "Dear Jane,\n\n  Jane  said:\tno"),
        ("Mr. John Doe", "Mr. Jane Doe"),
        ("John--he left", "Jane--he left"),
        ("Mary, John and I", "Mary, Jane and I"),
        ("is john there?", "is jane there?"),
    ],
)
def test_whole_words_change_in_their_case(text: str, expected: str) -> None:
    assert swapped(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Johnson met Johns and Johnny.",
        "John-Paul and Mary-John",
        "john@example.com, https://x.org/John, `John`, @John",
        "Elton John sang; Mary John left; St. John's church, Saint John.",
        "He sat on the john.",
        "",
    ],
)
def test_other_people_and_words_stay(text: str) -> None:
    assert generate_pairs([text], attribute="name", groups=JOHN) == []


@pytest.mark.parametrize(
    ("text", "groups", "expected"),
    [
        ("James' car", ("James", "Mary"), "Mary's car"),
        ("JAMES' CAR", ("James", "Mary"), "MARY'S CAR"),
        ("James's car", ("James", "Mary"), "Mary's car"),
        ("Mary's car", ("Mary", "James"), "James's car"),
        ("the file 'James' is", ("James", "Mary"), "the file 'Mary' is"),
        ("James' car", ("James", "Agnes"), "Agnes' car"),
        ("an Anna, a John", ("Anna", "Mary"), "a Mary, a John"),
        ("Will you ask Will?", ("Will", "Anna"), "Will you ask Anna?"),
        ("Will will go.", ("Will", "Anna"), "Anna will go."),
        ("May came in May, on May 5.", ("May", "Tom"), "Tom came in May, on May 5."),
        ("mark the date, mark", ("Mark", "Anna"), "mark the date, mark"),
        ("Mark the date, Mark.", ("Mark", "Anna"), "Mark the date, Anna."),
        ("Грета и Иван", ("Иван", "Анна"), "Грета и Анна"),
        ("O'Brien's, O'Brienne", ("O'Brien", "Lee"), "Lee's, O'Brienne"),
    ],
)
def test_possessives_articles_and_words_that_are_names(
    text: str, groups: tuple[str, str], expected: str
) -> None:
    assert swapped(text, groups) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Emily Walsh", "Keisha Banks"),
        ("EMILY WALSH; Emily's", "KEISHA BANKS; Keisha's"),
        ("Ms. Walsh thanked Emily.", "Ms. Banks thanked Keisha."),
        ("Emily Miller and Robert Walsh", "Emily Miller and Robert Walsh"),
        ("Then Emily I saw", "Then Keisha I saw"),
    ],
)
def test_full_names_change_word_by_word(text: str, expected: str) -> None:
    assert swapped(text, ("Emily Walsh", "Keisha Banks")) == expected


def test_a_shared_last_name_stays() -> None:
    assert swapped("John Smith, Smith", ("John Smith", "Jane Smith")) == "Jane Smith, Smith"


def test_names_of_different_length_change_as_a_whole() -> None:
    assert swapped("John left John Lee", ("John", "Mary Ann")) == "Mary Ann left Mary Ann Lee"
    assert swapped("Lee Kim, Lee", ("Lee Kim", "Kim Lee")) == "Kim Lee, Lee"


def test_mentions_and_masks_use_the_same_lexicon() -> None:
    lexicon = name_lexicon(JOHN)
    assert [(m.text, m.group) for m in mentions("John saw Jane", lexicon)] == [
        ("John", "John"),
        ("Jane", "Jane"),
    ]
    assert mask("Ask John's", lexicon) == mask("Ask Jane's", lexicon) != "Ask John's"


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (None, r'a name swap has no groups .* groups=\("John", "Jane"\)'),
        ("John", "groups is 'John'; give two names"),
        (("John",), "give two names"),
        (("John", "john"), "the same name twice"),
        (("John", ""), "'' is no name"),
        (("John", 3), "3 is no name"),
    ],
)
def test_other_groups_are_refused(groups: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate_pairs(["John"], attribute="name", groups=groups)


@pytest.mark.parametrize("use", [mask, mentions])
def test_without_names_mentions_and_masks_name_the_remedy(use: Any) -> None:
    with pytest.raises(ValueError, match=r'name_lexicon\(\("John", "Jane"\)\)'):
        use("John", "name")


PIECES = st.sampled_from(
    ["John", "JOHN", "john", "Johnson", "Mary", "a", "'s", "'", "-", ".", "\n", "O'", "Dr."]
)
TEXTS = st.lists(
    st.tuples(PIECES | st.text(max_size=3), st.sampled_from([" ", "", "  ", "\n"])), max_size=10
).map(lambda parts: "".join(word + blank for word, blank in parts))


@given(TEXTS)
@settings(max_examples=300)
def test_outside_the_edits_both_are_byte_equal(text: str) -> None:
    for pair in generate_pairs([text], attribute="name", groups=JOHN):
        at, parts = 0, []
        for edit in pair.edits:
            assert edit.before.lower() == "john"
            assert edit.after.lower() == "jane"
            parts += [text[at : edit.start], edit.after]
            at = edit.end
        assert "".join([*parts, text[at:]]) == pair.counterfactual


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two Johns and one John", "Two Janes and one Jane"),
        ("SEVERAL JOHNS", "SEVERAL JANES"),
        ("Johns Hopkins, the Johns, two Johns Hopkins nurses", ""),
    ],
)
def test_several_people_of_one_name_behind_a_number(text: str, expected: str) -> None:
    assert swapped(text) == (expected or text)


def test_the_plural_of_a_name_in_a_hiss_is_longer() -> None:
    assert swapped("both of the two Johns", ("John", "James")) == "both of the two Jameses"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Jordan", "We flew to Jordan, moved from Jordan and live in Jordan."),
        ("Jordan", "A student from Jordan read about the kingdom of Jordan."),
        ("Austin", "Austin, Texas; Austin, TX; City: Austin"),
        ("Rose", "Rose petals fell. Rose gardens need sun."),
        ("Grace", "Grace applications are late."),
        ("Will", "Will Congress vote? Will dogs eat?"),
        ("John", "King John, John Deere, John the Baptist, John III, the John Street Bridge"),
        ("Jose", "San Jose, Lake Jose, Jose University"),
        ("John", "The sermon was on John 3:16; read John 11 at church. John's gospel"),
        ("Art", "Museum of Modern Art, Art Deco, street art"),
        ("Chase", "I bank with Chase. My Chase account. Chase charged me a fee."),
        ("Claire", "Eau Claire, a bus to Point Claire, Foy Claire, Wisconsin"),
        ("Tom", "We met at Tom's Diner, at Tom and Ann's Bakery, by Tom's Creek."),
        ("Rose", "Rose-tinted glasses"),
        ("Paul", "a sermon on Paul's letter to the Romans"),
        ("Victoria", "Victoria Barracks, Victoria Day"),
        ("Harrison", "in Harrison and Hector Townships"),
        ("Jordan", "at the request of Jordan (A/36/245)"),
        ("Dallas", "the Dallas Cowboys"),
        ("Henry", 'the film "Dance With Me Henry"'),
        ("May", "May flowers bloom. B. May plaintiffs seek a remedy?"),
        ("Faith", "Faith, hope and love. Neither hope nor faith. Love and Faith, love"),
        ("Art", "The claim rests on Art. 5 and Art. II."),
        ("Bernard", "Henriette Bernard, Jean-Luc Bernard, Rose Bernard, a day Will Bernard won"),
        ("Hope", "the case of Beresford Hope v. Lord Grey"),
        ("Mary", "Mary Ann left. I know Mary Lou."),
        ("Paris", "the Paris Motor Show"),
        ("Will", "Will be late. Will definitely be late. Will Denmark ever win?"),
        ("May", "Weapons Which May Be Used"),
        ("Austin", "We took an Austin apartment."),
        ("Henry", "in the time of Henry VII., Henry I of France, Henry I, king of France"),
        ("George", "George I, King of Greece; George I, the Holy Roman Emperor; GEORGE I, KING"),
        ("Art", "the Museum for African Art"),
        ("Monica", "Monica Bellucci sang."),
    ],
)
def test_places_firms_rulers_and_ordinary_words_stay(name: str, text: str) -> None:
    assert generate_pairs([text], attribute="name", groups=(name, "Ida")) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Jordan", "I believe in {}, talked to {} and got a gift from {}."),
        ("Austin", "{}, Maria and Tom met {}'s boss."),
        ("Tyler", "{}, MD, is on call."),
        ("Rose", "{} coughs. {} paints walls. {} helps run it. {} often sings."),
        ("Will", "{} teaches. {} doesn't."),
        ("John", "I sent {} the Amazon voucher, a {}-style hat."),
        ("Anna", "{} V. and {} X. Lee"),
        ("Claire", "Point {} to the door. Aunt {}, Texas is far. We met {}, Ohio's best."),
        ("Tom", "{}'s diner, {}'s English teacher; Woman Sues {}'s Diner Over Burn"),
        ("John", "a {}-sized hole, a {}-proof lock"),
        ("Harrison", "{} and Hector share a flat. {} Cupper, {}, Ann and Hector Walsh"),
        (
            "Henry",
            'the film by {} Walsh; "Well, {}" was said in it',
        ),
        ("May", "{} flowered. {} writes? {} asked, and hope and love followed."),
        ("Bernard", "Will {} come? Mark {} absent. We told Rose {} was late."),
        ("Mary", "{} and Ann, {}, Ann, {} Anders"),
        ("Jordan", "a {} dressed in red, a young {} came"),
        ("George", "With {} I agree; to {} I owe it; {}, I, and others"),
    ],
)
def test_people_with_such_names_change(name: str, text: str) -> None:
    original = text.replace("{}", name)
    (pair,) = generate_pairs([original], attribute="name", groups=(name, "Pia"))
    assert pair.counterfactual == text.replace("{}", "Pia")
    (back,) = generate_pairs([pair.counterfactual], attribute="name", groups=("Pia", name))
    assert back.counterfactual == original


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Walshes know Emily.", "The Bankses know Keisha."),
        ("Emily Walsh-Grant met Emily Walsh.", "Emily Walsh-Grant met Keisha Banks."),
        ("The Walsh file", "The Banks file"),
        ("E. Walsh, E Walsh; Walsh, E.", "K. Banks, K Banks; Banks, K."),
        ("Emily Walsh signed: E.W.", "Keisha Banks signed: K.B."),
        ("Emilyanna met Walshe: E.W.", "Emilyanna met Walshe: E.W."),
        ("Mrs Emily Jane Walsh, Emily W.", "Mrs Keisha Jane Banks, Keisha B."),
        ("D. Walsh, Emily J. Stone, J.E. Walsh", "D. Walsh, Emily J. Stone, J.E. Walsh"),
        ("Walsh, Emily\nWalsh, Daniel", "Banks, Keisha\nWalsh, Daniel"),
        ("Walsh, Daniel and I left.", "Banks, Daniel and I left."),
        ("Emily Walsh's Bakery is Emily's.", "Emily Walsh's Bakery is Keisha's."),
    ],
)
def test_a_full_name_changes_with_its_family(text: str, expected: str) -> None:
    assert swapped(text, ("Emily Walsh", "Keisha Banks")) == expected


def test_a_well_known_name_changes_where_it_is_asked_for() -> None:
    assert swapped("Mark Twain wrote.", ("Mark", "Omar")) == "Mark Twain wrote."
    assert swapped("Mark Twain wrote.", ("Mark Twain", "Anna Lee")) == "Anna Lee wrote."


def test_a_prompt_that_names_both_is_left_out() -> None:
    assert generate_pairs(["Mary, John and Jane"], attribute="name", groups=JOHN) == []


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (("Black Female", "White Male"), r"'Black Female' is a group, not a name; name_pairs\("),
        (("John", "John Smith"), "one name holds the other; give a first and a last name"),
        (("Ann", "Mary Ann"), "one name holds the other"),
        (5, r"groups is 5; give two names, such as \(\"John\", \"Jane\"\)"),
    ],
)
def test_what_are_no_two_names_is_an_error(groups: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        generate_pairs(["John left."], attribute="name", groups=groups)


def test_blanks_around_a_name_do_not_count() -> None:
    assert swapped("John left.", (" John ", "Jane\n")) == "Jane left."


def test_every_well_known_name_is_listed_once_and_has_two_words() -> None:
    folder = resources.files("pytest_llmfair.lexicons") / "english"
    kinds = yaml.safe_load((folder / "en_well_known.yaml").read_text(encoding="utf-8"))
    assert kinds.pop("language") == "en"
    listed = [name for kind in kinds.values() for line in kind for name in line]
    assert [name for name, count in Counter(listed).items() if count > 1] == []
    assert [name for name in listed if " " not in name and "-" not in name] == []
