"""`everycell verify --rebuild`: rebuild results and compare them with those on disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import cast

from everycell.cli import project
from everycell.cli.printing import difference_lines, echo, pluralise
from everycell.receipts.differences import compare_folders
from everycell.receipts.rebuilding import (
    CodeChangedError,
    InputsMissingError,
    RebuildError,
    check_origin,
    find_receipts,
    name_of,
    rebuild,
)
from everycell.receipts.receipts import read_receipt
from everycell.records.folders import Tier

#: Exit codes besides 0 (no difference), 1 (a difference) and 2 (an error).
INPUTS_MISSING, CODE_CHANGED, RUN_FAILED = 3, 4, 5


def rebuild_and_compare(names: list[str], results: Path, cores: int, into: Path | None) -> int:
    """Rebuild results, report which of their files differ, and return the exit code."""
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
        rebuild(result_names, project.ROOT, folder, cores)
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
        files = len(read_receipt(results / f"{difference.name}.receipt.json")["outputs"])
        if difference.is_same:
            echo(f"{difference.name}: {pluralise(files, 'file')}, byte-identical.")
        elif varies:
            number = len(difference.files)
            echo(
                f"{difference.name}: {number} of {pluralise(files, 'file')} "
                f"differ{'s' * (number == 1)}, which the record allows: {varies}"
            )
        else:
            is_different = True
            echo("\n".join(difference_lines(difference, results, folder / "results", 10)))
    if is_different:
        echo(f"The new results are in {folder}.", err=True)
    elif into is None:
        shutil.rmtree(folder, ignore_errors=True)
    return int(is_different)
