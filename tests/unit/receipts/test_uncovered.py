"""Code that ran beside the code of a job and installed packages."""

import base64
import hashlib
import importlib
import os
import site
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from receipt_files import in_all_forms

from everycell.base.files import sha256
from everycell.receipts.receipts import verify, write_receipt
from everycell.receipts.uncovered import (
    faults_of_uncovered_code,
    uncommitted_modules,
    uncovered_code,
)


@pytest.fixture
def project(tmp_path, monkeypatch) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setattr(site, "getsitepackages", lambda: [str(tmp_path / "site-packages")])
    monkeypatch.setattr(site, "ENABLE_USER_SITE", False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    (tmp_path / "site-packages").mkdir()
    return folder


def _loaded(folder: Path, name: str, monkeypatch) -> Path:
    """Import a module from a folder that is put on the path."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.py"
    file.write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, name, raising=False)
    importlib.import_module(name)
    return file


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("project/lib", "lib/toy_helper.py"),
        ("project/.snakemake/scripts", ".snakemake/scripts/toy_helper.py"),
        ("elsewhere", "{}/elsewhere/toy_helper.py"),
        ("site-packages", None),
    ],
)
def test_uncovered_code_module(project, monkeypatch, folder, expected):
    root = project.parent
    file = _loaded(root / folder, "toy_helper", monkeypatch)
    hashes = uncovered_code([], Path())
    name = None if expected is None else expected.format(root)
    names = {path for path in hashes if path.endswith("toy_helper.py")}
    assert names == ({name} if name else set())
    if folder == "project/lib":
        assert name not in uncovered_code([file.relative_to(project)], Path())
    monkeypatch.delitem(sys.modules, "toy_helper")


def test_uncovered_code_module_of_the_library(project):
    name = "src/everycell/receipts/uncovered.py"
    source = Path(sys.modules["everycell.receipts.uncovered"].__file__)
    assert name in uncovered_code([], Path())
    assert name not in uncovered_code([source], Path())


@pytest.mark.parametrize("name", ["toy.pth", "sitecustomize.py", "usercustomize.py"])
@pytest.mark.parametrize("state", ["installed", "edited", "unknown"])
def test_uncovered_code_run_at_the_start(project, name, state):
    folder = project.parent / "site-packages"
    record = folder / "toy-1.dist-info/RECORD"
    record.parent.mkdir()
    (folder / name).write_text("import toy\n")
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"import toy\n").digest()).decode().rstrip("=")
    if state != "unknown":
        record.write_text(f"{name},sha256={digest},11\n")
    if state == "edited":
        (folder / name).write_text("import evil\n")
    listed = str(folder / name) in uncovered_code([], Path())
    assert listed == (state != "installed")


def test_uncovered_code_of_virtualenv(project):
    file = project.parent / "site-packages/_virtualenv.pth"
    file.write_text("import _virtualenv\n")
    assert str(file) not in uncovered_code([], Path())
    file.write_text("import _virtualenv, evil\n")
    assert str(file) in uncovered_code([], Path())


@pytest.mark.parametrize("variable", ["PYTHONPATH", "LD_PRELOAD", "LD_AUDIT", "path"])
@pytest.mark.parametrize("folder", ["elsewhere", "project/build"])
def test_uncovered_code_of_variables(project, monkeypatch, variable, folder):
    """They run before the job, and may leave no trace among its modules."""
    file = project.parent / folder / "sitecustomize.py"
    file.parent.mkdir()
    file.write_text("")
    if variable == "path":  # such as by a `.pth` file
        monkeypatch.syspath_prepend(file.parent)
    else:
        monkeypatch.setenv(variable, str(file.parent if variable == "PYTHONPATH" else file))
    assert str(file) in uncovered_code([], Path())


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs the files of Linux")
@pytest.mark.parametrize("name", ["libm.so.6", "/usr/$LIB/libm.so.6", "/usr/${LIB}/libm.so.6"])
def test_uncovered_code_of_a_library_by_name(tmp_path, name):
    """The loader finds libraries by their names and by tokens, which are no paths."""
    code = """
from pathlib import Path
from everycell.receipts.uncovered import uncovered_code
print(*uncovered_code([], Path()))
"""
    command = [sys.executable, "-c", code]
    for variables, is_listed in (({}, False), ({"LD_PRELOAD": name}, True)):
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=True,
        )
        assert ("/libm" in done.stdout) == is_listed


def test_uncovered_code_of_an_archive(project, monkeypatch):
    archive = project.parent / "elsewhere.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("toy_in_archive.py", "VALUE = 1")
    monkeypatch.syspath_prepend(archive)
    importlib.import_module("toy_in_archive")
    assert str(archive) in uncovered_code([], Path())
    monkeypatch.delitem(sys.modules, "toy_in_archive")


@pytest.mark.parametrize(
    ("name", "text", "is_fault"),
    [("lib/a.py", "1", False), ("lib/a.py", "2", True), ("lib/gone.py", "1", True)],
)
def test_faults_of_uncovered_code_in_the_project(project, name, text, is_fault):
    (project / "lib").mkdir()
    (project / "lib/a.py").write_text(text)
    hashes = {name: hashlib.sha256(b"1").hexdigest()}
    assert bool(faults_of_uncovered_code(hashes, "It was made", project)) == is_fault


def test_verify_uncovered_code(project):
    table = project / "results/embedded/toy/table_1.csv"
    table.parent.mkdir(parents=True)
    table.write_text("a,1\n")
    receipt = table.with_name("table_1.receipt.json")
    write_receipt(
        receipt,
        artefact="toy/table_1",
        tier="embedded",
        inputs={},
        outputs=in_all_forms(table),
        parameters={},
        seed=None,
        code="",
        seconds=0,
        root=project,
        uncovered_code={"/site/evil.pth": "0" * 64},
    )
    [fault] = verify(receipt, project)
    assert "/site/evil.pth" in fault


@pytest.mark.fault("receipt")
@pytest.mark.parametrize("pattern", ["*.local.py", "/private/", ".gitignore", "private/a*"])
@pytest.mark.parametrize("state", ["new", "committed", "edited"])
def test_faults_of_uncovered_code_not_in_git(project, pattern, state):
    """A clone of the project has no such file, whether or not Git ignores it."""
    name = "private/a.local.py"
    file = project / name
    file.parent.mkdir()
    file.write_text("")
    (project / ".gitignore").write_text(f"{pattern}\n")
    git = ["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (
        ["init", "-q"],
        ["add", "-f", ".gitignore" if state == "new" else "."],
        ["commit", "-qm", "First"],
    ):
        subprocess.run([*git, *command], check=True)
    if state == "edited":
        file.write_text("a = 1\n")
    faults = faults_of_uncovered_code({name: sha256(file)}, "It was made", project)
    assert [name in fault and "not in Git" in fault for fault in faults] == (
        [] if state == "committed" else [True]
    )


@pytest.mark.fault("receipt")
@pytest.mark.parametrize("folder", ["src", "workflow"])
@pytest.mark.parametrize(
    "name", ["bottleneck.py", "numexpr/__init__.py", "sitecustomize.py", "a.so"]
)
@pytest.mark.parametrize("state", ["new", "ignored", "edited", "committed"])
def test_uncommitted_modules(project, folder, name, state):
    """Modules of a project that no script imports, but an installed package might."""
    git = ["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@b"]
    file = project / folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    (project / ".gitignore").write_text("*\n" if state == "ignored" else "")
    if state in ("edited", "committed"):
        file.write_text("")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "First", "--allow-empty"]):
        subprocess.run([*git, *command], check=True)
    if state != "committed":
        file.write_text("a = 1\n")
    expected = [] if state == "committed" else [f"{folder}/{name}"]
    assert uncommitted_modules(project) == expected


def test_uncommitted_modules_linked_folder(project):
    """The folder of the code itself may be a link, which no commit covers."""
    (project / "real").mkdir()
    (project / "src").symlink_to("real")
    git = ["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "First"]):
        subprocess.run([*git, *command], check=True)
    assert uncommitted_modules(project) == []


@pytest.mark.parametrize("is_imported", [True, False])
def test_uncommitted_modules_of_the_code(project, is_imported):
    """A module that a function of a chapter imports has a hash, and may be worked on."""
    (project / "src").mkdir()
    (project / "src/helper.py").write_text("")
    (project / "workflow/papers/toy").mkdir(parents=True)
    (project / "workflow/papers/toy/ch1.py").write_text("import helper\n" * is_imported)
    git = ["git", "-C", project, "-c", "user.name=a", "-c", "user.email=a@b"]
    for command in (["init", "-q"], ["commit", "-qm", "First", "--allow-empty"]):
        subprocess.run([*git, *command], check=True)
    assert uncommitted_modules(project) == ([] if is_imported else ["src/helper.py"])
