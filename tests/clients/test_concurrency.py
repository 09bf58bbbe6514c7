from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field

import pytest

from pytest_llmfair.clients import Missing, ModelError
from pytest_llmfair.clients.concurrency import RetryPolicy, dispatch
from pytest_llmfair.clients.protocol import Attempt, Limits, Reply, Request

REQUESTS = [Request(f"p{i}", i) for i in range(40)]
FAILED = Attempt(Reply(Missing("server_error", "HTTP 500")), retry=True)


@dataclass
class Remote:
    """Answers with its prompt, after the attempts that `fails` lists for it."""

    fails: dict[str, list[Attempt]] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    takes: float = 0.0
    stuck_after: int = 10_000
    name: str = "remote"
    description: str = "a test"
    closed: str = ""
    sent: list[str] = field(default_factory=list)
    busy: int = 0
    most: int = 0

    @property
    def identity(self):
        return {"model": self.name}

    def open(self):
        if self.closed:
            raise ModelError(self.closed)

    async def send(self, request, *, temperature, max_tokens):
        self.sent.append(request.prompt)
        self.busy += 1
        self.most = max(self.most, self.busy)
        try:
            await asyncio.sleep(self.takes if len(self.sent) <= self.stuck_after else 60.0)
        finally:
            self.busy -= 1
        failed = self.fails.get(request.prompt)
        return failed.pop(0) if failed else Attempt(Reply(request.prompt))


def ask(backend, requests=REQUESTS, keep=None, **options):
    kept = {}
    options = {"retries": RetryPolicy(pause=0.001), **options}
    dispatch(
        backend,
        requests,
        keep or kept.__setitem__,
        temperature=1.0,
        max_tokens=None,
        **options,
    )
    return kept


def test_every_request_is_kept_once_under_its_row_in_the_thread_of_the_caller():
    kept = []
    here = threading.get_ident()
    ask(
        Remote(),
        keep=lambda row, reply: kept.append((row, reply.answer, threading.get_ident())),
    )
    assert sorted(kept) == [(i, f"p{i}", here) for i in range(40)]


def test_a_failure_is_tried_again_three_times_at_most():
    backend = Remote({"p1": [FAILED], "p2": [FAILED] * 3})
    kept = ask(backend)
    assert kept[1] == Reply("p1", attempts=2)
    assert kept[2] == Reply(Missing("server_error", "HTTP 500"), attempts=3)
    assert (backend.sent.count("p1"), backend.sent.count("p2")) == (2, 3)


def test_what_may_not_do_better_is_not_tried_again():
    failed = Attempt(Reply(Missing("refused")))
    assert ask(Remote({"p3": [failed, failed]}))[3].attempts == 1


def test_no_request_is_sent_that_the_budget_refuses_and_retries_count():
    reserved = []

    def reserve(request):
        reserved.append(request.prompt)
        return "" if len(reserved) <= 30 else "--llmfair-max-calls is 30"

    backend = Remote({"p1": [FAILED, FAILED]}, limits=Limits(1))
    kept = ask(backend, reserve=reserve)
    assert len(backend.sent) == 30
    assert kept[1].attempts == 3
    refused = [row for row, reply in kept.items() if not reply.answer]
    assert refused == list(range(28, 40))
    assert kept[28] == Reply(Missing("over_budget", "--llmfair-max-calls is 30"), attempts=0)


def test_a_slow_answer_within_the_time_out_is_an_answer_and_a_later_one_is_not():
    kept = ask(Remote(takes=0.05), REQUESTS[:1], retries=RetryPolicy(timeout=30.0))
    assert kept[0].answer == "p0"
    kept = ask(Remote(takes=30.0), REQUESTS[:1], retries=RetryPolicy(timeout=0.05))
    assert kept[0] == Reply(Missing("timeout", "no answer within 0.05 s"), unread=1)


def test_a_server_that_asks_to_wait_longer_than_the_time_out_is_not_waited_for():
    failed = Attempt(Reply(Missing("rate_limit")), retry=True, retry_after=61.0)
    assert ask(Remote({"p0": [failed]}), REQUESTS[:1])[0].attempts == 1


@pytest.mark.parametrize(("workers", "limit", "most"), [(1, 3, 3), (4, 8, 2)])
def test_no_more_are_in_flight_than_the_limits_that_workers_share(
    monkeypatch, workers, limit, most
):
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", str(workers))
    backend = Remote(limits=Limits(limit), takes=0.002)
    ask(backend)
    assert backend.most == most


def test_no_request_follows_one_that_is_not_kept_yet():
    backend = Remote(limits=Limits(2))
    unkept = []

    def keep(row, reply):
        time.sleep(0.005)
        unkept.append(len(backend.sent) - row)
        assert len(backend.sent) <= len(unkept) + 1

    ask(backend, keep=keep)
    assert len(unkept) == 40


def test_a_fatal_answer_ends_the_call_and_keeps_what_came_before():
    fatal = Attempt(Reply(Missing("error")), fatal="the key was not accepted")
    backend = Remote({"p20": [fatal]}, limits=Limits(2))
    kept = {}
    with pytest.raises(ModelError, match="the key was not accepted"):
        ask(backend, keep=kept.__setitem__)
    assert set(range(20)) <= set(kept)
    assert len(backend.sent) <= 22
    assert len(kept) == len(backend.sent) - 1


def test_nothing_is_sent_where_nothing_can_be_answered():
    backend = Remote(closed="no key")
    with pytest.raises(ModelError, match="no key"):
        ask(backend, reserve=lambda request: pytest.fail("reserved"))
    assert backend.sent == []


@pytest.mark.parametrize("error", [SystemExit, OSError])
def test_an_error_while_keeping_cancels_what_is_in_flight_and_keeps_what_came(error):
    backend = Remote(limits=Limits(4), takes=0.01)
    kept = []

    def keep(row, reply):
        kept.append(row)
        if len(kept) == 10:
            raise error

    with pytest.raises(error):
        ask(backend, keep=keep)
    assert backend.busy == 0
    assert len(backend.sent) <= len(set(kept)) + 4


def test_an_interrupt_keeps_every_answer_in_flight_and_sends_no_more():
    backend = Remote(limits=Limits(4), takes=0.2)
    kept = []

    def keep(row, reply):
        if len(kept) == 3 and row not in kept:
            kept.append(row)
            raise KeyboardInterrupt
        kept.append(row)

    with pytest.raises(KeyboardInterrupt):
        ask(backend, keep=keep)
    assert backend.busy == 0
    assert len(backend.sent) == len(set(kept)) <= 8


def test_an_interrupt_between_any_two_steps_ends_the_call_and_keeps_what_came():
    def ended_by(step):
        """Interrupt the caller before a step of its loop; return how many steps there were."""
        backend, kept, steps = Remote(limits=Limits(concurrency=2)), {}, 0

        def trace(frame, event, _):
            nonlocal steps
            if "concurrency.py" not in frame.f_code.co_filename:
                return None
            if event == "line" and frame.f_code.co_name in ("keep_all", "wait"):
                steps += 1
                if steps == step:
                    raise KeyboardInterrupt
            return trace

        def run():
            sys.settrace(trace)
            try:
                ask(backend, REQUESTS[:4], kept.__setitem__)
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(None)

        caller = threading.Thread(target=run, daemon=True)
        caller.start()
        caller.join(timeout=20.0)
        assert not caller.is_alive(), f"an interrupt before step {step} is waited for for ever"
        assert len(kept) == len(backend.sent)
        return steps

    step = 1
    while ended_by(step) >= step:
        step += 1
    assert step > 15


def test_replies_that_outlive_their_grace_do_not_hide_why_the_call_ended(monkeypatch):
    class Stubborn(Remote):
        async def send(self, request, **options):
            wait = 0.0 if request.prompt in ("p0", "p1") else 0.4
            end = time.monotonic() + wait
            while time.monotonic() < end:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.01)
            return Attempt(Reply(request.prompt))

    def keep(row, reply):
        if not kept:
            kept.append(None)
            raise OSError("disk is full")
        # The others arrive meanwhile.
        time.sleep(0.3)
        kept.append(row)

    kept = []
    monkeypatch.setattr("pytest_llmfair.clients.concurrency._GRACE_OF_REQUESTS", 0.2)
    with pytest.raises(OSError, match="disk is full"):
        ask(Stubborn(limits=Limits(concurrency=8)), REQUESTS[:8], keep)
    assert set(kept) >= {None, 0, 1}


def test_an_interrupt_does_not_wait_for_requests_that_were_not_sent():
    backend = Remote(limits=Limits(4, requests_per_minute=1.0), name="one a minute")
    kept = []

    def keep(row, reply):
        kept.append(row)
        if len(kept) == 1:
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ask(backend, keep=keep)
    assert time.monotonic() - began < 5.0
    assert len(backend.sent) == 1


def test_an_interrupt_raised_by_the_model_reaches_the_caller_and_the_loop_lives_on():
    class Interrupting(Remote):
        async def send(self, request, **options):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(Interrupting())
    assert len(ask(Remote())) == 40


# A runner such as nohup ignores SIGINT, and its children inherit that.
SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {folder!r})
from test_concurrency import Limits, Remote, Request, ask
backend = Remote(limits=Limits(4), takes=0.05, stuck_after={stuck})
def keep(row, reply):
    print(row, flush=True)
try:
    ask(backend, [Request(f"p{{i}}", i) for i in range(10_000)], keep=keep)
finally:
    print("sent", len(backend.sent), "busy", backend.busy, flush=True)
"""


def test_the_second_ctrl_c_ends_the_process_at_once():
    folder = os.path.dirname(__file__)  # noqa: PTH120 - plain text
    script = SCRIPT.format(folder=folder, stuck=4)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        kept = {program.stdout.readline() for _ in range(4)}
        time.sleep(0.3)
        program.send_signal(signal.SIGINT)
        time.sleep(0.7)
        assert program.poll() is None  # it waits for four answers
        program.send_signal(signal.SIGINT)
        rest, _ = program.communicate(timeout=10)
    assert len(kept) == 4
    assert rest.split() == [b"sent", b"8", b"busy", b"0"]


@pytest.mark.parametrize("after", [1, 9])
def test_ctrl_c_keeps_what_is_in_flight(after):
    folder = os.path.dirname(__file__)  # noqa: PTH120 - plain text
    script = SCRIPT.format(folder=folder, stuck=10_000)
    with subprocess.Popen(
        [sys.executable, "-X", "dev", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
    ) as program:
        assert program.stdout is not None
        seen = b"".join(program.stdout.readline() for _ in range(after))
        program.send_signal(signal.SIGINT)
        rest, noise = program.communicate(timeout=30)
    *kept, last = (seen + rest).splitlines()
    errors = noise.decode()
    _, sent, _, busy = last.split()
    assert busy == b"0"
    assert len({int(row) for row in kept}) == int(sent)
    # The one that was being kept may be kept once more.
    assert len(kept) <= len(set(kept)) + 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    for words in ("never retrieved", "was destroyed", "never awaited", "ResourceWarning"):
        assert words not in errors


THREADS = """
import sys
import threading

from pytest_llmfair.clients import Limits, ModelClient
from pytest_llmfair.clients.concurrency import background_loop
from pytest_llmfair.clients.concurrency import rate_limiter_of

sys.setswitchinterval(1e-6)
ready = threading.Barrier(16)
found = []


async def model(prompt):
    return prompt


def ask():
    ready.wait()
    loop, pace = background_loop(), rate_limiter_of("a model", Limits())
    found.append((id(loop), id(pace), str(ModelClient.of(model).generate(["one", "two"]))))


threads = [threading.Thread(target=ask) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(30)
print(len(found), len(set(found)))
"""


def test_threads_that_ask_first_at_the_same_time_share_one_loop_and_one_pace():
    done = subprocess.run(
        [sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["16", "1"]
