"""Asking by way of a cassette: what is replayed, what is asked, and what is stale."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pytest_llmfair import assert_counterfactual_invariance
from pytest_llmfair.clients import (
    Missing,
    ModelClient,
    NotRecorded,
    Request,
    RequestRunner,
    load_client,
)
from pytest_llmfair.clients.cassette.locks import QuestionLocks
from pytest_llmfair.clients.cassette.replay import Replay
from pytest_llmfair.clients.cassette.store import Cassette
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.responses import Answer, CutAnswer, DigestedText, is_cut
from tests.clients.fakes import Server, session_with

REQUESTS = [Request(f"prompt {i}", i, "0.0") for i in range(10)]
Make = Callable[..., RequestRunner]


@dataclass
class Counting:
    """A model that notes what it was asked."""

    name: str = "counting"
    description: str = "notes what it was asked"
    asked: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    answer: Callable[[str], Answer] = "answer to {}".format
    identity: dict[str, str] | None = None

    def generate(
        self, requests: Sequence[Request], *, temperature: float, max_tokens: int
    ) -> list[Answer]:
        self.batches.append(len(requests))
        self.asked += [request.prompt for request in requests]
        return [self.answer(request.prompt) for request in requests]


@pytest.fixture
def runner(tmp_path: Path) -> Make:
    """Return a function that makes a runner as a new process would."""

    def make(*, text: bool = True, **how: Any) -> RequestRunner:
        path = tmp_path / "c.jsonl"
        since = path.stat().st_size if path.exists() else 0
        replay = Replay(Cassette(path, text=text), QuestionLocks(path), since=since, **how)
        return RequestRunner(replay)

    return make


def ask(
    runner: RequestRunner, backend: object, requests: Sequence[Request] = REQUESTS
) -> list[Answer]:
    return runner.answers(backend, requests, temperature=1.0, max_tokens=20)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::pytest_llmfair.clients.cassette.store.CassetteWarning")
def test_nothing_is_asked_where_it_cannot_be_recorded(runner: Make, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text("somebody's notes\n")
    model = Counting()
    with pytest.raises(ValueError, match="not a cassette"):
        ask(runner(), model)
    assert model.asked == []


def test_without_a_cassette_everything_is_asked_every_time() -> None:
    backend = Counting()
    first, second = ask(RequestRunner(), backend), ask(RequestRunner(), backend)
    assert first == second == [f"answer to prompt {i}" for i in range(10)]
    assert len(backend.asked) == 20


def test_what_is_recorded_is_not_asked_again_and_counted_as_replayed(runner: Make) -> None:
    backend = Counting()
    first = runner()
    answers = ask(first, backend, REQUESTS[:4])
    second = runner()
    assert ask(second, backend)[:4] == answers
    assert len(backend.asked) == 10
    assert (first.counts.live, first.counts.replayed) == (4, 0)
    assert (second.counts.live, second.counts.replayed) == (6, 4)


def test_one_question_twice_in_a_call_is_asked_once(runner: Make) -> None:
    backend = Counting()
    assert ask(runner(), backend, [REQUESTS[0], REQUESTS[0]]) == ["answer to prompt 0"] * 2
    assert backend.asked == ["prompt 0"]


def test_a_miss_where_nothing_may_be_asked_names_the_prompt(runner: Make) -> None:
    backend = Counting()
    ask(runner(), backend, REQUESTS[:4])
    with pytest.raises(NotRecorded) as caught:
        ask(runner(records=False), backend)
    said = str(caught.value)
    assert "does not hold 6 of 10 answers of counting" in said
    assert "the prompt 'prompt 4' (sample 0.0, temperature 1, longest answer 20)" in said
    assert "--llmfair-record-mode new" in said
    assert len(backend.asked) == 4


def test_a_miss_says_what_else_was_recorded_for_the_prompt(runner: Make) -> None:
    backend = Counting()
    ask(runner(), backend)
    with pytest.raises(NotRecorded, match="recorded with another temperature"):
        runner(records=False).answers(backend, REQUESTS, temperature=0.0, max_tokens=20)
    with pytest.raises(NotRecorded, match="recorded with another sample"):
        ask(runner(records=False), backend, [Request("prompt 0", 77, "0.1")])
    with pytest.raises(NotRecorded, match="recorded with another seed"):
        ask(runner(records=False), backend, [Request("prompt 0", 77, "0.0")])


@pytest.mark.parametrize("reason", ["refused", "filtered", "length", "empty", "null"])
def test_what_the_model_did_is_replayed(runner: Make, reason: str) -> None:
    backend = Counting(answer=lambda prompt: Missing(reason, "said"))
    ask(runner(), backend)
    assert ask(runner(), backend) == [Missing(reason, "said")] * 10
    assert len(backend.asked) == 10


@pytest.mark.parametrize("reason", ["error", "malformed", "rate_limit", "server_error", "timeout"])
def test_failures_of_the_moment_are_asked_again_by_another_run_only(
    runner: Make, reason: str
) -> None:
    backend = Counting(answer=lambda prompt: Missing(reason))
    first = runner()
    ask(first, backend)
    ask(first, backend)
    assert len(backend.asked) == 10
    assert ask(runner(records=False), backend) == [Missing(reason)] * 10
    assert len(backend.asked) == 10
    backend.answer = "answer to {}".format
    assert ask(runner(), backend) == [f"answer to prompt {i}" for i in range(10)]


def test_recording_again_asks_once_a_run(runner: Make) -> None:
    backend = Counting()
    ask(runner(), backend)
    again = runner(again=True)
    backend.answer = "another answer to {}".format
    assert ask(again, backend)[0] == "another answer to prompt 0"
    ask(again, backend)
    assert len(backend.asked) == 20
    assert ask(runner(records=False), backend)[0] == "another answer to prompt 0"


def recorded_on(days_ago: int, path: Path) -> None:
    cassette = Cassette(path)
    cassette.refresh()
    day = datetime.now(UTC).date() - timedelta(days_ago)
    cassette.put([replace(record, day=day) for record in list(cassette.records())])


def test_an_old_answer_is_missing_as_stale_or_asked_again(runner: Make, tmp_path: Path) -> None:
    backend = Counting()
    ask(runner(), backend)
    recorded_on(31, tmp_path / "c.jsonl")
    assert ask(runner(records=False, max_age=31), backend)[0] == "answer to prompt 0"
    (stale, *_) = ask(runner(records=False, max_age=30), backend)
    assert isinstance(stale, Missing)
    assert stale.reason == "stale"
    day = datetime.now(UTC).date() - timedelta(31)
    assert f"recorded on {day} is stale: llmfair_max_recording_age is 30 days" in stale.detail
    assert len(backend.asked) == 10
    assert ask(runner(max_age=30), backend)[0] == "answer to prompt 0"
    assert len(backend.asked) == 20
    assert ask(runner(records=False, max_age=30), backend)[0] == "answer to prompt 0"


def test_an_answer_of_another_revision_is_stale(runner: Make) -> None:
    old = Counting(identity={"provider": "p", "model": "m", "revision": "one"})
    new = replace(old, identity={"provider": "p", "model": "m", "revision": "two"})
    ask(runner(), old)
    (stale, *_) = ask(runner(records=False), new)
    assert isinstance(stale, Missing)
    assert stale.reason == "stale"
    assert "it is of revision one, the model is two" in stale.detail
    assert ask(runner(), new)[0] == "answer to prompt 0"


def test_an_answer_whose_prompt_was_changed_by_hand_is_stale(runner: Make, tmp_path: Path) -> None:
    backend = Counting()
    ask(runner(), backend)
    cassette = Cassette(tmp_path / "c.jsonl")
    cassette.refresh()
    first = next(iter(cassette.records()))
    request = replace(first.question.request, prompt="prompt 0, reworded")
    changed = replace(first, question=replace(first.question, request=request))
    cassette.put([changed])
    stale, *others = ask(runner(records=False), backend)
    assert isinstance(stale, Missing)
    assert "its prompt or a parameter was changed after it was recorded" in stale.detail
    assert all(isinstance(other, str) for other in others)


def test_a_cassette_of_digests_has_its_texts_in_the_run_that_asked_only(runner: Make) -> None:
    backend = Counting()
    own = runner(text=False)
    assert ask(own, backend) == ask(own, backend) == [f"answer to prompt {i}" for i in range(10)]
    assert len(backend.asked) == 10
    first, second, *_ = ask(runner(records=False), backend)
    assert isinstance(first, DigestedText)
    assert first != second
    assert "answer" not in first[:]
    with pytest.raises(TypeError, match=r"this answer cannot be read: .*cassette-text full"):
        first.split()  # type: ignore[union-attr]


def test_replies_of_a_server_are_recorded_with_their_tokens(runner: Make, tmp_path: Path) -> None:
    server = Server()
    assert ask(runner(), server) == ask(runner(), server)
    assert sorted(server.asked) == [f"prompt {i}" for i in range(10)]
    cassette = Cassette(tmp_path / "c.jsonl")
    cassette.refresh()
    replies = [record.reply for record in cassette.records()]
    assert {(reply.prompt_tokens, reply.answer_tokens) for reply in replies} == {(5, 7)}


def test_answers_are_recorded_before_the_next_batch_is_asked(runner: Make, tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    seen = []

    def answer(prompt: str) -> Answer:
        seen.append(len(path.read_bytes().splitlines()) if path.exists() else 0)
        if len(seen) > 100:
            raise KeyboardInterrupt
        return "an answer"

    requests = [Request(f"prompt {i}", i) for i in range(200)]
    with pytest.raises(KeyboardInterrupt):
        ask(runner(), Counting(answer=answer), requests)
    assert len(path.read_bytes().splitlines()) == 64
    backend = Counting()
    ask(runner(), backend, requests)
    assert len(backend.asked) == 136


def test_a_batch_is_as_large_as_the_backend_says(runner: Make) -> None:
    backend = Counting()
    backend.batch_size = 3  # type: ignore[attr-defined]
    ask(runner(), backend)
    assert backend.batches == [3, 3, 3, 1]


def test_threads_that_ask_the_same_pay_once(runner: Make) -> None:
    backend = Counting()
    shared = runner()
    threads = [threading.Thread(target=ask, args=(shared, backend)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(backend.asked) == sorted({request.prompt for request in REQUESTS})


PROCESS = """
import sys, time
from pathlib import Path
from pytest_llmfair.clients import RequestRunner, ModelClient, Request
from pytest_llmfair.clients.cassette.replay import Replay
from pytest_llmfair.clients.cassette.locks import QuestionLocks
from pytest_llmfair.clients.cassette.store import Cassette

path, log, crash = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "crash"

def model(prompt):
    with log.open("a") as file:
        file.write(prompt + "\\n")
    if crash and prompt == "prompt 3":
        print("asking", flush=True)
        time.sleep(600)
    time.sleep(0.002)
    return "answer to " + prompt

client = ModelClient.of(model, name="slow")
requests = [Request(f"prompt {i}", i) for i in range(40)]
runner = RequestRunner(Replay(Cassette(path), QuestionLocks(path)))
answers = runner.answers(client.backend, requests, temperature=1.0, max_tokens=20)
assert answers == [f"answer to prompt {i}" for i in range(40)]
"""


def process(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    files = (str(folder / "c.jsonl"), str(folder / "log"))
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, *files, *arguments], stdout=subprocess.PIPE, text=True
    )


def test_processes_that_ask_the_same_pay_once(tmp_path: Path) -> None:
    running = [process(tmp_path, "work") for _ in range(3)]
    for one in running:
        one.communicate()
    assert [one.returncode for one in running] == [0, 0, 0]
    asked = (tmp_path / "log").read_text().splitlines()
    assert sorted(asked) == sorted({f"prompt {i}" for i in range(40)})


def test_what_a_killed_process_was_asking_is_taken_over(tmp_path: Path) -> None:
    with process(tmp_path, "crash") as crashed:
        assert crashed.stdout is not None
        crashed.stdout.readline()
        waiting = process(tmp_path, "work")
        crashed.kill()
        crashed.wait()
        waiting.communicate()
    assert waiting.returncode == 0
    asked = (tmp_path / "log").read_text().splitlines()
    # What was in flight, and nothing else, is asked twice.
    assert sorted(asked) == sorted([*(f"prompt {i}" for i in range(40)), "prompt 3"])


def test_two_functions_of_one_name_do_not_share_answers(runner: Make) -> None:
    def biased(word: str) -> ModelClient:
        return ModelClient.of(lambda prompt: f"{word} {prompt}")

    shared = runner()
    one, twin, other = biased("good"), biased("good"), biased("bad")
    assert ask(shared, one.backend) == ask(shared, twin.backend)
    with pytest.raises(ValueError, match=r"two different models are called .*name them apart"):
        ask(shared, other.backend)
    named = ModelClient.of(lambda prompt: f"bad {prompt}", name="bad model")
    assert ask(shared, named.backend)[0] == "bad prompt 0"


def test_a_key_holds_no_path(runner: Make, tmp_path: Path) -> None:
    folder = tmp_path / "private" / "tiny"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    ask(runner(), Counting(name=f"hf:{folder}"))
    assert str(tmp_path) not in (tmp_path / "c.jsonl").read_text()
    assert '"model":"tiny"' in (tmp_path / "c.jsonl").read_text()


def test_other_weights_are_another_revision(runner: Make, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    weights = bytearray(1_000_000)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(weights)
    backend = Counting(name=f"hf:{folder}")
    ask(runner(), backend)
    assert isinstance(ask(runner(records=False), backend)[0], str)
    weights[-1] = 1
    (folder / "model.safetensors").write_bytes(weights)
    (stale, *_) = ask(runner(records=False), backend)
    assert isinstance(stale, Missing)
    assert stale.reason == "stale"


def test_a_model_that_is_not_here_has_the_recorded_revision(runner: Make, tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    backend = Counting(name=f"hf:{folder}")
    ask(runner(), backend)
    (folder / "config.json").unlink()
    folder.rmdir()
    assert ask(runner(records=False), backend)[0] == "answer to prompt 0"


@pytest.mark.parametrize("spec", ["hf:nowhere/at-all", "python:no.such.module:function"])
def test_a_model_is_not_loaded_where_nothing_may_be_asked(tmp_path: Path, spec: str) -> None:
    with session_with(cassette=str(tmp_path / "c.jsonl"), record_mode="none"):
        client = load_client(spec)
        with pytest.raises(NotRecorded):
            client.generate(["a prompt"])


def test_answers_that_exist_already_are_neither_recorded_nor_paid(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"prompt": "a prompt", "answer": "an answer"}\n')
    with session_with(cassette=str(tmp_path / "c.jsonl"), max_calls=0):
        client = load_client(f"responses:{path}")
        assert client.generate(["a prompt"]) == [["an answer"]]
    assert not (tmp_path / "c.jsonl").exists()


def test_many_questions_are_claimed_in_turns(runner: Make) -> None:
    backend = Counting()
    requests = [Request(f"prompt {i}", i) for i in range(2500)]
    assert ask(runner(), backend, requests) == [f"answer to prompt {i}" for i in range(2500)]
    assert len(backend.asked) == 2500


def test_probabilities_are_replayed(tmp_path: Path) -> None:
    path = str(tmp_path / "c.jsonl")
    with session_with(cassette=path, record_mode="new"):
        live = load_client("builtin:ngram").label_probabilities(["Is she good?"], ["yes", "no"])
    with session_with(cassette=path, record_mode="none"):
        client = load_client("builtin:ngram")
        assert client.label_probabilities(["Is she good?"], ["yes", "no"]) == live
        with pytest.raises(NotRecorded):
            client.label_probabilities(["Is she good?"], ["yes", "perhaps"])


def test_a_sequential_assertion_takes_the_same_looks_when_it_is_resumed(tmp_path: Path) -> None:
    pairs = generate_pairs(
        [f"She is a nurse and said {i}." for i in range(60)], attribute="gender"
    )
    calls: list[str] = []

    def model(prompt: str, seed: int) -> str:
        calls.append(prompt)
        if len(calls) == 60 and not (tmp_path / "resumed").exists():
            raise KeyboardInterrupt
        return f"{prompt} {'kind' if seed % 3 else 'nice'}"

    def run(record_mode: str) -> dict[str, object]:
        with session_with(cassette=str(tmp_path / "c.jsonl"), record_mode=record_mode):
            found = assert_counterfactual_invariance(
                list(pairs),
                eps=0.22,
                client=ModelClient.of(model),
                sequential="obf",
                mode="point",
            ).to_dict()
            # Where the answers came from is what differs.
            del found["origin"]
            return found

    with pytest.raises(KeyboardInterrupt):
        run("new")
    (tmp_path / "resumed").touch()
    resumed = run("new")
    made = len(calls)
    assert resumed["looks"][0] > 1  # the interrupt was not in the only look
    assert run("none") == resumed
    assert len(calls) == made
    (tmp_path / "c.jsonl").unlink()
    calls.clear()
    assert run("once") == resumed
    assert made == len(calls) + 1  # the one in flight when it was interrupted


@pytest.mark.parametrize("text", [True, False])
def test_that_an_answer_was_cut_is_recorded(runner: Make, text: bool) -> None:
    cut = Counting(answer=lambda prompt: CutAnswer(f"half of {prompt}"))
    live = ask(runner(text=text), cut)
    replayed = ask(runner(records=False), cut)
    assert [is_cut(answer) for answer in live] == [is_cut(answer) for answer in replayed]
    assert all(map(is_cut, live))
    assert (live == replayed) is text
