"""Run a function of a chapter without Snakemake, and keep what it writes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pandas as pd


class FunctionJob(SimpleNamespace):
    """Stands for the context of a function: its `input`, `params` and `wildcards`.

    Tables are kept by the name of their supplement or additional artefact, "" for the main one;
    figures likewise, as the data that they show.
    """

    def __init__(self, *, input: Any = None, params: Any = None, wildcards: Any = None) -> None:
        parts = {"input": input, "params": params, "wildcards": wildcards}
        super().__init__(**{name: SimpleNamespace(**(part or {})) for name, part in parts.items()})
        self.tables: dict[str, pd.DataFrame] = {}
        self.figures: dict[str, pd.DataFrame] = {}

    def write_table(self, table: pd.DataFrame, note: str = "", artefact: str = "") -> None:
        """Keep a table."""
        self.tables[artefact] = table

    def write_supplement(
        self, table: pd.DataFrame, name: str, decimals: dict[str, int], artefact: str = ""
    ) -> None:
        """Keep a supplementary table."""
        self.tables["_".join(filter(None, [artefact, name]))] = table

    def write_figure(self, plotted: pd.DataFrame, figure: Any, name: str = "") -> None:
        """Keep the data of a figure."""
        self.figures[name] = plotted
