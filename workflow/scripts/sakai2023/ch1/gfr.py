"""GFR of the pilot runs of FairWeb-1, supplementary to the paper's conversational measure."""

from everycell.collections.fairweb import (
    ATTRIBUTE_SETS,
    ranked_pages,
    read_levels,
    read_memberships,
    read_target,
)
from everycell.jobs.result_job import ResultJob
from everycell.metrics.divergences import AttributeSet
from everycell.studies.sakai2023.ch1.ranked_lists import gfr_cells
from everycell.trec.runs import read_run, trec_order

with ResultJob(snakemake) as job:
    params, files = snakemake.params, snakemake.input
    divergences = params.divergences
    targets = dict(zip(divergences, map(read_target, files.targets), strict=True))
    groups = dict(zip(divergences, map(read_memberships, files.memberships), strict=True))
    sets = {
        topic: {name: AttributeSet(targets[name], divergences[name]) for name in names}
        for topic, names in ATTRIBUTE_SETS.items()
    }
    runs = {
        name: trec_order(read_run(path, ranks="error"))
        for name, path in zip(params.runs, files.runs, strict=True)
    }
    lists = {
        (topic, name): ranked_pages(run, topic)
        for topic in ATTRIBUTE_SETS
        for name, run in runs.items()
    }
    gains = read_levels(files.qrels, params.gains)
    job.write_table(gfr_cells(lists, gains, groups, sets, max(params.gains.values())))
