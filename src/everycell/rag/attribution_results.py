"""All tables of a study of attribution bias, from the frame of its answers.

The *frame of answers* has one row an answer, of all generators, in the columns `ANSWERS`:

- dataset, generator, retriever, k (documents of a prompt), place of the relevant document
  ("retrieved", "random") and labels ("plain", "extended"): the *setting*;
- query_id, the fields of `everycell.rag.attribution_arms.Arm`, and gold, the number of the relevant
  document, from 1 to k;
- cited (distinct citations, stray ones among them), stray, attribution precision and recall from 0
  to 1, right (1, 0, or NaN where no right answer is known) and cut (1 where the answer reached the
  limit of tokens, 0, or NaN where that is not known);
- relevant_citations, other_citations: all citations of documents of the prompt, and
  relevant_probability, other_probability: sums of their probabilities, NaN where a generator gives
  none.

A *result* has key columns as its printed table, then `metric`, `value`, the ends `low` and `high`
of a 95 % bootstrap interval over questions, `p` of the chapter's paired t-test (NaN where there is
none) and `marker`, a dagger where p < 0.05. Where a value rests on citations alone, `citations` is
their number. Two values are words: `NO_CITATION` where nothing is cited that a value could be about
(0/0), `NOT_RUN` where a generator gives no probabilities.

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
#: Fewest answers that cite documents of both kinds for a test of their confidences. The t-test
#: takes the mean of the differences for normal; of fewer probabilities, which lie near 1 where a
#: model is sure, that cannot be said, and one answer could make the dagger.
FEWEST_PAIRS = 10
#: Name of the generator that cites the first document and nothing else, before that of another.
ALWAYS_FIRST = "always [1]"
_FIELDS = list(Arm._fields)
_NO_ENDS = (np.nan, np.nan)
_ARM_KEYS = [*SETTING, *_FIELDS[2:]]
_NUMBERS = ["metric", "value", "low", "high", "p"]


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
    >>> from everycell.rag.attribution_study import everything_asked, study_settings
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> asked = everything_asked(study_settings(2, [])[:1], lambda setting, arm: questions)
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> answers = planted_answers(generator, asked, texts, dataset="toy", name="control")
    >>> cells = quality(answers, PLAIN_ARMS[3:5], seed=1)
    >>> cells[["mode_relevant", "metric", "value"]].values.tolist()[2:]
    [['Informed', 'attribution precision', 100.0], ['Informed', 'attribution recall', 100.0]]
    """
    measures = ((PRECISION, PRECISION, 100), (RECALL, RECALL, 100), (CORRECT, "right", 1))
    rows = []
    for (key, told, others), (metric, column, scale) in itertools.product(
        _by_arm(answers, arms), measures
    ):
        values = _values(told, column)
        if not len(values):
            continue
        if metric == PRECISION and not told["cited"].sum():
            numbers = (NO_CITATION, np.nan, np.nan)
        else:
            numbers = tuple(scale * number for number in _mean(values, seed))
        p = _above_all(values, [_values(other, column) for other in others])
        rows.append((*key, metric, *numbers, p))
    return _marked(pd.DataFrame(rows, columns=[*_ARM_KEYS, *_NUMBERS]))


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
        kinds, of their mean probability of either; the thesis does not say how it pairs. `pairs` is
        their number; below `FEWEST_PAIRS` there is no test. `citations` are those of which the
        value is the mean.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.attribution_study import everything_asked, study_settings
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> asked = everything_asked(study_settings(2, [])[:1], lambda setting, arm: questions)
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> answers = planted_answers(generator, asked, texts, dataset="toy", name="control")
    >>> confidence(answers, seed=1)["value"].tolist()[:2]
    [0.5, 0.5]
    """
    rows = []
    for key, told, _ in _by_arm(answers, PLAIN_ARMS):
        p, pairs = _confidence_test(told)
        for metric, side in CONFIDENCES.items():
            citing = told[told[f"{side}_citations"] > 0]
            given = citing.dropna(subset=f"{side}_probability")
            sums, counts = given[f"{side}_probability"], given[f"{side}_citations"]
            value: float | str | None = pooled_confidence(sums, counts)
            if value is None:
                value = NO_CITATION if citing.empty else NOT_RUN
            ends = ratio_interval(sums, counts, seed=seed) if len(given) > 1 else _NO_ENDS
            rows.append((*key, metric, value, *ends, p, counts.sum(), pairs))
    return _marked(pd.DataFrame(rows, columns=[*_ARM_KEYS, *_NUMBERS, "citations", "pairs"]))


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
    >>> from everycell.rag.attribution_study import everything_asked, study_settings
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> asked = everything_asked(study_settings(2, [])[:1], lambda setting, arm: questions)
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> answers = planted_answers(generator, asked, texts, dataset="toy", name="control")
    >>> citation_counts(answers, seed=1)["value"].tolist()[:2]
    [0.5, 1.5]
    """
    rows = [
        (*key, metric, *_mean(_values(told, column), seed), np.nan)
        for key, told, _ in _by_arm(answers, PLAIN_ARMS)
        for metric, column in ((CITED, RECALL), (TOTAL, "cited"))
    ]
    return _marked(pd.DataFrame(rows, columns=[*_ARM_KEYS, *_NUMBERS]))


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
        signed differences, `citations` are those of all compared answers. `NO_CITATION` where none
        of them cites anything: they would be 0 without telling anything.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.attribution_study import everything_asked, study_settings
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> asked = everything_asked(study_settings(2, [])[:1], lambda setting, arm: questions)
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> answers = planted_answers(generator, asked, texts, dataset="toy", name="control")
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
    order = [*keys, *_FIELDS[:2], *_NUMBERS, "citations"]
    whole = pd.concat(parts) if parts else pd.DataFrame(columns=order)
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
    """What kind of answers each generator gave: how many are cut, cite anything, and are right.

    Parameters
    ----------
    answers
        The frame of answers.

    Returns
    -------
    pandas.DataFrame
        `SETTINGS`, metric and value, in percent of all answers of a setting but for their number
        and that of questions. "cut, of those that cite" is the share of cut answers among these,
        and "precision" a mean. What is not known of any answer is left out.

    Examples
    --------
    >>> from everycell.rag.attribution_arms import Question
    >>> from everycell.rag.attribution_study import everything_asked, study_settings
    >>> from everycell.rag.planted import PlantedGenerator, planted_answers
    >>> questions = [Question("q1", ("a", "b"), gold=2), Question("q2", ("a", "b"), gold=1)]
    >>> asked = everything_asked(study_settings(2, [])[:1], lambda setting, arm: questions)
    >>> generator, texts = PlantedGenerator(99, skill=0, base=0), {"a": "Yes.", "b": "No."}
    >>> answers = planted_answers(generator, asked, texts, dataset="toy", name="control")
    >>> answer_shares(answers)[["metric", "value"]].values.tolist()[:3]
    [['questions', 2.0], ['answers', 32.0], ['cut', 0.0]]
    """
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


def always_first(answers: pd.DataFrame) -> pd.DataFrame:
    """What a generator would come to that cites the first document, whatever is asked.

    Where rankings are good, that alone has a high precision and recall, and a model that cites by
    position cannot be told from one that reads.

    Parameters
    ----------
    answers
        The frame of answers.

    Returns
    -------
    pandas.DataFrame
        The same questions and arms, each with one citation of document 1, under the name
        `ALWAYS_FIRST` with that of the generator in parentheses. It answers nothing and gives no
        probabilities.

    Examples
    --------
    >>> columns = {"generator": "toy", "gold": [1, 2]}
    >>> found = always_first(pd.DataFrame(columns))
    >>> found[["generator", PRECISION]].values.tolist()
    [['always [1] (toy)', 1.0], ['always [1] (toy)', 0.0]]
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
    answers: pd.DataFrame, arms: Sequence[Arm]
) -> Iterator[tuple[tuple[str, ...], pd.DataFrame, list[pd.DataFrame]]]:
    """Answers of each generator in the study's first setting, arm by arm in the order of these.

    Each with its key (`_ARM_KEYS`) and the answers under other arms of the same documents.
    """
    main = answers[_SELECTED["plain"](answers)]
    for names, rows in main.groupby(["dataset", "generator"], sort=False):
        there = {Arm(*fields): told for fields, told in rows.groupby(_FIELDS, sort=False)}
        asked = [arm for arm in arms if arm in there]
        for arm in asked:
            others = [there[each] for each in asked if each != arm and each[:2] == arm[:2]]
            yield (*names, *arm), there[arm], others


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


def _confidence_test(told: pd.DataFrame) -> tuple[float, int]:
    """Test of the confidence in relevant citations against that in others: its p, and its pairs."""
    means = [
        told[f"{side}_probability"] / told[f"{side}_citations"].where(told[f"{side}_citations"] > 0)
        for side in CONFIDENCES.values()
    ]
    both = pd.concat(means, axis=1).dropna().to_numpy(dtype=float)
    if len(both) < FEWEST_PAIRS:
        return np.nan, len(both)
    # Of a constant difference, as a planted generator has it, the t-test would divide by 0.
    if np.ptp(differences := (both[:, 0] - both[:, 1]).round(12)) == 0:
        return float(differences[0] == 0), len(both)
    return _paired_p(both[:, 0], both[:, 1]), len(both)


def _marked(table: pd.DataFrame) -> pd.DataFrame:
    return table.assign(marker=np.where(table["p"].astype(float) < ALPHA, DAGGER, ""))
