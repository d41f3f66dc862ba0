"""What commands share about the project in whose folder they run: cards, results and errors."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Annotated, Any

import typer

from everycell.cli.printing import echo
from everycell.engine.artefacts import Artefact, Paper, load_papers
from everycell.engine.cards import RUNNABLE
from everycell.engine.printed_cells import CardError
from everycell.engine.receipts import ReceiptError
from everycell.engine.registry_entries import SourceError
from everycell.engine.results import Result
from everycell.engine.settings import ConfigError
from everycell.engine.tiers import Tier

PUBLISHED, RESULTS, ROOT = Path("published"), Path("results"), Path()

TierOption = Annotated[str | None, typer.Option(help="Only this tier: embedded, released, full.")]
#: How a command prints its rows.
FORMATS = ("table", "csv", "json", "tex")


@contextmanager
def errors_as_sentences(*more: type[Exception]) -> Iterator[None]:
    """Turn the errors that explain themselves, and `more` ones, into one line and exit code 1."""
    try:
        yield
    except (CardError, ConfigError, ReceiptError, SourceError, *more) as error:
        echo(f"everycell: {error}", err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        # Errors of the library are sentences and have no errno.
        said = f"{error.filename}: {error.strerror}." if error.errno else str(error)
        echo(f"everycell: {said}", err=True)
        raise typer.Exit(1) from None


def papers() -> dict[str, Paper]:
    """Cards and printed cells of all papers, by key."""
    if not PUBLISHED.is_dir():
        raise CardError(
            f"There is no folder {PUBLISHED}/ here; run everycell in the project folder."
        )
    return load_papers(PUBLISHED)


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
        f'`include: "workflow/rules/{key}/ch1.smk"` above that of data.smk.'
    )


def can_be_run(artefact: Artefact, tier: Tier) -> bool:
    """Whether the card says that a run of this tier makes a result."""
    return artefact.card.tiers[tier].state in RUNNABLE


def warn_of_faults(results: list[Result]) -> None:
    """Report on standard error why results on disk are not trusted."""
    for result in results:
        for fault in result.faults:
            echo(f"not trusted: {fault}", err=True)


def check_choice(what: str, value: str | None, allowed: Collection[str]) -> Any:
    """Value of the option `what`, if it is allowed; None means not given."""
    if value is not None and value not in allowed:
        raise CardError(f"--{what} is {value!r}; allowed are {', '.join(allowed)}.")
    return value


def _known_format(value: str) -> str:
    with errors_as_sentences():
        check_choice("format", value, FORMATS)
    return value


#: Option of every command that prints rows.
Format = Annotated[
    str,
    typer.Option(
        "--format",
        callback=_known_format,
        help="table (for people), csv, json (with all digits) or tex (booktabs).",
    ),
]
