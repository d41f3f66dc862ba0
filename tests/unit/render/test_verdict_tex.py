import re
import shutil
import subprocess
from functools import partial
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace

import pytest

from everycell.base.errors import DataError
from everycell.cli.tex_tables import macros_as_tex
from everycell.records.cells import is_number
from everycell.records.papers import all_artefacts, load_papers
from everycell.render.verdict_tables import (
    supplement_grid,
    surrogate_grid,
    verdict_table_as_tex,
)
from everycell.verdicts.reports import VERDICTS, JudgedCell, Report, Result

PUBLISHED = Path(__file__).parents[3] / "published"
#: Cells of the widest tables, by the reason of their width.
WIDEST = [
    "abolghasemi2026/figure_2_3",
    "abolghasemi2026/table_2_2",
    "abolghasemi2026/table_5_15",
    "heuss2025/table_2_2",
    "lajewska2025/table_5_1",
    "lajewska2025/table_7_4",
    "sakai2023/table_2",
]


def report(artefact):
    """A report in which verdicts of all kinds alternate."""
    table = artefact.cells
    keys = table[artefact.key_columns].to_dict("records")
    cells = [
        JudgedCell(
            key=key,
            published=value,
            reproduced=float(value) * 1.1 if is_number(value) else value,
            verdict=verdict,
            why=None,
        )
        for key, value, verdict in zip(keys, table["value"], cycle(VERDICTS), strict=False)
    ]
    counts = {name: sum(cell.verdict == name for cell in cells) for name in VERDICTS}
    return Report(artefact=artefact.id, tier="released", state="reproduced", cells=cells,
                  verdicts=counts, claims=[], errata=[], files=[])  # fmt: skip


def compile_document(folder, text):
    (folder / "t.tex").write_text(text)
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = done.stdout.decode(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Overfull" not in log and "Float too large" not in log
    for natural, width in re.findall(r"scaled \[([0-9.]+)pt\] to ([0-9.]+)pt", log):
        assert float(width) / float(natural) >= 0.6
    return log


def measured(tex):
    return tex.replace(r"\resizebox", r"\typeout{scaled [\the\wd0] to \the\linewidth}\resizebox")


def test_verdict_table_as_tex_colours_and_legend():
    artefact = load_papers(PUBLISHED)["sakai2023"].artefacts["table_2"]
    result = report(artefact)
    tex = verdict_table_as_tex(artefact, result)
    for verdict, count in result.verdicts.items():
        colour = f"{{everycell-{verdict.replace(' ', '-')}}}"
        assert tex.count(rf"\cellcolor{colour}") == count > 0
        assert rf"\providecolor{colour}" in tex and rf"\colorbox{colour}" in tex
        assert f"{verdict} ({count})" in tex
    apart = next(cell for cell in result.cells if cell.verdict == "different")
    assert f"{apart.published}/{apart.reproduced:.4f}" in tex and r"$\times$" in tex


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("name", WIDEST)
def test_verdict_table_as_tex_widest_tables(tmp_path, name):
    paper, _, artefact = name.partition("/")
    record = load_papers(PUBLISHED)[paper].artefacts[artefact]
    compile_document(tmp_path, measured(verdict_table_as_tex(record, report(record))))
    numbers = re.findall(r"\\numberline \{(\d+)\}", (tmp_path / "t.aux").read_text())
    assert numbers and set(numbers) == {"1"}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_verdict_table_as_tex_in_one_document(tmp_path):
    artefacts = [one for one in all_artefacts(load_papers(PUBLISHED)) if not one.cells.empty]
    for artefact in artefacts:
        name = artefact.id.replace("/", "-")
        tex = verdict_table_as_tex(artefact, report(artefact))
        (tmp_path / f"{name}.tex").write_text(measured(tex))
    packages = r"\usepackage[T1]{fontenc}\usepackage{textcomp,array,booktabs,graphicx,rotating}"
    inputs = [rf"\input{{{one.id.replace('/', '-')}}}\clearpage" for one in artefacts]
    compile_document(
        tmp_path,
        "\n".join(
            [
                rf"\documentclass{{article}}{packages}\usepackage[table]{{xcolor}}",
                r"\begin{document}",
                *inputs,
                r"\end{document}",
            ]
        ),
    )
    tables = re.findall(r"\\numberline \{(\d+)\}", (tmp_path / "t.aux").read_text())
    assert len(set(tables)) == len(artefacts)


def macros(paper):
    """Macros of all artefacts of a paper, with verdicts of all kinds."""
    artefacts = load_papers(PUBLISHED)[paper].artefacts.values()
    return macros_as_tex(
        [Result(one, "released", report(one)) for one in artefacts if not one.cells.empty]
    )


def document(tex, body):
    return (
        r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{textcomp,hyperref}"
        rf"\newcommand{{\everycellpage}}{{https://host.example/p_1}}{tex}"
        rf"\begin{{document}}\raggedright {body}\end{{document}}"
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
@pytest.mark.parametrize("paper", ["abolghasemi2026", "lajewska2025", "sakai2023"])
def test_macros_as_tex_compile(tmp_path, paper):
    tex = macros(paper)
    names = re.findall(r"csname everycellvalue:(.*?)\\endcsname", tex)[::10]
    marks = re.findall(r"csname everycellmark:(.*?)\\endcsname", tex)
    body = [rf"\everycellvalue{{{name}}}" for name in names]
    tables = [
        rf"\begin{{table}}\everycellmark{{{name}}}x\caption{{y}}\end{{table}}\clearpage"
        for name in marks
    ]
    compile_document(tmp_path, document(tex, " ".join([*body, *tables])))
    assert names and marks


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_macros_as_tex_link_and_unknown_name(tmp_path):
    tex = macros("sakai2023")
    compile_document(
        tmp_path, document(r"\pdfcompresslevel=0\pdfobjcompresslevel=0 " + tex,
                           r"\everycellmark{table_1}"),
    )  # fmt: skip
    page = rb"https://host.example/p_1/pages/sakai2023_ch1.html#sakai2023-table_1"
    assert page in (tmp_path / "t.pdf").read_bytes()
    with pytest.raises(AssertionError, match="no value `table_1/Unknown'"):
        compile_document(tmp_path, document(tex, r"\everycellvalue{table_1/Unknown}"))


def test_macros_as_tex_names_are_unique():
    names = re.findall(r"\\csname (everycell\w+:.*?)\\endcsname\{", macros("abolghasemi2026"))
    assert len(names) == len(set(names)) > 100


@pytest.mark.parametrize("read", [partial(surrogate_grid, SimpleNamespace()), supplement_grid])
@pytest.mark.parametrize(
    "text",
    [
        "system,MAP\na,1\n",
        "system\na\n",
        "value\n1\n",
        "a,value\nx,1\nx,2\n",
        "",
        "a\n1,2\n1,2,3\n",
    ],
)
def test_grid_forged_table(tmp_path, read, text):
    """A table that no job writes."""
    path = tmp_path / "table_1.csv"
    path.write_text(text)
    with pytest.raises(DataError) as error:
        read(path)
    assert error.value.path == path
