"""Files and lists of numbers from the user; errors name the file or option."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from everycell.records.cells import RecordError


def read_user_file(
    path: Path, read: Callable[..., pd.DataFrame], **options: object
) -> pd.DataFrame:
    """Read a file; all errors of the file system name it."""
    try:
        return read(path, **options)
    except OSError as error:
        # Errors of decompression do not name the file.
        if str(path) in str(error):
            raise
        raise RecordError(f"{path}: {error}; restore the file.") from None


def read_run_file(path: Path) -> pd.DataFrame:
    """Read a run from a file in TREC format, gzipped or not."""
    from everycell.trec.runs import read_run

    return read_user_file(path, read_run)


def parse_numbers(option: str, text: str, example: str) -> list[float]:
    """Parse the value of an option that is a list of numbers."""
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise RecordError(f"--{option} is {text!r}; expected numbers, such as {example}.") from None
