"""Write the page and the lineage of the results on disk."""

from pathlib import Path

from everycell.config import repository_of
from everycell.jobs.job import Job
from everycell.receipts.provenance import write_lineage
from everycell.records.papers import load_papers
from everycell.render.page.pages import write_page
from everycell.verdicts.audits import audits_of
from everycell.verdicts.results import collect
from everycell.workflow.deviations import find_deviations

with Job(snakemake) as job:
    page = Path(snakemake.output.page)
    papers = load_papers(Path("published"))
    # The page lists the files that each result was made from, which are in the lineage.
    write_lineage(page.parent, Path(), snakemake.config["cache"])
    results = collect(papers, page.parent, Path(), audits=audits_of)
    # Settings of this run may differ from those of the project, which are compared.
    notices = find_deviations(page.parent, Path()).notices
    write_page(page, results, papers, notices, repository_of(Path()))
