"""A server on this machine in place of the model hub and of the hosts of corpora.

``CorpusServer`` serves files by their path, and repositories of the hub (models; data sets with
``kind="datasets"``) as far as ``huggingface_hub.snapshot_download`` asks: a repository's commit
and list of files, HEAD and GET of a file with its ETag, of a large one its sha256. It keeps what it
was asked (``asked``) and misbehaves on demand.

>>> server = CorpusServer()
>>> server.add_toy_corpora()
>>> commit = server.add_repository("org/model", {"config.json": b"{}"})
>>> server.fault("/squad/dev-v2.0.json", "cut", times=1)
>>> sorted(server.environment(Path("home")))  # doctest: +ELLIPSIS
['HF_ENDPOINT', 'HF_HOME', ...]
>>> server.close()

``add_toy_corpora`` has msmarco, nq, msmarco_qa, squad and scidocs with a few hundred texts
(`toy_corpora`). Give a run ``server.environment(home)`` as environment, and the file of
``server.write_downloads(path)`` as ``corpora.downloads`` in config.yaml: it has the addresses,
sizes and md5 of this server in the form of the dictionary of ir_datasets.

Faults of a path, of a file's name in a repository, or of a repository's name, ``times`` of them
(None: always):

- ``cut``: the connection ends in the middle of the body (a request with Range is cut no more);
- ``stall``: half of the body, then nothing until the server is closed: for a kill in between;
- ``corrupt``: one byte of the body is another one, lengths and headers are right;
- ``html``: a page that asks to log in, with status 200;
- ``gated``, ``missing``, ``busy``: 401 or 403 as of a gated repository, 404, 503.

``python tests/corpus_server.py FOLDER`` serves the toy corpora until it is ended, and writes
``FOLDER/downloads.json`` and ``FOLDER/environment.sh``; ``--model NAME=FOLDER`` adds a model.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote

from toy_corpora import (
    TOWNS,
    beir_zip,
    founded,
    msmarco_files,
    msmarco_qa,
    scidocs_files,
    squad,
    voyage,
)

#: Bytes from which a file of a repository is served as a large one.
LARGE = 1000


class CorpusServer:
    """Serves files and repositories; see the module for its faults."""

    def __init__(self, port: int = 0) -> None:
        self.files: dict[str, bytes] = {}
        self.repositories: dict[str, tuple[str, dict[str, bytes]]] = {}
        self.faults: dict[str, list] = {}
        #: Method, path and Range of each request.
        self.asked: list[tuple[str, str, str | None]] = []
        self.closing = threading.Event()
        #: Whether a part of a file can be asked for.
        self.accepts_ranges = True
        self._downloads: dict[str, dict[str, dict]] = {}
        handler = type("Handler", (_Handler,), {"outer": self})
        self.http = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self.http.daemon_threads = True
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.http.server_port}"

    def close(self) -> None:
        self.closing.set()
        self.http.shutdown()
        self.http.server_close()

    def __enter__(self) -> CorpusServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fault(self, path: str, kind: str, times: int | None = None) -> None:
        """Misbehave when a path is asked for; a repository is named by its name."""
        self.faults[path] = [kind, times]

    def add_file(self, path: str, data: bytes, entry: tuple[str, str] | None = None) -> None:
        """Serve data under a path; `entry` is its place in the dictionary of downloads."""
        self.files[path] = data
        if entry is not None:
            part, key = entry
            self._downloads.setdefault(part, {})[key] = {
                "url": self.url + path,
                "size_hint": len(data),
                "expected_md5": hashlib.md5(data, usedforsecurity=False).hexdigest(),
            }

    def add_repository(
        self, name: str, files: Mapping[str, bytes] | Path, kind: str = "models"
    ) -> str:
        """Serve a repository of the hub, of these files or of those in a folder; its commit."""
        if isinstance(files, Path):
            root = files
            files = {
                path.relative_to(root).as_posix(): path.read_bytes()
                for path in sorted(root.rglob("*"))
                if path.is_file()
            }
        content = hashlib.sha1(usedforsecurity=False)
        for path, data in sorted(files.items()):
            content.update(path.encode() + hashlib.sha256(data).digest())
        commit = content.hexdigest()
        self.repositories[name if kind == "models" else f"{kind}/{name}"] = (commit, dict(files))
        return commit

    def add_msmarco(
        self, passages: Sequence[str], queries: Mapping[str, str], relevant: Mapping[str, int]
    ) -> None:
        """MS MARCO passages of one's own choice, in place of the toy ones."""
        packed = msmarco_files(passages, queries, relevant)
        keys = {
            "collectionandqueries.tar.gz": "collectionandqueries",
            "queries.tar.gz": "queries",
            "qrels.dev.tsv": "dev/qrels",
            "qrels.train.tsv": "train/qrels",
        }
        for name, data in packed.items():
            self.add_file(f"/msmarcoranking/{name}", data, ("msmarco-passage", keys[name]))

    def add_toy_corpora(self, passages: int = 300, towns: Sequence[str] = TOWNS) -> None:
        """All corpora that the workflow fetches, with a few hundred texts on some `TOWNS`."""
        texts = [founded(town) for town in towns]
        texts += [voyage(n) for n in range(passages - len(towns))]
        queries = {str(n + 1): f"when was {town} founded" for n, town in enumerate(towns)}
        self.add_msmarco(texts, queries, {query: int(query) - 1 for query in queries})
        pool = {f"doc{n}": text for n, text in enumerate(texts)}
        requests = [(f"when was {town} founded", f"doc{n}") for n, town in enumerate(towns)]
        self.add_file("/beir/nq.zip", beir_zip("nq", requests, pool), ("beir", "nq"))
        self.add_file(
            "/msmarco/dev_v2.1.json.gz",
            msmarco_qa(towns, min(10, len(towns))),
            ("msmarco-qna", "dev"),
        )
        half = len(towns) // 2
        for part, some in (("train", towns[:half]), ("dev", towns[half:])):
            self.add_file(f"/squad/{part}-v2.0.json", squad(some), ("squad2", part))
        for name, data in scidocs_files().items():
            self.add_file(f"/scidocs/{name}", data, ("scidocs", name))

    def write_downloads(self, path: Path, **changed: Mapping[str, dict]) -> Path:
        """Write the dictionary of downloads; `changed` replaces parts of it, such as an md5."""
        result = json.loads(json.dumps(self._downloads))
        for part, entries in changed.items():
            for key, entry in entries.items():
                result[part.replace("_", "-")][key] |= entry
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
        return path

    def environment(self, home: Path) -> dict[str, str]:
        """Environment in which libraries ask this server, with caches below a folder of one's own.

        `HF_ENDPOINT` is read when huggingface_hub is imported: give it to a new process.
        """
        return {
            "HF_ENDPOINT": self.url,
            "HF_HOME": str(home / "huggingface"),
            "HF_HUB_DISABLE_XET": "1",
            "HF_HUB_DISABLE_TELEMETRY": "1",
            "HF_HUB_DISABLE_UPDATE_CHECK": "1",
            "HF_HUB_OFFLINE": "0",
            "IR_DATASETS_HOME": str(home / "ir_datasets"),
            "PYSERINI_CACHE": str(home / "pyserini"),
            "no_proxy": "127.0.0.1",
            "NO_PROXY": "127.0.0.1",
        }

    def due(self, *paths: str) -> str | None:
        """The fault that is due for one of these names, which then is one fewer."""
        for path in paths:
            if path in self.faults:
                kind, times = self.faults[path]
                if times is None:
                    return kind
                if times > 0:
                    self.faults[path][1] -= 1
                    return kind
        return None


class _Handler(BaseHTTPRequestHandler):
    outer: CorpusServer
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self) -> None:
        path = unquote(self.path.partition("?")[0])
        self.outer.asked.append((self.command, path, self.headers.get("Range")))
        if path in self.outer.files:
            self._send_file(self.outer.files[path], path, {})
        elif path.startswith("/api/"):
            self._send_information(path.split("/")[2:])
        elif "/resolve/" in path:
            self._send_resolved(path)
        else:
            self._send(404, {}, b"Not found")

    def _repository(self, parts: list[str]) -> tuple[str, str, dict[str, bytes]] | None:
        """Name, commit and files of a repository, or None after a response with status 404."""
        name = "/".join(parts)
        fault = self.outer.due(name)
        if fault == "gated":
            message = b'{"error": "Access to this model is restricted."}'
            self._send(403, {"X-Error-Code": "GatedRepo"}, message)
        elif name not in self.outer.repositories or fault == "missing":
            self._send(404, {"X-Error-Code": "RepoNotFound"}, b'{"error": "Repository not found"}')
        elif fault == "busy":
            self._send(503, {}, b"busy")
        elif fault == "html":
            self._send(200, {"Content-Type": "text/html"}, _PAGE)
        else:
            return name, *self.outer.repositories[name]
        return None

    def _send_information(self, parts: list[str]) -> None:
        kind, *remaining = parts
        name = remaining[:2] if kind == "models" else [kind, *remaining[:2]]
        if (result := self._repository(name)) is None:
            return
        _, commit, files = result
        # A pull request has the files of the main branch.
        known = ("main", commit, "refs/pr/1")
        if (
            len(remaining) > 3
            and remaining[2] in ("revision", "tree")
            and "/".join(remaining[3:]) not in known
        ):
            self._send(404, {"X-Error-Code": "RevisionNotFound"}, b'{"error": "Invalid rev id"}')
        elif len(remaining) > 2 and remaining[2] == "tree":
            listed = [
                {"type": "file", "path": file, "size": len(data), "oid": _blob(data)}
                | ({"lfs": _lfs(data)} if len(data) >= LARGE else {})
                for file, data in files.items()
            ]
            self._send_json(listed)
        else:
            message = {
                "id": "/".join(remaining[:2]), "modelId": "/".join(remaining[:2]), "sha": commit,
                "private": False, "gated": False, "disabled": False, "downloads": 0, "likes": 0,
                "tags": [], "siblings": [{"rfilename": file} for file in files],
            }  # fmt: skip
            self._send_json(message)

    def _send_resolved(self, path: str) -> None:
        before, _, after = path.partition("/resolve/")
        parts = before.strip("/").split("/")
        revision, _, file = after.partition("/")
        if (result := self._repository(parts)) is None:
            return
        _, commit, files = result
        if revision not in ("main", commit):
            self._send(404, {"X-Error-Code": "RevisionNotFound"}, b"")
        elif file not in files:
            self._send(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit}, b"")
        else:
            data = files[file]
            headers = {"X-Repo-Commit": commit, "ETag": f'"{_blob(data)}"'}
            if len(data) >= LARGE:
                digest = hashlib.sha256(data).hexdigest()
                headers |= {"X-Linked-Etag": f'"{digest}"', "X-Linked-Size": str(len(data))}
            self._send_file(data, file, headers)

    def _send_file(self, data: bytes, path: str, headers: dict[str, str]) -> None:
        """A file or the part that is asked for, or what the fault that is due makes of it."""
        fault = None if self.command == "HEAD" else self.outer.due(path, path.rpartition("/")[2])
        headers = {"Content-Type": "application/octet-stream"} | headers
        if self.outer.accepts_ranges:
            headers["Accept-Ranges"] = "bytes"
        status, start = 200, 0
        requests = self.headers.get("Range") if self.outer.accepts_ranges else None
        if requests:
            start = int(requests.removeprefix("bytes=").partition("-")[0])
            status = 206
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        if fault in ("missing", "busy", "gated"):
            self._send({"missing": 404, "busy": 503, "gated": 401}[fault], {}, b"no")
        elif fault == "html":
            self._send(200, {"Content-Type": "text/html"}, _PAGE)
        elif fault == "corrupt":
            middle = len(data) // 2
            spoilt = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
            self._send(status, headers, spoilt[start:])
        elif fault == "stall" or (fault == "cut" and not requests):
            self._send(status, headers, data[start:], half=True)
            if fault == "stall":
                self.outer.closing.wait(120)
            self.close_connection = True
        else:
            self._send(status, headers, data[start:])

    def _send_json(self, content: object) -> None:
        self._send(200, {"Content-Type": "application/json"}, json.dumps(content).encode())

    def _send(
        self, status: int, headers: Mapping[str, str], data: bytes, half: bool = False
    ) -> None:
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data[: len(data) // 2] if half else data)
                self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True


_PAGE = b"<!DOCTYPE html><html><title>Log in</title>Please log in.</html>"


def _blob(data: bytes) -> str:
    """Hash of a file in git."""
    head = f"blob {len(data)}\0".encode()
    return hashlib.sha1(head + data, usedforsecurity=False).hexdigest()


def _lfs(data: bytes) -> dict[str, object]:
    digest = hashlib.sha256(data).hexdigest()
    return {"oid": digest, "size": len(data), "pointerSize": 134}


def main() -> None:
    """Serve the toy corpora and some models until the process is ended."""
    parser = argparse.ArgumentParser(description="Toy corpora in place of the real hosts.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", action="append", default=[], metavar="NAME=FOLDER")
    selection = parser.parse_args()
    selection.folder.mkdir(parents=True, exist_ok=True)
    with CorpusServer(selection.port) as server:
        server.add_toy_corpora()
        for model in selection.model:
            name, _, folder = model.partition("=")
            server.add_repository(name, Path(folder))
        server.write_downloads(selection.folder / "downloads.json")
        exports = "".join(
            f"export {name}='{value}'\n"
            for name, value in server.environment(selection.folder.resolve()).items()
        )
        (selection.folder / "environment.sh").write_text(exports, encoding="utf-8")
        print(server.url, flush=True)
        server.closing.wait()


if __name__ == "__main__":
    main()
