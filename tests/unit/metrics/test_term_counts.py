"""Counting group terms: the authors' way of reading, streaming, bad word lists and files."""

import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data_errors import refused
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.metrics.term_counts import (
    blank_tokens,
    check_counts,
    check_texts,
    count_documents_with_terms,
    count_terms,
    read_counts,
)
from everycell.metrics.word_lists import read_word_lists, read_words
from everycell.text.tokenise import tokeniser

WORDS = {"f": ["she", "Mary"], "m": ["he"]}


def counted(texts, path, words=WORDS, **options):
    """Counts of texts d0, d1, ... as rows."""
    documents = ((f"d{position}", text) for position, text in enumerate(texts))
    count_terms(documents, words, path / "counts", **options)
    return read_counts(path / "counts").to_numpy().tolist()


def test_count_terms_equals_nfairr_authors(tmp_path):
    texts = ["She said he saw MARY", "she, he. Mary's", "", "  she  he ", "she\the"]
    assert counted(texts, tmp_path) == [[5, 2, 1], [3, 0, 0], [0, 0, 0], [2, 1, 1], [2, 1, 1]]


#: White space of Unicode, CRLF, and the zero-width space.
SPACES = ["\r\n", *"\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u200b"]
SPACES += [chr(code) for code in range(0x2000, 0x200B)]
INVISIBLE = "\u00ad\u2060\ufeff\u200e\u200f\u061c\u202a\u202c\u2066\u2069"


@pytest.mark.parametrize("tokenise", [blank_tokens, tokeniser("SA")])
def test_count_terms_white_space(tmp_path, tokenise):
    texts = [f"she{space}Mary{space}{space}HE" for space in SPACES]
    assert counted(texts, tmp_path, tokenise=tokenise) == [[3, 2, 1]] * len(texts)


@pytest.mark.parametrize("tokenise", [blank_tokens, tokeniser("SA")])
def test_count_terms_invisible_characters(tmp_path, tokenise):
    texts = [f"{one}s{one}he {one}he{one} x" for one in INVISIBLE]
    texts += ["she\u200d \u200che x", "\u200dshe he\u200c x", "she\u200b he \u200bx"]
    assert counted(texts, tmp_path, tokenise=tokenise) == [[3, 1, 1]] * len(texts)
    # Joiners inside a word belong to it, as in Persian.
    words = {"f": ["\u0645\u06cc\u200c\u062e"], "m": ["he"]}
    assert counted(["\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u062e"], tmp_path, words) == [
        [1, 1, 0],
        [1, 0, 0],
    ]


@settings(max_examples=40)
@given(
    texts=st.lists(st.text("seh SHEma\t\n\u00a0\u3000ry", max_size=30), min_size=1, max_size=8),
    batch=st.integers(1, 9),
)
def test_count_terms_batch_size(tmp_path_factory, texts, batch):
    folder = tmp_path_factory.mktemp("counts")
    expected = []
    for text in texts:
        tokens = [token for token in re.split(r"\s+", text.lower()) if token]
        expected.append(
            [len(tokens), tokens.count("she") + tokens.count("mary"), tokens.count("he")]
        )
    assert counted(texts, folder, batch=batch) == expected


def test_count_terms_reads_in_batches(tmp_path):
    class Document(str):
        alive = 0

        def __new__(cls, text):
            cls.alive += 1
            return super().__new__(cls, text)

        def __del__(self):
            type(self).alive -= 1

    peak = 0

    def documents():
        nonlocal peak
        for position in range(2000):
            peak = max(peak, Document.alive)
            yield f"d{position}", Document("she sees")

    assert count_terms(documents(), WORDS, tmp_path / "counts", batch=50) == 2000
    # A batch, and the one before it that a variable may still hold.
    assert peak <= 101
    assert pq.ParquetFile(tmp_path / "counts").num_row_groups == 40


def test_check_texts_without_blanks(tmp_path):
    words = {"f": ["她", "она"], "m": ["他", "он"]}
    texts = ["她和他", "Она и ОН"]
    assert counted(texts, tmp_path, words) == [[1, 0, 0], [3, 1, 1]]
    standard = {"tokenise": tokeniser("SA")}
    assert counted(texts, tmp_path, words, **standard) == [[3, 1, 1], [3, 1, 1]]


def test_blank_tokens():
    assert blank_tokens([" "]) == [[]]


@pytest.mark.parametrize(
    ("words", "row", "column", "value"),
    [
        ({}, None, "word list", ...),
        ({"f": [], "m": ["he"]}, "group 'f'", "list of terms", []),
        ({"f": [""], "m": ["he"]}, "group 'f'", "term", ""),
        ({"f": ["they", "she"], "m": ["They"]}, None, "term", "They"),
        ({"f": ["step mother"], "m": ["he"]}, None, "term", "step mother"),
        ({"f": "she", "m": ["he"]}, "group 'f'", "list of terms", "she"),
        ({"length": ["long"]}, None, "name of a group", "length"),
        ({"": ["she"]}, None, "name of a group", ""),
    ],
)
def test_count_terms_invalid_words(tmp_path, words, row, column, value):
    with refused(column, value, row=row):
        count_terms([("d", "she")], words, tmp_path / "counts")
    assert not list(tmp_path.iterdir())


def test_count_terms_divided_term(tmp_path):
    words = {"f": ["mother-in-law"], "m": ["he"]}
    assert counted(["my mother-in-law"], tmp_path, words) == [[2, 1, 0]]
    with refused("term", "mother-in-law"):
        counted(["x"], tmp_path, words, tokenise=tokeniser("SA"))


@pytest.mark.parametrize(
    ("documents", "row"),
    [
        ([], None),
        ([("a", "x"), ("b", None)], "document 1 (counted from 0)"),
        ([(3, "x")], "document 0 (counted from 0)"),
        ([("", "x")], "document 0 (counted from 0)"),
    ],
)
def test_count_terms_invalid_documents_keep_the_old_file(tmp_path, documents, row):
    path = tmp_path / "counts"
    count_terms([("old", "she")], WORDS, path)
    with refused(*(("id and text", documents[-1]) if row else ()), row=row):
        count_terms(documents, WORDS, path, batch=1)
    assert [entry.name for entry in tmp_path.iterdir()] == ["counts"]
    assert read_counts(path).index.tolist() == ["old"]


def test_count_terms_empty_batch(tmp_path):
    with refused("batch", 0):
        count_terms([("d", "x")], WORDS, tmp_path / "counts", batch=0)


def test_read_counts_duplicate_document(tmp_path):
    count_terms([("d", "she"), ("e", "he"), ("d", "he")], WORDS, tmp_path / "counts", batch=1)
    with refused("document", "d", path="counts"):
        read_counts(tmp_path / "counts")
    assert read_counts(tmp_path / "counts", ["e"]).index.tolist() == ["e"]


def test_read_counts_invalid_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="create it with count_terms"):
        read_counts(tmp_path / "none")
    (tmp_path / "text").write_text("document_id,length")
    with pytest.raises(ValueError, match="not a Parquet file"):
        read_counts(tmp_path / "text")
    pd.DataFrame({"document_id": ["d"], "f": [1]}).to_parquet(tmp_path / "short")
    with pytest.raises(ValueError, match="no column 'length'"):
        read_counts(tmp_path / "short")


@pytest.mark.parametrize(
    ("frame", "row", "column", "value"),
    [
        ({"length": [1]}, None, "counts", ...),
        ({"length": [1], "f": [-1]}, "document 'd' with 1 tokens", "number of group terms", -1),
        ({"length": [None], "f": [1]}, "document 'd' with nan tokens", "number of group terms", 1),
        ({"length": [1], "f": [2]}, "document 'd' with 1 tokens", "number of group terms", 2),
    ],
)
def test_check_counts_invalid_values(frame, row, column, value):
    with refused(column, value, row=row):
        check_counts(pd.DataFrame(frame, index=["d"]))


def test_check_counts_without_length():
    with pytest.raises(ValueError, match="no column 'length'"):
        check_counts(pd.DataFrame({"f": [1]}, index=["d"]))


@pytest.mark.parametrize(
    ("text", "row", "column", "value"),
    [
        ("she\n", 1, None, "she"),
        ("she,f\n,m\n", 2, None, ",m"),
        ("\n", None, "word list", ...),
        ("Robin,f\nrobin,m\n", None, "term", "robin"),
    ],
)
def test_read_words_invalid_files(tmp_path, text, row, column, value):
    (tmp_path / "words").write_text(text)
    with refused(column, value, path="words", row=row):
        read_words(tmp_path / "words")


def test_read_words_missing_file():
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_words("nowhere.txt")


@pytest.mark.released
def test_read_words_released_list(mirror):
    words = read_words(mirror / "gender-bias-ir/fairr/wordlist_gender_representative.txt")
    assert {group: len(terms) for group, terms in words.items()} == {"m": 163, "f": 163}


@pytest.mark.parametrize("names", [["length", "f", "f"], ["length", "length", "f"]])
def test_check_counts_duplicate_column(tmp_path, names):
    doubled = next(name for name in names if names.count(name) > 1)
    with pytest.raises(ValueError, match=f"has 2 columns named '{doubled}'"):
        check_counts(pd.DataFrame([[3, 1, 1]], columns=names, index=["d"]))
    path = tmp_path / "counts.parquet"
    columns = [pa.array(["d"]), *(pa.array([1]) for _ in names)]
    pq.write_table(pa.table(columns, names=["document_id", *names]), path)
    with pytest.raises(ValueError, match=f"parquet has 2 columns named '{doubled}'"):
        read_counts(path)


def test_check_counts_complex():
    frame = pd.DataFrame({"length": [3], "f": [1 + 1j]}, index=["d"])
    with refused("f", fault="has complex numbers"):
        check_counts(frame)


def test_read_word_lists_merges_groups(tmp_path):
    (tmp_path / "a.txt").write_text("she,f\nhe,m\n")
    (tmp_path / "b.txt").write_text("queen,f\nshe,f\nMary,f\n")
    words = read_word_lists([tmp_path / "a.txt", tmp_path / "b.txt"])
    assert words == {"f": ("she", "queen", "mary"), "m": ("he",)}


def test_count_documents_with_terms_of_any_group(tmp_path):
    path = tmp_path / "counts.parquet"
    frame = pd.DataFrame({"document_id": ["d1", "d2"], "length": 5, "f": [0, 1], "m": 0})
    frame.to_parquet(path)
    assert count_documents_with_terms(path) == (2, 1)


@pytest.mark.parametrize("first", ["name,gender", "word,kind", "gender,name"])
def test_read_word_lists_header(tmp_path, first):
    path = tmp_path / "words.csv"
    path.write_text(f"{first}\nshe,f\nhe,m\n")
    with refused(value=first, path="words.csv", row=1, fault="which looks like a header"):
        read_words(path)


def test_read_word_lists_case(tmp_path):
    path = tmp_path / "words.csv"
    path.write_text("she,F\nher,f\nhe,m\n")
    with refused("names of groups", ["F", "f", "m"], path="words.csv"):
        read_words(path)


def test_check_texts_other_scripts_and_no_word():
    texts = [("d1", "она бежит"), ("d2", "她 跑")]
    assert list(check_texts(texts)) == texts
    with refused("text", "...", row="document 'd3'"):
        list(check_texts([("d3", "...")]))
