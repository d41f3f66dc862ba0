"""Tables 3.3 to 3.5 of chapter 3 of abolghasemi2026 from labels of annotators or planted labels."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from statsmodels.stats.inter_rater import cohens_kappa as kappa_with_error

from everycell.base.untrusted import read_json
from everycell.collections.satisfaction_samples import samples_from_frame
from everycell.jobs.job import Job
from everycell.jobs.result_job import ResultJob
from papers.abolghasemi2026.ch3_counterfactuals import frame_rewritings, rewrite_by_rule
from papers.abolghasemi2026.ch3_labels import (
    ANSWERS,
    COLUMNS,
    agreements,
    agreements_by_kind,
    flips,
    make_pool,
    read_labels,
    sizes_from_flips,
)
from papers.abolghasemi2026.ch3_success import INTERVALS, flip_intervals, flip_shares

#: Decimals of the supplements on agreement.
DECIMALS = {"dialogues": 0, "percent agreement": 1, "Cohen kappa": 3}
RECOVERED = {"planted": 3, "measured": 3, "standard error": 3}
#: Annotators of the planted labels; the third labels only disagreements of the others.
ANNOTATORS = ("first", "second", "third")
#: Error rate of the negative control, whose labels are drawn at random.
AT_RANDOM = 0.5


def pool(job: Job) -> None:
    """Dialogues to label: a file for the annotators, and one that says what each dialogue is."""
    samples = pd.read_parquet(job.input.samples)
    originals = samples_from_frame(samples[samples["part"] == "main"])
    rewritings = frame_rewritings(pd.read_parquet(job.input.generated))
    dialogues = make_pool(rewritings, originals, actual=job.params.actual, seed=job.params.seed)
    job.write_frame(dialogues, "pool")
    form = dialogues[["dialogue", "text"]].assign(annotator="", satisfied="", coherent="")
    form = form[["dialogue", "text", *COLUMNS[1:]]]
    form.to_csv(job.output.form, index=False, lineterminator="\n")


def annotated(job: ResultJob) -> None:
    """Tables 3.3, 3.4 and 3.5 from a file of labels."""
    files = job.input
    job.facts["language_models"] = [read_json(files.provenance)]
    dialogues = pd.read_parquet(files.pool)
    labels = read_labels(Path(files.labels), dialogues["dialogue"].tolist())
    samples = pd.read_parquet(files.samples, columns=["benchmark", "part", "satisfied"])
    counts = flips(labels, dialogues)
    job.write_table(agreements(labels, dialogues))
    job.write_supplement(agreements_by_kind(labels, dialogues), "kinds", DECIMALS)
    job.write_table(flip_shares(counts), artefact="table_3_4")
    job.write_supplement(flip_intervals(counts), "intervals", INTERVALS, artefact="table_3_4")
    main = samples[samples["part"] == "main"]
    job.write_table(sizes_from_flips(main, counts), artefact="table_3_5")


def plant_labels(job: Job) -> None:
    """Labels of three annotators with known error rates, on dialogues rewritten by rules.

    Whether a rewriting flips the label is drawn: nobody reads the texts. A second file has labels
    drawn at random.
    """
    samples = samples_from_frame(pd.read_parquet(job.input.samples))
    rewritings = [rewrite_by_rule(sample, seed=job.params.seed) for sample in samples]
    dialogues = make_pool(rewritings, samples, actual=job.params.actual, seed=job.params.seed)
    truth = plant_truth(dialogues, **job.params.truth, seed=job.params.seed)
    job.write_frame(dialogues.drop(columns="text").merge(truth, on="dialogue"), "pool")
    for name, errors in (
        ("labels", job.params.errors),
        ("control", dict.fromkeys(job.params.errors, AT_RANDOM)),
    ):
        labels = planted_annotations(truth, errors=errors, seed=job.params.seed)
        labels.to_csv(job.output[name], index=False, lineterminator="\n")


def plant_truth(
    dialogues: pd.DataFrame, *, flipped: Mapping[str, float], incoherent: float, seed: int
) -> pd.DataFrame:
    """True answers for each dialogue; real dialogues keep their label and are coherent."""
    draw = random.Random(f"{seed} truth")
    rows = []
    for row in dialogues.itertuples():
        share = flipped["satisfied" if row.satisfied else "dissatisfied"]
        flips_label, is_incoherent = draw.random() < share, draw.random() < incoherent
        satisfied = row.satisfied != (row.counterfactual and flips_label)
        rows.append((row.dialogue, satisfied, not (row.counterfactual and is_incoherent)))
    return pd.DataFrame(rows, columns=["dialogue", "true_satisfied", "true_coherent"])


def planted_annotations(
    truth: pd.DataFrame, *, errors: Mapping[str, float], seed: int
) -> pd.DataFrame:
    """Labels in the form of a user's file: two annotators, and a third where they disagree."""
    words = {answer: word for word, answer in ANSWERS.items()}
    answers = {}
    for annotator in ANNOTATORS:
        draw = random.Random(f"{seed} {annotator}")
        for row in truth.itertuples():
            answers[row.dialogue, annotator] = tuple(
                bool(true) != (draw.random() < errors[question])
                for question, true in (
                    ("satisfied", row.true_satisfied),
                    ("coherent", row.true_coherent),
                )
            )
    first, second, third = ANNOTATORS
    rows = [
        (dialogue, annotator, *(words[answer] for answer in labels))
        for (dialogue, annotator), labels in answers.items()
        if annotator != third or answers[dialogue, first][0] != answers[dialogue, second][0]
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def planted_agreement(job: ResultJob) -> None:
    """Table 3.3 on planted labels, with what was planted, and the two tables after it."""
    dialogues = pd.read_parquet(job.input.pool)
    names = dialogues["dialogue"].tolist()
    labels = read_labels(Path(job.input.labels), names)
    control = read_labels(Path(job.input.control), names)
    job.write_table(agreements(labels, dialogues))
    job.write_supplement(agreements_by_kind(labels, dialogues), "kinds", DECIMALS)
    at_random = dict.fromkeys(job.params.errors, AT_RANDOM)
    recovered = pd.concat(
        recovered_agreement(annotations, dialogues, errors).assign(annotators=name)
        for name, annotations, errors in (
            ("with errors", labels, job.params.errors),
            ("at random", control, at_random),
        )
    )
    recovered = recovered[["annotators", "row", "measure", "metric", "value"]]
    job.write_supplement(recovered, "recovered", RECOVERED)
    counts = flips(labels, dialogues)
    shares = recovered_flips(counts, dialogues)
    job.write_supplement(shares, "flips", {"dialogues": 0, "planted": 1, "measured": 1})
    main = pd.read_parquet(job.input.samples, columns=["benchmark", "satisfied"])
    sizes = sizes_from_flips(main, counts).drop(columns=["dataset", "metric"])
    sizes = sizes.rename(columns={"collection": "metric"})
    job.write_supplement(sizes, "sizes", {"Main": 0, "CF": 0})


def expected_agreement(truth: Sequence[bool], error: float) -> tuple[float, float]:
    """Percent agreement and Cohen's kappa of two annotators who err independently.

    With error rate e and share p of true positives they agree with probability (1-e)^2 + e^2, and
    by chance with q^2 + (1-q)^2, where q = p (1-e) + (1-p) e is the share of positive labels.
    """
    positive = sum(truth) / len(truth)
    labelled = positive * (1 - error) + (1 - positive) * error
    observed, chance = (share**2 + (1 - share) ** 2 for share in (error, labelled))
    return 100 * observed, (observed - chance) / (1 - chance)


def recovered_agreement(
    labels: pd.DataFrame, dialogues: pd.DataFrame, errors: Mapping[str, float]
) -> pd.DataFrame:
    """Planted and measured agreement on the rewritten dialogues, with standard errors."""
    rewritten = dialogues[dialogues["counterfactual"]]
    measured = agreements_by_kind(labels, rewritten).set_index(["row", "metric"])["value"]
    rows = []
    for row, question in (("Satisfaction Label", "satisfied"), ("Dialogue Coherence", "coherent")):
        planted = expected_agreement(rewritten[f"true_{question}"].tolist(), errors[question])
        share = planted[0] / 100
        deviations = (
            100 * (share * (1 - share) / len(rewritten)) ** 0.5,
            _kappa_error(labels, rewritten, question),
        )
        for measure, value, deviation in zip(
            ("percent agreement", "Cohen kappa"), planted, deviations, strict=True
        ):
            cells = (value, measured[row, measure], deviation)
            rows += [(row, measure, *cell) for cell in zip(RECOVERED, cells, strict=True)]
    return pd.DataFrame(rows, columns=["row", "measure", "metric", "value"])


def _kappa_error(labels: pd.DataFrame, dialogues: pd.DataFrame, question: str) -> float:
    """Standard error of kappa between the first two annotators."""
    answers = labels.pivot(index="dialogue", columns="annotator", values=question)
    answers = answers.loc[dialogues["dialogue"], list(ANNOTATORS[:2])].astype(bool)
    table = pd.crosstab(*(answers[annotator] for annotator in ANNOTATORS[:2]))
    table = table.reindex(index=[False, True], columns=[False, True], fill_value=0)
    return float(kappa_with_error(table.to_numpy()).std_kappa)


def recovered_flips(
    counts: Mapping[tuple[str, str], tuple[int, int]], dialogues: pd.DataFrame
) -> pd.DataFrame:
    """Planted and measured shares of flipped labels, in percent."""
    rewritten = dialogues[dialogues["counterfactual"]]
    is_flipped = rewritten["satisfied"] != rewritten["true_satisfied"]
    rows = []
    for (row, _), (flipped, n) in counts.items():
        kinds = {"Satisfaction": [True], "Dissatisfaction": [False]}.get(row, [True, False])
        planted = 100 * float(is_flipped[rewritten["satisfied"].isin(kinds)].mean())
        cells = {"dialogues": n, "planted": planted, "measured": 100 * flipped / n}
        rows += [(row, metric, value) for metric, value in cells.items()]
    return pd.DataFrame(rows, columns=["row", "metric", "value"])
