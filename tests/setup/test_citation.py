"""CITATION.cff agrees with the package, and has what version 1.2.0 of the format asks for."""

import tomllib
from pathlib import Path

import yaml

import everycell

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_citation_is_that_of_this_version_and_licence():
    cited = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert cited["cff-version"] == "1.2.0" and cited["type"] == "software"
    assert all(author.keys() & {"name", "family-names"} for author in cited["authors"])
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert cited["title"] == project["name"]
    assert cited["version"] == project["version"] == everycell.__version__
    assert cited["license"] == project["license"]
    licence = (REPOSITORY / "LICENSE").read_text(encoding="utf-8")
    assert licence.startswith(f"{cited['license']} License")
    assert cited["authors"][0]["name"] in licence
