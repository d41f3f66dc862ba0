"""Kinds of published cells, and origins and tolerances of their reproduced values."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from receipt_files import hashed
from unit.receipts.test_lineage import record
from unit.toy_papers import write_paper

from everycell.receipts.provenance import write_jobs
from everycell.receipts.receipts import ReceiptError, write_receipt
from everycell.records.cells import RecordError, summarise_seeds
from everycell.records.claims import Claim
from everycell.records.papers import CellPrecision, all_artefacts, load_papers
from everycell.records.tables import NotRun, Quoted
from everycell.verdicts.cells import (
    Sources,
    classify_cells,
    describe_one_sided,
    is_rounded,
    origin_of,
    sources_of,
    tolerances_by_row,
)
from everycell.verdicts.record_checks import check_records
from everycell.verdicts.verdicts import report


@pytest.mark.parametrize(
    ("metric", "flag"),
    [
        *((name, "effectiveness") for name in ("MAP", "AP@5", "nDCG@10", "RR", "MRR@10", "P@5")),
        *((name, "effectiveness") for name in ("R(rel=2)@1000", "Recall", "Success@1")),
        *((name, "saturated") for name in ("p", "p_value", "ANOVA p-value")),
        *((name, None) for name in ("P", "R", "F1", "P(u|pi)@10", "TExFAIR")),
    ],
)
def test_classify_cells_flag_of_a_metric(tmp_path, metric, flag):
    published = write_paper(tmp_path, cells=f"row,metric,value\na,{metric},1.0\n")
    (artefact,) = all_artefacts(load_papers(published))
    assert {row.flag for row in classify_cells(artefact)} == {flag}


# Origins


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    """An empty project, which is the current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def result(*inputs: str, name: str = "table_1", **parameters: object) -> Path:
    """A result with a receipt that has these inputs."""
    for path in map(Path, inputs):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    folder = Path("results/released/toy")
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / f"{name}.csv"
    table.write_text("row,value\na,1\n")
    receipt = folder / f"{name}.receipt.json"
    write_receipt(
        receipt,
        artefact=f"toy/{name}",
        tier="released",
        inputs=hashed(*map(Path, inputs)),
        outputs=[table],
        parameters=parameters,
        seed=None,
        code="0" * 64,
        seconds=1,
        root=Path(),
    )
    return receipt


def sources(receipt: Path) -> Sources:
    return sources_of(receipt, Path("results"), Path())


def test_sources_of_direct_inputs(project):
    assert sources(result()) == Sources()
    receipt = result("resources/set/a.csv", "published/toy/table_2.csv")
    assert sources(receipt) == Sources(("resources/set/a.csv",), ("published/toy/table_2.csv",))


def test_sources_of_upstream_jobs(project):
    record(project, "work/run", rule="rank", inputs=["work/models"])
    record(project, "work/models", rule="train", inputs=["resources/set/a.csv"])
    record(project, "work/seeds", rule="draw")
    # The job made the folder of the file.
    assert sources(result("work/models/weights")).data == ("resources/set/a.csv",)
    assert sources(result("work/run")).data == ("resources/set/a.csv",)
    assert sources(result("work/seeds")) == Sources()


def test_sources_of_another_result(project):
    result("published/toy/table_3.csv", name="table_2")
    assert sources(result("results/released/toy/table_2.csv")) == Sources(
        published=("published/toy/table_3.csv",)
    )
    supplement = "results/released/toy/table_2.seeds.csv"
    assert sources(result(supplement)).published == ("published/toy/table_3.csv",)


def test_sources_of_given_values(project):
    receipt = result("values/table_1.csv", given=True)
    assert sources(receipt) == Sources(given_values=("values/table_1.csv",))


@pytest.mark.parametrize("is_given", [True, False])
def test_sources_of_script_without_data(project, is_given):
    """Without declared data, a script of the authors is the source of its values."""
    receipt = result(given=is_given)
    expected = (receipt.as_posix(),) if is_given else ()
    assert sources(receipt) == Sources(given_values=expected)


def test_sources_of_a_copied_folder(project):
    receipt = result("work/run")
    jobs = [
        {"rule": "rank", "outputs": ["work/run"], "inputs": ["resources/a.csv"], "parameters": {}}
    ]
    assert sources(receipt) == Sources(unknown=("work/run",))
    write_jobs(Path("results/lineage.json"), jobs)
    assert sources(receipt) == Sources(data=("resources/a.csv",))


def test_origin_of_an_unrecorded_job(project):
    artefact = load_papers(write_paper(project / "published"))["toy"].artefacts["table_1"]
    unknown = Sources(published=("published/toy/table_1.csv",), unknown=("work/run",))
    with pytest.raises(ReceiptError, match=r"toy/table_1 .*work/run"):
        origin_of(artefact, "released", unknown)
    assert origin_of(artefact, "released", unknown._replace(data=("a.csv",))) == "data"


# Tolerances and readings

RECORD = """\
    kind: table
    title: A toy table
    source: p. 1
    tiers:
      released: {{state: reproduced, needs: nothing}}
      full: {{state: reproduced, needs: a GPU}}
    decimals: {{AP: 2, n: 0}}
    supplements: {{seeds: Spread over seeds}}
    tolerances:
      - {{cells: {cells}, from_spread: [{tier}], because: One training run.}}
"""
ROWS = ["row", "metric"]


@pytest.fixture
def toy(tmp_path):
    record = RECORD.format(cells="{metric: AP}", tier="full")
    return load_papers(write_paper(tmp_path, record))["toy"].artefacts["table_1"]


def judged(toy, runs: list[float], tier: str = "full", with_seeds: bool = True):
    """Verdict and reason of the cell published as 0.30, reproduced as a mean of training runs."""
    rows = [("a", "n", 12), ("b", "AP", 0.4), ("b", "n", 7)]
    cells = pd.DataFrame([*[("a", "AP", value) for value in runs], *rows], columns=[*ROWS, "value"])
    means = cells.groupby(ROWS, sort=False)["value"].mean().reset_index()
    tables = {"seeds": summarise_seeds(cells, ROWS)} if with_seeds else {}
    result = report(toy, tier, means, find_table=tables.get)
    (cell,) = (cell for cell in result.cells if cell.key == {"row": "a", "metric": "AP"})
    return cell.verdict, cell.why


def test_tolerances_from_spread(toy):
    # Deviation 0.02: within 0.0994.
    verdict, why = judged(toy, [0.36, 0.38, 0.40])
    assert (
        verdict == "within tolerance"
        and "Spread over seeds: 3 training runs gave 0.3600 to 0.4000" in why
    )
    assert "within 0.0994" in why and why.endswith("One training run.")
    verdict, why = judged(toy, [0.38, 0.40, 0.42])
    assert verdict == "different" and "within 0.0994" in why
    # It rounds to the published value, so it is equal.
    assert judged(toy, [0.25, 0.30, 0.35]) == ("equal", None)


def test_judge_cells_too_noisy(toy):
    # Deviation 0.04: within 0.1987, more than half of 0.30.
    verdict, why = judged(toy, [0.36, 0.40, 0.44])
    assert verdict == "too noisy to judge"
    assert "exceeds 0.15, half of the published value" in why and "within 0.1987" in why
    # Equal values and the last digit need no tolerance, and more than it is a difference.
    assert judged(toy, [0.22, 0.30, 0.38])[0] == "equal"
    assert judged(toy, [0.269, 0.309, 0.349])[0] == "within tolerance"
    assert judged(toy, [0.56, 0.60, 0.64])[0] == "different"


@pytest.mark.parametrize(
    ("other", "expected"),
    [("0.32", "too noisy to judge"), ("0.60", "within tolerance"), ("0.30", "within tolerance")],
)
def test_judge_cells_tolerance_above_a_compared_difference(tmp_path, other, expected):
    claim = (
        "    claims: [{id: c, claim: Row b is better., source: p. 1, "
        "supported_if: [{cells: {row: b, metric: AP}, op: '>', other: {row: a}}]}]\n"
    )
    cells = f"row,metric,value\na,AP,0.30\na,n,12\nb,AP,{other}\nb,n,7\n"
    record = RECORD.format(cells="{row: a, metric: AP}", tier="full") + claim
    toy = load_papers(write_paper(tmp_path, record, cells))["toy"].artefacts["table_1"]
    verdict, why = judged(toy, [0.36, 0.38, 0.40])
    assert verdict == expected
    assert ("0.02, the smallest difference that a claim reads" in why) == (
        expected != "within tolerance"
    )


@pytest.mark.parametrize(
    ("residuals", "is_one_sided"),
    [
        ([0.1] * 10, True),
        ([-0.1] * 5, True),
        ([0.1] * 4, False),
        ([0.1] * 9 + [-0.1], True),
        ([0.1] * 8 + [-0.1] * 2, False),
        ([0.1] * 5 + [0.0], True),
        ([], False),
    ],
)
def test_describe_one_sided(residuals, is_one_sided):
    reason = describe_one_sided(residuals)
    assert bool(reason) == is_one_sided
    if is_one_sided:
        side = "above" if residuals[0] > 0 else "below"
        signs = [residual for residual in residuals if residual]
        larger = sum(residual * residuals[0] > 0 for residual in signs)
        assert (
            f"{larger} of {len(signs)} values in its column and group of rows are {side}" in reason
        )


@pytest.mark.parametrize(
    ("lower", "moved", "expected"),
    [(0, 6, "different"), (1, 6, "within tolerance"), (1, 5, "different")],
)
def test_judge_cells_one_sided_block(tmp_path, lower, moved, expected):
    """Five of six values on one side are no evidence, unless seeds do not move the sixth."""
    rows = [f"s{number}" for number in range(6)]
    layout = "    layout: {rows: [set, row], columns: [metric]}\n"
    # The other set has differences on the other side, which do not excuse the first one.
    cells = "".join(f"x,{row},AP,0.50\n" for row in rows) + "".join(
        f"y,{row},AP,0.50\n" for row in rows
    )
    record = RECORD.format(cells="{}", tier="full").replace("AP: 2, n: 0", "AP: 2") + layout
    papers = write_paper(tmp_path, record, f"set,row,metric,value\n{cells}")
    toy = load_papers(papers)["toy"].artefacts["table_1"]
    keys = ["set", "row", "metric"]
    runs = pd.DataFrame(
        [
            (name, row, "AP", value + shift)
            for name, sign in (("x", 1), ("y", -1))
            for number, row in enumerate(rows)
            for value in [0.5 + 0.03 * (sign if number >= lower else -sign)]
            for shift in ((-0.02, 0, 0.02) if number >= 6 - moved else (0, 0, 0))
        ],
        columns=[*keys, "value"],
    )
    means = runs.groupby(keys, sort=False)["value"].mean().reset_index()
    result = report(toy, "full", means, find_table={"seeds": summarise_seeds(runs, keys)}.get)
    judged_cells = [cell for cell in result.cells if cell.key["row"] != "s0"]
    assert {cell.verdict for cell in judged_cells} == {expected}
    assert ("sign test" in judged_cells[0].why) == (expected == "different")


def test_tolerances_without_a_spread(toy):
    # Two training runs, or three that agree.
    assert judged(toy, [0.28, 0.36])[0] == "different"
    verdict, why = judged(toy, [0.32, 0.32, 0.32])
    assert verdict == "different" and "3 training runs gave the same value" in why
    assert judged(toy, [0.309, 0.309, 0.309])[0] == "within tolerance"


def test_tolerances_of_another_tier(toy):
    assert judged(toy, [0.36, 0.38, 0.40], "released", with_seeds=False) == ("different", None)


def test_tolerances_missing_table_of_seeds(toy):
    with pytest.raises(RecordError, match=r"table_1\.seeds\.csv"):
        judged(toy, [0.36, 0.38, 0.40], with_seeds=False)


def test_tolerances_by_row_missing_cell_of_seeds(toy):
    cells = pd.DataFrame([("b", "AP", 0.4)] * 3, columns=[*ROWS, "value"])
    find_table = {"seeds": summarise_seeds(cells, ROWS)}.get
    with pytest.raises(RecordError, match="table of seeds lacks the cell a / AP"):
        tolerances_by_row(toy, "full", find_table, {("a", "AP"): 0.3, ("b", "AP"): 0.4})
    # A cell that was not reproduced has no spread.
    assert len(tolerances_by_row(toy, "full", find_table, {("b", "AP"): 0.4})) == 1


def test_select_reading_with_the_most_equal_cells(toy):
    column = {"readings": "epochs"}
    toy = toy.model_copy(update={"record": toy.record.model_copy(update=column)})
    text = {("a", "AP"): 0.34, ("a", "n"): 12, ("b", "AP"): 0.4, ("b", "n"): 8}
    code = {("a", "AP"): 0.40, ("a", "n"): 12, ("b", "AP"): 0.4, ("b", "n"): 7}
    runs = pd.DataFrame(
        [
            (*key, epochs, value + shift)
            for epochs, values in (("30", text), ("10", code))
            for key, value in values.items()
            for shift in ((-0.03, 0, 0.03) if key[1] == "AP" else [0])
        ],
        columns=["row", "metric", "epochs", "value"],
    )
    keys = ["row", "metric", "epochs"]
    means = runs.groupby(keys, sort=False)["value"].mean().reset_index()
    result = report(toy, "full", means, find_table={"seeds": summarise_seeds(runs, keys)}.get)
    verdicts = {tuple(cell.key.values()): (cell.reproduced, cell.verdict) for cell in result.cells}
    # With 30 the first cell is nearer; the table decides, and no cell on its own.
    assert verdicts["a", "AP"] == (pytest.approx(0.40), "within tolerance")
    assert verdicts["b", "n"] == (7, "equal")
    assert all("10, with which 3 of 4 compared cells" in cell.why for cell in result.cells)
    assert "(2 with epochs = 30)" in result.cells[0].why
    # Of two that tie the first is taken, and so it is on other data, where nothing is compared.
    tied = means.assign(epochs=means["epochs"].map({"30": "10", "10": "30"}), value=0.5)
    seeds = {"seeds": summarise_seeds(pd.concat([tied] * 3), keys)}.get
    assert "epochs = 10," in report(toy, "full", tied, find_table=seeds).cells[0].why
    other = report(toy, "full", means.assign(value=0.5), find_table=seeds, foreign="other data")
    assert other.cells == []


def test_select_reading_of_compared_cells_and_supplementary_tables(toy):
    claim = Claim(
        id="c",
        claim="The tests agree.",
        source="p. 1",
        supported_if=[{"cells": {"row": "a"}, "op": "<", "value": 0.05, "supplement": "tests"}],
    )
    update = {
        "readings": "epochs",
        "tolerances": [],
        "claims": [claim],
        "quoted": [Quoted(cells={"metric": "n"}, because="Sizes are given.")],
        "not_run": [NotRun(cells={"row": "b", "metric": "AP"}, tier="full", needs="a GPU")],
    }
    toy = toy.model_copy(update={"record": toy.record.model_copy(update=update)})
    table = pd.DataFrame([("a", "AP", 10, 0.3)], columns=["row", "metric", "epochs", "value"])
    tests = pd.DataFrame([("a", 10, 0.01), ("a", 30, 0.5)], columns=["row", "epochs", "value"])
    result = report(toy, "full", table, find_table={"tests": tests}.get)
    assert result.cells[0].why.endswith("epochs = 10, with which 1 of 1 compared cells are equal.")
    assert result.claims[0].on_reproduced == "supported"


def test_check_records_reading_that_is_a_published_key(tmp_path):
    record = RECORD.format(cells="{metric: AP}", tier="full").replace(
        "tolerances:", "readings: metric\n    tolerances:"
    )
    (fault,) = faults(tmp_path, record)
    assert "(table_1): `readings` is 'metric'" in fault


def faults(folder, record: str) -> list[str]:
    return check_records(load_papers(write_paper(folder, record)))


@pytest.mark.parametrize(
    ("cells", "tier", "message"),
    [
        ("{metric: AP}", "embedded", "lists the tier embedded, which does not reproduce"),
        ("{metric: n}", "full", "line 3: the value is a count, label, rank or text"),
        ("{}", "full", "line 5: the value is a count, label, rank or text"),
    ],
)
def test_check_tolerances_from_spread(tmp_path, cells, tier, message):
    assert any(
        message in fault for fault in faults(tmp_path, RECORD.format(cells=cells, tier=tier))
    )


def test_check_tolerances_undeclared_table_of_seeds(tmp_path):
    record = RECORD.format(cells="{metric: AP}", tier="full").replace("seeds: Spr", "other: Spr")
    (fault,) = faults(tmp_path, record)
    assert "`supplements` has no table 'seeds'" in fault


@pytest.mark.parametrize(
    "distance",
    ["", ", within: 0.1, from_spread: [full]", ", within: 0.1, relative: 0.1"],
)
def test_tolerance_without_one_distance(tmp_path, distance):
    record = RECORD.format(cells="{metric: AP}", tier="full").replace(
        ", from_spread: [full]", distance
    )
    with pytest.raises(RecordError, match="needs either `within`"):
        faults(tmp_path, record)


@pytest.mark.parametrize(
    ("reproduced", "expected"),
    [(0.32, "within tolerance"), (0.329, "within tolerance"), (0.331, "different")],
)
def test_judge_cells_relative_tolerance(tmp_path, reproduced, expected):
    """A tenth of the published 0.30 on either side."""
    record = RECORD.format(cells="{metric: AP}", tier="full").replace(
        "from_spread: [full]", "relative: 0.1"
    )
    toy = load_papers(write_paper(tmp_path, record))["toy"].artefacts["table_1"]
    assert judged(toy, [reproduced])[0] == expected
    assert judged(toy, [0.6 - reproduced])[0] == expected


@pytest.mark.parametrize(
    ("precision", "expected"), [((2, False), True), ((0, False), False), ((0, True), True)]
)
def test_is_rounded_counts_and_measurements(precision, expected):
    assert is_rounded(CellPrecision(*precision)) is expected
