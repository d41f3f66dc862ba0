"""Python processes of jobs."""

import os
import subprocess
import sys

import pytest

from everycell.jobs.processes import UncoveredProcessError, allow_processes


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a project with a covered script and package, and others that are not."""
    monkeypatch.chdir(tmp_path)
    for name in ("covered", "other"):
        (tmp_path / f"workflow/{name}").mkdir(parents=True)
        (tmp_path / f"workflow/{name}.py").touch()
        (tmp_path / f"workflow/{name}/__main__.py").touch()
    covered = (tmp_path / "workflow").glob("covered*")
    allow_processes([*covered, tmp_path / "workflow/covered/__main__.py"])
    yield tmp_path
    allow_processes(())


PROCESSES = {
    "module": ["-m", "workflow.{}"],
    "module on a path": ["-B", "-X", "dev", "-m", "{}"],
    "file": ["workflow/{}.py", "argument"],
    "package": ["-m", "workflow.{}.__main__"],
}


@pytest.mark.parametrize("form", PROCESSES)
@pytest.mark.parametrize("way", ["run", "shell", "system"])
def test_allow_processes_files(project, form, way):
    def start(name: str) -> None:
        command = [sys.executable, *(word.format(name) for word in PROCESSES[form])]
        if way == "run":
            subprocess.run(command, stderr=subprocess.DEVNULL, check=False)
        elif way == "shell":
            subprocess.run(" ".join(["true;", *command]), shell=True, check=False)
        else:
            os.system(" ".join([*command, "2> /dev/null"]))

    start("covered")
    with pytest.raises(UncoveredProcessError):
        start("other")


@pytest.mark.parametrize("options", [["-c", "import other"], ["-"], [], ["-m", "missing"]])
def test_allow_processes_unknown_code(project, options):
    with pytest.raises(UncoveredProcessError):
        subprocess.run([sys.executable, *options], check=False)


def test_allow_processes_installed(project):
    done = subprocess.run([sys.executable, "-m", "pytest", "--version"], check=False)
    assert done.returncode == 0
    subprocess.run(["true"], check=True)
    allow_processes(())
    subprocess.run([sys.executable, "-c", ""], check=True)
