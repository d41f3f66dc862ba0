"""What an anonymous deposit says of publications and repositories: its own, and those of others."""

from __future__ import annotations

import logging
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from everycell.base.untrusted import in_quotes, parse_json, printable_line
from everycell.base.yaml import named_scalars
from everycell.cli.printing import list_first

logger = logging.getLogger(__name__)

#: What replaces a field that names the authors' own repository.
ANONYMOUS = "Anonymous"
#: Fields of paper.yaml and registry.yaml that name a publication, in any words.
FREE_TEXT = ("paper", "reference")
#: Hosts of code, models and data, with the account and the name, and identifiers of publications.
WORK = re.compile(
    r"(?<![\w-])(?:[\w-]{1,63}+\.){0,4}(?:github\.(?:com|io)|githubusercontent\.com|bitbucket\.(?:org|io)"
    r"|huggingface\.co|hf\.(?:co|space)|osf\.io|zenodo\.org|figshare\.com|kaggle\.com|codeberg\.org"
    r"|sourceforge\.net|sr\.ht|dropbox\.com|drive\.google\.com|(?:gitlab|dataverse)(?:\.\w[\w-]*)+)(?![\w-])"
    r"(?:[:/](?:records?|datasets|spaces|models|api|projects|articles)\b)?(?:[:/][\w.~@-]*\w){0,2}"
    r"|\b10\.\d{4,9}/[^\s\"'<>,;)]*\w|\barxiv(?:\.org/\w+/|:\s?)[\w./-]*\w",
    re.IGNORECASE,
)
#: Fields whose text is named even if no such address is in it.
NAMED = {"paper.yaml": ("reference", "url"), "registry.yaml": ("paper",)}
METADATA = "ro-crate-metadata.json"
#: Begins the name of the entity that describes Snakemake, with its publication.
SNAKEMAKE = "https://w3id.org/workflowhub/"


def replace_own(text: str, is_own: Callable[[str], bool]) -> str:
    """A record in which free text that names a repository of the authors is replaced."""
    spans = [
        (value.start_mark.index, value.end_mark.index)
        for name, value in named_scalars(text)
        if name in FREE_TEXT and is_own(value.value)
    ]
    for start, end in sorted(spans, reverse=True):
        # A text of several lines ends with a line break.
        text = text[:start] + ANONYMOUS + "\n" * text[:end].endswith("\n") + text[end:]
    return text


def warn_of_works(archive: Path) -> None:
    """Name the publications and repositories in records and metadata, with file and field."""
    fields_by_work: dict[str, list[str]] = {}
    with zipfile.ZipFile(archive) as content:
        for name in content.namelist():
            for field, text in _fields(name, content):
                works = WORK.findall(text)
                if not works and field.split(".")[-1] in NAMED.get(Path(name).name, ()):
                    works = [in_quotes(text)] * (text != ANONYMOUS)
                for work in works:
                    fields_by_work.setdefault(work, []).append(f"{name} ({field})")
    for work, fields in fields_by_work.items():
        message = (
            f"Check {list_first([*dict.fromkeys(fields)], 3)}: {work} stays. Remove it if it leads "
            "to the authors; works of others may stay."
        )
        logger.warning("%s", printable_line(message))


def _fields(name: str, archive: zipfile.ZipFile) -> Iterator[tuple[str, str]]:
    """Fields and texts of a file of an archive, if it is a record or the metadata."""
    if PurePosixPath(name).match("published/*/*.yaml"):
        yield from _texts(yaml.safe_load(archive.read(name)))
    elif name == METADATA:
        for entity in parse_json(archive.read(name))["@graph"]:
            if not entity["@id"].startswith(SNAKEMAKE):
                yield from _texts(entity, entity["@id"])


def _texts(content: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Texts of a record, and keys that are addresses, with the names of their fields."""
    if isinstance(content, dict):
        for key, value in content.items():
            below = f"{field}.{key}" if field else str(key)
            if field == "repositories":
                host = value.get("host") or "github.com"
                yield field, f"{host}/{key}"
                continue
            yield from _texts(value, below)
    elif isinstance(content, list):
        for number, value in enumerate(content, 1):
            yield from _texts(value, f"{field}[{number}]")
    elif isinstance(content, str):
        yield field, content
