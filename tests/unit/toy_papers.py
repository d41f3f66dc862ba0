"""A made-up paper of one chapter and one artefact, as files."""

from pathlib import Path

PAPER = "{title: Toy paper, authors: N. N., year: 2026, kind: paper, reference: none}\n"

CELLS = """\
row,metric,value
a,AP,0.30
a,n,12
b,AP,0.4
b,n,7
"""

RECORD = """\
    kind: table
    title: A toy table
    source: p. 1
    tiers: {embedded: {state: reproduced, needs: nothing}}
    decimals: {AP: 2, n: 0}
"""


def write_paper(
    folder: Path,
    record: str = RECORD,
    cells: str | None = CELLS,
    *,
    key: str = "toy",
    name: str = "table_1",
    about: str = PAPER,
    chapter: str = "1",
) -> Path:
    """Write a paper of one chapter and one artefact; return the folder of all papers."""
    home = folder / key
    home.mkdir(parents=True, exist_ok=True)
    (home / "paper.yaml").write_text(about)
    (home / f"ch{chapter}.yaml").write_text(
        f'chapter: "{chapter}"\ntitle: First\nartefacts:\n  {name}:\n{record}'
    )
    if cells is not None:
        (home / f"{name}.csv").write_text(cells)
    return folder
