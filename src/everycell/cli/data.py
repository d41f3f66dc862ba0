"""Released files: fetched into the cache, or added to the registry of a user's own paper."""

from __future__ import annotations

import re
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from everycell.cli import project
from everycell.cli.project import errors_as_sentences
from everycell.config import read_config

#: What a new paper says about its data, until its made-up files are replaced.
MADE_UP = "made-up files to begin with"


def fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets or files of the registry.")],
) -> None:
    """Fetch released data into the cache, which can then serve as a mirror elsewhere."""
    from everycell import sources
    from everycell.engine.registry import load_registry

    with errors_as_sentences():
        settings = read_config(Path("config.yaml"))
        registry = load_registry()
        for name in names:
            keys = registry.keys(name) if "/" not in name else [name]
            for key in keys:
                path = sources.fetch(
                    key,
                    Path(settings.cache),
                    mirror=settings.mirror_folder(),
                    network=settings.network,
                )
                typer.echo(path)


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
    """Fetch a file once, and write its place and hash into the paper's registry.yaml."""
    from everycell.engine.artefacts import read_card_file
    from everycell.engine.cards import PaperFile
    from everycell.sources.additions import add_file

    # As after Ctrl-C, what was half fetched is removed.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    with errors_as_sentences():
        project.papers()
        settings = read_config(Path("config.yaml"))
        set_name = set_name or f"{re.sub('[^a-z0-9-]', '-', paper.lower())}-data"
        about = project.PUBLISHED / paper / "paper.yaml"
        facts: dict[str, object] = {}
        if about.is_file() and not _is_described(paper, set_name):
            written = read_card_file(about, PaperFile)
            facts = {"authors": written.authors, "paper": written.title, "licence": "none stated"}
        given = {"authors": authors, "licence": licence, "feeds": feeds}
        key = add_file(
            project.ROOT,
            paper,
            source,
            cache=Path(settings.cache),
            set_name=set_name,
            name=name,
            facts=facts | {field: value for field, value in given.items() if value},
            replace=replace,
        )
    typer.echo(f"{project.PUBLISHED / paper / 'registry.yaml'} has {key}.")
    typer.echo(f'A rule reads it by resource("{key}").')
    if re.search(r"github(usercontent)?\.com/.*/(main|master)/", source):
        typer.echo(
            "The URL follows a branch, so its file may change: one with the hash of a commit stays."
        )
    if not source.startswith(("http://", "https://")):
        typer.echo(f"Others need the file too: give them {Path(settings.cache) / key} as a mirror.")


def _is_described(paper: str, set_name: str) -> bool:
    """Whether the registry of a paper names the authors of a set."""
    from everycell.engine.registry import read_part

    path = project.PUBLISHED / paper / "registry.yaml"
    known = read_part(path).sets if path.exists() else {}
    return set_name in known and known[set_name].paper != MADE_UP
