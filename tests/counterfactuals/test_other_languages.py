"""Spanish, and lexicons of the user's own in other scripts."""

from __future__ import annotations

import itertools
import unicodedata
from pathlib import Path

import yaml

from pytest_llmfair.counterfactuals import Lexicon, generate_pairs, load_lexicons

CASES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text("utf-8"))

SPANISH = CASES["spanish"]
UNTOUCHED = CASES["untouched"]


def spanish(text: str) -> str | None:
    pairs = generate_pairs([text], attribute="gender_es")
    return pairs[0].counterfactual if pairs else None


class TestSpanish:
    def test_becomes_and_comes_back(self) -> None:
        for (text, expected), form in itertools.product(SPANISH, ("NFC", "NFD")):
            twin = spanish(unicodedata.normalize(form, text))
            assert twin is not None
            assert unicodedata.normalize("NFC", twin) == expected
            back = spanish(twin)
            assert back is not None
            assert unicodedata.normalize("NFC", back) == text

    def test_senor_is_exchanged_with_senora_as_the_limits_say(self) -> None:
        for article in ("el", "un", "del", "al"):
            twin = spanish(f"Habla {article} señor García.")
            assert twin is not None
            assert "señora García" in twin
        assert spanish("La señorita García") == "El señor García"

    def test_has_no_mention(self) -> None:
        assert [text for text in UNTOUCHED if spanish(text) is not None] == []

    def test_adjectives_do_not_agree_as_the_limits_say(self) -> None:
        assert spanish("La profesora está cansada.") == "El profesor está cansada."
        assert "está cansada" in load_lexicons()["gender_es"].limits

    def test_english_rules_do_not_apply(self) -> None:
        assert spanish("A mujer an mujer") == "A hombre an hombre"


def of_words(language: str, female: list[str], male: list[str], **more: object) -> Lexicon:
    """Make a small lexicon of words that stand for each other."""
    entries = [{"role": "noun", "female": a, "male": b} for a, b in zip(female, male, strict=True)]
    data = {"name": "gender", "language": language, "groups": ["female", "male"], **more}
    return Lexicon.from_dict({**data, "entries": entries})


ARABIC = of_words("ar", ["هي", "امرأة"], ["هو", "رجل"])
HINDI = of_words("hi", ["औरत", "लड़की"], ["आदमी", "लड़का"])
CHINESE = of_words("zh", ["她", "母亲"], ["他", "父亲"], exceptions=["其他"])


def test_words_of_other_scripts_change_places() -> None:
    for lexicon, text, expected in [
        (ARABIC, "هي امرأة.", "هو رجل."),
        (ARABIC, "هل هو هنا؟", "هل هي هنا؟"),
        (HINDI, "औरत और लड़का।", "आदमी और लड़की।"),
        (CHINESE, "她是医生，母亲也是。", "他是医生，父亲也是。"),
    ]:
        for form in ("NFC", "NFD"):
            (pair,) = generate_pairs([unicodedata.normalize(form, text)], attribute=lexicon)
            assert unicodedata.normalize("NFC", pair.counterfactual) == unicodedata.normalize(
                "NFC", expected
            )


def test_in_scripts_with_spaces_words_are_letters_with_their_marks() -> None:
    # An article or an ending that is written together with a word makes another word.
    assert generate_pairs(["الرجل"], attribute=ARABIC) == []
    assert generate_pairs(["औरतें"], attribute=HINDI) == []


def test_in_scripts_without_spaces_words_are_found_inside_others() -> None:
    (pair,) = generate_pairs(["其他人问他"], attribute=CHINESE)
    assert pair.counterfactual == "其他人问她"


TURKISH = of_words("tr", ["iş kadını"], ["iş adamı"])
GREEK = of_words("el", ["φίλη", "γυναίκα"], ["φίλος", "άνδρας"])


def test_capitals_of_a_language_are_read_and_written() -> None:
    for lexicon, text, expected in [
        (TURKISH, "iş kadını", "iş adamı"),
        (TURKISH, "İŞ KADINI", "İŞ ADAMI"),
        (TURKISH, "İş kadını geldi.", "İş adamı geldi."),
        (GREEK, "Φίλη ή γυναίκα", "Φίλος ή άνδρας"),
        (GREEK, "Η ΦΙΛΗ ΚΑΙ Η ΓΥΝΑΙΚΑ", "Η ΦΙΛΟΣ ΚΑΙ Η ΑΝΔΡΑΣ"),
    ]:
        (pair,) = generate_pairs([text], attribute=lexicon)
        assert pair.counterfactual == expected
        (back,) = generate_pairs([expected], attribute=lexicon)
        assert back.counterfactual == text


def test_a_capital_of_another_language_is_not_a_mention() -> None:
    assert generate_pairs(["IŞ KADINI"], attribute=TURKISH) == []
