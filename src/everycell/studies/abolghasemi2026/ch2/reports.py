"""Comparison of the systems in a table with ranx."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from everycell.retrieval.ranx_report import comparison_report

#: Format of the report -> heading of a task.
HEADINGS = {"markdown": "## {}\n\n", "latex": "% {}\n"}


def task_reports(
    ranked: Mapping[str, tuple[Mapping[str, pd.DataFrame], pd.DataFrame]],
    names: Mapping[str, str],
    measures: Sequence[str],
    level: float,
) -> dict[str, str]:
    """Reports of all tasks, one below the other, in each format."""
    reports = {}
    for task, (runs, qrels) in ranked.items():
        runs_by_name = {names[row].replace(",", ""): run for row, run in runs.items()}
        reports[task] = comparison_report(runs_by_name, qrels, measures, level=level)
    return {
        form: "\n\n".join(
            heading.format(task) + getattr(report, form) for task, report in reports.items()
        )
        + "\n"
        for form, heading in HEADINGS.items()
    }
