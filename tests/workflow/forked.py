"""Commands and scripts forked from a process that has imported their libraries.

A job spends three of its four seconds on importing torch and transformers, a dry run one of three
on importing Snakemake, and the suite has hundreds of both: forks halve its time
(docs/performance.md). `Project.run` asks a server to fork, and `sys.executable` of a Snakemake that
was started so is a launcher that asks the same server for each script. Each fork imports the
library of its copy itself.

Forks of one server hash texts in the same order and contain libraries that they do not import. A
job continues after its Snakemake is killed. Tests of any of these set `Project.forks` to False; the
tiers of a CI run are never forked.

The file is client, server (`serve`) and launcher (`launch`). It imports nothing that takes long.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

if TYPE_CHECKING:
    import subprocess
    from tempfile import TemporaryDirectory

#: Commands that the server knows.
COMMANDS = ("everycell", "snakemake")
#: Variables of the environments of commands: the server's socket, and the launcher.
SOCKET, LAUNCHER = "EVERYCELL_TEST_FORK_SERVER", "EVERYCELL_TEST_LAUNCHER"
#: Starts of variables that Python or libraries read when they start; each value has its own server.
READ_AT_START = ("HF_", "IR_DATASETS_", "PYTHONHASHSEED", "TORCH_", "TRANSFORMERS_")
_AT_START = dict(os.environ)
#: Libraries of commands and scripts; an attribute after a colon loads a module lazily.
PRELOADED = """
    snakemake.cli snakemake.script typer rich.table pydantic jinja2 pandas pyarrow.parquet psutil
    threadpoolctl scipy.optimize scipy.sparse scipy.stats statsmodels.formula.api
    statsmodels.stats.anova statsmodels.stats.inter_rater statsmodels.stats.multitest
    statsmodels.stats.power sklearn.feature_extraction.text sklearn.linear_model sklearn.metrics
    sklearn.pipeline matplotlib.backends.backend_agg matplotlib.backends.backend_svg
    matplotlib.figure torch transformers:AutoTokenizer transformers:BertForMaskedLM
    transformers:BertTokenizerFast transformers:LlamaForCausalLM
    transformers:T5ForConditionalGeneration
""".split()


class Server(NamedTuple):
    """A server, which ends when its `process` is collected, with its folder."""

    process: subprocess.Popen[str]
    folder: TemporaryDirectory[str]
    #: What its commands need in their environments.
    variables: dict[str, str]


@cache
def start_server(python: str, variables: frozenset[tuple[str, str | None]]) -> Server:
    """Start this worker's server of a Python with some variables changed or, if None, removed."""
    # The launcher needs none of these.
    import shlex
    import subprocess
    import tempfile

    # The path of a socket has at most 107 characters.
    is_long = len(tempfile.gettempdir()) > 80
    folder = tempfile.TemporaryDirectory(prefix="fork-", dir="/tmp" if is_long else None)
    address, launcher = Path(folder.name) / "socket", Path(folder.name) / "python"
    launcher.write_text(f'#!/bin/sh\nexec {shlex.join([python, "-ISE", __file__])} launch "$@"\n')
    launcher.chmod(0o700)
    process = subprocess.Popen(
        [python, __file__, "serve", address],
        env={
            name: value
            for name, value in (_AT_START | dict(variables)).items()
            if value is not None
        },
        # The server ends when this process does, which closes its end of the pipe.
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return Server(process, folder, {SOCKET: str(address), LAUNCHER: str(launcher)})


def run(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    python: str = sys.executable,
) -> tuple[int, str]:
    """Run a command in a folder; return its exit status and its output."""
    import tempfile

    names = {name for name in (*_AT_START, *environment) if name.startswith(READ_AT_START)}
    changed = {name for name in names if environment.get(name) != _AT_START.get(name)}
    server = start_server(python, frozenset((name, environment.get(name)) for name in changed))
    with tempfile.TemporaryFile() as output_file:
        variables = {**environment, **server.variables}
        status = ask(command, str(folder), variables, output_file.fileno())
        output_file.seek(0)
        return status, output_file.read().decode()


def ask(command: Sequence[str], folder: str, environment: Mapping[str, str], output: int) -> int:
    """Have the server run a command, or the path of a script with its arguments; its exit status.

    `output` is the file descriptor for both streams.
    """
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(environment[SOCKET])
        socket.send_fds(connection, [b"f"], [output])
        message = {"command": list(command), "folder": folder, "environment": dict(environment)}
        connection.sendall(json.dumps(message).encode())
        connection.shutdown(socket.SHUT_WR)
        # A process that was killed sends nothing.
        return int(connection.recv(8) or 137)


def launch(python: str, arguments: Sequence[str]) -> int:
    """Replace Python for Snakemake: a script goes to the server, all else to Python."""
    if not arguments or not arguments[0].endswith(".py"):
        os.execv(python, [python, *arguments])
    # Snakemake merges the streams of a script.
    return ask(arguments, str(Path.cwd()), os.environ, 2)


def preload() -> None:
    """Import the libraries that are installed."""
    from importlib import import_module

    for name in PRELOADED:
        module, _, attribute = name.partition(":")
        try:
            getattr(import_module(module), attribute) if attribute else import_module(module)
        except ImportError:
            continue
    assert not any(name.partition(".")[0] == "everycell" for name in sys.modules)


def serve(address: str) -> None:
    """Fork for each request, until the owner closes standard input."""
    import select
    import signal

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
            connection, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                become(connection)
            connection.close()


def become(connection: socket.socket) -> NoReturn:
    """Run the command or script of a request as a process of its own would."""
    import random
    import runpy
    import tempfile
    from importlib.metadata import entry_points

    _, [output], _, _ = socket.recv_fds(connection, 1, 1)
    request = json.loads(b"".join(iter(lambda: connection.recv(1 << 16), b"")))
    command, environment = request["command"], request["environment"]
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)
    errors = "backslashreplace"
    sys.stderr = open(2, "w", encoding="utf-8", errors=errors, closefd=False, buffering=1)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(environment)
    sys.dont_write_bytecode = False
    random.seed()
    sys.modules["numpy"].random.seed()
    name = command[0]
    is_script = name.endswith(".py")
    first = [str(Path(name).parent)] if is_script else []
    names = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    sys.path[:] = [*first, *names, *sys.path]
    # The server may have asked for it already.
    tempfile.tempdir = None
    sys.argv = list(command)
    status: Any = 0
    try:
        if is_script:
            # Libraries of linear algebra read it when they are loaded; sums depend on it.
            sys.modules["threadpoolctl"].threadpool_limits(int(environment["OMP_NUM_THREADS"]))
            runpy.run_path(name, run_name="__main__")
        else:
            if name == "snakemake":
                sys.executable = environment[LAUNCHER]
            [script] = entry_points(group="console_scripts", name=name)
            status = script.load()()
    except SystemExit as error:
        status = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    end(connection, status)


def end(connection: socket.socket, status: Any) -> NoReturn:
    """End as Python does after `sys.exit`, but without freeing what all forks share: 0.4 s."""
    import atexit
    import threading

    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    status = (status or 0) & 0xFF
    connection.sendall(str(status).encode())
    os._exit(status)


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        sys.exit(launch(sys.executable, sys.argv[2:]))
    import gc

    # The folder of this file and the tests' library are not for commands.
    own = [str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    sys.path[:] = [path for path in sys.path if path not in own]
    # Collections need not look at what all forks share.
    gc.disable()
    preload()
    gc.freeze()
    gc.enable()
    serve(sys.argv[2])
