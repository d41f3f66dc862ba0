"""Parts of the documentation site, generated from records, results and the configuration schema.

All functions return Markdown without a level-1 heading, which is on the page that includes it.
Results may be missing, because the site can be built before the first run.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from everycell.records.papers import Paper
from everycell.records.tables import RUNNABLE
from everycell.render.page.vocabulary import PageEntry, label
from everycell.verdicts.claims import Outcome
from everycell.verdicts.reports import CAUSE_NAMES, explained_by_source, format_counts


def escape_cell(text: str) -> str:
    """Escape a text for a cell of a Markdown table."""
    text = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    text = text.replace(">", "&gt;").replace("\\", "\\\\")
    for character in "|*_`[]#{}":
        text = text.replace(character, f"\\{character}")
    return text


#: An escaped character, and the special characters in cells and in paragraphs.
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_IN_CELL = re.compile(rf"{_ESCAPE}|[\\`*_<>{{}}\[\]&!#]")
_IN_TEXT = re.compile(rf"{_ESCAPE}|[!-/:-@\[-`{{-~]")
#: Marker at the end of a cell whose text was escaped, so that each bar separates two cells.
_MARKER = re.compile(r"\^([^^|]+)\^(?=\s*\|)")


def embed_table(text: str) -> str:
    r"""Convert a Markdown table of `write_table` for a page of the site.

    The file is escaped for CommonMark, where ``\<`` is not markup. Python-Markdown reads it as
    markup, and reads ``{ onclick=... }`` in a cell as attributes. All special characters except for
    the bars of the table are therefore replaced by character references. A marker, ``^b^`` at the
    end of a cell, becomes a superscript.
    """
    lines = (line.strip() for line in text.strip().splitlines())
    return "\n".join(
        line
        if re.fullmatch(r"\|[-:|]+\|", line)
        else _MARKER.sub(r"<sup>\1</sup>", _IN_CELL.sub(_as_reference, line))
        if line.startswith("|")
        else _IN_TEXT.sub(_as_reference, line)
        for line in lines
    )


def _as_reference(mark: re.Match[str]) -> str:
    return f"&#{ord(mark[0][-1])};"


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table of cells that are already escaped."""
    header = list(header)
    lines = [header, ["---"] * len(header), *map(list, rows)]
    return "\n".join(
        "|" + "|".join(line) + "|" if line[0] == "---" else "| " + " | ".join(line) + " |"
        for line in lines
    )


def paper_results(paper: Paper, reports: Iterable[PageEntry], results: Path, assets: str) -> str:
    """Results of a paper by chapter, artefact and tier, and its errata."""
    entries = [entry for entry in reports if entry.artefact.paper == paper.key]
    parts = [
        "## Results\n\nEvery table, figure and passage with numbers, in each tier of its record.\n"
    ]
    for chapter, group in groupby(entries, key=lambda entry: entry.artefact.chapter):
        chapter_entries = list(group)
        rows = [_row(entry) for entry in _deepest_results(chapter_entries)]
        kind = "chapter" if chapter[0].isdigit() else "appendix"
        parts.append(f"### Results of {kind} {chapter}: {escape_cell(paper.chapters[chapter])}\n")
        parts.append(
            table(
                ["artefact", "title", "tier", "state", "verdicts", "claims, or requirements"],
                rows,
            )
            + "\n"
        )
        for entry in chapter_entries:
            parts += _folded_result(entry, results, assets)
    errata = [
        (artefact, erratum)
        for artefact in paper.artefacts.values()
        for erratum in artefact.record.errata
    ]
    if errata:
        parts.append("## Errata\n")
        parts.append("The page [Errata](../errata.md) gives the evidence.\n")
        rows = [
            [
                escape_cell(label(artefact.name)),
                CAUSE_NAMES[erratum.cause],
                escape_cell(erratum.finding),
            ]
            for artefact, erratum in errata
        ]
        parts.append(table(["artefact", "cause", "finding"], rows) + "\n")
    return "\n".join(parts)


def _deepest_results(entries: list[PageEntry]) -> Iterator[PageEntry]:
    """Entries with a result; for an artefact without any, the entry of its deepest tier."""
    for _, group in groupby(entries, key=lambda entry: entry.artefact.name):
        tiers = list(group)
        yield from [entry for entry in tiers if entry.report.state in RUNNABLE] or tiers[-1:]


def _row(entry: PageEntry) -> list[str]:
    outcomes = Counter(claim.on_reproduced for claim in entry.report.claims)
    return [
        escape_cell(label(entry.artefact.name)),
        escape_cell(entry.artefact.record.title),
        entry.tier,
        entry.report.state,
        format_counts(entry.report.verdicts, explained_by_source(entry.report.cells)).replace(
            "_", " "
        ),
        _format_outcomes(outcomes)
        if entry.report.state in RUNNABLE
        else escape_cell(entry.artefact.record.tiers[entry.tier].needs or ""),
    ]


def _format_outcomes(counts: Mapping[Outcome, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count)


def _folded_result(entry: PageEntry, results: Path, assets: str) -> Iterator[str]:
    """Collapsible block with the figure or the table of a result."""
    if entry.report.state not in RUNNABLE:
        return
    artefact, folder = entry.artefact, results / entry.tier / entry.artefact.paper
    if artefact.record.kind == "figure":
        figure = folder / f"{artefact.name}.svg"
        text = (
            f"![{escape_cell(artefact.record.title)}]({assets}/{figure.relative_to(results).as_posix()})"
            if figure.exists()
            else None
        )
    else:
        table_file = folder / f"{artefact.name}.md"
        text = embed_table(table_file.read_text(encoding="utf-8")) if table_file.is_file() else None
    if text is not None:
        title = f"{label(artefact.name)} ({entry.tier}, {entry.report.state})"
        yield f'??? example "{title}"\n\n' + _indent(text) + "\n"


def _indent(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())


def configuration(schema: Mapping[str, Any]) -> str:
    """Every key of `config.yaml` with its type, bounds, default and meaning."""
    keys = [*_keys("", schema, schema)]
    top_level = [row for row in keys if "." not in row[0]]
    header = ["key", "type", "default", "meaning"]
    parts = [table(header, top_level)] if top_level else []
    for block, rows in groupby(
        (row for row in keys if "." in row[0]), key=lambda row: row[0].strip("`").split(".")[0]
    ):
        about = _resolve(schema["properties"][block], schema).get("description", "")
        parts.append(f"\n## {block}\n\n{escape_cell(about)}\n\n{table(header, rows)}")
    return "\n".join(parts)


def _resolve(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Merge a node with the target of its `$ref`; the node's own entries take precedence."""
    reference = node.get("$ref")
    if reference is None:
        return node
    return {**schema["$defs"][reference.rpartition("/")[2]], **node}


def _keys(prefix: str, node: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, value in node["properties"].items():
        entry = _resolve(value, schema)
        if "properties" in entry:
            yield from _keys(f"{prefix}{name}.", entry, schema)
        else:
            default = f"`{json.dumps(entry['default'])}`" if "default" in entry else "required"
            about = escape_cell(entry.get("description", ""))
            yield [f"`{prefix}{name}`", _type(entry, schema), default.replace("|", "\\|"), about]


#: Keyword of a JSON schema -> its description.
BOUNDS = {
    "minimum": "at least",
    "exclusiveMinimum": "above",
    "maximum": "at most",
    "exclusiveMaximum": "below",
    "minLength": "length at least",
    "minItems": "items at least",
    "maxItems": "items at most",
}


def _type(node: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    node = _resolve(node, schema)
    if "anyOf" in node:
        return " or ".join(_type(option, schema) for option in node["anyOf"])
    if "enum" in node:
        return "one of " + ", ".join(f"`{value}`" for value in node["enum"])
    if "const" in node:
        return f"`{node['const']}`"
    kind = str(node.get("type", "any"))
    if kind == "array" and isinstance(node.get("items"), Mapping):
        kind = f"list of {_type(node['items'], schema)}"
    elif kind == "object" and "properties" in node:
        kind = "block of " + ", ".join(f"`{name}`" for name in node["properties"])
    elif kind == "object" and isinstance(node.get("additionalProperties"), Mapping):
        kind = f"mapping of names to {_type(node['additionalProperties'], schema)}"
    bounds = [f"{phrase} {node[key]}" for key, phrase in BOUNDS.items() if key in node]
    return ", ".join([kind, *bounds])
