"""Overhead of the workflow: planning, listing results, starting jobs.

Run ``python bench/workflow.py [--targets embedded]``. The project is copied to a temporary folder,
so existing results are not changed. The script prints seconds (the best of three runs, since other
load only adds to them), and the share of CPU time that jobs spent on their work according to the
receipts, instead of on starting Python and importing libraries.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = ("Snakefile", "config.yaml", "envs", "profiles", "published", "src", "workflow")
CORES = 2
LIST = ("everycell", "list", "--format", "json")


def seconds(folder, *command):
    """Wall time and output of a command in a copy of the project."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": str(folder / "src")}
    # Otherwise every process would compile byte code, unlike an installed copy.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    wall_time = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}")
    return wall_time, done.stdout


def best_time(folder, *command):
    """Shortest wall time of three runs of a command."""
    return min(seconds(folder, *command)[0] for _ in range(3))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--targets", nargs="+", default=["embedded"], help="targets to build")
    targets = parser.parse_args().targets
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in PARTS:
            source = ROOT / part
            if source.is_dir() and not source.is_symlink():
                shutil.copytree(source, folder / part)
            else:
                shutil.copy2(source, folder / part, follow_symlinks=False)
        # The first run compiles the byte code of the copy.
        seconds(folder, "snakemake", "-n", "all")
        print(f"dry run of all targets      {best_time(folder, 'snakemake', '-n', 'all'):6.2f} s")
        print(f"list without results        {best_time(folder, *LIST):6.2f} s")
        built, _ = seconds(folder, "snakemake", "--cores", str(CORES), *targets)
        print(f"{' '.join(targets)} from clean         {built:6.2f} s")
        print(f"nothing to do               {best_time(folder, 'snakemake', *targets):6.2f} s")
        print(f"list with results           {best_time(folder, *LIST):6.2f} s")
        receipts = list((folder / "results").rglob("*.receipt.json"))
        work = sum(json.loads(path.read_text())["execution"]["seconds"] for path in receipts)
        jobs = 0.0
        for path in (folder / "benchmarks").rglob("*.tsv"):
            header, *rows = (line.split("\t") for line in path.read_text().splitlines())
            jobs += sum(float(row[header.index("s")]) for row in rows)
        print(
            f"work in {len(receipts)} results           {work:6.2f} s of {jobs:.2f} s in jobs: "
            f"{work / jobs:.0%}; of {CORES} x {built:.2f} s: {work / (CORES * built):.0%}"
        )


if __name__ == "__main__":
    main()
