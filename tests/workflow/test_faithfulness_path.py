"""Chapter 5 of heuss2025, full tier: what is asked for where the user has not named it."""

from __future__ import annotations

import pytest
from workflow.project import Project

RESULTS = "results/full/heuss2025"


def configure(project: Project, models: str) -> None:
    project.edit(
        "config.yaml", "    models: {}\n    data: null", f"    models: {models}\n    data: cited"
    )
    project.edit(
        "config.yaml", "    questions: 1444\n    depth: 5", "    questions: 9\n    depth: 2"
    )


@pytest.mark.slow
def test_what_the_experiment_needs_is_said(clean: Project) -> None:
    done = clean.snakemake("-n", f"{RESULTS}/figure_5_6.png")
    assert done.returncode != 0
    assert "`citation_faithfulness.full.models` is empty; this tier needs" in done.stdout
    configure(clean, "{smollm2: spans}")
    (clean.folder / "cited").mkdir()
    done = clean.snakemake("-n", f"{RESULTS}/figure_5_6.png")
    assert (
        "`citation_faithfulness.full.data` is 'cited', which has no questions.jsonl" in done.stdout
    )
