"""Receipts for tests: hashes of inputs, and edited receipts with a valid hash."""

import json
from pathlib import Path

from everycell.base.files import sha256
from everycell.receipts.receipts import TABLE_FORMS, with_hashes


def hashed(*paths: Path) -> dict[Path, str]:
    """Inputs as `write_receipt` takes them."""
    return {path: sha256(path) for path in paths}


def rewrite(path: Path, **fields: object) -> None:
    """Let a receipt say something else, under hashes that fit."""
    receipt = json.loads(path.read_text()) | fields
    path.write_text(json.dumps(with_hashes(receipt)))


def in_all_forms(*tables: Path) -> list[Path]:
    """Tables as CSV and in all other forms; missing files are written."""
    files = [table.with_suffix(f".{form}") for table in tables for form in TABLE_FORMS]
    for file in files:
        if not file.exists():
            file.write_text("A table.\n")
    return files
