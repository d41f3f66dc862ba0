"""Docstrings of installed packages: the walk, the sections of numpydoc, and See Also lists.

The walk imports the public modules of a package and reads their contents without calling anything:
attributes are taken from the dictionaries of modules and classes, so no property, descriptor or
lazy attribute of the package runs.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

#: Modules without documentation for users, in addition to those whose name starts with "_"; and
#: `numpy.distutils`, since importing it changes the standard library's distutils.
NOT_WALKED = frozenset({"conftest", "distutils", "externals", "f2py", "tests"})
#: Sections that numpydoc knows; any other title is text of the section around it.
SECTIONS = (
    "Parameters|Other Parameters|Returns|Yields|Receives|Raises|Warns|Warnings|See Also|Notes"
    "|References|Examples?|Attributes|Methods"
)
#: Sections that are not prose: code, bibliography, and the links from which the tasks are made.
NO_PROSE = frozenset({"see also", "example", "examples", "references"})

_HEADER = re.compile(rf"^({SECTIONS}):?[ ]*\n[-=]{{3,}}[ ]*$", re.MULTILINE | re.IGNORECASE)
_NAME = r"(?::[\w:]+:)?`~?[\w.]+`|~?[A-Za-z_][\w.]*(?:\(\))?"
_ENTRY = re.compile(rf"(?:[-*]\s+)?({_NAME})((?:\s*,\s*(?:{_NAME}))*)\s*,?(?:\s*:\s*(.*))?")
#: A placeholder that another function was to fill: nobody reads such a docstring.
_TEMPLATE = re.compile(r"%\(\w+\)s")
#: A set as Python prints it, in an order that changes from process to process.
_PRINTED_SET = re.compile(r"\{'\w+'(?:, '\w+')+\}")
_ROLE = re.compile(r":[\w:]+:")


class PackageError(Exception):
    """A package cannot be walked; the message names it and says what to do."""


@dataclass(frozen=True)
class NamedDocstring:
    """A docstring, never empty, under one of its full dotted names."""

    name: str
    package: str
    text: str


@dataclass(frozen=True)
class Walk:
    """Result of a walk over packages."""

    docstrings: tuple[NamedDocstring, ...]
    modules: int
    skipped: dict[str, str]


@dataclass(frozen=True)
class SeeAlso:
    """One entry of a See Also list: names as written, without markup, and the text beside them."""

    names: tuple[str, ...]
    description: str


def walk(packages: Sequence[str]) -> Walk:
    """Collect the docstrings of public modules' classes, functions, methods and properties."""
    modules: dict[str, ModuleType] = {}
    skipped: dict[str, str] = {}
    for package in packages:
        _import(package, modules, skipped)
        if package in skipped:
            raise PackageError(
                f"Package '{package}' cannot be imported ({skipped[package]}): install it, or "
                "take it from the list of packages."
            )
    owners: dict[int, str] = {}
    by_name: dict[str, NamedDocstring] = {}
    for module_name, module in modules.items():
        package = module_name.partition(".")[0]
        for name, thing in sorted(vars(module).items(), key=lambda item: item[0]):
            if name.startswith("_") or isinstance(thing, ModuleType):
                continue
            if owners.setdefault(id(thing), _owner(thing, packages) or package) != package:
                continue
            for suffix, text in _documented(thing, package):
                if _TEMPLATE.search(text):
                    continue
                full = f"{module_name}.{name}{suffix}"
                by_name[full] = NamedDocstring(full, package, text)
    order = {package: position for position, package in enumerate(packages)}
    docstrings = sorted(by_name.values(), key=lambda entry: (order[entry.package], entry.name))
    return Walk(tuple(docstrings), len(modules), skipped)


def _import(name: str, modules: dict[str, ModuleType], skipped: dict[str, str]) -> None:
    """Import a module and its submodules, adding to both dictionaries."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        skipped[name] = f"{type(error).__name__}: {error}"
        return
    modules[name] = module
    below = {info.name for info in pkgutil.iter_modules(vars(module).get("__path__", []))}
    for child in sorted(below - NOT_WALKED):
        if not child.startswith("_"):
            _import(f"{name}.{child}", modules, skipped)


def _owner(thing: Any, packages: Sequence[str]) -> str | None:
    """Package that an object claims to come from; None where it gives no useful answer.

    An instance has the module of its class, which is informative only for classes of the package
    itself: `scipy.special` makes ufuncs, a class of NumPy.
    """
    module = _text_attribute(thing, "__module__")
    if module is None:
        return None
    is_instance = not isinstance(thing, type) and not inspect.isroutine(thing)
    of_class = is_instance and module == getattr(type(thing), "__module__", None)
    package = module.partition(".")[0]
    return None if of_class and package in packages else package


def _documented(thing: Any, package: str) -> Iterator[tuple[str, str]]:
    """Yield ("", docstring) of an object, and (".name", docstring) of a class's members."""
    if not isinstance(thing, type):
        text = _own_docstring(thing)
        if text and (inspect.isroutine(thing) or _called_instance(thing)):
            yield "", text
        return
    bases = [base for base in thing.__mro__ if _package_of(base) == package]
    if text := next(filter(None, map(_own_docstring, bases)), None):
        yield "", text
    names = {name for base in bases for name in vars(base) if not name.startswith("_")}
    for name in sorted(names):
        members = [vars(base)[name] for base in bases if name in vars(base)]
        # pandas keeps the class of an accessor (Series.str) in the descriptor that makes it.
        accessor = inspect.getattr_static(members[0], "_accessor", None)
        if isinstance(accessor, type):
            for suffix, text in _documented(accessor, package):
                yield f".{name}{suffix}", text
        elif _is_member(members[0]):
            if text := next(filter(None, map(_own_docstring, members)), None):
                yield f".{name}", text


def _package_of(base: type) -> str:
    return str(base.__module__).partition(".")[0]


def _is_member(thing: Any) -> bool:
    """Whether a class attribute is a method, property or other descriptor, not a constant."""
    return not isinstance(thing, type) and (
        inspect.isroutine(thing) or hasattr(type(thing), "__get__")
    )


def _called_instance(thing: Any) -> bool:
    return callable(thing) and type(thing).__name__ != "fortran"


def _own_docstring(thing: Any) -> str | None:
    """Docstring of an object itself, without its indentation; not that of its class."""
    text = _text_attribute(thing, "__doc__")
    if text is None or (not isinstance(thing, type) and text == type(thing).__doc__):
        return None
    return _PRINTED_SET.sub(_sorted_set, inspect.cleandoc(text)) or None


def _sorted_set(match: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(match[0][1:-1].split(", "))) + "}"


def _text_attribute(thing: Any, name: str) -> str | None:
    """``__doc__`` or ``__module__`` if it is text: a class may compute them, and fail."""
    try:
        value = getattr(thing, name)
    except Exception:
        return None
    return value if isinstance(value, str) else None


def split_sections(docstring: str) -> list[tuple[str, str]]:
    """Sections of a docstring in numpydoc's layout."""
    parts = _HEADER.split(docstring)
    titles = ["", *(title.lower() for title in parts[1::2])]
    return [(title, text.strip("\n")) for title, text in zip(titles, parts[::2], strict=True)]


def prose(docstring: str) -> str:
    """Docstring without See Also, Examples and References, white space normalised."""
    sections = [(title, text) for title, text in split_sections(docstring) if title not in NO_PROSE]
    return " ".join(" ".join(f"{title} {text}" for title, text in sections).split())


def see_also(docstring: str) -> list[SeeAlso]:
    """Entries of all See Also sections of a docstring, in their order."""
    entries = []
    for title, text in split_sections(docstring):
        if title != "see also":
            continue
        # A margin line and the indented or empty lines that follow it.
        for block in re.findall(r"^\S.*(?:\n(?:[ \t].*)?)*", textwrap.dedent(text), re.MULTILINE):
            first, _, continuation = block.partition("\n")
            if entry := _ENTRY.fullmatch(first.strip()):
                names = re.findall(_NAME, entry[1] + entry[2])
                description = " ".join(f"{entry[3] or ''} {continuation}".split())
                entries.append(SeeAlso(tuple(map(_bare, names)), description))
    return entries


def _bare(name: str) -> str:
    """Name without role, back quotes, tilde, call brackets and final dots."""
    return _ROLE.sub("", name).strip("`~").removesuffix("()").rstrip(".")
