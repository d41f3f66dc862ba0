"""Parameters of a rule that evaluates runs: lists that must fit its inputs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from everycell.base.errors import DataError
from everycell.records.folders import PAPERS


def check_lists(snakemake: Any, root: Path = Path()) -> None:
    """Refuse lists of an evaluation that do not fit its runs, judgements or measures."""
    params, inputs = snakemake.params, snakemake.input
    number = {name: 1 if isinstance(inputs[name], str) else len(inputs[name])
              for name in ("runs", "qrels")}  # fmt: skip
    lengths = {
        "systems": ("runs", number["runs"]),
        "collections": ("runs", number["runs"]),
        "judged": ("qrels", number["qrels"]),
    }
    for name, (files, length) in lengths.items():
        values = params[name]
        # Without collections, both of their lists are empty.
        if len(values) != length and (values or name == "systems"):
            _refuse(
                snakemake, root, name, values, f"{length} names, one for each file of `{files}`"
            )
    widths = {len(names_of_system(system)) for system in params["systems"]}
    if len(widths) > 1:
        _refuse(snakemake, root, "systems", params["systems"], "as many names for each run")
    columns = sum(widths) + 1 + bool(params["judged"])
    if len(params["columns"]) != columns:
        _refuse(snakemake, root, "columns", params["columns"], f"{columns} names")
    if not set(params["in_percent"]) <= set(params["measures"]):
        expected = f"names of `measures` ({', '.join(params['measures'])})"
        _refuse(snakemake, root, "in_percent", params["in_percent"], expected)


def names_of_system(system: str | Sequence[str]) -> tuple[str, ...]:
    """Names of the system of a run: one, or a list if several columns of a table name it."""
    return (system,) if isinstance(system, str) else tuple(system)


def _refuse(snakemake: Any, root: Path, name: str, values: Sequence[str], expected: str) -> None:
    path, line = _find(snakemake.rule, name, root)
    raise DataError(
        path,
        line,
        name,
        list(values),
        expected=expected,
        fix="correct the list in the rule",
    )


def _find(rule: str, name: str, root: Path) -> tuple[object, int | str | None]:
    """File and line in which a rule sets a parameter."""
    for path in sorted((root / PAPERS).glob("*/*.smk")):
        lines = path.read_text(encoding="utf-8").splitlines()
        for start, text in enumerate(lines):
            if re.match(rf"(use )?rule (\w+ as )?{re.escape(rule)}\b", text):
                for row in range(start + 1, len(lines)):
                    if re.match(r"(use )?rule ", lines[row]):
                        break
                    if re.match(rf"\s+{name}\s*=", lines[row]):
                        return path.relative_to(root), row + 1
                return path.relative_to(root), start + 1
    return f"rule {rule}", None
