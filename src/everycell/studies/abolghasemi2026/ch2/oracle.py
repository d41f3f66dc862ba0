"""The best weight of each topic, and that with random scores (Table 2.4, Figure 2.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from everycell.retrieval.evaluation import JudgedLists
from everycell.retrieval.interpolation import (
    ALPHAS,
    Scaling,
    Sweep,
    noise_oracle,
    oracle,
    oracle_summary,
)
from everycell.retrieval.significance import (
    Comparisons,
    beaten_letters,
    paired_tests,
    system_letters,
)
from everycell.studies.abolghasemi2026.ch2.quality import check_task

#: Rows of Table 2.4 and the name of each in :func:`~everycell.retrieval.oracle_summary`.
ORACLE_ROWS: dict[str, str] = {
    "ranking quality": "value",
    "alpha_average": "alpha_mean",
    "n_queries_optimal_alpha_0": "n_alpha_0",
    "n_queries_optimal_alpha_1": "n_alpha_1",
    "IQR_optimal_alpha": "alpha_iqr",
}


def noise_levels(
    lists: JudgedLists,
    first: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
    seeds: Iterable[int] = range(20),
) -> pd.DataFrame:
    """Noise oracle of one system: mean and spread over the seeds.

    Parameters
    ----------
    lists, first, measures, alphas, over, seeds
        As in :func:`~everycell.retrieval.interpolation.noise_oracle`; `lists` holds the test
        topics, and two seeds or more are needed for a spread.

    Returns
    -------
    pandas.DataFrame
        Index ``metric``; ``noise_value`` (mean over the seeds of the mean over the topics),
        ``noise_sd`` (standard deviation over the seeds, n - 1) and ``noise_gain`` (over the
        system alone).

    Raises
    ------
    ValueError
        As :func:`~everycell.retrieval.interpolation.noise_oracle`.

    Examples
    --------
    >>> from everycell.retrieval.evaluation import judge
    >>> qrels = pd.DataFrame({"query": "q", "document": list("abcd"), "relevance": [1, 0, 0, 1]})
    >>> levels = noise_levels(judge(qrels, qrels), [[1.0, 4, 3, 2]], ["MAP"], seeds=range(3))
    >>> levels.round(3).to_dict("list")
    {'noise_value': [0.611], 'noise_sd': [0.127], 'noise_gain': [0.194]}
    """
    found = noise_oracle(lists, first, measures, alphas=alphas, over=over, seeds=seeds)
    by_measure = found.groupby("measure", sort=False)
    return pd.DataFrame(
        {
            "noise_value": by_measure["value"].mean(),
            "noise_sd": by_measure["value"].std(),
            "noise_gain": by_measure["gain"].mean(),
        }
    ).rename_axis("metric")


def oracle_table(
    combinations: Mapping[str, Mapping[str, Sweep]],
    singles: Mapping[str, Mapping[str, pd.DataFrame]],
    noise: Mapping[str, pd.DataFrame],
    *,
    comparisons: Comparisons | None = None,
    level: float = 0.05,
    letters: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Best weight of each test topic: the rows of Table 2.4, with the noise oracle beside them.

    Parameters
    ----------
    combinations : mapping of str to mapping of str to Sweep
        Name of the combination -> task -> values of the test topics at each weight.
    singles : mapping of str to mapping of str to pandas.DataFrame
        Task -> system -> values of the test topics: what the oracle is tested against.
    noise : mapping of str to pandas.DataFrame
        Task -> :func:`noise_levels` of the first system of the combinations.
    comparisons : {"all_pairs", "others"} or int, optional
        As in :func:`~everycell.retrieval.significance.paired_tests`. If not given: the number of
        single systems, each of which one oracle is compared with.
    level : float
        As in :func:`~everycell.retrieval.significance.paired_tests`.
    letters : mapping of str to str, optional
        Single system -> letter; a, b, c, ... in their order if not given. (The thesis takes those
        of its Table 2.1.)

    Returns
    -------
    pandas.DataFrame
        Columns ``row`` (as in :data:`ORACLE_ROWS`), ``combination``, ``task``, ``metric``,
        ``value``, ``marker`` (letters of the single systems that the oracle beats), ``n`` (topics)
        and ``comparisons``; only rows of ranking quality are tested, the others have "" and 0.
        Then, in the rows of ranking quality, ``noise_value``, ``noise_sd`` and ``noise_gain``.

    Raises
    ------
    ValueError
        For a task that `singles` or `noise` lack, topics that differ, or no single system.

    Notes
    -----
    The topics whose best weight is 0 or 1 are counted, not shares. An oracle is chosen by the
    values that it is tested with, so its letters mean little: compare ``value`` with
    ``noise_value``.

    Examples
    --------
    >>> topics = pd.Index(["r", "s"], name="query")
    >>> found = Sweep((0.0, 1.0), topics, {"MAP": np.array([[0.9, 0.7], [0.8, 1.0]])})
    >>> noise = pd.DataFrame({"noise_value": 0.92, "noise_sd": 0.01, "noise_gain": 0.02}, ["MAP"])
    >>> singles = {"cite": {"BM25": found.at(1.0)}}
    >>> table = oracle_table({"BM25+oracle TILDE": {"cite": found}}, singles, {"cite": noise})
    >>> table[["row", "value", "noise_value"]].values.tolist()
    [['ranking quality', 0.95, 0.92], ['alpha_average', 0.5, nan],
     ['n_queries_optimal_alpha_0', 1.0, nan], ['n_queries_optimal_alpha_1', 1.0, nan],
     ['IQR_optimal_alpha', 0.5, nan]]
    """
    rows = []
    for name, by_task in combinations.items():
        for task, found in by_task.items():
            check_task(task, singles=singles, noise=noise)
            for metric in found.values:
                chosen = oracle(found, metric)
                wide = _beside(task, metric, chosen["value"], singles[task])
                number = len(singles[task]) if comparisons is None else comparisons
                tests = paired_tests(
                    wide,
                    [("", system) for system in singles[task]],
                    comparisons=number,
                    level=level,
                )
                named = {**(letters or system_letters(list(singles[task]))), "": ""}
                rows += _oracle_rows(
                    {"combination": name, "task": task, "metric": metric},
                    oracle_summary(chosen),
                    beaten_letters(tests, named)[""],
                    int(tests["comparisons"].iloc[0]),
                    noise[task].loc[metric],
                )
    table = pd.DataFrame(rows)
    order = {row: place for place, row in enumerate(ORACLE_ROWS)}
    names = {name: place for place, name in enumerate(combinations)}
    places = [table["combination"].map(names), table["row"].map(order)]
    return table.iloc[np.lexsort(places[::-1])].reset_index(drop=True)


def _beside(
    task: str, metric: str, values: pd.Series, singles: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Values of an oracle (column "") beside those of the single systems."""
    for system, frame in singles.items():
        if not frame.index.equals(values.index):
            raise ValueError(
                f"In task {task!r} the topics of {system!r} are not those of the oracle, in their "
                "order: evaluate both on the same topics."
            )
    return pd.DataFrame(
        {"": values, **{system: frame[metric] for system, frame in singles.items()}}
    )


def _oracle_rows(
    cell: Mapping[str, str],
    summary: pd.Series,
    marker: str,
    comparisons: int,
    noise: pd.Series,
) -> list[dict[str, object]]:
    quality = {"marker": marker, "comparisons": comparisons, **noise}
    return [
        {
            "row": row,
            **cell,
            "value": summary[name],
            "n": int(summary["n"]),
            **(quality if name == "value" else {"marker": "", "comparisons": 0}),
        }
        for row, name in ORACLE_ROWS.items()
    ]


def curves(
    combinations: Mapping[str, Mapping[str, Sweep]], noise: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """What Figure 2.3 plots, with the noise oracle as a third line.

    Parameters
    ----------
    combinations : mapping of str to mapping of str to Sweep
        Name of the combination -> task -> values of the test topics at each weight.
    noise : mapping of str to pandas.DataFrame
        Task -> :func:`noise_levels`.

    Returns
    -------
    pandas.DataFrame
        Columns ``combination``, ``task``, ``metric``, ``alpha`` (weight of the first system),
        ``value`` (mean over the test topics with this weight for all), ``oracle`` and ``noise``
        (levels, the same at every alpha). All values from 0 to 1.

    Raises
    ------
    ValueError
        For a task that `noise` lacks.

    Examples
    --------
    >>> found = Sweep((0.0, 1.0), pd.Index(["r", "s"]), {"MAP": np.array([[0.9, 0.7], [0.8, 1.0]])})
    >>> noise = pd.DataFrame({"noise_value": 0.92}, index=["MAP"])
    >>> table = curves({"BM25+TILDE": {"cite": found}}, {"cite": noise})
    >>> table[["alpha", "value", "oracle", "noise"]].round(2).values.tolist()
    [[0.0, 0.8, 0.95, 0.92], [1.0, 0.9, 0.95, 0.92]]
    """
    parts = []
    for name, by_task in combinations.items():
        for task, found in by_task.items():
            check_task(task, noise=noise)
            for metric, means in found.means().items():
                parts.append(
                    pd.DataFrame(
                        {
                            "combination": name,
                            "task": task,
                            "metric": metric,
                            "alpha": found.alphas,
                            "value": means.to_numpy(),
                            "oracle": oracle(found, metric)["value"].mean(),
                            "noise": noise[task].loc[metric, "noise_value"],
                        }
                    )
                )
    return pd.concat(parts, ignore_index=True)
