"""Votes of a crowd study of chapter 6 of lajewska2025: their file, and votes with a known truth."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from everycell.base.csv_files import read_table, row_number
from everycell.base.errors import DataError
from everycell.base.files import write_atomically
from everycell.jobs.job import Job
from papers.lajewska2025.ch6_systems import (
    BASELINE,
    COMPLETE,
    CONTRADICTED,
    ENTAILED,
    FAITHFUL,
    IRRELEVANT,
    RELEVANCE,
    RELEVANT,
    RETRIEVED,
)

GINGER, BROAD, DEEP = "GINGER", "GINGER broad", "GINGER deep"
#: The study of breadth and depth, on relevant input.
COMPLETENESS = "completeness"
#: Comparison -> the two responses to each query; the tables mark the second one.
COMPARISONS: Mapping[str, tuple[str, str]] = {
    RELEVANT: (BASELINE, GINGER),
    RETRIEVED: (BASELINE, GINGER),
    IRRELEVANT: (BASELINE, GINGER),
    COMPLETENESS: (BROAD, DEEP),
}
#: Question with a vote for one of two responses -> column of Tables 6.2, 6.3 and 6.5.
VOTED: Mapping[str, str] = {
    "coherence": "Coh",
    "conciseness": "Con",
    "engagement": "Eng",
    "factuality": "Fac",
    "sufficiency": "Suf",
    "preference": "Pref",
    "breadth": "Resp. breadth",
    "depth": "Resp. depth",
}
#: Questions that only the study of breadth and depth asks.
OF_COMPLETENESS = ("breadth", "depth")
#: Question with a rating of each follow-up question, from 1 to `LEVELS`.
RATED: Mapping[str, str] = {"follow-up relevance": "FQ_rel", "follow-up usefulness": "FQ_use"}
LEVELS = 3
#: Number of aspects that a worker classifies (L1825).
CHECKS = 8
COLUMNS = ("comparison", "query", "worker", "failed_checks", "question", "response", "rating")
_SUBMISSION = ["comparison", "query", "worker"]


def read_votes(path: Path) -> pd.DataFrame:
    """Read answers of crowd workers, one row per answer (docs/grounded-responses.md)."""
    table = read_table(path, COLUMNS)[list(COLUMNS)]
    responses = {name: list(pair) for name, pair in COMPARISONS.items()}
    for column in _SUBMISSION[1:]:
        # With a space before or after it, a name would be another one.
        is_name = (table[column] != "") & (table[column] == table[column].str.strip())
        _refuse(path, table, column, ~is_name, "a name without spaces around it")
    _refuse(
        path,
        table,
        "comparison",
        ~table["comparison"].isin(list(COMPARISONS)),
        f"one of {', '.join(COMPARISONS)}",
    )
    allowed_checks = [str(number) for number in range(CHECKS + 1)]
    _refuse(
        path,
        table,
        "failed_checks",
        ~table["failed_checks"].isin(allowed_checks),
        f"a whole number from 0 to {CHECKS}",
    )
    _refuse(
        path,
        table,
        "question",
        ~table["question"].isin([*VOTED, *RATED]),
        f"one of {', '.join([*VOTED, *RATED])}",
    )
    _refuse(
        path,
        table,
        "question",
        table["question"].isin(OF_COMPLETENESS) & (table["comparison"] != COMPLETENESS),
        f"{' and '.join(OF_COMPLETENESS)} only in the comparison {COMPLETENESS}",
    )
    for comparison, names in responses.items():
        _refuse(
            path,
            table,
            "response",
            (table["comparison"] == comparison) & ~table["response"].isin(names),
            f"{' or '.join(names)} in the comparison {comparison}",
        )
    is_rated = table["question"].isin(list(RATED))
    levels = [str(level) for level in range(1, LEVELS + 1)]
    _refuse(path, table, "rating", is_rated & ~table["rating"].isin(levels), "1, 2 or 3")
    _refuse(path, table, "rating", ~is_rated & (table["rating"] != ""), "an empty rating of a vote")
    # A vote names one response, so a worker votes once; each follow-up question has its rating.
    answered = table.assign(response=table["response"].where(is_rated, ""))
    _refuse(
        path,
        table,
        "question",
        answered.duplicated([*_SUBMISSION, "question", "response"]),
        "one answer of a worker to each question about a pair of responses",
    )
    checks = table.groupby(_SUBMISSION)["failed_checks"].transform("first")
    _refuse(
        path,
        table,
        "failed_checks",
        table["failed_checks"] != checks,
        "the same number in all answers of a submission",
    )
    ratings = pd.to_numeric(table["rating"], errors="coerce")
    return table.assign(failed_checks=table["failed_checks"].astype(int), rating=ratings)


def _refuse(
    path: Path, table: pd.DataFrame, column: str, invalid: pd.Series, expected: str
) -> None:
    if invalid.any():
        row = int(invalid.to_numpy().argmax())
        raise DataError(
            path,
            f"row {row_number(path, row)}",
            column,
            table[column].iloc[row],
            expected=expected,
            fix="correct or remove the row",
        )


def accepted_votes(votes: pd.DataFrame, rejected_from: int) -> pd.DataFrame:
    """Answers of workers who failed fewer than `rejected_from` attention checks."""
    return votes[votes["failed_checks"] < rejected_from]


#: Preference for the second response that is planted, where the thesis reports one: comparison ->
#: question -> sign. There is none in other questions.
PLANTED: Mapping[str, Mapping[str, int]] = {
    RELEVANT: {"conciseness": 1},
    RETRIEVED: dict.fromkeys(
        ("coherence", "engagement", "factuality", "sufficiency", "preference"), -1
    ),
    IRRELEVANT: dict.fromkeys(
        ("coherence", "engagement", "factuality", "sufficiency", "preference", *RATED), -1
    ),
    COMPLETENESS: dict.fromkeys(OF_COMPLETENESS, -1),
}
#: Human score and automatic measure that are planted as correlated.
CORRELATED = ("coherence", RELEVANCE)
#: Measures whose values are independent of all votes.
INDEPENDENT = (FAITHFUL, ENTAILED, CONTRADICTED, COMPLETE)
#: Shares of follow-up questions rated 1, 2 and 3 without a planted effect.
_RATING_SHARES = (0.1, 0.25, 0.65)
#: Planted completeness of a broad and of a deep response.
_COMPLETENESS = {BROAD: 0.3, DEEP: 0.15}


class Study(NamedTuple):
    """Size of a simulated study, and what is planted in it."""

    queries: int
    workers: int
    #: Shift of the probability of a vote from 0.5, and of a rating in standard deviations.
    share: float
    rating: float
    #: Intraclass correlation of votes on the same query.
    agreement: float
    #: Share of workers who answer at random.
    inattentive: float
    #: Smallest number of failed checks of a rejected worker.
    rejected_from: int


def query_probabilities(
    mean: float, agreement: float, size: tuple[int, ...], rng: np.random.Generator
) -> np.ndarray:
    """Probability of a vote per query: a beta distribution with this mean and correlation."""
    if agreement == 0:
        return np.full(size, mean)
    total = 1 / agreement - 1
    return rng.beta(mean * total, (1 - mean) * total, size)


def random_share(study: Study) -> float:
    """Expected share of workers who answer at random among those that the checks accept."""
    passing = study.inattentive * float(stats.binom.cdf(study.rejected_from - 1, CHECKS, 0.5))
    return passing / (passing + 1 - study.inattentive)


def planted_truth(study: Study) -> pd.DataFrame:
    """Expected share of accepted votes for the second response, and of attentive workers' votes."""
    random = random_share(study)
    rows = []
    for comparison, question in _questions(VOTED):
        planted = 0.5 + study.share * PLANTED[comparison].get(question, 0)
        rows.append((comparison, question, planted, (1 - random) * planted + random / 2))
    return pd.DataFrame(rows, columns=["comparison", "question", "planted", "expected"])


def _questions(of: Mapping[str, str]) -> list[tuple[str, str]]:
    """Comparisons and their questions."""
    return [
        (comparison, question)
        for comparison in COMPARISONS
        for question in of
        if comparison == COMPLETENESS or question not in OF_COMPLETENESS
    ]


def plant_votes(study: Study, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Answers of workers, and automatic scores of the responses, with a known truth.

    Attentive workers pass all attention checks; the others answer everything at random.
    """
    votes, scores = [], []
    cells = (study.queries, study.workers)
    names = [f"q{number}" for number in range(1, study.queries + 1)]
    for comparison, pair in COMPARISONS.items():
        is_random = rng.random(cells) < study.inattentive
        failed = np.where(is_random, rng.binomial(CHECKS, 0.5, cells), 0)
        submissions = pd.DataFrame(
            {
                "comparison": comparison,
                "query": np.repeat(names, study.workers),
                "worker": [f"{comparison} w{n}" for n in range(1, is_random.size + 1)],
                "failed_checks": failed.ravel(),
            }
        )
        coherence = np.empty(study.queries)
        for _, question in [key for key in _questions(VOTED) if key[0] == comparison]:
            mean = 0.5 + study.share * PLANTED[comparison].get(question, 0)
            probability = query_probabilities(mean, study.agreement, cells[:1], rng)
            if question == CORRELATED[0]:
                coherence = probability
            for_second = rng.random(cells) < np.where(is_random, 0.5, probability[:, None])
            response = np.where(for_second.ravel(), pair[1], pair[0])
            votes.append(submissions.assign(question=question, response=response, rating=""))
        for question in RATED:
            for response in pair:
                is_shifted = response == pair[1] and question in PLANTED[comparison]
                latent = rng.normal(-study.rating * is_shifted, 1, cells)
                bounds = stats.norm.ppf(np.cumsum(_RATING_SHARES)[:-1])
                rating = 1 + np.searchsorted(bounds, latent)
                rating = np.where(is_random, rng.integers(1, LEVELS + 1, cells), rating).ravel()
                votes.append(
                    submissions.assign(question=question, response=response, rating=rating)
                )
        for response, probability in zip(pair, (1 - coherence, coherence), strict=True):
            values = {name: rng.random(study.queries) for name in INDEPENDENT}
            if response in _COMPLETENESS:
                values[COMPLETE] = query_probabilities(_COMPLETENESS[response], 0.1, cells[:1], rng)
            values[CORRELATED[1]] = probability + rng.normal(0, 0.1, study.queries)
            scores += [
                pd.DataFrame(
                    {
                        "comparison": comparison,
                        "query": names,
                        "response": response,
                        "measure": measure,
                        "value": value,
                    }
                )
                for measure, value in values.items()
            ]
    return pd.concat(votes, ignore_index=True)[list(COLUMNS)], pd.concat(scores, ignore_index=True)


def rejection_shares(study: Study, studies: int, rng: np.random.Generator) -> pd.DataFrame:
    """Share of simulated comparisons in which each test finds a preference (0.05).

    The chi-square test of the thesis counts votes; the sign test counts queries by their majority.
    """
    p_of_wins = np.array(
        [stats.binomtest(wins, study.queries).pvalue for wins in range(study.queries + 1)]
    )
    rows = []
    for votes, agreement in (("independent", 0.0), ("correlated in a query", study.agreement)):
        for shift in (0.0, study.share):
            probability = query_probabilities(0.5 + shift, agreement, (studies, study.queries), rng)
            won = rng.binomial(study.workers, probability)
            total, size = won.sum(axis=1), study.workers * study.queries
            by_votes = stats.chisquare(np.stack([total, size - total]), axis=0).pvalue
            # With an odd number of workers no query is tied.
            by_queries = p_of_wins[(2 * won > study.workers).sum(axis=1)]
            rows += [
                (votes, f"{0.5 + shift:.2f}", name, float((p < 0.05).mean()))
                for name, p in (
                    ("chi-square test of votes", by_votes),
                    ("sign test of queries", by_queries),
                )
            ]
    return pd.DataFrame(rows, columns=["votes", "planted", "metric", "value"])


def plant(job: Job) -> None:
    """Votes and automatic scores with a known truth, in the format of a user's file."""
    study = Study(**job.params.study)
    votes, scores = plant_votes(study, np.random.default_rng(job.params.seed))
    csv = votes.to_csv(index=False, lineterminator="\n")
    write_atomically(Path(job.output.votes), csv)
    job.write_frame(scores, "scores")
