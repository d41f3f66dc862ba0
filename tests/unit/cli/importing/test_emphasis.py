"""`everycell import`: what is bold or underlined on a web page."""

import pandas as pd
import pytest
from command_line import call


@pytest.mark.parametrize(
    ("cell", "note"),
    [
        ("<td><b>1.0</b></td>", "bold"),
        ("<td><strong>1.0</strong></td>", "bold"),
        ('<td class="text-right Bold">1.0</td>', "bold"),
        ('<td><span class="fw-semibold">1.0</span></td>', "bold"),
        ('<td><math><mn class="ltx_mathvariant_bold">1.0</mn></math></td>', "bold"),
        ('<td style="color: red; font-weight: 600">1.0</td>', "bold"),
        ('<td style="font-weight:bold !important">1.0</td>', "bold"),
        ('<td><u class="best">1.0</u></td>', "bold, underlined"),
        ('<td class="bold"><span style="text-decoration:underline dotted">1.0</span></td>',
         "bold, underlined"),
        ('<td><span class="text-decoration-underline">1.0</span></td>', "underlined"),
        ('<td>1.0<sup class="bold">†</sup></td>', ""),
        ('<td class="bold-border">1.0</td>', ""),
        ('<td class="not-bold boldness semi_bold">1.0</td>', ""),
        ('<td class="no-underline">1.0</td>', ""),
        ('<td style="font-weight: 500">1.0</td>', ""),
        ('<td style="--font-weight: bold; text-underline-offset: 2px">1.0</td>', ""),
        ('<td class="bold"><span style="font-weight: normal">1.0</span></td>', ""),
        ('<td><b style="font-weight:normal">1.0</b></td>', ""),
    ],
)  # fmt: skip
def test_import_emphasis_of_html(tmp_path, monkeypatch, cell, note):
    monkeypatch.chdir(tmp_path)
    rows = f"<tr><th>Model</th><th>Acc</th></tr><tr><td>A</td>{cell}</tr><tr><td>B</td><td>0.5</td>"
    (tmp_path / "page.html").write_text(f"<table>{rows}</tr></table>")
    code, out, _ = call("import", "page.html", "out.csv")
    assert code == 0
    cells = pd.read_csv("out.csv", dtype=str, keep_default_na=False)
    assert cells["value"].tolist() == ["1.0", "0.5"]
    notes = cells["note"].tolist() if "note" in cells else ["", ""]
    assert notes == [note, ""]
    assert ("Offered as claims" in out) == ("bold" in note)
