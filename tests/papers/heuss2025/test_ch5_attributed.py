"""Attributors of known mechanism: whom the test on forged documents finds, and whom it does not."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from everycell.rag.interventions import outcomes
from papers.heuss2025.ch5_attributed import OracleReader, VectorMatcher, WordMatcher, run_trials
from papers.heuss2025.ch5_questions import RetrievedQuestion, select_questions

QUESTIONS = [
    RetrievedQuestion(
        f"who wrote book{number}",
        f"author{number}",
        (
            f"book{number} is by author{number}.",
            f"A text that names book{number} and who wrote it.",
            f"Other words{number}.",
        ),
        frozenset({f"book{number} is by author{number}."}),
    )
    for number in range(8)
]
RIGHT = {question.text: question.answer for question in QUESTIONS}


def by_topic(texts):
    """Vectors that know of a text which book it is about, and no author."""
    rows = []
    for text in texts:
        row = np.full(9, 0.01)
        for number in range(8):
            row[number] += 10.0 * (f"book{number}" in text)
        rows.append(row / np.linalg.norm(row))
    return np.array(rows)


def outcomes_of(attributor) -> pd.Series:
    table = outcomes(run_trials(QUESTIONS, attributor.answer, seed=0))
    return table.set_index(["kind", "metric"])["value"]


def test_word_matcher_forged():
    values = outcomes_of(WordMatcher(RIGHT))
    assert values["random", "cites the forged document"] == 100
    assert values["random", "statement removed"] == 100


def test_vector_matcher_question():
    values = outcomes_of(VectorMatcher(RIGHT, by_topic, cited=1, relevant=2))
    assert values["random", "cites the forged document"] == 0
    # Words of the answer change nothing in these vectors: the first of two alike is cited.
    assert values["relevant, not cited", "cites the forged document"] == 0
    assert values["random", "statement removed"] == 100


def test_oracle_reader_forged():
    values = outcomes_of(
        OracleReader(RIGHT, {question.text: question.relevant for question in QUESTIONS})
    )
    assert values["random", "recovered"] == 100
    assert values["random", "cites the forged document"] == 0
    assert values["random", "statement removed"] == 0


def test_word_matcher_empty_answer():
    matcher = WordMatcher({"q": "the"})
    assert matcher.answer("q", ["the text"]).cited == frozenset()


@pytest.fixture
def pool():
    questions = pd.DataFrame(
        {
            "query": list("abcd"),
            "text": ["qa", "qb", "qc", "qd"],
            "answers": [["no", "Owl"], ["mouse"], ["ship"], ["owl"]],
        }
    )
    relevant = pd.DataFrame({"query": list("abcd"), "document": ["1", "1", "2", "3"]})
    passages = {"1": "An owl!", "2": "Bees.", "3": "Owls, an owl."}
    run = pd.DataFrame(
        [(q, d, s) for q in "abc" for d, s in (("1", 2.0), ("2", 1.0), ("3", 0.0))]
        + [("d", "1", 1.0), ("d", "2", 1.0), ("d", "3", 0.5)],
        columns=["query", "document", "score"],
    )
    return questions, relevant, passages, run


def test_questions_need_a_right_answer_in_a_relevant_document_that_was_retrieved(pool):
    outcomes_of = select_questions(*pool, depth=2, count=9, seed=1)
    # b and c have no right answer in their document, d has not retrieved its own.
    assert outcomes_of == [
        RetrievedQuestion("qa", "Owl", ("An owl!", "Bees."), frozenset({"An owl!"}))
    ]
    assert len(select_questions(*pool, depth=3, count=9, seed=1)) == 2
    assert len(select_questions(*pool, depth=3, count=1, seed=1)) == 1
