"""docs/library.md: its examples run, and it has one for each name of `everycell.public`."""

import re
from pathlib import Path

import pytest

from everycell.public import NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)


def test_library_page_names():
    code = "".join(BLOCKS)
    assert {name for name in NAMES if not re.search(rf"everycell\.{name}\b", code)} == {
        # Plumbing between a run and the arrays that measures take.
        *("as_qrels", "as_run", "ranked_counts", "read_counts"),
        # In the notation of ir_measures, as the example of TExFAIR.
        *("AWRF", "GFR", "NFaiRR", "RBO"),
    }


@pytest.mark.filterwarnings("ignore::pandas.errors.Pandas4Warning")  # of PyTerrier
def test_library_page_examples(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    outputs = {}
    names: dict[str, dict] = {block: {} for block in BLOCKS}
    for block in BLOCKS:
        exec(block, names[block])
        outputs[block] = capsys.readouterr().out
        if comments := re.findall(r"^print\(.*\)  # (.*)$", block, re.M):
            assert outputs[block].splitlines() == comments
    first = names[BLOCKS[0]]
    # Of q1 the best is first; of q2 the only relevant document is.
    assert first["values"].mean().to_dict() == pytest.approx(
        {"nDCG@10": 1.0, "P(rel=2)@5": 0.1, "MRR": 1.0}
    )
    assert first["comparison"].scores.loc["AP", "rmse"] == 0
    assert first["report"].means["TExFAIR"].between(0, 1).all()
    (output,) = (outputs[block] for block in BLOCKS if "ir_measures.parse_measure" in block)
    assert "TExFAIR(counts='counts.parquet')@2" in output
    assert output.endswith("NFaiRR(counts='counts.parquet',tau=0)@10\n")
