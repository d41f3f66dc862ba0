"""Progress of a run in the terminal."""

import logging
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from snakemake.profiles import ProfileConfigFileParser
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.common import LogEvent
from snakemake_interface_logger_plugins.tests import MockOutputSettings, TestLogHandlerBase

import snakemake_logger_plugin_everycell as plugin
from snakemake_logger_plugin_everycell import LogHandler

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
    """Snakemake's own tests of logger plugins."""

    __test__ = True

    def get_log_handler_cls(self):
        return LogHandler

    def get_log_handler_settings(self):
        return None


def record(event: LogEvent | None, message: str = "", **fields) -> logging.LogRecord:
    result = logging.LogRecord("snakemake", logging.INFO, "", 1, message, (), None)
    vars(result).update(fields, event=event)
    return result


def job(number: int, rule: str) -> logging.LogRecord:
    message = {"jobid": number, "rule_name": rule, "rule_msg": f"Doing {rule}", "threads": 1}
    return record(LogEvent.JOB_INFO, **message)


#: Further fields of the record of a failed job.
JOB_ERROR = dict.fromkeys(("msg", "input", "output", "conda_env", "shellcmd", "aux"), {})


def emit_two_jobs(handler: LogHandler) -> None:
    for one in (
        record(LogEvent.RESOURCES_INFO, cores=2),
        record(LogEvent.RUN_INFO, stats={"train": 1, "rank": 1, "total": 2}),
        job(1, "train"),
        record(LogEvent.JOB_FINISHED, job_id=1),
        record(LogEvent.PROGRESS, done=1, total=2),
        job(2, "rank"),
        record(None, "Select jobs to execute..."),
        record(None, "`full` makes 3 of 60 artefacts."),
        record(LogEvent.JOB_FINISHED, job_id=2),
        record(LogEvent.PROGRESS, done=2, total=2),
    ):
        handler.emit(one)


def test_emit_started_jobs(capsys):
    handler = LogHandler(MockOutputSettings(), None)
    # The stream that Snakemake writes to is that of the time when it was made.
    handler._usual.setStream(sys.stderr)
    emit_two_jobs(handler)
    handler.close()
    out, err = capsys.readouterr()
    first, second, message, last = err.splitlines()
    assert (out, first, second) == ("", "[1/2] Doing train", "[2/2] Doing rank")
    assert message == "`full` makes 3 of 60 artefacts."
    assert last.startswith("2 of 2 jobs done in ")


def test_emit_retried_job(capsys):
    handler = LogHandler(MockOutputSettings(), None)
    handler._usual.setStream(sys.stdout)
    for one in (
        record(LogEvent.RUN_INFO, stats={"total": 1}),
        job(1, "train"),
        record(LogEvent.JOB_ERROR, jobid=1, rule_name="train", log=[], **JOB_ERROR),
        job(1, "train"),
        record(LogEvent.JOB_FINISHED, job_id=1),
        record(LogEvent.PROGRESS, done=1, total=1),
    ):
        handler.emit(one)
    handler.close()
    out, err = capsys.readouterr()
    assert "Error in rule train" in out
    *lines, last = err.splitlines()
    assert lines == ["[1/1] Doing train"] * 2 and last.startswith("1 of 1 jobs done in ")


def test_emit_dry_run(capsys):
    settings = MockOutputSettings()
    settings.dryrun = settings.stdout = True
    handler = LogHandler(settings, None)
    handler._usual.setStream(sys.stdout)
    handler.emit(record(LogEvent.RUN_INFO, "Job stats:\ntotal 5", stats={"total": 5}))
    handler.close()
    assert capsys.readouterr().out == "Job stats:\ntotal 5\n"


def test_emit_plan(capsys):
    settings = MockOutputSettings()
    settings.dryrun = settings.stdout = True
    settings.quiet = {Quietness.HOST, Quietness.REASON}
    handler = LogHandler(settings, None)
    handler._usual.setStream(sys.stdout)
    for one in (
        record(LogEvent.WORKFLOW_STARTED, "Host: vm"),
        record(LogEvent.RUN_INFO, "Job stats:\ntotal 2", stats={"total": 2}),
        job(1, "train"),
        job(2, "test"),
        record(None, "Reasons:\n    (check individual jobs above for details)"),
    ):
        handler.emit(one)
    handler.close()
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["Doing train", "Doing test", "2 jobs; nothing was made."]


@pytest.mark.slow
def test_snakemake_failed_job(tmp_path):
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
    assert sum(line.startswith("[") and "] Writing" in line for line in lines) == 3
    assert lines[-2].startswith("2 of 4 jobs done in ")
    assert lines[-1] == "Failed: Writing what cannot be written: The disk is full of eels."
    assert "\x1b" not in done.stderr and "Reason:" not in done.stderr
    [log] = (tmp_path / ".snakemake/log").iterdir()
    assert str(log) in done.stderr and "Reason: Missing output files" in log.read_text()


SLEEPING = """\
rule a:
    output: "a.txt"
    message: "Sleeping"
    {how}
"""
#: A job that reacts to no signal but SIGKILL.
STUBBORN = """\
import signal, time
for number in (signal.SIGINT, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
time.sleep(100)
"""


@pytest.mark.slow
@pytest.mark.fault("interrupted_run")
@pytest.mark.parametrize("send", [os.kill, os.killpg])
@pytest.mark.parametrize(
    "how",
    ['shell: "sleep 100; touch {output}"', 'script: "sleep.py"', 'script: "stubborn.py"'],
)
def test_stop_jobs_interrupt(tmp_path, send, how):
    """Ctrl-C, also twice and in the middle of an import, is one line and leaves no process."""
    (tmp_path / "Snakefile").write_text(SLEEPING.replace("{how}", how))
    (tmp_path / "sleep.py").write_text("import time\ntime.sleep(100)\n")
    (tmp_path / "stubborn.py").write_text(STUBBORN)
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--logger", "everycell"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "Sleeping" in line:
            time.sleep(1)
            send(process.pid, signal.SIGINT)
            time.sleep(0.5)
            send(process.pid, signal.SIGINT)
    assert process.wait(60) == 130
    assert lines[-1] == "Stopped; run the same command again to resume.\n"
    assert "Traceback" not in "".join(lines) and "Error" not in "".join(lines)
    assert not (tmp_path / "a.txt").exists()
    assert not [*(tmp_path / ".snakemake/locks").glob("*.lock")]
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


#: A job that opens its log and then ends as by the kernel when memory runs out.
HUNGRY = """\
import os, signal
open(snakemake.log[0], "w")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.fault("memory")
@pytest.mark.parametrize(
    ("script", "words"),
    [(HUNGRY, "killed, as when memory runs out"), ("import nowhere", "before it opened its log")],
)
def test_snakemake_job_without_last_words(tmp_path, script, words):
    (tmp_path / "Snakefile").write_text(
        SLEEPING.replace("{how}", 'log: "a.log"\n    script: "a.py"')
    )
    (tmp_path / "a.py").write_text(script)
    (tmp_path / "a.log").write_text("The reason of an earlier run.\n")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--cores", "1", "--logger", "everycell"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1 and last.startswith("Failed: Sleeping: ") and words in last
    assert ("ModuleNotFoundError" in done.stderr) == (script != HUNGRY)


def test_is_explained(tmp_path):
    """A sentence in the log of a script is shown once; a traceback and a shell's log are shown."""
    log = tmp_path / "a.log"
    failed = {"jobid": 1, "rule_name": "a", "log": [str(log)], **JOB_ERROR}
    for text, command, expected in (
        ("Fetching.\nThe network is missing.\n", None, True),
        ("Traceback (most recent call last):\nValueError: 3\n", None, False),
        ("", None, False),
        ("The disk is full.\n", "exit 1", False),
    ):
        log.write_text(text)
        one = record(LogEvent.JOB_ERROR, **failed | {"shellcmd": command})
        assert plugin.is_explained(one) == expected
    assert plugin.is_explained(record(None, "Exiting because a job execution failed. Look above"))
    assert not plugin.is_explained(record(None, "Nothing to be done"))


def test_emit_dry_run_cache_offers(capsys):
    offer = "Workflow defines that rule a is eligible for caching between workflows (use --cache)."
    settings = MockOutputSettings()
    settings.dryrun = settings.stdout = True
    for settings.verbose in (False, True):
        handler = LogHandler(settings, None)
        handler._usual.setStream(sys.stdout)
        for message in (offer, "Nothing to be done"):
            handler.emit(logging.LogRecord("snakemake", logging.INFO, "", 1, message, (), None))
        output = capsys.readouterr().out
        assert "Nothing to be done" in output
        assert ("caching" in output) == settings.verbose


def last_line(capsys, log: Path, write) -> str:
    """Last line of a run whose only job fails after `write` did something with its log."""
    handler = LogHandler(MockOutputSettings(), None)
    handler._usual.setStream(sys.stdout)
    started = job(1, "train")
    started.log = [str(log)]
    handler.emit(record(LogEvent.RUN_INFO, stats={"total": 1}))
    handler.emit(started)
    write(log)
    failed = {"jobid": 1, "rule_name": "train", "log": [str(log)], **JOB_ERROR}
    handler.emit(record(LogEvent.JOB_ERROR, **failed))
    # As Snakemake does with a missing log.
    log.touch()
    handler.close()
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("old", [None, "", "an earlier reason\n"])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "killed, as when memory runs out"),
        ("a\n\nno eels\n \n", ": no eels"),
        ("\x1b[2J\u202e\u200f", r": \x1b[2J\u202e\u200f"),
        ("no\u2028eels\x85here", ": no eels here"),
        (None, "before it opened its log"),
    ],
)
def test_emit_last_words_of_a_job(tmp_path, capsys, old, text, words):
    log = tmp_path / "log"
    if old is not None:
        log.write_text(old)
        os.utime(log, (1, 1))
    line = last_line(capsys, log, lambda log: None if text is None else log.write_text(text))
    assert line.startswith("Failed: Doing train: ") and words in line


@pytest.mark.parametrize(("executor", "line"), [("flux-x", 2), ("local", None)])
def test_profile_executor_without_plugin(tmp_path, executor, line):
    path = tmp_path / "config.yaml"
    path.write_text(f"jobs: 2\nexecutor: {executor}\n")
    with path.open() as stream:
        if line is None:
            assert ProfileConfigFileParser().parse(stream)["executor"] == executor
            return
        with pytest.raises(SystemExit, match=rf"config.yaml, line {line}: .*plugin-{executor}"):
            ProfileConfigFileParser().parse(stream)


#: A Snakemake with a stubborn job that is interrupted twice; it prints how the job ended.
INTERRUPTED = """\
import signal, subprocess, sys
import snakemake_logger_plugin_everycell as plugin
child = subprocess.Popen([sys.executable, "stubborn.py"], stdout=subprocess.PIPE)
child.stdout.readline()
try:
    plugin._interrupt(signal.SIGINT, None)
except KeyboardInterrupt:
    print(child.poll())
signal.raise_signal(signal.SIGINT)
print(child.wait(60), signal.getsignal(signal.SIGINT) is signal.SIG_DFL)
"""


def test_kill_jobs_second_interrupt(tmp_path):
    """A job that ignores Ctrl-C ends with the second one; the third would end Snakemake."""
    stubborn = STUBBORN.replace("time.sleep", "print(flush=True); time.sleep")
    (tmp_path / "stubborn.py").write_text(stubborn)
    # All children of the process are ended: in this one also pytest's.
    process = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(SOURCE)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert process.stdout == f"None\n{-signal.SIGKILL} True\n"
