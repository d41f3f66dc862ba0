"""Files that a user names: errors say which file they concern."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from everycell.engine.printed_cells import CardError


def read_user_file(
    path: Path, read: Callable[..., pd.DataFrame], **options: object
) -> pd.DataFrame:
    """Return the result of `read`, or raise a sentence that names the file."""
    try:
        return read(path, **options)
    except OSError as error:
        # Errors of the reader of compressed files do not name the file.
        said = str(error) if str(path) in str(error) else f"{path}: {error}; get it again."
        raise CardError(said) from None


def read_run_file(path: Path) -> pd.DataFrame:
    """Read a run from a file in TREC format, gzipped or not."""
    from everycell.trec.runs import read_run

    return read_user_file(path, read_run)
