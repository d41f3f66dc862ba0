"""What commands share: the records and results of the project folder, and errors."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import wraps
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import typer

from everycell.cli.printing import echo
from everycell.engine.artefacts import Artefact, Paper, load_papers
from everycell.engine.audits import FindAudits
from everycell.engine.cards import RUNNABLE
from everycell.engine.code import ignored_scripts
from everycell.engine.published_cells import CardError
from everycell.engine.receipts import receipts_in
from everycell.engine.registry_entries import RegistryError
from everycell.engine.results import Result, collect
from everycell.engine.tiers import Tier

PUBLISHED, RESULTS, ROOT = Path("published"), Path("results"), Path()


def errors_as_sentences(command: Callable[..., None]) -> Callable[..., None]:
    """Turn errors that explain themselves into one line and exit code 2.

    These are the classes of this package, and a ValueError of a command that reads a user's files.
    """

    @wraps(command)
    def run(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except Exception as error:
            is_own = type(error).__module__.startswith("everycell.")
            reads_files = command.__module__.startswith(
                ("everycell.cli.measure.", "everycell.cli.data", "everycell.cli.paper")
            )
            if isinstance(error, BrokenPipeError):  # Typer ends quietly, as for `| head`
                raise
            if isinstance(error, OSError) and error.errno:
                sentence = f"{error.filename}: {error.strerror}."
            elif (
                is_own
                or isinstance(error, OSError)
                or (reads_files and isinstance(error, ValueError))
            ):
                sentence = str(error)
            else:
                raise
            echo(f"everycell: {sentence}", err=True)
            raise typer.Exit(2) from None

    return run


def refuse_existing(path: Path, *, force: bool = False) -> None:
    """Raise an error if a path that a command would write is there already."""
    if path.exists() and not force:
        raise CardError(f"{path} already exists; remove it, or choose another name.")


def papers() -> dict[str, Paper]:
    """Records and published values of all papers, by key."""
    if not PUBLISHED.is_dir():
        raise CardError(
            f"There is no folder {PUBLISHED}/ here; run everycell in the project folder."
        )
    return load_papers(PUBLISHED)


def require_receipts(results: Path) -> list[Path]:
    """Paths of the receipts of a results folder, which has some."""
    if not results.is_dir():
        raise CardError(f"There is no folder {results}; run `everycell make`, or name another one.")
    receipts = receipts_in(results)
    if not receipts:
        raise CardError(
            f"{results} holds no receipt; run `everycell make`, or name a folder of results."
        )
    return receipts


def cache_home() -> Path:
    """Folder below which Snakemake keeps what it remembers."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute()


def can_write(folder: Path) -> bool:
    """Whether files can be made in a folder, which is made if it is missing.

    Permissions do not tell: root has all of them, also where a file system is read-only.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b" ")
    except OSError:
        return False
    return True


def rules_left_out(root: Path) -> list[str]:
    """Papers with rules of which the Snakefile includes none, by their keys.

    Examples
    --------
    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> (root / "workflow/rules/toy2026").mkdir(parents=True)
    >>> (root / "workflow/rules/toy2026/ch1.smk").touch()
    >>> (root / "Snakefile").touch()
    >>> rules_left_out(root)
    ['toy2026']
    """
    files = sorted((root / "workflow" / "rules").glob("*/ch*.smk"))
    keys = dict.fromkeys(path.parent.name for path in files)
    included = (root / "Snakefile").read_text(encoding="utf-8") if files else ""
    return [key for key in keys if f'include: "workflow/rules/{key}/' not in included]


def left_out_sentence(key: str) -> str:
    """Say that the rules of a paper are not included, and what to do."""
    return (
        f"Snakefile: includes no rules of {key}; add the line "
        f'`include: "workflow/rules/{key}/ch1.smk"` above `include: FINISH`.'
    )


def repository_faults(folders: Iterable[Path]) -> list[str]:
    """Faults of a repository of these papers outside their records, as sentences."""
    from everycell.sources.fetch import changed_data

    left_out, faults = rules_left_out(ROOT), []
    for folder in folders:
        if folder.name in left_out:
            faults.append(left_out_sentence(folder.name))
        with suppress(RegistryError):  # `check_paper` reports it
            faults += changed_data(folder)
    return faults + [
        f"{path} is never run, since everycell has a script of this name; rename it, also in the "
        "rules that run it."
        for path in ignored_scripts(ROOT)
    ]


def can_be_run(artefact: Artefact, tier: Tier) -> bool:
    """Whether a run of this tier makes a result, by the record."""
    return artefact.card.tiers[tier].state in RUNNABLE


def collect_results(
    papers: Mapping[str, Paper],
    is_selected: Callable[[Artefact, Tier], bool] = lambda artefact, tier: True,
    audits: FindAudits | None = None,
) -> list[Result]:
    """Collect results of the papers, and report on standard error which are not trusted."""
    results = collect(papers, RESULTS, ROOT, include=is_selected, audits=audits)
    warn_of_faults(results)
    return results


def warn_of_faults(results: Iterable[Result]) -> None:
    """Report on standard error why results on disk are not trusted."""
    for result in results:
        for fault in result.faults:
            echo(f"not trusted: {fault}", err=True)
