"""Documents that are read for counting: byte-order marks, packed files, doubled columns."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from everycell.metrics.fairness_inputs import check_texts, read_documents
from everycell.metrics.word_lists import read_words

LINES = {"tsv": "d1\tshe\nd2\the\n", "jsonl": '{"id": "d1", "text": "she"}\n'}


@pytest.mark.parametrize("kind", sorted(LINES))
def test_a_mark_at_the_start_of_another_line_is_refused(tmp_path, kind):
    path = tmp_path / f"passages.{kind}"
    path.write_bytes(2 * ("\ufeff" + LINES[kind].rstrip("\n") + "\n").encode())
    with pytest.raises(ValueError, match="line [0-9] has a byte order mark"):
        list(read_documents(path))


@pytest.mark.parametrize("kind", LINES)
def test_packed_files_with_the_other_name(tmp_path, kind):
    path = tmp_path / f"passages.{kind}"
    path.write_bytes(gzip.compress(LINES[kind].encode()))
    with pytest.raises(ValueError, match="its name does not end in .gz"):
        list(read_documents(path))
    path = tmp_path / f"passages.{kind}.gz"
    path.write_text(LINES[kind])
    with pytest.raises(ValueError, match=r"or remove \.gz from its name"):
        list(read_documents(path))


def test_a_doubled_column_is_refused(tmp_path):
    path = tmp_path / "passages.parquet"
    columns = [pa.array(["d"]), pa.array(["she"]), pa.array(["he"])]
    pq.write_table(pa.table(columns, names=["document_id", "text", "text"]), path)
    with pytest.raises(ValueError, match=r"has 2 columns named 'text'"):
        list(read_documents(path))


@pytest.mark.parametrize("first", ["name,gender", "word,kind", "gender,name"])
def test_what_seems_to_be_a_header_is_no_group(tmp_path, first):
    path = tmp_path / "words.csv"
    path.write_text(f"{first}\nshe,f\nhe,m\n")
    with pytest.raises(ValueError, match="Line 1 of .*header"):
        read_words(path)


def test_groups_that_differ_in_case_alone_are_refused(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("she,F\nher,f\nhe,m\n")
    with pytest.raises(ValueError, match=r"words\.csv: .*case"):
        read_words(path)


def test_check_texts_other_scripts_and_no_word():
    texts = [("d1", "она бежит"), ("d2", "她 跑")]
    assert list(check_texts(texts)) == texts
    with pytest.raises(ValueError, match="'d3' .*'...'"):
        list(check_texts([("d3", "...")]))
