"""Where a result comes from, on the page: the code that made it, and the files behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from everycell.receipts.code import hash_of_sources, name_of_code, script_files
from everycell.receipts.provenance import MADE, JobRecord, upstream_jobs
from everycell.records.folders import PAPERS
from everycell.records.registry import Entry, Registry, set_of


class CodeLink(NamedTuple):
    """A rule, script or function in a file of the repository."""

    #: What is there, and its file relative to the repository.
    name: str
    path: str
    #: Line at the commit; None if the file may have been another one then.
    line: int | None
    #: Address at the commit; None without a repository, with uncommitted code, or if the file is
    #: not the repository's.
    address: str | None


def links_to_code(receipt: Mapping[str, Any], root: Path, repository: str | None) -> list[CodeLink]:
    """Script or function that made a result, and the rule that runs it.

    `repository` is the address of the repository on the web. Only functions have lines, and only if
    the current code made the result: no hash says that the files of rules are as they were.
    """
    code = receipt["code"]
    script = code.get("script")
    if not script:
        return []
    module, _, function = script.partition(":")
    file = script_files(script, root)[-1]
    line = None
    if function and code.get("sha256") == _current_hash(script_files(script, root), root):
        line = _line_of(file, f"def {function}(")
    parts = [(f"function {function}" if function else "script", file, line)]
    rules = root / PAPERS / f"{module.partition('/')[0]}"
    for path in sorted(rules.glob("*.smk")):
        if f'"{script}"' in _text(path):
            parts.append(("rule", path, None))
    base = None
    if repository and code.get("commit") and code.get("dirty") is False:
        base = f"{repository.rstrip('/')}/blob/{code['commit']}"
    links = []
    for name, path, line in parts:
        name_of_file = name_of_code(path, root)
        # Scripts of an installed package are in no repository of a paper.
        is_own = (root / name_of_file).is_file()
        address = f"{base}/{name_of_file}" + f"#L{line}" * bool(line) if base and is_own else None
        links.append(CodeLink(name, name_of_file, line, address))
    return links


@cache
def _current_hash(files: tuple[Path, ...], root: Path) -> str | None:
    """Hash of the code that a rule would run now."""
    return hash_of_sources(files, root) if all(path.is_file() for path in files) else None


@cache
def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _line_of(path: Path, text: str) -> int | None:
    """Number of the first line with a text."""
    match = re.search(f"^.*{re.escape(text)}", _text(path), re.MULTILINE)
    return match and _text(path).count("\n", 0, match.start()) + 1


def input_files(
    receipt: Mapping[str, Any], jobs: Sequence[JobRecord], registry: Registry
) -> dict[str, list[tuple[str, str | None]]]:
    """Data set or location -> names and URLs of the files that were not made by a job."""
    paths = {source["path"] for source in receipt["inputs"]}
    paths |= {path for job in upstream_jobs(jobs, paths) for path in job.inputs}
    groups: dict[str, list[tuple[str, str | None]]] = {}
    for path in sorted(paths):
        if path.startswith(MADE):
            continue
        if key := registry.key_in(path):
            group = f"{set_of(key)} (licence: {registry.data_set(key).licence})"
            file = key.partition("/")[2], registry.url(key) or _package_url(registry.entry(key))
        else:
            group, file = "in this project", (path, None)
        groups.setdefault(group, []).append(file)
    return groups


def _package_url(entry: Entry) -> str | None:
    if entry.wheel is None:
        return None
    return f"https://pypi.org/project/{entry.wheel.distribution}/{entry.wheel.version}/"
