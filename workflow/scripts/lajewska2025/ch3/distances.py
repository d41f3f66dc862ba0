"""Section 3.3.3: relative differences between systems in percent, and their significance."""

import pandas as pd

from everycell.jobs.result_job import ResultJob

with ResultJob(snakemake) as job:
    reported = job.input_cells("lajewska2025/table_3_2").astype({"value": float})
    cells = pd.concat([pd.read_csv(snakemake.input.rebuilt), reported])
    means = cells.set_index(["row", "metric"])["value"]
    p = pd.read_csv(snakemake.input.tests).query("metric == 'p_paired'")
    p = p.set_index(["a", "b", "measure"])["value"]
    # Rows that the track reported have no run to test against.
    without_run = set(reported["row"])
    rows = []
    for system, baseline in snakemake.params.pairs:
        for metric in ("NDCG@3", "R@500"):
            change = 100 * (means[system, metric] / means[baseline, metric] - 1)
            rows.append((system, baseline, f"{metric} change", change))
            if baseline not in without_run:
                verdict = "yes" if p[baseline, system, metric] < snakemake.params.alpha else "no"
                rows.append((system, baseline, f"{metric} significant", verdict))
    job.write_table(pd.DataFrame(rows, columns=["row", "than", "metric", "value"]))
