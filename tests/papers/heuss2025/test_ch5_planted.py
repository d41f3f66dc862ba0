"""Readers with known behaviour, and counts of their answers."""

import pytest

from everycell.base.errors import DataError
from everycell.rag.interventions import (
    CitedAnswer,
    Statement,
)
from papers.heuss2025.ch5_answers import answer_sizes, selection_counts
from papers.heuss2025.ch5_planted import (
    PlantedReader,
    estimates,
    experiment,
    planted_question,
    planted_questions,
)


@pytest.mark.parametrize(("memory", "openness"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.4), (1.0, 0.0)])
def test_outcomes_of_planted_readers(memory, openness):
    questions = planted_questions(150, seed=4)
    reader = PlantedReader(memory=memory, open=openness, seed=4)
    tried = experiment(questions, reader, seed=4)
    result = estimates(tried).set_index("estimate")
    planted = result.loc["planted", "value"]
    remaining = result.loc["stays without its words"]
    # The interval of 95 %, half as wide again: four cases are looked at.
    slack = 0.5 * (remaining["high"] - remaining["low"])
    assert remaining["low"] - slack <= planted <= remaining["high"] + slack
    fooled = result.loc["cites the forged document", "value"]
    expected = reader.matching * planted + openness * (100 - planted)
    assert fooled == pytest.approx(expected, abs=10)
    if memory == openness == 0:
        assert fooled == remaining["value"] == 0


def test_planted_reader_sources():
    question = planted_question("q7", seed=1)
    steady = PlantedReader(memory=0.5, steady=1.0, matching=1.0, seed=2)
    sources = dict(zip(dict(question.claims), steady.sources(question), strict=True))
    assert set(sources.values()) == {"memory", "closed"}
    message = {item.text for item in steady.answer(question, ["nothing"]).statements}
    assert message == {text for text, source in sources.items() if source == "memory"}


def test_selection_counts():
    answers = [
        CitedAnswer((Statement("a b", (0, 1)),), relevant=(0, 1), to_cite=(0,)),
        CitedAnswer((Statement("c", (0,)),), relevant=(0, 1), to_cite=(0, 2)),
        CitedAnswer((Statement("d", ()),), relevant=(0,), to_cite=(0,)),
    ]
    table = selection_counts(answers).pivot(index="row", columns="selection_step", values="value")
    assert table["Pred. Rel."].to_dict() == {
        "Cited all selected documents": 1,
        "Cited less than all selected documents": 1,
        "Cited not selected documents": 0,
        "Cited nothing": 1,
    }
    assert table.loc["Cited not selected documents", "Pred. Cited"] == 1
    sizes = answer_sizes(answers).groupby("panel", sort=False)
    shares = {panel: dict(zip(rows["x"], rows["value"], strict=True)) for panel, rows in sizes}
    assert shares["citations"] == pytest.approx({0: 100 / 3, 1: 100 / 3, 2: 100 / 3})
    assert shares["words"] == {1: 50, 2: 50}
    assert shares["places"] == pytest.approx({1: 200 / 3, 2: 100 / 3})


@pytest.mark.parametrize("name", ["memory", "open", "matching", "steady", "selecting"])
def test_planted_reader_invalid(name):
    with pytest.raises(DataError) as caught:
        PlantedReader(**({"memory": 0.5} | {name: 1.5}))
    assert (caught.value.column, caught.value.value) == (name, 1.5)
