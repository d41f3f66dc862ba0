"""Ratings of the user studies of lajewska2025 (chapters 4 and 7), with the names of the print.

Each reader checks what the analyses rest on and returns one row a rated response. Factors come
out as text, ratings as integers from 1 to 4; the level named "None" stays a level.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.engine.untrusted import in_quotes

RATING = range(1, 5)
#: Answers of the questionnaires: ``option_1`` is the first in the order of the print.
DEMOGRAPHICS: Mapping[str, Sequence[str]] = {
    "Age": ("18-30", "31-45", "46-60", "60+", "Prefer not to say"),
    "Gender": ("Male", "Female", "Other", "Prefer not to say"),
    "Education": (
        "High School",
        "Bachelor's Degree",
        "Master's Degree",
        "Ph.D. or higher",
        "Prefer not to say",
    ),
}


class RatingsError(Exception):
    """A ratings file cannot be used; the message names file, row, and what is allowed."""


@dataclass(frozen=True)
class Study:
    """How a study's file maps to the names of the print.

    Attributes
    ----------
    ratings
        Label of the print -> column of the file, integers 1 to 4.
    conditions
        Label of a controlled factor -> the answers (`answers_ids`) where it is on.
    answers
        Answers that the study has.
    """

    name: str
    ratings: Mapping[str, str]
    conditions: Mapping[str, Sequence[str]]
    answers: Sequence[str]


ANSWERABILITY = Study(
    name="Answerability",
    ratings={
        "Familiarity": "familiarity",
        "Factual Correctness": "factuality",
        "Conf. in Answer Acc.": "confidence",
        "Overall Satisfaction": "satisfaction",
    },
    conditions={"Contr. Fact. Corr.": ("A1", "A2"), "Contr. Source": ("A1", "A3")},
    answers=("A1", "A2", "A3", "A4"),
)
VIEWPOINTS = Study(
    name="Viewpoints",
    ratings={
        "Familiarity": "familiarity",
        "Diversity": "diversity",
        "Transparency": "transparency",
        "Balance": "bias",
        "Overall Satisfaction": "satisfaction",
    },
    conditions={"Contr. Diversity": ("A1", "A2"), "Contr. Balance": ("A1",)},
    answers=("A1", "A2", "A3"),
)

RESPONSE_RATINGS = {
    label: label.lower()
    for label in (
        "Usefulness",
        "Relevance",
        "Correctness",
        "Completeness",
        "Comprehensiveness",
        "Conciseness",
        "Serendipity",
        "Coherence",
        "Factuality",
        "Fairness",
        "Readability",
        "Satisfaction",
    )
}
EXPLANATION_RATINGS = {
    "Source": "source_usefulness",
    "Confidence": "confidence_usefulness",
    "Limitations": "warning_usefulness",
}
#: Factors of chapter 7 under the names of Table 7.4.
TRANSPARENCY_FACTORS = {
    "Response Quality": "response_quality",
    "Explanation Quality": "additional_info_quality",
    "Presentation Mode": "presentation_modes",
    "Query": "questions_ids",
    "Topic Familiarity": "familiarity",
    "Interest In Topic": "interest",
    "Similar Search Prob.": "search_prob",
    "Conv. Agent Fam.": "conversational_frequency",
    "Search w/ Agent Freq.": "voice_frequency",
}


def read_response_limitations(path: Path, study: Study) -> pd.DataFrame:
    """Ratings of one study of chapter 4.

    Parameters
    ----------
    path
        CSV as the authors released it (`answerability_both_runs.csv`, `viewpoints.csv`).
    study
        `ANSWERABILITY` or `VIEWPOINTS`.

    Returns
    -------
    pandas.DataFrame
        Columns: Query (text), Condition (text), the study's ratings (integers 1 to 4) and its
        controlled factors ("0" or "1"), one row a rated response. Source: sections 4.3, 4.4.

    Raises
    ------
    RatingsError
        Empty file, missing column, rating that is none, query without a name, or unknown
        answer. The file names no workers, so a worker who stands twice cannot be seen.
    """
    raw = read_table(path, ["questions_ids", "answers_ids", *study.ratings.values()])
    _check_levels(path, raw, "answers_ids", study.answers)
    _check_filled(path, raw, ["questions_ids"])
    ratings = _ratings(path, raw, study.ratings)
    on = {
        label: raw["answers_ids"].isin(answers).map({True: "1", False: "0"})
        for label, answers in study.conditions.items()
    }
    return ratings.assign(Query=raw["questions_ids"], Condition=raw["answers_ids"], **on)


def read_transparency(path: Path) -> pd.DataFrame:
    """Ratings of the study of chapter 7.

    Parameters
    ----------
    path
        CSV of the released ratings (`user_study.csv`).

    Returns
    -------
    pandas.DataFrame
        Columns: Worker, Condition (EC1 to EC10), the factors of Table 7.4 (text), the 12
        response ratings and, as they are given once a worker and repeated over the rows, the
        three explanation ratings (1 to 4). One row a worker and query.

    Raises
    ------
    RatingsError
        Empty file, missing column, rating that is none, unknown level, or a worker who rated a
        query twice.
    """
    factors = list(TRANSPARENCY_FACTORS.values())
    raw = read_table(
        path,
        ["worker_ids", "answers_ids", *factors, *RESPONSE_RATINGS.values()]
        + list(EXPLANATION_RATINGS.values()),
    )
    conditions = [f"EC{number}" for number in range(1, 11)]
    _check_levels(path, raw, "answers_ids", conditions)
    _check_levels(path, raw, "response_quality", ["Good", "Flawed"])
    _check_levels(path, raw, "additional_info_quality", ["Good", "Flawed", "None"])
    _check_levels(path, raw, "presentation_modes", ["V", "T", "None"])
    for column in ("familiarity", "interest", "search_prob"):
        _check_levels(path, raw, column, [str(rating) for rating in RATING])
    for column in ("conversational_frequency", "voice_frequency"):
        _check_levels(path, raw, column, [f"option_{number}" for number in range(1, 6)])
    _check_filled(path, raw, ["worker_ids", "questions_ids"])
    twice = raw.duplicated(["worker_ids", "questions_ids"])
    if twice.any():
        row = int(twice.idxmax())
        raise RatingsError(
            f"{path}, row {row + 2}: worker {in_quotes(raw['worker_ids'][row])} rates query "
            f"{in_quotes(raw['questions_ids'][row])} a second time; each worker rates a query "
            "once, so remove one of the rows."
        )
    for column in EXPLANATION_RATINGS.values():
        raw[column] = raw[column].str.removeprefix("option_")
    ratings = _ratings(path, raw, RESPONSE_RATINGS | EXPLANATION_RATINGS)
    labelled = {label: raw[column] for label, column in TRANSPARENCY_FACTORS.items()}
    return ratings.assign(Worker=raw["worker_ids"], Condition=raw["answers_ids"], **labelled)


def read_answers(path: Path, column: str, labels: Sequence[str]) -> pd.Series:
    r"""Answers to a question with options, as the labels of the print, in their order.

    Parameters
    ----------
    path
        Ratings file.
    column
        Column that holds ``option_1``, ``option_2``, ...
    labels
        Label of each option.

    Raises
    ------
    RatingsError
        As `read_table`; an answer that is none of the options.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "study.csv"
    >>> _ = path.write_text("age\noption_2\noption_1\n")
    >>> read_answers(path, "age", ["18-30", "31-45", "46-60"]).tolist()
    ['31-45', '18-30']
    """
    raw = read_table(path, [column])
    options = {f"option_{number}": label for number, label in enumerate(labels, start=1)}
    _check_levels(path, raw, column, list(options))
    return pd.Series(pd.Categorical(raw[column].map(options), categories=labels), name=column)


def read_table(
    path: Path, columns: Sequence[str] = (), *, error: type[Exception] = RatingsError
) -> pd.DataFrame:
    r"""Read a released CSV as text, where the word "None" is a word; `columns` must be there.

    Raises
    ------
    Exception
        Of the class `error`: empty file, no rows, rows longer than the header, or a missing column.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "study.csv"
    >>> _ = path.write_text("rating,level\n04,None\n")
    >>> read_table(path, ["level"]).values.tolist()
    [['04', 'None']]
    >>> _ = path.write_text("rating\n4,None\n")
    >>> read_table(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    everycell.collections.user_studies.RatingsError: ...: its rows have more fields than its ...
    """
    raw = _read_csv(path, error)
    # pandas would take the first field for the row's name and shift all others by one column.
    if not isinstance(raw.index, pd.RangeIndex):
        raise error(
            f"{path}: its rows have more fields than its header; fetch it again (delete the file "
            "first)."
        )
    _require(path, raw, columns, error)
    if raw.empty:
        raise error(f"{path}: has a header and no rows; fetch it again.")
    return raw


def _read_csv(path: Path, error: type[Exception] = RatingsError, **options: Any) -> pd.DataFrame:
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, **options)
    except pd.errors.EmptyDataError:
        raise error(f"{path}: is empty; fetch it again (delete the file first).") from None
    except (pd.errors.ParserError, UnicodeDecodeError) as fault:
        raise error(
            f"{path}: cannot be read as CSV ({fault}); fetch it again (delete the file first)."
        ) from None


def _require(
    path: Path, raw: pd.DataFrame, columns: Sequence[str], error: type[Exception] = RatingsError
) -> None:
    missing = [column for column in columns if column not in raw]
    if missing:
        raise error(
            f"{path}: lacks the column {missing[0]!r}; it has "
            f"{in_quotes(list(raw.columns[:20]), 300)}."
        )


def _ratings(path: Path, raw: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    allowed = {str(rating) for rating in RATING}
    for column in columns.values():
        found = raw[column].str.removesuffix(".0")
        bad = ~found.isin(allowed)
        if bad.any():
            row = int(bad.idxmax())
            what = f"is {in_quotes(raw[column][row])}" if raw[column][row] else "is empty"
            raise RatingsError(
                f"{path}, row {row + 2}: {column!r} {what}; a rating is a whole number from "
                f"{RATING.start} to {RATING.stop - 1}, so mend or drop the row."
            )
    return pd.DataFrame(
        {label: raw[column].str.removesuffix(".0").astype(int) for label, column in columns.items()}
    )


def _check_levels(path: Path, raw: pd.DataFrame, column: str, allowed: Sequence[str]) -> None:
    bad = ~raw[column].isin(allowed)
    if bad.any():
        row = int(bad.idxmax())
        raise RatingsError(
            f"{path}, row {row + 2}: {column!r} is {in_quotes(raw[column][row])}; allowed are "
            f"{', '.join(allowed)}."
        )


def _check_filled(path: Path, raw: pd.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        blank = raw[column] == ""
        if blank.any():
            raise RatingsError(
                f"{path}, row {int(blank.idxmax()) + 2}: {column!r} is empty; allowed is any "
                "name, so fill it in or drop the row."
            )


def query_sha256(query: str) -> str:
    """First 12 hex digits of the hash of a normalised query, to compare wordings uncopied.

    Normal form: NFKC, lower case, straight apostrophes, any other punctuation as white space,
    runs of white space as one blank.

    Examples
    --------
    >>> query_sha256("What’s  the best seat?") == query_sha256("what's the best seat")
    True
    """
    text = unicodedata.normalize("NFKC", query).lower().replace("’", "'").replace("‘", "'")
    text = re.sub(r"\s+", " ", re.sub(r"[^\w\s']", " ", text)).strip()
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_queries(path: Path) -> pd.DataFrame:
    r"""TREC ids and wordings of a study's queries, in the order of the print.

    Returns
    -------
    pandas.DataFrame
        Columns trec_id and query, one row a query; rows without an id are left out.

    Raises
    ------
    RatingsError
        As `read_table`.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "responses.csv"
    >>> _ = path.write_text("Turn_id,Question\n132_1,Which seat?\n,\n")
    >>> read_queries(path).values.tolist()
    [['132_1', 'Which seat?']]
    """
    # The two studies name the column of the wording differently.
    raw = read_table(path, ["Turn_id"])
    wording = "Query" if "Query" in raw else "Question"
    _require(path, raw, [wording])
    named = raw[raw["Turn_id"] != ""]
    return named.rename(columns={"Turn_id": "trec_id", wording: "query"})[["trec_id", "query"]]


def read_comment_counts(path: Path) -> pd.DataFrame:
    r"""Counts of coded comments: a column each theme, by condition and satisfaction.

    Returns
    -------
    pandas.DataFrame
        Column `satisfaction` (1 to 4) and the themes of the file (counts, surrounding blanks
        of the names removed), one row a condition and satisfaction.

    Raises
    ------
    RatingsError
        As `read_table`; a satisfaction that is no rating, or a count that is no whole number.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "comments.csv"
    >>> _ = path.write_text(
    ...     "answer_conditions,satisfaction,usefulness \nA1,4,3.0\nA2,1,0\nSUM,,3\n")
    >>> read_comment_counts(path).values.tolist()
    [[4, 3], [1, 0]]
    """
    raw = read_table(path, ["answer_conditions", "satisfaction"])
    raw.columns = raw.columns.str.strip()
    # The authors' last line sums the others.
    raw = raw[raw["answer_conditions"] != "SUM"]
    ratings = _ratings(path, raw, {"satisfaction": "satisfaction"})
    themes = raw.drop(columns=["satisfaction", "answer_conditions", ""], errors="ignore")
    themes = themes.drop(columns=[name for name in themes if name.startswith("Unnamed")])
    for theme, counts in themes.items():
        bad = ~counts.str.fullmatch(r"[0-9]{1,9}(\.0)?")
        if bad.any():
            row = int(bad.idxmax())
            raise RatingsError(
                f"{path}, row {row + 2}: {in_quotes(theme)} is {in_quotes(counts[row])}; a count "
                "is a whole number of 0 or more, so mend the row."
            )
    return ratings.join(themes.astype(float).astype(int))


def read_expert_scores(path: Path) -> pd.DataFrame:
    r"""Scores of the experts who judged the responses of the viewpoints study.

    Returns
    -------
    pandas.DataFrame
        Columns query (TREC id), dimension ("Diversity", "Balance"), variant ("A1" to "A3"),
        expert (text) and score (integer 1 to 5), one row a score. Source: section A.2.

    Raises
    ------
    RatingsError
        Empty file, no scores, or a score that is none.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "experts.csv"
    >>> _ = path.write_text(",A1,A1\nquery,Balance,Balance\n,User 1,User 2\n132_1,4,5\n")
    >>> read_expert_scores(path)["score"].tolist()
    [4, 5]
    """
    # Three header lines: variant, dimension, expert; the texts of the responses come first.
    raw = _read_csv(path, header=None)
    if len(raw) < 4:
        raise RatingsError(
            f"{path}: has {len(raw)} rows; allowed are three rows of headings and one or more of "
            "scores, so fetch it again (delete the file first)."
        )
    variants, dimensions, experts = (raw.iloc[line] for line in range(3))
    scores = []
    for line in range(3, len(raw)):
        if raw.iloc[line, 0] == "":  # the authors' averages
            continue
        for column in range(raw.shape[1]):
            if not experts[column].startswith("User"):
                continue
            found = raw.iloc[line, column]
            if found not in {"1", "2", "3", "4", "5"}:
                raise RatingsError(
                    f"{path}, row {line + 1}, column {column + 1}: the score is "
                    f"{in_quotes(found)}; a score is a whole number from 1 to 5."
                )
            place = (raw.iloc[line, 0], dimensions[column], variants[column], experts[column])
            scores.append((*place, int(found)))
    return pd.DataFrame(scores, columns=["query", "dimension", "variant", "expert", "score"])


def read_pilot(path: Path) -> pd.DataFrame:
    r"""Usefulness ratings of one pilot condition of chapter 7.

    A row of the file holds the ratings of all workers for a query, as in ``['2', '3']``.

    Returns
    -------
    pandas.DataFrame
        Columns Condition (text), Worker (place in the list, unique over conditions) and
        Usefulness (1 to 4), one row a worker and query.

    Raises
    ------
    RatingsError
        As `read_table`; ratings that are no such list, or queries with unequal numbers of them.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pilot.csv"
    >>> _ = path.write_text("answers_ids,usefulness\nEC3,\"['2', '3']\"\n")
    >>> read_pilot(path).values.tolist()
    [['EC3', 'EC3 worker 0', 2], ['EC3', 'EC3 worker 1', 3]]
    >>> _ = path.write_text("answers_ids,usefulness\nEC3,\"['2', '9']\"\n")
    >>> read_pilot(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    everycell.collections.user_studies.RatingsError: ...row 2: the ratings are "['2', '9']"; ...
    """
    raw = read_table(path, ["answers_ids", "usefulness"])
    rating = f"'[{RATING.start}-{RATING.stop - 1}]'"
    bad = ~raw["usefulness"].str.fullmatch(rf"\[{rating}(, {rating})*\]")
    if bad.any():
        row = int(bad.idxmax())
        raise RatingsError(
            f"{path}, row {row + 2}: the ratings are {in_quotes(raw['usefulness'][row])}; allowed "
            "is a list "
            f"of numbers from {RATING.start} to {RATING.stop - 1}, as in ['2', '3'], so mend it."
        )
    lists = raw["usefulness"].str.findall(r"\d")
    workers = lists.map(len)
    if workers.nunique() != 1:
        raise RatingsError(
            f"{path}: queries have {workers.min()} to {workers.max()} ratings; each has one of "
            "every worker."
        )
    rows = raw.assign(usefulness=lists).explode("usefulness", ignore_index=True)
    place = (rows.index % workers.iloc[0]).astype(str)
    return pd.DataFrame(
        {
            "Condition": rows["answers_ids"],
            "Worker": rows["answers_ids"] + " worker " + place,
            "Usefulness": rows["usefulness"].astype(int),
        }
    )
