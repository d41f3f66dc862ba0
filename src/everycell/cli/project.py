"""Records, results and faults of the project folder, and error messages, for all commands."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import typer

from everycell.base.errors import FaultsError
from everycell.base.files import describe_os_error
from everycell.base.settings import environment_folder
from everycell.cli.named_files import check_named_files
from everycell.cli.printing import echo, progress
from everycell.receipts.code import ignored_scripts
from everycell.receipts.receipts import receipts_in
from everycell.records.cells import RecordError
from everycell.records.folders import TIERS, Tier
from everycell.records.papers import Artefact, Paper, load_papers
from everycell.records.registry import RegistryError
from everycell.records.tables import RUNNABLE
from everycell.verdicts.audits import FindAudits
from everycell.verdicts.record_checks import check_once
from everycell.verdicts.reports import Result
from everycell.verdicts.results import collect

PUBLISHED, RESULTS, ROOT = Path("published"), Path("results"), Path()


def report_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Report expected errors in one line, with exit code 2.

    Expected errors are those of this package, OS errors, and a ValueError from a command that reads
    the user's files.
    """

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            missing = check_named_files(command, options)
            command(*arguments, **options)
            for folder in missing:
                if folder.is_dir():
                    echo(f"Created the folder {folder}.", err=True)
        except Exception as error:
            is_own = type(error).__module__.startswith("everycell.")
            reads_files = command.__module__.startswith(
                ("everycell.cli.measure.", "everycell.cli.data", "everycell.cli.paper")
            )
            if isinstance(error, OSError):
                sentences = [describe_os_error(error)]
            elif isinstance(error, FaultsError):
                sentences = str(error).splitlines()
            elif is_own or (reads_files and isinstance(error, ValueError)):
                sentences = [str(error)]
            else:
                raise
            for sentence in sentences:
                echo(f"everycell: {sentence}", err=True)
            raise typer.Exit(2) from None

    return run


def find_project(command: Callable[..., None]) -> Callable[..., None]:
    """Run a command that names no files in the project that the current folder belongs to."""

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        folders = [Path.cwd(), *Path.cwd().parents]
        root = next((folder for folder in folders if _is_project(folder)), folders[0])
        # Paths among Snakemake's own arguments are relative to the current folder.
        if getattr(options.get("ctx"), "meta", {}).get("snakemake"):
            root = folders[0]
        if root != folders[0]:
            echo(f"Project: {root}", err=True)
            os.chdir(root)
        command(*arguments, **options)

    return run


def _is_project(folder: Path) -> bool:
    return (folder / PUBLISHED).is_dir() and (folder / "Snakefile").is_file()


def refuse_existing(path: Path, *, force: bool = False) -> None:
    """Raise an error if an output path already exists."""
    if path.exists() and not force:
        raise RecordError(f"{path} already exists; remove it, or choose another name.")


def papers() -> dict[str, Paper]:
    """Records and published values of all papers, by key."""
    if not PUBLISHED.is_dir():
        raise RecordError(
            f"There is no folder {PUBLISHED}/ here; run everycell in the project folder."
        )
    return load_papers(PUBLISHED)


def require_receipts(results: Path) -> list[Path]:
    """Paths of the receipts in a results folder; an error if there are none."""
    if not results.is_dir():
        raise RecordError(
            f"The folder {results} does not exist; run `everycell make`, or give another folder."
        )
    for folder in (results.resolve(), results.resolve().parent):
        # Names and pages of results are known from the folder that has the tiers.
        if folder.name in TIERS and not any((results / tier).is_dir() for tier in TIERS):
            raise RecordError(
                f"{results} is a part of the results folder {folder.parent}; give that folder."
            )
    receipts = receipts_in(results)
    if not receipts:
        raise RecordError(
            f"{results} contains no receipts; run `everycell make`, or give a results folder."
        )
    return receipts


def cache_home() -> Path:
    """Folder in which Snakemake creates its cache."""
    return Path(environment_folder("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute()


def can_write(folder: Path) -> bool:
    """Whether files can be written to a folder, which is created if it is missing.

    A file is written, because permissions do not show that a file system is read-only.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b" ")
    except OSError:
        return False
    return True


def papers_not_included(root: Path) -> list[str]:
    """Keys of papers that have rules, none of which the Snakefile includes."""
    files = sorted((root / "workflow/papers").glob("*/ch*.smk"))
    keys = dict.fromkeys(path.parent.name for path in files)
    included = (root / "Snakefile").read_text(encoding="utf-8") if files else ""
    return [key for key in keys if f'include: "workflow/papers/{key}/' not in included]


def not_included_message(key: str) -> str:
    """Error message about a paper whose rules are not included."""
    return (
        f"Snakefile: the rules of {key} are not included; add the line "
        f'`include: "workflow/papers/{key}/ch1.smk"` above `include: FINISH`.'
    )


def repository_faults(folders: Iterable[Path]) -> list[str]:
    """Faults outside the records of papers: missing rules, changed data, scripts that never run."""
    from everycell.sources.fetch import changed_data

    not_included, faults = papers_not_included(ROOT), []
    for folder in folders:
        if folder.name in not_included:
            faults.append(not_included_message(folder.name))
        with suppress(RegistryError):  # `check_paper` reports it
            faults += changed_data(folder).values()
    return faults + [
        f"{path} is never run, because everycell has a script of the same name; rename it, and "
        "update the rules that run it."
        for path in ignored_scripts(ROOT)
    ]


def faults_at_start() -> list[str]:
    """Faults at which Snakemake stops before it runs a job."""
    folders = sorted(path.parent for path in PUBLISHED.glob("*/paper.yaml"))
    faults = check_once(PUBLISHED, Path(".snakemake/everycell.checked"))
    return faults + repository_faults(folders) + _faults_of_temporary_folder()


def _faults_of_temporary_folder() -> list[str]:
    """Whether the folder in which Snakemake's scheduler writes is full; it would show a traceback.

    The scheduler itself avoids a folder that is missing or not writable.
    """
    folder = os.environ.get("TMP", os.environ.get("TMPDIR", "/tmp"))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK) or can_write(Path(folder)):
        return []
    return [
        f"{folder}, the folder of temporary files, is full; free some space, or set TMPDIR to "
        "another folder."
    ]


def can_be_run(artefact: Artefact, tier: Tier) -> bool:
    """Whether a tier can be run, according to the record."""
    return artefact.record.tiers[tier].state in RUNNABLE


def collect_results(
    papers: Mapping[str, Paper],
    is_selected: Callable[[Artefact, Tier], bool] = lambda artefact, tier: True,
    audits: FindAudits | None = None,
) -> list[Result]:
    """Collect results of the papers, and report on standard error why some are not trusted."""
    with progress("Comparing with the published values"):
        results = collect(papers, RESULTS, ROOT, include=is_selected, audits=audits)
    warn_of_faults(results)
    return results


def warn_of_faults(results: Iterable[Result]) -> None:
    """Report on standard error why results on disk are not trusted."""
    for result in results:
        for fault in result.faults:
            echo(f"not trusted: {fault}", err=True)
