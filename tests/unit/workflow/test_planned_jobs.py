"""Rules of a project that cannot be read."""

import os
import signal
from concurrent.futures.process import BrokenProcessPool

import pytest

from everycell.workflow.planned_jobs import PlanError, _in_process, planned_parameters


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


@pytest.mark.parametrize("end", [lambda: os.kill(os.getpid(), signal.SIGKILL), lambda: os._exit(1)])
def test_in_process_killed_worker(monkeypatch, end):
    """The kernel, which ends a process when memory runs out, is not a fault of the rules."""
    monkeypatch.setattr("everycell.workflow.planned_jobs._rules", end)
    with pytest.raises(PlanError, match="memory") as error:
        _in_process(_call_end)
    assert isinstance(error.value.__cause__, BrokenProcessPool)


def _call_end():
    from everycell.workflow import planned_jobs

    planned_jobs._rules()
