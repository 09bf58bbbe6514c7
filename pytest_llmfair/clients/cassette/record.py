"""A recorded answer as one line of JSON with a checksum, found by its key."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from pytest_llmfair.clients.protocol import TRANSIENT, Reply, Request
from pytest_llmfair.replies import (
    changed_texts,
    checked_facts,
    facts_of,
    is_cut,
    text_answer,
    text_digest,
)
from pytest_llmfair.responses import Answer, DigestedText, Missing

# Part of every key, so that answers are not replayed after the fields change their meaning.
SCHEMA = 1

_KEY, _SUM = 32, 16
# Every line ends in this form, so that an index needs no JSON to be parsed.
_TAIL = re.compile(rb',"key":"([0-9a-f]{32})","sum":"([0-9a-f]{16})"\}$')
_TAIL_LENGTH = len(',"key":"","sum":""}') + _KEY + _SUM
_UNSEEN = re.compile(r"[^ -~]")
# What content of a wrong type or depth raises: whoever writes a line can seal it.
_WRONG = (
    *(ArithmeticError, AttributeError, LookupError),
    *(RecursionError, TypeError, ValueError),
)


class DamagedRecord(ValueError):
    """A line that is not a record, or was changed; the message says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """Everything that an answer depends on."""

    # Provider, model and revision.
    model: Mapping[str, str]
    request: Request
    temperature: float
    max_tokens: int | None

    @property
    def key(self) -> str:
        """Digest of the question, 32 hexadecimal digits."""
        return _digest(self._content())

    @property
    def anonymous_key(self) -> str:
        """Key without the revision of the model."""
        content = self._content()
        del content["model"]["revision"]
        return _digest(content)

    def _content(self) -> dict[str, Any]:
        request = self.request
        return {
            "schema": SCHEMA,
            "model": {"revision": "", **self.model},
            "messages": [{"role": "user", "content": request.prompt}],
            "temperature": float(self.temperature),
            "max_tokens": self.max_tokens,
            "seed": request.seed,
            "repeat": request.repeat,
            "first_token": request.first_token,
        }


@dataclass(frozen=True, slots=True)
class Record:
    """A recorded answer; without its texts the prompt is empty, the answer a `DigestedText`."""

    question: Question
    reply: Reply
    # Day of the recording (UTC).
    day: date
    key: str
    prompt_digest: str = ""
    answer_digest: str = ""

    @property
    def altered(self) -> bool:
        """Whether the prompt or a parameter was changed after the key was made."""
        return not self.prompt_digest and self.question.key != self.key

    @property
    def transient(self) -> bool:
        """Whether only a passing failure was recorded."""
        answer = self.reply.answer
        return isinstance(answer, Missing) and answer.reason in TRANSIENT

    @property
    def outcome(self) -> tuple[str, str]:
        """The part on which two records of one question must agree."""
        answer = self.reply.answer
        facts = json.dumps(self._facts(text=False), sort_keys=True) if facts_of(answer) else ""
        if self.answer_digest:
            return "text", self.answer_digest + facts
        if isinstance(answer, Missing):
            return "missing", answer.reason + facts
        return "text", text_digest(answer) + facts

    @classmethod
    def of(cls, question: Question, reply: Reply, day: date) -> Record:
        """Return the record of a reply."""
        return cls(question, reply, day, question.key)

    def line(self, *, text: bool = True) -> bytes:
        """Return the record as a line, with the texts or with their digests only."""
        request, reply = self.question.request, self.reply
        answer = reply.answer
        shown: dict[str, Any] = {}
        if text and not self.prompt_digest:
            shown["prompt"] = request.prompt
        else:
            shown["prompt_digest"] = self.prompt_digest or text_digest(request.prompt)
        if self.answer_digest:
            shown["answer_digest"] = self.answer_digest
        elif isinstance(answer, Missing):
            shown["missing"] = answer.reason
            if text and answer.detail:
                shown["detail"] = answer.detail
        elif text or request.numbers:
            shown["answer"] = answer
        else:
            shown["answer_digest"] = text_digest(answer)
        shown["model"] = dict(self.question.model)
        shown["temperature"] = float(self.question.temperature)
        shown["max_tokens"] = self.question.max_tokens
        shown["seed"], shown["repeat"] = request.seed, request.repeat
        shown |= {"first_token": True} if request.first_token else {}
        shown |= {"cut": True} if is_cut(answer) else {}
        shown |= {"facts": self._facts(text=text)} if facts_of(answer) else {}
        shown["tokens"] = [reply.prompt_tokens, reply.answer_tokens]
        shown |= {"served": list(reply.served)} if any(reply.served) else {}
        shown["day"], shown["schema"] = self.day.isoformat(), SCHEMA
        return sealed(shown, self.key)

    def _facts(self, *, text: bool) -> dict[str, Any]:
        """Return the facts of the answer, with their texts or with the digests of these."""
        facts = facts_of(self.reply.answer)
        return facts if text or self.prompt_digest else changed_texts(facts, text_digest)

    @classmethod
    def read(cls, line: bytes) -> Record:
        """Return the record of a line; raise `DamagedRecord` if a field is missing or wrong."""
        try:
            return cls._from(json.loads(line))
        except _WRONG as error:
            raise _damaged("answer", error) from None

    @classmethod
    def _from(cls, found: Mapping[str, Any]) -> Record:
        if found["schema"] != SCHEMA:
            raise ValueError(f"schema {found['schema']}, this version reads {SCHEMA}")
        answer: Answer
        cut, facts = found.get("cut", False), checked_facts(found.get("facts", {}))
        if "answer" in found:
            answer = text_answer(found["answer"], facts, cut=cut)
        elif "missing" in found:
            answer = Missing(found["missing"], found.get("detail", ""), facts)
        else:
            answer = DigestedText(found["answer_digest"], facts, cut=cut)
        prompt_tokens, answer_tokens = found["tokens"]
        model, fingerprint = map(str, found.get("served", ("", "")))
        return cls(
            Question(
                found["model"],
                Request(
                    found.get("prompt", ""),
                    found["seed"],
                    found["repeat"],
                    found.get("first_token", False),
                ),
                found["temperature"],
                found["max_tokens"],
            ),
            Reply(answer, prompt_tokens, answer_tokens, 0, served=(model, fingerprint)),
            date.fromisoformat(found["day"]),
            found["key"],
            found.get("prompt_digest", ""),
            found.get("answer_digest", ""),
        )


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """Score of a text whose digest alone is kept, with the day (UTC)."""

    scorer: str
    digest: str
    score: float
    day: date

    @classmethod
    def key_of(cls, scorer: str, digest: str) -> str:
        """Return the key of the score of a text."""
        return _digest({"schema": SCHEMA, "scorer": scorer, "text": digest})

    @property
    def key(self) -> str:
        """Key under which the score is found."""
        return self.key_of(self.scorer, self.digest)

    def line(self, *, text: bool = True) -> bytes:
        """Return the record as a line, which holds no text."""
        shown = {"scorer": self.scorer, "text_digest": self.digest, "score": self.score}
        return sealed({**shown, "day": self.day.isoformat(), "schema": SCHEMA}, self.key)

    @classmethod
    def read(cls, line: bytes) -> ScoreRecord | None:
        """Return the record of a line; None when it holds an answer."""
        if not line.startswith(b'{"scorer":'):
            return None
        try:
            found = json.loads(line)
            day = date.fromisoformat(found["day"])
            return cls(found["scorer"], found["text_digest"], float(found["score"]), day)
        except _WRONG as error:
            raise _damaged("score", error) from None


def read_record(line: bytes) -> Record | ScoreRecord:
    """Return the answer or the score that a line holds; raise `DamagedRecord` if it is neither."""
    return ScoreRecord.read(line) or Record.read(line)


def _damaged(what: str, error: Exception) -> DamagedRecord:
    return DamagedRecord(f"is not a recorded {what} ({type(error).__name__}: {error})")


def sealed(content: Mapping[str, Any], key: str) -> bytes:
    """Return a line of JSON that ends in its key and its checksum."""
    text = json.dumps({**content, "key": key}, ensure_ascii=False, separators=(",", ":"))
    body = _UNSEEN.sub(_escaped, text).encode("ascii" if text.isascii() else "utf-8")[:-1]
    return body + b',"sum":"' + _sum(body) + b'"}\n'


def key_of(line: bytes) -> bytes:
    """Return the key of a line without its line end; raise `DamagedRecord` if it is damaged."""
    tail = _TAIL.match(line, max(len(line) - _TAIL_LENGTH, 0))
    if tail is None:
        raise DamagedRecord("is not a record, or only a part of one")
    if _sum(line[: tail.start(2) - len(',"sum":"')]) != tail[2]:
        raise DamagedRecord("was changed after it was written (its checksum differs)")
    return tail[1]


def _sum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=_SUM // 2).hexdigest().encode("ascii")


def _digest(content: Mapping[str, Any]) -> str:
    return text_digest(json.dumps(content, sort_keys=True, separators=(",", ":")))


def _escaped(match: re.Match[str]) -> str:
    """Escape a character that is not printable, which could break a line or a terminal."""
    character = match[0]
    return character if character.isprintable() else json.dumps(character)[1:-1]
