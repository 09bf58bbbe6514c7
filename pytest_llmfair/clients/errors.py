"""Map server responses and SDK errors to answers or `Missing`, with keys removed from texts."""

from __future__ import annotations

import base64
import functools
import html
import json
import logging
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_llmfair.clients.protocol import Attempt, Reply
from pytest_llmfair.replies import changed_texts, checked_facts, facts_of, is_cut, text_answer
from pytest_llmfair.responses import Answer, CutAnswer, Missing

REMOVED = "[key removed]"

# Local servers take any word as a key; a short one, such as "EMPTY", may occur in an answer.
_SHORTEST = 8

# Names of environment variables that hold keys end like this, and so do parts of addresses.
_KEYS = ("API_KEY", "_ACCESS_KEY", "_TOKEN")
_KEY_IN_ADDRESS = re.compile("key|token|secret|sig|password", re.I)

# Their logs hold requests and the headers of responses, in which a server may echo a key.
_LIBRARIES = ("openai", "anthropic", "httpx", "httpcore", "LiteLLM")

# No answer has more tokens; a larger count is an error of the server.
_MOST_TOKENS = 10**9


def of_text(text: object, *, cut: bool, limit: int | None) -> Reply:
    """Return the reply to a text, a list of parts or None; uncut unless the user set a `limit`."""
    if isinstance(text, list):
        texts = (part.get("text") if isinstance(part, Mapping) else part for part in text)
        text = "".join(part for part in texts if isinstance(part, str))
    if text is not None and not isinstance(text, str):
        return malformed(f"the text of the answer is {type(text).__name__}").reply
    if cut and (limit is None or not (text or "").strip()):
        asked = "no limit was asked for" if limit is None else f"{limit} tokens left no text"
        return Reply(Missing("length", f"the server cut the answer; {asked}"))
    if text is None:
        return Reply(Missing("null", "the answer has no text"))
    if not text.strip():
        return Reply(Missing("empty", "the answer is an empty text"))
    return Reply(CutAnswer(text) if cut else text)


def without_keys(answer: Answer, redacted: Callable[[str], str]) -> Answer:
    """Return an answer without the keys in its text, its detail and its facts."""
    facts = changed_texts(facts_of(answer), redacted)
    if isinstance(answer, Missing):
        return Missing(answer.reason, redacted(answer.detail), facts)
    return text_answer(redacted(answer), facts, cut=is_cut(answer))


def with_tool_calls(answer: Answer, calls: object) -> Answer:
    """Return an answer with the tools that a message of OpenAI's form calls as facts."""
    names = [_tool(call) for call in calls] if isinstance(calls, (list, tuple)) else []
    facts = {**facts_of(answer), "tools": names, "tool_calls": len(names)}
    if isinstance(answer, Missing):
        return replace(answer, facts=checked_facts(facts))
    return text_answer(answer, facts, cut=is_cut(answer))


def _tool(call: object) -> str:
    """Return the tool of a call, which is a mapping or an object; LangChain has no `function`."""
    read = call.get if isinstance(call, Mapping) else functools.partial(getattr, call)
    name = read("name", None)
    return str(name) if name else _tool(read("function", {"name": "unnamed"}))


def malformed(words: str) -> Attempt:
    """Return the attempt for a body that cannot be read; another attempt may do better."""
    return Attempt(Reply(Missing("malformed", words)), retry=True)


def body_of(data: bytes) -> dict[str, Any] | Attempt:
    """Return the JSON object of a body, or the failed attempt if there is none."""
    try:
        body = json.loads(data)
    # A body nested a thousand levels deep is as unreadable as one cut in the middle.
    except (ValueError, RecursionError):
        start = one_line(data[:200].decode("utf-8", "replace"), 80)
        return malformed(f"the body is not JSON: {start!r}" if start else "the body is empty")
    if not isinstance(body, dict):
        return malformed(f"the body is a JSON {type(body).__name__}, not an object")
    if body.get("error") and not body.get("choices"):
        words = f"the body reports an error: {_error_text(body)}"
        return Attempt(Reply(Missing("server_error", words)), retry=True)
    return body


def counted(usage: object, name: str) -> int:
    """Return a number of tokens of the body's `usage`; 0 if it has no plausible number."""
    count = usage.get(name) if isinstance(usage, Mapping) else None
    return count if type(count) is int and 0 <= count <= _MOST_TOKENS else 0


def counted_in(reply: Reply, body: Mapping[str, Any], prompt: str, answer: str) -> Reply:
    """Return a reply with the model that a body names, and the tokens that it counts."""
    usage = body.get("usage")
    model, fingerprint = (
        one_line(str(body.get(key) or "")) for key in ("model", "system_fingerprint")
    )
    return replace(
        reply,
        prompt_tokens=counted(usage, prompt),
        answer_tokens=counted(usage, answer),
        served=(model, fingerprint),
    )


def of_error(error: Exception, url_variable: str) -> Attempt:
    """Return the attempt for an exception of an SDK or of Python; remedies name the variable."""
    status = status_of(error)
    if status is not None:
        return _of_status(status, error, url_variable)
    reason = getattr(error, "reason", None)  # of urllib's URLError
    cause = error.__cause__ or (reason if isinstance(reason, Exception) else error)
    kinds = {kind.__name__ for each in (error, cause) for kind in type(each).__mro__}
    if kinds & {"APITimeoutError", "TimeoutError", "TimeoutException"}:
        return Attempt(Reply(Missing("timeout", "the server could not be reached")), retry=True)
    if kinds & {"APIConnectionError", "TransportError", "OSError", "HTTPException"}:
        words = _words(cause)
        if kinds & {"IncompleteRead"} or "complete message body" in words:
            return malformed(f"the body ends too early ({words})")
        if kinds & {"ConnectError", "ConnectionRefusedError", "gaierror"}:
            words += f"; is a server running at the address in {url_variable}?"
        return Attempt(Reply(Missing("error", f"no connection: {words}")), retry=True)
    return Attempt(Reply(Missing("error", _words(error))))


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of an exception, if it has one."""
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            status = getattr(holder, name, None)
            if isinstance(status, int) and 100 <= status < 600:
                return status
    return None


def message_of(error: Exception) -> str:
    """Return the server's message about a refused request, as one line."""
    return _error_text(getattr(error, "body", None)) or one_line(str(error))


def code_of(error: Exception) -> str:
    """Return the machine-readable word of an error, such as "insufficient_quota"."""
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return str(inner.get("code") or "") if isinstance(inner, Mapping) else ""


def _of_status(status: int, error: Exception, url_variable: str) -> Attempt:
    words = f"HTTP {status}: {message_of(error)}"
    # urllib's error is the response itself.
    headers = getattr(getattr(error, "response", error), "headers", None) or {}
    if status == 429:
        reason = "rate_limit"
    elif status == 408:
        reason = "timeout"
    elif status >= 500 or status in (409, 425):
        reason = "server_error"
    else:
        if 300 <= status < 400:
            place = one_line(headers.get("location", "elsewhere"))
            words = f"HTTP {status}: the server redirects to {place}; fix {url_variable}"
        if status == 400 and "temperature" in words:
            words += "; ask such a model with temperature 1"
        filtered = "content" in (code := code_of(error)) and ("filter" in code or "policy" in code)
        return Attempt(Reply(Missing("filtered" if filtered else "error", words)))
    return Attempt(Reply(Missing(reason, words)), True, retry_after(headers))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait: a number, or an HTTP date."""
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000.0
        else:
            text = headers.get("retry-after", "")
            try:
                seconds = float(text)
            except ValueError:
                seconds = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _error_text(body: object) -> str:
    inner = body.get("error", body) if isinstance(body, Mapping) else body
    message = inner.get("message") if isinstance(inner, Mapping) else inner
    return one_line(str(message)) if message else ""


def _words(error: BaseException) -> str:
    return one_line(f"{type(error).__name__}: {error}").rstrip(": ")


def redactor() -> Callable[[str], str]:
    """Return a function that removes the keys and passwords of the environment from a text."""
    pattern = _pattern(frozenset(_secrets()))

    def redacted(text: str) -> str:
        return text if pattern is None else pattern.sub(REMOVED, text)

    return redacted


def _secrets() -> Iterator[str]:
    """Yield the keys of the environment, and the passwords of the addresses in it."""
    for name, value in os.environ.items():
        if name.endswith(_KEYS):
            yield value.strip()
        elif "://" in value:
            with suppress(ValueError):
                yield from _secrets_of_address(value.strip())


def _secrets_of_address(address: str) -> Iterator[str]:
    parts = urlsplit(address)
    if user_and_password := parts.password and (parts.username or "", parts.password):
        # A library sends them decoded, as the two parts of Basic authentication.
        for user, password in (user_and_password, map(unquote, user_and_password)):
            yield from (password, f"{user}:{password}")
    for name, value in parse_qsl(parts.query):
        if _KEY_IN_ADDRESS.search(name):
            yield value


@functools.lru_cache(maxsize=8)
def _pattern(secrets: frozenset[str]) -> re.Pattern[str] | None:
    # The longest first, since one key may begin with another.
    keys = sorted(secrets, key=lambda key: (-len(key), key))
    forms = [form for key in keys if len(key) >= _SHORTEST for form in _forms(key)]
    return re.compile("|".join(dict.fromkeys(forms))) if forms else None


def _forms(key: str) -> Iterator[str]:
    """Yield patterns of the ways to write a key: as text, as bytes, and in base64."""
    data = key.encode("utf-8", "surrogateescape")
    yield "".join(map(_sign, key))
    yield from (data.hex(), data.hex().upper(), "".join(map(_percent, data)))
    for before in range(3):
        # Text before the key shifts its letters; those that it or what follows changes are left.
        start, end = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        encoded = base64.b64encode(b"." * before + data)[start:end].decode("ascii")
        # Some encoders begin a new line after 76 letters, and addresses have other signs.
        signs = {"+": f"(?:-|{_sign('+')})", "/": f"(?:_|{_sign('/')})"}
        yield r"\s*".join(signs.get(letter, letter) for letter in encoded)


@functools.cache
def _sign(character: str) -> str:
    """Return the pattern of a character as text, JSON, HTML, bytes and addresses write it."""
    if character.isascii() and character.isalnum():
        return character
    data, code = character.encode("utf-8", "surrogateescape"), ord(character)
    forms = [
        rf"\\?{re.escape(character)}",
        re.escape(json.dumps(character)[1:-1]),
        rf"\\u(?i:{code:04x})",
        "".join(rf"\\x(?i:{byte:02x})" for byte in data),
        re.escape(html.escape(character)),
        rf"&#(?:0*{code}|(?i:x0*{code:x}));",
        "".join(map(_percent, data)),
        *([r"\+"] if character == " " else []),
    ]
    return f"(?:{'|'.join(forms)})"


def _percent(byte: int) -> str:
    """Return the pattern of a byte in an address, encoded any number of times."""
    return f"%(?:25)*(?i:{byte:02x})"


def guard_logs(redacted: Callable[[str], str]) -> None:
    """Remove keys from the logs of the providers' libraries, at every level."""
    for name, logger in logging.root.manager.loggerDict.items():
        if name.startswith(_LIBRARIES) and isinstance(logger, logging.Logger):
            for old in [held for held in logger.filters if isinstance(held, _KeysRemoved)]:
                logger.removeFilter(old)
            logger.addFilter(_KeysRemoved(redacted))


class _KeysRemoved(logging.Filter):
    def __init__(self, redacted: Callable[[str], str]) -> None:
        super().__init__()
        self._redacted = redacted

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = self._redacted(record.getMessage()), None
        return True


def one_line(text: str, limit: int = 200) -> str:
    """Return a text for a message: one line of printable characters, cut at `limit`, no keys."""
    # Keys are removed before the cut, which could leave part of a key.
    text = " ".join(redactor()(text)[: 4 * limit].split())[:limit]
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
