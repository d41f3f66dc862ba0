"""`everycell init`: what it writes from runs or values, and what it refuses."""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from command_line import call, refused

from everycell.cli.new_paper import INSTALL
from everycell.cli.table_sources import EXAMPLE
from everycell.receipts.receipts import made_by_other_code, receipts_in
from everycell.records.papers import load_papers
from everycell.records.registry import load_registry
from everycell.trec.runs import read_qrels, read_run
from everycell.verdicts.record_checks import check_records

REPOSITORY = Path(__file__).parents[3]
RUNS = ("--runs", "first.run", "second.run", "--qrels", "qrels.txt")
TABLE = "system,metric,value\nFirst,MAP,0.71\nFirst,P@1,0.5\nSecond,MAP,0.58\nSecond,P@1,0.5\n"


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """Return the working folder, with runs, qrels and a table."""
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    (tmp_path / "table.csv").write_text(TABLE)
    shutil.copy(tmp_path / "first.run", tmp_path / "bm25.run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def record(repository: Path) -> dict:
    text = (repository / "published/smith2026/ch1.yaml").read_text()
    return yaml.safe_load(text)["artefacts"]["table_1"]


def rule(repository: Path) -> str:
    return (repository / "workflow/papers/smith2026/ch1.smk").read_text()


def test_init_complete(folder):
    code, out, err = call("init", "smith2024")
    assert (code, err) == (0, "") and "cd smith2024 && snakemake --cores 2" in out
    repository = folder / "smith2024"
    names = {path.relative_to(repository).as_posix() for path in repository.rglob("*")}
    assert names >= {
        *("Snakefile", "config.yaml", "pyproject.toml", "README.md", ".gitignore"),
        *(".github/workflows/reproduce.yml", "profiles/default/config.yaml"),
        *("workflow/papers/__init__.py", "workflow/papers/smith2024/__init__.py"),
        "workflow/papers/smith2024/ch1.smk",
        *(f"published/smith2024/{name}" for name in ("paper.yaml", "registry.yaml", "table_1.csv")),
        *(f"data/smith2024-data/{name}" for name in ("first.run", "second.run", "qrels.txt")),
    }
    assert not names & {"workflow/rules", "workflow/scripts", "src"}
    assert f"\n{INSTALL}\n" in (repository / "README.md").read_text()
    papers = load_papers(repository / "published")
    assert check_records(papers) == [] and papers["smith2024"].year == 2024
    assert len(load_registry(repository).keys("smith2024-data")) == 3


def test_init_line_ends_in_git(folder):
    """Git converts no line ends, whatever its settings, here and in this repository."""
    assert call("init", "smith2024")[0] == 0
    repository = folder / "smith2024"
    git = ["git", "-C", repository, "-c", "core.autocrlf=true"]
    before = {p: p.read_bytes() for p in repository.rglob("*") if p.is_file()}
    for command in (["init", "-q"], ["add", "-A"], ["checkout-index", "-f", "-a"]):
        subprocess.run([*git, *command], check=True)
    assert {path: path.read_bytes() for path in before} == before
    assert (repository / ".gitattributes").read_text() == (
        REPOSITORY / ".gitattributes"
    ).read_text()


@pytest.mark.parametrize(
    ("table", "options", "stated"),
    [
        (TABLE, [], [': ["First", "Second"],', ': ["system", "metric"],']),
        # Other names of columns, another order, and an unknown measure.
        (
            "Measure,Model,value\nMean AP,First,0.71\nMean AP,Second,0.58\n",
            ["--measures", "Mean AP=AP"],
            ['measures={"Mean AP": "AP"}', ': ["Model", "metric"],'],
        ),
        # By the tag of the run, without case and punctuation.
        ("system,metric,value\nFIRST!,AP,0.7\nsecond,AP,0.6\n", [], ['["FIRST!", "second"]']),
        ("system,metric,value\nFirst,AP,70.8\nSecond,AP,58\n", [], [': ["AP"],']),
        # Counts are not percentages.
        (
            "system,metric,value\nFirst,NumQ,2\nSecond,NumQ,2\n",
            [],
            ["relevant_from=1,\n    message"],
        ),
        # Names that differ only in punctuation.
        (
            "system,metric,value\nBM25,AP,0.7\nBM25+,AP,0.6\n",
            ["--runs", "BM25+=first.run", "BM25=bm25.run"],
            [': ["BM25+", "BM25"],'],
        ),
    ],
)
def test_init_runs_and_table(folder, table, options, stated):
    (folder / "table.csv").write_text(table)
    more = RUNS[3:] if "--runs" in options else RUNS
    assert call("init", "smith2026", "--table", "table.csv", *more, *options)[0] == 0
    assert all(text in rule(folder / "smith2026") for text in stated)
    assert check_records(load_papers(folder / "smith2026" / "published")) == []


def test_init_decimals(folder):
    (folder / "table.csv").write_text(
        TABLE.replace("0.71", "0.7").replace("Second,P@1,0.5", "Second,P@1,1")
    )
    call("init", "smith2026", "--table", "table.csv", *RUNS)
    assert record(folder / "smith2026")["decimals"] == {"MAP": 2, "P@1": 1}
    assert record(folder / "smith2026")["precision"] == [
        {"cells": {"system": "First", "metric": "MAP"}, "decimals": 1},
        {"cells": {"system": "Second", "metric": "P@1"}, "decimals": 0, "measured": True},
    ]
    assert check_records(load_papers(folder / "smith2026" / "published")) == []


def test_init_special_characters(folder):
    """Also runs of one file name, and two names of one measure."""
    for system in ("first", "second"):
        (folder / system).mkdir()
        (folder / f"{system}.run").rename(folder / system / "run.txt")
    systems = ["BM25$_{k1=0.9}$", 'My "best" run\\']
    measures = {"MAP": "AP", "AP": "AP", "{MRR}=10": "RR@10", "Retrieved": "NumRet"}
    cells = [(system, measure, "0.5") for system in systems for measure in measures]
    pd.DataFrame(cells, columns=["sys", "metric", "value"]).to_csv("table.csv", index=False)
    runs = [f"{systems[0]}=first/run.txt", f"{systems[1]}=second/run.txt"]
    options = ["--table", "table.csv", *RUNS[3:], "--runs", *runs, "--measures"]
    assert call("init", "smith2026", *options, *map("=".join, measures.items()))[0] == 0
    repository = folder / "smith2026"
    result = "results/released/smith2026/table_1.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", result]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    values = pd.read_csv(repository / result).set_index(["sys", "metric"])["value"]
    assert values.index.to_list() == [(system, metric) for system, metric, _ in cells]
    first = values[systems[0]].round(2).to_dict()
    # trec_eval's number of retrieved documents is that of all queries.
    assert first == {"MAP": 0.71, "AP": 0.71, "{MRR}=10": 0.75, "Retrieved": 6}


@pytest.mark.parametrize("target", [".", "empty", "link"])
def test_init_empty_folder(folder, target, monkeypatch):
    (folder / "empty").mkdir()
    (folder / "link").symlink_to("empty")
    monkeypatch.chdir(folder / ("empty" if target == "." else "."))
    assert call("init", "smith2026", target)[0] == 0
    assert record(folder / "empty")["kind"] == "table"
    assert not [*folder.rglob(".everycell-*")] and (folder / "link").is_symlink()


def test_init_sigterm(folder):
    """As while the example is copied."""
    program = (
        "import os, signal, everycell.cli.new_paper as new\n"
        "new.add_file = lambda *_, **__: os.kill(os.getpid(), signal.SIGTERM)\n"
        "from everycell.cli.entry import main; main()"
    )
    before = sorted(folder.rglob("*"))
    done = subprocess.run([sys.executable, "-c", program, "init", "smith2026"])
    assert done.returncode == 128 + 15 and sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("runs", [RUNS, (*RUNS[:2], *RUNS[3:])])
def test_init_title_counts_published_systems(folder, runs):
    """Also those without a run."""
    for rows, systems in ((TABLE, "2 systems"), (TABLE + "Third,MAP,0.4\n", "3 systems")):
        (folder / "table.csv").write_text(rows)
        assert call("init", "smith2026", "--table", "table.csv", *runs)[0] == 0
        assert record(folder / "smith2026")["title"] == f"Ranking quality of {systems}"
        shutil.rmtree(folder / "smith2026")


def test_systems_without_a_run_get_the_verdict_not_run(folder):
    (folder / "table.csv").write_text(TABLE + "Third,MAP,0.4\nThird,P@1,0.1\n")
    (folder / "qrels.txt").write_text((folder / "qrels.txt").read_text() + "q3 0 d1 1\n")
    code, out, _ = call("init", "smith2026", "--table", "table.csv", *RUNS)
    assert code == 0 and "Not run: Third." in out and "first.run contains 2 of 3" in out
    assert record(folder / "smith2026")["not_run"][0]["cells"] == {"system": "Third"}
    assert check_records(load_papers(folder / "smith2026" / "published")) == []


def test_values_need_no_rule_of_their_own(folder):
    (folder / "values.csv").write_text(TABLE.replace("0.58", "0.5833"))
    options = ("--values", "values.csv", "--table", "table.csv")
    assert call("init", "smith2026", "a b", *options)[0] == 0
    assert "use rule given_values as smith2026_values" in rule(folder / "a b")
    assert check_records(load_papers(folder / "a b" / "published")) == []


def test_init_without_key(folder):
    assert call("init", "--table", "table.csv", *RUNS)[0] == 0
    (repository,) = folder.glob("paper20??")
    assert (repository / "published" / repository.name / "paper.yaml").is_file()


@pytest.mark.parametrize(
    ("options", "table", "message"),
    [
        (["class"], TABLE, "'class'"),
        (["rule2026x1"], TABLE, "'rule2026x1'"),
        (["seed"], TABLE, "seed is taken"),
        (["smith2026", "full"], TABLE, "full exists"),
        (["smith2026", "table.csv"], TABLE, "table.csv exists"),
        ([], "system,metric,value\nFirst,MAP,good\nSecond,MAP,bad\n", "table.csv, line 2"),
        ([], TABLE + "First,MAP,0.7\n", "table.csv, line 6"),
        ([], TABLE + "Third,MAP,1e999\n", "table.csv, line 6"),
        ([], TABLE.replace("metric", "value"), "table.csv, line 1"),
        # All unknown measures at once.
        ([], TABLE.replace("MAP", "Quality").replace("P@1", "Speed"), "'Quality', 'Speed' in the"),
        # The measure that a name begins with; nothing if it begins with none.
        (
            [],
            TABLE.replace("MAP", "MAP (mean)").replace("P@1", "Best P@1"),
            "--measures 'MAP (mean)=MAP' 'Best P@1=MEASURE'",
        ),
        (["--measures", "MAP=foo"], TABLE, "--measures 'MAP=foo': 'foo'"),
        ([], TABLE.replace("Second", "Other"), "second.run"),
        ([], "set,task,MAP,value\na,First,MAP,0.7\n", "set, task, MAP"),
        (
            [],
            "task,system,metric,value\na,First,MAP,0.7\nb,First,MAP,0.7\n",
            "task, system, metric",
        ),
        (
            [],
            "prompt,system,metric,value\na,First,MAP,0.7\nb,First,MAP,0.7\n",
            "prompt: a, b; metric: MAP",
        ),
        ([*RUNS[:2], "second.run", "none.run"], TABLE, "none.run"),
        (["--runs", "first.run", "First=second.run"], TABLE, "2 runs match the system First"),
        (["--qrels", "none.txt"], TABLE, "none.txt"),
        (
            ["--runs", "bm25.run"],
            "system,metric,value\nBM25,AP,0.7\nBM25+,AP,0.6\n",
            "BM25 or BM25+",
        ),
        (
            [],
            "métrica,metric,value\nMAP,First,0.7\nMAP,Second,0.6\nP@1,First,0.5\n",
            "table.csv has systems in the column `metric` and measures in `métrica`",
        ),
        (["--runs", "first=first.run", "second.run"], TABLE, "first is not a system"),
        (["--runs", "First=a{b}.run", "second.run"], TABLE, "a{b}.run: the name"),
        (["--runs", "First=..run", "second.run"], TABLE, "..run: the name"),
        (["--runs", "First=f\\x.run", "second.run"], TABLE, "f\\x.run: the name"),
        (["--runs", 'First=f"+__import__("os")+".run', "second.run"], TABLE, "the name"),
        (["--measures", "Mean=AP"], TABLE, "'Mean=AP'"),
        (["--measures", "MAP"], TABLE, "'MAP'"),
        (["--measures", "MAP=AP", "MAP=RR"], TABLE, "'MAP=RR'"),
        (["--qrels", "other.txt"], TABLE, "first.run contains none of the 1 queries of other.txt"),
        (["--runs", "table.csv"], TABLE, "table.csv"),
        (["--values", "table.csv"], TABLE, "--values"),
        (["--script", "table.csv"], TABLE, "--script"),
        (["--script", "__init__.py"], TABLE, "__init__.py"),
        (["--qrels", "A=qrels.txt", "--qrels", "other.txt"], TABLE, "other.txt has no name"),
        (["--qrels", "A=qrels.txt", "A=other.txt"], TABLE, "--qrels has several files"),
        (["--qrels", "A=qrels.txt"], TABLE, "no key column of table.csv has all"),
    ],
)
def test_init_invalid_input(folder, options, table, message):
    (folder / "full").mkdir()
    (folder / "full/file").touch()
    (folder / "other.txt").write_text("x1 0 d1 1\n")
    (folder / "table.csv").write_text(table)
    for name in ("a{b}.run", "..run", "f\\x.run", 'f"+__import__("os")+".run'):
        shutil.copy("first.run", name)
    before = sorted(folder.rglob("*"))
    more = RUNS[3:] if "--runs" in options else RUNS
    more = more[:3] if "--qrels" in options else more
    assert message in refused("init", "--table", "table.csv", *more, *options)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("values", ["table.csv", "copy.csv"])
def test_init_published_as_reproduced(folder, values):
    shutil.copy("table.csv", "copy.csv")
    message = refused("init", "smith2026", "--values", values, "--table", "table.csv")
    assert values in message and "--values" in message and not Path("smith2026").exists()
    Path("copy.csv").write_text(TABLE.replace("0.71", "0.7123"))
    assert call("init", "smith2026", "--values", "copy.csv", "--table", "table.csv")[0] == 0


def test_init_values_of_other_cells(folder):
    options = ("--values", "values.csv", "--table", "table.csv")
    other = TABLE.replace("system", "model,seed").replace("First,", "First,1,")
    (folder / "values.csv").write_text(other.replace("Second,", "Second,2,"))
    assert "values.csv: the key columns are model, seed" in refused("init", *options)
    (folder / "values.csv").write_text("model,metric,value\nOther,MAP,0.4\nThird,MAP,0.4\n")
    assert "values.csv: the key columns are model, metric" in refused("init", *options)
    for number in (1, 2, 7):
        rows = "".join(f"Other,F{row},n.s.\n" for row in range(number))
        (folder / "values.csv").write_text("system,metric,value\nFirst,MAP,0.4\n" + rows)
        message = refused("init", "smith2026", *options)
        listed = min(number, 5)
        assert message.count("values.csv, line ") == listed and f"line {listed + 2} " in message
        assert ("2 more" in message) == (number == 7) and "(still without a value are" in message


@pytest.mark.parametrize(
    ("names", "published"),
    [
        (["map", "P_1"], ["AP", "P@1"]),
        (["map", "P_1"], ["MAP", "Prec@1"]),
        (["ndcg_cut_10", "recip_rank"], ["nDCG@10", "MRR"]),
        (["recall_1000", "success_1"], ["Recall@1k", "Hit@1"]),
        (["MAP", "P@1", "num_q", "gm_map"], ["MAP", "P@1"]),
        (["f1", "EM-Score"], ["F1", "EM score"]),
        (["recall_100", "ndcg_cut_10"], ["recall_at_100", "ndcg_at_10"]),
        (["RR@10", "P_10"], ["mrr_at_10", "P @ 10"]),
    ],
)
def test_init_values_under_other_names(folder, names, published):
    """Names of tools mean the published ones; if these are all found, others are left out."""
    for path, systems, measures in (
        ("table.csv", ["First", "BM25 + RM3"], published),
        ("values.csv", ["first", "BM25+RM3", "third"], names),
    ):
        keys = [f"{system},{measure},0.5\n" for system in systems for measure in measures]
        (folder / path).write_text(
            "system,metric,value\n" + "".join(keys) + "\n" * (path == "values.csv")
        )
    code, out, err = call("init", "smith2026", "--table", "table.csv", "--values", "values.csv")
    assert (code, err) == (0, "") and "Not run" not in out and "of third, which" in out
    values = pd.read_csv(folder / "smith2026/data/smith2026-data/values.csv")
    assert sorted(set(values["metric"])) == sorted(published) and len(values) == 4


@pytest.mark.parametrize(
    ("names", "published"),
    [
        # Two measures of one meaning, a cut-off that differs, and a published measure not found.
        (["map", "ap"], ["MAP", "P@1"]),
        (["recip_rank", "P_1"], ["RR@10", "P@1"]),
        (["P_1", "num_q"], ["MAP", "P@1"]),
    ],
)
def test_init_values_under_unclear_names(folder, names, published):
    for path, measures in (("table.csv", published), ("values.csv", names)):
        rows = [f"First,{name},0.{number}\n" for number, name in enumerate(measures, len(path))]
        (folder / path).write_text("system,metric,value\n" + "".join(rows))
    message = refused("init", "smith2026", "--table", "table.csv", "--values", "values.csv")
    assert "values.csv, line" in message and published[0] in message


#: Results of tools by name of the file: `First` and `Second` with an accuracy of 0.7 and 0.8.
TOOLS = {
    "mlflow_ui.csv": "Start Time,Duration,Run ID,Name,Source Type,Source Name,User,Status,lr,acc\n"
    "2023-01-01 10:00:00,1.1min,0a,First,LOCAL,a.py,ada,FINISHED,1e-05,0.7\n"
    "2023-01-01 10:00:00,1.1min,0b,Second,LOCAL,a.py,ada,FINISHED,1e-05,0.8\n",
    "mlflow.csv": "run_id,experiment_id,status,metrics.acc,params.lr,tags.mlflow.runName\n"
    "0a,0,FINISHED,0.7,1e-05,First\n0b,0,FINISHED,0.8,1e-05,Second\n",
    "wandb.csv": '"Name","State","Notes","User","Tags","Created","Runtime","Sweep","lr","acc"\n'
    '"First","finished","-","ada","x, y","2023-05-02T08:56:22.000Z","345","","0.00001","0.7"\n'
    '"Second","finished","-","ada","","2023-05-02T08:56:22.000Z","341","","0.00001","0.8"\n',
    "ranx.json": json.dumps({
        "stat_test": "fisher", "metrics": ["acc", "mrr"], "model_names": ["First", "Second"],
        "First": {"scores": {"acc": 0.7, "mrr": 0.1}, "comparisons": {}},
        "Second": {"scores": {"acc": 0.8, "mrr": 0.1}, "comparisons": {}},
    }),
    "helm.json": json.dumps({
        "title": "Accuracy",
        "header": [{"value": "Model", "metadata": {}}, {"value": "acc"}, {"value": "EM"}],
        "rows": [
            [{"value": "First"}, {"value": 0.7, "style": {"font-weight": "bold"}}, {"value": 1.0}],
            [{"value": "Second"}, {"value": 0.8, "description": "min=0.8"}, {"markdown": False}],
        ],
    }),
}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
def test_init_values_as_tools_write_them(folder, name):
    (folder / "table.csv").write_text("system,metric,value\nfirst,acc,70.0\nsecond,acc,81.0\n")
    (folder / name).write_text(TOOLS[name])
    code, out, err = call("init", "--table", "table.csv", "--values", name, "smith2026")
    assert (code, err) == (0, "") and f"{name}: imported" in out and "multiplied" in out
    values = pd.read_csv(folder / "smith2026/data/smith2026-data/values.csv")
    assert values[["system", "metric", "value"]].to_numpy().tolist() == [
        ["first", "acc", 70], ["second", "acc", 80],
    ]  # fmt: skip


@pytest.mark.parametrize("model", ["", "First", "Other"])
def test_init_values_of_one_system(folder, model):
    """A column that only the table has is added, unless a column of the values contradicts it."""
    rows = TABLE.splitlines()[:3]
    (folder / "table.csv").write_text("\n".join(rows) + "\n")
    names = ["model,metric,value", *(row.replace("First", model) for row in rows[1:])]
    text = "\n".join(names if model else [name.partition(",")[2] for name in names])
    (folder / "values.csv").write_text(text.replace("0.71", "0.70") + "\n")
    options = ("--table", "table.csv", "--values", "values.csv")
    if model == "Other":
        assert "values.csv: the key columns are model, metric" in refused("init", *options)
        return
    code, out, _ = call("init", "smith2026", *options)
    assert code == 0 and ("Added: the column system" in out) == (not model)
    assert ("Read: the column model as system" in out) == bool(model)


@pytest.mark.parametrize(
    ("published", "own"),
    [
        (["run_name"], ["system"]),
        (["system"], ["run_name", "model"]),
        (["label"], ["label", "model"]),
    ],
)
def test_init_values_with_another_key(folder, published, own):
    """A column that shares names with a published one is read as that, in each file."""
    lines = TABLE.replace("system", published[0]).splitlines(keepends=True)
    (folder / "table.csv").write_text("".join(lines))
    files = {f"{name}.csv": lines[row : row + 2] for name, row in zip(own, (1, 3), strict=False)}
    if len(own) == 1:
        files[f"{own[0]}.csv"] = lines[1:]
    for name, rows in files.items():
        text = "".join(rows).lower().replace("0.5\n", "0.51\n")
        (folder / name).write_text(f"{name.removesuffix('.csv')},metric,value\n{text}")
    code, out, _ = call("init", "smith2026", "--table", "table.csv", "--values", *files)
    assert code == 0 and out.count("Read: the column") == len({*own} - {*published})
    assert "Not run" not in out and len(record(Path("smith2026")).get("not_run", [])) == 0


@pytest.mark.parametrize(
    "rows", ["First,Second", "First,First", "1,Dense"], ids=["both", "the same", "neither"]
)
def test_init_values_with_unclear_keys(folder, rows):
    """Two columns of one file may both mean a published one, or none of them."""
    (folder / "values.csv").write_text(f"model,variant,metric,value\n{rows},MAP,0.7\n1,2,P@1,0.5\n")
    message = refused("init", "--table", "table.csv", "--values", "values.csv", "smith2026")
    assert "values.csv: the key columns are model" in message and "First, Second" in message


@pytest.mark.parametrize("option", ["--table", "--values"])
def test_init_file_with_another_form(folder, option):
    """A table is imported in a step that shows what was read; several tables need a choice."""
    table = "| system | MAP |\n|---|---|\n| First | 0.7 |\n\nand\n\n"
    (folder / "tables.md").write_text(table * 2)
    files = {"--table": "table.csv", "--values": "table.csv"} | {option: "tables.md"}
    options = [text for pair in files.items() for text in pair]
    message = refused("init", "smith2026", *options)
    assert message.startswith("everycell: tables.md ") and "everycell import" in message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "# Bees\n\n" + "a, b\n" * 99 + "|a|MAP|\n|-|-|\n|b|1|\n"),
        ("README.md", "system, metric, value\n" + "one, two\n" * 99),
        ("a b.html", "value<table><tr><td>a<td>1</table>\n" * 99),
        ("a.TEX", "\\begin{tabular}{ll}\n" * 99),
        ("wide.csv", "system,MAP,P@1\n" + "First,0.7,0.5\n" * 99),
        ("table.csv", "system;MAP;P@1\n" + "First;0,7;0,5\n" * 99),
        ("prose.csv", "Our results, which follow,\n" + "are good, better, and best\n" * 99),
        ("empty.csv", "\n"),
    ],
)
def test_init_table_to_import(folder, name, text):
    """One sentence names the command that reads tables, whatever the file has."""
    (folder / name).write_text(text)
    (folder / "values.csv").write_text(TABLE)
    message = refused("init", "smith2026", "--table", name, "--values", "values.csv")
    assert message.startswith(f"everycell: {name} ") and "everycell import" in message
    out = "cells.csv" if name == "table.csv" else "table.csv"
    assert f"{shlex.quote(name)} {out}`" in message


def test_init_measures_of_values(folder):
    (folder / "values.csv").write_text(TABLE.replace("0.58", "0.5833"))
    options = ("--values", "values.csv", "--table", "table.csv", "--measures", "MAP=AP")
    assert refused("init", "smith2026", *options).startswith("everycell: --measures ")


@pytest.mark.parametrize("name", ["", "TREC 2018="])
def test_init_only_collection(folder, name):
    """The judgements of the only collection need no name."""
    rows = TABLE.replace("system,", "collection,system,").replace("\n", "\nTREC 2018,")
    (folder / "table.csv").write_text(rows.removesuffix("TREC 2018,"))
    options = ("--table", "table.csv", *RUNS[:-1], f"{name}qrels.txt")
    assert call("init", "smith2026", *options)[0] == 0
    assert 'collections=lambda wildcards: ["TREC 2018", "TREC 2018"]' in rule(folder / "smith2026")


def test_init_values_of_several_files(folder):
    """Tools write a file per system; a cell may be in one of them."""
    lines = TABLE.splitlines(keepends=True)
    (folder / "b.csv").write_text(lines[0] + "".join(lines[3:]))
    (folder / "a.csv").write_text(lines[0] + lines[1].replace("0.71", "0.7083") + lines[2])
    options = ("--table", "table.csv", "--values", "a.csv", "b.csv")
    assert call("init", *options, "smith2026")[0] == 0
    values = pd.read_csv(folder / "smith2026/data/smith2026-data/values.csv")
    assert values["value"].tolist() == [0.7083, 0.5, 0.58, 0.5]
    (folder / "b.csv").write_text("".join(lines[:2]))
    message = refused("init", *options, "jones2026")
    assert "b.csv, line 2" in message and "a.csv, line 2" in message
    (folder / "b.csv").write_text("metric,value\nMAP,0.5\n")
    assert "b.csv: the key columns are metric" in refused("init", *options, "jones2026")


def test_init_systems_of_two_columns(folder):
    """Runs have the names of both columns; a column that is always the same needs none."""
    rows = [f"T,{s},{p},AP,0.71\n" for s in ("A", "B") for p in ("few", "zero-shot")]
    (folder / "table.csv").write_text("track,system,prompt,metric,value\n" + "".join(rows))
    (folder / "a_zero_shot.run").write_text((folder / "second.run").read_text())
    runs = ["--runs", "T / A / few=first.run", "a_zero_shot.run", "b few=bm25.run"]
    code, out, err = call("init", "smith2026", "--table", "table.csv", *runs, *RUNS[3:])
    assert (code, err) == (0, "") and "Not run: B, zero-shot." in out
    repository = folder / "smith2026"
    assert record(repository)["title"] == "Ranking quality of 4 systems"
    assert check_records(load_papers(repository / "published")) == []
    result = "results/released/smith2026/table_1.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", result]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(repository / result).round(2).to_numpy().tolist() == [
        ["T", "A", "few", "AP", 0.71],
        ["T", "A", "zero-shot", "AP", 0.58],
        ["T", "B", "few", "AP", 0.71],
    ]


#: Two collections that share query ids, and a third one without a run.
COLLECTIONS = """system,collection,metric,value
BM25,A,map,0.58
BM25,A,P_1,0.5
BM25,B,map,0.71
Dense,A,map,0.71
Dense,A,P_1,0.5
Dense,C,map,0.3
"""


@pytest.fixture
def collections(folder) -> list[str]:
    """Arguments with runs in folders of collections, or with the collection in the file name."""
    (folder / "a").mkdir()
    shutil.copy("second.run", "a/bm25.run")
    shutil.copy("first.run", "dense-a.run")
    for old, new in (("first.run", "b.bm25.run"), ("qrels.txt", "b.txt")):
        text = (folder / old).read_text()
        (folder / new).write_text(text.replace("q1 ", "x1 ").replace("q2 ", "x2 "))
    (folder / "table.csv").write_text(COLLECTIONS)
    runs = ["--runs", "a/bm25.run", "dense-a.run", "b.bm25.run"]
    return ["smith2026", "--table", "table.csv", *runs, "--qrels", "A=qrels.txt", "B=b.txt"]


def test_init_collections(folder, collections):
    """trec_eval's names are measures; P_1 of BM25 in B is not in the table, so it is left out."""
    code, out, err = call("init", *collections)
    assert (code, err) == (0, "") and "Not run: C." in out
    repository = folder / "smith2026"
    assert record(repository)["not_run"] == [
        {
            "cells": {"collection": "C"},
            "tier": "released",
            "needs": "runs and judgements that give them",
        }
    ]
    assert 'measures={"map": "AP", "P_1": "P@1"}' in rule(repository)
    result = "results/released/smith2026/table_1.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", result]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    values = pd.read_csv(repository / result)
    assert values.round(2).to_numpy().tolist() == [
        ["BM25", "A", "map", 0.58],
        ["BM25", "A", "P_1", 0.0],
        ["Dense", "A", "map", 0.71],
        ["Dense", "A", "P_1", 0.5],
        ["BM25", "B", "map", 0.71],
    ]
    assert check_records(load_papers(repository / "published")) == []


def test_init_collections_with_shared_queries(folder, collections):
    """The path of a run decides, or the user."""
    shutil.copy("qrels.txt", "b.txt")
    shutil.copy("second.run", "b.bm25.run")
    assert call("init", *collections)[0] == 0
    assert '["A", "A", "B"]' in rule(folder / "smith2026")
    (folder / "a/bm25.run").rename("bm25.run")
    unclear = [argument.replace("a/bm25.run", "bm25.run") for argument in collections]
    assert "bm25.run contains queries of A and B" in refused("init", *unclear)
    stated = [argument.replace("a/bm25.run", "BM25@A=bm25.run") for argument in collections]
    shutil.rmtree(folder / "smith2026")
    assert call("init", *stated)[0] == 0
    assert '["A", "A", "B"]' in rule(folder / "smith2026")


def test_init_second_number_of_cells(folder):
    """A deviation is published, but runs do not give it."""
    (folder / "table.csv").write_text(TABLE + "First,MAP ±,0.05\nSecond,MAP ±,0.04\n")
    assert call("init", "smith2026", "--table", "table.csv", *RUNS)[0] == 0
    assert record(folder / "smith2026")["not_run"][0]["cells"] == {"metric": "MAP ±"}
    assert check_records(load_papers(folder / "smith2026" / "published")) == []


@pytest.mark.parametrize(
    ("values", "not_run"),
    [
        ("First,MAP,0.71\nFirst,P@1,0.5\n", [{"system": "Second"}]),
        ("First,MAP,0.71\nSecond,MAP,0.5\n", [{"metric": "P@1"}]),
        ("First,MAP,0.71\nFirst,P@1,0.5\nSecond,MAP,0.5\n",
         [{"system": "Second", "metric": "P@1"}]),
    ],
)  # fmt: skip
def test_init_partial_values(folder, values, not_run):
    (folder / "values.csv").write_text("system,metric,value\n" + values)
    options = ("--values", "values.csv", "--table", "table.csv")
    assert call("init", "smith2026", *options)[0] == 0
    entries = record(folder / "smith2026")["not_run"]
    assert [entry["cells"] for entry in entries] == not_run
    assert check_records(load_papers(folder / "smith2026" / "published")) == []


@pytest.mark.parametrize(
    ("published", "factor"), [("71.0", 100), ("0.71", 1), ("7.1", 1), ("5", 1)]
)
def test_init_values_of_a_tool(folder, published, factor):
    """The only system is left out, and shares are scaled if the paper prints percentages."""
    (folder / "table.csv").write_text(f"task,metric,value\na,acc,{published}\nb,n,3\n")
    rows = "model,task,metric,value\nm,a,acc,0.7083\nm,b,n,1\n"
    (folder / "values.csv").write_text(rows)
    code, out, _ = call("init", "smith2026", "--values", "values.csv", "--table", "table.csv")
    assert code == 0 and "model" in out and ("multiplied" in out) == (factor == 100)
    values = pd.read_csv(folder / "smith2026/data/smith2026-data/values.csv")
    assert values.to_numpy().tolist() == [["a", "acc", 0.7083 * factor], ["b", "n", 1]]


@pytest.mark.parametrize(
    ("values", "is_percent", "is_noted"),
    [
        (["58.0", "71.0", "50.0"], True, False),
        (["58.0", "0.9", "50.0"], True, True),
        (["0.58", "7.1", "0.50"], False, True),
        (["0.58", "0.71", "1.0"], False, False),
    ],
)
def test_init_percentages(folder, values, is_percent, is_noted):
    """One value above 1, such as a misprint, makes no percentages."""
    table = [f"s{n},MAP,{value}\n" for n, value in enumerate(values)]
    (folder / "table.csv").write_text("system,metric,value\n" + "".join(table))
    run = (folder / RUNS[1]).read_text()
    for n in range(3):
        (folder / f"s{n}.run").write_text(run)
    qrels = RUNS[RUNS.index("--qrels") :]
    runs = [f"s{n}={folder / f's{n}.run'}" for n in range(3)]
    code, out, _ = call("init", "smith2026", "--table", "table.csv", "--runs", *runs, *qrels)
    assert code == 0 and ("exceed 1" in out) == is_noted
    assert ("in_percent" in rule(folder / "smith2026")) == is_percent


def test_init_script(folder):
    """It runs the script, again if a module changes, and leaves nothing of the example."""
    (folder / "mine.py").write_text(
        "import sys\nfrom pathlib import Path\nfrom helper import SCORE\n"
        "Path(sys.argv[1]).write_text('system,metric,value\\nFirst,MAP,0.7083\\n"
        "First,P@1,0.5\\nSecond,MAP,0.58\\nSecond,P@1,' + SCORE)\n"
    )
    assert call("init", "smith2026", "--table", "table.csv", "--script", "mine.py")[0] == 0
    repository = folder / "smith2026"
    assert not [*repository.rglob("*.run"), *repository.rglob("qrels*")]
    helper = repository / "workflow/papers/smith2026/helper.py"
    helper.write_text("SCORE = '0.5'")
    result = "results/released/smith2026/table_1.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", result]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert pd.read_csv(repository / result)["value"].tolist() == [0.7083, 0.5, 0.58, 0.5]
    assert check_records(load_papers(repository / "published")) == []
    helper.write_text("raise ValueError('no data')")
    [receipt] = made_by_other_code(receipts_in(repository / "results"), repository)
    assert receipt.name == "table_1.receipt.json"
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True)
    assert done.returncode and "ValueError: no data" in done.stderr + done.stdout


RANX_RUN = '{"q1": {"d1": 3.0, "d2": 2.0, "d3": 1.0}, "q2": {"d4": 3.0, "d5": 2.5, "d6": 1.0}}'
MSMARCO_RUN = "q1\td1\t1\nq1\td2\t2\nq1\td3\t3\nq2\td4\t1\nq2\td5\t2\nq2\td6\t3\n"
RANX_QRELS = '{"q1": {"d1": 2, "d2": 0, "d3": 1}, "q2": {"d4": 0, "d5": 1, "d6": 1}}'
BEIR_QRELS = (
    "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq1\td3\t1\nq2\td4\t0\nq2\td5\t1\nq2\td6\t1\n"
)
MSMARCO_QRELS = (
    "q1\t0\td1\t2\nq1\t0\td2\t0\nq1\t0\td3\t1\nq2\t0\td4\t0\nq2\t0\td5\t1\nq2\t0\td6\t1\n"
)


@pytest.mark.parametrize(
    ("run", "run_text", "qrels", "qrels_text", "notes"),
    [
        ("First.json", RANX_RUN, "qrels.json", RANX_QRELS, 2),
        ("first.tsv", MSMARCO_RUN, "test.tsv", BEIR_QRELS, 2),
        ("first.tsv", MSMARCO_RUN, "qrels.dev.small.tsv", MSMARCO_QRELS, 1),
    ],
)
def test_init_other_formats(folder, run, run_text, qrels, qrels_text, notes):
    """The repository has the files in TREC format, with the same documents in the same order."""
    (folder / "only").mkdir()
    (folder / "only" / run).write_text(run_text)
    (folder / "only" / qrels).write_text(qrels_text)
    files = ["--runs", f"only/{run}", "second.run", "--qrels", f"only/{qrels}"]
    code, out, err = call("init", "smith2026", "--table", "table.csv", *files)
    assert (code, err) == (0, "") and out.count("in TREC format") == notes
    data = folder / "smith2026/data/smith2026-data"
    (converted,) = (path for path in data.iterdir() if path.name.lower().startswith("first"))
    original = read_run("first.run")[["query", "document"]]
    pd.testing.assert_frame_equal(read_run(converted)[["query", "document"]], original)
    (judged,) = (path for path in data.iterdir() if path.suffix != ".run")
    pd.testing.assert_frame_equal(read_qrels(judged), read_qrels("qrels.txt"))


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        ("--runs", '{"q1": ["d1"]}', "other cannot be read as JSON"),
        ("--runs", '{"q1": {"d1": "x"}}', "other cannot be read as JSON"),
        ("--qrels", '{"q1": {"d1": 1.5}}', "other cannot be read as JSON"),
        ("--qrels", '{"q1": ', "other cannot be read as JSON"),
        ("--runs", '{"q1": {"d1": 1}, "q1": {"d2": 2}}', "the key 'q1' occurs twice"),
        ("--qrels", '{"q1": {"d1": 1, "d1": 0}}', "the key 'd1' occurs twice"),
        ("--runs", '{"q1": {"d1": NaN}}', "other cannot be read as JSON"),
        ("--qrels", "query-id\tcorpus-id\tscore\nq1\td1\tx\n", "other, line 2"),
        ("--qrels", "query-id\tcorpus-id\tscore\nq1\td1\n", "other, line 2"),
    ],
)
def test_init_other_formats_invalid(folder, option, text, message):
    (folder / "other").write_text(text)
    before = sorted(folder.rglob("*"))
    files = ["--qrels", "other", *RUNS[:3]] if option == "--qrels" else [*RUNS[3:], *RUNS[:1]]
    files += ["First=other", "second.run"] if option == "--runs" else []
    assert message in refused("init", "smith2026", "--table", "table.csv", *files)
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("keys", "rows"),
    [
        # Systems in collections, with two levels of headings.
        ([(s, c) for s in "AB" for c in ("DL19", "DL20")], ["system"]),
        # Groups of systems: each system is in one of them.
        ([("sparse", "A"), ("sparse", "B"), ("dense", "C"), ("dense", "D")], ["system", "part"]),
        # Too many columns.
        ([(s, str(number)) for s in "AB" for number in range(13)], ["system", "part"]),
    ],
)
def test_init_layout_of_three_keys(folder, keys, rows):
    values = "".join(f"{key[0]},{key[1]},MAP,0.5\n" for key in keys)
    (folder / "table.csv").write_text("system,part,metric,value\n" + values)
    (folder / "values.csv").write_text(
        "system,part,metric,value\n" + values.replace(",0.5", ",0.6")
    )
    call("init", "smith2026", "--table", "table.csv", "--values", "values.csv")
    columns = [key for key in ("system", "part", "metric") if key not in rows]
    assert record(folder / "smith2026")["layout"] == {"rows": rows, "columns": columns}


@pytest.mark.parametrize("name", ["my table.R", "mine.ipynb"])
def test_init_script_of_another_language(folder, name):
    (folder / "table.csv").write_text(TABLE)
    (folder / name).write_text("{}")
    assert call("init", "smith2026", "--table", "table.csv", "--script", name)[0] == 0
    paper = folder / "smith2026/workflow/papers/smith2026"
    runner = paper / f"run_{Path(name).stem}.py"
    assert (paper / name).read_text() == "{}" and f'("{name}")' in runner.read_text()
    assert f'runs("smith2026/{runner.name}")' in rule(folder / "smith2026")


@pytest.mark.parametrize("has_program", [True, False])
def test_init_runner_of_r(folder, has_program):
    """The script gets the name of the file for its values."""
    (folder / "table.csv").write_text(TABLE)
    (folder / "mine.R").write_text("content of the script\n")
    call("init", "smith2026", "--table", "table.csv", "--script", "mine.R")
    (folder / "bin").mkdir()
    if has_program:
        (folder / "bin/Rscript").write_text('#!/bin/sh\n/bin/cat "$2" > "$3"\n')
        (folder / "bin/Rscript").chmod(0o755)
    runner = folder / "smith2026/workflow/papers/smith2026/run_mine.py"
    done = subprocess.run(
        [sys.executable, runner, "values.csv"],
        env={"PATH": str(folder / "bin")}, cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode == 0) == has_program == (folder / "values.csv").exists()
    assert has_program or "Rscript was not found" in done.stderr
