"""Tables 3.4 and 3.5 on planted dialogues: what a stand-in judge sees flipped, and the sets."""

import json
from pathlib import Path

import pandas as pd

from everycell.collections.satisfaction_samples import frame_samples
from everycell.dialogue.annotated import success
from everycell.dialogue.counterfactual_rules import rewrite_by_rule
from everycell.dialogue.counterfactuals import count_faults, frame_rewritings
from everycell.dialogue.judging import (
    compare_generators,
    exchanged,
    judged,
    train_judge,
    unchanged,
)
from everycell.engine.result_job import ResultJob

DECIMALS = {"generated": 0, "usable": 0, "flipped": 0, "CSS": 1, "low": 1, "high": 1}


def sizes(samples, judge, seed):
    """Rows of Table 3.5: all samples, and those rewritten by rules that the judge sees flipped."""
    made = judged([rewrite_by_rule(sample, seed=seed) for sample in samples], judge, dialogue)
    sets = {
        "Main": [sample.satisfied for sample in samples],
        "CF": made.loc[made["satisfied"] == made["intended"], "satisfied"],
    }
    rows = []
    for collection, labels in sets.items():
        happy = int(sum(labels))
        counts = {"Satisfaction": happy, "Dissatisfaction": len(labels) - happy}
        for row, count in (*counts.items(), ("Total", len(labels))):
            rows.append((row, "planted", collection, "count", count))
    return pd.DataFrame(rows, columns=["row", "dataset", "collection", "metric", "value"])


def dialogue(sample):
    """Dialogue that a planted sample is of: its id without the turn."""
    return sample.id.rpartition("/")[0]


with ResultJob(snakemake) as job:
    files, model = snakemake.input, snakemake.params.model
    job.facts["language_models"] = [json.loads(Path(files.provenance).read_text())]
    samples = frame_samples(pd.read_parquet(files.samples))
    generated, rules = (
        frame_rewritings(pd.read_parquet(file)) for file in (files.generated, files.rules)
    )
    picked = [made.sample for made in generated]
    judge = train_judge(
        [sample.turns[-1][1] for sample in samples],
        [sample.satisfied for sample in samples],
        [dialogue(sample) for sample in samples],
        folds=snakemake.params.folds,
    )
    generators = {
        model: generated,
        "rules": rules,
        "nothing changed": unchanged(picked),
        "utterance of another dialogue": exchanged(picked, samples, dialogue, job.seed),
    }
    labels = {name: judged(made, judge, dialogue) for name, made in generators.items()}
    table = success(labels[model])[["row", "CSS"]].rename(columns={"CSS": "value"})
    table.insert(1, "dataset", "planted")
    table.insert(2, "metric", "CSS")
    job.write_table(table)
    job.write_beside(compare_generators(labels), "generators", DECIMALS)
    job.write_beside(count_faults(generated), "answers", {"count": 0})
    job.write_table(sizes(samples, judge, job.seed), artefact="table_3_5")
