"""What users do about results that were made with other parameters."""

from __future__ import annotations

import pytest

from everycell.receipts.diff import Change
from everycell.workflow.deviations import OTHER_CODE, Deviations


def change(key: str) -> Change:
    return Change(key=key, old="a", new="b")


@pytest.mark.parametrize(
    ("settings", "is_from_outside"),
    [
        (OTHER_CODE, False),
        ((change("face.title"),), False),
        ((change("face.layout.rows"), change("face.decimals")), False),
        ((change("face.title"), change("alpha")), True),
        ((change("alpha"),), True),
        ((change("seed"),), True),
    ],
)
def test_deviations_fix(settings, is_from_outside):
    """Edited code and records do not come from a profile, option or variable."""
    (notice,) = Deviations(files={settings: ["results/a.receipt.json"]}).notices
    assert notice.is_certain and ("profile" in notice.fix) == is_from_outside
