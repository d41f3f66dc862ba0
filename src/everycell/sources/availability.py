"""Whether released files can be fetched, so that a run can leave out what needs the others."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from everycell.base.installation import is_installed
from everycell.records.registry import Entry, Registry
from everycell.sources.download import finishes_in_time
from everycell.sources.fetch import OWN_DATA
from everycell.sources.proxies import check_proxies
from everycell.sources.settings import FetchSettings

#: Seconds to wait for a host's first answer.
PATIENCE = 5.0


def obstacle(
    keys: Iterable[str], settings: FetchSettings, registry: Registry, *, megabytes: float
) -> str | None:
    """Why released files cannot be fetched, or not without a larger download; None if they can."""
    folders = [Path(settings.cache), OWN_DATA, settings.mirror_folder()]
    size = 0
    for key in keys:
        entry = registry.entry(key)
        if any(folder and _has(folder, key, entry) for folder in folders):
            continue
        if entry.wheel:
            if not is_installed(entry.wheel.distribution):
                return f"the package {entry.wheel.distribution} is not installed"
            continue
        if entry.origin is None or (url := registry.url(key)) is None:
            return "some of its data are only in a mirror"
        if not settings.network:
            return "config.yaml switches the network off"
        if not _answers(urlsplit(url)._replace(path="/", query="").geturl()):
            return f"{urlsplit(url).netloc} cannot be reached"
        size += entry.origin.size
    if size > megabytes * 1e6:
        return f"it needs a download of {size / 1e6:.0f} MB"
    return None


def _has(folder: Path, key: str, entry: Entry) -> bool:
    packed = entry.mirror.path if entry.mirror else key
    return (folder / key).is_file() or (folder / packed).is_file()


@cache
def _answers(address: str) -> bool:
    """Whether a host answers, with whatever status."""
    import requests

    check_proxies()
    try:
        return finishes_in_time(
            lambda: requests.head(address, timeout=PATIENCE), lambda: 2 * PATIENCE
        )
    except requests.RequestException:
        return False
