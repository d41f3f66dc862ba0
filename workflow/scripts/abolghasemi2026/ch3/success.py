"""Table 3.4: share of generated utterances that flip the label; own generators beside."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from everycell.collections.user_satisfaction import CAUSE_BENCHMARK, read_samples
from everycell.dialogue.counterfactuals import Rewriting, count_faults, frame_rewritings
from everycell.dialogue.judging import (
    compare_generators,
    exchanged,
    judged,
    says_it_cannot,
    train_judge,
    unchanged,
)
from everycell.dialogue.satisfaction import confusion, scores
from everycell.engine.result_job import ResultJob
from everycell.statistics.agreement import cohens_kappa

#: Label of the originals -> that of their confirmed counterfactuals.
FLIPPED = {"Satisfaction": "Dissatisfaction", "Dissatisfaction": "Satisfaction"}
DECIMALS = {"generated": 0, "usable": 0, "flipped": 0, "CSS": 1, "low": 1, "high": 1}
SCORES = {"samples": 0, "accuracy": 2, "precision": 2, "recall": 2, "F1": 2, "kappa": 2}


def opening(sample):
    """What names a dialogue of the released files: its first utterance."""
    return sample.turns[0][1]


def own_generators(job):
    """Write what stand-in judges say of generators, and how far they agree with people."""
    files, model = snakemake.input, snakemake.params.model
    job.facts["language_models"] = [json.loads(Path(files.provenance).read_text())]
    main = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    # As `read_samples` names them; a pair has one number, and one dialogue.
    people = read_samples(Path(files.released), CAUSE_BENCHMARK, "generated")
    dialogues = [opening(sample) for sample in main]
    said = [sample.turns[-1][1] for sample in people]
    truth = np.array([sample.satisfied for sample in people])
    judge = train_judge(said, truth, dialogues, folds=snakemake.params.folds)
    generated, rules = (
        frame_rewritings(pd.read_parquet(file)) for file in (files.generated, files.rules)
    )
    picked = {made.sample.id for made in generated}
    released = [
        Rewriting(before, after, "", after)
        for before, after in zip(main, said, strict=True)
        if before.id in picked
    ]
    samples = [made.sample for made in released]
    generators = {
        "GPT-4, as released": released,
        model: generated,
        "rules": rules,
        "nothing changed": unchanged(samples),
        "utterance of another dialogue": exchanged(samples, main, opening, job.seed),
    }
    labels = {
        f"{name}: stand-in judge": judged(made, judge, opening) for name, made in generators.items()
    }
    by_people = labels["GPT-4, as released: stand-in judge"].assign(
        satisfied=[
            int(label) for before, label in zip(main, truth, strict=True) if before.id in picked
        ]
    )
    labels = {"GPT-4, as released: people": by_people} | labels
    job.write_beside(compare_generators(labels), "generators", DECIMALS)
    job.write_beside(count_faults(generated), "answers", {"count": 0})
    before = np.array([sample.satisfied for sample in main])
    flipped = truth != before
    last = [sample.turns[-1][1] for sample in main]
    rows = []
    for name, of_main, of_generated in (
        ("words of other dialogues", *(judge.satisfied(of, dialogues) for of in (last, said))),
        (
            "five phrases",
            *(np.array([not says_it_cannot(text) for text in of]) for of in (last, said)),
        ),
    ):
        for test_set, labelled, answers in (
            ("Main", before, of_main),
            ("CF", truth[flipped], of_generated[flipped]),
            ("Mixed", np.r_[before, truth[flipped]], np.r_[of_main, of_generated[flipped]]),
            ("all generated", truth, of_generated),
        ):
            values = (
                len(labelled),
                *scores(confusion(labelled, answers)),
                cohens_kappa(labelled, answers),
            )
            rows += [
                (name, test_set, metric, value)
                for metric, value in zip(SCORES, values, strict=True)
            ]
    job.write_beside(
        pd.DataFrame(rows, columns=["judge", "test_data", "metric", "value"]), "judges", SCORES
    )


with ResultJob(snakemake) as job:
    sizes = pd.read_csv(snakemake.input.sizes)
    counts = sizes.set_index(["dataset", "collection", "row"])["value"]
    rows, intervals = [], []
    for label in (*FLIPPED, "Overall"):
        before, after = (label, FLIPPED[label]) if label in FLIPPED else ("Total", "Total")
        for dataset in sizes["dataset"].unique():
            n, kept = counts[dataset, "Main", before], counts[dataset, "CF", after]
            low, high = proportion_confint(kept, n, method="wilson")
            rows.append((label, dataset, "CSS", 100 * kept / n))
            values = {"samples": n, "flipped": kept, "low": 100 * low, "high": 100 * high}
            intervals += [(label, dataset, metric, value) for metric, value in values.items()]
    columns = ["row", "dataset", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=columns))
    job.write_beside(
        pd.DataFrame(intervals, columns=columns),
        "intervals",
        {"samples": 0, "flipped": 0, "low": 1, "high": 1},
    )
    own_generators(job)
