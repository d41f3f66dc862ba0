"""Imports and files that the text of a Python file names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from everycell.base.untrusted import parse_json

#: Suffix of notebooks.
NOTEBOOK = ".ipynb"
#: A command of IPython, such as `%run helper.py` or `lines = !python helper.py`.
_COMMAND = re.compile(r"^([ \t]*)(?:[\w, \t]+=[ \t]*)?[%!]+(.*)$", re.MULTILINE)
#: A file with code that a notebook may name without quotes, such as `run helper` or in `%%bash`.
_RUN = re.compile(r"\brun[ \t]+(?:-[\w-]+[ \t]+)*([\w./-]+)")
_CODE = re.compile(r"[\w./-]+\.(?:py|ipynb|R|r|jl|sh)\b")
#: An import statement that has its lines to itself. Parsing every module would take a third of a
#: dry run; text in a docstring that looks like an import can only add a file.
SIMPLE = re.compile(
    r"(?<!\\\n)^[ \t]*(?:from[ ](?P<module>\w[\w.]*)[ ]import[ ]"
    r"(?:(?P<names>[\w, \t*]+)|\((?P<more>[\w,\s]+)\))"
    r"|import[ ](?P<modules>[\w., \t]+))[ \t]*(?:#[^\n]*)?$",
    re.MULTILINE | re.ASCII,
)
#: A line that is a comment, or part of a string, either of which imports nothing.
COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
#: What every other import contains.
OTHER = re.compile(r"(?<!\w)import(?!\w)|__import__|import_module|run_module")
#: A declared encoding, which only the parser applies.
ENCODING = re.compile(rb"\A(?:[^\n]*\n)?[ \t\f]*#[^\n]*coding[:=]")
#: Functions that import the module that their first argument names.
IMPORTING = ("import_module", "__import__", "run_module")
#: A module after the option `-m` of Python, in one string or as an element of its own.
RUN = re.compile(r"""["'\s]-m["']?[\s,]+["']?(\w[\w.]*)""")


def sources_of(path: Path) -> list[bytes]:
    """Text of a file with code, or of each code cell of a notebook.

    The words of a command of IPython become strings, which may name files, and so do names of files
    with code.
    """
    content = path.read_bytes()
    if path.suffix != NOTEBOOK:
        return [content]
    try:
        # The code that runs a notebook uses the last of two equal keys.
        notebook = parse_json(content, make_object=dict)
        cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        texts = ["".join(cell["source"]) for cell in cells]
    except (KeyError, TypeError, ValueError):
        return [content]  # running it fails
    sources = [_COMMAND.sub(lambda m: f"{m[1]}{m[2].split()}", text).encode() for text in texts]
    names = [name for text in texts for name in _CODE.findall(text)]
    names += [f"{name}.py" for text in texts for name in _RUN.findall(text)]
    return [*sources, repr(names).encode()]


def names_after_option(source: bytes) -> list[str]:
    """Modules that a file runs with ``python -m``, and the scripts of packages among them."""
    names = RUN.findall(source.decode("utf-8-sig", "replace")) if b"-m" in source else []
    return [name for module in names for name in (module, f"{module}.__main__")]


def imported_names(source: bytes) -> list[str]:
    """Distinct modules and names that a file imports; relative ones begin with dots."""
    names: list[str] = []

    def collect(match: re.Match[str]) -> str:
        module = match["module"]
        imported = _split_names(match["names"] or match["more"] or match["modules"])
        names.extend([module, *(f"{module}.{name}" for name in imported)] if module else imported)
        return ""

    remainder = SIMPLE.sub(collect, source.decode("utf-8-sig", "replace"))
    has_others = any(word in remainder for word in ("import", "run_module"))
    if has_others and OTHER.search(COMMENT.sub("", remainder)) or ENCODING.match(source):
        # Python reports a syntax error when it runs the file.
        with suppress(SyntaxError, ValueError):
            names += _parsed_names(ast.parse(source))
    return list(dict.fromkeys(names))


def _parsed_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            separator = "" if module.endswith(".") else "."
            yield module
            yield from (f"{module}{separator}{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and node.args:
            function, argument = node.func, node.args[0]
            name = getattr(function, "attr", getattr(function, "id", ""))
            if name in IMPORTING and isinstance(argument, ast.Constant):
                yield from [argument.value] if isinstance(argument.value, str) else []


def _split_names(names: str) -> list[str]:
    """Names of an import statement, without their aliases."""
    return [part.split()[0] for part in names.split(",") if part.split()]
