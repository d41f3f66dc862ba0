"""A forked command prints, computes and ends like a new process."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from workflow import forked


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("everycell", "list", "sakai2023", "--format", "json"),
        ("everycell", "list", "--format", "xml"),
        ("snakemake", "--version"),
        ("snakemake", "nothing"),
    ],
    ids=" ".join,
)
def test_run_command(tree, command):
    separate, fork = (replace(tree, forks=forks).run(*command) for forks in (False, True))
    assert (fork.returncode, fork.stdout) == (separate.returncode, separate.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "status", "output"),
    [
        ("import sys; print('a'); print('b', file=sys.stderr)", 0, "a\nb\n"),
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('no')", 1, "no\n"),
        ("import atexit; atexit.register(print, 'end')", 0, "end\n"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", 137, ""),
        ("import sys; print(sys.stdin.read() == '', sys.argv[1:], __name__)", 0,
         "True ['b'] __main__\n"),
        ("import threadpoolctl as t; print({i['num_threads'] for i in t.threadpool_info()})", 0,
         "{1}\n"),
        ("import os, tempfile; print(tempfile.gettempdir() == os.environ['TMPDIR'])", 0, "True\n"),
        (r"import sys; print('\udc80', file=sys.stderr)", 0, "\\udc80\n"),
        ("import os; print(os.environ['TOLD'], os.getcwd() == os.environ['HERE'])", 0, "a True\n"),
        ("def wrong():\n    raise ValueError('eels')\nwrong()", 1, "ValueError: eels\n"),
    ],
)  # fmt: skip
def test_run_script(tmp_path, text, status, output):
    script = tmp_path / "script.py"
    script.write_text(text)
    environment = {"PYTHONPATH": "src", "OMP_NUM_THREADS": "1", "TOLD": "a", "HERE": str(tmp_path)}
    environment["TMPDIR"] = str(tmp_path)
    result = forked.run([str(script), "b"], tmp_path, os.environ | environment)
    assert result[0] == status
    assert result[1] == output or ("line 2, in wrong" in result[1] and result[1].endswith(output))


@pytest.mark.slow
def test_run_changed_hash_seed(tmp_path):
    (tmp_path / "script.py").write_text("print(hash('eels'))")
    seeded = os.environ | {"PYTHONPATH": "src", "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "1"}
    outputs = {forked.run(["script.py"], tmp_path, seeded | {"N": str(n)}) for n in range(2)}
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=tmp_path, env=seeded, capture_output=True
    )
    assert outputs == {(0, done.stdout.decode())}
