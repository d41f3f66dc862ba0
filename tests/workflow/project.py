"""A copy of the project, run by the environment's own snakemake as a user would."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.types import OutputSettings, ResourceSettings
from snakemake.utils import update_config

from workflow import forked

REPOSITORY = Path(__file__).resolve().parents[2]
#: Parts that the workflow reads; the others (tests, docs) do not change a run.
PARTS = (
    "Snakefile",
    "config.yaml",
    "envs",
    "profiles",
    "published",
    "pyproject.toml",
    "recorded",
    "results",
    "src",
    "workflow",
)
#: Folders of intermediate and of fetched files, a gigabyte in a copy with all results. Jobs replace
#: files there and never write into one that already exists.
LARGE = ("resources", "work")
#: Python and numba write what they compile under a temporary name, which may be gone before it is
#: copied.
HALF_WRITTEN = shutil.ignore_patterns("*.pyc.*", "*.nb[ci].tmp.*")
#: Settings of a copy instead of the committed ones: the same jobs on a few queries, in seconds.
#: Their results mean nothing.
SMALL = {
    "{test: 130, validation: 65, known_items: 130, "
    "packages: [numpy, scipy, pandas, sklearn, networkx]}": (
        "{test: 6, validation: 4, known_items: 4, packages: [networkx]}"
    ),
    "tuning: {k1: [0.9, 1.5, 2.75, 4.0, 6.0], b: [0.4, 0.75, 1.0]}": (
        "tuning: {k1: [0.9], b: [0.4, 1]}"
    ),
    "{training: 64, text: 256, query: 256, expanded: 448, zero_shot: 96, pair: 96}": (
        "{training: 16, text: 16, query: null, expanded: 24, zero_shot: 16, pair: 16}"
    ),
    "pairs: 6000": "pairs: 16",
    "    test: 100\n    validation: 60\n    train: 440\n": (
        "    test: 6\n    validation: 4\n    train: 50\n"
    ),
    "pairs: 16000": "pairs: 16",
    "{dialogues: 120, test_dialogues: 40, dissatisfied: 0.06, noise: 0.03, steps: 60, pairs: 20}": (
        "{dialogues: 60, test_dialogues: 15, dissatisfied: 0.06, noise: 0.03, steps: 4, pairs: 2}"
    ),
    "noise_seeds: 20": "noise_seeds: 2",
    "epochs: 30\n  epochs_of_code: 10\n  samples: 1000": (
        "epochs: 3\n  epochs_of_code: 1\n  samples: 50"
    ),
    "planted_lists: 24": "planted_lists: 6",
    "simulated_lists: 100": "simulated_lists: 2",
    "    studies: 1000\n": "    studies: 500\n",
    "compared_lists: 12": "compared_lists: 2",
    "planted_lists: 60\n  explained_lists: {planted: 30, pydocs: 30}": (
        "planted_lists: 10\n  explained_lists: {planted: 2, pydocs: 2, mslr_web10k: 2, mq2008: 2, "
        "mq2008_fold1: 2, mslr_slice: 2}"
    ),
    "lime_samples: {mslr_slice: 1000}": (
        "lime_samples: {planted: 20, pydocs: 20, mslr_web10k: 20, mq2008: 20, mq2008_fold1: 20, "
        "mslr_slice: 20}"
    ),
    "  questions: 400\n": "  questions: 30\n",
}
#: Variables of the caller that would change a run.
FOREIGN = ("EVERYCELL_MIRROR", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "SNAKEMAKE_OUTPUT_CACHE")


def reset_signals() -> None:
    """Reset the signals of a terminal to their default action."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@dataclass
class Project:
    """A project folder and the commands that users run there."""

    folder: Path
    mirror: Path | None = None
    #: Put before each command, to take a right or a resource from it.
    prefix: list[str] = field(default_factory=list)
    #: Whether commands are forked from a process that has imported their libraries (`forked.py`).
    forks: bool = True
    #: The Python whose libraries are used.
    python: Path = Path(sys.executable)
    #: What is made without a target; none means the default target, which asks the network.
    target: tuple[str, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """Environment in which the copy's library is used, not the installed one."""
        remaining = {key: value for key, value in os.environ.items() if key not in FOREIGN}
        remaining["PATH"] = f"{self.python.parent}{os.pathsep}{remaining['PATH']}"
        remaining["PYTHONPATH"] = str(self.folder / "src")
        # A pipe is as wide as 80 columns unless told; sentences are matched as a whole.
        remaining["COLUMNS"] = "500"
        if self.mirror is not None:
            remaining["EVERYCELL_MIRROR"] = str(self.mirror)
        return remaining

    def run(self, *command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command here; standard error is part of its output, as on a terminal."""
        environment = self.environment | options.pop("env", {})
        if self.forks and command[0] in forked.COMMANDS and not (self.prefix or options):
            arguments = list(map(str, command))
            status, output = forked.run(arguments, self.folder, environment, str(self.python))
            return subprocess.CompletedProcess(arguments, status, output)
        return subprocess.run(
            [*self.prefix, *map(str, command)],
            cwd=options.pop("cwd", self.folder),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            **options,
        )

    def snakemake(self, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run("snakemake", *arguments, **options)

    def everycell(self, *arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        return self.run("everycell", *arguments, **options)

    def start(self, *command: str | Path) -> subprocess.Popen[str]:
        """Start a command in a process group of its own."""
        return subprocess.Popen(
            list(map(str, command)),
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            # A shell ignores Ctrl-C for its background processes, and nohup SIGHUP; children would
            # inherit that.
            preexec_fn=reset_signals,
        )

    def build(self, *targets: str | Path) -> str:
        """Run snakemake; a failure shows what it printed."""
        done = self.snakemake(*(targets or self.target))
        assert done.returncode == 0, done.stdout
        return done.stdout

    def planned(self, *targets: str | Path) -> dict[str, int]:
        """Number of jobs per rule in a dry run."""
        done = self.snakemake("-n", *(targets or self.target))
        assert done.returncode == 0, done.stdout
        jobs: dict[str, int] = {}
        if "Job stats:" in done.stdout:
            table = done.stdout.rpartition("Job stats:")[2].strip().split("\n\n")[0]
            jobs = {line.split()[0]: int(line.split()[1]) for line in table.splitlines()[2:]}
            assert jobs.pop("total") == sum(jobs.values())
        return jobs

    def rules(self) -> list[Any]:
        """All rules that run a script, as Snakemake reads them."""
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(self.folder)
            with SnakemakeApi(OutputSettings()) as api:
                workflow = api.workflow(ResourceSettings(cores=1), snakefile=Path("Snakefile"))
                # Snakemake's interface has no public way to the rules of a workflow.
                return [rule for rule in workflow._workflow.rules if rule.script]

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace a text that occurs once in a file."""
        file = self.folder / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} holds {old!r} {text.count(old)} times"
        file.write_text(text.replace(old, new), encoding="utf-8")

    def configure(self, settings: Mapping[str, Any]) -> None:
        """Write settings over those of config.yaml, which loses its comments."""
        file = self.folder / "config.yaml"
        full = yaml.safe_load(file.read_text(encoding="utf-8"))
        update_config(full, settings)
        file.write_text(yaml.safe_dump(full, sort_keys=False), encoding="utf-8")

    def hashes(self, below: str = "results") -> dict[str, str]:
        """Hash of each file; of a receipt, without what differs between equal runs."""
        root = self.folder / below
        return {
            path.relative_to(root).as_posix(): hashlib.sha256(stable_bytes(path)).hexdigest()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }

    def verdicts(self, name: str, tier: str = "embedded") -> dict[str, Any]:
        """Content of a verdict file."""
        path = self.folder / "results" / tier / f"{name}.verdicts.json"
        return json.loads(path.read_text(encoding="utf-8"))

    def copy_to(self, folder: Path) -> Project:
        """Copy everything, times of files included: the copy has nothing to do either.

        The large files are one file in both, so a test must not write into them; to remove them, or
        to have them made again, leaves the other copy as it is.
        """
        for entry in self.folder.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                how = os.link if entry.name in LARGE else shutil.copy2
                to = folder / entry.name
                shutil.copytree(entry, to, symlinks=True, ignore=HALF_WRITTEN, copy_function=how)
            else:
                folder.mkdir(parents=True, exist_ok=True)
                shutil.copy2(entry, folder / entry.name, follow_symlinks=False)
        return replace(self, folder=folder)

    def written(self) -> dict[str, tuple[int, int]]:
        """Size and time of the last write of each file that copies share."""
        return {
            path.relative_to(self.folder).as_posix(): (path.stat().st_size, path.stat().st_mtime_ns)
            for name in LARGE
            for path in sorted((self.folder / name).rglob("*"))
            if path.is_file()
        }


#: All that is not the same byte for byte after two builds from clean, by file, and why. A new
#: entry needs a reason that holds for users too.
UNSTABLE = {
    # Time, memory, host and date of the run: kept since a reader wants to know them.
    "*.receipt.json": re.compile(rb'"execution": \{[^{}]*\}'),
    # The page of a chapter shows the time of each result.
    "results/pages/*.html": re.compile(rb'(?:<br>Took |"seconds">)[0-9.]+ s'),
}


def stable_bytes(path: Path) -> bytes:
    """Return a file's bytes without what `UNSTABLE` names, which must be there."""
    content = path.read_bytes()
    for pattern, unstable in UNSTABLE.items():
        if path.match(pattern):
            content, result = unstable.subn(b"", content)
            assert result, f"{path} has nothing that may differ: drop it from UNSTABLE"
    return content


def copy_tree(folder: Path) -> Project:
    """Copy what the workflow reads, as git knows it (new files included), with small settings."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PARTS],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        if source.is_symlink() or source.exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name, follow_symlinks=False)
    # Compiled files of Python and numba, which compare times of files.
    for compiled in (REPOSITORY / "src").rglob("__pycache__/*"):
        position = folder / compiled.relative_to(REPOSITORY)
        if compiled.suffix in (".pyc", ".nbi", ".nbc") and position.parents[1].is_dir():
            position.parent.mkdir(exist_ok=True)
            shutil.copy2(compiled, position)
    project = Project(folder, target=("embedded",))
    for committed, small in SMALL.items():
        project.edit("config.yaml", committed, small)
    return project


def quick_site(project: Project) -> Path:
    """Build the site of a copy, but for the library's reference and the search: a minute less."""
    for name in ("mkdocs.yml", "README.md", "CONTRIBUTING.md", "LICENSE", "CITATION.cff"):
        shutil.copy2(REPOSITORY / name, project.folder / name)
    shutil.copytree(REPOSITORY / "docs", project.folder / "docs")
    (project.folder / "quick.yml").write_text("INHERIT: mkdocs.yml\nplugins: []\n")
    done = project.run("mkdocs", "build", "--strict", "--config-file", "quick.yml")
    assert done.returncode == 0, done.stdout
    return project.folder / "results/site"


def counts(report: Mapping[str, Any]) -> dict[str, int]:
    """Verdicts of a report that occur."""
    return {name: number for name, number in report["verdicts"].items() if number}
