"""The rule of the site: it shows what was made before it, and makes nothing of it again."""

import os
import shutil
from pathlib import Path

import pytest
from snakemake.api import SnakemakeApi
from snakemake.settings.types import OutputSettings, ResourceSettings
from workflow.project import REPOSITORY, Project


@pytest.fixture
def documented(clean) -> Project:
    """Return a copy with the documentation, and with a result that is older than its record."""
    for name in ("mkdocs.yml", "README.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff"):
        shutil.copy2(REPOSITORY / name, clean.folder / name)
    shutil.copytree(REPOSITORY / "docs", clean.folder / "docs")
    folder = clean.folder / "results/embedded/sakai2023"
    folder.mkdir(parents=True)
    for ending in ("verdicts.json", "md"):
        path = folder / f"table_1.{ending}"
        path.write_text("{}", encoding="utf-8")
        os.utime(path, (1, 1))
    return clean


def test_site_outdated_results(documented):
    assert set(documented.planned("site")) == {"rulegraph", "site"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "expected", "log"),
    [
        (
            "records/papers",
            "results/rulegraphs/sakai2023_ch1.svg",
            "rulegraphs/sakai2023_ch1.log",
        ),
        ("render/table_files", "results/site", "site.log"),
    ],
)
def test_site_library_not_installed(documented, module, expected, log):
    """As in a conda environment: what a rule starts takes the library of this folder."""
    graphs = [f"results/rulegraphs/{name}.svg" for name in ("all", "sakai2023_ch1")]
    documented.edit("workflow/rules/documentation.smk", "target=GRAPHS),", 'target=["all"]),')
    (documented.folder / "results/rulegraphs").mkdir()
    for graph in graphs:
        if graph != expected:
            (documented.folder / graph).touch()
    file = documented.folder / f"src/everycell/{module}.py"
    file.write_text(f"{file.read_text()}\nraise SystemExit('this copy')\n")
    run = documented.snakemake(
        "--cores",
        "1",
        "--allowed-rules",
        "site",
        "rulegraph",
        "--",
        expected,
        env={"PYTHONPATH": ""},
    )
    assert run.returncode != 0
    assert "this copy" in (documented.folder / "logs" / log).read_text()


@pytest.mark.parametrize("ending", ["verdicts.json", "md"])
def test_site_changed_result(documented, monkeypatch, ending):
    monkeypatch.chdir(documented.folder)
    with SnakemakeApi(OutputSettings()) as api:
        workflow = api.workflow(ResourceSettings(cores=1), snakefile=Path("Snakefile"))
        rule = next(rule for rule in workflow._workflow.rules if rule.name == "site")
    before = rule.params.results(None)
    assert rule.params.results(None) == before
    (documented.folder / f"results/embedded/sakai2023/table_1.{ending}").write_text("[]")
    assert rule.params.results(None) != before
