"""Pipelines of conversational search from runs of chapter 3 of lajewska2025 (Figure 3.1)."""

from __future__ import annotations

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.render.flow import AFTER, flow_chart
from papers.lajewska2025.ch3_systems import (
    CAST_FUSED_RUNS,
    CAST_RERANKED_RUNS,
    CAST_REWRITING_METHODS,
)

#: Rankers by their names in runs.
RANKERS = {
    "bm25": "BM25",
    "bm25-tuned": "BM25, tuned",
    "bm25-rm3": "BM25 with RM3",
    "dense": "MiniLM: dot product of embeddings",
}
_START = "turn and history"


def architectures(job: ResultJob) -> None:
    """Figure 3.1: stages of one run per architecture."""
    panels = [run_boxes(run).assign(panel=name) for name, run in job.params.runs.items()]
    boxes = pd.concat(panels, ignore_index=True)
    job.write_figure(boxes, flow_chart(boxes))


def run_boxes(run: str) -> pd.DataFrame:
    """Stages of a run, from the turn to the ranking."""
    boxes: dict[str, tuple[str, str, list[str]]] = {_START: ("input", _START, [])}
    last = _add_run(run, boxes)
    boxes["ranking"] = ("input", "ranking", [last])
    return pd.DataFrame(
        [
            {"box": name, "group": group, "text": text, "after": AFTER.join(after)}
            for name, (group, text, after) in boxes.items()
        ]
    )


def _add_run(run: str, boxes: dict[str, tuple[str, str, list[str]]]) -> str:
    """Add the stages of a run, and return the name of the last one."""
    if run in CAST_RERANKED_RUNS:
        first, rewriter, aggregation = CAST_RERANKED_RUNS[run]
        after = [_add_run(first, boxes), _add_rewriter(rewriter, boxes)]
        boxes["mono"] = ("re-ranking", "point-wise re-ranking", after)
        if aggregation is None:
            return "mono"
        boxes["duo"] = ("re-ranking", "pairwise re-ranking", ["mono"])
        return "duo"
    if run in CAST_FUSED_RUNS:
        parts = [_add_run(part, boxes) for part in CAST_FUSED_RUNS[run]]
        boxes[run] = ("retrieval", "reciprocal rank fusion", parts)
        return run
    rewriter, _, ranker = run.partition(".")
    boxes[run] = ("retrieval", RANKERS[ranker], [_add_rewriter(rewriter, boxes)])
    return run


def _add_rewriter(rewriter: str, boxes: dict[str, tuple[str, str, list[str]]]) -> str:
    names = {method: name for name, method in CAST_REWRITING_METHODS.items()}
    boxes[rewriter] = ("rewriting", f"query rewriter {names[rewriter]}", [_START])
    return rewriter
