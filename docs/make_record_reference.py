"""Write docs/record-reference.md from the models of the records.

Run ``python docs/make_record_reference.py`` in the project folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from everycell.records.checks import MODELS

TARGET = Path("docs/record-reference.md")
#: Name of a schema -> heading of its file.
FILES = {
    "paper": "paper.yaml",
    "chapter": "chN.yaml",
    "registry": "registry.yaml",
    "full": "full.yaml",
}
HEAD = """\
# Record reference

The YAML files of `published/KEY/`, field by field; **bold** fields are required. `everycell check`
reports an unknown field, a missing field or a wrong type with file and line. [Records](records.md)
explains the concepts, and [A paper of your own](your-own-paper.md) uses them step by step.

A *selector* names published cells: key column -> value, or a list of values. All conditions must be
met. An empty selector selects every cell; a selector without matches is an error.

<!-- Made by docs/make_record_reference.py; do not edit. -->
"""
#: Headings of models that differ from their names.
TITLES = {
    "DeclaredTier": "Tier",
    "Untested": "Untested claim",
    "Quoted": "Quoted cells",
    "Derived": "Derived cells",
    "NotRun": "Cells not run",
    "Yields": "Explained value",
    "DecisiveIf": "Condition on surrogate data",
    "NotTestable": "Claims not testable",
    "DataSet": "Data set",
    "Entry": "Released file",
    "Form": "Mirror file",
    "WheelFile": "File in a package",
    "FullRun": "Run",
    "FileFacts": "Facts of a file",
}
#: The same for the registry, some of whose models share a name with models of other files.
REGISTRY_TITLES = TITLES | {"Repository": "Pinned repository", "Origin": "Author file"}
#: JSON schema of a selector.
SELECTOR = {"type": "array", "items": {"type": "string"}}
LIMITS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
}


def render() -> str:
    """Text of the page."""
    parts = [HEAD]
    for name, title in FILES.items():
        schema = MODELS[name].model_json_schema()
        titles = REGISTRY_TITLES if name == "registry" else TITLES
        parts.append(f"\n## {title}\n\n{_section(schema, titles)}")
        for model, entry in _used_models(schema):
            parts.append(f"\n### {titles.get(model, model)}\n\n{_section(entry, titles)}")
    return "".join(parts)


def _used_models(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Models that a schema uses, in the order of their first use."""
    queue, models = [schema], {""}
    while queue:
        for name in _references(queue.pop(0)["properties"]):
            if name not in models and "properties" in (entry := schema["$defs"][name]):
                models.add(name)
                queue.append(entry)
                yield name, entry


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if "$ref" in node:
            yield node["$ref"].rpartition("/")[2]
        node = list(node.values())
    for part in node if isinstance(node, list) else ():
        yield from _references(part)


def _section(model: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    """Description (first paragraph of the docstring) and fields of a model."""
    about = " ".join(model.get("description", "").split("\n\n")[0].split())
    lines = ["| field | type | meaning |", "|---|---|---|"]
    for name, field in model["properties"].items():
        default = json.dumps(field.get("default"))
        meaning = field["description"]
        meaning += f" Default: `{default}`." * (default not in ("null", "{}", "[]"))
        name = f"**`{name}`**" if name in model.get("required", ()) else f"`{name}`"
        cells = [name, _type(field, titles), meaning]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return f"{about}\n\n" + "\n".join(lines) + "\n"


def _type(node: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    """Type of a field as text, with links to models."""
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        title = titles.get(name, name)
        return f"[{title}](#{title.lower().replace(' ', '-')})"
    options = [option for option in node.get("anyOf", ()) if option.get("type") != "null"]
    if options:
        return " or ".join(_type(option, titles) for option in options)
    if "enum" in node or "const" in node:
        return ", ".join(f"`{value}`" for value in node.get("enum", [node.get("const")]))
    if node["type"] == "array":
        return f"list of {_type(node['items'], titles)}"
    if node["type"] == "object":
        patterns = node.get("patternProperties", {"": node.get("additionalProperties")})
        [values] = patterns.values()
        is_selector = SELECTOR in values.get("anyOf", ())
        return "selector" if is_selector else f"mapping to {_type(values, titles)}"
    kind = {"string": "text", "boolean": "`true` or `false`"}.get(node["type"], node["type"])
    limits = [f"{word} {node[key]}" for key, word in LIMITS.items() if key in node]
    return ", ".join([kind, *limits])


if __name__ == "__main__":
    TARGET.write_text(render(), encoding="utf-8")
