"""lajewska2025, chapter 4: dimensions, conditions and example responses, on made-up files."""

import pandas as pd
from chapter_jobs import FunctionJob

from papers.lajewska2025 import ch4_design
from papers.lajewska2025.user_study_data import query_sha256


def responses(folder):
    """One query with a traced source, an untraced one, and headings that only resemble answers."""
    row = {
        "Turn_id": "1_1",
        "Question": "Where is it?",
        "A1/A2": "It is here, by the sea.",
        "A3/A4": "It is there, on a hill.",
        "S1": "https://a.example",
        "S1 - doc_id": "P1",
        "S3": "https://b.example",
        "summary correct A1/A2": "no response",
    }
    path = folder / "responses.csv"
    pd.DataFrame([row]).to_csv(path, index=False)
    return path


def test_variants_by_heading(tmp_path):
    variants = ch4_design.variants(responses(tmp_path), 1)
    assert list(variants) == ["A1", "A2", "A3", "A4"]
    assert variants["A1"] == ("It is here, by the sea.", "https://a.example", "P1")
    assert variants["A2"] == ("It is here, by the sea.", "", "")
    assert variants["A3"] == ("It is there, on a hill.", "https://b.example", "")


def test_conditions_of_answerability(tmp_path):
    job = FunctionJob(
        input={"responses": responses(tmp_path)},
        params={"query": 1, "quoted_words": dict.fromkeys(["A1", "A2", "A3", "A4"], 3)},
        wildcards={"number": "5"},
    )
    ch4_design.conditions(job)
    cells = job.tables[""].pivot(index="row", columns="metric", values="value")
    assert cells["factual_correctness"].tolist() == ["✓", "✓", "×", "×"]
    assert cells["source"].tolist() == ["✓", "×", "✓ (invalid)", "×"]
    assert cells["example_source"].tolist() == ["https://a.example", "–", "https://b.example", "–"]
    # Only as many words count as the thesis quotes.
    assert cells.loc["EC1", "opening_sha256"] == query_sha256("it is here")
    assert cells.loc["EC3", "opening_sha256"] == query_sha256("It is there...")
    wording = job.tables["examples"].set_index(["row", "metric"])["value"]
    assert wording["EC4", "response"] == "It is there, on a hill."


def test_examples_only_have_their_sources(tmp_path):
    quoted = {
        "first": ("answerability", 1, "A3", 3),
        "second": ("answerability", 1, "A2", None),
    }
    job = FunctionJob(params={"examples": quoted})
    job.input = {"answerability": responses(tmp_path)}
    ch4_design.examples(job)
    cells = job.tables[""].set_index(["row", "metric"])["value"]
    assert cells["second", "opening_sha256"] == query_sha256("It is here, by the sea.")
    assert cells["first", "example_source"] == "https://b.example"
    assert ("second", "example_source") not in cells


def test_dimensions_vary_between_or_within_conditions(tmp_path):
    common = {"questions_ids": ["q1", "q2"] * 4, "answers_ids": ["A1", "A2", "A3", "A3"] * 2}
    names = ["familiarity", "factuality", "confidence", "satisfaction", "diversity"]
    names += ["transparency", "bias"]
    rated = {name: list("12341234"[::-1]) for name in names}
    # The four ratings of the third condition are not the same.
    path = tmp_path / "ratings.csv"
    pd.DataFrame(common | rated).assign(factuality=list("11221234")).to_csv(path, index=False)
    job = FunctionJob()
    job.input = {"answerability": path, "viewpoints": path}
    ch4_design.dimensions(job)
    marks = job.tables[""].set_index(["study", "dimension", "metric"])["value"].unstack()
    assert marks.loc[("Answerability", "Source Presence/Validity")].tolist() == ["✓", "×"]
    assert marks.loc[("Answerability", "Confidence in Answer Accuracy")].tolist() == ["×", "✓"]
    assert marks.loc[("Answerability", "Factual Correctness")].tolist() == ["✓", "✓"]
    assert marks.loc[("Viewpoints", "Transparency")].tolist() == ["×", "✓"]
