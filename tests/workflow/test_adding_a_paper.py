"""The complete example of docs/your-own-paper.md, added to a copy of the repository.

Only the released file comes from a server, as from an author's archive.
"""

import json
import re
import shutil
import subprocess
import textwrap
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from workflow.project import HALF_WRITTEN, Project, quick_site

from everycell.engine.artefacts import load_papers
from everycell.engine.card_checks import check_cards
from everycell.engine.registry import forget_registry, load_registry
from everycell.engine.reports import VERDICTS

# A step names a file; the block below it is the file's content.
STEP = re.compile(r"^\d+\. `(?P<path>[^`]+)`.*?\n\n(?P<block> +```.*?^ +```)$", re.M | re.S)
COPIED = (
    ".gitignore",
    "config.yaml",
    "Snakefile",
    "pyproject.toml",
    "published",
    "src",
    "workflow",
    "envs",
    "profiles",
)
PAPER = "toy2026"


@pytest.fixture(scope="module")
def steps(repository: Path) -> dict[str, str]:
    """Return path and content of each file that the section shows."""
    page = (repository / "docs" / "your-own-paper.md").read_text("utf-8")
    section = page.split("## A complete example")[1]
    found = {}
    for step in STEP.finditer(section.split("\n## ")[0]):
        lines = textwrap.dedent(step["block"]).splitlines()
        found[step["path"]] = "\n".join(lines[1:-1]) + "\n"
    return found


@pytest.fixture(scope="module")
def untouched(repository: Path, tmp_path_factory) -> Path:
    """Return a copy of the repository, under git."""
    folder = tmp_path_factory.mktemp("repository")
    for name in COPIED:
        source = repository / name
        if source.is_dir() and not source.is_symlink():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name, follow_symlinks=False)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    author = ("-c", "user.name=N. N.", "-c", "user.email=nobody@example.org")
    git(folder, *author, "commit", "--quiet", "--message", "Before")
    return folder


def git(folder: Path, *words: str) -> str:
    """Run git in the copy."""
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture(scope="module")
def copy(untouched: Path, steps: dict[str, str]) -> Path:
    """Return the copy after the section's files were added."""
    folder = untouched
    for path, content in steps.items():
        if path != "Snakefile":
            assert not (folder / path).exists(), f"{path} is there already"
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content, "utf-8")
    snakefile = folder / "Snakefile"
    before = snakefile.read_text("utf-8")
    last = "include: FINISH\n"
    assert before.count(last) == 1
    snakefile.write_text(before.replace(last, steps["Snakefile"] + last), "utf-8")
    return folder


def run(folder: Path, *command: str, fails: bool = False) -> str:
    """Run a command of the environment with the copy's library; return what it printed."""
    # A proxy of the machine must not be asked for 127.0.0.1.
    done = Project(folder).run(*command, env={"NO_PROXY": "127.0.0.1"})
    assert (done.returncode != 0) == fails, done.stdout
    return done.stdout


class Files(SimpleHTTPRequestHandler):
    """A server of the files of a folder, which notes what was asked."""

    asked: list[str] = []

    def log_request(self, code="-", size="-"):
        self.asked.append(self.path)


@pytest.fixture
def built(copy: Path):
    """Yield the copy after the section's run, with a server in place of the mirror."""
    handler = partial(Files, directory=copy / "mirror")
    http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://127.0.0.1:{http.server_port}/toy-runs/precision.csv"
    before = load_registry(copy).entry("toy-runs/precision.csv")
    run(copy, "everycell", "paper", "add-data", PAPER, url, "--set", "toy-runs", "--replace")
    forget_registry()
    after = load_registry(copy).entry("toy-runs/precision.csv")
    assert (before.state, after.state) == ("mirror", "network")
    assert before.contents == after.contents
    shutil.rmtree(copy / "resources")
    run(copy, "everycell", "make", PAPER, "--cores", "1")
    yield copy
    http.shutdown()
    http.server_close()


def test_the_section_shows_a_whole_paper(steps):
    study = f"src/everycell/studies/{PAPER}/ch1"
    assert list(steps) == [
        f"published/{PAPER}/paper.yaml",
        f"published/{PAPER}/table_1.csv",
        f"published/{PAPER}/ch1.yaml",
        f"published/{PAPER}/registry.yaml",
        "mirror/toy-runs/precision.csv",
        f"{study}/settings.py",
        f"{study}/audits.py",
        f"{study}/figures.py",
        f"workflow/rules/{PAPER}/ch1_inputs.smk",
        f"workflow/rules/{PAPER}/ch1.smk",
        f"workflow/scripts/{PAPER}/ch1/means.py",
        "Snakefile",
    ]
    assert len(steps["Snakefile"].splitlines()) == 1


def test_its_cards_and_cells_agree(copy):
    assert check_cards(load_papers(copy / "published")) == []


def test_its_files_pass_the_linters(copy, steps):
    rules = [path for path in steps if path.endswith(".smk")]
    scripts = [path for path in steps if path.endswith(".py")]
    run(copy, "snakefmt", "--check", "Snakefile", *rules)
    run(copy, "ruff", "check", *scripts)
    run(copy, "ruff", "format", "--check", *scripts)


def check_each_printed_cell_has_a_verdict(built):
    table, figure = json.loads(run(built, "everycell", "list", PAPER, "--format", "json"))
    none = dict.fromkeys(VERDICTS, 0)
    assert table == {
        "id": f"{PAPER}/table_1",
        "kind": "table",
        "tier": "released",
        "state": "reproduced",
        "verdicts": none | {"equal": 2},
        "explained": {"print": 0, "copy": 0, "method": 0},
        "claims": {"supported": 1, "contradicted": 0, "inconclusive": 0, "not testable here": 0},
    }
    assert (figure["id"], figure["state"]) == (f"{PAPER}/figure_1", "reproduced")


def check_its_audit_shows_its_erratum(built):
    verdicts = json.loads((built / f"results/released/{PAPER}/table_1.verdicts.json").read_text())
    [erratum] = verdicts["errata"]
    assert erratum["audit"]["holds"] and "80.6 % by the published means" in str(erratum["audit"])


def check_its_settings_are_in_the_configuration(built):
    receipt = json.loads((built / f"results/released/{PAPER}/table_1.receipt.json").read_text())
    assert receipt["parameters"]["queries"] == 2
    refused = run(built, "snakemake", "-n", PAPER, "--config", "toy={queries: 0}", fails=True)
    assert "`toy.queries` is '0'; allowed is: a valid integer, at least 1." in refused


def check_its_released_file_came_from_the_server(built, steps):
    assert Files.asked == ["/toy-runs/precision.csv"] * 2  # to hash it, and by the run
    fetched = (built / "resources/toy-runs/precision.csv").read_text("utf-8")
    assert fetched == steps["mirror/toy-runs/precision.csv"]


def check_the_page_shows_it(built):
    page = (built / "results" / "index.html").read_text("utf-8")
    assert "A toy paper on two systems" in page
    assert "Mean average precision of two systems" in page


def check_its_receipt_verifies(built):
    assert "All 2 receipts in results hold." in run(built, "everycell", "verify")


def check_the_site_has_a_page_of_its_results(built, tmp_path):
    shutil.copytree(built, tmp_path / "project", symlinks=True, ignore=HALF_WRITTEN)
    site = quick_site(Project(tmp_path / "project"))
    page = (site / f"papers/{PAPER}.html").read_text("utf-8")
    assert "A toy paper on two systems" in page and "Results of chapter 1" in page
    start = (site / "index.html").read_text("utf-8")
    assert f'href="papers/{PAPER}.html"' in start  # in the navigation


def check_no_other_file_was_touched(built, steps):
    changes = git(built, "status", "--porcelain", "--untracked-files=all").splitlines()
    # Released data are in no repository.
    added = {path for path in steps if path != "Snakefile" and not path.startswith("mirror/")}
    assert set(changes) == {" M Snakefile"} | {f"?? {path}" for path in added}
    assert git(built, "diff", "--numstat", "Snakefile").split() == ["1", "0", "Snakefile"]


def test_it_runs_to_verdicts_and_pages(built, steps, tmp_path):
    """One test, since workers that share these checks would each run the paper first."""
    check_each_printed_cell_has_a_verdict(built)
    check_its_audit_shows_its_erratum(built)
    check_its_settings_are_in_the_configuration(built)
    check_its_released_file_came_from_the_server(built, steps)
    check_the_page_shows_it(built)
    check_its_receipt_verifies(built)
    check_the_site_has_a_page_of_its_results(built, tmp_path)
    check_no_other_file_was_touched(built, steps)
