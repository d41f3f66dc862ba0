"""Where the files of a new paper come from: their names and hashes, and what Git knows of them.

`everycell import` writes this next to the table that it read, since the table is a new file.
`everycell init` writes it into the record of the table, and addresses into paper.yaml.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from everycell.base.files import sha256, write_json
from everycell.base.untrusted import has_secret, read_json
from everycell.cli.printing import list_first
from everycell.receipts.checkout import commit_of, git_output
from everycell.render.grid import shown_name

#: Suffix of the file that says what an imported table was read from.
SUFFIX = ".original"
#: Begin what records say of originals, which an anonymous deposit leaves out.
_READ, _HOLDS = "; read from ", "original files at commit "
#: Letters that names of files may have in a record.
_LETTERS = r"\w ./:+,=@()-"
_NOTE = re.compile(rf"{_READ}[\s{_LETTERS}]*\(sha256 [0-9a-f]{{64}}\)")
_SSH = re.compile(r"(?:ssh://)?(?:[\w.-]+@)([\w.-]+)[:/](?!/)(.+)")


class Original(NamedTuple):
    """A file as its authors published it; without a commit, `file` is only its name."""

    file: str
    sha256: str
    address: str = ""
    commit: str = ""
    #: Of several tables of the file, the one that was imported, from 1.
    number: str = ""

    @property
    def note(self) -> str:
        """What the source of a record says."""
        address = f" of {self.address}" if self.address else ""
        commit = f" at commit {self.commit}" if self.commit else ""
        table = f", table {self.number}" if self.number else ""
        return f"{_READ}{self.file}{table}{address}{commit} (sha256 {self.sha256})"


def find_original(path: Path) -> Original:
    """The original of a file that was imported, or else the file itself."""
    imported = Path(f"{path}{SUFFIX}")
    if imported.is_file():
        facts = read_json(imported)
        return Original(*(_plain(str(facts.get(name, ""))) for name in Original._fields))
    folder, file = path.resolve().parent, path.resolve().name
    name = _git(folder, "rev-parse", "--show-prefix") + file
    committed = _git(folder, "rev-parse", "--verify", "--quiet", f"HEAD:{name}")
    digest = sha256(path)
    if not committed or committed != _git(folder, "hash-object", "--no-filters", "--", file):
        return Original(_plain(path.name), digest)
    address = _web_address(_git(folder, "remote", "get-url", "origin"))
    return Original(_plain(name), digest, address, commit_of(folder) or "")


def write_original(
    table: Path, source: Path, headings: Mapping[str, str], number: int | None = None
) -> Path:
    """Write what a table was imported from, and its headings, into a file next to it."""
    path = Path(f"{table}{SUFFIX}")
    original = find_original(source)._replace(number=str(number or ""))
    write_json(path, {**original._asdict(), "headings": headings})
    return path


def find_headings(table: Path, keys: Iterable[str]) -> dict[str, str]:
    """Published headings of key columns of an imported table that differ from what is shown.

    Keys are in lower case; those that have another name than their column keep it.
    """
    imported = Path(f"{table}{SUFFIX}")
    content = read_json(imported) if imported.is_file() else {}
    headings = content.get("headings") if isinstance(content, dict) else {}
    headings = headings if isinstance(headings, dict) else {}
    return {
        key: heading
        for key in keys
        if isinstance(heading := headings.get(key), str)
        if re.sub(r"\W", "", heading).lower() == re.sub(r"[\W_]", "", key)
        if shown_name(key) != heading
    }


def repositories_of(originals: Iterable[Original]) -> Iterator[dict[str, str]]:
    """Addresses of originals, and the commits and files that they hold, for `publication`."""
    files: dict[tuple[str, str], list[str]] = {}
    for original in originals:
        if original.address:
            files.setdefault((original.address, original.commit), []).append(original.file)
    for (address, commit), names in files.items():
        yield {"url": address, "holds": f"{_HOLDS}{commit}: {list_first(names)}"}


def remove_originals(text: str) -> str:
    """A record or a paper.yaml without addresses and commits of originals."""
    text = _NOTE.sub("", text)
    if not _has_originals(text):
        return text
    content: dict[str, Any] = yaml.safe_load(text)
    publication = content["publication"]
    publication["data"] = [
        entry for entry in publication["data"] if not entry["holds"].startswith(_HOLDS)
    ]
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)


def addresses_of_originals(text: str) -> list[str]:
    """Addresses of the repositories of originals in a paper.yaml."""
    entries = yaml.safe_load(text)["publication"]["data"] if _has_originals(text) else []
    return [entry["url"] for entry in entries if entry["holds"].startswith(_HOLDS)]


def _has_originals(text: str) -> bool:
    # Only paper.yaml has a publication.
    return _HOLDS in text and re.search("^publication:", text, re.MULTILINE) is not None


def _plain(text: str) -> str:
    """A name without letters that would end it in a record."""
    return re.sub(rf"[^{_LETTERS}]", "_", text)


def _web_address(remote: str) -> str:
    """Address of a remote on the web, without a user or secret; empty for a folder."""
    if match := _SSH.fullmatch(remote):
        remote = f"https://{match[1]}/{match[2]}"
    address = re.sub(r"^(https://)[^/@]*@", r"\1", remote.removesuffix("/").removesuffix(".git"))
    is_public = re.fullmatch(rf"https://[{_LETTERS}]+", address) and " " not in address
    return address if is_public and not has_secret(address) else ""


def _git(folder: Path, *arguments: str) -> str:
    """Output of a Git command without the last line break; empty if it fails."""
    return (git_output(folder, *arguments) or "").rstrip("\n")
