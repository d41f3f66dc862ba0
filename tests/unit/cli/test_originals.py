"""Where the files of a paper come from, in records and not in anonymous deposits."""

import hashlib
import subprocess
from pathlib import Path

import pytest
import yaml

from everycell.cli.originals import (
    Original,
    find_headings,
    find_original,
    remove_originals,
    repositories_of,
    write_original,
)

COMMIT = "c0ffee" * 6 + "c0ff"
LAB = "https://host.org/lab/bees"


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def clone(tmp_path) -> Path:
    folder = tmp_path / "clone" / "runs"
    folder.mkdir(parents=True)
    (folder / "bees.md").write_text("| a |")
    git(folder.parent, "init", "-q")
    git(folder.parent, "add", ".")
    git(folder.parent, "commit", "-qm", "one")
    return folder


@pytest.mark.parametrize(
    ("remote", "address"),
    [
        ("https://host.org/lab/bees", LAB),
        ("https://host.org/lab/bees.git", LAB),
        ("https://ada:token@host.org/lab/bees.git", LAB),
        ("git@host.org:lab/bees.git", LAB),
        ("ssh://git@host.org/lab/bees.git", LAB),
        ("/mirror/lab/bees.git", ""),
        ("file:///home/ada/bees", ""),
        ("../bees", ""),
        (None, ""),
    ],
)
def test_find_original_remote(clone, remote, address):
    if remote:
        git(clone, "remote", "add", "origin", remote)
    original = find_original(clone / "bees.md")
    commit = git(clone, "rev-parse", "HEAD").strip()
    digest = hashlib.sha256(b"| a |").hexdigest()
    assert original == Original("runs/bees.md", digest, address, commit)
    assert all(word not in original.note for word in (str(clone), "token", "mirror", "home"))


@pytest.mark.parametrize("state", ["changed", "untracked", "outside"])
def test_find_original_not_of_the_commit(clone, tmp_path, state):
    path = {"changed": clone, "untracked": clone, "outside": tmp_path}[state] / "bees.md"
    path = path.with_name("wasps{1}.md") if state == "untracked" else path
    path.write_text("| b |")
    original = find_original(path)
    name = "wasps_1_.md" if state == "untracked" else "bees.md"
    assert original == Original(name, hashlib.sha256(b"| b |").hexdigest())


def test_find_original_imported(clone, tmp_path):
    """The table that was imported is a new file; what it was read from counts."""
    (tmp_path / "table.csv").write_text("value")
    write_original(tmp_path / "table.csv", clone / "bees.md", {"rm3": "RM3"})
    assert find_original(tmp_path / "table.csv") == find_original(clone / "bees.md")


def test_find_headings(tmp_path):
    """Headings that the names of keys do not give, unless the key has another name."""
    table = tmp_path / "table.csv"
    table.write_text("value")
    assert find_headings(table, ["rm3"]) == {}
    (tmp_path / "bees.md").write_text("| b |")
    headings = {"rm3": "RM3", "model": "Model", "k_size": "K-size", "collection": "Corpus"}
    write_original(table, tmp_path / "bees.md", headings)
    keys = [*headings, "metric"]
    assert find_headings(table, keys) == {"rm3": "RM3", "k_size": "K-size"}


def test_write_original_number(tmp_path, clone):
    """One of several tables of a file is named, but not in an anonymous deposit."""
    write_original(tmp_path / "table.csv", clone / "bees.md", {}, 3)
    note = find_original(tmp_path / "table.csv").note
    assert note.startswith("; read from runs/bees.md, table 3 at commit ")
    assert remove_originals(f"source: p. 7{note}\n") == "source: p. 7\n"


@pytest.mark.parametrize("number", [0, 1, 5, 7])
def test_remove_originals(number):
    originals = [Original(f"runs/{n}.run", "0" * 64, LAB, COMMIT) for n in range(number)]
    repositories = [*repositories_of([*originals, Original("own.run", "0" * 64)])]
    assert len(repositories) == bool(number)
    mine = {"url": "https://host.org/mine", "holds": "code of the paper"}
    paper = {"title": "Bees", "publication": {"data": [mine, *repositories]}}
    text = remove_originals(yaml.safe_dump(paper))
    assert yaml.safe_load(text) == {"title": "Bees", "publication": {"data": [mine]}}
    notes = [original.note for original in (*originals, Original("a b.md", "1" * 64))]
    record = yaml.safe_dump(
        {"sources": [f"p. 1{note}" for note in notes], "more": "p. 2"}, width=1000
    )
    assert yaml.safe_load(remove_originals(record)) == {
        "sources": ["p. 1"] * len(notes), "more": "p. 2",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["[1]", "{}", '{"headings": [1]}', '{"headings": null}'])
def test_find_headings_other_file(tmp_path, text):
    """A file of another program may have the name of that of an imported table."""
    (tmp_path / "table.csv.original").write_text(text)
    assert find_headings(tmp_path / "table.csv", ["system"]) == {}
