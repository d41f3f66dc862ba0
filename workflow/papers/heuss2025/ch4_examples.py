"""Worked example of chapter 4 of heuss2025: two models score a candidate of the talent search."""

from __future__ import annotations

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.jobs.result_job import ResultJob
from everycell.render.flow import AFTER, flow_chart
from papers.heuss2025.ch4_talent_search import (
    EXPERIENCE,
    GRADES,
    REQUIREMENTS,
    SKILLS,
    UNIVERSITY,
    TalentModel,
    candidates,
    universities,
)


def data_flow(job: ResultJob) -> None:
    """Figure 4.1: features, steps and scores of candidates in the biased and unbiased model."""
    schools = universities(job.input_cells("heuss2025/table_4_A_2"))
    people = candidates(job.input_cells("heuss2025/table_4_A_1"), schools)
    panels = [
        model_boxes(TalentModel(schools, biased=biased), people[name]).assign(
            panel=f"{'Biased' if biased else 'Unbiased'} model, candidate {name}"
        )
        for name in job.params.candidates
        for biased in (True, False)
    ]
    boxes = pd.concat(panels, ignore_index=True)
    job.write_figure(boxes, flow_chart(boxes))


def model_boxes(model: TalentModel, person: FloatArray) -> pd.DataFrame:
    """Features of a candidate, and the steps to the score, found by changing features."""
    neutral = model._replace(biased=False)

    def score(scorer: TalentModel, **changes: float) -> float:
        features = person.copy()
        for index, value in (
            (EXPERIENCE, changes.get("experience")),
            (SKILLS, changes.get("skills")),
            (REQUIREMENTS, changes.get("requirements")),
        ):
            if value is not None:
                features[index] = value
        return float(scorer(features[None])[0])

    grade = score(neutral, experience=0, skills=0, requirements=1)
    sum_of_features = score(neutral, requirements=1)
    university = score(model, requirements=1) / sum_of_features
    requirements = score(model) / score(model, requirements=1)
    is_waived = model.biased and model.schools.favoured[int(person[UNIVERSITY])]
    name = model.schools.names[int(person[UNIVERSITY])]
    rows = [
        ("skills", f"skills\n{person[SKILLS]:g}", []),
        ("experience", f"experience\n{person[EXPERIENCE]:g}", []),
        ("grades", f"grades\n{person[GRADES]:g}", []),
        ("university", f"university\n{name}", []),
        ("req", f"requirements\n{'met' if person[REQUIREMENTS] else 'not met'}", []),
        ("grade", f"grade in the range of the university\n{grade:.3g}", ["grades", "university"]),
        ("sum", f"sum\n{sum_of_features:.3g}", ["skills", "experience", "grade"]),
    ]
    before = ["sum", "req"]
    if model.biased:
        rows.append(("bias", f"times {university:.3g} for the university", ["sum", "university"]))
        before = ["bias", "req", "university"]
    waived = " (waived for the university)" * bool(is_waived)
    rows += [
        ("factor", f"times {requirements:.3g} for the requirements{waived}", before),
        ("score", f"score\n{score(model):.3g}", ["factor"]),
    ]
    frame = pd.DataFrame(rows, columns=["box", "text", "after"])
    is_feature = frame["after"].map(len) == 0
    frame["group"] = np.where(
        is_feature, "feature", np.where(frame["box"] == "bias", "bias", "step")
    )
    return frame.assign(after=frame["after"].map(AFTER.join))
