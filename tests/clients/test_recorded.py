from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass

import pytest

from pytest_llmfair.clients import Missing, ModelSpecError, load_client
from pytest_llmfair.responses import Pair

ROWS = [
    {"prompt": "Who is she?", "answer": "A nurse."},
    {"prompt": "Who is he?", "answer": "A judge."},
    {"prompt": "Who is she?", "answer": "A pilot."},
    {"prompt": "Who is he?", "answer": None},
    {"prompt": "Who is she?", "answer": " "},
    {"prompt": "Who is he?", "answer": "\u2028 line\nends \x1b[31m \ud83d"},
]


@dataclass(frozen=True)
class Twins:
    original: str
    counterfactual: str


def jsonl(folder, rows, name="said.jsonl"):
    path = folder / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def load(path):
    return load_client(f"responses:{path}")


def test_duplicates_are_repeats_in_order_and_no_text_is_missing(tmp_path):
    client = load(jsonl(tmp_path, ROWS))
    she, he = client.generate(["Who is she?", "Who is he?"], 3)
    assert she == ["A nurse.", "A pilot.", Missing("empty", "recorded as an empty text")]
    assert he == ["A judge.", Missing("null", "recorded as null"), ROWS[5]["answer"]]
    assert client.generate(["Who is he?"], 1) == [["A judge."]]


def test_a_column_of_repeats_gives_the_order(tmp_path):
    rows = [{"prompt": "p", "response": f"r{i}", "repeat": i} for i in range(12)]
    random.Random(3).shuffle(rows)
    assert load(jsonl(tmp_path, rows)).generate(["p"], 12) == [[f"r{i}" for i in range(12)]]


def test_a_csv_file_holds_the_same(tmp_path):
    path = tmp_path / "said.csv"
    with path.open("w", newline="", encoding="utf-8-sig") as file:
        writer = csv.DictWriter(file, ["repeat", "response", "prompt", "note"])
        writer.writeheader()
        for repeat, text in ((1, 'two "quoted", lines\nhere'), (0, "x" * 300_000)):
            row = {"repeat": repeat, "response": text, "prompt": "p", "note": ""}
            writer.writerow(row)
    limit = csv.field_size_limit()
    assert load(path).generate(["p"], 2) == [["x" * 300_000, 'two "quoted", lines\nhere']]
    assert csv.field_size_limit() == limit


def test_the_sides_of_pairs_and_equal_prompts_get_answers_of_their_own(tmp_path):
    path = jsonl(tmp_path, [{"prompt": "p", "answer": str(i)} for i in range(8)])
    answers = load(path).answer_pairs([Twins("p", "p"), Twins("p", "p")], 2)
    given = [answer for row in (*answers.original, *answers.counterfactual) for answer in row]
    assert sorted(given) == [str(i) for i in range(8)]


def test_a_prompt_that_is_not_there_is_named_with_the_nearest(tmp_path):
    client = load(jsonl(tmp_path, ROWS))
    words = (
        r"no answer to 1 of 2 prompts; the first is 'Who is she'; the nearest is 'Who is she\?'; "
        "prompts must match exactly"
    )
    with pytest.raises(ValueError, match=words):
        client.generate(["Who is she?", "Who is she"])


def test_more_repeats_than_there_are_is_an_error_with_both_numbers(tmp_path):
    with pytest.raises(ValueError, match=r"has 3 answers to 'Who is he\?', and 4 are asked for"):
        load(jsonl(tmp_path, ROWS)).generate(["Who is he?"], 4)


def test_the_model_is_named_by_its_file_and_known_by_its_content(tmp_path):
    first, second = jsonl(tmp_path, ROWS), jsonl(tmp_path, ROWS[1:], "more.jsonl")
    client = load(first)
    assert client.name == f"responses:{first}"
    assert client.description == "6 recorded answers to 2 prompts of said.jsonl"
    revisions = [load(path).backend.identity["revision"] for path in (first, second)]
    assert len(set(revisions)) == 2


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.jsonl", None, r"there is no file .*none\.jsonl"),
        (
            "said.xlsx",
            None,
            r"unknown kind; give a file that ends in \.jsonl, \.ndjson, \.csv, \.parquet",
        ),
        ("said.jsonl", b"", "there is no answer in the file"),
        (
            "said.jsonl",
            b'{"prompt": "p", "text": "a"}\n',
            "line 1 of .* needs prompt and answer, and has no answer; found prompt, text$",
        ),
        (
            "said.jsonl",
            b'{"prompt": "p", "answer": "a"}\n{"answer": "a"}\n',
            "2 of .* and answer, and has no prompt; found answer$",
        ),
        ("said.jsonl", b'{"prompt": "", "answer": "a"}\n', "the prompt is ''; give a text"),
        ("said.jsonl", b'{"prompt": "p", "answer": 7}\n', "the answer is 7; give a text, or null"),
        (
            "said.jsonl",
            b'{"prompt": "p", "answer": "\xff"}\n',
            r"line 1 of .*said\.jsonl is not valid JSON",
        ),
        (
            "said.jsonl",
            b'{"prompt": "p", "answer": "a", "repeat": "x"}\n',
            "the repeat is 'x'",
        ),
        (
            "said.jsonl",
            b'{"prompt": "p", "answer": "a", "repeat": 1}\n' * 2,
            "line 2 .* repeat 1 of 'p' once more",
        ),
        ("said.csv", b"prompt,answer\np,a,b\n", r"line 2 of .*csv has more or fewer fields"),
        (
            "said.csv",
            b"about,answer\np,a\n",
            "csv needs prompt and answer, and has no prompt; found about, answer$",
        ),
        (
            "said.csv",
            b"prompt,question,answer\np,q,a\n",
            "2 columns that may be the prompt: prompt, question; name one",
        ),
        ("said.csv", b"prompt,answer\np,\xe9\n", r"not UTF-8 \(byte 16\); save it as UTF-8"),
        ("said.parquet", b"PAR1 and no more", "cannot be read as Parquet"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path, name, content, words):
    # What is wrong with any table is tried in tests/gate/test_check_file.py.
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelSpecError, match=words):
        load(path)


def test_recorded_answers_take_no_options(tmp_path):
    with pytest.raises(ModelSpecError, match="responses models have no option 'temperature'"):
        load(f"{jsonl(tmp_path, ROWS)}?temperature=1")


def parquet(path, **columns):
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


def test_a_parquet_file_holds_recorded_answers(tmp_path):
    path, answers = tmp_path / "said.parquet", ["one", None, "two"]
    client = load(parquet(path, prompt=["p", "q", "p"], answer=answers, repeat=[1, 0, 0]))
    assert client.generate(["p"], 2) == [["two", "one"]]
    assert client.generate(["q"]) == [[Missing("null", "recorded as null")]]
    parquet(path, prompt=["p", "q"], answer=[1, 2])
    with pytest.raises(ModelSpecError, match=r"row 1 of .*said\.parquet: the answer is 1"):
        load(path)


def test_a_folder_of_parquet_files_is_read_file_by_file(tmp_path):
    folder = tmp_path / "answers" / "day=1"
    folder.mkdir(parents=True)
    for number, rows in enumerate((["one", None], ["three", "four"])):
        path = folder / f"part-{number}.parquet"
        parquet(path, prompt=["Say.", "Go."], response=rows, reason=["x", "refused"])
    (folder / "_SUCCESS").touch()
    (folder / "_metadata.parquet").write_bytes(b"not for readers")
    # As a job leaves it that was stopped while it wrote.
    (folder / "_temporary" / "0").mkdir(parents=True)
    (folder / "_temporary" / "0" / "part-0.parquet").write_bytes(b"not for readers")
    client = load(tmp_path / "answers")
    assert client.generate(["Say.", "Go."], n=2) == [
        ["one", "three"],
        [Missing("refused", "recorded as null"), "four"],
    ]
    (none := tmp_path / "none").mkdir()
    with pytest.raises(ModelSpecError, match=r"none is empty; give a result file"):
        load(none)
    (none / "_SUCCESS").touch()
    with pytest.raises(ModelSpecError, match=r"no \.parquet file in the folder .*none; name a"):
        load(none)


def test_rows_that_name_their_sample_may_come_in_any_order(tmp_path):
    samples = ["original:0.1", "counterfactual:0.0", "original:0.0", "counterfactual:0.1"]
    rows = [{"prompt": "She left.", "sample": s, "answer": s} for s in samples]
    rows += [{**row, "prompt": "He left."} for row in rows]
    pair = Pair("She left.", "He left.", "female", "male", (), "gender")
    client = load(jsonl(tmp_path, rows))
    found = client.answer_pairs([pair], n=2)
    assert found.original == (("original:0.0", "original:0.1"),)
    assert found.counterfactual == (("counterfactual:0.0", "counterfactual:0.1"),)
    with pytest.raises(ValueError, match=r"has no sample \w+:0\.2 of"):
        client.answer_pairs([pair], n=3)
