"""`everycell verify`: everything that is wrong with a results folder, without recomputing."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from everycell.base.errors import DataError
from everycell.base.files import files_below
from everycell.cli import project
from everycell.cli.printing import echo, pluralise, progress
from everycell.cli.project import require_receipts
from everycell.config import repository_of
from everycell.receipts.lineage_checks import check_lineage, files_without_jobs
from everycell.receipts.provenance import NAME as LINEAGE
from everycell.receipts.receipts import (
    ReceiptError,
    absent_inputs,
    is_own,
    made_by_other_code,
    read_receipt,
    readable_receipts,
)
from everycell.receipts.receipts import verify as verify_receipt
from everycell.receipts.uncovered import uncommitted_modules
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, Paper
from everycell.records.registry import load_registry
from everycell.sources.fetch import OWN_DATA
from everycell.verdicts.audits import audits_of
from everycell.verdicts.cells import sources_of
from everycell.verdicts.results import SUFFIXES, collect, stem_of
from everycell.workflow.deviations import (
    NO_SNAKEFILE,
    RUN_WITHOUT_OPTIONS,
    Deviations,
    find_deviations,
)

#: Files of a page, any of which shows that there is a page.
PAGE = (
    "index.html",
    "cells.csv",
    "cells.parquet",
    "claims.csv",
    "excluded_claims.csv",
    "badge.svg",
)
#: Forms of the page of a chapter.
PAGE_FORMS = ("html", "md", "tex")
#: Folders of the page, of the documentation and of its graphs and pictures.
SITE = ("pages", "site", "rulegraphs", "pictures")
#: Files of the project itself; a result cannot be checked, or made again, without them.
OWN = ("published/", "recorded/")


class _Findings(NamedTuple):
    """Faults of a results folder, and what cannot be checked here."""

    faults: list[str]
    receipts: list[Path]
    deviations: Deviations
    other_code: Collection[Path]
    absent_files: set[str]
    unrecorded_files: list[str]


def verify_results(results: Path, overrides: Path | None) -> bool:
    """Report everything that is wrong with a results folder; return whether anything is.

    `overrides` is a file with settings that override ``config.yaml``.
    """
    with progress("Verifying the results"):
        faults, receipts, deviations, other_code, absent_files, unrecorded_files = _find_faults(
            results, overrides
        )
    for fault in faults:
        echo(fault)
    if faults:
        return True
    number = len(receipts)
    echo(
        f"The receipt in {results} is valid."
        if number == 1
        else f"All {number} receipts in {results} are valid."
    )
    for notice in deviations.notices:
        echo(f"{_list(notice.files)}: {notice.text}.")
    if other_code:
        echo(
            f"{pluralise(len(other_code), 'result')} came from code that differs from the "
            f"code of this project; see {next(iter(other_code)).relative_to(results)}."
        )
    for reason, files in deviations.uncompared.items():
        echo(f"The parameters of {_list(files)} cannot be compared: {reason}.")
    if absent_files:
        number_of_files = pluralise(len(absent_files), "input file")
        echo(f"{number_of_files} cannot be checked here, such as {min(absent_files)}.")
    if uncovered := _uncovered_files(results, own=is_own(results, project.ROOT)):
        echo(
            f"{pluralise(len(uncovered), 'file')} of the page or site, such as {uncovered[0]}, "
            "cannot be checked: no receipt covers them. Draw them again to be sure."
        )
    if unrecorded_files:
        number_of_files = pluralise(len(unrecorded_files), "intermediate file")
        echo(
            f"{results / LINEAGE} does not record which jobs made {number_of_files}, such as "
            f"{unrecorded_files[0]}; run `everycell page` in the project that made the results "
            "to update it."
        )
    return False


def find_faults(results: Path) -> list[str]:
    """Sentences about everything that is wrong with a results folder."""
    return _find_faults(results, None).faults


def _find_faults(results: Path, overrides: Path | None) -> _Findings:
    """Find everything that is wrong with a results folder."""
    papers = project.papers()
    receipts = require_receipts(results)
    own = is_own(results, project.ROOT)
    # The page of another project was rendered by other code, so it is not checked.
    has_page = own and (
        any((results / name).exists() for name in PAGE) or any((results / "pages").glob("*.html"))
    )
    all_results = collect(
        papers,
        results,
        project.ROOT,
        # The page also shows artefacts that were not run.
        include=lambda artefact, tier: has_page or has_files(artefact, tier, results),
        audits=audits_of,
    )
    faults = [fault for result in all_results for fault in result.faults]
    if own:
        from everycell.sources.fetch import changed_data

        for key in papers:
            changed = changed_data(project.PUBLISHED / key)
            faults += [*changed.values(), *_results_made_from(changed, receipts, results)]
        faults += [
            f"{module} can replace a module in any job, but neither Git nor a receipt has its "
            "content; commit it (git add --force if Git ignores it) or, if a build wrote it, "
            "install its package with `pip install .` and remove it here."
            for module in uncommitted_modules(project.ROOT)
        ]
    # Receipts of artefacts were verified with their reports; others, such as errata, follow.
    stems = {
        stem_of(result.artefact, result.tier, results) for result in all_results if result.is_run
    }
    for receipt in receipts:
        if receipt.with_name(receipt.name.removesuffix(".receipt.json")) not in stems:
            faults += verify_receipt(receipt, project.ROOT, results)
    faults += [
        f"{path} belongs to no receipt in {results}; remove it, or move it elsewhere."
        for path in _unlisted_files(results, receipts, papers if own else None)
    ]
    unrecorded_files: list[str] = []
    absent_files: set[str] = set()
    try:
        unrecorded_files = files_without_jobs(results)
        faults += check_lineage(results, project.ROOT)
    except ReceiptError as error:
        faults.append(str(error))
    readable = readable_receipts(results)
    for receipt in readable:
        absent = _not_in_data(absent_inputs(receipt, project.ROOT, results), own=own)
        absent_files.update(absent)
        faults += [
            f"{path} is missing, but {receipt} was made from it; restore the file."
            for path in absent
            if own and path.startswith(OWN)
        ]
    other_code = made_by_other_code(readable, project.ROOT)
    deviations = find_deviations(results, project.ROOT, overrides)
    if own and NO_SNAKEFILE in deviations.uncompared:
        faults.append(
            "There is no Snakefile here, so the parameters of results cannot be compared; restore "
            "the file."
        )
    faults += [
        f"{path} was made by code that differs from the code of this project; remove it and run "
        "snakemake again."
        for path in other_code
        # Otherwise the plan says which code is another.
        if own and deviations.uncompared
    ]
    faults += [
        f"{_list(notice.files)}: {notice.text}; {notice.fix}"
        + ", or name their file with --configfile" * (notice.fix == RUN_WITHOUT_OPTIONS)
        + "."
        for notice in deviations.notices
        if own or notice.is_certain
    ]
    truncated = [
        page
        for page in (results / PAGE[0], *sorted((results / "pages").glob("*.html")))
        if page.is_file() and not page.read_bytes().rstrip().endswith(b"</html>")
    ]
    faults += [
        f"{page} is empty or truncated; redraw it with `everycell page`." for page in truncated
    ]
    if has_page and not os.path.lexists(results / LINEAGE):
        faults.append(
            f"{results / LINEAGE} is missing; write it, and the page, with `everycell page`."
        )
    # An untrusted result counts as not run, so the page differs in consequence.
    if has_page and any(result.faults for result in all_results):
        faults += [
            f"{page} is missing or not a file; redraw it with `everycell page`."
            for page in map(results.joinpath, PAGE)
            if not page.is_file()
        ]
    elif has_page:
        from everycell.render.page.pages import outdated_pages, pages_of

        # The page compares with the project's own settings.
        page_deviations = find_deviations(results, project.ROOT) if overrides else deviations
        pages: Mapping[str, bytes] = {}
        try:
            pages = pages_of(
                results,
                all_results,
                papers,
                page_deviations.notices,
                repository_of(project.ROOT),
            )
        # A table that no job writes, or a broken lineage.
        except (DataError, ReceiptError) as error:
            faults.append(str(error))
        faults += [
            f"{page} does not match these results (it is outdated, or was edited); redraw it with "
            "`everycell page`."
            for page in outdated_pages(results, pages)
            if page not in truncated
        ]
    return _Findings(
        [*dict.fromkeys(faults)], receipts, deviations, other_code, absent_files, unrecorded_files
    )


def _not_in_data(paths: Iterable[str], *, own: bool) -> list[str]:
    """Inputs without those that are in `data/`, whose hashes are checked with their registry.

    The cache of a deposit is empty until its workflow runs.
    """
    registry = load_registry(project.ROOT)
    keys = {path: registry.key_in(path) for path in paths}
    return [
        path
        for path, key in keys.items()
        if not (own and key and (project.ROOT / OWN_DATA / key).is_file())
    ]


def has_files(artefact: Artefact, tier: Tier, results: Path) -> bool:
    """Whether any file of a result exists; without one, there is nothing to verify."""
    stem = stem_of(artefact, tier, results)
    return any(stem.with_name(stem.name + suffix).exists() for suffix in SUFFIXES)


def _unlisted_files(
    results: Path, receipts: Iterable[Path], papers: Mapping[str, Paper] | None
) -> list[Path]:
    """Files of a results folder that no job lists, apart from pages; hidden files are skipped.

    Pages must be those of the chapters of `papers`, if these are known.
    """
    listed = {results / name for name in (*PAGE, LINEAGE, "README.md")}
    for receipt in receipts:
        stem = receipt.name.removesuffix(".receipt.json")
        listed |= {receipt, receipt.with_name(f"{stem}.verdicts.json")}
        try:
            outputs = [receipt.parent / file["path"] for file in read_receipt(receipt)["outputs"]]
        except ReceiptError:  # reported with its result
            outputs = list(receipt.parent.glob(f"{stem}.*"))
        listed.update(outputs)
    known = papers or {}
    pages = {
        f"{key}_ch{chapter}.{form}"
        for key in known
        for chapter in known[key].chapters
        for form in PAGE_FORMS
    }
    unlisted = []
    # Unlike `rglob`, these patterns follow links.
    for path in (path for depth in range(1, 4) for path in results.glob("/".join("*" * depth))):
        parts = path.relative_to(results).parts
        is_page = parts[0] == "pages" and len(parts) == 2 and path.name in pages
        if any(part.startswith(".") for part in parts) or path in listed or is_page:
            continue
        if parts[0] in SITE and (parts[0] != "pages" or papers is None):
            continue
        if not path.is_dir() or len(parts) == 3:
            unlisted.append(path)
    return sorted(unlisted)


def _uncovered_files(results: Path, *, own: bool) -> list[Path]:
    """Files that are drawn from results and are compared with nothing, sorted.

    In the project itself, the page is compared with the one that its results give.
    """
    folders = [results / name for name in SITE if not (own and name == "pages")]
    files = [file for folder in folders for file in files_below(folder)]
    if not own:
        files += [path for path in map(results.joinpath, PAGE) if path.is_file()]
    return sorted(files)


def _list(files: Sequence[str]) -> str:
    more = f" and {pluralise(len(files) - 1, 'other file')}" if len(files) > 1 else ""
    return f"{files[0]}{more}"


def _results_made_from(
    changed: Collection[str], receipts: Iterable[Path], results: Path
) -> list[str]:
    """Name the results that were made from files of `data/` that have changed since then."""
    faults = []
    for receipt in receipts if changed else ():
        try:
            paths = sources_of(receipt, results, project.ROOT).data
        except ReceiptError:  # reported with its result
            continue
        faults += [
            f"{receipt} was made from {OWN_DATA / key} as registered, not from the file there now; "
            "restore the file, or register the new version and run snakemake again."
            for key in changed
            if any(path.endswith(f"/{key}") for path in paths)
        ]
    return faults
