"""Safe reading of untrusted files, and quotation of their content in messages."""

from __future__ import annotations

import ast
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from everycell.base.files import open_regular

if TYPE_CHECKING:
    from _typeshed import SupportsRead

#: Maximum length of a Python literal, since its parser uses some hundred bytes per character. All
#: values in released files are much shorter.
LITERAL = 1_000_000
#: Allowed size of the content of any packed file.
UNPACKED = 16 * 2**20
#: Allowed ratio of unpacked to packed size. It is about 10 for text; above 100, the file is
#: probably a decompression bomb.
RATIO = 100
#: Control characters, including those for text direction, and surrogates.
_CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_SECRET_NAME = re.compile(
    r"key|secret|pass|pwd|auth|bearer|credential|cookie|session|jwt|signature|(?<![a-z])sig(?![a-z])"
    r"|token(?!s|_ids?(?![a-z]))",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"(?:Bearer |Basic |sk-|hf_|gh[a-z]_|github_pat_|glpat-|xox|AKIA|eyJ)")


def in_quotes(value: object, limit: int = 60) -> str:
    """Quote a value for a message on one line, without the middle if it is long."""
    if isinstance(value, str) and len(value) > limit:
        # Cut before and after `repr`, which may turn one character into ten.
        value = value[:limit] + value[-limit:]
    text = repr(value)
    if len(text) <= limit:
        return text
    half = (limit - 5) // 2
    return f"{text[: limit - 5 - half]} ... {text[-half:]}"


def escape_controls(text: str) -> str:
    """Escape control characters of terminals, but not line breaks and tabs."""
    return _CONTROLS.sub(lambda match: ascii(match[0])[1:-1], text)


def on_one_line(text: str) -> str:
    """Replace line breaks by spaces, since a name with one would begin a line of its own."""
    return re.sub(r"(?<!\s)\s*[\n\v\f\r\u0085\u2028\u2029]\s*", " ", text)


def printable_line(text: str) -> str:
    """Text as one line of a terminal, whatever it contains."""
    return escape_controls(on_one_line(text))


def looks_secret(name: str, value: str) -> bool:
    """Whether a field seems secret, by its name or the prefix of its value."""
    return bool(_SECRET_NAME.search(name) or _SECRET_VALUE.match(value))


def has_secret(url: str) -> bool:
    """Whether a URL contains a user name, password or token."""
    parts = urlsplit(url)
    fields = [
        field.partition("=")
        for part in (parts.query, parts.fragment)
        for field in re.split("[&;]", part)
    ]
    words = [*parts.path.split("/"), *(name for name, _, _ in fields)]
    return (
        "@" in unquote(parts.netloc)
        or any(looks_secret(unquote(name), unquote(value)) for name, _, value in fields)
        or any(_SECRET_VALUE.match(unquote(word)) for word in words)
    )


def without_user(text: str) -> str:
    """A message without the users and passwords of addresses in it."""
    return re.sub(r"(?<=//)[^\s/?#@]*@(?:[^\s/?#@]*@)*", "", text)


def without_secret(url: str) -> str:
    """Validate a URL that will be displayed: no user name, password or token."""
    if has_secret(url) or not url.isprintable():
        raise ValueError(
            "an address must not contain a user name, a password, a token or control characters, "
            "since it is displayed"
        )
    return url


def text_of(path: Path) -> str:
    """Read the text of a regular file; refuse pipes and devices, which might never end."""
    with io.TextIOWrapper(open_regular(path), encoding="utf-8") as file:
        return file.read()


def read_json(path: Path | str) -> Any:
    """Read a JSON file."""
    return parse_json(text_of(Path(path)))


def parse_json(
    text: str | bytes,
    *,
    strict: bool = False,
    make_object: Callable[[list[tuple[str, Any]]], Any] | None = None,
) -> Any:
    """Parse JSON without duplicate keys; with `strict`, refuse NaN and infinity too."""
    try:
        return json.loads(
            text,
            object_pairs_hook=make_object or _with_single_keys,
            parse_constant=_refuse_constant if strict else None,
        )
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _with_single_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Object of JSON; refuse duplicate keys, of which only the last would count."""
    content = dict(pairs)
    if len(content) < len(pairs):
        duplicate = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the key {in_quotes(duplicate)} occurs twice")
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a valid JSON number")


def parse_literal(text: str) -> Any:
    """Evaluate a Python literal without running code."""
    if len(text) > LITERAL:
        raise ValueError(f"it has {len(text):,} characters, expected at most {LITERAL:,}")
    try:
        return ast.literal_eval(text)
    except (SyntaxError, TypeError, ValueError):
        raise ValueError("it is not a Python literal") from None
    except (MemoryError, RecursionError):
        raise ValueError("it is nested too deeply") from None


def unpack(packed: SupportsRead[bytes], path: Path) -> bytes:
    """Unpack a file unless its content exceeds `max_unpacked_size`."""
    limit = max_unpacked_size(path)
    content = io.BytesIO()
    while chunk := packed.read(1 << 20):
        content.write(chunk)
        if content.tell() > limit:
            raise ValueError(
                f"it unpacks from {path.stat().st_size:,} to more than {limit:,} bytes, too many "
                "for text"
            )
    return content.getvalue()


def max_unpacked_size(path: Path) -> int:
    """Allowed size of unpacked content: `RATIO` times packed, at least `UNPACKED`."""
    return max(UNPACKED, RATIO * path.stat().st_size)
