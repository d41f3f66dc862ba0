"""Detect keys that a server quotes in its replies, in any encoding."""

from __future__ import annotations

import base64
import html
import re
from urllib.parse import unquote

#: Consecutive letters and digits that reveal a key. Servers often quote its first and last four.
REVEALING_LENGTH = 12
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_BETWEEN = re.compile(r"[^a-z0-9]+")


def quotes_key(text: str, key: str) -> bool:
    """Whether a text contains a key, or a part that reveals it.

    Only letters and digits are compared, so that a key split by spaces or punctuation is detected
    too. Escapes of JSON, URLs and HTML are decoded up to four levels deep. The key is also detected
    in base64, in hexadecimal and reversed.
    """
    plain = _letters_and_digits(key)
    if not plain:
        return False
    length = min(REVEALING_LENGTH, len(plain))
    pieces = {plain[start : start + length] for start in range(len(plain) - length + 1)}
    pieces |= {piece[::-1] for piece in pieces}
    # The base64 form of a short key would be a letter or two, which occur in any text.
    encoded = _encodings(key) if len(plain) >= REVEALING_LENGTH else set()
    for decoded in _decodings(text):
        letters = _letters_and_digits(decoded)
        if any(piece in letters for piece in pieces):
            return True
        compact = re.sub(r"\s+|\\n", "", decoded)
        if any(piece in compact or piece.lower() in compact for piece in encoded):
            return True
    return False


def _letters_and_digits(text: str) -> str:
    return _BETWEEN.sub("", text.lower())


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
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return " " if match[3] in "nrtbf" else match[3]


def _encodings(key: str) -> set[str]:
    """Key in hexadecimal, and in base64 at each alignment."""
    content = key.encode()
    forms = {content.hex(), content.hex().upper()}
    for offset in range(3):
        encoded = base64.b64encode(b"\0" * offset + content).decode().rstrip("=")
        # The first and last characters depend on the neighbouring bytes.
        inner = encoded[(0, 2, 3)[offset] : len(encoded) - 1]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return forms
