"""Open a configured language model with its record of answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from everycell.language_models.costs import Budget
from everycell.language_models.endpoint import Endpoint, endpoint_identity
from everycell.language_models.generation import (
    Identity,
    LanguageModel,
    LanguageModelError,
    folder_identity,
)
from everycell.language_models.recorded import Recorded
from everycell.language_models.records import Record, append_line
from everycell.language_models.settings import LanguageModels


@contextmanager
def open_language_model(
    name: str,
    settings: LanguageModels,
    record: str,
    *,
    folder: Path | None = None,
    also: Sequence[Path] = (),
    network: bool = False,
) -> Iterator[Recorded]:
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
        model = Recorded(
            opened,
            identity,
            load if settings.ask else None,
            workers=workers,
            batch=batch,
            budget=budget,
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


def _append_throughput(path: Path, model: Recorded) -> None:
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
