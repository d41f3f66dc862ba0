"""docs/library.md: its examples run, and it names all of `everycell.public`."""

import re
from pathlib import Path

import pytest

from everycell.public import NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")


def test_every_public_name_is_on_the_page():
    assert {name for name in NAMES if not re.search(rf"\b{name}\b", PAGE)} <= {
        # Of the plumbing between a run and the arrays that measures take.
        "ranked_counts",
        "read_counts",
    }


def test_the_examples_run_and_print_what_they_say(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)
    assert len(blocks) == 3
    names: dict[str, object] = {}
    said = []
    for block in blocks:
        exec(block, names)
        said.append(capsys.readouterr().out)
    # Of q1 the best is first; of q2 the only relevant document is.
    assert names["values"].mean().to_dict() == pytest.approx(
        {"nDCG@10": 1.0, "P(rel=2)@5": 0.1, "MRR": 1.0}
    )
    assert names["found"].scores.loc["AP", "rmse"] == 0
    assert names["report"].means["TExFAIR"].between(0, 1).all()
    (printed,) = re.findall(r"print\(.*# (\[.*\])", PAGE)
    assert said[1].strip() == printed
    assert "TExFAIR(counts='counts.parquet')@2" in said[2]
    assert said[2].endswith("NFaiRR(counts='counts.parquet',tau=0)@10\n")
