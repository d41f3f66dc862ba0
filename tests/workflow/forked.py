"""Commands and scripts started by fork, in a process that has imported their libraries already.

A dry run spends a second of three on importing Snakemake, a job of four seconds three on torch and
transformers; the suite has hundreds of both. So `Project.run` asks a server (`fork_server.py`) to
fork, and `sys.executable` of a Snakemake that was started in this way is a launcher that asks the
same server for each script. The library of the copy is imported by each process itself.

Not all is as in a process of its own. Forks of one server hash texts in the same order. A library
that they forgot to import may be there. The memory of a job counts the server's, a signal gives 128
and its number, as in a shell, and a job continues after its Snakemake is killed. Tests of any of
these switch `Project.forks` off; the tiers of a CI run are never forked.

This file is the launcher too, so that it imports nothing that takes long.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

#: Commands that the server knows.
COMMANDS = ("everycell", "snakemake")
#: Variables of the environments of commands: the server's socket, and the launcher.
SOCKET, LAUNCHER = "EVERYCELL_TEST_FORK_SERVER", "EVERYCELL_TEST_LAUNCHER"
#: Starts of names of variables that Python or libraries read when they start.
READ_AT_START = (
    "HF_", "IR_DATASETS_", "MKL_", "MPL", "OMP_", "PYTHONHASHSEED", "TORCH_", "TRANSFORMERS_"
)  # fmt: skip
_AT_START = dict(os.environ)
#: Characters that leave room for the name of a socket.
_LONGEST = 80


class Server:
    """A server of a Python, with some variables that it and its libraries read when they start."""

    def __init__(self, python: str, variables: Mapping[str, str | None]) -> None:
        # The launcher has no need of them.
        import shlex
        import subprocess
        import tempfile

        # The path of a socket has at most 107 characters. Only this user can enter the folder.
        is_long = len(tempfile.gettempdir()) > _LONGEST
        self._folder = tempfile.TemporaryDirectory(prefix="fork-", dir="/tmp" if is_long else None)
        folder = Path(self._folder.name)
        self.address = str(folder / "socket")
        launcher = folder / "python"
        words = shlex.join([python, "-ISE", __file__, python])
        launcher.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        launcher.chmod(0o700)
        #: What its commands find in their environments.
        self.environment = {SOCKET: self.address, LAUNCHER: str(launcher)}
        environment = _AT_START | dict(variables)
        self._process = subprocess.Popen(
            [python, Path(__file__).with_name("fork_server.py"), self.address],
            env={name: value for name, value in environment.items() if value is not None},
            # It ends when this process does, whose end of the pipe is then closed.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None and self._process.stdout.readline() == "ready\n"


@cache
def _server(python: str, variables: frozenset[tuple[str, str | None]]) -> Server:
    """This worker's server of a Python for changed variables (None: removed), which are rare."""
    return Server(python, dict(variables))


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    python: str = sys.executable,
) -> tuple[int, str]:
    """Run a command of a Python in a folder; return its exit status, and what it printed."""
    import tempfile

    names = {name for name in (*_AT_START, *environment) if name.startswith(READ_AT_START)}
    changed = {name for name in names if environment.get(name) != _AT_START.get(name)}
    server = _server(python, frozenset((name, environment.get(name)) for name in changed))
    with tempfile.TemporaryFile() as output_file:
        message = {**environment, **server.environment}
        status = ask(server.address, command, str(folder), message, output_file.fileno())
        output_file.seek(0)
        return status, output_file.read().decode()


def ask(
    address: str, command: Sequence[str], folder: str, environment: Mapping[str, str], output: int
) -> int:
    """Have a server run a command or a script.

    Parameters
    ----------
    address
        Path of the server's socket.
    command
        Name of a command, or path of a script in Python, and its arguments.
    folder, environment
        Working folder, and all environment variables.
    output
        File descriptor for both streams.

    Returns
    -------
    int
        Exit status.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        socket.send_fds(connection, [b"f"], [output])
        message = {"command": list(command), "folder": folder, "environment": dict(environment)}
        connection.sendall(json.dumps(message).encode())
        connection.shutdown(socket.SHUT_WR)
        status = connection.recv(8)
    # Nothing is said where the process was killed.
    return int(status) if status else 137


def launch(python: str, arguments: Sequence[str]) -> int:
    """Be what Snakemake takes for Python: a script goes to the server, all else to Python."""
    if not arguments or not arguments[0].endswith(".py"):
        os.execv(python, [python, *arguments])
    # Snakemake merges the streams of a script.
    return ask(os.environ[SOCKET], arguments, str(Path.cwd()), os.environ, 2)


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1], sys.argv[2:]))
