"""Files that users add to their papers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from everycell.records.registry import SourceError
from everycell.sources.additions import add_file
from everycell.sources.fetch import changed_data


@pytest.mark.parametrize(
    "link",
    ["data/toy-data", "data/toy-data/a.run", "resources/toy-data", "resources/toy-data/a.run"],
)
def test_add_file_link(tmp_path: Path, link: str):
    """Nothing is written through links in the data folder or the cache."""
    project, outside = tmp_path / "project", tmp_path / "outside"
    for name in ("published/toy", "data", "resources"):
        (project / name).mkdir(parents=True)
    (project / "published/toy/paper.yaml").write_text("title: Toy\n")
    (tmp_path / "a.run").write_text("q 0 d 1 1 t\n")
    outside.mkdir()
    (outside / "a.run").write_text("precious")
    path = project / link
    path.parent.mkdir(exist_ok=True)
    path.symlink_to(outside / "a.run" if link.endswith(".run") else outside)
    with pytest.raises(SourceError, match=link):
        add_file(
            project,
            "toy",
            str(tmp_path / "a.run"),
            cache=project / "resources",
            set_name="toy-data",
            facts={
                "authors": "N. N.",
                "paper": "Toy",
                "licence": "none stated",
                "feeds": ["toy/table_1"],
            },
        )
    assert (outside / "a.run").read_text() == "precious"


@pytest.mark.fault("users_file")
@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo, lambda path: None])
def test_changed_data_no_regular_file(tmp_path, monkeypatch, put):
    """A registered file that is missing, a folder or a pipe, which would block its reader."""
    monkeypatch.chdir(tmp_path)
    Path("published/toy").mkdir(parents=True)
    Path("published/toy/paper.yaml").touch()
    Path("data/toy-data").mkdir(parents=True)
    Path("a.csv").write_text("a\n")
    facts = {"authors": "N. N.", "paper": "Toy", "licence": "none stated", "feeds": ["toy/table_1"]}
    key = add_file(
        Path(), "toy", "a.csv", cache=Path("resources"), set_name="toy-data", facts=facts
    )
    assert changed_data(Path("published/toy")) == {}
    path = Path("data", key)
    path.unlink()
    put(path)
    assert changed_data(Path("published/toy"))[key].startswith(f"{path} is missing, but ")
    with pytest.raises(SourceError, match="a pipe" if path.exists() else "does not exist"):
        add_file(Path(), "toy", str(path), cache=Path("resources"), set_name="b")
