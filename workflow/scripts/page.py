"""The reproduction page."""

from job import Job

with Job(snakemake) as job:
    open(snakemake.output.page, "w").write("x")
