"""Context of a job: changed inputs, and a Snakemake that was killed."""

import errno
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import psutil
import pytest
from matplotlib.figure import Figure

from everycell.base.untrusted import text_of
from everycell.jobs.job import (
    InputChangedError,
    Job,
    UndeclaredInputError,
    end_with_snakemake,
    snakemake_ancestors,
)
from everycell.jobs.result_job import ResultJob
from everycell.receipts.code import code_sha256, imported_files


class _Named(list):
    """Files by number and by name, as Snakemake gives them."""

    def __init__(self, **files):
        super().__init__(files.values())
        self.__dict__.update(files)
        self.files = files

    def __getitem__(self, key):
        return self.files[key] if isinstance(key, str) else super().__getitem__(key)


class _Parameters(dict):
    """Parameters by name, as Snakemake gives them."""

    __getattr__ = dict.__getitem__


@pytest.fixture
def job(tmp_path, monkeypatch) -> Job:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "excepthook", sys.excepthook)
    Path("text").write_text("a\n")
    Path("model").mkdir()
    Path("model/weights").write_text("1\n")
    return Job(
        SimpleNamespace(
            input=_Named(text="text", model="model"),
            output=_Named(run="run"),
            params={},
            log=["job.log"],
            config={"cache": "resources"},
        )
    )


def test_job_logs_facts(job):
    with job:
        job.facts["left_out"] = 3
    assert Path("job.log").read_text() == '{"parameters": {"left_out": "3"}}\n'


@pytest.mark.fault("edited_input")
@pytest.mark.parametrize("path", ["text", "model/weights", "model/new"])
def test_job_edited_input(job, path):
    with pytest.raises(InputChangedError), job:
        Path(path).write_text("other\n")
    changed = path.partition("/")[0]
    assert Path("job.log").read_text().startswith(f"{changed} was changed while this job ran,")


#: Display settings of a table.
DISPLAY = {"title": "A toy", "names": {}, "decimals": {"AP": 1}} | {
    "layout": {"rows": ["row"], "columns": ["metric"]},
    "supplements": {"more": "More"},
}
TABLE = pd.DataFrame({"row": ["a"], "metric": ["AP"], "value": [0.1]})


@pytest.mark.fault("edited_input")
@pytest.mark.parametrize("is_removed", [False, True])
@pytest.mark.parametrize(
    "output",
    [
        *("work/run.parquet", "table_1.csv", "table_1.md", "table_1.tex", "table_1.html"),
        *("table_1.more.csv", "table_1.more.html", "figure_1.csv", "figure_1.svg", "figure_1.png"),
    ],
)
def test_job_edited_output(job, output, is_removed):
    """Another program edits an output before its job ends, which would record the edited file."""
    Path("work").mkdir()
    job.snakemake.params = _Parameters(faces={"table_1": DISPLAY})
    names = {"run": "work/run.parquet", "csv": "table_1.csv", "figure_1_csv": "figure_1.csv"}
    job.snakemake.output = _Named(**names, more_csv="table_1.more.csv", receipt="a.receipt.json")
    job = ResultJob(job.snakemake)
    with pytest.raises(InputChangedError), job:
        job.write_frame(TABLE, "run")
        job.write_table(TABLE)
        job.write_supplement(TABLE, "more", {"AP": 1})
        job.write_figure(TABLE, Figure(), "figure_1")
        path = Path(output)
        path.unlink() if is_removed else path.write_bytes(path.read_bytes() + b" ")
    assert Path("job.log").read_text().startswith(f"{output} was ")
    assert not Path("a.receipt.json").exists()


@pytest.mark.fault("edited_input")
def test_job_removed_input(job):
    with pytest.raises(InputChangedError), job:
        Path("text").unlink()
    assert Path("job.log").read_text().startswith("text was removed while this job ran,")


@pytest.mark.fault("edited_input")
@pytest.mark.parametrize("file", ["workflow/scripts/a.py", "src/b.py", "src/c.py", "src/d.py"])
@pytest.mark.parametrize("when", ["before", "during"])
def test_job_edited_code(job, file, when):
    """A script, what it imports, a module that it finds by name, and an audit."""
    for name, text in {
        "workflow/scripts/a": "import b",
        "src/b": "",
        "src/c": "",
        "src/d": "",
    }.items():
        path = Path(f"{name}.py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def code(*paths):
        files = [imported_files(Path(path), [Path("src")]) for path in paths]
        return code_sha256(set().union(*files), Path())

    job.snakemake.params = {
        "script": "a",
        "modules": ["src/c.py"],
        "code": code("workflow/scripts/a.py", "src/c.py"),
        "audits": {"src/d.py": code("src/d.py")},
    }
    edited = Path(file)
    if when == "before":
        edited.write_text(edited.read_text() + "\n")
    with pytest.raises(InputChangedError), job:
        edited.write_text(edited.read_text() + "\n# other\n")
    message = Path("job.log").read_text()
    assert "changed" in message and "Traceback" not in message and not Path("run").exists()


@pytest.mark.parametrize(
    ("path", "is_fault"),
    [
        ("data/rates.csv", True),
        ("./data/rates.csv", True),
        ("data/fit.R", True),
        ("model/weights", False),
        ("data/about.md", False),
        ("data/unknown.csv", False),
    ],
)
def test_job_undeclared_file(job, path, is_fault):
    """A file that the script names by its path is an input or part of the code."""
    for name in ("data/rates.csv", "data/fit.R", "data/about.md"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).touch()
    # What a file imports is cached by its path, which must differ from those of other tests.
    name = "names_" + "".join(filter(str.isalnum, path))
    script = Path(f"workflow/scripts/{name}.py")
    script.parent.mkdir(parents=True)
    script.write_text(f"open('{path}')")
    job.snakemake.params = {"script": name, "code": code_sha256([script], Path())}
    if is_fault:
        with pytest.raises(UndeclaredInputError), job:
            pytest.fail("the job began")
    else:
        with job:
            pass


@pytest.mark.parametrize("text", [None, "VALUE = 2\n"])
def test_job_library_from_elsewhere(job, text):
    """The running library must be that of the project, or equal to it."""
    running = Path(sys.modules["everycell"].__file__)
    own = Path("src/everycell/__init__.py")
    own.parent.mkdir(parents=True)
    own.write_text(text or running.read_text())
    if text is None:
        with job:
            pass
    else:
        with pytest.raises(InputChangedError), job:
            pytest.fail("the job began")
        assert str(running.parents[1]) in Path("job.log").read_text()


@pytest.mark.parametrize(
    ("raised", "log"),
    [
        ("SourceError('No such file.')", "No such file.\n"),
        (
            "OSError(28, 'No space left on device')",
            "table.csv, or another output of this job: No space left on device; ",
        ),
        ("KeyError('x')", "Traceback"),
    ],
)
def test_job_logs_errors(tmp_path, raised, log):
    script = f"""
        from types import SimpleNamespace as Names
        from everycell.jobs.job import Job
        from everycell.records.registry import SourceError
        names = {{"input": [], "params": {{}}, "log": ["job.log"], "config": {{"cache": "c"}}}}
        names["output"] = ["table.csv"]
        with Job(Names(**names)):
            raise {raised}
        """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", "")
    assert (tmp_path / "job.log").read_text().startswith(log)


def test_import_of_job_keeps_garbage_collection():
    command = "import gc; before = gc.get_threshold(); import everycell.jobs.job; "
    command += "assert gc.get_threshold() == before"
    subprocess.run([sys.executable, "-c", command], check=True)


def test_end_with_snakemake_without_snakemake():
    assert snakemake_ancestors() == []
    end_with_snakemake()


@pytest.mark.slow
@pytest.mark.fault("orphan")
def test_end_with_snakemake_killed_parent(tmp_path):
    """An ancestor starts a job that would run for a minute, and is killed."""
    job = textwrap.dedent(
        """
        import sys, time
        import psutil
        from everycell.jobs.job import end_with_snakemake
        end_with_snakemake([psutil.Process(int(sys.argv[1]))])
        print("started", flush=True)
        time.sleep(60)
        """
    )
    parent = textwrap.dedent(
        f"""
        import os, subprocess, sys, time
        subprocess.Popen([sys.executable, "-c", {job!r}, str(os.getpid())])
        time.sleep(60)
        """
    )
    started = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "started\n"
    [child] = psutil.Process(started.pid).children()
    started.kill()
    started.wait()
    psutil.wait_procs([child], timeout=20)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


def test_write_table_readings_become_columns(tmp_path):
    display = {"title": "A toy", "names": {}, "decimals": {"AP": 1}}
    display["layout"] = {"rows": ["row"], "columns": ["metric"]}
    output = _Named(csv=tmp_path / "table_1.csv", receipt=tmp_path / "table_1.receipt.json")
    parameters = SimpleNamespace(faces={"table_1": display})
    job = ResultJob(SimpleNamespace(output=output, params=parameters))
    readings = {"epochs": ["30", "10"], "value": [0.1, 0.2]}
    job.write_table(pd.DataFrame({"row": "a", "metric": "AP"} | readings))
    assert "AP · 30" in (tmp_path / "table_1.md").read_text()


@pytest.mark.fault("storage")
@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO, errno.ETIMEDOUT])
@pytest.mark.parametrize("when", ["before", "during", "after"])
def test_job_stale_file(job, monkeypatch, number, when):
    """A network file system whose files cannot be opened: one sentence that names the file."""
    system_open, broken = os.open, when == "before"

    def stale(path, *arguments, **options):
        if broken and str(path) == "text":
            raise OSError(number, os.strerror(number), path)
        return system_open(path, *arguments, **options)

    monkeypatch.setattr(os, "open", stale)
    with pytest.raises(OSError), job:
        broken = True
        if when == "during":
            text_of(Path("text"))
    message = Path("job.log").read_text()
    assert message.startswith(f"text: {os.strerror(number)}; ") and message.count("\n") == 1


@pytest.mark.fault("edited_input")
@pytest.mark.parametrize("is_before", [False, True])
def test_job_input_replaced_by_pipe(job, is_before):
    def replace() -> None:
        Path("text").unlink()
        os.mkfifo("text")

    if is_before:
        replace()
    with pytest.raises(OSError), job:
        replace()
    message = Path("job.log").read_text()
    assert message.startswith("text: it is not a regular file") and message.count("\n") == 1


@pytest.mark.fault("memory")
@pytest.mark.parametrize(
    "allocate",
    [
        "bytearray(1 << 40)",
        "import numpy; numpy.zeros(1 << 40)",
        "raise MemoryError",
        "raise ImportError('a.so: failed to map segment from shared object')",
        "raise OSError(12, 'Cannot allocate memory')",
    ],
)
def test_job_memory_error(tmp_path, allocate):
    """A job over its limit of address space says so in one sentence."""
    code = f"""
import resource
from types import SimpleNamespace
from everycell.jobs.job import Job
snakemake = SimpleNamespace(
    input=[], output=[], params={{}}, log=["job.log"], config={{"cache": "resources"}}
)
resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
with Job(snakemake):
    {allocate}
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    log = (tmp_path / "job.log").read_text()
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert log.count("\n") == 1 and "memory" in log and "Traceback" not in log
