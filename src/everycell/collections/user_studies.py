"""Ratings of the user studies of lajewska2025 (chapters 4 and 7), with the published names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import (
    RATING,
    RatingsError,
    check_filled,
    check_levels,
    integer_ratings,
    read_table,
    row_in_file,
)
from everycell.base.untrusted import in_quotes

#: Answer options of the questionnaires in the published order: ``option_1`` is the first.
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


@dataclass(frozen=True)
class Study:
    """Columns of a study's file by published name, and its answers by condition."""

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


#: Columns of the factors of chapter 7, by their names in Table 7.4.
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


#: Quality of the response, and quality and mode of the explanations, by condition of chapter 7.
TRANSPARENCY_CONDITIONS = {
    "EC1": ("Good", "Good", "V"),
    "EC2": ("Good", "Good", "T"),
    "EC3": ("Flawed", "Good", "V"),
    "EC4": ("Flawed", "Good", "T"),
    "EC5": ("Good", "Flawed", "V"),
    "EC6": ("Good", "Flawed", "T"),
    "EC7": ("Flawed", "Flawed", "V"),
    "EC8": ("Flawed", "Flawed", "T"),
    "EC9": ("Good", "None", "None"),
    "EC10": ("Flawed", "None", "None"),
}

_CONTROLLED = ("response_quality", "additional_info_quality", "presentation_modes")

#: Answers given once after the task, like the ratings of explanations.
_FREQUENCIES = ("conversational_frequency", "voice_frequency")


def read_response_limitations(path: Path, study: Study) -> pd.DataFrame:
    """Read the ratings of one study of chapter 4."""
    raw = read_table(path, ["questions_ids", "answers_ids", *study.ratings.values()])
    check_levels(path, raw, "answers_ids", study.answers)
    check_filled(path, raw, ["questions_ids"])
    ratings = integer_ratings(path, raw, study.ratings)
    conditions = {
        label: raw["answers_ids"].isin(answers).map({True: "1", False: "0"})
        for label, answers in study.conditions.items()
    }
    return ratings.assign(Query=raw["questions_ids"], Condition=raw["answers_ids"], **conditions)


def read_transparency(path: Path) -> pd.DataFrame:
    """Read the ratings of the study of chapter 7."""
    factors = list(TRANSPARENCY_FACTORS.values())
    raw = read_table(
        path,
        ["worker_ids", "answers_ids", *factors, *RESPONSE_RATINGS.values()]
        + list(EXPLANATION_RATINGS.values()),
    )
    check_levels(path, raw, "answers_ids", list(TRANSPARENCY_CONDITIONS))
    check_levels(path, raw, "response_quality", ["Good", "Flawed"])
    check_levels(path, raw, "additional_info_quality", ["Good", "Flawed", "None"])
    check_levels(path, raw, "presentation_modes", ["V", "T", "None"])
    for column in ("familiarity", "interest", "search_prob"):
        check_levels(path, raw, column, [str(rating) for rating in RATING])
    for column in _FREQUENCIES:
        check_levels(path, raw, column, [f"option_{number}" for number in range(1, 6)])
    check_filled(path, raw, ["worker_ids", "questions_ids"])
    _check_conditions(path, raw)
    is_duplicate = raw.duplicated(["worker_ids", "questions_ids"])
    if is_duplicate.any():
        row = int(is_duplicate.idxmax())
        raise RatingsError(
            f"{row_in_file(path, row)}: worker {in_quotes(raw['worker_ids'][row])} rates query "
            f"{in_quotes(raw['questions_ids'][row])} again; remove one of the rows."
        )
    numbers = {name: raw[name].str.removeprefix("option_") for name in EXPLANATION_RATINGS.values()}
    ratings = integer_ratings(path, raw.assign(**numbers), RESPONSE_RATINGS | EXPLANATION_RATINGS)
    _check_same_per_worker(path, raw, [*EXPLANATION_RATINGS.values(), *_FREQUENCIES])
    factor_columns = {label: raw[column] for label, column in TRANSPARENCY_FACTORS.items()}
    return ratings.assign(Worker=raw["worker_ids"], Condition=raw["answers_ids"], **factor_columns)


def _check_conditions(path: Path, raw: pd.DataFrame) -> None:
    """Check that the qualities and mode of each row are those of its condition."""
    for position, column in enumerate(_CONTROLLED):
        levels = {name: levels[position] for name, levels in TRANSPARENCY_CONDITIONS.items()}
        differs = raw[column] != raw["answers_ids"].map(levels)
        if differs.any():
            row = int(differs.idxmax())
            condition = raw["answers_ids"][row]
            raise RatingsError(
                f"{row_in_file(path, row)}: {column!r} is {in_quotes(raw[column][row])} in "
                f"condition {condition}; expected {levels[condition]!r}, so correct the value or "
                "the condition."
            )


def _check_same_per_worker(path: Path, raw: pd.DataFrame, columns: Sequence[str]) -> None:
    """Check that answers given once per worker are the same in all rows of the worker."""
    for column in columns:
        first = raw.groupby("worker_ids")[column].transform("first")
        differs = raw[column] != first
        if differs.any():
            row = int(differs.idxmax())
            raise RatingsError(
                f"{row_in_file(path, row)}: {column!r} is {in_quotes(raw[column][row])}, but "
                f"{in_quotes(first[row])} in another row of worker "
                f"{in_quotes(raw['worker_ids'][row])}; workers answer this question once, so use "
                "the same answer in all rows of the worker."
            )
