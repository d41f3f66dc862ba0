"""Publications and repositories that records and metadata of an anonymous deposit name."""

import json
import subprocess
import zipfile

import pytest
import yaml

from everycell.cli import anonymous
from everycell.cli.named_works import METADATA, replace_own, warn_of_works
from everycell.records.papers import PaperFile

PAPER = {"title": "On bees", "authors": "Ada Ode", "year": 2026, "kind": "paper"}


@pytest.mark.parametrize(
    "text",
    [
        "reference: https://github.com/lab/bees  # ours",
        "reference: 'see lab/bees'",
        'reference: "see lab/bees"',
        "reference: see\n  lab/bees",
        "reference: >\n  see\n  lab/bees\n",
        "reference: |-\n  lab/bees",
    ],
)
def test_replace_own_styles(text):
    before, after = "# first\ntitle: On lab/bees\n", "\nyear: 2026\n"
    replaced = replace_own(before + text + after, lambda value: "lab/bees" in value)
    content = yaml.safe_load(replaced)
    assert content == {"title": "On lab/bees", "reference": content["reference"], "year": 2026}
    assert content["reference"].strip() == "Anonymous"
    assert replaced.startswith("# first")
    assert ("# ours" in replaced) == ("# ours" in text)


@pytest.mark.parametrize(
    ("value", "is_own"),
    [
        ("https://github.com/bee-lab/hives2026", True),
        ("bee-lab hives2026", True),
        ("bee-lab/hives2026 at GitHub", True),
        ("https://github.com/BEE-LAB/wasps", True),
        ("git@github.com:bee-lab/hives2026.git", True),
        ("https://github.com/other/wasps", False),
        ("doi:10.1234/bees", False),
        ("hives of a bee lab", False),
    ],
)
@pytest.mark.parametrize("source", ["remote", "configuration", "original"])
def test_anonymise_own_repository(tmp_path, value, is_own, source):
    """Fields that name the repository of the project, or of its originals, are replaced."""
    address = "https://github.com/bee-lab/hives2026"
    folder = tmp_path / "published/p2026"
    folder.mkdir(parents=True)
    (tmp_path / "config.yaml").write_text("repository: null\n")
    facts = PAPER | {"reference": value}
    if source == "remote":
        subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
        subprocess.run(["git", "remote", "add", "origin", address], cwd=tmp_path, check=True)
    elif source == "configuration":
        (tmp_path / "config.yaml").write_text(f"repository: {address}\n")
    else:
        holds = "original files at commit c0ffee: table.md"
        facts["publication"] = {"data": [{"url": address, "holds": holds}]}
        # Other repositories of that account may belong to others.
        is_own = is_own and "wasps" not in value
    (folder / "paper.yaml").write_text(yaml.safe_dump(facts))
    (folder / "registry.yaml").write_text(yaml.safe_dump({"sets": {"a": {"paper": value}}}))
    papers = {"p2026": PaperFile.model_validate(facts)}
    forbidden = anonymous.identities(tmp_path / "results", tmp_path, papers)
    anonymous.anonymise(tmp_path, papers, forbidden)
    content = yaml.safe_load((folder / "paper.yaml").read_text())
    registry = yaml.safe_load((folder / "registry.yaml").read_text())
    expected = "Anonymous" if is_own else value
    assert [content["reference"], registry["sets"]["a"]["paper"]] == [expected, expected]


@pytest.mark.parametrize(
    ("name", "content", "field", "work"),
    [
        ("paper.yaml", {"reference": "in https://github.com/a/b."}, "reference", "github.com/a/b"),
        ("paper.yaml", {"reference": "Hive 2026"}, "reference", "'Hive 2026'"),
        ("paper.yaml", {"publication": {"url": "https://lab.org"}}, "publication.url", "lab.org"),
        (
            "paper.yaml",
            {"publication": {"code": [{"url": "https://bitbucket.org/a/b/src"}]}},
            "publication.code[1].url",
            "bitbucket.org/a/b",
        ),
        (
            "paper.yaml",
            {"publication": {"doi": "10.1/x, 10.1234/b"}},
            "publication.doi",
            "10.1234/b",
        ),
        ("paper.yaml", {"reference": "arXiv:2601.01234"}, "reference", "arXiv:2601.01234"),
        ("registry.yaml", {"sets": {"a": {"paper": "bee-lab hives"}}}, "sets.a.paper", "hives"),
        ("registry.yaml", {"sets": {"a": {"authors": "osf.io/x1"}}}, "sets.a.authors", "osf.io/x1"),
        (
            "registry.yaml",
            {"files": {"a": {"origin": {"url": "https://zenodo.org/records/17/files/a.gz"}}}},
            "files.a.origin.url",
            "zenodo.org/records/17",
        ),
        ("registry.yaml", {"repositories": {"a/b": {}}}, "repositories", "github.com/a/b"),
        (
            "registry.yaml",
            {"repositories": {"a/b": {"host": "https://gitlab.uni.edu"}}},
            "repositories",
            "gitlab.uni.edu/a/b",
        ),
        ("ch1.yaml", {"note": "see huggingface.co/datasets/a/b"}, "note", "huggingface.co/dataset"),
        (
            METADATA,
            {"@id": "#a", "description": "raw.githubusercontent.com/a/b/c0ffee/x"},
            "#a.description",
            "raw.githubusercontent.com/a/b",
        ),
    ],
)
def test_warn_of_works(tmp_path, caplog, name, content, field, work):
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        path = name if name == METADATA else f"published/p2026/{name}"
        packed.writestr(path, json.dumps({"@graph": [content]} if name == METADATA else content))
    warn_of_works(archive)
    (message,) = caplog.messages
    assert f"{path} ({field})" in message
    assert work in message


def test_warn_of_works_nothing_to_name(tmp_path, caplog):
    archive = tmp_path / "a.zip"
    facts = PAPER | {"reference": "Anonymous", "note": "10.5 and 3.4/2, myosf.io, e.g. sr.htm"}
    snakemake = {"@id": "https://w3id.org/workflowhub/x", "doi": "10.1093/bioinformatics/bts480"}
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("published/p2026/paper.yaml", yaml.safe_dump(facts))
        packed.writestr(METADATA, json.dumps({"@graph": [snakemake]}))
        packed.writestr("README.md", "https://github.com/a/b")
    warn_of_works(archive)
    assert not caplog.messages
