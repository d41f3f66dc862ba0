"""Frame of answers, from which the tables of chapter 5 of abolghasemi2026 are computed.

It has one row per answer, for all generators, in the columns `ANSWERS`:

- dataset, generator, retriever, k (number of documents in the prompt), place of the relevant
  document ("retrieved", "random") and labels ("plain", "extended"): the *setting*;
- query, the fields of `Arm`, and gold, the number of the relevant document, from 1 to k;
- cited (number of distinct citations that count), stray (number of distinct citations of documents
  that are not in the prompt, see `Reading`), attribution precision and recall from 0 to 1, right
  (1, 0, or NaN if no correct answer is known) and cut (1 if the answer reached the token limit,
  otherwise 0; NaN if unknown);
- relevant_citations, other_citations: numbers of all citations of documents in the prompt, and
  relevant_probability, other_probability: sums of their probabilities, NaN if the generator returns
  no probabilities.

The thesis states neither how citations of non-existent documents are treated nor how correct
answers are detected. Its authors' library ignores such citations, recognises only ``[1]``, and
accepts a correct answer as a substring anywhere (`everycell.rag.answers`). The default `Reading`
follows it except for the forms of citations, since language models use several. A supplementary
table compares the `READINGS`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

import numpy as np
import pandas as pd

from everycell.language_models.generation import Answer, NotOfferedError
from everycell.metrics.attribution import citation_quality
from everycell.rag.answers import Match, is_correct, usable_answers
from everycell.rag.citation_marks import Citation, Forms
from everycell.rag.citations import (
    Cited,
    citation_logprobs,
    divide_citations,
    find_citations,
    uncited_text,
    written_citations,
)
from papers.abolghasemi2026.ch5_arms import PRECISION, RECALL, Arm, Presentation
from papers.abolghasemi2026.ch5_requests import Benchmark

#: Columns that identify a setting. In a setting, all arms get the same questions.
SETTINGS = ["dataset", "generator", "retriever", "k", "place", "labels"]
ANSWERS = [
    *SETTINGS,
    "query",
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
#: How to treat a citation of a non-existent document.
Strays = Literal["ignored", "wrong"]


class Reading(NamedTuple):
    """Rules for interpreting answers."""

    forms: Forms = "all"
    strays: Strays = "ignored"
    match: Match = "substring"

    def counted(self, cited: Cited) -> list[int]:
        """Distinct numbers that count as citations."""
        return [*cited.documents, *(cited.stray if self.strays == "wrong" else ())]

    def is_right(self, text: str, gold: tuple[str, ...], *, k: int) -> bool | None:
        """Whether an answer is correct; None if no correct answer is known."""
        usable = usable_answers(gold, match=self.match)
        if not usable:
            return None
        answer = text if self.match == "substring" else uncited_text(text, k)
        return is_correct(answer, usable, match=self.match)


DEFAULT = Reading()
#: Readings to compare: that of the authors' library, our default, and the strictest.
READINGS: Mapping[str, Reading] = {
    "library": Reading(forms="plain"),
    "default": DEFAULT,
    "strict": Reading(strays="wrong", match="squad"),
}
#: Columns of the table of readings -> digits shown.
READ = dict.fromkeys(READINGS, 3)


def align_readings(results: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Results of the same answers under several readings, one row per number."""
    parts = [
        table.rename(columns={"metric": "measure"}).assign(metric=name)
        for name, table in results.items()
    ]
    combined = pd.concat(parts, ignore_index=True)
    keys = [name for name in combined if name not in ("metric", "value")]
    groups = combined.groupby(keys, sort=False).ngroup()
    return combined.assign(_=groups).sort_values("_", kind="stable")[[*keys, "metric", "value"]]


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
        cited = divide_citations(citations, k)
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
    duplicates = frame.duplicated([*SETTINGS, "query", *_FIELDS])
    if duplicates.any():
        row = frame[duplicates].iloc[0]
        raise ValueError(
            f"{row['generator']} has two answers to {row['query']} in one setting and arm "
            f"({', '.join(row[_FIELDS])}). Remove one of them."
        )
    # Pairs of authors may have different questions: some passages lack a usable paraphrase.
    authors = [*SETTINGS, *_FIELDS[:2]]
    for setting, rows in frame.groupby(authors, sort=False):
        queries_by_arm = rows.groupby(_FIELDS)["query"].agg(frozenset)
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
    counts = pd.DataFrame({"questions": groups["query"].nunique(), "answers": groups.size()})
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


class Generator(Protocol):
    """A generator of answers with citations."""

    @property
    def name(self) -> str:
        """Name in the tables."""

    def answer_all(
        self, presentations: Sequence[Presentation], benchmark: Benchmark
    ) -> list[Answer]:
        """Answer the questions as presented, in the same order."""


def collect_answers(
    generator: Generator, presentations: Sequence[Presentation], benchmark: Benchmark
) -> pd.DataFrame:
    """Frame of a generator's answers (`answers_frame`)."""
    return answers_frame(
        presentations,
        generator.answer_all(presentations, benchmark),
        gold_answers=benchmark.right,
        dataset=benchmark.name,
        generator=generator.name,
    )
