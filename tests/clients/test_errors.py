from __future__ import annotations

import base64
import html
import json
import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import quote, quote_plus

import pytest

from pytest_llmfair.clients import CutAnswer, Missing, ModelClient
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


@pytest.mark.parametrize("before", range(6))
@pytest.mark.parametrize("key", ["sk-canary-0123456789", "pä55/w?rd+~~>>", "abcdefgh"])
def test_a_key_is_found_in_base64_wherever_it_begins(monkeypatch, key, before):
    monkeypatch.setenv("MY_API_KEY", key)
    whole = b"u" * before + key.encode() + b":and more"
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        shown = redactor()(f"Authorization: Basic {encode(whole).decode()}.")
        assert REMOVED in shown
        # What is left is shorter than the key by all but the letters shared with its neighbours.
        left = "".join(re.findall(r"Basic (.*)\.", shown)).replace(REMOVED, "")
        assert len(left) <= len(encode(whole)) - len(key.encode()) * 8 // 6 + 2
    assert redactor()(key.encode().hex()) == REMOVED


@pytest.mark.parametrize(
    "write",
    [
        *(quote, quote_plus, lambda key: quote(quote(key, safe=""), safe="")),
        lambda key: quote(key, safe="").replace("%2F", "%2f"),
        lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
        lambda key: json.dumps(key).replace("/", r"\/"),
        lambda key: "".join(f"\\u{ord(sign):04X}" if sign == "/" else sign for sign in key),
        *(html.escape, lambda key: key.replace("/", "&#x2F;").replace(" ", "&#32;")),
        lambda key: key.encode().hex().upper(),
        lambda key: quote(base64.b64encode(key.encode()), safe=""),
        lambda key: base64.encodebytes(key.encode() * 3).decode(),
    ],
)
def test_a_key_is_found_in_addresses_pages_and_mail(monkeypatch, write):
    key = "sk/canary 0123&'45\"6>~<?>\xe9~7"
    monkeypatch.setenv("MY_API_KEY", key)
    shown = redactor()(f"you sent {write(key)}.")
    assert shown.startswith((f"you sent {REMOVED}", f'you sent "{REMOVED}'))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *(("ANTHROPIC_AUTH_TOKEN", "{}"), ("API_KEY", "{}"), ("AWS_SECRET_ACCESS_KEY", "{}")),
        ("OPENAI_BASE_URL", "https://models.example/v1?version=2024-02-01&api_key={}"),
        ("GATEWAY", "https://models.example/v1?X-Amz-Signature={}#here"),
    ],
)
def test_a_key_is_known_wherever_the_environment_has_it(monkeypatch, variable, value):
    monkeypatch.setenv(variable, value.format("canary-0123456789"))
    shown = redactor()("canary-0123456789 on 2024-02-01 at models.example")
    assert shown == f"{REMOVED} on 2024-02-01 at models.example"


@pytest.mark.parametrize("variable", ["OPENAI_BASE_URL", "HTTPS_PROXY"])
def test_the_password_of_an_address_goes_in_every_form(monkeypatch, variable):
    monkeypatch.setenv(variable, "https://anna:s3cret%2Fp%40ss@models.example:8443/v1")
    basic = base64.b64encode(b"anna:s3cret/p@ss").decode()
    for form in ("s3cret%2Fp%40ss", "s3cret/p@ss", basic, f"Basic {basic}"):
        shown = redactor()(f"you sent {form}")
        assert REMOVED in shown
        assert form not in shown
    assert redactor()("ask anna at models.example:8443") == "ask anna at models.example:8443"


def test_a_prompt_that_holds_a_key_is_never_sent_or_recorded(monkeypatch, tmp_path):
    monkeypatch.setenv("MY_API_KEY", "sk-canary-0123456789")
    asked = []
    client = ModelClient.of(lambda prompt: asked.append(prompt) or "yes", name="bot")
    for key in ("sk-canary-0123456789", base64.b64encode(b"sk-canary-0123456789").decode()):
        with pytest.raises(ValueError, match="prompt 2 of 2 holds a key") as error:
            client.generate(["Hi.", f"Log in with {key}."])
        assert key not in str(error.value)
    assert asked == []
