"""Docstrings of installed packages, their numpydoc sections, and their See Also lists.

`walk` imports the public modules of a package and reads the dictionaries of modules and classes, so
that no property, descriptor or lazy attribute of the package runs.
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

#: Modules without documentation for users, in addition to those whose names start with "_"; and
#: `numpy.distutils`, since importing it changes the standard library's distutils.
SKIPPED_MODULES = frozenset({"conftest", "distutils", "externals", "f2py", "tests"})
#: Section titles of numpydoc; any other title is part of the section around it.
SECTIONS = (
    "Parameters|Other Parameters|Returns|Yields|Receives|Raises|Warns|Warnings|See Also|Notes"
    "|References|Examples?|Attributes|Methods"
)
#: Sections that are not prose: code, bibliography, and the links that define the tasks.
NON_PROSE_SECTIONS = frozenset({"see also", "example", "examples", "references"})

_HEADER = re.compile(rf"^({SECTIONS}):?[ ]*\n[-=]{{3,}}[ ]*$", re.MULTILINE | re.IGNORECASE)
_NAME = r"(?::[\w:]+:)?`~?[\w.]+`|~?[A-Za-z_][\w.]*(?:\(\))?"
_ENTRY = re.compile(rf"(?:[-*]\s+)?({_NAME})((?:\s*,\s*(?:{_NAME}))*)\s*,?(?:\s*:\s*(.*))?")
#: A placeholder for another function to fill; such docstrings are left out.
_TEMPLATE = re.compile(r"%\(\w+\)s")
#: A printed Python set, whose order changes from process to process.
_PRINTED_SET = re.compile(r"\{'\w+'(?:, '\w+')+\}")
_ROLE = re.compile(r":[\w:]+:")


class PackageError(Exception):
    """A package cannot be imported; the message says which and what to do."""


@dataclass(frozen=True)
class NamedDocstring:
    """A non-empty docstring under one of its full dotted names."""

    name: str
    package: str
    text: str


@dataclass(frozen=True)
class Walk:
    """Docstrings of packages, the number of modules, and skipped modules with the reasons."""

    docstrings: tuple[NamedDocstring, ...]
    modules: int
    skipped: dict[str, str]


@dataclass(frozen=True)
class SeeAlso:
    """An entry of a See Also list: the names, without markup, and their description."""

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
                "remove it from the list of packages."
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
            for suffix, text in _docstrings(thing, package):
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
    children = {info.name for info in pkgutil.iter_modules(vars(module).get("__path__", []))}
    for child in sorted(children - SKIPPED_MODULES):
        if not child.startswith("_"):
            _import(f"{name}.{child}", modules, skipped)


def _owner(thing: Any, packages: Sequence[str]) -> str | None:
    """Package that defines an object, or None if it is unknown.

    An instance has the `__module__` of its class, which need not be the package that created it:
    the ufuncs of `scipy.special` are instances of a NumPy class.
    """
    module = _text_attribute(thing, "__module__")
    if module is None:
        return None
    is_instance = not isinstance(thing, type) and not inspect.isroutine(thing)
    is_from_class = is_instance and module == getattr(type(thing), "__module__", None)
    package = module.partition(".")[0]
    return None if is_from_class and package in packages else package


def _docstrings(thing: Any, package: str) -> Iterator[tuple[str, str]]:
    """Yield ("", docstring) for an object, and (".name", docstring) for members of a class."""
    if not isinstance(thing, type):
        text = _own_docstring(thing)
        if text and (inspect.isroutine(thing) or _is_callable_instance(thing)):
            yield "", text
        return
    bases = [base for base in thing.__mro__ if _package_of(base) == package]
    if text := next(filter(None, map(_own_docstring, bases)), None):
        yield "", text
    names = {name for base in bases for name in vars(base) if not name.startswith("_")}
    for name in sorted(names):
        members = [vars(base)[name] for base in bases if name in vars(base)]
        # pandas stores the class of an accessor (Series.str) in its descriptor.
        accessor = inspect.getattr_static(members[0], "_accessor", None)
        if isinstance(accessor, type):
            for suffix, text in _docstrings(accessor, package):
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


def _is_callable_instance(thing: Any) -> bool:
    return callable(thing) and type(thing).__name__ != "fortran"


def _own_docstring(thing: Any) -> str | None:
    """Docstring of an object itself (not of its class), without indentation."""
    text = _text_attribute(thing, "__doc__")
    if text is None or (not isinstance(thing, type) and text == type(thing).__doc__):
        return None
    return _PRINTED_SET.sub(_sorted_set, inspect.cleandoc(text)) or None


def _sorted_set(match: re.Match[str]) -> str:
    return "{" + ", ".join(sorted(match[0][1:-1].split(", "))) + "}"


def _text_attribute(thing: Any, name: str) -> str | None:
    """Value of ``__doc__`` or ``__module__``; None if it is not a string or computing it fails."""
    try:
        value = getattr(thing, name)
    except Exception:
        return None
    return value if isinstance(value, str) else None


def split_sections(docstring: str) -> list[tuple[str, str]]:
    """Titles and texts of the sections of a numpydoc docstring."""
    parts = _HEADER.split(docstring)
    titles = ["", *(title.lower() for title in parts[1::2])]
    return [(title, text.strip("\n")) for title, text in zip(titles, parts[::2], strict=True)]


def prose(docstring: str) -> str:
    """Docstring without See Also, Examples and References, with normalised white space."""
    sections = [
        (title, text)
        for title, text in split_sections(docstring)
        if title not in NON_PROSE_SECTIONS
    ]
    return " ".join(" ".join(f"{title} {text}" for title, text in sections).split())


def see_also(docstring: str) -> list[SeeAlso]:
    """Entries of all See Also sections of a docstring, in order."""
    entries = []
    for title, text in split_sections(docstring):
        if title != "see also":
            continue
        # An unindented line and the indented or empty lines that follow it.
        for block in re.findall(r"^\S.*(?:\n(?:[ \t].*)?)*", textwrap.dedent(text), re.MULTILINE):
            first, _, continuation = block.partition("\n")
            if entry := _ENTRY.fullmatch(first.strip()):
                names = re.findall(_NAME, entry[1] + entry[2])
                description = " ".join(f"{entry[3] or ''} {continuation}".split())
                entries.append(SeeAlso(tuple(map(_remove_markup, names)), description))
    return entries


def _remove_markup(name: str) -> str:
    """Remove role, back quotes, tilde, call brackets and final dots from a name."""
    return _ROLE.sub("", name).strip("`~").removesuffix("()").rstrip(".")
