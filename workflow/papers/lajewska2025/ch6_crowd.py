"""Crowd studies of chapter 6 of lajewska2025: Tables 6.2, 6.3, 6.5 and C.8 from workers' votes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from everycell.base.errors import DataError
from everycell.jobs.result_job import ResultJob
from everycell.statistics.hypothesis_tests import t_tests
from everycell.statistics.preferences import preference_test
from papers.lajewska2025.ch6_systems import (
    COMPLETE,
    CONTRADICTED,
    ENTAILED,
    FAITHFUL,
    IRRELEVANT,
    RELEVANCE,
    RELEVANT,
    RETRIEVED,
)
from papers.lajewska2025.ch6_votes import (
    BROAD,
    COMPARISONS,
    COMPLETENESS,
    DEEP,
    OF_COMPLETENESS,
    RATED,
    VOTED,
    Study,
    accepted_votes,
    planted_truth,
    read_votes,
    rejection_shares,
)

ALPHA, SIGNIFICANT = 0.05, "*"
#: Question -> comparison, and automatic measures that Table C.8 correlates it with.
CORRELATIONS = {
    "coherence": (RELEVANT, (RELEVANCE,)),
    "factuality": (RELEVANT, (FAITHFUL, ENTAILED, CONTRADICTED)),
    "sufficiency": (RELEVANT, (COMPLETE,)),
    "breadth": (COMPLETENESS, (COMPLETE,)),
    "depth": (COMPLETENESS, (COMPLETE,)),
}
#: Names in Table C.8.
HUMAN_NAMES = {"factuality": "Correctness"}
MEASURE_NAMES = {
    RELEVANCE: "Answer relevance",
    FAITHFUL: "Faithfulness",
    ENTAILED: "Nugget entailment",
    CONTRADICTED: "Nugget contradiction",
    COMPLETE: "Completeness",
}
#: Comparison -> response -> variant of the pipeline, for scores of the full tier.
VARIANTS = {
    RELEVANT: {"Baseline": "Baseline", "GINGER": "GINGER"},
    COMPLETENESS: {BROAD: "GINGER -fluency (broad)", DEEP: "GINGER -fluency (deep)"},
}
DECIMALS = {
    "votes": 0,
    "share": 3,
    "low": 3,
    "high": 3,
    "p": 4,
    "queries": 0,
    "won": 0,
    "lost": 0,
    "tied": 0,
    "p of queries": 4,
}


def preferences(votes: pd.DataFrame) -> pd.DataFrame:
    """Shares of votes for the second response of each comparison, tests, and majorities."""
    rows = []
    questions = votes[votes["question"].isin(list(VOTED))]
    for (comparison, question), answers in questions.groupby(
        ["comparison", "question"], sort=False
    ):
        first, second = COMPARISONS[str(comparison)]
        result = preference_test(
            answers["query"].tolist(), answers["response"].tolist(), (second, first)
        )
        values = zip(DECIMALS, result, strict=True)
        rows += [(comparison, question, name, float(value)) for name, value in values]
    return pd.DataFrame(rows, columns=["comparison", "question", "metric", "value"])


def rating_p(answers: pd.DataFrame) -> float:
    """P of a chi-square test of independence of the response and its ratings; 1 if all are equal.

    Yates' correction is for tables of two by two. It is left out if only two ratings occur, too.
    """
    counts = pd.crosstab(answers["response"], answers["rating"])
    if min(counts.shape) < 2:
        return 1.0
    return float(stats.chi2_contingency(counts, correction=False).pvalue)


def vote_table(votes: pd.DataFrame, comparisons: Iterable[str]) -> pd.DataFrame:
    """Tables 6.2 and 6.5: shares of votes and mean ratings, the second response marked."""
    rows = []
    results = preferences(votes).set_index(["comparison", "question", "metric"])["value"]
    for comparison in comparisons:
        first, second = COMPARISONS[comparison]
        for question in [name for name in VOTED if name not in OF_COMPLETENESS]:
            share, p = (results[comparison, question, metric] for metric in ("share", "p"))
            marker = SIGNIFICANT if p < ALPHA else ""
            rows += [(comparison, first, VOTED[question], 1 - share, "")]
            rows += [(comparison, second, VOTED[question], share, marker)]
        of_comparison = votes[votes["comparison"] == comparison]
        for question, name in RATED.items():
            answers = of_comparison[of_comparison["question"] == question]
            means = answers.groupby("response")["rating"].mean()
            marker = SIGNIFICANT if rating_p(answers) < ALPHA else ""
            rows += [(comparison, first, name, means[first], "")]
            rows += [(comparison, second, name, means[second], marker)]
    table = pd.DataFrame(rows, columns=["input", "row", "metric", "value", "marker"])
    return table.assign(input=table["input"].str.capitalize())


def breadth_table(votes: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Table 6.3: completeness, and votes for breadth and depth, of broad and deep responses.

    The thesis does not say how completeness is tested; this is a paired t-test over queries.
    """
    results = preferences(votes).set_index(["comparison", "question", "metric"])["value"]
    complete = scores[(scores["comparison"] == COMPLETENESS) & (scores["measure"] == COMPLETE)]
    by_query = complete.pivot(index="query", columns="response", values="value").dropna()
    test = t_tests(by_query, [(BROAD, DEEP)], correction="none", alpha=ALPHA).iloc[0]
    rows = [
        (BROAD, "Completeness", test["mean_a"], ""),
        (DEEP, "Completeness", test["mean_b"], SIGNIFICANT if test["p"] < ALPHA else ""),
    ]
    for question in OF_COMPLETENESS:
        share, p = (results[COMPLETENESS, question, metric] for metric in ("share", "p"))
        rows += [(BROAD, VOTED[question], 1 - share, "")]
        rows += [(DEEP, VOTED[question], share, SIGNIFICANT if p < ALPHA else "")]
    return pd.DataFrame(rows, columns=["row", "metric", "value", "marker"])


def human_scores(votes: pd.DataFrame) -> pd.DataFrame:
    """Share of the votes on its pair that each response received."""
    of_pairs = votes[votes["question"].isin(list(VOTED))]
    keys = ["comparison", "query", "question"]
    counts = of_pairs.groupby([*keys, "response"]).size().rename("count").reset_index()
    totals = of_pairs.groupby(keys).size().rename("votes").reset_index()
    # A response without a vote has no row in `counts`.
    names = pd.DataFrame(
        [(name, response) for name, pair in COMPARISONS.items() for response in pair],
        columns=["comparison", "response"],
    )
    every = totals.merge(names).merge(counts, how="left")
    return every.assign(human=every["count"].fillna(0) / every["votes"])


def correlation_table(votes: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Table C.8: Kendall's tau-b of human and automatic scores over responses."""
    human = human_scores(votes)
    rows = []
    for question, (comparison, measures) in CORRELATIONS.items():
        people = human[(human["comparison"] == comparison) & (human["question"] == question)]
        for measure in measures:
            automatic = scores[
                (scores["comparison"] == comparison) & (scores["measure"] == measure)
            ]
            pairs = people.merge(automatic, on=["comparison", "query", "response"])
            result = stats.kendalltau(pairs["human"], pairs["value"])
            marker = SIGNIFICANT if result.pvalue < ALPHA else ""
            name = HUMAN_NAMES.get(question, question.capitalize())
            rows.append(
                (name, MEASURE_NAMES[measure], "kendall_tau", float(result.statistic), marker)
            )
    return pd.DataFrame(rows, columns=["row", "automatic_metric", "metric", "value", "marker"])


def truth_table(study: Study, votes: pd.DataFrame) -> pd.DataFrame:
    """Planted and measured shares of votes for the second response."""
    measured = preferences(votes)
    measured = measured[measured["metric"].isin(["share", "low", "high"])]
    truth = planted_truth(study).melt(["comparison", "question"], var_name="metric")
    return pd.concat([truth, measured], ignore_index=True)


def scores_of_variants(scores: pd.DataFrame) -> pd.DataFrame:
    """Scores of the pipeline's responses, by comparison and response of the crowd study."""
    relevant = scores[scores["input"] == RELEVANT].rename(
        columns={"topic": "query", "metric": "measure"}
    )
    parts = [
        relevant[relevant["system"] == system].assign(comparison=comparison, response=response)
        for comparison, systems in VARIANTS.items()
        for response, system in systems.items()
    ]
    columns = ["comparison", "query", "response", "measure", "value"]
    return pd.concat(parts, ignore_index=True)[columns]


def check_comparisons(path: Path, votes: pd.DataFrame, comparisons: Iterable[str]) -> None:
    """Refuse votes that lack a comparison, a question of it, or ratings of one of its responses."""
    answered = set(zip(votes["comparison"], votes["question"], strict=True))
    rated = set(zip(votes["comparison"], votes["question"], votes["response"], strict=True))
    for comparison in comparisons:
        for question in [*VOTED, *RATED]:
            if question in OF_COMPLETENESS and comparison != COMPLETENESS:
                continue
            unrated = [
                response
                for response in COMPARISONS[comparison]
                if question in RATED and (comparison, question, response) not in rated
            ]
            if (comparison, question) in answered and unrated:
                raise DataError(
                    path,
                    column="response",
                    fault=f"never is {unrated[0]!r} in accepted answers to {question!r} of the "
                    f"comparison {comparison!r}",
                    expected="ratings of both responses",
                    fix="add the answers",
                )
            if (comparison, question) not in answered:
                raise DataError(
                    path,
                    column="question",
                    fault=f"never is {question!r} in accepted answers of the comparison "
                    f"{comparison!r}",
                    expected="answers to all questions of the study",
                    fix="add the answers",
                )


def check_queries(path: Path, votes: pd.DataFrame, scores: pd.DataFrame) -> None:
    """Refuse votes on queries that the scored responses do not have."""
    for comparison in VARIANTS:
        scored = set(scores.loc[scores["comparison"] == comparison, "query"])
        voted = dict.fromkeys(votes.loc[votes["comparison"] == comparison, "query"])
        unknown = [query for query in voted if query not in scored]
        if unknown:
            raise DataError(
                path,
                column="query",
                value=unknown[0],
                fault=f"which has no response in the comparison {comparison!r}",
                expected="ids of the questions that `ginger.full.model` answered",
            )


def planted(job: ResultJob) -> None:
    """Tables 6.2, 6.3, 6.5 and C.8 from planted votes, with the truth and a negative control."""
    params = job.params
    study = Study(**params.study)
    votes = accepted_votes(read_votes(Path(job.input.votes)), study.rejected_from)
    scores = pd.read_parquet(job.input.scores)
    job.write_table(vote_table(votes, [RELEVANT]).drop(columns="input"))
    of_table = votes[votes["comparison"] == RELEVANT]
    job.write_supplement(preferences(of_table), "majorities", DECIMALS)
    job.write_supplement(
        truth_table(study, votes),
        "truth",
        dict.fromkeys(("planted", "expected", "share", "low", "high"), 3),
    )
    control = rejection_shares(study, params.studies, np.random.default_rng(params.seed))
    job.write_supplement(control, "control", dict.fromkeys(control["metric"].unique(), 3))
    job.write_table(vote_table(votes, [RELEVANT, RETRIEVED, IRRELEVANT]), artefact="table_6_5")
    job.write_supplement(preferences(votes), "majorities", DECIMALS, "table_6_5")
    job.write_table(breadth_table(votes, scores), artefact="table_6_3")
    job.write_table(correlation_table(votes, scores), artefact="table_C_8")


def voted(job: ResultJob) -> None:
    """Tables 6.2 and 6.5: votes of a crowd study of the user."""
    path = Path(job.input.votes)
    votes = accepted_votes(read_votes(path), job.params.rejected_from)
    is_first = job.wildcards.number == "2"
    comparisons = [RELEVANT] if is_first else [RELEVANT, RETRIEVED, IRRELEVANT]
    check_comparisons(path, votes, comparisons)
    table = vote_table(votes, comparisons)
    job.write_table(table.drop(columns="input") if is_first else table)
    of_table = votes[votes["comparison"].isin(comparisons)]
    job.write_supplement(preferences(of_table), "majorities", DECIMALS)


def compared(job: ResultJob) -> None:
    """Tables 6.3 and C.8: votes of a crowd study of the user, and scores of the same responses."""
    path = Path(job.input.votes)
    votes = accepted_votes(read_votes(path), job.params.rejected_from)
    check_comparisons(path, votes, [RELEVANT, COMPLETENESS])
    scores = scores_of_variants(
        pd.concat(map(pd.read_parquet, job.input.scores), ignore_index=True)
    )
    check_queries(path, votes, scores)
    job.write_table(breadth_table(votes, scores))
    job.write_table(correlation_table(votes, scores), artefact="table_C_8")
