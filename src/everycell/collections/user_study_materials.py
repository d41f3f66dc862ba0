"""Other released files of the user studies: queries, comments, expert scores and a pilot."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import (
    RATING,
    RatingsError,
    integer_ratings,
    read_csv,
    read_table,
    require_columns,
    row_in_file,
)
from everycell.base.untrusted import in_quotes


def query_sha256(query: str) -> str:
    """First 12 hex digits of a normalised query's hash, to compare queries without copying them.

    Queries are normalised with NFKC, lower case and straight apostrophes; other punctuation and
    white space become single spaces.
    """
    text = unicodedata.normalize("NFKC", query).lower().replace("’", "'").replace("‘", "'")
    text = re.sub(r"\s+", " ", re.sub(r"[^\w\s']", " ", text)).strip()
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_queries(path: Path) -> pd.DataFrame:
    """Read the TREC ids and texts of a study's queries, in the published order."""
    # The name of the text column differs between the two studies.
    raw = read_table(path, ["Turn_id"])
    text_column = "Query" if "Query" in raw else "Question"
    require_columns(path, raw, [text_column])
    queries = raw[raw["Turn_id"] != ""]
    return queries.rename(columns={"Turn_id": "trec_id", text_column: "query"})[
        ["trec_id", "query"]
    ]


def read_comment_counts(path: Path) -> pd.DataFrame:
    """Read the counts of coded comments, with one column per theme."""
    raw = read_table(path, ["answer_conditions", "satisfaction"])
    raw.columns = raw.columns.str.strip()
    # The last line of the file has the sums.
    raw = raw[raw["answer_conditions"] != "SUM"]
    ratings = integer_ratings(path, raw, {"satisfaction": "satisfaction"})
    themes = raw.drop(columns=["satisfaction", "answer_conditions", ""], errors="ignore")
    themes = themes.drop(columns=[name for name in themes if name.startswith("Unnamed")])
    for theme, counts in themes.items():
        is_invalid = ~counts.str.fullmatch(r"[0-9]{1,9}(\.0)?")
        if is_invalid.any():
            row = int(is_invalid.idxmax())
            raise RatingsError(
                f"{row_in_file(path, row)}: {in_quotes(theme)} is {in_quotes(counts[row])}; "
                "expected a non-negative whole number, so correct the row."
            )
    return ratings.join(themes.astype(float).astype(int))


def read_expert_scores(path: Path) -> pd.DataFrame:
    """Read the scores that experts gave to the responses of the viewpoints study."""
    # The header has three lines (variant, dimension, expert).
    raw = read_csv(path, header=None)
    if len(raw) < 4:
        raise RatingsError(
            f"{path} has {len(raw)} rows; expected three rows of headings and at least one row of "
            "scores, so fetch the file again (delete it first)."
        )
    variants, dimensions, experts = (raw.iloc[line] for line in range(3))
    scores = []
    for line in range(3, len(raw)):
        if raw.iloc[line, 0] == "":  # Averages.
            continue
        for column in range(raw.shape[1]):
            if not experts[column].startswith("User"):
                continue
            score = raw.iloc[line, column]
            if score not in {"1", "2", "3", "4", "5"}:
                raise RatingsError(
                    f"{row_in_file(path, line - 1)}, column {column + 1}: the score is "
                    f"{in_quotes(score)}; expected a whole number from 1 to 5."
                )
            key = (raw.iloc[line, 0], dimensions[column], variants[column], experts[column])
            scores.append((*key, int(score)))
    return pd.DataFrame(scores, columns=["query", "dimension", "variant", "expert", "score"])


def read_pilot(path: Path) -> pd.DataFrame:
    """Read the usefulness ratings of one pilot condition of chapter 7.

    Each row contains the ratings of all workers for one query, as in ``['2', '3']``.
    """
    raw = read_table(path, ["answers_ids", "usefulness"])
    rating = f"'[{RATING.start}-{RATING.stop - 1}]'"
    is_invalid = ~raw["usefulness"].str.fullmatch(rf"\[{rating}(, {rating})*\]")
    if is_invalid.any():
        row = int(is_invalid.idxmax())
        raise RatingsError(
            f"{row_in_file(path, row)}: the ratings are {in_quotes(raw['usefulness'][row])}; "
            f"expected a list of numbers from {RATING.start} to {RATING.stop - 1}, such as "
            "['2', '3'], so correct the row."
        )
    lists = raw["usefulness"].str.findall(r"\d")
    workers = lists.map(len)
    if workers.nunique() != 1:
        raise RatingsError(
            f"{path}: queries have from {workers.min()} to {workers.max()} ratings; every worker "
            "must rate every query."
        )
    rows = raw.assign(usefulness=lists).explode("usefulness", ignore_index=True)
    number = (rows.index % workers.iloc[0]).astype(str)
    return pd.DataFrame(
        {
            "Condition": rows["answers_ids"],
            "Worker": rows["answers_ids"] + " worker " + number,
            "Usefulness": rows["usefulness"].astype(int),
        }
    )
