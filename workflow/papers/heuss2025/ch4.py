"""Chapter 4 of heuss2025: feature attributions of rankings (RankingSHAP).

Figures and tables of the talent search, and Figure 4.4 from checks of explanations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd

from everycell.base.arrays import FloatArray
from everycell.jobs.result_job import ResultJob
from papers.heuss2025.ch4_attributions import WITH_BASE, ranks_in_queries
from papers.heuss2025.ch4_figures import checks_figure, draw_bars, select_attributions
from papers.heuss2025.ch4_settings import LIME_VARIANTS
from papers.heuss2025.ch4_talent_search import (
    CANDIDATE_FIGURES,
    LIST_FIGURES,
    TalentModel,
    universities,
)
from papers.heuss2025.ch4_talent_search import candidates as published_candidates

#: Explainers that are compared with all others.
COMPARED = ("RShapK", "RShapW", "Greedy")
#: Baseline: random features.
CHANCE = "Random"
_PANEL = ["data", "measure", "check"]


def ranks(job: ResultJob) -> None:
    """Table 4.A.3: ranks of the candidates under the biased ranker."""
    schools = universities(job.input_cells("heuss2025/table_4_A_2"))
    people = published_candidates(job.input_cells("heuss2025/table_4_A_1"), schools)
    ranks_by_ranker = {
        name: ranks_in_queries(TalentModel(schools, biased=biased), people)
        for name, biased in (("biased", True), ("unbiased", False))
    }
    job.write_table(ranks_by_ranker["biased"])
    parts = [ranks.assign(ranker=name) for name, ranks in ranks_by_ranker.items()]
    both = pd.concat(parts)[["row", "ranker", "query", "value"]]
    job.write_supplement(both, "rankers", {"all": 0})


def lists(job: ResultJob) -> None:
    """Figures 4.2 and 4.B.1: attributions of complete lists ranked by the biased model."""
    queries = LIST_FIGURES[job.wildcards.number]
    rows = pd.read_parquet(job.input.lists)
    rows = rows[(rows["model"] == "biased") & (rows["candidates"] == "Table 4.A.1")]
    points = select_attributions(rows[["query", "explainer", "feature", "value"]], queries)
    choices = select_attributions(pd.read_parquet(job.input.choices), queries, ["RankingSHAP"])
    shapley = choices[choices["choice"] == WITH_BASE].drop(columns="choice")
    job.write_figure(points, draw_bars(points, "explainer", ["query"], shapley))
    for name in ("choices", "spread"):
        table = select_attributions(pd.read_parquet(job.input[name]), queries)
        job.write_supplement(table, name, {"all": 3})


def unbiased(job: ResultJob) -> None:
    """Figure 4.B.2: attributions of lists ranked by the unbiased model."""
    rows = pd.read_parquet(job.input.lists)
    rows = rows[rows["model"] == "unbiased"].sort_values(
        "query", key=lambda names: names.map(names.unique().tolist().index), kind="stable"
    )
    columns = ["query", "candidates", "explainer", "feature", "value"]
    points = select_attributions(rows[columns], None)
    job.write_figure(points, draw_bars(points, "explainer", ["query", "candidates"], columns=2))


def candidates(job: ResultJob) -> None:
    """Figures 4.3, 4.B.3 and 4.B.4: listwise and pointwise attributions of single candidates."""
    queries, explainers = CANDIDATE_FIGURES[job.wildcards.number]
    points = select_attributions(pd.read_parquet(job.input.candidates), queries, explainers)
    panel = ["query", "explainer"] if len(explainers) > 1 else ["query"]
    columns = 2 if len(explainers) > 1 else 3
    job.write_figure(points, draw_bars(points, "candidate", panel, columns=columns))
    if "objectives_csv" in job.output.keys():
        objectives = select_attributions(pd.read_parquet(job.input.objectives), None)
        job.write_supplement(objectives, "objectives", {"all": 3})


def faithfulness(job: ResultJob) -> None:
    """Figure 4.4: preservation and deletion checks by size of the explanations."""
    inputs, params = job.input, job.params
    checked, attributed = (
        {name: pd.read_parquet(path) for name, path in zip(params.names, paths, strict=True)}
        for paths in (inputs.checks, inputs.attributions)
    )
    means = Means(checked, params.bootstrap, np.random.default_rng(params.seed))
    points = means.curves()
    points = points[~points["explainer"].isin(LIME_VARIANTS)]
    # The figure omits the sum over documents, as in the thesis; the table of points has it.
    plotted = points[points["measure"] != "Exposure difference"]
    job.write_figure(points, checks_figure(plotted))
    differences, ratios = means.differences(), means.ratios()
    of_variants = differences["other"].isin(LIME_VARIANTS)
    job.write_supplement(differences[~of_variants], "differences", {"all": 3})
    job.write_supplement(differences[of_variants], "lime", {"all": 3})
    job.write_supplement(ratios[~ratios["explainer"].isin(LIME_VARIANTS)], "ratios", {"all": 2})
    job.write_supplement(mean_attributions(attributed, "RShapK"), "features", {"all": 3})


class Means:
    """Means of checks over queries and over samples of queries, by data set."""

    def __init__(
        self, checked: Mapping[str, pd.DataFrame], samples: int, rng: np.random.Generator
    ) -> None:
        self._means: dict[tuple[str, str, str], dict[tuple[str, int], FloatArray]] = {}
        for data, rows in checked.items():
            keys = ["measure", "check", "explainer", "size"]
            by_query = rows.pivot(index=keys, columns="query", values="value")
            # Pivoting sorts the keys; restore the order of the file.
            by_query = by_query.reindex(pd.MultiIndex.from_frame(rows[keys].drop_duplicates()))
            count = by_query.shape[1]
            # The first sample has each query once.
            weights = np.vstack(
                [np.ones(count), rng.multinomial(count, np.full(count, 1 / count), size=samples)]
            )
            means = by_query.to_numpy() @ weights.T / count
            keys = by_query.index
            for (measure, check, explainer, size), values in zip(keys, means, strict=True):
                panel = self._means.setdefault((data, measure, check), {})
                panel[explainer, int(size)] = values

    def curves(self) -> pd.DataFrame:
        """Points of the figure: `_PANEL`, ``explainer``, ``size``, ``value``, ``low``, ``high``."""
        rows = [
            (*panel, explainer, size, *_interval(values))
            for panel, panel_means in self._means.items()
            for (explainer, size), values in panel_means.items()
        ]
        columns = [*_PANEL, "explainer", "size", "value", "low", "high"]
        return pd.DataFrame(rows, columns=columns)

    def _overall(self) -> Iterator[tuple[tuple[str, str, str], dict[str, FloatArray]]]:
        """Mean over sizes of each explainer, by panel."""
        for panel, panel_means in self._means.items():
            names = dict.fromkeys(explainer for explainer, _ in panel_means)
            yield (
                panel,
                {
                    name: np.mean(
                        [v for (explainer, _), v in panel_means.items() if explainer == name], 0
                    )
                    for name in names
                },
            )

    def differences(self) -> pd.DataFrame:
        """Differences between explainers, averaged over sizes."""
        rows = [
            (*panel, name, other, *_interval(panel_means[name] - panel_means[other]))
            for panel, panel_means in self._overall()
            for name in COMPARED
            for other in panel_means
            if other != name
        ]
        return pd.DataFrame(rows, columns=[*_PANEL, "explainer", "other", "value", "low", "high"])

    def ratios(self) -> pd.DataFrame:
        """Ratios of explainers to random features, averaged over sizes."""
        rows = [
            (*panel, name, *_interval(values / panel_means[CHANCE]))
            for panel, panel_means in self._overall()
            if panel[1] != "Kendall's tau"
            for name, values in panel_means.items()
            if name != CHANCE
        ]
        return pd.DataFrame(rows, columns=[*_PANEL, "explainer", "value", "low", "high"])


def _interval(values: FloatArray) -> tuple[float, float, float]:
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return float(values[0]), float(min(low, values[0])), float(max(high, values[0]))


def mean_attributions(attributed: Mapping[str, pd.DataFrame], explainer: str) -> pd.DataFrame:
    """Top ten features of each data set by mean attribution."""
    parts = []
    for data, rows in attributed.items():
        attributions = rows[rows["explainer"] == explainer]
        means = attributions.groupby("feature", sort=False)["value"].mean()
        top = means.sort_values(ascending=False, kind="stable").head(10)
        parts.append(pd.DataFrame({"data": data, "feature": top.index, "value": top.to_numpy()}))
    return pd.concat(parts, ignore_index=True)
