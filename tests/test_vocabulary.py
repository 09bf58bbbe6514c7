from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_llmfair.text import tokens
from pytest_llmfair.text.vocabulary import VOCABULARY, Vocabulary


@given(st.text(max_size=30))
def test_the_shared_vocabulary_numbers_words_alike_for_everyone(text):
    assert [VOCABULARY.number(word) for word in tokens(text)] == VOCABULARY.ids(text).tolist()


def test_numbers_count_up_in_order_of_appearance():
    vocabulary = Vocabulary()
    assert vocabulary.ids("b a b c").tolist() == [0, 1, 0, 2]
    assert vocabulary.number("a") == 1
    assert vocabulary.number("d") == 3
    assert vocabulary.words == ["b", "a", "c", "d"]


def test_a_text_is_split_once_and_shared_read_only():
    vocabulary = Vocabulary()
    ids = vocabulary.ids("one text")
    assert vocabulary.ids("one text") is ids
    assert ids.dtype == np.int32
    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 7


def test_a_text_without_words_has_no_ids():
    assert Vocabulary().ids("?!").size == 0


@given(st.lists(st.text(max_size=30), max_size=100))
def test_many_texts_at_once_get_the_ids_that_each_gets(texts):
    vocabulary = Vocabulary()
    for text in texts[::3]:
        vocabulary.ids(text)
    found = vocabulary.ids_of(texts)
    assert sorted(found) == sorted(set(texts))
    for text, ids in found.items():
        assert [vocabulary.words[i] for i in ids] == tokens(text)
        assert vocabulary.ids(text) is ids
        assert not ids.flags.writeable


def test_forgotten_texts_are_split_again_and_words_keep_their_numbers():
    vocabulary = Vocabulary()
    first = vocabulary.ids("b a b")
    vocabulary.forget()
    assert vocabulary.ids("b a b") is not first
    assert vocabulary.ids("b a b").tolist() == [0, 1, 0]


def test_texts_are_forgotten_when_too_many_but_numbers_stay():
    vocabulary = Vocabulary(most_kept=250)
    first = vocabulary.ids("first text")
    for n in range(100):
        vocabulary.ids(f"text {n}")
        assert len(vocabulary._texts) <= 2
    again = vocabulary.ids("first text")
    assert again is not first
    assert again.tolist() == first.tolist()


def test_a_text_longer_than_all_that_is_kept_is_split_and_not_kept():
    vocabulary = Vocabulary(most_kept=500)
    text = "word " * 100
    assert vocabulary.ids(text).tolist() == [0] * 100
    assert vocabulary.ids(text) is not vocabulary.ids(text)


def test_threads_agree_on_the_numbers():
    vocabulary = Vocabulary(most_kept=2_000)
    texts = [" ".join(f"w{(i * k) % 997}" for k in range(50)) for i in range(200)]
    wrong: list[str] = []

    def read():
        for text in texts:
            words = [vocabulary.words[i] for i in vocabulary.ids(text)]
            if words != tokens(text):
                wrong.append(text)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(set(vocabulary.words)) == len(vocabulary.words)
