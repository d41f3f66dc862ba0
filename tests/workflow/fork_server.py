"""Server that runs commands of the project and scripts of its workflow in forks of itself."""

from __future__ import annotations

import atexit
import contextlib
import gc
import io
import json
import os
import random
import re
import runpy
import selectors
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

#: Libraries that commands and scripts import; an attribute after a colon loads a module lazily.
PRELOADED = (
    "snakemake.cli",
    "snakemake.script",
    "typer",
    "rich.table",
    "pydantic",
    "jinja2",
    "pandas",
    "pyarrow.parquet",
    "psutil",
    "threadpoolctl",
    "scipy.optimize",
    "scipy.sparse",
    "scipy.stats",
    "statsmodels.formula.api",
    "statsmodels.stats.anova",
    "statsmodels.stats.inter_rater",
    "statsmodels.stats.multitest",
    "statsmodels.stats.power",
    "sklearn.feature_extraction.text",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.pipeline",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "torch",
    "transformers:AutoTokenizer",
    "transformers:BertForMaskedLM",
    "transformers:BertTokenizerFast",
    "transformers:LlamaForCausalLM",
    "transformers:T5ForConditionalGeneration",
)


def preload() -> None:
    """Import the libraries; what is not installed is left to who needs it."""
    for name in PRELOADED:
        module, _, attribute = name.partition(":")
        try:
            getattr(import_module(module), attribute) if attribute else import_module(module)
        except ImportError:
            continue
    assert not any(name.partition(".")[0] == "everycell" for name in sys.modules)


#: What stands for the path of a file that is parsed ahead.
STAND_IN = "file-of-rules"


class Rules(NamedTuple):
    """A file of rules, as Snakemake's parser asks for it."""

    text: str

    def get_path_or_uri(self, secret_free: bool) -> str:
        return STAND_IN

    def open(self, _path: Any) -> io.StringIO:
        return io.StringIO(self.text)

    @property
    def sourcecache(self) -> Rules:
        return self


def parse_ahead(folder: Path) -> None:
    """Parse the rules of the project, so that a fork only parses what its copy has changed.

    Snakemake turns each file into Python, in a quarter of the time of a dry run. What it makes
    depends on the text, and on the path, which stands beside the name of each rule; where a rule
    has no name in its first line, also on the number of rules before, so Snakemake parses that
    file itself, as it does what it cannot read.
    """
    from snakemake import workflow

    parse = workflow.parse
    parsed = {}
    rules_of = (folder / "workflow", folder / "src/everycell/workflow/rules")
    for file in (folder / "Snakefile", *(file for of in rules_of for file in of.rglob("*.smk"))):
        rules, lines = Rules(file.read_text(encoding="utf-8")), {}
        if re.search(r"^\s*rule\s*:", rules.text, re.MULTILINE) is None:
            with contextlib.suppress(SyntaxError):
                parsed[rules.text] = (*parse(rules, rules, lines), lines)

    def parse_once(path, caller, linemap, rulecount):
        with caller.sourcecache.open(path) as file:
            text = file.read()
        if text not in parsed:
            return parse(path, caller, linemap, rulecount=rulecount)
        code, rules, lines = parsed[text]
        linemap.update(lines)
        own_path = repr(path.get_path_or_uri(secret_free=True))
        return code.replace(repr(STAND_IN), own_path), rulecount + rules

    workflow.parse = parse_once


def serve(address: str) -> None:
    """Fork for each request, until standard input is closed, which its owner holds open."""
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
        listener.bind(address)
        listener.listen()
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        print("ready", flush=True)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if sys.stdin in ready:
                return
            connection, _ = listener.accept()
            if os.fork() == 0:
                selector.close()
                listener.close()
                supervise(connection)
            connection.close()


def supervise(connection: socket.socket) -> NoReturn:
    """Run what a connection asks for, and tell it the exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _, [output], _, _ = socket.recv_fds(connection, 1, 1)
    requests = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    process = os.fork()
    if process == 0:
        connection.close()
        become(output, **json.loads(requests))
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    connection.sendall(str(status if status >= 0 else 128 - status).encode())
    os._exit(0)


def become(
    output: int, command: Sequence[str], folder: str, environment: Mapping[str, str]
) -> NoReturn:
    """Be a command or a script, as in a process of its own."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream in (1, 2):
        os.dup2(output, stream)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False, buffering=1)
    errors = "backslashreplace"
    sys.stderr = open(2, "w", encoding="utf-8", errors=errors, closefd=False, buffering=1)
    os.chdir(folder)
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
    status = 0
    try:
        if is_script:
            # Libraries of linear algebra read it when they are loaded; sums depend on it.
            sys.modules["threadpoolctl"].threadpool_limits(int(environment["OMP_NUM_THREADS"]))
            runpy.run_path(name, run_name="__main__")
        else:
            if name == "snakemake":
                sys.executable = environment["EVERYCELL_TEST_LAUNCHER"]
            [script] = entry_points(group="console_scripts", name=name)
            status = script.load()()
    except SystemExit as error:
        status = error.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        status = 1
    end(status)


def end(status: Any) -> NoReturn:
    """End as Python does after `sys.exit`, but free nothing of what all forks share: 0.4 s."""
    if status is not None and not isinstance(status, int):
        print(status, file=sys.stderr)
        status = 1
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit((status or 0) & 0xFF)


if __name__ == "__main__":
    # The folder of this file, and what was set to find the library of the tests, are not for them.
    own = [str(Path(__file__).parent), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    sys.path[:] = [path for path in sys.path if path not in own]
    # Collections need not look at what all forks share, nor any at what stays.
    gc.disable()
    preload()
    parse_ahead(Path(__file__).resolve().parents[2])
    gc.freeze()
    gc.enable()
    serve(sys.argv[1])
