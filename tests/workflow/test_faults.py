"""Bad input of the whole workflow stops it with a message for users."""

import hashlib
import json
import os
import re
import resource
import shutil
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import ir_measures
import pytest
from planted_code import plant_byte_code
from workflow.project import Project

VIEWPOINTS = "cis-response-limitations/viewpoints.csv"
#: Fetched by one job, in this order: the ratings of chapter 4's studies.
FETCHED_TOGETHER = (
    "cis-response-limitations/answerability_both_runs.csv",
    VIEWPOINTS,
    "cis-response-limitations/answerability_first_run.csv",
)
CORRELATIONS = "results/released/lajewska2025/table_4_11.csv"
FAIRNESS = "results/embedded/sakai2023/table_2.verdicts.json"


def refused(project: Project, *arguments: str, **options) -> str:
    """Run snakemake, which must fail in plain words; return them."""
    done = project.snakemake(*arguments, **options)
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stdout, done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.fault("configuration")
@pytest.mark.parametrize(("content", "where"), [("sead: 1", "`sead`"), ("seed: [", "line 2")])
def test_snakemake_faulty_config_file(clean, content, where):
    (clean.folder / "config.yaml").write_text(content + "\n")
    assert re.search(f"config.yaml.*{where}", refused(clean, "-n"))


@pytest.mark.fault("configuration")
def test_snakemake_faulty_config_option(tree):
    terminal_output = refused(tree, "-n", "--config", "user_studies={alpha: high}")
    assert (
        "`user_studies.alpha` is 'high'; expected a valid number, above 0, below 1"
        in terminal_output
    )


@pytest.mark.fault("configuration")
@pytest.mark.parametrize(
    "options",
    [
        ["--configfile", "mine.yaml"],
        ["--workflow-profile", "none", "--configfile", "mine.yaml"],
        ["--profile", "outside"],
        ["--workflow-profile", "outside"],
    ],
)
def test_snakemake_config_template(clean, options):
    """Code in a configuration file never runs, whatever names the file."""
    ran, profile = clean.folder / "ran", clean.folder / "outside/config.yaml"
    profile.parent.mkdir()
    profile.write_text("configfile: mine.yaml\n")
    (clean.folder / "mine.yaml").write_text(
        f"__use_yte__: true\nseed: ?open({str(ran)!r}, 'w').write('x')\n"
    )
    assert "mine.yaml contains " in refused(clean, "-n", *options)
    assert not ran.exists()


@pytest.mark.slow
@pytest.mark.fault("mirror")
def test_fetch_without_mirror_and_network(clean):
    terminal_output = refused(clean, CORRELATIONS, "--config", "network=False")
    missing = f"{FETCHED_TOGETHER[0]} is neither in the cache nor in a mirror (none is set)"
    assert missing in terminal_output
    assert (
        "set `mirror:` in config.yaml or EVERYCELL_MIRROR to a folder that contains it"
        in terminal_output
    )
    assert not (clean.folder / CORRELATIONS).exists()


@pytest.mark.slow
@pytest.mark.fault("mirror")
def test_fetch_missing_mirror(clean):
    clean.mirror = clean.folder / "nowhere"
    terminal_output = refused(clean, f"resources/{VIEWPOINTS}")
    assert f"The mirror folder {clean.mirror} does not exist" in terminal_output


@pytest.fixture
def changeable(clean: Project, mirror: Path, tmp_path: Path) -> Project:
    """Return a project with a mirror of its own: the ratings of chapter 4's studies."""
    clean.mirror = tmp_path / "mirror"
    for key in FETCHED_TOGETHER:
        (clean.mirror / key).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(mirror / f"{key}.gz", clean.mirror / f"{key}.gz")
    return clean


@pytest.mark.fault("mirror")
@pytest.mark.released
def test_fetch_changed_mirror(changeable):
    path = changeable.mirror / f"{VIEWPOINTS}.gz"
    path.chmod(0o644)
    content = bytearray(path.read_bytes())
    expected = hashlib.sha256(content).hexdigest()
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    terminal_output = refused(changeable, CORRELATIONS)
    assert (
        f"{path} in the mirror has sha256 {hashlib.sha256(content).hexdigest()}" in terminal_output
    )
    assert f"but the registry has {expected}" in terminal_output
    assert "restore it" in terminal_output
    cached = [file.name for file in (changeable.folder / "resources").rglob("viewpoints*")]
    assert cached == []
    assert not (changeable.folder / CORRELATIONS).exists()


@pytest.mark.slow
@pytest.mark.fault("cache")
@pytest.mark.released
def test_fetch_changed_cache(changeable):
    changeable.build(f"resources/{VIEWPOINTS}")
    cached = changeable.folder / "resources" / VIEWPOINTS
    cached.chmod(0o644)
    cached.write_text(cached.read_text() + "\n")
    terminal_output = refused(changeable, CORRELATIONS)
    assert f"resources/{VIEWPOINTS} has sha256" in terminal_output
    assert "changed or damaged after it was fetched" in terminal_output


@pytest.mark.fault("configuration")
def test_snakemake_record_without_cells(rebuilt):
    rebuilt.edit(
        "published/sakai2023/ch1.yaml",
        "      - cells: {system: Bing, turn: GF}\n        within",
        "      - cells: {system: Bingo, turn: GF}\n        within",
    )
    message = "no cell has system = 'Bingo'"
    stopped = refused(rebuilt, FAIRNESS)
    assert "published/sakai2023/ch1.yaml, line " in stopped and message in stopped
    # The verdicts of the record as it was are not shown as if they were those of this one.
    output = rebuilt.everycell("show", "sakai2023/table_2")
    assert output.returncode == 2 and message in output.stdout
    for command, code in ((["doctor"], 1), (["check", "sakai2023"], 2)):
        done = rebuilt.everycell(*command)
        assert done.returncode == code and "no cell has system = 'Bingo'" in done.stdout


@pytest.mark.fault("configuration")
def test_snakemake_faulty_record(clean):
    clean.edit("published/sakai2023/ch1.yaml", 'chapter: "1"', 'chaptre: "1"')
    assert "published/sakai2023/ch1.yaml, line 1: `chapter` is missing" in refused(clean, "-n")


@pytest.mark.slow
@pytest.mark.fault("full_disk")
def test_snakemake_full_disk(clean):
    target = "results/embedded/errata.csv"

    def limited() -> None:
        # Snakemake's copy of the script (49 kB and more, with the paths of all records) and the CSV
        # (69 kB) are smaller, the Markdown (150 kB) is larger.
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    # Python itself leaves half-written byte code behind when the disk is full.
    terminal_output = refused(
        clean, target, preexec_fn=limited, env={"PYTHONDONTWRITEBYTECODE": "1"}
    )
    assert re.search(r"embedded/errata\.\w+: File too large; free some space", terminal_output)
    assert not list((clean.folder / "results").rglob("*.receipt.json"))
    clean.build(target)
    assert clean.everycell("verify").returncode == 0


@pytest.mark.slow
@pytest.mark.fault("full_disk")
def test_snakemake_unwritable_results(clean):
    (clean.folder / "results").chmod(0o555)
    if os.geteuid() == 0:  # to whom permissions do not apply, unless this right is taken away
        clean.prefix = ["setpriv", "--bounding-set", "-dac_override"]
    terminal_output = refused(clean, FAIRNESS)
    assert "Permission denied" in terminal_output and "results" in terminal_output


@pytest.mark.slow
@pytest.mark.fault("full_disk")
def test_snakemake_unwritable_project(clean):
    """One sentence, from Snakemake and from everycell."""
    for folder in (clean.folder, clean.folder / ".snakemake"):
        if folder.exists():
            folder.chmod(0o555)
    if os.geteuid() == 0:
        clean.prefix = ["setpriv", "--bounding-set", "-dac_override"]
    try:
        output = refused(clean, "-n")
        assert "cannot be written, and Snakemake keeps its records there" in output
        assert output.count("cannot be written") == 1
        done = clean.everycell("make", FAIRNESS)
        assert done.returncode == 2 and "cannot be written" in done.stdout.splitlines()[-1]
    finally:
        clean.folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.fault("clock")
def test_page_clock_set_back_and_failing_job(clean):
    target, script = "sakai2023_table_1", clean.folder / "src/everycell/workflow/scripts/page.py"
    clean.build(target)
    page = clean.hashes()
    tomorrow = time.time() + 86_400
    for name in ("results", "work", "published"):
        for path in (clean.folder / name).rglob("*"):
            os.utime(path, (tomorrow, tomorrow))
    text = script.read_text()
    script.write_text(f"{text}raise SystemExit('no page today')\n")
    refused(clean, target)
    assert clean.hashes() == page
    # The page's files are remade, although all that it shows is from tomorrow.
    script.write_text(f"{text}again = True\n")
    clean.build(target)
    assert clean.hashes() == page and clean.planned(target) == {}


@pytest.mark.slow
@pytest.mark.fault("configuration")
@pytest.mark.parametrize("command", ["snakemake", "page"])
def test_build_backend_of_matplotlib(own, monkeypatch, command):
    """The backend that a user chose for windows or notebooks has no part in results."""
    expected = own.hashes()
    monkeypatch.setenv("MPLBACKEND", "nonsense")
    own.forks = False
    if command == "snakemake":
        shutil.rmtree(own.folder / "results")
        done = own.snakemake()
    else:
        (own.folder / "results/index.html").unlink()
        done = own.everycell("page")
    assert done.returncode == 0, done.stdout
    assert own.hashes() == expected


@pytest.mark.slow
@pytest.mark.fault("configuration")
def test_build_folder_of_byte_code(own, tmp_path, monkeypatch):
    """A user's folder of byte code replaces no installed package in a job."""
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "compiled"))
    plant_byte_code(Path(ir_measures.__file__), "raise ValueError('planted')")
    own.forks = False
    shutil.rmtree(own.folder / "results")
    table = "results/released/smith2026/table_1.csv"
    done = own.snakemake(table, env={"PYTHONPYCACHEPREFIX": sys.pycache_prefix})
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.fault("clock")
@pytest.mark.skipif(shutil.which("faketime") is None, reason="needs faketime")
@pytest.mark.parametrize("days", [-1, 1])
def test_verify_and_job_under_other_clock(own, tmp_path, monkeypatch, days):
    """On a machine whose clock is wrong, results verify, and a job makes the same table.

    Snakemake's scheduler does not run under libfaketime, which breaks most pauses of Python.
    """
    (tmp_path / "pauses").mkdir()
    (tmp_path / "pauses/sitecustomize.py").write_text(
        "import select, time\ntime.sleep = lambda seconds: select.select([], [], [], seconds)\n"
    )
    results = own.folder / "results/released/smith2026"
    before = own.hashes()
    # Times of files are those of the file system.
    for variable in ("FAKETIME_DONT_FAKE_MONOTONIC", "NO_FAKE_STAT"):
        monkeypatch.setenv(variable, "1")
    own.prefix = ["env", f"PYTHONPATH={tmp_path}/pauses", "faketime", "-m", "-f", f"{days:+d}d"]
    assert own.everycell("verify").returncode == 0
    folder = tmp_path / "again"
    done = own.everycell("debug", "results/released/smith2026/table_1.csv", "--into", folder)
    assert done.returncode == 0, done.stdout
    [receipt] = folder.rglob("table_1.receipt.json")
    finished = [
        datetime.fromisoformat(json.loads(path.read_text())["execution"]["finished"])
        for path in (results / receipt.name, receipt)
    ]
    assert abs(finished[1] - finished[0] - timedelta(days=days)) < timedelta(hours=1)
    # The receipt names the library, so a result made under it is not certified.
    assert any("faketime" in name for name in json.loads(receipt.read_text())["uncovered_code"])
    tables = [path for path in receipt.parent.glob("table_1.*") if path != receipt]
    assert len(tables) > 3
    assert all(path.read_bytes() == (results / path.name).read_bytes() for path in tables)
    assert own.hashes() == before
