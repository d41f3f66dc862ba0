"""Values of a script in R, from data to a deposit."""

import json
import shutil
import subprocess
import zipfile

import pytest
from command_line import call
from harness import NEEDS_R
from workflow.project import Project

TABLE = "system,measure,value\nBM25,MAP,0.25\nBM25,P@10,0.40\nRM3,MAP,0.35\nRM3,P@10,0.50\n"
SCORES = "system,query,map,p10\nBM25,1,0.2,0.3\nBM25,2,0.3,0.5\nRM3,1,0.3,0.5\nRM3,2,0.4,0.5\n"
SCRIPT = """
source("workflow/papers/smith2026/means.R")
scores <- read.csv("data/smith2026-data/scores.csv")
means <- aggregate(cbind(map, p10) ~ system, scores, mean_of)
values <- data.frame(
  system = means$system, measure = rep(c("MAP", "P@10"), each = 2), value = c(means$map, means$p10)
)
write.csv(values, commandArgs(trailingOnly = TRUE)[1], row.names = FALSE)
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason=NEEDS_R)
def test_script_in_r(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in {"t.csv": TABLE, "scores.csv": SCORES, "my means.R": SCRIPT}.items():
        (tmp_path / name).write_text(text)
    assert call("init", "smith2026", "--table", "t.csv", "--script", "my means.R")[0] == 0
    project = Project(tmp_path / "smith2026")
    paper = project.folder / "workflow/papers/smith2026"
    (paper / "means.R").write_text("mean_of <- function(x) mean(x)\n")
    assert not project.everycell("paper", "add-data", "smith2026", "../scores.csv").returncode
    project.edit(
        "workflow/papers/smith2026/ch1.smk",
        "    params:\n",
        '    input:\n        "data/smith2026-data/scores.csv",\n    params:\n',
    )
    for name in ("paper", "registry", "ch1"):
        file = project.folder / f"published/smith2026/{name}.yaml"
        text = file.read_text().replace("N. N.", "A. Smith").replace("Title of the paper", "Means")
        text = text.replace("Licence, such as CC-BY-4.0", "CC-BY-4.0").replace("p. ?", "p. 2")
        file.write_text(text.replace("Where it was published", "A journal"))
    project.build()
    assert "4 of 4 cells reproduced: 4 equal" in project.everycell("summary").stdout
    receipt = json.loads(next(project.folder.rglob("table_1.receipt.json")).read_text())
    version = subprocess.run(["Rscript", "--version"], capture_output=True, text=True)
    assert f"version {receipt['packages']['r']} " in version.stdout + version.stderr
    assert project.everycell("deposit", "results", "../deposit.zip").returncode == 0
    with zipfile.ZipFile(tmp_path / "deposit.zip") as archive:
        assert b"r-base-core" in archive.read("Dockerfile")
        assert b" and R on Linux" in archive.read("README.md")
    # The script that the runner starts, and files that this one names, are code of the result.
    (paper / "means.R").write_text("mean_of <- function(x) 2 * mean(x)\n")
    refusal = project.everycell("verify")
    assert refusal.returncode == 1 and "table_1.receipt.json: made by code" in refusal.stdout
