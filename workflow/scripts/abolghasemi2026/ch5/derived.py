"""Results of chapter 5 that follow from other published tables."""

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch5.figures import citation_bars
from everycell.studies.abolghasemi2026.ch5.modes import SETTING, TOTAL
from everycell.studies.abolghasemi2026.ch5.published_bias import (
    bias_cells,
    counts_from_recalls,
    queries_behind,
    recalls_from_counts,
)
from everycell.studies.abolghasemi2026.ch5.published_tests import (
    TESTS,
    bias_significance,
    mark_bias,
    sensitivity_significance,
    tests_table,
)
from everycell.studies.abolghasemi2026.ch5.results import figure_cells

CLAIM = "authorship information changes attribution quality by ({})"

with ResultJob(snakemake) as job:
    (
        nq_quality,
        sensitivity,
        few_mixed,
        marco_precision,
        nq_totals,
        marco_counts,
        nq_mixed,
        marco_mixed,
    ) = map(job.input_cells, snakemake.params.declared)
    marco_recall = recalls_from_counts(marco_counts)
    quality = pd.concat([nq_quality, marco_precision, marco_recall], ignore_index=True)
    mixed = pd.concat([nq_mixed, few_mixed, marco_mixed], ignore_index=True)
    n = queries_behind([*nq_totals["value"], *marco_counts["value"]])

    tests = {
        "Table 5.2": sensitivity_significance(quality, sensitivity, n),
        "Table 5.3": bias_significance(quality, n),
        "Table 5.5": bias_significance(mixed, n),
    }
    bias, mixed_bias = bias_cells(quality), bias_cells(mixed)
    job.write_table(mark_bias(bias, tests["Table 5.3"]))
    job.write_table(mark_bias(mixed_bias, tests["Table 5.5"]), artefact="table_5_5")
    job.write_supplement(pd.concat([tests_table(*item) for item in tests.items()]), "tests", TESTS)

    modes = [*SETTING, "rag_mode", "metric", "value"]
    job.write_table(marco_recall[modes], artefact="table_5_11")
    job.write_table(counts_from_recalls(nq_quality)[modes], artefact="table_5_12")
    totals = pd.concat([nq_totals, marco_counts[marco_counts["metric"] == TOTAL]])
    cells = figure_cells(totals)
    job.write_figure(cells, citation_bars(cells), "figure_5_5")

    sizes = pd.concat([bias, mixed_bias])["value"].abs()
    claims = {
        CLAIM.format("low"): round(sizes.min()),
        CLAIM.format("high"): round(sizes.max()),
        "queries sampled per benchmark": n,
    }
    job.write_table(pd.DataFrame(claims.items(), columns=["claim", "value"]), artefact="text_5")
