"""Records of intermediate files: written by the jobs that make them, checked by those that read."""

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from everycell.jobs.job import InputChangedError, Job
from everycell.receipts.intermediate import RECORDS, expected_hash, read_record, record_path

#: Output -> its files.
FILE, FOLDER = "work/toy/scores.parquet", "work/toy/index"


@pytest.fixture
def outputs(tmp_path, monkeypatch):
    """A file and a folder below `work/`, and the file of a result, that jobs made."""
    monkeypatch.chdir(tmp_path)
    Path("text").write_text("a\n")
    with job([], [FILE, FOLDER], "make"):
        Path(FILE).parent.mkdir(parents=True)
        Path(FILE).write_bytes(b"0123")
        (Path(FOLDER) / "parts").mkdir(parents=True)
        (Path(FOLDER) / "vocabulary").write_text("a b")
        (Path(FOLDER) / "parts/1").write_text("1")
    # Snakemake writes it after the job.
    (Path(FOLDER) / ".snakemake_timestamp").touch()


def job(inputs, outputs, name, **more):
    return Job(
        SimpleNamespace(
            input=inputs, output=outputs, params={}, log=[name], config={"cache": "c"}, **more
        )
    )


#: Seconds by which clocks jump.
JUMPS = (-86_400, 0, 86_400)


def jump(path: str | Path, times: os.stat_result, seconds: int) -> None:
    """Set the times of a file to others that are moved by some seconds."""
    os.utime(path, (times.st_atime + seconds, times.st_mtime + seconds))


def edit(path: str, seconds: int = 0) -> None:
    """Replace a file by one with the same size, and with its times moved by some seconds."""
    state, file = os.stat(path), Path(path)
    file.write_bytes(b"9" * state.st_size)
    jump(path, state, seconds)


@pytest.mark.fault("edited_input")
@pytest.mark.parametrize(
    ("edited", "read"),
    [
        (FILE, FILE),
        (f"{FOLDER}/vocabulary", FOLDER),
        (f"{FOLDER}/vocabulary", f"{FOLDER}/vocabulary"),
        (f"{FOLDER}/parts/1", f"{FOLDER}/parts"),
    ],
)
def test_job_edited_intermediate_file(outputs, edited, read):
    with job([read], ["work/a"], "before"):
        Path("work/a").write_text("")
    assert read_record("work/a").inputs.keys() == {read}
    edit(edited)
    with pytest.raises(InputChangedError), job([read], ["work/b"], "after"):
        pytest.fail("the job began")
    assert Path("after").read_text().startswith(f"{read} differs from its hash in {RECORDS}/toy/")
    with job([read], ["work/b"], "perturbed", perturbed=(read,)):
        Path("work/b").write_text("")


@pytest.mark.fault("clock")
@pytest.mark.parametrize("seconds", JUMPS)
@pytest.mark.parametrize("path", [FILE, f"{FOLDER}/parts/1"])
def test_job_clock_jump_edited_file(outputs, path, seconds):
    """The hash decides, whatever the clock said when the file was edited."""
    edit(path, seconds)
    with pytest.raises(InputChangedError), job([path], ["work/a"], "after"):
        pytest.fail("the job began")


@pytest.mark.fault("clock")
@pytest.mark.parametrize("of_record", JUMPS)
@pytest.mark.parametrize("of_file", JUMPS)
def test_job_clock_jump_same_content(outputs, of_record, of_file):
    """Other times of a file and of its record change nothing."""
    for path, seconds in ((FILE, of_file), (record_path(FILE), of_record)):
        jump(path, os.stat(path), seconds)
    before = read_record(FILE)
    with job([FILE], ["work/a"], "after"):
        Path("work/a").write_text("")
    assert read_record("work/a").inputs == {FILE: before.sha256}


def test_job_new_file_in_an_intermediate_folder(outputs):
    (Path(FOLDER) / "parts/2").write_text("")
    with pytest.raises(InputChangedError), job([FOLDER], [], "after"):
        pytest.fail("the job began")


@pytest.mark.fault("edited_input")
def test_job_edited_result_as_input(outputs):
    folder = Path("results/released/toy")
    folder.mkdir(parents=True)
    table = folder / "table_1.more.csv"
    table.write_text("a,1\n")
    (folder / "table_1.receipt.json").write_text(
        '{"outputs": [{"path": "table_1.more.csv", "sha256": "0"}]}'
    )
    with pytest.raises(InputChangedError), job([str(table)], [], "after"):
        pytest.fail("the job began")


@pytest.mark.parametrize("path", ["text", "work/unknown", f"{FOLDER}/unknown", "results/a/b.csv"])
def test_expected_hash_unrecorded_file(outputs, path):
    assert expected_hash(Path(path)) is None


@pytest.mark.parametrize("path", [FILE, FOLDER])
def test_job_input_from_the_output_cache(outputs, tmp_path, monkeypatch, path):
    """Snakemake links an output from its cache without running the job that writes its record."""
    cache = tmp_path / "cache"
    monkeypatch.setenv("SNAKEMAKE_OUTPUT_CACHE", str(cache))
    (cache / "entry").mkdir(parents=True)
    for entry in list(Path(path).iterdir()) if Path(path).is_dir() else [Path(path)]:
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        (cache / "entry" / entry.name).write_text("other")
        entry.symlink_to(cache / "entry" / entry.name)
    with job([path], [], "after"):
        pass
    monkeypatch.delenv("SNAKEMAKE_OUTPUT_CACHE")
    with pytest.raises(InputChangedError), job([path], [], "after"):
        pytest.fail("the job began")


def test_job_failed_leaves_no_record(outputs):
    assert record_path(FILE).exists()
    with pytest.raises(KeyError), job([], [FILE], "again"):
        raise KeyError
    assert not record_path(FILE).exists() and record_path(FOLDER).exists()


def test_job_removed_temporary_input(outputs):
    """A record outlives a file that Snakemake removes, and describes the one made again."""
    Path(FILE).unlink()
    before = record_path(FILE).read_bytes()
    with job([], [FILE], "again"):
        Path(FILE).write_bytes(b"0123")
    assert record_path(FILE).read_bytes() == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.mkdir(),
        lambda path: (path / "deep/er").mkdir(parents=True),
        lambda path: path.symlink_to("nowhere"),
        lambda path: path.symlink_to(Path.cwd(), target_is_directory=True),
        os.mkfifo,
        lambda path: path.write_bytes(b"\xff"),
        lambda path: (shutil.rmtree(path.parent), path.parent.write_text("a file")),
        lambda path: (shutil.rmtree(RECORDS), Path(RECORDS).write_text("a file")),
        lambda path: (shutil.rmtree(RECORDS), Path(RECORDS).symlink_to("nowhere")),
    ],
)
@pytest.mark.parametrize("output", [FILE, FOLDER])
def test_job_replaces_spoiled_record(outputs, spoil, output):
    """A rerun, which `verify` advises, writes a new record whatever is in the place of the old."""
    path = record_path(output)
    path.unlink()
    spoil(path)
    assert read_record(output) is None
    with job([], [FILE, FOLDER], "make"):
        pass
    assert read_record(output) is not None
    # What a link leads to stays.
    assert Path("text").read_text() == "a\n"
