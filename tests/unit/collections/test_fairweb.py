"""Shares of groups in the files of the FairWeb pilot."""

import pytest

from everycell.base.errors import CollectionError
from everycell.collections.fairweb import read_memberships, read_target


@pytest.mark.parametrize("shares", ["0.5 0.4", "0.5 0.6", "1.5 -0.5", "0.5 x"])
def test_read_memberships_shares_that_do_not_sum_to_one(tmp_path, shares):
    path = tmp_path / "toy.gmemb"
    path.write_text(f"t1 p1 0.5 0.5\nt1 p2 {shares}\n")
    with pytest.raises(CollectionError, match="line 2"):
        read_memberships(path)


def test_read_target_normalises_rounded_shares(tmp_path):
    """Shares of thirds with six digits sum to .999999."""
    path = tmp_path / "toy.golddistr"
    path.write_text("0.333333\n0.333333\n0.333333\n")
    assert read_target(path) == pytest.approx((1 / 3,) * 3)
    path.write_text("0.3\n0.3\n0.3\n")
    with pytest.raises(CollectionError):
        read_target(path)
