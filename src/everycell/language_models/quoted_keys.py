"""Whether a server's text quotes the key that was sent to it, in whatever spelling."""

from __future__ import annotations

import base64
import html
import re
from urllib.parse import unquote

#: Letters and digits in a row that give a key away. Servers often name its first and last four.
TELLING = 12
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_BETWEEN = re.compile(r"[^a-z0-9]+")


def quotes_key(text: str, key: str) -> bool:
    r"""Whether a text holds a key, or a part of it that gives it away.

    Compared are letters and digits alone, in the text as it is and with escapes of JSON, addresses
    and HTML undone, as often as they were put on top of each other (four times at most); so a key
    that is split by spaces or marks is found too. Spellings in base64, hexadecimal digits and
    backwards are looked for as well.

    Examples
    --------
    >>> key = "sk/abc+defghijkl-123"
    >>> quotes_key(r"Wrong key sk\/abc\u002bdefghijkl-123.", key)
    True
    >>> quotes_key("Wrong key sk/a...-123.", key)
    False
    >>> quotes_key("c2svYWJjK2RlZmdoaWprbC0xMjM=", key)
    True
    """
    plain = _letters_and_digits(key)
    if not plain:
        return False
    length = min(TELLING, len(plain))
    pieces = {plain[start : start + length] for start in range(len(plain) - length + 1)}
    pieces |= {piece[::-1] for piece in pieces}
    # Of a short key a letter or two would be left in base64, which stand everywhere.
    encoded = _encoded(key) if len(plain) >= TELLING else set()
    for spelling in _spellings(text):
        letters = _letters_and_digits(spelling)
        if any(piece in letters for piece in pieces):
            return True
        closed = re.sub(r"\s+|\\n", "", spelling)
        if any(piece in closed or piece.lower() in closed for piece in encoded):
            return True
    return False


def _letters_and_digits(text: str) -> str:
    return _BETWEEN.sub("", text.lower())


def _spellings(text: str) -> list[str]:
    """A text, and what it says once its escapes are undone."""
    spellings = [text]
    for _ in range(4):
        undone = html.unescape(unquote(_ESCAPED.sub(_unescaped, spellings[-1])))
        if undone == spellings[-1]:
            break
        spellings.append(undone)
    return spellings


def _unescaped(match: re.Match[str]) -> str:
    code = match[1] or match[2]
    if code:
        return chr(int(code, 16))
    return " " if match[3] in "nrtbf" else match[3]


def _encoded(key: str) -> set[str]:
    """Key in hexadecimal digits, and in base64 wherever it begins in what was encoded."""
    content = key.encode()
    forms = {content.hex(), content.hex().upper()}
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + content).decode().rstrip("=")
        # Its first and last characters depend on its neighbours.
        inner = encoded[(0, 2, 3)[before] : len(encoded) - 1]
        forms |= {inner, inner.replace("+", "-").replace("/", "_")}
    return forms
