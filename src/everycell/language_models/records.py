"""Answers of language models in a file: nothing is asked twice, and a replay needs no model.

A record is a text file of JSON lines to which answers are only ever added. A line holds the
model's identity, the hash of the prompt, the decoding parameters (or the scored text), the answer
and the date. Its `key` is the hash of all but the last two (`request_key`). Its `chained` is a hash
of the whole line and of the lines before it, so that a line that was edited, removed or put in is
seen. Prompts may hold data that must not be passed on: they are kept apart, in a second file,
and only where a folder is given for them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import threading
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from everycell.engine.text_files import check_regular
from everycell.engine.untrusted import parse_json
from everycell.engine.validation import describe_fault
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
    """A record cannot be used; the message names the file and the line."""


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
    #: None in a record from before lines were chained (see `everycell.language_models.chaining`).
    chained: str | None = None

    @property
    def right_key(self) -> str:
        """The key that the other fields lead to."""
        return request_key(self.model, self.prompt_sha256, self.decoding, self.continuation)

    def after(self, before: str) -> Entry:
        """Return the entry as it follows a line with this hash, "" where it is the first."""
        fields = self.model_dump(mode="json", exclude={"chained"})
        text = before + json.dumps(fields, sort_keys=True, ensure_ascii=True)
        return self.model_copy(update={"chained": hashlib.sha256(text.encode()).hexdigest()})


def read_record(path: Path) -> dict[str, Entry]:
    """Read a record; a missing one is empty."""
    return chained_entries(path)[0]


def chained_entries(path: Path, *, old: bool = False) -> tuple[dict[str, Entry], str]:
    """Entries of a record, perhaps an `old` one, and the hash that its next line follows."""
    entries: dict[str, Entry] = {}
    last, chained = "", False
    for number, line in enumerate(_whole_lines(path), start=1):
        where = f"{path}, line {number}"
        try:
            entry = Entry.model_validate_json(line)
        except ValidationError as error:
            fault = error.errors()[0]
            problem = (
                "is not JSON"
                if fault["type"] == "json_invalid"
                else f"is not a recorded answer: {describe_fault(Entry, error).rstrip('.')}"
            )
            raise RecordError(
                f"{where}: {problem}; restore it, or remove it and all lines after it (their "
                "requests are then asked again)."
            ) from None
        if entry.key != entry.right_key:
            raise RecordError(
                f"{where}: the key is {entry.key[:12]}..., but model, prompt hash and parameters "
                f"lead to {entry.right_key[:12]}...: the line was edited; restore it or remove it."
            )
        no_address = bool(entry.model.host) and not entry.model.url
        if not old and (no_address or (entry.chained is None and not chained)):
            lacks = "the address of its endpoint" if no_address else "its hash `chained`"
            raise RecordError(
                f"{where}: lacks {lacks}; if you trust this record, convert it once with `python "
                "-m "
                f"everycell.language_models.chaining {path}{' URL' * no_address}`, else restore it."
            )
        last = entry.after(last).chained or ""
        chained = chained or entry.chained is not None
        if chained and entry.chained != last:
            raise RecordError(
                f"{where}: does not follow from the lines before it: it or one of them was edited, "
                "removed or put in; restore the file, or remove this line and all after it (their "
                "requests are then asked again)."
            )
        known = entries.setdefault(entry.key, entry)
        if known.answer != entry.answer:
            raise RecordError(
                f"{where}: the request {entry.key[:12]}... has another answer further up; remove "
                "one of the two lines."
            )
    return entries, last


def _whole_lines(path: Path) -> list[bytes]:
    try:
        check_regular(path, RecordError)
        content = path.read_bytes()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise RecordError(
            f"{path}: cannot be read ({error.strerror}); name another record."
        ) from None
    return content.split(b"\n")[:-1]


class Record:
    """A record that is open for adding: ``with Record(path) as record: ...``.

    One process at a time writes to a record; its threads may share it.
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
        """Lock, mend and read the file."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=_WAIT)
        except Timeout:
            raise RecordError(
                f"{self.path}: another process writes to this record; wait until it has ended, or "
                "name another record."
            ) from None
        try:
            _mend(self.path)
            self.entries, self._last = chained_entries(self.path)
            for other in self._also:
                if not other.is_file():
                    raise RecordError(f"There is no record {other}: restore it, or do not name it.")
                self.entries |= read_record(other)
            self._prompt_hashes = set()
            if self._prompts_path is not None:
                self._prompts_path.parent.mkdir(parents=True, exist_ok=True)
                _mend(self._prompts_path)
                self._prompt_hashes = _prompt_hashes(self._prompts_path)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Let other processes write."""
        self._lock.release()

    def find(self, identity: Identity, request: Request) -> Answer | None:
        """Answer that a model gave to a request; None where it was not asked."""
        entry = self.entries.get(key_of(identity, request))
        return None if entry is None else entry.answer

    def identity_of(self, name: str) -> Identity:
        """The one model of this name in the record: for a replay where the model is not."""
        identities = {entry.model for entry in self.entries.values() if entry.model.name == name}
        if len(identities) != 1:
            names = sorted({entry.model.name for entry in self.entries.values()})
            raise RecordError(
                f"{self.path}: holds answers of {len(identities)} models with the name {name!r} "
                f"(all names: {', '.join(names) or 'none'}), and a replay without the model needs "
                "one: let the model be asked, or name another record."
            )
        return identities.pop()

    def add(self, identity: Identity, request: Request, answer: Answer) -> None:
        """Add an answer; it is on the disk when this returns."""
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
            entry = entry.after(self._last)
            append_line(self.path, entry.model_dump(mode="json"))
            self._last = entry.chained or ""
            self.entries[entry.key] = entry


def record_lines(entries: Iterable[Entry]) -> str:
    """Text of a record: what `read_record` reads."""
    # In ASCII, so that a line cannot be cut inside a character, nor end at a foreign line break.
    lines, last = [], ""
    for entry in entries:
        follows = entry.after(last)
        last = follows.chained or ""
        fields = follows.model_dump(mode="json")
        lines.append(json.dumps(fields, ensure_ascii=True, separators=(",", ":")) + "\n")
    return "".join(lines)


def _prompt_hashes(path: Path) -> set[str]:
    hashes = set()
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            hashes.add(str(parse_json(line)["sha256"]))
        except (ValueError, KeyError, TypeError):
            raise RecordError(
                f"{path}, line {number}: is not a prompt with its hash; remove the line."
            ) from None
    return hashes


def append_line(path: Path, value: object) -> None:
    r"""Add a value as a line of JSON to a file; it is on the disk when this returns.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "runs.jsonl"
    >>> append_line(path, {"answers": 3})
    >>> path.read_text()
    '{"answers":3}\n'
    """
    # In ASCII, so that a line cannot be cut inside a character, nor end at a foreign line break.
    line = json.dumps(value, ensure_ascii=True, separators=(",", ":")) + "\n"
    with path.open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def _mend(path: Path) -> None:
    """Cut off a last line that has no end: what a killed process leaves."""
    if not path.exists():
        return
    check_regular(path, RecordError)
    with path.open("r+b") as file:
        content = file.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            _LOG.warning(
                "%s: the last line was cut off after %d bytes (a run was killed); it is removed "
                "and its request asked again.",
                path,
                len(content) - end,
            )
            file.truncate(end)


def key_of(identity: Identity, request: Request) -> str:
    """Key of a model's answer to a request in a record (see `request_key`)."""
    return request_key(identity, prompt_hash(request), request.decoding, request.continuation)
