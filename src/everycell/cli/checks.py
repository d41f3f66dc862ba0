"""Commands that check records, and check, compare and archive results folders."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from typer.core import TyperCommand

from everycell.base.csv_files import read_text_columns
from everycell.base.files import atomic_path
from everycell.base.untrusted import in_quotes
from everycell.cli import project
from everycell.cli.named_files import Input, Output
from everycell.cli.options import Force
from everycell.cli.perturbing import perturb_and_compare
from everycell.cli.printing import (
    difference_frame,
    difference_lines,
    echo,
    pluralise,
    print_document,
    print_for_programs,
    print_json,
    progress,
)
from everycell.cli.project import can_be_run, collect_results, require_receipts
from everycell.cli.rebuild_check import rebuild_and_compare
from everycell.cli.verification import verify_results
from everycell.config import read_config
from everycell.receipts.diff import compare_folders
from everycell.records.cells import RecordError
from everycell.records.checks import write_schemas
from everycell.records.papers import all_artefacts, load_paper
from everycell.verdicts.audits import audits_of
from everycell.verdicts.record_checks import check_paper, check_papers

EXPECTED_COLUMNS = ["tier", "artefact", "key", "verdict"]
#: Key of the row with the origin of a result's values.
ORIGIN = "origin of the values"


def verify(
    results: Annotated[Path, typer.Argument(help="Results folder to check.")] = project.RESULTS,
    rebuild: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Rebuild this result and compare; may be repeated."),
    ] = None,
    cores: Annotated[int, typer.Option(min=1, help="Cores for --rebuild and --perturb.")] = 2,
    configfile: Annotated[
        Path | None,
        typer.Option(help="Settings that override config.yaml, as for snakemake."),
        Input(("settings",)),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Folder for --rebuild, kept afterwards; default: a temporary folder."),
    ] = None,
    perturb: Annotated[
        str | None,
        typer.Option(
            metavar="[NAME]",
            help="Perturb the data of these results (a paper, chapter, artefact or tier; default: "
            "all), and compare which values move with published/sensitivity.csv.",
        ),
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="With --perturb: write the file instead.")
    ] = False,
    share: Annotated[
        float, typer.Option(min=0, max=1, help="With --perturb: share of results, drawn randomly.")
    ] = 1,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of --share; printed if not given.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="With --perturb: leave out the results after that.")
    ] = None,
) -> None:
    """Check all receipts without recomputing; report what changed.

    The parameters in the receipts are compared with those that the project gives. The exit code is
    1 if anything is wrong.

    With --rebuild NAME (such as released/sakai2023/table_2), only these results are checked: they
    are rebuilt in a copy of the project, from downloaded files alone, and compared byte by byte.
    The exit code is then 0 if everything is the same, 1 if something differs, 2 on an error, 3 if
    an input is missing or has changed, 4 if the code has changed, 5 if the run failed, 6 if values
    differ within the bounds of the record.

    With --perturb, the values of each input are changed, one input after the other, and the results
    are made again in a scratch folder, whose receipts are not accepted anywhere. The exit code is 1
    if other values move than recorded.
    """
    if perturb is not None:
        raise typer.Exit(
            perturb_and_compare(
                perturb, cores, update=update, share=share, seed=seed, minutes=minutes
            )
        )
    if rebuild:
        raise typer.Exit(rebuild_and_compare(rebuild, results, cores, into, configfile))
    if verify_results(results, configfile):
        raise typer.Exit(1)


class OptionalName(TyperCommand):
    """Command whose option --perturb may have no value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Perturb all results if no name follows."""
        for index, argument in enumerate(args):
            if argument == "--perturb" and (args[index + 1 :] or ["-"])[0].startswith("-"):
                args = [*args[: index + 1], "all", *args[index + 1 :]]
                break
        return super().parse_args(ctx, args)


verify.command_class = OptionalName  # type: ignore[attr-defined]


def diff(
    first: Annotated[Path, typer.Argument(help="Results folder.")],
    second: Annotated[Path, typer.Argument(help="Results folder to compare it with.")],
    cells: Annotated[int, typer.Option(min=0, help="Cells to list per result.")] = 10,
    form: Annotated[
        Literal["table", "csv", "json", "tex", "html"],
        typer.Option("--format", help="html: a page with both side by side; json has all cells."),
    ] = "table",
) -> None:
    """Compare two results folders: what changed, and why.

    Differences are explained by the inputs, settings, versions and code in the receipts. The exit
    code is 0 if everything is the same, 1 if something differs, 2 on an error.
    """
    for folder in (first, second):
        require_receipts(folder)
    with progress("Comparing the folders"):
        results = compare_folders(first, second)
    differences = [result for result in results if not result.is_same]
    if form == "json":
        print_json(
            [result.model_dump(mode="json") | {"same": result.is_same} for result in results]
        )
    elif form == "html":
        from everycell.cli.diff_page import diff_page

        print_document(diff_page(results, first, second, cells))
    elif form != "table":
        print_for_programs(difference_frame(differences), form)
    else:
        for result in differences:
            for line in difference_lines(result, first, second, cells):
                echo(line)
        equal_results = [result for result in results if result.is_same]
        with_causes = sum(bool(result.causes) for result in equal_results)
        echo(
            f"{pluralise(len(differences), 'result')} differ{'s' * (len(differences) == 1)}, "
            f"{len(equal_results)} {'is' if len(equal_results) == 1 else 'are'} the same"
            + f" (receipts differ for {with_causes}; see --format json)" * bool(with_causes)
            + "."
        )
    if differences:
        raise typer.Exit(1)


def check_verdicts(
    expected: Annotated[
        Path,
        typer.Argument(help="CSV: tier, artefact, key, verdict."),
        Input(("verdicts",), unless="update"),
    ],
    update: Annotated[bool, typer.Option("--update", help="Write the file instead.")] = False,
    tier: Annotated[
        list[str] | None, typer.Option(help="Compare only these tiers; all by default.")
    ] = None,
) -> None:
    """Compare the verdicts with the expected ones in a file."""
    verdicts = _verdicts()
    if update:
        with atomic_path(expected) as draft, draft.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(EXPECTED_COLUMNS)
            writer.writerows([*key, verdict] for key, verdict in verdicts.items())
        echo(f"Wrote {len(verdicts)} verdicts to {expected}.")
        return
    expectation = _read_expected(expected)
    for name in tier or ():
        if all(key[0] != name for key in expectation):
            raise RecordError(f"{expected} has no verdicts of the tier {name!r}; correct the name.")
    if tier:
        expectation, verdicts = (
            {key: verdict for key, verdict in table.items() if key[0] in tier}
            for table in (expectation, verdicts)
        )
    changes = [
        f"{' '.join(key)}: expected {expectation.get(key, 'nothing')}, "
        f"got {verdicts.get(key, 'nothing')}"
        for key in dict.fromkeys([*expectation, *verdicts])
        if expectation.get(key) != verdicts.get(key)
    ]
    for change in changes[:50]:
        echo(change)
    if changes:
        number = pluralise(len(changes), "verdict")
        echo(f"{number} changed; use `--update` if this is intended.", err=True)
        raise typer.Exit(1)
    echo(f"All {len(expectation)} verdicts are as expected.")


def _verdicts() -> dict[tuple[str, str, str], str]:
    """Verdicts of reproduced cells, and outcomes of claims, by tier, artefact and key."""
    results = collect_results(project.papers(), can_be_run)
    cells: dict[tuple[str, str, str], str] = {
        (result.tier, result.artefact.id, " / ".join(cell.key.values())): cell.verdict_and_source
        for result in results
        if result.report.state == "reproduced"
        for cell in result.report.cells
        if cell.kind != "empty"
    }
    # The origin of the values follows from the files of the job, which the records do not have.
    cells |= {
        (result.tier, result.artefact.id, ORIGIN): result.report.origin
        for result in results
        if result.report.state == "reproduced"
    }
    return cells | {
        (result.tier, result.artefact.id, f"claim {claim.id}"): claim.on_reproduced
        for result in results
        if result.report.state in ("reproduced", "surrogate")
        for claim in result.report.claims
        # Trained models, and claims about them, may differ on another processor.
        if claim.on_reproduced == "not testable"
        or not result.artefact.record.tiers[result.tier].varies
    }


def _read_expected(path: Path) -> dict[tuple[str, str, str], str]:
    if not path.is_file():
        raise RecordError(f"The file {path} does not exist; write it with `--update`.")
    try:
        rows = read_text_columns(path)
    except (ValueError, csv.Error) as error:
        raise RecordError(
            f"{path} cannot be read as CSV ({error}); write it again with `--update`."
        ) from None
    if list(rows) != EXPECTED_COLUMNS:
        raise RecordError(
            f"{path} has the columns {in_quotes(list(rows), 300)}, expected {EXPECTED_COLUMNS}; "
            "write it again with `--update`."
        )
    keys = rows[EXPECTED_COLUMNS[:-1]]
    if rows.empty or keys.duplicated().any():
        reason = "no verdicts" if rows.empty else "two verdicts of the same value"
        raise RecordError(f"{path} has {reason}; write it again with `--update`.")
    return {(tier, artefact, key): verdict for tier, artefact, key, verdict in rows.to_numpy()}


def deposit(
    results: Annotated[Path, typer.Argument(help="Results folder.")],
    out: Annotated[Path, typer.Argument(help="Archive to write, such as deposit.zip."), Output()],
    anonymous: Annotated[
        bool,
        typer.Option(
            "--anonymous", help="For double-blind review: without names, hosts and commits."
        ),
    ] = False,
    force: Force = False,
) -> None:
    """Write project and results as one archive that runs elsewhere, a Workflow Run RO-Crate.

    It has records, own data, pinned requirements, a Dockerfile, CITATION.cff and .zenodo.json;
    authors, title and licence are those of paper.yaml. DATA.md says how to obtain other data.
    """
    from everycell.cli.deposit import write_deposit

    settings = read_config(Path("config.yaml"))
    if not results.is_dir():
        raise RecordError(f"The folder {results} does not exist; run `everycell make` first.")
    if out.suffix != ".zip":
        raise RecordError(f"{out}: a deposit is a zip archive; choose a file name ending in .zip.")
    papers = project.papers()
    with progress("Checking the results and writing the archive"):
        write_deposit(
            results, out, project.ROOT, settings.cache, papers, audits_of, anonymous=anonymous
        )
    echo(f"{out}: {out.stat().st_size / 2**20:.1f} MiB")


def check(
    keys: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY]...", help="Papers; all by default.")
    ] = None,
    schemas: Annotated[
        Path | None,
        typer.Option(help="Also write the JSON schemas of the records to this folder."),
    ] = None,
) -> None:
    """Check records and published values; report file and line of each fault.

    Files in data/ are compared with the hashes in registry.yaml. The exit code is 2 if there are
    faults. Editors offer completion in a record whose first line refers to one of the schemas.
    """
    if schemas is not None:
        write_schemas(schemas)
        echo(f"{schemas}: schemas written.")
    folders = [project.PUBLISHED / key for key in keys or ()]
    for folder in folders:
        if not (folder / "paper.yaml").is_file():
            raise RecordError(
                f"{folder / 'paper.yaml'} does not exist; `everycell list` lists the papers."
            )
    if not any(project.PUBLISHED.glob("*/paper.yaml")):
        raise RecordError(
            f"{project.PUBLISHED}/ contains no papers; run everycell in the project folder."
        )
    with progress("Checking the records"):
        faults = [fault for folder in folders for fault in check_paper(folder)]
        if not folders:
            folders = sorted(path.parent for path in project.PUBLISHED.glob("*/paper.yaml"))
            faults = check_papers(project.PUBLISHED)
        faults += project.repository_faults(folders)
    for fault in faults:
        echo(fault)
    if faults:
        raise typer.Exit(2)
    papers = {folder.name: load_paper(folder) for folder in folders}
    number = pluralise(len([*all_artefacts(papers)]), "artefact")
    echo(f"{', '.join(papers)}: records and published values of {number} agree.")
