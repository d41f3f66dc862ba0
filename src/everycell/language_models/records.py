"""Answers of language models in a file: nothing is asked twice, and a replay needs no model.

A record is a text file of JSON lines to which answers are only ever added. A line holds the
model's identity, the hash of the prompt, the decoding parameters (or the scored text), the answer
and the date. Its `key` is the hash of all but the last two (`request_key`), so that an edited line
is seen. Prompts may hold data that must not be passed on: they are kept apart, in a second file,
and only where a folder is given for them.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from everycell.engine.untrusted import parse_json
from everycell.engine.validation import describe_fault
from everycell.language_models.generation import (
    Answer,
    Identity,
    LanguageModel,
    LanguageModelError,
    Request,
    prompt_hash,
    request_key,
)
from everycell.language_models.settings import Decoding, Prices

_LOG = logging.getLogger(__name__)
# Seconds to wait for another process that writes to the same record.
_WAIT = 5.0
# Seconds between two lines of the log on answers that are still to come.
_TELL = 60.0


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
    also : sequence of Path
        Other records, whose answers are found too, first of all, and to which nothing is added:
        those that come with a project.

    Attributes
    ----------
    entries : dict
        Key -> entry, of all records.

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

    def __init__(
        self, path: Path, *, prompts: Path | None = None, also: Sequence[Path] = ()
    ) -> None:
        self.path = path
        self.entries: dict[str, Entry] = {}
        self._also = also
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
        return entry and entry.answer

    def identity_of(self, name: str) -> Identity:
        """The one model of this name in the record: for a replay where the model is not.

        Raises
        ------
        RecordError
            There is none, or there are several (such as two versions).
        """
        found = {entry.model for entry in self.entries.values() if entry.model.name == name}
        if len(found) != 1:
            names = sorted({entry.model.name for entry in self.entries.values()})
            raise RecordError(
                f"{self.path}: holds answers of {len(found)} models with the name {name!r} (all "
                f"names: {', '.join(names) or 'none'}), and a replay without the model needs one: "
                "let the model be asked, or name another record."
            )
        return found.pop()

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


def record_lines(entries: Iterable[Entry]) -> str:
    r"""Text of a record: what `read_record` reads.

    Examples
    --------
    >>> record_lines([])
    ''
    """
    # In ASCII, so that a line cannot be cut inside a character, nor end at a foreign line break.
    return "".join(
        json.dumps(entry.model_dump(mode="json"), ensure_ascii=True, separators=(",", ":")) + "\n"
        for entry in entries
    )


def _prompt_hashes(path: Path) -> set[str]:
    hashes = set()
    for number, line in enumerate(_whole_lines(path), start=1):
        try:
            hashes.add(str(parse_json(line)["sha256"]))
        except (ValueError, KeyError, TypeError):
            raise RecordError(
                f"{path}, line {number}: is no prompt with its hash; remove the line."
            ) from None
    return hashes


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


@dataclass(frozen=True)
class Estimate:
    """What requests would take of an endpoint at most.

    Attributes
    ----------
    calls : int
    prompt_tokens, answer_tokens : int
        Upper estimates: a token for three bytes of a prompt (English text has about four) and four
        for each message; answers as long as they may be.
    cost : float
        In the currency of the prices.
    """

    calls: int
    prompt_tokens: int
    answer_tokens: int
    cost: float


def estimate(requests: Sequence[Request], prices: Prices) -> Estimate:
    """Estimate what requests cost, without asking.

    Parameters
    ----------
    requests : sequence of Request
        Each is counted, equal ones too.
    prices : Prices

    Examples
    --------
    >>> asked = Request(prompt="abc" * 1000, decoding=Decoding(max_tokens=500))
    >>> found = estimate([asked], Prices(prompt=10.0, answer=30.0))
    >>> found.prompt_tokens, found.answer_tokens, round(found.cost, 5)
    (1004, 500, 0.02504)
    """
    read = written = 0
    for request in requests:
        messages = 1 if isinstance(request.prompt, str) else len(request.prompt)
        text = request.text + (request.continuation or "")
        read += -(-len(text.encode(errors="replace")) // 3) + 4 * messages
        written += 0 if request.decoding is None else request.decoding.max_tokens
    cost = (read * prices.prompt + written * prices.answer) / 1e6
    return Estimate(len(requests), read, written, cost)


def _cost(expected: Estimate, prices: Prices) -> str:
    return f"{expected.cost:.2f} {prices.currency}" if prices.known else "no `prices` are named"


class _Progress:
    """Says in the log how long answers will take: after the first ones, then once a minute.

    The first ones are as many as are asked side by side: after one of them the others are nearly
    there, too. The time that a model takes to load does not count.
    """

    def __init__(self, name: str, total: int, workers: int) -> None:
        self._name, self._total, self._first, self._done = name, total, workers, 0
        self._began: float | None = None
        self._next = -math.inf

    def begin(self) -> None:
        """Start the clock, once, when the model is there; one thread at a time."""
        if self._began is None:
            self._began = time.monotonic()

    def step(self) -> None:
        """Count an answer; one thread at a time."""
        self._done += 1
        now = time.monotonic()
        if self._done < self._first or now < self._next or self._done == self._total:
            return
        self._next = now + _TELL
        seconds = (now - self._began) / self._done * (self._total - self._done)
        _LOG.info(
            "%s: %d of %d answers; the others will take about %d min.",
            self._name,
            self._done,
            self._total,
            -(-seconds // 60),
        )


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
    prices : Prices, optional
        By which the cost of what will be asked is estimated, and logged before.
    budget : float, optional
        Most that all this asks may cost by the estimate.

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
        prices: Prices | None = None,
        budget: float | None = None,
    ) -> None:
        self.record = record
        self.identity = identity
        self.asked = 0
        self._prices = prices
        self._budget = budget
        self._estimated = 0.0
        self._used: dict[str, Entry] = {}
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
        self._announce(list(waiting.values()))
        progress = _Progress(self.identity.name, len(waiting), self._workers)
        if self._workers == 1:
            # In this thread: others would have their own settings of torch.
            for request in waiting.values():
                self._ask(request, progress)
        else:
            self._ask_side_by_side(list(waiting.values()), progress)
        used = [self.record.entries[key_of(self.identity, request)] for request in requests]
        self._used |= {entry.key: entry for entry in used}
        return [entry.answer for entry in used]

    @property
    def used(self) -> list[Entry]:
        """Entries of the answers that were given so far, each once, in order of their first use."""
        return list(self._used.values())

    def provenance(self) -> dict[str, Any]:
        """What a receipt says of the answers that were used so far; the same on each replay.

        Returns
        -------
        dict
            The model's identity, the number of answers, the hash of their keys, the dates of the
            first and the last, what the endpoint says that it ran, and the decoding parameters. Of
            an endpoint with known prices also these, and what the answers cost by them, if it said
            how many tokens they have.
        """
        entries = self.used
        dates = sorted(entry.date for entry in entries)
        decodings = {entry.decoding for entry in entries if entry.decoding is not None}
        return {
            "model": self.identity.model_dump(mode="json"),
            "answers": len(entries),
            "keys_sha256": hashlib.sha256("".join(sorted(self._used)).encode()).hexdigest(),
            "asked": [dates[0], dates[-1]] if dates else [],
            "served_by": sorted({entry.answer.served_by for entry in entries} - {""}),
            "decoding": sorted(
                (chosen.model_dump(mode="json") for chosen in decodings), key=json.dumps
            ),
        } | self._charged()

    def _charged(self) -> dict[str, Any]:
        prices = self._prices
        if prices is None or not prices.known:
            return {}
        tokens = [(one.answer.prompt_tokens, one.answer.answer_tokens) for one in self.used]
        charged: dict[str, Any] = {"prices": prices.model_dump(mode="json")}
        if all(None not in counts for counts in tokens):
            read, written = (sum(counts) for counts in zip((0, 0), *tokens, strict=True))
            charged["cost"] = round((read * prices.prompt + written * prices.answer) / 1e6, 6)
        return charged

    def _announce(self, requests: list[Request]) -> None:
        if not requests:
            return
        expected = estimate(requests, self._prices or Prices())
        _LOG.info(
            "%s will be asked %d requests: at most about %d tokens of prompts and %d of answers%s.",
            self.identity.name,
            expected.calls,
            expected.prompt_tokens,
            expected.answer_tokens,
            "" if self._prices is None else f", {_cost(expected, self._prices)}",
        )
        if self._prices is None:
            return
        total = self._estimated + expected.cost
        currency = self._prices.currency
        if self._budget is not None and total > self._budget:
            raise LanguageModelError(
                f"{expected.calls} requests to {self.identity.name} may bring the cost to "
                f"{total:.2f} {currency}, above the `budget` of {self._budget:g}: raise "
                "it, or ask for less. None of them was sent."
            )

    def _ask_side_by_side(self, requests: list[Request], progress: _Progress) -> None:
        with ThreadPoolExecutor(self._workers) as pool:
            calls = [pool.submit(self._ask, request, progress) for request in requests]
            try:
                for call in as_completed(calls):
                    call.result()
            except BaseException:
                for call in calls:
                    call.cancel()
                raise

    def _ask(self, request: Request, progress: _Progress) -> None:
        with self._loading:
            if self._model is None:
                self._model = self._load()
                if self._model.identity != self.identity:
                    raise RecordError(
                        f"The model that was loaded is {self._model.identity!r}, but answers were "
                        f"to be recorded as those of {self.identity!r}: make the two equal."
                    )
            progress.begin()
            # What was announced and not sent costs nothing; what fails may have been charged.
            if self._prices is not None:
                self._estimated += estimate([request], self._prices).cost
        answer = self._model.answer(request)
        self.record.add(self.identity, request, answer)
        with self._loading:
            self.asked += 1
            progress.step()

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
