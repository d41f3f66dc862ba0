"""Chapter 3 of lajewska2025, full tier: what is asked for where the user has not named it."""

from __future__ import annotations

import pytest

TABLES = "results/full/lajewska2025"


@pytest.mark.slow
def test_a_run_file_that_is_not_there_is_named(clean):
    done = clean.snakemake("-n", f"{TABLES}/text_3_5.csv")
    assert done.returncode != 0 and "`cast_systems.organisers_run` is null" in done.stdout


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        (None, "`cast_systems.runs_2020` is null"),
        ("runs", "'runs', which is not a folder"),
        ("src", "'src', which has no t5-canard_bm25_mono-t5_2020.trec(.gz)"),
    ],
)
def test_runs_that_are_not_there_are_named(clean, folder, message):
    if folder:
        clean.edit("config.yaml", "  runs_2020: null", f"  runs_2020: {folder}")
    done = clean.snakemake("-n", f"{TABLES}/table_3_3.csv")
    assert done.returncode != 0 and message in done.stdout


def test_a_rewriter_that_nobody_named_is_an_error(clean):
    done = clean.snakemake("-n", "work/castturns/rewrites/2021.qrecc.csv")
    assert done.returncode != 0 and "`cast_systems.rewriters.qrecc` is null" in done.stdout
