"""Where a result comes from, on the page: the code that made it, and the files behind it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from everycell.receipts.code import name_of_code, script_files
from everycell.receipts.provenance import MADE, JobRecord, upstream_jobs
from everycell.records.folders import PAPERS
from everycell.records.registry import Entry, Registry, set_of


class CodeLink(NamedTuple):
    """A rule, script or function in a file of the repository."""

    #: What is there, and its file relative to the repository.
    name: str
    path: str
    line: int | None
    #: Address of the line at the commit; None without a repository or with uncommitted code.
    address: str | None


def links_to_code(receipt: Mapping[str, Any], root: Path, repository: str | None) -> list[CodeLink]:
    """Script or function that made a result, and the rule that runs it.

    `repository` is the address of the repository on the web. Lines are those of the current files.
    """
    code = receipt["code"]
    script = code.get("script")
    if not script:
        return []
    module, _, function = script.partition(":")
    file = script_files(script, root)[-1]
    parts = [(f"function {function}" if function else "script", file, f"def {function}(")]
    rules = root / PAPERS / f"{module.partition('/')[0]}"
    for path in sorted(rules.glob("*.smk")):
        if f'"{script}"' in _text(path):
            parts.append(("rule", path, f'"{script}"'))
    base = None
    if repository and code.get("commit") and code.get("dirty") is False:
        base = f"{repository.rstrip('/')}/blob/{code['commit']}"
    links = []
    for name, path, text in parts:
        line = _line_of(path, text) if name != "script" else None
        name_of_file = name_of_code(path, root)
        address = base and f"{base}/{name_of_file}" + f"#L{line}" * bool(line)
        links.append(CodeLink(name, name_of_file, line, address))
    return links


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
