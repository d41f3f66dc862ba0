"""Language models with a record of answers, so that each request is sent only once.

`open_language_model` opens a model by its name in config.yaml, and `model_of_job` the model of a
workflow job. Requests are logged with their estimated cost, and not sent if they could exceed the
budget. Without a model, the record is replayed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, cast

from everycell.base.files import write_atomically
from everycell.base.settings import validate_part
from everycell.base.untrusted import in_quotes
from everycell.language_models.costs import Budget, Estimate, Progress, Throughput, estimate
from everycell.language_models.endings import Endings, count_endings
from everycell.language_models.endpoint import Endpoint, endpoint_identity
from everycell.language_models.generation import (
    Answer,
    BatchModel,
    Identity,
    LanguageModel,
    LanguageModelError,
    Message,
    Request,
    answer_in_batches,
    folder_identity,
    prompt_hash,
)
from everycell.language_models.records import Entry, Record, RecordError, append_line, key_of
from everycell.language_models.replies import refuse_hidden_documents
from everycell.language_models.settings import AskSettings, Decoding, LanguageModels, Prices

_LOG = logging.getLogger(__name__)


class MissingAnswerError(LanguageModelError):
    """A replayed record lacks an answer; the message identifies the request."""


class EmptyAnswersError(LanguageModelError):
    """Too many answers are empty for a result; the message counts them by reason."""


class ChangedModelError(LanguageModelError):
    """A server changed its model within a record; the message has both names."""


class RecordedModel:
    """A `LanguageModel` that wraps another one and sends each request only once.

    Its answers are without reasoning, which only the record keeps.
    """

    def __init__(
        self,
        record: Record,
        identity: Identity,
        load: Callable[[], LanguageModel] | None,
        *,
        workers: int = 1,
        batch: int = 1,
        budget: Budget | None = None,
        may_change: bool = False,
    ) -> None:
        self.record = record
        self.identity = identity
        self.requests_sent = 0
        self.speed = Throughput()
        self._budget = budget
        self._may_change = may_change
        # What the server said that it is, in the record and in new answers.
        self._served_by: set[str] = set()
        for entry in record.entries.values():
            if entry.model == identity:
                self._refuse_change(entry.answer)
        self._used: dict[str, Entry] = {}
        self._load = load
        self._workers = workers
        self._batch = batch
        self._model: LanguageModel | None = None
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Answer:
        """Answer from the record, or from the model, whose answer is then recorded."""
        return self.answer_all([request])[0]

    def answer_all(self, requests: Sequence[Request]) -> list[Answer]:
        """Answers in the order of the requests; equal requests are sent once.

        If a request fails, the requests in progress are finished and recorded, no others are
        started, and the first error is raised; a second call resumes there. The requests of a batch
        fail together.
        """
        missing = {
            key_of(self.identity, request): request
            for request in requests
            if self.record.find(self.identity, request) is None
        }
        if missing and self._load is None:
            raise MissingAnswerError(self._describe_missing(requests, missing))
        if self.identity.host:
            for request in requests:
                if (answer := self.record.find(self.identity, request)) is not None:
                    refuse_hidden_documents(request, answer, self.identity)
        self._announce(list(missing.values()))
        progress = Progress(self.identity.name, len(missing), max(self._workers, self._batch))
        try:
            self._ask_all(list(missing.values()), progress)
        finally:
            self.speed.include(progress.speed)
        used = [self.record.entries[key_of(self.identity, request)] for request in requests]
        self._used |= {entry.key: entry for entry in used}
        return [entry.answer.without_reasoning() for entry in used]

    @property
    def endings(self) -> Endings:
        """Numbers of empty and cut-off answers among those used so far, by reason."""
        return count_endings(entry.answer for entry in self.used)

    def refuse_empty(self, largest_share: float) -> None:
        """Reject the answers used so far if more than a share of them is empty."""
        endings = self.endings
        if endings.empty_share > largest_share:
            raise EmptyAnswersError(
                f"{self.identity.name}: {endings}; at most {largest_share:.0%} may be empty. Raise "
                "the limit on the tokens of an answer, turn reasoning off, or raise "
                "`language_models.largest_empty_share`."
            )

    @property
    def used(self) -> list[Entry]:
        """Distinct entries of the answers used so far, in order of first use."""
        return list(self._used.values())

    def provenance(self) -> dict[str, Any]:
        """Receipt entry for the answers used so far; identical on each replay."""
        entries = self.used
        dates = sorted(entry.date for entry in entries)
        decodings = {entry.decoding for entry in entries if entry.decoding is not None}
        return (
            {
                "model": self.identity.model_dump(mode="json"),
                "answers": len(entries),
                "keys_sha256": hashlib.sha256("".join(sorted(self._used)).encode()).hexdigest(),
                "asked": [dates[0], dates[-1]] if dates else [],
                "served_by": sorted({entry.answer.served_by for entry in entries} - {""}),
                "decoding": sorted(
                    (decoding.model_dump(mode="json") for decoding in decodings), key=json.dumps
                ),
            }
            | self.endings.summary()
            | self._charged()
        )

    def _charged(self) -> dict[str, Any]:
        if self._budget is None or not self._budget.prices.known:
            return {}
        prices = self._budget.prices
        answers = [entry.answer for entry in self.used]
        tokens = [(answer.prompt_tokens, answer.answer_tokens) for answer in answers]
        charged: dict[str, Any] = {"prices": prices.model_dump(mode="json")}
        if all(None not in counts for counts in tokens):
            prompt, answer = (sum(counts) for counts in zip((0, 0), *tokens, strict=True))
            charged["cost"] = round((prompt * prices.prompt + answer * prices.answer) / 1e6, 6)
        return charged

    def _announce(self, requests: list[Request]) -> None:
        if not requests:
            return
        prices = None if self._budget is None else self._budget.prices
        expected = estimate(requests, prices or Prices())
        _LOG.info(
            "%s will receive %d requests: at most about %d prompt tokens and %d answer tokens%s.",
            self.identity.name,
            expected.calls,
            expected.prompt_tokens,
            expected.answer_tokens,
            "" if prices is None else f", {_cost(expected, prices)}",
        )
        if self._budget is not None:
            self._budget.allow(self.identity.name, requests)

    def _ask_all(self, requests: list[Request], progress: Progress) -> None:
        if self._workers > 1:
            self._ask_in_parallel(requests, progress)
        elif self._batch > 1 and requests:
            # Only models that answer batches can be configured with a larger batch size.
            model = cast(BatchModel, self._start_model(progress))
            for answered in answer_in_batches(model, requests, self._batch):
                for request, answer in answered:
                    self._keep(request, answer, progress)
        else:
            # In this thread, since settings of torch are per thread.
            for request in requests:
                self._ask(request, progress)

    def _ask_in_parallel(self, requests: list[Request], progress: Progress) -> None:
        with ThreadPoolExecutor(self._workers) as pool:
            calls = [pool.submit(self._ask, request, progress) for request in requests]
            try:
                for call in as_completed(calls):
                    call.result()
            except BaseException:
                for call in calls:
                    call.cancel()
                raise

    def _start_model(self, progress: Progress) -> LanguageModel:
        """Return the model, loading it when it is first needed, and start the clock."""
        if self._model is None:
            assert self._load is not None, "answer_all rejects missing answers in a replay"
            self._model = self._load()
            if self._model.identity != self.identity:
                raise RecordError(
                    f"The loaded model is {self._model.identity!r}, but its answers would be "
                    f"recorded as those of {self.identity!r}; make the two equal."
                )
        progress.begin()
        return self._model

    def _ask(self, request: Request, progress: Progress) -> None:
        with self._lock:
            model = self._start_model(progress)
            # Only requests that are sent count against the budget.
            if self._budget is not None:
                self._budget.spend(self.identity.name, request)
        self._keep(request, model.answer(request), progress)

    def _keep(self, request: Request, answer: Answer, progress: Progress) -> None:
        with self._lock:
            self.requests_sent += 1
            self._refuse_change(answer)
        self.record.add(self.identity, request, answer)
        with self._lock:
            progress.step(answer)

    def _refuse_change(self, answer: Answer) -> None:
        """Reject an answer of another model, or another version, than the record's."""
        # A server that stops naming its model may have been replaced by another one.
        self._served_by.add(answer.served_by)
        if len(self._served_by) > 1 and not self._may_change:
            names = " and ".join(
                in_quotes(name) if name else "without a name" for name in sorted(self._served_by)
            )
            raise ChangedModelError(
                f"{self.record.path}: {self.identity.host} answered as {names}, so the record "
                "would mix answers of several models; use one record per version, or allow it with "
                "`may_change: true` of the endpoint."
            )

    def _describe_missing(self, requests: Sequence[Request], missing: dict[str, Request]) -> str:
        key, request = next(iter(missing.items()))
        names = sorted({entry.model.name for entry in self.record.entries.values()})
        end = " ".join(request.text.split())[-60:]
        return (
            f"{self.record.path}: {len(missing)} of {len(requests)} answers of "
            f"{self.identity.name!r} are not in this record (it contains "
            f"{len(self.record.entries)} answers, of {', '.join(names) or 'no model'}). The first "
            f"is request {requests.index(request) + 1}, key {key[:12]}..., whose prompt has the "
            f"hash {prompt_hash(request)[:12]}... and ends with {end!r}. Allow requests to the "
            "model, or download the complete record."
        )


def _cost(expected: Estimate, prices: Prices) -> str:
    return f"{expected.cost:.2f} {prices.currency}" if prices.known else "no `prices` configured"


@contextmanager
def open_language_model(
    name: str,
    settings: LanguageModels,
    record: str,
    *,
    folder: Path | None = None,
    also: Sequence[Path] = (),
    network: bool = False,
) -> Iterator[RecordedModel]:
    """Open a language model with its record: ``with open_language_model(...) as model: ...``.

    torch is imported and the model loaded only for a request that is not in a record. At the end,
    an error is raised if more than `largest_empty_share` of the answers are empty.
    """
    names = [*settings.local, *settings.endpoints]
    if name not in names:
        raise LanguageModelError(
            f"There is no language model {name!r}; `language_models` in config.yaml has: "
            f"{', '.join(names)}."
        )
    records = Path(settings.records)
    prompts = records / f"{record}.prompts.jsonl" if settings.keep_prompts else None
    with Record(records / f"{record}.jsonl", prompts=prompts, also=also) as opened:
        endpoint = settings.endpoints.get(name)
        workers, batch, budget = 1, 1, None
        if endpoint is not None:
            identity = endpoint_identity(endpoint)
            budget = Budget(endpoint.prices, money=endpoint.budget, tokens=endpoint.token_budget)
            workers = endpoint.workers

            def load() -> LanguageModel:
                return Endpoint(endpoint, budget)
        elif not settings.ask and (folder is None or not folder.exists()):
            identity, load = opened.identity_of(name), None
        else:
            identity, load = _local(name, settings, folder, network)
            batch = settings.local[name].batch
        model = RecordedModel(
            opened,
            identity,
            load if settings.ask else None,
            workers=workers,
            batch=batch,
            budget=budget,
            may_change=endpoint is None or endpoint.may_change,
        )
        try:
            yield model
            model.refuse_empty(settings.largest_empty_share)
        except ValueError:
            # Empty answers explain why a result cannot be computed.
            model.refuse_empty(settings.largest_empty_share)
            raise
        finally:
            if model.requests_sent:
                _append_throughput(records / f"{record}.runs.jsonl", model)


def _append_throughput(path: Path, model: RecordedModel) -> None:
    """Append the throughput of a run to a file next to the record, even if the run failed."""
    append_line(
        path,
        {"ended": datetime.now(UTC).isoformat(timespec="seconds")}
        | model.identity.model_dump(mode="json")
        | model.speed.summary(),
    )


def _local(
    name: str, settings: LanguageModels, folder: Path | None, network: bool
) -> tuple[Identity, Callable[[], LanguageModel]]:
    local = settings.local[name]
    source: Path | str = folder or Path(local.source)
    if folder is None and not Path(source).exists():
        # Only the hub's library knows the folder of a model.
        from everycell.learning.models import model_folder

        source = model_folder(local.source, network=network, revision=local.revision)

    def load() -> LanguageModel:
        import torch

        from everycell.language_models.local import load_language_model

        torch.set_num_threads(local.threads)
        return load_language_model(Path(source), name=name, dtype=local.dtype)

    return folder_identity(Path(source), name=name, dtype=local.dtype), load


@contextmanager
def model_of_job(snakemake: Any, log: TextIO) -> Iterator[RecordedModel]:
    """Open the language model of a job, and log at the end how many requests were sent."""
    settings = validate_part(snakemake.config, AskSettings)
    files, params = snakemake.input, snakemake.params
    with open_language_model(
        params.model,
        settings.language_models,
        params.record,
        folder=Path(files.model) if files.model else None,
        also=[Path(files.recorded)] if "recorded" in files.keys() else [],
        network=settings.network,
    ) as model:
        yield model
        speed = f", {model.speed}" if model.requests_sent else ""
        log.write(
            f"{model.identity.name}: {model.requests_sent} requests were sent{speed}; all other "
            f"answers are from the record. {model.endings}.\n"
        )
        text = json.dumps(model.provenance(), indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(Path(snakemake.output.provenance), text + "\n")


def answer_function(
    model: RecordedModel, decoding: Decoding
) -> Callable[[Sequence[tuple[Message, ...]]], list[str]]:
    """Return a function from prompts to the texts of a model's answers."""

    def ask(prompts: Sequence[tuple[Message, ...]]) -> list[str]:
        requests = [Request(prompt=messages, decoding=decoding) for messages in prompts]
        return [answer.text for answer in model.answer_all(requests)]

    return ask
