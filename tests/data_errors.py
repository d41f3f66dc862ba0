"""Assertions on the fields of a `DataError`, so that tests do not pin its sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from everycell.base.errors import DataError


@contextmanager
def refused(column: str | None = None, value: object = ..., **fields: object) -> Iterator[None]:
    """Expect a `DataError` with these fields; NaN equals NaN, and `path` is a file name."""
    with pytest.raises(DataError) as caught:
        yield
    error = caught.value
    expected = {"column": column, "value": value} | fields
    actual = {name: getattr(error, name) for name in expected}
    if "path" in fields:
        actual["path"] = str(error.path).rpartition("/")[2]
    is_nan = [other["value"] != other["value"] for other in (actual, expected)]
    if all(is_nan):
        actual["value"] = expected["value"]
    assert actual == expected, str(error)
    # The sentence ends with a full stop and says what to do or what was expected.
    assert (error.fix or error.expected) and str(error).endswith(".")
