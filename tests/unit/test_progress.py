"""Progress of a run in the terminal: what is estimated, what is shown, what is left as it is."""

import io
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from rich.console import Console
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

import snakemake_logger_plugin_everycell as plugin
from snakemake_logger_plugin_everycell import LogHandler, Run, durations
from snakemake_logger_plugin_everycell.bar import Bar
from snakemake_logger_plugin_everycell.durations import Duration, estimate

SOURCE = Path(plugin.__file__).parents[1]
SNAKEFILE = """\
rule all:
    input: "b.txt", "c.txt"
rule a:
    output: "a.txt"
    message: "Writing the first file"
    shell: "echo a > {output}"
rule b:
    input: "a.txt"
    output: "b.txt"
    message: "Writing the second file"
    shell: "cp {input} {output}"
rule c:
    output: "c.txt"
    log: "c.log"
    message: "Writing what cannot be written"
    shell: "echo 'The disk is full of eels.' > {log}; exit 1"
"""


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


class TestInterface(TestLogHandlerBase):
    """What Snakemake expects of every such package."""

    __test__ = True

    def get_log_handler_cls(self):
        return LogHandler

    def get_log_handler_settings(self):
        return None


def record(event: LogEvent | None, message: str = "", at: float = 0.0, **said) -> logging.LogRecord:
    made = logging.LogRecord("snakemake", logging.INFO, "", 1, message, (), None)
    made.created = at
    vars(made).update(said, event=event)
    return made


def job(number: int, rule: str, at: float) -> logging.LogRecord:
    said = {"jobid": number, "rule_name": rule, "rule_msg": f"Doing {rule}", "threads": 1}
    return record(LogEvent.JOB_INFO, at=at, **said)


def emit_two_jobs(handler: LogHandler) -> None:
    for one in (
        record(LogEvent.RESOURCES_INFO, cores=2),
        record(LogEvent.RUN_INFO, stats={"train": 1, "rank": 1, "total": 2}),
        job(1, "train", at=10.0),
        record(LogEvent.JOB_FINISHED, job_id=1, at=40.0),
        record(LogEvent.PROGRESS, done=1, total=2),
        job(2, "rank", at=40.0),
        record(None, "Select jobs to execute..."),
        record(None, "`full` makes 3 of 60 artefacts."),
        record(LogEvent.JOB_FINISHED, job_id=2, at=41.5),
        record(LogEvent.PROGRESS, done=2, total=2),
    ):
        handler.emit(one)


def test_elsewhere_than_on_a_terminal_a_job_is_a_line(capsys, tmp_path):
    (tmp_path / ".snakemake").mkdir()
    durations.write(durations.FILE, {"rank": Duration(1, 7.0, 1)})
    handler = LogHandler(MockOutputSettings(), None)
    # The stream that Snakemake writes to is that of the time when it was made.
    handler._usual.setStream(sys.stderr)
    emit_two_jobs(handler)
    handler.close()
    out, err = capsys.readouterr()
    first, said, second, last = err.splitlines()
    assert (out, first) == ("", "[1/2] Doing train (30 s, about 7.0 s left)")
    assert said == "`full` makes 3 of 60 artefacts."
    assert second == "[2/2] Doing rank (1.5 s)"
    assert last.startswith("2 of 2 jobs done in ")
    assert durations.read(durations.FILE) == {
        "rank": Duration(2, 4.25, 1),
        "train": Duration(1, 30.0, 1),
    }


def test_a_dry_run_looks_as_it_does_without(capsys):
    settings = MockOutputSettings()
    settings.dryrun = settings.stdout = True
    handler = LogHandler(settings, None)
    handler._usual.setStream(sys.stdout)
    handler.emit(record(LogEvent.RUN_INFO, "Job stats:\ntotal 5", stats={"total": 5}))
    handler.close()
    assert capsys.readouterr().out == "Job stats:\ntotal 5\n"


def test_the_bar_names_the_jobs_that_run():
    run = Run({"train": Duration(3, 100.0, 1)})
    run.note(record(LogEvent.RUN_INFO, stats={"train": 7, "total": 7}))
    run.note(record(LogEvent.PROGRESS, done=1, total=7))
    for number in range(6):
        run.note(job(number, "train", at=number))
    console = Console(file=io.StringIO(), force_terminal=True, width=80, color_system=None)
    console.print(Bar(run, console).drawn())
    shown = console.file.getvalue()
    assert "1 of 7 jobs" in shown and "left" in shown
    assert shown.count("Doing train") == 4 and "and 2 more" in shown


@pytest.mark.parametrize(
    ("waiting", "running", "seconds", "unknown"),
    [
        ({}, [], 0.0, 0),
        ({"short": 4}, [], 10.0, 0),
        # The longest job is not cut in two.
        ({"long": 1}, [], 100.0, 0),
        ({"wide": 1}, [], 20.0, 0),
        ({"short": 2, "new": 3}, [("short", 4.0), ("new", 1.0)], 5.5, 4),
        # A job that takes longer than the ones before it may end at any time.
        ({}, [("short", 60.0)], 0.0, 0),
    ],
)
def test_the_rest_is_estimated_from_earlier_jobs(waiting, running, seconds, unknown):
    known = {
        "short": Duration(9, 5.0, 1),
        "long": Duration(1, 100.0, 1),
        "wide": Duration(1, 20.0, 16),
    }
    assert estimate(waiting, running, known, cores=2) == (seconds, unknown)


@pytest.mark.parametrize("content", ["", "rule\n", "rule\tjobs\tseconds\tthreads\na\tx\t1\t1\n"])
def test_a_broken_file_of_durations_is_none(tmp_path, content):
    path = tmp_path / "durations.tsv"
    assert durations.read(path) == {}
    path.write_text(content)
    assert durations.read(path) == {}


@pytest.mark.slow
def test_snakemake_finds_it_and_still_prints_the_log_of_a_failed_job(tmp_path):
    (tmp_path / "Snakefile").write_text(textwrap.dedent(SNAKEFILE))
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--keep-going"]
    done = subprocess.run(
        [*command, "--show-failed-logs", "--logger", "everycell"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines()
    assert done.returncode == 1
    assert "The disk is full of eels." in lines and "Error in rule c" in done.stderr
    assert sum(line.startswith("[") and "Writing the" in line for line in lines) == 2
    assert lines[-2].startswith("2 of 4 jobs done in ")
    assert lines[-1] == "Failed: Writing what cannot be written: The disk is full of eels."
    assert "\x1b" not in done.stderr and "Reason:" not in done.stderr
    [log] = (tmp_path / ".snakemake/log").iterdir()
    assert str(log) in done.stderr and "Reason: Missing output files" in log.read_text()


def test_a_dry_run_leaves_out_the_offers_of_a_cache(capsys):
    settings = MockOutputSettings()
    settings.dryrun = settings.stdout = True
    handler = LogHandler(settings, None)
    handler._usual.setStream(sys.stdout)
    offer = "Workflow defines that rule a is eligible for caching between workflows (use --cache)."
    for message in (offer, "Nothing to be done"):
        handler.emit(logging.LogRecord("snakemake", logging.INFO, "", 1, message, (), None))
    shown = capsys.readouterr().out
    assert "Nothing to be done" in shown
    assert "caching" not in shown
