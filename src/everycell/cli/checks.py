"""Checks of results folders: receipts, differences, expected verdicts; and their archive."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated

import typer

from everycell.cli import project
from everycell.cli.printing import (
    difference_lines,
    echo,
    moved_values,
    print_for_programs,
    print_json,
    with_noun,
)
from everycell.cli.project import Format, can_be_run, errors_as_sentences, warn_of_faults
from everycell.cli.rebuilt import compare_with_rebuilt
from everycell.config import read_config
from everycell.engine.artefacts import Artefact
from everycell.engine.differences import compare_folders
from everycell.engine.lineage import NAME as LINEAGE
from everycell.engine.lineage import contradictions, without_jobs
from everycell.engine.printed_cells import CardError
from everycell.engine.receipts import ReceiptError, made_by_other_code, receipts_in
from everycell.engine.results import SUFFIXES, collect, stem_of
from everycell.engine.tiers import Tier
from everycell.engine.untrusted import in_quotes
from everycell.engine.verification import absent_inputs, is_own
from everycell.engine.verification import verify as verify_receipt
from everycell.studies.discovery import audits_of

#: Name of the reproduction page in a results folder.
PAGE = "index.html"
EXPECTED_COLUMNS = ["tier", "artefact", "key", "verdict"]


def has_files(artefact: Artefact, tier: Tier, results: Path) -> bool:
    """Whether a result has a file: a report of any other one takes time, and has no fault."""
    stem = stem_of(artefact, tier, results)
    return any(stem.with_name(stem.name + suffix).exists() for suffix in SUFFIXES)


def verify(
    results: Annotated[Path, typer.Argument(help="Results folder to check.")] = project.RESULTS,
    rebuild: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Rebuild this result and compare; may be repeated."),
    ] = None,
    cores: Annotated[int, typer.Option(min=1, help="Cores for --rebuild.")] = 2,
    into: Annotated[
        Path | None,
        typer.Option(help="Folder for --rebuild, which is kept; by default a temporary one."),
    ] = None,
) -> None:
    """Check all receipts and verdicts without recomputing; name what changed.

    With --rebuild NAME (such as released/sakai2023/table_2) only these results are checked: they
    are rebuilt in a copy of the project, from fetched files alone, and compared byte by byte. The
    exit code is then 0 if everything is the same (except for what a card says may vary), 1 if
    something differs, 2 on an error, 3 if an input is missing or has changed, 4 if the code has
    changed, 5 if the run failed.
    """
    if rebuild:
        raise typer.Exit(compare_with_rebuilt(rebuild, results, cores, into))
    with errors_as_sentences():
        papers = project.papers()
        if not results.is_dir():
            raise CardError(f"There is no folder {results}; run `make reproduce` first.")
        receipts = receipts_in(results)
        if not receipts:
            raise CardError(f"{results} holds no receipt; run `make reproduce` first.")
        faults = [
            fault
            for receipt in receipts
            for fault in verify_receipt(receipt, project.ROOT, results)
        ]
        # A page from elsewhere was drawn by other code.
        has_page = is_own(results, project.ROOT) and (results / PAGE).is_file()
        found = collect(
            papers,
            results,
            project.ROOT,
            # The page also shows what was not run.
            wanted=lambda artefact, tier: has_page or has_files(artefact, tier, results),
            audits=audits_of,
        )
    faults += [fault for result in found for fault in result.faults]
    for page in (results / PAGE, *sorted((results / "pages").glob("*.html"))):
        if page.is_file() and not page.read_bytes().rstrip().endswith(b"</html>"):
            faults.append(f"{page}: is empty or was cut off; `everycell page` draws it again.")
    unexplained: list[str] = []
    try:
        unexplained = without_jobs(results)
        faults += contradictions(results, project.ROOT)
    except ReceiptError as error:  # a receipt that cannot be read is among the faults already
        faults.append(str(error))
    for fault in dict.fromkeys(faults):
        echo(fault)
    if faults:
        raise typer.Exit(1)
    absent = {
        path for receipt in receipts for path in absent_inputs(receipt, project.ROOT, results)
    }
    one = len(receipts) == 1
    echo(
        f"The receipt in {results} holds."
        if one
        else f"All {len(receipts)} receipts in {results} hold."
    )
    if absent:
        echo(
            f"{with_noun(len(absent), 'file')} that they were made from cannot be checked here, as "
            f"{min(absent)}."
        )
    if unexplained:
        echo(
            f"{results / LINEAGE} does not say what made {with_noun(len(unexplained), 'file')} "
            f"behind them, as {unexplained[0]}; `everycell page` in the project that made them "
            "writes it again."
        )
    if has_page:
        from everycell.engine.render.page.page_file import outdated_pages, pages_of

        for page in outdated_pages(results, pages_of(results, found, papers))[:1]:
            echo(
                f"{page} is not the page of these results (it is older than they are, or was "
                "edited); `everycell page` draws it again."
            )
    others = made_by_other_code(receipts, project.ROOT)
    if others:
        echo(
            f"{with_noun(len(others), 'result')} came from other code than that of this "
            f"project, as {next(iter(others)).relative_to(results)} says."
        )


def diff(
    first: Annotated[Path, typer.Argument(help="Results folder.")],
    second: Annotated[Path, typer.Argument(help="Results folder to compare it with.")],
    cells: Annotated[int, typer.Option(min=0, help="Cells to show of each result.")] = 10,
    form: Format = "table",
) -> None:
    """Compare two results folders: which cells moved, and which input or setting explains it.

    Exit code as for diff: 0 if everything is the same, 1 if something differs, 2 on an error.
    """
    try:
        with errors_as_sentences():
            for folder in (first, second):
                if not folder.is_dir():
                    raise CardError(f"There is no folder {folder}; name two results folders.")
                if not receipts_in(folder):
                    raise CardError(f"{folder} holds no receipt; name a folder of results.")
            found = compare_folders(first, second)
    except typer.Exit:
        raise typer.Exit(2) from None
    different = [result for result in found if not result.same]
    if form == "json":
        print_json([result.model_dump(mode="json") | {"same": result.same} for result in found])
    elif form != "table":
        print_for_programs(moved_values(different), form)
    else:
        for result in different:
            echo("\n".join(difference_lines(result, first, second, cells)))
        others = [result for result in found if result.same]
        elsewhere = sum(bool(result.causes) for result in others)
        echo(
            f"{with_noun(len(different), 'result')} differ{'s' * (len(different) == 1)}, "
            f"{len(others)} {'is' if len(others) == 1 else 'are'} the same"
            + (
                f" ({elsewhere} of them were made otherwise; --format json says how)."
                if elsewhere
                else "."
            )
        )
    if different:
        raise typer.Exit(1)


def check_verdicts(
    expected: Annotated[Path, typer.Argument(help="CSV: tier, artefact, key, verdict.")],
    update: Annotated[bool, typer.Option("--update", help="Write the file instead.")] = False,
    tier: Annotated[
        list[str] | None, typer.Option(help="Compare only these tiers; all by default.")
    ] = None,
) -> None:
    """Compare the verdicts of the rebuilt cells with a committed expectation."""
    with errors_as_sentences():
        found = collect(
            project.papers(), project.RESULTS, project.ROOT, wanted=can_be_run, audits=None
        )
    warn_of_faults(found)
    verdicts: dict[tuple[str, str, str], str] = {
        (result.tier, result.artefact.id, " / ".join(cell.key.values())): cell.verdict_and_source
        for result in found
        if result.report.state == "rebuilt"
        for cell in result.report.cells
    }
    verdicts |= {
        (result.tier, result.artefact.id, f"conclusion {conclusion.id}"): conclusion.on_rebuilt
        for result in found
        if result.report.state in ("rebuilt", "stand_in")
        for conclusion in result.report.conclusions
        # Models trained here may differ on another processor.
        if conclusion.on_rebuilt == "not_testable"
        or not result.artefact.card.tiers[result.tier].varies
    }
    if update:
        with expected.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(EXPECTED_COLUMNS)
            writer.writerows([*key, verdict] for key, verdict in verdicts.items())
        echo(f"Wrote {len(verdicts)} verdicts to {expected}.")
        return
    with errors_as_sentences():
        wanted = _read_expected(expected)
    if tier:
        wanted = {key: verdict for key, verdict in wanted.items() if key[0] in tier}
        verdicts = {key: verdict for key, verdict in verdicts.items() if key[0] in tier}
    changed = [
        f"{' '.join(key)}: expected {wanted.get(key, 'nothing')}, "
        f"found {verdicts.get(key, 'nothing')}"
        for key in dict.fromkeys([*wanted, *verdicts])
        if wanted.get(key) != verdicts.get(key)
    ]
    for line in changed[:50]:
        echo(line)
    if changed:
        echo(f"{len(changed)} verdicts changed; `--update` if the change is intended.", err=True)
        raise typer.Exit(1)
    echo(f"All {len(wanted)} verdicts are as expected.")


def _read_expected(path: Path) -> dict[tuple[str, str, str], str]:
    if not path.is_file():
        raise CardError(f"There is no file {path}; write it with `--update`.")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            if rows.fieldnames != EXPECTED_COLUMNS:
                raise CardError(
                    f"{path}: has the columns {in_quotes(rows.fieldnames, 300)}; it needs "
                    f"{EXPECTED_COLUMNS}, so write it again with `--update`."
                )
            return {(row["tier"], row["artefact"], row["key"]): row["verdict"] for row in rows}
    except (csv.Error, UnicodeDecodeError) as error:
        raise CardError(
            f"{path}: cannot be read as CSV ({error}); write it again with `--update`."
        ) from None


def crate(
    results: Annotated[Path, typer.Argument(help="Results folder.")],
    out: Annotated[Path, typer.Argument(help="Archive to write, such as results.zip.")],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a results folder as a Workflow Run RO-Crate, for an archive such as Zenodo."""
    from everycell.engine.crate import write_crate

    with errors_as_sentences():
        settings = read_config(Path("config.yaml"))
        if not results.is_dir():
            raise CardError(f"There is no folder {results}; run `make reproduce` first.")
        if out.suffix != ".zip":
            raise CardError(f"{out}: a crate is a zip archive; name a file that ends with .zip.")
        if out.exists() and not force:
            raise CardError(f"{out} is there already; remove it, or replace it with --force.")
        write_crate(results, out, project.ROOT, settings.cache, project.papers(), audits_of)
    echo(f"{out}: {out.stat().st_size / 2**20:.1f} MiB")
