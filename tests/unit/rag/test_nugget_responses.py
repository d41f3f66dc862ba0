"""Clusters, rankings, responses and their provenance."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi
from sklearn.feature_extraction.text import TfidfVectorizer

from everycell.rag.nugget_responses import (
    Response,
    Sentence,
    bm25_scores,
    choose_clusters,
    density_clusters,
    first_words,
    lsa_clusters,
    most_central,
    order,
    pieces,
    provenance,
    provenance_page,
    responses_frame,
    responses_of,
    stems,
    vector_scores,
)
from papers.lajewska2025.ch6_nuggets import nuggets_frame

PASSAGE = "Owls hunt at night. They eat mice, and mice eat seeds."
WORDS = st.lists(st.sampled_from("owl mouse ship hunts sails".split()), max_size=6).map(" ".join)


@given(st.lists(WORDS, max_size=9))
def test_lsa_clusters(texts):
    clusters = lsa_clusters(texts, seed=1)
    assert len(clusters) == len(texts)
    assert sorted(set(clusters)) == list(range(len(set(clusters))))
    if len(texts) >= 4 and any(texts):
        assert len(set(clusters)) <= max(len(texts) // 2, 1)


def test_lsa_clusters_terms():
    texts = ["owls hunt", "owl hunts", "mouse sails", "mice sail"]
    lemmas = {"owls": "owl", "hunts": "hunt", "mice": "mouse", "sails": "sail"}

    def terms(text):
        return [lemmas.get(word, word) for word in text.split()]

    assert lsa_clusters(texts, seed=1, terms=terms).tolist() == [0, 0, 1, 1]
    with_stems = lsa_clusters(texts, seed=1)
    assert with_stems[0] == with_stems[1] and with_stems[2] == with_stems[3]


def test_lsa_clusters_orients_topics_by_the_texts():
    """The strongest text of each topic is positive, so it can be in this topic."""
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(30)]
    texts = [" ".join(rng.choice(words, size=8)) for _ in range(12)]
    weights = TfidfVectorizer(analyzer=stems, max_features=1000).fit_transform(texts)
    left, sizes, _ = np.linalg.svd(weights.toarray(), full_matrices=False)
    strengths = (left * sizes)[:, :6]
    largest = np.abs(strengths).argmax(axis=0)
    strengths *= np.sign(strengths[largest, np.arange(6)])
    expected = strengths.argmax(axis=1)
    clusters = lsa_clusters(texts, seed=42)
    for first in range(12):
        same = expected == expected[first]
        assert (same == (clusters == clusters[first])).all()


@pytest.mark.slow
def test_density_clusters():
    rng = np.random.default_rng(3)
    centres = np.eye(16)[[0, 8]]
    vectors = np.repeat(centres, 12, axis=0) + rng.normal(scale=0.01, size=(24, 16))
    result = density_clusters(vectors, seed=42)
    assert not set(result[:12]) & set(result[12:])
    np.testing.assert_array_equal(result, density_clusters(vectors, seed=42))


@given(WORDS, st.lists(WORDS, min_size=1, max_size=5))
def test_bm25_scores(question, texts):
    words = [stems(text) for text in texts]
    expected = BM25Okapi(words).get_scores(stems(question)) if any(words) else np.zeros(len(texts))
    np.testing.assert_array_equal(bm25_scores(question, texts), expected)


def test_vector_scores_opposite_vectors():
    assert vector_scores([1, 0], [[1, 0], [-1, 0], [3, 4]], [0, 0, 1]).tolist() == [0.0, 0.6]


@pytest.mark.parametrize(
    ("scores", "first", "expected"),
    [
        ([], 3, ([], None)),
        ([0.5], 3, ([0], 0)),
        ([0.1, 0.9, 0.5, 0.5], 2, ([1, 2], 3)),
        ([0.1, 0.9, 0.5], 3, ([1, 2, 0], 0)),
    ],
)
def test_choose_clusters(scores, first, expected):
    assert choose_clusters(scores, first) == expected


def test_most_central():
    assert most_central(["owls eat", "owls eat mice", "mice sleep"]) == 1
    assert most_central(["owls", "owls"]) == 0  # of equal ones the first
    assert most_central([""]) == 0


def test_responses_frame_round_trip():
    responses = [
        Response("1", (Sentence("A.", (1, 2)), Sentence("B.", ())), "C?"),
        Response("2", ()),
    ]
    assert responses_of(responses_frame({"x": responses})) == responses


@pytest.fixture
def responses_page():
    text = "Owls <b>eat</b> mice."
    nuggets = nuggets_frame({("1", "p"): [(5, 15), (16, 20)]}, {("1", "p"): text})
    passages = pd.DataFrame({"topic": ["1"], "passage_id": ["p"], "text": [text]})
    return nuggets, passages, {"1": "<i>Owls</i>?"}


def test_provenance_page(responses_page):
    result = provenance(
        [Response("1", (Sentence("They <u>eat</u>.", (1,)),), "<s>?")], *responses_page
    )
    page = provenance_page(result, "<title>")
    assert not re.search(r"<(b|i|u|s)>", page)
    targets = set(re.findall(r' id="([^"]+)"', page))
    links = re.findall(r'href="#([^"]+)"', page)
    assert links == ["n1-1", "s1-1"] and set(links) <= targets
    assert 'id="n1-2" class="unused"' in page
    output = html.unescape(re.sub(r"<sup>.*?</sup>|<[^>]+>", "", page))
    assert "Owls <b>eat</b> mice." in output


def test_pieces_spell_the_passage():
    spans = [{"start": 5, "end": 9, "nugget": 2}, {"start": 0, "end": 4, "nugget": 1}]
    assert "".join(text for text, _ in pieces(PASSAGE, spans)) == PASSAGE


def test_order_many_equal_scores():
    assert order([0.5, 0.9] * 50) == [*range(1, 100, 2), *range(0, 100, 2)]


def test_order_ties():
    assert order([0.1, 0.5, 0.5]) == [1, 2, 0]


def test_first_words():
    assert first_words("Owls eat small mice.", 3) == "Owls eat small …"
    assert first_words("Owls  eat.", 3) == "Owls eat."
