"""Deposits for double-blind review: removal of what identifies authors, and a search for the rest.

Names are searched for in file names and contents, also in packed or encoded ones and in the escapes
of JSON, HTML, URLs and LaTeX.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import html
import io
import lzma
import platform
import re
import subprocess
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from unicodedata import combining, normalize
from urllib.parse import unquote

from everycell.base.files import write_json
from everycell.base.installation import requirement, wheel_file
from everycell.base.untrusted import RATIO, UNPACKED, parse_json
from everycell.cli.importing.latex import ACCENTS
from everycell.config import repository_of
from everycell.receipts.checkout import commit_of
from everycell.receipts.receipts import ReceiptError, receipts_in, with_hashes
from everycell.records.papers import Paper

ANONYMOUS = "Anonymous"
AUTHOR, FAMILY_NAME = "an author", "an author's family name"
HOST, USER, GIT_USER = "a host", "a user name", "Git's user.name"
COMMIT, ACCOUNT = "a commit", "the account of a repository"
#: Names of containers, users, hosts and folders that identify nobody.
GENERIC = {"", "/", "/root", "admin", "debian", "localhost", "root", "runner", "ubuntu", "user"}
#: Folder of any user, as in paths of another machine.
HOME = re.compile(
    r"(?:(?<![\w.])/(?:home|Users)/|[A-Za-z]:[\\/]+Users[\\/]+)"
    rf"(?!(?:{'|'.join(filter(str.isalpha, GENERIC))}|author|name|you)\b)(?=[\w.-]*\w)[\w.-]+",
    re.IGNORECASE,
)
#: Account and name of a repository at the end of its address.
REPOSITORY = re.compile(r"[/:]([\w.-]+)/([\w.-]+?)(?:\.git)?/?$")
#: Start of a packed file, except for ZIP -> how to open it.
PACKED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"]\0\0": lzma.open,
}
#: Beginning of a stream of zlib, such as in PDF and PNG, with the number of bytes that are
#: searched, and bytes that may be base64.
STREAM_SIZE = 2**20
STREAM = re.compile(rb"\x78[\x01\x5e\x9c\xda]")
BASE64 = re.compile(rb"[A-Za-z0-9+/]{20,}={0,2}")
#: How often a file may be packed.
LEVELS = 5
#: Shortest spelling without accents that is searched for, since short ones are words.
SHORTEST = 5
_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_STROKES = str.maketrans("łŁøØđĐ", "lLoOdD")
#: Borders of words, to which underscores do not belong.
_START, _END = r"(?<![^\W_])", r"(?![^\W_])"
#: A letter as JSON and HTML escape it, and as LaTeX writes it: accented, or with a command.
_ESCAPED = re.compile(r"(?<!\\)\\++u([0-9a-fA-F]{4})|&#?\w{2,8};")
_ACCENTED = re.compile(
    r"""\{?(?<!\\)\\++(?:([`'^"~=.])\s*+|([cvuHrk])(?:\s+|(?=\{)))\{?\\?([A-Za-z])\}?\}?"""
)
_LETTERS = {
    **{"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å"},
    **{"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı"},
}
_COMMAND = re.compile(rf"\{{?(?<!\\)\\++({'|'.join(_LETTERS)})(?![A-Za-z])(?:\{{\}}|\s+)?\}}?")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
#: Letters that are not visible.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_WHITE_SPACE = re.compile(r"(?<!\\)\\++[nrt]")


def authors_of(papers: Mapping[str, Paper]) -> list[str]:
    """Names of the authors of all papers."""
    names = [name.strip() for paper in papers.values() for name in paper.authors.split(",")]
    return list(dict.fromkeys(names))


def identities(results: Path, project: Path, papers: Mapping[str, Paper]) -> dict[str, str]:
    """Words that identify the authors -> what they are."""
    words: dict[str, str] = {}
    for author in authors_of(papers):
        words |= dict.fromkeys(_spellings(author), AUTHOR)
        words |= dict.fromkeys(_spellings(author.split()[-1]), FAMILY_NAME)
    for key in papers:
        for name, meaning in words.items():
            if meaning == FAMILY_NAME and (
                name.lower() in (key if len(name) >= SHORTEST else re.findall("[a-z]+", key))
            ):
                raise ReceiptError(
                    f"The key {key} contains the name {name}; make a repository with a neutral "
                    f"key, such as paper{papers[key].year}, for an anonymous deposit."
                )
    identifiers = {Path.home().name: USER}
    for path in receipts_in(results):
        receipt = parse_json(path.read_text(encoding="utf-8"))
        identifiers[receipt["execution"].get("host") or ""] = HOST
        identifiers[(receipt["code"].get("commit") or "")[:7]] = COMMIT
    identifiers |= {
        platform.node(): HOST,
        (commit_of(project) or "")[:7]: COMMIT,
        str(Path.home()): "a folder",
        str(project.resolve()): "a folder",
        repository_of(project) or "": "the address of the repository",
    }
    for setting in ("user.name", "user.email", r"remote\..*\.(push)?url"):
        command = ["git", "config", "--get-regexp", f"^{setting}$"]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        for line in done.stdout.splitlines():
            name, _, value = line.partition(" ")
            identifiers[value] = f"Git's {name}"
    for address, meaning in [*identifiers.items()]:
        # Not for a folder of this machine.
        if re.match(r"(?!file:)\w+://|[\w.-]+@", address) and (match := REPOSITORY.search(address)):
            identifiers |= {match[1]: ACCOUNT, f"{match[1]}/{match[2]}": meaning}
    address = re.search(r"\b\w++://([^/]+/[^/]+)/", requirement())
    if address and "file:" not in requirement():
        identifiers[address[1]] = "an address of everycell"
    return {
        word: meaning
        for word, meaning in identifiers.items()
        if word.lower() not in GENERIC and len(word) > 2
    } | words


def _spellings(name: str) -> list[str]:
    """A name as it is, and without accents."""
    plain = "".join(
        letter for letter in normalize("NFKD", name.translate(_STROKES)) if not combining(letter)
    )
    variants = [text for text in (plain, name.translate(_GERMAN)) if len(text) >= SHORTEST]
    return list(dict.fromkeys([normalize("NFC", name), *variants]))


def anonymise(copy: Path, papers: Mapping[str, Paper]) -> None:
    """Remove names from records and texts, and hosts and commits from receipts."""
    names = sorted(authors_of(papers), key=len, reverse=True)
    for path in [*copy.glob("published/*/*.yaml"), *copy.glob("*.*"), copy / "LICENSE"]:
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            for name in names:
                text = text.replace(name, ANONYMOUS)
            path.write_text(text, encoding="utf-8")
    config = copy / "config.yaml"
    text = config.read_text(encoding="utf-8")
    text = re.sub("^repository:.*$", "repository: null", text, flags=re.MULTILINE)
    config.write_text(text, encoding="utf-8")
    for path in receipts_in(copy / "results"):
        receipt = parse_json(path.read_text(encoding="utf-8"))
        receipt["execution"]["host"] = ANONYMOUS.lower()
        receipt["code"]["commit"] = None
        write_json(path, with_hashes(receipt))


def refuse_identities(archive: Path, forbidden: Mapping[str, str]) -> None:
    """Refuse an archive in which a word that identifies the authors is left."""
    words = [
        (word, word.casefold(), _pattern(word, meaning)) for word, meaning in forbidden.items()
    ]
    wheel = wheel_file()
    with zipfile.ZipFile(archive) as content:
        # The wheel of everycell itself may name anyone.
        for name, data in _members(content, wheel.read_bytes() if wheel else None):
            for text in _readings(name.encode() + b"\n" + data):
                folded = text.casefold()
                # Most words are nowhere, which a search without a pattern says sooner.
                matches = (
                    (pattern.search(text), word, forbidden[word])
                    for word, folded_word, pattern in words
                    if folded_word in folded
                )
                for match, word, meaning in (*matches, (HOME.search(text), "", "a user's folder")):
                    if match:
                        line = text[: match.start()].count("\n")
                        raise ReceiptError(
                            f"{name}, line {line}: {word or match[0]!r} is {meaning}, so no "
                            "anonymous deposit was written; remove it from that file."
                        )


def _pattern(word: str, meaning: str) -> re.Pattern[str]:
    """Pattern of a word; only in some places if it may be an ordinary one."""
    escaped = re.escape(word)
    if meaning == COMMIT:
        return re.compile(rf"{_START}{escaped}[0-9a-f]*{_END}", re.IGNORECASE)
    if meaning == ACCOUNT:
        # As part of an address.
        return re.compile(rf"[/@:]{escaped}(?=[/.]){_END}", re.IGNORECASE)
    is_one_word = meaning in (HOST, GIT_USER) and word.isalpha()
    if meaning == USER or (is_one_word and word.islower()):
        # In a path, an address, or the header of a file in a tar archive.
        before = r"(?:\b(?:home|users)[/\\]+|@)"
        inside = rf"{_START}{escaped}(?=@)|(?:(?<=\0)|(?<=ustar\x000{2})){escaped}(?=\0)"
        return re.compile(rf"{before}{escaped}{_END}|{inside}", re.IGNORECASE)
    if meaning == FAMILY_NAME or is_one_word:
        # In lower case, it is a name in an e-mail address, after @, or as a folder.
        cases = f"{escaped}|{re.escape(word.upper())}"
        address = rf"(?i:{escaped})(?=[\w.+-]*@)|(?<=@)(?i:{escaped})|(?<=/){word.lower()}(?=/)"
        handle = rf"|@[\w.-]*(?i:{escaped}){_END}" if len(word) >= SHORTEST else ""
        return re.compile(rf"{_START}(?:{cases}|{address}){_END}{handle}")
    return re.compile(f"{_START}{escaped}{_END}", re.IGNORECASE)


def _members(
    archive: zipfile.ZipFile, skipped: bytes | None = None, levels: int = LEVELS
) -> Iterator[tuple[str, bytes]]:
    for name in archive.namelist():
        data = archive.read(name)
        if data != skipped:
            yield from _contents(name, data, levels)


def _contents(name: str, data: bytes, levels: int) -> Iterator[tuple[str, bytes]]:
    """Names and contents of a file, and of the files and texts that are packed in it."""
    # Headers and comments of packed files are not packed.
    yield name, data
    limit = max(UNPACKED, RATIO * len(data))
    opener = next((opener for start, opener in PACKED.items() if data.startswith(start)), None)
    # Only begins like such a file.
    with suppress(OSError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile):
        if opener is not None:
            with opener(io.BytesIO(data)) as file:
                content = file.read(limit + 1)
            _require_limits(name, len(content), limit, levels)
            yield from _contents(name, content, levels - 1)
        elif zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                # No member yields more bytes than it declares.
                size = sum(member.file_size for member in archive.infolist())
                _require_limits(name, size, limit, levels)
                yield from _members(archive, levels=levels - 1)
    if data.startswith(b"PAR1"):
        yield name, _parquet_text(data, name, limit)
    for match in STREAM.finditer(data):
        with suppress(zlib.error):
            packed = data[match.start() : match.start() + STREAM_SIZE]
            yield name, zlib.decompressobj().decompress(packed, UNPACKED)
    for match in BASE64.finditer(data) if levels else ():
        with suppress(binascii.Error):
            text = match[0].rstrip(b"=")
            content = base64.b64decode(text + b"=" * (-len(text) % 4))
            yield from _contents(name, content, levels - 1)


def _parquet_text(data: bytes, name: str, limit: int) -> bytes:
    """Texts in a Parquet file, one per line; its metadata are not packed."""
    import pyarrow as pa
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
        _require_limits(name, sum(group.total_byte_size for group in groups), limit, 1)
        return "\n".join(
            str(text)
            for column in file.read().columns
            if not pa.types.is_primitive(column.type)
            for text in column.unique().to_pylist()
        ).encode("utf-8", "replace")
    except (pa.ArrowException, OSError):
        return b""  # only begins like such a file


def _require_limits(name: str, size: int, limit: int, levels: int) -> None:
    if size > limit or not levels:
        raise ReceiptError(
            f"{name} unpacks to more than {limit:,} bytes, or is packed more than {LEVELS} times, "
            "so it cannot be searched for names; remove it, or unpack it."
        )


def _readings(data: bytes) -> Iterator[str]:
    """A file as text, without the escapes of JSON and HTML, and without those of LaTeX too."""
    utf8 = data.decode("utf-8", "replace")
    for text in (utf8, data.decode("latin-1")) if "\ufffd" in utf8 else (utf8,):
        has_escapes = "\\u" in text or "&" in text
        plain = normalize("NFC", _ESCAPED.sub(_unescape, text) if has_escapes else text)
        yield plain
        if "\0" in plain:
            # Texts of two or four bytes per letter.
            yield plain.replace("\0", "")
        if _PERCENT.search(plain):
            yield _PERCENT.sub(lambda m: unquote(m[0]), plain)
        if _INVISIBLE.search(plain):
            yield _INVISIBLE.sub("", plain)
        if "\\" in plain:
            accented = _ACCENTED.sub(lambda m: m[3] + ACCENTS[m[1] or m[2]], plain)
            letters = _COMMAND.sub(lambda m: _LETTERS[m[1]], normalize("NFC", accented))
            yield _WHITE_SPACE.sub(" ", letters)


def _unescape(match: re.Match[str]) -> str:
    """The escaped letter; line breaks and other ASCII characters without letters stay escaped."""
    letter = chr(int(match[1], 16)) if match[1] else html.unescape(match[0])
    return match[0] if letter.isascii() and not letter.isalpha() else letter
