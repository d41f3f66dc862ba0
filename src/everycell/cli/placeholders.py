"""Values of the templates of `everycell init`, which users replace before they deposit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

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
    has_any = any(value in text for value in values)
    fields: dict[int, list[str]] = {}
    pending = [yaml.compose(text, Loader=yaml.SafeLoader)] if has_any else []
    while pending:
        node = pending.pop()
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                if isinstance(value, yaml.ScalarNode) and value.value in values:
                    fields.setdefault(value.start_mark.line + 1, []).append(name.value)
                pending.append(value)
        elif isinstance(node, yaml.SequenceNode):
            pending += node.value
    return dict(sorted(fields.items()))
