"""The frame of answers, from which all tables of the chapter are computed.

It has one row per answer, for all generators, in the columns `ANSWERS`:

- dataset, generator, retriever, k (number of documents in the prompt), place of the relevant
  document ("retrieved", "random") and labels ("plain", "extended"): the *setting*;
- query_id, the fields of `everycell.studies.abolghasemi2026.ch5.arms.Arm`, and gold, the number of
  the relevant document, from 1 to k;
- cited (number of distinct citations that count), stray (number of distinct citations of documents
  that are not in the prompt, see `everycell.studies.abolghasemi2026.ch5.reading`), attribution
  precision and recall from 0 to 1, right (1, 0, or NaN if no correct answer is known) and cut (1 if
  the answer reached the token limit, otherwise 0; NaN if unknown);
- relevant_citations, other_citations: numbers of all citations of documents in the prompt, and
  relevant_probability, other_probability: sums of their probabilities, NaN if the generator returns
  no probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.language_models.generation import Answer, NotOfferedError
from everycell.metrics.attribution import citation_quality
from everycell.rag.citations import (
    Citation,
    citation_logprobs,
    documents,
    find_citations,
    written_citations,
)
from everycell.studies.abolghasemi2026.ch5.arms import Arm, Presentation
from everycell.studies.abolghasemi2026.ch5.modes import PRECISION, RECALL
from everycell.studies.abolghasemi2026.ch5.reading import DEFAULT, Reading

#: Columns that identify a setting. In a setting, all arms get the same questions.
SETTINGS = ["dataset", "generator", "retriever", "k", "place", "labels"]
ANSWERS = [
    *SETTINGS,
    "query_id",
    *Arm._fields,
    "gold",
    "cited",
    "stray",
    PRECISION,
    RECALL,
    "right",
    "cut",
    "relevant_citations",
    "other_citations",
    "relevant_probability",
    "other_probability",
]
#: Prefix for the name of a generator that cites only the first document.
ALWAYS_FIRST = "always [1]"
_FIELDS = list(Arm._fields)


def answers_frame(
    presentations: Sequence[Presentation],
    answers: Sequence[Answer],
    *,
    gold_answers: Mapping[str, Sequence[str]],
    dataset: str,
    generator: str,
    reading: Reading = DEFAULT,
) -> pd.DataFrame:
    """Citations and correctness of the answers of one generator."""
    rows = []
    for (setting, arm, question), answer in zip(presentations, answers, strict=True):
        citations = find_citations(answer.text, forms=reading.forms)
        k = len(question.documents)
        cited = documents(citations, k)
        numbers = reading.counted(cited)
        right = reading.is_right(answer.text, tuple(gold_answers.get(question.id, ())), k=k)
        confidence = _confidence(answer, citations, question.gold, k)
        rows.append(
            (
                dataset,
                generator,
                *(setting.retriever, setting.k, setting.position, setting.labels),
                question.id,
                *arm,
                question.gold,
                *(len(numbers), len(cited.stray)),
                *citation_quality(numbers, [question.gold]),
                math.nan if right is None else float(right),
                float(answer.finish == "length"),
                *confidence,
            )
        )
    return pd.DataFrame(rows, columns=ANSWERS)


def _confidence(
    answer: Answer, citations: Sequence[Citation], gold: int, k: int
) -> tuple[int, int, float, float]:
    """Numbers of relevant and other citations, and the sums of their probabilities."""
    citations_in_text = written_citations(citations, answer.text)
    try:
        probabilities = [math.exp(value) for value in citation_logprobs(answer, citations_in_text)]
    except NotOfferedError:
        probabilities = [math.nan] * len(citations_in_text)
        missing = math.nan
    else:
        missing = 0.0
    counts, sums = [0, 0], [missing, missing]
    for citation, probability in zip(citations_in_text, probabilities, strict=True):
        if 1 <= citation.number <= k:
            side = int(citation.number != gold)
            counts[side] += 1
            sums[side] += probability
    return counts[0], counts[1], sums[0], sums[1]


def check_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """Check that paired tests can use the answers, and return the columns `ANSWERS`."""
    missing = [column for column in ANSWERS if column not in answers]
    if missing:
        raise ValueError(
            f"The answers lack the column {missing[0]!r}; expected {', '.join(ANSWERS)}."
        )
    frame = answers[ANSWERS]
    duplicates = frame.duplicated([*SETTINGS, "query_id", *_FIELDS])
    if duplicates.any():
        row = frame[duplicates].iloc[0]
        raise ValueError(
            f"{row['generator']} has two answers to {row['query_id']} in one setting and arm "
            f"({', '.join(row[_FIELDS])}). Remove one of them."
        )
    # Pairs of authors may have different questions: some passages lack a usable paraphrase.
    authors = [*SETTINGS, *_FIELDS[:2]]
    for setting, rows in frame.groupby(authors, sort=False):
        queries_by_arm = rows.groupby(_FIELDS)["query_id"].agg(frozenset)
        if queries_by_arm.nunique() > 1:
            smallest_arm = queries_by_arm.map(len).idxmin()
            lost = sorted(frozenset().union(*queries_by_arm) - queries_by_arm[smallest_arm])
            raise ValueError(
                f"{' / '.join(map(str, setting))}: the arm {', '.join(smallest_arm)} lacks an "
                f"answer to {lost[0]}, which another arm with the same authors has. All arms need "
                "answers to the same questions."
            )
    fixed = frame[frame["place"] == "retrieved"]
    for names, rows in fixed.groupby(["dataset", "generator", "retriever", "labels"], sort=False):
        depths = sorted(rows["k"].unique())
        if len(depths) > 1:
            raise ValueError(
                f"{' / '.join(names)}: answers with {' and '.join(map(str, depths))} documents per "
                "prompt; a table needs a single number. Remove the other answers."
            )
    return frame


def answer_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """Percentages of answers that are truncated, cite documents or are correct, by setting."""
    groups = answers.groupby(SETTINGS, sort=False)
    shares = pd.DataFrame(
        {
            "cut": answers["cut"],
            "cut, of those that cite": answers["cut"].where(answers["cited"] > 0),
            "cite": answers["cited"] > 0,
            "cite out of range": answers["stray"] > 0,
            "cite the relevant document": answers[RECALL] > 0,
            "precision": answers[PRECISION],
            "right": answers["right"],
        }
    ).astype(float)
    means = 100 * shares.groupby([answers[name] for name in SETTINGS], sort=False).mean()
    counts = pd.DataFrame({"questions": groups["query_id"].nunique(), "answers": groups.size()})
    table = counts.astype(float).join(means).reset_index()
    long = table.melt(SETTINGS, var_name="metric", ignore_index=False)
    return long.sort_index(kind="stable").dropna(subset="value").reset_index(drop=True)


def cite_always_first(answers: pd.DataFrame) -> pd.DataFrame:
    """Expected measures of a generator that always cites the first document.

    With good rankings its precision and recall are high, so a model that cites by position cannot
    be distinguished from a model that reads the documents.
    """
    right = answers["gold"] == 1
    return answers.assign(
        generator=ALWAYS_FIRST + " (" + answers["generator"] + ")",
        cited=1,
        stray=0,
        **{PRECISION: right.astype(float), RECALL: right.astype(float)},
        right=np.nan,
        cut=np.nan,
        relevant_citations=right.astype(int),
        other_citations=(~right).astype(int),
        relevant_probability=np.nan,
        other_probability=np.nan,
    )
