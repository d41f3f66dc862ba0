"""A colour is written in one place, which style sheet, LaTeX, badge, figures and terminal read."""

from __future__ import annotations

import re
from pathlib import Path

import everycell
from everycell.receipts.code import imported_files
from everycell.render.page.pages import page_environment
from everycell.render.palette import COLOURS
from everycell.render.vocabulary import TINTS, css_class
from everycell.verdicts.reports import VERDICTS

LIBRARY = Path(everycell.__file__).parent
PAPERS = LIBRARY.parents[1] / "workflow" / "papers"
#: A colour in hexadecimal form; the deviation plot has placeholders with four zeros.
COLOUR = re.compile(r"#(?!0000)(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{3,4})\b")
#: Pages of their own, and a library.
OTHERS = ("rag/templates/provenance.html", "minisearch-7.2.0.js")


def test_colours_are_written_once():
    files = [
        path
        for folder in (LIBRARY, PAPERS)
        for suffix in ("py", "css", "j2", "js")
        for path in folder.rglob(f"*.{suffix}")
        if path.name not in ("palette.py", "vocabulary.py") and not path.as_posix().endswith(OTHERS)
    ]
    assert len(files) > 200
    colours = {path.name: COLOUR.findall(path.read_text(encoding="utf-8")) for path in files}
    assert {name: listed for name, listed in colours.items() if listed} == {}


def test_tints_of_all_verdicts():
    assert [name for name in TINTS if name != "surrogate"] == list(VERDICTS)
    fields = ("light", "dark", "bar", "terminal")
    assert all(getattr(TINTS[verdict], field) for verdict in VERDICTS for field in fields)
    assert len({tint.light for tint in TINTS.values()}) == len(TINTS)
    assert len(set(COLOURS)) == len(COLOURS)


def test_imported_files_of_figures_have_no_colours_of_the_page():
    """A colour of the page remakes no figure."""
    modules = imported_files(LIBRARY / "render/figures.py", [LIBRARY.parent])
    names = {path.name for path in modules}
    assert "palette.py" in names and "vocabulary.py" not in names


def test_style_sheet_has_all_tints():
    style = page_environment().get_template("page.css").render()
    for name, tint in TINTS.items():
        assert f"--{css_class(name)}: {tint.light};" in style
        assert f"--{css_class(name)}: {tint.dark};" in style
        assert f".{css_class(name)} {{ background: var(--{css_class(name)}); }}" in style
        assert (f"--bar-{css_class(name)}: {tint.bar.lower()};" in style) == bool(tint.bar)
