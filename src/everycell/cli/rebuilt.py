"""`everycell verify --rebuild`: results rebuilt, and compared with those on disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import cast

from everycell.cli import project
from everycell.cli.printing import difference_lines, echo, with_noun
from everycell.engine.differences import compare_folders
from everycell.engine.rebuilding import (
    CodeChangedError,
    InputsMissingError,
    RebuildError,
    check_origin,
    find_receipts,
    name_of,
    rebuild,
)
from everycell.engine.receipts import read_receipt
from everycell.engine.tiers import Tier

#: Exit codes beside 0 (the same), 1 (something differs) and 2 (an error).
INPUTS, CODE, FAILED = 3, 4, 5


def compare_with_rebuilt(names: list[str], results: Path, cores: int, into: Path | None) -> int:
    """Rebuild results and say which of their files are the same; return the exit code."""
    if into is not None and into.exists() and any(into.iterdir()):
        raise RebuildError(f"{into} is not empty; name another folder.")
    papers = project.papers()
    receipts = find_receipts(names, results)
    try:
        check_origin(receipts, project.ROOT)
    except (CodeChangedError, InputsMissingError) as error:
        echo(f"everycell: {error}", err=True)
        return INPUTS if isinstance(error, InputsMissingError) else CODE
    rebuilt = [name_of(receipt, results) for receipt in receipts]
    folder = into or Path(tempfile.mkdtemp(prefix="everycell-rebuild-"))
    folder.mkdir(parents=True, exist_ok=True)
    echo(f"Rebuilding {with_noun(len(rebuilt), 'result')} in {folder}.", err=True)
    try:
        rebuild(rebuilt, project.ROOT, folder, cores)
    except (OSError, RebuildError) as error:
        echo(f"everycell: {error}", err=True)
        return FAILED
    is_different = False
    for difference in compare_folders(results, folder / "results"):
        if difference.name not in rebuilt:
            continue
        tier, _, artefact = difference.name.partition("/")
        key, _, name = artefact.partition("/")
        varies = papers[key].artefacts[name].card.tiers[cast(Tier, tier)].varies if name else None
        files = len(read_receipt(results / f"{difference.name}.receipt.json")["outputs"])
        if difference.same:
            echo(f"{difference.name}: {with_noun(files, 'file')}, the same bytes.")
        elif varies:
            changed = with_noun(len(difference.files), "file")
            echo(f"{difference.name}: {changed} of {files} differ, as its record allows: {varies}")
        else:
            is_different = True
            echo("\n".join(difference_lines(difference, results, folder / "results", 10)))
    if is_different:
        echo(f"The results to compare are in {folder}.", err=True)
    elif into is None:
        shutil.rmtree(folder, ignore_errors=True)
    return int(is_different)
