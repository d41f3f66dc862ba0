"""Reading what others wrote: values in bounds, and quotations that fit in an error's sentence."""

from __future__ import annotations

import ast
import io
import json
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

#: Most characters of a Python literal; its parser takes some hundred bytes for each. The longest
#: value of the released files is far below.
LITERAL = 1_000_000
#: A packed file may hold this much, or `RATIO` times its own size.
UNPACKED = 16 * 2**20
#: Text shrinks to a tenth or so; what shrinks to a hundredth was made to fill the memory.
RATIO = 100


def in_quotes(value: object, most: int = 60) -> str:
    r"""What was found, as an error shows it: in one line, and cut in its middle where it is long.

    Parameters
    ----------
    value
        A text, or anything with a `repr` in bounds.
    most
        Characters that it may take; 20 or more.

    Examples
    --------
    >>> in_quotes("a\nb")
    "'a\\nb'"
    >>> in_quotes("x" * 1000 + "end", most=20)
    "'xxxxxxx ... xxxend'"
    """
    if isinstance(value, str) and len(value) > most:
        # Cut before and after `repr`, which may make ten characters of one.
        value = value[:most] + value[-most:]
    shown = repr(value)
    if len(shown) <= most:
        return shown
    half = (most - 5) // 2
    return f"{shown[: most - 5 - half]} ... {shown[-half:]}"


def text_of(path: Path) -> str:
    """Text of a file, which must be a regular one: a pipe in its place might never end.

    Raises
    ------
    OSError
        The file cannot be read.
    ValueError
        It is no regular file, or no UTF-8; the message does not name the file.

    Examples
    --------
    >>> import tempfile
    >>> pipe = Path(tempfile.mkdtemp()) / "pipe"
    >>> os.mkfifo(pipe)
    >>> text_of(pipe)
    Traceback (most recent call last):
    ValueError: it is not a regular file
    """
    # Without O_NONBLOCK a pipe is opened once somebody writes to it.
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(handle, encoding="utf-8") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise ValueError("it is not a regular file")
        return file.read()


def parse_json(text: str | bytes) -> Any:
    """Value of a JSON text.

    Raises
    ------
    ValueError
        No JSON, lists in lists without end, or a number of thousands of digits; the message says
        which, and not in which file.

    Examples
    --------
    >>> parse_json('{"a": [1]}')
    {'a': [1]}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: it has too many levels
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it has too many levels") from None


def parse_literal(text: str) -> Any:
    """Value of a Python literal; nothing in it is run.

    Parameters
    ----------
    text
        At most `LITERAL` characters.

    Raises
    ------
    ValueError
        No literal, or one that is too long or has too many levels; the message says which, and
        not in which file.

    Examples
    --------
    >>> parse_literal("{'a': (1, None)}")
    {'a': (1, None)}
    >>> parse_literal("open('x')")
    Traceback (most recent call last):
    ValueError: it is not a Python literal
    """
    if len(text) > LITERAL:
        raise ValueError(f"it has {len(text):,} characters, and {LITERAL:,} are allowed")
    try:
        return ast.literal_eval(text)
    except (SyntaxError, TypeError, ValueError):
        raise ValueError("it is not a Python literal") from None
    except (MemoryError, RecursionError):
        raise ValueError("it has too many levels") from None


def unpack(packed: BinaryIO, path: Path) -> bytes:
    """What a packed file holds, as long as that is in bounds.

    Parameters
    ----------
    packed
        Gives the unpacked bytes, such as `gzip.open` of the path.
    path
        The packed file; see `most_unpacked`.

    Raises
    ------
    ValueError
        It holds more; no more than that is unpacked then. The message does not name the file.

    Examples
    --------
    >>> import gzip, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "zeros.gz"
    >>> _ = path.write_bytes(gzip.compress(bytes(20_000_000)))
    >>> unpack(gzip.open(path), path)
    Traceback (most recent call last):
    ValueError: it holds more than 16,777,216 bytes in 19,465, which no text does
    """
    most = most_unpacked(path)
    content = io.BytesIO()
    while chunk := packed.read(1 << 20):
        content.write(chunk)
        if content.tell() > most:
            raise ValueError(
                f"it holds more than {most:,} bytes in {path.stat().st_size:,}, which no text does"
            )
    return content.getvalue()


def most_unpacked(path: Path) -> int:
    """Bytes that a packed file may hold: `RATIO` times its own, and `UNPACKED` at any size.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as empty:
    ...     most_unpacked(Path(empty.name)) == UNPACKED
    True
    """
    return max(UNPACKED, RATIO * path.stat().st_size)
