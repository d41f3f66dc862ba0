"""What every script of the workflow does around its work: log, checked inputs, receipt."""

from __future__ import annotations

import errno
import logging
import sys
import time
import traceback
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pandas as pd

import everycell
from everycell.artefacts import find_artefact, load_papers
from everycell.receipts import parameters_line, write_receipt
from everycell.sources import SourceError, check

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def says_all(error: BaseException) -> bool:
    """Whether an error's sentence is written for users; others keep their traceback.

    It is, where the library defines the error, or itself raises a ValueError.
    """
    if type(error).__module__.startswith("everycell."):
        return True
    frames = traceback.extract_tb(error.__traceback__)
    library = Path(everycell.__file__).parent
    return type(error) is ValueError and Path(frames[-1].filename).is_relative_to(library)


class Job:
    """Context of a script: ``with Job(snakemake) as job: ...``.

    On entry, messages go to the rule's log and fetched inputs are hashed again. On a clean exit
    the receipt is written, and the log ends with the parameters; on an error it is not, and the log
    says why.

    A job may make further artefacts, each with a receipt of its own: the names of its outputs start
    with the artefact's (``figure_3_5_csv``, ``figure_3_5_receipt``), and so does its parameter
    ``table_3_7_face``.
    """

    def __init__(self, snakemake: Any) -> None:
        self.snakemake = snakemake
        self.receipt = (
            Path(snakemake.output.receipt) if "receipt" in snakemake.output.keys() else None
        )
        #: What the receipt says beside the parameters, such as which language models answered.
        self.facts: dict[str, Any] = {}

    def __enter__(self) -> Job:
        self.started = time.monotonic()
        self.log = Path(self.snakemake.log[0]).open("w", buffering=1, encoding="utf-8")
        logging.basicConfig(stream=self.log, level=logging.INFO, format="%(message)s")
        # It tells of each request to a language model.
        logging.getLogger("httpx2").setLevel(logging.WARNING)
        logging.captureWarnings(True)
        try:
            self._check_inputs()
        except SourceError as error:
            self._fail(error)
        return self

    def _check_inputs(self) -> None:
        cache = Path(self.snakemake.config["cache"])
        for source in map(Path, self.snakemake.input):
            if source.is_relative_to(cache):
                check(source, source.relative_to(cache).as_posix())

    @property
    def tier(self) -> str:
        """First folder below ``results``."""
        return (self.receipt or Path(self.snakemake.output[0])).parts[1]

    @property
    def seed(self) -> int | None:
        """Seed among the parameters, if the rule has one."""
        return self.snakemake.params.get("seed")

    def input_cells(self, artefact: str) -> pd.DataFrame:
        """Printed cells that a card declares as inputs: all of the print that a tier may read."""
        return find_artefact(load_papers(Path("published")), artefact).input_cells(self.tier)

    def write_table(self, table: pd.DataFrame, note: str = "", artefact: str = "") -> None:
        """Write the artefact's table with the title, layout and decimals of its card.

        `note` stands behind the title, in brackets; `artefact` names a further one.
        """
        from everycell.render.tables import write_table

        start = f"{artefact}_" if artefact else ""
        face = self.snakemake.params[f"{start}face"]
        keys = [column for column in table.columns if column not in ("value", "marker")]
        layout = face["layout"] or {"rows": keys[:-1] or keys, "columns": keys[1:][-1:]}
        write_table(
            table,
            Path(self.snakemake.output[f"{start}csv"]).with_suffix(""),
            title=face["title"] + f" ({note})" * bool(note),
            layout_rows=layout["rows"],
            layout_columns=layout["columns"],
            decimals=face["decimals"],
        )

    def write_beside(self, table: pd.DataFrame, name: str, decimals: dict[str, int]) -> None:
        """Write a table that stands beside the artefact's own, under the title of its card."""
        from everycell.render.tables import write_table

        keys = [column for column in table.columns if column not in ("value", "marker")]
        stem = Path(self.snakemake.output[f"{name}_csv"])
        write_table(
            table,
            stem.with_name(stem.name.removesuffix(".csv")),
            title=self.snakemake.params.face["beside"][name],
            layout_rows=keys[:-1],
            layout_columns=keys[-1:],
            decimals=decimals,
        )

    def write_figure(self, plotted: pd.DataFrame, figure: Figure, name: str = "") -> None:
        """Write a figure with the data that it plots; `name` for one that stands beside."""
        from everycell.render.atomic import write_atomically
        from everycell.render.figures import save_figure

        data = Path(self.snakemake.output[f"{name}_csv" if name else "csv"])
        write_atomically(data, plotted.to_csv(index=False, lineterminator="\n"))
        save_figure(figure, data.with_name(data.name.removesuffix(".csv")))

    def folder_of(self, name: str) -> Path:
        """Folder of a model: the input of this name, or that of its files."""
        given = self.snakemake.input[name]
        first = Path(given if isinstance(given, str) else given[0])
        return first if first.is_dir() else first.parent

    def write_frame(self, frame: pd.DataFrame, output: str) -> None:
        """Write an intermediate frame as Parquet to the output of this name."""
        frame.to_parquet(self.snakemake.output[output], index=False)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._fail(error)
        try:
            for receipt, made in self._receipts().items():
                self._write_receipt(receipt, made)
        except OSError as fault:
            self._fail(fault)
        self.log.write(parameters_line(dict(self.snakemake.params.items())) + "\n")
        self.log.close()

    def _receipts(self) -> dict[Path, list[Path]]:
        """Each receipt with the files that it is for."""
        if self.receipt is None:
            return {}
        output, found = self.snakemake.output, {}
        for name in output.keys():
            start, _, end = name.rpartition("_")
            if end == "receipt":
                parts = [part for part in output.keys() if part.startswith(f"{start}_")]
                found[Path(output[name])] = [Path(output[part]) for part in parts if part != name]
        others = {self.receipt, *found, *(path for paths in found.values() for path in paths)}
        return found | {self.receipt: [made for made in map(Path, output) if made not in others]}

    def _write_receipt(self, receipt: Path, made: list[Path]) -> None:
        params = {key: value for key, value in self.snakemake.params.items() if key != "code"}
        write_receipt(
            receipt,
            artefact="/".join(receipt.parts[2:]).removesuffix(".receipt.json"),
            tier=self.tier,
            inputs=map(Path, self.snakemake.input),
            outputs=made,
            parameters=params | self.facts,
            seed=self.seed,
            code=self.snakemake.params.code,
            seconds=time.monotonic() - self.started,
            root=Path(),
        )

    def _fail(self, error: BaseException) -> None:
        if says_all(error):
            self.log.write(f"{error}\n")
        elif isinstance(error, OSError) and error.errno in NO_SPACE:
            self.log.write(
                f"A result cannot be written ({error.strerror}); make room, or raise the size "
                "limit (ulimit -f, quota), and run the same command again.\n"
            )
        else:
            traceback.print_exception(error, file=self.log)
        self.log.close()
        sys.exit(1)
