import py_compile
import sys
import zipfile
from pathlib import Path
from py_compile import PycInvalidationMode

import pytest

from everycell.jobs.processes import allow_processes
from everycell.workflow.script_process import REPORT, run_script

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
    done, uncovered = run(paper, WRITE)
    assert done.returncode == 0
    assert Path("values").read_text() == ("own" if mode else "other")
    assert [*uncovered] == ([] if mode else [f"{paper}/{name}"])


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
    done, uncovered = run(paper, "\n".join(lines))
    assert done.returncode == 0, done.stderr
    assert file.relative_to(tmp_path).as_posix() in uncovered


#: Ways to run or read a file beside the script without its name in the text.
COMPUTED = {
    "runpy": "import runpy; runpy.run_path(path)",
    "exec": "exec(open(path).read())",
    "exec of a copied function": "from io import open as other; exec(other(path, 'rb').read())",
    "keyword": "open(mode='r', file=path).close()",
    "bytes": "import os; open(os.fsencode(path)).close()",
    "pathlib": "import pathlib; pathlib.Path(path).read_text()",
    "relative": "import os; open(os.path.relpath(path)).close()",
    "through another folder": "open(folder + '/../' + folder.split('/')[-1] + '/toy.py').close()",
    "codecs": "import codecs; codecs.open(path).close()",
    "fileinput": "import fileinput; [*fileinput.input([path])]",
    "linecache": "import linecache; linecache.getlines(path)",
    "pandas": "import pandas; pandas.read_csv(path)",
    "numpy": "import numpy; numpy.genfromtxt(path, dtype=str)",
    "class": "A = type('A', (), {'open': open}); A().open(path).close()",
}


@pytest.mark.parametrize("text", COMPUTED.values(), ids=COMPUTED)
def test_run_script_computed_name(paper, text):
    (paper / "toy.py").write_text("value = 1")
    find = "import sys\nfolder = sys.path[0]\npath = f'{folder}/to' + 'y.py'\n"
    done, uncovered = run(paper, find + text)
    assert done.returncode == 0, done.stderr
    assert [*uncovered] == [f"{paper}/toy.py"]


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
    assert run(paper, text)[0].returncode == code
    assert Path("temporary", REPORT).exists() == has_report
