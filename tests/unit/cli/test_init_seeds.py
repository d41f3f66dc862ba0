"""`everycell init --values --mean-over`: values of several seeds."""

import json
import statistics
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from command_line import call, refused

from everycell.records.papers import load_papers
from everycell.verdicts.record_checks import check_records

TABLE = (
    "model,metric,value\nBM25,MAP,0.31\nOurs,MAP,0.35\nOurs,MAP ±,0.01\n"
    "BM25,P@5,0.40\nOurs,P@5,0.42\n"
)
#: Values of each cell by seed; one system has no third seed.
SEEDS = {
    ("BM25", "MAP"): [0.30, 0.32], ("Ours", "MAP"): [0.34, 0.35, 0.36],
    ("BM25", "P@5"): [0.39, 0.41], ("Ours", "P@5"): [0.40, 0.42, 0.44],
}  # fmt: skip
CELLS = [
    (model, metric, str(seed), value)
    for (model, metric), values in SEEDS.items()
    for seed, value in enumerate(values, 7)
]
WIDE = pd.DataFrame(CELLS, columns=["model", "metric", "seed", "value"]).pivot(
    index=["model", "seed"], columns="metric", values="value"
)
RECORDS = WIDE.reset_index().to_dict("records")
#: Name of a file -> values by seed.
FORMS = {
    "tidy.csv": "model,seed,metric,value\n" + "".join(f"{a},{c},{b},{d}\n" for a, b, c, d in CELLS),
    "behind.csv": "model,metric,value,seed\n"
    + "".join(f"{a},{b},{d},{c}\n" for a, b, c, d in CELLS),
    "score.csv": "seed;Model;Measure;Score\n"
    + "".join(f"{c};{a};{b};{str(d).replace('.', ',')}\n" for a, b, c, d in CELLS),
    "wide.csv": WIDE.reset_index().to_csv(index=False),
    "index.csv": WIDE.reset_index().to_csv(),
    "rows.json": json.dumps([{**row, "seed": int(row["seed"])} for row in RECORDS]),
    "lines.jsonl": "\n".join(json.dumps(row) for row in RECORDS),
    "table.md": "|model|seed|MAP|P@5|\n|-|-|-|-|\n"
    + "".join("|{model}|{seed}|{MAP}|{P@5}|\n".format(**row) for row in RECORDS),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    (tmp_path / "table.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*options: str) -> tuple[dict[tuple[str, ...], list[float]], str]:
    """Values of a new repository by cell, in the order of seeds, and what the command says."""
    code, out, err = call("init", "--table", "table.csv", "--values", *options, "smith2026")
    assert (code, err) == (0, "")
    frame = pd.read_csv("smith2026/data/smith2026-data/values.csv", dtype=str)
    values: dict[tuple[str, ...], list[float]] = {}
    for *key, _, value in frame.to_numpy().tolist():
        values.setdefault(tuple(key), []).append(float(value))
    return values, out


@pytest.mark.parametrize("form", FORMS)
def test_init_mean_over(form):
    """Values by seed are kept as they are, for the rule to average; the counts are stated."""
    Path(form).write_text(FORMS[form])
    values, out = init(form, "--mean-over", "seed")
    assert values == SEEDS
    assert "Only 2 of 3 values: BM25." in out and "ddof=1" in out and "Not run" not in out
    registry = yaml.safe_load(Path("smith2026/published/smith2026/registry.yaml").read_text())
    [entry] = registry["files"].values()
    assert "; mean over seed (2 to 3 values per cell)" in entry["note"]
    assert check_records(load_papers(Path("smith2026/published"))) == []


@pytest.mark.parametrize("form", FORMS)
def test_init_several_seeds(form):
    """Without the option, an error names the column in which the values differ."""
    Path(form).write_text(FORMS[form])
    message = refused("init", "--table", "table.csv", "--values", form, "smith2026")
    assert form in message and "--mean-over seed" in message


@pytest.mark.parametrize(("measure", "column"), [("MAP", "seed"), ("MAP{1}", "{seed}")])
def test_mean_over_rule(folder, measure, column):
    """The rule writes means, the published deviations, and how many seeds each cell has.

    Braces in names are no wildcards of Snakemake.
    """
    Path("table.csv").write_text(TABLE.replace("MAP", measure))
    Path("a.csv").write_text(FORMS["wide.csv"].replace("MAP", measure).replace("seed", column))
    init("a.csv", "--mean-over", column)
    result = "results/released/smith2026/table_1.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", result]
    done = subprocess.run(command, cwd="smith2026", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(f"smith2026/{result}").set_index(["model", "metric"])["value"].to_dict()
    expected = {
        (model, name.replace("MAP", measure)): values for (model, name), values in SEEDS.items()
    }
    means = {key: pytest.approx(statistics.mean(values)) for key, values in expected.items()}
    deviation = pytest.approx(statistics.stdev(SEEDS["Ours", "MAP"]))
    assert table == means | {("Ours", f"{measure} ±"): deviation}
    spreads = pd.read_csv(f"smith2026/{result.removesuffix('.csv')}.seeds.csv")
    spreads = spreads.set_index(["model", "metric", "statistic"])["value"]
    assert {key: spreads[*key, "seeds"] for key in expected} == {
        key: len(values) for key, values in expected.items()
    }


def write_files(*names: str) -> None:
    for seed, name in enumerate(names):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(f"model,MAP,P@5\nBM25,0.3{seed},0.4{seed}\nOurs,0.5{seed},0.6\n")


@pytest.mark.parametrize(
    "names", [("a_1.csv", "a_2.csv"), ("1/a.csv", "2/a.csv"), ("1/all.csv", "2/all.csv")]
)
def test_init_mean_over_files(names):
    write_files(*names)
    message = refused("init", "--table", "table.csv", "--values", *names, "smith2026")
    assert "--mean-over file" in message and all(name in message for name in names)
    values, out = init(*names, "--mean-over", "file")
    assert values["BM25", "MAP"] == [0.30, 0.31] and values["Ours", "P@5"] == [0.6, 0.6]
    assert f"Mean over file ({', '.join(names)})" in out
    text = Path("smith2026/data/smith2026-data/values.csv").read_text()
    assert all(name in text for name in names) and str(Path.cwd()) not in text


def test_init_mean_over_files_of_systems():
    """Several files per system, and one for another, whose results have no name."""
    for name, value in (("a", 0.3), ("b", 0.32), ("c", 0.4)):
        Path(f"{name}.eval").write_text(f"runid\tall\t{name}\nmap\tall\t{value}\n")
    values, out = init("BM25=a.eval", "BM25=b.eval", "Ours=c.eval", "--mean-over", "file")
    assert values == {("BM25", "MAP"): [0.3, 0.32], ("Ours", "MAP"): [0.4]}
    # One value has no deviation.
    assert "Only 1 of 2 values: Ours." in out and "Not run: MAP ±." in out
    Path("smith2026").rename("first")
    renames = ("--rename", "a=BM25", "b=BM25", "c=Ours")
    files = ("a.eval", "b.eval", "c.eval")
    assert init(*files, "--mean-over", "file", *renames)[0] == values


def test_init_mean_over_of_one_system():
    """A name before the file is that of all its rows, which only the seed tells apart."""
    Path("a.csv").write_text("run,MAP,P@5\nall-MiniLM,0.3,0.4\n2,0.5,0.6\n")
    values, _ = init("Ours=a.csv", "--mean-over", "run")
    assert values == {("Ours", "MAP"): [0.3, 0.5], ("Ours", "P@5"): [0.4, 0.6]}


@pytest.mark.parametrize("ending", ["csv", "json"])
@pytest.mark.parametrize("seeds", [(1, 2, 1), (1, 2, 3)])
def test_init_mean_over_settings(ending, seeds):
    """Rows of different settings are never averaged, also if each has seeds of its own."""
    rows = pd.DataFrame(
        {"model": "A", "rerank": ["yes", "yes", "no"], "seed": seeds, "MAP": [0.3, 0.32, 0.2]}
    )
    text = rows.to_csv(index=False) if ending == "csv" else rows.to_json(orient="records")
    Path(f"a.{ending}").write_text(text)
    Path("table.csv").write_text("model,rerank,metric,value\nA,yes,MAP,0.31\nA,no,MAP,0.2\n")
    values, _ = init(f"a.{ending}", "--mean-over", "seed")
    assert values == {("A", "yes", "MAP"): [0.3, 0.32], ("A", "no", "MAP"): [0.2]}
    for table in ("model,metric,value\nA,MAP,0.31\n", "model,rerank,metric,value\nA,yes,MAP,0.3\n"):
        Path("table.csv").write_text(table)
        options = ("--table", "table.csv", "--values", f"a.{ending}", "--mean-over", "seed")
        done = call("init", *options, "jones2026")
        assert (done[0] == 0) == ("rerank" in table)
    path = Path("jones2026/data/jones2026-data/values.csv")
    assert pd.read_csv(path)["value"].tolist() == [0.3, 0.32]


@pytest.mark.parametrize("column", ["run_id", "checkpoint", "subset"])
def test_init_mean_over_further_column(column):
    """A second column is never offered for an average too: its rows may be of other data."""
    text = FORMS["wide.csv"].replace("seed", f"seed,{column}", 1)
    for index, seed in enumerate((",7,", ",8,", ",9,")):
        text = text.replace(seed, f"{seed}{'xyz'[index]}a,")
    Path("a.csv").write_text(text)
    options = ("--table", "table.csv", "--values", "a.csv", "smith2026")
    message = refused("init", *options, "--mean-over", "seed")
    assert "a.csv" in message and f"if {column} " in message and "--mean-over" not in message


def test_init_mean_over_missing_value():
    """A seed without a value is counted among the seeds."""
    Path("a.csv").write_text(FORMS["tidy.csv"].replace("Ours,8,MAP,0.35", "Ours,8,MAP,NaN"))
    values, out = init("a.csv", "--mean-over", "seed")
    assert values["Ours", "MAP"] == [0.34, 0.36]
    assert "Only 2 of 3 values: BM25, Ours, MAP." in out


def test_init_mean_over_percentages():
    """Deviations are in percent as the means are, and errors of a tool are none."""
    Path("table.csv").write_text("model,metric,value\na,acc,45.1\na,acc ±,1.4\n")
    Path("a.csv").write_text(
        "model,seed,metric,value\na,1,acc,0.44\na,1,acc ±,0.5\na,2,acc,0.46\na,2,acc ±,0.5\n"
    )
    values, out = init("a.csv", "--mean-over", "seed")
    assert values == {("a", "acc"): [44, 46]} and "Left out: 2 values of acc ±" in out


@pytest.mark.parametrize(
    ("text", "option", "words"),
    [
        (FORMS["tidy.csv"], "sead", ["a.csv", "sead", "model, seed, metric"]),
        (FORMS["tidy.csv"], "model", ["table.csv", "model"]),
        (FORMS["tidy.csv"] + "Ours,mean,MAP,0.35\n", "seed", ["a.csv, line 12", "'mean'"]),
        (FORMS["wide.csv"] + "Ours,std,0.1,0.1\n", "seed", ["a.csv, row 7", "'std'"]),
        (FORMS["wide.csv"] + "Ours,mean±std,0.1,0.1\n", "seed", ["a.csv, row 7", "'mean±std'"]),
        (FORMS["wide.csv"] + "Ours,Avg. of 3,0.1,0.1\n", "seed", ["a.csv, row 7", "'Avg. of 3'"]),
        (FORMS["tidy.csv"] + "Ours,,MAP,0.35\n", "seed", ["a.csv, line 12", "blank"]),
        (FORMS["tidy.csv"].replace("0.36", "<0.36"), "seed", ["a.csv, line 6", "<0.36"]),
        (FORMS["wide.csv"] + "Ours,9,0.1,0.1\n", "seed", ["a.csv"]),
        (TABLE.replace("0.31", "0.3"), "file", ["--mean-over file", "one value"]),
        ("model;seed;MAP\nBM25;1;45,123\nBM25;2;0,32\n", "seed", ["a.csv", "0,32"]),
    ],
)
def test_init_mean_over_invalid(text, option, words):
    Path("a.csv").write_text(text)
    options = ("--table", "table.csv", "--values", "a.csv", "--mean-over", option)
    message = refused("init", *options, "smith2026")
    assert all(word in message for word in words) and not Path("smith2026").exists()


def test_init_mean_over_same_file():
    write_files("a.csv")
    Path("b.csv").write_text(Path("a.csv").read_text())
    options = ("--table", "table.csv", "--values", "a.csv", "b.csv", "--mean-over", "file")
    message = refused("init", *options, "smith2026")
    assert "a.csv" in message and "b.csv" in message


def test_init_seed_is_no_key():
    """Numbers of seeds that a published column has too are no reason to take one for the other."""
    Path("table.csv").write_text("model,shots,metric,value\nA,1,MAP,0.3\nA,5,MAP,0.4\n")
    Path("a.csv").write_text("model,seed,metric,value\nA,1,MAP,0.3\nA,5,MAP,0.4\n")
    assert "seed" in refused("init", "--table", "table.csv", "--values", "a.csv", "smith2026")


@pytest.mark.parametrize("form", ["wide.csv", "tidy.csv", "score.csv", "table.md"])
@pytest.mark.parametrize("spelling", ["7.0", "07", "7.00", "7e0"])
def test_init_mean_over_equal_numbers(form, spelling):
    """One seed may be written in several ways, as pandas does beside blanks; twice is refused."""
    text = FORMS[form]
    separator = {"score.csv": ";", "table.md": "|"}.get(form, ",")
    before, after = text.split(f"{separator}7{separator}" if form != "score.csv" else "\n7;", 1)
    start = "\n" if form == "score.csv" else separator
    Path(form).write_text(f"{before}{start}{spelling}{separator}{after}")
    values, out = init(form, "--mean-over", "seed")
    assert values == SEEDS and "Mean over seed (7, 8, 9)" in out
    Path("a.csv").write_text(f"model,seed,MAP\nOurs,7,0.3\nOurs,{spelling},0.5\nOurs,8,0.5\n")
    options = ("--table", "table.csv", "--values", "a.csv", "--mean-over", "seed")
    message = refused("init", *options, "jones2026")
    assert "row 3" in message and "row 2" in message


def test_init_mean_over_published_column():
    """Capitals do not make another column of one that the table has."""
    Path("table.csv").write_text("model,Topic,metric,value\nA,1,MAP,0.3\nA,2,MAP,0.4\n")
    Path("a.csv").write_text("model,topic,metric,value\nA,1,MAP,0.3\nA,2,MAP,0.4\n")
    options = ("--table", "table.csv", "--values", "a.csv", "--mean-over", "topic")
    assert "table.csv" in refused("init", *options, "smith2026")


@pytest.mark.parametrize(
    "option", [("--rename", "a=b"), ("--mean-over", "seed"), ("--only", "a=b")]
)
def test_init_options_of_values(option):
    message = refused("init", "--table", "table.csv", *option, "smith2026")
    assert option[0] in message and "--values" in message
