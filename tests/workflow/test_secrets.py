"""No key, token or secret of the environment is written by a run, whether it succeeds or fails."""

from __future__ import annotations

import zipfile

import pytest
from workflow.project import Project

TABLE = "results/embedded/sakai2023/table_1.csv"
#: Variables of services, which the project does not use.
NAMES = ("OPENAI_API_KEY", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "A_SECRET", "A_KEY")
SECRETS = {name: f"open-sesame-{number}" for number, name in enumerate(NAMES)}


def written(project: Project) -> dict[str, bytes]:
    """Content of each file of a project, what Snakemake keeps for itself included."""
    files = (path for path in project.folder.rglob("*") if path.is_file())
    return {path.relative_to(project.folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.slow
def test_secrets_not_written(clean):
    # A model behind an endpoint: its settings name the variable that holds the key.
    clean.edit(
        "config.yaml",
        "  endpoints:\n",
        "  endpoints:\n    far: {url: 'http://127.0.0.1:9/v1', model: m, key: A_KEY}\n",
    )
    done = clean.snakemake("--cores", "1", TABLE, env=SECRETS)
    assert done.returncode == 0, done.stdout
    message = done.stdout + clean.everycell("page", env=SECRETS).stdout
    packed = clean.everycell("deposit", "results", "crate.zip", env=SECRETS)
    assert packed.returncode == 0, packed.stdout
    message += packed.stdout
    # The archive is compressed.
    with zipfile.ZipFile(clean.folder / "crate.zip") as crate:
        crate.extractall(clean.folder / "crate")
    files = written(clean)
    (clean.folder / TABLE).unlink()
    script = clean.folder / "workflow/papers/sakai2023/ch1.py"
    script.write_text(script.read_text(encoding="utf-8") + "\nraise RuntimeError('broken')\n")
    broken = clean.snakemake("--cores", "1", TABLE, env=SECRETS)
    # A function that nobody foresaw fails with a traceback, in the log and on the terminal.
    assert broken.returncode != 0 and "Traceback" in broken.stdout
    # Snakemake removed what it was about to make, the receipt too.
    files |= {f"broken/{name}": content for name, content in written(clean).items()}
    # The files include logs, a receipt and the page.
    parts = ("logs/", ".snakemake/log/", ".receipt.json", "results/index.html", "crate/")
    for part in parts:
        assert any(part in name for name in files), f"no {part} among what was written"
    assert [name for name, content in files.items() if b"open-sesame" in content] == []
    assert "open-sesame" not in message + broken.stdout


def test_written_finds_secret(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text(f"sent {SECRETS['HF_TOKEN']}")
    assert b"open-sesame-1" in written(Project(tmp_path))["logs/a.log"]
