"""A paper of one's own: `everycell paper new` and `add-data`."""

from __future__ import annotations

import re
import signal
import sys
import tempfile
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from everycell.cli import project
from everycell.config import read_config
from everycell.engine.published_cells import CardError
from everycell.engine.tiers import TIERS

#: Line of the Snakefile above which chapters are listed.
LAST = "include: FINISH\n"
#: Description of a new paper's data, until its made-up files are replaced.
MADE_UP = "made-up files to begin with"


def new(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Author and year, as smith2026: a-z, then 0-9.")
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Add the line to the Snakefile without asking.")
    ] = False,
) -> None:
    """Make the files of a small paper, which run as they are.

    They are a record, published values, a rule, a script, settings and data. The data are two TREC
    runs and qrels, made up until `everycell paper add-data KEY FILE --as first.run --replace` puts
    yours in their place. No existing file is overwritten.
    """
    from everycell.cli.paper_files import EXAMPLES, FILES
    from everycell.config import Config
    from everycell.sources.additions import add_file

    line = f'include: "workflow/rules/{key}/ch1.smk"\n'
    known = project.papers()
    if key in known and key in project.rules_left_out(project.ROOT):
        if _add_line(Path("Snakefile"), line, yes=yes):
            return
        raise CardError(
            f"The files of {key} are there, but {project.left_out_sentence(key)} With --yes "
            "this command adds it."
        )
    if key in known or key in Config.model_fields or key in (*TIERS, "all"):
        raise CardError(f"The key {key} is taken; choose another one, such as smith2026b.")
    # Without a year it might be a keyword of Python, or the name of a rule such as `page`.
    if not re.fullmatch(r"[a-z]+[0-9]+[a-z]?", key):
        raise CardError(f"{key!r} is not a key; write small letters, then a year, as smith2026.")
    names = {"key": key, "set": f"{key}-data"}
    files = {
        Path(Template(path).substitute(names)): Template(content).substitute(names)
        for path, content in FILES.items()
    }
    for path in files:
        project.refuse_existing(path)
    cache = Path(read_config(Path("config.yaml")).cache)
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
        typer.echo(f"{path}")
    facts = {
        "authors": "N. N.",
        "paper": MADE_UP,
        "licence": "none stated",
        "feeds": [f"{key}/table_1"],
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, content in EXAMPLES.items():
            source = Path(folder) / name
            source.write_text(content, encoding="utf-8")
            add_file(
                project.ROOT,
                key,
                str(source),
                cache=cache,
                set_name=names["set"],
                facts=facts,
                replace=True,
            )
    typer.echo(f"published/{key}/registry.yaml")
    if not _add_line(Path("Snakefile"), line, yes=yes):
        typer.echo(
            "\nAdd this line to the Snakefile, above `include: FINISH`, or let "
            f"`everycell paper new {key} --yes` add it:\n\n{line}"
        )
    typer.echo(f"Next: everycell make {key}, then everycell show {key}/table_1; see")
    typer.echo("docs/your-own-paper.md for how to put your own files and numbers in.")


def _add_line(snakefile: Path, line: str, *, yes: bool) -> bool:
    """Add a chapter to the Snakefile if the user agrees; return whether it is there."""
    text = snakefile.read_text(encoding="utf-8")
    if line in text:
        return True
    if text.count(LAST) != 1:
        return False
    question = f"Add {line.strip()} to the Snakefile?"
    if not yes and not (sys.stdin.isatty() and typer.confirm(question)):
        return False
    snakefile.write_text(text.replace(LAST, line + LAST), encoding="utf-8")
    typer.echo(f"Snakefile: {line.strip()}")
    return True


def add_data(
    paper: Annotated[str, typer.Argument(metavar="KEY", help="Paper that the file belongs to.")],
    source: Annotated[
        str, typer.Argument(metavar="URL", help="Where the file is: a URL, or a path here.")
    ],
    set_name: Annotated[
        str | None, typer.Option("--set", help="Data set that it belongs to; by default KEY-data.")
    ] = None,
    name: Annotated[
        str | None, typer.Option("--as", help="Its name in the set; by default its own name.")
    ] = None,
    authors: Annotated[
        str | None, typer.Option(help="For a new set: who made it; by default the paper's authors.")
    ] = None,
    licence: Annotated[
        str | None, typer.Option(help="For a new set, such as CC-BY-4.0; by default 'none stated'.")
    ] = None,
    feeds: Annotated[
        list[str] | None,
        typer.Option(
            help="For a new set: artefacts made from it, as KEY/table_1; may be repeated."
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace an existing file of that name.")
    ] = False,
) -> None:
    """Fetch a file, and add its address and hash to registry.yaml."""
    from everycell.engine.artefacts import read_card_file
    from everycell.engine.cards import PaperFile
    from everycell.engine.registry import read_part
    from everycell.sources.additions import add_file

    # As after Ctrl-C, an incomplete download is removed.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    project.papers()
    cache = Path(read_config(Path("config.yaml")).cache)
    set_name = set_name or f"{re.sub('[^a-z0-9-]', '-', paper.lower())}-data"
    folder = project.PUBLISHED / paper
    registry = folder / "registry.yaml"
    sets = read_part(registry).sets if registry.exists() else {}
    facts: dict[str, object] = {}
    if (folder / "paper.yaml").is_file() and (
        set_name not in sets or sets[set_name].paper == MADE_UP
    ):
        described = read_card_file(folder / "paper.yaml", PaperFile)
        facts = {"authors": described.authors, "paper": described.title, "licence": "none stated"}
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
    typer.echo(f"{registry} has {key}.")
    typer.echo(f'A rule reads it by resource("{key}").')
    if re.search(r"github(usercontent)?\.com/.*/(main|master)/", source):
        typer.echo(
            "The URL follows a branch, so its file may change: one with the hash of a commit stays."
        )
    if not source.startswith(("http://", "https://")):
        typer.echo(f"Others need the file too: give them {cache / key} as a mirror.")
