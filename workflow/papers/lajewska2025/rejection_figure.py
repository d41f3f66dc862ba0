"""Figure of rejection rates by planted effect, for chapters 4 and 7 of lajewska2025."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from everycell.render.figures import interval_lines

if TYPE_CHECKING:
    from everycell.jobs.result_job import ResultJob


def write_rejection_figure(job: ResultJob, rates: pd.DataFrame, *, alpha: float, panel: str | None):
    """Write the supplementary figure `power` from the output of `rejection_rates`."""
    labelled = rates.assign(term=rates["term"].str.replace("_", " ").str.replace(":", " x "))
    job.write_figure(
        rates,
        interval_lines(
            labelled,
            x="planted_effect",
            value="rejection_rate",
            low="low",
            high="high",
            series="term",
            panel=panel,
            x_label="Planted effect (standard deviations\nof a rater's noise)",
            value_label="Share of studies with p below alpha",
            reference=alpha,
        ),
        name="power",
    )
