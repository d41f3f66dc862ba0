"""Records of answers: no request is sent twice, and a replay needs no model.

A record is an append-only file of JSON lines. A line contains the model's identity, the hash of the
prompt, the decoding parameters (or the scored text), the answer and the date. Its `key` is the hash
of all of these except the answer and the date (`request_key`). Its `chained` is a hash of the line
and of all lines before it, which reveals edited, removed and inserted lines. Prompts may contain
data that must not be shared, so they are stored in a separate file, and only if its path is given.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import sys
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from everycell.base.files import write_atomically
from everycell.base.text_files import check_regular
from everycell.base.untrusted import parse_json
from everycell.base.validation import describe_fault, validate_json
from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModelError,
    Request,
    prompt_hash,
    request_key,
)
from everycell.language_models.settings import Decoding

_LOG = logging.getLogger(__name__)
# Seconds to wait for another process that writes to the same record.
_WAIT = 5.0


class RecordError(LanguageModelError):
    """A record cannot be used; the message names the file, and the line if there is one."""


class Entry(BaseModel):
    """A line of a record."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str
    model: Identity
    prompt_sha256: str
    decoding: Decoding | None
    continuation: str | None
    answer: Answer
    date: str
    #: None in an older, unchained record (see `chain_record`).
    chained: str | None = None

    @property
    def expected_key(self) -> str:
        """Key computed from the other fields."""
        return request_key(self.model, self.prompt_sha256, self.decoding, self.continuation)

    def chain_to(self, previous: str) -> Entry:
        """Return the entry chained to the hash of the previous line ("" for the first line)."""
        fields = self.model_dump(mode="json", exclude={"chained"})
        text = previous + json.dumps(fields, sort_keys=True, ensure_ascii=True)
        return self.model_copy(update={"chained": hashlib.sha256(text.encode()).hexdigest()})


def read_record(path: Path) -> dict[str, Entry]:
    """Read a record; a missing one is empty."""
    return chained_entries(path)[0]


def chained_entries(path: Path, *, allow_unchained: bool = False) -> tuple[dict[str, Entry], str]:
    """Read the entries of a record, and the hash of its last line."""
    entries: dict[str, Entry] = {}
    last, chained = "", False
    for number, line in enumerate(_complete_lines(path), start=1):
        location = f"{path}, line {number}"
        try:
            entry = validate_json(Entry, line)
        except ValidationError as error:
            fault = error.errors()[0]
            problem = (
                f"is not JSON ({fault['ctx']['error']})"
                if fault["type"] == "json_invalid"
                else f"is not a recorded answer: {describe_fault(Entry, error).rstrip('.')}"
            )
            raise RecordError(
                f"{location} {problem}; restore the line, or remove it and all lines after it "
                "(their requests are then sent again)."
            ) from None
        if entry.key != entry.expected_key:
            raise RecordError(
                f"{location}: the key is {entry.key[:12]}..., but the model, prompt hash and "
                f"parameters give {entry.expected_key[:12]}...: the line was edited. Restore it, "
                "or remove it and all lines after it (their requests are then sent again)."
            )
        no_address = bool(entry.model.host) and not entry.model.url
        if not allow_unchained and (no_address or (entry.chained is None and not chained)):
            field = "the address of its endpoint" if no_address else "its hash `chained`"
            raise RecordError(
                f"{location} lacks {field}; if you trust this record, convert it once with "
                f"`python -m everycell.language_models.records {path}{' URL' * no_address}`, "
                "otherwise restore it."
            )
        last = entry.chain_to(last).chained or ""
        chained = chained or entry.chained is not None
        if chained and entry.chained != last:
            raise RecordError(
                f"{location}: the hash does not match the lines up to here: a line was edited, "
                "removed or inserted. Restore the file, or remove this line and all lines after it "
                "(their requests are then sent again)."
            )
        known = entries.setdefault(entry.key, entry)
        if known.answer != entry.answer:
            raise RecordError(
                f"{location}: the request {entry.key[:12]}... has a different answer on an earlier "
                "line; remove this line and all lines after it (their requests are then sent "
                "again)."
            )
    return entries, last


def _complete_lines(path: Path) -> list[bytes]:
    try:
        check_regular(path, RecordError)
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(
            f"{path} cannot be read ({error.strerror}); use another record."
        ) from None
    return content.split(b"\n")[:-1]


class Record:
    """A record opened for appending: ``with Record(path) as record: ...``.

    Only one process at a time can write to a record; its threads may share it.
    """

    def __init__(
        self, path: Path, *, prompts: Path | None = None, also: Sequence[Path] = ()
    ) -> None:
        self.path = path
        self.entries: dict[str, Entry] = {}
        self._also = also
        self._prompts_path = prompts
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        self._threads = threading.Lock()
        self._last = ""

    def __enter__(self) -> Record:
        """Lock, repair and read the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=_WAIT)
        except Timeout:
            raise RecordError(
                f"{self.path}: another process is writing to this record; wait until it has "
                "finished, or use another record."
            ) from None
        try:
            _remove_partial_line(self.path)
            self.entries, self._last = chained_entries(self.path)
            for path in self._also:
                if not path.is_file():
                    raise RecordError(f"There is no record {path}; restore it, or do not list it.")
                self.entries |= read_record(path)
            self._prompt_hashes = set()
            if self._prompts_path is not None:
                self._prompts_path.parent.mkdir(parents=True, exist_ok=True)
                _remove_partial_line(self._prompts_path)
                self._prompt_hashes = _prompt_hashes(self._prompts_path)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Release the lock."""
        self._lock.release()

    def find(self, identity: Identity, request: Request) -> Answer | None:
        """Recorded answer of a model to a request, or None."""
        entry = self.entries.get(key_of(identity, request))
        return None if entry is None else entry.answer

    def identity_of(self, name: str) -> Identity:
        """Identity of the only model with this name in the record, for a replay without it."""
        identities = {entry.model for entry in self.entries.values() if entry.model.name == name}
        if len(identities) != 1:
            names = sorted({entry.model.name for entry in self.entries.values()})
            raise RecordError(
                f"{self.path} contains answers of {len(identities)} models with the name {name!r} "
                f"(all names: {', '.join(names) or 'none'}); a replay without the model needs "
                "exactly one. Allow requests to the model, or use another record."
            )
        return identities.pop()

    def add(self, identity: Identity, request: Request, answer: Answer) -> None:
        """Append an answer and write it to disk."""
        entry = Entry(
            key=key_of(identity, request),
            model=identity,
            prompt_sha256=prompt_hash(request),
            decoding=request.decoding,
            continuation=request.continuation,
            answer=answer,
            date=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        with self._threads:
            if self._prompts_path is not None and entry.prompt_sha256 not in self._prompt_hashes:
                prompt = request.model_dump(mode="json")["prompt"]
                append_line(self._prompts_path, {"sha256": entry.prompt_sha256, "prompt": prompt})
                self._prompt_hashes.add(entry.prompt_sha256)
            entry = entry.chain_to(self._last)
            append_line(self.path, entry.model_dump(mode="json"))
            self._last = entry.chained or ""
            self.entries[entry.key] = entry


def record_lines(entries: Iterable[Entry]) -> str:
    """Entries as the text of a record, for `read_record`."""
    # ASCII, so that a line is never cut inside a character or at a Unicode line break.
    lines, last = [], ""
    for entry in entries:
        chained = entry.chain_to(last)
        last = chained.chained or ""
        fields = chained.model_dump(mode="json")
        lines.append(json.dumps(fields, ensure_ascii=True, separators=(",", ":")) + "\n")
    return "".join(lines)


def _prompt_hashes(path: Path) -> set[str]:
    hashes = set()
    for number, line in enumerate(_complete_lines(path), start=1):
        try:
            hashes.add(str(parse_json(line)["sha256"]))
        except (ValueError, KeyError, TypeError):
            raise RecordError(
                f"{path}, line {number} is not a prompt with its hash; remove the line."
            ) from None
    return hashes


def append_line(path: Path, value: object) -> None:
    """Append a value to a file as a line of JSON, and write it to disk."""
    # ASCII, so that a line is never cut inside a character or at a Unicode line break.
    line = json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n"
    with path.open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def _remove_partial_line(path: Path) -> None:
    """Remove an incomplete last line, left by a killed process."""
    if not path.exists():
        return
    check_regular(path, RecordError)
    with path.open("r+b") as file:
        content = file.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            _LOG.warning(
                "%s: the last line was cut off after %d bytes (a run was killed); the line was "
                "removed, and its request will be sent again.",
                path,
                len(content) - end,
            )
            file.truncate(end)


def key_of(identity: Identity, request: Request) -> str:
    """Key of a model's answer to a request in a record (see `request_key`)."""
    return request_key(identity, prompt_hash(request), request.decoding, request.continuation)


def chain_record(path: Path, url: str = "") -> None:
    """Chain the lines of an older record; answers of an endpoint without an address get `url`.

    Only for records that you trust: edits of unchained lines cannot be detected.
    """
    from everycell.language_models.endpoint import endpoint_identity
    from everycell.language_models.settings import EndpointSettings

    if not path.is_file():
        raise RecordError(f"There is no record {path}; correct the path.")
    with FileLock(path.with_name(f".{path.name}.lock"), timeout=5):
        entries = []
        for entry in chained_entries(path, allow_unchained=True)[0].values():
            if entry.model.host and not entry.model.url:
                identity = (
                    endpoint_identity(EndpointSettings(url=url, model="any")) if url else None
                )
                if identity is None or identity.host != entry.model.host:
                    raise RecordError(
                        f"{path}: answers of the host {entry.model.host} lack the address of the "
                        f"endpoint, and {url or 'no address'} was given; give the `url` that "
                        "config.yaml had when they were recorded."
                    )
                model = entry.model.model_copy(update={"url": identity.url})
                entry = entry.model_copy(update={"model": model})
            entries.append(entry.model_copy(update={"key": entry.expected_key}))
        write_atomically(path, record_lines(entries))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("Usage: python -m everycell.language_models.records FILE [URL]")
    try:
        chain_record(Path(sys.argv[1]), *sys.argv[2:])
    except (RecordError, Timeout, OSError, ValueError) as error:
        sys.exit(f"everycell: {error}")
