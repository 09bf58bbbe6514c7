"""An audit in shards finds what one call of a client finds, to the last digit."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from pytest_llmfair import Responses
from pytest_llmfair.audit import load
from pytest_llmfair.audit.engines import InProcess, Processes, make_parts
from pytest_llmfair.audit.store import Store
from pytest_llmfair.cli import main
from pytest_llmfair.clients import load_client
from pytest_llmfair.clients.budget import Caps
from pytest_llmfair.counterfactuals import generate_pairs
from pytest_llmfair.fairness import Fairness
from pytest_llmfair.metrics import all_metrics, get_metric
from pytest_llmfair.responses import Missing
from pytest_llmfair.session import current_session
from tests.audit.parts import MADE_OF_ANSWERS, MODEL, MOODY, PEOPLE, PROMPTS, audited, digest

NAMED = ("Emily", "Ali Khan", "A dog", "Emily and John", "Mrs. Walsh")


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "prompts.jsonl"
    path.write_text("".join(json.dumps({"prompt": text}) + "\n" for text in PROMPTS))
    return path


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"placebo": True},
        {"attribute": "age"},
        {"attribute": "race", "placebo": True, "shard_size": 3},
        {"attribute": "names", "groups": ("polish", "turkish", "white"), "shard_size": 3},
    ],
    ids=str,
)
def test_pairs_and_answers_are_those_of_one_call(tmp_path, given):
    prompts = PROMPTS
    if given.get("attribute", "gender") != "gender":
        people = ("A young man", "An old man", "A Black woman", "A white woman", "An Asian boy")
        people = NAMED if given["attribute"] == "names" else people
        prompts = [f"{people[i % 5]} said on day {i % 7} that" for i in range(40)]
    data = tmp_path / "prompts.txt"
    data.write_text("\n".join(prompts))
    found = audited(data, tmp_path / "out", **given)
    of = given.get("attribute", "gender"), given.get("groups")
    pairs = generate_pairs(prompts, *of, placebo=given.get("placebo", False), seed=5)
    asked = load_client(MODEL, seed=5).answer_pairs(pairs, n=3)
    assert list(found.pairs) == list(pairs)
    for name in ("rejected", "uncertain", "unmentioned", "lost", "lacks", "unexchanged"):
        assert getattr(found.pairs, name) == getattr(pairs, name), name
    assert found.responses == asked
    assert len({str(group) for pair in pairs for group in (pair.from_group, pair.to_group)}) > 1
    again = load_client(f"responses:{tmp_path / 'out'}").answer_pairs(pairs, n=3)
    assert (again.original, again.counterfactual) == (asked.original, asked.counterfactual)


def test_answers_to_prompts_alone_are_those_of_one_call(data, tmp_path):
    found = audited(data, tmp_path / "out", attribute="")
    rows = load_client(MODEL, seed=5).generate(PROMPTS, n=3)
    assert found.responses.prompts == tuple(PROMPTS)
    assert found.responses.answers == tuple(map(tuple, rows))
    # Equal prompts in different shards have answers of their own.
    assert len(set(found.responses.answers)) > len(set(PROMPTS))


ASKED = ("scores", "score_pairs", "text_pairs", "embedding_pairs", "texts", "pronoun_counts")
WORDS = {
    "group_words": {"female": ["she", "her"], "male": ["he", "him"]},
    "target_words": ["job", "office"],
}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Return the answers of audits, and of one call of a client: to pairs, and to prompts."""
    folder = tmp_path_factory.mktemp("audits")
    data = folder / "prompts.txt"
    data.write_text("\n".join(PROMPTS))
    client = load_client(MODEL, seed=5)
    rows = tuple(map(tuple, client.generate(PROMPTS, n=3)))
    return {
        True: (
            audited(data, folder / "pairs").responses,
            client.answer_pairs(generate_pairs(PROMPTS, "gender", seed=5), n=3),
        ),
        False: (
            audited(data, folder / "prompts", attribute="").responses,
            Responses(tuple(PROMPTS), rows, MODEL),
        ),
    }


@pytest.mark.parametrize("name", [i.name for i in all_metrics().values() if i.needs in ASKED])
def test_every_metric_is_the_same_to_the_last_digit(both, name):
    info = get_metric(name)
    keywords = {"texts": WORDS, "pronoun_counts": {}}.get(info.needs, {})
    if name == "ruted_stereotype":
        keywords = {"majority": dict.fromkeys(PROMPTS, "male")}
    scorer = None
    if info.scorer is not None:
        vector = info.needs == "embedding_pairs"
        scorer = {True: vectors, False: lambda texts: [len(t) % 7 / 7 for t in texts]}[vector]
    found = []
    for responses in both[info.needs.endswith("pairs")]:
        fairness = Fairness(client=lambda: None, scorers=dict)
        fairness.responses = responses
        word = {"minimum": 0.4} if info.direction == "higher" else {"bound": 0.4}
        if name == "group_predictability":
            word = {"bound": 0.7}
        result = fairness.check(name, scorer=scorer, mode="point", **word, **keywords)
        found.append((repr(result.estimate), repr(result)))
    assert found[0] == found[1]
    assert "undefined" not in found[0][0]


def vectors(texts):
    """Embed texts by their lengths and letters."""
    return np.array([[len(text), text.count("e") + 1.0] for text in texts])


CHECKS = """
version: 1
checks:
- {metric: counterfactual_rouge_l, attribute: gender, minimum: 0.05, rationale: r, owner: o}
- {metric: strict_sentiment_parity, attribute: gender, bound: 0.9, rationale: r, owner: o}
"""


@pytest.fixture
def checks(tmp_path):
    path = tmp_path / "fair.llmfair.yaml"
    path.write_text(CHECKS)
    return path


def command(data, out, checks, *options):
    given = [str(data)] if data else []
    return [
        *(
            "audit",
            *given,
            "--out",
            str(out),
            "--checks",
            str(checks),
            "-q",
            "-p",
            "no:cacheprovider",
        ),
        *(["--attribute", "gender", "--generations", "3", "--shard-size", "8"] if data else []),
        *options,
    ]


@pytest.mark.slow
def test_the_parts_do_not_depend_on_the_workers(data, tmp_path):
    digests = set()
    for workers in (1, 2, 8):
        out = tmp_path / f"out{workers}"
        pool = Processes(out, Caps(), workers) if workers > 1 else None
        audited(data, out, pool, whole=True)
        assert [*map(Store(out).done, MADE_OF_ANSWERS)] == [[*range(8)]] * 2
        digests.add(digest(out))
    assert len(digests) == 1


def test_the_same_command_continues_and_another_is_refused(data, tmp_path, checks, capsys):
    out = tmp_path / "out"
    model = ("--model", MODEL)
    assert main(command(data, out, checks, *model)) == 0
    before = digest(out)
    (out / "answers" / "00003.parquet").unlink()
    torn = out / "answers" / "00005.parquet"
    torn.write_bytes(torn.read_bytes()[:-20])
    # What a run that was killed had begun to write.
    stray = out / "answers" / ".00003.parquet.4711"
    stray.write_bytes(b"PAR1")
    capsys.readouterr()
    assert main(command(data, out, checks, *model)) == 0
    assert not stray.exists()
    assert "answers: 2 shards, " in capsys.readouterr().err
    assert digest(out) == before
    with pytest.raises(SystemExit, match="2"):
        main(command(data, out, checks, *model, "--seed", "1"))
    assert "holds another audit (seed was 0 and is 1)" in capsys.readouterr().err
    # Other checks judge the same answers without a model, and the scores are there already.
    checks.write_text(CHECKS.replace("bound: 0.9", "bound: 0.8"))
    assert main(command(None, out, checks)) == 0
    assert "shards" not in capsys.readouterr().err


def refused(capsys, *given):
    """Return why the command refuses to run."""
    capsys.readouterr()
    with pytest.raises(SystemExit, match="2"):
        main(command(*given))
    return capsys.readouterr().err


def test_answers_without_their_manifest_are_not_taken_for_those_of_a_model(
    data, tmp_path, checks, capsys
):
    out = tmp_path / "out"
    audited(data, out)
    (out / "manifest.json").unlink()
    said = refused(capsys, data, out, checks, "--model", "builtin:ngram?gender_skew=0")
    assert "belongs to an audit whose manifest.json is missing" in said
    (out / "manifest.json").write_text("{}")
    assert "manifest.json is damaged" in refused(capsys, None, out, checks)


def test_a_manifest_of_wrong_types_or_sizes_is_an_error(data, tmp_path, checks, capsys):
    out = tmp_path / "out"
    audited(data, out)
    held = json.loads((out / "manifest.json").read_text())
    for wrong in (
        *({"prompts": "9"}, {"prompts": 10**30}, {"prompts": 10**12, "shard_size": 1}),
        *({"shard_size": 0}, {"model": ["builtin:ngram"]}, {"max_tokens": "all"}),
    ):
        (out / "manifest.json").write_text(json.dumps({**held, **wrong}))
        said = refused(capsys, None, out, checks)
        assert "manifest.json is damaged" in said or "of 1,000,000,000,000 shards" in said, wrong


def test_a_manifest_that_is_nested_too_deep_is_an_error(tmp_path, checks, capsys):
    (tmp_path / "manifest.json").write_text("[" * 100_000)
    assert "manifest.json is damaged" in refused(capsys, None, tmp_path, checks)


def test_an_audit_is_not_continued_with_other_words_or_another_version(
    data, tmp_path, checks, capsys
):
    out = tmp_path / "out"
    audited(data, out, generations=3, seed=0)
    manifest = out / "manifest.json"
    held = json.loads(manifest.read_text())
    for changed in ("package", "lexicon_sha256"):
        manifest.write_text(json.dumps({**held, changed: "of old"}))
        said = refused(capsys, data, out, checks, "--model", MODEL)
        assert f"holds another audit ({changed} was 'of old' and is" in said


def test_a_part_that_is_gone_is_named_and_made_again(data, tmp_path, checks, capsys):
    out = tmp_path / "out"
    assert main(command(data, out, checks, "--model", MODEL)) == 0
    before = digest(out)
    for phase in ("prompts", "pairs", "members", "questions", "answers"):
        Store(out).path(phase, 2).unlink()
        said = refused(capsys, None, out, checks)
        assert f"1 of 8 shards of {out} have no {phase}" in said
        assert main(command(data, out, checks, "--model", MODEL)) == 0
        assert digest(out) == before


def test_bytes_that_a_disk_changed_are_found(data, tmp_path):
    out = tmp_path / "out"
    audited(data, out)
    part = out / "answers" / "00002.parquet"
    held = bytearray(part.read_bytes())
    held[len(held) // 2 : len(held) // 2 + 8] = b"damaged!"
    part.write_bytes(held)
    with pytest.raises(ValueError, match=r"00002\.parquet cannot be read .* delete it, and run"):
        load(out).responses  # noqa: B018


def test_two_runs_do_not_make_the_parts_of_one_folder(data, tmp_path, checks, capsys):
    out = tmp_path / "out"
    hold = (
        "import sys; from pathlib import Path; from pytest_llmfair.audit.store import Store\n"
        f"with Store(Path({str(out)!r})).alone(): print('held', flush=True); sys.stdin.read()"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", hold], stdin=pipe, stdout=pipe) as other:
        assert other.stdout.readline() == b"held\n"
        said = refused(capsys, data, out, checks, "--model", MODEL)
        other.communicate()
    assert f"another run makes the parts of {out} now" in said
    assert main(command(data, out, checks, "--model", MODEL)) == 0


def test_scores_go_with_the_answers_that_they_are_of(data, tmp_path, checks):
    out = tmp_path / "out"
    assert main(command(data, out, checks, "--model", MODEL)) == 0
    scores = sorted((out / "scores-sentiment").iterdir())
    (out / "answers" / "00003.parquet").unlink()
    pool = InProcess(out, Caps())
    make_parts(pool, Store(out), "answers", range(8), lambda *_: None)
    assert sorted((out / "scores-sentiment").iterdir()) == [*scores[:3], *scores[4:]]


@pytest.mark.parametrize(
    ("name", "content", "options", "words"),
    [
        ("p.txt", b"She left\nHe \xff came\n", (), "p.txt is not UTF-8"),
        ("p.jsonl", b'{"prompt": "She \\ud83d left"}', (), "line 1 of .* half of a surrogate"),
        ("p.jsonl", b'{"prompt": "  "}', (), "line 1 of .*: the prompt is '  '"),
        ("p.jsonl", b"", (), "p.jsonl has no prompt"),
        ("p.doc", b"She left", (), "unknown kind; .* or .txt"),
        ("p.txt", b"She left", ("--workers", "0"), "--workers is 0"),
        ("p.txt", b"She left", ("--max-tokens", "0"), "max-tokens is 0"),
        ("p.txt", b"She left", ("--groups", "a,b"), "gender has no group 'a'"),
        ("p.txt", b"She left", ("--attribute", "gendr"), "called 'gendr'; did you mean gender?"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_asked(
    tmp_path, checks, capsys, name, content, options, words
):
    data, out = tmp_path / name, tmp_path / "out"
    data.write_bytes(content)
    said = refused(capsys, data, out, checks, "--model", MODEL, *options)
    assert re.search(words, said)
    assert not (out / "manifest.json").exists()
    assert "Traceback" not in said


@pytest.mark.parametrize("attribute", ["gender", "race"])
def test_a_verdict_is_that_of_answers_collected_in_one_call(tmp_path, checks, attribute):
    people = {
        "gender": PEOPLE,
        "race": ("A white woman", "The Asian boy", "A Black man", "My white aunt", "An Asian man"),
    }[attribute]
    prompts = [f"{people[i % len(people)]} said on day {i % 3} that" for i in range(30)]
    data, out = tmp_path / "prompts.txt", tmp_path / "out"
    data.write_text("\n".join(prompts))
    record, alone = tmp_path / "run.json", tmp_path / "alone.json"
    lines = CHECKS.replace("gender", attribute)
    for metric in ("counterfactual_bleu", "exact_match"):
        lines += lines.splitlines()[3].replace("counterfactual_rouge_l", metric) + "\n"
    checks.write_text(lines)
    given = ("--model", MODEL, "--attribute", attribute, "--llmfair-json", str(record))
    main(command(data, out, checks, *given))
    given = f"generations: 3\nprompts: {json.dumps(prompts)}\nchecks:"
    checks.write_text(lines.replace("checks:", given))
    options = ("-q", "-p", "no:cacheprovider", "--llmfair-model", MODEL)
    main(["check", str(checks), *options, "--llmfair-json", str(alone)])
    found, wanted = (json.loads(path.read_text())["results"] for path in (record, alone))
    assert len(found) == 4
    for one, other in zip(found, wanted, strict=True):
        for key in ("value", "interval", "verdict", "n", "notes", "reasons", "prompts_sha256"):
            assert one.get(key) == other.get(key), key


def test_what_workers_made_of_pairs_is_what_is_judged(data, tmp_path, checks, monkeypatch):
    out, record = tmp_path / "out", tmp_path / "run.json"
    main(command(data, out, checks, "--model", MODEL))
    store, phase = Store(out), "reduced-counterfactual_rouge_l"
    assert store.done(phase) == list(range(8))
    for shard in store.done(phase):
        columns = store.columns(phase, shard)
        store.put(phase, shard, {**columns, "term0": [0.375] * len(columns["key"])})
    main(command(None, out, checks, "--llmfair-json", str(record)))
    assert json.loads(record.read_text())["results"][0]["value"] == 0.375
    # What is missing is made again, by a worker or by the metric.
    store.path(phase, 2).unlink()
    session = current_session()
    monkeypatch.setattr(session, "scores", None)
    monkeypatch.setattr(session, "reductions", None)
    fairness = Fairness(client=lambda: None, scorers=dict)
    fairness.load(out)
    found = fairness.check("counterfactual_rouge_l", minimum=0.1, mode="point")
    assert found.value != 0.375
    assert found.estimate.rows.count(0.375) == 38
    main(command(None, out, checks, "--llmfair-json", str(record)))
    assert store.done(phase) == list(range(8))


def test_a_shard_that_always_fails_is_missing_and_makes_the_verdict_invalid(
    data, tmp_path, checks, monkeypatch, capsys
):
    from pytest_llmfair.audit.work import Worker

    make = Worker._answers

    def broken(self, shard):
        if shard == 2:
            raise RuntimeError("no such page")
        return make(self, shard)

    monkeypatch.setattr(Worker, "_answers", broken)
    out = tmp_path / "out"
    assert main(command(data, out, checks, "--model", MODEL)) == 1
    said = capsys.readouterr()
    assert "1 shard of answers failed 3 times; shard 2: RuntimeError: no such page" in said.err
    assert "INVALID" in said.out
    lost = [a for row in load(out).responses.original for a in row if isinstance(a, Missing)]
    assert {answer.detail for answer in lost} == {"RuntimeError: no such page"}
    # Once it works again, the same command tries again.
    monkeypatch.undo()
    assert main(command(data, out, checks, "--model", MODEL)) == 0


def test_a_server_that_cannot_be_reached_ends_the_run_after_three_shards(
    data, tmp_path, checks, monkeypatch, capsys
):
    from pytest_llmfair.audit.work import Worker

    def unreached(self, shard):
        self.give_up(shard, "no connection")
        return 1

    monkeypatch.setattr(Worker, "_answers", unreached)
    out = tmp_path / "out"
    said = refused(capsys, data, out, checks, "--model", "openai:gpt-of-old")
    assert "the model answered nothing in 3 shards in a row (error: no connection)" in said
    assert Store(out).done("answers") == [0, 1, 2]
    # A local model that fails costs nothing, and its verdict is INVALID.
    assert main(command(data, tmp_path / "local", checks, "--model", MODEL)) == 1
    # After some shards with answers, others without are counted anew.
    make = iter([0, 0, 1, 0, 0, 1, 0, 0])

    def sometimes(self, shard):
        answered = next(make)
        self._put_answers(
            shard, ["yes" if answered else Missing("timeout", "")] * len(self._requests(shard))
        )
        return 1

    monkeypatch.setattr(Worker, "_answers", sometimes)
    assert main(command(data, tmp_path / "some", checks, "--model", "openai:gpt-of-old")) == 1


def test_a_full_disk_ends_the_run_and_keeps_what_is_there(data, tmp_path, checks, monkeypatch):
    import errno

    put = Store.put

    def full(self, phase, shard, *rest):
        if (phase, shard) == ("answers", 3):
            raise OSError(errno.ENOSPC, "No space left on device")
        put(self, phase, shard, *rest)

    monkeypatch.setattr(Store, "put", full)
    out = tmp_path / "out"
    with pytest.raises(SystemExit, match="2"):
        main(command(data, out, checks, "--model", MODEL))
    assert Store(out).done("answers") == [0, 1, 2]
    monkeypatch.undo()
    with pytest.raises(ValueError, match="5 of 8 shards"):
        load(out)


def test_a_model_that_one_worker_cannot_load_at_once_costs_no_shard(data, moody):
    (moody / "flaky.py").write_text(
        "from moody import once, steady\n"
        "if once('broke'):\n    raise ImportError('the weights are broken here')\n"
    )
    found = audited(data, moody / "out", model="python:flaky:steady")
    assert (moody / "broke").exists()
    assert not any(isinstance(a, Missing) for row in found.responses.original for a in row)


def test_a_worker_with_other_weights_ends_the_run(data, tmp_path, checks, capsys, monkeypatch):
    from pytest_llmfair.audit import work

    monkeypatch.setattr(work, "revision_of", lambda model: "of another machine")
    said = refused(capsys, data, tmp_path / "out", checks, "--model", MODEL)
    assert f"{MODEL} has the revision of another machine here, and the audit is about" in said
    assert not Store(tmp_path / "out").done("answers")


def test_an_audit_that_is_not_there_is_an_error(tmp_path, checks, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(command(None, tmp_path / "none", checks))
    assert "holds no audit; name its data and its model" in capsys.readouterr().err


@pytest.fixture
def moody(tmp_path, monkeypatch):
    (tmp_path / "moody.py").write_text(MOODY)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced(data, moody):
    model = {"model": "python:moody:deadly"}
    found = audited(data, moody / "out", Processes(moody / "out", Caps(), 2), **model)
    assert (moody / "died").exists()
    assert not any(isinstance(a, Missing) for row in found.responses.original for a in row)


@pytest.mark.slow
def test_a_shard_that_kills_its_workers_costs_no_other_shard(data, moody, checks, capsys):
    with data.open("a") as file:
        file.write('{"prompt": "She said of the poison that"}\n')
    out, options = moody / "out", ("--model", "python:moody:poisonous", "--workers", "2")
    main(command(data, out, checks, *options))
    assert (
        "1 shard of answers failed 3 times; shard 7: BrokenProcessPool" in capsys.readouterr().err
    )
    lost = [n for n in range(8) if Store(out).about("answers", n)["again"]]
    assert lost == [7]


@pytest.mark.slow
def test_a_killed_command_continues_where_it_stopped(data, moody, checks):
    out = moody / "out"
    line = [sys.executable, "-m", "pytest_llmfair.cli"]
    line += command(data, out, checks, "--model", "python:moody:slow", "--workers", "2")
    begun = subprocess.Popen(line, cwd=moody, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while len(Store(out).done("answers")) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    begun.send_signal(signal.SIGKILL)
    begun.wait()
    time.sleep(0.5)
    kept = Store(out).done("answers")
    assert 2 <= len(kept) < 8
    asked = (moody / "asked").stat().st_size
    sizes = [len(Store(out).columns("questions", shard)["side"]) * 3 for shard in range(8)]
    needed = sum(sizes)
    subprocess.run(line, cwd=moody, check=False, capture_output=True)
    # At most the shards of the two workers are asked again.
    assert (moody / "asked").stat().st_size <= needed + 2 * max(sizes)
    assert asked < needed
    assert Store(out).done("answers") == list(range(8))


def test_workers_that_cannot_load_the_model_end_the_run(data, moody, checks, capsys):
    assert main(command(data, moody / "out", checks, "--model", MODEL)) == 0
    with pytest.raises(SystemExit, match="2"):
        main(command(data, moody / "other", checks, "--model", "python:moody:no_such_function"))
    assert "a worker cannot load python:moody:no_such_function" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_ends_the_command_with_one_line_and_keeps_parts(data, moody, checks, workers):
    out = moody / "out"
    line = [sys.executable, "-m", "pytest_llmfair.cli"]
    line += command(data, out, checks, "--model", "python:moody:slow", "--workers", workers)
    # As a terminal does, the signal goes to all processes of the group.
    begun = subprocess.Popen(line, cwd=moody, stderr=subprocess.PIPE, start_new_session=True)
    until = time.monotonic() + 60
    while not Store(out).done("answers") and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(begun.pid, signal.SIGINT)
    said = begun.communicate(timeout=30)[1].decode()
    assert begun.returncode == 2
    assert "llmfair audit: interrupted; the answers of" in said
    assert "Traceback" not in said
    assert 1 <= len(Store(out).done("answers")) < 8


@pytest.mark.slow
def test_ctrl_c_while_workers_start_shows_no_traceback(data, tmp_path, checks):
    line = [sys.executable, "-m", "pytest_llmfair.cli"]
    line += command(data, tmp_path / "out", checks, "--model", MODEL, "--workers", "2")
    begun = subprocess.Popen(line, stderr=subprocess.PIPE, start_new_session=True)
    until = time.monotonic() + 60
    while len(Store(tmp_path / "out").done("prompts")) < 8 and time.monotonic() < until:
        time.sleep(0.02)
    time.sleep(0.3)
    os.killpg(begun.pid, signal.SIGINT)
    said = begun.communicate(timeout=60)[1].decode()
    assert begun.returncode == 2
    assert "Traceback" not in said
    assert "interrupted; the answers of 0 shards" in said


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_benchmark_of_audits_runs():
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, str(root / "benchmarks" / "scale.py"), "--smoke"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("\n") == 4
