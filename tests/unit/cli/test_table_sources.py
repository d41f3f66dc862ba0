"""What `everycell init` writes and says about a published table."""

import pytest
import yaml
from command_line import call

from everycell.cli.table_sources import notes_on_not_run


@pytest.mark.parametrize("number", [0, 1, 3, 4, 40])
def test_notes_on_not_run(number):
    """A few cells have a line each; many have one with their count."""
    notes = notes_on_not_run([{"system": f"s{n}", "metric": "MAP"} for n in range(number)])
    assert len(notes) == (number if number <= 3 else 1)
    assert ("s0, MAP" in "".join(notes)) == (number > 0)
    assert (f"{number} groups" in "".join(notes)) == (number > 3)


@pytest.mark.parametrize(("yes", "no"), [("✓", "–"), ("yes", "no"), ("✓", "✗"), ("x", "–")])
def test_init_ablation(tmp_path, monkeypatch, yes, no):
    """Each component of an ablation names the rows, under its published heading."""
    monkeypatch.chdir(tmp_path)
    rows = [(yes, yes, yes), (yes, yes, no), (yes, no, yes), (no, yes, yes), (no, no, no)]
    lines = [f"|{'|'.join(row)}|.{n}|.{n}5|" for n, row in enumerate(rows, 1)]
    heading = "|RM3|Rerank|QE|MAP|RR|\n|-|-|-|-|-|"
    (tmp_path / "t.md").write_text("\n".join([heading, *lines, ""]))
    assert call("import", "t.md", "t.csv")[0] == 0
    (tmp_path / "v.csv").write_text((tmp_path / "t.csv").read_text().replace(".15", ".16"))
    assert call("init", "smith2026", "--table", "t.csv", "--values", "v.csv")[0] == 0
    record = yaml.safe_load((tmp_path / "smith2026/published/smith2026/ch1.yaml").read_text())
    table = record["artefacts"]["table_1"]
    assert table["layout"] == {"rows": ["rm3", "rerank", "qe"], "columns": ["metric"]}
    assert table["names"] == {"rm3": "RM3", "qe": "QE"}
