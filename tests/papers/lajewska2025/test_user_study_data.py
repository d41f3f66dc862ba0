"""Readers of the user studies on small made-up files."""

import pandas as pd
import pytest

from papers.lajewska2025.user_study_data import (
    ANSWERABILITY,
    DEMOGRAPHICS,
    EXPLANATION_RATINGS,
    RESPONSE_RATINGS,
    VIEWPOINTS,
    excerpt_sha256,
    failed_checks,
    query_sha256,
    read_answers,
    read_comment_counts,
    read_expert_scores,
    read_pilot,
    read_queries,
    read_response_limitations,
    read_transparency,
)


def answerability() -> pd.DataFrame:
    """Two queries under the four conditions, with ratings 1 to 4."""
    return pd.DataFrame(
        {
            "questions_ids": ["q1"] * 4 + ["q2"] * 4,
            "answers_ids": ["A1", "A2", "A3", "A4"] * 2,
            "familiarity": list("12341234"),
            "factuality": list("44332211"),
            "confidence": list("11223344"),
            "satisfaction": list("12121212"),
        }
    )


def transparency() -> pd.DataFrame:
    """Two workers who rate two queries each; one of them saw no explanations."""
    rows = pd.DataFrame(
        {
            "worker_ids": ["w1", "w1", "w2", "w2"],
            "questions_ids": ["q1", "q2", "q1", "q2"],
            "answers_ids": ["EC5", "EC5", "EC10", "EC10"],
            "response_quality": ["Good", "Good", "Flawed", "Flawed"],
            "additional_info_quality": ["Flawed", "Flawed", "None", "None"],
            "presentation_modes": ["V", "V", "None", "None"],
            "familiarity": list("1234"),
            "interest": list("4321"),
            "search_prob": list("2233"),
            "conversational_frequency": ["option_1"] * 2 + ["option_5"] * 2,
            "voice_frequency": ["option_2"] * 2 + ["option_3"] * 2,
        }
    )
    for column in RESPONSE_RATINGS.values():
        rows[column] = list("1234")
    for column in EXPLANATION_RATINGS.values():
        rows[column] = ["option_4", "option_4", "option_1", "option_1"]
    return rows


@pytest.fixture
def save(tmp_path):
    """Write a frame as CSV and return its path."""

    def write(frame: pd.DataFrame):
        path = tmp_path / "ratings.csv"
        frame.to_csv(path, index=False)
        return path

    return write


def test_read_response_limitations_published_names(save):
    result = read_response_limitations(save(answerability()), ANSWERABILITY)
    assert result["Factual Correctness"].tolist() == [4, 4, 3, 3, 2, 2, 1, 1]
    assert result["Contr. Fact. Corr."].tolist() == list("1100") * 2
    assert result["Contr. Source"].tolist() == list("1010") * 2
    assert result["Query"].tolist() == ["q1"] * 4 + ["q2"] * 4


def test_read_response_limitations_viewpoints(save):
    frame = answerability().rename(columns={"factuality": "diversity", "confidence": "bias"})
    frame = frame.assign(transparency=frame["satisfaction"])[frame["answers_ids"] != "A4"]
    result = read_response_limitations(save(frame), VIEWPOINTS)
    pairs = set(zip(result["Contr. Diversity"], result["Contr. Balance"], strict=True))
    assert pairs == {("1", "1"), ("1", "0"), ("0", "0")}


def test_read_transparency_level_none(save):
    result = read_transparency(save(transparency()))
    assert result["Explanation Quality"].tolist() == ["Flawed", "Flawed", "None", "None"]
    assert result["Presentation Mode"].tolist() == ["V", "V", "None", "None"]
    assert result["Source"].tolist() == [4, 4, 1, 1]
    assert result["Usefulness"].tolist() == [1, 2, 3, 4]


def test_read_response_limitations_decimal_point(save):
    frame = answerability()
    frame["familiarity"] += ".0"
    result = read_response_limitations(save(frame), ANSWERABILITY)
    assert result["Familiarity"].tolist() == [1, 2, 3, 4, 1, 2, 3, 4]


def test_failed_checks_position_of_summary(tmp_path):
    path = tmp_path / "study.csv"
    rows = [("[0, 0, 1]", "3"), ("[1, 0, 0]", "1.0"), ("[0, 1, 0]", "3"), ("[0, 0, 1]", "1")]
    pd.DataFrame(rows, columns=["summaries_scores", "summary_result"]).to_csv(path, index=False)
    assert failed_checks(path).tolist() == [False, False, True, True]


def test_read_answers_order_and_unused_options(save):
    path = save(pd.DataFrame({"gender": ["option_2", "option_1", "option_2"]}))
    result = read_answers(path, "gender", DEMOGRAPHICS["Gender"])
    assert result.value_counts(sort=False).to_dict() == {
        "Male": 1,
        "Female": 2,
        "Other": 0,
        "Prefer not to say": 0,
    }


def test_query_sha256_normalises():
    assert query_sha256("What’s  the best seat?") == query_sha256("what's the best seat")
    assert query_sha256("a") != query_sha256("b")


def test_excerpt_sha256_counts_normalised_words():
    text = "It's well-known: yes, it is!"
    assert excerpt_sha256(text) == query_sha256(text)
    assert excerpt_sha256(text, end=3) == query_sha256("it's well known")
    assert excerpt_sha256(text, start=4) == query_sha256("... it is")


def test_read_comment_counts_columns_in_order(tmp_path):
    path = tmp_path / "comments.csv"
    path.write_text("answer_conditions,satisfaction,usefulness \nA1,4,3.0\nA2,1,0\nSUM,,3\n")
    assert read_comment_counts(path).values.tolist() == [[4, 3], [1, 0]]


def test_read_pilot_workers_of_a_query(tmp_path):
    path = tmp_path / "pilot.csv"
    path.write_text("answers_ids,usefulness\nEC3,\"['2', '3']\"\n")
    rows = [["EC3", "EC3 worker 0", 2], ["EC3", "EC3 worker 1", 3]]
    assert read_pilot(path).values.tolist() == rows


def test_read_expert_scores_without_averages(tmp_path):
    path = tmp_path / "experts.csv"
    path.write_text(
        ",A1,A1,A1\nquery,Balance,Balance,Balance\n,User 1,User 2,Mean\n\n132_1,4,5,4.5\n,4,5,\n"
    )
    assert read_expert_scores(path).values.tolist() == [
        ["132_1", "Balance", "A1", "User 1", 4],
        ["132_1", "Balance", "A1", "User 2", 5],
    ]


@pytest.mark.parametrize("column", ["Query", "Question"])
def test_read_queries_text_column(tmp_path, column):
    path = tmp_path / "queries.csv"
    path.write_text(f"Turn_id,{column}\n132_1,Which?\n,\n")
    assert read_queries(path).values.tolist() == [["132_1", "Which?"]]
