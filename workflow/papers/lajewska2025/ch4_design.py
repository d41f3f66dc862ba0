"""Design of the studies of chapter 4 of lajewska2025: dimensions, conditions, examples.

The wording of responses is read from the released files, and is only in results.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from everycell.jobs.result_job import ResultJob
from papers.lajewska2025.user_study_data import (
    ANSWERABILITY,
    VIEWPOINTS,
    Study,
    excerpt_sha256,
    read_response_limitations,
)

#: Ratings that judge no dimension of the response.
OTHER_RATINGS = ("Familiarity", "Overall Satisfaction")
#: Columns of the analyses -> their dimension in Table 4.2, if it has another name.
DIMENSIONS = {
    "Contr. Fact. Corr.": "Factual Correctness",
    "Contr. Source": "Source Presence/Validity",
    "Conf. in Answer Acc.": "Confidence in Answer Accuracy",
    "Contr. Diversity": "Diversity",
    "Contr. Balance": "Balance",
}
#: Table -> study, and controlled factor of each metric.
CONDITIONS: dict[str, tuple[Study, dict[str, str]]] = {
    "5": (ANSWERABILITY, {"factual_correctness": "Contr. Fact. Corr.", "source": "Contr. Source"}),
    "6": (VIEWPOINTS, {"diversity": "Contr. Diversity", "balance": "Contr. Balance"}),
}
YES, NO, ABSENT = "✓", "×", "–"


class Variant(NamedTuple):
    """A variant of a response in the released file, with its source, if it has one."""

    response: str
    source: str = ""
    #: Passage of the collection that the source was traced to.
    passage: str = ""


def variants(path: Path, query: int) -> dict[str, Variant]:
    """Variants of the response to a query (from 1) by answer, as the headings of the file say.

    The column ``A1/A2`` has the response of two answers, ``S1`` the source of ``A1``, and ``S1 -
    doc_id`` its passage.
    """
    row = pd.read_csv(path, dtype=str, keep_default_na=False).iloc[query - 1].to_dict()
    result = {}
    for column, response in row.items():
        if not re.fullmatch(r"A\d(/A\d)*", column):
            continue
        for answer in column.split("/"):
            source = "S" + answer[1:]
            parts = (response, row.get(source, ""), row.get(f"{source} - doc_id", ""))
            result[answer] = Variant(*(part.strip() for part in parts))
    return result


def dimensions(job: ResultJob) -> None:
    """Table 4.2: dimensions that the conditions control, and those that workers judge.

    A controlled dimension has one level in each condition, a judged one differs between ratings.
    """
    rows, columns = [], []
    for name, study in (("answerability", ANSWERABILITY), ("viewpoints", VIEWPOINTS)):
        ratings = read_response_limitations(Path(job.input[name]), study)
        judged = [label for label in study.ratings if label not in OTHER_RATINGS]
        roles: dict[str, set[str]] = {}
        for label in (*study.conditions, *judged):
            dimension = DIMENSIONS.get(label, label)
            levels = ratings.groupby("Condition")[label].nunique().max()
            role = "controlled" if levels == 1 else "judged"
            roles.setdefault(dimension, set()).add(role)
            released = study.ratings.get(label) or ", ".join(study.conditions[label])
            columns.append((study.name, dimension, role, released))
        rows += [
            (study.name, dimension, role, YES if role in own else NO)
            for dimension, own in roles.items()
            for role in ("controlled", "judged")
        ]
    keys = ["study", "dimension", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=keys))
    job.write_supplement(pd.DataFrame(columns, columns=keys), "columns", {})


def conditions(job: ResultJob) -> None:
    """Tables 4.5 and 4.6: controlled factors of each condition, with the responses to a query."""
    study, factors = CONDITIONS[job.wildcards.number]
    rows, examples = [], []
    for answer, variant in variants(Path(job.input.responses), job.params.query).items():
        condition = f"EC{answer[1:]}"
        marks = {
            metric: YES if answer in study.conditions[factor] else NO
            for metric, factor in factors.items()
        }
        if variant.source and not variant.passage:
            marks["source"] += " (invalid)"
        rows += [(condition, metric, mark) for metric, mark in marks.items()]
        quoted = excerpt_sha256(variant.response, end=job.params.quoted_words[answer])
        rows.append((condition, "opening_sha256", quoted))
        examples.append((condition, "response", variant.response))
        if study is ANSWERABILITY:
            for part in (rows, examples):
                part.append((condition, "example_source", variant.source or ABSENT))
    keys = ["row", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=keys))
    job.write_supplement(pd.DataFrame(examples, columns=keys), "examples", {})


def examples(job: ResultJob) -> None:
    """Table 4.1: a response with factual errors, and one that covers a single viewpoint."""
    rows, texts = [], []
    for row, (study, query, answer, words) in job.params.examples.items():
        variant = variants(Path(job.input[study]), query)[answer]
        rows.append((row, "opening_sha256", excerpt_sha256(variant.response, end=words)))
        texts.append((row, "response", variant.response))
        if variant.source:
            for part in (rows, texts):
                part.append((row, "example_source", variant.source))
    keys = ["row", "metric", "value"]
    job.write_table(pd.DataFrame(rows, columns=keys))
    job.write_supplement(pd.DataFrame(texts, columns=keys), "examples", {})
