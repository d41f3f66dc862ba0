"""Check receipts against the existing files, without recomputing anything."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

import everycell
from everycell.engine.files import has_fingerprint, sha256
from everycell.engine.receipts import ReceiptError, read_receipt
from everycell.engine.registry import load_registry
from everycell.engine.tiers import Tier

#: Forms of a table and of a figure; each CSV has all forms of one or the other.
TABLE_FORMS = ("csv", "md", "tex", "html")
FIGURE_FORMS = ("csv", "pdf", "png", "svg")
# The points of a drawing are too many for a table to read, so they are only a CSV file.
POINTS = ".points"


def verify(path: Path, root: Path, results: Path | None = None) -> list[str]:
    """Check a receipt against the files; one sentence for each fault, none if all are unchanged.

    A result no longer follows from an input that changed. Inputs that cannot be checked on this
    machine (`absent_inputs`) are skipped.
    """
    try:
        receipt = read_receipt(path)
    except ReceiptError as error:
        return [str(error)]
    stem = path.with_name(path.name.removesuffix(".receipt.json"))
    remedy = f"remove {stem}.* and run snakemake again"
    faults = _misplaced(receipt, stem, remedy)
    for output in receipt["outputs"]:
        path_of_output = path.parent / output["path"]
        if not path_of_output.is_file():
            faults.append(f"{path_of_output}: is missing, but {path.name} lists it; {remedy}.")
        elif sha256(path_of_output) != output["sha256"]:
            faults.append(f"{path_of_output}: changed since it was made ({path.name}); {remedy}.")
    own = is_own(results, root)
    for source in receipt["inputs"]:
        used = _local_path(source["path"], root, results)
        released = is_released(source["path"], source["sha256"])
        if released is False:
            faults.append(
                f"{path}: was made from {source['path']} with sha256 {source['sha256']}, which "
                f"is not a released content of it; {remedy}."
            )
        if released and not own:
            continue
        if used is None or not used.exists() or has_fingerprint(used, source["sha256"]):
            continue
        if own:
            faults.append(f"{used}: changed since {path} was made; {remedy}.")
        else:
            faults.append(f"{used}: is not the file that {path} was made from.")
    made_by = receipt["code"].get("version")
    if made_by != everycell.__version__:
        faults.append(
            f"{path}: was made by everycell {made_by}, this is {everycell.__version__}; {remedy}."
        )
    return faults


def _misplaced(receipt: dict[str, Any], stem: Path, remedy: str) -> list[str]:
    """Faults that show that a receipt belongs to another result."""
    # A result directly below a tier, such as the table of all errata, belongs to no paper.
    parts = stem.parts[-2:] if stem.parent.name in get_args(Tier) else stem.parts[-3:]
    tier, name = parts[0], "/".join(parts[1:])
    if (receipt["tier"], receipt["artefact"]) != (tier, name):
        return [
            f"{stem}.receipt.json: is the receipt of {receipt['artefact']} in the tier "
            f"{receipt['tier']}, not of {name} in {tier}; {remedy}."
        ]
    if f"{stem.name}.csv" not in {output["path"] for output in receipt["outputs"]}:
        return [f"{stem}.receipt.json: does not list {stem.name}.csv, its own table; {remedy}."]
    return [
        f"{stem}.receipt.json: does not list {name}; {remedy}." for name in _lacking(receipt, stem)
    ]


def _lacking(receipt: dict[str, Any], stem: Path) -> list[str]:
    """Forms of tables and figures that a receipt should list and does not."""
    listed = {output["path"] for output in receipt["outputs"]}
    lacking = []
    tables = {name.removesuffix(".csv") for name in listed if name.endswith(".csv")}
    for table in sorted(name for name in tables if not name.endswith(POINTS)):
        pictures = any(f"{table}.{form}" in listed for form in FIGURE_FORMS[1:])
        if table == stem.name:
            pictures = table.startswith("figure_")
        forms = FIGURE_FORMS if pictures else TABLE_FORMS
        lacking += [name for form in forms if (name := f"{table}.{form}") not in listed]
    return lacking


def is_own(results: Path | None, root: Path) -> bool:
    """Whether a results folder is the one that the project's own runs write."""
    return results is None or os.path.realpath(results) == os.path.realpath(root / "results")


def is_released(path: str, digest: str) -> bool | None:
    """Whether the registry accepts a hash for a file in any cache; None if it does not know it.

    Examples
    --------
    >>> is_released("resources/transparent-cis/pilot/qs3.csv", "0" * 64)
    False
    >>> is_released("work/pilot.csv", "0" * 64) is None
    True
    >>> entry = load_registry().entry("transparent-cis/pilot/qs3.csv")
    >>> [is_released("/cache/transparent-cis/pilot/qs3.csv", known) for known in entry.contents]
    [True, True]
    """
    registry = load_registry()
    key = registry.key_in(path)
    if key is None:
        return None
    entry = registry.files[key]
    if digest in entry.contents:
        return True
    # Of some archives only the packed form has a hash; the hash of the content is in a note.
    return False if entry.origin is None or entry.origin.content is not None else None


def _local_path(source: str, root: Path, results: Path | None) -> Path | None:
    """Path of an input of a receipt on this machine; None if only another project has it."""
    if results is None or is_own(results, root):
        return root / source
    first, *below = Path(source).parts
    if first == "results":
        return results.joinpath(*below)
    return None if first == "work" else root / source


def absent_inputs(path: Path, root: Path, results: Path | None = None) -> list[str]:
    """Inputs of a receipt that are not on this machine, so that `verify` passes over them."""
    own = is_own(results, root)
    inputs = [
        source["path"]
        for source in read_receipt(path)["inputs"]
        if own or not is_released(source["path"], source["sha256"])
    ]
    paths = {source: _local_path(source, root, results) for source in inputs}
    return [
        source for source, path_here in paths.items() if path_here is None or not path_here.exists()
    ]
