"""Files: written so that they are whole or not there, and known by their hash."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path


def write_atomically(path: Path, content: bytes | str) -> Path:
    r"""Write a file under a temporary name beside it, then rename it.

    Parameters
    ----------
    path
        Where the file shall be; its folder is made. A file that is there is replaced.
    content
        Bytes, or text that is written as UTF-8 with the line ends that it has.

    Returns
    -------
    Path
        `path`.

    Raises
    ------
    OSError
        No space or no permission. What was at `path` before is untouched then.

    Examples
    --------
    >>> import tempfile
    >>> path = write_atomically(Path(tempfile.mkdtemp()) / "new" / "a.txt", "a\n")
    >>> path.read_bytes(), [p.name for p in path.parent.iterdir()]
    (b'a\n', ['a.txt'])
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        # mkstemp makes files that only their owner can read; results are to be shared.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
    return path


def sha256(path: Path) -> str:
    """Hash of a file's bytes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     sha256(Path(file.name))[:8]
    'e3b0c442'
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
