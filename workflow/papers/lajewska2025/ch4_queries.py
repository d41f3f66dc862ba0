"""Queries of the studies of chapter 4 of lajewska2025, and how they were chosen.

Source: lajewska2025, sections 4.3.1 (p. 56) and A.2.1 (p. 153). Wordings of queries are compared by
their hashes.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from everycell.base.csv_files import read_columns
from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.cast_snippets_data import paths, read_annotations
from papers.lajewska2025.user_study_data import (
    query_sha256,
    read_expert_scores,
    read_queries,
)

#: What an expert score must be, by dimension and variant of the response: the multiple, balanced
#: viewpoints of EC1 diverse, the single viewpoint of EC3 unbalanced.
EXPECTED = {("Diversity", "A1"): "high", ("Balance", "A3"): "low"}


def query_cells(queries: pd.DataFrame) -> pd.DataFrame:
    """Cells of Tables 4.3 and 4.4: TREC ids of the queries, and hashes of their text."""
    rows = [
        (str(number), metric, value)
        for number, (trec_id, query) in enumerate(queries.to_numpy(), start=1)
        for metric, value in (("trec_id", trec_id), ("query_sha256", query_sha256(query)))
    ]
    return pd.DataFrame(rows, columns=["row", "metric", "value"])


def read_crowd_scores(path: Path) -> pd.DataFrame:
    """Read the mean scores, from 1 to 5, that the crowd gave to the candidates of a study."""
    means = {}
    for dimension in ("broadness", "controversy"):
        columns = [f"Answer.{dimension}.option_{score}" for score in range(1, 6)]
        counts = read_columns(path, ["Input.turn_id", *columns]).set_index("Input.turn_id")
        counts = counts.astype(int)
        means[dimension] = counts @ [1, 2, 3, 4, 5] / counts.sum(axis="columns")
    return pd.DataFrame(means)


def _topics(queries: pd.Series | pd.Index) -> pd.Series:
    """Topics of queries, by their TREC ids, such as 82 of 82_6."""
    return queries.to_series().str.partition("_")[0]


def unanswered_passages(annotations: pd.DataFrame) -> pd.Series:
    """Passages of each query in which most annotators found no snippet."""
    empty = annotations["spans"].map(len) == 0
    share = empty.groupby([annotations["turn_id"], annotations["passage_id"]]).mean()
    return (share > 0.5).groupby("turn_id").sum()


def answerability(job: ResultJob) -> None:
    """Table 4.3, and its candidates: queries answered by some but not all annotated passages."""
    queries = read_queries(Path(job.input.responses))
    job.write_table(query_cells(queries))
    annotations = read_annotations(paths(job.input.dataset))
    passages = annotations.groupby("turn_id")["passage_id"].nunique()
    unanswered = unanswered_passages(annotations)
    unanswered = unanswered[(unanswered > 0) & (unanswered < passages)]
    topics = _topics(unanswered.index)
    in_study = pd.Series(unanswered.index.isin(queries["trec_id"]), unanswered.index)
    candidates = pd.DataFrame(
        {
            "passages without a snippet": unanswered,
            "candidates of the topic": topics.map(topics.value_counts()),
            "chosen of the topic": topics.map(in_study.groupby(topics).sum()),
            "chosen": in_study.map({True: "yes", False: "no"}),
        }
    )
    job.write_supplement(_melt(candidates), "choice", {"chosen": "text", "all": 0})


def crowd_choice(scores: pd.DataFrame, *, number: int, least_broadness: float) -> list[str]:
    """The most controversial queries of those that are broad enough, one per topic.

    Queries of the same controversy are in the order of their broadness, then of the file.
    """
    broad = scores[scores["broadness"] >= least_broadness]
    ordered = broad.sort_values(["controversy", "broadness"], ascending=False, kind="stable")
    return list(ordered[~_topics(ordered.index).duplicated()].index[:number])


def furthest_outlier(scores: pd.Series, expected: str) -> str | None:
    """The query furthest below the first quartile, or above the third; None if all are within."""
    if expected == "high":
        distances = scores.quantile(0.25) - scores
    else:
        distances = scores - scores.quantile(0.75)
    return str(distances.idxmax()) if distances.max() > 0 else None


def viewpoints(job: ResultJob) -> None:
    """Table 4.4, and its candidates: the crowd chooses twelve queries, experts exclude two."""
    params = job.params
    queries = read_queries(Path(job.input.responses))
    job.write_table(query_cells(queries))
    candidates = read_crowd_scores(Path(job.input.crowd))
    selection = crowd_choice(
        candidates, number=params.number, least_broadness=params.least_broadness
    )
    stage = pd.Series("not chosen", candidates.index)
    stage[selection] = "kept"
    experts = read_expert_scores(Path(job.input.experts))
    means = experts.groupby(["dimension", "variant", "query"])["score"].mean()
    for (dimension, variant), expected in EXPECTED.items():
        outlier = furthest_outlier(means[dimension, variant], expected)
        if outlier is not None:
            stage[outlier] = f"excluded by {dimension.lower()}"
        candidates[f"{dimension.lower()} of EC{variant[1:]}"] = means[dimension, variant]
    candidates["stage"] = stage
    job.write_supplement(_melt(candidates).dropna(), "choice", {"stage": "text", "all": 1})


def _melt(candidates: pd.DataFrame) -> pd.DataFrame:
    """Candidates in rows of query, metric and value."""
    cells = candidates.rename_axis("query").melt(var_name="metric", ignore_index=False)
    return cells.reset_index()
