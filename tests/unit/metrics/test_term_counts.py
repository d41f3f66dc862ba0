"""Counting group terms: the authors' way of reading, streaming, bad word lists and files."""

import re

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everycell.metrics.term_counts import (
    blank_tokens,
    check_counts,
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


def test_counts_are_those_of_the_nfairr_authors_reading(tmp_path):
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
def test_the_batch_changes_nothing(tmp_path_factory, texts, batch):
    folder = tmp_path_factory.mktemp("counts")
    expected = []
    for text in texts:
        tokens = [token for token in re.split(r"\s+", text.lower()) if token]
        expected.append(
            [len(tokens), tokens.count("she") + tokens.count("mary"), tokens.count("he")]
        )
    assert counted(texts, folder, batch=batch) == expected


def test_documents_are_read_a_batch_at_a_time(tmp_path):
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


def test_text_without_blanks_needs_another_tokeniser(tmp_path):
    words = {"f": ["她", "она"], "m": ["他", "он"]}
    texts = ["她和他", "Она и ОН"]
    assert counted(texts, tmp_path, words) == [[1, 0, 0], [3, 1, 1]]
    standard = {"tokenise": tokeniser("SA")}
    assert counted(texts, tmp_path, words, **standard) == [[3, 1, 1], [3, 1, 1]]


def test_tokens_of_a_blank():
    assert blank_tokens([" "]) == [[]]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({}, "word list is empty"),
        ({"f": [], "m": ["he"]}, "Group 'f' has no terms"),
        ({"f": [""], "m": ["he"]}, "Group 'f' has an empty term"),
        ({"f": ["they", "she"], "m": ["They"]}, "'They' is in the groups 'f' and 'm'"),
        ({"f": ["step mother"], "m": ["he"]}, r"'step mother' becomes \['step', 'mother'\]"),
        ({"f": "she", "m": ["he"]}, "are one string, 'she'"),
        ({"length": ["long"]}, "group has the name 'length'"),
        ({"": ["she"]}, "group has the name ''"),
    ],
)
def test_word_lists_that_are_refused(tmp_path, words, says):
    with pytest.raises(ValueError, match=says):
        count_terms([("d", "she")], words, tmp_path / "counts")
    assert not list(tmp_path.iterdir())


def test_a_term_that_the_tokeniser_cuts_is_refused(tmp_path):
    words = {"f": ["mother-in-law"], "m": ["he"]}
    assert counted(["my mother-in-law"], tmp_path, words) == [[2, 1, 0]]
    with pytest.raises(ValueError, match="'mother-in-law' becomes"):
        counted(["x"], tmp_path, words, tokenise=tokeniser("SA"))


@pytest.mark.parametrize(
    ("documents", "says"),
    [
        ([], "no document to count"),
        ([("a", "x"), ("b", None)], r"Document 1 .* is \('b', None\)"),
        ([(3, "x")], r"Document 0 .* is \(3, 'x'\)"),
        ([("", "x")], "an id of one character or more"),
    ],
)
def test_documents_that_are_refused_leave_no_file_and_the_old_one_untouched(
    tmp_path, documents, says
):
    path = tmp_path / "counts"
    count_terms([("old", "she")], WORDS, path)
    with pytest.raises(ValueError, match=says):
        count_terms(documents, WORDS, path, batch=1)
    assert [entry.name for entry in tmp_path.iterdir()] == ["counts"]
    assert read_counts(path).index.tolist() == ["old"]


def test_a_batch_of_none_is_refused(tmp_path):
    with pytest.raises(ValueError, match="batch size is 0"):
        count_terms([("d", "x")], WORDS, tmp_path / "counts", batch=0)


def test_a_document_that_comes_twice_is_found_when_it_is_read(tmp_path):
    count_terms([("d", "she"), ("e", "he"), ("d", "he")], WORDS, tmp_path / "counts", batch=1)
    with pytest.raises(ValueError, match="'d' occurs twice"):
        read_counts(tmp_path / "counts")
    assert read_counts(tmp_path / "counts", ["e"]).index.tolist() == ["e"]


def test_files_that_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="create it with count_terms"):
        read_counts(tmp_path / "none")
    (tmp_path / "text").write_text("document_id,length")
    with pytest.raises(ValueError, match="not a Parquet file"):
        read_counts(tmp_path / "text")
    pd.DataFrame({"document_id": ["d"], "f": [1]}).to_parquet(tmp_path / "short")
    with pytest.raises(ValueError, match="no column 'length'"):
        read_counts(tmp_path / "short")


@pytest.mark.parametrize(
    ("frame", "says"),
    [
        ({"f": [1]}, "no column 'length'"),
        ({"length": [1]}, "only the column 'length'"),
        ({"length": [1], "f": [-1]}, "'d' has a negative or missing"),
        ({"length": [None], "f": [1]}, "negative or missing"),
        ({"length": [1], "f": [2]}, "'d' has 2 group terms and the length 1"),
    ],
)
def test_counts_that_are_refused(frame, says):
    with pytest.raises(ValueError, match=says):
        check_counts(pd.DataFrame(frame, index=["d"]))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("she\n", r"Line 1 of .* reads 'she'; write it as 'term,group'"),
        ("she,f\n,m\n", "Line 2"),
        ("\n", "word list is empty"),
        ("Robin,f\nrobin,m\n", "'robin' is in the groups 'f' and 'm'"),
    ],
)
def test_word_files_that_are_refused(tmp_path, text, says):
    (tmp_path / "words").write_text(text)
    with pytest.raises(ValueError, match=says):
        read_words(tmp_path / "words")


def test_a_missing_word_file():
    with pytest.raises(FileNotFoundError, match="does not exist"):
        read_words("nowhere.txt")


@pytest.mark.released
def test_the_released_word_list(mirror):
    words = read_words(mirror / "gender-bias-ir/fairr/wordlist_gender_representative.txt")
    assert {group: len(terms) for group, terms in words.items()} == {"m": 163, "f": 163}


@pytest.mark.parametrize("names", [["length", "f", "f"], ["length", "length", "f"]])
def test_a_doubled_column_of_counts_is_refused(tmp_path, names):
    doubled = next(name for name in names if names.count(name) > 1)
    with pytest.raises(ValueError, match=f"has 2 columns named '{doubled}'"):
        check_counts(pd.DataFrame([[3, 1, 1]], columns=names, index=["d"]))
    path = tmp_path / "counts.parquet"
    columns = [pa.array(["d"]), *(pa.array([1]) for _ in names)]
    pq.write_table(pa.table(columns, names=["document_id", *names]), path)
    with pytest.raises(ValueError, match=f"parquet has 2 columns named '{doubled}'"):
        read_counts(path)


def test_complex_counts_are_refused():
    frame = pd.DataFrame({"length": [3], "f": [1 + 1j]}, index=["d"])
    with pytest.raises(ValueError, match="counts of 'f' are complex numbers; give whole"):
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
