"""`everycell why`: repositories from runs, readings that a record declares, and messages."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from command_line import call, refused
from unit.toy_papers import RECORD, write_paper

from everycell.cli.table_sources import EXAMPLE
from everycell.receipts.receipts import write_receipt
from everycell.records.cells import summarise_seeds

#: By hand: of q1, d1 has grade 2, and is first and third; q2 has only documents of grade 1.
FROM_GRADE_2 = {"First": {"MAP": "0.50", "RR": "0.50"}, "Second": {"MAP": "0.17", "RR": "0.17"}}


@pytest.mark.parametrize("collections", [[""], ["DL19", "DL20"]])
def test_why_runs(tmp_path, monkeypatch, collections):
    """Published values count relevance from grade 2, the rule from grade 1."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    header = ["system", *["collection"] * (len(collections) > 1), "metric", "value"]
    rows = [
        [system, *filter(None, [collection]), measure, value]
        for collection in collections
        for system, values in FROM_GRADE_2.items()
        for measure, value in values.items()
    ]
    pd.DataFrame(rows, columns=header).to_csv("table.csv", index=False)
    options = ["--qrels", "qrels.txt", "--runs", "first.run", "second.run"]
    if len(collections) > 1:
        runs = ["--runs"]
        for name in collections:
            shutil.copytree(EXAMPLE, name)
            runs += [f"{run.title()}@{name}={name}/{run}.run" for run in ("first", "second")]
        options = ["--qrels", *(f"{name}={name}/qrels.txt" for name in collections), *runs]
    assert call("init", "smith2026", "--table", "table.csv", *options)[0] == 0
    monkeypatch.chdir(tmp_path / "smith2026")
    assert "was not reproduced yet" in refused("why", "Table 1")
    csv = "results/released/smith2026/table_1.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", csv]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    before = {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = call("why", "Table 1")
    total = len(rows)
    assert (code, err) == (0, "")
    assert f"All {total} are equal with relevance from grade 2" in out
    assert re.search(r"Tried: \d+ readings", out) and max(map(len, out.splitlines())) <= 80
    assert {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()} == before
    Path("resources/smith2026-data/second.run").unlink()
    assert "second.run is missing" in refused("why", "Table 1")


CELLS = "row,metric,value\na,AP,0.30\na,RR,0.50\nb,AP,0.40\nb,RR,0.71\nc,AP,0.12\nc,RR,0.33\n"
VALUES = (0.3, 0.5, 0.4, 0.71, 0.12, 0.33)
PUBLISHED = RECORD.replace("{AP: 2, n: 0}", "{AP: 2, RR: 2}")
ERRATUM = """\
    errata:
      - id: other_runs
        cause: method
        cells: [{row: [a, b]}]
        yields: [{cells: {row: [a, b]}, supplement: readings}]
        finding: Rows a and b are from other runs.
        evidence: The other runs give these numbers.
        source: p. 1
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """Return a function that writes a result of a toy paper, with supplementary tables."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    keys = [tuple(line.split(",")[:2]) for line in CELLS.splitlines()[1:]]

    def frame(values) -> pd.DataFrame:
        return pd.DataFrame(keys, columns=["row", "metric"]).assign(value=values)

    def write(table: pd.DataFrame | None, record: str = PUBLISHED, **supplements: pd.DataFrame):
        write_paper(tmp_path / "published", record, CELLS)
        home = tmp_path / "results/embedded/toy"
        home.mkdir(parents=True)
        paths = []
        tables = {} if table is None else {"table_1": table}
        for name, content in (tables | {f"table_1.{n}": t for n, t in supplements.items()}).items():
            path = home / f"{name}.csv"
            content.to_csv(path, index=False)
            paths += [path, *(home / f"{name}.{form}" for form in ("md", "tex", "html"))]
        for path in paths:
            path.touch()
        write_receipt(
            home / "table_1.receipt.json", artefact="toy/table_1", tier="embedded", inputs={},
            outputs=paths, parameters={}, seed=None, code="", seconds=1, root=tmp_path,
        )  # fmt: skip

    return frame, write


def test_why_column_of_readings(toy):
    """The record compares the best reading; another one, with a swap, is better still."""
    frame, write = toy
    first = frame([*VALUES[:2], *VALUES[4:], *VALUES[2:4]]).assign(epochs="10")
    second = frame([*VALUES[:4], 0.9, 0.9]).assign(epochs="20")
    write(pd.concat([second, first]), PUBLISHED + "    readings: epochs\n")
    code, out, _ = call("why", "toy/table_1")
    assert code == 0 and "4 of 6 numbers are equal" in out
    assert "All 6 are equal with epochs 10 and b swapped with c (row)." in out


def test_why_errata(toy):
    frame, write = toy
    other = frame([*VALUES[:4], 0.5, 0.5])
    record = PUBLISHED + "    supplements: {readings: Other runs}\n" + ERRATUM
    write(frame([0.2, 0.6, 0.7, 0.22, *VALUES[4:]]), record, readings=other)
    code, out, _ = call("why", "toy/table_1")
    assert code == 0 and "All 6 are equal with erratum other_runs" in out


def test_why_best_seed(toy):
    frame, write = toy
    spread = [frame([value - loss for value in VALUES]) for loss in (0, 0.03, 0.08)]
    means = frame([value - 0.11 / 3 for value in VALUES])
    seeds = summarise_seeds(pd.concat(spread), ["row", "metric"])
    write(means, PUBLISHED + "    supplements: {seeds: Seeds}\n", seeds=seeds)
    code, out, _ = call("why", "toy/table_1")
    assert code == 0 and "All 6 are equal with highest value of all seeds." in out


def test_why_two_explanations(toy):
    frame, write = toy
    seeds = summarise_seeds(pd.concat([frame(VALUES)] * 3), ["row", "metric"])
    means = frame([value + 0.02 for value in VALUES])
    write(means, PUBLISHED + "    supplements: {seeds: Seeds}\n", seeds=seeds)
    code, out, _ = call("why", "toy/table_1")
    assert code == 0 and "They are also equal with 1 other reading" in out


def test_why_random_differences(toy):
    frame, write = toy
    write(frame([0.35, 0.42, 0.47, 0.68, 0.21, 0.38]))
    code, out, _ = call("why", "toy/table_1")
    assert code == 0 and "All 6" not in out
    assert "and the closest may be chance" in out or "No reading makes more" in out


@pytest.mark.parametrize("minutes", [0, 3])
def test_why_out_of_time(toy, minutes):
    frame, write = toy
    write(frame([*VALUES[:2], *VALUES[4:], *VALUES[2:4]]))
    code, out, _ = call("why", "toy/table_1", "--minutes", minutes)
    assert code == 0 and ("had no time" in out) == (minutes == 0) == ("b swapped" not in out)


def test_why_equal(toy):
    frame, write = toy
    write(frame(VALUES))
    assert call("why", "Table 1 toy") == (
        0,
        "toy/table_1 (embedded): all 6 compared numbers are equal; nothing to explain.\n",
        "",
    )


def test_why_surrogate_data(toy):
    frame, write = toy
    surrogate = "{state: surrogate, needs: nothing, name: other data}"
    write(frame(VALUES), PUBLISHED.replace("{state: reproduced, needs: nothing}", surrogate))
    assert "no values to compare" in refused("why", "toy/table_1")


@pytest.mark.parametrize("name", ["Table 9", "toy"])
def test_why_unknown_table(toy, name):
    _, write = toy
    write(toy[0](VALUES))
    assert name in refused("why", name)


def test_why_edited_result(toy):
    frame, write = toy
    write(frame(VALUES))
    Path("results/embedded/toy/table_1.csv").write_text(CELLS.replace("0.30", "0.31"))
    assert "table_1.csv" in refused("why", "toy/table_1")
