"""Entries of the data registry for a user's own files: fetched or copied once, hashed, written."""

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
from pydantic import ValidationError

from everycell.engine.files import sha256, write_atomically
from everycell.engine.registry import SHARED, Registry, forget_registry, merge_parts, read_part
from everycell.engine.registry_entries import SourceError
from everycell.engine.untrusted import has_secret, max_unpacked_size
from everycell.engine.validation import describe_fault
from everycell.sources.download import SLOWEST, DownloadError, in_time
from everycell.sources.fetch import OWN_DATA

_HEADER = """\
# yaml-language-server: $schema=../../workflow/schemas/registry.schema.json
# Written by `everycell paper add-data`, and may be edited. files: key -> origin (a file at a URL)
# or mirror (a file without a public URL); the record reference in the documentation lists the rest.
"""
#: Bytes of a file that is fetched without knowing its size.
MOST = 2**30
# A page may begin with comments and declarations. Atomic groups: nested repetition would take
# exponential time.
_PAGE = re.compile(
    rb"(?>\s+|<!--(?>.*?-->)|<\?xml(?>.*?\?>))*+<(!doctype html|html|head|body)\b", re.S | re.I
)
#: Note of an entry without a URL.
OWN = "a local file without a public URL"


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
    timeout: float = 60.0,
) -> str:
    """Fetch or copy a file into the cache, and write its entry into the paper's registry."""
    home = project / "published" / paper
    registry = home / "registry.yaml"
    if not (home / "paper.yaml").is_file():
        raise SourceError(
            f"There is no {home / 'paper.yaml'}; make the paper first: everycell paper new {paper}."
        )
    if registry.with_name("sets.yaml").exists():
        raise SourceError(
            f"{registry} is generated from sets.yaml beside it; describe the file there, and run "
            "`python -m everycell.sources.generate` (docs/data.md)."
        )
    is_url = source.lower().startswith(("http://", "https://"))
    if is_url:
        _refuse_secrets(source)
    last = unquote(urlsplit(source).path).rpartition("/")[2] if is_url else Path(source).name
    key = f"{set_name}/{name or last.removesuffix('.gz')}"
    content = _content_of(registry)
    if key in content["files"] and not replace:
        raise SourceError(f"{registry} has {key} already; take another name, or --replace it.")
    cache.mkdir(parents=True, exist_ok=True)
    # Nothing is written below the key before the registry has accepted it.
    with TemporaryDirectory(dir=cache, prefix=".added-") as folder:
        raw, part = Path(folder, "raw"), Path(folder, "part")
        packed = last.endswith(".gz")
        if is_url:
            unpacked_on_the_way = _download_in_time(source, raw, timeout)
            packed = packed and not unpacked_on_the_way
        else:
            if not Path(source).is_file():
                raise SourceError(
                    f"There is no file {source}; name a file, or a URL (https://...)."
                )
            shutil.copyfile(source, raw)
        form = _form(raw, part, packed=packed, source=source)
        form["path"] = f"{key}.gz" if "packed" in form and not is_url else key
        if is_url:
            content["files"][key] = {"origin": {"url": source, **form, "path": last}}
        else:
            content["files"][key] = {"mirror": form, "note": OWN}
        known = content["sets"].get(set_name, {})
        content["sets"][set_name] = known | (facts or {})
        text = _checked_text(project, registry, content)
        target = cache / key
        target.parent.mkdir(parents=True, exist_ok=True)
        own = project / OWN_DATA
        if is_url:
            # It would be read before the URL, and is another file now.
            (own / key).unlink(missing_ok=True)
        elif own.is_dir():
            (own / key).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(part, own / key)
        part.replace(target)
        write_atomically(registry, text)
        forget_registry()
    return key


def _content_of(registry: Path) -> dict[str, Any]:
    """Content of a registry file, with all its blocks; empty if there is no file."""
    if registry.exists():
        read_part(registry)
        blocks = yaml.safe_load(registry.read_text(encoding="utf-8")) or {}
    else:
        blocks = {}
    return {block: dict(blocks.get(block) or {}) for block in ("repositories", "sets", "files")}


def _refuse_secrets(url: str) -> None:
    """Refuse an address with a password or token, which would be written and shown."""
    if has_secret(url):
        raise SourceError(
            f"The URL of {urlsplit(url).hostname} holds a user, password or token, which "
            "registry.yaml would show; name a public URL, or download the file and name its path."
        )


def _download_in_time(url: str, path: Path, timeout: float) -> bool:
    """As `_download`, but abandoned if it is too slow, headers included."""
    encoded: list[bool] = []

    def allowed() -> float:
        return 2 * timeout + (path.stat().st_size if path.exists() else 0) / SLOWEST

    if not in_time(lambda: encoded.append(_download(url, path, timeout)), allowed):
        raise DownloadError(
            f"{url} was abandoned: it sends fewer than {SLOWEST} bytes a second; download it, and "
            "name its path."
        )
    return encoded[0]


def _download(url: str, path: Path, timeout: float) -> bool:
    """Download a URL to a path; an HTML page instead of data is refused."""
    import requests

    try:
        with requests.get(
            url, stream=True, timeout=timeout, headers={"Accept-Encoding": "identity"}
        ) as answer:
            answer.raise_for_status()
            size = 0
            with path.open("wb") as file:
                for chunk in answer.iter_content(1 << 16):
                    file.write(chunk)
                    size += len(chunk)
                    if size > MOST:
                        raise DownloadError(
                            f"{url} was abandoned after {size} bytes: it has more than {MOST}; "
                            "download it, and name its path."
                        )
            encoded = answer.headers.get("Content-Encoding", "identity") != "identity"
            announced = None if encoded else answer.headers.get("Content-Length")
    except requests.HTTPError as error:
        raise DownloadError(
            f"{url} answered {error.response.status_code}; correct the URL."
        ) from error
    except requests.RequestException as error:
        # The library's own text may quote an address that the server sent us to.
        raise DownloadError(
            f"{url} could not be fetched ({type(error).__name__}); try again."
        ) from None
    if announced is not None and announced != str(size):
        raise DownloadError(f"{url} gave {size} of {announced} bytes; try again.")
    with path.open("rb") as file:
        start = file.read(1 << 16).removeprefix(b"\xef\xbb\xbf")
    if _PAGE.match(start):
        raise DownloadError(
            f"{url} gave an HTML page instead of data; name the URL of the file itself (of a file "
            "on GitHub the one behind `Raw`)."
        )
    return encoded


def _form(raw: Path, part: Path, *, packed: bool, source: str) -> dict[str, Any]:
    """Size and hashes of a file; its content is written to `part`."""
    size = raw.stat().st_size
    if size == 0:
        raise SourceError(f"{source} is empty; name a file that holds something.")
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
                    raise ValueError(f"it holds more than {limit} bytes")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SourceError(
            f"{source} ends in .gz and cannot be unpacked ({error}); get it again."
        ) from None
    return form | {"packed": "gzip", "content_sha256": sha256(part)}


def _checked_text(project: Path, registry: Path, content: dict[str, Any]) -> str:
    """Text of a registry file that is consistent, by itself and with the others."""
    content = {block: entries for block, entries in content.items() if entries}
    try:
        own = Registry.model_validate(content)
    except ValidationError as error:
        raise SourceError(f"{registry}: {describe_fault(Registry, error)}") from None
    parts_of_others = sorted((project / "published").glob("*/registry.yaml"))
    parts = [(path, read_part(path)) for path in (SHARED, *parts_of_others) if path != registry]
    merge_parts([*parts, (registry, own)])
    body = yaml.safe_dump(
        content, default_flow_style=None, sort_keys=False, width=10_000, allow_unicode=True
    )
    return _HEADER + body
