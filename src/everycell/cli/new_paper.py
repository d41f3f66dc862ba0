"""`everycell new-paper`: the files of a user's own paper, which run as they are."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from everycell.cli import project
from everycell.cli.data import MADE_UP
from everycell.cli.project import errors_as_sentences
from everycell.config import read_config
from everycell.engine.printed_cells import CardError
from everycell.engine.tiers import TIERS

#: Line of the Snakefile above which chapters are listed.
LAST = 'include: "workflow/rules/data.smk"\n'


def new_paper(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Author and year, as smith2026: a-z, then 0-9.")
    ],
    yes: Annotated[
        bool, typer.Option("--yes", help="Add the line to the Snakefile without asking.")
    ] = False,
) -> None:
    """Make a small paper that runs as it is: card, printed cells, rule, script, settings, data.

    Its table is rebuilt from two TREC runs and judgements, made up until `everycell add-data KEY
    FILE --as first.run --replace` puts yours in their place. Nothing that is there is overwritten.
    """
    from everycell.cli.new_paper_files import EXAMPLES, FILES
    from everycell.config import Config
    from everycell.sources.additions import add_file

    line = f'include: "workflow/rules/{key}/ch1.smk"\n'
    with errors_as_sentences():
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
            raise CardError(
                f"{key!r} is not a key; write small letters, then a year, as smith2026."
            )
        names = {"key": key, "set": f"{key}-data"}
        files = {
            Path(Template(path).substitute(names)): Template(content).substitute(names)
            for path, content in FILES.items()
        }
        if there := [path for path in files if path.exists()]:
            raise CardError(f"{there[0]} is there already; remove it, or choose another key.")
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
        added = _add_line(Path("Snakefile"), line, yes=yes)
    if not added:
        typer.echo(
            "\nAdd this line to the Snakefile, above that of data.smk, or let `everycell new-paper "
            f"{key} --yes` add it:\n\n{line}"
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
    asked = sys.stdin.isatty() and not yes
    if not yes and not (asked and typer.confirm(f"Add {line.strip()} to the Snakefile?")):
        return False
    snakefile.write_text(text.replace(LAST, line + LAST), encoding="utf-8")
    typer.echo(f"Snakefile: {line.strip()}")
    return True
