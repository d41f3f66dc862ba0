"""Success of counterfactuals (Table 3.4), and sizes of test sets, in chapter 3 of abolghasemi2026.

Table 3.5 has the sizes; planted dialogues have both tables. Supplements evaluate our own generators
with the surrogate judge of `ch3_judge`, and the judge against people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from everycell.base.untrusted import read_json
from everycell.collections.satisfaction_samples import Sample, samples_from_frame
from everycell.jobs.result_job import ResultJob
from everycell.metrics.satisfaction import confusion, scores
from everycell.statistics.agreement import cohens_kappa
from papers.abolghasemi2026.ch3_counterfactuals import (
    Rewriting,
    count_faults,
    frame_rewritings,
    rewrite_by_rule,
    success_rates,
)
from papers.abolghasemi2026.ch3_data import CAUSE_BENCHMARK, read_samples
from papers.abolghasemi2026.ch3_judge import (
    Judge,
    exchanged_rewritings,
    is_refusal,
    judge_rewritings,
    train_judge,
    unchanged_rewritings,
)

#: Label of the originals -> label of their confirmed counterfactuals.
FLIPPED = {"Satisfaction": "Dissatisfaction", "Dissatisfaction": "Satisfaction"}
#: Row for the difference between the two labels.
DIFFERENCE = "Satisfaction less Dissatisfaction"
#: Decimals of the supplementary table of intervals.
INTERVALS = {"samples": 0, "flipped": 0, "share": 1, "low": 1, "high": 1}
#: Flipped samples and all samples, by label of the original and data set.
Counts = Mapping[tuple[str, str], tuple[int, int]]
#: Name of the released counterfactuals, which are treated as a generator.
RELEASED = "GPT-4, as released"
#: Decimals of the tables of generators and of judges.
DECIMALS = {"generated": 0, "usable": 0, "flipped": 0, "CSS": 1, "low": 1, "high": 1}
SCORES = {"samples": 0, "accuracy": 2, "precision": 2, "recall": 2, "F1": 2, "kappa": 2}


def success(job: ResultJob) -> None:
    """Table 3.4: share of generated utterances that flip the label."""
    files, settings = job.input, job.params
    job.facts["language_models"] = [read_json(files.provenance)]
    counts = flip_counts(pd.read_csv(files.sizes))
    job.write_table(flip_shares(counts))
    job.write_supplement(flip_intervals(counts), "intervals", INTERVALS)

    main = read_samples(Path(files.main), CAUSE_BENCHMARK, "test")
    people = read_samples(Path(files.released), CAUSE_BENCHMARK, "generated")
    # Both samples of a pair belong to the dialogue of the original.
    judge = train_sample_judge(main, first_utterance, folds=settings.folds, labels=people)
    generated, rules = (
        frame_rewritings(pd.read_parquet(file)) for file in (files.generated, files.rules)
    )
    generators = {settings.model: generated, "rules": rules}
    labels = judge_generators(main, people, generators, judge, seed=job.params.seed)
    job.write_supplement(compare_generators(labels), "generators", DECIMALS)
    job.write_supplement(count_faults(generated), "answers", {"count": 0})
    job.write_supplement(judge_scores(main, people, judge), "judges", SCORES)


def planted_success(job: ResultJob) -> None:
    """Tables 3.4 and 3.5 on planted dialogues, with a surrogate judge."""
    files, settings = job.input, job.params
    job.facts["language_models"] = [read_json(files.provenance)]
    samples = samples_from_frame(pd.read_parquet(files.samples))
    generated, rules = (
        frame_rewritings(pd.read_parquet(file)) for file in (files.generated, files.rules)
    )
    judge = train_sample_judge(samples, planted_dialogue, folds=settings.folds)
    generators = add_controls(
        {settings.model: generated, "rules": rules},
        [rewriting.sample for rewriting in generated],
        samples,
        planted_dialogue,
        seed=job.params.seed,
    )
    labels = {
        name: judge_rewritings(rewriting, judge, planted_dialogue)
        for name, rewriting in generators.items()
    }
    counts = {
        (rate["row"], "planted"): (rate["flipped"], rate["generated"])
        for rate in success_rates(labels[settings.model]).to_dict("records")
    }
    job.write_table(flip_shares(counts))
    job.write_supplement(flip_intervals(counts), "intervals", INTERVALS)
    job.write_supplement(compare_generators(labels), "generators", DECIMALS)
    job.write_supplement(count_faults(generated), "answers", {"count": 0})
    job.write_table(planted_sizes(samples, judge, seed=job.params.seed), artefact="table_3_5")


def flip_counts(sizes: pd.DataFrame) -> dict[tuple[str, str], tuple[int, int]]:
    """Count flipped samples by the sizes of the test sets (Table 3.5)."""
    counts = sizes.set_index(["dataset", "collection", "row"])["value"]
    return {
        (row, dataset): (int(counts[dataset, "CF", after]), int(counts[dataset, "Main", before]))
        for row, (before, after) in {
            **{label: (label, flipped_label) for label, flipped_label in FLIPPED.items()},
            "Overall": ("Total", "Total"),
        }.items()
        for dataset in sizes["dataset"].unique()
    }


def flip_shares(counts: Counts) -> pd.DataFrame:
    """Cells of Table 3.4, in percent."""
    rows = [(*names, "CSS", 100 * flipped / n) for names, (flipped, n) in counts.items()]
    return pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"])


def flip_intervals(counts: Counts) -> pd.DataFrame:
    """Flipped samples with 95 % intervals of their shares and of the labels' difference."""
    rows = []
    for (row, dataset), (flipped, n) in counts.items():
        low, high = proportion_confint(flipped, n, method="wilson")
        values = (n, flipped, 100 * flipped / n, 100 * low, 100 * high)
        rows += [(row, dataset, *cell) for cell in zip(INTERVALS, values, strict=True)]
    first, second = FLIPPED
    for dataset in dict.fromkeys(dataset for _, dataset in counts):
        if (first, dataset) in counts and (second, dataset) in counts:
            (flipped_1, n_1), (flipped_2, n_2) = counts[first, dataset], counts[second, dataset]
            bounds = confint_proportions_2indep(flipped_1, n_1, flipped_2, n_2, method="newcomb")
            values = (flipped_1 / n_1 - flipped_2 / n_2, *bounds)
            cells = zip(("share", "low", "high"), values, strict=True)
            rows += [(DIFFERENCE, dataset, metric, 100 * value) for metric, value in cells]
    return pd.DataFrame(rows, columns=["row", "dataset", "metric", "value"])


def first_utterance(sample: Sample) -> str:
    """First utterance of a dialogue, which identifies it in the released files."""
    return sample.turns[0][1]


def planted_dialogue(sample: Sample) -> str:
    """Dialogue of a planted sample: the sample's id without the turn."""
    return sample.id.rpartition("/")[0]


def train_sample_judge(
    samples: Sequence[Sample],
    dialogue: Callable[[Sample], str],
    *,
    folds: int,
    labels: Sequence[Sample] = (),
) -> Judge:
    """Train a judge on the last utterances of labelled samples (`train_judge`)."""
    labelled = labels or samples
    return train_judge(
        [sample.turns[-1][1] for sample in labelled],
        [sample.satisfied for sample in labelled],
        [dialogue(sample) for sample in samples],
        folds=folds,
    )


def add_controls(
    generators: Mapping[str, Sequence[Rewriting]],
    rewritten_samples: Sequence[Sample],
    pool: Sequence[Sample],
    dialogue: Callable[[Sample], str],
    *,
    seed: int,
) -> dict[str, Sequence[Rewriting]]:
    """Add two controls to the generators: no change, and an utterance of another dialogue."""
    return {
        **generators,
        "nothing changed": unchanged_rewritings(rewritten_samples),
        "utterance of another dialogue": exchanged_rewritings(
            rewritten_samples, pool, dialogue, seed
        ),
    }


def judge_generators(
    main: Sequence[Sample],
    people: Sequence[Sample],
    generators: Mapping[str, Sequence[Rewriting]],
    judge: Judge,
    *,
    seed: int,
) -> dict[str, pd.DataFrame]:
    """Labels by people and a judge, on the samples that the first generator rewrote."""
    rewritten_ids = {rewriting.sample.id for rewriting in next(iter(generators.values()))}
    pairs = [pair for pair in zip(main, people, strict=True) if pair[0].id in rewritten_ids]
    released_rewritings = [
        Rewriting(before, after.turns[-1][1], "", after.turns[-1][1]) for before, after in pairs
    ]
    rewritten = {RELEASED: released_rewritings} | add_controls(
        generators, [before for before, _ in pairs], main, first_utterance, seed=seed
    )
    labels = {
        f"{name}: surrogate judge": judge_rewritings(rewriting, judge, first_utterance)
        for name, rewriting in rewritten.items()
    }
    released_labels = labels[f"{RELEASED}: surrogate judge"]
    by_people = released_labels.assign(satisfied=[int(after.satisfied) for _, after in pairs])
    return {f"{RELEASED}: people": by_people} | labels


def judge_scores(main: Sequence[Sample], people: Sequence[Sample], judge: Judge) -> pd.DataFrame:
    """Agreement with people, by test set, of judges that see only the last utterance."""
    before = np.array([sample.satisfied for sample in main])
    truth = np.array([sample.satisfied for sample in people])
    flipped = truth != before
    last, generated = ([sample.turns[-1][1] for sample in part] for part in (main, people))
    dialogues = [first_utterance(sample) for sample in main]
    judges: dict[str, Callable[[list[str]], np.ndarray]] = {
        "words of other dialogues": lambda texts: judge.satisfied(texts, dialogues),
        "five phrases": lambda texts: np.array([not is_refusal(text) for text in texts]),
    }
    rows = []
    for name, classify in judges.items():
        main_labels, generated_labels = classify(last), classify(generated)
        for test_set, labels, predicted in (
            ("Main", before, main_labels),
            ("CF", truth[flipped], generated_labels[flipped]),
            ("Mixed", np.r_[before, truth[flipped]], np.r_[main_labels, generated_labels[flipped]]),
            ("all generated", truth, generated_labels),
        ):
            values = (
                len(labels),
                *scores(confusion(labels, predicted)),
                cohens_kappa(labels, predicted),
            )
            rows += [(name, test_set, *cell) for cell in zip(SCORES, values, strict=True)]
    return pd.DataFrame(rows, columns=["judge", "test_data", "metric", "value"])


def planted_sizes(samples: Sequence[Sample], judge: Judge, *, seed: int) -> pd.DataFrame:
    """Cells of Table 3.5: all samples, and rule-based rewrites whose flip a judge confirms."""
    rewritten = [rewrite_by_rule(sample, seed=seed) for sample in samples]
    verdicts = judge_rewritings(rewritten, judge, planted_dialogue)
    sets = {
        "Main": [sample.satisfied for sample in samples],
        "CF": verdicts.loc[verdicts["satisfied"] == verdicts["intended"], "satisfied"],
    }
    rows = []
    for collection, labels in sets.items():
        satisfied = int(sum(labels))
        counts = {"Satisfaction": satisfied, "Dissatisfaction": len(labels) - satisfied}
        for row, count in (*counts.items(), ("Total", len(labels))):
            rows.append((row, "planted", collection, "count", count))
    return pd.DataFrame(rows, columns=["row", "dataset", "collection", "metric", "value"])


def compare_generators(labels: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Compare the success of generators, with 95 % Wilson intervals."""
    rows = []
    for generator, frame in labels.items():
        for row in success_rates(frame).to_dict("records"):
            low, high = proportion_confint(row["flipped"], row["generated"], method="wilson")
            row |= {"low": 100 * low, "high": 100 * high}
            rows += [
                (generator, row["row"], metric, row[metric])
                for metric in ("generated", "usable", "flipped", "CSS", "low", "high")
            ]
    return pd.DataFrame(rows, columns=["generator", "row", "metric", "value"])
