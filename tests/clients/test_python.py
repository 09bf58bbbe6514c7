from __future__ import annotations

import asyncio
import threading

import pytest

from pytest_llmfair.clients import Missing, ModelClient, ModelSpecError
from pytest_llmfair.responses import CutAnswer, is_cut


def reasons(row):
    return [answer.reason if isinstance(answer, Missing) else answer for answer in row]


def test_errors_nulls_and_empty_answers_lose_no_other_answer():
    table = {"a": "fine", "b": None, "c": "", "d": "  \n", "e": 7, "g": "good"}
    client = ModelClient.of(lambda prompt: table[prompt])
    answers = [row[0] for row in client.generate([*"abcdefg"])]
    expected = ["fine", "null", "empty", "empty", "error", "error", "good"]
    assert reasons(answers) == expected
    assert answers[4].detail == "the callable returned int, not str"
    line = test_errors_nulls_and_empty_answers_lose_no_other_answer.__code__.co_firstlineno + 2
    assert answers[5].detail == f"KeyError: 'f' (tests/clients/test_python.py:{line})"


def test_a_missing_answer_of_the_callable_is_kept():
    refused = Missing("filtered", "content policy")
    assert ModelClient.of(lambda prompt: refused).generate(["a"]) == [[refused]]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_ends_the_collection(error):
    def ask(prompt):
        raise error

    with pytest.raises(error):
        ModelClient.of(ask).generate(["a"])


def test_a_callable_gets_the_keywords_it_takes_and_no_others():
    def seed_only(prompt, *, seed):
        return f"{seed}"

    def all_of_them(text, temperature=None, max_tokens=None, seed=None, other=4):
        return f"{temperature} {max_tokens} {seed is not None} {other}"

    def anything(prompt, **options):
        return " ".join(sorted(options))

    seeds = ModelClient.of(seed_only).generate(["a", "a"], 2)
    assert len({answer for row in seeds for answer in row}) == 4
    client = ModelClient.of(all_of_them, temperature=0.5, max_tokens=8)
    assert client.generate(["a"]) == [["0.5 8 True 4"]]
    assert ModelClient.of(anything).generate(["a"]) == [["max_tokens seed temperature"]]


def test_the_first_parameter_is_the_prompt_whatever_its_name():
    assert ModelClient.of(lambda seed: f"[{seed}]").generate(["a"]) == [["[a]"]]
    assert ModelClient.of(lambda *args: f"{args}").generate(["a"]) == [["('a',)"]]
    assert ModelClient.of(str.upper).generate(["a"]) == [["A"]]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda prompt, system: prompt, r"cannot be called with one prompt.*'system'"),
        (lambda: "hello", "cannot be called with one prompt"),
        (3, "is not callable but int"),
        ("builtin:ngram", r"the text 'builtin:ngram'; give load_client\("),
    ],
)
def test_what_cannot_be_asked_with_one_prompt_is_refused(model, words):
    with pytest.raises(ModelSpecError, match=words):
        ModelClient.of(model)


def test_an_async_callable_answers_in_order_and_loses_nothing():
    async def ask(prompt, seed):
        await asyncio.sleep(0.001 * (5 - int(prompt)))
        if prompt == "3":
            raise RuntimeError("rate limit")
        return None if prompt == "2" else f"answer {prompt}"

    rows = ModelClient.of(ask).generate([*"12345"], 2)
    expected = ["answer 1", "null", "error", "answer 4", "answer 5"]
    assert [reasons(row) for row in rows] == [[answer] * 2 for answer in expected]
    line = ask.__code__.co_firstlineno + 3
    place = f"(tests/clients/test_python.py:{line})"
    assert rows[2][0].detail == f"RuntimeError: rate limit {place}"


def test_async_calls_wait_together_but_not_all_at_once():
    waiting, most = 0, 0

    async def ask(prompt):
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        await asyncio.sleep(0.001)
        waiting -= 1
        return prompt

    ModelClient.of(ask).generate([f"p{i}" for i in range(60)])
    assert most == 16


def test_async_clients_keep_one_event_loop_between_calls():
    loops = []

    async def ask(prompt):
        loops.append(asyncio.get_running_loop())
        return prompt

    client = ModelClient.of(ask)
    client.generate(["a"])
    client.generate(["b"])
    assert loops[0] is loops[1]


def test_an_async_callable_works_inside_a_running_loop():
    async def ask(prompt):
        await asyncio.sleep(0)
        return prompt + "!"

    async def main():
        return ModelClient.of(ask).generate(["a"])

    assert asyncio.run(main()) == [["a!"]]


def test_objects_with_an_async_call_and_functions_that_return_awaitables_work():
    class Bot:
        async def __call__(self, prompt):
            return prompt * 2

    async def ask(prompt):
        return prompt * 3

    assert ModelClient.of(Bot()).generate(["a"]) == [["aa"]]
    assert ModelClient.of(lambda prompt: ask(prompt)).generate(["a"]) == [["aaa"]]


def test_sync_callables_run_in_the_calling_thread():
    threads = []
    client = ModelClient.of(lambda prompt: threads.append(threading.get_ident()) or "x")
    client.generate(["a", "b"])
    assert set(threads) == {threading.get_ident()}


def test_the_name_of_a_callable_says_where_it_is():
    client = ModelClient.of(reasons)
    assert client.name.endswith("test_python:reasons")
    assert client.description.startswith("Python callable")


def test_a_key_in_an_answer_is_removed(monkeypatch):
    monkeypatch.setenv("MY_API_KEY", "sk-canary-0123456789")

    async def later(prompt):
        return CutAnswer("my key is sk-canary-0123456789")

    def missing(prompt):
        return Missing("error", "sk-canary-0123456789 was refused")

    ((answer,),) = ModelClient.of(later).generate(["hi"])
    assert (answer, is_cut(answer)) == ("my key is [key removed]", True)
    ((answer,),) = ModelClient.of(missing).generate(["hi"])
    assert answer == Missing("error", "[key removed] was refused")
