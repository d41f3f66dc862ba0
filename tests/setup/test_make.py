"""The Makefile: settings are honoured, and set-up is repeated exactly when it must be."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


def make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # A make that runs these tests would hand its own settings on.
    inherited = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "CORES", "TARGET", "PYTHON"}
    inherited |= {"PYTEST_ARGS", "WORKERS"}
    environment = {key: value for key, value in os.environ.items() if key not in inherited}
    command = ["make", "--no-print-directory", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a copy of what set-up reads, in a folder whose name holds a space."""
    folder = tmp_path / "a clone"
    shutil.copytree(REPOSITORY / "envs", folder / "envs")
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy2(REPOSITORY / name, folder)
    return folder


@pytest.fixture
def set_up(checkout: Path) -> Path:
    """Return the same as if set-up had gone well there: an empty environment with its stamps."""
    command = ["python3.11", "-m", "venv", "--without-pip", str(checkout / ".venv")]
    subprocess.run(command, check=True)
    stamps = checkout / ".venv" / "stamps"
    stamps.mkdir()
    for name in (
        "venv",
        "base",
        "project",
        "lucene",
        "torch",
        "torch-cpu",
        "cluster",
        "corpora",
        "test",
    ):
        (stamps / name).touch()
    return checkout


@pytest.mark.parametrize(
    ("settings", "command"),
    [([], "--cores 2 \n"), (["CORES=5", "TARGET=a_ch4"], "--cores 5 a_ch4\n")],
)
def test_reproduce_cores_and_target(set_up, settings, command):
    assert f"everycell make {command}" in make(set_up, "-n", "reproduce", *settings).stdout


def test_help(checkout):
    output = make(checkout).stdout
    assert "3 GB" in output
    for target in ("reproduce", "test", "setup", "setup-test", "setup-bench", "lint", "bench"):
        assert f"  make {target} " in output
    assert not (checkout / ".venv").exists()


@pytest.mark.parametrize("variable", ["HOME", "XDG_CACHE_HOME", "UV_CACHE_DIR"])
def test_setup_no_writable_cache(checkout, monkeypatch, variable):
    for name in ("XDG_CACHE_HOME", "UV_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, "/proc/none")
    done = make(checkout, "setup-light")
    message = done.stderr.splitlines()[0]
    assert done.returncode == 2 and "/proc/none" in message and "UV_CACHE_DIR" in message
    assert not (checkout / ".venv").exists()


def test_setup_twice(set_up):
    assert "Nothing to be done" in make(set_up, "setup").stdout


@pytest.mark.parametrize("goal", ["reproduce", "test"])
def test_goals_need_lucene_and_torch(set_up, goal):
    for name in ("lucene", "torch", "torch-cpu"):
        (set_up / ".venv" / "stamps" / name).unlink()
    planned = make(set_up, "-n", goal).stdout
    for name in ("lucene", "torch", "torch-cpu"):
        assert f"-r envs/{name}.lock" in planned
    assert "-r envs/base.lock" not in planned


def test_bench_packages(set_up):
    assert "-r envs/bench.lock" in make(set_up, "-n", "bench").stdout
    assert "-r envs/bench.lock" not in make(set_up, "-n", "test").stdout


def test_test_runs_linters_first(set_up):
    planned = make(set_up, "-n", "test").stdout
    steps = ["ruff check", "ruff format --check", "snakefmt --check", "python -m pytest"]
    assert [planned.index(step) for step in steps] == sorted(map(planned.index, steps))


@pytest.mark.slow
def test_test_faults_options(set_up, tmp_path):
    planned = make(set_up, "-n", "test-faults", "WORKERS=0").stdout.replace("\\\n", "")
    page = shutil.copy2(REPOSITORY / "docs" / "reliability.md", tmp_path)
    command = shlex.split(planned.partition(" -m pytest ")[2].replace("docs/reliability.md", page))
    # Of the tests a folder is enough.
    folders = ("docs", "page", "rehearsal", "setup", "truth", "unit", "workflow")
    further = ["--ignore=src", *(f"--ignore=tests/{name}" for name in folders)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *command, "--collect-only", *further],
        capture_output=True,
        text=True,
        cwd=REPOSITORY,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "tests/cluster" in done.stdout


def test_setup_changed_lock(set_up):
    os.utime(set_up / "envs" / "test.lock", (2**32, 2**32))
    planned = make(set_up, "-n", "setup-test").stdout
    assert "-r envs/test.lock" in planned
    assert "-r envs/base.lock" not in planned and "-m venv" not in planned


def unfinished(folder: Path) -> None:
    (folder / ".venv" / "unfinished").touch()


def without_interpreter(folder: Path) -> None:
    (folder / ".venv" / "bin" / "python").unlink()


def cut_short_before_the_first_stamp(folder: Path) -> None:
    shutil.rmtree(folder / ".venv" / "stamps")


def of_another_folder(folder: Path) -> None:
    settings = folder / ".venv" / "pyvenv.cfg"
    settings.write_text(settings.read_text().replace(str(folder), "/elsewhere"))


@pytest.mark.parametrize(
    "damage",
    [unfinished, without_interpreter, cut_short_before_the_first_stamp, of_another_folder],
)
def test_setup_damaged_environment(set_up, damage):
    damage(set_up)
    planned = make(set_up, "-n", "setup").stdout
    assert f'-m venv --clear "{set_up}/.venv"' in planned
    assert "is incomplete or was moved" in planned
    assert "-r envs/base.lock" in planned


def test_setup_missing_python(checkout):
    done = make(checkout, "setup", "PYTHON=python-that-is-not")
    assert done.returncode != 0
    assert "'python-that-is-not' was not found" in done.stderr
    assert "PYTHON=/path/to/python3.11" in done.stderr


def test_find_python_by_uv(checkout, tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname"):
        (tools / name).symlink_to(shutil.which(name))
    # A stub of uv: the real one needs a host that is unreachable here.
    (tools / "uv").write_text(
        '#!/bin/sh\n[ "$2" = install ] && : > "$0.installed"\n'
        '[ -e "$0.installed" ] && echo /path/by/uv/python3.11\n'
    )
    (tools / "uv").chmod(0o755)
    done = subprocess.run(
        ["sh", "envs/find_python.sh", "python3.11"],
        cwd=checkout,
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["/path/by/uv/python3.11"]
    assert "No python3.11 on the path" in done.stderr


def test_setup_other_python(checkout):
    other = checkout / "other-python"
    other.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.8.1 || exit 1\n')
    other.chmod(0o755)
    done = make(checkout, "setup", f"PYTHON={other}")
    assert done.returncode != 0
    assert "is Python 3.8.1, but everycell needs Python 3.11" in done.stderr
    assert not (checkout / ".venv").exists()


@pytest.mark.slow
def test_setup_failed_installation(checkout):
    (checkout / "envs" / "installer.lock").write_text("this line is no requirement\n")
    done = make(checkout, "setup")
    assert done.returncode != 0
    assert (checkout / ".venv" / "unfinished").exists()
    assert not (checkout / ".venv" / "stamps").exists()


def test_setup_find_links(set_up, monkeypatch):
    (set_up / ".venv" / "stamps" / "torch-cpu").unlink()
    monkeypatch.setenv("PIP_FIND_LINKS", "/some/wheels")
    planned = make(set_up, "-n", "setup-torch").stdout
    assert '--find-links "/some/wheels"' in planned and "--torch-backend" not in planned
    monkeypatch.delenv("PIP_FIND_LINKS")
    planned = make(set_up, "-n", "setup-torch").stdout
    assert "--find-links" not in planned and "--torch-backend cpu" in planned


def test_clean_results(checkout):
    results = checkout / "results" / "embedded"
    results.mkdir(parents=True)
    (results / "table.csv").touch()
    (checkout / "results" / "README.md").touch()
    assert make(checkout, "clean-results").returncode == 0
    assert [path.name for path in (checkout / "results").iterdir()] == ["README.md"]


@pytest.mark.parametrize(("code", "message"), [(0, ""), (1, "in envs/audit.lock envs/base.lock")])
def test_audit_locks(set_up, code, message):
    # A stub of pip-audit: the service of the real one is unreachable here.
    stub = set_up / ".venv" / "audit" / "bin" / "pip-audit"
    stub.parent.mkdir(parents=True)
    stub.write_text(f'#!/bin/sh\necho "$@" >> asked\nexit {code}\n')
    stub.chmod(0o755)
    (set_up / ".venv" / "stamps" / "audit").touch()
    done = make(set_up, "audit")
    assert (done.returncode != 0) == bool(code) and message in done.stderr
    requests = (set_up / "asked").read_text().splitlines()
    assert [line.split()[-1] for line in requests] == sorted(
        f"envs/{path.name}" for path in (set_up / "envs").glob("*.lock")
    )
    # Strict: a package unknown to the service may still have vulnerabilities.
    assert all("--strict" in line for line in requests)


def test_audit_installed_with_hashes(set_up):
    planned = make(set_up, "-n", "audit").stdout.replace("\\\n", "")
    assert re.search(r"\.venv/audit/\S+ .*--require-hashes -r envs/audit\.lock", planned)
