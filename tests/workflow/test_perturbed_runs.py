"""`everycell verify --perturb`: values are made again from perturbed data, beside the results."""

import json

import pandas as pd
import pytest

from everycell.engine.sensitivity import Sensitivity
from everycell.workflow.perturbed_runs import _sensitivity

NAME = "embedded/sakai2023/table_2"
CELLS = "published/sensitivity.csv"


@pytest.fixture
def with_result(clean):
    """A project with one result and no recorded sensitivity."""
    (clean.folder / CELLS).unlink(missing_ok=True)
    clean.build(f"results/{NAME}.verdicts.json")
    return clean


@pytest.mark.slow
@pytest.mark.fault("receipt")
def test_verify_perturb_writes_and_compares_sensitivity(with_result):
    before = with_result.hashes(), with_result.hashes("published")
    done = with_result.everycell("verify", "--perturb", "sakai2023/table_2", "--update")
    assert done.returncode == 0, done.stdout
    assert f"{NAME}: " in done.stdout
    # The results are what they were, and no receipt of a perturbed run was left.
    path = with_result.folder / CELLS
    cells = pd.read_csv(path, dtype=str, keep_default_na=False)
    moving = cells[cells["moves_with"] != ""]
    assert len(cells) > 40 and 0 < len(moving) <= len(cells)
    assert set(moving["moves_with"]) <= {"annotations", "targets", "annotations; targets"}
    assert with_result.everycell("verify", "--perturb", "sakai2023/table_2").returncode == 0
    path.write_text(
        path.read_text().replace(",annotations; targets,,", ",,annotations; targets,", 1)
    )
    changed = with_result.everycell("verify", "--perturb", "sakai2023/table_2")
    assert changed.returncode == 1 and "moves when annotations or targets change" in changed.stdout
    path.unlink()
    assert (with_result.hashes(), with_result.hashes("published")) == before
    receipts = (with_result.folder / "results").rglob("*.receipt.json")
    assert not any("perturbed" in json.loads(receipt.read_text()) for receipt in receipts)


@pytest.mark.slow
def test_verify_perturb_without_results(clean):
    done = clean.everycell("verify", "--perturb", "lajewska2025/table_4_8")
    assert done.returncode == 2 and "everycell make" in done.stdout


def test_sensitivity_of_a_refused_perturbation_is_unknown():
    moves = {"ratings": {"a"}, "workers": {"b"}}

    def sensitivity(cell: str, refused: set[str] = frozenset(), **options) -> Sensitivity:
        return _sensitivity(cell, moves, refused, options.get("skipped", []), ())

    assert sensitivity("a") == Sensitivity(("ratings",), ("workers",))
    assert sensitivity("c").state == "insensitive"
    unknown = sensitivity("c", {"ratings"})
    assert unknown == Sensitivity((), ("workers",), "ratings: refused by the rule")
    assert unknown.state == "not perturbed"
    assert sensitivity("a", {"ratings"}) == Sensitivity(("ratings",), ("workers",))
    assert _sensitivity("c", {}, set(), [], ()).note == "reads no data"
    assert _sensitivity("a", moves, set(), [], {"a"}).state == "not perturbed"
