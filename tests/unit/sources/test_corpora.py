"""Corpora from a server that truncates, corrupts and stalls on demand."""

from __future__ import annotations

import io
import json
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import ir_datasets
import pytest
from corpus_server import CorpusServer

import everycell
from everycell.collections.cited_questions import read_msmarco_qa
from everycell.collections.msmarco import read_judgements, read_queries, stream_passages
from everycell.sources import published_files
from everycell.sources.corpora import CORPORA, EXTRA_DOWNLOADS, SOURCE, fetch_corpus
from everycell.sources.published_files import (
    CorpusError,
    PublishedFile,
    check_disk_space,
    fetch_published_file,
    find_published_file,
    unpack,
)
from papers.abolghasemi2026.ch2_scidocs import read_scidocs
from papers.lajewska2025.answerability_data import read_squad

QA = "/msmarco/dev_v2.1.json.gz"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CorpusServer]:
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("IR_DATASETS_DL_DISABLE_PBAR", "true")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with CorpusServer() as server:
        server.add_toy_corpora()
        server.downloads = server.write_downloads(tmp_path / "downloads.json")
        yield server


def fetched(server: CorpusServer, name: str, folder: Path, **options) -> dict[str, Path]:
    return fetch_corpus(name, folder, downloads=server.downloads, **options)


def left_in(folder: Path) -> list[str]:
    return sorted(
        path.name for path in folder.rglob("*") if path.is_file() and ".lock" not in path.name
    )


def test_fetch_corpus_files_for_readers(server, tmp_path):
    result = {name: fetched(server, name, tmp_path / name) for name in CORPORA}
    passages = list(stream_passages(result["msmarco"]["collection.tsv"], expected=300))
    assert passages[0][0] == "0"
    assert len(read_judgements(result["msmarco"]["qrels.dev.tsv"], ["1", "2"])) == 2
    training = read_queries(result["msmarco"]["queries.train.tsv"])
    assert len(read_judgements(result["msmarco"]["qrels.train.tsv"], training)) == len(training)
    questions = read_msmarco_qa(result["msmarco_qa"]["dev_v2.1.json"])
    assert questions.relevant["document"].str.endswith(".1").all()
    assert questions.empty == 1 and len(questions.run) == len(questions.passages)
    assert len(read_squad(result["squad"]["train-v2.0.json"])) == 40
    papers = read_scidocs(tmp_path / "scidocs", seed=1)
    assert len(papers.documents) == 190
    # The second call sends no request.
    server.asked.clear()
    fetched(server, "nq", tmp_path / "nq")
    assert server.asked == []


def test_fetch_corpus_resumes(server, tmp_path):
    body = server.files[QA] = bytes(200_000) + server.files[QA]
    server.add_file(QA, body, ("msmarco-qna", "dev"))
    server.write_downloads(server.downloads)
    server.fault(QA, "cut", times=1)
    # Without gzip's magic bytes, the file is used unchanged.
    result = fetched(server, "msmarco_qa", tmp_path / "qa")
    assert result["dev_v2.1.json"].read_bytes() == body
    first, second = [requests for requests in server.asked if requests[1] == QA]
    assert first[2] is None and int(second[2].removeprefix("bytes=").rstrip("-")) > 0


@pytest.mark.parametrize(
    ("fault", "expected_message"),
    [
        ("corrupt", r"returned \d+ bytes with md5 [0-9a-f]{32}, expected"),
        ("html", "returned an HTML or XML page instead of data with md5"),
        ("missing", "returned 404 Not Found"),
        ("busy", "returned 503"),
        ("cut", "broke off after"),
    ],
)
def test_fetch_corpus_errors(server, tmp_path, fault, expected_message):
    server.fault(QA, fault)
    if fault == "cut":
        # A host without support for Range starts again each time.
        server.accepts_ranges = False
    with pytest.raises(CorpusError, match=expected_message) as caught:
        fetched(server, "msmarco_qa", tmp_path / "qa")
    assert QA in str(caught.value) and "\n" not in str(caught.value)
    assert left_in(tmp_path / "qa") == [] == left_in(tmp_path / "cache")
    server.faults.clear()
    assert fetched(server, "msmarco_qa", tmp_path / "qa")[SOURCE].exists()


def test_fetch_corpus_endless_headers(endless_headers, tmp_path, monkeypatch):
    monkeypatch.setattr(published_files, "_PATIENCE", 0.6)
    file = PublishedFile(endless_headers, None, 0, tmp_path / "file")
    with pytest.raises(CorpusError, match="was abandoned after 0 of"):
        fetch_published_file(file, network=True)
    assert left_in(tmp_path) == []


@pytest.mark.parametrize(
    ("start", "more", "size", "expected_message"),
    [
        (b"", b"x", 0, "was abandoned"),
        (b"", b"x", 10**9, "was abandoned"),
        (b"Transfer-Encoding: chunked\r\n", b"1\r\nx\r\n", 0, "was abandoned"),
        (b"Content-Encoding: gzip\r\n", b"", 0, "was abandoned"),
        (b"", b"x" * 2**21, 10, "has more than"),
        (b"Content-Length: 99999999\r\n", b"x" * 2**21, 10, "has more than"),
    ],
)
def test_fetch_corpus_endless_body(
    trickle, tmp_path, monkeypatch, start, more, size, expected_message
):
    monkeypatch.setattr(published_files, "_PATIENCE", 0.6)
    url = trickle(b"HTTP/1.1 200 OK\r\n" + start + b"\r\n", more)
    with pytest.raises(CorpusError, match=expected_message):
        fetch_published_file(PublishedFile(url, None, size, tmp_path / "file"), network=True)
    assert left_in(tmp_path) == []


def test_fetch_corpus_html_page(server, tmp_path):
    entries = json.loads(server.downloads.read_text())
    for entry in entries["scidocs"].values():
        entry["expected_md5"] = None
    server.downloads.write_text(json.dumps(entries))
    server.fault("/scidocs/cite/val.qrel", "html", times=1)
    with pytest.raises(CorpusError, match=r"val.qrel returned an HTML or XML page"):
        fetched(server, "scidocs", tmp_path / "scidocs")
    assert SOURCE not in left_in(tmp_path / "scidocs")
    result = fetched(server, "scidocs", tmp_path / "scidocs")
    recorded = json.loads(result[SOURCE].read_text())["files"]["cite/val.qrel"]
    assert recorded["md5 of the download"] is None and len(recorded["sha256"]) == 64


def test_fetch_corpus_disk_space(server, tmp_path, monkeypatch):
    usage = SimpleNamespace(total=1, used=1, free=1000)
    monkeypatch.setattr("everycell.sources.published_files.shutil.disk_usage", lambda _: usage)
    message = r"The corpus msmarco_qa needs about 0.0 MB on the disk with .*, which has 0.0 MB free"
    with pytest.raises(CorpusError, match=message):
        fetched(server, "msmarco_qa", tmp_path / "qa")
    assert server.asked == []


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="needs prlimit of util-linux")
def test_fetch_corpus_full_disk(server, tmp_path):
    command = ["prlimit", "--fsize=2000", *in_a_process(server, "squad", tmp_path / "squad")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "cannot be written (" in done.stderr and "free some space" in done.stderr
    assert left_in(tmp_path / "squad") == [] == left_in(tmp_path / "cache")


def in_a_process(server: CorpusServer, name: str, folder: Path) -> list[str]:
    code = (
        "import sys, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"sys.path.insert(0, {str(Path(everycell.__file__).parents[1])!r})\n"
        "from pathlib import Path\n"
        "from everycell.sources.corpora import fetch_corpus\n"
        f"fetch_corpus({name!r}, Path({str(folder)!r}), downloads=Path({str(server.downloads)!r}))"
    )
    return [sys.executable, "-c", code]


def test_fetch_corpus_killed(server, tmp_path):
    server.fault("/squad/dev-v2.0.json", "stall", times=1)
    process = subprocess.Popen(in_a_process(server, "squad", tmp_path / "squad"))
    while not any(requests[1].endswith("dev-v2.0.json") for requests in server.asked):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert SOURCE not in left_in(tmp_path / "squad")
    assert not (tmp_path / "squad/dev-v2.0.json").exists()
    assert list((tmp_path / "cache/squad2").glob(".dev.*/dev"))
    server.asked.clear()
    result = fetched(server, "squad", tmp_path / "squad")
    assert [requests[1] for requests in server.asked] == ["/squad/dev-v2.0.json"]
    # Files of the killed process are removed.
    assert left_in(tmp_path / "cache") == ["dev", "train"]
    assert len(read_squad(result["dev-v2.0.json"])) == 40


def test_fetch_corpus_changed_file(server, tmp_path):
    result = fetched(server, "squad", tmp_path / "squad")
    result["dev-v2.0.json"].write_text("{}")
    fetched(server, "squad", tmp_path / "squad")
    assert len(read_squad(result["dev-v2.0.json"])) == 40
    (tmp_path / "cache/squad2/dev").write_text("{}")
    result[SOURCE].unlink()
    with pytest.raises(CorpusError, match=r"cache/squad2/dev has md5 .* remove it and start"):
        fetched(server, "squad", tmp_path / "squad")


def test_fetch_corpus_other_release(server, tmp_path):
    result = fetched(server, "squad", tmp_path / "squad")
    server.add_file("/squad/new.json", b'{"data": []}', ("squad2", "dev"))
    server.write_downloads(server.downloads)
    with pytest.raises(CorpusError, match=r"cache/squad2/dev has md5 .* or comes from another"):
        fetched(server, "squad", tmp_path / "squad")
    (tmp_path / "cache/squad2/dev").unlink()
    fetched(server, "squad", tmp_path / "squad")
    assert result["dev-v2.0.json"].read_bytes() == b'{"data": []}'


def test_fetch_corpus_copy_by_hand(server, tmp_path):
    with pytest.raises(CorpusError, match="config.yaml switches the network off: put the file"):
        fetched(server, "msmarco_qa", tmp_path / "qa", network=False)
    entry = json.loads(server.downloads.read_text())["msmarco-qna"]["dev"]
    by_hand = tmp_path / "cache/downloads" / entry["expected_md5"]
    by_hand.parent.mkdir(parents=True)
    by_hand.write_bytes(server.files[QA])
    assert fetched(server, "msmarco_qa", tmp_path / "qa", network=False)[SOURCE].exists()
    assert server.asked == []


@pytest.mark.parametrize(
    ("content", "expected_message"),
    [
        ("{", "is not a download dictionary"),
        ("[]", "is not a download dictionary"),
        ('{"squad2": {"dev": {"url": "https://h/a?token=s3cr3t"}}}', "squad2, dev, url: contains"),
        ('{"squad2": {"dev": {"url": "https://me:s3cr3t@h/a"}}}', "squad2, dev, url: contains"),
        ('{"squad2": {"dev": {"url": "file:///etc/passwd"}}}', "squad2, dev, url: "),
    ],
)
def test_read_dictionary_invalid(server, tmp_path, content, expected_message):
    server.downloads.write_text(content)
    with pytest.raises(CorpusError, match=expected_message):
        fetched(server, "squad", tmp_path / "squad")


def test_corpora_hash_and_size(tmp_path, monkeypatch):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    for name, corpus in CORPORA.items():
        for part in corpus.parts:
            entry = find_published_file(part.location, EXTRA_DOWNLOADS, {}, None)
            assert (entry.md5 is None) == (name == "scidocs"), part
            assert entry.size > 0 or name == "scidocs"
            assert entry.url.startswith("https://")
    assert not set(EXTRA_DOWNLOADS) & set(ir_datasets.util.DownloadConfig.contents())


@pytest.mark.parametrize(("free", "is_enough"), [(1000, True), (999, False)])
def test_check_disk_space_adds_folders_of_one_disk(tmp_path, monkeypatch, free, is_enough):
    """A download of 600 bytes and its content of 400 need 1,000 bytes, if the disk is the same."""
    usage = SimpleNamespace(total=1, used=1, free=free)
    monkeypatch.setattr("everycell.sources.published_files.shutil.disk_usage", lambda _: usage)
    (tmp_path / "cache").mkdir()
    needed = {tmp_path: 600, tmp_path / "cache": 400}
    if is_enough:
        check_disk_space("the corpus", needed)
        return
    with pytest.raises(CorpusError, match="The corpus needs"):
        check_disk_space("the corpus", needed)


def packed_zip(method: int = zipfile.ZIP_DEFLATED) -> bytearray:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("a", bytes(range(256)))
    return bytearray(file.getvalue())


@pytest.mark.parametrize("fault", ["password", "unknown method", "damaged", "no archive"])
def test_unpack_hostile_archive(tmp_path, fault):
    """Whatever an archive is, the error names it."""
    content = packed_zip(zipfile.ZIP_LZMA if fault == "damaged" else zipfile.ZIP_DEFLATED)
    directory = content.index(b"PK\1\2")
    if fault == "password":
        content[6] = content[directory + 8] = 1
    elif fault == "unknown method":
        content[8] = content[directory + 10] = 97
    elif fault == "damaged":
        content[45:60] = bytes([255] * 15)
    else:
        content = bytearray(b"text")
    (tmp_path / "a.zip").write_bytes(content)
    with pytest.raises(CorpusError, match="a.zip cannot be unpacked"):
        unpack(tmp_path / "a.zip", "a", tmp_path / "a")
    assert not (tmp_path / "a").exists()
