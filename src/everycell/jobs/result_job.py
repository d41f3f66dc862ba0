"""Context of scripts that make results: tables and figures with their receipts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from everycell.jobs.job import Job
from everycell.receipts.receipts import FIGURE_FORMS, TABLE_FORMS, write_receipt
from everycell.records.cells import declared_cells
from everycell.records.folders import Tier

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from everycell.render.grid import Decimals


class ResultJob(Job):
    """Context of a script or function that makes results.

    On a clean exit, the receipt is written, including `facts`.

    A job may make several artefacts, each with its own receipt. The outputs of additional artefacts
    have the artefact's name as a prefix (``figure_3_5_csv``, ``figure_3_5_receipt``). The parameter
    `faces` has the display settings of each artefact.
    """

    def __init__(self, snakemake: Any) -> None:
        super().__init__(snakemake)
        self.receipt = Path(snakemake.output.receipt)

    @property
    def tier(self) -> Tier:
        """First folder below ``results``."""
        return cast(Tier, self.receipt.parts[1])

    def input_cells(self, artefact: str) -> pd.DataFrame:
        """Published cells that the record declares as inputs; a tier may read no others.

        Their selectors are in the parameter `declared`, since the record itself is not an input of
        the job: a new tolerance or claim must not rerun results.
        """
        return declared_cells(self.snakemake.params.declared, artefact)

    def _display_settings(self, artefact: str) -> dict[str, Any]:
        """Display settings from the record of an artefact."""
        return self.snakemake.params.faces[artefact]

    def write_table(self, table: pd.DataFrame, note: str = "", artefact: str = "") -> None:
        """Write an artefact's table with the title, layout and decimals of its record.

        `note` is appended to the title in parentheses; `artefact` names an additional artefact.
        """
        from everycell.render.grid import VALUE_COLUMNS
        from everycell.render.table_files import write_table

        csv = Path(self.snakemake.output[f"{artefact}_csv" if artefact else "csv"])
        display = self._display_settings(csv.stem)
        keys = [column for column in table.columns if column not in VALUE_COLUMNS]
        layout = display["layout"] or {"rows": keys[:-1] or keys, "columns": keys[1:][-1:]}
        # Readings, which the published table does not have, become columns.
        readings = [key for key in keys if key not in (*layout["rows"], *layout["columns"])]
        write_table(
            table,
            csv.with_suffix(""),
            title=display["title"] + f" ({note})" * bool(note),
            layout_rows=layout["rows"],
            layout_columns=[*layout["columns"], *readings],
            decimals=display["decimals"],
            names=display["names"],
        )
        self.note_written(*(csv.with_suffix(f".{form}") for form in TABLE_FORMS))

    def write_supplement(
        self, table: pd.DataFrame, name: str, decimals: Decimals, artefact: str = ""
    ) -> None:
        """Write a supplementary table of an artefact with the title from the record."""
        from everycell.render.grid import VALUE_COLUMNS
        from everycell.render.table_files import write_table

        keys = [column for column in table.columns if column not in VALUE_COLUMNS]
        output = f"{artefact}_{name}_csv" if artefact else f"{name}_csv"
        csv = Path(self.snakemake.output[output])
        display = self._display_settings(csv.name.partition(".")[0])
        write_table(
            table,
            csv.with_name(csv.name.removesuffix(".csv")),
            title=display["supplements"][name],
            layout_rows=keys[:-1],
            layout_columns=keys[-1:],
            decimals=decimals,
            names=display["names"],
        )
        self.note_written(*(csv.with_suffix(f".{form}") for form in TABLE_FORMS))

    def write_figure(self, plotted: pd.DataFrame, figure: Figure, name: str = "") -> None:
        """Write a figure and its data; `name` is that of a supplementary figure."""
        from everycell.base.csv_files import csv_text
        from everycell.base.files import write_atomically
        from everycell.render.figure_files import save_figure

        data = Path(self.snakemake.output[f"{name}_csv" if name else "csv"])
        write_atomically(data, csv_text(plotted))
        save_figure(figure, data.with_name(data.name.removesuffix(".csv")))
        self.note_written(*(data.with_suffix(f".{form}") for form in FIGURE_FORMS))

    def _finish(self) -> None:
        super()._finish()
        for receipt, files in self._receipts().items():
            self._write_receipt(receipt, files)

    def _receipts(self) -> dict[Path, list[Path]]:
        """Files of each receipt."""
        output, outputs_by_receipt = self.snakemake.output, {}
        for name in output.keys():
            start, _, end = name.rpartition("_")
            if end == "receipt":
                parts = [part for part in output.keys() if part.startswith(f"{start}_")]
                outputs_by_receipt[Path(output[name])] = [
                    Path(output[part]) for part in parts if part != name
                ]
        covered = {
            self.receipt,
            *outputs_by_receipt,
            *(path for paths in outputs_by_receipt.values() for path in paths),
        }
        return outputs_by_receipt | {
            self.receipt: [file for file in map(Path, output) if file not in covered]
        }

    def _write_receipt(self, receipt: Path, outputs: list[Path]) -> None:
        parameters = self.settings | self.facts
        # The receipt needs only the artefact's own display settings.
        name = receipt.name.removesuffix(".receipt.json")
        display_settings = parameters.pop("faces", {})
        if name in display_settings:
            parameters["face"] = display_settings[name]
        write_receipt(
            receipt,
            artefact="/".join(receipt.parts[2:]).removesuffix(".receipt.json"),
            tier=self.tier,
            inputs=self.input_hashes,
            outputs=outputs,
            parameters=parameters,
            seed=self.seed,
            code=self.snakemake.params.code,
            script=self.snakemake.params.script,
            seconds=time.monotonic() - self.started,
            root=Path(),
            code_files=self._code,
            checkout=self.snakemake.config.get("checkout"),
            perturbed=self.perturbed,
            uncovered_code=self.uncovered_code,
        )
