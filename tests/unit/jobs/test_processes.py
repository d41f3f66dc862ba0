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
    for script in (tmp_path / "workflow").glob("*.py"):
        script.write_text("#!/usr/bin/env python3\n")
        script.chmod(0o755)
    yield tmp_path
    allow_processes(())


PROCESSES = {
    "module": ["-m", "workflow.{}"],
    "module on a path": ["-B", "-X", "dev", "-m", "{}"],
    "file": ["workflow/{}.py", "argument"],
    "package": ["-m", "workflow.{}.__main__"],
    "joined flags": ["-Im", "{}"],
    "joined module": ["-Bmworkflow.{}"],
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


@pytest.mark.parametrize(
    "options", [["-c", "import other"], ["-Bc", "1"], ["-"], [], ["-m", "missing"], ["-m"]]
)
def test_allow_processes_unknown_code(project, options):
    with pytest.raises(UncoveredProcessError):
        subprocess.run([sys.executable, *options], check=False)


COMMANDS = {
    "shebang": ["workflow/{}.py"],
    "quoted": ["bash", "-ec", "'python3' workflow/{}.py"],
    "wrapped": ["env", "-u", "A", "B=1", "nice", "-n", "1", "python3", "workflow/{}.py"],
    "env -S": ["env", "-S", "python3 workflow/{}.py"],
    "keyword": ["sh", "-c", "if true\nthen A=1 python3 workflow/{}.py 2>&1; fi"],
    "substitution": ["sh", "-c", "echo $(python3 < /dev/null workflow/{}.py)"],
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_allow_processes_hidden_python(project, command):
    subprocess.run([word.format("covered") for word in command], check=True)
    with pytest.raises(UncoveredProcessError):
        subprocess.run([word.format("other") for word in command], check=False)


def test_allow_processes_executable(project):
    subprocess.run(["a", "workflow/covered.py"], executable=sys.executable, check=True)
    (project / "link").symlink_to(sys.executable)
    for executable in (sys.executable, "./link"):
        with pytest.raises(UncoveredProcessError):
            subprocess.run(["a", "workflow/other.py"], executable=executable, check=False)


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "--version"],
        ["python3", "-IVV"],
        ["grep", "-c", "python3", "workflow/covered.py"],
        ["ls", sys.executable],
        [sys.executable, "-Im", "json.tool", "--help"],
        ["sh", "-c", "echo 'it is' python3 > python; cat < python # python3"],
        ["pytest", "--version"],
    ],
    ids=" ".join,
)
def test_allow_processes_without_code_of_project(project, command):
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)


def test_allow_processes_installed(project):
    done = subprocess.run([sys.executable, "-m", "pytest", "--version"], check=False)
    assert done.returncode == 0
    subprocess.run(["true"], check=True)
    allow_processes(())
    subprocess.run([sys.executable, "-c", ""], check=True)


def test_allow_processes_project_among_packages(project):
    """A folder above the project does not make its code that of an installed package."""
    folder = project / "site-packages/mine"
    folder.mkdir(parents=True)
    os.chdir(folder)
    text = "import os; os.system('python3 other.py')"
    with pytest.raises(UncoveredProcessError):
        exec(compile(text, str(folder / "covered.py"), "exec"))
