"""CITATION.cff agrees with the package, and has what version 1.2.0 of the format asks for."""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml
from harness import published

import everycell

REPOSITORY = Path(__file__).resolve().parents[2]


def test_citation_version_and_licence():
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert cited["cff-version"] == "1.2.0" and cited["type"] == "software"
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["title"] == project["name"].removesuffix("-repro")
    assert cited["version"] == project["version"] == everycell.__version__
    assert cited["license"] == project["license"]
    licence = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith(f"{cited['license']} License")
    assert cited["authors"][0]["name"] in licence


def test_citation_schema(tmp_path):
    text = (REPOSITORY / "CITATION.cff").read_text(encoding="utf-8")
    linter = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    for name, content in (("whole.cff", text), ("broken.cff", text.replace("doi: 10", "doi: 11"))):
        (tmp_path / name).write_text(content, encoding="utf-8")
        done = subprocess.run(
            [*linter, "vendor.citation-file-format", tmp_path / name], capture_output=True
        )
        assert (done.returncode == 0) == (name == "whole.cff")


def test_citation_references():
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    papers = published()
    assert len(cited["references"]) == len(papers)
    for reference, paper in zip(cited["references"], papers.values(), strict=True):
        known = paper.read_publication()
        assert (reference["title"], reference["year"]) == (paper.title, paper.year)
        assert reference["type"] == {"thesis": "thesis", "paper": "conference-paper"}[paper.kind]
        names = [
            " ".join(
                author[part]
                for part in ("given-names", "name-particle", "family-names")
                if part in author
            )
            for author in reference["authors"]
        ]
        assert names == paper.authors.split(", ")
        for name in ("doi", "isbn", "url"):
            assert reference.get(name) == getattr(known, name)
        assert reference.get("institution", {}).get("name") == known.school
        assert reference.get("collection-title") == known.booktitle


def test_zenodo_as_citation():
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    zenodo = json.loads((REPOSITORY / ".zenodo.json").read_text(encoding="utf-8"))
    assert zenodo["version"] == cited["version"] and zenodo["license"] == cited["license"]
    assert zenodo["title"].startswith(f"{cited['title']}: ")
    assert zenodo["description"] == cited["abstract"]
    assert zenodo["keywords"] == cited["keywords"]
    assert zenodo["creators"] == cited["authors"]
    dois = [reference["doi"] for reference in cited["references"] if "doi" in reference]
    assert [identifier["identifier"] for identifier in zenodo["related_identifiers"]] == dois
