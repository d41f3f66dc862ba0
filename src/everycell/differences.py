"""Differences between two results folders: which cells moved, and what explains it.

Nothing is computed and no card is read: what is compared are the files of both folders, and what
explains a difference stands in their receipts and in `lineage.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict

from everycell.lineage import JobRecord, read_lineage, upstream
from everycell.receipts import ReceiptError, read_receipt, sha256

SUFFIX = ".receipt.json"
Kind = Literal["input", "parameter", "seed", "code", "version", "package", "behind", "file"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True)


class Moved(_Model):
    """A cell of a table with another value, or a verdict or conclusion with another outcome.

    `old` or `new` is None where the cell is in one folder alone.
    """

    key: str
    old: str | None
    new: str | None


class Cause(_Model):
    """Something that the receipts of both folders say differently.

    Attributes
    ----------
    kind
        `input`: a file that was read; `behind`: a setting of a job further up, or that job itself;
        `file`: a file that is no longer what its receipt says; the others are fields of a receipt.
    name
        Path, parameter (nested names with dots) or package.
    old, new
        Value or hash; None where there is none.
    """

    kind: Kind
    name: str
    old: str | None
    new: str | None


class Difference(_Model):
    """How a result of the second folder differs from that of the first.

    Attributes
    ----------
    name
        Tier and artefact, such as "released/lajewska2025/table_4_8".
    only_in
        "first" or "second" where the other folder lacks the result, else None.
    cells
        Cells of its table by key, and of tables beside it; rows of what a figure plots.
    verdicts, conclusions
        Verdicts of printed cells, and outcomes of conclusions, that changed; none where one folder
        has no verdicts.
    files
        Files with other bytes, the tables among them.
    causes
        What may explain it, the nearest first; empty where nothing differs, or nothing explains it.
    """

    name: str
    only_in: Literal["first", "second"] | None = None
    cells: tuple[Moved, ...] = ()
    verdicts: tuple[Moved, ...] = ()
    conclusions: tuple[Moved, ...] = ()
    files: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def same(self) -> bool:
        """Whether all files, verdicts and conclusions are the same, however they came about."""
        return not (self.only_in or self.cells or self.verdicts or self.conclusions or self.files)


def compare_folders(first: Path, second: Path) -> list[Difference]:
    """Compare every result of two results folders, in the order of their names.

    Parameters
    ----------
    first, second
        Results folders, from this machine or copied from another.

    Returns
    -------
    list of Difference
        One for each result with a receipt in either folder. A result whose files are the same has
        causes all the same where the receipts differ (other code that gave the same numbers).

    Raises
    ------
    ReceiptError
        A receipt, a verdict file or `lineage.json` cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> compare_folders(Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp()))
    []
    """
    names = [_names(folder) for folder in (first, second)]
    lineages = read_lineage(first), read_lineage(second)
    found = []
    for name in sorted({*names[0], *names[1]}):
        if name not in names[1]:
            found.append(Difference(name=name, only_in="first"))
        elif name not in names[0]:
            found.append(Difference(name=name, only_in="second"))
        else:
            found.append(_compare(name, first, second, lineages))
    return found


def _names(folder: Path) -> list[str]:
    return [
        path.relative_to(folder).as_posix().removesuffix(SUFFIX)
        for path in folder.rglob(f"*{SUFFIX}")
    ]


def _compare(
    name: str, first: Path, second: Path, lineages: tuple[list[JobRecord], list[JobRecord]]
) -> Difference:
    stems = [folder / name for folder in (first, second)]
    receipts = [read_receipt(stem.with_name(stem.name + SUFFIX)) for stem in stems]
    files: list[dict[str, str | None]] = []
    edited = []
    for side, (stem, receipt) in enumerate(zip(stems, receipts, strict=True)):
        files.append({})
        for output in receipt["outputs"]:
            path = stem.parent / output["path"]
            real = sha256(path) if path.is_file() else None
            files[side][output["path"]] = real
            if real != output["sha256"]:
                sides = [None, None]
                sides[side] = real or "missing"
                edited.append(Cause(kind="file", name=output["path"], old=sides[0], new=sides[1]))
    other = sorted(
        path for path in {**files[0], **files[1]} if files[0].get(path) != files[1].get(path)
    )
    cells = [
        moved
        for path in other
        if path.endswith(".csv")
        for moved in _moved_cells(
            *(stem.parent / path for stem in stems),
            beside="" if path == f"{stems[0].name}.csv" else f"{path}: ",
        )
    ]
    judged = [_judgements(stem) for stem in stems]
    # Where only the table was asked for, its verdicts are not there, which is no difference.
    (verdicts, conclusions) = zip(*judged, strict=True) if all(judged) else (({}, {}), ({}, {}))
    return Difference(
        name=name,
        cells=tuple(cells),
        verdicts=_changes(*verdicts),
        conclusions=_changes(*conclusions),
        files=tuple(other),
        causes=(*edited, *_causes(*receipts, *lineages)),
    )


def _moved_cells(old: Path, new: Path, *, beside: str) -> tuple[Moved, ...]:
    """Cells with another value; where a file is no table of cells, its rows."""
    tables = [_cells_of(path) for path in (old, new)]
    return tuple(
        moved.model_copy(update={"key": beside + moved.key}) for moved in _changes(*tables)
    )


def _cells_of(path: Path) -> dict[str, str]:
    """Text of each cell by key: what stands before `value`, or the number of its row and column."""
    if not path.is_file():
        return {}
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, pd.errors.EmptyDataError, pd.errors.ParserError) as error:
        raise ReceiptError(
            f"{path}: is no table ({str(error).strip()}); remove it and rebuild it."
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


def _judgements(stem: Path) -> tuple[dict[str, str], dict[str, str]] | None:
    """Verdicts by cell and outcomes by conclusion; None where there is no verdict file."""
    path = stem.with_name(f"{stem.name}.verdicts.json")
    if not path.is_file():
        return None
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        verdicts = {" / ".join(cell["key"].values()): cell["verdict"] for cell in report["cells"]}
        return verdicts, {found["id"]: found["on_rebuilt"] for found in report["conclusions"]}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReceiptError(
            f"{path}: holds no verdicts ({type(error).__name__}: {error}); remove it and run "
            "snakemake again."
        ) from None


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Moved, ...]:
    return tuple(
        Moved(key=key, old=old.get(key), new=new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def _causes(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    old_jobs: list[JobRecord],
    new_jobs: list[JobRecord],
) -> Iterator[Cause]:
    """What two receipts, and the jobs behind their inputs, say differently."""
    seeds = [{"seed": json.dumps(receipt.get("seed"))} for receipt in (old, new)]
    yield from _of_kind("seed", *seeds)
    settings = [
        {
            # The seed stands in a field of its own.
            name: value
            for name, value in _flat(receipt.get("parameters") or {})
            if name != "seed"
        }
        for receipt in (old, new)
    ]
    yield from _of_kind("parameter", *settings)
    inputs = [{file["path"]: file["sha256"] for file in side["inputs"]} for side in (old, new)]
    changed = list(_of_kind("input", *inputs))
    yield from changed
    behind = [
        dict(_settings(upstream(jobs, [cause.name for cause in changed])))
        for jobs in (old_jobs, new_jobs)
    ]
    yield from _of_kind("behind", *behind)
    codes = [receipt["code"] for receipt in (old, new)]
    yield from _of_kind("version", *({"everycell": str(code.get("version"))} for code in codes))
    if codes[0].get("sha256") != codes[1].get("sha256"):
        said = [_code(code) for code in codes]
        yield Cause(kind="code", name="code", old=said[0], new=said[1])
    yield from _of_kind("package", old.get("packages") or {}, new.get("packages") or {})


def _of_kind(kind: Kind, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Cause]:
    for moved in _changes(old, new):
        yield Cause(kind=kind, name=moved.key, old=moved.old, new=moved.new)


def _code(code: Mapping[str, Any]) -> str:
    commit = code.get("commit")
    return f"{str(code.get('sha256'))[:12]} (commit {commit[:12] if commit else 'unknown'})"


def _settings(jobs: list[JobRecord]) -> Iterator[tuple[str, str]]:
    """Settings of jobs by the job's first output: where values have no names, all of them."""
    for job in jobs:
        at = f"{job.rule} {job.outputs[0]}"
        yield f"{at}: inputs", ", ".join(job.inputs)
        if all(name.startswith("#") for name in job.parameters):
            yield f"{at}: parameters", ", ".join(job.parameters.values())
        else:
            for name, value in job.parameters.items():
                yield f"{at}: {name}", value


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested settings under names with dots."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(value, ensure_ascii=False)
