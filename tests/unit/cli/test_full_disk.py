"""A full disk, a quota, a read-only folder; standard output that is full, closed or not read."""

import builtins
import errno
import io
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest
import typer
from command_line import call, refused
from matplotlib.figure import Figure
from tiny_forest import FOREST

from everycell.base.csv_files import read_table
from everycell.base.files import atomic_path, describe_os_error, sha256, write_atomically
from everycell.base.text_files import text_lines
from everycell.base.untrusted import text_of
from everycell.cli.project import faults_at_start, report_errors
from everycell.config import read_settings
from everycell.records.cells import read_cells

DOCUMENTS = [f"d{number}" for number in range(2000)]


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Folder, which is the working one, with inputs whose outputs are long."""
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b"):
        lines = [
            f"q{query} Q0 {document} {rank} {(3000 - rank) * (1 + (name == 'b'))} {name}\n"
            for query in (1, 2)
            for rank, document in enumerate(DOCUMENTS, 1)
        ]
        Path(f"{name}.run").write_text("".join(lines))
    Path("qrels").write_text("q1 0 d1 1\nq2 0 d3 1\n")
    Path("documents.tsv").write_text("".join(f"{name}\tshe saw\n" for name in DOCUMENTS))
    Path("words.txt").write_text("she,f\nhe,m\n")
    rows = [f"{name},{number % 2}" for number, name in enumerate(DOCUMENTS)]
    Path("groups.csv").write_text("\n".join(["document,neutrality", *rows]))
    Path("model.txt").write_text(FOREST)
    features = [f"0 qid:{query} 1:0.{row} 2:0.1" for query in (1, 2) for row in range(1, 9)]
    Path("letor.txt").write_text("\n".join(features) + "\n")
    Path("table.csv").write_text("system,metric,value\na,AP,0.5\n")
    Path("out").mkdir()
    return tmp_path


#: Command that writes -> its output.
WRITING = {
    "measure interpolate a.run b.run qrels --folds 2 --noise 1 --out out/new.run": "out/new.run",
    "measure count-terms documents.tsv --words words.txt --out out/c.parquet": "out/c.parquet",
    "measure rerank a.run --groups groups.csv --alpha 0.5 --method fair --out out/new": "out/new",
    "measure explain model.txt letor.txt --query 1 --samples 5 --explainer greedy --plot out/p": (
        "out/p.svg"
    ),
    "init smith2026 out/new --runs a.run --qrels qrels --table table.csv": "out/new",
}


@contextmanager
def size_limit(size: int) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def assert_refused_then_made(command, file, reason, limit, folder="out"):
    """Refuse the command with the name of the file, leave nothing, and succeed without limit."""
    with limit:
        message = refused(*command.split())
    assert file in message and f"{reason}; free some space" in message
    assert not list(Path(folder).rglob("*"))
    assert call(*command.split())[0] == 0


@pytest.mark.slow
@pytest.mark.fault("full_disk")
@pytest.mark.parametrize("command", WRITING)
def test_write_size_limit(files, command):
    assert_refused_then_made(command, WRITING[command], "File too large", size_limit(2000))


@pytest.mark.fault("full_disk")
def test_save_figure_all_or_none(files):
    """No file remains if only the largest does not fit."""
    from everycell.render.figure_files import save_figure

    figure = Figure(figsize=(3, 2))
    figure.subplots().plot([1, 2])
    sizes = sorted(path.stat().st_size for path in save_figure(figure, Path("whole")))
    for size in sizes:
        with size_limit(size - 1), pytest.raises(OSError, match="out/p"):
            save_figure(figure, Path("out/p"))
        assert not list(Path("out").iterdir())
    with size_limit(sizes[-1]):
        assert len(save_figure(figure, Path("out/p"))) == 3


@contextmanager
def full(folder: Path) -> Iterator[None]:
    """Fill the file system of a folder, except for one page."""
    filler = folder.parent / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            file.truncate(file.tell() - 4096)
    yield
    filler.unlink()


@pytest.fixture
def mount(tmp_path):
    """Function that mounts a small file system in memory; skipped where that is forbidden."""
    mounted = []

    def run(folder: Path, options: str) -> None:
        folder.mkdir(exist_ok=True)
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"cannot mount a file system: {done.stderr.strip()}")
        mounted.append(folder)

    yield run
    for folder in mounted:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.slow
@pytest.mark.fault("full_disk")
@pytest.mark.parametrize("command", WRITING)
def test_write_full_disk(files, mount, command):
    mount(Path("disk"), "size=2m")
    Path("disk/out").mkdir()
    command = command.replace(" out/", " disk/out/")
    file = f"disk/{WRITING[f'{command}'.replace(' disk/out/', ' out/')]}"
    limit = full(Path("disk/out"))
    assert_refused_then_made(command, file, "No space left on device", limit, "disk/out")


@pytest.mark.fault("full_disk")
def test_write_no_inodes(files, mount):
    mount(Path("disk"), "nr_inodes=1")
    message = refused(*"measure count-terms documents.tsv --words words.txt --out disk/c".split())
    assert "disk/c: No space left on device; free some space" in message


@pytest.mark.fault("full_disk")
@pytest.mark.parametrize("command", WRITING)
def test_write_read_only(files, mount, command):
    mount(Path("disk"), "ro")
    message = refused(*command.replace(" out/", " disk/").split())
    assert "disk" in message and ("not writable" in message or "Read-only file" in message)


@pytest.mark.parametrize(
    ("number", "says"),
    [
        (errno.ENOSPC, "No space left on device; free some space"),
        (errno.EDQUOT, "Disk quota exceeded; free some space"),
        (errno.EFBIG, "File too large; free some space"),
        (errno.EROFS, "Read-only file system; choose a folder"),
        (errno.EACCES, "Permission denied; correct the permissions"),
        (errno.EIO, "Input/output error; check the disk"),
    ],
)
def test_describe_os_error_file(tmp_path, monkeypatch, number, says):
    def fails(path, content):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(OSError, match="a file") as error:
        write_atomically(tmp_path / "a file", "text")
    assert describe_os_error(error.value).startswith(f"{tmp_path / 'a file'}: {says}")
    assert not list(tmp_path.iterdir())


def test_atomic_path_other_names(tmp_path):
    """An error about another file, such as an input, keeps its name."""
    with pytest.raises(FileNotFoundError) as error, atomic_path(tmp_path / "new"):
        (tmp_path / "input").read_text()
    assert error.value.filename == str(tmp_path / "input")
    with pytest.raises(OSError, match="Input/output") as error, atomic_path(tmp_path / "new"):
        raise OSError(errno.EIO, "Input/output error")
    assert error.value.filename is None


def run_command(arguments, shell_suffix, **environment):
    command = f'"{sys.executable}" -c "from everycell.cli.entry import main; main()" '
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command + " ".join([*arguments, shell_suffix])],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


OVERLAP = ("measure", "overlap", "a.run", "b.run")


@pytest.mark.slow
@pytest.mark.fault("full_disk")
@pytest.mark.parametrize(
    ("arguments", "suffix", "code", "says"),
    [
        (("--help",), ">/dev/full", 2, "standard output: /dev/full: No space left on device;"),
        (("--version",), ">/dev/full", 2, "standard output: /dev/full: No space left"),
        (("measure", "--help"), ">/dev/full", 2, "standard output: /dev/full: No space left"),
        ((), ">/dev/full", 2, "standard output: /dev/full: No space left"),
        (OVERLAP, ">/dev/full", 2, "standard output: /dev/full: No space left"),
        ((*OVERLAP, "--format=json"), ">/dev/full", 2, "standard output: /dev/full: No space"),
        (("--help",), ">&-", 2, "standard output: "),
        (OVERLAP, ">&-", 2, "Bad file descriptor"),
        # The reader is gone, or leaves early.
        (("--help",), "| true", 141, ""),
        ((*OVERLAP, "--per-query"), "| (exec <&-; sleep 1)", 141, ""),
        # No message is possible.
        (("measure", "overlap", "no", "b.run"), "2>/dev/full", 2, ""),
        (("measure", "overlap", "no", "b.run"), "2>&-", 2, ""),
        (("measure", "overlap", "no", "b.run"), ">&- 2>&-", 2, ""),
    ],
)
def test_guard_streams(files, arguments, suffix, code, says):
    for unbuffered in ("", "1"):
        done = run_command(arguments, suffix, PYTHONUNBUFFERED=unbuffered)
        assert done.returncode == code, done.stderr
        assert says in done.stderr and done.stderr.count("\n") == bool(says)


@pytest.mark.slow
def test_guard_streams_normal(files):
    done = run_command((*OVERLAP, "--format=csv"), "")
    assert (done.returncode, done.stderr) == (0, "")
    assert pd.read_csv(io.StringIO(done.stdout))["queries"].tolist() == [2]


@pytest.mark.fault("storage")
@pytest.mark.parametrize(
    "read",
    [read_table, read_cells, text_of, sha256, read_settings, lambda path: [*text_lines(path)]],
)
def test_readers_stale_handle(tmp_path, monkeypatch, capsys, read):
    """What a command says if a reader cannot open a file of a network file system."""
    path = tmp_path / "table.csv"
    path.write_text("run,value\na,1\n")

    def stale(system_open):
        def opened(file, *arguments, **options):
            if str(file) == str(path):
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(path))
            return system_open(file, *arguments, **options)

        return opened

    for module in (io, builtins, os):
        monkeypatch.setattr(module, "open", stale(module.open))
    with pytest.raises(typer.Exit) as stopped:
        report_errors(lambda: read(path))()
    message = capsys.readouterr().err
    assert stopped.value.exit_code == 2 and message.count("\n") == 1
    assert str(path) in message and os.strerror(errno.ESTALE) in message


@pytest.mark.fault("memory")
@pytest.mark.parametrize(
    "statement",
    [
        "raise MemoryError",
        "raise ImportError('a.so: failed to map segment from shared object')",
        "raise ImportError('a.so: cannot allocate memory in static TLS block')",
        "raise ImportError('no extension') from ImportError('a.so: failed to map segment from a')",
        "raise OSError('a.so: cannot create shared object descriptor: Cannot allocate memory')",
    ],
)
def test_main_memory_error(tmp_path, statement):
    program = (
        "import everycell.cli as cli\n"
        f"def run(*_, **__): {statement}\n"
        "cli.app = run\n"
        "from everycell.cli.entry import main; main()"
    )
    command = [sys.executable, "-c", program, "verify"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("everycell: memory ran out")
    assert done.stderr.count("\n") == 1


def test_main_import_error(tmp_path):
    """Another error of a compiled module is not one of memory."""
    program = (
        "import everycell.cli as cli\n"
        "def run(*_, **__): raise ImportError('a.so: undefined symbol: x')\n"
        "cli.app = run\n"
        "from everycell.cli.entry import main; main()"
    )
    command = [sys.executable, "-c", program, "verify"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "undefined symbol" in done.stderr


@pytest.mark.fault("full_disk")
@pytest.mark.parametrize("variable", ["TMP", "TMPDIR"])
def test_faults_at_start_full_temporary_folder(tmp_path, monkeypatch, variable):
    """Snakemake's scheduler, which writes there, would show a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("everycell.cli.project.check_once", lambda *paths: [])
    monkeypatch.delenv("TMP", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    assert faults_at_start() == []
    with size_limit(0):
        [fault] = faults_at_start()
    assert str(tmp_path) in fault
    # Both Python and the scheduler use another folder than one that is missing.
    monkeypatch.setenv(variable, str(tmp_path / "missing"))
    with size_limit(0):
        assert faults_at_start() == []
