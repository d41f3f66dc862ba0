"""Files that are written atomically, compared and given earlier times."""

import os
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from everycell.base.files import (
    atomic_path,
    describe_os_error,
    fingerprint,
    naming,
    quoted,
    reset_future_times,
    sha256,
)


def test_naming_full_disk():
    with pytest.raises(OSError) as error, naming(Path("a.run")):
        raise OSError(28, "No space left on device")
    assert str(error.value.filename) == "a.run"


def test_atomic_path_in_a_new_folder(tmp_path):
    path = tmp_path / "new" / "a.txt"
    with atomic_path(path) as draft:
        draft.write_text("a\n")
        assert not path.exists()
    assert path.read_text() == "a\n" and list(path.parent.iterdir()) == [path]


def test_fingerprint_of_folder_and_file(tmp_path):
    empty = fingerprint(tmp_path)
    (tmp_path / "a").write_text("")
    assert fingerprint(tmp_path) != empty
    assert fingerprint(tmp_path / "a").startswith("e3b0c442")  # SHA-256 of nothing


def test_reset_future_times_order(tmp_path):
    paths = [tmp_path / name for name in "cab"]
    for day, path in enumerate(paths):
        path.write_text("")
        os.utime(path, (time.time() + 86_400 * day,) * 2)
    assert reset_future_times([tmp_path, tmp_path / "none"]) == 2
    assert reset_future_times([tmp_path]) == 0
    assert sorted(tmp_path.iterdir(), key=lambda path: path.stat().st_mtime_ns) == paths


def test_fingerprint_of_linked_folder(tmp_path):
    """A folder from Snakemake's output cache, whose entries are links, is that of the job."""
    stored, fetched = tmp_path / "stored", tmp_path / "fetched"
    (stored / "parts/more").mkdir(parents=True)
    (stored / "parts/more/1").write_text("1")
    (stored / "names").write_text("a")
    fetched.mkdir()
    for name in ("parts", "names"):
        (fetched / name).symlink_to(stored / name)
    (fetched / ".snakemake_timestamp").touch()
    assert fingerprint(fetched) == fingerprint(stored)
    (tmp_path / "linked").symlink_to(stored)
    assert fingerprint(tmp_path / "linked") == fingerprint(stored)
    # A link to a parent folder is not followed.
    (stored / "parts/up").symlink_to(stored)
    before = fingerprint(fetched)
    (stored / "parts/more/1").write_text("2")
    assert fingerprint(fetched) != before


@pytest.mark.parametrize("target", ["/proc/self/mem", "/proc/self/maps", "/proc/cpuinfo"])
@pytest.mark.parametrize("is_link", [False, True])
def test_open_regular_file_of_kernel(tmp_path, target, is_link):
    path = Path(target)
    if is_link:
        path = tmp_path / "input.csv"
        path.symlink_to(target)
    with pytest.raises(OSError) as error:
        sha256(path)
    assert error.value.filename == str(path)


@pytest.mark.parametrize("put", [Path.mkdir, os.mkfifo])
def test_open_regular_other_kind(tmp_path, put):
    path = tmp_path / "input.csv"
    put(path)
    with pytest.raises(OSError) as error:
        sha256(path)
    assert describe_os_error(error.value).startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["a b", "$(touch c)", "it's", "a;b", "*", "é ü", "-f"])
def test_quoted_name(tmp_path, name):
    """A copied command removes this file and no other."""
    (tmp_path / name).mkdir()
    for file in ("t.csv", "t.md", "u.csv"):
        (tmp_path / name / file).write_text("")
    other = tmp_path / "other"
    other.write_text("")
    words = quoted([f"./{name}/t.*", f"./{name}/u.csv"])
    subprocess.run(["sh", "-c", f"rm {words}"], cwd=tmp_path, check=True)
    assert list((tmp_path / name).iterdir()) == [] and other.exists()


def test_quoted_plain_paths():
    paths = ["results/released/toy/table_1.*", "work/run"]
    assert quoted(paths) == " ".join(paths) and shlex.split(quoted(["a b"])) == ["a b"]
