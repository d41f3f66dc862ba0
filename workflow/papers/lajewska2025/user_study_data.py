"""Released files of the user studies of lajewska2025 (chapters 4 and 7).

Ratings, demographics, queries, comments, expert scores and a pilot, with the published names.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import read_columns

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
    """Columns of a study's file by published name, and the answers of each condition."""

    name: str
    ratings: Mapping[str, str]
    conditions: Mapping[str, Sequence[str]]


ANSWERABILITY = Study(
    name="Answerability",
    ratings={
        "Familiarity": "familiarity",
        "Factual Correctness": "factuality",
        "Conf. in Answer Acc.": "confidence",
        "Overall Satisfaction": "satisfaction",
    },
    conditions={"Contr. Fact. Corr.": ("A1", "A2"), "Contr. Source": ("A1", "A3")},
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
)


RESPONSE_RATINGS = {
    label: label.lower()
    for label in "Usefulness Relevance Correctness Completeness Comprehensiveness Conciseness "
    "Serendipity Coherence Factuality Fairness Readability Satisfaction".split()
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


def read_response_limitations(path: Path, study: Study) -> pd.DataFrame:
    """Read the ratings of one study of chapter 4."""
    raw = read_columns(path, ["questions_ids", "answers_ids", *study.ratings.values()])
    conditions = {
        label: raw["answers_ids"].isin(answers).map({True: "1", False: "0"})
        for label, answers in study.conditions.items()
    }
    return _ratings(raw, study.ratings).assign(
        Query=raw["questions_ids"], Condition=raw["answers_ids"], **conditions
    )


def read_transparency(path: Path) -> pd.DataFrame:
    """Read the ratings of the study of chapter 7."""
    ratings = RESPONSE_RATINGS | EXPLANATION_RATINGS
    factors = TRANSPARENCY_FACTORS
    raw = read_columns(path, ["worker_ids", "answers_ids", *factors.values(), *ratings.values()])
    return _ratings(raw, ratings).assign(
        Worker=raw["worker_ids"],
        Condition=raw["answers_ids"],
        **{label: raw[column] for label, column in factors.items()},
    )


def _ratings(raw: pd.DataFrame, columns: Mapping[str, str]) -> pd.DataFrame:
    """Ratings from 1 to 4, some of which are written as "3.0" or "option_3"."""
    texts = {label: raw[column] for label, column in columns.items()}
    return pd.DataFrame(
        {
            label: text.str.removeprefix("option_").str.removesuffix(".0").astype(int)
            for label, text in texts.items()
        }
    )


def read_answers(path: Path, column: str, labels: Sequence[str]) -> pd.Series:
    """Read the answers to a multiple-choice question as an ordered list of labels."""
    options = {f"option_{number}": label for number, label in enumerate(labels, start=1)}
    answers = read_columns(path, [column])[column].map(options)
    return pd.Series(pd.Categorical(answers, categories=labels), name=column)


def failed_checks(path: Path) -> pd.Series:
    """Whether each attention check failed: the selected sentence is not the correct summary."""
    raw = read_columns(path, ["summaries_scores", "summary_result"])
    scores = raw["summaries_scores"].str.findall(r"\d")
    correct = scores.map(lambda options: options.index("1") + 1)
    return raw["summary_result"].astype(float) != correct


def query_sha256(query: str) -> str:
    """First 12 hex digits of a normalised text's hash, to compare texts without copying them.

    Texts are normalised with NFKC, lower case and straight apostrophes; other punctuation and
    white space become single spaces.
    """
    return _sha256(_normalised_words(query))


def excerpt_sha256(text: str, start: int = 0, end: int | None = None) -> str:
    """`query_sha256` of the normalised words of a text from `start` up to, but without, `end`."""
    return _sha256(_normalised_words(text)[start:end])


def _normalised_words(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", text).lower().replace("’", "'").replace("‘", "'")
    return re.sub(r"[^\w\s']", " ", text).split()


def _sha256(words: Sequence[str]) -> str:
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:12]


def read_queries(path: Path) -> pd.DataFrame:
    """Read the TREC ids and texts of a study's queries, in the published order."""
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    # The name of the text column differs between the two studies.
    text_column = "Query" if "Query" in raw else "Question"
    queries = raw[raw["Turn_id"] != ""]
    return queries.rename(columns={"Turn_id": "trec_id", text_column: "query"})[
        ["trec_id", "query"]
    ]


def read_comment_counts(path: Path) -> pd.DataFrame:
    """Read the counts of coded comments, with one column per theme."""
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    raw.columns = raw.columns.str.strip()
    # The last line of the file has the sums.
    raw = raw[raw["answer_conditions"] != "SUM"]
    themes = raw.drop(columns=["satisfaction", "answer_conditions", ""], errors="ignore")
    themes = themes.drop(columns=[name for name in themes if name.startswith("Unnamed")])
    return _ratings(raw, {"satisfaction": "satisfaction"}).join(themes.astype(float).astype(int))


def read_expert_scores(path: Path) -> pd.DataFrame:
    """Read the scores that experts gave to the responses of the viewpoints study."""
    # The header has three lines (variant, dimension, expert); rows without a query are averages.
    raw = pd.read_csv(path, dtype=str, keep_default_na=False, header=None)
    variants, dimensions, experts = (raw.iloc[line] for line in range(3))
    scores = [
        (row[0], dimensions[column], variants[column], experts[column], int(row[column]))
        for row in raw.iloc[3:].to_numpy()
        if row[0] != ""
        for column in raw
        if experts[column].startswith("User")
    ]
    return pd.DataFrame(scores, columns=["query", "dimension", "variant", "expert", "score"])


def read_pilot(path: Path) -> pd.DataFrame:
    """Read the usefulness ratings of one pilot condition of chapter 7.

    Each row contains the ratings of all workers for one query, as in ``['2', '3']``.
    """
    raw = read_columns(path, ["answers_ids", "usefulness"])
    lists = raw["usefulness"].str.findall(r"\d")
    rows = raw.assign(usefulness=lists).explode("usefulness", ignore_index=True)
    number = (rows.index % len(lists[0])).astype(str)
    return pd.DataFrame(
        {
            "Condition": rows["answers_ids"],
            "Worker": rows["answers_ids"] + " worker " + number,
            "Usefulness": rows["usefulness"].astype(int),
        }
    )
