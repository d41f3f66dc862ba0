"""All tables of the chapter on attribution, and their controls, from one frame of answers."""

from __future__ import annotations

import pandas as pd
import pytest
from harness import published

from everycell.rag.prompts import Question
from everycell.records.papers import find_artefact
from papers.abolghasemi2026.ch5 import (
    APPENDIX,
    MIXED,
    MODE,
    ChapterTable,
    chapter_tables,
    interval_table,
    measured_bias,
    measured_quality,
    melt_measures,
    select_generators,
    size_note,
)
from papers.abolghasemi2026.ch5_answers import check_answers, cite_always_first, collect_answers
from papers.abolghasemi2026.ch5_arms import (
    CONDITION_COLUMNS,
    OPPOSITE_ARMS,
    PLAIN_ARMS,
    displayed_author,
    present_questions,
    study_settings,
)
from papers.abolghasemi2026.ch5_comparisons import NO_CITATION, NOT_RUN
from papers.abolghasemi2026.ch5_controls import PlantedControl, make_controls
from papers.abolghasemi2026.ch5_requests import Benchmark

K, DEPTHS, OTHERS = 4, (2, 4), ("SPLADE", "dense")
CONTROLS = make_controls([0.0, 2.0], {"skill": 1.0, "base": -1.0}, seed=3)
#: A generator that never cites.
SILENT = PlantedControl(0.0, skill=0.0, base=-1000.0)
#: Tables of both data sets, by the appendix'.
HALVES = {"table_5_10": "table_5_6", "table_5_11": "table_5_1", "table_5_13": "table_5_12"}

# All answers of the chapter take seconds.
pytestmark = pytest.mark.slow


def answers(generator, name, dataset, settings, n):
    def questions(setting, arm):
        documents = tuple("abcdefghij"[: setting.k])
        return [Question(f"q{i:04}", documents, i % setting.k + 1) for i in range(n)]

    benchmark = Benchmark(dataset, {"Human": {letter: "A letter." for letter in "abcdefghij"}})
    output = present_questions(settings, questions)
    return collect_answers(generator, output, benchmark).assign(generator=name)


@pytest.fixture(scope="module")
def tables():
    """All that the chapter asks, of two controls and one that cites nothing, on both data sets."""
    settings = study_settings(K, DEPTHS, other_retrievers=OTHERS)
    frame = check_answers(
        pd.concat(
            answers(generator, name, dataset, settings, n=24)
            for dataset in ("NQ", APPENDIX)
            for name, generator in {**CONTROLS, "silent": SILENT}.items()
        )
    )
    reference = cite_always_first(frame[frame["generator"] == "planted 2"])
    return chapter_tables(frame, reference, seed=1)


def test_chapter_tables_published_columns(tables, repository):
    papers = published()
    table_names = {f"table_5_{number}" for number in range(1, 16)}
    assert set(tables) == table_names | {"figure_5_9"}
    for name in table_names:
        columns = list(find_artefact(papers, f"abolghasemi2026/{name}").cells.columns)
        assert tables[name].keys == columns[: columns.index("metric")], name


def test_chapter_tables_unique_cells(tables):
    for name, table in tables.items():
        assert not table.rows.empty, name
        # All rows of a table have the same values of keys without a column.
        assert not table.rows.duplicated([*table.keys, "metric"]).any(), name


def test_chapter_tables_appendix(tables):
    for name, other in HALVES.items():
        assert set(tables[name].rows["dataset"]) == {APPENDIX}
        assert set(tables[other].rows["dataset"]) == {"NQ"}
        # The questions are the same, and draws of controls do not depend on the data set.
        columns = [*tables[name].keys[1:], "metric", "value"]
        assert tables[name].rows[columns].values.tolist() == (
            tables[other].rows[columns].values.tolist()
        )


def test_chapter_tables_opposite_labels(tables):
    keys = [*MIXED, "metric"]
    rows = tables["table_5_4"].rows.set_index(keys)["value"]
    longer = tables["table_5_14"].rows.set_index(keys)["value"]
    assert rows.to_dict() == longer.loc[rows.index].to_dict()
    output = tables["table_5_4"].rows[[*OPPOSITE_ARMS[0]._fields]].drop_duplicates()
    assert set(output.itertuples(index=False, name=None)) == set(OPPOSITE_ARMS)
    assert len(longer) == 5 * len(rows)


def test_chapter_tables_retrievers_and_depths(tables):
    assert set(tables["table_5_9"].rows["retriever"]) == set(OTHERS)
    assert set(tables["figure_5_9"].rows["k"]) == set(DEPTHS)
    for name in ("table_5_9", "figure_5_9"):
        kinds = {metric.partition(" ")[0] for metric in tables[name].rows["metric"]}
        assert kinds == {"CAS", "CAB"}, name


def test_chapter_tables_without_markers(tables):
    bare = {name for name, table in tables.items() if "marker" not in table.rows}
    assert bare == {"table_5_14", "table_5_15"}


def test_chapter_tables_reference(tables):
    having = {
        name
        for name, table in tables.items()
        if table.rows["generator"].str.startswith("always").any()
    }
    assert having == {f"table_5_{number}" for number in (1, 4, 11, 14, 15)}


@pytest.fixture(scope="module")
def measured():
    """Two controls and one without citations, with their expected values, on many questions."""
    known = {**CONTROLS, "silent": SILENT}
    settings = study_settings(K, ())[:1]
    parts = [answers(item, name, "NQ", settings, n=150) for name, item in known.items()]
    # A generator without expected values.
    parts.append(parts[0].assign(generator="model"))
    frame = check_answers(pd.concat(parts))
    depth = dict.fromkeys(known, K)
    result = chapter_tables(frame, frame[:0], seed=1)
    return {
        "bias": measured_bias(result, known, depth),
        "quality": measured_quality(result, known, depth),
    }


def test_measured_quality_without_citations(measured):
    for table in measured.values():
        assert set(table["generator"]) >= set(CONTROLS)
        assert "model" not in set(table["generator"])
        assert NO_CITATION not in set(table["value"])
        assert (table["measured"] == table["value"]).all()
    # The silent one has a recall of 0, and no precision, confidence or bias.
    assert "silent" not in set(measured["bias"]["generator"])
    silent = measured["quality"].query("generator == 'silent'")
    assert set(silent["metric"]) == {"attribution recall", "avg cited total"}
    assert (silent[["measured", "expected"]] == 0).all(axis=None)


def test_measured_bias_expected_by_preference(measured):
    bias = measured["bias"]
    assert set(bias["preference"]) == {0.0, 2.0}
    # Tables 5.3 and 5.5: documents of two origins and of one, by both kinds of authors.
    assert len(bias) == 2 * 4 * 2
    for row in bias.itertuples():
        assert row.expected == CONTROLS[row.generator].expected_bias(K)[row.metric]
        assert row.measured == pytest.approx(row.expected, abs=row.high - row.low + 1e-9)
    assert bias.groupby("preference")["expected"].min().gt(0).tolist() == [False, True]


def test_measured_quality_displayed_labels(measured):
    quality = measured["quality"]
    assert "p" not in quality
    metrics = {
        "attribution precision",
        "attribution recall",
        "avg cited total",
        "AC relevant",
        "AC non-relevant",
    }
    rows = quality.query("generator == 'planted 2'")
    assert set(rows["metric"]) == metrics and len(rows) == len(PLAIN_ARMS) * len(metrics)
    for row in rows.itertuples():
        message = [
            displayed_author(author, row.rag_mode)
            for author in (row.relevant_author, row.nonrelevant_author)
        ]
        expected = CONTROLS["planted 2"].expected_measures(
            K, relevant=message[0], nonrelevant=message[1]
        )
        assert row.expected == expected[row.metric]
        assert row.measured == pytest.approx(row.expected, abs=row.high - row.low + 1e-9)
    # Whoever wrote it: what counts is whom the prompt names.
    recall = rows[rows["metric"] == "attribution recall"].set_index(
        [*CONDITION_COLUMNS[2:], "rag_mode"]
    )
    expected = recall["expected"]
    assert expected["LLM", "Human", "CF-informed"] == expected["Human", "LLM", "Informed"]
    assert expected["LLM", "Human", "CF-informed"] > expected["LLM", "Human", "Informed"]


def test_of_generators_not_run():
    rows = pd.DataFrame({"generator": ["a", "b", "b"], "metric": "AC", "p": 0.2})
    table = ChapterTable(["generator"], rows.assign(value=[1.0, 2.0, NOT_RUN]))
    assert table.of_generators(["b"], all_run=True).values.tolist() == [["b", "AC", 2.0]]


def test_interval_table_one_row_per_number():
    setting = {"dataset": "NQ", "generator": "toy", "retriever": "BM25", "relevant_author": "LLM"}
    setting |= {"nonrelevant_author": "Human", "k": 2, "rag_mode": "Vanilla"}
    setting |= {"mode_relevant": "", "mode_nonrelevant": "", "metric": "AC relevant"}
    numbers = {"value": 0.5, "low": 0.25, "high": 0.75, "p": None, "citations": 7, "pairs": None}
    table = interval_table({"table_5_6": ChapterTable(MODE, pd.DataFrame([setting | numbers]))})
    assert table[["table", "measure", "metric", "value"]].values.tolist()[:2] == [
        ["Table 5.6", "AC relevant", "value", 0.5],
        ["Table 5.6", "AC relevant", "low", 0.25],
    ]


def test_size_note_without_probabilities():
    answers = pd.DataFrame({"query": ["q1", "q2"], "dataset": "NQ", "generator": "toy", "k": 2})
    answers = answers.assign(retriever="BM25", relevant_author="LLM", nonrelevant_author="Human")
    note = size_note(answers, pd.DataFrame({"generator": ["toy"], "value": [NOT_RUN]}))
    assert note == ("2 questions per row, 2 documents per question; no probabilities from toy")


def test_select_generators_without_published_ones():
    answers = pd.DataFrame({"generator": ["toy", "planted 0"]})
    selected = select_generators(answers, answers["generator"] != "toy", None)
    assert selected == {"all": ["toy"]}


def test_melt_measures_measured_and_expected():
    table = pd.DataFrame({"generator": ["toy"], "metric": ["CAB"], "value": [1]})
    assert melt_measures(
        table.assign(measured=1.0, expected=2.0), ["generator"]
    ).values.tolist() == [
        ["toy", "CAB", "measured", 1.0],
        ["toy", "CAB", "expected", 2.0],
    ]
