"""`everycell verify --rebuild`: results rebuilt, and compared with those on disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import cast

from everycell.cli import project
from everycell.cli.printing import difference_lines, echo, with_noun
from everycell.engine.differences import compare_folders
from everycell.engine.printed_cells import CardError
from everycell.engine.rebuilding import (
    CodeChangedError,
    InputsMissingError,
    RebuildError,
    check_origin,
    find_receipts,
    name_of,
    rebuild,
)
from everycell.engine.receipts import ReceiptError, read_receipt
from everycell.engine.registry_entries import SourceError
from everycell.engine.settings import ConfigError
from everycell.engine.tiers import Tier

#: Exit codes beside 0 (the same) and 1 (something differs).
ERROR, INPUTS, CODE, FAILED = 2, 3, 4, 5


def compare_with_rebuilt(names: list[str], results: Path, cores: int, into: Path | None) -> int:
    """Rebuild results and say which of their files are the same; return the exit code."""
    try:
        if into is not None and into.exists() and any(into.iterdir()):
            raise RebuildError(f"{into} is not empty; name another folder.")
        papers = project.papers()
        receipts = find_receipts(names, results)
        check_origin(receipts, project.ROOT)
    except (CardError, ConfigError, OSError, RebuildError, ReceiptError, SourceError) as error:
        echo(f"everycell: {error}", err=True)
        kinds: dict[type[Exception], int] = {InputsMissingError: INPUTS, CodeChangedError: CODE}
        return kinds.get(type(error), ERROR)
    wanted = [name_of(receipt, results) for receipt in receipts]
    folder = into or Path(tempfile.mkdtemp(prefix="everycell-rebuild-"))
    folder.mkdir(parents=True, exist_ok=True)
    echo(f"Making {with_noun(len(wanted), 'result')} again in {folder}.", err=True)
    try:
        rebuild(wanted, project.ROOT, folder, cores)
    except (OSError, RebuildError) as error:
        echo(f"everycell: {error}", err=True)
        return FAILED
    again = folder / "results"
    differing = False
    for found in compare_folders(results, again):
        if found.name not in wanted:
            continue
        tier, _, artefact = found.name.partition("/")
        key, _, name = artefact.partition("/")
        card = papers[key].artefacts[name].card if name else None
        varies = card.tiers[cast(Tier, tier)].varies if card else None
        files = len(read_receipt(results / f"{found.name}.receipt.json")["outputs"])
        if found.same:
            echo(f"{found.name}: {with_noun(files, 'file')}, the same bytes.")
        elif varies:
            changed = with_noun(len(found.files), "file")
            echo(f"{found.name}: {changed} of {files} differ, as its card allows: {varies}")
        else:
            differing = True
            echo("\n".join(difference_lines(found, results, again, 10)))
    if into is None and not differing:
        shutil.rmtree(folder, ignore_errors=True)
    elif differing:
        echo(f"What was made again is in {folder}.", err=True)
    return int(differing)
