"""Appendix A of lajewska2025: participants in the studies of chapter 4, and expert scores.

One function per rule of ``chA.smk``.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.render.figures import box_panels
from papers.lajewska2025.counts import exact_quotient
from papers.lajewska2025.user_study_data import DEMOGRAPHICS, read_answers, read_expert_scores


def demographics(job: ResultJob) -> None:
    """Table A.1: demographics of the workers of both studies."""
    files, pairs, rows = job.input, job.params.pairs_per_hit, []
    for demographic, options in DEMOGRAPHICS.items():
        for study, path in (
            ("Answerability", files.answerability),
            ("Viewpoint", files.viewpoints),
        ):
            # The file repeats a worker's answer for each pair of the HIT.
            counts = read_answers(Path(path), demographic.lower(), options).value_counts()
            rows += [
                (demographic, name, study, "n_workers", exact_quotient(counts[name], pairs))
                for name in options
            ]
    job.write_table(
        pd.DataFrame(rows, columns=["demographic", "option", "study", "metric", "value"])
    )


def expert_scores(job: ResultJob) -> None:
    """Figure A.1: expert scores of the variants of a response."""
    scores = read_expert_scores(Path(job.input.experts))
    scores = scores.sort_values(["dimension", "variant", "query"], ascending=[False, True, True])
    job.write_figure(
        scores.rename(columns={"score": "value"}),
        box_panels(
            scores,
            group="variant",
            panel="dimension",
            value="score",
            group_label="Variant of the response",
            value_label="Expert score (1 to 5)",
            whiskers=job.params.whiskers,
        ),
    )
