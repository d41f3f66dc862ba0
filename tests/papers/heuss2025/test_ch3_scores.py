"""The authors' file of scores with deviations."""

from __future__ import annotations

from pathlib import Path

import pytest

from everycell.base.errors import DataError
from papers.heuss2025.ch3_scores import read_uncertain_scores

HEAD = "qid,docid,mean_score,std_score\n"


@pytest.mark.parametrize(
    ("text", "row", "column"),
    [
        ("qid,docid,mean_score\n7,31,-1.5\n", None, "std_score"),
        (HEAD + "7,31,high,0.5\n", "row 2", "mean_score"),
        (HEAD + "7,31,-1.5,0.5\n7,32,-1.5,-0.5\n", "row 3", "std_score"),
        (HEAD + "7,31,-1.5,\n", "row 2", "std_score"),
        (HEAD + "7,31,-1.5,0.5\n7,31,-2,0.5\n", "row 3", None),
    ],
)
def test_read_uncertain_scores_invalid(
    tmp_path: Path, text: str, row: str | None, column: str | None
) -> None:
    path = tmp_path / "msmarco_pointwise_uncertainty.csv"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_uncertain_scores(path)
    assert (caught.value.path, caught.value.row, caught.value.column) == (path, row, column)


def test_read_uncertain_scores_other_columns(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    path.write_text("docid,rank,qid,std_score,mean_score\n031,1,7,0.5,-1e-3\n")
    # Ids stay text.
    assert read_uncertain_scores(path).to_dict("records") == [
        {"query": "7", "document": "031", "mean": -0.001, "deviation": 0.5}
    ]
