"""Runs that are killed at moments that a seed draws, and clocks that jump."""

import os
import random
import signal
import time

import psutil
import pytest
from workflow.project import Project

#: Quick results of three papers: audits, agreement, correlations of simulated ratings.
TARGETS = [
    f"results/embedded/{name}.verdicts.json"
    for name in ("sakai2023/table_1", "sakai2023/table_2", "lajewska2025/table_4_8")
]
SEED = 18
DAY = 24 * 3600


def kill_at(project: Project, seconds: float, whole_group: bool) -> bool:
    """Start the build, and kill it after some seconds; return whether it was still at work."""
    process = project.start("snakemake", *TARGETS)
    started = psutil.Process(process.pid)
    try:
        time.sleep(seconds)
        at_work = process.poll() is None
        jobs = started.children(recursive=True) if at_work else []
        if whole_group:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            # Its jobs live on for a moment, as orphans.
            process.kill()
        process.communicate(timeout=60)
        _, alive = psutil.wait_procs(jobs, timeout=30)
        assert not alive, "a job outlived its Snakemake"
    except (ProcessLookupError, psutil.NoSuchProcess):
        process.communicate()
        return False
    return at_work


def file_hashes(project: Project) -> dict[str, str]:
    """Hashes of the results, without the hidden files of a write that was killed."""
    return {
        name: digest
        for name, digest in project.hashes().items()
        if not name.rpartition("/")[2].startswith(".")
    }


@pytest.mark.fault("killed_run")
@pytest.mark.slow
def test_build_after_random_kills(tree, clean, tmp_path, pytestconfig, record_property):
    kills = pytestconfig.getoption("--kills")
    undisturbed = tree.copy_to(tmp_path / "undisturbed")
    start = time.monotonic()
    undisturbed.build(*TARGETS)
    length = time.monotonic() - start
    draw = random.Random(SEED)
    hits = 0
    for number in range(kills):
        # Start again now and then, since later kills would otherwise hit a finished run.
        project = tree.copy_to(tmp_path / f"killed_{number}")
        hits += kill_at(project, draw.uniform(0.2, 0.95) * length, whole_group=number % 2 == 0)
        checked = project.everycell("verify")
        assert "Traceback" not in checked.stdout, checked.stdout
        assert project.snakemake("--unlock", *TARGETS).returncode == 0
        project.build(*TARGETS)
        assert file_hashes(project) == file_hashes(undisturbed), f"kill {number} of seed {SEED}"
        assert project.planned(*TARGETS) == {}
    record_property("times", hits)
    # On a machine that got faster meanwhile a run may end before its kill; not all of them do.
    assert hits > 0


@pytest.mark.fault("clock")
@pytest.mark.parametrize("jump", [-DAY, DAY])
def test_build_after_clock_jump(rebuilt, jump):
    """All that was made so far stems from tomorrow, or from yesterday."""
    before = rebuilt.hashes()
    for name in ("results", "work", ".snakemake"):
        for path in (rebuilt.folder / name).rglob("*"):
            if path.is_file() and not path.is_symlink() and path.stat().st_nlink == 1:
                at = path.stat().st_mtime + jump
                os.utime(path, (at, at))
    assert rebuilt.everycell("verify").returncode == 0
    rebuilt.build(*TARGETS)
    assert rebuilt.planned(*TARGETS) == {}
    assert rebuilt.hashes() == before
