"""Responses with a known share of nuggets for chapter 6 of lajewska2025, and a judge that errs.

A response of the planted study states some of the nuggets of its topic, denies others, and leaves
out the rest. The judge reads this from the text, and errs with a known probability. Scores, table
and tests are those of the full tier.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from everycell.base.arrays import FloatArray
from everycell.jobs.job import Job
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.ch6_response_tables import SHORT, relevant_table
from papers.lajewska2025.ch6_systems import (
    BASELINE,
    COMPLETE,
    CONTRADICTED,
    DETECTED,
    ENTAILED,
    GOLD,
    RELEVANT,
)
from papers.lajewska2025.ch6_votes import query_probabilities

GINGER = "GINGER"
#: Verbs of a response -> relation to a nugget, in the order of an inference model's labels.
VERBS = ("states", "denies", "mentions")


class Study(NamedTuple):
    """Size of a simulated study, and what is planted in it."""

    topics: int
    #: Nuggets per topic, as many detected as human ones.
    nuggets: int
    #: Share of detected nuggets that the baseline states, and how many more GINGER states.
    stated: float
    gain: float
    #: Shares of detected nuggets that both deny, and of human nuggets that both state.
    denied: float
    complete: float
    #: Intraclass correlation of the nuggets of a topic.
    agreement: float
    #: Probability that the judge errs, and that it gives to its label.
    error: float
    certainty: float

    def stated_by(self, system: str) -> float:
        """Share of detected nuggets that a system states."""
        return self.stated + self.gain * (system == GINGER)

    def judged(self, share: FloatArray | float) -> FloatArray | float:
        """Probability that the judge says of a nugget what is true of this share."""
        return share * (1 - self.error) + (1 - share) * self.error / 2

    def score(self, judged: FloatArray | float) -> FloatArray | float:
        """Mean probability of a label that the judge gives to this share of nuggets."""
        return judged * self.certainty + (1 - judged) * (1 - self.certainty) / 2


def plant_responses(study: Study, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Responses and nuggets, in the form of the full tier."""
    nuggets, responses = [], []
    for number in range(1, study.topics + 1):
        topic = f"t{number}"
        ids = {
            kind: [f"fact {number}-{kind}-{position}" for position in range(study.nuggets)]
            for kind in (DETECTED, GOLD)
        }
        nuggets += [(RELEVANT, kind, topic, text) for kind, texts in ids.items() for text in texts]
        for system in (BASELINE, GINGER):
            shares = {DETECTED: study.stated_by(system), GOLD: study.complete}
            sentences = []
            for kind, texts in ids.items():
                share = query_probabilities(shares[kind], study.agreement, (1,), rng)[0]
                # Of the nuggets that it does not state, so that the two do not exceed 1.
                denied = study.denied / (1 - shares[kind]) if kind == DETECTED else 0.0
                for text in texts:
                    verb = "states" if rng.random() < share else "mentions"
                    if verb == "mentions" and rng.random() < denied:
                        verb = "denies"
                    sentences.append(f"It {verb} {text}.")
            responses.append((system, RELEVANT, topic, " ".join(sentences)))
    return (
        pd.DataFrame(responses, columns=["system", "input", "topic", "text"]),
        pd.DataFrame(nuggets, columns=["input", "detection", "topic", "text"]),
    )


def planted_judge(
    study: Study, rng: np.random.Generator
) -> Callable[[Sequence[tuple[str, str]]], FloatArray]:
    """Function in place of an inference model: pairs of response and nugget to probabilities."""

    def infer(pairs: Sequence[tuple[str, str]]) -> FloatArray:
        labels = np.array(
            [
                next(index for index, verb in enumerate(VERBS) if f"{verb} {nugget}." in response)
                for response, nugget in pairs
            ]
        )
        errs = rng.random(len(labels)) < study.error
        labels = np.where(errs, (labels + rng.integers(1, 3, len(labels))) % 3, labels)
        return np.where(np.arange(3) == labels[:, None], study.certainty, (1 - study.certainty) / 2)

    return infer


def planted_truth(study: Study) -> pd.DataFrame:
    """Planted share of nuggets, and expected score, by system and metric."""
    rows = []
    for system in (BASELINE, GINGER):
        for metric, share in (
            (ENTAILED, study.stated_by(system)),
            (CONTRADICTED, study.denied),
            (COMPLETE, study.complete),
        ):
            judged = study.judged(share)
            # Completeness counts labels, the others are mean probabilities.
            expected = judged if metric == COMPLETE else study.score(judged)
            rows.append((system, SHORT[metric], share, float(expected)))
    return pd.DataFrame(rows, columns=["row", "measure", "planted", "expected"])


def truth_table(study: Study, scores: pd.DataFrame) -> pd.DataFrame:
    """Planted, expected and measured scores, with 95 % t intervals over topics."""
    of_cell = scores.assign(measure=scores["metric"].map(SHORT)).groupby(["system", "measure"])
    means, errors = of_cell["value"].mean(), of_cell["value"].sem()
    margin = errors * stats.t.ppf(0.975, study.topics - 1)
    measured = pd.DataFrame({"measured": means, "low": means - margin, "high": means + margin})
    truth = planted_truth(study).merge(
        measured, left_on=["row", "measure"], right_index=True, how="left"
    )
    return truth.melt(["row", "measure"], list(TRUTH), "metric")


def marked_shares(study: Study, studies: int, rng: np.random.Generator) -> pd.DataFrame:
    """Share of simulated studies in which the test marks a difference (0.05), by planted gain."""
    rows = []
    for gain in (0.0, study.gain):
        planted = study._replace(gain=gain)
        scores = []
        for system in (BASELINE, GINGER):
            size = (studies, study.topics)
            shares = query_probabilities(planted.stated_by(system), study.agreement, size, rng)
            judged = rng.binomial(study.nuggets, study.judged(shares)) / study.nuggets
            scores.append(study.score(judged))
        p = stats.ttest_rel(*scores, axis=1).pvalue
        rows.append((f"{gain:.2f}", "marked", float((p < 0.05).mean())))
    return pd.DataFrame(rows, columns=["planted gain", "metric", "value"])


def plant(job: Job) -> None:
    """Scores of planted responses by a planted judge, in the form of the full tier."""
    from papers.lajewska2025.ch6_judging import inference_scores

    study = Study(**job.params.study)
    rng = np.random.default_rng(job.params.seed)
    responses, nuggets = plant_responses(study, rng)
    job.write_frame(inference_scores(responses, nuggets, planted_judge(study, rng)), "scores")


#: Columns of the table of known values -> digits shown.
TRUTH = {"planted": 3, "expected": 3, "measured": 3, "low": 3, "high": 3}


def planted(job: ResultJob) -> None:
    """Table 6.1 from planted responses, with the truth and a negative control."""
    study, scores = Study(**job.params.study), pd.read_parquet(job.input.scores)
    job.write_table(relevant_table(scores))
    job.write_supplement(truth_table(study, scores), "truth", TRUTH)
    control = marked_shares(study, job.params.studies, np.random.default_rng(job.params.seed))
    job.write_supplement(control, "control", {"marked": 3})
