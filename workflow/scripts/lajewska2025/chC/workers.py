"""Table C.3: overlap of crowd workers' snippets with those of the experts, from Table 5.3."""

import pandas as pd

from everycell.engine.result_job import ResultJob

with ResultJob(snakemake) as job:
    cells = pd.read_csv(snakemake.input.similarity)
    means = cells.query("task_variant == 'Paragraph-based' and metric == 'F1_mean'")
    f1 = means.set_index("row")["value"]
    rows = [(row, "ROUGE F1", f1[name]) for row, name in snakemake.params.workers.items()]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
