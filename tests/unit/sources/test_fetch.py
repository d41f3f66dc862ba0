"""Fetching: the order of the sources, and every way in which one of them can fail."""

import gzip
import hashlib
import importlib
import io
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from filelock import FileLock

from everycell.records.registry import (
    CacheError,
    DamagedFileError,
    Form,
    Registry,
    SourceError,
    UnavailableError,
    archive_path,
    check,
    load_registry,
)
from everycell.sources import additions, download, fetch, fetch_set
from everycell.sources.download import DownloadError
from everycell.sources.fetch import MirrorError

# `everycell.sources.fetch` as an attribute is the function, so the module is looked up by name.
MODULE = importlib.import_module("everycell.sources.fetch")
CONTENT = b"worker,rating\n" + b"W001,4\n" * 200
KEY = "toy/ratings.csv"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server:
    """A local HTTP server that answers each request as the test says."""

    def __init__(self):
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.requests += 1
                outer.answer(self)

            def log_message(self, *args):
                pass

        self.requests = 0
        self.answer = self.send(CONTENT)
        self.release = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.host = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self.release.set()
        self._http.shutdown()
        self._http.server_close()

    def send(self, body: bytes, *, status: int = 200, announced: int | None = -1):
        """Answer with a body and the announced length (None: no length, -1: the true one)."""

        def answer(handler):
            handler.send_response(status)
            if announced is not None:
                length = len(body) if announced < 0 else announced
                handler.send_header("Content-Length", str(length))
            handler.end_headers()
            handler.wfile.write(body)

        return answer

    def stall(self, body: bytes):
        """Answer with the true length of the data, a part of them, and then nothing more."""

        def answer(handler):
            self.send(body, announced=len(CONTENT))(handler)
            handler.wfile.flush()
            self.release.wait(30)

        return answer


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "_PAUSES", (0.0, 0.0))
    # No proxy for 127.0.0.1.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    server = Server()
    yield server
    server.close()


def make_registry(entry: dict, host: str = "http://127.0.0.1:9") -> Registry:
    return Registry.model_validate(
        {
            "repositories": {"a/b": {"commit": "0" * 40, "licence": "none stated", "host": host}},
            "sets": {"toy": {"authors": "A. Author", "paper": "A Paper", "licence": "none stated"}},
            "files": {KEY: entry},
        }
    )


def origin(content: bytes = CONTENT, **more) -> dict:
    form = {"repository": "a/b", "path": "r.csv", "size": len(content), "sha256": sha256(content)}
    return form | more


def copy_in(mirror: Path, content: bytes = CONTENT) -> dict:
    """Put a gzipped copy into the mirror and return its form."""
    packed = gzip.compress(content, mtime=0)
    (mirror / "toy").mkdir(parents=True)
    (mirror / f"{KEY}.gz").write_bytes(packed)
    return {
        "path": f"{KEY}.gz",
        "size": len(packed),
        "sha256": sha256(packed),
        "packed": "gzip",
        "content_sha256": sha256(content),
    }


def assert_nothing_kept(cache: Path):
    assert not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def fetch_from(server: Server, cache: Path, entry: dict | None = None, **options) -> Path:
    """Fetch a file whose origin is the server, by default one with `CONTENT`."""
    registry = make_registry(entry or {"origin": origin()}, server.host)
    return fetch(KEY, cache, registry=registry, **options)


def failure(error: type[Exception], server: Server, cache: Path, entry=None, **options) -> str:
    """Message of the error that a fetch ends in; nothing remains in the cache."""
    with pytest.raises(error) as caught:
        fetch_from(server, cache, entry, **options)
    assert_nothing_kept(cache)
    return str(caught.value)


# --- the order of the sources -------------------------------------------------------------------


def test_fetch_once(server, tmp_path):
    registry = make_registry({"origin": origin()}, server.host)
    for _ in range(2):
        path = fetch(KEY, tmp_path, registry=registry)
        assert path == tmp_path / KEY
        assert path.read_bytes() == CONTENT
    assert server.requests == 1


def test_fetch_mirror_before_network(server, tmp_path):
    entry = {"origin": origin(), "mirror": copy_in(tmp_path / "mirror")}
    path = fetch_from(server, tmp_path / "cache", entry, mirror=tmp_path / "mirror")
    assert path.read_bytes() == CONTENT
    assert server.requests == 0


def test_fetch_network_after_mirror(server, tmp_path):
    (tmp_path / "mirror").mkdir()
    path = fetch_from(server, tmp_path / "cache", mirror=tmp_path / "mirror")
    assert path.read_bytes() == CONTENT


def test_fetch_set_as_mirror(server, tmp_path):
    registry = make_registry({"origin": origin()}, server.host)
    assert list(fetch_set("toy", tmp_path / "first", registry=registry)) == [KEY]
    second = fetch_set(
        "toy", tmp_path / "second", mirror=tmp_path / "first", network=False, registry=registry
    )
    assert second[KEY].read_bytes() == CONTENT
    assert server.requests == 1


def test_fetch_changed_copy(server, tmp_path):
    changed = CONTENT.replace(b"W001", b"W002")
    entry = {"origin": origin(), "mirror": copy_in(tmp_path / "mirror", changed), "note": "ids"}
    registry = make_registry(entry, server.host)
    mirrored = fetch(KEY, tmp_path / "1", mirror=tmp_path / "mirror", registry=registry)
    downloaded = fetch(KEY, tmp_path / "2", registry=registry)
    assert mirrored.read_bytes() == changed
    assert downloaded.read_bytes() == CONTENT
    # The author's file may also come from a mirror that is a copy of the second cache.
    again = fetch(KEY, tmp_path / "3", mirror=tmp_path / "2", network=False, registry=registry)
    assert again.read_bytes() == CONTENT


def tar_of(*names: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            member.size = len(CONTENT)
            archive.addfile(member, io.BytesIO(CONTENT))
    return buffer.getvalue()


def served_archive(server: Server, packed: bytes) -> dict:
    """Serve an archive, and return its entry."""
    server.answer = server.send(packed)
    return {"origin": origin(packed, packed="tar"), "note": "archive"}


def test_fetch_archive_member(server, tmp_path):
    entry = served_archive(server, tar_of("runs/._ratings.csv", "runs/ratings.csv"))
    registry = make_registry(entry, server.host)
    path = fetch(KEY, tmp_path / "1", registry=registry)
    assert path.read_bytes() == CONTENT
    copied = fetch(KEY, tmp_path / "2", mirror=tmp_path / "1", network=False, registry=registry)
    for cached in (path, copied):
        assert check(cached, KEY, registry=registry) == cached
        cached.write_bytes(CONTENT + b"W001,5\n")
        with pytest.raises(DamagedFileError, match=sha256(CONTENT)):
            check(cached, KEY, registry=registry)


@pytest.mark.fault("archive")
def test_fetch_archive_two_files(server, tmp_path):
    message = failure(
        SourceError, server, tmp_path, served_archive(server, tar_of("a.csv", "b.csv"))
    )
    assert "contains 2 files, expected 1" in message


def archive_of(member: tarfile.TarInfo, content: bytes = b"") -> bytes:
    """An archive of one member that says what it likes of itself."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, **headers: str) -> tarfile.TarInfo:
    result = tarfile.TarInfo(name)
    result.type, result.linkname, result.pax_headers = kind, "../../../victim", headers
    result.mode = 0o6777
    return result


@pytest.mark.fault("archive")
@pytest.mark.parametrize("name", ["/escaped", "../../../escaped", "a/../../../escaped"])
def test_fetch_member_name(server, tmp_path, name):
    cache = tmp_path / "a" / "b" / "cache"
    path = fetch_from(server, cache, served_archive(server, archive_of(member(name), CONTENT)))
    assert path == cache / KEY and path.read_bytes() == CONTENT
    assert not path.stat().st_mode & 0o7022  # nor does the mode in the archive
    files = {result.name for result in tmp_path.rglob("*") if result.is_file()}
    assert {name for name in files if not name.startswith(".")} == {path.name}
    assert not Path("/escaped").exists()


@pytest.mark.fault("archive")
@pytest.mark.parametrize(
    "hostile",
    [
        member("r.csv", tarfile.SYMTYPE),
        member("r.csv", tarfile.LNKTYPE),
        member("r.csv", tarfile.CHRTYPE),
        member("r.csv", tarfile.BLKTYPE),
        member("r.csv", tarfile.FIFOTYPE),
        member("r.csv", tarfile.DIRTYPE),
        member("r.csv", **{"GNU.sparse.map": "0,1", "GNU.sparse.size": str(2**50)}),
    ],
    ids=["symbolic link", "link", "character device", "block device", "pipe", "folder", "sparse"],
)
def test_fetch_member_not_plain(server, tmp_path, hostile):
    (tmp_path / "victim").write_bytes(b"mine")
    entry = served_archive(server, archive_of(hostile))
    message = failure(SourceError, server, tmp_path / "a" / "b" / "cache", entry)
    assert "contains 0 files, expected 1" in message
    assert_nothing_kept(tmp_path / "a")
    assert (tmp_path / "victim").read_bytes() == b"mine"


@pytest.mark.fault("archive")
@pytest.mark.parametrize(
    "archive",
    [
        archive_of(member("r.csv", **{"GNU.sparse.map": "x,y", "GNU.sparse.size": "z"})),
        b"no archive",
        gzip.compress(b"no archive"),
    ],
    ids=["header", "text", "gzip"],
)
def test_fetch_broken_archive(server, tmp_path, archive):
    message = failure(SourceError, server, tmp_path, served_archive(server, archive))
    assert "cannot be unpacked as tar" in message and "\n" not in message


@pytest.mark.fault("mirror")
def test_check_ignores_files_next_to_the_archive(server, tmp_path):
    """Without a registered content, only the archive itself determines it."""
    packed = tar_of("ratings.csv")
    entry = served_archive(server, packed)
    registry = make_registry(entry, server.host)
    path = fetch(KEY, tmp_path / "cache", registry=registry)
    assert check(path, KEY, registry=registry).read_bytes() == CONTENT
    copied = fetch(KEY, tmp_path / "copy", mirror=tmp_path / "cache", registry=registry)
    assert check(copied, KEY, registry=registry).read_bytes() == CONTENT

    path.write_bytes(b"chosen by the mirror")
    message = {"archive_sha256": sha256(packed), "content_sha256": sha256(path.read_bytes())}
    path.with_name(f".{path.name}.json").write_text(json.dumps(message))
    hostile = io.BytesIO()
    with tarfile.open(fileobj=hostile, mode="w") as archive:
        selection = tarfile.TarInfo("r.csv")
        selection.size = len(path.read_bytes())
        archive.addfile(selection, io.BytesIO(path.read_bytes()))
    for content in (packed, hostile.getvalue(), b"no archive"):
        archive_path(path).write_bytes(content)
        with pytest.raises(DamagedFileError, match=re.escape(str(path))):
            check(path, KEY, registry=registry)
        with pytest.raises(MirrorError, match=re.escape(str(path))):
            fetch(KEY, tmp_path / "third", mirror=tmp_path / "cache", registry=registry)
    assert_nothing_kept(tmp_path / "third")


@pytest.mark.fault("cache")
@pytest.mark.parametrize("name", [".{}.part", ".{}.part.download", ".{}.archive", ".{}.link"])
def test_fetch_planted_link(server, tmp_path, name):
    entry = served_archive(server, tar_of("ratings.csv"))
    (tmp_path / "cache/toy").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    victim = tmp_path / "home" / "victim"
    victim.write_bytes(b"mine")
    target = tmp_path / "cache" / KEY
    link = target.with_name(name.format(target.name))
    link.symlink_to(victim.parent if link.suffix == ".link" else victim)
    fetch_from(server, tmp_path / "cache", entry)
    assert victim.read_bytes() == b"mine" and target.read_bytes() == CONTENT


@pytest.mark.fault("cache")
def test_fetch_pipe(tmp_path):
    registry = make_registry({"origin": origin()})
    for folder in ("cache", "mirror"):
        (tmp_path / folder / "toy").mkdir(parents=True)
    os.mkfifo(tmp_path / "cache" / KEY)
    with pytest.raises(CacheError, match="is not a regular file"):
        fetch(KEY, tmp_path / "cache", registry=registry)


def test_fetch_notice(server, tmp_path, caplog):
    registry = make_registry({"origin": origin()}, server.host)
    (tmp_path / KEY).parent.mkdir(parents=True)  # as Snakemake does before a job
    fetch(KEY, tmp_path, registry=registry)
    (notice,) = caplog.messages
    assert "A. Author" in notice and "A Paper" in notice and "none stated" in notice
    (tmp_path / KEY).rename((tmp_path / KEY).with_name("another.csv"))
    fetch(KEY, tmp_path, registry=registry)
    assert caplog.messages == [notice]


# --- failures of the network --------------------------------------------------------------------


@pytest.mark.fault("download")
@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "is empty"),
        (b"\n<!DOCTYPE html><html>Sign in</html>", "is an HTML page instead of data"),
        (CONTENT[:100], f"is truncated: 100 of {len(CONTENT)} bytes"),
        (CONTENT.replace(b"4", b"5"), "has the wrong content"),
        (CONTENT + b"more", "has the wrong content"),
    ],
)
def test_fetch_wrong_content(server, tmp_path, body, what):
    server.answer = server.send(body, announced=None)
    url = make_registry({"origin": origin()}, server.host).url(KEY)
    message = failure(DownloadError, server, tmp_path)
    for part in (what, KEY, url, sha256(body), sha256(CONTENT), "EVERYCELL_MIRROR"):
        assert part in message


def pour(handler):
    handler.send_response(200)
    handler.end_headers()
    # 40 MB, unless the download is aborted.
    for _ in range(40):
        handler.wfile.write(bytes(1 << 20))


def send_bad_length(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", "many")
    handler.end_headers()
    handler.wfile.write(CONTENT)


CUT = {"body": CONTENT[:100], "announced": len(CONTENT)}


@pytest.mark.fault("download")
@pytest.mark.parametrize(
    ("answer", "what", "requests", "timeout"),
    [
        (lambda _: pour, f"has more than .* expected {len(CONTENT)}", 1, 30),
        (lambda _: send_bad_length, "sent headers that cannot be read", 3, 30),
        (lambda server: server.send(b"", status=404), f"returned 404 .*{sha256(CONTENT)}", 1, 30),
        (lambda server: server.send(b"", status=403), "returned 403", 1, 30),
        (lambda server: server.send(b"", status=429), "returned 429", 3, 30),
        (lambda server: server.send(b"", status=503), "returned 503", 3, 30),
        (lambda server: server.send(**CUT), f"before all {len(CONTENT)} bytes arrived", 3, 30),
        (lambda server: lambda _: server.release.wait(30), "did not respond within 0.1 s", 3, 0.1),
        (lambda server: server.stall(CONTENT[:100]), "bytes arrived: .*timed out", 3, 0.1),
    ],
    ids=["endless", "header", "404", "403", "429", "503", "broken", "silent", "stalled"],
)
def test_fetch_failed_download(server, tmp_path, answer, what, requests, timeout):
    server.answer = answer(server)
    assert re.search(what, failure(DownloadError, server, tmp_path, timeout=timeout))
    assert server.requests == requests


@pytest.mark.fault("download")
def test_fetch_broken_connection(server, tmp_path):
    broken, full = server.send(**CUT), server.send(CONTENT)
    server.answer = lambda handler: (broken if server.requests == 1 else full)(handler)
    assert fetch_from(server, tmp_path).read_bytes() == CONTENT
    assert server.requests == 2


@pytest.mark.slow
@pytest.mark.fault("download")
@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_fetch_slow_download(server, tmp_path, start):
    def drip(handler):
        try:
            handler.wfile.write(start)
            while not server.release.wait(0.02):
                handler.wfile.write(b"x")
                handler.wfile.flush()
        except OSError:
            pass

    server.answer = drip
    assert "was abandoned after " in failure(DownloadError, server, tmp_path, timeout=0.5)


@pytest.mark.fault("cache")
def test_fetch_waits_for_lock(server, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(MODULE, "PATIENCE", 0.05)
    server.answer = server.send(CONTENT)
    stored = threading.Event()

    def hold():
        with FileLock(tmp_path / f".{KEY.partition('/')[0]}.lock"):
            stored.set()
            time.sleep(0.3)

    threading.Thread(target=hold).start()
    stored.wait()
    fetch_from(server, tmp_path)
    assert "Waiting for another process that is fetching files of" in caplog.text


@pytest.mark.fault("download")
def test_fetch_refused_connection(server, tmp_path):
    server.close()
    message = failure(DownloadError, server, tmp_path)
    assert KEY in message and "refused" in message and "cannot be reached" in message
    # Without the network, hash and size of the file do not matter.
    assert "sha256" not in message
    assert len(message) < 300


# --- nothing to fetch from ----------------------------------------------------------------------


def test_fetch_network_off(tmp_path):
    with pytest.raises(UnavailableError, match="network is switched off; set `mirror:`"):
        fetch(KEY, tmp_path, network=False, registry=make_registry({"origin": origin()}))


def test_fetch_mirror_only(tmp_path):
    entry = {"mirror": copy_in(tmp_path / "mirror"), "note": "taken from a package"}
    with pytest.raises(UnavailableError, match=r"cannot be downloaded \(taken from a package\)"):
        fetch(KEY, tmp_path / "cache", registry=make_registry(entry))


def test_fetch_unavailable(tmp_path):
    with pytest.raises(UnavailableError, match="cannot be fetched: too large"):
        fetch(KEY, tmp_path, registry=make_registry({"note": "too large"}))


# --- failures of the mirror ---------------------------------------------------------------------


@pytest.mark.fault("mirror")
def test_fetch_changed_mirror(server, tmp_path):
    entry = {"origin": origin(), "mirror": copy_in(tmp_path / "mirror")}
    packed = tmp_path / "mirror" / f"{KEY}.gz"
    raw = bytearray(packed.read_bytes())
    raw[-1] ^= 1
    packed.write_bytes(raw)
    cache, mirror = tmp_path / "cache", tmp_path / "mirror"
    message = failure(MirrorError, server, cache, entry, mirror=mirror)
    for part in (str(packed), sha256(bytes(raw)), entry["mirror"]["sha256"]):
        assert part in message
    assert server.requests == 0


@pytest.mark.fault("mirror")
def test_fetch_changed_packed_mirror(server, tmp_path):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / KEY).write_bytes(CONTENT[:-1] + b" ")
    message = failure(MirrorError, server, tmp_path / "cache", mirror=tmp_path / "mirror")
    assert sha256(CONTENT) in message
    assert server.requests == 0


@pytest.mark.fault("mirror")
def test_fetch_unreadable_mirror(tmp_path, monkeypatch):
    entry = {"origin": origin(), "mirror": copy_in(tmp_path / "mirror")}

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(MODULE, "sha256", refuse)
    with pytest.raises(MirrorError, match=r"ratings.csv.gz cannot be read"):
        fetch(KEY, tmp_path / "cache", mirror=tmp_path / "mirror", registry=make_registry(entry))


@pytest.mark.fault("mirror")
def test_fetch_missing_mirror(server, tmp_path):
    message = failure(MirrorError, server, tmp_path / "cache", mirror=tmp_path / "nowhere")
    assert "does not exist; correct `mirror:`" in message
    assert server.requests == 0


@pytest.mark.fault("mirror")
def test_fetch_broken_packed_mirror(tmp_path):
    (tmp_path / "mirror" / "toy").mkdir(parents=True)
    (tmp_path / "mirror" / f"{KEY}.gz").write_bytes(CONTENT)
    form = {"path": f"{KEY}.gz", "size": len(CONTENT), "sha256": sha256(CONTENT)}
    form |= {"packed": "gzip", "content_sha256": sha256(CONTENT)}
    registry = make_registry({"mirror": form, "note": "broken"})
    with pytest.raises(SourceError, match="cannot be unpacked as gzip"):
        fetch(KEY, tmp_path / "cache", mirror=tmp_path / "mirror", registry=registry)
    assert_nothing_kept(tmp_path / "cache")


# --- failures of the cache ----------------------------------------------------------------------


@pytest.mark.fault("cache")
def test_fetch_changed_cache(server, tmp_path):
    registry = make_registry({"origin": origin()}, server.host)
    path = fetch(KEY, tmp_path, registry=registry)
    path.write_bytes(b"my own notes")
    with pytest.raises(DamagedFileError) as caught:
        fetch(KEY, tmp_path, registry=registry)
    for part in (sha256(b"my own notes"), sha256(CONTENT), f"rm '{path}'"):
        assert part in str(caught.value)
    assert path.read_bytes() == b"my own notes"
    assert server.requests == 1


@pytest.mark.fault("cache")
def test_fetch_read_only_cache(server, tmp_path, monkeypatch):
    registry = make_registry({"origin": origin()}, server.host)
    path = fetch(KEY, tmp_path, registry=registry)

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    # The tests may run as root, whom no permission stops.
    monkeypatch.setattr(MODULE, "FileLock", refuse)
    monkeypatch.setattr(Path, "mkdir", refuse)
    assert fetch(KEY, tmp_path, registry=registry) == path
    path.unlink()
    with pytest.raises(CacheError, match="Permission denied; choose a writable cache folder"):
        fetch(KEY, tmp_path, registry=registry)


@pytest.mark.fault("cache")
def test_fetch_file_as_cache(server, tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.raises(CacheError, match="choose a writable cache folder"):
        fetch(KEY, tmp_path / "cache", registry=make_registry({"origin": origin()}, server.host))
    assert server.requests == 0


@pytest.mark.fault("cache")
def test_fetch_folder_as_file(tmp_path):
    (tmp_path / KEY).mkdir(parents=True)
    with pytest.raises(CacheError, match="cannot be read"):
        fetch(KEY, tmp_path, registry=make_registry({"origin": origin()}))


def run_fetch(registry: Registry, cache: Path, before: str = "") -> subprocess.Popen:
    """Fetch in a process of its own, which prints the path or the error."""
    script = (
        f"import json, pathlib, resource, sys\n{before}\n"
        "from everycell.records.registry import Registry\n"
        "from everycell.records.registry import SourceError\n"
        "from everycell.sources import fetch\n"
        "registry = Registry.model_validate_json(sys.argv[1])\n"
        "try:\n"
        "    print(fetch(sys.argv[2], pathlib.Path(sys.argv[3]), registry=registry))\n"
        "except SourceError as error:\n"
        "    print(type(error).__name__, error)\n"
    )
    source = Path(MODULE.__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", script, registry.model_dump_json(), KEY, str(cache)],
        env=os.environ | {"PYTHONPATH": str(source)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.fault("full_disk")
def test_fetch_no_space(server, tmp_path):
    registry = make_registry({"origin": origin()}, server.host)
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))"
    out, _ = run_fetch(registry, tmp_path, limit).communicate(timeout=60)
    assert out.startswith("CacheError")
    assert "free some space" in out
    assert_nothing_kept(tmp_path)
    assert fetch(KEY, tmp_path, registry=registry).read_bytes() == CONTENT


# Says when it is about to wait for the lock.
WAIT = """
import filelock
acquire = filelock.FileLock.acquire
def announce(self, *args, **kwargs):
    print("waiting", flush=True)
    return acquire(self, *args, **kwargs)
filelock.FileLock.acquire = announce
"""


@pytest.mark.fault("cache")
def test_fetch_two_processes(server, tmp_path):
    second_waits, full = threading.Event(), server.send(CONTENT)

    def answer(handler):
        second_waits.wait(30)
        full(handler)

    server.answer = answer
    registry = make_registry({"origin": origin()}, server.host)
    first = run_fetch(registry, tmp_path)
    wait_for(lambda: server.requests == 1)
    second = run_fetch(registry, tmp_path, WAIT)
    assert second.stdout.readline() == "waiting\n"
    second_waits.set()
    for process in (first, second):
        out, err = process.communicate(timeout=60)
        assert out == f"{tmp_path / KEY}\n", err
    assert server.requests == 1
    assert (tmp_path / KEY).read_bytes() == CONTENT


@pytest.mark.fault("interrupted_run")
def test_fetch_interrupted(server, tmp_path, monkeypatch):
    def interrupt(*args):
        raise KeyboardInterrupt

    registry = make_registry({"origin": origin()}, server.host)
    with monkeypatch.context() as patch:
        patch.setattr(MODULE, "check_download", interrupt)
        with pytest.raises(KeyboardInterrupt):
            fetch(KEY, tmp_path, registry=registry)
    assert_nothing_kept(tmp_path)
    assert fetch(KEY, tmp_path, registry=registry).read_bytes() == CONTENT


@pytest.mark.fault("interrupted_run")
def test_fetch_killed(server, tmp_path):
    server.answer = server.stall(CONTENT[:700])
    registry = make_registry({"origin": origin()}, server.host)
    process = run_fetch(registry, tmp_path)
    wait_for(lambda: list((tmp_path / "toy").glob(".*/*.download")))
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert not (tmp_path / KEY).exists()
    server.answer = server.send(CONTENT)
    assert fetch(KEY, tmp_path, registry=registry).read_bytes() == CONTENT
    assert [path.name for path in (tmp_path / "toy").iterdir()] == ["ratings.csv"]


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "the other process did not get that far in 60 s"
        time.sleep(0.02)


# --- the real registry --------------------------------------------------------------------------


def test_fetch_every_mirrored_file(mirror, tmp_path):
    registry = load_registry()
    keys = [key for key, entry in registry.files.items() if entry.mirror]
    for key in keys:
        path = fetch(key, tmp_path, mirror=mirror, network=False)
        assert check(path, key).stat().st_size > 0
    assert len(keys) == 241


def test_load_registry_round_trip():
    registry = load_registry()
    assert Registry.model_validate(json.loads(registry.model_dump_json())) == registry


def redirect(address):
    """Answer that the file is at another address."""

    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", address)
        handler.end_headers()

    return answer


def download_registered(url, path):
    form = Form(size=len(CONTENT), sha256=sha256(CONTENT), path="a.csv")
    download.download_file("a.csv", url, path, form, 5.0)


def download_added(url, path):
    additions._download(url, path, 5.0)


@pytest.mark.parametrize("download_url", [download_registered, download_added])
@pytest.mark.parametrize(
    "address",
    [
        "file:///etc/hostname",
        "file:///etc/hostname?token=hunter2",
        "ftp://user:hunter2@127.0.0.1/a",
        "http://user:hunter2@127.0.0.1:9/a",
        "http://user:hunter2@127.0.0.1:port/a",
        "http://127.0.0.1:9/a?access_token=hunter2",
        "//user:hunter2@127.0.0.1:9/",
        "data:text/plain,hunter2",
        "/a",
        "http://",
        "http://[hunter2",
    ],
)
def test_download_redirect(server, tmp_path, download_url, address):
    """Redirects lead to no file of this machine, and no message shows a password in one."""
    server.answer = redirect(address)
    with pytest.raises(SourceError) as error:
        download_url(f"{server.host}/a.csv", tmp_path / "a")
    assert "hunt" not in str(error.value) and "\n" not in str(error.value)
    assert not (tmp_path / "a").exists() or (tmp_path / "a").read_bytes() == b""


@pytest.mark.parametrize("hops", [["http"], ["https", "http"], ["http", "https"], ["https"]])
def test_download_redirect_without_encryption(tmp_path, monkeypatch, hops):
    """The hash of a new file is not known, so that anyone on the way could change the file."""
    responses = [requests.Response() for _ in hops]
    for response, scheme in zip(responses, hops, strict=True):
        response.url, response.status_code = f"{scheme}://example.org/a", 200
        response.raw = io.BytesIO(CONTENT)
    responses[-1].history = responses[:-1]
    monkeypatch.setattr(requests, "get", lambda *arguments, **options: responses[-1])
    if hops == ["https"]:
        download_added("https://example.org/a", tmp_path / "a")
        assert (tmp_path / "a").read_bytes() == CONTENT
    else:
        with pytest.raises(SourceError, match="without encryption"):
            download_added("https://example.org/a", tmp_path / "a")
        assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("download_url", [download_registered, download_added])
def test_download_password_of_proxy(server, tmp_path, monkeypatch, download_url):
    """A proxy that is not reached, or that refuses, is not named with its password."""
    monkeypatch.setenv("NO_PROXY", "")
    for proxy in ("http://user:hunter2@127.0.0.1:9", server.host.replace("//", "//user:hunter2@")):
        for scheme in ("http", "https"):
            monkeypatch.setenv(f"{scheme}_proxy", proxy)
            server.answer = server.send(b"hunter", status=407)
            with pytest.raises(SourceError) as error:
                download_url(f"{scheme}://example.org/a.csv", tmp_path / "a")
            assert "hunt" not in str(error.value) and "\n" not in str(error.value)
