from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import quote

import pytest

from pytest_llmfair.clients import CutAnswer, Missing
from pytest_llmfair.clients.errors import (
    REMOVED,
    body_of,
    counted,
    of_text,
    one_line,
    redactor,
    retry_after,
)
from pytest_llmfair.clients.protocol import Attempt, Reply


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers, seconds):
    assert retry_after(headers) == seconds


def test_a_date_to_come_is_waited_for():
    then = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert retry_after({"retry-after": then}) == pytest.approx(90.0, abs=5.0)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe\xfa", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}", b"null", b'"x"'],
)
def test_a_body_that_cannot_be_read_is_malformed_and_tried_again(data):
    got = body_of(data)
    assert isinstance(got, Attempt)
    assert got.retry
    assert got.reply.answer.reason == "malformed"


@pytest.mark.parametrize(
    ("text", "cut", "limit", "expected"),
    [
        ("hi", False, None, Reply("hi")),
        ("hi", True, 5, Reply(CutAnswer("hi"))),
        ("hi", True, None, "length"),
        ("", True, 5, "length"),
        (None, True, 5, "length"),
        (" \n", False, None, "empty"),
        (None, False, 5, "null"),
        (7, False, 5, "malformed"),
        ([{"text": "a"}, "b", {"image": "c"}, 3], False, None, Reply("ab")),
    ],
)
def test_a_finished_text_is_an_answer_or_has_a_reason(text, cut, limit, expected):
    reply = of_text(text, cut=cut, limit=limit)
    if isinstance(expected, Reply):
        assert reply == expected
        assert type(reply.answer) is type(expected.answer)
    else:
        assert isinstance(reply.answer, Missing)
        assert reply.answer.reason == expected


def test_a_key_that_begins_with_another_one_goes_whole(monkeypatch):
    monkeypatch.setenv("A_API_KEY", "sk-12345678")
    monkeypatch.setenv("B_API_KEY", "sk-12345678-longer")
    assert redactor()("sk-12345678-longer sk-12345678") == f"{REMOVED} {REMOVED}"


def test_words_that_local_servers_take_as_a_key_stay_in_answers(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "EMPTY")
    assert redactor()("the EMPTY box") == "the EMPTY box"


def test_a_line_for_a_message_is_one_line_of_printable_characters():
    assert one_line("a\n b\x1b[31m \ud83d\u202e\x00") == r"a b\x1b[31m \ud83d\u202e\x00"
    assert len(one_line("x" * 10_000)) == 200


def test_a_key_at_the_place_where_a_text_is_cut_leaves_no_part(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "sk-canary-0123456789")
    assert "canary" not in one_line("x" * 185 + "sk-canary-0123456789")


@pytest.mark.parametrize(
    "key", [" sk-canary-0123456789\n", "sk-canary-0123\n456", "sk-canary-é-1"]
)
def test_keys_are_removed_however_they_are_written(monkeypatch, key):
    monkeypatch.setenv("MY_API_KEY", key)
    bare = key.strip()
    for text in (bare, json.dumps({"key": bare}), quote(bare), f"value {bare.encode()!r}"):
        assert "canary" not in redactor()(text)


@pytest.mark.parametrize("count", [True, -1, 2.5, "7", None, 10**30])
def test_a_count_that_cannot_be_true_is_0(count):
    assert counted({"n": count}, "n") == counted(count, "n") == 0
