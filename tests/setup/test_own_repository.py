"""A repository of one's own, made and run with the package as a wheel."""

import json
import re
import shutil
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from packaging.requirements import Requirement
from setup.wheels import REPOSITORY, UV, Environment, build_wheel

from everycell import __version__
from everycell.cli import GROUPS, HEADINGS
from everycell.cli.deposit import INSTALL_LOCKED
from everycell.cli.placeholders import EXAMPLE_DATA, PLACEHOLDERS
from everycell.cli.table_sources import EXAMPLE

FREEZE = (UV, "pip", "freeze", "--python")
DEPOSIT = ("everycell", "deposit", "results")
#: All jobs; those that are due depend on the times that unpacking gives the files.
PLAN = ("snakemake", "-n", "--forceall")
PAPER_RECEIPT = "results/released/paper2026/table_1.receipt.json"
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


#: Modules that a repository with runs, values and CSV files does not need.
HEAVY = ("torch", "lightgbm", "shap", "umap", "numba", "sklearn", "httpx2", "pyserini")


#: Value of the templates -> what an author writes instead.
NEW_FACTS = dict(
    zip(
        [*PLACEHOLDERS.values(), EXAMPLE_DATA],
        ["On bees", "Ada Ode, Bob Bee", "Bees 2026", "CC-BY-4.0", "p. 7", "Flights of bees"],
        strict=True,
    )
)


def help_pages() -> list[list[str]]:
    """Arguments that print the help of each command and group."""
    pages = [[group, name] for group, (_, names) in GROUPS.items() for name in names]
    pages += [[name] for names in HEADINGS.values() for name in names]
    return [[], *([group] for group in GROUPS), *pages]


@pytest.mark.slow
def test_light_extra(tmp_path):
    """With the extra `workflow` alone: all help pages, and a repository from init to verify."""
    environment = Environment(tmp_path / "venv").create()
    wheel = build_wheel(tmp_path)
    environment.install(f"everycell-repro[workflow] @ {wheel.as_uri()}")
    program = f"import importlib.util as u; print([n for n in {HEAVY} if u.find_spec(n)])"
    assert environment.run(environment.python, "-c", program, cwd=tmp_path) == "[]\n"
    size = sum(path.lstat().st_size for path in environment.folder.rglob("*")) / 2**20
    assert size < 700, f"{size:.0f} MiB"  # 565 when written, without byte code
    for page in help_pages():
        assert "Usage:" in environment.run("everycell", *page, "--help", cwd=tmp_path)
    assert "Usage:" in environment.run("everycell", cwd=tmp_path)
    environment.run("everycell", "init", "paper2026", cwd=tmp_path)
    repository = tmp_path / "paper2026"
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (needed,) = map(Requirement, project["dependencies"])
    assert (needed.name, needed.extras) == ("everycell-repro", {"workflow"})
    assert needed.url and needed.url.startswith(wheel.as_uri())
    for command in (["doctor"], ["list"], ["check"], ["make"], ["verify"], ["summary"], ["page"]):
        environment.run("everycell", *command, cwd=repository)
    assert len(pd.read_csv(repository / "results" / "cells.csv")) == 4
    check_deposits_run_elsewhere(environment, repository, tmp_path)


def check_deposits_run_elsewhere(environment: Environment, repository: Path, folder: Path) -> None:
    """Archives for everyone and for reviewers, unpacked in empty folders."""
    records = repository / "published/paper2026"
    refused = environment.run(*DEPOSIT, "../no.zip", cwd=repository, fails=True)
    names = ("paper.yaml", "registry.yaml", "ch1.yaml")
    assert all(f"{name}, line " in refused for name in names)
    for path in (records / name for name in names):
        text = path.read_text(encoding="utf-8")
        for old, new in NEW_FACTS.items():
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")
    with (repository / "config.yaml").open("a", encoding="utf-8") as file:
        file.write("repository: https://host/ada/bees\n")
    environment.run("everycell", "make", cwd=repository)
    receipt = json.loads((repository / PAPER_RECEIPT).read_text(encoding="utf-8"))
    host = receipt["execution"]["host"]
    for name, options in (("open", []), ("anonymous", ["--anonymous"])):
        environment.run(*DEPOSIT, f"../{name}.zip", *options, cwd=repository)
        unpacked = folder / name
        shutil.unpack_archive(folder / f"{name}.zip", unpacked)
        outputs = [
            environment.run(*command, cwd=unpacked)
            for command in (["everycell", "check"], ["everycell", "verify"], PLAN)
        ]
        assert "cannot be checked" not in outputs[1]
        # One job gets all files of data/.
        jobs = set(re.findall(r"^fetch\S*", outputs[2], re.MULTILINE))
        assert jobs == {"fetch_own_paper2026-data"}
        readme = (unpacked / "README.md").read_text(encoding="utf-8")
        assert INSTALL_LOCKED in readme
        assert re.search(r"It needs Python 3\.\d+ on Linux", readme)
        texts = {
            path: path.read_text(encoding="utf-8", errors="ignore")
            for path in unpacked.rglob("*")
            if path.is_file() and path.suffix not in (".whl", ".parquet")
        }
        naming_files = {
            path.name for path, text in texts.items() if re.search(r"\b(Ode|Bee)\b", text)
        }
        receipts = [text for path, text in texts.items() if path.name.endswith("receipt.json")]
        assert all((f'"{host}"' in text) == (name == "open") for text in receipts) and receipts
        if name == "anonymous":
            assert not naming_files
            content = "".join(texts.values())
            assert str(folder) not in content and "host/ada" not in content
        else:
            assert {"CITATION.cff", ".zenodo.json", "ro-crate-metadata.json"} <= naming_files
        lock = (unpacked / "requirements.lock").read_text(encoding="utf-8").splitlines()
        assert (unpacked / lock[0]).suffix == ".whl" and (unpacked / lock[0]).is_file()
        assert any(line.startswith("snakemake==") for line in lock)
        installed = environment.run(*FREEZE, environment.python, cwd=folder).splitlines()
        assert set(lock[1:]) <= set(installed)


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
    profile = repository / "profiles" / "slurm"
    command = ["snakemake", "-n", "--forceall", "--workflow-profile", profile]
    planned = environment.run(*command, cwd=repository)
    assert "smith2026_evaluation" in planned and "verdicts" in planned
