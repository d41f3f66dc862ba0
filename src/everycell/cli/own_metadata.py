"""Checks of a project's own licence, citation and other files that a deposit contains."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from everycell.base.untrusted import on_one_line, parse_json, text_of
from everycell.base.yaml import describe_yaml_fault, load_yaml
from everycell.cli.crate import FILES
from everycell.receipts.receipts import ReceiptError

#: Files that Zenodo and GitHub read.
_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "CITATION.cff": load_yaml,
    ".zenodo.json": parse_json,
}


def check_own_files(project: Path) -> None:
    """Refuse files that are none, which a deposit would lack, and texts that cannot be read."""
    for name in FILES:
        path = project / name
        if not os.path.lexists(path):
            continue
        if not path.is_file():
            raise ReceiptError(
                f"{name} is not a regular file, so no deposit was written; replace it with one, or "
                "remove it."
            )
        try:
            text = text_of(path)
            if name in _PARSERS and not isinstance(_PARSERS[name](text), dict):
                raise ValueError("it has no names with values")
        except UnicodeDecodeError:
            raise ReceiptError(
                f"{name} is not UTF-8 text, so no deposit was written; save it as UTF-8."
            ) from None
        except yaml.YAMLError as error:
            fault = describe_yaml_fault(Path(name), error)
            raise ReceiptError(f"No deposit was written: {on_one_line(fault)}") from None
        except ValueError as error:
            raise ReceiptError(
                f"{name} cannot be read ({on_one_line(str(error))}), so no deposit was written; "
                "correct it."
            ) from None
