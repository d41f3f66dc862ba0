"""Arithmetic of published values that audits share."""

import pytest

from everycell.engine.audits import is_multiple


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (0.6, 0.2, True),
        (0.19, 0.2, False),
        (0.21, 0.2, False),
        (0.7, 0.2, False),
        (0.506, 1 / 500, True),
        (0.507, 1 / 500, False),
        (0.0, 0.2, True),
    ],
)
def test_is_multiple_below_and_above(value: float, step: float, expected: bool) -> None:
    assert is_multiple(value, step) is expected
