"""What the scripts of chapter 4 share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from everycell.collections.rating_files import RatingsError
from everycell.collections.user_studies import (
    ANSWERABILITY,
    VIEWPOINTS,
    Study,
    read_response_limitations,
)


def both_studies(files: Any) -> Iterator[tuple[Study, pd.DataFrame]]:
    """Each study with its ratings, from the inputs `answerability` and `viewpoints`."""
    for study, path in ((ANSWERABILITY, files.answerability), (VIEWPOINTS, files.viewpoints)):
        yield study, read_response_limitations(Path(path), study)


def exact_quotient(count: int, size: int, what: str) -> int:
    """How many times `size` goes into `count`; the design leaves no remainder."""
    if count % size:
        raise RatingsError(
            f"{count} {what} are not a multiple of {size}; rows are missing or repeated."
        )
    return count // size
