"""`everycell make` runs Snakemake, and passes on signals and exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from command_line import call, refused

from everycell.cli import making

pytestmark = pytest.mark.fault("interrupted_run")


def test_start_interrupted_during_import(tmp_path):
    """Ctrl-C before Snakemake has been imported ends in one line."""
    package = tmp_path / "snakemake"
    package.mkdir()
    (package / "__init__.py").touch()
    slow = "import time\nprint('importing', flush=True)\ntime.sleep(60)\n"
    (package / "cli.py").write_text(slow)
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", making._START],
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None and process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130 and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("code", "expected"), [(0, 130), (130, 130), (-signal.SIGINT, 130), (1, 1)]
)
def test_run_snakemake_code_after_an_interrupt(monkeypatch, tmp_path, code, expected):
    codes = iter([KeyboardInterrupt, code])

    def wait(timeout=None):
        result = next(codes)
        if result is KeyboardInterrupt:
            raise result
        return result

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    process = SimpleNamespace(wait=wait, terminate=lambda: None)
    monkeypatch.setattr(making.subprocess, "Popen", lambda *arguments, **options: process)
    monkeypatch.setattr(making, "_forward_interrupt", lambda process: None)
    assert making.run_snakemake([]) == expected


@pytest.mark.parametrize("name", ["config.yaml", "published/example2026/registry.yaml"])
def test_make_invalid_yaml(tmp_path, monkeypatch, name):
    """Said in one sentence, before Snakemake begins."""
    monkeypatch.chdir(tmp_path)
    assert call("init", "example2026")[0] == 0
    monkeypatch.chdir("example2026")
    Path(name).write_text("a: {b\n")
    assert f"{name} is not valid YAML, line 1: " in refused("make", "--dry-run")
