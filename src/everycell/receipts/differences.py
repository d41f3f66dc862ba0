"""Differences between two results folders, with possible causes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from everycell.base.files import sha256
from everycell.receipts.causes import (
    Cause,
    Change,
    Model,
    UpstreamCauses,
    causes_of,
    causes_of_kind,
    changed_inputs,
    changes,
    key_or_path,
)
from everycell.receipts.lineage import read_lineage
from everycell.receipts.receipts import ReceiptError, read_receipt, receipts_in

SUFFIX = ".receipt.json"


class Difference(Model):
    """Difference between the results of one artefact in two folders.

    `unexplained` has input files that differ although both folders made them with the same
    settings, and `unrecorded` those whose origin is missing from the lineage of a folder.
    """

    name: str
    only_in: Literal["first", "second"] | None = None
    cells: tuple[Change, ...] = ()
    verdicts: tuple[Change, ...] = ()
    claims: tuple[Change, ...] = ()
    files: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    unexplained: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether all files, verdicts and outcomes of claims are identical."""
        return not (self.only_in or self.cells or self.verdicts or self.claims or self.files)


def compare_folders(first: Path, second: Path) -> list[Difference]:
    """Compare every result of two results folders, in the order of their names."""
    names = [_names(folder) for folder in (first, second)]
    upstream = UpstreamCauses(read_lineage(first), read_lineage(second))
    differences = []
    for name in sorted({*names[0], *names[1]}):
        if name not in names[1]:
            differences.append(Difference(name=name, only_in="first"))
        elif name not in names[0]:
            differences.append(Difference(name=name, only_in="second"))
        else:
            differences.append(_compare(name, first, second, upstream))
    return differences


def _names(folder: Path) -> list[str]:
    return [
        path.relative_to(folder).as_posix().removesuffix(SUFFIX) for path in receipts_in(folder)
    ]


def _compare(name: str, first: Path, second: Path, upstream: UpstreamCauses) -> Difference:
    stems = [folder / name for folder in (first, second)]
    receipts = [read_receipt(stem.with_name(stem.name + SUFFIX)) for stem in stems]
    files: list[dict[str, str | None]] = []
    edited = []
    for side, (stem, receipt) in enumerate(zip(stems, receipts, strict=True)):
        files.append({})
        for output in receipt["outputs"]:
            path = stem.parent / output["path"]
            digest = sha256(path) if path.is_file() else None
            files[side][output["path"]] = digest
            if digest != output["sha256"]:
                sides: list[str | None] = [None, None]
                sides[side] = digest or "missing"
                edited.append(Cause(kind="file", name=output["path"], old=sides[0], new=sides[1]))
    changed_files = sorted(
        path for path in {**files[0], **files[1]} if files[0].get(path) != files[1].get(path)
    )
    cells = [
        change
        for path in changed_files
        if path.endswith(".csv")
        for change in _changed_cells(
            *(stem.parent / path for stem in stems),
            prefix="" if path == f"{stems[0].name}.csv" else f"{path}: ",
        )
    ]
    judgements = [_judgements(stem) for stem in stems]
    # If only the table was requested, there are no verdicts, which is not a difference.
    verdicts, claims, records = (
        zip(*judgements, strict=True) if all(judgements) else (({}, {}), ({}, {}), ({}, {}))
    )
    record_causes = list(causes_of_kind("record", *records))
    has_new_outcomes = verdicts[0] != verdicts[1] or claims[0] != claims[1]
    if has_new_outcomes and not record_causes and not changed_files:
        record_causes = [Cause(kind="record", name="record", old=None, new=None)]
    inputs = list(changed_inputs(*receipts))
    # A file that only one side has needs no explanation.
    shared_inputs = [cause.name for cause in inputs if cause.old and cause.new]
    intermediate = [path for path in shared_inputs if path.startswith("work/")]
    # Do not list an input of the result again as an input of an upstream job.
    direct = {(f"input {key_or_path(cause.name)}", cause.old, cause.new) for cause in inputs}
    upstream_causes = [
        cause
        for cause in upstream.all_of(shared_inputs)
        if (cause.name, cause.old, cause.new) not in direct
    ]
    return Difference(
        name=name,
        cells=tuple(cells),
        verdicts=changes(*verdicts),
        claims=changes(*claims),
        files=tuple(changed_files),
        causes=(
            *edited,
            *causes_of(receipts[0], receipts[1], inputs, upstream_causes),
            *record_causes,
        ),
        unexplained=tuple(path for path in intermediate if upstream.of(path) == ()),
        unrecorded=tuple(path for path in intermediate if upstream.of(path) is None),
    )


def _changed_cells(old: Path, new: Path, *, prefix: str) -> tuple[Change, ...]:
    """Cells whose values differ between two files; `prefix` is added to their keys."""
    tables = [_cells_of(path) for path in (old, new)]
    return tuple(
        change.model_copy(update={"key": prefix + change.key}) for change in changes(*tables)
    )


def _cells_of(path: Path) -> dict[str, str]:
    """Text of each cell by key: its key columns, or else its row number and column."""
    if not path.is_file():
        return {}
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise ReceiptError(
            f"{path} cannot be read as CSV ({str(error).strip()}); remove it and run snakemake "
            "again."
        ) from None
    columns = list(table.columns)
    if "value" in columns:
        keys = columns[: columns.index("value")]
        rows = [
            (" / ".join(row[column] for column in keys), row["value"])
            for row in table.to_dict("records")
        ]
        if len(dict(rows)) == len(rows):
            return dict(rows)
    return {
        f"row {number} / {column}": row[column]
        for number, row in enumerate(table.to_dict("records"), 1)
        for column in columns
    }


def _judgements(stem: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str]] | None:
    """Verdicts by cell, outcomes by claim, and parts of the record; None without a verdict file."""
    path = stem.with_name(f"{stem.name}.verdicts.json")
    if not path.is_file():
        return None
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        verdicts = {
            " / ".join(cell["key"].values()): _format_verdict(cell) for cell in report["cells"]
        }
        outcomes = {claim["id"]: claim["on_reproduced"] for claim in report["claims"]}
        return verdicts, outcomes, dict(_record_parts(report))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReceiptError(
            f"{path} is not a valid verdict file ({type(error).__name__}: {error}); remove it "
            "and run snakemake again."
        ) from None


def _format_verdict(cell: Mapping[str, Any]) -> str:
    source = cell.get("source")
    return f"{cell['verdict']} ({source})" if source else cell["verdict"]


def _record_parts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Parts of the record and published values in a verdict file."""
    for cell in report["cells"]:
        if "published" in cell:
            yield f"published {' / '.join(cell['key'].values())}", str(cell["published"])
    for kind, entries in (("claim", report["claims"]), ("erratum", report.get("errata"))):
        for entry in entries or []:
            for part in ("claim", "source", "test", "where", "finding", "evidence"):
                if part in entry:
                    name = f"{part} of {kind} {entry['id']}"
                    yield name, json.dumps(entry[part], ensure_ascii=False)
