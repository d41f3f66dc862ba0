"""Register a user's data files: fetch or copy each file, hash it, and write its entry."""

from __future__ import annotations

import gzip
import re
import shutil
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from filelock import FileLock
from pydantic import ValidationError

from everycell.base.files import sha256, write_atomically
from everycell.base.untrusted import has_secret, max_unpacked_size
from everycell.base.validation import describe_fault
from everycell.records.registry import (
    SHARED,
    Registry,
    SourceError,
    forget_registry,
    merge_parts,
    read_part,
)
from everycell.sources.download import MIN_BYTES_PER_SECOND, DownloadError, finishes_in_time
from everycell.sources.fetch import LOCAL_FILE_NOTE, OWN_DATA, OWN_FILE_NOTE
from everycell.sources.proxies import check_proxies

_HEADER = """\
# yaml-language-server: $schema=../../workflow/schemas/registry.schema.json
# Written by `everycell paper add-data`, and may be edited. files: key -> origin (a file at a URL)
# or mirror (a file without a public URL); the record reference in the documentation lists the rest.
"""
#: Largest download, in bytes.
MAX_BYTES = 2**30
# An HTML page may begin with comments and declarations. Atomic groups avoid exponential time.
_PAGE = re.compile(
    rb"(?>\s+|<!--(?>.*?-->)|<\?xml(?>.*?\?>))*+<(!doctype html|html|head|body)\b", re.S | re.I
)


def add_file(
    project: Path,
    paper: str,
    source: str,
    *,
    cache: Path,
    set_name: str,
    name: str | None = None,
    facts: dict[str, Any] | None = None,
    replace: bool = False,
    made_from: str = "",
    timeout: float = 60.0,
) -> str:
    """Fetch or copy a file into the cache, and add it to the registry of a paper.

    The note of a local file ends with what it was made from, if that is stated.
    """
    home = project / "published" / paper
    registry = home / "registry.yaml"
    if not (home / "paper.yaml").is_file():
        raise SourceError(
            f"{home / 'paper.yaml'} does not exist; create the paper first: everycell paper new "
            f"{paper}."
        )
    if registry.with_name("sets.yaml").exists():
        raise SourceError(
            f"{registry} is generated from the sets.yaml in the same folder; describe the file "
            "there, and run `python tools/generate_registry.py` (docs/data.md)."
        )
    is_url = source.lower().startswith(("http://", "https://"))
    # Also addresses of other schemes, which the message about a missing file would show.
    if is_url or "//" in source:
        _reject_secrets(source)
    last = unquote(urlsplit(source).path).rpartition("/")[2] if is_url else Path(source).name
    key = f"{set_name}/{name or last.removesuffix('.gz')}"
    _registry_without(key, registry, replace=replace)
    data_folder = project / OWN_DATA
    for target in (cache / key, *([data_folder / key] if data_folder.is_dir() else [])):
        _refuse_link(target, target.parents[key.count("/")])
    cache.mkdir(parents=True, exist_ok=True)
    # The file is moved to its final path only after the new entry has been validated.
    with TemporaryDirectory(dir=cache, prefix=".added-") as folder:
        raw, part = Path(folder, "raw"), Path(folder, "part")
        packed = last.endswith(".gz")
        if is_url:
            is_decoded = _download_with_time_limit(source, raw, timeout)
            packed = packed and not is_decoded
        else:
            if not Path(source).is_file():
                fault = "is a folder or a pipe" if Path(source).exists() else "does not exist"
                raise SourceError(
                    f"{source} {fault}; give the path of a file, or a URL (https://...)."
                )
            shutil.copyfile(source, raw)
        form = _form(raw, part, packed=packed, source=source)
        form["path"] = f"{key}.gz" if "packed" in form and not is_url else key
        # Another command may add a file meanwhile.
        with records_lock(cache):
            content = _registry_without(key, registry, replace=replace)
            if is_url:
                content["files"][key] = {"origin": {"url": source, **form, "path": last}}
            else:
                note = OWN_FILE_NOTE if data_folder.is_dir() else LOCAL_FILE_NOTE
                content["files"][key] = {"mirror": form, "note": note + made_from}
            set_facts = content["sets"].get(set_name, {})
            content["sets"][set_name] = set_facts | (facts or {})
            text = _render_checked(project, registry, content)
            target = cache / key
            target.parent.mkdir(parents=True, exist_ok=True)
            if is_url:
                # An old copy would take precedence over the URL.
                (data_folder / key).unlink(missing_ok=True)
            elif data_folder.is_dir():
                (data_folder / key).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(part, data_folder / key)
            part.replace(target)
            write_atomically(registry, text)
            forget_registry()
    return key


def _refuse_link(path: Path, top: Path) -> None:
    """Refuse to write through a link below a folder, which might lead anywhere."""
    while path != top:
        if path.is_symlink():
            raise SourceError(
                f"{path} is a link to {path.readlink()}, through which nothing is written; remove "
                "the link, or choose another name."
            )
        path = path.parent


def records_lock(cache: Path) -> FileLock:
    """Lock of commands that add to files of a project, in its cache, which Git ignores."""
    cache.mkdir(parents=True, exist_ok=True)
    return FileLock(cache / ".records.lock")


def _registry_without(key: str, registry: Path, *, replace: bool) -> dict[str, Any]:
    """Content of a registry file, which must not have a key unless it is to be replaced."""
    content = _read_content(registry)
    if key in content["files"] and not replace:
        raise SourceError(f"{registry} already has {key}; choose another name, or use --replace.")
    return content


def _read_content(registry: Path) -> dict[str, Any]:
    """Content of a registry file by block; the blocks are empty if the file does not exist."""
    if registry.exists():
        read_part(registry)
        blocks = yaml.safe_load(registry.read_text(encoding="utf-8")) or {}
    else:
        blocks = {}
    return {block: dict(blocks.get(block) or {}) for block in ("repositories", "sets", "files")}


def _reject_secrets(url: str) -> None:
    """Raise an error if a URL contains a password or token, which registry.yaml would show."""
    try:
        is_secret, host = has_secret(url), urlsplit(url).hostname
    except ValueError as error:
        raise SourceError(f"The URL cannot be read ({error}); correct it.") from None
    if is_secret:
        raise SourceError(
            f"The URL of {host} contains a user name, password or token, "
            "which registry.yaml would show; use a public URL, or download the file and give its "
            "path."
        )


def _download_with_time_limit(url: str, path: Path, timeout: float) -> bool:
    """Call `_download`, and abandon it if it is too slow."""
    is_decoded: list[bool] = []

    def time_limit() -> float:
        return 2 * timeout + (path.stat().st_size if path.exists() else 0) / MIN_BYTES_PER_SECOND

    if not finishes_in_time(lambda: is_decoded.append(_download(url, path, timeout)), time_limit):
        raise DownloadError(
            f"{url} was abandoned: it sends fewer than {MIN_BYTES_PER_SECOND} bytes per second; "
            "download the file yourself and give its path."
        )
    return is_decoded[0]


def _download(url: str, path: Path, timeout: float) -> bool:
    """Download a URL to a path; return whether the response had a content encoding."""
    import requests

    check_proxies()
    try:
        with requests.get(
            url, stream=True, timeout=timeout, headers={"Accept-Encoding": "identity"}
        ) as response:
            response.raise_for_status()
            # The file's hash is not known yet, and anyone on the way could change the file.
            hops = [hop.url.partition(":")[0] for hop in (*response.history, response)]
            if url.startswith("https:") and set(hops) != {"https"}:
                raise DownloadError(
                    f"{url} leads to an address without encryption; use its https address, or "
                    "download the file yourself and give its path."
                )
            size = 0
            with path.open("wb") as file:
                for chunk in response.iter_content(1 << 16):
                    file.write(chunk)
                    size += len(chunk)
                    if size > MAX_BYTES:
                        raise DownloadError(
                            f"The download of {url} was aborted: it exceeds {MAX_BYTES} bytes; "
                            "download the file yourself and give its path."
                        )
            is_encoded = response.headers.get("Content-Encoding", "identity") != "identity"
            expected_size = None if is_encoded else response.headers.get("Content-Length")
    except requests.HTTPError as error:
        raise DownloadError(
            f"{url} returned {error.response.status_code}; correct the URL."
        ) from error
    except (requests.RequestException, ValueError) as error:
        # The message of `requests` may quote a redirected URL with secrets.
        raise DownloadError(
            f"{url} could not be fetched ({type(error).__name__}); try again."
        ) from None
    if expected_size is not None and expected_size != str(size):
        raise DownloadError(f"{url} returned {size} of {expected_size} bytes; try again.")
    with path.open("rb") as file:
        start = file.read(1 << 16).removeprefix(b"\xef\xbb\xbf")
    if _PAGE.match(start):
        raise DownloadError(
            f"{url} returned an HTML page instead of data; use the URL of the file itself (on "
            "GitHub, the link of the `Raw` button)."
        )
    return is_encoded


def _form(raw: Path, part: Path, *, packed: bool, source: str) -> dict[str, Any]:
    """Write the content of a file to `part`, and return its size and hashes."""
    size = raw.stat().st_size
    if size == 0:
        raise SourceError(f"{source} is empty; choose another file.")
    form: dict[str, Any] = {"size": size, "sha256": sha256(raw)}
    if not packed:
        shutil.copyfile(raw, part)
        return form
    try:
        with gzip.open(raw, "rb") as unpacked, part.open("wb") as file:
            limit, size = max_unpacked_size(raw), 0
            while chunk := unpacked.read(1 << 20):
                file.write(chunk)
                size += len(chunk)
                if size > limit:
                    raise ValueError(f"it contains more than {limit} bytes")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SourceError(
            f"{source} ends in .gz but cannot be unpacked ({error}); get a new copy."
        ) from None
    return form | {"packed": "gzip", "content_sha256": sha256(part)}


def _render_checked(project: Path, registry: Path, content: dict[str, Any]) -> str:
    """Text of a registry file, after checking that it is valid and agrees with the other files."""
    content = {block: entries for block, entries in content.items() if entries}
    try:
        new_part = Registry.model_validate(content)
    except ValidationError as error:
        raise SourceError(f"{registry}: {describe_fault(Registry, error)}") from None
    paths = [SHARED, *sorted((project / "published").glob("*/registry.yaml"))]
    other_parts = [(path, read_part(path)) for path in paths if path != registry]
    merge_parts([*other_parts, (registry, new_part)])
    body = yaml.safe_dump(
        content, default_flow_style=None, sort_keys=False, width=10_000, allow_unicode=True
    )
    return _HEADER + body
