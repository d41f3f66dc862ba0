"""lajewska2025, chapter 7: questions, conditions and quoted comments, on made-up files."""

import pandas as pd
import pytest
from chapter_jobs import FunctionJob

from everycell.base.errors import DataError
from papers.lajewska2025 import ch7_design
from papers.lajewska2025.user_study_data import RESPONSE_RATINGS, query_sha256

STIMULI = pd.DataFrame(
    {
        "Id": ["1", "2"],
        "Response good": ["Good one.", "Good two."],
        "Response bad": ["Bad one.", "Bad two."],
        "Response with limitation": ["Mind the bias;", "Mind the date;"],
        "Response with limitation noise": ["Mind the ads;", "Mind the ads;"],
        "Certainty good": ["5", "4"],
        "Certainty bad": ["1", "2"],
    }
)
STATED = "the system confidence in the provided response is {}%."
#: Condition -> its labels, and the texts of both queries.
SHOWN = {
    "EC1": (("Good", "Good", "V"), ["Good one.", "Good two."]),
    "EC2": (
        ("Good", "Good", "T"),
        [f"Good one. {STATED.format(100)}", f"Good two. {STATED.format(80)}"],
    ),
    "EC8": (
        ("Flawed", "Flawed", "T"),
        [
            f"Bad one. Mind the ads; {STATED.format(100)}",
            f"Bad two. Mind the ads; {STATED.format(80)}",
        ],
    ),
    "EC10": (("Flawed", "None", "None"), ["Bad one.", "Bad two."]),
}


def conditions(folder):
    """Run the function on the texts of four conditions."""
    rows = [
        (condition, *labels, query, text)
        for condition, (labels, texts) in SHOWN.items()
        for query, text in zip(["1", "2"], texts, strict=True)
    ]
    columns = ["answers_ids", "response_quality", "additional_info_quality"]
    columns += ["presentation_modes", "questions_ids", "answers"]
    pd.DataFrame(rows, columns=columns).to_csv(folder / "ratings.csv", index=False)
    STIMULI.to_csv(folder / "stimuli.csv", index=False)
    inputs = {name: folder / f"{name}.csv" for name in ("ratings", "stimuli")}
    job = FunctionJob(input=inputs)
    ch7_design.conditions(job)
    return {
        name: table.set_index(["row", "condition"])["value"].unstack()[list(SHOWN)].T.to_dict()
        for name, table in job.tables.items()
        if name != "texts"
    }


def test_conditions_from_texts_and_labels(tmp_path):
    tables = conditions(tmp_path)
    assert list(tables[""]["Response"].values()) == ["+, T", "+, T", "~, T", "~, T"]
    assert list(tables[""]["Source"].values()) == ["+, T", "+, T", "~, T", "–"]
    assert list(tables[""]["Confidence"].values()) == ["+, V", "+, T", "~, T", "–"]
    # The label of condition 2 promises limitations that its texts do not state.
    assert list(tables[""]["Limitations"].values()) == ["+, V", "–", "~, T", "–"]
    assert list(tables["labels"]["Limitations"].values()) == ["+, V", "+, T", "~, T", "–"]


def test_shown_variants_of_an_unknown_text():
    with pytest.raises(DataError, match="query 1"):
        ch7_design.shown_variants("Another text.", STIMULI.set_index("Id").loc["1"])


def test_questions_once_or_for_each_query(tmp_path):
    ratings = pd.DataFrame({"worker_ids": ["w1", "w1", "w2", "w2"]})
    for column in {*ch7_design.QUESTIONS.values(), *RESPONSE_RATINGS.values()}:
        ratings[column] = ["1", "1", "3", "3"]
    ratings = ratings.assign(familiarity=list("1234"), fairness=list("1223"))
    ratings.to_csv(tmp_path / "ratings.csv", index=False)
    tables = {}
    for number in "12":
        job = FunctionJob(input={"ratings": tmp_path / "ratings.csv"}, wildcards={"number": number})
        ch7_design.questions(job)
        tables[number] = job.tables[""].set_index(["row", "metric"])["value"]
    assert tables["1"]["Topic Familiarity", "asked"] == "for each query"
    assert tables["1"]["Interest in Topic", "asked"] == "once per worker"
    assert tables["2"]["Fairness", "options"] == "3"
    assert tables["2"]["Relevance", "options"] == "2"


def test_comments_are_hashed_from_the_quotation_on(tmp_path):
    coded = pd.DataFrame(
        {
            "answers_ids": ["EC1", "EC2", "EC2"],
            "source_usefulness_explanation": ["-", "-", "Well, one source."],
            "transparency": ["x", "", "x"],
            "Unnamed: 22": ["", "", "a remark"],
        }
    )
    coded.to_csv(tmp_path / "comments.csv", index=False)
    job = FunctionJob(
        input={"comments": tmp_path / "comments.csv"},
        params={"quoted": [("EC2", "1", 2, "source", 1)]},
    )
    ch7_design.comments(job)
    [cell] = job.tables[""]["value"]
    assert cell == query_sha256("... one source")
    texts = job.tables["comments"].set_index("metric")["value"]
    assert texts["wording"] == "Well, one source."
    assert texts["codes"] == "transparency; a remark"
