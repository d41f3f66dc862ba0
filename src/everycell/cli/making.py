"""`everycell make`: make results with Snakemake, by any of their names."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from everycell.base.settings import read_settings
from everycell.cli import project
from everycell.cli.names import Names, Selection
from everycell.cli.printing import echo
from everycell.cli.project import (
    cache_home,
    can_be_run,
    can_write,
    not_included_message,
    papers_not_included,
)
from everycell.records.cells import RecordError
from everycell.records.folders import Tier
from everycell.records.papers import Artefact, Paper, all_artefacts
from everycell.records.registry import read_part
from everycell.render.vocabulary import section_and_page

#: Tiers that need neither a GPU nor hours; a name without a tier refers to these.
QUICK_TIERS: tuple[Tier, ...] = ("embedded", "released")
#: Folders whose files can be requested by their paths.
FOLDERS = ("results/", "resources/", "work/")
#: Suffixes of the files to request for a result.
SUFFIXES = (".verdicts.json", ".csv", ".receipt.json")
#: Start of Snakemake, whose import takes seconds: until then, Ctrl-C would show a traceback.
_START = """
import os, signal
default = signal.getsignal(signal.SIGINT)
if default is signal.default_int_handler:
    def stop(number, frame):
        os.write(2, b"Stopped; run the same command again to resume.\\n")
        os._exit(128 + number)
    signal.signal(signal.SIGINT, stop)
from snakemake.cli import main
signal.signal(signal.SIGINT, default)
main()
"""
#: State without a rule -> reason.
REASONS = {
    "not run": "no rule yet; needs {needs}",
    "quoted": "quoted and not computed. See {source} of the {kind}: {title}.",
    "drawing": "a drawing without data. See {source} of the {kind}: {title}.",
}


class SnakemakeCommand(TyperCommand):
    """Command that passes all arguments after ``--`` to Snakemake."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments before ``--``, and keep the others."""
        cut = args.index("--") if "--" in args else len(args)
        ctx.meta["snakemake"] = args[cut + 1 :]
        return super().parse_args(ctx, args[:cut])


def make(
    ctx: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Papers, chapters, artefacts, tiers or files below results/, in any spelling: "
            "lajewska2025, lajewska2025_ch4, 'Table 4.8'. Default: the Snakefile's default target.",
        ),
    ] = None,
    cores: Annotated[
        str | None, typer.Option(help="Number of cores, or all; 2 in the default profile.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "-n", help="Show what would be made, without making it.")
    ] = False,
    unlock: Annotated[
        bool, typer.Option("--unlock", help="Unlock the folder after a run was killed.")
    ] = False,
) -> None:
    """Make results with Snakemake.

    Arguments after -- are passed to Snakemake, and the exit code is Snakemake's. For names without
    a rule, the reason is reported; if no name has a rule, nothing is run and the exit code is 1.
    """
    if unlock or "--unlock" in ctx.meta["snakemake"]:
        options = [option for option in ctx.meta["snakemake"] if option != "--unlock"]
        raise typer.Exit(run_snakemake(["--unlock", *options]))
    papers = project.papers()
    # Snakemake would show where its own code met a fault of these files.
    for registry in sorted((project.ROOT / project.PUBLISHED).glob("*/registry.yaml")):
        read_part(registry)
    if (settings := project.ROOT / "config.yaml").is_file():
        read_settings(settings)
    if cores is not None and cores != "all" and not (cores.isdigit() and int(cores)):
        raise RecordError(f"--cores is {cores!r}; expected a positive integer or 'all'.")
    request = plan(papers, names) if names else Plan([], [], list(papers))
    if not_included := [key for key in papers_not_included(project.ROOT) if key in request.papers]:
        raise RecordError(not_included_message(not_included[0]))
    if not names:
        more = _more_than_default(papers)
        echo(f"everycell: making the default target of the Snakefile{more}.", err=True)
    for sentence in request.reasons:
        echo(f"everycell: {sentence}", err=True)
    if names and not request.targets:
        raise typer.Exit(1)
    options = ["--cores", cores] if cores else []
    if dry_run:
        # Without the description of the machine, and why each job runs.
        options += ["--quiet", "host", "reason", "-n"]
    code = run_snakemake([*options, *request.targets, *ctx.meta["snakemake"]])
    if code == 0 and request.papers and not dry_run:
        from everycell.cli.results import print_outcomes, print_summary

        if request.artefacts:
            print_outcomes(papers, request.artefacts)
        else:
            print_summary({key: papers[key] for key in request.papers}, request.chapters)
    raise typer.Exit(code)


def _more_than_default(papers: Mapping[str, Paper]) -> str:
    """What `everycell make all` makes besides the default target of a project with such results."""
    records = [artefact.record for artefact in all_artefacts(papers)]
    has_more = any(
        tier.state == "surrogate" or name == "full"
        for record in records
        for name, tier in record.tiers.items()
    )
    text = (
        "; `everycell make all` also makes the results on surrogate data, and those that need "
        "hours or large data"
    )
    return text if has_more else ""


make.command_class = SnakemakeCommand  # type: ignore[attr-defined]


def run_snakemake(arguments: Sequence[str]) -> int:
    """Run Snakemake with this environment's tools first on the path; return the exit code.

    SIGTERM and Ctrl-C are forwarded. SIGHUP is forwarded as SIGTERM, because SIGHUP would kill
    Snakemake and leave its jobs running. The function waits until Snakemake has ended its jobs.
    """
    if find_spec("snakemake") is None:
        raise ModuleNotFoundError(name="snakemake")
    if not can_write(home := cache_home()):
        echo(
            f"everycell: {home} is not writable, and Snakemake needs it for its cache; set "
            "XDG_CACHE_HOME to a writable folder.",
            err=True,
        )
        return 2
    own_folder = project.ROOT / ".snakemake"
    own_folder = own_folder if own_folder.exists() else project.ROOT
    if not os.access(own_folder, os.W_OK | os.X_OK):
        echo(
            f"everycell: {own_folder.absolute()} cannot be written, and Snakemake keeps its "
            "records there; run it in a copy of the project, or correct the permissions.",
            err=True,
        )
        return 2
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    process: subprocess.Popen[bytes] | None = None
    is_ending = False

    def end(number: int, _: Any) -> None:
        nonlocal is_ending
        is_ending = True
        if process is not None:
            process.terminate()

    # Signals that a caller such as nohup ignores stay ignored.
    forwarded_signals = [
        number
        for number in (signal.SIGTERM, signal.SIGHUP)
        if signal.getsignal(number) is not signal.SIG_IGN
    ]
    handlers = {number: signal.signal(number, end) for number in forwarded_signals}
    # Snakemake says that it stops.
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        handlers[signal.SIGINT] = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _START, *arguments], env=os.environ | {"PATH": path}
        )
        # A signal may arrive before the process exists.
        if is_ending:
            process.terminate()
        # An interrupt at the end of the process may lose its exit code, which then reads as 0.
        interrupted = 0
        while True:
            try:
                # Like a shell, return 128 + N if signal N ended the process.
                code = process.wait()
                return (code if code >= 0 else 128 - code) or interrupted
            except KeyboardInterrupt:
                interrupted = 128 + signal.SIGINT
                _forward_interrupt(process)
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def _forward_interrupt(process: subprocess.Popen[bytes]) -> None:
    """Send SIGINT to Snakemake, unless it has received the signal with its process group."""
    if sys.stdin is not None and sys.stdin.isatty():
        return
    try:
        # A second SIGINT would end Snakemake's jobs without their clean-up.
        process.wait(timeout=2)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.send_signal(signal.SIGINT)


@dataclass
class Plan:
    """Targets for Snakemake, and names without a rule."""

    #: Unique targets, in the order of the names.
    targets: list[str]
    #: One sentence per name that has no rule.
    reasons: list[str]
    #: Keys of the targets' papers, in the order of the papers.
    papers: list[str]
    #: Chapters, if no whole papers or tiers were requested.
    chapters: list[str] = field(default_factory=list)
    #: Artefacts and tiers, if no chapters or files were requested either.
    artefacts: list[tuple[Artefact, Tier]] = field(default_factory=list)


def plan(papers: Mapping[str, Paper], names: Sequence[str]) -> Plan:
    """Translate names to Snakemake targets."""
    index = Names(papers)
    targets: list[str] = []
    reasons: list[str] = []
    keys: set[str] = set()
    requested: list[tuple[Artefact, Tier]] = []
    kinds: set[str] = set()
    for name in names:
        is_file = name.startswith(FOLDERS) and bool(Path(name).suffix)
        try:
            selection = index.find(name)
        except RecordError:
            # The file may belong to no artefact, such as the page, a run or a trained model.
            if not is_file or name.startswith("results/") and name.count("/") == 3:
                raise
            targets.append(name)
            kinds.add("file")
            continue
        artefacts = [artefact for artefact in all_artefacts(papers) if selection.has(artefact)]
        if targets_of_name := _targets(selection, artefacts):
            targets += [name] if is_file else targets_of_name
            keys |= {artefact.paper for artefact in artefacts}
            kinds.add(selection.kind)
            requested += _with_rule(selection, artefacts)
        else:
            reasons.append(_reason(selection, artefacts, papers))
    chapters = dict.fromkeys(f"{artefact.paper}_ch{artefact.chapter}" for artefact, _ in requested)
    return Plan(
        list(dict.fromkeys(targets)),
        reasons,
        [key for key in papers if key in keys],
        [] if kinds & {"paper", "tier", "all"} else list(chapters),
        requested if kinds == {"artefact"} else [],
    )


def _targets(selection: Selection, artefacts: Sequence[Artefact]) -> list[str]:
    """Targets of a selection; none if nothing in it has a rule."""
    if selection.kind in ("tier", "all"):
        return [str(selection)]
    with_rule = _with_rule(selection, artefacts)
    if selection.tier in QUICK_TIERS:
        # Snakemake does not notice that a result was deleted if its verdicts still exist.
        return [
            f"results/{tier}/{artefact.id}{suffix}"
            for artefact, tier in with_rule
            for suffix in SUFFIXES
        ]
    target = f"full_{selection.target}" if selection.tier else selection.target
    return [target] if with_rule else []


def _with_rule(selection: Selection, artefacts: Sequence[Artefact]) -> list[tuple[Artefact, Tier]]:
    """Artefacts and tiers of a selection that have a rule."""
    tiers = QUICK_TIERS if selection.tier is None else (selection.tier,)
    return [
        (artefact, tier) for artefact in artefacts for tier in tiers if _has_rule(artefact, tier)
    ]


def _has_rule(artefact: Artefact, tier: Tier) -> bool:
    return tier in artefact.record.tiers and can_be_run(artefact, tier)


def _reason(
    selection: Selection, artefacts: Sequence[Artefact], papers: Mapping[str, Paper]
) -> str:
    """Explain why nothing can be made for a selection, and where the paper has it."""
    tier = selection.tier
    if tier is None and any(_has_rule(artefact, "full") for artefact in artefacts):
        return (
            f"{selection} has a rule only in the full tier, which takes hours and needs settings "
            f"in config.yaml; make it with `everycell make full_{selection.target}`."
        )
    if selection.kind != "artefact":
        of_tier = f" in the tier {tier}" if tier else ""
        return (
            f"{selection}: none of its artefacts has a rule yet{of_tier}; "
            f"`everycell show {selection}` lists what each of them needs."
        )
    record = artefacts[0].record
    if tier is not None and tier not in record.tiers:
        return f"{selection} has no tier {tier}; its record has {', '.join(record.tiers)}."
    reference = {
        "source": section_and_page(record.source),
        "kind": papers[artefacts[0].paper].kind,
        "title": record.title,
    }
    reasons = [
        f"{name}: {REASONS[declared.state].format(needs=_clause(declared.needs), **reference)}"
        for name, declared in record.tiers.items()
        if tier in (None, name)
    ]
    return f"{selection} has no rule. {' '.join(reasons)}"


def _clause(needs: str) -> str:
    """Rewrite the `needs` of a record as the end of a sentence."""
    return needs[0].lower() + " ".join(needs[1:].split()).rstrip(".") + "."
