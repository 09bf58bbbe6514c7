"""Words, sentences, ROUGE-L and word search against slow transcriptions and rouge-score."""

from __future__ import annotations

import functools
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.text import WordFinder, find_words, mask_words, rouge_l, sentences, tokens

ASCII = st.text(st.characters(max_codepoint=127), max_size=80)
PLAIN_ASCII = st.text(st.characters(max_codepoint=127, exclude_characters="'"), max_size=80)
FEW_WORDS = st.lists(st.sampled_from(["a", "b", "c", "dd", "ee"]), max_size=14)


@functools.cache
def oracle():
    """Return the scorer of the package rouge-score, which takes a second to load."""
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"], use_stemmer=False)


def lcs_length(a, b):
    """Textbook recursion, row by row."""
    row = [0] * (len(b) + 1)
    for x in a:
        new = [0]
        for j, y in enumerate(b):
            new.append(row[j] + 1 if x == y else max(row[j + 1], new[j]))
        row = new
    return row[-1]


class TestTokens:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", []),
            (" \n\t ", []),
            ("...?!", []),
            ("The Doctor, she said.", ["the", "doctor", "she", "said"]),
            ("She isn't here", ["she", "isn't", "here"]),
            ("She isn\u2019t here", ["she", "isn't", "here"]),
            ("'quoted' dogs' tails", ["quoted", "dogs", "tails"]),
            ("rock''n'roll", ["rock", "n'roll"]),
            ("42 of 3.5 in 2nd", ["42", "of", "3", "5", "in", "2nd"]),
            ("well-known snake_case", ["well", "known", "snake", "case"]),
            ("Стра\u0301сть и СТРАХ", ["стра\u0301сть", "и", "страх"]),
            ("Ærlige STRASSE straße", ["ærlige", "strasse", "strasse"]),
            ("ΣΟΦΟΣ σοφος", ["σοφοσ", "σοφοσ"]),
            ("cafe\u0301 café", ["café", "café"]),
            ("वह डॉक्टर है।", ["वह", "डॉक्टर", "है"]),
            ("هي طبيبة؟", ["هي", "طبيبة"]),
            ("היא רופאה", ["היא", "רופאה"]),
            ("می\u200cخواهم", ["میخواهم"]),
            ("\ufeffwo\u00admen he\u2060llo", ["women", "hello"]),
            ("그녀는 의사다", ["그녀는", "의사다"]),
            ("她是医生。", ["她", "是", "医", "生"]),
            ("ガラスのコップ", ["ガラス", "の", "コップ"]),
            ("がんば", ["が", "ん", "ば"]),
            ("สวัสดี", ["ส", "วั", "ส", "ดี"]),
            ("她abc他", ["她", "abc", "他"]),
            ("good \u2764\ufe0f \U0001f469\u200d\u2695\ufe0f day", ["good", "day"]),
        ],
    )
    def test_words_of(self, text, expected):
        assert tokens(text) == expected

    @given(ASCII)
    def test_equal_a_regular_expression_on_ascii(self, text):
        assert tokens(text) == re.findall(r"[a-z0-9]+(?:'[a-z0-9]+)*", text.lower())

    @given(ASCII)
    def test_do_not_depend_on_the_path_taken(self, text):
        # A dash makes the text non-ASCII and is itself no word.
        assert tokens(text + " \u2014") == tokens(text)

    @given(st.text(max_size=60))
    def test_hold_no_space_and_are_never_empty(self, text):
        assert all(token and token.split() == [token] for token in tokens(text))

    @given(st.text(max_size=60))
    def test_are_the_same_for_composed_and_decomposed_text(self, text):
        composed, decomposed = (unicodedata.normalize(form, text) for form in ("NFC", "NFD"))
        assert tokens(composed) == tokens(decomposed)


class TestSentences:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", []),
            ("  ", []),
            ("One.", ["One."]),
            ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
            ("It costs 3.50 at a.b.c now", ["It costs 3.50 at a.b.c now"]),
            ("Wait... what?!\nYes", ["Wait...", "what?!", "Yes"]),
            ("她是医生。他是护士！", ["她是医生。", "他是护士！"]),
            ("वह है। वह थी।", ["वह है।", "वह थी।"]),
        ],
    )
    def test_of(self, text, expected):
        assert sentences(text) == expected

    @given(st.text(st.sampled_from("ab .!?\n\u3002"), max_size=40))
    def test_lose_only_white_space(self, text):
        assert "".join("".join(sentences(text)).split()) == "".join(text.split())


class TestRougeL:
    @given(PLAIN_ASCII, PLAIN_ASCII)
    def test_equals_rouge_score_on_ascii_text(self, a, b):
        if tokens(a) and tokens(b):
            assert rouge_l(tokens(a), tokens(b)) == oracle().score(a, b)["rougeL"].fmeasure

    @given(FEW_WORDS, FEW_WORDS)
    def test_equals_the_textbook_formula(self, a, b):
        if a and b:
            assert rouge_l(a, b) == pytest.approx(2 * lcs_length(a, b) / (len(a) + len(b)))

    @given(st.text(max_size=60))
    def test_of_a_text_with_itself_is_1_in_any_script(self, text):
        assert rouge_l(tokens(text), tokens(text)) == 1.0

    def test_of_two_empty_texts_is_1(self):
        assert rouge_l([], []) == 1.0

    def test_of_one_empty_text_is_0(self):
        assert rouge_l([], ["word"]) == rouge_l(["word"], []) == 0.0


class TestFindWords:
    @pytest.mark.parametrize(
        ("text", "words", "expected"),
        [
            ("", ["he"], []),
            ("He saw HER there", ["he", "her"], ["He", "HER"]),
            ("the other hero", ["he", "her"], []),
            ("he's, she\u2019d", ["he", "she"], ["he", "she"]),
            ("the girlfriend's car", ["girlfriend"], ["girlfriend"]),
            ("the kings' road", ["kings"], ["kings"]),
            ("O'Neil can't", ["o", "neil", "can"], []),
            ("'he' and (she)", ["he", "she"], ["he", "she"]),
            ("he/she or s/he", ["he", "she"], ["he", "she", "he"]),
            ("an old\n  man is a man", ["man", "old man"], ["old\n  man", "man"]),
            ("an old, man", ["old man", "man"], ["man"]),
            ("old old man", ["old man"], ["old man"]),
            ("his father-in-law", ["father-in-law"], ["father-in-law"]),
            ("Father\u2011in\u2011law", ["father-in-law"], ["Father\u2011in\u2011law"]),
            ("her_name _her_ for_her", ["her"], ["her"]),
            ("STRASSE", ["straße"], ["STRASSE"]),
            ("Cafe\u0301 LE\u0301O", ["café", "léo"], ["Cafe\u0301", "LE\u0301O"]),
            ("Она врач. ОН врач", ["он", "она"], ["Она", "ОН"]),
            ("她是医生，女人", ["她", "女人"], ["她", "女人"]),
            ("Em\u00adma\u200d said", ["emma"], ["Em\u00adma"]),
            ("ma'am, ma\u2019am", ["ma'am"], ["ma'am", "ma\u2019am"]),
        ],
    )
    def test_in(self, text, words, expected):
        assert [text[start:end] for start, end, _ in find_words(text, words)] == expected

    def test_names_the_word_as_it_was_listed(self):
        assert [word for _, _, word in find_words("OLD MAN", ["Old man"])] == ["Old man"]

    def test_refuses_a_word_without_letters(self):
        with pytest.raises(ValueError, match=r"'--' has no letter or digit"):
            find_words("a -- b", ["a", "--"])

    @given(
        st.lists(st.sampled_from(["he", "she", "old", "man", "old man", "x"]), max_size=12),
        st.sampled_from([" ", "\n", "  ", "\u2003"]),
    )
    def test_agrees_with_a_slow_search(self, words, space):
        text = space.join(word.replace(" ", space) for word in words)
        pieces, expected, at = text.split(), [], 0
        while at < len(pieces):
            if pieces[at : at + 2] == ["old", "man"]:
                expected.append("old man")
                at += 1
            elif pieces[at] in ("he", "man"):
                expected.append(pieces[at])
            at += 1
        assert [word for _, _, word in find_words(text, ["he", "man", "old man"])] == expected

    @given(st.lists(st.sampled_from(["in", "IN", "her", "a", "b", "x"]), max_size=12))
    def test_a_head_that_begins_no_term_is_passed_over(self, pieces):
        text = "  ".join(pieces)
        expected = []
        at = 0
        while at < len(pieces):
            pair = " ".join(pieces[at : at + 2]).lower()
            if pair in ("in her", "a b"):
                start = len("  ".join([*pieces[:at], ""]))
                expected.append((start, start + len(pair) + 1))
                at += 1
            at += 1
        found = find_words(text, ["in her", "a b"])
        assert [(start, end) for start, end, _ in found] == expected

    @given(st.text(max_size=60), st.lists(st.text("abİß 'é她-", min_size=1, max_size=4)))
    def test_gives_spans_that_read_as_the_word(self, text, words):
        words = [word for word in words if tokens(word)]
        finder = WordFinder(words)
        last = 0
        for start, end, word in finder.matches(text + " ".join(words)):
            assert last <= start < end
            assert "".join(tokens((text + " ".join(words))[start:end])) == "".join(tokens(word))
            last = end


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("Take vitamin C", ["C++"], []),
        ("I code C++ and C.", ["C", "C++"], ["C++", "C"]),
        ("LGBTQ+ and LGBTQ people", ["LGBTQ+"], ["LGBTQ+"]),
        ("Room 65, a 65+ man, 65+s", ["65+"], ["65+"]),
        ("An R.N. left, R.N too", ["R.N."], ["R.N."]),
        ("An em dash; tell 'em, tell \u2019em", ["'em"], ["'em", "\u2019em"]),
        ("(x) devs, x devs", ["(x) devs"], ["(x) devs"]),
        ("she, (she)", [" she ", "(she)"], ["she", "(she)"]),
        ("she left", ["\u00adshe\u00ad"], ["she"]),
    ],
)
def test_marks_at_the_ends_of_a_term_belong_to_it(text, words, expected):
    assert [text[start:end] for start, end, _ in find_words(text, words)] == expected


def test_marks_at_the_ends_of_a_term_are_masked():
    assert mask_words("I code C++, not C.", ["C++"]) == "I code [MASK], not C."
