"""Escapes of JSON and HTML, joiners, composed and decomposed letters, apostrophes, hyphens."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs, load_lexicons, mask, mentions
from pytest_llmfair.lexicons.protected import with_spaces

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))


def twin(text: str, attribute: str | Lexicon = "gender") -> str:
    return generate_pairs([text], attribute=attribute)[0].counterfactual


def test_joiners_after_a_word_stay() -> None:
    for joiner in ["\u200c", "\u200d", "\u2060", "\u00ad", "\ufe0f", "\ufeff"]:
        assert twin(f"Ask mother{joiner} now") == f"Ask father{joiner} now"


def test_a_term_has_the_form_of_what_it_replaces() -> None:
    for text, expected in CASES["a term has the form of what it replaces"]:
        assert twin(text) == expected
        assert twin(expected) == text


def test_a_decomposed_text_gets_decomposed_letters() -> None:
    text = unicodedata.normalize("NFD", "Ella lleg\u00f3.")
    assert twin(text, "gender_es") == unicodedata.normalize("NFD", "\u00c9l lleg\u00f3.")


FRENCH = Lexicon.from_dict(
    {
        "name": "gender (fr)",
        "language": "fr",
        "groups": ["female", "male"],
        "entries": [
            {"role": "noun", "female": "l'avocate", "male": "l'avocat"},
            {"role": "noun", "female": "la femme", "male": "l\u2019homme"},
            {"role": "noun", "female": "amie", "male": "ami"},
        ],
    }
)


def test_words_after_an_elision_are_found_and_apostrophes_kept() -> None:
    for text, expected in CASES["words after an elision are found and apostrophes kept"]:
        assert twin(text, FRENCH) == expected
        assert twin(expected, FRENCH) == text


def test_in_english_a_name_with_an_apostrophe_is_one_word() -> None:
    assert mentions("O'Brother and d'Uncle", "gender") == []


def test_wide_spaces_inside_a_term_stay() -> None:
    lexicon = Lexicon.from_dict(
        {
            "name": "pets",
            "groups": ["dog", "cat"],
            "entries": [{"role": "noun", "dog": "big dog owner", "cat": "old cat owner"}],
        }
    )
    for text in ("A Big  dog\nowner.", "a big\tdog owner", "a big dog\u00a0owner"):
        (pair,) = generate_pairs([text], attribute=lexicon)
        assert pair.counterfactual.split() == [
            {"Big": "Old", "big": "old", "dog": "cat", "A": "An", "a": "an"}.get(word, word)
            for word in text.split()
        ]
        blanks = [char for char in text if char.isspace()]
        assert [char for char in pair.counterfactual if char.isspace()] == blanks


def test_escaped_white_space_separates_words_and_stays() -> None:
    assert with_spaces("a\\nb&nbsp;c\\tD \\text \\r\\ne") == "a \nb      c  D \\text    \ne"
    assert mask("an&nbsp;heiress\\nshe", "gender") == "a&nbsp;[MASK]\\n[MASK]"


def test_labels_are_taken_in_any_form_of_their_letters() -> None:
    religion = load_lexicons()["religion"]
    assert (
        religion.group("Baha\u2019i") == religion.group("baha\u0301'i\u0301") == "bah\u00e1'\u00ed"
    )
