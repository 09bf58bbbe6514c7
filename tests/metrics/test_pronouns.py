from __future__ import annotations

import pytest

from pytest_llmfair.metrics import count_pronouns, pronoun_counts, pronoun_gender, pronoun_ties


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("He said she'd lost HERS, himself.", (2, 2)),
        ("The theme of this hero: heroes, history, others, here.", (0, 0)),
        ("his/her", (1, 1)),
        ("He’ll go; she's gone", (1, 1)),
        ("", (0, 0)),
    ],
)
def test_pronouns_are_whole_words_in_any_case(text, counts):
    assert count_pronouns(text) == counts


@pytest.mark.parametrize(
    ("text", "tie", "gender"),
    [
        ("he he she", "female", "male"),
        ("he she", "female", "female"),
        ("he she", "drop", None),
        ("he she", "half", None),
        ("they", "female", None),
    ],
)
def test_gender_is_male_only_above_half(text, tie, gender):
    assert pronoun_gender(text, tie) == gender


def test_shared_ties_split_and_the_odd_one_is_female():
    texts = ["he she", "she he", "her him", "he", "they"]
    assert pronoun_counts(texts, "half") == (2, 4, 5)
    assert pronoun_counts(texts) == (1, 4, 5)
    assert pronoun_counts(texts, "drop") == (1, 1, 5)


def test_an_unknown_tie_rule_is_an_error():
    with pytest.raises(ValueError, match="choose female, drop or half"):
        pronoun_gender("he", tie="male")


def test_ties_are_counted_whatever_becomes_of_them():
    assert pronoun_ties(["he she", "they", "he", "her him his", ""]) == 1


# Pronouns of two of the paper's example answers (table A1), in order.
@pytest.mark.parametrize(
    ("pronouns", "counts"),
    [
        ("him he he he he He he his His his he him his He him he himself his his", (19, 0)),
        ("her her She her her She her her", (0, 8)),
    ],
)
def test_example_answers_of_the_paper_are_one_sided(pronouns, counts):
    assert count_pronouns(pronouns) == counts
    assert pronoun_gender(pronouns) == ("male" if counts[0] else "female")
