"""The 44 test queries of chapter 6 of lajewska2025, inferred from published numbers.

The thesis evaluates on the test partition of CAsT-snippets (§ 6.4.1), whose list was not released.
The authors' data set says that the test partition consists of five topics; Table C.4 gives the mean
number and length of its nuggets. `matching_topics` tries all sets of five topics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from everycell.base.arrays import BoolArray
from everycell.base.errors import DataError
from everycell.jobs.job import Job
from everycell.text.sentences import Span
from papers.lajewska2025.cast_snippets_data import mark_texts, paths, read_annotations


class Search(NamedTuple):
    """Sets of topics that have the published numbers, and how many remained at each step."""

    sets: list[tuple[str, ...]]
    steps: dict[str, int]


def union_spans(marks: BoolArray) -> tuple[Span, ...]:
    """Longest spans of which each character was marked by at least one annotator."""
    is_marked = np.asarray(marks, dtype=bool).any(axis=0)
    edges = np.diff(np.concatenate(([0], is_marked.astype(int), [0])))
    starts, ends = (np.flatnonzero(edges == step).tolist() for step in (1, -1))
    return tuple(zip(starts, ends, strict=True))


def sizes_by_topic(
    turns: Sequence[str], marks: Mapping[tuple[str, str], BoolArray]
) -> pd.DataFrame:
    """Numbers of queries and nuggets of each topic, and the characters of its nuggets."""
    rows = [
        (topic_of(turn), len(spans), sum(end - start for start, end in spans))
        for (turn, _passage), people in marks.items()
        for spans in [union_spans(people)]
    ]
    nuggets = pd.DataFrame(rows, columns=["topic", "nuggets", "characters"])
    queries = pd.Series([topic_of(turn) for turn in dict.fromkeys(turns)]).value_counts()
    sizes = nuggets.groupby("topic", sort=False).sum()
    return sizes.assign(queries=queries.reindex(sizes.index))


def topic_of(turn: str) -> str:
    """Topic of a turn of TREC CAsT, such as 100 of the turn 100_3."""
    return turn.partition("_")[0]


def matching_topics(
    sizes: pd.DataFrame, *, topics: int, queries: int, nuggets: int, length: str
) -> Search:
    """Sets of topics with these numbers of queries and nuggets, and this rounded mean length."""
    positions = np.array(list(combinations(range(len(sizes)), topics)))
    totals = {name: sizes[name].to_numpy()[positions].sum(axis=1) for name in sizes}
    has_queries = totals["queries"] == queries
    has_nuggets = has_queries & (totals["nuggets"] == nuggets)
    matches = [
        tuple(sizes.index[positions[row]])
        for row in np.flatnonzero(has_nuggets)
        if f"{totals['characters'][row] / nuggets:.{len(length.partition('.')[2])}f}" == length
    ]
    steps = {
        f"sets of {topics} topics": len(positions),
        f"with {queries} queries": int(has_queries.sum()),
        f"with {nuggets} nuggets": int(has_nuggets.sum()),
        f"with a mean length of {length}": len(matches),
    }
    return Search(matches, steps)


def infer_queries(job: Job) -> None:
    """Queries of the only five topics that have the published numbers; an error if others do."""
    params = job.params
    published = pd.read_csv(job.input.published, dtype=str)
    gold = published[published["nugget_detection"] == "Gold"].set_index("metric")["value"]
    annotations = read_annotations(paths(job.input.dataset))
    turns = list(dict.fromkeys(annotations["turn_id"]))
    search = matching_topics(
        sizes_by_topic(turns, mark_texts(annotations)),
        topics=params.topics,
        queries=params.queries,
        nuggets=round(float(gold["Nuggets Avg"]) * params.queries),
        length=gold["Avg len (chars)"],
    )
    if len(search.sets) != 1:
        raise DataError(
            Path(job.input.published),
            row="Gold",
            fault=f"fits {len(search.sets)} sets of {params.topics} topics of CAsT-snippets",
            expected="exactly one set",
            fix="without it the test queries cannot be inferred",
        )
    [topics] = search.sets
    job.log.write(f"{search.steps}; topics {', '.join(topics)}.\n")
    selected = [turn for turn in turns if topic_of(turn) in topics]
    counts = pd.Series(map(topic_of, selected)).value_counts()
    steps = [("all", step, number) for step, number in search.steps.items()]
    steps += [(topic, "queries", int(counts[topic])) for topic in topics]
    job.write_frame(pd.DataFrame({"topic": selected}), "queries")
    job.write_frame(pd.DataFrame(steps, columns=["topics", "metric", "value"]), "search")
