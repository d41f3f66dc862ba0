"""Detect a key that a server quotes, in any of a number of encodings."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterator
from unicodedata import normalize
from urllib.parse import unquote

#: Consecutive letters and digits that reveal a key, in an answer and in a message. Servers often
#: quote its first and last four.
REVEALING_LENGTH, SHOWN_LENGTH = 12, 6
_ESCAPED = re.compile(
    r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2}))"
    r"|%u([0-9a-fA-F]{4})|\\([0-3][0-7]{2})|\\(.)",
    re.DOTALL,
)
_BETWEEN = re.compile(r"[^a-z0-9]+")


def quotes_key(text: str, key: str, length: int = REVEALING_LENGTH) -> bool:
    """Whether a text contains a key, or `length` consecutive letters and digits of it.

    Only letters and digits are compared, so that a key split by spaces or punctuation is detected
    too. Escapes of JSON, Python, URLs and HTML are decoded up to four levels deep. The key is also
    detected reversed, in hexadecimal (also as in quoted-printable), in base32, and in base64, which
    may have been applied twice.
    """
    plain = _letters_and_digits(key)
    if not plain:
        return False
    pieces = set(_windows(plain, length))
    pieces |= {piece[::-1] for piece in pieces}
    # The base64 form of a short key would be a letter or two, which occur in any text.
    encoded = _encodings(key, length) if len(plain) >= REVEALING_LENGTH else set()
    for decoded in _decodings(text):
        letters = _letters_and_digits(decoded)
        if any(piece in letters for piece in pieces):
            return True
        compact = re.sub(r"\s+|\\n", "", decoded).lower()
        if any(piece in compact or piece in letters for piece in encoded):
            return True
    return False


def _windows(text: str, length: int) -> Iterator[str]:
    """All parts of a text with this length, or the text if it is shorter."""
    for start in range(max(1, len(text) - length + 1)):
        yield text[start : start + length]


def _letters_and_digits(text: str) -> str:
    # Full-width letters and those with accents become plain ones.
    plain = text if text.isascii() else normalize("NFKD", text)
    return _BETWEEN.sub("", plain.lower())


def _decodings(text: str) -> list[str]:
    """A text, and the same text with its escapes decoded, level by level."""
    texts = [text]
    for _ in range(4):
        decoded = html.unescape(unquote(_ESCAPED.sub(_decode_escape, texts[-1])))
        if decoded == texts[-1]:
            break
        texts.append(decoded)
    return texts


def _decode_escape(match: re.Match[str]) -> str:
    *hexadecimal, octal, letter = match.groups()
    if letter:
        return " " if letter in "nrtbf" else letter
    code = int(octal, 8) if octal else int(next(filter(None, hexadecimal)), 16)
    return chr(code) if code < 0x110000 else " "


def _encodings(key: str, length: int) -> set[str]:
    """Parts of a key in hexadecimal, base32, and base64 once or twice, in lower case."""
    content = key.encode()
    forms = set(_windows(content.hex(), 2 * length))
    for text in _inner(content, base64.b32encode, 5, 8):
        forms.update(_windows(text.lower(), 8 * length // 5))
    for once in _base64(content):
        forms.update(_windows(once.lower(), 4 * length // 3))
        for twice in _base64(once.encode()):
            forms.update(_windows(twice.lower(), 16 * length // 9))
    return forms


def _base64(content: bytes) -> Iterator[str]:
    for text in _inner(content, base64.b64encode, 3, 4):
        yield from {text, text.replace("+", "-").replace("/", "_")}


def _inner(
    content: bytes, encode: Callable[[bytes], bytes], size: int, letters: int
) -> Iterator[str]:
    """Letters of an encoded content that do not depend on the bytes next to it.

    The encoding makes a number of letters from each `size` bytes; each alignment has its own text.
    """
    for offset in range(size):
        encoded = encode(b"\0" * offset + content).decode().rstrip("=")
        yield encoded[-(-offset * letters // size) : len(encoded) - 1]
