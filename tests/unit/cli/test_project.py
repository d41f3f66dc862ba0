"""Results folders that commands accept."""

import pytest

from everycell.cli.project import require_receipts
from everycell.records.cells import RecordError


@pytest.fixture
def results(tmp_path):
    """A results folder with two receipts, in a folder that has the name of a tier."""
    for name in ("errata", "a2026/table_1"):
        path = tmp_path / f"full/results/embedded/{name}.receipt.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    return tmp_path / "full/results"


@pytest.mark.parametrize("part", ["embedded", "embedded/a2026", "embedded/../embedded"])
def test_require_receipts_part_of_results(results, part):
    with pytest.raises(RecordError, match="give that folder") as error:
        require_receipts(results / part)
    assert f"folder {results.resolve()};" in str(error.value)


def test_require_receipts_below_a_folder_named_like_a_tier(results):
    assert len(require_receipts(results)) == 2
