"""docs/your-own-paper.md followed literally: a repository from two runs, and a second chapter."""

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import yaml
from workflow.project import REPOSITORY

from everycell.records.tables import Record
from everycell.verdicts.reports import VERDICTS

#: A paragraph that begins with the name of a file, and the file's content; or a block of commands.
BLOCK = re.compile(
    r"^(?:\d+\. )?(?:`(?P<path>[^`\n]+)`[^\n]*(?:\n[^\n]+)*\n\n)?"
    r" *```(?P<kind>\w+)\n(?P<body>.*?)^ *```$",
    re.M | re.S,
)
PAPER = "smith2026"


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    """Return the text of the page."""
    return (repository / "docs/your-own-paper.md").read_text("utf-8")


@pytest.fixture(scope="module")
def followed(page: str, tmp_path_factory) -> tuple[Path, str]:
    """Return the repository after all steps of the page, and the output of the commands."""
    # Blanks and an umlaut, as folders of users have them.
    folder = tmp_path_factory.mktemp("own") / "Büro von mir"
    folder.mkdir()
    first, later = page.split("\n## How to\n")
    second = later.split("\n## A complete chapter\n")[1]
    output = follow(first, folder)
    return folder / PAPER, output + follow(second, folder / PAPER)


def follow(section: str, folder: Path) -> str:
    """Write the files of a section and run its commands in order."""
    output = ""
    for block in BLOCK.finditer(section):
        body = textwrap.dedent(block["body"])
        if block["kind"] == "bash":
            output += run(folder, body)
            if match := re.search(r"^cd (.+)$", body, re.M):
                folder = folder / match[1]
        elif block["path"]:
            path = folder / block["path"]
            path.parent.mkdir(parents=True, exist_ok=True)
            before = path.read_text("utf-8") if path.exists() else ""
            if path.name == "Snakefile":
                assert before.count("include: FINISH\n") == 1
                body = before.replace("include: FINISH\n", f"{body}include: FINISH\n")
            elif path.name == "config.yaml":
                body = before + body
            else:
                assert not before, f"{path} exists already"
            path.write_text(body, "utf-8")
    return output


def run(folder: Path, commands: str) -> str:
    """Run commands with the installed everycell; return what they write."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"COLUMNS": "500", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_your_own_paper_files(page):
    files = [block["path"] for block in BLOCK.finditer(page) if block["path"]]
    assert files == [
        "bm25.run",
        "reranked.run",
        "qrels.txt",
        "table.md",
        "../precision.csv",
        f"published/{PAPER}/table_2.csv",
        f"published/{PAPER}/ch2.yaml",
        *(f"workflow/papers/{PAPER}/{name}" for name in ("ch2_audits.py", "ch2.py", "ch2.smk")),
        "config.yaml",
        "Snakefile",
    ]


def test_your_own_paper_fields(page):
    record = {"kind": "table", "title": "A table", "source": "p. 1"}
    record["tiers"] = {"released": {"state": "reproduced", "needs": "nothing"}}
    section = page.split("\n## How to\n")[1].split("\n## A complete chapter\n")[0]
    snippets = [yaml.safe_load(body) for body in re.findall(r"```yaml\n(.*?)```", section, re.S)]
    assert len(snippets) >= 5
    for snippet in snippets:
        for fields in snippet.get("artefacts", {"table_1": snippet}).values():
            Record.model_validate(record | fields)


def check_table_1(own, page, output):
    """The page shows what the command writes; blanks may differ."""
    example = page.split("everycell show smith2026/table_1\n```\n\n```text\n")[1].split("```")[0]
    assert " ".join(example.split()) in " ".join(output.split())
    cells = (own / "results/cells.csv").read_text("utf-8").splitlines()
    assert sum(",different," in cell for cell in cells) == 1


def check_chapter_2(own):
    listed = json.loads(run(own, f"everycell list {PAPER} --format json"))
    states = {entry["id"]: entry["state"] for entry in listed}
    names = ("table_1", "table_2", "figure_1")
    assert states == dict.fromkeys((f"{PAPER}/{name}" for name in names), "reproduced")
    [table] = [entry for entry in listed if entry["id"].endswith("table_2")]
    assert table["verdicts"] == dict.fromkeys(VERDICTS, 0) | {"equal": 2}
    assert table["claims"]["supported"] == 1
    results = own / f"results/released/{PAPER}"
    [erratum] = json.loads((results / "table_2.verdicts.json").read_text())["errata"]
    assert erratum["audit"]["holds"] and "80.6 % by the published means" in str(erratum["audit"])
    receipt = json.loads((results / "table_2.receipt.json").read_text())
    assert receipt["parameters"]["queries"] == 2


def check_only_the_own_paper_is_shown(own):
    page = (own / "results/index.html").read_text("utf-8")
    assert "Two systems per query" in page
    keys = [path.parent.name for path in (REPOSITORY / "published").glob("*/paper.yaml")]
    assert len(keys) > 4 and not [key for key in keys if key in page]
    assert "are valid" in run(own, "everycell verify")


def check_its_files_pass_the_linters(own, settings):
    run(own, "snakefmt --check Snakefile workflow")
    # Which imports are the repository's depends on where the settings are.
    run(own, f"ruff check --config {settings} --ignore I001 workflow")
    run(own, f"ruff format --config {settings} --check workflow")


@pytest.mark.slow
def test_your_own_paper_followed(followed, page, repository):
    """One test, since workers that share these checks would each run the paper first."""
    own, output = followed
    check_table_1(own, page, output)
    check_chapter_2(own)
    check_only_the_own_paper_is_shown(own)
    check_its_files_pass_the_linters(own, repository / "pyproject.toml")
