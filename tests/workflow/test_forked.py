"""A forked command prints and computes like a new process, and ends as in a shell."""

import os
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
import snakemake.workflow

from workflow import fork_server, forked


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("everycell", "list", "nowhere"),
        ("everycell", "list", "sakai2023", "--format", "json"),
        ("everycell", "list", "--format", "xml"),
        ("snakemake", "--version"),
        ("snakemake", "nothing"),
    ],
    ids=" ".join,
)
def test_it_prints_and_ends_as_one_started_anew(tree, command):
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
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 143, ""),
        ("import sys; print(sys.stdin.read() == '', sys.argv[1:], __name__)", 0, None),
        ("import threadpoolctl as t; print({i['num_threads'] for i in t.threadpool_info()})", 0,
         "{1}\n"),
        ("import os, tempfile; print(tempfile.gettempdir() == os.environ['TMPDIR'])", 0, "True\n"),
        (r"import sys; print('\udc80', file=sys.stderr)", 0, "\\udc80\n"),
        ("import os; print(os.environ['TOLD'], os.getcwd() == os.environ['HERE'])", 0, "a True\n"),
    ],
)  # fmt: skip
def test_a_script_ends_as_python_ends_it(tmp_path, text, status, output):
    script = tmp_path / "script.py"
    script.write_text(text)
    environment = {"PYTHONPATH": "src", "OMP_NUM_THREADS": "1", "TOLD": "a", "HERE": str(tmp_path)}
    environment["TMPDIR"] = str(tmp_path)
    result = forked.run([str(script), "b"], tmp_path, os.environ | environment)
    assert result == (status, "True ['b'] __main__\n" if output is None else output)


class ParsedFile(NamedTuple):
    """A file of rules, and the cache of files that it comes from, as Snakemake's parser has it."""

    path: Path

    def get_path_or_uri(self, secret_free):
        return str(self.path)

    def open(self, _path):
        return self.path.open(encoding="utf-8")

    @property
    def sourcecache(self):
        return self


def test_rules_that_were_parsed_ahead_are_those_of_snakemake(repository, monkeypatch):
    files = [
        repository / "Snakefile",
        *(repository / "workflow").rglob("*.smk"),
        *(repository / "src/everycell/workflow/rules").rglob("*.smk"),
    ]
    parse = snakemake.workflow.parse
    # It is put back in the end; in a server it stays.
    monkeypatch.setattr(snakemake.workflow, "parse", parse)
    fork_server.parse_ahead(repository)
    for file in map(ParsedFile, files):
        expected, result = {}, {}
        created = parse(file, file, expected, rulecount=7)
        assert snakemake.workflow.parse(file, file, linemap=result, rulecount=7) == created
        assert result == expected


def test_a_fault_shows_where_it_is(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("def wrong():\n    raise ValueError('here')\n\n\nwrong()\n")
    environment = os.environ | {"PYTHONPATH": "src", "OMP_NUM_THREADS": "1"}
    status, output = forked.run([str(script)], tmp_path, environment)
    assert status == 1
    assert f'File "{script}", line 2, in wrong' in output and "ValueError: here" in output
