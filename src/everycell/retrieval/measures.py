"""Any measure of `ir_measures`, in that library's notation, topic by topic.

`everycell.retrieval.evaluation` has the few measures that the works print, from arrays, for many
systems at once; this module has every measure of `ir_measures`: ``AP``, ``nDCG@10``,
``P(rel=2)@5``, ``RBP(p=0.8)``, with the usual aliases (``MAP``, ``MRR``, ``NDCG``), and measures of
group fairness (`everycell.metrics.ir_measures_provider`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from everycell.retrieval.evaluation import check_level
from everycell.trec.qrels import check_qrels
from everycell.trec.runs import trec_order

if TYPE_CHECKING:
    from ir_measures import Measure


def parse_measure(measure: str | Measure, *, relevance_level: int = 1) -> Measure:
    """Read a measure in the notation of `ir_measures`.

    Parameters
    ----------
    measure : str or ir_measures.Measure
        Name, parameters and cut-off, such as "P(rel=2)@5".
    relevance_level : int
        Lowest relevance that counts as relevant, 1 or more, for a measure that takes such a level
        and does not state it.

    Returns
    -------
    ir_measures.Measure

    Raises
    ------
    ValueError
        For a measure that the library does not know or that it cannot read.

    Examples
    --------
    >>> parse_measure("P(rel=2)@5"), parse_measure("MAP", relevance_level=2)
    (P(rel=2)@5, AP(rel=2))
    >>> parse_measure("nDGC@10")
    Traceback (most recent call last):
    ValueError: The measure 'nDGC@10' cannot be read (measure not found: nDGC): write it as
    ir_measures does, such as AP, nDCG@10, P(rel=2)@5 or RR.
    """
    import ir_measures

    from everycell.metrics.ir_measures_provider import register_measures

    register_measures()
    check_level(relevance_level)
    try:
        found = ir_measures.parse_measure(measure)
        if relevance_level > 1 and "rel" in found.SUPPORTED_PARAMS and "rel" not in found.params:
            found = found(rel=relevance_level)
        found.validate_params()
    except (ValueError, NameError, TypeError, AssertionError) as error:
        raise ValueError(
            f"The measure {measure!r} cannot be read ({error}): write it as ir_measures does, "
            "such as AP, nDCG@10, P(rel=2)@5 or RR."
        ) from None
    return found


def array_measure(measure: str | Measure, *, relevance_level: int = 1) -> str:
    """Name of a measure in `everycell.retrieval.evaluation`, which has five of them, on arrays.

    Parameters
    ----------
    measure, relevance_level
        As for :func:`parse_measure`.

    Returns
    -------
    str
        MAP, nDCG, RR, P or R, with its cut-off.

    Raises
    ------
    ValueError
        For another measure, further parameters, or a relevance level of its own that is not
        `relevance_level`.

    Examples
    --------
    >>> array_measure("AP"), array_measure("P(rel=2)@5", relevance_level=2)
    ('MAP', 'P@5')
    >>> array_measure("Bpref")
    Traceback (most recent call last):
    ValueError: The measure 'Bpref' is not computed for many rankings at once: give AP, nDCG or RR,
    with or without a cut-off such as @10, or P@k or R@k.
    """
    found = parse_measure(measure, relevance_level=relevance_level)
    more = {key for key, value in found.params.items() if key not in ("cutoff", "rel")}
    name = {"AP": "MAP"}.get(found.NAME, found.NAME)
    if name not in ("MAP", "nDCG", "RR", "P", "R") or more:
        raise ValueError(
            f"The measure {str(measure)!r} is not computed for many rankings at once: give AP, "
            "nDCG or RR, with or without a cut-off such as @10, or P@k or R@k."
        )
    level = found.params.get("rel", relevance_level)
    if level != relevance_level:
        raise ValueError(
            f"The measure {str(measure)!r} counts relevance from {level} on, and the lists from "
            f"{relevance_level} on; give the same level to all."
        )
    cutoff = found.params.get("cutoff")
    return name if cutoff is None else f"{name}@{cutoff}"


def evaluate_measures(
    run: pd.DataFrame,
    qrels: pd.DataFrame,
    measures: Sequence[str | Measure],
    *,
    relevance_level: int = 1,
) -> pd.DataFrame:
    """Value of each measure for each topic of the qrels, by `ir_measures`.

    Parameters
    ----------
    run : pandas.DataFrame
        Columns ``query``, ``document``, ``score``. Topics that are not in the qrels are left out.
    qrels : pandas.DataFrame
        Columns ``query``, ``document``, ``relevance``.
    measures : sequence of str or ir_measures.Measure
        One or more, each once.
    relevance_level
        As for :func:`parse_measure`.

    Returns
    -------
    pandas.DataFrame, shape (topics, measures)
        Index ``query`` in the order of the qrels, one column per measure, named as it was given. A
        topic that the run does not answer has the library's default, 0 for the measures of
        trec_eval. ``.mean()`` is the library's aggregate, except for counts such as ``NumRet``,
        which it sums up.

    Raises
    ------
    ValueError
        For no measure, one twice or one that cannot be read or computed here, runs and qrels that
        share no topic, and what :func:`~everycell.trec.runs.check_run` refuses.

    Notes
    -----
    The library's providers break ties in different ways (trec_eval by the greater id, its own
    RR@k by the lesser), so each document is passed on with its place in trec_eval's order as the
    score.

    Examples
    --------
    >>> run = pd.DataFrame({"query": "q", "document": ["a", "b", "c"], "score": [3.0, 2, 2]})
    >>> qrels = pd.DataFrame({"query": "q", "document": ["b", "a"], "relevance": [1, 0]})
    >>> evaluate_measures(run, qrels, ["AP", "RR@3", "Judged@2"]).round(3).to_dict("records")
    [{'AP': 0.333, 'RR@3': 0.333, 'Judged@2': 0.5}]
    """
    import ir_measures

    if isinstance(measures, str) or not measures:
        raise ValueError(f"The measures are {measures!r}: give a list such as ['AP', 'nDCG@10'].")
    wanted = {str(m): parse_measure(m, relevance_level=relevance_level) for m in measures}
    if len(wanted) < len(measures) or len(set(wanted.values())) < len(wanted):
        raise ValueError(f"The measures are {[str(m) for m in measures]}: give each only once.")
    run, qrels = trec_order(run), check_qrels(qrels)
    topics = pd.Index(qrels["query"].unique(), name="query")
    ranked = run[run["query"].isin(topics)]
    if ranked.empty:
        raise ValueError(
            f"None of the {len(topics)} topics of the qrels is answered: the qrels begin with "
            f"{list(topics[:3])}, the run with {list(run['query'].unique()[:3])}; give both the "
            "same ids."
        )
    try:
        found = ir_measures.iter_calc(
            list(wanted.values()),
            qrels.set_axis(["query_id", "doc_id", "relevance"], axis="columns"),
            ranked.assign(score=-ranked.groupby("query").cumcount()).set_axis(
                ["query_id", "doc_id", "score"], axis="columns"
            ),
        )
        values = pd.Series({(str(each.measure), each.query_id): each.value for each in found})
    except ValueError as error:
        if not str(error).startswith("Unsupported measures"):
            raise
        raise ValueError(
            f"ir_measures cannot compute {list(wanted)} here ({error}); choose other measures, or "
            "install what it names."
        ) from None
    table = {name: values[str(measure)].reindex(topics) for name, measure in wanted.items()}
    return pd.DataFrame(table, index=topics).astype(float)
