"""Download a released file, with retries when a server is busy, and with a size limit."""

from __future__ import annotations

import io
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from everycell.engine.files import sha256
from everycell.engine.registry_entries import Form, SourceError

logger = logging.getLogger(__name__)

_NETWORK_ADVICE = (
    "check the network, the proxy and that the page opens in a browser, try again, or set "
    "`mirror:` in config.yaml or EVERYCELL_MIRROR to a folder that holds the file"
)

# Bytes beyond the expected size at which a download is stopped: for a wrong file that is not much
# longer, the message can still give its hash.
_TOO_LONG = 1 << 20

# Bytes a second below which a download is abandoned: a gigabyte may take a day.
SLOWEST = 12_000

# Seconds before the second and the third attempt when a connection breaks or a server is busy.
_PAUSES = (1.0, 3.0)


class DownloadError(SourceError):
    """The network did not return the file that the registry describes."""


class _Bounded(io.BufferedWriter):
    """A file that stops a download that is much longer than allowed."""

    def __init__(self, path: Path, key: str, url: str, size: int) -> None:
        super().__init__(io.FileIO(path, "wb"))
        self.given_up = False
        self._most = size + _TOO_LONG
        self._says = (
            f"What {url} gave for {key} is longer than {self._most} bytes, expected are {size}; "
            f"the file was discarded, {_NETWORK_ADVICE}."
        )

    def write(self, chunk: Any, /) -> int:
        if self.given_up:
            raise TimeoutError
        if self.tell() + len(chunk) > self._most:
            raise DownloadError(self._says)
        return super().write(chunk)


def download_file(key: str, url: str, path: Path, origin: Form, timeout: float) -> None:
    """Write what the URL gives to `path`, in up to three attempts; its hash is not looked at."""
    # Imported here: only downloads need them, and they would slow every start of the workflow.
    import pooch
    import requests

    # Without "identity" a server may compress on the way, and the length could not be checked.
    get = pooch.HTTPDownloader(
        timeout=timeout, chunk_size=1 << 16, headers={"Accept-Encoding": "identity"}
    )
    limit = 2 * timeout + origin.size / SLOWEST
    what, cause = "was not asked", None
    for attempt, pause in enumerate((*_PAUSES, None), start=1):
        again = f", attempt {attempt} of {len(_PAUSES) + 1}" if attempt > 1 else ""
        logger.info("Fetching %s from %s (%d bytes%s).", key, url, origin.size, again)
        try:
            with _Bounded(path, key, url, origin.size) as file:
                if in_time(lambda file=file: get(url, file, None), lambda: limit):
                    return
                file.given_up = True
            what = f"was abandoned after {limit:.0f} s"
            break
        except requests.HTTPError as error:
            status = error.response.status_code
            what, cause = f"answered {status} {error.response.reason}", error
            if status < 500 and status != 429:
                break
        except requests.Timeout as error:
            what, cause = f"did not answer within {timeout:g} s", error
        except requests.RequestException as error:
            what, cause = f"failed before all {origin.size} bytes arrived: {_root(error)}", error
        except ValueError as error:
            what, cause = f"sent headers that cannot be read ({error})", error
        if pause is not None:
            time.sleep(pause)
    raise DownloadError(
        f"{url} {what}, expected is {key} with {origin.size} bytes and sha256 {origin.sha256}; "
        f"{_NETWORK_ADVICE}."
    ) from cause


def in_time(download: Callable[[], object], limit: Callable[[], float]) -> bool:
    """Run a download for a limited number of seconds, which may grow; return whether it ended.

    The library bounds the wait for the next byte: headers and bodies that trickle in have no limit.
    An abandoned download continues in a thread that ends with this process.
    """
    raised: list[BaseException] = []

    def run() -> None:
        try:
            download()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="download", daemon=True)
    began = time.monotonic()
    thread.start()
    while thread.is_alive() and (left := began + limit() - time.monotonic()) > 0:
        thread.join(min(left, 1.0))
    if raised:
        raise raised[0]
    return not thread.is_alive()


def _root(error: BaseException) -> BaseException:
    """Return the root of the network library's chain of errors, such as "refused"."""
    while error.__context__ is not None:
        error = error.__context__
    return error


def check_download(key: str, url: str, path: Path, origin: Form) -> None:
    """Refuse a downloaded file with a wrong hash, and say what it seems to be."""
    digest, size = sha256(path), path.stat().st_size
    if digest == origin.sha256:
        return
    with path.open("rb") as file:
        start = file.read(512).lstrip().lower()
    advice = _NETWORK_ADVICE
    if size == 0:
        what = "is empty"
    elif start.startswith((b"<!doctype html", b"<html")):
        what = "is an HTML page in place of data (a login, error or proxy page?)"
    elif size < origin.size:
        what = f"is truncated: {size} of {origin.size} bytes"
    else:
        what = f"has the wrong content: {size} bytes, {origin.size} expected"
        advice = (
            "the file may have changed at its address; set `mirror:` in config.yaml or "
            "EVERYCELL_MIRROR to a folder that holds the registered one, or, if you trust the new "
            "one, register it with `everycell paper add-data ... --replace`"
        )
    raise DownloadError(
        f"What {url} gave for {key} {what}; its sha256 is {digest}, expected is {origin.sha256}; "
        f"the file was discarded, {advice}."
    )
