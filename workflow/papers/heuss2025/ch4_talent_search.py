"""Talent search of chapter 4 of heuss2025: its model, candidates, queries and background."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.arrays import BoolArray, FloatArray, IntArray

#: Features in the order of their columns -> names in figures.
FEATURES = {
    "experience": "exp",
    "skills": "skills",
    "grades": "grad",
    "university": "uni",
    "req": "req",
}
EXPERIENCE, SKILLS, GRADES, UNIVERSITY, REQUIREMENTS = range(5)

#: Candidates of each query, in the order of the authors' code, which breaks ties.
QUERIES = {
    "average": ["non-qual", "qual-1", "qual-2"],
    "qualified": ["qual-1", "qual-2", "qual-3"],
    "biased": ["qual-biased", "non-qual", "qual-1", "qual-2"],
    "nepotism": ["privileged", "non-qual", "qual-1", "qual-2"],
    "international": ["qual-net", "qual-ger", "qual-3", "non-qual"],
}
#: Figure on single candidates -> queries (None: all) and explainers.
CANDIDATE_FIGURES = {
    "4_3": (["qualified", "biased"], ["RankingSHAP", "PointwiseSHAP"]),
    "4_B_3": (None, ["RankingSHAP"]),
    "4_B_4": (None, ["PointwiseSHAP"]),
}
#: Figure on lists of the biased model -> queries (None: all).
LIST_FIGURES = {"4_2": ["average", "qualified", "biased"], "4_B_1": None}
#: Values in a notebook of the authors' repository that differ from Table 4.A.1.
OLDER_VALUES = {
    "qual-2": {"experience": 0.7, "skills": 0.3, "grades": 3.0},
    "non-qual": {"grades": 3.2},
    "qual-biased": {"skills": 0.6},
}
#: Factors that lower scores for the disfavoured university and for unmet requirements.
DISFAVOURED, UNQUALIFIED = 0.9, 0.25
#: Scales that turn values and factors into integers; 0.9 times 0.25 is 9 of the 40 parts.
_UNITS, _PARTS = 10**13, 40


class Universities(NamedTuple):
    """Grading schemes of universities and biases of the model, as arrays by university."""

    names: list[str]
    lowest: FloatArray  #: passing grade
    highest: FloatArray
    favoured: BoolArray
    disfavoured: BoolArray


def universities(table: pd.DataFrame) -> Universities:
    """Universities of Table 4.A.2."""
    rows = table.pivot(index="row", columns="metric", values="value")
    return Universities(
        rows.index.tolist(),
        rows["lowest_grade"].to_numpy(dtype=float),
        rows["highest_grade"].to_numpy(dtype=float),
        (rows["model_bias"] == "Positive").to_numpy(),
        (rows["model_bias"] == "Negative").to_numpy(),
    )


def candidates(
    table: pd.DataFrame,
    schools: Universities,
    overrides: Mapping[str, Mapping[str, float]] | None = None,
) -> dict[str, FloatArray]:
    """Feature vectors of the candidates of Table 4.A.1; `overrides` replace some values."""
    rows = table.pivot(index="row", columns="metric", values="value")
    vectors = {}
    for name, row in rows.iterrows():
        values = {
            **{key: float(row[key]) for key in ("experience", "skills", "grades")},
            "university": float(schools.names.index(row["university"])),
            "req": float(row["req"] == "True"),
            **(overrides or {}).get(str(name), {}),
        }
        vectors[str(name)] = np.array([values[key] for key in FEATURES])
    return vectors


class TalentModel(NamedTuple):
    """Score of candidates (section 4.5.1 and Figure 4.1).

    Scores are summed as integers, so that rounding errors do not break ties.
    """

    schools: Universities
    biased: bool

    def __call__(self, vectors: FloatArray) -> FloatArray:
        """Score feature vectors, shape (m, 5).

        A grade may be outside the range of its university, since features are masked separately.
        """
        school = vectors[:, UNIVERSITY].astype(int)
        lowest = _in_units(self.schools.lowest)
        spans = np.rint(self.schools.highest - self.schools.lowest).astype(np.int64)
        steps = np.lcm.reduce(np.abs(spans))
        grades = (_in_units(vectors[:, GRADES]) - lowest[school]) * (steps // spans[school])
        scores = (
            _in_units(vectors[:, SKILLS]) + _in_units(vectors[:, EXPERIENCE])
        ) * steps + grades
        unqualified = vectors[:, REQUIREMENTS] < 0.5
        factors = np.full(len(vectors), _PARTS)
        if self.biased:
            factors[self.schools.disfavoured[school]] = round(_PARTS * DISFAVOURED)
            unqualified &= ~self.schools.favoured[school]
        factors[unqualified] = np.rint(factors[unqualified] * UNQUALIFIED)
        return scores * factors / (float(_UNITS) * float(steps) * _PARTS)


def _in_units(values: FloatArray) -> IntArray:
    return np.rint(values * _UNITS).astype(np.int64)


def background(schools: Universities, samples: int, rng: np.random.Generator) -> FloatArray:
    """Random candidates, shape (samples, 5).

    Experience and skills are uniform from 0 to 1. All universities are equally likely, and so are
    met and unmet requirements. A grade is uniform in the range of its university.
    """
    school = rng.integers(len(schools.names), size=samples)
    low, high = schools.lowest[school], schools.highest[school]
    return np.column_stack(
        [
            rng.random(samples),
            rng.random(samples),
            low + (high - low) * rng.random(samples),
            school,
            rng.integers(2, size=samples),
        ]
    ).astype(float)
