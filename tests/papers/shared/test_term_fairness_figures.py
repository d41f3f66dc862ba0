"""Fairness over the depth of rankings: numbers, figures, and the published example."""

import numpy as np
import pandas as pd
import pytest
from harness import published

from everycell.metrics.nfairr import TAU
from everycell.metrics.term_counts import count_terms
from everycell.records.papers import find_artefact
from everycell.render.palette import COLOURS
from everycell.trec.runs import write_run
from everycell.verdicts.verdicts import report
from papers.shared.term_fairness import example_cells, example_measures, measure_name
from papers.shared.term_fairness_figures import (
    document_against_list_fairness,
    documents_in_lists,
    fairness_over_depth,
)
from papers.shared.term_fairness_planted import SYSTEMS, plant_bias
from papers.shared.term_fairness_rankers import (
    MEASURES,
    RankedSystem,
    compare_with_truth,
    fairness_at_cutoffs,
    mean_curves,
    most_sensitive,
    sensitivity,
)

DEPTH = 12


@pytest.fixture(scope="module")
def planted():
    return plant_bias(queries=3, depth=DEPTH, seed=5)


@pytest.fixture(scope="module")
def fairness(planted, tmp_path_factory):
    """Return the measures of all planted systems, from files as a workflow has them."""
    folder = tmp_path_factory.mktemp("planted")
    texts = planted.documents.itertuples(index=False, name=None)
    counts = folder / "counts.parquet"
    count_terms(texts, planted.words, counts)
    systems = []
    for system, run in planted.runs.items():
        file = folder / f"{system}.run"
        write_run(run, file, tag=system)
        systems.append(RankedSystem("a set", system.upper(), counts, file))
    return fairness_at_cutoffs(systems, range(1, DEPTH + 1), TAU)


def test_compare_with_truth_planted_values(planted, fairness):
    truth = planted.truth.assign(system=planted.truth["system"].str.upper())
    table = compare_with_truth(fairness, truth, cutoff=10)
    assert set(table["measure"]) <= set(MEASURES.values())
    assert set(table["system"]) == set(truth["system"])
    assert table["difference"].max() < 1e-12
    off = truth.assign(NFaiRR=truth["NFaiRR"] + (truth["k"] == 3) * 0.25)
    moved = compare_with_truth(fairness, off, cutoff=10)
    wrong = moved[moved["measure"] == "NFaiRR"]
    assert wrong["difference"].tolist() == pytest.approx([0.25] * len(wrong))
    assert wrong["value"].to_numpy() == pytest.approx(wrong["value_planted"].to_numpy())


def test_fairness_at_cutoffs_planted_values(planted, fairness):
    truth = planted.truth.assign(system=planted.truth["system"].str.upper())
    keys, names = ["system", "query", "k"], list(MEASURES)
    measured = fairness.set_index(keys)[names].sort_index()
    expected = truth.set_index(keys)[names].sort_index()
    assert len(measured) == len(SYSTEMS) * 3 * DEPTH
    pd.testing.assert_frame_equal(measured, expected, atol=1e-12, rtol=0)
    assert set(fairness["query_set"]) == {"a set"}


def test_fairness_at_cutoffs_alternating_documents(fairness):
    deepest = fairness[fairness["k"] == DEPTH].groupby("system")[["NFaiRR", "TExFAIR"]].mean()
    assert deepest.loc["ALTERNATING", "NFaiRR"] == pytest.approx(0)
    assert deepest.loc["ALTERNATING", "TExFAIR"] > 0.85
    assert deepest.loc["ONE-SIDED"].tolist() == pytest.approx([0, 0])


def test_mean_curves_missing_values(fairness):
    curves = mean_curves(fairness)
    points = curves.groupby(["measure", "system"]).size()
    assert points["NFaiRR", "NEUTRAL"] == DEPTH
    # The first three documents of "sparse" have no term.
    assert points["TExFAIR (without RBDF)", "SPARSE"] == DEPTH - 3
    assert ("TExFAIR (without RBDF)", "NEUTRAL") not in points.index
    drawn = fairness[(fairness["system"] == "DRAWN") & (fairness["k"] == 7)]
    point = curves[(curves["system"] == "DRAWN") & (curves["k"] == 7)].set_index("measure")
    assert point.loc["NFaiRR", "value"] == pytest.approx(drawn["NFaiRR"].mean())
    assert curves["system"].drop_duplicates().tolist() == [name.upper() for name in SYSTEMS]


def lines(query_set, system, **values):
    return [
        (query_set, system, measure, k, value)
        for measure, curve in values.items()
        for k, value in enumerate(curve, 1)
        if value is not None
    ]


CURVES = pd.DataFrame(
    [
        *lines("QS1", "s", A=[0.1, 0.4, 0.3, 0.3], B=[None, 0.5, 0.5, 0.9]),
        *lines("QS1", "t", A=[0.2, 0.2, 0.2, 0.2], B=[0.2, 0.2, 0.2, 0.2]),
        *lines("QS2", "t", A=[0.2, 0.8, 0.2, 0.8], B=[0.2, 0.2, 0.2, 0.2]),
    ],
    columns=["query_set", "system", "measure", "k", "value"],
)


def test_sensitivity_by_hand():
    rows = sensitivity(CURVES)[["query_set", "system", "measure", "value"]]
    changes = {tuple(position): value for *position, value in rows.itertuples(index=False)}
    expected = {("QS1", "t", "A"): 0, ("QS1", "t", "B"): 0, ("QS2", "t", "A"): 0.6}
    # From k = 2 on: |0.3 - 0.4| and 0; 0 and |0.9 - 0.5|.
    expected |= {("QS1", "s", "A"): 0.05, ("QS1", "s", "B"): 0.2, ("QS2", "t", "B"): 0}
    assert changes == pytest.approx(expected)


def test_sensitivity_too_few_cutoffs():
    short = CURVES[(CURVES["measure"] == "A") | (CURVES["k"] == 4) | (CURVES["system"] == "t")]
    changes = sensitivity(short)
    assert set(changes["system"] + changes["query_set"]) == {"tQS1", "tQS2"}


def test_most_sensitive_per_query_set():
    maximum = most_sensitive(sensitivity(CURVES))
    assert maximum.sort_values("query_set", kind="stable").to_numpy().tolist() == [
        ["QS1", "A", "lower"],
        ["QS1", "B", "highest"],
        ["QS2", "A", "highest"],
        ["QS2", "B", "lower"],
    ]


def test_most_sensitive_lists_that_end_without_terms(fairness):
    # "fading" has its terms in the first documents alone: without RBDF nothing changes there.
    for systems, measure in ((SYSTEMS, "(without RBDF)"), (["fading"], "(with RBDF)")):
        part = fairness[fairness["system"].isin([name.upper() for name in systems])]
        maximum = most_sensitive(sensitivity(mean_curves(part)))
        highest = maximum.loc[maximum["value"] == "highest", "measure"]
        assert f"TExFAIR {measure}" in set(highest)
        assert (measure == "(without RBDF)") == (len(highest) == 1)


def test_published_rankers_of_both_papers():
    # The rules give one set of names, under which the cells of both are looked up.
    papers = published()
    for thesis, paper, rankers in (("table_4_1", "table_1", 11), ("table_4_2", "table_2", 4)):
        names = [
            list(dict.fromkeys(find_artefact(papers, key).cells["row"]))
            for key in (f"abolghasemi2026/{thesis}", f"abolghasemi2024/{paper}")
        ]
        assert names[0] == names[1]
        assert len(names[0]) == rankers


def test_example_measures_published_values():
    artefact = find_artefact(published(), "abolghasemi2026/figure_4_1")
    values = example_measures(artefact.input_cells(), [TAU, 0])
    result = report(artefact, "embedded", example_cells(artefact.input_cells(), values, 0))
    assert result.verdicts["equal"] == 2 and result.verdicts["quoted"] == 8
    assert not artefact.record.errata and "tau" in artefact.record.explanation
    by_measure = values.set_index(["measure", "list"])["value"].round(3)
    assert by_measure[measure_name(0)].tolist() == [0, 0]
    assert by_measure[measure_name(TAU)].tolist() == [1, 1]
    assert by_measure["TExFAIR"].tolist() == [0.883, 0]


DOCUMENTS = pd.DataFrame(
    {"list": ["l", "l", "r", "r"], "rank": [2, 1, 1, 2], "group": ["F", "M", "M", "M"]}
)
VALUES = pd.DataFrame(
    {"list": ["l", "r", "l", "r"], "measure": ["N", "N", "T", "T"], "value": [0, 0, 0.883, 0]}
)
GROUPS = {"F": "she", "M": "he"}


def test_documents_in_lists_marks():
    figure = documents_in_lists(DOCUMENTS, VALUES, GROUPS)
    left, right, below, _ = figure.axes
    looks = [
        {
            round(bar.get_y() + bar.get_height() / 2): (bar.get_facecolor(), bar.get_hatch())
            for bar in axis.patches
        }
        for axis in (left, right)
    ]
    assert looks[0][1] == looks[1][1] == looks[1][2]  # documents of one group
    assert all(one != other for one, other in zip(looks[0][1], looks[0][2], strict=True))
    assert left.get_ylim()[0] > left.get_ylim()[1]  # the best on top
    texts = {round(text.get_position()[1]): text.get_text() for text in left.texts}
    assert texts == {1: "he", 2: "she"}
    assert [bar.get_width() for bar in below.patches] == [0, 0.883]
    assert [text.get_text() for text in below.texts] == ["0.000", "0.883"]


def test_fairness_over_depth_panels():
    figure = fairness_over_depth(CURVES, cutoff=3)
    assert [axis.get_title() for axis in figure.axes] == ["A", "B", "", ""]
    assert [axis.get_ylabel().split("\n")[0] for axis in figure.axes] == ["QS1", "", "QS2", ""]
    first, second, third, _ = figure.axes
    mark, one, other = first.lines
    assert set(mark.get_xdata()) == {3}
    assert one.get_ydata().tolist() == [0.1, 0.4, 0.3, 0.3]
    assert second.lines[1].get_xdata().tolist() == [2, 3, 4]
    assert first.get_ylim() == second.get_ylim() != third.get_ylim()
    # A system looks the same in each query set.
    again = third.lines[1]
    assert (again.get_color(), again.get_marker()) == (other.get_color(), other.get_marker())
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["s", "t"]


def test_fairness_over_depth_many_systems():
    names = [f"system {number}" for number in range(12)]
    frame = pd.DataFrame(
        [("QS1", name, "A", k, 0.5) for name in names for k in range(1, 31)], columns=CURVES.columns
    )
    drawn = fairness_over_depth(frame).axes[0].lines
    looks = {(line.get_color(), line.get_linestyle()) for line in drawn}
    assert len(looks) == 12 > len(COLOURS)
    assert len({(line.get_color(), line.get_marker()) for line in drawn}) == 12
    # Lines upon each other, but no marker upon the next one.
    starts = [line.get_markevery()[0] for line in drawn]
    assert all(one != other for one, other in zip(starts, starts[1:], strict=False))


MARKS = pd.DataFrame(
    [("x", "N", 0.0, 0.1), ("x", "T", 0.9, 0.9), ("y", "N", 0.5, 0.5), ("y", "T", 0.5, 0.5)],
    columns=["system", "measure", "value", "planted"],
)


def test_document_against_list_fairness_marks():
    axis = document_against_list_fairness(MARKS).axes[0]
    *joined, first, second, rings = axis.lines
    assert [line.get_xdata().tolist() for line in joined] == [[0, 0.9], [0.5, 0.5]]
    assert (first.get_xdata().tolist(), second.get_xdata().tolist()) == ([0, 0.5], [0.9, 0.5])
    assert first.get_markersize() > second.get_markersize()  # both show in one place
    assert rings.get_xdata().tolist() == [0.1, 0.9, 0.5, 0.5]
    assert rings.get_ydata().tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: documents_in_lists(DOCUMENTS, VALUES, {"F": "she"}), "got 'M', expected one of F"),
        (
            lambda: documents_in_lists(DOCUMENTS, VALUES[::2], GROUPS),
            r"but the values are for \['l'\]",
        ),
        (
            lambda: documents_in_lists(DOCUMENTS, VALUES.assign(value=1.5), GROUPS),
            "1.5 is not a fairness",
        ),
        (
            lambda: documents_in_lists(DOCUMENTS.assign(rank=1), VALUES, GROUPS),
            "two marks for .*'rank': 1",
        ),
        (lambda: fairness_over_depth(CURVES.assign(k=1)), "two marks for .*'k': 1"),
        (lambda: fairness_over_depth(CURVES.assign(value=np.nan)), "'value', row 0"),
        (lambda: document_against_list_fairness(MARKS[::2]), "expected two measures"),
        (lambda: document_against_list_fairness(MARKS.assign(measure="N")), "two marks for"),
    ],
)
def test_fairness_figures_invalid(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
