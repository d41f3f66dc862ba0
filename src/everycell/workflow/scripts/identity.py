"""Compute facts of a full-tier corpus, and compare them with those stated for the paper's."""

from pathlib import Path

from everycell.base.files import write_json
from everycell.jobs.job import Job
from everycell.records.identity import FileFacts, difference, facts_of

with Job(snakemake) as job:
    stated = {
        name: FileFacts.model_validate(facts) for name, facts in snakemake.params.facts.items()
    }
    identity = {
        name: facts_of(Path(path), facts)
        for (name, facts), path in zip(stated.items(), snakemake.input, strict=True)
    }
    write_json(
        Path(snakemake.output.identity),
        {"difference": difference(snakemake.params.title, stated, identity), "found": identity},
    )
