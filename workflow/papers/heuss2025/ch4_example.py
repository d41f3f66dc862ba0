"""Worked example of chapter 4 of heuss2025, for model and explainers (Tables 4.1, 4.A.1, 4.A.2)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.jobs.result_job import ResultJob
from papers.heuss2025.ch4_talent_search import (
    FEATURES,
    UNIVERSITY,
    TalentModel,
    background,
    candidates,
    universities,
)

#: Features in the order of Table 4.1 -> their names there.
ROWS = {
    "req": "Requirements",
    "experience": "Experience",
    "skills": "Skills",
    "university": "University",
    "grades": "Grades",
}


def features(job: ResultJob) -> None:
    """Table 4.1: type and range of each feature of the random candidates."""
    schools = universities(job.input_cells("heuss2025/table_4_A_2"))
    rng = np.random.default_rng(job.params.seed)
    sample = background(schools, job.params.samples, rng)
    rows = []
    for feature, name in ROWS.items():
        column = list(FEATURES).index(feature)
        properties = feature_properties(sample[:, column], sample[:, UNIVERSITY])
        rows += [(name, metric, value) for metric, value in properties.items()]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))


def feature_properties(values: FloatArray, school: FloatArray) -> dict[str, str]:
    """Type of a feature and, if it is not categorical, its range; bounds have one decimal."""
    if set(values) <= {0.0, 1.0}:
        return {"type": "binary", "range": "{T, F}"}
    if np.array_equal(values, np.rint(values)):
        return {"type": "categorical"}
    bounds = {
        (round(own.min(), 1), round(own.max(), 1))
        for own in (values[school == number] for number in np.unique(school))
    }
    if len(bounds) > 1:
        return {"type": "real", "range": "by university"}
    [(low, high)] = bounds
    return {"type": "real", "range": f"[{low:g}, {high:g}]"}


def candidate_values(job: ResultJob) -> None:
    """Table 4.A.1: feature vectors of the candidates as values, and their scores."""
    published = job.input_cells("heuss2025/table_4_A_1")
    schools = universities(job.input_cells("heuss2025/table_4_A_2"))
    vectors = candidates(published, schools)
    rows, scores = [], []
    rankers = {
        name: TalentModel(schools, biased=biased)
        for name, biased in (("biased", True), ("unbiased", False))
    }
    for name in published["row"].unique():
        values = dict(zip(FEATURES, vectors[name], strict=True))
        texts = {key: f"{value:g}" for key, value in values.items()} | {
            "university": schools.names[int(values["university"])],
            "req": str(bool(values["req"])),
        }
        rows += [(name, metric, text) for metric, text in texts.items()]
        scores += [
            (name, ranker, score(vectors[name][None])[0]) for ranker, score in rankers.items()
        ]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
    table = pd.DataFrame(scores, columns=["row", "ranker", "value"])
    job.write_supplement(table, "scores", {"all": 3})


def university_values(job: ResultJob) -> None:
    """Table 4.A.2: grading schemes of the universities, and biases of the model."""
    published = job.input_cells("heuss2025/table_4_A_2")
    schools = universities(published)
    biases = np.select([schools.favoured, schools.disfavoured], ["Positive", "Negative"], "None")
    rows = []
    for name in published["row"].unique():
        school = schools.names.index(name)
        values = {
            "highest_grade": f"{schools.highest[school]:g}",
            "lowest_grade": f"{schools.lowest[school]:g}",
            "model_bias": biases[school],
        }
        rows += [(name, metric, value) for metric, value in values.items()]
    job.write_table(pd.DataFrame(rows, columns=["row", "metric", "value"]))
