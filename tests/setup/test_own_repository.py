"""A repository of one's own, made and run with the package as a wheel."""

import json
import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from setup.wheels import REPOSITORY, Environment, build_wheel

from everycell import __version__
from everycell.cli.table_sources import EXAMPLE

RECEIPT = "results/released/smith2026/table_1.receipt.json"
RULE = "src/everycell/workflow/rules/verdicts.smk"
#: Of the values in the example's table, one is replaced.
WRONG = ("Second,MAP,0.58", "Second,MAP,0.85")


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Environment:
    """Environment with the wheel, what it needs for the workflow, and the plugin for Slurm."""
    folder = tmp_path_factory.mktemp("with blanks")
    environment = Environment(folder / "venv").create()
    locks = [REPOSITORY / "envs" / f"{name}.lock" for name in ("base", "cluster")]
    for lock in locks:
        environment.install("--no-deps", "--require-hashes", "-r", lock)
    environment.install("--no-deps", build_wheel(folder / "first"))
    return environment


@pytest.fixture
def files(environment) -> Path:
    """Folder with two runs, qrels and a table with a wrong value, in a path with an umlaut."""
    folder = environment.folder.parent / "Läufe und Werte"
    shutil.copytree(EXAMPLE, folder)
    table = (folder / "table_1.csv").read_text(encoding="utf-8")
    assert table.count(WRONG[0]) == 1
    (folder / "table_1.csv").write_text(table.replace(*WRONG), encoding="utf-8")
    return folder


def different(repository: Path) -> list[dict[str, str]]:
    """Keys of the cells that the page's data call different."""
    cells = pd.read_csv(repository / "results" / "cells.csv")
    assert len(cells) == 4 and set(cells["paper"]) == {"smith2026"}
    return [json.loads(key) for key in cells.loc[cells["verdict"] == "different", "key"]]


@pytest.mark.slow
def test_init_run_and_upgrade(environment, files):
    """And an upgrade of the package brings other rules, which run again."""
    command = ["everycell", "init", "smith2026", "mein Täst", "--runs", "first.run", "second.run"]
    environment.run(*command, "--qrels", "qrels.txt", "--table", "table_1.csv", cwd=files)
    repository = files / "mein Täst"
    wrong = [{"system": "Second", "metric": "MAP"}]
    assert "Verdicts of smith2026 table_1" in environment.run("snakemake", cwd=repository)
    assert different(repository) == wrong
    check_it_speaks_of_its_own_paper_alone(environment, repository)
    check_a_cluster_can_plan_it(environment, repository)
    # Nothing is left to do, and a clone in another folder has the data.
    assert "Nothing to be done" in environment.run("snakemake", "-n", cwd=repository)
    shutil.copytree(repository, clone := files / "clone", ignore=shutil.ignore_patterns("re*s"))
    environment.run("snakemake", RECEIPT, cwd=clone)
    assert code_of(clone) == code_of(repository)
    edits = {
        "src/everycell/__init__.py": (f'"{__version__}"', '"9.0.0"'),
        "pyproject.toml": (f'version = "{__version__}"', 'version = "9.0.0"'),
        RULE: ("Verdicts of {wildcards.paper}", "Judging {wildcards.paper}"),
    }
    environment.install("--no-deps", build_wheel(environment.folder / "second", edits))
    assert "Judging smith2026 table_1" in environment.run("snakemake", cwd=repository)
    assert different(repository) == wrong and code_of(repository)["version"] == "9.0.0"


def code_of(repository: Path) -> dict[str, str]:
    """Identity of the code in the receipt of the table."""
    receipt = repository / RECEIPT
    return json.loads(receipt.read_text(encoding="utf-8"))["code"]


def check_it_speaks_of_its_own_paper_alone(environment: Environment, repository: Path) -> None:
    pages = [*repository.glob("results/*.html"), *repository.glob("results/pages/*.html")]
    output = "".join(page.read_text(encoding="utf-8") for page in pages)
    assert "0.85" in output and "0.58" in output
    shown_lines = [
        environment.run("everycell", *command, cwd=repository)
        for command in (["list"], ["summary"], ["check"], ["verify"], ["doctor"])
    ]
    shown_lines.append(environment.run("snakemake", "--list", cwd=repository))
    further = [path.parent.name for path in (REPOSITORY / "published").glob("*/paper.yaml")]
    output = re.sub(r"//.*", "", output)  # comments in the page's program
    assert not [key for key in further if key in output or key in "".join(shown_lines)]
    assert "1 different" in shown_lines[1] and "3 equal" in shown_lines[1]
    # No path of the machine is in what may be published.
    results = [path for path in repository.rglob("results/**/*") if path.suffix != ".parquet"]
    for path in filter(Path.is_file, results):
        assert str(environment.folder) not in path.read_text(encoding="utf-8"), path


def check_a_cluster_can_plan_it(environment: Environment, repository: Path) -> None:
    profile = REPOSITORY / "profiles" / "slurm"
    command = ["snakemake", "-n", "--forceall", "--workflow-profile", profile]
    planned = environment.run(*command, cwd=repository)
    assert "smith2026_evaluation" in planned and "verdicts" in planned
