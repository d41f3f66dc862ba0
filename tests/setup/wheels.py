"""The package as a wheel, and an environment of its own to install it in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from workflow.other_python import find_python

REPOSITORY = Path(__file__).resolve().parents[2]
UV = Path(sys.executable).with_name("uv")


def outside_variables() -> dict[str, str]:
    """Variables under which neither the project's sources nor its packages are seen."""
    index = os.environ.get("PIP_INDEX_URL")
    variables = os.environ | ({"UV_DEFAULT_INDEX": index} if index else {})
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "EVERYCELL_MIRROR"):
        variables.pop(name, None)
    return variables


def build_wheel(folder: Path, edits: Mapping[str, tuple[str, str]] = {}) -> Path:
    """Build a wheel in a folder; `edits` replaces a text in each of these files before."""
    source = folder / "source"
    source.mkdir(parents=True)
    # setuptools writes into the folder of its sources.
    names = ("pyproject.toml", "README.md", "LICENSE", "src")
    subprocess.run(["cp", "-r", *(REPOSITORY / name for name in names), source], check=True)
    for path, (old, new) in edits.items():
        text = (source / path).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has {old!r} {text.count(old)} times"
        (source / path).write_text(text.replace(old, new), encoding="utf-8")
    command = [UV, "build", "--quiet", "--wheel", "--no-build-isolation"]
    command += ["--python", sys.executable, "--out-dir", folder / "dist", source]
    subprocess.run(command, check=True, env=outside_variables())
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


@dataclass
class Environment:
    """A virtual environment, of a newer Python than that of the locks where there is one."""

    folder: Path

    def create(self) -> Environment:
        python = find_python() or sys.executable
        self.run(UV, "venv", "--quiet", "--python", python, self.folder, cwd=self.folder.parent)
        return self

    @property
    def python(self) -> Path:
        return self.folder / "bin" / "python"

    def install(self, *arguments: str | Path) -> None:
        """Install packages with uv, whose cache has those of the locks."""
        links = os.environ.get("PIP_FIND_LINKS")
        options = ["--find-links", links] if links else []
        command = [UV, "pip", "install", "--quiet", "--python", self.python]
        self.run(*command, *arguments, *options, cwd=self.folder)

    def run(self, *command: str | Path, cwd: Path, fails: bool = False) -> str:
        """Run a command with the environment's programs first; return what it wrote."""
        variables = outside_variables()
        variables["PATH"] = f"{self.folder / 'bin'}{os.pathsep}{variables['PATH']}"
        done = subprocess.run(
            list(map(str, command)),
            env=variables,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stdout
        return done.stdout
