"""Answers are remembered within a session; a client that fails ends its call early."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pytest_llmfair.clients import Attempt, Limits, Missing, ModelClient, Reply
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.responses import Answer
from pytest_llmfair.session import Session
from tests.clients.fakes import Server, session_with

PROMPTS = [f"prompt {i}" for i in range(30)]


@pytest.fixture
def session() -> Iterator[Session]:
    """Run a session of its own without a cassette."""
    with session_with() as made:
        yield made


@dataclass
class Bot:
    """A stateful model: unhashable, and equal to others like it."""

    word: str = "answer"
    asked: list[str] = field(default_factory=list)

    def __call__(self, prompt: str) -> str:
        self.asked.append(prompt)
        return f"{self.word} to {prompt}, call {len(self.asked)}"

    async def later(self, prompt: str) -> str:
        await asyncio.sleep(0)
        return self(prompt)


def counts(session: Session) -> tuple[int, int]:
    assert session.asker is not None
    return session.asker.counts.live, session.asker.counts.replayed


@pytest.mark.parametrize("way", ["call", "later"])
def test_threads_and_tests_ask_a_question_once(session: Session, way: str) -> None:
    bot = Bot()

    def ask() -> list[list[Answer]]:
        # Made anew each time, as an assertion does with a function it is given.
        return ModelClient.of(bot if way == "call" else bot.later).generate(PROMPTS, 2)

    first = ask()
    assert ask() == first
    assert len(bot.asked) == 60
    # All were asked live by this session, the second time too.
    assert counts(session) == (120, 0)


def test_only_new_questions_are_asked(session: Session) -> None:
    bot = Bot()
    client = ModelClient.of(bot)
    client.generate(PROMPTS[:10])
    client.generate(PROMPTS[5:15])
    assert sorted(bot.asked) == sorted(PROMPTS[:15])
    client.generate(PROMPTS[:1], 2)
    assert bot.asked[15:] == PROMPTS[:1]


@pytest.mark.parametrize("changed", [{"seed": 1}, {"temperature": 0.5}, {"max_tokens": 7}])
def test_other_parameters_are_another_question(
    session: Session, changed: dict[str, float]
) -> None:
    bot = Bot()
    client = ModelClient.of(bot)
    client.generate(PROMPTS[:1])
    client.generate(PROMPTS[:1], **changed)  # type: ignore[arg-type]
    assert len(bot.asked) == 2


def test_pairs_are_remembered(session: Session) -> None:
    bot = Bot()
    pairs = generate_pairs([f"She is nurse {i}." for i in range(4)], attribute="gender")
    first = ModelClient.of(bot).answer_pairs(pairs, 2)
    again = ModelClient.of(bot).answer_pairs(pairs[:2], 1)
    assert len(bot.asked) == 16
    assert again.original == tuple(row[:1] for row in first.original[:2])
    assert again.origin == (4, 0)


def test_fresh_asks_again_and_is_remembered(session: Session) -> None:
    bot = Bot()
    client = ModelClient.of(bot)
    (old,), (new,) = client.generate(PROMPTS[:1])[0], client.generate(PROMPTS[:1], fresh=True)[0]
    assert (old, new) == ("answer to prompt 0, call 1", "answer to prompt 0, call 2")
    assert client.generate(PROMPTS[:1]) == [[new]]
    pairs = generate_pairs(["She is a nurse."], attribute="gender")
    assert client.answer_pairs(pairs).original != client.answer_pairs(pairs, fresh=True).original


def test_callables_of_one_name_share_no_answers(session: Session) -> None:
    def bot(word: str) -> ModelClient:
        return ModelClient.of(lambda prompt: f"{word} {prompt}")

    good, bad = bot("good"), bot("bad")
    assert good.name == bad.name
    assert good.generate(["x"]) + bad.generate(["x"]) == [["good x"], ["bad x"]]
    # As many as fit into memory freed before: an id alone would come back.
    for i in range(200):
        assert ModelClient.of(Bot(str(i))).generate(["x"]) == [[f"{i} to x, call 1"]]


def test_equal_objects_are_two_clients(session: Session) -> None:
    one, other = Bot(), Bot()
    assert one == other
    ModelClient.of(one).generate(PROMPTS)
    ModelClient.of(other).generate(PROMPTS)
    ModelClient.of(other.later).generate(PROMPTS)
    assert (len(one.asked), len(other.asked)) == (30, 60)


def test_a_runnable_is_one_client_however_often_it_is_wrapped(session: Session) -> None:
    class Runnable:
        asked = 0

        async def ainvoke(self, prompt: str) -> str:
            self.asked += 1
            return "an answer"

    chain = Runnable()
    ModelClient.of(chain).generate(PROMPTS)
    ModelClient.of(chain).generate(PROMPTS)
    assert chain.asked == 30


@pytest.mark.parametrize(
    ("reason", "again"),
    [
        *((reason, False) for reason in ("refused", "filtered", "empty", "null", "length")),
        *((reason, True) for reason in ("error", "timeout", "rate_limit", "server_error")),
    ],
)
def test_what_the_model_did_is_remembered_and_what_failed_is_not(
    session: Session, reason: str, again: bool
) -> None:
    asked: list[str] = []
    client = ModelClient.of(lambda prompt: asked.append(prompt) or Missing(reason, "said"))
    assert client.generate(["x"]) == client.generate(["x"]) == [[Missing(reason, "said")]]
    assert len(asked) == (2 if again else 1)


def test_what_the_budget_could_not_pay_is_not_remembered() -> None:
    with session_with(max_calls=10) as made:
        bot = Bot()
        client = ModelClient.of(bot)
        for _ in range(2):
            answers = [row[0] for row in client.generate(PROMPTS)]
            assert [bool(answer) for answer in answers] == [each in bot.asked for each in PROMPTS]
        assert len(bot.asked) == 10
        assert counts(made) == (20, 0)


def test_threads_ask_each_question_once(session: Session) -> None:
    bot = Bot()
    answers: list[list[list[Answer]]] = []
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=lambda: answers.append(ModelClient.of(bot).generate(PROMPTS)))
            for _ in range(6)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert sorted(bot.asked) == sorted(PROMPTS)
    assert len(answers) == 6
    assert all(found == answers[0] for found in answers)


def test_outside_a_session_everything_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_llmfair.session._sessions", [])
    bot = Bot()
    client = ModelClient.of(bot)
    client.generate(PROMPTS)
    client.generate(PROMPTS)
    assert len(bot.asked) == 60


def test_a_new_cassette_makes_no_answer_of_this_run_a_replayed_one(tmp_path: Path) -> None:
    bot = Bot()

    def run(fresh: bool = False, mode: str = "new") -> tuple[int, int]:
        with session_with(cassette=str(tmp_path / "c.jsonl"), record_mode=mode) as made:
            for _ in range(2):
                ModelClient.of(bot, name="bot").generate(PROMPTS, fresh=fresh)
            return counts(made)

    assert run() == (60, 0)
    assert run() == (0, 60)
    assert len(bot.asked) == 30
    assert run(fresh=True) == (60, 0)
    assert len(bot.asked) == 90
    # Nothing may be asked: what was recorded last is the answer.
    assert run(fresh=True, mode="none") == (0, 60)
    assert len(bot.asked) == 90


def details(client: ModelClient, prompts: Sequence[str] = PROMPTS) -> list[str]:
    rows = client.generate(prompts)
    return ["" if isinstance(answer, str) else answer.detail for (answer,) in rows]


def test_five_exceptions_in_a_row_end_the_call(session: Session) -> None:
    asked: list[str] = []

    def bot(prompt: str) -> str:
        asked.append(prompt)
        raise ConnectionError("bank backend is down")

    line = bot.__code__.co_firstlineno + 2
    said = f"ConnectionError: bank backend is down (tests/clients/test_memory.py:{line})"
    rest = Missing("error", "not asked: 5 calls in a row failed")
    client = ModelClient.of(bot)
    for calls in (5, 10):
        rows = client.generate(PROMPTS)
        last = asked[-5:]
        assert rows == [[Missing("error", said) if p in last else rest] for p in PROMPTS]
        assert len(asked) == calls


def test_exceptions_that_are_not_in_a_row_do_not_end_the_call(session: Session) -> None:
    asked: list[str] = []

    def bot(prompt: str) -> str:
        asked.append(prompt)
        if len(asked) % 5:
            raise OSError("busy")
        return prompt

    found = details(ModelClient.of(bot))
    assert sum("busy" in detail for detail in found) == 24
    assert not any("not asked" in detail for detail in found)


def test_exceptions_of_an_async_callable_end_the_call(session: Session) -> None:
    asked: list[str] = []

    async def bot(prompt: str) -> str:
        asked.append(prompt)
        raise ConnectionError("down")

    found = details(ModelClient.of(bot), [f"prompt {i}" for i in range(100)])
    # Those in flight may finish.
    assert 5 <= len(asked) <= 5 + Limits().concurrency
    assert found.count("not asked: 5 calls in a row failed") == 100 - len(asked)


def server(answer: Missing) -> Server:
    """Return a server that is asked for one answer at a time, and gives this one."""
    return Server(lambda prompt, call: Attempt(Reply(answer)), limits=Limits(1))


def test_twenty_failed_requests_in_a_row_end_the_call(session: Session) -> None:
    failing = server(Missing("server_error", "HTTP 500"))
    found = details(ModelClient(failing))
    assert Counter(found) == {"HTTP 500": 20, "not asked: 20 requests in a row failed": 10}
    assert len(failing.asked) == 20


def test_refusals_in_a_row_end_nothing(session: Session) -> None:
    assert details(ModelClient(server(Missing("refused", "no")))) == ["no"] * 30


def test_what_was_not_asked_is_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    with session_with(cassette=str(path)) as made:
        details(ModelClient(server(Missing("timeout", "late"))))
        assert counts(made) == (20, 0)
    assert len(path.read_text().splitlines()) == 20
