"""Rule graph of a target, drawn from Snakemake's output."""

import os
import subprocess
import sys
from pathlib import Path

import pygraphviz

from everycell.base.files import write_atomically
from everycell.jobs.job import Job

with Job(snakemake) as job:
    target = snakemake.wildcards.target
    # Snakemake has no function for this, so another process reads the same Snakefile. A conda
    # environment does not have the library, hence PYTHONPATH.
    process = subprocess.run(
        [sys.executable, "-m", "snakemake", "--rulegraph", "dot", target],
        stdout=subprocess.PIPE,
        stderr=job.log,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": "src"},
    )
    graph = pygraphviz.AGraph(process.stdout)
    # From left to right, because the graph is wider than it is deep.
    graph.graph_attr["rankdir"] = "LR"
    picture = graph.draw(format="svg", prog="dot")
    write_atomically(Path(snakemake.output.graph), picture.decode())
