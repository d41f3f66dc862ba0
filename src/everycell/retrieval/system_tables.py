"""Frames of a chapter's tables and figure, from values or scores of many systems on many tasks.

One long format throughout: a row a cell, with ``task``, ``metric`` and ``value`` (0 to 1;
:func:`as_printed` turns MAP into percent) beside what names the row. Source of all shapes:
abolghasemi2026, Tables 2.1 to 2.4 and Figure 2.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats

from everycell.retrieval.evaluation import JudgedLists
from everycell.retrieval.interpolation import (
    ALPHAS,
    Scaling,
    Sweep,
    noise_oracle,
    oracle,
    oracle_summary,
    sweep,
)
from everycell.retrieval.significance import (
    Comparisons,
    beaten_letters,
    paired_tests,
    system_letters,
)

#: Rows of Table 2.4 and the name of each in :func:`~everycell.retrieval.oracle_summary`.
ORACLE_ROWS: dict[str, str] = {
    "ranking quality": "value",
    "alpha_average": "alpha_mean",
    "n_queries_optimal_alpha_0": "n_alpha_0",
    "n_queries_optimal_alpha_1": "n_alpha_1",
    "IQR_optimal_alpha": "alpha_iqr",
}


@dataclass(frozen=True)
class Pairing:
    """Two systems on the validation and the test topics of one task, at every weight.

    Attributes
    ----------
    validation, test : Sweep
        Values at the same weights, of the same measures; made by :func:`pairing`.
    """

    validation: Sweep
    test: Sweep


def pairing(
    lists: JudgedLists,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    in_test: npt.ArrayLike,
    measures: Sequence[str] = ("MAP", "nDCG"),
    *,
    alphas: Sequence[float] = ALPHAS,
    over: Scaling = "query",
) -> Pairing:
    """Interpolate two systems on the topics of one task, validation and test apart.

    Parameters
    ----------
    lists : JudgedLists
        n topics of both splits, with up to c candidates.
    first, second : array_like, shape (n, c)
        Scores of the candidates; alpha weighs `first`, which is BM25 in the thesis.
    in_test : array_like of bool, shape (n,)
        Which topics are test topics; the others are validation topics.
    measures, alphas, over
        As in :func:`~everycell.retrieval.interpolation.sweep`. With ``over="run"`` each split is
        a run of its own, so that no test score shifts a validation score.

    Returns
    -------
    Pairing

    Raises
    ------
    ValueError
        For a split without topics, or as :func:`~everycell.retrieval.interpolation.sweep`.

    Examples
    --------
    >>> from everycell.retrieval.evaluation import judge
    >>> frame = pd.DataFrame({"query": ["q", "q", "r", "r"], "document": list("abab")})
    >>> lists = judge(frame, frame.assign(relevance=[1, 0, 1, 0]))
    >>> both = pairing(lists, [[1.0, 2]] * 2, [[2.0, 1]] * 2, [False, True], ["RR"])
    >>> both.test.queries.tolist(), both.validation.tune("RR")
    (['r'], 0.6)
    """
    chosen = np.asarray(in_test)
    if chosen.dtype != bool or chosen.shape != (len(lists.queries),):
        raise ValueError(
            f"in_test has the shape {chosen.shape} and the type {chosen.dtype}: give a truth value "
            f"for each of the {len(lists.queries)} topics."
        )
    if chosen.all() or not chosen.any():
        raise ValueError(
            f"{chosen.sum()} of {len(chosen)} topics are test topics: alpha is tuned on others, "
            "so give one or more of both splits."
        )
    one, other = np.asarray(first), np.asarray(second)
    validation, test = (
        sweep(lists.topics(rows), one[rows], other[rows], measures, alphas=alphas, over=over)
        for rows in (~chosen, chosen)
    )
    return Pairing(validation, test)


def quality_table(
    values: Mapping[str, Mapping[str, pd.DataFrame]],
    *,
    comparisons: Comparisons = "all_pairs",
    level: float = 0.05,
    letters: Mapping[str, str] | None = None,
) -> pd.DataFrame:
    """Mean of each system on each task, and the letters of the systems that it beats.

    Parameters
    ----------
    values : mapping of str to mapping of str to pandas.DataFrame
        Task -> system -> values of each topic (rows) and measure (columns), such as from
        :func:`~everycell.retrieval.evaluation.evaluate`. The systems of a task have the same
        topics and measures, and all tasks the same systems.
    comparisons, level
        As in :func:`~everycell.retrieval.significance.paired_tests`; the tests of one column
        (task and measure) are one family.
    letters : mapping of str to str, optional
        System -> letter; a, b, c, ... in the order of the systems if not given.

    Returns
    -------
    pandas.DataFrame
        Columns ``row`` (letter), ``system``, ``task``, ``metric``, ``value`` (mean, 0 to 1),
        ``marker`` (letters of the rows that are significantly beaten), ``n`` (topics) and
        ``comparisons`` (what p was multiplied by; 0 for one system alone). Systems, then tasks,
        then measures, each in its order.

    Raises
    ------
    ValueError
        For no values, systems, topics or measures that differ, or what
        :func:`~everycell.retrieval.significance.paired_tests` refuses.

    Notes
    -----
    Source: abolghasemi2026, Tables 2.1 to 2.3: paired t-test, p < .05, Bonferroni. The thesis does
    not say how many comparisons it corrects for, so that is a named choice.

    Examples
    --------
    >>> topics = pd.Index(["q1", "q2", "q3", "q4"])
    >>> bm25 = pd.DataFrame({"MAP": [0.2, 0.4, 0.3, 0.5]}, index=topics)
    >>> tilde = pd.DataFrame({"MAP": [0.3, 0.6, 0.5, 0.6]}, index=topics)
    >>> table = quality_table({"cite": {"BM25": bm25, "TILDE": tilde}})
    >>> table[["row", "system", "value", "marker", "n"]].round(2).values.tolist()
    [['a', 'BM25', 0.35, '', 4], ['b', 'TILDE', 0.5, 'a', 4]]
    """
    systems = _systems(values)
    named = system_letters(systems) if letters is None else letters
    unnamed = [system for system in systems if system not in named]
    if unnamed:
        raise ValueError(f"The system {unnamed[0]!r} has no letter: name it in letters.")
    rows = [
        row
        for task, by_system in values.items()
        for metric in next(iter(by_system.values())).columns
        for row in _column(task, metric, by_system, named, comparisons, level)
    ]
    order = {system: place for place, system in enumerate(systems)}
    table = pd.DataFrame(rows)
    return table.sort_values("system", key=lambda s: s.map(order), kind="stable", ignore_index=True)


def letters_note(table: pd.DataFrame) -> str:
    """What the letters of a table rest on, in words for its title.

    Parameters
    ----------
    table : pandas.DataFrame
        Columns ``n`` and ``comparisons``, such as from :func:`quality_table`. Rows that were not
        tested have 0 comparisons.

    Returns
    -------
    str
        Names the fewest and the most topics of a row, and the most comparisons.

    Raises
    ------
    ValueError
        For a table without rows.

    Examples
    --------
    >>> letters_note(pd.DataFrame({"n": [40, 12, 40], "comparisons": [3, 3, 0]}))
    'letters: paired t-test over 12 to 40 queries, Bonferroni for 3 comparisons'
    """
    if table.empty:
        raise ValueError("The table has no rows: give one row or more.")
    ends = dict.fromkeys([table["n"].min(), table["n"].max()])
    queries = " to ".join(map(str, ends))
    number = table["comparisons"].max()
    return f"letters: paired t-test over {queries} queries, Bonferroni for {number} comparisons"


def _systems(values: Mapping[str, Mapping[str, pd.DataFrame]]) -> list[str]:
    """Systems of all tasks, once it is clear that their values belong together."""
    if not values or not all(values.values()):
        raise ValueError("There are no values: give one task or more with one system or more.")
    systems = list(next(iter(values.values())))
    for task, by_system in values.items():
        if set(by_system) != set(systems):
            raise ValueError(
                f"Task {task!r} has the systems {list(by_system)}, the first one {systems}: give "
                "each task the same."
            )
        first = by_system[systems[0]]
        for system, frame in by_system.items():
            if not (frame.index.equals(first.index) and frame.columns.equals(first.columns)):
                raise ValueError(
                    f"In task {task!r} the topics or measures of {system!r} are not those of "
                    f"{systems[0]!r}, in their order: evaluate both on the same topics."
                )
    return systems


def _column(
    task: str,
    metric: str,
    by_system: Mapping[str, pd.DataFrame],
    letters: Mapping[str, str],
    comparisons: Comparisons,
    level: float,
) -> list[dict[str, object]]:
    """Cells of one task and measure."""
    wide = pd.DataFrame({system: frame[metric] for system, frame in by_system.items()})
    beaten, number = dict.fromkeys(wide.columns, ""), 0
    if wide.shape[1] > 1:
        tests = paired_tests(wide, comparisons=comparisons, level=level)
        beaten, number = beaten_letters(tests, letters), int(tests["comparisons"].iloc[0])
    return [
        {
            "row": letters[system],
            "system": system,
            "task": task,
            "metric": metric,
            "value": wide[system].mean(),
            "marker": beaten[system],
            "n": len(wide),
            "comparisons": number,
        }
        for system in wide.columns
    ]


def tuned_values(
    pairings: Mapping[str, Pairing], tune_for: str | None = None
) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """Test values of one combination at the weight that is best on validation topics.

    Parameters
    ----------
    pairings : mapping of str to Pairing
        Task -> both splits of the task.
    tune_for : str, optional
        Measure whose best weight serves all measures; if not given, each measure has its own. The
        thesis does not say which.

    Returns
    -------
    values : dict of str to pandas.DataFrame
        Task -> values of each test topic (rows) and measure (columns), as
        :func:`quality_table` takes them.
    alphas : pandas.DataFrame
        Columns ``task``, ``metric``, ``alpha`` (the weight that was chosen; the smallest among
        ties).

    Raises
    ------
    ValueError
        For a measure that was not computed.

    Examples
    --------
    >>> validation = Sweep((0.0, 1.0), pd.Index(["q"]), {"MAP": np.array([[0.2], [0.5]])})
    >>> test = Sweep((0.0, 1.0), pd.Index(["r"]), {"MAP": np.array([[0.9], [0.8]])})
    >>> values, alphas = tuned_values({"cite": Pairing(validation, test)})
    >>> values["cite"]["MAP"].tolist(), alphas["alpha"].tolist()
    ([0.8], [1.0])
    """
    values, rows = {}, []
    for task, both in pairings.items():
        columns = {}
        for metric in both.test.values:
            alpha = both.validation.tune(tune_for or metric)
            columns[metric] = both.test.at(alpha)[metric]
            rows.append({"task": task, "metric": metric, "alpha": alpha})
        values[task] = pd.DataFrame(columns)
    return values, pd.DataFrame(rows)


def interpolation_table(
    singles: Mapping[str, Mapping[str, pd.DataFrame]],
    combinations: Mapping[str, Mapping[str, Pairing]],
    *,
    tune_for: str | None = None,
    comparisons: Comparisons = "all_pairs",
    level: float = 0.05,
) -> pd.DataFrame:
    """Single systems and tuned combinations in one table (Table 2.3).

    Parameters
    ----------
    singles : mapping of str to mapping of str to pandas.DataFrame
        Task -> system -> values of the test topics, as in :func:`quality_table`.
    combinations : mapping of str to mapping of str to Pairing
        Name of the combination -> task -> both splits.
    tune_for
        As in :func:`tuned_values`.
    comparisons, level
        As in :func:`quality_table`.

    Returns
    -------
    pandas.DataFrame
        As :func:`quality_table`, with ``alpha``: the tuned weight, not a number for single
        systems.

    Raises
    ------
    ValueError
        As :func:`quality_table` and :func:`tuned_values`.

    Examples
    --------
    >>> validation = Sweep((0.0, 1.0), pd.Index(["q"]), {"MAP": np.array([[0.2], [0.5]])})
    >>> topics = pd.Index(["r", "s"], name="query")
    >>> test = Sweep((0.0, 1.0), topics, {"MAP": np.array([[0.9, 0.7], [0.8, 1.0]])})
    >>> table = interpolation_table(
    ...     {"cite": {"TILDE": test.at(0.0)}}, {"BM25+TILDE": {"cite": Pairing(validation, test)}}
    ... )
    >>> table[["system", "value", "alpha"]].round(2).values.tolist()
    [['TILDE', 0.8, nan], ['BM25+TILDE', 0.9, 1.0]]
    """
    values = {task: dict(by_system) for task, by_system in singles.items()}
    alphas = []
    for name, pairings in combinations.items():
        tuned, chosen = tuned_values(pairings, tune_for)
        for task, frame in tuned.items():
            values.setdefault(task, {})[name] = frame
        alphas.append(chosen.assign(system=name))
    table = quality_table(values, comparisons=comparisons, level=level)
    if not alphas:
        return table.assign(alpha=np.nan)
    return table.merge(pd.concat(alphas), how="left", on=["system", "task", "metric"])


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
            _check_task(task, singles=singles, noise=noise)
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


def _check_task(task: str, **given: Mapping[str, object]) -> None:
    for name, by_task in given.items():
        if task not in by_task:
            raise ValueError(f"{name} has no task {task!r}: it has {list(by_task)}; add it.")


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
            _check_task(task, noise=noise)
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


def mean_with_interval(values: pd.Series, seed: int) -> dict[str, float]:
    """Mean over topics with its 95 % percentile bootstrap interval.

    Parameters
    ----------
    values : pandas.Series
        A value or a difference of values a topic, two topics or more.
    seed : int
        Of the 2,000 samples.

    Returns
    -------
    dict of str to float
        ``value`` (the mean), ``low`` and ``high`` (ends of the interval), in the unit of `values`.

    Raises
    ------
    ValueError
        For fewer than two topics, or a value that is not a number.

    Notes
    -----
    Values are rounded to 12 decimals first: measures of two equal rankings may differ in their
    last bits, which is no gain.

    Examples
    --------
    >>> found = mean_with_interval(pd.Series([0.2, 0.4, 0.3, 0.5]), seed=0)
    >>> {name: round(float(number), 3) for name, number in found.items()}
    {'value': 0.35, 'low': 0.25, 'high': 0.45}
    """
    if len(values) < 2 or values.isna().any():
        raise ValueError(
            f"{values.count()} of {len(values)} topics have a value: an interval needs two topics "
            "or more, and a value for each."
        )
    values = values.round(12)
    found = stats.bootstrap(
        (values.to_numpy(),), np.mean, n_resamples=2000, method="percentile", rng=seed
    ).confidence_interval
    return {"value": values.mean(), "low": found.low, "high": found.high}


def short_and_long(
    values: Mapping[str, Mapping[str, pd.DataFrame]], kinds: Mapping[str, str], seed: int
) -> pd.DataFrame:
    """Marks of each system on each kind of queries: nDCG, and its gain over the first system.

    Parameters
    ----------
    values : mapping of str to mapping of str to pandas.DataFrame
        Task -> system -> values of each topic, as in :func:`quality_table`, with nDCG. Tasks that
        `kinds` does not name are left out.
    kinds : mapping of str to str
        Task -> kind of its queries. A query of several tasks of a kind counts once, with its mean
        over them, so that intervals are over different queries.
    seed : int
        As in :func:`mean_with_interval`.

    Returns
    -------
    pandas.DataFrame
        Columns ``system``, ``queries`` (kind), ``measure``, ``value``, ``low`` and ``high``,
        by kind, then by system, each in its order.

    Raises
    ------
    ValueError
        For a task without values, systems or topics that differ, or what
        :func:`mean_with_interval` refuses.

    Examples
    --------
    >>> topics = pd.Index(["q1", "q2"], name="query")
    >>> bm25 = pd.DataFrame({"nDCG": [0.2, 0.4]}, index=topics)
    >>> tilde = pd.DataFrame({"nDCG": [0.3, 0.5]}, index=topics)
    >>> marks = short_and_long({"cite": {"BM25": bm25, "TILDE": tilde}}, {"cite": "long"}, seed=0)
    >>> marks[["system", "measure", "value"]].round(2).values.tolist()
    [['BM25', 'nDCG', 0.3], ['BM25', 'nDCG minus that of BM25', 0.0],
     ['TILDE', 'nDCG', 0.4], ['TILDE', 'nDCG minus that of BM25', 0.1]]
    """
    for task in kinds:
        _check_task(task, values=values)
    systems = _systems({task: values[task] for task in kinds})
    tasks: dict[str, list[str]] = {}
    for task, kind in kinds.items():
        tasks.setdefault(kind, []).append(task)
    rows = []
    for kind, same in tasks.items():
        pooled = {
            system: pd.concat([values[task][system]["nDCG"] for task in same])
            .groupby(level=0)
            .mean()
            for system in systems
        }
        for system, ndcg in pooled.items():
            measures = {
                "nDCG": ndcg,
                f"nDCG minus that of {systems[0]}": ndcg - pooled[systems[0]],
            }
            for measure, each in measures.items():
                cell = {"system": system, "queries": kind, "measure": measure}
                rows.append(cell | mean_with_interval(each, seed))
    return pd.DataFrame(rows)


def as_printed(table: pd.DataFrame, columns: Sequence[str] = ("value",)) -> pd.DataFrame:
    """MAP in percent, everything else as it is, and the column ``unit``.

    Parameters
    ----------
    table : pandas.DataFrame
        From a function of this module: with ``metric``, and ``row`` if it is an oracle's table,
        whose rows other than ranking quality stay as they are.
    columns : sequence of str
        Which columns hold values of the measure.

    Returns
    -------
    pandas.DataFrame
        A copy, with ``unit`` "percent" or "".

    Examples
    --------
    >>> as_printed(pd.DataFrame({"metric": ["MAP", "nDCG"], "value": [0.5, 0.5]}))
      metric  value     unit
    0    MAP   50.0  percent
    1   nDCG    0.5
    """
    percent = table["metric"].str.startswith("MAP")
    if "row" in table:
        percent &= ~table["row"].isin(list(ORACLE_ROWS)[1:])
    printed = table.assign(unit=np.where(percent, "percent", ""))
    for column in columns:
        printed[column] = table[column].where(~percent, table[column] * 100)
    return printed
