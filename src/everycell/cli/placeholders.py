"""Values of the templates of `everycell init`, which users replace before they deposit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import yaml

from everycell.base.untrusted import text_of
from everycell.base.yaml import describe_yaml_fault, named_scalars
from everycell.records.cells import RecordError

#: Field of paper.yaml, or `source` of ch1.yaml -> its value in the template.
PLACEHOLDERS = {
    "title": "Title of the paper",
    "authors": "N. N.",
    "reference": "Where it was published",
    "licence": "Licence, such as CC-BY-4.0",
    "source": "p. ?",
}
#: Description of a new paper's data, until the example files are replaced.
EXAMPLE_DATA = "synthetic example files"


def find_placeholders(path: Path) -> Mapping[int, list[str]]:
    """Fields of a YAML file that still have a value of the templates, by line."""
    try:
        text = text_of(path)
    except UnicodeDecodeError:
        raise RecordError(f"{path} is not UTF-8 text; save it as UTF-8.") from None
    values = {*PLACEHOLDERS.values(), EXAMPLE_DATA}
    fields: dict[int, list[str]] = {}
    try:
        scalars = [*named_scalars(text)]
    except yaml.YAMLError as error:
        raise RecordError(describe_yaml_fault(path, error)) from None
    for name, value in scalars:
        # Behind the page, a record says from which file its table was read.
        text = value.value.partition(";")[0] if name == "source" else value.value
        if text in values:
            fields.setdefault(value.start_mark.line + 1, []).append(name)
    return dict(sorted(fields.items()))
