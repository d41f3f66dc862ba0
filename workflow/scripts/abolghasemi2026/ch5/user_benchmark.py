"""A benchmark of attribution bias from the user's files."""

import shutil
from pathlib import Path

from everycell.collections.cited_questions import read_cited_questions, read_msmarco_qa
from everycell.jobs.job import Job
from everycell.trec.runs import write_run

with Job(snakemake) as job:
    files, runs = snakemake.input, snakemake.output.runs
    if "published" in files.keys():
        collection = read_msmarco_qa(Path(files.published))
        write_run(collection.run, runs[0], tag="published")
        job.facts["empty_passages_left_out"] = collection.empty
    else:
        collection = read_cited_questions(Path(files.files[0]).parent)
        for source, target in zip(files.files[2:], runs, strict=True):
            shutil.copyfile(source, target)
    for name in ("questions", "relevant", "passages"):
        job.write_frame(getattr(collection, name), name)
