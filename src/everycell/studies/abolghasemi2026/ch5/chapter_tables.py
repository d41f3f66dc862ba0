"""Tables 5.1 to 5.15 and Figure 5.9, computed from the frame of answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from everycell.studies.abolghasemi2026.ch5.arms import (
    FIRST_RETRIEVER,
    MIXED_ARMS,
    OPPOSITE_ARMS,
    PLAIN_ARMS,
)
from everycell.studies.abolghasemi2026.ch5.comparisons import compare_labels
from everycell.studies.abolghasemi2026.ch5.marks import NOT_RUN
from everycell.studies.abolghasemi2026.ch5.modes import SETTING
from everycell.studies.abolghasemi2026.ch5.reading import align_readings
from everycell.studies.abolghasemi2026.ch5.results import citation_counts, confidence, quality

MODE = [*SETTING, "rag_mode"]
MIXED = [*SETTING, "mode_relevant", "mode_nonrelevant"]
#: The data set whose tables are in the appendix; the others are in the chapter.
APPENDIX = "MS MARCO"
#: Columns of the table of intervals -> digits shown.
ENDS = {"value": 3, "low": 3, "high": 3, "p": 4, "citations": 0, "pairs": 0}
#: Columns of the table of answers -> digits shown.
SHARES = {"questions": 0, "answers": 0} | dict.fromkeys(
    [
        "cut",
        "cut, of those that cite",
        "cite",
        "cite out of range",
        "cite the relevant document",
        "precision",
        "right",
    ],
    1,
)


class ChapterTable(NamedTuple):
    """A table of the chapter, with the rows of all generators."""

    #: Key columns of a value.
    keys: list[str]
    #: A result (`everycell.studies.abolghasemi2026.ch5.marks`).
    rows: pd.DataFrame

    def of_generators(self, generators: Collection[str], *, all_run: bool = False) -> pd.DataFrame:
        """Rows of some generators, in the published columns."""
        rows = self.rows[self.rows["generator"].isin(generators)]
        if all_run:
            rows = rows[rows["value"] != NOT_RUN]
        marker = ["marker"] if "marker" in rows else []
        return rows[[*self.keys, "metric", "value", *marker]]


def chapter_tables(
    answers: pd.DataFrame, reference: pd.DataFrame, seed: int
) -> dict[str, ChapterTable]:
    """All tables of the chapter that depend on answers, by name."""
    with_reference = pd.concat([answers, reference])
    plain_quality, mixed_quality, (opposite_quality, _) = (
        _halves(quality(with_reference, arms, seed=seed))
        for arms in (PLAIN_ARMS, MIXED_ARMS, OPPOSITE_ARMS)
    )
    plain_quality = tuple(_with_mode(half) for half in plain_quality)
    confidences = _halves(_with_mode(confidence(answers, seed=seed)))
    counts = _halves(_with_mode(citation_counts(answers, seed=seed)))

    def by_authors(measure, study):
        return compare_labels(answers, measure, study=study, seed=seed)

    by_retriever = pd.concat(by_authors(measure, "retrievers") for measure in ("CAS", "CAB"))
    depths = pd.concat(by_authors(measure, "depths") for measure in ("CAS", "CAB"))
    tables = {
        "table_5_1": (MODE, plain_quality[0]),
        "table_5_2": (SETTING, by_authors("CAS", "plain")),
        "table_5_3": (SETTING, by_authors("CAB", "plain")),
        "table_5_4": (MIXED, opposite_quality),
        "table_5_5": (SETTING, by_authors("CAB", "mixed")),
        "table_5_6": (MODE, confidences[0]),
        "table_5_7": (SETTING, by_authors("CAS", "extended")),
        "table_5_8": (SETTING, by_authors("CAB", "extended")),
        "table_5_9": (["dataset", "generator", "retriever"], by_retriever),
        "table_5_10": (MODE, confidences[1]),
        "table_5_11": (MODE, plain_quality[1]),
        "table_5_12": (MODE, counts[0]),
        "table_5_13": (MODE, counts[1]),
        # These tables have no significance markers in the thesis.
        "table_5_14": (MIXED, mixed_quality[0].drop(columns="marker")),
        "table_5_15": (MIXED, mixed_quality[1].drop(columns="marker")),
        "figure_5_9": (["dataset", "generator", "k"], depths),
    }
    return {name: ChapterTable(*table) for name, table in tables.items()}


def interval_table(tables: Mapping[str, ChapterTable]) -> pd.DataFrame:
    """All results with their intervals and tests, one row per number.

    Table 5.4 is omitted, because Table 5.14 contains it.
    """
    titled = []
    for name, (_, rows) in tables.items():
        if name != "table_5_4":
            kind, number = name.split("_", 1)
            title = f"{kind.capitalize()} {number.replace('_', '.')}"
            titled.append(rows.rename(columns={"metric": "measure"}).assign(table=title))
    combined = pd.concat(titled, ignore_index=True)
    keys = ["dataset", "generator", "retriever", "k", *MIXED[2:4], "rag_mode", *MIXED[4:]]
    keys = ["table", *keys, "measure"]
    combined[keys] = combined[keys].astype(object).fillna("").astype(str)
    cells = combined.melt(keys, list(ENDS), var_name="metric", value_name="number")
    return cells.rename(columns={"number": "value"}).dropna(subset="value")


#: Tables that are compared between readings.
_COMPARED = {f"Table 5.{number}" for number in (1, 2, 3, 5, 7, 8, 9, 11, 12, 13, 14, 15)}


def compare_readings(readings: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Values of the tables under each reading of the same answers."""
    by_reading = {}
    for name, answers in readings.groupby("reading", sort=False):
        cells = interval_table(chapter_tables(answers, answers.iloc[:0], seed))
        cells = cells[(cells["metric"] == "value") & cells["table"].isin(_COMPARED)]
        cells = cells.drop(columns="metric")
        by_reading[name] = cells.rename(columns={"measure": "metric"})
    return align_readings(by_reading)


def size_note(answers: pd.DataFrame, table: pd.DataFrame) -> str:
    """Note on the number of questions per row and of documents per question."""
    if "retriever" not in table:
        answers = answers[answers["retriever"] == FIRST_RETRIEVER]
    names = ["dataset", "generator", "retriever", "relevant_author", "nonrelevant_author"]
    keys = [name for name in names if name in table]
    own_answers = answers.merge(table[keys].drop_duplicates(), on=keys)
    notes = []
    for _, rows in own_answers.groupby("generator", sort=False):
        # Rows with paraphrased passages may have fewer questions.
        sizes = rows.groupby(keys)["query_id"].nunique()
        span = " to ".join(map(str, dict.fromkeys((sizes.min(), sizes.max()))))
        notes.append(f"{span} questions per row, {rows['k'].max()} documents per question")
    not_run = table.loc[table["value"] == NOT_RUN, "generator"].unique()
    missing = [f"no probabilities from {', '.join(not_run)}"] if len(not_run) else []
    return "; ".join([*dict.fromkeys(notes), *missing])


def select_generators(
    answers: pd.DataFrame, is_control: pd.Series, published: Mapping[str, Sequence[str]] | None
) -> dict[str, list[str]]:
    """Generators in a tier's tables, by table name; "all" is for all other tables."""
    if published is not None:
        return {name: list(names) for name, names in published.items()}
    visible = ~is_control | is_control.all()
    return {"all": answers.loc[visible, "generator"].unique().tolist()}


def _with_mode(table: pd.DataFrame) -> pd.DataFrame:
    """Results with a single mode, in the published column `rag_mode`."""
    return table.rename(columns={"mode_relevant": "rag_mode"}).drop(columns="mode_nonrelevant")


def _halves(table: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Results for the chapter and for the appendix."""
    return table[table["dataset"] != APPENDIX], table[table["dataset"] == APPENDIX]
