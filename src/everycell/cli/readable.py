"""Contents of an archive's files in all forms in which a name or a key can be read.

Packed files are unpacked, and encoded texts decoded: base64, base32, hexadecimal digits, UTF-16,
strings of PDF, quoted-printable, and the escapes of JSON, Python, HTML, URLs and LaTeX.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import gzip
import html
import io
import lzma
import quopri
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Literal, NamedTuple
from unicodedata import combining, normalize
from urllib.parse import unquote

import pyarrow as pa

from everycell.base.untrusted import RATIO, UNPACKED
from everycell.cli.importing.latex import ACCENTS

#: Start of a packed file, except for ZIP and tar -> how to open it.
PACKED: dict[bytes, Callable[..., Any]] = {
    b"\x1f\x8b\x08": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ\0": lzma.open,
    b"]\0\0": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda file: pa.CompressedInputStream(file, "zstd"),
    b"\x04\x22\x4d\x18": lambda file: pa.CompressedInputStream(file, "lz4"),
}
#: Formats that are not opened: 7z, RAR, compress, Arrow, ORC, and encrypted files.
CLOSED = re.compile(
    rb"7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|\x1f\x9d[\x89-\x90]|ARROW1\0|ORC|Salted__|age-encryption\.org/"
    rb"|-----BEGIN (?:PGP MESSAGE|AGE ENCRYPTED FILE)-----"
    rb"|\xd0\xcf\x11\xe0(?=(?s:.*)E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e)"
    rb"|%PDF-(?=(?s:.*)/(?:Encrypt|LZWDecode)\b)"
)
#: What the errors of a damaged or encrypted file are.
DAMAGED = (OSError, EOFError, RuntimeError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
#: Beginning of a stream of zlib or gzip in another file, such as PDF or PNG, with the number of
#: bytes that are searched.
STREAM_SIZE = 2**20
STREAM = re.compile(
    rb"\x78[\x01\x5e\x9c\xda]|\x48[\x09\x47\x89\xc7]|\x68[\x05\x43\x81\xde]|\x58[\x09\x47\x85\xc3]"
    rb"|\x1f\x8b\x08"
)
#: Shortest decoded text that may be a closed file: shorter ones are ids and hashes by chance.
SHORTEST_PACKED = 100
#: Bytes that may be base64, also on several lines, and those that may be a short text in it.
BASE64 = re.compile(rb"[A-Za-z0-9+/]{20,}(?:(?:\r?\n|\\n)[A-Za-z0-9+/]{4,})*={0,2}")
SHORT_BASE64 = re.compile(rb"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{7,}={0,2}")
BASE32 = re.compile(rb"(?<![A-Z2-7])[A-Z2-7]{16,}(?:\r?\n[A-Z2-7]+)*")
ASCII85 = re.compile(rb"(?:<~|stream\r?\n)([!-uz\s]{10,})~>")
HEXADECIMAL = re.compile(rb"(?<![A-Za-z0-9])(?:[0-9A-Fa-f]{2}\s*){3,}(?![A-Za-z0-9])")
#: Letters of two bytes each.
UTF_16 = {
    "utf-16-le": re.compile(rb"(?:[^\0][\0-\x05\x1e]){3,}"),
    "utf-16-be": re.compile(rb"(?:[\0-\x05\x1e][^\0]){3,}"),
}
#: Size of the parts in which a file is searched, and what follows a part is searched with it.
BLOCK, OVERLAP = 2**23, 2**16
#: How often a file may be packed, and how often the escapes of a text are decoded.
LEVELS = 5
ROUNDS = 3
_STROKES = str.maketrans("łŁøØđĐı", "lLoOdDi")
_UNICODE = re.compile(
    r"(?<!\\)\\++(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))"
)
_OCTAL = re.compile(r"\\([0-3][0-7]{2})")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_QUOTED = re.compile(r"(?:=[0-9A-Fa-f]{2})+|=\r?\n")
#: A letter as LaTeX writes it: accented, or with a command.
_ACCENTED = re.compile(
    r"""\{?(?<!\\)\\++(?:([`'^"~=.])\s*+|([cvuHrk])(?:\s+|(?=\{)))\{?\\?([A-Za-z])\}?\}?"""
)
_LETTERS = {
    **{"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å"},
    **{"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "i": "ı"},
}
_COMMAND = re.compile(rf"\{{?(?<!\\)\\++({'|'.join(_LETTERS)})(?![A-Za-z])(?:\{{\}}|\s+)?\}}?")
_WHITE_SPACE = re.compile(r"(?<!\\)\\++[nrt]")
_MARKUP = re.compile(r"</?[A-Za-z][^<>]{0,500}>")
#: Letters that are not visible.
_INVISIBLE = re.compile("[\u00ad\u034f\u180e\u200b-\u200f\u2060-\u206f\ufe00-\ufe0f\ufeff]")


class Content(NamedTuple):
    """A file, or what is packed in it; `fault` says why the content is missing."""

    name: str
    data: bytes
    fault: Literal["", "closed", "cut", "too large"] = ""


def members(
    archive: zipfile.ZipFile,
    skipped: bytes | None = None,
    levels: int = LEVELS,
    budget: Budget | None = None,
) -> Iterator[Content]:
    """Files of an archive, and the files and texts that are packed in them."""
    # Two may have one name.
    for member in archive.infolist():
        try:
            data = archive.read(member)
        except DAMAGED:
            yield Content(member.filename, b"", "closed")
            continue
        if data != skipped:
            yield from contents(member.filename, data, levels, budget)


class Budget:
    """Bytes that may still be unpacked from a file; archives in archives would have no end."""

    def __init__(self, size: int) -> None:
        self.remaining = LEVELS * max(UNPACKED, RATIO * size)

    def allows(self, size: int, files: int = 1) -> bool:
        """Use a number of bytes, and return whether there were so many."""
        # The search of a file takes as long as that of a number of bytes.
        self.remaining -= size + 2**10 * files
        return self.remaining >= 0


def contents(
    name: str, data: bytes, levels: int = LEVELS, budget: Budget | None = None
) -> Iterator[Content]:
    """A file, and the files and texts that are packed in it."""
    budget = budget or Budget(len(data))
    # Headers and comments of packed files are not packed.
    yield Content(name, data)
    limit = max(UNPACKED, RATIO * len(data))
    if CLOSED.match(data):
        yield Content(name, b"", "closed")
    opener = next((opener for start, opener in PACKED.items() if data.startswith(start)), None)
    if opener is not None:
        content, is_damaged = _unpack(opener, data, limit)
        if len(content) > limit or not levels or not budget.allows(len(content)):
            yield Content(name, b"", "too large")
        else:
            yield from contents(name, content, levels - 1, budget)
        if is_damaged:
            yield Content(name, b"", "closed")
    elif zipfile.is_zipfile(io.BytesIO(data)):
        # Some only end like such a file.
        with suppress(*DAMAGED), zipfile.ZipFile(io.BytesIO(data)) as archive:
            # No member yields more bytes than it declares.
            size = sum(member.file_size for member in archive.infolist())
            if size > limit or not levels or not budget.allows(size, len(archive.infolist())):
                yield Content(name, b"", "too large")
            else:
                yield from members(archive, levels=levels - 1, budget=budget)
    elif data[257:262] == b"ustar" and not levels:
        yield Content(name, b"", "too large")
    elif data[257:262] == b"ustar":
        with suppress(tarfile.TarError, *DAMAGED), tarfile.open(fileobj=io.BytesIO(data)) as tar:
            for member in filter(tarfile.TarInfo.isreg, tar):
                if not member.issparse() and (file := tar.extractfile(member)):
                    yield from contents(name, file.read(), levels - 1, budget)
    if data.startswith(b"PAR1"):
        yield _parquet_text(name, data, limit)
    yield from _encoded(name, data, levels, budget)


def _unpack(opener: Callable[..., Any], data: bytes, limit: int) -> tuple[bytes, bool]:
    """Unpacked content up to a limit, or up to the first fault."""
    content = io.BytesIO()
    try:
        with opener(io.BytesIO(data)) as file:
            while content.tell() <= limit and (chunk := file.read(2**16)):
                content.write(chunk)
    except (*DAMAGED, pa.ArrowException):
        return content.getvalue(), True
    return content.getvalue(), False


def _encoded(name: str, data: bytes, levels: int, budget: Budget) -> Iterator[Content]:
    """Packed and encoded parts of a file in another format."""
    if not levels:
        return
    view = memoryview(data)
    for match in STREAM.finditer(data):
        with suppress(zlib.error):
            packed = view[match.start() : match.start() + STREAM_SIZE]
            stream = zlib.decompressobj(47)  # a header of zlib or gzip
            content = stream.decompress(packed, UNPACKED)
            if not budget.allows(len(content)):
                yield Content(name, b"", "cut")
                break
            yield Content(name, content)
            if stream.unconsumed_tail or (len(packed) == STREAM_SIZE and not stream.eof):
                yield Content(name, b"", "cut")
    for match in BASE64.finditer(data):
        for text in _unwrapped(match[0].rstrip(b"="), 4):
            if len(text) >= 20:
                decoded = _from_base64(text)
                for content in contents(name, decoded, levels - 1, budget):
                    if content.fault != "closed" or len(decoded) >= SHORTEST_PACKED:
                        yield content
    for match in BASE32.finditer(data):
        for text in _unwrapped(match[0], 1):
            # These lengths are not those of whole bytes.
            text = text[:-1] if len(text) % 8 in (1, 3, 6) else text
            # Others are sequences of letters, such as those of proteins.
            with suppress(ValueError):
                decoded = base64.b32decode(text + b"=" * (-len(text) % 8))
                decoded.decode()
                yield from contents(name, decoded, levels - 1, budget)
    for match in ASCII85.finditer(data):
        with suppress(ValueError):
            decoded = base64.a85decode(b"".join(match[1].split()))
            yield from contents(name, decoded, levels - 1, budget)
    words = [_from_base64(match[0].rstrip(b"=")) for match in SHORT_BASE64.finditer(data)]
    words += [
        binascii.unhexlify(b"".join(match[0].split())) for match in HEXADECIMAL.finditer(data)
    ]
    # Others are hashes and ordinary words.
    texts = [word for word in words if _is_text(word)]
    if texts:
        yield Content(name, b"\n".join(texts))


def _unwrapped(text: bytes, unit: int) -> list[bytes]:
    """An encoded text without line breaks, or its lines if they were not wrapped at one length."""
    lines = re.split(rb"\r?\n|\\n", text)
    is_one = len({len(line) for line in lines[:-1]}) == 1 and len(lines[0]) % unit == 0
    return [b"".join(lines)] if is_one else lines


def _from_base64(text: bytes) -> bytes:
    text = text.translate(bytes.maketrans(b"-_", b"+/"))
    text = text[:-1] if len(text) % 4 == 1 else text
    return base64.b64decode(text + b"=" * (-len(text) % 4))


def _is_text(data: bytes) -> bool:
    """Whether bytes are text in UTF-8 or UTF-16, without control characters."""
    try:
        plain = data.replace(b"\0", b"").removeprefix(b"\xfe\xff").removeprefix(b"\xff\xfe")
        return plain.decode().isprintable()
    except UnicodeDecodeError:
        return False


def _parquet_text(name: str, data: bytes, limit: int) -> Content:
    """Texts in a Parquet file, one per line; its metadata are not packed."""
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        groups = [file.metadata.row_group(index) for index in range(file.num_row_groups)]
        if sum(group.total_byte_size for group in groups) > limit:
            return Content(name, b"", "too large")
        text = "\n".join(
            str(text)
            for column in file.read().columns
            if not pa.types.is_primitive(column.type)
            for text in column.unique().to_pylist()
        )
        return Content(name, text.encode("utf-8", "replace"))
    except (pa.ArrowException, OSError):
        return Content(name, b"", "closed")


def blocks(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Parts of a file that overlap, with the number of line breaks before each.

    The readings of a part take several times its memory. Parts begin at a line break if possible,
    since one in a letter of UTF-8 or UTF-16 changes the reading.
    """
    start = lines = 0
    while len(data) - start > BLOCK + OVERLAP:
        yield lines, data[start : start + BLOCK + OVERLAP]
        end = data.rfind(b"\n", start + BLOCK - OVERLAP, start + BLOCK) + 1 or start + BLOCK
        lines += data.count(b"\n", start, end)
        start = end
    yield lines, data[start:]


def readings(data: bytes) -> Iterator[str]:
    """A file as text, and that text with more and more of its escapes decoded."""
    utf8 = data.decode("utf-8", "replace")
    texts = [utf8, data.decode("latin-1")] if "\ufffd" in utf8 else [utf8]
    for encoding, pattern in UTF_16.items() if b"\0" in data else ():
        texts.append("\n".join(run.decode(encoding, "ignore") for run in pattern.findall(data)))
    for text in filter(None, texts):
        yield normalize("NFC", text)
        for _ in range(ROUNDS):
            before = text
            for decode in DECODERS:
                decoded = decode(text)
                if decoded != text:
                    yield (text := decoded)
            if text == before:
                break


def without_accents(text: str) -> str:
    """Text in plain letters: no accents, strokes, full-width or other compatible forms."""
    if text.isascii():
        return text
    letters = normalize("NFKD", text.translate(_STROKES))
    return normalize("NFC", "".join(letter for letter in letters if not combining(letter)))


def _unescape(text: str) -> str:
    return _UNICODE.sub(_character, text) if "\\" in text else text


def _character(match: re.Match[str]) -> str:
    code = int(next(filter(None, match.groups())), 16)
    # A line break stays escaped, since lines are counted.
    return chr(code) if 31 < code < 0x110000 and not 0xD800 <= code < 0xE000 else match[0]


def _without_latex(text: str) -> str:
    if "\\" not in text:
        return text
    accented = _ACCENTED.sub(lambda m: m[3] + ACCENTS[m[1] or m[2]], text)
    letters = _COMMAND.sub(lambda m: _LETTERS[m[1]], normalize("NFC", accented))
    return _WHITE_SPACE.sub(" ", letters)


def _unquote(match: re.Match[str]) -> str:
    data = quopri.decodestring(match[0].encode())
    return data.decode("utf-8" if _is_text(data) else "latin-1")


#: What is decoded, in this order.
DECODERS: tuple[Callable[[str], str], ...] = (
    _unescape,
    lambda text: html.unescape(text) if "&" in text else text,
    # Texts of two or four bytes per letter, also as escapes.
    lambda text: _OCTAL.sub(lambda m: chr(int(m[1], 8)), text),
    lambda text: text.replace("\0", "").replace("\xfe\xff", "").replace("\xff\xfe", ""),
    lambda text: _PERCENT.sub(lambda m: unquote(m[0]), text),
    lambda text: _QUOTED.sub(_unquote, text),
    lambda text: _INVISIBLE.sub("", text),
    lambda text: normalize("NFC", text),
    _without_latex,
    lambda text: _MARKUP.sub("", text),
    without_accents,
)
