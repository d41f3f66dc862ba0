"""The commit in a receipt, and the code that differs from it."""

import os
import shutil
import subprocess

import pytest

from everycell.receipts.checkout import (
    changed_since,
    commit_of,
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


@pytest.mark.parametrize(
    "variable", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"]
)
def test_read_checkout_variables_of_git(project, tmp_path, monkeypatch, variable):
    commit = commit_of(project)
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    assert read_checkout(project) == {"commit": commit, "changed": []}


CODE = "workflow/papers/toy/ch1.py"


def replace_commit(project):
    """Give the commit under its name the content of another one."""
    commit = commit_of(project)
    git(project, "add", ".")
    git(project, "commit", "-qm", "Second")
    git(project, "replace", commit, "HEAD")
    git(project, "reset", "-q", "--soft", commit)


def use_another_folder(project):
    other = f"{project.parents[1]}-other"
    shutil.copytree(project.parents[1], other)
    git(other, "checkout", "-q", ".")
    git(project, "config", "core.worktree", other)


def edit_attributes(project, attribute):
    (project.parents[1] / ".git/info/attributes").write_text(f"* {attribute}\n")
    git(project, "config", "filter.old.clean", "true")


#: Ways to hide from Git that a file is not the empty file of the commit.
HIDING = {
    "assumed": lambda project: git(project, "update-index", "--assume-unchanged", CODE),
    "skipped": lambda project: git(project, "update-index", "--skip-worktree", CODE),
    "replaced": replace_commit,
    "folder": use_another_folder,
    "filter": lambda project: edit_attributes(project, "filter=old"),
}


@pytest.mark.parametrize("way", HIDING)
def test_read_checkout_files_hidden_from_git(project, way):
    (project / CODE).write_text("a = 1\n")
    HIDING[way](project)
    assert read_checkout(project)["changed"] == [CODE]


@pytest.mark.parametrize("kind", ["tree", "blob"])
def test_changed_since_no_commit(project, kind):
    """A receipt may name another object of Git whose files are those of the project."""
    path = "" if kind == "tree" else "notes.py"
    name = subprocess.check_output(
        ["git", "-C", project, "rev-parse", f"HEAD:./{path}"], text=True
    ).strip()
    assert changed_since(name, project) is None


def test_read_checkout_line_ends(project):
    """Python may read a carriage return in a string, so no setting of Git hides it."""
    (project / CODE).write_bytes(b"a = 1\n")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Second")
    git(project, "config", "core.autocrlf", "true")
    (project / CODE).write_bytes(b"a = 1\r\n")
    assert read_checkout(project)["changed"] == [CODE]


def test_read_checkout_same_size_and_time(project):
    git(project, "config", "core.trustctime", "false")
    for text in ("a = 1\n", "a = 2\n"):
        (project / CODE).write_text(text)
        os.utime(project / CODE, (0, 0))
        if "1" in text:
            git(project, "add", ".")
            git(project, "commit", "-qm", "Second")
    assert read_checkout(project)["changed"] == [CODE]


@pytest.mark.parametrize("kind", ["link", "linked folders", "repository", "name"])
def test_read_checkout_new_files(project, kind):
    """Files behind links and in other repositories are found, also twice, but no endless loop."""
    source, outside = project / "src", project.parents[1] / "outside"
    source.mkdir()
    outside.mkdir()
    (outside / "a.py").write_text("")
    (outside / "loop").symlink_to(outside)
    if kind == "link":
        (source / "a.py").symlink_to(outside / "a.py")
    elif kind == "linked folders":
        (source / "first").symlink_to(outside)
        (source / "second").symlink_to(outside)
    else:
        name = "inner" if kind == "repository" else "x__pycache__y"
        (source / name).mkdir()
        (source / name / "a.py").write_text("")
        if kind == "repository":
            git(source / name, "init", "-q")
    changed = [name for name in read_checkout(project)["changed"] if name.endswith(".py")]
    assert (
        changed
        == {
            "link": ["src/a.py"],
            "linked folders": ["src/first/a.py", "src/second/a.py"],
            "repository": ["src/inner/a.py"],
            "name": ["src/x__pycache__y/a.py"],
        }[kind]
    )


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


def test_commit_of_silent_git(project, tmp_path, monkeypatch):
    git = tmp_path / "git"
    git.write_text("#!/bin/sh\n")
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert read_checkout(project) == {"commit": None, "changed": None}


def test_is_shallow(project, tmp_path):
    git(project, "commit", "-q", "--allow-empty", "-m", "Second")
    source = (project.parents[1]).as_uri()
    git(project, "clone", "-q", "--depth=1", source, tmp_path / "clone")
    assert is_shallow(tmp_path / "clone") and not is_shallow(project)


@pytest.fixture
def with_submodule(project, tmp_path_factory):
    """The project with a submodule, which has one of its own, below `src`."""
    inner, outer = (tmp_path_factory.mktemp(name) for name in ("inner", "outer"))
    for folder in (inner, outer):
        (folder / "package").mkdir()
        (folder / "package/helper.py").write_text("a = 1\n")
        git(folder, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "Inner")
    for parent, child, name in ((outer, inner, "deep"), (project, outer, "src/lib")):
        git(parent, "-c", "protocol.file.allow=always", "submodule", "add", "-q", child, name)
        git(parent, "add", ".")
        git(parent, "commit", "-qm", "With a submodule")
    git(project, "-c", "protocol.file.allow=always", "submodule", "update", "--init",
        "--recursive", "-q")  # fmt: skip
    return project


LIB = "src/lib/package/helper.py"
#: Edits of a project with a submodule, and what they change.
IN_SUBMODULES = {
    "none": (lambda lib: None, []),
    "edited": (lambda lib: (lib / "package/helper.py").write_text("a = 2\n"), [LIB]),
    "added": (lambda lib: (lib / "other.py").write_text(""), ["src/lib/other.py"]),
    "removed": (lambda lib: (lib / "package/helper.py").unlink(), [LIB]),
    "nested": (
        lambda lib: (lib / "deep/package/helper.py").write_text("a = 2\n"),
        ["src/lib/deep/package/helper.py"],
    ),
    "nested_ignored": (
        lambda lib: [(lib / "deep" / name).write_text("x.py\n") for name in (".gitignore", "x.py")],
        ["src/lib/deep/.gitignore", "src/lib/deep/x.py"],
    ),
    "removed_whole": (shutil.rmtree, ["src/lib"]),
    "empty": (lambda lib: [shutil.rmtree(lib), lib.mkdir()], ["src/lib"]),
}


def commit_in(folder):
    (folder / "package/helper.py").write_text("a = 2\n")
    git(folder, "commit", "-qam", "Other code")


@pytest.mark.parametrize("edit", IN_SUBMODULES)
def test_changed_since_submodule(with_submodule, edit):
    change, changed = IN_SUBMODULES[edit]
    change(with_submodule / "src/lib")
    commit = commit_of(with_submodule)
    assert changed_since(commit, with_submodule) == set(changed)
    assert changed_since(commit, with_submodule, [LIB]) == {*changed} & {LIB}


@pytest.mark.parametrize(
    ("folder", "file"), [("", LIB), ("deep", "src/lib/deep/package/helper.py")]
)
def test_changed_since_other_commit_of_submodule(with_submodule, folder, file):
    """Code that the submodule has committed, but not the project, counts as changed."""
    commit_in(with_submodule / "src/lib" / folder)
    assert changed_since(commit_of(with_submodule), with_submodule) == {file}


@pytest.mark.parametrize("is_linked", [False, True])
def test_changed_since_copy_of_submodule(with_submodule, tmp_path, is_linked):
    """A folder without a repository, or a link to one elsewhere, has no commit of its own."""
    lib = with_submodule / "src/lib"
    if is_linked:
        lib.rename(tmp_path / "elsewhere")
        lib.symlink_to(tmp_path / "elsewhere")
    else:
        (lib / ".git").unlink()
    assert {"src/lib", LIB} <= changed_since(commit_of(with_submodule), with_submodule)
