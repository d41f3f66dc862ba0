"""Results made again in a folder of their own, which proves that they follow from their inputs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from everycell.engine.files import sha256
from everycell.engine.receipts import made_by_other_code, read_receipt, receipts_in
from everycell.engine.registry import load_registry

#: What the workflow reads of a project. Fetched files are linked, everything else is made anew.
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
#: Folders whose files a run makes.
MADE = ("work", "results")


class RebuildError(Exception):
    """Nothing can be made again; the message says why."""


class InputsMissingError(RebuildError):
    """An input is not here, or is another file than the result was made from."""


class CodeChangedError(RebuildError):
    """The code of this project is not the one that made the result."""


def find_receipts(names: Sequence[str], results: Path) -> list[Path]:
    """Find the receipts of results by name, in the order of their paths.

    Parameters
    ----------
    names
        ``TIER/KEY/table_1``, or ``KEY/table_1`` for all tiers.
    results
        Results folder.

    Raises
    ------
    RebuildError
        A name that no receipt has.

    Examples
    --------
    >>> find_receipts(["sakai2023/table_1"], Path("/nowhere"))
    Traceback (most recent call last):
    everycell.engine.rebuilding.RebuildError: No receipt in /nowhere is of 'sakai2023/table_1'; \
name a result that is there, such as TIER/PAPER/table_1.
    """
    there = receipts_in(results)
    found = set()
    for name in names:
        of_name = [
            path
            for path in there
            if name in (stem := name_of(path, results), stem.partition("/")[2])
        ]
        if not of_name:
            raise RebuildError(
                f"No receipt in {results} is of {name!r}; name a result that is there, such as "
                "TIER/PAPER/table_1."
            )
        found.update(of_name)
    return sorted(found)


def name_of(receipt: Path, results: Path) -> str:
    """Name of a receipt's result: ``TIER/KEY/table_1``.

    Examples
    --------
    >>> name_of(Path("r/full/toy/table_1.receipt.json"), Path("r"))
    'full/toy/table_1'
    """
    return receipt.relative_to(results).as_posix().removesuffix(".receipt.json")


def check_origin(receipts: Sequence[Path], root: Path) -> None:
    """Refuse to make again what could only come out otherwise.

    Files that a run makes are not looked at, and neither are released files that the cache lacks:
    both are made, or fetched, again.

    Raises
    ------
    CodeChangedError
        No script of the project is the one that made a result.
    InputsMissingError
        An input lacks, or has changed.
    """
    for path in made_by_other_code(receipts, root):
        raise CodeChangedError(
            f"{path}: was made by other code than this project has; check out the commit that it "
            "names, or run snakemake and verify what that makes."
        )
    for path in receipts:
        for source in read_receipt(path)["inputs"]:
            place = root / source["path"]
            if Path(source["path"]).parts[0] in MADE:
                continue
            if not place.exists() and load_registry().key_in(source["path"]) is not None:
                continue
            if not place.is_file():
                raise InputsMissingError(
                    f"{place}: is missing, and {path} was made from it; put it there first."
                )
            if sha256(place) != source["sha256"]:
                raise InputsMissingError(
                    f"{place}: is not the file that {path} was made from; put that one there, or "
                    "run snakemake and verify what that makes."
                )


def rebuild(names: Sequence[str], root: Path, folder: Path, cores: int) -> None:
    """Make results again in a copy of the project; what Snakemake says goes to standard error.

    Parameters
    ----------
    names
        Results, ``TIER/KEY/table_1``.
    root
        Project folder. Its fetched files are used, its intermediate files are not.
    folder
        Folder of the copy, which must be empty.
    cores
        Cores that Snakemake may use.

    Raises
    ------
    RebuildError
        Snakemake fails; the copy stays as it is.
    """
    for part in PARTS:
        source = root / part
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / part, symlinks=True, ignore=ignored)
        elif source.exists():
            shutil.copy2(source, folder / part)
    resources = root / "resources"
    resources.mkdir(exist_ok=True)
    (folder / "resources").symlink_to(resources.resolve(), target_is_directory=True)
    # Of a paper's artefact the verdicts too, which come after all of its files.
    targets = [
        f"results/{name}.{'verdicts.json' if name.count('/') == 2 else 'csv'}" for name in names
    ]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", str(cores), "--", *targets],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder.resolve() / "src")},
        stdout=sys.stderr,
        check=False,
    )
    if done.returncode:
        raise RebuildError(
            f"Snakemake ended with exit code {done.returncode}; its messages are above, its logs "
            f"in {folder}/logs."
        )
