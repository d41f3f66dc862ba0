"""Rules of a project that cannot be read."""

import pytest

from everycell.workflow.planned_jobs import PlanError, planned_parameters


@pytest.mark.parametrize(
    ("snakefile", "reason"),
    [
        ('configfile: "config.yaml"\n', "top level"),
        ("rule a: input\n", "keyword input"),
        ("1 / 0\n", "division by zero"),
        ('raise ValueError("")\n', "ValueError"),
        ('include: "none.smk"\n', "cannot be read"),
    ],
)
def test_planned_parameters_broken_rules(tmp_path, monkeypatch, snakefile, reason):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("")
    (tmp_path / "Snakefile").write_text(snakefile)
    with pytest.raises(PlanError, match=reason):
        planned_parameters(tmp_path, {"results/a.csv": None})
