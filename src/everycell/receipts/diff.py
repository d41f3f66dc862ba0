"""Differences between two results folders, with possible causes from the receipts."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from everycell.base.csv_files import read_text_columns
from everycell.base.files import sha256
from everycell.base.untrusted import read_json
from everycell.receipts.receipts import ReceiptError, read_receipt, receipts_in
from everycell.records.registry import load_registry

SUFFIX = ".receipt.json"


#: Folders of the project itself; released files may be in any cache.
OWN = ("published/", "results/", "work/")
Kind = Literal["input", "parameter", "seed", "code", "version", "package", "file", "record"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Change(_Part):
    """A cell, verdict or claim that differs; `old` or `new` is None if only one folder has it."""

    key: str
    old: str | None
    new: str | None


class Notice(NamedTuple):
    """Files whose parameters are not those that their project gives them, and how they differ."""

    files: list[str]
    text: str
    fix: str
    #: Whether the files were made with other parameters; the project may also lack settings.
    is_certain: bool = True


class Cause(_Part):
    """A difference that may explain why two results differ.

    Attributes
    ----------
    kind
        `file`: a file that no longer matches its receipt; `record`: the record of the artefact; the
        other kinds are fields of a receipt.
    name
        Path or registry key of a file, parameter (nested names with dots), package, or part of the
        record. It is "record" if verdicts on the same table differ but the parts of the record in
        the verdict files do not: a tolerance or the code that judges cells has changed.
    old, new
        Value or hash; None if that side has none.
    """

    kind: Kind
    name: str
    old: str | None
    new: str | None


class Difference(_Part):
    """Difference between the results of one artefact in two folders."""

    name: str
    only_in: Literal["first", "second"] | None = None
    cells: tuple[Change, ...] = ()
    verdicts: tuple[Change, ...] = ()
    claims: tuple[Change, ...] = ()
    files: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether all files, verdicts and outcomes of claims are identical."""
        return not (self.only_in or self.cells or self.verdicts or self.claims or self.files)


def compare_folders(first: Path, second: Path) -> list[Difference]:
    """Compare every result of two results folders, in the order of their names."""
    names = [_names(folder) for folder in (first, second)]
    differences = []
    for name in sorted({*names[0], *names[1]}):
        if name not in names[1]:
            differences.append(Difference(name=name, only_in="first"))
        elif name not in names[0]:
            differences.append(Difference(name=name, only_in="second"))
        else:
            differences.append(_compare(name, first, second))
    return differences


def _names(folder: Path) -> list[str]:
    return [
        path.relative_to(folder).as_posix().removesuffix(SUFFIX) for path in receipts_in(folder)
    ]


def _compare(name: str, first: Path, second: Path) -> Difference:
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
    record_causes = list(_causes("record", *records))
    has_new_outcomes = verdicts[0] != verdicts[1] or claims[0] != claims[1]
    if has_new_outcomes and not record_causes and not changed_files:
        record_causes = [Cause(kind="record", name="record", old=None, new=None)]
    return Difference(
        name=name,
        cells=tuple(cells),
        verdicts=changes(*verdicts),
        claims=changes(*claims),
        files=tuple(changed_files),
        causes=(*edited, *_causes_in_receipts(*receipts), *record_causes),
    )


def changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Change, ...]:
    """Differences between two mappings of names to texts, in the order of the first."""
    return tuple(
        Change(key=key, old=old.get(key), new=new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def _causes(kind: Kind, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Cause]:
    """Differences between two mappings as causes of one kind."""
    for change in changes(old, new):
        yield Cause(kind=kind, name=change.key, old=change.old, new=change.new)


def _causes_in_receipts(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Differences between two receipts, the most direct causes first."""
    sides = (old, new)
    yield from _causes("seed", *({"seed": json.dumps(side.get("seed"))} for side in sides))
    settings = [dict(flatten(side.get("parameters") or {})) for side in sides]
    for parameters in settings:
        # The receipt has a separate field for the seed.
        parameters.pop("seed", None)
    yield from _causes("parameter", *settings)
    yield from _changed_inputs(old, new)
    codes = [side["code"] for side in sides]
    yield from _causes("version", *({"everycell": str(code.get("version"))} for code in codes))
    if codes[0].get("sha256") != codes[1].get("sha256"):
        first, second = map(_format_code, codes)
        yield Cause(kind="code", name="code", old=first, new=second)
    yield from _causes("package", *(side.get("packages") or {} for side in sides))


def _changed_inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Inputs whose content differs; the same content under another path does not count."""
    files = [{file["path"]: file["sha256"] for file in side["inputs"]} for side in (old, new)]
    hashes = [
        {path if path in other else _key_or_path(path): digest for path, digest in side.items()}
        for side, other in (files, files[::-1])
    ]
    changed = list(_causes("input", *hashes))
    removed = Counter(cause.old for cause in changed if cause.new is None)
    added = Counter(cause.new for cause in changed if cause.old is None)
    renamed = {"old": removed & added, "new": removed & added}
    for cause in changed:
        side, digest = ("old", cause.old) if cause.new is None else ("new", cause.new)
        if (cause.old is None or cause.new is None) and renamed[side][digest]:
            renamed[side][digest] -= 1
        else:
            yield cause


def _key_or_path(path: str) -> str:
    """Registry key of a released file in any cache; other paths unchanged."""
    return path if path.startswith(OWN) else load_registry().key_in(path) or path


def _format_code(code: Mapping[str, Any]) -> str:
    commit = code.get("commit")
    return f"{str(code.get('sha256'))[:12]} (commit {commit[:12] if commit else 'unknown'})"


def flatten(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested settings, under dotted names."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from flatten(part, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(value, ensure_ascii=False)


def _changed_cells(old: Path, new: Path, *, prefix: str) -> tuple[Change, ...]:
    """Cells whose values differ between two files; `prefix` is added to their keys."""
    tables = [cells_of(path) for path in (old, new)]
    return tuple(
        change.model_copy(update={"key": prefix + change.key}) for change in changes(*tables)
    )


def cells_of(path: Path) -> dict[str, str]:
    """Text of each cell by key: its key columns, or else its row number and column."""
    if not path.is_file():
        return {}
    try:
        table = read_text_columns(path)
    except (ValueError, csv.Error) as error:
        raise ReceiptError(
            f"{path} cannot be read as CSV ({str(error).strip()}); remove it and run snakemake "
            "again."
        ) from None
    columns = list(table.columns)
    if "value" in columns:
        keys = columns[: columns.index("value")]
        values = {}
        for row in table.to_dict("records"):
            key = " / ".join(row[column] for column in keys)
            values[key] = row["value"]
            values |= {f"{key} / {column}": row[column] for column in columns[len(keys) + 1 :]}
        if len(values) == len(table) * (len(columns) - len(keys)):
            return values
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
        report = read_json(path)
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


def shorten(text: str | None) -> str:
    """Shorten text to 80 characters, and a hash to 12."""
    if not text:
        return "nothing" if text is None else "(empty)"
    is_hash = len(text) == 64 and not set(text) - set("0123456789abcdef")
    return text[:12] if is_hash else text if len(text) <= 80 else f"{text[:77]}..."
