"""Values of the templates of `everycell init`, which users replace before they deposit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from everycell.base.yaml import named_scalars

#: Field of paper.yaml -> its value in the template.
PLACEHOLDERS = {
    "title": "Title of the paper",
    "authors": "N. N.",
    "reference": "Where it was published",
    "licence": "Licence, such as CC-BY-4.0",
}
#: Description of a new paper's data, until the example files are replaced.
EXAMPLE_DATA = "synthetic example files"


def find_placeholders(path: Path) -> Mapping[int, list[str]]:
    """Fields of a YAML file that still have a value of the templates, by line."""
    text = path.read_text(encoding="utf-8")
    values = {*PLACEHOLDERS.values(), EXAMPLE_DATA}
    fields: dict[int, list[str]] = {}
    for name, value in named_scalars(text):
        if value.value in values:
            fields.setdefault(value.start_mark.line + 1, []).append(name)
    return dict(sorted(fields.items()))
