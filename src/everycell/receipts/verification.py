"""Check receipts against existing files without recomputing results."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, get_args

import everycell
from everycell.base.files import has_fingerprint, sha256
from everycell.receipts.receipts import ReceiptError, read_receipt
from everycell.records.folders import Tier
from everycell.records.registry import load_registry

#: File formats of each table and each figure.
TABLE_FORMS = ("csv", "md", "tex", "html")
FIGURE_FORMS = ("csv", "pdf", "png", "svg")
#: End of the names of tables with plotted points, which are only written as CSV files.
POINTS = ".points"


def verify(path: Path, root: Path, results: Path | None = None) -> list[str]:
    """Check a receipt against the files; return one sentence per fault.

    Inputs that do not exist on this machine (`absent_inputs`) are skipped.
    """
    try:
        receipt = read_receipt(path)
    except ReceiptError as error:
        return [str(error)]
    stem = path.with_name(path.name.removesuffix(".receipt.json"))
    remedy = f"remove {stem}.* and run snakemake again"
    faults = _check_contents(receipt, stem, remedy)
    for output in receipt["outputs"]:
        path_of_output = path.parent / output["path"]
        if not path_of_output.is_file():
            faults.append(f"{path_of_output} is missing, but {path.name} lists it; {remedy}.")
        elif sha256(path_of_output) != output["sha256"]:
            faults.append(f"{path_of_output} differs from its hash in {path.name}; {remedy}.")
    own = is_own(results, root)
    for source in receipt["inputs"]:
        used = _local_path(source["path"], root, results)
        released = is_released(source["path"], source["sha256"])
        if released is False:
            faults.append(
                f"{path} was made from {source['path']} with sha256 {source['sha256']}, which "
                f"does not match the registry; {remedy}."
            )
        if released and not own:
            continue
        if used is None or not used.exists() or has_fingerprint(used, source["sha256"]):
            continue
        if own:
            faults.append(f"{used} changed since {path} was made; {remedy}.")
        else:
            faults.append(f"{used} is not the file that {path} was made from.")
    version = receipt["code"].get("version")
    if version != everycell.__version__:
        faults.append(
            f"{path} was made by everycell {version}, but this is version "
            f"{everycell.__version__}; {remedy}."
        )
    return faults


def _check_contents(receipt: dict[str, Any], stem: Path, remedy: str) -> list[str]:
    """Check that a receipt belongs to its result and lists all of its files."""
    # A result directly below a tier, such as the table of all errata, does not belong to a paper.
    parts = stem.parts[-2:] if stem.parent.name in get_args(Tier) else stem.parts[-3:]
    tier, name = parts[0], "/".join(parts[1:])
    if (receipt["tier"], receipt["artefact"]) != (tier, name):
        return [
            f"{stem}.receipt.json is the receipt of {receipt['artefact']} in the tier "
            f"{receipt['tier']}, not of {name} in {tier}; {remedy}."
        ]
    if f"{stem.name}.csv" not in {output["path"] for output in receipt["outputs"]}:
        return [f"{stem}.receipt.json does not list {stem.name}.csv, its own table; {remedy}."]
    return [
        f"{stem}.receipt.json does not list {name}; {remedy}."
        for name in _missing_files(receipt, stem)
    ]


def _missing_files(receipt: dict[str, Any], stem: Path) -> list[str]:
    """Files of tables and figures that are missing from a receipt."""
    listed = {output["path"] for output in receipt["outputs"]}
    missing = []
    tables = {name.removesuffix(".csv") for name in listed if name.endswith(".csv")}
    for table in sorted(name for name in tables if not name.endswith(POINTS)):
        is_figure = any(f"{table}.{form}" in listed for form in FIGURE_FORMS[1:])
        if table == stem.name:
            is_figure = table.startswith("figure_")
        forms = FIGURE_FORMS if is_figure else TABLE_FORMS
        missing += [name for form in forms if (name := f"{table}.{form}") not in listed]
    return missing


def is_own(results: Path | None, root: Path) -> bool:
    """Whether a results folder is that of the project itself."""
    return results is None or os.path.realpath(results) == os.path.realpath(root / "results")


def is_released(path: str, digest: str) -> bool | None:
    """Whether the registry accepts a hash of a file; None if not registered."""
    registry = load_registry()
    key = registry.key_in(path)
    if key is None:
        return None
    entry = registry.files[key]
    if digest in entry.contents:
        return True
    # For the content of some archives, the registry has no hash.
    return False if entry.origin is None or entry.origin.content is not None else None


def _local_path(source: str, root: Path, results: Path | None) -> Path | None:
    """Path of a receipt's input on this machine; None for another project's intermediate files."""
    if results is None or is_own(results, root):
        return root / source
    first, *below = Path(source).parts
    if first == "results":
        return results.joinpath(*below)
    return None if first == "work" else root / source


def absent_inputs(path: Path, root: Path, results: Path | None = None) -> list[str]:
    """Inputs of a receipt that do not exist on this machine, so that `verify` skips them."""
    own = is_own(results, root)
    inputs = [
        source["path"]
        for source in read_receipt(path)["inputs"]
        if own or not is_released(source["path"], source["sha256"])
    ]
    paths = {source: _local_path(source, root, results) for source in inputs}
    return [source for source, local in paths.items() if local is None or not local.exists()]
