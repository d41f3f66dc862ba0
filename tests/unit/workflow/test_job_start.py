"""Jobs import project and library from their sources, whatever lies beside them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from planted_code import plant_byte_code

import everycell.workflow
from everycell.workflow import first_statements

PLANTED = "print('planted')"


@pytest.fixture
def run(tmp_path):
    """Run a job, with the module `helper` of the project and `everycell` of the library."""
    # A part of the project's own path must not make its modules those of installed packages.
    project, library = tmp_path / "site-packages/project", tmp_path / "library"
    for package in (library / "everycell", project / "src/helper"):
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("")
    scripts = project / ".snakemake/scripts"
    scripts.mkdir(parents=True)
    script = scripts / "tmp1.call_function.py"

    def call(is_isolated: bool = True, **variables: str) -> str:
        start = first_statements(tmp_path / "compiled", project)
        own = f"{Path(everycell.workflow.__file__).parents[1]}/"
        start = start.replace(own, f"{library}/everycell/")
        body = "import sys; import pickle, helper, everycell, shlex\nprint('computed')"
        script.write_text(start * is_isolated + body)
        names = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")
        environment = {name: value for name, value in os.environ.items() if name not in names}
        path = f"{project / 'src'}{os.pathsep}{library}"
        return subprocess.run(
            [sys.executable, script],
            env=environment | {"PYTHONPATH": path} | variables,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    call.project, call.library, call.scripts = project, library, scripts
    return call


@pytest.mark.parametrize("planted", ["project", "library", "standard library", "package"])
def test_first_statements_planted_code(run, planted):
    """A planted file computes without them, which shows that the test can fail."""
    if planted == "project":
        plant_byte_code(run.project / "src/helper/__init__.py", PLANTED)
    elif planted == "library":
        plant_byte_code(run.library / "everycell/__init__.py", PLANTED)
    else:
        name = {"standard library": "pickle", "package": "shlex"}[planted]
        (run.scripts / f"{name}.py").write_text(PLANTED)
    assert run() == "computed"
    assert run(is_isolated=False) == "planted\ncomputed"


@pytest.mark.parametrize("variables", [{}, {"PYTHONDONTWRITEBYTECODE": "1"}])
def test_first_statements_byte_code_of_the_run(run, tmp_path, variables):
    """Jobs share the byte code of their run, and write none beside the sources."""
    run(**variables)
    files = {path: path.stat().st_mtime_ns for path in (tmp_path / "compiled").rglob("*.pyc")}
    assert {path.parent.name for path in files} == {"helper", "everycell"}
    run(**variables)
    assert files == {path: path.stat().st_mtime_ns for path in files}
    assert not [*tmp_path.rglob("__pycache__")]


#: Ways to run or read a file under a computed path.
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
def test_first_statements_note_opened_files(tmp_path, text):
    file = tmp_path / "workflow/papers/toy.py"
    file.parent.mkdir(parents=True)
    for path in (file, tmp_path / "other.py"):
        path.write_text("value = 1")
    lines = [
        f"folder = {str(file.parent)!r}",
        "path = f'{folder}/to' + 'y.py'",
        text,
        f"open({str(tmp_path / 'other.py')!r}).close()",
        "import sys",
        "files = sys.modules['_frozen_importlib_external'].noted_files",
        "print(*[file for file in files if file.endswith(('toy.py', 'other.py'))])",
    ]
    start = first_statements(tmp_path / "compiled", tmp_path)
    command = [sys.executable, "-c", start + "\n".join(lines)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(file)
