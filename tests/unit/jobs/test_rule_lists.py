"""Lists of a rule that evaluates runs."""

from types import SimpleNamespace

import pytest

from everycell.base.errors import DataError
from everycell.jobs.rule_lists import check_lists

RULE = """\
use rule evaluation as smith2026_first with:
    params:
        systems=["Other"],


use rule evaluation as smith2026_evaluation with:
    params:
        systems=lambda wildcards: ["BM25"],
        measures={"MAP": "AP"},
        columns=["system", "metric"],


use rule smith2026_evaluation as smith2026_third with:
    params:
        collections=["19", "20"],
"""
FITTING = {
    "systems": ["BM25", "Reranked"], "collections": [], "judged": [], "measures": {"MAP": "AP"},
    "columns": ["system", "metric"], "in_percent": [],
}  # fmt: skip


def evaluation(tmp_path, **changes):
    """A job of the rule, whose file is in the folder."""
    path = tmp_path / "workflow/papers/smith2026/ch1.smk"
    path.parent.mkdir(parents=True)
    path.write_text(RULE)
    inputs = {"runs": ["a.run", "b.run"], "qrels": "qrels.txt"}
    return SimpleNamespace(rule="smith2026_evaluation", input=inputs, params=FITTING | changes)


def test_check_lists_fitting(tmp_path):
    check_lists(evaluation(tmp_path), tmp_path)
    several = {"judged": ["19"], "collections": ["19", "19"], "columns": ["system", "year", "m"]}
    check_lists(evaluation(tmp_path / "several", **several), tmp_path / "several")
    of_two_columns = {
        "systems": [["A", "few"], ["A", "zero"]],
        "columns": ["model", "prompt", "metric"],
    }
    check_lists(evaluation(tmp_path / "two", **of_two_columns), tmp_path / "two")


@pytest.mark.parametrize(
    ("name", "values", "line"),
    [
        ("systems", ["BM25"], 8),
        ("systems", [], 8),
        ("systems", ["BM25", "Reranked", "Third"], 8),
        ("systems", ["BM25", ["Reranked", "few"]], 8),
        # The rule does not set these; then its first line is named.
        ("collections", ["19"], 6),
        ("judged", ["19", "20"], 6),
        ("columns", ["system"], 10),
        ("columns", ["system", "year", "metric"], 10),
        ("in_percent", ["nDCG"], 6),
    ],
)
def test_check_lists_other_length(tmp_path, name, values, line):
    with pytest.raises(DataError) as error:
        check_lists(evaluation(tmp_path, **{name: values}), tmp_path)
    assert (str(error.value.path), error.value.row, error.value.column) == (
        "workflow/papers/smith2026/ch1.smk",
        line,
        name,
    )
