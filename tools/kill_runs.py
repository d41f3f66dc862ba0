"""Kill `make reproduce` at random moments, resume it, and compare the results.

    python tools/kill_runs.py --kills 20 --target sakai2023

It runs in clones of the last commit in a temporary folder, with the environment of this checkout.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

REPOSITORY = Path(__file__).absolute().parents[1]
#: Time, memory, host and date of a run, in receipts and on the page.
RUN = re.compile(rb'"execution": \{[^{}]*\}|(?:<br>Took |"seconds">)[0-9.]+ s')


def git(*arguments: str | Path) -> str:
    """Output of git in this checkout."""
    command = ["git", "-C", REPOSITORY, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def clone(folder: Path, commit: str) -> Path:
    """Clone a commit into a folder, with a link to the environment of this checkout."""
    git("clone", "--quiet", "--shared", "--no-checkout", REPOSITORY, folder)
    git("-C", folder, "checkout", "--quiet", "--detach", commit)
    (folder / ".venv").symlink_to(REPOSITORY / ".venv")
    return folder


def start(folder: Path, *command: str) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own; what was fetched before is the mirror."""
    mirror = os.environ.get("EVERYCELL_MIRROR", str(REPOSITORY / "resources"))
    return subprocess.Popen(
        command,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder / "src"), "EVERYCELL_MIRROR": mirror},
        stdout=(folder / "run.txt").open("wb"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def run(folder: Path, *command: str) -> None:
    """Run a command to its end; if it fails, exit with what it printed."""
    if start(folder, *command).wait():
        sys.exit((folder / "run.txt").read_text(encoding="utf-8"))


def kill(process: subprocess.Popen[bytes], draw: random.Random) -> str:
    """Kill a whole run, or its Snakemake, or a job; return which, or "" if the run had ended."""
    kills_all = draw.random() < 0.5
    try:
        processes = psutil.Process(process.pid).children(recursive=True)
        if kills_all:
            os.killpg(process.pid, signal.SIGKILL)
            return "all processes"
        victims = [
            one for one in processes if any("snakemake" in word for word in one.cmdline()[:4])
        ]
        victim = draw.choice(victims)
        name = " ".join(Path(word).name for word in victim.cmdline()[:3])
        victim.kill()
    except (IndexError, ProcessLookupError, psutil.NoSuchProcess):
        return ""
    # Jobs without Snakemake end by themselves, and Snakemake ends if it has lost a job.
    _, alive = psutil.wait_procs(processes, timeout=600)
    if alive:
        sys.exit(f"After a kill of {name}, still running: {alive}")
    return name


def file_hashes(folder: Path) -> dict[str, str]:
    """Hashes of the results, without hidden files that a kill leaves and facts about the run."""
    results = folder / "results"
    return {
        path.relative_to(results).as_posix(): hashlib.sha256(
            RUN.sub(b"", path.read_bytes())
        ).hexdigest()
        for path in sorted(results.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def main() -> None:
    """Parse the options, kill runs, and exit with 1 if results differ or no kill hit a run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", default="", help="as for make reproduce")
    parser.add_argument("--kills", type=int, default=20, help="number of kills (20)")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    commit = git("rev-parse", "HEAD")
    print(f"seed {options.seed}, commit {commit}", flush=True)
    draw = random.Random(options.seed)
    # Without installing anything.
    command = ("make", "--old-file=setup", "reproduce", f"TARGET={options.target}")
    with tempfile.TemporaryDirectory() as temporary:
        undisturbed = clone(Path(temporary, "undisturbed"), commit)
        began = time.monotonic()
        run(undisturbed, *command)
        length, expected = time.monotonic() - began, file_hashes(undisturbed)
        print(f"undisturbed: {len(expected)} files in {length:.0f} s", flush=True)
        folder, hits = clone(Path(temporary, "0"), commit), 0
        for number in range(1, options.kills + 1):
            process = start(folder, *command)
            moment = draw.uniform(0, length)
            time.sleep(moment)
            killed = kill(process, draw)
            process.wait()
            hits += bool(killed)
            print(f"{number}: {moment:.1f} s, {killed or 'the run had ended'}", flush=True)
            run(folder, ".venv/bin/everycell", "make", "--unlock")
            # Half of the kills hit a run that has been killed before.
            if number < options.kills and killed and draw.random() < 0.5:
                continue
            run(folder, *command)
            results = file_hashes(folder)
            if different := [
                name
                for name in sorted({*results, *expected})
                if results.get(name) != expected.get(name)
            ]:
                sys.exit(f"After kill {number} of seed {options.seed}: {different}")
            folder = clone(Path(temporary, str(number)), commit)
    print(f"{hits} of {options.kills} kills hit a run; all results are the same")
    sys.exit(not hits)


if __name__ == "__main__":
    main()
