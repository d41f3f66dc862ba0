"""Differences between two results folders: which cells moved, and what explains it.

Nothing is computed and no card is read: what is compared are the files of both folders, and what
explains a difference stands in their receipts and in `lineage.json`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict

from everycell.engine.files import sha256
from everycell.engine.lineage import JobRecord, read_lineage, upstream
from everycell.engine.receipts import ReceiptError, read_receipt
from everycell.engine.registry import load_registry

SUFFIX = ".receipt.json"
Kind = Literal["input", "parameter", "seed", "code", "version", "package", "behind", "file", "card"]
#: Folders of the project itself: files elsewhere may lie in any cache.
OWN = ("published/", "results/", "work/")


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
        `input`: a file that was read; `behind`: a setting of a job further up, or "input FILE" that
        one read; `file`: a file that is no longer what its receipt says; `card`: what the verdicts
        were given by; the others are fields of a receipt.
    name
        Path (a released file that lies elsewhere: its key), parameter (nested names with dots),
        package or part of a card. "card" alone where no part that verdict files hold is another
        and the judgement of the same table is: a tolerance of the card, or the code that judges.
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
    unexplained
        Files among the `input` causes that the workflow made from the same settings in both
        folders, as `lineage.json` of both has them: nothing explains why they differ.
    unrecorded
        Files among the `input` causes of which `lineage.json` of a folder does not say what made
        them, or what that was made from, so that nothing can be said.
    """

    name: str
    only_in: Literal["first", "second"] | None = None
    cells: tuple[Moved, ...] = ()
    verdicts: tuple[Moved, ...] = ()
    conclusions: tuple[Moved, ...] = ()
    files: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    unexplained: tuple[str, ...] = ()
    unrecorded: tuple[str, ...] = ()

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
    behind = _Behind(read_lineage(first), read_lineage(second))
    found = []
    for name in sorted({*names[0], *names[1]}):
        if name not in names[1]:
            found.append(Difference(name=name, only_in="first"))
        elif name not in names[0]:
            found.append(Difference(name=name, only_in="second"))
        else:
            found.append(_compare(name, first, second, behind))
    return found


def _names(folder: Path) -> list[str]:
    return [
        path.relative_to(folder).as_posix().removesuffix(SUFFIX)
        for path in folder.rglob(f"*{SUFFIX}")
    ]


def _compare(name: str, first: Path, second: Path, behind: _Behind) -> Difference:
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
    verdicts, conclusions, cards = (
        zip(*judged, strict=True) if all(judged) else (({}, {}), ({}, {}), ({}, {}))
    )
    by_card = list(_of_kind("card", *cards))
    judged_otherwise = verdicts[0] != verdicts[1] or conclusions[0] != conclusions[1]
    if judged_otherwise and not by_card and not other:
        by_card = [Cause(kind="card", name="card", old=None, new=None)]
    inputs = list(_inputs(*receipts))
    # A file that one side alone has says all itself.
    both = [cause.name for cause in inputs if cause.old and cause.new]
    made = [path for path in both if path.startswith("work/")]
    # A file that the result itself was made from too is named once.
    named = {(f"input {_called(cause.name)}", cause.old, cause.new) for cause in inputs}
    further = [
        cause for cause in behind.all_of(both) if (cause.name, cause.old, cause.new) not in named
    ]
    return Difference(
        name=name,
        cells=tuple(cells),
        verdicts=_changes(*verdicts),
        conclusions=_changes(*conclusions),
        files=tuple(other),
        causes=(*edited, *_causes(*receipts, inputs, further), *by_card),
        unexplained=tuple(path for path in made if behind.of(path) == ()),
        unrecorded=tuple(path for path in made if behind.of(path) is None),
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


def _judgements(stem: Path) -> tuple[dict[str, str], dict[str, str], dict[str, str]] | None:
    """Verdicts by cell, outcomes by conclusion, parts of the card; None without a verdict file."""
    path = stem.with_name(f"{stem.name}.verdicts.json")
    if not path.is_file():
        return None
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        verdicts = {" / ".join(cell["key"].values()): _verdict(cell) for cell in report["cells"]}
        outcomes = {found["id"]: found["on_rebuilt"] for found in report["conclusions"]}
        return verdicts, outcomes, dict(_of_card(report))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReceiptError(
            f"{path}: holds no verdicts ({type(error).__name__}: {error}); remove it and run "
            "snakemake again."
        ) from None


def _verdict(cell: Mapping[str, Any]) -> str:
    source = cell.get("source")
    return f"{cell['verdict']} ({source})" if source else cell["verdict"]


def _of_card(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What a verdict file holds of the card and of the printed cells."""
    for cell in report["cells"]:
        if "printed" in cell:
            yield f"printed {' / '.join(cell['key'].values())}", str(cell["printed"])
    for what, found in (("conclusion", report["conclusions"]), ("erratum", report.get("errata"))):
        for entry in found or []:
            for part in ("claim", "source", "test", "where", "finding", "evidence"):
                if part in entry:
                    name = f"{part} of {what} {entry['id']}"
                    yield name, json.dumps(entry[part], ensure_ascii=False)


def _changes(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[Moved, ...]:
    return tuple(
        Moved(key=key, old=old.get(key), new=new.get(key))
        for key in dict.fromkeys([*old, *new])
        if old.get(key) != new.get(key)
    )


def _causes(
    old: Mapping[str, Any], new: Mapping[str, Any], inputs: list[Cause], behind: list[Cause]
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
    yield from inputs
    yield from behind
    codes = [receipt["code"] for receipt in (old, new)]
    yield from _of_kind("version", *({"everycell": str(code.get("version"))} for code in codes))
    if codes[0].get("sha256") != codes[1].get("sha256"):
        said = [_code(code) for code in codes]
        yield Cause(kind="code", name="code", old=said[0], new=said[1])
    yield from _of_kind("package", old.get("packages") or {}, new.get("packages") or {})


def _inputs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Cause]:
    """Inputs with other bytes: the same bytes under another path, as in another cache, are none."""
    files = [{file["path"]: file["sha256"] for file in side["inputs"]} for side in (old, new)]
    named = [
        {path if path in other else _called(path): digest for path, digest in side.items()}
        for side, other in (files, files[::-1])
    ]
    changed = list(_of_kind("input", *named))
    gone = Counter(cause.old for cause in changed if cause.new is None)
    came = Counter(cause.new for cause in changed if cause.old is None)
    moved = {"old": gone & came, "new": gone & came}
    for cause in changed:
        side, digest = ("old", cause.old) if cause.new is None else ("new", cause.new)
        if (cause.old is None or cause.new is None) and moved[side][digest]:
            moved[side][digest] -= 1
        else:
            yield cause


def _called(path: str) -> str:
    """Key of a released file, in whichever cache it lies; another path as it is."""
    return path if path.startswith(OWN) else load_registry().key_in(path) or path


class _Behind:
    """What `lineage.json` of two folders say differently of the jobs behind a file."""

    def __init__(self, old: list[JobRecord], new: list[JobRecord]) -> None:
        self.jobs = (old, new)
        self.known: dict[str, tuple[Cause, ...] | None] = {}

    def of(self, path: str) -> tuple[Cause, ...] | None:
        """What the jobs behind a file had otherwise; None where a folder does not have it all."""
        if path not in self.known:
            self.known[path] = self._compared(path)
        return self.known[path]

    def all_of(self, paths: Iterable[str]) -> list[Cause]:
        """Other settings and inputs of the jobs behind some files, each once."""
        found = (cause for path in paths for cause in self.of(path) or ())
        return list(dict.fromkeys(found))

    def _compared(self, path: str) -> tuple[Cause, ...] | None:
        old, new = (upstream(jobs, [path]) for jobs in self.jobs)
        if not old or not new:
            return None
        maker = {output: job for job in new for output in job.outputs}
        pairs = [
            (job, next((maker[made] for made in job.outputs if made in maker), None)) for job in old
        ]
        both = [(job, other) for job, other in pairs if other is not None]
        found = [cause for pair in both for cause in _of_kind("behind", *_settings(*pair))]
        read = [[_read(job) for job in pair] for pair in both]
        for files in read:
            known = files[0].keys() & files[1].keys()
            sides = ({f"input {path}": side[path] for path in sorted(known)} for side in files)
            found += _of_kind("behind", *sides)
        # A job of one folder alone is named where a job reads other files in that folder; where
        # none does, the other folder has no record of it.
        whole = len(old) == len(new) == len(both) and all(
            files[0].keys() == files[1].keys() for files in read
        )
        return tuple(dict.fromkeys(found)) if found or whole else None


def _read(job: JobRecord) -> dict[str, str]:
    """Hashes of what a job read from outside, by key where it is a released file."""
    return {_called(path): digest for path, digest in job.hashes.items()}


def _of_kind(kind: Kind, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[Cause]:
    for moved in _changes(old, new):
        yield Cause(kind=kind, name=moved.key, old=moved.old, new=moved.new)


def _code(code: Mapping[str, Any]) -> str:
    commit = code.get("commit")
    return f"{str(code.get('sha256'))[:12]} (commit {commit[:12] if commit else 'unknown'})"


def _settings(old: JobRecord, new: JobRecord) -> tuple[dict[str, str], dict[str, str]]:
    """Settings of a job in two folders, under one name if they are of the same kind."""
    at = f"{old.rule} {old.outputs[0]}"
    found = []
    for job in (old, new):
        read = ", ".join(sorted(map(_called, job.inputs)))
        found.append({f"{at}: rule": job.rule, f"{at}: inputs": read})
    unnamed = [
        bool(job.parameters) and all(name.startswith("#") for name in job.parameters)
        for job in (old, new)
    ]
    if not any(unnamed):
        for settings, job in zip(found, (old, new), strict=True):
            settings |= {f"{at}: {name}": value for name, value in job.parameters.items()}
        return found[0], found[1]
    # Values have no names on a side: those are compared that the other side does not have at all.
    values = [Counter(job.parameters.values()) for job in (old, new)]
    alone = [values[0] - values[1], values[1] - values[0]]
    # A record leaves out what is not built of Python's own types, a list of names does not.
    if any(few for few, without in zip(alone, unnamed, strict=True) if without):
        for settings, few in zip(found, alone, strict=True):
            if few:
                settings[f"{at}: parameters"] = ", ".join(sorted(few.elements()))
    return found[0], found[1]


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Leaves of nested settings under names with dots."""
    if isinstance(value, Mapping) and value:
        for key, part in value.items():
            yield from _flat(part, f"{name}.{key}" if name else str(key))
    else:
        yield name, json.dumps(value, ensure_ascii=False)
