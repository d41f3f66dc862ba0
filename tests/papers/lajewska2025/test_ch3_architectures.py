"""Figure 3.1: stages of runs."""

import pytest

from papers.lajewska2025.ch3_architectures import RANKERS, run_boxes
from papers.lajewska2025.ch3_systems import CAST_FUSED_RUNS, CAST_RERANKED_RUNS


def before(run: str) -> dict[str, set[str]]:
    boxes = run_boxes(run).set_index("box")["after"]
    return {name: set(filter(None, after.split("; "))) for name, after in boxes.items()}


def test_run_boxes_one_rewriter():
    assert before("canard.bm25.mono") == {
        "turn and history": set(),
        "canard": {"turn and history"},
        "canard.bm25": {"canard"},
        "mono": {"canard.bm25", "canard"},
        "ranking": {"mono"},
    }


def test_run_boxes_rewriter_per_stage():
    stages = before("canard.fused-rm3.duo.qrecc")
    assert stages["mono"] == {"canard.fused-rm3", "qrecc"} and stages["ranking"] == {"duo"}
    assert stages["canard.fused-rm3"] == set(CAST_FUSED_RUNS["canard.fused-rm3"])


def test_run_boxes_dense():
    assert before("canard.dense")["ranking"] == {"canard.dense"}


@pytest.mark.parametrize("run", [run for run in CAST_RERANKED_RUNS if "organisers" not in run])
def test_run_boxes_all_reranked_runs(run):
    first, rewriter, aggregation = CAST_RERANKED_RUNS[run]
    boxes = run_boxes(run)
    assert rewriter in before(run)["mono"]
    assert boxes["text"].str.startswith("pairwise").any() == (aggregation is not None)
    assert boxes["text"].isin(RANKERS.values()).any() and first.partition(".")[0] in before(run)
