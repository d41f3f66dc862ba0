"""The reproduction page from what lies on disk, and the jobs behind all of it."""

from pathlib import Path

from job import Job

from everycell.artefacts import load_papers
from everycell.lineage import write_lineage
from everycell.render.page import write_page
from everycell.results import collect

with Job(snakemake) as job:
    page = Path(snakemake.output.page)
    papers = load_papers(Path("published"))
    write_page(page, collect(papers, page.parent, Path()), papers)
    write_lineage(page.parent, Path(), snakemake.config["cache"])
