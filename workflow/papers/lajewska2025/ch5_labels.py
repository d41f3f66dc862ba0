"""Construction of CAsT-answerability in chapter 5 of lajewska2025, by the rules of the text.

Source: lajewska2025, section 5.5 (p. 87) and Appendix B.2: a sentence that overlaps with a snippet
has the label 1; five passages that were judged not relevant are added to each question.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd

from everycell.base.csv_files import read_columns
from everycell.base.untrusted import parse_literal
from everycell.jobs.result_job import ResultJob
from everycell.trec.runs import read_qrels
from papers.lajewska2025.cast_snippets_data import paths, read_annotations
from papers.lajewska2025.ch5_answerability import label_tables
from papers.lajewska2025.spans import clip

#: Labels of the sentences in the released columns.
LABELS = {"answerable_sentences": True, "unanswerable_sentences": False}


def sentence_overlaps(snippets: pd.DataFrame, annotations: pd.DataFrame) -> pd.DataFrame:
    """Released label of each sentence, and the number of annotators whose snippets overlap it."""
    spans = {
        name: rows["spans"].tolist()
        for name, rows in annotations.groupby(["turn_id", "passage_id"])
    }
    rows = []
    for row in snippets.to_dict("records"):
        of_people = spans[row["Input.turn_id"], row["Input.passage_id"]]
        for column, label in LABELS.items():
            for sentence in parse_literal(row[column]):
                start = row["Input.passage"].find(sentence)
                overlaps = [bool(clip(own, start, start + len(sentence))) for own in of_people]
                rows.append((label, sum(overlaps)))
    return pd.DataFrame(rows, columns=["label", "annotators"])


def label_agreement(overlaps: pd.DataFrame, people: int) -> list[tuple[str, str, int]]:
    """Sentences whose label is that of a rule, by the annotators that the rule requires."""
    rows = [("sentences of CAsT-snippets", "number", len(overlaps))]
    for required in range(1, people + 1):
        same = overlaps["label"] == (overlaps["annotators"] >= required)
        rows.append(("sentences of CAsT-snippets", f"label by {required} or more", int(same.sum())))
    return rows


def non_relevant_passages(
    added: pd.DataFrame, qrels: pd.DataFrame, size: int
) -> list[tuple[str, str, int]]:
    """Questions with as many added passages as the rule says, and their judgements."""
    per_question = Counter(added["turn_id"])
    levels = added.merge(
        qrels, left_on=["turn_id", "passage_id"], right_on=["query", "document"], how="left"
    )
    levels = levels.loc[levels["turn_id"].isin(qrels["query"]), "relevance"]
    return [
        ("questions", "number", len(per_question)),
        ("questions", f"with {size} added passages", list(per_question.values()).count(size)),
        ("added passages of CAsT'20", "number", len(levels)),
        ("added passages of CAsT'20", "judged not relevant", int((levels == 0).sum())),
    ]


def labels(job: ResultJob) -> None:
    """Table 5.5, and how far the rules of the section give the released labels and passages."""
    files, params = job.input, job.params
    table, readings = label_tables(files)
    job.write_table(table)
    decimals = {"rankings": 0, "answerable": 0, "unanswerable": 0}
    job.write_supplement(readings, "readings", decimals)
    columns = ["Input.turn_id", "Input.passage_id", "Input.passage", *LABELS]
    snippets = read_columns(Path(files.snippets), columns)
    overlaps = sentence_overlaps(snippets, read_annotations(paths(files.dataset)))
    added = read_columns(Path(files.unanswerable), ["turn_id", "passage_id"])
    rows = [
        *label_agreement(overlaps, params.people),
        *non_relevant_passages(added, read_qrels(Path(files.qrels)), params.added),
    ]
    construction = pd.DataFrame(rows, columns=["part", "metric", "value"])
    job.write_supplement(construction, "construction", {"all": 0})
