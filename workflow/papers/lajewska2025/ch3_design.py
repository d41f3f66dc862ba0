"""Parts of the reproduced systems, by names of runs (Table 3.1 of chapter 3 of lajewska2025)."""

from __future__ import annotations

import re

import pandas as pd

from everycell.base.errors import DataError
from everycell.jobs.result_job import ResultJob

#: Part of a run's name -> stage of the pipeline, and its name in Table 3.1.
PARTS = {
    "t5-canard": ("query_rewriting", "T5 fine-tuned on CANARD"),
    "t5-qrecc": ("query_rewriting", "T5 fine-tuned on QReCC"),
    "bm25": ("first_pass", "BM25"),
    "ance": ("first_pass", "ANCE"),
    "mono-t5": ("reranking", "monoT5"),
    "mono-duo-t5": ("reranking", "mono/duoT5"),
}
#: Part of the name of runs whose lexical query is expanded by pseudo-relevance feedback.
FEEDBACK = "prf"
#: Numbers after a part, such as ``-17-26`` or ``-b-45-k-95``.
_PARAMETERS = re.compile(r"(-[bk])?-\d+")


def parts(job: ResultJob) -> None:
    """Table 3.1: rewriter, first pass and re-ranker of each system."""
    rows = [
        (system, stage, value)
        for system, run in job.params.runs.items()
        for stage, value in stages_of(run).items()
    ]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))


def stages_of(run: str) -> dict[str, str]:
    """Stages of a run by its name, such as ``t5-canard_bm25_mono-t5``."""
    names = [_PARAMETERS.sub("", part) for part in run.split("_")]
    has_feedback = FEEDBACK in names
    stages: dict[str, str] = {stage: "" for stage, _ in PARTS.values()}
    for name, (stage, label) in PARTS.items():
        if name in names:
            text = f"{label} with PRF" if name == "bm25" and has_feedback else label
            stages[stage] = " + ".join(filter(None, [stages[stage], text]))
    unknown = sorted(set(names) - {*PARTS, FEEDBACK})
    if unknown or not all(stages.values()):
        raise DataError(
            value=run,
            fault="the stages of the run cannot be read from its name",
            expected=f"parts from {', '.join((*PARTS, FEEDBACK))}",
        )
    return stages
