"""Input files of a result, from its receipt and the preceding jobs, with their URLs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from everycell.receipts.lineage import MADE, JobRecord, upstream_jobs
from everycell.records.registry import Entry, Registry, set_of


def input_files(
    receipt: Mapping[str, Any], jobs: Sequence[JobRecord], registry: Registry
) -> dict[str, list[tuple[str, str | None]]]:
    """Data set or location -> names and URLs of the files that were not made by a job."""
    paths = {source["path"] for source in receipt["inputs"]}
    paths |= {path for job in upstream_jobs(jobs, paths) for path in job.inputs}
    groups: dict[str, list[tuple[str, str | None]]] = {}
    for path in sorted(paths):
        if path.startswith(MADE):
            continue
        if key := registry.key_in(path):
            group = f"{set_of(key)} (licence: {registry.data_set(key).licence})"
            file = key.partition("/")[2], registry.url(key) or _package_url(registry.entry(key))
        else:
            group, file = "in this project", (path, None)
        groups.setdefault(group, []).append(file)
    return groups


def _package_url(entry: Entry) -> str | None:
    if entry.wheel is None:
        return None
    return f"https://pypi.org/project/{entry.wheel.distribution}/{entry.wheel.version}/"
