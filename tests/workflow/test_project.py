"""Copies of the project that tests make share what is large."""

import os

from workflow.project import Project


def test_a_copy_shares_large_files_until_they_are_made_again(tmp_path):
    one = Project(tmp_path / "one")
    for name in ("work/deep/model", "results/table.csv"):
        (one.folder / name).parent.mkdir(parents=True)
        (one.folder / name).write_text("made")
    before = one.written()
    other = one.copy_to(tmp_path / "two")
    model, table = other.folder / "work/deep/model", other.folder / "results/table.csv"
    assert model.samefile(one.folder / "work/deep/model")
    table.write_text("changed")
    model.unlink()
    model.write_text("made again")
    assert (one.folder / "results/table.csv").read_text() == "made"
    assert one.written() == before == {"work/deep/model": before["work/deep/model"]}
    # What the fixture `built` looks at sees a write in place.
    os.link(one.folder / "work/deep/model", other.folder / "linked")
    (other.folder / "linked").write_text("written in place")
    assert one.written() != before
