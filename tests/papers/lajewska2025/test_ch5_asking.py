"""Language models that are asked about passages and rankings: cases, prompts, answers, accuracy."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from everycell.language_models import templates
from everycell.language_models.generation import Answer
from everycell.language_models.settings import Decoding
from papers.lajewska2025 import ch5_asking
from papers.lajewska2025.ch5_asking import (
    SETUPS,
    SLOTS,
    accuracies,
    finds_answer,
    passage_cases,
    predictions,
    ranking_cases,
)

ROOM = Path(ch5_asking.__file__).parent
PASSAGE, RANKING, TWO_SHOT = SETUPS
#: Two questions; the first has four passages and an answer in one of them.
TEST = pd.DataFrame(
    {
        "turn_id": ["q1"] * 4 + ["q2"] * 3,
        "question": ["Why?"] * 4 + ["When?"] * 3,
        "passage_id": ["a", "b", "c", "d", "e", "f", "g"],
        "passage": [f"Text {name}." for name in "abcdefg"],
        "answerable": [True, False, False, False, False, False, False],
    }
)


@pytest.mark.parametrize(
    ("answer", "is_positive"),
    [
        ("1", True),
        (" 1.", True),
        ("Yes", True),
        ("0", False),
        (" 0", False),
        ("No answer", False),
        ("It is not given", False),
        ("", False),
        ("<think>0 or 1?</think>1", True),
        ("note: 1", True),
    ],
)
def test_finds_answer_rule(answer, is_positive):
    assert finds_answer(answer) is is_positive


def test_ranking_cases_subsets():
    cases = ranking_cases(TEST)
    assert cases["turn_id"].tolist() == ["q1"] * 4 + ["q2"]
    assert cases["passages"].tolist() == ["a b c", "a b d", "a c d", "b c d", "e f g"]
    assert cases["answerable"].tolist() == [True, True, True, False, False]
    assert cases["text"].iloc[-1] == "Text e.\nText f.\nText g."


def _recorder(sent, reply):
    def answer_all(requests):
        sent.extend(requests)
        return [Answer(text=reply(request), finish="stop") for request in requests]

    return answer_all


@pytest.mark.parametrize(
    ("name", "messages"),
    [("passage", 2), ("ranking", 2), ("ranking_examples", 6)],
)
def test_predictions_prompts(name, messages):
    """The last message has question and text; two-shot prompts have a negative example first."""
    sent = []
    cases = passage_cases(TEST)
    predicted = predictions(
        cases,
        _recorder(sent, lambda request: "1" if "Text a." in request.prompt[-1].content else "0"),
        ROOM / f"ch5_asked_{name}.txt",
        Decoding(max_tokens=4, temperature=0.0),
    )
    assert predicted == [True] + [False] * 6
    assert [len(request.prompt) for request in sent] == [messages] * 7
    last = sent[4].prompt[-1].content
    assert "When?" in last and last.endswith("Text e.")
    answers = [message.content for message in sent[0].prompt if message.role == "assistant"]
    assert answers == (["0", "1"] if messages == 6 else [])


def test_templates_same_instruction():
    """Both prompts about rankings have the same instruction."""
    zero, two = (
        templates.fill(
            templates.read_template(ROOM / f"ch5_asked_{name}.txt", SLOTS, last="text"),
            question="q",
            text="t",
        )
        for name in ("ranking", "ranking_examples")
    )
    assert zero[0] == two[0] and zero[-1] == two[-1]


def test_accuracies_by_hand():
    passages = passage_cases(TEST).assign(
        setup=PASSAGE, predicted=[True, True, False, False, False, True, True]
    )
    rankings = ranking_cases(TEST).assign(predicted=[True, False, True, True, True])
    answers = pd.concat([passages, rankings.assign(setup=RANKING)])
    cells = accuracies(answers, [0.33, 0.66]).set_index(["setup", "aggregation", "metric"])["value"]
    assert cells[PASSAGE, "", "cases"] == 7
    assert cells[PASSAGE, "", "accuracy"] == pytest.approx(4 / 7)
    assert cells[PASSAGE, "", "always an answer"] == pytest.approx(1 / 7)
    assert cells[RANKING, "", "accuracy"] == pytest.approx(2 / 5)
    # Decisions per ranking: 2, 2, 1, 1 and 2 of three passages; three rankings have an answer.
    assert cells[PASSAGE, "mean, T=0.33", "accuracy"] == pytest.approx(3 / 5)
    assert cells[PASSAGE, "mean, T=0.66", "accuracy"] == pytest.approx(3 / 5)
    assert TWO_SHOT not in cells.index.get_level_values(0)


def test_accuracies_threshold():
    """One of three passages reaches the lower threshold only."""
    passages = passage_cases(TEST.iloc[:3]).assign(setup=PASSAGE, predicted=[True, False, False])
    cells = accuracies(passages, [0.33, 0.66]).set_index(["aggregation", "metric"])["value"]
    assert cells["mean, T=0.33", "accuracy"] == 1
    assert cells["mean, T=0.66", "accuracy"] == 0
