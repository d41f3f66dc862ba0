"""Rebuild results in a separate folder, to verify that they follow from their inputs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from everycell.base.files import sha256
from everycell.receipts.receipts import made_by_other_code, read_receipt, receipts_in
from everycell.records.registry import load_registry

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
