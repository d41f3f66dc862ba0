"""Chain the lines of an older record: ``python -m everycell.language_models.chaining``.

Only for records that you trust: edits of unchained lines cannot be detected.
"""

from __future__ import annotations

import sys
from pathlib import Path

from filelock import FileLock, Timeout

from everycell.base.files import write_atomically
from everycell.language_models.endpoint import endpoint_identity
from everycell.language_models.records import RecordError, chained_entries, record_lines
from everycell.language_models.settings import EndpointSettings


def chain_record(path: Path, url: str = "") -> None:
    """Chain the lines of a record; answers of an endpoint without an address get `url`."""
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
        sys.exit("Usage: python -m everycell.language_models.chaining FILE [URL]")
    try:
        chain_record(Path(sys.argv[1]), *sys.argv[2:])
    except (RecordError, Timeout, OSError, ValueError) as error:
        sys.exit(f"everycell: {error}")
