"""Two lists of four documents, each with one gendered word, and what measures say."""

import numpy as np
import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.metrics.nfairr import nfairr
from everycell.metrics.texfair import texfair
from everycell.retrieval.fairness_figures import documents_in_lists

#: Of the printed pattern -> what the box of such a document says.
GROUPS = {"F": "only female terms (she)", "M": "only male terms (he)"}
#: Names in the figure of what a threshold means here.
MEANING = {0: "one term counts", 1: "one term counts as none"}

with ResultJob(snakemake) as job:
    printed = job.input_cells(snakemake.params.printed)
    lists = printed.assign(rank=printed["x"].astype(int)).pivot(
        index="row", columns="rank", values="value"
    )
    counts = np.stack([(lists == group).to_numpy(dtype=float) for group in GROUPS], axis=-1)
    # Equal lengths, of which the print says nothing; how long is the same to the measure.
    lengths = np.full(counts.shape[:2], 10)
    measures = {
        f"NFaiRR, τ = {tau}": nfairr(counts, tau=tau)[:, -1] for tau in snakemake.params.taus
    } | {"TExFAIR": texfair(counts, lengths)[:, -1]}
    values = pd.DataFrame(measures, index=lists.index).melt(ignore_index=False, var_name="measure")
    values = values.reset_index(names="list")

    main = values[values["measure"] == f"NFaiRR, τ = {snakemake.params.taus[0]}"]
    main = main.rename(columns={"list": "row"}).assign(
        series="list", metric="NFaiRR", x_name="rank", x=f"1-{counts.shape[1]}"
    )
    named = {
        f"NFaiRR, τ = {tau}": f"NFaiRR, τ = {tau}:\n{meaning}" for tau, meaning in MEANING.items()
    }
    documents = printed[["row", "x", "value"]].astype({"x": int})
    documents = documents.rename(columns={"row": "list", "x": "rank", "value": "group"})
    titles = {name: f"{name} list" for name in lists.index}
    figure = documents_in_lists(
        documents.replace({"list": titles}),
        values.replace({"list": titles, "measure": named}),
        GROUPS,
    )
    keys = ["row", "series", "metric", "x_name", "x", "value"]
    job.write_figure(pd.concat([printed[keys], main[keys]], ignore_index=True), figure)
    job.write_beside(
        values.rename(columns={"measure": "metric"}), "measures", dict.fromkeys(measures, 3)
    )
