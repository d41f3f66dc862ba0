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
def test_site_library_not_installed(documented):
    """As in a conda environment: what the rule starts takes the library of this folder."""
    documented.edit("workflow/rules/documentation.smk", "target=GRAPHS),", 'target=["all"]),')
    (documented.folder / "results/rulegraphs").mkdir()
    (documented.folder / "results/rulegraphs/all.svg").touch()
    file = documented.folder / "src/everycell/render/table_files.py"
    file.write_text(f"{file.read_text()}\nraise SystemExit('this copy')\n")
    options = ("--cores", "1", "--allowed-rules", "site")
    run = documented.snakemake(*options, "--", "results/site", env={"PYTHONPATH": ""})
    assert run.returncode != 0
    assert "this copy" in (documented.folder / "logs/site.log").read_text()


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
