"""Source text of LaTeX: comments, arguments of commands, and macros that a file defines."""

from __future__ import annotations

import re
from collections.abc import Sequence

from everycell.base.errors import DataError

#: Most levels of macros within macros, and most characters that those of a table stand for.
_DEEPEST, _LONGEST = 60, 10_000_000
#: Parts of conditionals of TeX; the other commands that begin with `if` have arguments.
_CONDITIONAL = re.compile(
    r"(?<!\\)(?:\\\\)*\\(if(?!f(?![A-Za-z])|thenelse)[A-Za-z]*|else|fi)(?![A-Za-z])"
)


def argument_at(text: str, position: int) -> tuple[str, int]:
    """Argument at a position: a group in braces, a command or one character; and its end."""
    while position < len(text) and text[position].isspace():
        position += 1
    if position < len(text) and text[position] == "{":
        depth = 0
        for match in re.compile(r"\\.|[{}]", re.DOTALL).finditer(text, position):
            depth += (match[0] == "{") - (match[0] == "}")
            if depth == 0:
                return text[position + 1 : match.start()], match.end()
        return text[position + 1 :], len(text)
    match = re.compile(r"\\[A-Za-z]+|\\?.", re.DOTALL).match(text, position)
    return (match[0], match.end()) if match else ("", position)


def without_comments(text: str) -> str:
    """Remove comments, and what TeX skips after `iffalse`."""
    text, *pieces = text.split(r"\begin{comment}")
    for piece in pieces:
        _, end, after = piece.partition(r"\end{comment}")
        text += after if end else rf"\begin{{comment}}{piece}"
    lines = (re.sub(r"(?<!\\)((?:\\\\)*)%.*", r"\1", line) for line in text.split("\n"))
    return _without_skipped("\n".join(lines))


def _without_skipped(text: str) -> str:
    parts: list[str] = []
    #: Open conditionals: in the skipped or the shown branch of an `iffalse`, or another one.
    opened: list[str] = []
    start = 0
    for match in _CONDITIONAL.finditer(text):
        name, before = match[1], match.start(1) - 1
        if name == "iffalse" and "skipped" not in opened:
            opened.append("skipped")
            parts.append(text[start:before])
        elif name.startswith("if"):
            opened.append("other")
        elif opened and name == "else" and opened[-1] == "skipped":
            opened[-1], start = "shown", match.end()
        elif opened and name == "fi":
            branch = opened.pop()
            if branch == "shown":
                parts.append(text[start:before])
            if branch != "other":
                start = match.end()
    return "".join(parts) + text[start:] * ("skipped" not in opened)


def _ends_of_groups(text: str) -> dict[int, int]:
    """Positions of opening braces, each with that of its closing brace."""
    ends, opened = {}, []
    for match in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if match[0] == "{":
            opened.append(match.start())
        elif match[0] == "}" and opened:
            ends[opened.pop()] = match.start()
    return ends


def read_macros(text: str) -> dict[str, tuple[int, str]]:
    """Macros that the file defines: name -> number of arguments and replacement.

    Definitions within a definition, or without an end, are left out.
    """
    macros, ends, after = {}, _ends_of_groups(text), 0
    start = re.compile(
        r"\\(?:(?:re)?newcommand|providecommand|newrobustcmd|def|DeclareRobustCommand)\*?\s*+(?:\{\s*+)?\\([A-Za-z]++)\s*+"
        r"(?:\}\s*+)?(?:\[([0-9])\]|((?:#[1-9]){1,9}))?(\[[^\]]{0,1000}\])?\s*+(?=\{)"
    )
    for match in start.finditer(text):
        end = ends.get(match.end())
        if end is None or match.start() < after:
            continue
        after = end
        if match[4] is None:  # an optional argument has no fixed text
            count = int(match[2] or len(match[3] or "") // 2)
            macros[match[1]] = (count, text[match.end() + 1 : end])
    return macros


def expand(path: object, text: str, macros: dict[str, tuple[int, str]]) -> str:
    """Replace macros by their text, also those within the text of others."""
    if not macros:
        return text
    pattern = re.compile(rf"\\({'|'.join(macros)})(?![A-Za-z])\s*(?:\{{\}})?")
    for _ in range(_DEEPEST):
        parts, position, size = [], 0, len(text)
        while match := pattern.search(text, position):
            count, replacement = macros[match[1]]
            parts.append(text[position : match.start()])
            position = match.end() if not count else match.start(1) + len(match[1])
            arguments = []
            for _ in range(count):
                argument, position = argument_at(text, position)
                arguments.append(argument)
            # Before it is built, since few characters may stand for many.
            size += len(replacement) + sum(
                replacement.count(f"#{number}") * len(argument)
                for number, argument in enumerate(arguments, 1)
            )
            if size > _LONGEST:
                raise DataError(
                    path,
                    fault=f"has macros that stand for more than {_LONGEST} characters",
                    fix="replace them in the table",
                )
            parts.append(_filled(replacement, arguments))
        if not parts:
            return text
        text = "".join(parts) + text[position:]
    raise DataError(
        path,
        fault=f"has macros nested more than {_DEEPEST} deep, or one that contains itself",
        fix="replace them in the table",
    )


def _filled(replacement: str, arguments: Sequence[str]) -> str:
    """Text of a macro with its arguments."""
    if arguments:
        replacement = re.sub(
            rf"#([1-{len(arguments)}])", lambda match: arguments[int(match[1]) - 1], replacement
        )
    # Braces end the scope of a style, but a separator of cells must stay visible.
    return replacement if "&" in replacement else f"{{{replacement}}}"
