"""Command line: make results and look at them, checks that CI runs, measures of other runs.

A command's module is imported only when the command is called, so that printing a version loads
nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from everycell import __version__

#: Module of this package and name of each command or group, in the order of the help.
COMMANDS = {
    "make": "making:make",
    "list": "results:list_",
    "show": "showing:show",
    "summary": "summing:summary",
    "verify": "checks:verify",
    "diff": "checks:diff",
    "crate": "checks:crate",
    "doctor": "machine:doctor",
    "page": "results:page",
    "check-verdicts": "checks:check_verdicts",
    "fetch": "data:fetch",
    "fetch-corpus": "converting:fetch_corpus",
    "convert-corpus": "converting:convert_corpus",
    "convert-weights": "converting:convert_weights",
    "new-paper": "new_paper:new_paper",
    "add-data": "data:add_data",
    "count-terms": "measures:count_terms_",
    "fairness": "measures:fairness",
    "overlap": "measures:overlap",
    "compare": "measures:compare",
    "interpolate": "interpolating:interpolate",
    "rerank-fair": "reranking:rerank_fair",
    "explain": "explaining:explain",
    "cite-check": "citing:cite_check",
    "citations": "answers:citations",
    "satisfaction": "answers:satisfaction",
}


class LazyCommands(Mapping[str, Any]):
    """Commands by name; the module of a command is imported when it is called."""

    def __getitem__(self, name: str) -> Any:  # noqa: D105
        module, attribute = COMMANDS[name].split(":")
        found = getattr(import_module(f"{__name__}.{module}"), attribute)
        if isinstance(found, typer.Typer):
            command: Any = get_command(found)
        else:
            single = typer.Typer(add_completion=False)
            single.command(name, cls=getattr(found, "command_class", None))(found)
            command = get_command(single)
        command.name = name
        return command

    def __iter__(self) -> Iterator[str]:  # noqa: D105
        return iter(COMMANDS)

    def __len__(self) -> int:  # noqa: D105
        return len(COMMANDS)


class Commands(TyperGroup):
    """The group of all commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = LazyCommands()  # type: ignore[assignment]


app = typer.Typer(
    cls=Commands,
    help="Rebuild tables and figures, and look at them. Run it in the project folder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"everycell {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Print it."),
    ] = False,
) -> None:
    pass
