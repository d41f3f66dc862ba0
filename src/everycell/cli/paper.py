"""Your own papers: `everycell init`, `everycell paper new` and `everycell paper add-data`."""

from __future__ import annotations

import re
import shlex
import signal
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from everycell.base.files import write_atomically
from everycell.cli import project
from everycell.cli.paper_options import (
    GreedyOptions,
    LeaveOutOthers,
    MeanOver,
    Measures,
    Only,
    QrelsOption,
    Rename,
    Runs,
    Script,
    Table,
    Values,
)
from everycell.cli.printing import echo, pluralise
from everycell.config import read_config
from everycell.records.cells import RecordError

if TYPE_CHECKING:
    from everycell.cli.table_sources import TableSource

#: Line of the Snakefile that follows the chapters.
FINISH_LINE = "include: FINISH\n"


def init(
    key: Annotated[
        str,
        typer.Argument(metavar="[KEY]", help="Author and year, such as smith2026: a-z, then 0-9."),
    ] = f"paper{date.today().year}",
    folder: Annotated[
        Path | None, typer.Argument(metavar="[FOLDER]", help="New or empty folder; default: KEY.")
    ] = None,
    runs: Runs = None,
    qrels: QrelsOption = None,
    table: Table = None,
    values: Values = None,
    measures: Measures = None,
    script: Script = None,
    only: Only = None,
    rename: Rename = None,
    mean_over: MeanOver = None,
    leave_out_others: LeaveOutOthers = False,
) -> None:
    """Create a repository for your own paper, ready to run.

    With --runs, --qrels and --table, it evaluates your runs and compares them with the published
    values; with --values and --table, it compares values that you computed. Without these options,
    it has a small example table. Run `snakemake --cores 2` in it to make the results and the page.
    """
    from everycell.cli.new_paper import make_repository, require_key

    require_key(key)
    folder = folder or Path(key)
    source = _table_source(
        runs,
        qrels,
        table,
        values,
        measures,
        script,
        only=only,
        rename=rename,
        mean_over=mean_over,
        leave_out_others=leave_out_others,
    )
    make_repository(folder, key, source)
    echo(f"{folder}: a repository with {pluralise(len(source.cells), 'published value')}.")
    for note in source.notes:
        echo(note)
    echo(f"Next: cd {shlex.quote(str(folder))} && snakemake --cores 2")
    echo(
        "Then open results/index.html in a browser. Before a deposit, fill in paper.yaml, "
        f"registry.yaml and the pages (`source`) in ch1.yaml in published/{key}."
    )


init.command_class = GreedyOptions  # type: ignore[attr-defined]


def new(
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="Author and year, such as smith2026: a-z, then 0-9."),
    ],
    runs: Runs = None,
    qrels: QrelsOption = None,
    table: Table = None,
    values: Values = None,
    measures: Measures = None,
    script: Script = None,
    only: Only = None,
    rename: Rename = None,
    mean_over: MeanOver = None,
    leave_out_others: LeaveOutOthers = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Add the line to the Snakefile without asking.")
    ] = False,
) -> None:
    """Add another paper to this repository; options as for `everycell init`.

    It writes a record, published values, a rule and data, and overwrites nothing. To replace a data
    file later, use `everycell paper add-data KEY FILE --as first.run --replace`.
    """
    from everycell.cli.new_paper import add_paper, require_key

    line = f'include: "workflow/papers/{key}/ch1.smk"\n'
    papers = project.papers()
    cache = Path(read_config(Path("config.yaml")).cache)
    if key in papers and key in project.papers_not_included(project.ROOT):
        if runs or qrels or table or values or measures or script:
            raise RecordError(
                f"The files of {key} already exist; choose another key, or include them in the "
                f"Snakefile with `everycell paper new {key} --yes`."
            )
        if _add_line(Path("Snakefile"), line, cache, yes=yes):
            return
        raise RecordError(
            f"The files of {key} already exist. {project.not_included_message(key)} With --yes, "
            "this command adds it."
        )
    if key in papers:
        raise RecordError(f"The key {key} is taken; choose another, such as smith2026b.")
    require_key(key)
    source = _table_source(
        runs,
        qrels,
        table,
        values,
        measures,
        script,
        only=only,
        rename=rename,
        mean_over=mean_over,
        leave_out_others=leave_out_others,
    )
    for path in add_paper(project.ROOT, key, source, cache=cache):
        echo(f"{path}")
    for note in source.notes:
        echo(note)
    if not _add_line(Path("Snakefile"), line, cache, yes=yes):
        echo("")
        echo(
            "Add this line to the Snakefile, above `include: FINISH`, or let "
            f"`everycell paper new {key} --yes` add it:"
        )
        for text in ("", line.strip(), ""):
            echo(text)
    echo(f"Next: everycell make {key}, then everycell show {key}/table_1.")


new.command_class = GreedyOptions  # type: ignore[attr-defined]


def _table_source(
    runs: list[str] | None,
    qrels: list[str] | None,
    table: Path | None,
    values: list[str] | None,
    measures: list[str] | None,
    script: Path | None,
    *,
    only: list[str] | None,
    rename: list[str] | None,
    mean_over: str | None,
    leave_out_others: bool,
) -> TableSource:
    """Source given by the options of a command, or the example if there are none."""
    from everycell.cli.run_sources import source_from_runs
    from everycell.cli.table_sources import EXAMPLE, source_from_script
    from everycell.cli.value_sources import source_from_values

    options = {
        "--only": only,
        "--rename": rename,
        "--mean-over": mean_over,
        "--leave-out-others": leave_out_others,
    }
    if not values and (option := next(filter(options.get, options), "")):
        raise RecordError(f"{option} applies to --values; add --values, or remove the option.")
    if not (runs or qrels or table or values or measures or script):
        example = [f"{name}={EXAMPLE / name.lower()}.run" for name in ("First", "Second")]
        qrels, table = [str(EXAMPLE / "qrels.txt")], EXAMPLE / "table_1.csv"
        source = source_from_runs(example, qrels, table, ())
        source.title, source.is_example = "Ranking quality of two systems", True
        source.table, source.originals = None, []
        return source
    if table and values and not (runs or qrels or measures or script):
        return source_from_values(
            values,
            table,
            only=only or (),
            renames=rename or (),
            mean_over=mean_over,
            leave_out_others=leave_out_others,
        )
    if table and script and not (runs or qrels or measures or values):
        return source_from_script(script, table)
    if table and runs and qrels and not (values or script):
        return source_from_runs(runs, qrels, table, measures or ())
    if table and values and measures and not (runs or qrels or script):
        raise RecordError(
            "--measures names measures of --runs; with --values, use --rename NAME=PUBLISHED, with "
            f"the name in the values and that in {table}."
        )
    raise RecordError(
        "The options do not describe a table; give --table with --runs and --qrels, with --values, "
        "or with --script."
    )


def _add_line(snakefile: Path, line: str, cache: Path, *, yes: bool) -> bool:
    """Include a chapter in the Snakefile if the user agrees; return whether it is included."""
    text = snakefile.read_text(encoding="utf-8")
    if line in text:
        return True
    if text.count(FINISH_LINE) != 1:
        return False
    question = f"Add {line.strip()} to the Snakefile?"
    if not yes and not (sys.stdin.isatty() and typer.confirm(question)):
        return False
    from everycell.sources.additions import records_lock

    # The file may have changed since the question.
    with records_lock(cache):
        text = snakefile.read_text(encoding="utf-8")
        write_atomically(snakefile, text.replace(FINISH_LINE, line + FINISH_LINE))
    echo(f"Snakefile: {line.strip()}")
    return True


def add_data(
    paper: Annotated[str, typer.Argument(metavar="KEY", help="Paper that the file belongs to.")],
    source: Annotated[str, typer.Argument(metavar="URL", help="URL or local path of the file.")],
    set_name: Annotated[
        str | None, typer.Option("--set", help="Data set of the file; by default KEY-data.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="Name in the data set; by default the file name.")
    ] = None,
    authors: Annotated[
        str | None,
        typer.Option(help="Authors of a new data set; by default the paper's authors."),
    ] = None,
    licence: Annotated[
        str | None,
        typer.Option(
            help="Licence of a new data set, such as CC-BY-4.0, or `none stated`; by default to be "
            "filled in before a deposit."
        ),
    ] = None,
    feeds: Annotated[
        list[str] | None,
        typer.Option(
            help="Artefacts made from a new data set, such as KEY/table_1; may be repeated."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing file of that name.")
    ] = False,
) -> None:
    """Fetch a file, and add its address and hash to registry.yaml."""
    from everycell.base.yaml import read_model
    from everycell.cli.placeholders import EXAMPLE_DATA, PLACEHOLDERS
    from everycell.records.papers import PaperFile
    from everycell.records.registry import read_part
    from everycell.sources.additions import add_file
    from everycell.sources.fetch import OWN_DATA

    # As on Ctrl-C, an incomplete download is removed on SIGTERM.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    project.papers()
    cache = Path(read_config(Path("config.yaml")).cache)
    set_name = set_name or f"{re.sub('[^a-z0-9-]', '-', paper.lower())}-data"
    folder = project.PUBLISHED / paper
    registry = folder / "registry.yaml"
    sets = read_part(registry).sets if registry.exists() else {}
    facts: dict[str, object] = {}
    if (folder / "paper.yaml").is_file() and (
        set_name not in sets or sets[set_name].paper == EXAMPLE_DATA
    ):
        record = read_model(folder / "paper.yaml", PaperFile, RecordError)
        facts = {"authors": record.authors, "paper": record.title}
        facts["licence"] = PLACEHOLDERS["licence"]
    options = {"authors": authors, "licence": licence, "feeds": feeds}
    key = add_file(
        project.ROOT,
        paper,
        source,
        cache=cache,
        set_name=set_name,
        name=name,
        facts=facts | {field: value for field, value in options.items() if value},
        replace=replace,
    )
    echo(f"{registry}: added {key}.")
    echo(f'In a rule, its path is resource("{key}").')
    if re.search(r"github(usercontent)?\.com/.*/(main|master)/", source):
        echo("The URL refers to a branch, so the file may change; use a URL with a commit hash.")
    if not source.startswith(("http://", "https://")):
        if OWN_DATA.is_dir():
            echo(f"In a script, read {OWN_DATA / key}, and add this path to `input:` of its rule.")
            echo(f"Commit {OWN_DATA / key}, so that clones include it.")
        else:
            echo(f"Other users need the file too: give them {cache / key} as a mirror.")
