"""Command line: results of the papers, evaluation of your own files, and your own papers.

The module of a command is imported only when needed, so that `everycell --version` is fast.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from everycell import __version__
from everycell.cli.examples import EXAMPLES

#: Heading in the help -> name of a command -> its module in this package and its function.
HEADINGS = {
    "Your own paper": {"import": "importing.command:import_table", "init": "paper:init"},
    "Results": {
        "make": "making:make",
        "list": "results:list_results",
        "show": "showing:show",
        "why": "why:why",
        "summary": "results:summary",
        "page": "results:page",
        "report": "results:report",
        "deposit": "checks:deposit",
        "debug": "debugging:debug",
    },
    "Checks": {
        "verify": "checks:verify",
        "diff": "checks:diff",
        "check": "checks:check",
        "check-verdicts": "checks:check_verdicts",
        "doctor": "machine:doctor",
    },
}
#: Name of a group of commands -> its help and its commands.
GROUPS = {
    "data": (
        "Fetch data sets and corpora; convert corpora and models.",
        {
            "fetch": "data:fetch",
            "fetch-corpus": "data:fetch_corpus",
            "convert-corpus": "data:convert_corpus",
            "convert-weights": "data:convert_weights",
        },
    ),
    "measure": (
        "Evaluate your own runs, rankings and answers.",
        {
            "count-terms": "measure.bias:count_group_terms",
            "fairness": "measure.bias:fairness",
            "overlap": "measure.bias:overlap",
            "rerank": "measure.runs:rerank",
            "compare": "measure.runs:compare",
            "interpolate": "measure.runs:interpolate",
            "explain": "measure.explain:explain",
            "citations": "measure.answers:citations",
            "cite-check": "measure.answers:cite_check",
            "satisfaction": "measure.answers:satisfaction",
        },
    ),
    "paper": (
        "Add another paper, or data files.",
        {"new": "paper:new", "add-data": "paper:add_data"},
    ),
}
#: Commands that can be called in any folder of a project, since they name no files outside it.
_IN_PROJECT = {"make", "list", "show", "why", "summary", "page"}
#: Possible spelling, such as "fairness" or "new-paper" -> the command to suggest.
_SPELLINGS = (
    {name: name for commands in HEADINGS.values() for name in commands}
    | {"crate": "deposit"}
    | {
        spelling: f"{group} {name}"
        for group, (_, commands) in GROUPS.items()
        for name in commands
        for spelling in (name, f"{name}-{group}")
    }
)


class Command(TyperCommand):
    """Command that reports all missing arguments and options at once."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as Typer does, but report all missing parameters, not only the first."""
        values, _, _ = self.make_parser(ctx).parse_args(args=[*args])
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            missing: list[Any] = [
                parameter
                for parameter in self.get_params(ctx)
                if parameter.required and not values.get(parameter.name)
            ]
            if len(missing) < 2 or error.param not in missing:
                raise
            names = ", ".join(parameter.get_error_hint() for parameter in missing)
            return ctx.fail(f"Missing: {names}.")


class LazyCommands(Mapping[str, Any]):
    """Commands by name; the module of a command is imported when it is looked up."""

    def __init__(
        self, commands: Mapping[str, Any], headings: Mapping[str, str], group: str = ""
    ) -> None:
        self._commands, self._headings = commands, headings
        self._group = f"{group} " * bool(group)

    def __getitem__(self, name: str) -> Any:  # noqa: D105
        if not isinstance(command := self._commands[name], str):
            return command
        from everycell.cli.project import find_project, report_errors

        module, function = command.split(":")
        run = getattr(import_module(f"{__name__}.{module}"), function)
        single = typer.Typer(add_completion=False)
        kind = getattr(run, "command_class", Command)
        if name in _IN_PROJECT:
            run = find_project(run)
        single.command(
            name,
            cls=kind,
            rich_help_panel=self._headings.get(name),
            # Typer would keep the line breaks of the docstring, and break lines again.
            help="\n\n".join(" ".join(part.split()) for part in _paragraphs(run)),
            epilog="\n\n".join(["Examples:", *EXAMPLES[f"{self._group}{name}"]]),
        )(report_errors(run))
        return _with_short_choices(get_command(single))

    def __iter__(self) -> Iterator[str]:  # noqa: D105
        return iter(self._commands)

    def __len__(self) -> int:  # noqa: D105
        return len(self._commands)


def _paragraphs(function: Any) -> list[str]:
    return str(function.__doc__ or "").split("\n\n")


def _with_short_choices(command: Any) -> Any:
    """List many choices of an option in its description, which would otherwise be a thin column."""
    for parameter in command.params:
        annotation = parameter.type_descriptor.annotation
        choices = get_args(annotation) if get_origin(annotation) is Literal else ()
        if len("|".join(choices)) > len("table|csv|json|tex"):
            parameter.metavar = parameter.name.upper()
            parameter.help = f"{parameter.help} One of {', '.join(choices)}."
    return command


class Commands(TyperGroup):
    """Group of commands; the top-level group if it is created without commands."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        if not self.commands:
            self.commands = _all_commands()  # type: ignore[assignment]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Look up the command; if it does not exist, suggest similar ones from any group."""
        if args[0] not in self.commands:
            spellings = (
                [args[0]] if args[0] in _SPELLINGS else get_close_matches(args[0], _SPELLINGS)
            )
            names = dict.fromkeys(_SPELLINGS[spelling] for spelling in spellings)
            hint = " or ".join(f"'everycell {name}'" for name in names)
            ctx.fail(f"No such command {args[0]!r}." + f" Did you mean {hint}?" * bool(names))
        return super().resolve_command(ctx, args)


def _all_commands() -> LazyCommands:
    """Top-level commands and groups."""
    headings = {name: heading for heading, commands in HEADINGS.items() for name in commands}
    groups = {
        group: Commands(
            name=group,
            help=text,
            commands=LazyCommands(commands, {}, group),
            no_args_is_help=True,
            rich_help_panel="Command groups",
        )
        for group, (text, commands) in GROUPS.items()
    }
    single = {name: path for commands in HEADINGS.values() for name, path in commands.items()}
    return LazyCommands(single | groups, headings)


app = typer.Typer(
    cls=Commands,
    help="Reproduce tables and figures of papers, and evaluate your own files.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"everycell {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version."
        ),
    ] = False,
) -> None:
    pass
