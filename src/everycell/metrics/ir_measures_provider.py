"""NFaiRR, TExFAIR, AWRF, GFR and RBO as measures of `ir_measures`.

Importing this module, or one of its measures from `everycell`, registers them with `ir_measures`.
That library can then parse them from strings such as ``TExFAIR(counts='counts.parquet')@10``, and
compute them together with its own measures, for example in `ir_measures.calc`.

The module of a measure has its formula, its registration and its parameters; this module imports
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import ir_measures
import pandas as pd
from ir_measures import Evaluator, Measure, Metric, Provider
from ir_measures.util import QrelsConverter, RunConverter

from everycell.base.errors import DataError
from everycell.metrics.awrf import AWRF
from everycell.metrics.crbo import RBO
from everycell.metrics.gfr import GFR
from everycell.metrics.nfairr import NFaiRR
from everycell.metrics.run_measure import SUPPORTED_MEASURES, RunMeasure
from everycell.metrics.texfair import TExFAIR

__all__ = ["AWRF", "GFR", "RBO", "NFaiRR", "TExFAIR"]


class EverycellProvider(Provider):
    """Provider of the registered measures."""

    NAME = "everycell"
    SUPPORTED_MEASURES = SUPPORTED_MEASURES

    def supports(self, measure: Measure) -> bool:
        """Whether a measure is registered."""
        is_registered = any(type(supported) is type(measure) for supported in SUPPORTED_MEASURES)
        return is_registered and super().supports(measure)

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:
        supported = []
        for measure in measures:
            if not (self.supports(measure) and isinstance(measure, RunMeasure)):
                names = ", ".join(sorted(str(item.NAME) for item in SUPPORTED_MEASURES))
                raise DataError(
                    column="measure",
                    value=str(measure),
                    expected=f"one that everycell registers ({names})",
                    fix="compute it with another provider of ir_measures",
                )
            supported.append(measure)
        frame = QrelsConverter(qrels).as_pd_dataframe()[["query_id", "doc_id", "relevance"]]
        return _Evaluator(supported, frame)


class _Evaluator(Evaluator):
    def __init__(self, measures: list[RunMeasure], qrels: pd.DataFrame) -> None:
        super().__init__(measures, set(qrels["query_id"]))
        self.run_measures = measures
        self.qrels = qrels.set_axis(["query", "document", "relevance"], axis="columns")

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        frame = RunConverter(run).as_pd_dataframe()[["query_id", "doc_id", "score"]]
        frame = frame[frame["query_id"].isin(self.qrel_qids)]
        if frame.empty:
            return
        frame = frame.set_axis(["query", "document", "score"], axis="columns")
        for measure in self.run_measures:
            for query, value in measure.by_query(frame, self.qrels).items():
                yield Metric(query_id=query, measure=measure, value=float(value))


def register_provider() -> None:
    """Register the provider with `ir_measures`, unless already registered."""
    if EverycellProvider.NAME not in ir_measures.providers.registry:
        provider = EverycellProvider()
        ir_measures.providers.register(provider)
        ir_measures.DefaultPipeline.providers.append(provider)


register_provider()
