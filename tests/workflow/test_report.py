"""Snakemake's own report of a finished run: an archive that needs no network."""

import json
import re
import zipfile

import pytest


@pytest.fixture(scope="module")
def packed(built, tmp_path_factory):
    """Texts of the files in the report of the embedded tier, by their paths in it."""
    path = tmp_path_factory.mktemp("report") / "report.zip"
    done = built.snakemake(*built.target, "--report", path)
    assert done.returncode == 0, done.stdout
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def report(packed):
    """Text of its page."""
    return packed["report/report.html"].decode()


@pytest.fixture(scope="module")
def results(report):
    """Results of the page: path -> labels, caption and file."""
    start = re.search(r'<script id="results">\s*var results = ', report)
    return json.JSONDecoder().raw_decode(report, start.end())[0]


def test_report_external_files(report):
    assert not re.findall(r'(?:src|href)="(?:https?:)?//[^"]*', report)
    assert not re.findall(r"@import|url\(['\"]?https?:", report)


def test_report_labels(results):
    labels = [result["labels"] for result in results.values()]
    assert {"artefact": "Table 4.8", "tier": "embedded"} in labels
    assert {"Table 7.4", "Table C.2"} <= {label.get("artefact") for label in labels}
    assert {label["tier"] for label in labels} == {"embedded"}
    assert all(label.get("artefact") for label in labels)


def test_report_captions(results):
    assert all("Output of the rule" in result["caption"] for result in results.values())
    [simulated] = (
        result["caption"]
        for path, result in results.items()
        if path.endswith("lajewska2025/table_4_8.html")
    )
    assert "seed: 20261121" in simulated and "scale: culpepper" in simulated


def test_report_archived_files(results, packed):
    files = [path for path in packed if path.startswith("report/data/")]
    assert len(files) == len(results) > 10
    assert all(packed[path] for path in files)
