"""Sentences: invariants, quotes, faults, and the released sentences of CAsT-unanswerable."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from everycell.sources import fetch
from everycell.text.sentences import sentence_spans, sentences_with
from papers.lajewska2025.answerability_data import FILES

TEXT = st.text(st.sampled_from("aB .?!,'”“\n\u00a01é()"), max_size=40)


def sentences(text, **options):
    return [text[start:end] for start, end in sentence_spans(text, **options)]


@given(TEXT, st.sampled_from(["ascii", "curly"]))
def test_sentences_are_in_order_and_leave_out_blanks_alone(text, quotes):
    end = 0
    for start, stop in sentence_spans(text, quotes=quotes):
        assert end <= start < stop <= len(text)
        assert not text[end:start].strip()
        sentence = text[start:stop] if end else text[start:stop].lstrip()
        assert sentence.strip() == sentence
        end = stop
    assert not text[end:].strip()


@pytest.mark.parametrize("text", ["", " \n "])
def test_sentence_spans_empty(text):
    assert sentence_spans(text) == []


def test_sentence_spans_abbreviations():
    assert sentences("Mr. J. Doe of St. Ives paid 3.50 for tea. Why? It rained.") == [
        "Mr. J. Doe of St. Ives paid 3.50 for tea.",
        "Why?",
        "It rained.",
    ]


def test_sentence_spans_quotes():
    text = 'She said "go." He went.'
    assert sentences(text) == sentences(text, quotes="curly") == ['She said "go."', "He went."]


@pytest.fixture(scope="module")
def released(mirror, tmp_path_factory):
    """Passages without an answer, each with its sentences as the authors cut it."""
    cache = tmp_path_factory.mktemp("cache")
    passages, rows = (
        pd.read_csv(
            fetch(FILES[key], cache, mirror=mirror, network=False), dtype=str, keep_default_na=False
        )
        for key in ("unanswerable", "unanswerable_sentences")
    )
    result = rows["sentences"].str.split(" [SEP] ", n=1, regex=False).str[1]
    cut = {}
    for partition, texts in passages.groupby("partition")["passage"]:
        # The file has the sentences of a partition passage by passage.
        left = iter(result[rows["partition"] == partition])
        for text in texts:
            remaining, of_passage = text, []
            while remaining.strip():
                sentence = next(left)
                remaining = remaining.lstrip()
                assert remaining.startswith(sentence)
                remaining = remaining.removeprefix(sentence)
                of_passage.append(sentence)
            cut[text] = of_passage
        assert not list(left)
    return cut


@pytest.mark.parametrize(("quotes", "otherwise"), [("ascii", 6), ("curly", 70)])
def test_sentence_spans_released_passages(released, quotes, otherwise):
    """Except single punctuation marks, with straight quotes; some passages are repeated."""
    different = [text for text, cut in released.items() if cut != sentences(text, quotes=quotes)]
    assert len(different) == otherwise


def test_sentences_with_any_of_the_parts():
    text = "Owls hunt mice. Foxes sleep. Mice sleep."
    assert list(sentences_with(text, ["mice", "Foxes"])) == [
        ("Owls hunt mice.", True),
        ("Foxes sleep.", True),
        ("Mice sleep.", False),
    ]
