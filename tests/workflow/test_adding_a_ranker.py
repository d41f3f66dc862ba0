"""A ranker is added to chapter 2 of abolghasemi2026 by its class and one line of SYSTEMS."""

from __future__ import annotations

import pytest
from unit.learning.test_rankers import TOY
from workflow.project import Project

SYSTEMS = "workflow/papers/abolghasemi2026/ch2_systems.py"
LINE = '        ("e", "TILDE", name, f"tilde.{encoder}.all"),\n'
TABLE = "results/embedded/abolghasemi2026/table_2_1.csv"
RANKERS = "src/everycell/learning/rankers"


@pytest.fixture
def added(clean: Project) -> Project:
    """Return a project with one more ranker."""
    (clean.folder / RANKERS / "toy.py").write_text(TOY, encoding="utf-8")
    clean.edit(SYSTEMS, LINE, f'{LINE}        ("s", "Toy", encoder, f"toy.{{encoder}}.all"),\n')
    return clean


@pytest.mark.slow
def test_new_ranker_planned(tree, added):
    before, after = tree.planned(TABLE), added.planned(TABLE)
    more = {name: after[name] - number for name, number in before.items()}
    assert after.keys() == before.keys()
    assert {name: number for name, number in more.items() if number} == {
        "train": 1,
        "encode": 1,
        "rerank": 1,
    }
    model = "work/concepts/models/toy.untrained.all"
    plan = added.snakemake("-n", model)
    assert plan.returncode == 0 and "Training toy on concepts (all)" in plan.stdout


@pytest.mark.slow
def test_new_ranker_run(added):
    run = "work/concepts/runs/toy.untrained.all.run"
    added.build("--cores", "1", "--", run)
    assert (added.folder / run).read_text(encoding="utf-8").strip()
    # Its code is hashed only into its own jobs.
    with (added.folder / RANKERS / "tilde.py").open("a", encoding="utf-8") as file:
        file.write("# Nothing new.\n")
    assert added.planned(run) == {}
    added.edit(f"{RANKERS}/toy.py", "negatives = 2", "negatives = 1")
    assert added.planned(run) == {"train": 1, "encode": 1, "rerank": 1}
