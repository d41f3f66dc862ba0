"""sakai2023: Tables 1 and 2 from the annotations of Figure 5, and GFR of ranked lists."""

from decimal import ROUND_HALF_UP, Decimal

import pandas as pd
import pytest
from chapter_jobs import FunctionJob
from harness import published

from everycell.metrics.divergences import AttributeSet
from everycell.metrics.gfrc import gfrc
from everycell.verdicts.judge import judge
from papers.sakai2023 import ch1
from papers.sakai2023.ch1 import (
    annotated_entities,
    fairness_cells,
    read_targets,
    relevance_cells,
)

GAINS = {"L0": 0, "L1": 0.5, "L2": 1}
#: Means that the paper took of two values that it had rounded before.
OF_ROUNDED = [("Bing", "GF", "RATINGS (RNOD)"), ("Bing", "GF", "ORIGIN (JSD)")]


@pytest.fixture(scope="module")
def paper(repository):
    return published()["sakai2023"].artefacts


@pytest.fixture(scope="module")
def sets(repository):
    targets = pd.read_csv(repository / "published" / "sakai2023" / "targets.csv")
    return read_targets(targets, {"RATINGS": "RNOD", "ORIGIN": "JSD"})


@pytest.fixture(scope="module")
def entities(paper, sets):
    return annotated_entities(paper["figure_5"].input_cells(), GAINS, sets)


def compared(artefact, reproduced):
    """Verdict of each published cell; these cells must be reproduced, and no others."""
    keys = artefact.key_columns
    values = reproduced.set_index(keys)["value"]
    assert set(values.index) == set(artefact.cells[keys].itertuples(index=False, name=None))
    return {
        tuple(key): judge(published_values, values[tuple(key)], artefact.decimals(key[-1]))
        for *key, published_values in artefact.cells[[*keys, "value"]].itertuples(index=False)
    }


def test_relevance_cells_table_1(paper, entities):
    verdicts = compared(paper["table_1"], relevance_cells(entities))
    assert list(verdicts.values()) == ["equal"] * 38


def test_fairness_cells_table_2(paper, entities, sets):
    verdicts = compared(paper["table_2"], fairness_cells(entities, sets))
    assert len(verdicts) == 46
    assert {key: verdict for key, verdict in verdicts.items() if verdict != "equal"} == {
        key: "within tolerance" for key in OF_ROUNDED
    }


@pytest.mark.parametrize(("key", "unrounded"), list(zip(OF_ROUNDED, (0.5784, 0.4492), strict=True)))
def test_fairness_cells_means_of_published_turns(paper, entities, sets, key, unrounded):
    reproduced = fairness_cells(entities, sets).set_index(["system", "turn", "metric"])["value"]
    assert round(reproduced[key], 4) == unrounded
    published_values = paper["table_2"].cells.set_index(["system", "turn", "metric"])["value"]
    system, _, metric = key
    turns = sum(Decimal(published_values[system, turn, metric]) for turn in ("S1", "S2")) / 2
    assert turns.quantize(Decimal("0.0001"), ROUND_HALF_UP) == Decimal(published_values[key])


def test_fairness_cells_uniform_target(paper, entities):
    uniform = {"ORIGIN": AttributeSet((1 / 8,) * 8, "JSD")}
    reproduced = fairness_cells(entities, uniform).set_index(["system", "turn"])["value"]
    assert reproduced["Bing"].round(4).to_dict() == {"S1": 0.4114, "S2": 0.4872, "GF": 0.4493}
    published_values = paper["table_2"].cells.set_index(["system", "turn", "metric"])["value"]
    for turn in ("S1", "S2"):
        assert (
            judge(published_values["Bing", turn, "ORIGIN (JSD)"], reproduced["Bing", turn], 4)
            == "different"
        )


def test_judge_weights_of_eq_6_and_8(paper, entities):
    cells = paper["table_1"].cells.set_index(["system", "entity", "metric"])["value"]
    relevant = entities[entities["gain"] > 0]
    eq_8 = 1 - relevant["word_count"] / 1250
    for system, entity, weight in zip(relevant["system"], relevant["entity"], eq_8, strict=True):
        assert judge(cells[system, entity, "pw"], weight, 4) == "different"
    scores = (eq_8 * relevant["gain"]).groupby(relevant["system"]).sum() * 2 / 1251
    for system, score in scores.items():
        assert judge(cells[system, "(conversation)", "R"], score, 4) == "equal"


def test_gfrc_agrees_with_tables(entities, sets):
    google = entities[entities["system"] == "Google"]
    scores = gfrc(
        google["turn"],
        google["entity"],
        google["word_count"],
        google["gain"],
        {name: google[name].tolist() for name in sets},
        sets,
    )
    assert round(scores.relevance, 4) == 0.0014
    assert {name: round(gf, 4) for name, gf in scores.by_attribute_set.items()} == {
        "RATINGS": 0.4049,
        "ORIGIN": 0.4303,
    }
    assert scores.group_fairness == pytest.approx((0.4049 + 0.4303) / 2, abs=1e-4)


#: Attribute sets of made-up conversations.
GROUPS = {"ORIGIN": AttributeSet((0.5, 0.5), "JSD")}


def annotations(*rows):
    """Tidy cells of one system from (turn, order, entity, level, wc, origin)."""
    return pd.DataFrame(
        [
            ("A", turn, order, entity, metric, value)
            for turn, order, entity, *values in rows
            for metric, value in zip(("level", "wc", "origin"), values, strict=True)
            if value
        ],
        columns=["system", "turn", "order", "entity", "metric", "value"],
    )


def test_annotated_entities_order_and_duplicates():
    result = annotated_entities(
        annotations(
            ("S2", "10", "x", "L2", "80", "1;0"),
            ("S1", "2", "x", "L2", "20", "1/2;1/2"),
            ("S1", "9", "y", "L0", None, None),
        ),
        {"L0": 0, "L2": 1},
        GROUPS,
    )
    assert result["entity"].tolist() == ["x", "y", "x"]
    assert result["gain"].tolist() == [1, 0, 0]
    assert result["ORIGIN"].iloc[0] == [0.5, 0.5]
    cells = relevance_cells(result, 100)
    assert cells["metric"].tolist() == ["pw", "g", "pw_g", "R"]
    assert fairness_cells(result, GROUPS).to_numpy().tolist() == [
        ["A", "S1", "ORIGIN group 1", 0.5],
        ["A", "S1", "ORIGIN group 2", 0.5],
        ["A", "S1", "ORIGIN (JSD)", 1],
        ["A", "GF", "ORIGIN (JSD)", 1],
    ]


@pytest.mark.parametrize(
    ("level", "origin", "message"),
    [
        ("L3", "1;0", "A: the relevance level 'L3' is unknown; expected \\['L0', 'L2'\\]"),
        ("L2", "1;half", "A, x, ORIGIN: the membership '1;half' cannot be read"),
        ("L2", "1/0;1", "A, x, ORIGIN: the membership '1/0;1' cannot be read"),
        ("L2", "1;0;0", "A, x, ORIGIN: the membership '1;0;0' has 3 groups and the target 2"),
    ],
)
def test_annotated_entities_invalid(level, origin, message):
    with pytest.raises(ValueError, match=message):
        annotated_entities(
            annotations(("S1", "1", "x", level, "20", origin)), {"L0": 0, "L2": 1}, GROUPS
        )


def test_read_targets_order_and_missing_set():
    table = pd.DataFrame({"attribute_set": "A", "group": [10, 9], "value": [0.1, 0.9]})
    assert read_targets(table, {"A": "NMD"})["A"].target == (0.9, 0.1)
    with pytest.raises(ValueError, match="no attribute set 'B'; expected one of \\['A'\\]"):
        read_targets(table, {"B": "NMD"})


def test_gfr_by_hand(tmp_path, monkeypatch):
    monkeypatch.setattr(ch1, "ATTRIBUTE_SETS", {"P1": ["GENDER"]})
    files = {
        "qrels": "P1 a L0\nP1 b L1\n",
        "run": "P1 Q0 a 1 2.0 BM25\nP1 Q0 b 2 1.0 BM25\n",
        "members": "P1 a 1 0\nP1 b 0 1\n",
        "target": "0.5\n0.5\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    inputs = {"qrels": tmp_path / "qrels", "runs": [tmp_path / "run"]}
    inputs |= {"memberships": [tmp_path / "members"], "targets": [tmp_path / "target"]}
    params = {"runs": ["BM25"], "divergences": {"GENDER": "JSD"}, "gains": {"L0": 0, "L1": 1}}
    job = FunctionJob(input=inputs, params=params)
    ch1.gfr(job)
    cells = job.tables[""].set_index(["topic", "run", "metric"])["value"]
    assert cells["P1", "BM25"].to_dict() == pytest.approx(
        {"GFR": 0.375, "ERR": 0.25, "GENDER (JSD)": 0.5}
    )


def test_text_numbers_of_the_text(repository, paper):
    folder = repository / "published" / "sakai2023"
    job = FunctionJob(
        input={"targets": folder / "targets.csv"},
        params={
            "film": "Back to the Future",
            "turns": ["S1", "S2"],
            "budget": 1250,
            "gains": GAINS,
            "divergences": {"RATINGS": "RNOD", "ORIGIN": "JSD"},
            "method": "independent",
        },
    )
    job.input_cells = lambda name: paper[name.partition("/")[2]].input_cells()
    ch1.text(job)
    published_values = paper["text_3"].cells.set_index("claim")["value"].to_dict()
    reproduced = {
        claim: f"{value:.4f}" if metric == "gain" else f"{value:.1f}"
        for claim, metric, value in job.tables[""].itertuples(index=False)
    }
    different = {claim for claim, value in reproduced.items() if value != published_values[claim]}
    assert different == {
        "discounted gain of Back to the Future: Bing",
        "discounted gain of Back to the Future: Google",
        "relevance: Google over Bing",
    }
    # Each of the three is what another computation gives.
    for claim, metric, value in job.tables["readings"].itertuples(index=False):
        if claim in different:
            assert f"{value:.{4 if 'gain' in metric else 1}f}" == published_values[claim]
    alternatives = job.tables["alternatives"].set_index(["system", "score", "metric"])["value"]
    google = alternatives["Google"]
    assert google["GF, RATINGS", "uniform turns"] == pytest.approx((1 + 0.4049) / 2, abs=1e-4)
    assert google["GF, RATINGS", "NMD instead of RNOD"] == pytest.approx(0.5)
    # With a single relevant turn, only its own distribution counts.
    for name in ("cumulative distributions", "turns weighted by position"):
        assert google["GF", name] == pytest.approx(google["GF", "as in Table 2"])
    ahead = alternatives["Bing"] - google
    assert set(ahead[ahead < 0].index.get_level_values("metric")) == {"uniform turns"}


def test_annotations_are_those_of_the_tables(paper, repository):
    job = FunctionJob(
        input={"targets": repository / "published" / "sakai2023" / "targets.csv"},
        params={"gains": GAINS, "divergences": {"RATINGS": "RNOD", "ORIGIN": "JSD"}},
    )
    job.input_cells = lambda artefact: paper[artefact.partition("/")[2]].input_cells()
    figures = []
    job.write_figure = lambda plotted, figure: figures.append(figure)
    ch1.annotations(job)
    texts, ratings, origins = figures[0].axes[3:]
    # Google's list: ten films, of which two have groups.
    assert len(ratings.texts) == 2
    assert [text.get_text() for text in origins.texts] == ["1", "2/3", "1/3"]
    assert sum(text.get_text() == "L0" for text in texts.texts) == 8
