import re
from pathlib import Path

import pytest
from rich.text import Text

from everycell.cli.grids import grid_lines
from everycell.cli.printing import output_console
from everycell.cli.showing import _lines_of_unpublished
from everycell.records.papers import all_artefacts, load_papers
from everycell.render.grid import Cell, Grid
from everycell.render.verdict_tables import SurrogateCell, published_grid

PUBLISHED = Path(__file__).parents[3] / "published"
GRID = Grid(
    names=["System", ""],
    columns=[
        (year, measure) for year in ("CAsT 2020", "CAsT 2021") for measure in ("MRR", "NDCG@3")
    ],
    keys=[("BM25", "T5"), ("BM25", "a new rewriter")],
    labels=[("BM25", "T5"), ("BM25", "a new rewriter")],
    rows=[
        [Cell("0.1"), Cell("0.2"), Cell("0.3"), Cell("0.4")],
        [Cell("0.5"), None, Cell("0.7"), Cell("0.8")],
    ],
)


def text_lines(cell):
    """A published value over a reproduced one."""
    return [Text(cell.text), Text("0.9999 =")]


def test_grid_lines_groups_of_columns():
    lines = [line.plain for line in grid_lines(GRID, text_lines, 48)]
    assert lines == [
        "                            CAsT 2020",
        "                        ──────────────────",
        "System                       MRR    NDCG@3",
        "BM25    T5                   0.1       0.2",
        "                        0.9999 =  0.9999 =",
        "        a new rewriter       0.5",
        "                        0.9999 =",
        "",
        "                            CAsT 2021",
        "                        ──────────────────",
        "System                       MRR    NDCG@3",
        "BM25    T5                   0.3       0.4",
        "                        0.9999 =  0.9999 =",
        "        a new rewriter       0.7       0.8",
        "                        0.9999 =  0.9999 =",
    ]


def test_grid_lines_one_part():
    lines = [line.plain for line in grid_lines(GRID, text_lines, 80)]
    assert sum("BM25" in line for line in lines) == 1
    assert re.fullmatch(r" +─{18}  ─{18}", lines[1])


def test_grid_lines_80_columns():
    artefacts = [one for one in all_artefacts(load_papers(PUBLISHED)) if not one.cells.empty]
    assert len(artefacts) > 100
    for artefact in artefacts:
        grid = published_grid(artefact)
        lines = [line.plain for line in grid_lines(grid, text_lines, 80)]
        assert max(map(len, lines)) <= 80, artefact.id
        text = "\n".join(lines)
        heads = [label.label for row in grid.head for label in row]
        labels = [label.label for row in grid.label_cells for label in row]
        # Lines break between words, and after a hyphen.
        for word in re.findall(r"[^\s-]+", " ".join(map(str, [*heads, *labels]))):
            assert word in text, artefact.id


@pytest.mark.parametrize(("columns", "width"), [(None, 160), ("80", 80)])
def test_output_console_width(monkeypatch, columns, width):
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns:
        monkeypatch.setenv("COLUMNS", columns)
    assert output_console().width == width


@pytest.mark.parametrize("words", [1, 9, 40])
def test_lines_of_unpublished_text(words):
    """A text is wrapped to lines of equal width, so that right-aligned lines begin together."""
    text = " ".join(["document"] * words)
    lines = [line.plain for line in _lines_of_unpublished(SurrogateCell(None, text, text, "", 0))]
    assert " ".join(" ".join(lines).split()) == text
    assert len({len(line) for line in lines}) == 1 and len(lines[0]) <= 60
    assert len(lines) == -(-words // 6)
