"""All tables of a study of attribution bias, from the frame of its answers.

The *frame of answers* has one row an answer, of all generators, in the columns `ANSWERS`:

- dataset, generator, retriever, k (documents of a prompt), place of the relevant document
  ("retrieved", "random") and labels ("plain", "extended"): the *setting*;
- query_id, and the fields of `everycell.rag.attribution_arms.Arm`;
- cited (distinct citations, stray ones among them), stray, attribution precision and recall from 0
  to 1, and right (1, 0, or NaN where no right answer is known);
- relevant_citations, other_citations: all citations of documents of the prompt, and
  relevant_probability, other_probability: sums of their probabilities, NaN where a generator gives
  none.

A *result* has key columns as its printed table, then `metric`, `value`, the ends `low` and `high`
of a 95 % bootstrap interval over questions, `p` of the chapter's paired t-test (NaN where there is
none) and `marker`, a dagger where p < 0.05. Three values are words: `NO_CITATION` where nothing is
cited that a value could be about (0/0), `NOT_RUN` where a generator gives no probabilities.

Source: abolghasemi2026, Tables 5.1 to 5.15, Figures 5.5 and 5.9, section 5.5 (tests).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.metrics.attribution import pooled_confidence, ratio_interval
from everycell.rag.attribution_arms import (
    INFORMED_AGAINST_VANILLA,
    MIXED_AGAINST_VANILLA,
    MIXED_ARMS,
    PLAIN_ARMS,
    Arm,
    biases,
    sensitivities,
)
from everycell.rag.attribution_tables import CITED, PRECISION, RECALL, SETTING, TOTAL
from everycell.statistics.hypothesis_tests import t_tests

FloatArray = npt.NDArray[np.float64]
#: Which answers a table of CAS or CAB is about.
Study = Literal["plain", "mixed", "extended", "retrievers", "depths"]
#: What a setting is, with all of whose questions every arm is asked.
SETTINGS = ["dataset", "generator", "retriever", "k", "place", "labels"]
ANSWERS = [
    *SETTINGS,
    "query_id",
    *Arm._fields,
    "cited",
    "stray",
    PRECISION,
    RECALL,
    "right",
    "relevant_citations",
    "other_citations",
    "relevant_probability",
    "other_probability",
]
#: The two arms of Table 5.4: opposite authors are told of people's documents.
OPPOSITE_ARMS = tuple(
    arm
    for arm in MIXED_ARMS
    if arm.relevant_author == "Human" and {*arm[2:]} == {"Informed", "CF-informed"}
)
#: The retriever of all tables but Table 5.9.
FIRST_RETRIEVER = "BM25"
CORRECT = "EM correctness"
CONFIDENCES = {"AC relevant": "relevant", "AC non-relevant": "other"}
DAGGER = "†"
NO_CITATION = "no citation"
NOT_RUN = "not run"
#: Level of the chapter's tests.
ALPHA = 0.05
_FIELDS = list(Arm._fields)
_NO_ENDS = (np.nan, np.nan)
_NUMBERS = ["metric", "value", "low", "high", "p", "marker"]


def check_answers(answers: pd.DataFrame) -> pd.DataFrame:
    """The frame of answers, if tests can pair its rows.

    Parameters
    ----------
    answers
        As the module says; further columns are dropped.

    Returns
    -------
    pandas.DataFrame
        Its columns `ANSWERS`.

    Raises
    ------
    ValueError
        A column is missing, an answer stands twice, an arm lacks questions that another one of its
        setting and authors has, or a generator was shown two numbers of documents for one table.

    Examples
    --------
    >>> check_answers(pd.DataFrame(columns=ANSWERS)).empty
    True
    """
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
        asked = rows.groupby(_FIELDS)["query_id"].agg(frozenset)
        if asked.nunique() > 1:
            few = asked.map(len).idxmin()
            lost = sorted(frozenset().union(*asked) - asked[few])
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


def quality(answers: pd.DataFrame, arms: Sequence[Arm], *, seed: int) -> pd.DataFrame:
    """Precision, recall and right answers of each arm: Tables 5.1, 5.4, 5.11, 5.14, 5.15.

    Parameters
    ----------
    answers
        The frame of answers.
    arms
        `PLAIN_ARMS` for Tables 5.1 and 5.11, `OPPOSITE_ARMS` for 5.4, `MIXED_ARMS` for 5.14 and
        5.15; those that were not asked are left out.
    seed : int
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        A result with the keys `SETTING`, `mode_relevant`, `mode_nonrelevant`. Precision and recall
        in percent, right answers as a share, left out where no right answer is known. Where a
        value is above those of all other arms of the same documents, p is the largest one of the
        tests against these; else there is none. A precision is `NO_CITATION` where no answer cites.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> told = planted_answers(generator, questions, PLAIN_ARMS, texts)
    >>> answers = told.assign(dataset="toy", generator="control", retriever="BM25", k=2,
    ...                       place="retrieved", labels="plain")
    >>> cells = quality(answers, PLAIN_ARMS[3:5], seed=1)
    >>> cells[["mode_relevant", "metric", "value"]].values.tolist()[2:]
    [['Informed', 'attribution precision', 100.0], ['Informed', 'attribution recall', 100.0]]
    """
    measures = ((PRECISION, PRECISION, 100), (RECALL, RECALL, 100), (CORRECT, "right", 1))
    rows = []
    for names, found in _by_arm(_main(answers), arms, ["dataset", "generator"]):
        for (arm, told), (metric, column, scale) in itertools.product(found.items(), measures):
            values = _values(told, column)
            if not len(values):
                continue
            others = [
                _values(other, column)
                for each, other in found.items()
                if each != arm and each[:2] == arm[:2]
            ]
            if metric == PRECISION and not told["cited"].sum():
                numbers = (NO_CITATION, np.nan, np.nan)
            else:
                numbers = tuple(scale * number for number in _mean(values, seed))
            rows.append((*names, *arm, metric, *numbers, _above_all(values, others)))
    return _result(rows, [*SETTING, *_FIELDS[2:]])


def confidence(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Confidence (AC) in citations of relevant documents and of others: Tables 5.6, 5.10.

    Parameters
    ----------
    answers
        The frame of answers.
    seed : int
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        A result with the keys of `quality` and the metrics "AC relevant", "AC non-relevant", from
        0 to 1, `NO_CITATION` or `NOT_RUN`. Answers that cite such a document without a probability
        are left out. p is that of the paired t-test over the answers that cite documents of both
        kinds, of their mean probability of either; the thesis does not say how it pairs.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> told = planted_answers(generator, questions, PLAIN_ARMS, texts)
    >>> answers = told.assign(dataset="toy", generator="control", retriever="BM25", k=2,
    ...                       place="retrieved", labels="plain")
    >>> confidence(answers, seed=1)["value"].tolist()[:2]
    [0.5, 0.5]
    """
    rows = []
    for names, found in _by_arm(_main(answers), PLAIN_ARMS, ["dataset", "generator"]):
        for arm, told in found.items():
            p = _confidence_test(told)
            for metric, side in CONFIDENCES.items():
                citing = told[told[f"{side}_citations"] > 0]
                given = citing.dropna(subset=f"{side}_probability")
                sums, counts = given[f"{side}_probability"], given[f"{side}_citations"]
                value: float | str | None = pooled_confidence(sums, counts)
                if value is None:
                    value = NO_CITATION if citing.empty else NOT_RUN
                ends = ratio_interval(sums, counts, seed=seed) if len(given) > 1 else _NO_ENDS
                rows.append((*names, *arm, metric, value, *ends, p))
    return _result(rows, [*SETTING, *_FIELDS[2:]])


def citation_counts(answers: pd.DataFrame, *, seed: int) -> pd.DataFrame:
    """Mean numbers of cited documents: Tables 5.12, 5.13 and Figure 5.5.

    Parameters
    ----------
    answers
        The frame of answers.
    seed : int
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        A result with the keys of `quality` and the metrics "avg cited relevant", from 0 to 1, and
        "avg cited total": documents that are cited, each once, stray numbers among them. No tests.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> told = planted_answers(generator, questions, PLAIN_ARMS, texts)
    >>> answers = told.assign(dataset="toy", generator="control", retriever="BM25", k=2,
    ...                       place="retrieved", labels="plain")
    >>> citation_counts(answers, seed=1)["value"].tolist()[:2]
    [0.5, 1.5]
    """
    rows = [
        (*names, *arm, metric, *_mean(_values(told, column), seed), np.nan)
        for names, found in _by_arm(_main(answers), PLAIN_ARMS, ["dataset", "generator"])
        for arm, told in found.items()
        for metric, column in ((CITED, RECALL), (TOTAL, "cited"))
    ]
    return _result(rows, [*SETTING, *_FIELDS[2:]])


def compared(
    answers: pd.DataFrame, measure: Literal["CAS", "CAB"], *, study: Study, seed: int
) -> pd.DataFrame:
    """Sensitivity or bias of every generator: Tables 5.2, 5.3, 5.5, 5.7 to 5.9, Figure 5.9.

    Parameters
    ----------
    answers
        The frame of answers.
    measure : {"CAS", "CAB"}
        Sensitivity or bias.
    study : {"plain", "mixed", "extended", "retrievers", "depths"}
        Documents of two origins (Tables 5.2, 5.3), of one (5.5), of one under extended labels
        (5.7, 5.8), the same by other retrievers (5.9), or with the relevant document at a random
        place (Figure 5.9).
    seed : int
        Of the bootstrap.

    Returns
    -------
    pandas.DataFrame
        A result with the keys dataset, generator, retriever, k, relevant_author,
        nonrelevant_author. Points, from 0 to 100 (CAS) or from -100 to 100 (CAB); p is that of the
        signed differences. `NO_CITATION` where none of the compared answers cites anything: they
        would be 0 without telling anything.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> told = planted_answers(generator, questions, PLAIN_ARMS, texts)
    >>> answers = told.assign(dataset="toy", generator="control", retriever="BM25", k=2,
    ...                       place="retrieved", labels="plain")
    >>> compared(answers, "CAB", study="plain", seed=1)["value"].tolist()[:2]
    [100.0, 100.0]
    """
    frame = answers[_SELECTED[study](answers)]
    single = frame["relevant_author"] == frame["nonrelevant_author"]
    frame = frame[~single if study == "plain" else single]
    keys = ["dataset", "generator", "retriever", "k"]
    parts = []
    for names, rows in frame.groupby(keys, sort=False):
        if measure == "CAS":
            pairs = INFORMED_AGAINST_VANILLA if study == "plain" else MIXED_AGAINST_VANILLA
            found = sensitivities(rows, seed=seed, pairs=pairs)
        else:
            found = biases(rows, seed=seed)
        nothing = found["citations"] == 0
        found = found.astype({"value": object}).mask(
            nothing, found.assign(value=NO_CITATION, low=np.nan, high=np.nan, p=np.nan)
        )
        parts.append(found.assign(**dict(zip(keys, names, strict=True))))
    whole = pd.concat(parts) if parts else pd.DataFrame(columns=[*keys, *_FIELDS[:2], *_NUMBERS])
    order = [*keys, *_FIELDS[:2], *_NUMBERS[:-1]]
    return _marked(whole.reset_index(drop=True)[order])


def figure_cells(counts: pd.DataFrame) -> pd.DataFrame:
    """Cells of Figure 5.5: the mean number of all cited documents.

    Parameters
    ----------
    counts
        `SETTING`, `rag_mode`, metric and value, of Tables 5.12 and 5.13.

    Returns
    -------
    pandas.DataFrame
        Columns row, series, metric, x_name, x and value, as printed.

    Examples
    --------
    >>> row = ("NQ", "toy", "LLM", "Human", "Vanilla", TOTAL, "1.5")
    >>> counts = pd.DataFrame([row], columns=[*SETTING, "rag_mode", "metric", "value"])
    >>> figure_cells(counts).iloc[0].tolist()
    ['NQ', 'toy rel=LLM nonrel=Human', 'avg total cited documents', 'RAG mode', 'Vanilla', '1.5']
    """
    totals = counts[counts["metric"] == TOTAL]
    authors = totals["relevant_author"] + " nonrel=" + totals["nonrelevant_author"]
    return pd.DataFrame(
        {
            "row": totals["dataset"],
            "series": totals["generator"] + " rel=" + authors,
            "metric": "avg total cited documents",
            "x_name": "RAG mode",
            "x": totals["rag_mode"],
            "value": totals["value"],
        }
    ).reset_index(drop=True)


def answer_shares(answers: pd.DataFrame) -> pd.DataFrame:
    """What kind of answers each generator gave: how many cite anything, beside it, and are right.

    Parameters
    ----------
    answers
        The frame of answers.

    Returns
    -------
    pandas.DataFrame
        `SETTINGS`, metric and value, in percent of all answers of a setting but for their number
        and that of questions. "right" is left out where no right answer is known.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> told = planted_answers(generator, questions, PLAIN_ARMS, texts)
    >>> answers = told.assign(dataset="toy", generator="control", retriever="BM25", k=2,
    ...                       place="retrieved", labels="plain")
    >>> answer_shares(answers)[["metric", "value"]].values.tolist()[:3]
    [['questions', 2.0], ['answers', 12.0], ['cite', 100.0]]
    """
    groups = answers.groupby(SETTINGS, sort=False)
    shares = pd.DataFrame(
        {
            "cite": answers["cited"] > 0,
            "cite out of range": answers["stray"] > 0,
            "cite the relevant document": answers[RECALL] > 0,
            "right": answers["right"],
        }
    ).astype(float)
    means = 100 * shares.groupby([answers[name] for name in SETTINGS], sort=False).mean()
    counts = pd.DataFrame({"questions": groups["query_id"].nunique(), "answers": groups.size()})
    table = counts.astype(float).join(means).reset_index()
    long = table.melt(SETTINGS, var_name="metric", ignore_index=False)
    return long.sort_index(kind="stable").dropna(subset="value").reset_index(drop=True)


def _main(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers of the study's first setting: plain labels, documents as they were retrieved."""
    return answers[_SELECTED["plain"](answers)]


def _fixed(labels: str, first: bool) -> Callable[[pd.DataFrame], pd.Series]:
    """Rows with the relevant document at its place, by the first retriever or by another one."""
    return lambda rows: (
        (rows["labels"] == labels)
        & (rows["place"] == "retrieved")
        & ((rows["retriever"] == FIRST_RETRIEVER) == first)
    )


#: Which rows belong to a study.
_SELECTED: dict[Study, Callable[[pd.DataFrame], pd.Series]] = {
    "plain": _fixed("plain", True),
    "mixed": _fixed("plain", True),
    "extended": _fixed("extended", True),
    "retrievers": _fixed("extended", False),
    "depths": lambda rows: (rows["labels"] == "extended") & (rows["place"] == "random"),
}


def _by_arm(
    frame: pd.DataFrame, arms: Sequence[Arm], keys: list[str]
) -> Iterator[tuple[tuple[str, ...], dict[Arm, pd.DataFrame]]]:
    """Answers of each generator by arm, in the order of the arms."""
    for names, rows in frame.groupby(keys, sort=False):
        there = {Arm(*fields): told for fields, told in rows.groupby(_FIELDS, sort=False)}
        yield names, {arm: there[arm] for arm in arms if arm in there}


def _values(told: pd.DataFrame, column: str) -> FloatArray:
    """A measure of the answers of one arm in the order of questions, without unknown ones."""
    return told.sort_values("query_id")[column].dropna().to_numpy(dtype=float)


def _mean(values: FloatArray, seed: int) -> tuple[float, float, float]:
    """Mean and interval; of one value there is none."""
    mean = float(values.mean())
    if len(values) < 2:
        return mean, *_NO_ENDS
    return mean, *ratio_interval(values, np.ones(len(values)), seed=seed)


def _above_all(values: FloatArray, others: list[FloatArray]) -> float:
    """Largest p of the tests against all others, where the mean is above all of theirs."""
    if len(values) < 2 or not others or any(values.mean() <= other.mean() for other in others):
        return np.nan
    return max(_paired_p(values, other) for other in others)


def _paired_p(first: FloatArray, second: FloatArray) -> float:
    return float(t_tests({"first": first, "second": second}, correction="none")["p"].iloc[0])


def _confidence_test(told: pd.DataFrame) -> float:
    """Test of the confidence in relevant citations against that in others: its p."""
    means = [
        told[f"{side}_probability"] / told[f"{side}_citations"].where(told[f"{side}_citations"] > 0)
        for side in CONFIDENCES.values()
    ]
    both = pd.concat(means, axis=1).dropna().to_numpy(dtype=float)
    if len(both) < 2:
        return np.nan
    # Of a constant difference, as a planted generator has it, the t-test would divide by 0.
    if np.ptp(differences := (both[:, 0] - both[:, 1]).round(12)) == 0:
        return float(differences[0] == 0)
    return _paired_p(both[:, 0], both[:, 1])


def _result(rows: list[tuple], keys: list[str]) -> pd.DataFrame:
    columns = [*keys, *_NUMBERS[:-1]]
    return _marked(pd.DataFrame(rows, columns=columns))


def _marked(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(marker=np.where(table["p"].astype(float) < ALPHA, DAGGER, ""))
