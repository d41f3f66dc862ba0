"""Picture of the rules that a target needs, as Snakemake sees them."""

import os
import subprocess
import sys
from pathlib import Path

import pygraphviz

from everycell.engine.files import write_atomically
from everycell.engine.job import Job

with Job(snakemake) as job:
    target = snakemake.wildcards.target
    # Snakemake has no function for it: another process reads the same Snakefile. In a conda
    # environment it has to be told where the library is.
    drawn = subprocess.run(
        [sys.executable, "-m", "snakemake", "--rulegraph", "dot", target],
        stdout=subprocess.PIPE,
        stderr=job.log,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": "src"},
    )
    graph = pygraphviz.AGraph(drawn.stdout)
    # From left to right: a workflow has more rules side by side than one after the other.
    graph.graph_attr["rankdir"] = "LR"
    picture = graph.draw(format="svg", prog="dot")
    write_atomically(Path(snakemake.output.graph), picture.decode())
