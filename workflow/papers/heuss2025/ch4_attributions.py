"""Feature attributions in the talent search of chapter 4 of heuss2025 (Figures 4.2 to 4.B.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray, IntArray
from everycell.explain.games import ListwiseGame, pointwise_shapley_values
from everycell.explain.shapley import all_coalitions, greedy_selection, shapley_values
from everycell.explain.value_functions import (
    Ties,
    exposures,
    kendall,
    negative_rank,
    ranks_of,
)
from everycell.jobs.job import Job
from everycell.records.cells import declared_cells
from papers.heuss2025.ch4_talent_search import (
    FEATURES,
    OLDER_VALUES,
    QUERIES,
    TalentModel,
    background,
    candidates,
    universities,
)

Candidates = Mapping[str, FloatArray]

#: Maximum number of features that greedy selection selects (section 4.5.2).
MAX_SELECTED = 2
#: How the released code breaks ties: the last of the tied documents is ranked first.
RELEASED_TIES: Ties = "last"
#: Choice that yields Shapley values, with the tie-breaking of the released code.
WITH_BASE = "with the value of the empty coalition"
#: Names of queries that Table 4.A.3 shortens.
SHORTENED = {"international": "internat."}
EXPLAINERS = ("Greedy", "PointwiseSHAP", "RankingSHAP")
#: Objectives for a single candidate (Eqs. 4.8 and 4.7).
EXPOSURE, NEGATIVE_RANK = "exposure", "negative rank"


def attributions(job: Job) -> None:
    """Attributions of the talent search, for lists and single candidates."""
    params = job.params
    published = declared_cells(params.declared, "heuss2025/table_4_A_1")
    schools = universities(declared_cells(params.declared, "heuss2025/table_4_A_2"))
    rng = np.random.default_rng(params.seed)
    samples = background(schools, params.samples, rng)
    draws = [background(schools, params.samples_of_text, rng) for _ in range(params.draws)]
    biased = TalentModel(schools, biased=True)
    rows = []
    for values, changed in (("Table 4.A.1", None), ("older values", OLDER_VALUES)):
        people = candidates(published, schools, changed)
        for name, model in (("biased", biased), ("unbiased", biased._replace(biased=False))):
            lists = list_attributions(model, people, samples)
            rows.append(lists.assign(model=name, candidates=values))
    job.write_frame(pd.concat(rows, ignore_index=True), "lists")
    people = candidates(published, schools)
    job.write_frame(candidate_attributions(biased, people, samples), "candidates")
    job.write_frame(compare_objectives(biased, people, samples), "objectives")
    job.write_frame(compare_choices(biased, people, samples), "choices")
    job.write_frame(attribution_deviations(biased, people, draws), "spread")


def ranks_in_queries(model: TalentModel, people: Candidates) -> pd.DataFrame:
    """Table 4.A.3: rank of each candidate per query, 0 if the query does not include it."""
    rows = []
    for name in people:
        for query, members in QUERIES.items():
            scores = model(np.array([people[member] for member in members]))
            ranks = dict(zip(members, ranks_of(scores).tolist(), strict=True))
            column = SHORTENED.get(query, query)
            rows.append((name, column, "rank_biased_ranker", ranks.get(name, 0)))
    return pd.DataFrame(rows, columns=["row", "query", "metric", "value"])


def worth_of_coalitions(
    model: TalentModel, documents: FloatArray, samples: FloatArray, ties: Ties
) -> tuple[FloatArray, FloatArray]:
    """Worth of all coalitions: Kendall's tau, shape (32,), and exposures, shape (32, n)."""
    reference = kendall(ranks_of(model(documents), ties))
    exposed = exposures()

    def value(ranks: IntArray) -> FloatArray:
        return np.column_stack([reference(ranks), exposed(ranks)])

    game = ListwiseGame(model, documents, samples, value, ties)
    worth = game(all_coalitions(len(FEATURES)))
    return worth[:, 0], worth[:, 1:]


def remove_base(worth: FloatArray) -> FloatArray:
    """Worth of all coalitions, set to 0 for the empty one as in the released explainers.

    With five features, this adds a fifth of the original worth of the empty coalition to each
    Shapley value.
    """
    without_base = worth.copy()
    without_base[0] = 0
    return without_base


def list_attributions(model: TalentModel, people: Candidates, samples: FloatArray) -> pd.DataFrame:
    """Attributions of complete lists by the three explainers, as in the figures.

    Greedy selection assigns 1 to selected features. Pointwise SHAP is the mean over candidates,
    normalised to sum to 1. RankingSHAP explains Kendall's tau.
    """
    rows = []
    for query, members in QUERIES.items():
        documents = np.array([people[member] for member in members])
        worth = remove_base(worth_of_coalitions(model, documents, samples, RELEASED_TIES)[0])
        selected = greedy_selection(_game(worth), len(FEATURES), MAX_SELECTED)
        pointwise = pointwise_shapley_values(model, documents, samples).mean(axis=0)
        attributions = (
            np.isin(np.arange(len(FEATURES)), selected).astype(float),
            pointwise / pointwise.sum(),
            shapley_values(worth),
        )
        for explainer, values in zip(EXPLAINERS, attributions, strict=True):
            rows += _rows((query, explainer), values)
    return pd.DataFrame(rows, columns=["query", "explainer", "feature", "value"])


def candidate_attributions(
    model: TalentModel, people: Candidates, samples: FloatArray
) -> pd.DataFrame:
    """Attributions for single candidates: RankingSHAP of exposure, SHAP of scores."""
    rows = []
    for query, members in QUERIES.items():
        documents = np.array([people[member] for member in members])
        ranks = ranks_of(model(documents), RELEASED_TIES)
        worth = worth_of_coalitions(model, documents, samples, RELEASED_TIES)[1]
        listwise = shapley_values(remove_base(worth)).T
        pointwise = pointwise_shapley_values(model, documents, samples)
        for explainer, attributions in (("RankingSHAP", listwise), ("PointwiseSHAP", pointwise)):
            for position in np.argsort(ranks):
                key = (query, explainer, members[position], int(ranks[position]))
                rows += _rows(key, attributions[position])
    columns = ["query", "explainer", "candidate", "rank", "feature", "value"]
    return pd.DataFrame(rows, columns=columns)


def compare_objectives(model: TalentModel, people: Candidates, samples: FloatArray) -> pd.DataFrame:
    """Shapley values of both objectives for single candidates, `EXPOSURE` and `NEGATIVE_RANK`."""
    rows = []
    for query, members in QUERIES.items():
        documents = np.array([people[member] for member in members])
        ranks = ranks_of(model(documents), RELEASED_TIES)
        for position in np.argsort(ranks):
            for objective, value in (
                (EXPOSURE, exposures([position])),
                (NEGATIVE_RANK, negative_rank(position)),
            ):
                game = ListwiseGame(model, documents, samples, value, RELEASED_TIES)
                values = shapley_values(game(all_coalitions(len(FEATURES)))).ravel()
                key = (query, members[position], int(ranks[position]))
                rows += [(*row[:-1], objective, row[-1]) for row in _rows(key, values)]
    columns = ["query", "candidate", "rank", "feature", "objective", "value"]
    return pd.DataFrame(rows, columns=columns)


def compare_choices(model: TalentModel, people: Candidates, samples: FloatArray) -> pd.DataFrame:
    """RankingSHAP and greedy selection of lists, as released and with other choices."""
    rows = []
    for query, members in QUERIES.items():
        documents = np.array([people[member] for member in members])
        last, first = (
            worth_of_coalitions(model, documents, samples, ties)[0] for ties in ("last", "first")
        )
        for choice, worth in (
            ("as released", remove_base(last)),
            (WITH_BASE, last),
            ("and with ties in input order", first),
        ):
            selection = greedy_selection(_game(worth), len(FEATURES), MAX_SELECTED)
            selected = np.isin(np.arange(len(FEATURES)), selection).astype(float)
            for explainer, values in (("Greedy", selected), ("RankingSHAP", shapley_values(worth))):
                rows += [(*row[:3], choice, row[3]) for row in _rows((query, explainer), values)]
    return pd.DataFrame(rows, columns=["query", "explainer", "feature", "choice", "value"])


def attribution_deviations(
    model: TalentModel, people: Candidates, backgrounds: Sequence[FloatArray]
) -> pd.DataFrame:
    """Standard deviation of the attributions of lists over draws of the background."""
    draws = pd.concat([list_attributions(model, people, samples) for samples in backgrounds])
    keys = ["query", "explainer", "feature"]
    return draws.groupby(keys, sort=False)["value"].std(ddof=1).reset_index()


def _game(worth: FloatArray):
    """Game with a known worth of each coalition."""
    bits = 1 << np.arange(len(FEATURES))
    return lambda coalitions: worth[coalitions @ bits]


def _rows(key: tuple, values: FloatArray) -> list[tuple]:
    return [(*key, name, float(value)) for name, value in zip(FEATURES, values, strict=True)]
