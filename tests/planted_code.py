"""Byte code in the place where Python looks for that of a source file."""

import importlib.util
import marshal
import struct
from pathlib import Path


def plant_byte_code(source: Path, text: str) -> None:
    """Write byte code of another text that Python takes for that of the source."""
    state, path = source.stat(), Path(importlib.util.cache_from_source(str(source)))
    path.parent.mkdir(parents=True, exist_ok=True)
    header = struct.pack("<III", 0, int(state.st_mtime), state.st_size)
    code = marshal.dumps(compile(text, source, "exec"))
    path.write_bytes(importlib.util.MAGIC_NUMBER + header + code)
