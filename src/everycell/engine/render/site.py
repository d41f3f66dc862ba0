"""Pages of the documentation's site that are made from cards, results, code and settings.

All give Markdown, without a heading of level 1: the page that takes them has one. What they read
may lie on disk or not: a site can be built before the first run, and then says so.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from everycell.engine.artefacts import Paper
from everycell.engine.cards import RUNNABLE
from everycell.engine.conclusions import Outcome
from everycell.engine.render.page.vocabulary import Found, label
from everycell.engine.reports import OUTCOME_NAMES, PLACES, STATES, counted, explained_by_source


def escaped(text: str) -> str:
    r"""Return a text in which no character means anything in a cell of a Markdown table.

    Examples
    --------
    >>> escaped("nDCG*@3 | <b>")
    'nDCG\\*@3 \\| &lt;b&gt;'
    """
    text = " ".join(str(text).split()).replace("&", "&amp;").replace("<", "&lt;")
    text = text.replace(">", "&gt;").replace("\\", "\\\\")
    for character in "|*_`[]#{}":
        text = text.replace(character, f"\\{character}")
    return text


#: Backslash and what it escapes; what stands alone and has a meaning in a cell; in a paragraph.
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_IN_CELL = re.compile(rf"{_ESCAPE}|[\\`*_<>{{}}\[\]&!#]")
_IN_TEXT = re.compile(rf"{_ESCAPE}|[!-/:-@\[-`{{-~]")
#: At the end of a cell whose text was escaped, so that its only bars are those of the table.
_MARKER = re.compile(r"\^([^^|]+)\^(?=\s*\|)")


def embedded(text: str) -> str:
    r"""Return a table as `write_table` writes it, so that a page of the site can hold it.

    That file is escaped for CommonMark, where ``\<`` is no markup. Python-Markdown takes it for
    markup, and takes ``{ onclick=... }`` in a cell for attributes. So whatever could mean something
    becomes a character reference; of the marks only the bars of the table stay. A marker, which is
    ``^b^`` at the end of a cell there, stands raised.

    Examples
    --------
    >>> print(embedded("Score\n\n| a\\|b |\n|:---|\n| \\<i> { onclick=f } |\n| 0.33^b^ |"))
    Score
    <BLANKLINE>
    | a&#124;b |
    |:---|
    | &#60;i&#62; &#123; onclick=f &#125; |
    | 0.33<sup>b</sup> |
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
    """Return a Markdown table; the cells are taken as they are.

    Examples
    --------
    >>> print(table(["key", "type"], [["seed", "integer"]]))
    | key | type |
    |---|---|
    | seed | integer |
    """
    header = list(header)
    lines = [header, ["---"] * len(header), *map(list, rows)]
    return "\n".join(
        "|" + "|".join(line) + "|" if line[0] == "---" else "| " + " | ".join(line) + " |"
        for line in lines
    )


def paper_results(paper: Paper, reports: Iterable[Found], results: Path, assets: str) -> str:
    """Chapters of a work: what each table and figure came to, in each of its tiers, and errata."""
    entries = [entry for entry in reports if entry.artefact.paper == paper.key]
    parts = [
        "## Results\n\nEvery table, figure and passage with numbers, in each tier of its card.\n"
    ]
    for chapter, group in groupby(entries, key=lambda entry: entry.artefact.chapter):
        chapter_entries = list(group)
        rows = [_row(entry) for entry in _deepest_results(chapter_entries)]
        kind = "chapter" if chapter[0].isdigit() else "appendix"
        parts.append(f"### Results of {kind} {chapter}: {escaped(paper.chapters[chapter])}\n")
        parts.append(
            table(
                ["artefact", "title", "tier", "state", "verdicts", "claims, or what it needs"],
                rows,
            )
            + "\n"
        )
        for entry in chapter_entries:
            parts += _folded_result(entry, results, assets)
    errata = [
        (artefact, erratum)
        for artefact in paper.artefacts.values()
        for erratum in artefact.card.errata
    ]
    if errata:
        parts.append("## Errata of this work\n")
        parts.append("Their evidence stands on the page [Errata](../errata.md).\n")
        rows = [
            [escaped(label(artefact.name)), PLACES[erratum.where], escaped(erratum.finding)]
            for artefact, erratum in errata
        ]
        parts.append(table(["artefact", "where", "finding"], rows) + "\n")
    return "\n".join(parts)


def _deepest_results(entries: list[Found]) -> Iterator[Found]:
    """Entries that say something: of an artefact without any result, only the deepest tier."""
    for _, tiers in groupby(entries, key=lambda entry: entry.artefact.name):
        known = list(tiers)
        yield from [entry for entry in known if entry.report.state in RUNNABLE] or known[-1:]


def _row(entry: Found) -> list[str]:
    outcomes = Counter(conclusion.on_rebuilt for conclusion in entry.report.conclusions)
    return [
        escaped(label(entry.artefact.name)),
        escaped(entry.artefact.card.title),
        entry.tier,
        STATES[entry.report.state],
        counted(entry.report.verdicts, explained_by_source(entry.report.cells)).replace("_", " "),
        _counted(outcomes)
        if entry.report.state in RUNNABLE
        else escaped(entry.artefact.card.tiers[entry.tier].needs or ""),
    ]


def _counted(counts: Mapping[Outcome, int]) -> str:
    return ", ".join(f"{count} {OUTCOME_NAMES[name]}" for name, count in counts.items() if count)


def _folded_result(entry: Found, results: Path, assets: str) -> Iterator[str]:
    """The result itself, folded: its figure, or the table that a reader sees."""
    if entry.report.state not in RUNNABLE:
        return
    artefact, folder = entry.artefact, results / entry.tier / entry.artefact.paper
    if artefact.card.kind == "figure":
        figure = folder / f"{artefact.name}.svg"
        text = (
            f"![{escaped(artefact.card.title)}]({assets}/{figure.relative_to(results).as_posix()})"
            if figure.exists()
            else None
        )
    else:
        table_file = folder / f"{artefact.name}.md"
        text = embedded(table_file.read_text(encoding="utf-8")) if table_file.is_file() else None
    if text is not None:
        title = f"{label(artefact.name)} ({entry.tier}, {STATES[entry.report.state]})"
        yield f'??? example "{title}"\n\n' + _indented(text) + "\n"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.strip().splitlines())


def configuration(schema: Mapping[str, Any]) -> str:
    """Every key of `config.yaml` with its type, bounds, default and meaning.

    Examples
    --------
    >>> print(configuration({"properties": {"seed": {
    ...     "type": "integer", "default": 1, "minimum": 0, "description": "Seed of all."}}}))
    | key | type | default | meaning |
    |---|---|---|---|
    | `seed` | integer, at least 0 | `1` | Seed of all. |
    """
    keys = [*_keys("", schema, schema)]
    alone = [row for row in keys if "." not in row[0]]
    header = ["key", "type", "default", "meaning"]
    parts = [table(header, alone)] if alone else []
    for block, rows in groupby(
        (row for row in keys if "." in row[0]), key=lambda row: row[0].strip("`").split(".")[0]
    ):
        about = _resolved(schema["properties"][block], schema).get("description", "")
        parts.append(f"\n## {block}\n\n{escaped(about)}\n\n{table(header, rows)}")
    return "\n".join(parts)


def _resolved(node: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A node with what its `$ref` says; its own words win."""
    reference = node.get("$ref")
    if reference is None:
        return node
    return {**schema["$defs"][reference.rpartition("/")[2]], **node}


def _keys(prefix: str, node: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, value in node["properties"].items():
        entry = _resolved(value, schema)
        if "properties" in entry:
            yield from _keys(f"{prefix}{name}.", entry, schema)
        else:
            default = f"`{json.dumps(entry['default'])}`" if "default" in entry else "none: needed"
            about = escaped(entry.get("description", ""))
            yield [f"`{prefix}{name}`", _type(entry, schema), default.replace("|", "\\|"), about]


#: Keyword of a JSON schema -> what it asks of a value.
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
    node = _resolved(node, schema)
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
        kind = f"names with each {_type(node['additionalProperties'], schema)}"
    bounds = [f"{words} {node[key]}" for key, words in BOUNDS.items() if key in node]
    return ", ".join([kind, *bounds])
