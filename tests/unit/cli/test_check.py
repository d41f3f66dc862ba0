"""`everycell check`: each fault of a paper's files with file and line, all at once."""

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
from command_line import call, refused
from unit.toy_papers import CELLS, PAPER, RECORD, write_paper

from everycell.base.yaml import load_yaml, read_model
from everycell.config import SCHEMA
from everycell.records.cells import RecordError
from everycell.records.checks import json_schemas, model_of
from everycell.records.papers import load_papers
from everycell.sources import fetch
from everycell.sources.fetch import OwnDataError

CLAIM = """\
    claims:
      - id: b_is_better
        claim: Row b is better.
        source: p. 1
        supported_if:
          - cells: {row: b, metric: AP}
            op: ">"
            other: {row: z}
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a project of one sound paper, as the working folder."""
    write_paper(tmp_path / "published", RECORD + CLAIM.replace("z", "a"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "published/toy"


def test_check_valid_project(project):
    code, out, err = call("check")
    assert (code, err) == (0, "") and out.startswith("toy: ") and "1 artefact" in out
    assert call("check", "toy")[0] == 0
    assert "published/none/paper.yaml" in refused("check", "none")


def test_check_all_faults(project):
    text = (project / "ch1.yaml").read_text().replace("{row: a}", "{row: z}")
    text += "    quoted:\n      - {cells: {row: c}, because: an input}\n"
    (project / "ch1.yaml").write_text(text)
    (project / "table_2.csv").write_text(CELLS + "b,n,8\n\nb,n,9\n")
    (project / "registry.yaml").write_text("sets: {}\nfile: {}\n")
    code, out, err = call("check")
    assert (code, err) == (2, "")
    lines = [
        re.match(r"published/toy/([\w.]+)(?:, line (\d+))?", line) for line in out.splitlines()
    ]
    last = len(text.splitlines())
    assert {match.groups() for match in lines} == {
        ("ch1.yaml", str(last - 4)),
        ("ch1.yaml", str(last)),
        ("table_2.csv", None),
        ("registry.yaml", "2"),
    }
    assert "did you mean `files`?" in out
    # Without records, the cells are checked by themselves.
    (project / "ch1.yaml").write_text(text.replace("title: First", "titel: First"))
    code, out, _ = call("check", "toy")
    assert code == 2 and "did you mean `title`?" in out
    assert re.findall(r"table_2.csv, line (\d+) repeats the cell", out) == ["6", "8"]
    (project / "paper.yaml").write_text(PAPER.replace("}", ",\n  publication: {dio: 10.1/2}}"))
    out = call("check", "toy")[1]
    assert "paper.yaml, line 2: " in out and "did you mean `doi`?" in out


def test_check_committed_schemas(repository, project):
    code, _, _ = call("check", "--schemas", "schemas")
    assert code == 0
    for name, text in json_schemas().items():
        written = (project.parents[1] / "schemas" / name).read_text(encoding="utf-8")
        committed = (repository / SCHEMA.parent / name).read_text(encoding="utf-8")
        assert text == written == committed, "run: python -m everycell.config"
        jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.fixture
def own_file(project, monkeypatch):
    """Return a file in `data/` that is registered as the paper's."""
    monkeypatch.delenv("EVERYCELL_MIRROR", raising=False)
    own = project.parents[1] / "data"
    own.mkdir()
    (own / "new.run").write_text("first\n")
    (project.parents[1] / "config.yaml").write_text("network: false\n")
    code, _, err = call("paper", "add-data", "toy", "data/new.run", "--as", "a.run")
    assert (code, err) == (0, "") and call("check")[0] == 0
    return own / "toy-data/a.run"


def test_check_edited_own_file(own_file):
    own_file.write_text("second\n")
    code, out, _ = call("check")
    command = "paper add-data toy data/toy-data/a.run --as a.run --replace"
    assert code == 2 and out.startswith("data/toy-data/a.run ") and f"everycell {command}" in out
    assert call("doctor")[1].count(command) == 1
    # A clone has no cache.
    shutil.rmtree("resources")
    with pytest.raises(OwnDataError) as caught:
        fetch("toy-data/a.run", Path("resources"))
    assert str(caught.value) == out.strip()
    assert call(*command.split())[0] == 0 and call("check")[0] == 0
    assert fetch("toy-data/a.run", Path("resources")).read_text() == "second\n"


def test_check_file_moved_to_url(own_file, monkeypatch):
    def download(url, path, timeout):
        return bool(path.write_text("third\n")) and False

    monkeypatch.setattr("everycell.sources.additions._download_with_time_limit", download)
    url = "https://example.org/b.run"
    assert call("paper", "add-data", "toy", url, "--as", "a.run", "--replace")[0] == 0
    assert not own_file.exists() and call("check")[0] == 0
    assert fetch("toy-data/a.run", Path("resources")).read_text() == "third\n"


def test_check_unused_script(project):
    scripts = project.parents[1] / "workflow/scripts"
    (scripts / "toy").mkdir(parents=True)
    (scripts / "toy/verdicts.py").touch()
    assert call("check")[0] == 0
    (scripts / "verdicts.py").touch()
    code, out, _ = call("check")
    assert code == 2 and out.startswith("workflow/scripts/verdicts.py ")


def test_doctor_own_files(own_file):
    assert "ok   1 data file registered" in call("doctor")[1]


def validator(path):
    name = "chapter" if path.stem.startswith("ch") else path.stem
    return jsonschema.Draft202012Validator(json.loads(json_schemas()[f"{name}.schema.json"]))


def test_check_schema_of_records(repository):
    paths = [path for path in (repository / "published").glob("**/*.yaml") if model_of(path)]
    assert {path.parent.name for path in paths} >= set(load_papers(repository / "published"))
    for path in paths:
        validator(path).validate(load_yaml(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("source: p. 1", "sorce: p. 1"),
        ("    title: A toy table\n", ""),
        ("state: reproduced", "state: made"),
        ("embedded:", "cheap:"),
        ("decimals: {AP: 2,", "decimals: {AP: two,"),
        ("op: '>'", "op: above"),
        ("id: b_is_better", "id: B is better"),
        ("cells: {row: b,", "cells: {row: {a: b},"),
    ],
)
def test_schema_and_models_refuse_the_same(project, old, new):
    path = project / "ch1.yaml"
    text = path.read_text().replace('"', "'")
    assert old in text and not [*validator(path).iter_errors(load_yaml(text))]
    path.write_text(text.replace(old, new, 1))
    assert [*validator(path).iter_errors(load_yaml(path.read_text()))]
    with pytest.raises(RecordError):
        read_model(path, model_of(path), RecordError)
