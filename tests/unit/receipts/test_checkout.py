"""The commit in a receipt, and the code that differs from it."""

import os
import subprocess

import pytest

from everycell.receipts.checkout import (
    changed_since,
    commit_of,
    ignored_files,
    is_shallow,
    read_checkout,
    state_of_code,
)


def git(folder, *arguments):
    subprocess.run(
        ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *arguments], check=True
    )


@pytest.fixture
def project(tmp_path):
    """A repository below another folder of its Git repository, with one committed module."""
    folder = tmp_path / "papers" / "mine"
    (folder / "workflow/papers/toy").mkdir(parents=True)
    (folder / "workflow/papers/toy/ch1.py").write_text("")
    (folder / ".gitignore").write_text("generated.py\n")
    (folder / "notes.py").write_text("")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "First")
    return folder


def difference_of(project):
    code = [*(project / "workflow/papers").rglob("*.py"), *project.glob("src/*.py")]
    return state_of_code(code, read_checkout(project)["changed"], project).get("difference")


@pytest.mark.parametrize(
    "path", ["workflow/papers/toy/ch1.py", "workflow/papers/toy/generated.py", "src/helper.py"]
)
def test_difference_changed_code(project, path):
    assert difference_of(project) is None
    (project / path).parent.mkdir(exist_ok=True)
    hashes = set()
    for text in ("a = 1\n", "a = 2\n", "a = 1\n"):
        (project / path).write_text(text)
        hashes.add(difference_of(project))
    assert len(hashes) == 2 and None not in hashes
    git(project, "add", "--force", ".")
    commit = commit_of(project)
    git(project, "commit", "-qm", "Second")
    assert difference_of(project) is None
    assert changed_since(commit, project) == {path}


@pytest.mark.parametrize(
    "path", ["notes.py", "workflow/papers/toy/ch1.smk", "workflow/papers/toy/__pycache__/ch1.pyc"]
)
def test_difference_other_files(project, path):
    (project / path).parent.mkdir(exist_ok=True)
    (project / path).write_text("a = 1\n")
    assert difference_of(project) is None


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"])
def test_read_checkout_variables_of_git(project, tmp_path, monkeypatch, variable):
    commit = commit_of(project)
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    assert read_checkout(project) == {"commit": commit, "changed": []}


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_read_checkout_files_hidden_from_git(project, mark):
    path = "workflow/papers/toy/ch1.py"
    git(project, "update-index", mark, path)
    (project / path).write_text("a = 1\n")
    assert read_checkout(project)["changed"] == [path]


def test_read_checkout_without_repository(tmp_path):
    """Nobody knows then whether the code is that of a commit."""
    assert read_checkout(tmp_path) == {"commit": None, "changed": None}
    assert changed_since("0" * 40, tmp_path) is None
    assert state_of_code([tmp_path / "a.py"], None, tmp_path) == {"dirty": None}


def test_read_checkout_name_in_another_encoding(project):
    (project / "workflow/papers/toy/ch1.py").write_text("a = 1\n")
    (project / os.fsdecode(b"workflow/papers/toy/\xe9.py")).write_text("")
    changed = [os.fsencode(name) for name in read_checkout(project)["changed"]]
    assert changed == [b"workflow/papers/toy/ch1.py", b"workflow/papers/toy/\xe9.py"]


def test_is_shallow(project, tmp_path):
    git(project, "commit", "-q", "--allow-empty", "-m", "Second")
    source = (project.parents[1]).as_uri()
    git(project, "clone", "-q", "--depth=1", source, tmp_path / "clone")
    assert is_shallow(tmp_path / "clone") and not is_shallow(project)


def test_ignored_files(project, monkeypatch):
    """Without names, Git is not asked, which would list all ignored files of a project."""
    (project / "src").mkdir()
    (project / "src/generated.py").write_text("")
    assert ignored_files(["src/generated.py", "notes.py"], project) >= {"src/generated.py"}
    assert "notes.py" not in ignored_files(["src/generated.py", "notes.py"], project)
    monkeypatch.setattr("subprocess.run", None)
    assert ignored_files([], project) == set()
