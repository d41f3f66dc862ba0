"""Snakemake's own report of a finished run: a file that needs no network."""

import re

import pytest


@pytest.fixture(scope="module")
def report(built, tmp_path_factory):
    """Text of the report of the embedded tier."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    done = built.snakemake("--report", path)
    assert done.returncode == 0, done.stdout
    return path.read_text(encoding="utf-8")


def test_the_report_loads_nothing_from_elsewhere(report):
    assert not re.findall(r'(?:src|href)="(?:https?:)?//[^"]*', report)
    assert not re.findall(r"@import|url\(['\"]?https?:", report)


def test_results_are_listed_by_artefact_and_tier(report):
    for artefact in ("Table 4.8", "Table 7.4", "Table C.2"):
        assert f'"artefact": "{artefact}"' in report
    assert '"tier": "embedded"' in report


def test_captions_print_the_parameters_of_the_run(report):
    assert "20261121" in report and "culpepper_zero" in report
