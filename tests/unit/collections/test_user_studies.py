"""Reading ratings: what comes out, and the sentence for each fault (small made-up files)."""

import pandas as pd
import pytest

from everycell.base.csv_files import RatingsError, read_answers
from everycell.collections.user_studies import (
    ANSWERABILITY,
    DEMOGRAPHICS,
    EXPLANATION_RATINGS,
    RESPONSE_RATINGS,
    VIEWPOINTS,
    read_response_limitations,
    read_transparency,
)
from everycell.collections.user_study_materials import (
    query_sha256,
    read_comment_counts,
    read_expert_scores,
    read_pilot,
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


def changed(frame: pd.DataFrame, row: int, column: str, value: str) -> pd.DataFrame:
    frame = frame.copy()
    frame.loc[row, column] = value
    return frame


def test_answerability_with_the_names_of_the_print(save):
    result = read_response_limitations(save(answerability()), ANSWERABILITY)
    assert result["Factual Correctness"].tolist() == [4, 4, 3, 3, 2, 2, 1, 1]
    assert result["Contr. Fact. Corr."].tolist() == list("1100") * 2
    assert result["Contr. Source"].tolist() == list("1010") * 2
    assert result["Query"].tolist() == ["q1"] * 4 + ["q2"] * 4


def test_viewpoints_have_no_response_that_is_balanced_but_not_diverse(save):
    frame = answerability().rename(columns={"factuality": "diversity", "confidence": "bias"})
    frame = frame.assign(transparency=frame["satisfaction"])[frame["answers_ids"] != "A4"]
    result = read_response_limitations(save(frame), VIEWPOINTS)
    pairs = set(zip(result["Contr. Diversity"], result["Contr. Balance"], strict=True))
    assert pairs == {("1", "1"), ("1", "0"), ("0", "0")}


def test_the_level_none_stays_a_level(save):
    result = read_transparency(save(transparency()))
    assert result["Explanation Quality"].tolist() == ["Flawed", "Flawed", "None", "None"]
    assert result["Presentation Mode"].tolist() == ["V", "V", "None", "None"]
    assert result["Source"].tolist() == [4, 4, 1, 1]
    assert result["Usefulness"].tolist() == [1, 2, 3, 4]


def test_whole_numbers_with_a_point_are_ratings(save):
    frame = answerability()
    frame["familiarity"] += ".0"
    result = read_response_limitations(save(frame), ANSWERABILITY)
    assert result["Familiarity"].tolist() == [1, 2, 3, 4, 1, 2, 3, 4]


@pytest.mark.parametrize("value", ["0", "5", "-1", "2.5", "NaN", "nan", "four", "None"])
def test_a_rating_out_of_range_names_file_row_and_what_is_allowed(save, value):
    path = save(changed(answerability(), 5, "confidence", value))
    with pytest.raises(RatingsError) as caught:
        read_response_limitations(path, ANSWERABILITY)
    assert str(caught.value) == (
        f"{path}, row 7: 'confidence' is {value!r}; expected a whole number from 1 to 4, so "
        "correct or remove the row."
    )


def test_a_rating_that_lacks_is_no_rating(save):
    path = save(changed(answerability(), 2, "confidence", ""))
    with pytest.raises(RatingsError, match=r"row 4: 'confidence' is empty; expected a whole"):
        read_response_limitations(path, ANSWERABILITY)


def test_a_row_that_breaks_off_is_an_empty_rating(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text(answerability().to_csv(index=False) + "q3,A1,1\n")
    with pytest.raises(RatingsError, match=r"row 10: 'factuality' is empty"):
        read_response_limitations(path, ANSWERABILITY)


@pytest.mark.parametrize("value", ["option_5", "option_0", "0", ""])
def test_a_rating_of_explanations_out_of_range(save, value):
    path = save(changed(transparency(), 1, "source_usefulness", value))
    with pytest.raises(RatingsError, match=r"row 3: 'source_usefulness' is .* from 1 to 4"):
        read_transparency(path)


@pytest.mark.parametrize("column", answerability().columns)
def test_a_missing_column_is_named(save, column):
    path = save(answerability().drop(columns=column))
    with pytest.raises(RatingsError) as caught:
        read_response_limitations(path, ANSWERABILITY)
    assert str(caught.value).startswith(f"{path} lacks the column {column!r}; its columns are ")


@pytest.mark.parametrize("column", transparency().columns)
def test_a_missing_column_of_the_transparency_study_is_named(save, column):
    with pytest.raises(RatingsError, match=f"lacks the column '{column}'"):
        read_transparency(save(transparency().drop(columns=column)))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is empty; fetch it again"),
        (b"questions_ids,answers_ids,familiarity,factuality,confidence,satisfaction\n", "no rows"),
        (b'questions_ids,answers_ids\n"q1,A1\n', "cannot be read as CSV"),
        (b"\x1f\x8b\x08\x00\xff\xff", "cannot be read as CSV"),
    ],
)
def test_files_without_ratings(tmp_path, content, sentence):
    path = tmp_path / "ratings.csv"
    path.write_bytes(content)
    with pytest.raises(RatingsError) as caught:
        read_response_limitations(path, ANSWERABILITY)
    assert str(caught.value).startswith(f"{path} ") and sentence in str(caught.value)


def test_a_worker_who_rates_a_query_twice_is_named(save):
    twice = pd.concat([transparency(), transparency().iloc[[1]]], ignore_index=True)
    path = save(twice)
    with pytest.raises(RatingsError, match=r"row 6: worker 'w1' rates query 'q2' again"):
        read_transparency(path)


def test_an_unknown_answer_is_named_with_those_allowed(save):
    path = save(changed(answerability(), 0, "answers_ids", "A5"))
    with pytest.raises(RatingsError, match=r"'answers_ids' is 'A5'; expected one of A1, A2, A3"):
        read_response_limitations(path, ANSWERABILITY)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("answers_ids", "EC11"),
        ("response_quality", "None"),
        ("additional_info_quality", ""),
        ("presentation_modes", "v"),
        ("familiarity", "3.0"),
        ("interest", "5"),
        ("search_prob", ""),
        ("conversational_frequency", "option_6"),
        ("voice_frequency", "2"),
    ],
)
def test_an_unknown_level_of_a_factor_is_named(save, column, value):
    path = save(changed(transparency(), 2, column, value))
    with pytest.raises(RatingsError, match=f"row 4: '{column}' is '{value}'; expected "):
        read_transparency(path)


@pytest.mark.parametrize("column", ["worker_ids", "questions_ids"])
def test_workers_and_queries_have_a_name(save, column):
    path = save(changed(transparency(), 2, column, ""))
    with pytest.raises(RatingsError, match=f"row 4: '{column}' is empty"):
        read_transparency(path)


def test_answers_keep_the_order_of_the_print_and_options_that_nobody_chose(save):
    path = save(pd.DataFrame({"gender": ["option_2", "option_1", "option_2"]}))
    result = read_answers(path, "gender", DEMOGRAPHICS["Gender"])
    assert result.value_counts(sort=False).to_dict() == {
        "Male": 1,
        "Female": 2,
        "Other": 0,
        "Prefer not to say": 0,
    }


def test_an_option_beyond_the_last_is_named(save):
    path = save(pd.DataFrame({"gender": ["option_2", "option_5"]}))
    with pytest.raises(RatingsError, match=r"row 3: 'gender' is 'option_5'; expected one of opt"):
        read_answers(path, "gender", DEMOGRAPHICS["Gender"])


@pytest.mark.parametrize("column", ["worker_ids", "questions_ids"])
@pytest.mark.parametrize("value", ["q1 ", " q1", "\tq1"])
def test_a_name_with_a_blank_at_an_end_is_no_further_level(save, column, value):
    path = save(changed(transparency(), 2, column, value))
    with pytest.raises(RatingsError) as caught:
        read_transparency(path)
    assert str(caught.value).startswith(f"{path}, row 4: {column!r} is {value!r}")


@pytest.mark.parametrize(
    ("column", "value", "allowed"),
    [
        ("response_quality", "Flawed", "Good"),
        ("additional_info_quality", "Good", "Flawed"),
        ("presentation_modes", "T", "V"),
    ],
)
def test_qualities_and_mode_are_those_of_the_condition(save, column, value, allowed):
    path = save(changed(transparency(), 1, column, value))
    with pytest.raises(RatingsError) as caught:
        read_transparency(path)
    message = str(caught.value)
    assert message.startswith(f"{path}, row 3: {column!r} is {value!r} in condition EC5")
    assert repr(allowed) in message


@pytest.mark.parametrize(
    "column", [*EXPLANATION_RATINGS.values(), "conversational_frequency", "voice_frequency"]
)
def test_an_answer_after_the_task_is_one_for_each_worker(save, column):
    path = save(changed(transparency(), 3, column, "option_2"))
    with pytest.raises(RatingsError, match=rf"row 5: {column!r} is 'option_2', but .* worker 'w2'"):
        read_transparency(path)


def test_a_doubled_column_is_refused_where_it_is_asked_for(save):
    frame = answerability()
    path = save(pd.concat([frame, frame[["confidence"]]], axis=1))
    with pytest.raises(RatingsError, match=r"has 2 columns named 'confidence'; rename or remove"):
        read_response_limitations(path, ANSWERABILITY)
    path = save(pd.concat([frame.assign(note="a"), frame.assign(note="b")[["note"]]], axis=1))
    assert len(read_response_limitations(path, ANSWERABILITY)) == len(frame)


def test_a_missing_file_a_folder_and_a_packed_file_are_named(tmp_path):
    packed = tmp_path / "ratings.csv.gz"
    packed.write_bytes(b"no gzip")
    for path, message in (
        (tmp_path / "none.csv", "does not exist; check the path, or fetch the file."),
        (tmp_path, "cannot be read as CSV"),
        (packed, "cannot be read as CSV"),
    ):
        with pytest.raises(RatingsError) as caught:
            read_response_limitations(path, ANSWERABILITY)
        assert str(caught.value).startswith(f"{path} {message}")


def test_row_numbers_count_blank_lines_and_lines_within_cells_as_a_spreadsheet_does(tmp_path):
    path = tmp_path / "ratings.csv"
    lines = changed(answerability().assign(note="a\n\nb"), 2, "confidence", "7").to_csv(index=False)
    path.write_text(lines.replace("q1,A2", "\n  \nq1,A2"))
    with pytest.raises(RatingsError, match=r"row 6: 'confidence' is '7'"):
        read_response_limitations(path, ANSWERABILITY)


def test_a_row_after_a_cell_too_long_for_the_counter_is_named_all_the_same(save):
    frame = changed(answerability().assign(note="x" * 200_000), 2, "confidence", "7")
    with pytest.raises(RatingsError, match=r"row 4: 'confidence' is '7'"):
        read_response_limitations(save(frame), ANSWERABILITY)


def test_rows_of_expert_scores_count_blank_lines(tmp_path):
    path = tmp_path / "experts.csv"
    path.write_text(",A1,A1\nquery,Balance,Balance\n,User 1,User 2\n\n132_1,4,9\n")
    with pytest.raises(RatingsError, match=r"row 5, column 3: the score is '9'"):
        read_expert_scores(path)


def test_query_sha256_normalises():
    assert query_sha256("What’s  the best seat?") == query_sha256("what's the best seat")
    assert query_sha256("a") != query_sha256("b")


def test_read_comment_counts_columns_in_order(tmp_path):
    path = tmp_path / "comments.csv"
    path.write_text("answer_conditions,satisfaction,usefulness \nA1,4,3.0\nA2,1,0\nSUM,,3\n")
    assert read_comment_counts(path).values.tolist() == [[4, 3], [1, 0]]


def test_read_pilot_workers_of_a_query(tmp_path):
    path = tmp_path / "pilot.csv"
    path.write_text("answers_ids,usefulness\nEC3,\"['2', '3']\"\n")
    rows = [["EC3", "EC3 worker 0", 2], ["EC3", "EC3 worker 1", 3]]
    assert read_pilot(path).values.tolist() == rows
    path.write_text("answers_ids,usefulness\nEC3,\"['2', '9']\"\n")
    with pytest.raises(RatingsError, match="row 2: .*'2', '9'"):
        read_pilot(path)
