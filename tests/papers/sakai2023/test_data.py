"""Shares of groups in the files of the FairWeb pilot."""

import pytest

from papers.sakai2023.data import read_target


def test_read_target_normalises_rounded_shares(tmp_path):
    """Shares of thirds with six digits sum to .999999."""
    path = tmp_path / "toy.golddistr"
    path.write_text("0.333333\n0.333333\n0.333333\n")
    assert read_target(path) == pytest.approx((1 / 3,) * 3)
