"""Imports and named files of scripts, however they are written."""

import ast
import json
from pathlib import Path

import pytest

from everycell.receipts.code import files_of_sources
from everycell.receipts.imports import imported_names

#: Text that imports `helper`, or names the file, in ways that a search for lines would miss.
WAYS = {
    "second statement": "import os; import helper",
    "one line": "try: import helper\nexcept ImportError: pass",
    "backslash": "import os, \\\n    helper",
    "backslash before names": "from helper \\\n    import value",
    "tab": "import\thelper",
    "tabs": "from\thelper\timport\tvalue",
    "indented by a tab": "if 1:\n\timport helper",
    "byte order mark": "\ufeffimport helper",
    "form feed": "\x0cimport helper",
    "carriage return": "import os\rimport helper\r",
    "DOS": "import helper\r\n",
    "declared encoding": "# coding: utf-7\n+AGkAbQBwAG8AcgB0 helper",
    "full width": "import \uff48elper",
    "comment with a parenthesis": "from helper import (\n    value,  # (a)\n    other,\n)",
    "after a string": "'''\nimport os'''; import helper",
    "in a function": "def f(): from helper import value",
    "relative": "from . import helper",
    "relative module": "from .helper import value",
    "importlib": "from importlib import import_module as load\nimport importlib\n"
    "importlib.import_module('helper')",
    "__import__": "__import__('helper')",
    "runpy": "import runpy\nrunpy.run_path('workflow/scripts/helper.py')",
    "spec": "from importlib.util import spec_from_file_location as spec\n"
    "spec('x', 'workflow/scripts/helper.py')",
    "subprocess": "import sys\nsubprocess.run([sys.executable, '-m', 'scripts.helper'])",
    "subprocess with options": "run(('python3', '-X', 'dev', '-m',\n    \"scripts.helper\", 'a'))",
    "shell": "import os\nos.system('python -B -m scripts.helper > file')",
    "exec": "exec(open('workflow/scripts/helper.py').read())",
}


@pytest.mark.parametrize("text", WAYS.values(), ids=WAYS)
def test_files_of_sources_import(tmp_path, text):
    script, helper = _written(tmp_path, "script.py", text), _written(tmp_path, "helper.py", "")
    assert files_of_sources([script], tmp_path) == {script, helper}


@pytest.mark.parametrize(
    "text",
    [
        *WAYS.values(),
        *("%run helper.py", "lines = !python helper.py", "run helper", "%run -i helper"),
        *("%%bash --out x\npython helper.py", "get_ipython().getoutput('python helper.py -x')"),
    ],
)
def test_files_of_sources_notebook(tmp_path, text):
    """All cells count, also next to one that Python cannot parse."""
    sources = ["%matplotlib inline\nx = !ls", text.splitlines(keepends=True), "is not Python"]
    cells = [{"cell_type": "code", "source": source} for source in sources]
    cells.append({"cell_type": "markdown", "source": "import other"})
    notebook = _written(tmp_path, "mine.ipynb", json.dumps({"cells": cells}))
    helper, _ = _written(tmp_path, "helper.py", ""), _written(tmp_path, "other.py", "")
    script = _written(tmp_path, "run_mine.py", "read('mine.ipynb')")
    assert files_of_sources([script], tmp_path) == {script, notebook, helper}


@pytest.mark.parametrize("path", ["fit.R", "lib/fit.R", "lib/rates.csv"])
@pytest.mark.parametrize("form", ["workflow/scripts/{}", "./{}", "../scripts/{}"])
def test_files_of_sources_named_file(tmp_path, path, form):
    """Scripts in R and data are named by a path below the project or the folder of the script."""
    text = f"subprocess.run(['Rscript', '{form.format(path)}'])"
    script = _written(tmp_path, "script.py", text)
    data = _written(tmp_path, path, "source('workflow/scripts/more.R')")
    more = _written(tmp_path, "more.R", "")
    expected = {script, data} | ({more} if path.endswith(".R") else set())
    assert files_of_sources([script], tmp_path) == expected


def test_files_of_sources_file_outside_code(tmp_path):
    (tmp_path / "elsewhere.csv").touch()
    script = _written(tmp_path, "script.py", "open('elsewhere.csv'), open('../../elsewhere.csv')")
    assert files_of_sources([script], tmp_path) == {script}


def _written(root: Path, name: str, text: str) -> Path:
    path = root / "workflow/scripts" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_imported_names_as_parsed(repository):
    """The shortcut for simple statements finds what the parser finds."""
    for path in sorted([*repository.glob("src/**/*.py"), *repository.glob("workflow/**/*.py")]):
        expected = set()
        for node in ast.walk(ast.parse(path.read_bytes())):
            if isinstance(node, ast.Import):
                expected |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                expected |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        assert expected <= set(imported_names(path.read_bytes())), path


def test_imported_names_syntax_error():
    assert imported_names(b"import a\nimport (") == ["a"]
