"""The frame of answers, which all tables of the chapter are made from.

It has one row per answer, of all generators, in the columns `ANSWERS`:

- dataset, generator, retriever, k (documents of a prompt), place of the relevant document
  ("retrieved", "random") and labels ("plain", "extended"): the *setting*;
- query_id, the fields of `everycell.studies.abolghasemi2026.ch5.arms.Arm`, and gold, the number of
  the relevant document, from 1 to k;
- cited (distinct citations that count), stray (distinct numbers that are no document's, whether
  they count or not: `everycell.studies.abolghasemi2026.ch5.reading`), attribution precision and
  recall from 0 to 1, right (1, 0, or NaN where no right answer is known) and cut (1 where the
  answer reached the limit of tokens, 0, or NaN where that is not known);
- relevant_citations, other_citations: all citations of documents of the prompt, and
  relevant_probability, other_probability: sums of their probabilities, NaN where a generator gives
  none.
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

#: What a setting is, with all of whose questions every arm is asked.
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
#: Name of the generator that cites the first document and nothing else, before that of another.
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
    """What the answers of one generator cite, and whether they are right."""
    rows = []
    for (setting, arm, question), answer in zip(presentations, answers, strict=True):
        citations = find_citations(answer.text, forms=reading.forms)
        k = len(question.documents)
        cited = documents(citations, k)
        numbers = reading.counted(cited)
        right = reading.is_right(answer.text, tuple(gold_answers.get(question.id, ())), k=k)
        sides = _confidence(answer, citations, question.gold, k)
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
                *sides,
            )
        )
    return pd.DataFrame(rows, columns=ANSWERS)


def _confidence(
    answer: Answer, citations: Sequence[Citation], gold: int, k: int
) -> tuple[int, int, float, float]:
    """Citations of the relevant document and of the others, and sums of their probabilities."""
    written = written_citations(citations, answer.text)
    try:
        probabilities = [math.exp(value) for value in citation_logprobs(answer, written)]
    except NotOfferedError:
        probabilities = [math.nan] * len(written)
        missing = math.nan
    else:
        missing = 0.0
    counts, sums = [0, 0], [missing, missing]
    for citation, probability in zip(written, probabilities, strict=True):
        if 1 <= citation.number <= k:
            side = int(citation.number != gold)
            counts[side] += 1
            sums[side] += probability
    return counts[0], counts[1], sums[0], sums[1]


def check_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """The frame of answers, if tests can pair its rows."""
    missing = [column for column in ANSWERS if column not in answers]
    if missing:
        raise ValueError(
            f"The answers lack the column {missing[0]!r}; they need {', '.join(ANSWERS)}."
        )
    frame = answers[ANSWERS]
    twice = frame.duplicated([*SETTINGS, "query_id", *_FIELDS])
    if twice.any():
        row = frame[twice].iloc[0]
        raise ValueError(
            f"{row['generator']} has two answers to {row['query_id']} in one setting and arm "
            f"({', '.join(row[_FIELDS])}); keep one of them."
        )
    # A model may have said the passages of some questions again in a way that cannot be used.
    authors = [*SETTINGS, *_FIELDS[:2]]
    for setting, rows in frame.groupby(authors, sort=False):
        queries_by_arm = rows.groupby(_FIELDS)["query_id"].agg(frozenset)
        if queries_by_arm.nunique() > 1:
            few = queries_by_arm.map(len).idxmin()
            lost = sorted(frozenset().union(*queries_by_arm) - queries_by_arm[few])
            raise ValueError(
                f"{' / '.join(map(str, setting))}: the arm {', '.join(few)} lacks an answer to "
                f"{lost[0]}, which others of its authors have; ask all of them every question."
            )
    fixed = frame[frame["place"] == "retrieved"]
    for names, rows in fixed.groupby(["dataset", "generator", "retriever", "labels"], sort=False):
        depths = sorted(rows["k"].unique())
        if len(depths) > 1:
            raise ValueError(
                f"{' / '.join(names)}: answers saw {' and '.join(map(str, depths))} documents; a "
                "table takes one number of them, so leave out the others."
            )
    return frame


def answer_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """What kind of answers each generator gave: how many are cut, cite anything, and are right."""
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
    """Expected measures of a generator that cites the first document, whatever the question.

    Where rankings are good, precision and recall of this alone are high, so a model that cites by
    position looks like one that reads.
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
