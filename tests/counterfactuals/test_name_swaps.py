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


def test_whole_words_change_in_their_case() -> None:
    for text, expected in [
        ("John and Mary", "Jane and Mary"),
        ("John Smith, John's car, John\u2019s", "Jane Smith, Jane's car, Jane\u2019s"),
        ("JOHN'S CAR", "JANE'S CAR"),
        ("(John) \"John\" 'John' **John** John/Mary", "(Jane) \"Jane\" 'Jane' **Jane** Jane/Mary"),
        ("Dear John,\n\n  John  said:\tno", "Dear Jane,\n\n  Jane  said:\tno"),
        ("Mr. John Doe", "Mr. Jane Doe"),
        ("John--he left", "Jane--he left"),
        ("Mary, John and I", "Mary, Jane and I"),
        ("is john there?", "is jane there?"),
    ]:
        assert swapped(text) == expected, text


def test_possessives_and_articles_follow() -> None:
    for text, groups, expected in [
        ("James' car", ("James", "Mary"), "Mary's car"),
        ("JAMES' CAR", ("James", "Mary"), "MARY'S CAR"),
        ("James's car", ("James", "Mary"), "Mary's car"),
        ("Mary's car", ("Mary", "James"), "James's car"),
        ("the file 'James' is", ("James", "Mary"), "the file 'Mary' is"),
        ("James' car", ("James", "Agnes"), "Agnes' car"),
        ("an Anna, a John", ("Anna", "Mary"), "a Mary, a John"),
        ("Грета и Иван", ("Иван", "Анна"), "Грета и Анна"),
        ("O'Brien's, O'Brienne", ("O'Brien", "Lee"), "Lee's, O'Brienne"),
    ]:
        assert swapped(text, groups) == expected


def test_full_names_change_word_by_word() -> None:
    for text, expected in [
        ("Emily Walsh", "Keisha Banks"),
        ("EMILY WALSH; Emily's", "KEISHA BANKS; Keisha's"),
        ("Ms. Walsh thanked Emily.", "Ms. Banks thanked Keisha."),
        ("Emily Miller and Robert Walsh", "Emily Miller and Robert Walsh"),
        ("Then Emily I saw", "Then Keisha I saw"),
    ]:
        assert swapped(text, ("Emily Walsh", "Keisha Banks")) == expected


def test_parts_of_other_words_addresses_and_code_stay() -> None:
    for text in (
        "Johnson met Johns and Johnny.",
        "John-Paul and Mary-John",
        "john@example.com, https://x.org/John, `John`, @John",
        "",
    ):
        assert generate_pairs([text], attribute="name", groups=JOHN) == [], text


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


def test_other_groups_are_refused() -> None:
    for groups, message in [
        (None, r'a name swap has no groups .* groups=\("John", "Jane"\)'),
        ("John", "groups is 'John'; give two names"),
        (("John",), "give two names"),
        (("John", "john"), "the same name twice"),
        (("John", ""), "'' is no name"),
        (("John", 3), "3 is no name"),
    ]:
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
@settings(max_examples=150)
def test_outside_the_edits_both_are_byte_equal(text: str) -> None:
    for pair in generate_pairs([text], attribute="name", groups=JOHN):
        at, parts = 0, []
        for edit in pair.edits:
            assert edit.before.lower() == "john"
            assert edit.after.lower() == "jane"
            parts += [text[at : edit.start], edit.after]
            at = edit.end
        assert "".join([*parts, text[at:]]) == pair.counterfactual


def test_the_plural_of_a_name_in_a_hiss_is_longer() -> None:
    assert swapped("both of the two Johns", ("John", "James")) == "both of the two Jameses"


def test_a_full_name_changes_with_its_family() -> None:
    for text, expected in [
        ("The Walshes know Emily.", "The Bankses know Keisha."),
        ("Emily Walsh-Grant met Emily Walsh.", "Emily Walsh-Grant met Keisha Banks."),
        ("The Walsh file", "The Banks file"),
        ("E. Walsh, E Walsh; Walsh, E.", "K. Banks, K Banks; Banks, K."),
        ("Emily Walsh signed: E.W.", "Keisha Banks signed: K.B."),
        ("Emilyanna met Walshe: E.W.", "Emilyanna met Walshe: E.W."),
        ("Mrs Emily Jane Walsh, Emily W.", "Mrs Keisha Jane Banks, Keisha B."),
    ]:
        assert swapped(text, ("Emily Walsh", "Keisha Banks")) == expected


def test_a_well_known_name_changes_where_it_is_asked_for() -> None:
    assert swapped("Mark Twain wrote.", ("Mark", "Omar")) == "Mark Twain wrote."
    assert swapped("Mark Twain wrote.", ("Mark Twain", "Anna Lee")) == "Anna Lee wrote."


def test_a_prompt_that_names_both_is_left_out() -> None:
    assert generate_pairs(["Mary, John and Jane"], attribute="name", groups=JOHN) == []


def test_what_are_no_two_names_is_an_error() -> None:
    for groups, message in [
        (("Black Female", "White Male"), r"'Black Female' is a group, not a name; name_pairs\("),
        (("John", "John Smith"), "one name holds the other; give a first and a last name"),
        (("Ann", "Mary Ann"), "one name holds the other"),
        (5, r"groups is 5; give two names, such as \(\"John\", \"Jane\"\)"),
    ]:
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
