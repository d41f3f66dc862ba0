"""Files of a new paper: a table that is rebuilt from two runs and judgements.

`string.Template` puts the paper's key in place of ``$key``.
"""

from __future__ import annotations

#: Path below the project folder -> content.
FILES = {
    "published/$key/paper.yaml": """\
title: Title of the paper
authors: N. N.
year: 2026
kind: paper
reference: Where it was published
""",
    "published/$key/table_1.csv": """\
system,metric,value
First,MAP,0.71
First,nDCG@10,0.82
Second,MAP,0.58
Second,nDCG@10,0.66
""",
    "published/$key/ch1.yaml": """\
chapter: "1"
title: Two systems on one collection
artefacts:
  table_1:
    kind: table
    title: Ranking quality of two systems
    source: p. 1
    tiers:
      released: {state: rebuilt, needs: the runs of both systems and the judgements}
    layout: {rows: [system], columns: [metric]}
    # Digits after the point, as they are printed.
    decimals: {MAP: 2, nDCG@10: 2}
    conclusions:
      - id: first_is_better
        claim: The first system ranks better than the second.
        source: p. 1
        holds_if:
          - cells: {system: First, metric: nDCG@10}
            op: ">"
            other: {system: Second}
""",
    "src/everycell/studies/$key/__init__.py": '''\
"""Code of $key alone."""
''',
    "src/everycell/studies/$key/ch1/__init__.py": '''\
"""Chapter 1 of $key."""
''',
    "src/everycell/studies/$key/ch1/settings.py": '''\
"""Settings of chapter 1 of $key."""

from pydantic import Field

from everycell.engine.settings import Settings


class Evaluation(Settings):
    """How the runs of $key are evaluated."""

    relevant_from: int = Field(1, ge=1, description="Lowest relevance that counts as relevant.")


BLOCKS = {"$key": Evaluation}
''',
    "workflow/rules/$key/ch1.smk": """\
# $key, chapter 1: two systems on one collection.


# Table 1: means over the queries of the judgements.
use rule table as ${key}_evaluation with:
    input:
        first=resource("$set/first.run"),
        second=resource("$set/second.run"),
        qrels=resource("$set/qrels.txt"),
    pathvars:
        result="released/$key/table_1",
    params:
        **runs("$key/ch1/table_1"),
        systems={"first": "First", "second": "Second"},
        measures=["MAP", "nDCG@10"],
        relevant_from=SETTINGS.$key.relevant_from,
    message:
        "Evaluating two runs (Table 1)"
""",
    "workflow/scripts/$key/ch1/table_1.py": '''\
"""Table 1: ranking quality of two systems."""

import pandas as pd

from everycell.engine.result_job import ResultJob
from everycell.retrieval.evaluation import evaluate
from everycell.trec.qrels import read_qrels
from everycell.trec.runs import read_run

with ResultJob(snakemake) as job:
    qrels = read_qrels(snakemake.input.qrels)
    means = {
        system: evaluate(
            read_run(snakemake.input[name]),
            qrels,
            snakemake.params.measures,
            relevance_level=snakemake.params.relevant_from,
        ).mean()
        for name, system in snakemake.params.systems.items()
    }
    table = pd.concat(means, names=["system", "metric"]).rename("value").reset_index()
    job.write_table(table)
''',
}

#: Made-up files to begin with, until `everycell paper add-data ... --replace` replaces them.
EXAMPLES = {
    "first.run": """\
q1 Q0 d1 1 3.0 first
q1 Q0 d2 2 2.0 first
q1 Q0 d3 3 1.0 first
q2 Q0 d4 1 3.0 first
q2 Q0 d5 2 2.0 first
q2 Q0 d6 3 1.0 first
""",
    "second.run": """\
q1 Q0 d2 1 3.0 second
q1 Q0 d3 2 2.0 second
q1 Q0 d1 3 1.0 second
q2 Q0 d4 1 3.0 second
q2 Q0 d5 2 2.0 second
q2 Q0 d6 3 1.0 second
""",
    "qrels.txt": """\
q1 0 d1 2
q1 0 d2 0
q1 0 d3 1
q2 0 d4 0
q2 0 d5 1
q2 0 d6 1
""",
}
