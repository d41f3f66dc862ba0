"""Fusion of runs by ranx, with ties ordered as in trec_eval.

========================================  ==================================================
method                                    score of a document, over the runs that contain it
========================================  ==================================================
rrf (k=60)                                sum of 1 / (k + rank)
isr, log_isr, logn_isr (sigma=0.01)       sum of 1 / rank^2, times n, log n or log(n + sigma)
rbc (phi)                                 sum of (1 - phi) phi^(rank - 1)
bordafuse                                 sum of Borda points
sum, max, min, med, anz, mnz              CombSUM and its variants, on normalised scores
wsum, wmnz (weights)                      weighted CombSUM and CombMNZ, one weight per run
========================================  ==================================================

n is the number of runs that contain the document. The methods up to bordafuse use only ranks; the
others use normalised scores. ranx's trained methods are not supported, nor is condorcet, because
its result depends on the hash seed of the process.

ranx runs uncompiled (:func:`uncompiled_ranx`). Compilation takes a minute in a fresh environment
and about 10 s in every later process. Uncompiled, fusing two runs of 1,000 queries with 30
documents takes 0.5 s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Literal

import numpy as np
import pandas as pd

from everycell.trec.runs import trec_order

Normalisation = Literal["min-max", "max", "sum", "zmuv", "rank", "borda"]

# Method -> parameter -> default; None if the parameter is required.
_BY_RANK: dict[str, dict[str, float | None]] = {
    "rrf": {"k": 60},
    "isr": {},
    "log_isr": {},
    "logn_isr": {"sigma": 0.01},
    "rbc": {"phi": None},
    "bordafuse": {},
}
_BY_SCORE: dict[str, dict[str, float | None]] = {
    "sum": {},
    "max": {},
    "min": {},
    "med": {},
    "anz": {},
    "mnz": {},
    "wsum": {"weights": None},
    "wmnz": {"weights": None},
}
_NORMALISATIONS = ("min-max", "max", "sum", "zmuv", "rank", "borda")


def fuse(
    runs: Sequence[pd.DataFrame],
    method: str = "rrf",
    *,
    normalise: Normalisation | None = None,
    **parameters: float | Sequence[float],
) -> pd.DataFrame:
    """Fuse runs into one."""
    if isinstance(runs, pd.DataFrame) or len(runs) < 2:
        raise ValueError("There are fewer than two runs to fuse: give a list of two or more.")
    checked = _check_parameters(method, parameters, len(runs))
    _check_normalisation(method, normalise)
    ordered = [trec_order(run) for run in runs]
    _check_queries(ordered)
    if method in _BY_RANK or normalise in ("rank", "borda"):
        ordered = [run.assign(score=_scores_by_rank(run)) for run in ordered]
    fused = _fuse_with_ranx(ordered, method, normalise, checked)
    first = ordered[0]["query"].unique()
    order = pd.Series(np.arange(len(first)), index=first)
    return trec_order(fused.iloc[np.argsort(order[fused["query"]], kind="stable")])


def _check_parameters(
    method: str, values: Mapping[str, float | Sequence[float]], n_runs: int
) -> dict[str, float | Sequence[float]]:
    """Check the parameters for ranx, and add the defaults."""
    defaults = {**_BY_RANK, **_BY_SCORE}
    if method not in defaults:
        raise ValueError(f"The fusion method {method!r} is unknown: give one of {list(defaults)}.")
    unknown = sorted(set(values) - set(defaults[method]))
    if unknown:
        raise ValueError(
            f"The fusion method {method!r} has no parameter {unknown[0]!r}: it accepts "
            f"{list(defaults[method]) or 'none'}."
        )
    checked: dict[str, float | Sequence[float]] = {}
    for name, value in {**defaults[method], **values}.items():
        if value is None:
            raise ValueError(f"The fusion method {method!r} requires {name}: pass {name}=.")
        if name == "weights":
            weights = np.asarray(value, dtype=np.float64)
            if weights.shape != (n_runs,) or not np.isfinite(weights).all():
                raise ValueError(
                    f"The weights are {value!r} for {n_runs} runs: give one number per run."
                )
            checked[name] = weights.tolist()
        elif isinstance(value, Sequence) or not (value > 0 if name == "k" else 0 <= value <= 1):
            allowed = "a number above 0" if name == "k" else "a number from 0 to 1"
            raise ValueError(f"{name} is {value!r}: it must be {allowed}.")
        else:
            checked[name] = value
    return checked


def _check_normalisation(method: str, normalise: str | None) -> None:
    if method in _BY_RANK:
        if normalise is not None:
            raise ValueError(f"The fusion method {method!r} uses only ranks; omit `normalise`.")
    elif normalise not in _NORMALISATIONS:
        raise ValueError(
            f"normalise is {normalise!r} for the fusion method {method!r}: it must be one of "
            f"{list(_NORMALISATIONS)}."
        )


def _check_queries(runs: Sequence[pd.DataFrame]) -> None:
    first = set(runs[0]["query"])
    for number, run in enumerate(runs[1:], 1):
        for query in sorted(first ^ set(run["query"])):
            run_number = 0 if query in first else number
            raise ValueError(
                f"Query {query!r} is in run {run_number} but not in run {number - run_number} "
                "(counted from 0): give runs for the same queries."
            )


def _scores_by_rank(run: pd.DataFrame) -> pd.Series:
    """Distinct scores for an ordered run: 1 for the last document of a query, then 2, 3, ..."""
    return run.groupby("query", sort=False).cumcount(ascending=False) + 1.0


def _fuse_with_ranx(
    runs: Sequence[pd.DataFrame],
    method: str,
    normalise: str | None,
    parameters: Mapping[str, object],
) -> pd.DataFrame:
    with uncompiled_ranx() as ranx:
        fused = ranx.fuse(
            [ranx_run(run) for run in runs],
            norm=normalise,
            method=method,
            params=dict(parameters),
        ).to_dataframe()
    return fused.set_axis(["query", "document", "score"], axis=1)


@contextmanager
def uncompiled_ranx() -> Iterator[ModuleType]:
    """Import ranx with numba's compiler disabled while the context lasts.

    ranx must not have been imported before: its compiled functions do not accept plain
    dictionaries.
    """
    # numba.typed reads the setting when it is imported, so import it before disabling the JIT.
    import numba.typed

    previous = numba.config.DISABLE_JIT
    numba.config.DISABLE_JIT = True
    try:
        import ranx

        yield ranx
    finally:
        numba.config.DISABLE_JIT = previous


def ranx_run(run: pd.DataFrame, name: str | None = None):
    """Convert a run to ranx's class."""
    with uncompiled_ranx() as ranx:
        return ranx.Run.from_df(
            run.astype({"query": object, "document": object}),
            q_id_col="query",
            doc_id_col="document",
            name=name,
        )
