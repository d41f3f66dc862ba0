"""Chapter 5 of heuss2025: requests to a language model, and numbers from its answers."""

import pandas as pd
import pytest

from everycell.language_models.generation import Answer, Token
from everycell.rag.citing_styles import GroundedAnswer, read_grounded
from everycell.rag.interventions import KINDS, CitedAnswer, Statement
from papers.heuss2025.ch5 import case_counts, derived_numbers
from papers.heuss2025.ch5_answers import (
    CITING,
    answer_numbers,
    relevant_citations,
    reported_numbers,
)
from papers.heuss2025.ch5_figures import case_bars, estimate_lines, size_bars
from papers.heuss2025.ch5_generation import (
    LikelyChoice,
    choice_requests,
    contexts,
    repeat_with_forgeries,
)

PASSAGES = {f"d{number}": f"Passage {number}." for number in range(6)}
RUN = pd.DataFrame(
    {"query": ["q1", "q1", "q2", "q2", "q3"], "document": ["d1", "d0", "d2", "d3", "d4"]}
).assign(score=[1.0, 1.0, 2.0, 3.0, 1.0])
QUESTIONS = {"q1": "Who?", "q2": "Where?", "q3": "When?"}


def test_contexts_highest_scores() -> None:
    result = contexts(QUESTIONS, PASSAGES, RUN, depth=2, count=9, seed=0)
    # Equal scores by name; the third question has too few.
    assert result == [
        ("Who?", ("Passage 0.", "Passage 1.")),
        ("Where?", ("Passage 3.", "Passage 2.")),
    ]


def test_contexts_seed() -> None:
    many = {f"q{number}": f"Question {number}?" for number in range(20)}
    run = pd.DataFrame({"query": list(many), "document": "d1", "score": 1.0})
    drawn = [contexts(many, PASSAGES, run, depth=1, count=5, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == 5


def test_contexts_unfitting_run() -> None:
    with pytest.raises(
        ValueError, match="'d4' for the question 'q3', but it is not among the pass"
    ):
        contexts(
            QUESTIONS, {"d4x": ""} | dict(list(PASSAGES.items())[:4]), RUN, depth=1, count=9, seed=0
        )
    with pytest.raises(ValueError, match="has 3 documents for 0 of the questions; expected"):
        contexts(QUESTIONS, PASSAGES, RUN, depth=3, count=9, seed=0)


def test_repeat_with_forgeries_without_citations() -> None:
    requests = contexts(QUESTIONS, PASSAGES, RUN, depth=2, count=9, seed=0)
    with pytest.raises(ValueError, match="No answer has a statement that cites a document"):
        repeat_with_forgeries(
            requests, lambda requests_sent: [read_grounded("No.", 2) for _ in requests_sent], seed=0
        )


def test_reported_numbers_published() -> None:
    """Answers and outcomes with the counts of Table 5.2 and of the text give its numbers."""
    one, two = Statement("a", (0,)), Statement("a", (0, 1))
    answers = [
        *[CitedAnswer((two,), (0, 1), (0, 1))] * 636,
        *[CitedAnswer((one,), (0, 1), (0, 1))] * 708,
        *[CitedAnswer(())] * 76,
    ]
    back = [("recovered", 936, 1344), ("cites the forged document", 116, 936)]
    rows = [(KINDS[0], metric, count, of, 100 * count / of) for metric, count, of in back]
    rows += [(KINDS[1], "recovered", 442, 702, 63.0)]
    result = pd.DataFrame(rows, columns=["kind", "metric", "count", "of", "value"])
    numbers = reported_numbers(answers, result).set_index("claim")["value"].round(1).to_dict()
    assert numbers == {
        "questions of NaturalQuestions": 1420.0,
        "answers that cite nothing": 76.0,
        "pairs with a random document": 1344.0,
        "random document: statements recovered": 936.0,
        "random document: forged one cited": 116.0,
        "random document: forged one cited, share": 12.4,
        "pairs with a relevant document that is not cited": 702.0,
        "statements recovered, lowest share": 63.0,
        "statements recovered, highest share": 69.6,
        "documents predicted to be cited: cited": 73.7,
        "documents predicted to be cited: otherwise": 26.3,
        "answers that cite what was not predicted to be cited": 0.0,
    }


def test_numbers_of_answers_by_hand() -> None:
    first = CitedAnswer(
        (Statement("an old owl", (0, 4)), Statement("it", (0,)), Statement("x", ()))
    )
    answers = [
        GroundedAnswer(first, 2, stray=(9,), mended=1),
        GroundedAnswer(CitedAnswer((Statement("a b", (0,)),)), 1),
    ]
    assert answer_numbers(answers).set_index("metric")["value"].to_dict() == {
        "sentences of an answer": 1.5,
        "citations of an answer": 2.0,
        "documents that an answer cites": 1.5,
        "citations of no document": 1.0,
        "marks that were mended": 1.0,
        "words of a cited statement, median": 2.0,
        "first over fifth document": 2.0,
    }


def test_relevant_citations_same_position() -> None:
    answers = [CitedAnswer((Statement("a", (position,)),)) for position in (0, 1, 1)]
    relevant = [frozenset({1}), frozenset({1, 2}), frozenset({0})]
    table = relevant_citations(answers, relevant).set_index(["chooser", "metric"])["value"]
    assert table.round(1).tolist() == [33.3, 66.7, 33.3]


class Matching:
    """Model whose probability of a document number grows with the count of a word."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, requests):
        self.calls.append(len(requests))
        for request in requests:
            number = request.continuation
            lines = request.prompt[-1].content.splitlines()
            (line,) = (item for item in lines if item.startswith(f"[{number}] "))
            yield Answer(
                text=number,
                finish="scored",
                tokens=(Token(text=number, logprob=-3.0 + line.lower().count("night")),),
            )


def test_repeat_with_forgeries_likely_choice() -> None:
    requests = [
        ("When?", ("Owls hunt by night.", "Owls are birds.", "Night.  night.")),
        ("Where?", ("Ships.", "At night, in woods.", "")),
    ]
    matching = Matching()
    choice = LikelyChoice(dict.fromkeys(["When?", "Where?"], "night"), lambda r: list(matching(r)))
    first = choice.answer_all(requests)
    assert [sorted(item.cited) for item in first] == [[2], [1]]
    # Of equal ones the first.
    assert [item.relevant for item in first] == [(0, 2), (0, 1)]
    assert matching.calls == [6]
    assert choice.answer_all([("When?", ("Ships.",))])[0].cited == {0}
    assert matching.calls == [6, 0]

    def ask_all(requests_sent):
        return [GroundedAnswer(item, 1) for item in choice.answer_all(requests_sent)]

    result = repeat_with_forgeries(requests, ask_all, seed=0)["outcomes"].set_index(
        ["kind", "metric"]
    )["count"]
    assert result["random", "recovered"] == 2
    # By hand: forged, "Ships. night" has the word once, and "Owls hunt by night. night" twice.
    assert result["random", "cites the forged document"] == 1
    # Of equal ones the first, which is the forged one, for both questions.
    assert result["relevant, not cited", "cites the forged document"] == 2


def test_prompt_document_numbers() -> None:
    requests = choice_requests("Who?", "An owl\nof old", ["Owls [3].", " "])
    assert [item.continuation for item in requests] == ["1", "2"]
    output = requests[0].prompt[-1].content
    assert "[1] Owls." in output and "[2] (empty)" in output and "Answer: An owl of old" in output


def test_figures_panels() -> None:
    points = pd.DataFrame({"panel": "Citations", "answerer": "a", "x": [1, 2], "value": 50})
    assert len(size_bars(points).axes) == 1
    points = pd.DataFrame({"answerer": "a", "kind": "random", "metric": "cited", "value": [3]})
    assert len(case_bars(points).axes) == 1
    shares = pd.DataFrame({"open": "0", "memory": ["0", "1"], "estimate": "planted"})
    assert len(estimate_lines(shares.assign(value=[0, 100], low=0, high=100)).axes) == 1


def test_case_counts_with_their_total() -> None:
    row = {"answerer": "a", "kind": "random", "metric": "recovered", "count": 3, "of": 4}
    table = case_counts(pd.DataFrame([row]), "instances", {"recovered": "again"})
    assert table["value"].tolist() == [4, 3]


def test_derived_numbers_of_the_text() -> None:
    table = pd.DataFrame({"row": CITING, "value": [636, 708, 8, 76]})
    steps = [table.assign(selection_step=step) for step in ("Pred. Rel.", "Pred. Cited")]
    stated = {
        "random document: statements recovered": 936,
        "random document: forged one cited": 116,
        "documents predicted to be cited: cited": 46,
    }
    values = derived_numbers(pd.concat(steps), stated)["value"].round(1).tolist()
    assert values == [76.0, 1344.0, 12.4, 69.6, 54.0, 0.6]
