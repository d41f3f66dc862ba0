"""Documents of users' files."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everycell.base.errors import DataError
from everycell.text.documents import read_documents

LINES = {"tsv": "d1\tshe\nd2\the\n", "jsonl": '{"id": "d1", "text": "she"}\n'}


@pytest.mark.parametrize("kind", sorted(LINES))
def test_read_documents_byte_order_mark(tmp_path, kind):
    path = tmp_path / f"passages.{kind}"
    path.write_bytes(2 * ("\ufeff" + LINES[kind].rstrip("\n") + "\n").encode())
    with pytest.raises(ValueError, match="line [0-9] has a byte order mark"):
        list(read_documents(path))


def test_read_documents_doubled_key(tmp_path):
    path = tmp_path / "passages.jsonl"
    path.write_text(LINES["jsonl"] + '{"id": "d2", "text": "he", "id": "d3"}\n')
    with pytest.raises(DataError) as caught:
        list(read_documents(path))
    assert (caught.value.path, caught.value.row) == (path, 2)


@pytest.mark.parametrize("kind", LINES)
def test_read_documents_other_compression(tmp_path, kind):
    path = tmp_path / f"passages.{kind}"
    path.write_bytes(gzip.compress(LINES[kind].encode()))
    with pytest.raises(ValueError, match="compressed with gzip"):
        list(read_documents(path))
    path = tmp_path / f"passages.{kind}.gz"
    path.write_text(LINES[kind])
    with pytest.raises(ValueError, match=r"or remove \.gz from its name"):
        list(read_documents(path))


def test_read_documents_duplicate_column(tmp_path):
    path = tmp_path / "passages.parquet"
    columns = [pa.array(["d"]), pa.array(["she"]), pa.array(["he"])]
    pq.write_table(pa.table(columns, names=["document_id", "text", "text"]), path)
    with pytest.raises(ValueError, match=r"has 2 columns named 'text'"):
        list(read_documents(path))
