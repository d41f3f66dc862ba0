"""`everycell verify --rebuild`: rebuild results in a separate folder, and compare them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from everycell.base.files import sha256
from everycell.cli import project
from everycell.cli.printing import difference_lines, echo, pluralise
from everycell.receipts.diff import compare_folders
from everycell.receipts.receipts import made_by_other_code, read_receipt, receipts_in
from everycell.records.folders import Tier
from everycell.records.registry import load_registry

#: Exit codes besides 0 (no difference), 1 (a difference) and 2 (an error).
INPUTS_MISSING, CODE_CHANGED, RUN_FAILED = 3, 4, 5


def rebuild_and_compare(
    names: list[str], results: Path, cores: int, into: Path | None, overrides: Path | None
) -> int:
    """Rebuild results, report which of their files differ, and return the exit code.

    `overrides` is a file with settings that override ``config.yaml``.
    """
    if into is not None and into.exists() and any(into.iterdir()):
        raise RebuildError(f"{into} is not empty; choose another folder.")
    papers = project.papers()
    receipts = find_receipts(names, results)
    try:
        check_origin(receipts, project.ROOT)
    except (CodeChangedError, InputsMissingError) as error:
        echo(f"everycell: {error}", err=True)
        return INPUTS_MISSING if isinstance(error, InputsMissingError) else CODE_CHANGED
    result_names = [name_of(receipt, results) for receipt in receipts]
    folder = into or Path(tempfile.mkdtemp(prefix="everycell-rebuild-"))
    folder.mkdir(parents=True, exist_ok=True)
    echo(f"Rebuilding {pluralise(len(result_names), 'result')} in {folder}.", err=True)
    try:
        rebuild(result_names, project.ROOT, folder, cores, overrides)
    except (OSError, RebuildError) as error:
        echo(f"everycell: {error}", err=True)
        return RUN_FAILED
    is_different = False
    for difference in compare_folders(results, folder / "results"):
        if difference.name not in result_names:
            continue
        tier, _, artefact = difference.name.partition("/")
        key, _, name = artefact.partition("/")
        varies = papers[key].artefacts[name].record.tiers[cast(Tier, tier)].varies if name else None
        changes = _changes_in_receipts(difference.name, results, folder / "results")
        if not difference.is_same and not varies:
            is_different = True
            echo("\n".join(difference_lines(difference, results, folder / "results", 10)))
        elif changes:
            is_different = True
            echo(f"{difference.name}: the receipt is not that of the result made again")
        elif difference.is_same:
            files = len(read_receipt(results / f"{difference.name}.receipt.json")["outputs"])
            echo(f"{difference.name}: {pluralise(files, 'file')} and receipt, identical.")
        else:
            number = len(difference.files)
            echo(
                f"{difference.name}: {pluralise(number, 'file')} "
                f"differ{'s' * (number == 1)}, which the record allows: {varies}"
            )
        for change in changes[:LISTED]:
            echo(f"  receipt, {change.key}: {shorten(change.old)} -> {shorten(change.new)}")
        if len(changes) > LISTED:
            echo(f"  ... and {len(changes) - LISTED} more")
    if is_different:
        echo(f"The new results are in {folder}.", err=True)
    elif into is None:
        shutil.rmtree(folder, ignore_errors=True)
    return int(is_different)


#: Differences between two receipts that are listed.
LISTED = 10


def _changes_in_receipts(name: str, *folders: Path) -> tuple[Change, ...]:
    """Differences between the receipts of a result and of the same result made again.

    Only time, memory and host may differ. The copy of the project is no Git repository, so the
    commit is compared with the code.
    """
    receipts = [read_receipt(folder / f"{name}.receipt.json") for folder in folders]
    code = receipts[0]["code"]
    receipts[1]["code"] |= _commit_of_code(code)
    sides = []
    for receipt in receipts:
        files = {
            kind: {file["path"]: file["sha256"] for file in receipt[kind]}
            for kind in ("inputs", "outputs")
        }
        rest = {key: receipt[key] for key in receipt.keys() - {"execution", "content_sha256"}}
        sides.append(dict(sorted(flatten(rest | files))))
    return changes(*sides)


def _commit_of_code(code: Mapping[str, Any]) -> dict[str, Any]:
    """Fields that name the commit in a receipt, as they must be for the code of this project."""
    files = hashes_of_code(project.ROOT).get(code.get("sha256"), ())
    commit = code.get("commit")
    if commit is None:
        return {"commit": commit_of(project.ROOT) if "dirty" in code else None}
    changed = changed_since(str(commit), project.ROOT)
    if changed is None:
        return {"commit": "unknown here"}
    uncommitted = difference(files, changed, project.ROOT)
    fields = {"commit": commit, "dirty": uncommitted is not None}
    return fields | ({"difference": uncommitted} if uncommitted else {})


#: Files and folders of a project that are copied.
PARTS = (
    "Snakefile",
    "config.yaml",
    "envs",
    "profiles",
    "published",
    "pyproject.toml",
    "recorded",
    "src",
    "workflow",
)
#: Folders of files that a run makes.
MADE = ("work", "results")


class RebuildError(Exception):
    """Results cannot be rebuilt; the message says why."""


class InputsMissingError(RebuildError):
    """An input is missing, or is not the file that the result was made from."""


class CodeChangedError(RebuildError):
    """The code of this project differs from the code that made the result."""


def find_receipts(names: Sequence[str], results: Path) -> list[Path]:
    """Find the receipts of results by name, in the order of their paths."""
    receipts = receipts_in(results)
    matches = set()
    for name in names:
        receipts_of_name = [
            path
            for path in receipts
            if name in (stem := name_of(path, results), stem.partition("/")[2])
        ]
        if not receipts_of_name:
            raise RebuildError(
                f"{results} contains no receipt of {name!r}; specify an existing result as "
                "TIER/PAPER/table_1."
            )
        matches.update(receipts_of_name)
    return sorted(matches)


def name_of(receipt: Path, results: Path) -> str:
    """Name of a receipt's result: ``TIER/KEY/table_1``."""
    return receipt.relative_to(results).as_posix().removesuffix(".receipt.json")


def check_origin(receipts: Sequence[Path], root: Path) -> None:
    """Refuse to rebuild results whose code or input files have changed or are missing.

    Intermediate files, and released files that are not in the cache, are not checked: the run makes
    or fetches them.
    """
    for path in made_by_other_code(receipts, root):
        raise CodeChangedError(
            f"{path} was made by a different version of the code; check out the commit of the "
            "receipt, or run snakemake and verify the new results."
        )
    for path in receipts:
        for source in read_receipt(path)["inputs"]:
            local = root / source["path"]
            if Path(source["path"]).parts[0] in MADE:
                continue
            if not local.exists() and load_registry().key_in(source["path"]) is not None:
                continue
            if not local.is_file():
                raise InputsMissingError(
                    f"{local} is missing, but {path} was made from it; restore the file."
                )
            if sha256(local) != source["sha256"]:
                raise InputsMissingError(
                    f"{local} is not the file that {path} was made from; restore that file, or "
                    "run snakemake and verify the new results."
                )


def rebuild(names: Sequence[str], root: Path, folder: Path, cores: int) -> None:
    """Rebuild results in a copy of the project; Snakemake's output goes to standard error."""
    for part in PARTS:
        source = root / part
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / part, symlinks=True, ignore=ignored)
        elif source.exists():
            shutil.copy2(source, folder / part)
    (root / "resources").mkdir(exist_ok=True)
    for name in ("resources", "data"):
        if (root / name).is_dir():
            (folder / name).symlink_to((root / name).resolve(), target_is_directory=True)
    # The verdicts of an artefact depend on all of its files.
    targets = [
        f"results/{name}.{'verdicts.json' if name.count('/') == 2 else 'csv'}" for name in names
    ]
    completed = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", str(cores), "--", *targets],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder.resolve() / "src")},
        stdout=sys.stderr,
        check=False,
    )
    if completed.returncode:
        raise RebuildError(
            f"Snakemake failed with exit code {completed.returncode}; see its messages above and "
            f"its logs in {folder}/logs."
        )
