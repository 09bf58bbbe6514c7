from __future__ import annotations

import pyarrow
import pyarrow.parquet
import pytest

from pytest_llmfair.clients import Missing, ModelSpecError, load_client


def test_a_parquet_file_holds_recorded_answers(tmp_path):
    path = tmp_path / "said.parquet"
    table = {"prompt": ["p", "q", "p"], "answer": ["one", None, "two"], "repeat": [1, 0, 0]}
    pyarrow.parquet.write_table(pyarrow.table(table), path)
    client = load_client(f"responses:{path}")
    assert client.generate(["p"], 2) == [["two", "one"]]
    assert client.generate(["q"]) == [[Missing("null", "recorded as null")]]


def test_a_row_that_cannot_be_used_is_named(tmp_path):
    path = tmp_path / "said.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"prompt": ["p", "q"], "answer": [1, 2]}), path)
    with pytest.raises(ModelSpecError, match=r"row 1 of .*said\.parquet: the answer is 1"):
        load_client(f"responses:{path}")


def test_a_file_that_is_no_parquet_is_named(tmp_path):
    path = tmp_path / "said.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(ModelSpecError, match="cannot be read as Parquet"):
        load_client(f"responses:{path}")
