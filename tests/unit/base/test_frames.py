"""Parquet files that unpack to far more than they take are refused before they are unpacked."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

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


@pytest.mark.slow
@pytest.mark.fault("bomb")
def test_check_parquet_size_repeated_text(tmp_path):
    path = tmp_path / "texts.parquet"
    rows = np.arange(10_000)
    texts = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(10_000, dtype=np.int32)), ["x" * 10**6]
    )
    pq.write_table(pa.table([rows.astype(str), texts], ["document_id", "text"]), path)
    assert path.stat().st_size < 200_000
    program = (
        "import resource, sys\n"
        "from everycell.text.documents import read_documents\n"
        "resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))\n"
        "print(sum(len(text) for _, text in read_documents(sys.argv[1])))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True)
    assert done.stdout == f"{10**10}\n", done.stderr


def test_check_parquet_size_real_table(tmp_path):
    path = tmp_path / "counts.parquet"
    ids = [f"d{number}" for number in range(ROWS // 10)]
    pd.DataFrame({"document_id": ids, "length": 1, "f": 0, "m": 0}).to_parquet(path)
    check_parquet_size(path)
    assert len(read_counts(path, ["d7"])) == 1
