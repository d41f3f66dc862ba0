"""Download a released file, with retries and limits on its size and duration."""

from __future__ import annotations

import io
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from everycell.base.files import sha256
from everycell.records.registry import Form, SourceError
from everycell.sources.proxies import check_proxies

logger = logging.getLogger(__name__)

_NETWORK_ADVICE = (
    "check the network and the proxy, check that the URL opens in a browser, try again, or set "
    "`mirror:` in config.yaml or EVERYCELL_MIRROR to a folder that contains the file"
)

# Bytes beyond the expected size before a download is stopped. A file that is only slightly too
# long is downloaded, so that the message can give its hash.
_EXCESS_BYTES = 1 << 20

# Bytes per second below which a download is abandoned: a gigabyte may take a day.
MIN_BYTES_PER_SECOND = 12_000

# Seconds before the second and the third attempt when a connection breaks or a server is busy.
_PAUSES = (1.0, 3.0)


class DownloadError(SourceError):
    """The network did not return the file that the registry describes."""


class _SizeLimitedFile(io.BufferedWriter):
    """A file that stops a download of much more than the expected size."""

    def __init__(self, path: Path, key: str, url: str, size: int) -> None:
        super().__init__(io.FileIO(path, "wb"))
        self.is_abandoned = False
        self._max_bytes = size + _EXCESS_BYTES
        self._error_message = (
            f"{key} from {url} has more than {self._max_bytes} bytes, expected {size}; "
            f"the file was discarded: {_NETWORK_ADVICE}."
        )

    def write(self, chunk: Any, /) -> int:
        if self.is_abandoned:
            raise TimeoutError
        if self.tell() + len(chunk) > self._max_bytes:
            raise DownloadError(self._error_message)
        return super().write(chunk)


def download_file(key: str, url: str, path: Path, origin: Form, timeout: float) -> None:
    """Download the URL to `path` in up to three attempts, without checking the hash."""
    # Imported here because only downloads need them, and they are slow to import.
    import pooch
    import requests
    from urllib3.exceptions import MaxRetryError

    check_proxies()
    # Without "identity" a server may compress the response, and its length could not be checked.
    get = pooch.HTTPDownloader(
        timeout=timeout, chunk_size=1 << 16, headers={"Accept-Encoding": "identity"}
    )
    limit = 2 * timeout + origin.size / MIN_BYTES_PER_SECOND
    what = "was not requested"
    cause: Exception | None = None
    is_unreachable = False
    for attempt, pause in enumerate((*_PAUSES, None), start=1):
        retry = f", attempt {attempt} of {len(_PAUSES) + 1}" if attempt > 1 else ""
        logger.info("Fetching %s from %s (%d bytes%s).", key, url, origin.size, retry)
        is_unreachable = False
        try:
            with _SizeLimitedFile(path, key, url, origin.size) as file:
                if finishes_in_time(lambda file=file: get(url, file, None), lambda: limit):
                    return
                file.is_abandoned = True
            what = f"was abandoned after {limit:.0f} s"
            break
        except requests.HTTPError as error:
            status = error.response.status_code
            what, cause = f"returned {status} {error.response.reason}", error
            if status < 500 and status != 429:
                break
        except requests.Timeout as error:
            what, cause = f"did not respond within {timeout:g} s", error
        except requests.RequestException as error:
            is_unreachable = any(isinstance(part, MaxRetryError) for part in error.args)
            # An invalid address may be that of the proxy, with its password.
            reason = "invalid address" if isinstance(error, ValueError) else _root_cause(error)
            what = f"failed before all {origin.size} bytes arrived: {reason}"
            cause = error
        except ValueError as error:
            what, cause = f"sent headers that cannot be read ({error})", error
        if pause is not None:
            time.sleep(pause)
    if is_unreachable and cause is not None:
        raise DownloadError(
            f"{key} cannot be downloaded: {urlsplit(url).netloc} cannot be reached "
            f"({_root_cause(cause)}); check the network and the proxy, or set `mirror:` in "
            "config.yaml or EVERYCELL_MIRROR to a folder that contains the file."
        ) from cause
    raise DownloadError(
        f"{url} {what}; expected {key} with {origin.size} bytes and sha256 {origin.sha256}; "
        f"{_NETWORK_ADVICE}."
    ) from cause


def finishes_in_time(download: Callable[[], object], limit: Callable[[], float]) -> bool:
    """Run a download for at most `limit()` seconds; return whether it finished.

    The HTTP library only limits the wait for the next byte, so a response that trickles in would
    never time out. An abandoned download continues in a daemon thread.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            download()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="download", daemon=True)
    start = time.monotonic()
    thread.start()
    while thread.is_alive() and (remaining := start + limit() - time.monotonic()) > 0:
        thread.join(min(remaining, 1.0))
    if raised:
        raise raised[0]
    return not thread.is_alive()


def _root_cause(error: BaseException) -> BaseException:
    """First error in the network library's chain of errors, such as "connection refused"."""
    while error.__context__ is not None:
        error = error.__context__
    return error


def check_download(key: str, url: str, path: Path, origin: Form) -> None:
    """Raise an error, with the likely cause, if a downloaded file has the wrong hash."""
    digest, size = sha256(path), path.stat().st_size
    if digest == origin.sha256:
        return
    with path.open("rb") as file:
        start = file.read(512).lstrip().lower()
    advice = _NETWORK_ADVICE
    if size == 0:
        what = "is empty"
    elif start.startswith((b"<!doctype html", b"<html")):
        what = "is an HTML page instead of data (a login, error or proxy page?)"
    elif size < origin.size:
        what = f"is truncated: {size} of {origin.size} bytes"
    else:
        what = f"has the wrong content: {size} bytes, expected {origin.size}"
        advice = (
            "the file may have changed at this URL; set `mirror:` in config.yaml or "
            "EVERYCELL_MIRROR to a folder that contains the registered version, or, if you trust "
            "the new version, register it with `everycell paper add-data ... --replace`"
        )
    raise DownloadError(
        f"{key} from {url} {what}; its sha256 is {digest}, expected {origin.sha256}; "
        f"the file was discarded: {advice}."
    )
