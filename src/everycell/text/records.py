"""Answers of language models in a file: nothing is asked twice, and a replay needs no model.

A record is a text file of JSON lines to which answers are only ever added. A line holds the
model's identity, the hash of the prompt, the decoding parameters (or the scored text), the answer
and the date. Its `key` is the hash of all but the last two (`request_key`), so that an edited line
is seen. Prompts may hold data that must not be passed on: they are kept apart, in a second file,
and only where a folder is given for them.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from everycell.config import Decoding, describe_fault
from everycell.text.generation import (
    Answer,
    Identity,
    LanguageModel,
    LanguageModelError,
    Request,
    prompt_hash,
    request_key,
)

_LOG = logging.getLogger(__name__)
# Seconds to wait for another process that writes to the same record.
_WAIT = 5.0


class RecordError(LanguageModelError):
    """A record cannot be used; the message names the file and the line."""


class MissingAnswerError(LanguageModelError):
    """A replay lacks an answer; the message says to which request."""


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

    @property
    def right_key(self) -> str:
        """The key that the other fields lead to."""
        return request_key(self.model, self.prompt_sha256, self.decoding, self.continuation)


def read_record(path: Path) -> dict[str, Entry]:
    r"""Read a record; one that is not there is empty.

    Parameters
    ----------
    path : Path
        File of JSON lines, UTF-8.

    Returns
    -------
    dict
        Key -> entry, in the order of the file. A last line without its end, as a killed process
        leaves it, is passed over.

    Raises
    ------
    RecordError
        A line is no entry, its key is not that of its fields, or two lines have the same key and
        other answers.

    Examples
    --------
    >>> read_record(Path("no/such/record.jsonl"))
    {}
    """
    entries: dict[str, Entry] = {}
    for number, line in enumerate(_whole_lines(path), start=1):
        place = f"{path}, line {number}"
        try:
            entry = Entry.model_validate_json(line)
        except ValidationError as error:
            fault = error.errors()[0]
            found = (
                "is no JSON"
                if fault["type"] == "json_invalid"
                else f"is no recorded answer: {describe_fault(Entry, error).rstrip('.')}"
            )
            raise RecordError(
                f"{place}: {found}; remove the line (its request is then asked again)."
            ) from None
        if entry.key != entry.right_key:
            raise RecordError(
                f"{place}: the key is {entry.key[:12]}..., but model, prompt hash and parameters "
                f"lead to {entry.right_key[:12]}...: the line was edited; restore it or remove it."
            )
        known = entries.setdefault(entry.key, entry)
        if known.answer != entry.answer:
            raise RecordError(
                f"{place}: the request {entry.key[:12]}... has another answer further up; remove "
                "one of the two lines."
            )
    return entries


def _whole_lines(path: Path) -> list[bytes]:
    try:
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

    Parameters
    ----------
    path : Path
        File of the record; its folder is made.
    prompts : Path, optional
        File that keeps each prompt with its hash, for reading. It may hold what the prompts quote.

    Examples
    --------
    >>> import tempfile
    >>> model = Identity(name="toy")
    >>> asked = Request(prompt="1 + 1 = ", decoding=Decoding())
    >>> path = Path(tempfile.mkdtemp()) / "toy.jsonl"
    >>> with Record(path) as record:
    ...     record.find(model, asked) is None
    ...     record.add(model, asked, Answer(text="2", finish="stop"))
    True
    >>> [entry.answer.text for entry in read_record(path).values()]
    ['2']
    """

    def __init__(self, path: Path, *, prompts: Path | None = None) -> None:
        self.path = path
        self._prompts_path = prompts
        self._lock = FileLock(path.with_name(f".{path.name}.lock"))
        self._threads = threading.Lock()

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
            self.entries = read_record(self.path)
            self._prompt_hashes = set()
            if self._prompts_path is not None:
                self._prompts_path.parent.mkdir(parents=True, exist_ok=True)
                _mend(self._prompts_path)
                self._prompt_hashes = {
                    json.loads(line)["sha256"] for line in _whole_lines(self._prompts_path)
                }
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
        return entry and entry.answer

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
                _append(self._prompts_path, {"sha256": entry.prompt_sha256, "prompt": prompt})
                self._prompt_hashes.add(entry.prompt_sha256)
            _append(self.path, entry.model_dump(mode="json"))
            self.entries[entry.key] = entry


def _append(path: Path, value: object) -> None:
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
    with path.open("r+b") as file:
        content = file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            _LOG.warning(
                "%s: the last line was cut off after %d bytes (a run was killed); it is removed "
                "and its request asked again.",
                path,
                len(content) - whole,
            )
            file.truncate(whole)


def key_of(identity: Identity, request: Request) -> str:
    """Key of a model's answer to a request in a record (see `request_key`)."""
    return request_key(identity, prompt_hash(request), request.decoding, request.continuation)


class Recorded:
    """A language model that is asked each request once: a `LanguageModel` before another one.

    Parameters
    ----------
    record : Record
        Open record, where answers are looked up and added.
    identity : Identity
        The model's; its answers are found by it without the model being there.
    load : callable, optional
        Makes the model when the first request is not in the record. None: nothing is asked, only
        replayed.
    workers : int
        Requests that are asked side by side: 1 for a local model.

    Attributes
    ----------
    asked : int
        Requests that the model itself was asked so far.

    Examples
    --------
    >>> import tempfile
    >>> class Parrot:
    ...     identity = Identity(name="parrot")
    ...
    ...     def answer(self, request):
    ...         return Answer(text=request.text, finish="stop")
    >>> path = Path(tempfile.mkdtemp()) / "parrot.jsonl"
    >>> hello = Request(prompt="Hello", decoding=Decoding())
    >>> with Record(path) as record:
    ...     model = Recorded(record, Parrot.identity, Parrot)
    ...     [answer.text for answer in model.answer_all([hello, hello])], model.asked
    (['Hello', 'Hello'], 1)
    >>> with Record(path) as record:
    ...     Recorded(record, Parrot.identity, None).answer(hello).text
    'Hello'
    """

    def __init__(
        self,
        record: Record,
        identity: Identity,
        load: Callable[[], LanguageModel] | None,
        *,
        workers: int = 1,
    ) -> None:
        self.record = record
        self.identity = identity
        self.asked = 0
        self._load = load
        self._workers = workers
        self._model: LanguageModel | None = None
        self._loading = threading.Lock()

    def answer(self, request: Request) -> Answer:
        """Answer from the record, else from the model, whose answer is then recorded.

        Raises
        ------
        MissingAnswerError
            The answer is not in the record, and there is no model to ask.
        LanguageModelError
            The model cannot answer.
        """
        return self.answer_all([request])[0]

    def answer_all(self, requests: Sequence[Request]) -> list[Answer]:
        """Answers in the order of the requests; equal requests are asked once.

        When one of them fails, those under way are finished and recorded, no other is begun, and
        the first error is raised: a second call goes on from there.

        Raises
        ------
        MissingAnswerError
            Answers are not in the record, and there is no model to ask.
        LanguageModelError
            The model cannot answer.
        """
        waiting = {
            key_of(self.identity, request): request
            for request in requests
            if self.record.find(self.identity, request) is None
        }
        if waiting and self._load is None:
            raise MissingAnswerError(self._missing(requests, waiting))
        with ThreadPoolExecutor(self._workers) as pool:
            calls = [pool.submit(self._ask, request) for request in waiting.values()]
            try:
                for call in as_completed(calls):
                    call.result()
            except BaseException:
                for call in calls:
                    call.cancel()
                raise
        answers = (self.record.find(self.identity, request) for request in requests)
        return [answer for answer in answers if answer is not None]

    def _ask(self, request: Request) -> None:
        with self._loading:
            if self._model is None:
                self._model = self._load()
                if self._model.identity != self.identity:
                    raise RecordError(
                        f"The model that was loaded is {self._model.identity!r}, but answers were "
                        f"to be recorded as those of {self.identity!r}: make the two equal."
                    )
        answer = self._model.answer(request)
        self.record.add(self.identity, request, answer)
        with self._loading:
            self.asked += 1

    def _missing(self, requests: Sequence[Request], waiting: dict[str, Request]) -> str:
        key, request = next(iter(waiting.items()))
        known = sorted({entry.model.name for entry in self.record.entries.values()})
        start = " ".join(request.text.split())[-60:]
        return (
            f"{self.record.path}: {len(waiting)} of {len(requests)} answers of "
            f"{self.identity.name!r} are not in this record (it holds "
            f"{len(self.record.entries)}, of {', '.join(known) or 'no model'}); the first is "
            f"request {requests.index(request) + 1}, key {key[:12]}..., whose prompt has the hash "
            f"{prompt_hash(request)[:12]}... and ends in {start!r}: let the model be asked, or "
            "fetch the whole record."
        )
