"""`everycell check-verdicts` certifies nothing if it compares nothing."""

import pytest
from command_line import refused

from everycell.cli import checks

HEADER = "tier,artefact,key,verdict\n"
ROW = "embedded,a2026/table_1,x,equal\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (HEADER, []),
        (HEADER + ROW + ROW.replace("equal", "different"), []),
        (HEADER + ROW, ["--tier", "embeded"]),
        (HEADER + ROW, ["--tier", "embedded", "--tier", "released"]),
    ],
)
def test_check_verdicts_nothing_to_compare(tmp_path, monkeypatch, text, options):
    monkeypatch.setattr(checks, "_verdicts", dict)
    (tmp_path / "expected.csv").write_text(text)
    assert "expected.csv" in refused("check-verdicts", tmp_path / "expected.csv", *options)
