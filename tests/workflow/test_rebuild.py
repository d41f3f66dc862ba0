"""Builds from clean and again: the same bytes, nothing half-written, and only what must be."""

import os
import random
import re
import signal
import time
from pathlib import Path

import psutil
import pytest
from workflow.other_python import find_python, one_of_each_rule, receipts_from_base_alone
from workflow.project import Project

from everycell.records.papers import load_papers

#: A lexical system and one that reads pairs; for one that encodes, test_ranking_chapter.py does so.
RUNS = ("bm25.STM2", "mtft.tilde.all")
SIMULATED = "results/embedded/lajewska2025/table_4_8"


def test_build_again_does_nothing(built):
    before = {path: path.stat().st_mtime_ns for path in (built.folder / "results").rglob("*")}
    output = built.build()
    assert "Nothing to be done" in output
    after = {path: path.stat().st_mtime_ns for path in (built.folder / "results").rglob("*")}
    assert after == before


def test_planned_other_target(rebuilt):
    target = "sakai2023_table_1"
    assert rebuilt.planned(target) == {}
    # The page shows outdated results without remaking them.
    rebuilt.edit("published/lajewska2025/chC.yaml", "chapter:", "# An edit.\nchapter:")
    assert rebuilt.planned(target) == {"page": 1, target: 1}


@pytest.mark.slow
def test_build_from_clean_same_bytes(built, clean):
    # Another folder, another core count: neither may leave a trace. Of the chapter that ranks,
    # two systems, from the collection to the scores; nothing that rests on its other rankings.
    # Except the results that test_other_python.py builds from scratch.
    elsewhere = one_of_each_rule(receipts_from_base_alone(built)) if find_python() else []
    results = [
        f"results/{name}"
        for name in built.hashes()
        if name.endswith((".verdicts.json", "errata.csv"))
        and "/abolghasemi2026/" not in name
        and "/heuss2025/figure_4_4." not in name
        and f"results/{name}".replace(".verdicts.json", ".receipt.json") not in elsewhere
    ]
    runs = [f"work/concepts/runs/{name}.run" for name in RUNS]
    assert len(results) >= 3
    seed = str(random.randrange(2**32))
    targets = (*runs, *results)
    done = clean.snakemake("--cores", "1", "--verbose", *targets, env={"PYTHONHASHSEED": seed})
    output = done.stdout
    assert done.returncode == 0, output
    # The scheduler selects jobs when one has ended, not every second.
    looks = output.count("Resources before job selection")
    assert 1 < looks <= output.count("Finished jobid") + 1
    for below in ("results", "work"):
        first, second = built.hashes(below), clean.hashes(below)
        # Lucene gives its files random names, so records of jobs that read an index differ.
        result = [name for name in second if not re.search(r"/index/|^\.hashes/", name)]
        assert len(result) > 10
        assert [name for name in result if first[name] != second[name]] == [], seed


def running_jobs(folder: Path) -> bool:
    """Whether the simulation has begun to write its outputs."""
    return any(folder.glob(f"{SIMULATED}.*"))


def stopped_in_the_middle(
    project: Project, number: signal.Signals, *command: str, send=os.killpg, begun=running_jobs
) -> int:
    """Start the simulation, send a signal as soon as it has begun; return the code."""
    process = project.start(*command or ("snakemake",), f"{SIMULATED}.verdicts.json")
    try:
        while not begun(project.folder):
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.01)
        send(process.pid, number)
        process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode != 0
    assert not (project.folder / f"{SIMULATED}.verdicts.json").exists()
    if number != signal.SIGKILL:
        with pytest.raises(ProcessLookupError):
            os.killpg(process.pid, 0)
    return process.returncode


def assert_not_taken_for_finished(project: Project) -> None:
    """Whatever was begun: neither the command line nor the page counts it as a result."""
    listed = project.everycell(
        "list", "lajewska2025/table_4_8", "--format", "json", "--tier", "embedded"
    )
    assert '"state": "not run"' in listed.stdout
    assert "table_4_8.receipt.json is missing;" in listed.stdout


def assert_like(project: Project, built: Project) -> None:
    """The result, under its names; a kill may leave a hidden file that was being written."""
    result, expected = (
        {name: digest for name, digest in of.hashes().items() if "/table_4_8." in name}
        for of in (project, built)
    )
    assert len(result) > 5 and result == expected


@pytest.mark.fault("interrupted_run")
@pytest.mark.slow
def test_build_after_ctrl_c(built, clean):
    assert stopped_in_the_middle(clean, signal.SIGINT) == 130
    assert_not_taken_for_finished(clean)
    clean.build(f"{SIMULATED}.verdicts.json")
    assert_like(clean, built)


@pytest.mark.fault("interrupted_run")
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_make_signalled(clean, number):
    """A batch system and a closed terminal signal one process, not its group."""
    # Long enough that the job is not done before Snakemake has the signal.
    clean.edit("config.yaml", "    studies: 500\n", "    studies: 3000\n")
    log = SIMULATED.replace("results/", "logs/") + ".log"
    code = stopped_in_the_middle(
        clean,
        number,
        "everycell",
        "make",
        "embedded",
        send=os.kill,
        begun=lambda tree: (tree / log).exists(),
    )
    assert code == 1  # with which Snakemake ends
    assert not any((clean.folder / ".snakemake/locks").glob("*.lock"))


@pytest.mark.fault("killed_job")
@pytest.mark.slow
def test_build_after_killed_job(tree, clean, tmp_path):
    """Only the process of the job is killed, as by the kernel when memory runs out."""
    log = clean.folder / SIMULATED.replace("results/", "logs/")
    process = clean.start("snakemake", f"{SIMULATED}.verdicts.json")
    try:
        while not log.with_suffix(".log").exists():
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.01)
        [job] = psutil.Process(process.pid).children(recursive=True)
        job.kill()
        output, _ = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    last = output.splitlines()[-1]
    assert process.returncode == 1 and last.startswith("Failed: Simulating") and "killed" in last
    assert "Traceback" not in output
    assert not [*clean.folder.glob(f"{SIMULATED}.*")]
    undisturbed = tree.copy_to(tmp_path / "undisturbed")
    for project in (clean, undisturbed):
        project.build(f"{SIMULATED}.verdicts.json")
    assert_like(clean, undisturbed)


@pytest.mark.fault("interrupted_run")
@pytest.mark.slow
def test_kill_needs_unlock(clean):
    """The rerun after a kill is in test_random_kills.py."""
    stopped_in_the_middle(clean, signal.SIGKILL)
    assert_not_taken_for_finished(clean)
    refused = clean.snakemake(f"{SIMULATED}.verdicts.json")
    assert refused.returncode != 0
    assert "--unlock" in refused.stdout and "Traceback" not in refused.stdout


def test_build_deleted_verdicts(rebuilt):
    verdicts = rebuilt.folder / "results/embedded/sakai2023/table_1.verdicts.json"
    before = rebuilt.hashes()
    verdicts.unlink()
    assert rebuilt.planned() == {"verdicts": 1, "page": 1, "embedded": 1}
    rebuilt.build()
    assert rebuilt.hashes() == before


def test_planned_deleted_result(rebuilt):
    # As after a job that failed: Snakemake takes away what it may have begun to write.
    for suffix in ("csv", "receipt.json"):
        (rebuilt.folder / f"results/embedded/sakai2023/table_1.{suffix}").unlink()
    assert rebuilt.planned("sakai2023_table_1").keys() >= {"sakai2023_gfrc", "verdicts"}


TITLE = "  table_7_4:\n    kind: table\n    title: "
CHAPTER_7 = "published/lajewska2025/ch7.yaml"


def replace_first(project: Project, path: str, old: str, new: str) -> None:
    file = project.folder / path
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))


def test_planned_edited_claim(rebuilt):
    replace_first(rebuilt, CHAPTER_7, "        claim: ", "        claim: Edited, ")
    assert rebuilt.planned() == {"errata": 1, "verdicts": 1, "page": 1, "embedded": 1}


@pytest.mark.parametrize(("paper", "chapter"), [("sakai2023", "1"), ("abolghasemi2026", "2")])
def test_planned_edited_audit(rebuilt, paper, chapter):
    audits = rebuilt.folder / f"workflow/papers/{paper}/ch{chapter}_audits.py"
    audits.write_text(audits.read_text() + "\n# Edited.\n")
    own = {
        (paper, artefact.name)
        for artefact in load_papers(rebuilt.folder / "published")[paper].artefacts.values()
        if artefact.chapter == chapter
        and (rebuilt.folder / f"results/embedded/{artefact.id}.verdicts.json").exists()
    }
    assert own
    jobs = {"errata": 1, "verdicts": len(own), "page": 1, "embedded": 1}
    assert rebuilt.planned() == jobs
    message = rebuilt.snakemake("-n", "embedded").stdout
    assert set(re.findall(r"Verdicts of (\S+) (\S+) \(embedded\)", message)) == own


def test_planned_edited_title(rebuilt):
    replace_first(rebuilt, CHAPTER_7, TITLE, f"{TITLE}Edited, ")
    assert rebuilt.planned() == {
        "lajewska2025_ch7_simulation": 1,
        "errata": 1,
        "verdicts": 1,
        "page": 1,
        "embedded": 1,
    }


def test_planned_edited_statistics(rebuilt):
    module = rebuilt.folder / "src/everycell/statistics/anova.py"
    module.write_text(module.read_text() + "\n# A change that may change results.\n")
    computed = rebuilt.planned().keys() - {"verdicts", "page", "embedded"}
    # Whatever imports `everycell.retrieval` imports its significance tests too, but no training.
    assert not computed & {"train", "tokenise", "collection_pydocs", "sakai2023_gfrc"}
    assert {name for name in computed if name.startswith("lajewska")} == {
        "lajewska2025_ch4_simulation",
        "lajewska2025_ch7_simulation",
        "lajewska2025_chC_votes",
    }


def test_planned_new_version(rebuilt):
    rebuilt.edit("src/everycell/__init__.py", '__version__ = "', '__version__ = "9.')
    checked = rebuilt.everycell("verify")
    assert checked.returncode == 1 and "this is version 9." in checked.stdout
    # Downloads are not results.
    everything = rebuilt.planned("embedded", "--forceall")
    assert rebuilt.planned() == {
        name: number for name, number in everything.items() if not name.startswith("fetch")
    }


def test_planned_new_seed(rebuilt):
    result = rebuilt.planned("embedded", "--config", "seed=7").keys()
    # The ranking chapter draws its queries again.
    assert {"lajewska2025_ch4_simulation", "lajewska2025_ch7_simulation", "train"} <= result
    assert not result & {"sakai2023_gfrc", "lajewska2025_chC_votes", "errata"}
    assert not any(name.startswith("fetch") for name in result)


@pytest.mark.parametrize(
    ("key", "old", "new", "asked_again"),
    [("dtype", "float32", "bfloat16", True), ("threads", "1", "2", False)],
)
def test_planned_changed_language_model(rebuilt, key, old, new, asked_again):
    source = "source: smollm2/SmolLM2-135M-Instruct.Q4_1.gguf, revision: null, "
    before = f"{source}dtype: float32, threads: 1"
    rebuilt.edit("config.yaml", before, before.replace(f"{key}: {old}", f"{key}: {new}"))
    planned = rebuilt.planned()
    asking = {"abolghasemi2026_ch3_generate_planted", "abolghasemi2026_ch3_few_shot"}
    assert asking <= planned.keys() if asked_again else planned == {}
