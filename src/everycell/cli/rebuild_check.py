"""`everycell verify --rebuild`: rebuild results in a separate folder, and compare them."""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from everycell.base.files import sha256
from everycell.base.untrusted import text_of
from everycell.cli import project
from everycell.cli.printing import difference_lines, echo, pluralise
from everycell.receipts.checkout import changed_since, is_shallow, state_of_code
from everycell.receipts.code import files_by_code
from everycell.receipts.diff import (
    Change,
    Difference,
    cells_of,
    changes,
    compare_folders,
    flatten,
    shorten,
)
from everycell.receipts.receipts import made_by_other_code, read_receipt, receipts_in, verify
from everycell.records.folders import Tier
from everycell.records.registry import load_registry
from everycell.workflow import UNQUOTED

#: Exit codes besides 0 (no difference), 1 (a difference) and 2 (an error).
INPUTS_MISSING, CODE_CHANGED, RUN_FAILED, VARIES = 3, 4, 5, 6


def rebuild_and_compare(
    names: list[str], results: Path, cores: int, into: Path | None, overrides: Path | None
) -> int:
    """Rebuild results, report which of their files differ, and return the exit code.

    `overrides` is a file with settings that override ``config.yaml``.
    """
    if into is not None and into.exists() and any(into.iterdir()):
        raise RebuildError(f"{into} is not empty; choose another folder.")
    papers = project.papers()
    receipts = find_receipts(names, results)
    try:
        check_origin(receipts, project.ROOT)
    except (CodeChangedError, InputsMissingError) as error:
        echo(f"everycell: {error}", err=True)
        return INPUTS_MISSING if isinstance(error, InputsMissingError) else CODE_CHANGED
    result_names = [name_of(receipt, results) for receipt in receipts]
    folder = into or Path(tempfile.mkdtemp(prefix="everycell-rebuild-"))
    folder.mkdir(parents=True, exist_ok=True)
    echo(f"Rebuilding {pluralise(len(result_names), 'result')} in {folder}.", err=True)
    try:
        rebuild(result_names, project.ROOT, folder, cores, overrides)
    except (OSError, RebuildError) as error:
        echo(f"everycell: {error}", err=True)
        return RUN_FAILED
    is_different = varies = False
    for compared in compare_folders(results, folder / "results"):
        if compared.name not in result_names:
            continue
        tier, _, artefact = compared.name.partition("/")
        key, _, name = artefact.partition("/")
        declared = papers[key].artefacts[name].record.tiers[cast(Tier, tier)] if name else None
        bound, reason = (declared.varies_by, declared.varies) if declared else (None, None)
        may_vary = bound is not None and bool(compared.files)
        receipt_changes = _changes_in_receipts(
            compared.name, results, folder / "results", may_vary=may_vary
        )
        # The hashes of files that may vary are not those of the new ones.
        receipt = results / f"{compared.name}.receipt.json"
        faults = verify(receipt, project.ROOT, results) if may_vary else []
        beyond = differences_beyond(compared, results, folder / "results", bound or 0.0)
        if beyond or not (compared.is_same or may_vary):
            is_different = True
            for line in difference_lines(compared, results, folder / "results", 10):
                echo(line)
        elif receipt_changes or faults:
            is_different = True
            heading = f"{compared.name}: the receipt differs" + " from its files" * bool(faults)
            for line in [heading, *_lines(receipt_changes), *faults]:
                echo(line)
        elif compared.is_same:
            files = len(read_receipt(receipt)["outputs"])
            echo(f"{compared.name}: {pluralise(files, 'file')} and receipt, identical.")
        else:
            varies = True
            heading = (
                f"{compared.name}: {pluralise(len(compared.cells), 'cell')} changed by no more "
                f"than {bound:.0%} of the range, which the record allows: {reason}"
            )
            for line in [heading, *_lines(compared.cells)]:
                echo(line)
            if pictures := [file for file in compared.files if file.endswith(PICTURES)]:
                echo(f"Not compared, since they show these cells: {', '.join(pictures)}.")
    if is_different:
        echo(f"The new results are in {folder}.", err=True)
    elif into is None:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if is_different else VARIES if varies else 0


def differences_beyond(compared: Difference, results: Path, new: Path, bound: float) -> list[str]:
    """Cells and files that differ by more than a share of the range of their metric or column.

    The range is that of the numbers made again. Other text files of the result may differ only in
    numbers, and only as a cell of a table does; a table without a changed cell may not differ;
    pictures (`PICTURES`) are not compared.
    """
    if not bound:
        return list(compared.files)
    beyond = []
    all_changes: list[Change] = []
    folders = [(folder / compared.name).parent for folder in (results, new)]
    for file in compared.files:
        if not file.endswith(".csv"):
            continue
        old, rebuilt = (cells_of(folder / file) for folder in folders)
        numbers: dict[str, list[float]] = {}
        for key, text in rebuilt.items():
            numbers.setdefault(key.rpartition(" / ")[2], []).append(_number(text))
        file_changes = changes(old, rebuilt)
        all_changes += file_changes
        beyond += [] if file_changes else [file]
        for change in file_changes:
            values = [
                value
                for value in numbers.get(change.key.rpartition(" / ")[2], ())
                if math.isfinite(value)
            ]
            span = max(values) - min(values) if values else 0.0
            allowed = bound * (span or max(map(abs, values), default=0.0))
            if not abs(_number(change.old) - _number(change.new)) <= allowed:
                beyond.append(change.key)
    for file in compared.files:
        if file.endswith(PICTURES):
            is_allowed = f"{file.rpartition('.')[0]}.csv" in compared.files
        elif not file.endswith(".csv"):
            first, second = (_text_of(folder / file) for folder in folders)
            is_allowed = _differs_as_cells(first, second, all_changes)
        else:
            continue
        if not is_allowed:
            beyond.append(file)
    return beyond


#: Files whose bytes change with a table in ways that no cell determines.
PICTURES = (".pdf", ".png", ".svg")
NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?")


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _differs_as_cells(old: str, new: str, cells: Sequence[Change]) -> bool:
    """Whether two texts differ only in numbers to which changed cells were rounded."""
    if NUMBER.sub("#", old) != NUMBER.sub("#", new):
        return False
    pairs = zip(NUMBER.findall(old), NUMBER.findall(new), strict=True)
    return all(
        len({*pair}) == 1 or any(_round_to((cell.old, cell.new), pair) for cell in cells)
        for pair in dict.fromkeys(pairs)
    )


def _round_to(cells: tuple[str | None, str | None], numbers: tuple[str, str]) -> bool:
    """Whether two cells are rounded to two numbers; a sign is not part of them."""
    # A number with fewer decimals is exact, or else most cells would be rounded to 0 or 0e9.
    unit = min(_last_digit(*number.lower().partition("e")) for number in numbers)
    # A number that lies halfway may be rounded up or down.
    pairs = zip(cells, map(float, numbers), strict=True)
    return all(abs(abs(_number(cell)) - number) <= 0.5000001 * unit for cell, number in pairs)


def _last_digit(digits: str, _: str, exponent: str) -> float:
    return float(f"1e{int(exponent or 0) - len(digits.partition('.')[2])}")


def _number(text: str | None) -> float:
    """Number in a cell; NaN, which is within no bound, if there is none."""
    try:
        return float(text or "nan")
    except ValueError:
        return float("nan")


#: Differences of a result that are listed.
LISTED = 10


def _lines(differences: Sequence[Change]) -> list[str]:
    lines = [
        f"  {change.key}: {shorten(change.old)} -> {shorten(change.new)}"
        for change in differences[:LISTED]
    ]
    more = len(differences) - LISTED
    return [*lines, f"  ... and {more} more"] if more > 0 else lines


def _changes_in_receipts(
    name: str, results: Path, new: Path, *, may_vary: bool
) -> tuple[Change, ...]:
    """Differences between the receipts of a result and of the same result made again.

    Only time, memory and host may differ, and the files that jobs made if they `may_vary`.
    """
    first, second = (read_receipt(folder / f"{name}.receipt.json") for folder in (results, new))
    # The copy of the project has no commit.
    second["code"] = without(second["code"], "commit", "dirty", "difference")
    second["code"] |= _commit_of_code(first["code"])
    sides = []
    for receipt in (first, second):
        files = {
            kind: {
                file["path"]: "varies"
                if may_vary
                and (kind == "outputs" or file["path"].startswith(("work/", "results/")))
                else file["sha256"]
                for file in receipt[kind]
            }
            for kind in ("inputs", "outputs")
        }
        content = without(receipt, "execution", "content_sha256") | files
        sides.append(dict(sorted(flatten(content))))
    return changes(*sides)


def _commit_of_code(code: Mapping[str, Any]) -> dict[str, Any]:
    """What a receipt that names this commit must say about the code of the project."""
    commit, root = code.get("commit"), project.ROOT.resolve()
    changed = None if commit is None else changed_since(str(commit), root)
    if commit is not None and changed is None:
        # A clone without history cannot tell a forged commit from an older one.
        if is_shallow(root):
            echo(f"Not compared, since this clone is shallow: commit {commit}.", err=True)
            return {key: code[key] for key in ("commit", "dirty", "difference") if key in code}
        return {"commit": "unknown here"}
    files = files_by_code(root)[code["sha256"]]
    return {"commit": commit, **state_of_code(files, changed, root)}


def without(mapping: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """A mapping without some of its keys."""
    return {key: value for key, value in mapping.items() if key not in keys}


#: Files and folders of a project that are copied.
PARTS = (
    *("Snakefile", "config.yaml", "pyproject.toml"),
    *("envs", "profiles", "published", "recorded", "src", "workflow"),
)
#: Folders of files that a run makes.
MADE = ("work", "results")


class RebuildError(Exception):
    """Results cannot be rebuilt; the message says why."""


class InputsMissingError(RebuildError):
    """An input is missing, or is not the file that the result was made from."""


class CodeChangedError(RebuildError):
    """The code of this project differs from the code that made the result."""


def find_receipts(names: Sequence[str], results: Path) -> list[Path]:
    """Find the receipts of results by name, in the order of their paths."""
    receipts = receipts_in(results)
    matches = set()
    for name in names:
        receipts_of_name = [
            path
            for path in receipts
            if name in (stem := name_of(path, results), stem.partition("/")[2])
        ]
        if not receipts_of_name:
            raise RebuildError(
                f"{results} contains no receipt of {name!r}; specify an existing result as "
                "TIER/PAPER/table_1."
            )
        matches.update(receipts_of_name)
    return sorted(matches)


def name_of(receipt: Path, results: Path) -> str:
    """Name of a receipt's result: ``TIER/KEY/table_1``."""
    return receipt.relative_to(results).as_posix().removesuffix(".receipt.json")


def check_origin(receipts: Sequence[Path], root: Path) -> None:
    """Refuse to rebuild results whose code or input files have changed or are missing.

    Intermediate files, and released files that are not in the cache, are not checked: the run makes
    or fetches them.
    """
    for path in made_by_other_code(receipts, root):
        raise CodeChangedError(
            f"{path} was made by a different version of the code; check out the commit of the "
            "receipt, or run snakemake and verify the new results."
        )
    for path in receipts:
        for source in read_receipt(path)["inputs"]:
            local = root / source["path"]
            if Path(source["path"]).parts[0] in MADE:
                continue
            if not local.exists() and load_registry().key_in(source["path"]) is not None:
                continue
            if not local.is_file():
                raise InputsMissingError(
                    f"{local} is missing, but {path} was made from it; restore the file."
                )
            if sha256(local) != source["sha256"]:
                raise InputsMissingError(
                    f"{local} is not the file that {path} was made from; restore that file, or "
                    "run snakemake and verify the new results."
                )


#: Variables that a run keeps: folders, the network and accelerators. Any other may change results
#: or run code: those of Snakemake, Python, Java, the shell, the loader, and of libraries.
KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|TERM|COLUMNS|LANG|LC_\w+|TZ|TMPDIR|XDG_CACHE_HOME"
    r"|EVERYCELL_\w+|HF_\w+|IR_DATASETS_HOME|PYSERINI_CACHE|CUDA_\w+|NVIDIA_\w+"
    r"|\w+_(?:proxy|PROXY)|SSL_CERT_\w+|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE"
)
#: Name of the variable with the key of an endpoint, in any notation of YAML or JSON.
KEY = re.compile(r"""\bkey["']?+\s*+:\s*+["']?(\w+)""")


def kept_variables(*settings: Path) -> dict[str, str]:
    """Variables that rebuilding keeps, with those that files of settings name as `key`."""
    keys = {name for path in settings for name in KEY.findall(text_of(path))}
    return {
        name: value for name, value in os.environ.items() if KEPT.fullmatch(name) or name in keys
    }


def _python_in(folder: Path) -> str:
    """Path of Python; if it needs quotes, which Snakemake omits, through a link in the folder."""
    python = Path(sys.executable)
    if not UNQUOTED.search(str(python)):
        return str(python)
    environment = folder / ".venv"
    environment.symlink_to(python.parents[1], target_is_directory=True)
    return str(environment.absolute() / python.relative_to(python.parents[1]))


def rebuild(
    names: Sequence[str], root: Path, folder: Path, cores: int, overrides: Path | None = None
) -> None:
    """Rebuild results in a copy of the project; Snakemake's output goes to standard error.

    No profile changes the run, and no variable but those of `kept_variables`.
    """
    for part in PARTS:
        source = root / part
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / part, symlinks=True, ignore=ignored)
        elif source.exists():
            shutil.copy2(source, folder / part)
    (root / "resources").mkdir(exist_ok=True)
    for name in ("resources", "data"):
        if (root / name).is_dir():
            (folder / name).symlink_to((root / name).resolve(), target_is_directory=True)
    # The verdicts of an artefact depend on all of its files.
    targets = [
        f"results/{name}.{'verdicts.json' if name.count('/') == 2 else 'csv'}" for name in names
    ]
    options = ["--profile", "none", "--workflow-profile", "none", "--logger", "everycell"]
    options += ["--show-failed-logs", "--cores", str(cores)]
    if overrides is not None:
        options += ["--configfile", str(overrides.resolve())]
    settings = [folder / "config.yaml", *([overrides] if overrides else [])]
    completed = subprocess.run(
        [_python_in(folder), "-P", "-m", "snakemake", *options, "--", *targets],
        cwd=folder,
        env=kept_variables(*settings) | {"PYTHONPATH": str(folder.resolve() / "src")},
        stdout=sys.stderr,
        check=False,
    )
    if completed.returncode:
        raise RebuildError(
            f"Snakemake failed with exit code {completed.returncode}; see its messages above and "
            f"its logs in {folder}/logs."
        )
