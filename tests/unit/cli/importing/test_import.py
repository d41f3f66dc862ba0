"""`everycell import`: what it prints, writes, offers and refuses."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from command_line import call, refused
from unit.cli.importing.examples import BOOKTABS, GRID, MARKDOWN, imported

from everycell.records.papers import load_papers
from everycell.verdicts.record_checks import check_records


def test_import_only_shows(folder):
    """Without a file to write, it shows source, values and offered claims."""
    Path("README.md").write_text(MARKDOWN, encoding="utf-8")
    code, out, _ = call("import", "README.md")
    assert code == 0 and [*folder.iterdir()] == [folder / "README.md"]
    lines = [line.split() for line in out.splitlines()]
    assert ["read", "ColBERT", "0.71", "(†,", "bold)"] in [line[:5] for line in lines]
    assert "ColBERT has the highest MAP." in out
    assert "ColBERT has the second highest nDCG@10." in out
    assert "everycell import README.md table.csv" in out


@pytest.mark.parametrize(("measures", "label"), [(93, 12), (12, 60), (3, 200)])
def test_import_shows_wide_table(folder, monkeypatch, measures, label):
    """Each heading and value is whole on a line of 80 characters, beside the name of its row."""
    monkeypatch.setenv("COLUMNS", "80")
    names = [f"set_measure_{number}_at_100" for number in range(measures)]
    rows = ["|".join(["System", *names]), "|".join("-" * (measures + 1))]
    rows += ["|".join([name * label, *["0.2531"] * measures]) for name in "AB"]
    Path("t.md").write_text("".join(f"|{row}|\n" for row in rows), encoding="utf-8")
    lines = call("import", "t.md")[1].partition("Read ")[0].splitlines()
    assert max(map(len, lines)) <= 80
    assert [word for line in lines for word in line.split() if "set_" in word] == names
    read = [line.split()[1:] for line in lines if line.startswith("read")]
    assert sum(words[1:].count("0.2531") for words in read) == 2 * measures
    assert {words[0][0] for words in read} == {"A", "B"}


def test_import_row_names_to_choose(folder):
    """A column that could name the rows too is not said to name none."""
    Path("t.md").write_text("|Run name|Paper run|MAP|\n|-|-|-|\n|aa|bb|.1|\n|cc|dd|.2|\n")
    (note,) = (line for line in call("import", "t.md")[1].splitlines() if "Not imported" in line)
    assert "Run name already names the rows: Paper run." in note


def test_import_command_to_write(folder):
    """The printed command has the options of this one, as a shell reads them."""
    table = "|Team|Run name|A|B|\n|-|-|-|-|\n|ab|my run|.1|.2|\n|cd|run|.3|.4|\n"
    (folder / "a b.md").write_text(f"{table}\n{table}")
    options = ["--number", "2", "--names", "Run name"]
    options += ["--measure", "acc", "--measure", "B=it's"]
    out = call("import", "a b.md", *options)[1]
    (line,) = (line for line in out.splitlines() if line.startswith("To write it: everycell "))
    words = shlex.split(line.removeprefix("To write it: everycell "))
    assert words == ["import", "a b.md", "table.csv", *options]
    assert call(*words)[0] == 0


def test_import_several_tables(folder):
    """Without a number, the tables of the file are listed."""
    Path("a.tex").write_text(BOOKTABS + GRID)
    code, out, err = call("import", "a.tex")
    assert code == 2 and not out and "1: 4 rows, 6 columns: Effectiveness on DL 2019" in err
    assert ("GOV2", "Queries") in imported("a.tex", BOOKTABS + GRID, "--number", "2")


def test_import_existing_file(folder):
    imported("README.md", MARKDOWN)
    assert "out.csv already exists" in refused("import", "README.md", "out.csv")


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("table_1.py", "import os\n\nX = [1, 2]\n", "Python code"),
        ("table.R", "x <- c(1, 2)\n", "R code"),
        ("a.ipynb", '{"cells": [{"source": ["<table>"]}]}', "a Jupyter notebook"),
        ("config.yaml", "a: 1\nb: [1, 2]\n", "settings"),
        ("a.run", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t\n", "a run"),
        ("a.csv", "q1 Q0 d1 1 0.5 t\nq1 Q0 d2 2 0.4 t\n" * 9999, "a run"),
        ("qrels.txt", "q1 0 d1 1\nq1 0 d2 0\n", "relevance judgements"),
    ],
)
def test_import_other_file(folder, name, text, kind):
    Path(name).write_text(text)
    assert f"{name} is {kind}" in refused("import", name, "x.csv")


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("a.md", "no table\n", [], "a.md has no table in markdown"),
        ("a.tex", "\\begin{tabular}{ll}a&b\\\\", [], "a.tex, line 1 begins a tabular"),
        ("a.tex", GRID + GRID, ["--number", "3"], "a.tex has 2 tables"),
        ("a.tex", r"\begin{tabular}{ll}A&B\\a&" + "{" * 200 + "1\\end{tabular}", [], "nested"),
        ("a.html", "<table><tr><td colspan=99999>a", [], "a.html, line 1: colspan"),
        (
            "a.html",
            "<table><tr><td rowspan=9999 colspan=9999>" + "<tr>" * 9998 + "</table>",
            [],
            "cells",
        ),
        ("a.md", "|A|MAP|\n|-|-|\n|a|.1|\n|a|.2|\n", [], "row 3 of the table"),
        ("a.md", "|A|MAP|MAP|\n|-|-|-|\n|a|.1|.2|\n", [], "row 2 of the table"),
        ("a.md", "|A|B|\n|-|-|\n|a|b|\n", [], "a.md has a table without numbers"),
        ("a.csv", "A,B\na,1,2\n", [], "a.csv, row 2 has 3 fields"),
        ("a.csv", 'A,B\n"a,1\n', [], "a.csv cannot be read"),
        ("a.csv", "A;MAP\na;0.61\nb;0,58\n", [], "row 3 of the table (b): MAP is '0,58'"),
    ],
)
def test_import_refused(folder, name, text, options, message):
    Path(name).write_text(text)
    before = sorted(folder.iterdir())
    assert message in refused("import", name, "out.csv", *options)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("values", "offers", "is_reported"),
    [
        (["**.5**", "<u>.4</u>", ".3"], ["the highest", "the second highest"], False),
        ([".5", "<u>.4</u>", "**.3**"], ["the lowest", "the second lowest"], False),
        (
            ["**.5**", "**.5**", "<u>.3</u>"],
            ["the highest", "the highest", "the second highest"],
            False,
        ),
        ([".5", "**.4**", ".3"], [], True),
        # Without a bold value, it is unclear what is best.
        ([".5", ".4", "<u>.3</u>"], [], False),
        (["**.5**", ".4", "<u>.3</u>"], ["the highest"], True),
    ],
)
def test_import_offers(folder, values, offers, is_reported):
    """Emphasis that fits no order is reported, not asserted."""
    rows = "".join(f"|s{number}|{value}|\n" for number, value in enumerate(values))
    Path("t.md").write_text(f"|System|MAP|\n|-|-|\n{rows}")
    _, out, _ = call("import", "t.md", "table.csv")
    assert [
        line.split(" has ")[1][:-5] for line in out.splitlines() if " has the" in line
    ] == offers
    assert ("MAP: " in out) == is_reported


def test_import_offers_become_comments(folder):
    """`init` writes them as comments; without the marks, they are valid claims."""
    imported("README.md", MARKDOWN)
    Path("values.csv").write_text(
        Path("out.csv").read_text(encoding="utf-8").replace("0.66", "0.7")
    )
    code, _, err = call("init", "smith2026", "--table", "out.csv", "--values", "values.csv")
    assert (code, err) == (0, "")
    assert check_records(load_papers(folder / "smith2026/published")) == []
    path = folder / "smith2026/published/smith2026/ch1.yaml"
    text = path.read_text(encoding="utf-8")
    assert "claims" not in yaml.safe_load(text)["artefacts"]["table_1"]
    before, _, after = text.partition("    # claims:\n")
    path.write_text(before + "    claims:\n" + after.replace("    # ", "    "), encoding="utf-8")
    claims = yaml.safe_load(path.read_text(encoding="utf-8"))["artefacts"]["table_1"]["claims"]
    assert claims[0]["claim"] == "ColBERT has the highest MAP." and len(claims) == 4
    assert check_records(load_papers(folder / "smith2026/published")) == []


def test_import_without_scipy(folder):
    """Names of measures are parsed, but nothing is computed."""
    Path("a.md").write_text("|A|MAP|nDCG@10|\n|-|-|-|\n|a|.1|.2|\n")
    program = (
        "import atexit, sys\nsys.argv = ['everycell', 'import', 'a.md']\n"
        "atexit.register(lambda: print('scipy' in sys.modules))\n"
        "from everycell.cli.entry import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "False" and done.returncode == 0
