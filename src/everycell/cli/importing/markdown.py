"""Tables in Markdown, whose line below the heading may have too few or too many columns."""

from __future__ import annotations

import itertools
import re

#: Heading of cells beyond the heading, which other renderers hide.
BEYOND = "beyond the heading"


def markdown_to_html(text: str) -> str:
    """Render Markdown; each table becomes as wide as its widest row, so that all cells are read."""
    # rich, which the light installation has, brings this parser.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    lines = _without_fences_of_tables(text.splitlines())
    return parser.render("\n".join(_with_equal_widths(lines)))


def _without_fences_of_tables(lines: list[str]) -> list[str]:
    """Lines without the fences around tables, which logs of evaluations have as code."""
    fences = [index for index, line in enumerate(lines) if re.match(r"\s*(```|~~~)", line)]
    for start, end in zip(fences[::2], fences[1::2], strict=False):
        if any(_is_rule(line) and _width(above) > 1
               for above, line in itertools.pairwise(lines[start + 1 : end])):  # fmt: skip
            lines[start] = lines[end] = ""
    return lines


def _with_equal_widths(lines: list[str]) -> list[str]:
    index = 1
    while index < len(lines):
        rule, end = lines[index], index + 1
        if not _is_rule(rule) or _is_rule(lines[index - 1]) or not _width(lines[index - 1]):
            index += 1
            continue
        while end < len(lines) and _width(lines[end]):
            end += 1
        heading = lines[index - 1]
        width = max(map(_width, [heading, *lines[index + 1 : end]]))
        if missing := width - _width(heading):
            end_of_cell = "" if _ends_with_bar(heading) else " |"
            lines[index - 1] = heading.rstrip() + end_of_cell + f" {BEYOND} |" * missing
        if width != _width(rule):
            lines[index] = rule[: len(rule) - len(rule.lstrip())] + "|" + "---|" * width
        index = end
    return lines


def _is_rule(line: str) -> bool:
    return re.fullmatch(r"[\s:|-]+", line) is not None and "|" in line and "-" in line


def _ends_with_bar(line: str) -> bool:
    return re.search(r"(?<!\\)\|\s*$", line.rstrip()) is not None


def _width(line: str) -> int:
    """Number of cells of a line; 0 for a line that is not in a table."""
    bars = len(re.findall(r"(?<!\\)\|", line))
    at_ends = line.lstrip().startswith("|") + (bars > 1 and _ends_with_bar(line))
    return bars + 1 - at_ends if bars else 0
