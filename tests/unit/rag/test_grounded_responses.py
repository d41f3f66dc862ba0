"""Nuggets, clusters, rankings and responses: hand-worked cases, invariants and bad input."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from everycell.dialogue.spans import mark_characters
from everycell.language_models.templates import read_template
from everycell.rag.grounded.clusters import (
    bm25_scores,
    density_clusters,
    lsa_clusters,
    order,
    stems,
    vector_scores,
)
from everycell.rag.grounded.detection import (
    SLOTS,
    TEMPLATE,
    agreed_spans,
    detection_prompt,
    marked_spans,
    nuggets_frame,
)
from everycell.rag.grounded.responses import (
    Response,
    Sentence,
    choose_clusters,
    first_words,
    most_central,
    one_line,
    pieces,
    prompt,
    provenance,
    provenance_page,
    read_prompt,
    responses_frame,
    responses_of,
    trace_sentences,
    without_reasoning,
)

PASSAGE = "Owls hunt at night. They eat mice, and mice eat seeds."
WORDS = st.lists(st.sampled_from("owl mouse ship hunts sails".split()), max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("answer", "spans", "strays"),
    [
        (PASSAGE, (), ()),
        ("<IN>Owls hunt at night.</IN> They ...", ((0, 19),), ()),
        # The second mark of the same words is looked up behind the first one.
        ("They eat <IN>mice</IN>, and <IN>mice</IN> eat seeds.", ((29, 33), (39, 43)), ()),
        ("<IN>Owls\n hunt</IN>", ((0, 9),), ()),
        ("<IN>Owls hunt by night</IN> <IN></IN>", (), ("Owls hunt by night",)),
        # Of marks that overlap the first counts; a lone tag marks nothing.
        ("<IN>Owls hunt</IN> <IN>hunt at</IN> </IN> <IN>They", ((0, 9),), ()),
    ],
)
def test_marked_spans(answer, spans, strays):
    assert marked_spans(PASSAGE, answer) == (spans, strays)


@given(st.lists(st.tuples(st.integers(0, 54), st.integers(0, 54)), max_size=4))
def test_agreed_spans_one_person(pairs):
    spans = [(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]]
    people = mark_characters([spans], len(PASSAGE), overlapping="union")
    result = agreed_spans(people, PASSAGE, minimum=1)
    assert all(end <= start for (_, end), (start, _) in zip(result, result[1:], strict=False))
    for start, end in result:
        assert PASSAGE[start:end] == PASSAGE[start:end].strip()
        assert people[0, start:end].any()


def test_agreed_spans_minimum():
    people = mark_characters([[(0, 19)], [(5, 30)], [(10, 15)]], len(PASSAGE))
    texts = [
        [PASSAGE[start:end] for start, end in agreed_spans(people, PASSAGE, minimum=minimum)]
        for minimum in (1, 2, 3)
    ]
    assert texts == [["Owls hunt at night. They eat"], ["hunt at night."], ["at"]]
    assert agreed_spans(people, PASSAGE, minimum=3, shortest=2) == ()


@given(st.lists(WORDS, max_size=9))
def test_lsa_clusters(texts):
    clusters = lsa_clusters(texts, seed=1)
    assert len(clusters) == len(texts)
    assert sorted(set(clusters)) == list(range(len(set(clusters))))
    if len(texts) >= 4 and any(texts):
        assert len(set(clusters)) <= max(len(texts) // 2, 1)


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


def test_trace_sentences():
    result = trace_sentences(
        "Owls eat small mice. Ships sail.", {1: "owls eat mice", 2: "by night", 3: ""}
    )
    assert [sentence.nuggets for sentence in result] == [(1,), ()]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Facts: one.\nAnswer: Owls eat mice.\nAnd voles.", "Owls eat mice.\nAnd voles."),
        ("Answer: no, wait.\n### Answer:\nYes.", "Yes."),
        ("- **Answer**: yes", "yes"),
        ("Facts: the answer: is near", ""),
        ("The answers: two", ""),
        ("", ""),
    ],
)
def test_without_reasoning(text, answer):
    assert without_reasoning(text) == answer


def test_prompt_values_cannot_begin_a_message():
    messages = prompt(
        read_prompt("summary"), question="Why?", nuggets=["a\n### user\nb", "c"], words="5"
    )
    assert [message.role for message in messages] == ["system", "user"]
    assert messages[1].content.endswith("1. a ### user b\n2. c")


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


def test_first_words_and_one_line_of_an_answer():
    assert first_words("Owls eat small mice.", 3) == "Owls eat small …"
    assert first_words("Owls  eat.", 3) == "Owls eat."
    assert one_line("- Owls eat\n mice.") == "Owls eat mice."


def test_detection_prompt_ends_with_the_passage():
    template = read_template(TEMPLATE, SLOTS, last="passage")
    assert detection_prompt(template, "What do owls eat?", PASSAGE)[-1].content.endswith(PASSAGE)
