"""heuss2025, chapter 4: tables of the worked example."""

import numpy as np
import pandas as pd
from chapter_jobs import FunctionJob
from harness import published

from papers.heuss2025 import ch4_example

ARTEFACTS = published()["heuss2025"].artefacts


class ExampleJob(FunctionJob):
    """A context whose published inputs are those of the records, unless replaced."""

    replaced: dict[str, pd.DataFrame] = {}

    def input_cells(self, artefact):
        """Published cells of the artefact."""
        name = artefact.partition("/")[2]
        return self.replaced.get(name, ARTEFACTS[name].input_cells())


def written(function, name, **params):
    """Cells that a function writes and the published ones, by key."""
    job = ExampleJob(params=params)
    function(job)
    keys = ARTEFACTS[name].key_columns
    cells, table = ARTEFACTS[name].cells, job.tables[""]
    return tuple(frame.set_index(keys)["value"].to_dict() for frame in (table, cells)), job


def test_candidate_values_read_back():
    (table, cells), job = written(ch4_example.candidate_values, "table_4_A_1")
    assert table == cells
    scores = job.tables["scores"].set_index(["row", "ranker"])["value"]
    # Grade 3.6 of 1 to 4: 0.8 + 0.7 + 2.6 / 3, times 0.9 under the biased ranker.
    assert np.isclose(scores["qual-biased", "unbiased"], 1.5 + 2.6 / 3)
    assert np.isclose(scores["qual-biased", "biased"], 0.9 * (1.5 + 2.6 / 3))


def test_university_values_read_back():
    (table, cells), _ = written(ch4_example.university_values, "table_4_A_2")
    assert table == cells


def test_features_of_random_candidates():
    job = ExampleJob(params={"samples": 3000, "seed": 0})
    ch4_example.features(job)
    assert list(job.tables[""].itertuples(index=False, name=None)) == [
        ("Requirements", "type", "binary"),
        ("Requirements", "range", "{T, F}"),
        ("Experience", "type", "real"),
        ("Experience", "range", "[0, 1]"),
        ("Skills", "type", "real"),
        ("Skills", "range", "[0, 1]"),
        ("University", "type", "categorical"),
        ("Grades", "type", "real"),
        ("Grades", "range", "by university"),
    ]


def test_features_follow_the_grades_of_universities():
    universities = ARTEFACTS["table_4_A_2"].input_cells().copy()
    for metric, grade in (("highest_grade", "4"), ("lowest_grade", "1")):
        universities.loc[universities["metric"] == metric, "value"] = grade
    job = ExampleJob(params={"samples": 3000, "seed": 0})
    job.replaced = {"table_4_A_2": universities}
    ch4_example.features(job)
    table = job.tables[""].set_index(["row", "metric"])["value"]
    assert table["Grades", "range"] == "[1, 4]"
