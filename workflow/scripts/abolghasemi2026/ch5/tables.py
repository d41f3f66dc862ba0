"""Tables 5.1 to 5.15 and Figures 5.5 and 5.9 of a tier, from the frame of answers."""

import json
from pathlib import Path

import pandas as pd

from everycell.jobs.result_job import ResultJob
from everycell.studies.abolghasemi2026.ch5.answers import (
    answer_shares,
    check_answers,
    cite_always_first,
)
from everycell.studies.abolghasemi2026.ch5.chapter_tables import (
    ENDS,
    SHARES,
    ChapterTable,
    chapter_tables,
    compare_readings,
    interval_table,
    select_generators,
    size_note,
)
from everycell.studies.abolghasemi2026.ch5.comparisons import compare_labels
from everycell.studies.abolghasemi2026.ch5.control_truth import (
    BIAS_KEYS,
    KNOWN,
    QUALITY_KEYS,
    measured_bias,
    measured_quality,
    melt_measures,
)
from everycell.studies.abolghasemi2026.ch5.controls import make_controls
from everycell.studies.abolghasemi2026.ch5.figures import bias_lines, citation_bars, depth_lines
from everycell.studies.abolghasemi2026.ch5.modes import SETTING
from everycell.studies.abolghasemi2026.ch5.reading import READ
from everycell.studies.abolghasemi2026.ch5.results import figure_cells

with ResultJob(snakemake) as job:
    params = snakemake.params
    answers = check_answers(pd.concat(map(pd.read_parquet, snakemake.input.answers)))
    job.facts["language_models"] = [
        json.loads(Path(file).read_text()) for file in snakemake.input.provenance
    ]
    controls = make_controls(sorted({*params.shown, *params.strengths}), params.odds, job.seed)
    is_control = answers["generator"].isin(controls)
    # Baselines that cite by position; controls need none, since their expected values are known.
    reference = cite_always_first(answers[~is_control])
    tables = chapter_tables(answers, reference, job.seed)
    outputs = {name.removesuffix("_csv") for name in snakemake.output.keys()}
    generators = select_generators(answers, is_control, params.published_generators)
    verdicts = params.published_generators is not None

    retrieved = answers[answers["place"] == "retrieved"]
    for name, table in tables.items():
        if name == "table_5_1" or (name in outputs and name.startswith("table")):
            cells = table.of_generators(generators.get(name, generators["all"]), all_run=verdicts)
            note = size_note(retrieved, cells)
            job.write_table(cells, note, name.removeprefix("table_5_1") and name)

    # On surrogate data the figures include the control.
    counts = pd.concat([tables["table_5_12"].rows, tables["table_5_13"].rows])
    depths = tables["figure_5_9"].rows
    if verdicts:
        counts, depths = (
            rows[rows["generator"].isin(generators["all"])] for rows in (counts, depths)
        )
    cells = figure_cells(counts)
    figure = "figure_5_5" if "figure_5_5" in outputs else "cited"
    job.write_figure(cells, citation_bars(cells), figure)
    job.write_figure(*depth_lines(depths), "figure_5_9")

    job.write_supplement(interval_table(tables), "intervals", ENDS)
    shares = answer_shares(pd.concat([answers, reference]))
    job.write_supplement(shares.astype({"k": str}), "answers", SHARES)
    if "readings" in outputs:
        readings = pd.concat(map(pd.read_parquet, snakemake.input.readings))
        job.write_supplement(compare_readings(readings, job.seed), "readings", READ)
    if "bias" in outputs:
        if "planted" in outputs:
            further_answers = check_answers(pd.read_parquet(snakemake.input.strengths))
            answers = pd.concat([answers, further_answers], ignore_index=True)
        in_retrieval_order = answers[answers["place"] == "retrieved"]
        depth = in_retrieval_order.groupby("generator")["k"].first()
        present_controls = {name: controls[name] for name in controls if name in depth.index}
        quality = measured_quality(tables, present_controls, depth)
        job.write_supplement(melt_measures(quality, QUALITY_KEYS), "truth", KNOWN)
        plain_bias = ChapterTable(
            SETTING, compare_labels(answers, "CAB", study="plain", seed=job.seed)
        )
        bias = measured_bias(tables | {"table_5_3": plain_bias}, present_controls, depth)
        job.write_supplement(melt_measures(bias, BIAS_KEYS), "bias", KNOWN)
        if "planted" in outputs:
            job.write_figure(*bias_lines(bias), "planted")
