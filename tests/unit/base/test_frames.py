"""Parquet files that unpack to far more than they take are refused before they are unpacked."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from everycell.base.errors import DataError
from everycell.base.frames import ROWS, check_parquet_size
from everycell.base.untrusted import UNPACKED
from everycell.metrics.nfairr import find_most_neutral
from everycell.metrics.term_counts import count_documents_with_terms, read_counts
from everycell.text.documents import read_documents


@pytest.fixture(scope="module")
def many_rows(tmp_path_factory):
    """Five million rows of one id in some kilobytes."""
    path = tmp_path_factory.mktemp("bomb") / "rows.parquet"
    ids = pa.DictionaryArray.from_arrays(pa.array(np.zeros(5_000_000, dtype=np.int32)), ["d1"])
    zeros = pa.array(np.zeros(5_000_000, dtype=np.int64))
    names = ["document_id", "text", "length", "f", "m"]
    pq.write_table(pa.table([ids, ids, zeros, zeros, zeros], names), path, compression="zstd")
    assert path.stat().st_size < 100_000
    return path


@pytest.fixture(scope="module")
def tight(tmp_path_factory):
    """More than a gigabyte of zeros, packed by zstd."""
    path = tmp_path_factory.mktemp("bomb") / "tight.parquet"
    values = [b"\0" * (UNPACKED // 8 + 100)]
    schema = pa.schema([("document_id", pa.string()), ("text", pa.binary())])
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False) as writer:
        for number in range(9):
            writer.write_table(pa.table([[str(number)], values], schema=schema))
    return path


@pytest.mark.fault("bomb")
@pytest.mark.parametrize(
    "read",
    [
        lambda path: next(read_documents(path)),
        read_counts,
        count_documents_with_terms,
        lambda path: find_most_neutral(path, 10),
    ],
    ids=["count-terms", "fairness", "terms", "background"],
)
def test_check_parquet_size_too_many_rows(read, many_rows):
    with pytest.raises(ValueError, match="5,000,000 rows in [0-9,]+ bytes"):
        read(many_rows)


@pytest.mark.fault("bomb")
def test_check_parquet_size_too_large(tight):
    with pytest.raises(ValueError, match="unpacks from [0-9,]+ to [0-9,]+ bytes"):
        check_parquet_size(tight)


READERS = {
    "count-terms": lambda path: list(read_documents(path)),
    "fairness": read_counts,
    "terms": count_documents_with_terms,
    "background": lambda path: find_most_neutral(path, 10),
}


def table(rows: int, **columns) -> pa.Table:
    """A table that all readers take, with other columns."""
    ids = pa.array(np.arange(rows).astype(str))
    ones = pa.array(np.ones(rows, dtype=np.int8))
    twos = pc.add(ones, 1)
    return pa.table(
        {"document_id": ids, "text": ids, "length": twos, "f": ones, "m": ones} | columns
    )


def repeated(text: str, rows: int) -> pa.DictionaryArray:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), [text])


@pytest.mark.fault("bomb")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("columns", "match"),
    [
        ({"document_id": repeated("x" * 10**6, 1000)}, "repeats texts"),
        ({f"c{number}": pa.array(np.zeros(1000)) for number in range(2_200)}, "columns"),
        ({f"c{number}": pa.array(np.zeros(10**5)) for number in range(500)}, "values in"),
        ({"document_id": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64()))}, "type"),
        ({"document_id": pa.array([1])}, "type"),
    ],
    ids=["ids", "columns", "grid", "map", "numbers"],
)
def test_check_parquet_size_of_readers(tmp_path, reader, columns, match):
    """Small files of huge tables, or of columns of another type, are refused by all readers."""
    path = tmp_path / "bomb.parquet"
    content = table(len(next(iter(columns.values()))), **columns)
    if reader != "count-terms":
        content = content.drop_columns("text")
    pq.write_table(content, path)
    with pytest.raises(ValueError, match=match) as error:
        READERS[reader](path)
    assert len(str(error.value)) < 1000


@pytest.mark.fault("bomb")
def test_read_documents_repeated_text(tmp_path):
    path = tmp_path / "texts.parquet"
    pq.write_table(table(1000, text=repeated("x" * 10**6, 1000)), path)
    with pytest.raises(ValueError, match="repeats texts"):
        list(read_documents(path))


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[1, 2]]),
        pa.array([{"a": 1}]),
        pa.array(["x" * 10**6]),
        pa.array([10**18], pa.timestamp("ns")),
    ],
    ids=["list", "struct", "text", "time"],
)
def test_read_counts_column_type(tmp_path, column):
    path = tmp_path / "counts.parquet"
    pq.write_table(table(1, f=column).drop_columns("text"), path)
    with pytest.raises(DataError) as error:
        read_counts(path)
    assert error.value.column == "f" and len(str(error.value)) < 1000


@pytest.mark.parametrize("metadata", [b"[" * 100_000, b"{}", b"\xff", b'{"columns": 5}'], ids=len)
def test_read_counts_ignores_metadata_of_pandas(tmp_path, metadata):
    path = tmp_path / "counts.parquet"
    content = table(1).drop_columns("text").replace_schema_metadata({b"pandas": metadata})
    pq.write_table(content, path)
    assert read_counts(path).to_dict("index") == {"0": {"length": 2, "f": 1, "m": 1}}
    assert len(find_most_neutral(path, 10)) == 1


def test_check_parquet_size_real_table(tmp_path):
    path = tmp_path / "counts.parquet"
    ids = [f"d{number}" for number in range(ROWS // 10)]
    pd.DataFrame({"document_id": ids, "length": 1, "f": 0, "m": 0}).to_parquet(path)
    check_parquet_size(path)
    assert len(read_counts(path, ["d7"])) == 1
