import os
import py_compile
import signal
import sys
import zipfile
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from everycell.jobs.processes import allow_processes
from everycell.workflow.script_process import ERRORS, REPORT, run_script

WRITE = "import sys\nfrom helper import value\nopen(sys.argv[1], 'w').write(value)\n"


@pytest.fixture
def paper(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("workflow/papers/toy")
    folder.mkdir(parents=True)
    (tmp_path / "temporary").mkdir()
    (folder / "helper.py").write_text("value = 'own'")
    (tmp_path / "other.py").write_text("value = 'other'")
    return folder


def run(paper, text):
    (paper / "mine.py").write_text(text)
    covered = {paper / "mine.py", paper / "helper.py"}
    try:
        return run_script(paper / "mine.py", Path("values"), covered, Path("temporary"))
    finally:
        allow_processes(())


@pytest.mark.parametrize("mode", [PycInvalidationMode.UNCHECKED_HASH, None])
def test_run_script_planted_byte_code(paper, mode):
    """Byte code next to a module replaces it only as a package, which the report names."""
    name = (
        f"__pycache__/helper.{sys.implementation.cache_tag}.pyc" if mode else "helper/__init__.pyc"
    )
    py_compile.compile("other.py", paper / name, invalidation_mode=mode)
    code, uncovered = run(paper, WRITE)
    assert code == 0
    assert Path("values").read_text() == ("own" if mode else "other")
    assert [*uncovered] == ([] if mode else [f"{paper}/{name}", "other.py"])


#: Modules that leave no trace of themselves in `sys.modules`.
HIDING = {
    "removed": "import sys, helper; sys.modules[__name__] = helper",
    "renamed": "import helper; __file__ = helper.__file__",
    "without a file": "del __file__",
    "another type of file": "__file__ = []",
    "failed": "raise ImportError",
}


@pytest.mark.parametrize(
    ("form", "hidden"),
    [("module", hidden) for hidden in HIDING]
    + [(form, "removed") for form in ("package", "byte code", "archive")],
)
def test_run_script_hidden_module(paper, tmp_path, form, hidden):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    file = elsewhere / ("toy/__init__.py" if form == "package" else "toy.py")
    file.parent.mkdir(exist_ok=True)
    file.write_text(HIDING[hidden])
    path = elsewhere
    if form == "byte code":
        py_compile.compile(str(file), file.with_suffix(".pyc"))
        file.unlink()
        file = file.with_suffix(".pyc")
    elif form == "archive":
        path = tmp_path / "toy.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(file, "toy.py")
        file = path
    lines = ["import contextlib, sys", f"sys.path.append({str(path)!r})"]
    lines += ["with contextlib.suppress(ImportError): import toy"]
    code, uncovered = run(paper, "\n".join(lines))
    assert code == 0, Path("temporary", ERRORS).read_text()
    assert file.relative_to(tmp_path).as_posix() in uncovered


@pytest.mark.parametrize(
    ("text", "code", "has_report"),
    [
        ("import sys; sys.exit(3)", 3, True),
        ("raise ValueError('eels')", 1, True),
        ("import os; os._exit(0)", 0, False),
        ("import os; os.system('python3 other.py')", 1, True),
    ],
)
def test_run_script_end(paper, text, code, has_report):
    assert run(paper, text)[0] == code
    assert Path("temporary", REPORT).exists() == has_report


#: Ways to use a file that the text of a script does not name.
HIDDEN = "workflow/papers/toy/hid' + 'den.py"


@pytest.mark.parametrize(
    "text",
    [
        f"exec(open('{HIDDEN}').read())",
        f"import runpy; runpy.run_path('{HIDDEN}')",
        f"from pathlib import Path; Path('{HIDDEN}').read_bytes()",
        f"import os; os.read(os.open('{HIDDEN}', os.O_RDONLY), 9)",
        "import importlib, sys; importlib.import_module('hid' + 'den'); del sys.modules['hidden']",
        "import os\nif os.fork() == 0:\n    __import__('hid' + 'den')\n    os._exit(0)\nos.wait()",
        "from multiprocessing import get_context\ndef use(name): __import__(name)\n"
        "with get_context('fork').Pool(1) as p: p.map(use, ['hid' + 'den'])",
        f"import os; exec(open('{HIDDEN}').read()); os.remove('{HIDDEN}')",
        f"import pandas; pandas.read_csv('{HIDDEN}')",
    ],
    ids=["exec", "runpy", "pathlib", "os", "import", "fork", "pool", "removed", "pandas"],
)
def test_run_script_hidden_file(paper, text):
    (paper / "hidden.py").write_text("value = 1")
    code, uncovered = run(paper, text)
    assert code == 0, Path("temporary", ERRORS).read_text()
    assert [*uncovered] == [f"{paper}/hidden.py"]


def test_run_script_own_files(paper):
    """What a script writes, reads outside of the project, or in declared folders, is no finding."""
    (paper / "data").mkdir()
    (paper / "data/a.csv").write_text("1")
    text = "open('own.txt', 'w').close(); open('own.txt'); open('/etc/hostname')\n"
    (paper / "mine.py").write_text(text + f"open('{paper}/data/' + 'a.csv')")
    covered = {paper / "mine.py", paper / "data"}
    try:
        assert run_script(paper / "mine.py", Path("v"), covered, Path("temporary")) == (0, {})
    finally:
        allow_processes(())


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("input('name?')", 1),
        ("import sys; sys.stdout.buffer.write(bytes(range(256)))", 0),
        ("import sys; sys.exit('\\x1b]0;title')", 1),
    ],
    ids=["question", "bytes", "message"],
)
def test_run_script_output(paper, text, code):
    """A script ends whatever it asks or prints."""
    assert run(paper, text)[0] == code


def test_run_script_daemon(paper):
    """A process that the script leaves behind, and that keeps its output open, delays nothing."""
    text = "import subprocess\ndaemon = subprocess.Popen(['sleep', '99'])\n"
    assert run(paper, text + "open('pid', 'w').write(str(daemon.pid))")[0] == 0
    os.kill(int(Path("pid").read_text()), signal.SIGKILL)
